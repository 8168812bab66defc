//! Recognises the registers of rust_hdl_widgets (`DFF`, `EdgeDFF`) by the Verilog they bring, so that the module that
//! uses them writes the register itself.
use rust_hdl_core::ast::Verilog;

use crate::collect::Scope;
use crate::ir::SignalId;
use crate::names::{Role, Table};
use crate::value::Value;

/// Signals of a register in the module that uses it.
pub struct Register {
    pub d: SignalId,
    pub q: SignalId,
    pub clock: SignalId,
    /// Power-up value.
    pub initial: Value,
}

/// `number` is the place of `kid` among its siblings.
pub fn register_of(kid: &Scope, number: usize, table: &Table) -> Option<Register> {
    let Verilog::Custom(text) = &kid.hdl else { return None };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = text.strip_prefix("initial begin q = ")?;
    let (initial, process) = rest.split_once("; end ")?;
    let clock = match process.trim() {
        "always @(posedge clock) begin q <= d; end" => "clock",
        "always @(posedge clk) q <= d;" => "clk",
        _ => return None,
    };
    if kid.atoms.len() != 3 || !kid.kids.is_empty() {
        return None;
    }
    let find = |port: &str, role: Role| {
        let id = table.id(&format!("{}${port}", kid.name))?;
        (table.signals[id].role == role).then_some(id)
    };
    let q = find("q", Role::KidOutput(number))?;
    Some(Register {
        d: find("d", Role::KidInput(number))?,
        q,
        clock: find(clock, Role::KidInput(number))?,
        initial: Value::from_hex_literal(table.signals[q].width, initial)?,
    })
}
