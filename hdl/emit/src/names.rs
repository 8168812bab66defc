//! The names of one module: resolves what a kernel writes (`lane[k + 1]$i$data`, `hdr$val()$psn$value`, `State$Idle`)
//! to signals, parts of signals and enum variants, and gives every signal a unique Verilog name without `$`.
use rust_hdl_core::atom::AtomKind;
use rust_hdl_core::type_descriptor::{TypeDescriptor, TypeKind};
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::collect::{AtomInfo, Scope};
use crate::ir::SignalId;
use crate::keywords::is_keyword;
use crate::value::Value;
use crate::{EmitError, Reason};

#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    Input,
    Output,
    InOut,
    Local,
    Constant(Value),
    /// Input of the sub-module with this index.
    KidInput(usize),
    /// Output of the sub-module with this index.
    KidOutput(usize),
    /// Sub-expression that Verilog wants as a named signal.
    Term,
    /// Value of another signal before its last unconditional assignment.
    Earlier,
}

#[derive(Clone, Debug)]
pub struct Signal {
    /// As in the Rust source, for messages.
    pub rust: String,
    pub verilog: String,
    pub width: usize,
    pub ty: TypeDescriptor,
    pub role: Role,
}

impl Signal {
    pub fn is_clock(&self) -> bool {
        self.ty.name == "clock"
    }

    pub fn is_signed(&self) -> bool {
        matches!(self.ty.kind, TypeKind::Signed(_))
    }
}

#[derive(Clone, Debug)]
pub struct Label {
    pub verilog: String,
    pub value: Value,
    /// Type name and number of the variant: order of the declarations.
    order: (String, usize),
}

/// What a name in a kernel stands for.
#[derive(Debug, PartialEq)]
pub enum Named {
    Signal {
        id: SignalId,
        low: usize,
        width: usize,
        signed: bool,
    },
    Label {
        name: String,
        value: Value,
    },
    /// Loop variable.
    Number(i128),
}

/// Loop variables in scope, innermost last.
pub type Loops = Vec<(String, i128)>;

pub struct Table {
    pub signals: Vec<Signal>,
    pub labels: BTreeMap<String, Label>,
    /// Verilog instance names of the sub-modules.
    pub instances: Vec<String>,
    by_name: HashMap<String, SignalId>,
    taken: HashSet<String>,
}

/// Verilog form of a rust-hdl name.
pub fn flatten(name: &str) -> String {
    name.replace('$', "_")
}

impl Table {
    pub fn new(scope: &Scope) -> Result<Table, EmitError> {
        let mut table = Table {
            signals: vec![],
            labels: BTreeMap::new(),
            instances: vec![],
            by_name: HashMap::new(),
            taken: HashSet::new(),
        };
        // Ports first: their names are fixed, everything else gives way.
        for atom in scope.atoms.iter().filter(|atom| atom.kind.is_parameter()) {
            let role = match atom.kind {
                AtomKind::InputParameter => Role::Input,
                AtomKind::InOutParameter => Role::InOut,
                _ => Role::Output,
            };
            let verilog = table.port_name(&atom.name).map_err(|reason| fail(scope, &atom.name, reason))?;
            table.add(atom.name.clone(), verilog, atom, role);
        }
        for atom in scope.atoms.iter().filter(|atom| !atom.kind.is_parameter()) {
            let role = match atom.kind {
                AtomKind::Constant => Role::Constant(atom.value.clone()),
                _ => Role::Local,
            };
            let verilog = table.fresh(&flatten(&atom.name));
            table.add(atom.name.clone(), verilog, atom, role);
        }
        for (kid_index, kid) in scope.kids.iter().enumerate() {
            let instance = table.fresh(&flatten(&kid.name));
            table.instances.push(instance);
            for atom in kid.atoms.iter().filter(|atom| atom.kind.is_parameter()) {
                let role = match atom.kind {
                    AtomKind::InputParameter => Role::KidInput(kid_index),
                    _ => Role::KidOutput(kid_index),
                };
                let name = format!("{}${}", kid.name, atom.name);
                let verilog = table.fresh(&flatten(&name));
                table.add(name, verilog, atom, role);
            }
        }
        let kid_atoms = scope.kids.iter().flat_map(|kid| &kid.atoms);
        for atom in scope.atoms.iter().chain(kid_atoms) {
            table.add_labels(&atom.ty).map_err(|reason| fail(scope, &atom.name, reason))?;
        }
        Ok(table)
    }

