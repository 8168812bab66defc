//! Blocks that bring their own Verilog: `Verilog::Custom` bodies and `Verilog::Wrapper` around external cores. The text
//! is taken as it is; this file adds the module around it. The rules for such texts are in DIALECT.md.
use rust_hdl_core::ast::Wrapper;
use rust_hdl_core::atom::AtomKind;
use std::collections::HashSet;

use crate::collect::Scope;
use crate::module::{layout, port_list, File};
use crate::names::Table;
use crate::stmt::module_comment;
use crate::text::range;
use crate::EmitError;

pub fn custom(scope: &Scope, text: &str, wanted: &str, is_top: bool, file: &mut File) -> Result<String, EmitError> {
    let mut about = None;
    let mut name = wanted.to_string();
    let mut text = text.trim_matches('\n').trim_end();
    let first = text.lines().next().unwrap_or("").trim();
    if let Some((own, comment)) = first.strip_prefix("// ").and_then(module_comment) {
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
        about = comment;
        if !is_top {
            name = own;
        }
    }
    let words: Vec<&str> = identifiers(text).collect();
    // `assign y = ..`, `assign y[3:0] = ..`, `assign {a, b} = ..`
    let left_sides = text.split("assign ").skip(1).filter_map(|rest| rest.split_once('=')).map(|(left, _)| left);
    let assigned: HashSet<&str> = left_sides.flat_map(identifiers).collect();
    let mut body = around(scope, &|port| if assigned.contains(port) { "output wire" } else { "output reg" }, &words)?;
    body += &format!("{}\nendmodule\n", indent(text));
    let about = about.map_or(String::new(), |about| format!("// {about}\n"));
    Ok(file.module(&name, format!("{about}\u{0}{body}"), is_top))
}

pub fn wrapper(scope: &Scope, wrapper: &Wrapper, wanted: &str, is_top: bool, file: &mut File) -> Result<String, EmitError> {
    file.core(&wrapper.cores);
    let words: Vec<&str> = identifiers(&wrapper.code).collect();
    let body = around(scope, &|_| "output wire", &words)?;
    let code = indent(wrapper.code.trim_matches('\n').trim_end());
    Ok(file.module(wanted, format!("\u{0}{body}{code}\nendmodule\n"), is_top))
}

/// Port list and the constants that the text mentions.
fn around(scope: &Scope, output: &dyn Fn(&str) -> &'static str, words: &[&str]) -> Result<String, EmitError> {
    let table = Table::new(scope)?;
    let mut ports = vec![];
    let mut constants = String::new();
    for (atom, signal) in scope.atoms.iter().filter(|atom| atom.kind.is_parameter()).zip(&table.signals) {
        let kind = match atom.kind {
            AtomKind::InputParameter => "input wire",
            AtomKind::InOutParameter => "inout wire",
            _ => output(&signal.verilog),
        };
        ports.push((format!("    {kind} {}{}", range(atom.width), signal.verilog), layout(&atom.ty)));
    }
    for atom in scope.atoms.iter().filter(|atom| atom.kind == AtomKind::Constant) {
        let name = crate::names::flatten(&atom.name);
        if words.contains(&name.as_str()) {
            constants += &format!("    localparam {}{name} = {};\n", range(atom.width), atom.value.verilog());
        }
    }
    Ok(format!("{}\n{constants}", port_list(ports)))
}

fn indent(text: &str) -> String {
    let lines =
        text.lines().map(|line| if line.trim().is_empty() { String::new() } else { format!("    {}", line.trim_end()) });
    lines.collect::<Vec<_>>().join("\n")
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}
