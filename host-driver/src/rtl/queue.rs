//! The queues of a queue pair as the driver keeps them: rings, what each slot holds, and memory for inline data.
//!
//! In: requests and receives of the program. Out: WQEs and receives in the rings, and completions for those that have ended, in their order. Each
//! keeps its slot until then.
use super::rings::{Cqe, QueueRings, Recv};
use crate::device::{Completion, CompletionKind, Payload, PostError, RecvRequest, SendRequest, WcStatus};
use crate::model::{wqe_of, InlineSlab};
use mrnic_model::Wqe;
use mrnic_regs::code;

/// MAK.code bad_qp.
const CODE_BAD_QP: u8 = 4;

/// What a slot of the send queue holds.
#[derive(Clone, Copy, Default)]
struct Request {
    wr_id: u64,
    kind: CompletionKind,
    signaled: bool,
}

/// Both queues.
pub struct Queues {
    pub rings: QueueRings,
    requests: Vec<Request>,
    /// What a slot of the receive queue holds: wr_id.
    receives: Vec<u64>,
    pub inline: Option<InlineSlab>,
    /// Requests and receives that have ended.
    completed: u64,
    received: u64,
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
        code::STATUS_RNR_RETRY_EXC_ERR => WcStatus::RnrRetryExceeded,
        _ => WcStatus::General,
    }
}

/// The only piece of a list, or none; one without bytes touches no key.
fn piece(list: &[crate::device::Sge]) -> Result<(u64, u32, u32), PostError> {
    match list {
        [] => Ok((0, 0, 0)),
        [sge] => Ok((sge.addr, sge.lkey, sge.length)),
        _ => Err(PostError::TooManySges),
    }
}

impl Queues {
    pub fn new(requests: u32, receives: u32, inline: Option<InlineSlab>) -> Self {
        let rings = QueueRings::new(requests, receives);
        let (sends, recvs) = rings.depths();
        Queues {
            requests: vec![Request::default(); sends as usize],
            receives: vec![0; recvs as usize],
            rings,
            inline,
            completed: 0,
            received: 0,
        }
    }

    /// Requests that have not ended.
    pub fn outstanding(&self) -> u32 {
        (self.rings.produced().0 - self.completed) as u32
    }

    /// Requests that have ended, since the beginning.
    pub fn ended(&self) -> u64 {
        self.completed
    }

    /// Receives that have not ended.
    pub fn receives_outstanding(&self) -> u32 {
        (self.rings.produced().1 - self.received) as u32
    }

    /// Empty, from the beginning.
    pub fn reset(&mut self) {
        self.rings.reset();
        (self.completed, self.received) = (0, 0);
    }

    fn slot(&self, index: u64) -> usize {
        (index & (self.requests.len() as u64 - 1)) as usize
    }

    fn recv_slot(&self, index: u64) -> usize {
        (index & (self.receives.len() as u64 - 1)) as usize
    }

    /// Writes a request into the ring. The caller has seen that a slot is free. A refused one changes nothing.
    pub fn push(&mut self, request: &SendRequest<'_>) -> Result<(), PostError> {
        let (laddr, lkey, length) = match request.payload {
            Payload::Inline(data) => match &mut self.inline {
                Some(slab) => slab.store(data).map(|sge| (sge.addr, sge.lkey, sge.len)).ok_or(PostError::BadInline)?,
                None if data.is_empty() => (0, 0, 0),
                None => return Err(PostError::BadInline),
            },
            Payload::Sges(list) => piece(list)?,
        };
        let slot = self.slot(self.rings.produced().0);
        self.requests[slot] = Request { wr_id: request.wr_id, kind: request.op.completion(), signaled: request.signaled };
        let (fence, solicited, wr_id) = (request.fenced, request.solicited, request.wr_id);
        self.rings.push(&Wqe { fence, solicited, wr_id, laddr, lkey, length, ..wqe_of(request.op) });
        Ok(())
    }

    /// Writes a receive into the ring. The caller has seen that a slot is free.
    pub fn push_recv(&mut self, request: &RecvRequest<'_>) -> Result<(), PostError> {
        let (addr, lkey, length) = piece(request.sges)?;
        let slot = self.recv_slot(self.rings.produced().1);
        self.receives[slot] = request.wr_id;
        self.rings.push_recv(&Recv { wr_id: request.wr_id, addr, lkey, length });
        Ok(())
    }

