//! The engine's commit port.
//!
//! In: the `commit_*` outputs. Out: the records of a cycle, in the order in which they are replayed.
//! Guarantees: a build without a field that the checker needs is refused when it is opened.
use mrnic_lockstep::{Kind, Record};
use mrnic_verilated::{Dut, Port, PortError};

struct Group {
    kind: Kind,
    valid: Port,
    fields: Vec<Port>,
    wide: Option<Port>,
}

/// The commit port.
pub struct CommitPort {
    groups: Vec<Group>,
}

impl CommitPort {
    /// Finds all ports.
    pub fn new(dut: &Dut) -> Result<Self, PortError> {
        let mut groups = Vec::new();
        for &kind in Kind::ALL {
            let port = |field: &str| dut.output(&format!("commit_{}_{field}", kind.prefix()));
            groups.push(Group {
                kind,
                valid: port("valid")?,
                fields: kind.fields().iter().map(|f| port(f)).collect::<Result<_, _>>()?,
                wide: kind.wide().map(port).transpose()?,
            });
        }
        Ok(Self { groups })
    }

    /// Appends the records of this cycle.
    pub fn sample(&self, cycle: u64, out: &mut Vec<Record>) {
        for g in &self.groups {
            if g.valid.get_bit() {
                out.push(Record {
                    kind: g.kind,
                    cycle,
                    values: g.fields.iter().map(Port::get_u64).collect(),
                    wide: g.wide.as_ref().map(Port::to_words).unwrap_or_default(),
                });
            }
        }
    }
}
