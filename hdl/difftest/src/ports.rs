//! Finds and reads the top-level ports of a rust-hdl block.
//! Comes in: any `Block`. Goes out: names, widths and values, in declaration order.
//! Guarantees that names are formed as the emitter forms them: parts joined by `_`.

use rust_hdl_core::prelude::*;

use crate::{drive::literal_words, inputs::PortSpec};

#[derive(Default)]
struct Walk {
    depth: usize,
    namespace: Vec<String>,
    inputs: Vec<PortSpec>,
    outputs: Vec<PortSpec>,
    other: Vec<String>,
    values: Option<Vec<Vec<u32>>>,
}

impl Probe for Walk {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }

    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        if self.depth == 1 {
            self.namespace.push(name.to_string());
        }
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        if self.depth == 1 {
            self.namespace.pop();
        }
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        if self.depth != 1 {
            return;
        }
        if let Some(values) = &mut self.values {
            if signal.kind() == AtomKind::OutputParameter {
                values.push(literal_words(&signal.verilog(), signal.bits()));
            }
            return;
        }
        let mut path = self.namespace.clone();
        path.push(name.to_string());
        let port = PortSpec {
            name: path.join("_").replace('$', "_"),
            width: signal.bits(),
            is_clock: signal.descriptor().name == "clock",
        };
        match signal.kind() {
            AtomKind::InputParameter => self.inputs.push(port),
            AtomKind::OutputParameter => self.outputs.push(port),
            AtomKind::Constant | AtomKind::LocalSignal => {}
            _ => self.other.push(port.name),
        }
    }
}

pub(crate) struct Ports {
    pub inputs: Vec<PortSpec>,
    pub outputs: Vec<PortSpec>,
    /// In-outs and pass-throughs: not supported.
    pub other: Vec<String>,
}

pub(crate) fn ports(block: &dyn Block) -> Ports {
    let mut walk = Walk::default();
    block.accept("top", &mut walk);
    Ports { inputs: walk.inputs, outputs: walk.outputs, other: walk.other }
}

/// The values of the outputs, in the order of `ports().outputs`.
pub(crate) fn output_values(block: &dyn Block) -> Vec<Vec<u32>> {
    let mut walk = Walk { values: Some(Vec::new()), ..Walk::default() };
    block.accept("top", &mut walk);
    walk.values.unwrap_or_default()
}