    fn port_name(&mut self, rust: &str) -> Result<String, Reason> {
        let name = flatten(rust);
        if is_keyword(&name) {
            return Err(Reason::Keyword(name));
        }
        if !self.taken.insert(name.clone()) {
            return Err(Reason::NameClash(name));
        }
        Ok(name)
    }

    /// An unused Verilog name like `wanted`.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let wanted = if is_keyword(wanted) { format!("{wanted}_") } else { wanted.to_string() };
        let mut name = wanted.clone();
        let mut number = 2;
        while self.taken.contains(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        self.taken.insert(name.clone());
        name
    }

    fn add(&mut self, rust: String, verilog: String, atom: &AtomInfo, role: Role) {
        self.by_name.insert(rust.clone(), self.signals.len());
        self.signals.push(Signal { rust, verilog, width: atom.width, ty: atom.ty.clone(), role });
    }

    /// A signal that is not in the Rust source.
    pub fn add_internal(&mut self, wanted: &str, rust: &str, ty: TypeDescriptor, width: usize, role: Role) -> SignalId {
        let verilog = self.fresh(wanted);
        self.signals.push(Signal { rust: rust.into(), verilog, width, ty, role });
        self.signals.len() - 1
    }

    fn add_labels(&mut self, ty: &TypeDescriptor) -> Result<(), Reason> {
        match &ty.kind {
            TypeKind::Enum(variants) => {
                let width = rust_hdl_core::bits::clog2(variants.len());
                for (number, variant) in variants.iter().enumerate() {
                    let value = Value::new(width, number as u128).unwrap_or_else(|| Value::zero(width));
                    let key = variant.replace("::", "$");
                    match self.labels.get(&key) {
                        Some(known) if known.value == value => {}
                        Some(_) => return Err(Reason::EnumClash),
                        None => {
                            let verilog = self.fresh(&flatten(&key));
                            self.labels.insert(key, Label { verilog, value, order: (ty.name.clone(), number) });
                        }
                    }
                }
                Ok(())
            }
            TypeKind::Composite(fields) => fields.iter().try_for_each(|field| self.add_labels(&field.kind)),
            _ => Ok(()),
        }
    }

    /// Signal by its rust-hdl name.
    pub fn id(&self, name: &str) -> Option<SignalId> {
        self.by_name.get(name).copied()
    }

    /// Enum variants in the order of their declaration.
    pub fn labels_in_order(&self) -> Vec<&Label> {
        let mut labels: Vec<_> = self.labels.values().collect();
        labels.sort_by(|a, b| a.order.cmp(&b.order));
        labels
    }

    /// Meaning of a name as it stands in rust-hdl's AST.
    pub fn resolve(&self, text: &str, loops: &Loops) -> Result<Named, Reason> {
        if let Some((_, value)) = loops.iter().rev().find(|(name, _)| name == text) {
            return Ok(Named::Number(*value));
        }
        let unknown = || Reason::UnknownName(text.replace('$', "."));
        let flat = replace_indices(text, loops)?;
        let segments: Vec<&str> = flat.split('$').collect();
        // `signal$next`, `signal$next$field$field`, `signal$val()$field$field`
        let split = segments.iter().position(|s| *s == "next" || *s == "val()");
        let (name, fields) = match split {
            Some(at) => (segments[..at].join("$"), &segments[at + 1..]),
            None => (flat.clone(), &[][..]),
        };
        if let Some(&id) = self.by_name.get(&name) {
            let signal = &self.signals[id];
            let (mut low, mut ty) = (0, &signal.ty);
            for field in fields {
                let (offset, inner) = find_field(ty, field).ok_or_else(unknown)?;
                low += offset;
                ty = inner;
            }
            let width = if fields.is_empty() { signal.width } else { type_width(ty) };
            return Ok(Named::Signal { id, low, width, signed: signal.is_signed() && fields.is_empty() });
        }
        let variant = segments[segments.len().saturating_sub(2)..].join("$");
        let label = self.labels.get(&variant).ok_or_else(unknown)?;
        Ok(Named::Label { name: label.verilog.clone(), value: label.value.clone() })
    }
}

