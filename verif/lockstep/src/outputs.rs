//! What the model expects to leave the NIC: frames, payload reads and writes, CQEs, in the order of their steps.
use mrnic_model::Outgoing;
use std::collections::VecDeque;

/// Expected outputs.
#[derive(Debug, Default)]
pub struct Expected {
    /// Data packets, NOPs and probes.
    pub packets: VecDeque<Outgoing>,
    /// Acknowledgments.
    pub acks: VecDeque<Outgoing>,
    /// Address and length.
    pub reads: VecDeque<(u64, usize)>,
    /// Address and bytes.
    pub writes: VecDeque<(u64, Vec<u8>)>,
    /// A payload write that was made before the record of its step, which waits for `exp` and `cum` to settle (R5, R7).
    pub early_write: Option<(u64, Vec<u8>)>,
    /// Address and bytes.
    pub cqes: VecDeque<(u64, Vec<u8>)>,
    /// Those of receives; their order among the others is the hardware's freedom.
    pub recv_cqes: VecDeque<(u64, Vec<u8>)>,
}

impl Expected {
    /// What is still missing, for the end of a run.
    pub fn missing(&self) -> Option<String> {
        if let Some((addr, _)) = &self.early_write {
            return Some(format!("the step that makes the payload write at {addr:#x}"));
        }
        let counts = [
            ("data packets", self.packets.len()),
            ("acknowledgments", self.acks.len()),
            ("payload reads", self.reads.len()),
            ("payload writes", self.writes.len()),
            ("CQEs", self.cqes.len()),
            ("CQEs of receives", self.recv_cqes.len()),
        ];
        let missing: Vec<_> = counts.iter().filter(|c| c.1 > 0).map(|(n, c)| format!("{c} {n}")).collect();
        (!missing.is_empty()).then(|| missing.join(", "))
    }
}