    /// The next request that the NIC has ended: its completion, and whether the program wants to see it.
    pub fn pop(&mut self, qpn: u32) -> Option<(Completion, bool)> {
        let cqe = self.rings.pop()?;
        let request = self.requests[self.slot(self.completed)];
        let status = self.checked(&cqe, request.wr_id, self.completed);
        self.completed += 1;
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

    /// The next receive that the NIC has ended, and whether the peer asked for a solicited completion.
    pub fn pop_recv(&mut self, qpn: u32, src_qpn: u32) -> Option<(Completion, bool)> {
        let cqe = self.rings.pop_recv()?;
        let wr_id = self.receives[self.recv_slot(self.received)];
        let status = self.checked(&cqe, wr_id, self.received);
        self.received += 1;
        let kind = match cqe.opcode {
            code::OPCODE_RECV_RDMA_WITH_IMM => CompletionKind::RecvWrite,
            _ => CompletionKind::Recv,
        };
        let (byte_len, imm) = (cqe.byte_len, cqe.imm.map(u32::to_be_bytes));
        let src_qpn = if status == WcStatus::Success { src_qpn } else { 0 };
        Some((Completion { wr_id, status, kind, byte_len, imm, qpn, src_qpn, vendor_error: 0 }, cqe.solicited))
    }

    /// The status of a completion. One that does not name what is next comes from a NIC that cannot be trusted any more.
    fn checked(&self, cqe: &Cqe, wr_id: u64, index: u64) -> WcStatus {
        let in_order = cqe.wr_id == wr_id && u64::from(cqe.index) == index & 0xffff;
        if in_order {
            status_of(cqe)
        } else {
            WcStatus::General
        }
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

    /// Ends the next receive here.
    pub fn flush_recv(&mut self, qpn: u32) -> Option<Completion> {
        if self.receives_outstanding() == 0 {
            return None;
        }
        let wr_id = self.receives[self.recv_slot(self.received)];
        self.received += 1;
        let (status, kind) = (WcStatus::Flushed, CompletionKind::Recv);
        Some(Completion { wr_id, status, kind, qpn, ..Completion::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Remote, SendOp, Sge};

    const REMOTE: Remote = Remote { addr: 1, rkey: 2 };

    fn write(payload: Payload<'_>, wr_id: u64) -> SendRequest<'_> {
        let op = SendOp::Write { remote: REMOTE, imm: None };
        SendRequest { wr_id, op, payload, signaled: wr_id.is_multiple_of(2), solicited: false, fenced: false }
    }

    #[test]
    fn requests_and_receives_end_once_and_in_order() {
        let mut queue = Queues::new(4, 4, None);
        let sge = [Sge { addr: 5, length: 6, lkey: 7 }];
        for wr_id in 0..3 {
            queue.push(&write(Payload::Sges(&sge), wr_id)).unwrap();
            queue.push_recv(&RecvRequest { wr_id: 10 + wr_id, sges: &sge }).unwrap();
        }
        assert_eq!((queue.outstanding(), queue.receives_outstanding()), (3, 3));
        assert_eq!((queue.pop(9), queue.pop_recv(9, 8)), (None, None));
        let first = queue.flush(9, WcStatus::RetryExceeded).unwrap();
        assert_eq!((first.wr_id, first.status, first.kind, first.qpn), (0, WcStatus::RetryExceeded, CompletionKind::Write, 9));
        assert_eq!(queue.flush(9, WcStatus::Flushed).unwrap().wr_id, 1);
        let first = queue.flush_recv(9).unwrap();
        assert_eq!((first.wr_id, first.status, first.kind, first.qpn), (10, WcStatus::Flushed, CompletionKind::Recv, 9));
        assert_eq!((queue.outstanding(), queue.receives_outstanding()), (1, 2));
        queue.reset();
        assert_eq!((queue.outstanding(), queue.flush(9, WcStatus::Flushed)), (0, None));
        assert_eq!((queue.receives_outstanding(), queue.flush_recv(9)), (0, None));
    }

    #[test]
    fn what_the_rtl_does_not_do_is_refused_and_changes_nothing() {
        let mut queue = Queues::new(4, 4, None);
        let sges = [Sge::default(); 2];
        assert_eq!(queue.push(&write(Payload::Sges(&sges), 0)), Err(PostError::TooManySges));
        assert_eq!(queue.push_recv(&RecvRequest { wr_id: 0, sges: &sges }), Err(PostError::TooManySges));
        assert_eq!(queue.push(&write(Payload::Inline(&[1]), 0)), Err(PostError::BadInline));
        let none = write(Payload::Sges(&[]), 0);
        assert_eq!((queue.outstanding(), queue.receives_outstanding()), (0, 0));
        queue.push(&write(Payload::Inline(&[]), 0)).unwrap();
        queue.push(&SendRequest { op: SendOp::Send { imm: Some([1, 2, 3, 4]) }, ..none }).unwrap();
        assert_eq!(queue.outstanding(), 2);
    }
}
