//! The send queue of a queue pair as the driver keeps it: rings, what each slot holds, and memory for inline data.
//!
//! In: requests of the program. Out: WQEs in the ring, and completions for those requests that have ended. A request keeps its slot until then.
use super::rings::{Cqe, QueueRings, Wqe};
use crate::device::{Completion, CompletionKind, Payload, PostError, SendOp, SendRequest, WcStatus};
use crate::model::InlineSlab;
use mrnic_regs::code;

/// The WQE's opcode of an RDMA WRITE.
const OPCODE_WRITE: u8 = 0;
/// MAK.code bad_qp.
const CODE_BAD_QP: u8 = 4;

/// What a slot of the ring holds.
#[derive(Clone, Copy, Default)]
struct Request {
    wr_id: u64,
    kind: CompletionKind,
    signaled: bool,
}

/// A send queue.
pub struct SendQueue {
    pub rings: QueueRings,
    requests: Vec<Request>,
    pub inline: Option<InlineSlab>,
    /// Requests that have ended.
    completed: u64,
}

fn status_of(cqe: &Cqe) -> WcStatus {
    match cqe.status {
        code::STATUS_SUCCESS => WcStatus::Success,
        code::STATUS_LOC_LEN_ERR => WcStatus::LocalLength,
        code::STATUS_LOC_QP_OP_ERR => WcStatus::LocalQpOperation,
        code::STATUS_LOC_PROT_ERR => WcStatus::LocalProtection,
        code::STATUS_WR_FLUSH_ERR => WcStatus::Flushed,
        // A peer that does not exist does not answer, as far as verbs programs know: they expect that retries run out.
        code::STATUS_REM_INV_REQ_ERR if cqe.nak_code == CODE_BAD_QP => WcStatus::RetryExceeded,
        code::STATUS_REM_INV_REQ_ERR => WcStatus::RemoteInvalidRequest,
        code::STATUS_REM_ACCESS_ERR => WcStatus::RemoteAccess,
        code::STATUS_REM_OP_ERR => WcStatus::RemoteOperation,
        code::STATUS_RETRY_EXC_ERR => WcStatus::RetryExceeded,
        _ => WcStatus::General,
    }
}

impl SendQueue {
    pub fn new(requests: u32, inline: Option<InlineSlab>) -> Self {
        let rings = QueueRings::new(requests);
        SendQueue { requests: vec![Request::default(); rings.depth() as usize], rings, inline, completed: 0 }
    }

    /// Requests that have not ended.
    pub fn outstanding(&self) -> u32 {
        (self.rings.produced - self.completed) as u32
    }

    /// Empty, from the beginning.
    pub fn reset(&mut self) {
        self.rings.reset();
        self.completed = 0;
    }

    fn slot(&self, index: u64) -> usize {
        (index & u64::from(self.rings.depth() - 1)) as usize
    }

    /// Writes a request into the ring. The caller has seen that a slot is free.
    pub fn push(&mut self, request: &SendRequest<'_>) -> Result<(), PostError> {
        let SendOp::Write { remote, imm: None } = request.op else { return Err(PostError::BadOperation) };
        let (laddr, lkey, length) = match request.payload {
            Payload::Inline(data) => match &mut self.inline {
                Some(slab) => slab.store(data).map(|sge| (sge.addr, sge.lkey, sge.len)).ok_or(PostError::BadInline)?,
                None if data.is_empty() => (0, 0, 0),
                None => return Err(PostError::BadInline),
            },
            // A piece without bytes touches no key.
            Payload::Sges(list) => match list {
                [] => (0, 0, 0),
                [sge] => (sge.addr, sge.lkey, sge.length),
                _ => return Err(PostError::TooManySges),
            },
        };
        let slot = self.slot(self.rings.produced);
        self.requests[slot] = Request { wr_id: request.wr_id, kind: request.op.completion(), signaled: request.signaled };
        let (raddr, rkey) = (remote.addr, remote.rkey);
        self.rings.push(&Wqe { opcode: OPCODE_WRITE, wr_id: request.wr_id, laddr, lkey, raddr, rkey, length });
        Ok(())
    }

    /// The next request that the NIC has ended: its completion, and whether the program wants to see it.
    pub fn pop(&mut self, qpn: u32) -> Option<(Completion, bool)> {
        let cqe = self.rings.pop()?;
        let request = self.requests[self.slot(self.completed)];
        self.completed += 1;
        // One that does not name the request that is next comes from a NIC that cannot be trusted any more.
        let in_order = cqe.wr_id == request.wr_id && u64::from(cqe.wqe_index) == (self.completed - 1) & 0xffff;
        let status = if in_order { status_of(&cqe) } else { WcStatus::General };
        let completion = Completion {
            wr_id: request.wr_id,
            status,
            kind: request.kind,
            byte_len: cqe.byte_len,
            qpn,
            vendor_error: cqe.nak_code.into(),
            ..Completion::default()
        };
        Some((completion, request.signaled || status != WcStatus::Success))
    }

    /// Ends the next request here: the NIC will not.
    pub fn flush(&mut self, qpn: u32, status: WcStatus) -> Option<Completion> {
        if self.outstanding() == 0 {
            return None;
        }
        let request = self.requests[self.slot(self.completed)];
        self.completed += 1;
        Some(Completion { wr_id: request.wr_id, status, kind: request.kind, qpn, ..Completion::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Remote, Sge};

    fn write(payload: Payload<'_>, wr_id: u64) -> SendRequest<'_> {
        let op = SendOp::Write { remote: Remote { addr: 1, rkey: 2 }, imm: None };
        SendRequest { wr_id, op, payload, signaled: wr_id.is_multiple_of(2), solicited: false, fenced: false }
    }

    #[test]
    fn requests_end_once_and_in_order() {
        let mut queue = SendQueue::new(4, None);
        let sge = [Sge { addr: 5, length: 6, lkey: 7 }];
        for wr_id in 0..3 {
            queue.push(&write(Payload::Sges(&sge), wr_id)).unwrap();
        }
        assert_eq!((queue.outstanding(), queue.pop(9)), (3, None));
        let first = queue.flush(9, WcStatus::RetryExceeded).unwrap();
        assert_eq!((first.wr_id, first.status, first.kind, first.qpn), (0, WcStatus::RetryExceeded, CompletionKind::Write, 9));
        assert_eq!(queue.flush(9, WcStatus::Flushed).unwrap().wr_id, 1);
        queue.reset();
        assert_eq!((queue.outstanding(), queue.flush(9, WcStatus::Flushed)), (0, None));
    }

    #[test]
    fn what_the_rtl_does_not_do_is_refused() {
        let mut queue = SendQueue::new(4, None);
        let sges = [Sge::default(); 2];
        assert_eq!(queue.push(&write(Payload::Sges(&sges), 0)), Err(PostError::TooManySges));
        assert_eq!(queue.push(&write(Payload::Inline(&[1]), 0)), Err(PostError::BadInline));
        queue.push(&write(Payload::Inline(&[]), 0)).unwrap();
        let send = SendRequest { op: SendOp::Send { imm: None }, ..write(Payload::Sges(&[]), 0) };
        assert_eq!(queue.push(&send), Err(PostError::BadOperation));
        let immediate = SendOp::Write { remote: Remote { addr: 1, rkey: 2 }, imm: Some([0; 4]) };
        assert_eq!(queue.push(&SendRequest { op: immediate, ..send }), Err(PostError::BadOperation));
        assert_eq!(queue.outstanding(), 1);
    }
}
