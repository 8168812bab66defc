//! Send requests on their way into the model: a queue behind its message window, and memory for inline data.
//!
//! In: requests of the program. Out: work requests of the model, in order. Slots are made once and used again.
use super::operation::wqe_of;
use crate::device::{Payload, SendRequest};
use mrnic_model::{Sge, Wqe, SGES_MAX};
use std::collections::VecDeque;

/// A request with its scatter/gather list.
#[derive(Clone, Copy, Default)]
pub struct Request {
    pub wqe: Wqe,
    list: [Sge; SGES_MAX],
}

impl Request {
    /// The list, if there is more than one SGE.
    pub fn list(&self) -> &[Sge] {
        let count = usize::from(self.wqe.num_sge);
        if count > 1 {
            &self.list[..count]
        } else {
            &[]
        }
    }
}

/// Memory for the inline data of a QP's requests: one slot for each that may be outstanding.
pub struct InlineSlab {
    bytes: Box<[u8]>,
    slot_bytes: usize,
    next: usize,
    pub lkey: u32,
}

impl InlineSlab {
    pub fn new(slots: u32, slot_bytes: u32) -> Self {
        let bytes = vec![0; slots as usize * slot_bytes as usize].into_boxed_slice();
        InlineSlab { bytes, slot_bytes: slot_bytes as usize, next: 0, lkey: 0 }
    }

    pub fn range(&self) -> (u64, u64) {
        (self.bytes.as_ptr() as u64, self.bytes.len() as u64)
    }

    /// Copies `data` into the next slot. As many requests may be outstanding as there are slots, so its last user is done.
    pub fn store(&mut self, data: &[u8]) -> Option<Sge> {
        if data.is_empty() {
            return Some(Sge::default());
        }
        let at = self.next * self.slot_bytes;
        let slot = self.bytes.get_mut(at..at + self.slot_bytes)?.get_mut(..data.len())?;
        slot.copy_from_slice(data);
        let addr = slot.as_ptr() as u64;
        self.next = (self.next + 1) % (self.bytes.len() / self.slot_bytes);
        Some(Sge { addr, len: data.len() as u32, lkey: self.lkey })
    }
}

/// Requests that wait for the model to take them.
#[derive(Default)]
pub struct Backlog {
    waiting: VecDeque<Request>,
}

impl Backlog {
    pub fn with_capacity(requests: u32) -> Self {
        Backlog { waiting: VecDeque::with_capacity(requests as usize) }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn push(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    pub fn front(&self) -> Option<&Request> {
        self.waiting.front()
    }

    pub fn pop(&mut self) -> Option<Request> {
        self.waiting.pop_front()
    }
}

/// Four bytes of immediate data travel as they lie in memory.
pub fn imm_of(bytes: [u8; 4]) -> u32 {
    u32::from_be_bytes(bytes)
}

/// The model's form of a request; none if its inline data does not fit.
pub fn translate(request: &SendRequest<'_>, inline: &mut Option<InlineSlab>) -> Option<Request> {
    let mut out = Request::default();
    let wqe = &mut out.wqe;
    *wqe = wqe_of(request.op);
    wqe.wr_id = request.wr_id;
    (wqe.signaled, wqe.solicited, wqe.fence) = (request.signaled, request.solicited, request.fenced);
    match request.payload {
        Payload::Inline(data) => {
            let sge = match inline {
                Some(slab) => slab.store(data)?,
                None if data.is_empty() => Sge::default(),
                None => return None,
            };
            (wqe.num_sge, wqe.laddr, wqe.lkey, wqe.length) = (1, sge.addr, sge.lkey, sge.len);
        }
        Payload::Sges(sges) => {
            let used = sges.iter().filter(|sge| sge.length > 0);
            let mut count = 0;
            for sge in used {
                *out.list.get_mut(count)? = Sge { addr: sge.addr, len: sge.length, lkey: sge.lkey };
                count += 1;
            }
            wqe.num_sge = count as u8;
            let first = out.list[0];
            (wqe.laddr, wqe.lkey) = (first.addr, first.lkey);
            wqe.length = u32::try_from(request.payload.length_bytes()).unwrap_or(u32::MAX);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::SendOp;
    use crate::device::{Remote, Sge as DeviceSge};
    use mrnic_model::wqe;

    fn send<'a>(payload: Payload<'a>) -> SendRequest<'a> {
        let op = SendOp::Send { imm: None };
        SendRequest { wr_id: 7, op, payload, signaled: true, solicited: false, fenced: false }
    }

    #[test]
    fn inline_data_keeps_its_slot_until_all_others_were_used() {
        let mut slab = Some(InlineSlab::new(4, 16));
        let mut addresses = Vec::new();
        for i in 0..4u8 {
            let request = translate(&send(Payload::Inline(&[i; 16])), &mut slab).unwrap();
            addresses.push(request.wqe.laddr);
        }
        let bytes = &slab.as_ref().unwrap().bytes;
        assert!((0..4u8).all(|i| bytes[usize::from(i) * 16..][..16] == [i; 16]));
        let again = translate(&send(Payload::Inline(&[9; 3])), &mut slab).unwrap();
        assert_eq!((again.wqe.laddr, again.wqe.length), (addresses[0], 3));
        assert!(translate(&send(Payload::Inline(&[9; 17])), &mut slab).is_none());
        assert!(translate(&send(Payload::Inline(&[9])), &mut None).is_none());
    }

    #[test]
    fn pieces_without_bytes_are_left_out() {
        let sge = |addr, length| DeviceSge { addr, length, lkey: 3 };
        let list = [sge(1, 0), sge(2, 5), sge(3, 0), sge(4, 6)];
        let request = translate(&send(Payload::Sges(&list)), &mut None).unwrap();
        assert_eq!((request.wqe.num_sge, request.wqe.length), (2, 11));
        assert_eq!(request.list().iter().map(|s| s.addr).collect::<Vec<_>>(), [2, 4]);
        let one = translate(&send(Payload::Sges(&list[..3])), &mut None).unwrap();
        assert_eq!((one.wqe.num_sge, one.wqe.laddr, one.wqe.lkey), (1, 2, 3));
        assert!(one.list().is_empty());
        let none = translate(&send(Payload::Sges(&[])), &mut None).unwrap();
        assert_eq!((none.wqe.num_sge, none.wqe.length), (0, 0));
    }

    #[test]
    fn operands_of_atomics_and_immediates_arrive() {
        let remote = Remote { addr: 0x100, rkey: 9 };
        let op = SendOp::CompareSwap { remote, compare: 1, swap: 2 };
        let request = translate(&SendRequest { op, ..send(Payload::Sges(&[])) }, &mut None).unwrap();
        assert_eq!((request.wqe.opcode, request.wqe.compare, request.wqe.swap_add), (wqe::WQE_COMPARE_SWAP, 1, 2));
        let op = SendOp::Write { remote, imm: Some([1, 2, 3, 4]) };
        let request = translate(&SendRequest { op, ..send(Payload::Sges(&[])) }, &mut None).unwrap();
        assert_eq!((request.wqe.opcode, request.wqe.imm), (wqe::WQE_WRITE_IMM, 0x0102_0304));
        assert_eq!((request.wqe.raddr, request.wqe.rkey), (0x100, 9));
    }
}
