//! What leaves the NIC: frames, payload reads and writes, CQE writes.
//!
//! In: bytes on the ports of the RTL. Out: the first difference from what the steps before them make. Guarantees: every byte
//! is compared, in the order of the steps.
use crate::checker::{Checker, ModelMemory, Result};
use crate::divergence::Field;
use crate::step::hex;
use crate::Memory;
use mrnic_model::Outgoing;
use mrnic_wire::{parse_packet, Body};

impl Checker {
    /// A payload read was asked for.
    pub fn dma_read(&mut self, cycle: u64, addr: u64, len: usize) -> Result {
        let model = self.expected.reads.pop_front();
        let show = |x: Option<(u64, usize)>| x.map_or("none".into(), |(a, l)| format!("{a:#x} + {l}"));
        self.compare("a payload read", "S5 (payload of a packet)", cycle, "address", show(Some((addr, len))), show(model))
    }

    /// A payload write was made.
    pub fn dma_write(&mut self, cycle: u64, addr: u64, data: &[u8]) -> Result {
        // one step is under way in the receiver, so the writes of one packet at most may be ahead of their record
        // or a request is being executed (D3)
        let executes = |checker: &Self| (0..checker.rings.len() as u32).any(|qp| checker.model.has_request(qp));
        let ahead = self.expected.early_writes.len() < usize::from(self.model.config().sges.max(1));
        if self.expected.writes.is_empty() && ahead && (!self.good.is_empty() || executes(self)) {
            self.expected.early_writes.push_back((addr, data.to_vec()));
            return Ok(());
        }
        let model = self.expected.writes.pop_front();
        self.compare_bytes("a payload write", "R5 (placement)", cycle, (addr, data), model)
    }

    /// The data of one more payload write is visible to software.
    pub fn write_visible(&mut self) {
        self.expected.writes_visible += 1;
    }

    /// A CQE was written.
    pub fn cqe_write(&mut self, cycle: u64, addr: u64, data: &[u8]) -> Result {
        if self.expected.recv_cqes.front().is_some_and(|c| c.0 == addr) {
            let model = self.expected.recv_cqes.pop_front();
            return self.compare_bytes("a CQE write", "Q5 (completions of receives)", cycle, (addr, data), model);
        }
        let model = self.expected.cqes.pop_front();
        self.compare_bytes("a CQE write", "W2 (completions)", cycle, (addr, data), model)
    }

    /// A frame left the NIC. `memory` is the host memory at that time.
    pub fn frame_out(&mut self, cycle: u64, frame: &[u8], memory: &dyn Memory) -> Result {
        let parsed = parse_packet(frame);
        let is_ack = matches!(&parsed, Ok(p) if matches!(p.packet.body, Body::Ack(_)));
        // R9: the port of an acknowledgment is read when the frame is made
        let mut port = None;
        let next = match &parsed {
            Ok(p) if is_ack => self.expected.acks.pop_front().map(|ack| {
                port = Some(p.udp_src).filter(|port| ack.may_have(*port));
                Outgoing::Ack(ack.desc)
            }),
            _ => self.expected.next_packet().map(|(packet, resend)| {
                if let Some(number) = resend {
                    self.lanes.resend_left(number, cycle);
                }
                packet
            }),
        };
        let Some(outgoing) = next else {
            let rtl = hex(&frame[..frame.len().min(96)]);
            return self.compare("a frame", "no step makes this frame", cycle, "frame", rtl, "none".into());
        };
        let pieces = self.expected.pieces_of(&outgoing);
        let mut buffer = std::mem::take(&mut self.buffer);
        let memory = ModelMemory { memory: Some(memory), writes: Vec::new() };
        let encoded = match (&outgoing, pieces) {
            (Outgoing::Data(data), Some(pieces)) => {
                self.model.encode_pieces(data, pieces.into_iter(), port, &memory, &mut buffer)
            }
            _ => self.model.encode(&outgoing, port, &memory, &mut buffer),
        };
        let result = match encoded {
            Ok(len) if buffer[..len] == *frame => Ok(()),
            Ok(len) => self.frame_differs(cycle, frame, &buffer[..len], &outgoing),
            Err(e) => self.compare("a frame", "S5", cycle, "frame", hex(&frame[..frame.len().min(96)]), e.to_string()),
        };
        self.buffer = buffer;
        result
    }

    fn frame_differs(&self, cycle: u64, rtl: &[u8], model: &[u8], outgoing: &Outgoing) -> Result {
        let at = rtl.iter().zip(model).position(|(a, b)| a != b).unwrap_or(rtl.len().min(model.len()));
        let part = |x: &[u8]| hex(&x[at.saturating_sub(4).min(x.len())..(at + 12).min(x.len())]);
        let headers = |x: &[u8]| parse_packet(x).map_or_else(|e| e.to_string(), |p| format!("{:?}", p.packet));
        let fields = vec![
            Field { name: format!("bytes near {at}"), rtl: part(rtl), model: part(model) },
            Field { name: "length".into(), rtl: rtl.len().to_string(), model: model.len().to_string() },
            Field { name: "headers".into(), rtl: headers(rtl), model: headers(model) },
        ];
        let rule = match outgoing {
            Outgoing::Ack(_) => "R9 (contents of an acknowledgment)",
            Outgoing::Probe(_) => "L3/L4 (probe)",
            Outgoing::Data(_) => "S5 (contents of a packet)",
        };
        Err(self.divergence(rule, "a frame".into(), cycle, fields, None))
    }

    pub(crate) fn compare(&self, what: &str, rule: &str, cycle: u64, name: &str, rtl: String, model: String) -> Result {
        if rtl == model {
            return Ok(());
        }
        Err(self.divergence(rule, what.into(), cycle, vec![Field { name: name.into(), rtl, model }], None))
    }

    fn compare_bytes(&self, what: &str, rule: &str, cycle: u64, rtl: (u64, &[u8]), model: Option<(u64, Vec<u8>)>) -> Result {
        let Some((addr, data)) = model else {
            return self.compare(what, rule, cycle, "address", format!("{:#x} + {}", rtl.0, rtl.1.len()), "none".into());
        };
        if addr == rtl.0 && data == rtl.1 {
            return Ok(());
        }
        let at = rtl.1.iter().zip(&data).position(|(a, b)| a != b).unwrap_or(0);
        let part = |x: &[u8]| hex(&x[at.min(x.len())..(at + 16).min(x.len())]);
        let fields = vec![
            Field { name: "address".into(), rtl: format!("{:#x}", rtl.0), model: format!("{addr:#x}") },
            Field { name: "length".into(), rtl: rtl.1.len().to_string(), model: data.len().to_string() },
            Field { name: format!("data at {at}"), rtl: part(rtl.1), model: part(&data) },
        ];
        Err(self.divergence(rule, what.into(), cycle, fields, None))
    }
}
