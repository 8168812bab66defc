//! What the model expects to leave the NIC: frames, payload reads and writes, CQEs, in the order of their steps.
use mrnic_model::{AckDesc, Outgoing, Sge};
use std::collections::VecDeque;

/// Expected outputs.
#[derive(Debug, Default)]
pub struct Expected {
    /// Data packets, NOPs and probes.
    packets: VecDeque<Outgoing>,
    pub resends: Resends,
    /// Of those packets whose payload is in pieces: where each was when the slot was granted, and its place in the packet. The message may be done
    /// before a resend has left.
    pub pieces: VecDeque<Vec<(usize, Sge)>>,
    pub acks: VecDeque<ExpectedAck>,
    /// Address and length.
    pub reads: VecDeque<(u64, usize)>,
    /// Address and bytes.
    pub writes: VecDeque<(u64, Vec<u8>)>,
    /// Payload writes of all steps so far, and those whose data software can see; the host makes them visible in their order.
    pub writes_ordered: u64,
    pub writes_visible: u64,
    /// Payload writes that were made before the record of their step, which waits for `exp` and `cum` to settle (R5, R7): one for each piece of a
    /// list, at most.
    pub early_writes: VecDeque<(u64, Vec<u8>)>,
    /// Address and bytes.
    pub cqes: VecDeque<(u64, Vec<u8>)>,
    /// Those of receives; their order among the others is the hardware's freedom.
    pub recv_cqes: VecDeque<(u64, Vec<u8>)>,
}

/// An acknowledgment. Its port is read when the frame is made (R9): any that the path's packets had from its step on.
#[derive(Debug)]
pub struct ExpectedAck {
    pub desc: AckDesc,
    later_ports: Vec<u16>,
}

/// Which of the packets that have yet to leave are resends. Packets are numbered in the order of their steps.
#[derive(Debug, Default)]
pub struct Resends {
    ordered: u64,
    left: u64,
    waiting: VecDeque<u64>,
}

impl Resends {
    /// One more packet was ordered.
    pub fn ordered(&mut self, resend: bool) {
        if resend {
            self.waiting.push_back(self.ordered);
        }
        self.ordered += 1;
    }

    /// The next packet has left; if it was a resend, its number.
    pub fn left(&mut self) -> Option<u64> {
        self.left += 1;
        let number = self.left - 1;
        self.waiting.pop_front_if(|waiting| *waiting == number)
    }

    /// Packets ordered in all.
    pub fn packets(&self) -> u64 {
        self.ordered
    }

    /// One of the first `packets` is a resend that has not left.
    pub fn wait_among(&self, packets: u64) -> bool {
        self.waiting.front().is_some_and(|number| *number < packets)
    }
}

impl ExpectedAck {
    pub fn new(desc: AckDesc) -> Self {
        ExpectedAck { desc, later_ports: Vec::new() }
    }

    /// Whether the frame may have this port.
    pub fn may_have(&self, port: u16) -> bool {
        port == self.desc.udp_port || self.later_ports.contains(&port)
    }
}

impl Expected {
    /// A packet or probe of a step.
    pub fn order_packet(&mut self, packet: Outgoing) {
        self.resends.ordered(matches!(&packet, Outgoing::Data(data) if data.rtx));
        self.packets.push_back(packet);
    }

    /// The packet that leaves next; if it is a resend, its number.
    pub fn next_packet(&mut self) -> Option<(Outgoing, Option<u64>)> {
        let packet = self.packets.pop_front()?;
        Some((packet, self.resends.left()))
    }

    /// The pieces of the payload of the packet that leaves.
    pub fn pieces_of(&mut self, packet: &Outgoing) -> Option<Vec<(usize, Sge)>> {
        let in_pieces = matches!(packet, Outgoing::Data(data) if data.list.is_some() && data.len > 0);
        if in_pieces {
            self.pieces.pop_front()
        } else {
            None
        }
    }

    /// Payload writes of a step.
    pub fn order_writes(&mut self, writes: Vec<(u64, Vec<u8>)>) {
        self.writes_ordered += writes.len() as u64;
        self.writes.extend(writes);
    }

    /// R10: a packet came by a path of a connection, with this port.
    pub fn note_port(&mut self, conn: u16, via: u8, port: u16) {
        for ack in self.acks.iter_mut().filter(|a| (a.desc.conn, a.desc.via) == (conn, via)) {
            if !ack.may_have(port) {
                ack.later_ports.push(port);
            }
        }
    }

    /// What is still missing, for the end of a run.
    pub fn missing(&self) -> Option<String> {
        if let Some((addr, _)) = self.early_writes.front() {
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
