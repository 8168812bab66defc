//! Puts one module together: ports, constants, registers, nets, instances, cones, clocked processes; and the file:
//! children before parents, structurally equal modules once.
use rust_hdl_core::ast::Verilog;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::collect::Scope;
use crate::cones::{split, Cone};
use crate::flow::analyse;
use crate::foreign;
use crate::ir::{Expr, SignalId, Stmt};
use crate::names::{flatten, type_width, Role, Table};
use crate::registers::{register_of, Register};
use crate::stmt::{lower_kernel, Kernel};
use crate::text::{range, Printer};
use crate::{EmitError, ModuleInfo, Reason};

/// The file being written.
#[derive(Default)]
pub struct File {
    pub text: String,
    pub modules: Vec<ModuleInfo>,
    /// External cores and black boxes, each text once.
    pub cores: Vec<String>,
    /// Module by its text without the name.
    known: HashMap<String, String>,
    names: HashSet<String>,
}

impl File {
    /// A file whose last module is the top: its name is kept for it.
    pub fn new(top: &str) -> File {
        File { names: HashSet::from([top.to_string()]), ..File::default() }
    }

    fn module_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    pub fn core(&mut self, text: &str) {
        if !text.trim().is_empty() && !self.cores.iter().any(|known| known == text) {
            self.cores.push(text.to_string());
        }
    }

    /// Adds a module unless an equal one exists; returns its name.
    pub fn module(&mut self, wanted: &str, body: String, is_top: bool) -> String {
        if let Some(name) = self.known.get(&body) {
            return name.clone();
        }
        let name = if is_top { wanted.to_string() } else { self.module_name(wanted) };
        let (about, rest) = body.split_once('\u{0}').unwrap_or(("", &body));
        let text = format!("{about}module {name} {rest}");
        self.modules.push(ModuleInfo { name: name.clone(), lines: text.lines().count() });
        self.text += &text;
        self.text += "\n";
        self.known.insert(body, name.clone());
        name
    }
}

/// Emits a scope and everything below it; returns the name of its module.
pub fn emit_scope(scope: &Scope, wanted: &str, file: &mut File, is_top: bool) -> Result<String, EmitError> {
    match &scope.hdl {
        Verilog::Combinatorial(code) => {
            let mut table = Table::new(scope)?;
            let mut kernel = lower_kernel(code, &mut table, &scope.path)?;
            analyse(&mut kernel, &mut table, &scope.path)?;
            let name = match (&kernel.name, is_top) {
                (Some(name), false) => name.clone(),
                _ => wanted.to_string(),
            };
            let body = Assembly::new(scope, &table, &kernel, wanted)?.print(file)?;
            Ok(file.module(&name, body, is_top))
        }
        Verilog::Custom(text) => foreign::custom(scope, text, wanted, is_top, file),
        Verilog::Wrapper(wrapper) => foreign::wrapper(scope, wrapper, wanted, is_top, file),
        Verilog::Blackbox(blackbox) => {
            file.core(&blackbox.code);
            Ok(blackbox.name.clone())
        }
        Verilog::Empty => {
            let signal = scope.name.clone();
            Err(EmitError { module: scope.path.clone(), signal, reason: Reason::NoVerilog })
        }
    }
}

struct Assembly<'a> {
    scope: &'a Scope,
    table: &'a Table,
    kernel: &'a Kernel,
    path: &'a str,
    registers: BTreeMap<usize, Register>,
    cones: Vec<Cone>,
    /// Signals whose cone is written at the place of use: port of an instance or right side of a register.
    inlined: HashMap<SignalId, Expr>,
}

impl<'a> Assembly<'a> {
    fn new(scope: &'a Scope, table: &'a Table, kernel: &'a Kernel, path: &'a str) -> Result<Self, EmitError> {
        let mut registers = BTreeMap::new();
        for (number, kid) in scope.kids.iter().enumerate() {
            if let Some(register) = register_of(kid, number, table) {
                registers.insert(number, register);
            }
        }
        let mut read = HashSet::new();
        reads_of(&kernel.body, &mut read);
        let next_state: HashMap<SignalId, SignalId> = registers
            .values()
            .filter(|register| !read.contains(&register.d))
            .filter_map(|register| Some((register.d, *kernel.clocks.get(&register.clock)?)))
            .collect();
        let mut cones = split(&kernel.body, table, &scope.path, &next_state)?;
        let mut inlined = HashMap::new();
        cones.retain(|cone| {
            let Cone::Continuous { target, parts, comments } = cone else { return true };
            let Role::KidInput(_) = table.signals[*target].role else { return true };
            let [part] = &parts[..] else { return true };
            let plain = matches!(part.value, Expr::Signal { .. } | Expr::Part { .. } | Expr::Literal(_) | Expr::Label { .. });
            let register = next_state.contains_key(target);
            if read.contains(target) || !comments.is_empty() || !(plain || register) {
                return true;
            }
            inlined.insert(*target, part.value.clone());
            false
        });
        Ok(Assembly { scope, table, kernel, path, registers, cones, inlined })
    }

