//! Walks a block with rust-hdl's `Probe` and returns the tree of its modules: ports, locals, constants with their types
//! and values, and what `hdl()` gave for each. Nothing is interpreted here.
use rust_hdl_core::ast::Verilog;
use rust_hdl_core::atom::{Atom, AtomKind};
use rust_hdl_core::block::Block;
use rust_hdl_core::probe::Probe;
use rust_hdl_core::type_descriptor::TypeDescriptor;
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::value::Value;
use crate::{EmitError, Reason};

/// One module instance.
pub struct Scope {
    /// Field name in the parent, array elements as `lane$2`.
    pub name: String,
    /// Instance path, for messages.
    pub path: String,
    pub hdl: Verilog,
    pub atoms: Vec<AtomInfo>,
    pub kids: Vec<Scope>,
    namespace: Vec<String>,
}

/// One signal or constant; interface members as `i$data`.
pub struct AtomInfo {
    pub name: String,
    pub kind: AtomKind,
    pub width: usize,
    pub ty: TypeDescriptor,
    /// Value of a constant, of the right width.
    pub value: Value,
}

impl AtomInfo {
    pub fn is_clock(&self) -> bool {
        self.ty.name == "clock"
    }
}

#[derive(Default)]
struct Collector {
    stack: Vec<Scope>,
    done: Option<Scope>,
    error: Option<EmitError>,
}

/// The module tree of `top`.
pub fn collect<B: Block + ?Sized>(top: &B, top_name: &str) -> Result<Scope, EmitError> {
    let mut collector = Collector::default();
    top.accept(top_name, &mut collector);
    if let Some(error) = collector.error {
        return Err(error);
    }
    collector.done.ok_or_else(|| EmitError {
        module: top_name.into(),
        signal: top_name.into(),
        reason: Reason::Unsupported("the top is not a single block".into()),
    })
}

impl Collector {
    fn fail(&mut self, module: String, signal: &str, reason: Reason) {
        self.error.get_or_insert(EmitError { module, signal: signal.into(), reason });
    }
}

impl Probe for Collector {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let own = name.replace('$', "_");
        let path = self.stack.last().map_or(own.clone(), |parent| format!("{}.{own}", parent.path));
        // The kernel's casts are evaluated when the AST is built, so user code can panic here.
        let hdl = catch_unwind(AssertUnwindSafe(|| node.hdl())).unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
                .unwrap_or_default();
            self.fail(path.clone(), name, Reason::HdlPanicked(text));
            Verilog::Empty
        });
        self.stack.push(Scope { name: name.into(), path, hdl, atoms: vec![], kids: vec![], namespace: vec![] });
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        if let Some(scope) = self.stack.last_mut() {
            scope.namespace.push(name.into());
        }
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        if let Some(scope) = self.stack.last_mut() {
            scope.namespace.pop();
        }
    }

    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        let Some(scope) = self.stack.last_mut() else { return };
        let mut parts = scope.namespace.clone();
        parts.push(name.into());
        let name = parts.join("$");
        let width = atom.bits();
        if width == 0 {
            let path = scope.path.clone();
            return self.fail(path, &name, Reason::ZeroWidth);
        }
        let value = Value::from_hex_literal(width, &format!("{:x}", atom.verilog()));
        let value = value.unwrap_or_else(|| Value::zero(width));
        scope.atoms.push(AtomInfo { name, kind: atom.kind(), width, ty: atom.descriptor(), value });
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        let Some(scope) = self.stack.pop() else { return };
        match self.stack.last_mut() {
            Some(parent) => parent.kids.push(scope),
            None => self.done = Some(scope),
        }
    }
}