fn fail(scope: &Scope, signal: &str, reason: Reason) -> EmitError {
    EmitError { module: scope.path.clone(), signal: signal.into(), reason }
}

pub fn type_width(ty: &TypeDescriptor) -> usize {
    match &ty.kind {
        TypeKind::Bits(width) | TypeKind::Signed(width) => *width,
        TypeKind::Enum(variants) => rust_hdl_core::bits::clog2(variants.len()),
        TypeKind::Composite(fields) => fields.iter().map(|field| type_width(&field.kind)).sum(),
    }
}

fn find_field<'a>(ty: &'a TypeDescriptor, name: &str) -> Option<(usize, &'a TypeDescriptor)> {
    let TypeKind::Composite(fields) = &ty.kind else { return None };
    let mut low = 0;
    for field in fields {
        if field.fieldname == name {
            return Some((low, &field.kind));
        }
        low += type_width(&field.kind);
    }
    None
}

/// Name of the field that is exactly these bits, e.g. `psn.value`.
pub fn field_path(ty: &TypeDescriptor, low: usize, width: usize) -> Option<String> {
    let TypeKind::Composite(fields) = &ty.kind else { return None };
    let mut start = 0;
    for field in fields {
        let size = type_width(&field.kind);
        if start == low && size == width {
            return Some(field.fieldname.clone());
        }
        if start <= low && low + width <= start + size {
            let inner = field_path(&field.kind, low - start, width)?;
            return Some(format!("{}.{inner}", field.fieldname));
        }
        start += size;
    }
    None
}

/// `lane[k + 1]$x` becomes `lane$3$x`.
fn replace_indices(text: &str, loops: &Loops) -> Result<String, Reason> {
    let mut rest = text;
    let mut flat = String::new();
    while let Some(open) = rest.find('[') {
        let close = rest[open..].find(']').map(|at| open + at);
        let close = close.ok_or_else(|| Reason::ArrayIndex(text.into()))?;
        let index = &rest[open + 1..close];
        let value = evaluate_index(index, loops).ok_or_else(|| Reason::ArrayIndex(index.replace('$', ".")))?;
        flat += &format!("{}${value}", &rest[..open]);
        rest = &rest[close + 1..];
    }
    Ok(flat + rest)
}

/// Value of `k`, `k+1`, `(2*k-1)`...; `None` for anything else or a negative value.
fn evaluate_index(text: &str, loops: &Loops) -> Option<i128> {
    let mut parser = IndexParser { rest: text, loops };
    let value = parser.sum()?;
    (parser.rest.is_empty() && value >= 0).then_some(value)
}

struct IndexParser<'a> {
    rest: &'a str,
    loops: &'a Loops,
}

impl IndexParser<'_> {
    fn eat(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.starts_with(c);
        if found {
            self.rest = &self.rest[1..];
        }
        self.rest = self.rest.trim_start();
        found
    }

    fn sum(&mut self) -> Option<i128> {
        let mut value = self.product()?;
        loop {
            if self.eat('+') {
                value += self.product()?;
            } else if self.eat('-') {
                value -= self.product()?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i128> {
        let mut value = self.factor()?;
        while self.eat('*') {
            value *= self.factor()?;
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<i128> {
        if self.eat('(') {
            let value = self.sum()?;
            return self.eat(')').then_some(value);
        }
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if let Some((_, value)) = self.loops.iter().rev().find(|(name, _)| name == word) {
            return Some(*value);
        }
        word.trim_end_matches("usize").replace('_', "").parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_indices_are_arithmetic_of_numbers_and_loop_variables() {
        let loops = vec![("k".to_string(), 3)];
        assert_eq!(replace_indices("lane[k+1]$x", &loops).unwrap(), "lane$4$x");
        assert_eq!(replace_indices("v[(2*k)][k - 1]", &loops).unwrap(), "v$6$2");
        assert_eq!(replace_indices("v[0]$next", &loops).unwrap(), "v$0$next");
        assert!(matches!(replace_indices("v[N-1]", &loops), Err(Reason::ArrayIndex(_))));
        assert!(matches!(replace_indices("v[k-4]", &loops), Err(Reason::ArrayIndex(_))));
        assert!(matches!(replace_indices("v[i$val()$index()]", &loops), Err(Reason::ArrayIndex(_))));
    }
}