    /// Text of the module: head comment, NUL, text after `module NAME `.
    fn print(&self, file: &mut File) -> Result<String, EmitError> {
        let printer = Printer { table: self.table, comments: &self.kernel.comments };
        let mut logic = vec![];
        let mut processes: HashSet<SignalId> = HashSet::new();
        for cone in &self.cones {
            self.cone(cone, &printer, &mut processes, &mut logic);
        }
        for (target, source) in &self.kernel.clocks {
            if matches!(self.table.signals[*target].role, Role::Output | Role::Local) {
                logic.push(format!("    assign {} = {};", printer.name(*target), printer.name(*source)));
            }
        }
        let mut instances = vec![];
        for (number, kid) in self.scope.kids.iter().enumerate() {
            if !self.registers.contains_key(&number) {
                self.instance(number, kid, &printer, file, &mut instances)?;
            }
        }
        let mut clocked = vec![];
        self.clocked(&printer, &mut clocked);
        let code = [&logic[..], &instances[..], &clocked[..]].concat().join("\n");
        let mut out = vec![];
        self.declarations(&code, &processes, &mut out);
        for section in [instances, logic, clocked] {
            if !section.is_empty() {
                out.push(String::new());
                out.extend(section);
            }
        }
        let about = self.kernel.about.as_ref().map_or(String::new(), |about| format!("// {about}\n"));
        Ok(format!("{about}\u{0}{}\n{}\nendmodule\n", self.ports(&processes), out.join("\n")))
    }

    fn ports(&self, processes: &HashSet<SignalId>) -> String {
        let lines = self.table.signals.iter().enumerate().filter_map(|(id, signal)| {
            let kind = match signal.role {
                Role::Input => "input wire",
                Role::InOut => "inout wire",
                Role::Output if processes.contains(&id) => "output reg",
                Role::Output => "output wire",
                _ => return None,
            };
            Some((format!("    {kind} {}{}", range(signal.width), signal.verilog), self.layout(id)))
        });
        port_list(lines.collect())
    }

    /// Where the fields of a struct are.
    fn layout(&self, id: SignalId) -> Option<String> {
        layout(&self.table.signals[id].ty)
    }

    fn declarations(&self, code: &str, processes: &HashSet<SignalId>, out: &mut Vec<String>) {
        let words = identifiers(code);
        for label in self.table.labels_in_order() {
            if words.contains(label.verilog.as_str()) {
                let width = label.value.width();
                out.push(format!("    localparam {}{} = {};", range(width), label.verilog, label.value.verilog()));
            }
        }
        for (id, signal) in self.table.signals.iter().enumerate() {
            let used = words.contains(signal.verilog.as_str());
            let declaration = match &signal.role {
                Role::Constant(value) if used => {
                    out.push(format!("    localparam {}{} = {};", range(signal.width), signal.verilog, value.verilog()));
                    continue;
                }
                Role::KidOutput(kid) if self.registers.contains_key(kid) => "reg",
                Role::KidInput(_) | Role::KidOutput(_) | Role::Local | Role::Term | Role::Earlier if used => {
                    if processes.contains(&id) {
                        "reg"
                    } else {
                        "wire"
                    }
                }
                _ => continue,
            };
            let comment = self.layout(id).map_or(String::new(), |layout| format!(" // {layout}"));
            out.push(format!("    {declaration} {}{};{comment}", range(signal.width), signal.verilog));
        }
    }

    fn cone(&self, cone: &Cone, printer: &Printer, processes: &mut HashSet<SignalId>, out: &mut Vec<String>) {
        match cone {
            Cone::Continuous { target, parts, comments } => {
                comments.iter().for_each(|id| printer.comment(*id, 1, out));
                for part in parts {
                    let place = printer.place(*target, part.low, part.width);
                    out.push(format!("    assign {place} = {};", printer.expr(&part.value)));
                }
            }
            Cone::Process { targets, body } => {
                processes.extend(targets);
                let mut reads = HashSet::new();
                reads_of(body, &mut reads);
                let constant =
                    reads.iter().all(|id| matches!(self.table.signals[*id].role, Role::Constant(_)) || targets.contains(id));
                // nothing would ever start a process that reads nothing
                out.push(format!("    {} begin", if constant { "initial" } else { "always @*" }));
                printer.defaults(targets, body, 2, out);
                printer.block(body, 2, out);
                out.push("    end".into());
            }
        }
    }

    fn instance(
        &self,
        number: usize,
        kid: &Scope,
        printer: &Printer,
        file: &mut File,
        out: &mut Vec<String>,
    ) -> Result<(), EmitError> {
        let base = kid.name.split('$').next().unwrap_or(&kid.name);
        let kind = emit_scope(kid, &format!("{}_{base}", self.path), file, false)?;
        let ports = self.table.signals.iter().enumerate().filter_map(|(id, signal)| {
            let mine = matches!(signal.role, Role::KidInput(k) | Role::KidOutput(k) if k == number);
            mine.then(|| {
                let port = flatten(signal.rust.strip_prefix(&format!("{}$", kid.name)).unwrap_or(&signal.rust));
                let net = match (self.kernel.clocks.get(&id), self.inlined.get(&id)) {
                    (Some(source), _) => printer.name(*source).to_string(),
                    (None, Some(value)) => printer.expr(value),
                    (None, None) => signal.verilog.clone(),
                };
                format!("        .{port}({net})")
            })
        });
        let ports: Vec<_> = ports.collect();
        out.push(format!("    {kind} {} (\n{}\n    );", self.table.instances[number], ports.join(",\n")));
        Ok(())
    }

    fn clocked(&self, printer: &Printer, out: &mut Vec<String>) {
        let mut by_clock: BTreeMap<SignalId, Vec<&Register>> = BTreeMap::new();
        for register in self.registers.values() {
            let clock = self.kernel.clocks.get(&register.clock).copied().unwrap_or(register.clock);
            by_clock.entry(clock).or_default().push(register);
        }
        for (clock, registers) in by_clock {
            out.push("    initial begin".into());
            for register in &registers {
                out.push(format!("        {} = {};", printer.name(register.q), register.initial.verilog()));
            }
            out.push("    end".into());
            out.push(format!("    always @(posedge {}) begin", printer.name(clock)));
            for register in &registers {
                let next = self.inlined.get(&register.d).map(|value| printer.expr(value));
                let next = next.unwrap_or_else(|| printer.name(register.d).to_string());
                out.push(format!("        {} <= {next};", printer.name(register.q)));
            }
            out.push("    end".into());
        }
    }
}

/// Words of a text, comments left out.
fn identifiers(code: &str) -> HashSet<&str> {
    let statements = code.lines().flat_map(|line| line.split("//").take(1));
    let outside =
        statements.flat_map(|text| text.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, after)| after)));
    outside.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_'))).collect()
}

/// Ports with their comments, as the text after the name of a module.
pub fn port_list(ports: Vec<(String, Option<String>)>) -> String {
    let last = ports.len().saturating_sub(1);
    let lines: Vec<String> = ports
        .into_iter()
        .enumerate()
        .map(|(number, (port, comment))| {
            let comma = if number == last { "" } else { "," };
            let comment = comment.map_or(String::new(), |comment| format!(" // {comment}"));
            format!("{port}{comma}{comment}")
        })
        .collect();
    format!("(\n{}\n);", lines.join("\n"))
}

/// `Header: kind [1:0], length [15:2]`.
pub fn layout(ty: &rust_hdl_core::type_descriptor::TypeDescriptor) -> Option<String> {
    let rust_hdl_core::type_descriptor::TypeKind::Composite(fields) = &ty.kind else { return None };
    let mut low = 0;
    let fields: Vec<String> = fields
        .iter()
        .map(|field| {
            let width = type_width(&field.kind);
            let place = if width == 1 { format!("[{low}]") } else { format!("[{}:{low}]", low + width - 1) };
            low += width;
            format!("{} {place}", field.fieldname)
        })
        .collect();
    Some(format!("{}: {}", ty.name, fields.join(", ")))
}

fn reads_of(body: &[Stmt], reads: &mut HashSet<SignalId>) {
    for stmt in body {
        if let Some(expr) = stmt.expr() {
            expr.for_each_read(&mut |id, _, _| {
                reads.insert(id);
            });
        }
        stmt.branches().iter().for_each(|branch| reads_of(branch, reads));
    }
}
