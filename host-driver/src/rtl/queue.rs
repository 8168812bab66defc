//! The queues of a queue pair as the driver keeps them: rings, what each slot holds, and memory for inline data.
//!
//! In: requests and receives of the program. Out: WQEs and receives in the rings, and completions for those that have ended, in their order. Each
//! keeps its slot until then.
use super::rings::{Cqe, QueueRings, Recv, SGES_MAX};
use crate::device::{Completion, CompletionKind, Payload, PostError, RecvRequest, SendRequest, WcStatus};
use crate::model::{wqe_of, InlineSlab};
use mrnic_model::{Sge, Wqe};
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
    /// Pieces that a request may have, and a receive.
    pieces: usize,
    recv_pieces: usize,
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

/// The completion of a receive.
fn received(cqe: &Cqe, wr_id: u64, status: WcStatus, qpn: u32, src_qpn: u32) -> Completion {
    let kind = match cqe.opcode {
        code::OPCODE_RECV_RDMA_WITH_IMM => CompletionKind::RecvWrite,
        _ => CompletionKind::Recv,
    };
    let (byte_len, imm) = (cqe.byte_len, cqe.imm.map(u32::to_be_bytes));
    let src_qpn = if status == WcStatus::Success { src_qpn } else { 0 };
    Completion { wr_id, status, kind, byte_len, imm, qpn, src_qpn, vendor_error: 0 }
}

/// The pieces of a list that have bytes, at most `most`: those without touch no key.
fn pieces_of(sges: &[crate::device::Sge], most: usize) -> Result<([Sge; SGES_MAX as usize], usize), PostError> {
    let mut list = [Sge::default(); SGES_MAX as usize];
    let mut count = 0;
    for sge in sges.iter().filter(|sge| sge.length > 0) {
        let place = list.get_mut(..most).and_then(|list| list.get_mut(count));
        *place.ok_or(PostError::TooManySges)? = Sge { addr: sge.addr, len: sge.length, lkey: sge.lkey };
        count += 1;
    }
    Ok((list, count))
}

/// A receive of at most `most` pieces.
pub fn recv_of(request: &RecvRequest<'_>, most: usize) -> Result<Recv, PostError> {
    let (list, count) = pieces_of(request.sges, most)?;
    Ok(Recv { wr_id: request.wr_id, count, list })
}

impl Queues {
    /// So many requests and receives, each with how many pieces one of them may have.
    pub fn new((requests, pieces): (u32, u32), (receives, recv_pieces): (u32, u32), inline: Option<InlineSlab>) -> Self {
        let rings = QueueRings::new((requests, pieces > 1), (receives, recv_pieces > 1));
        let (sends, recvs) = rings.depths();
        Queues {
            requests: vec![Request::default(); sends as usize],
            receives: vec![0; recvs as usize],
            rings,
            inline,
            pieces: pieces.clamp(1, SGES_MAX) as usize,
            recv_pieces: recv_pieces.clamp(1, SGES_MAX) as usize,
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
        let mut list = [Sge::default(); SGES_MAX as usize];
        let mut count = 0;
        let (laddr, lkey, length) = match request.payload {
            Payload::Inline(data) => match &mut self.inline {
                Some(slab) => slab.store(data).map(|sge| (sge.addr, sge.lkey, sge.len)).ok_or(PostError::BadInline)?,
                None if data.is_empty() => (0, 0, 0),
                None => return Err(PostError::BadInline),
            },
            Payload::Sges(sges) => {
                (list, count) = pieces_of(sges, self.pieces)?;
                (list[0].addr, list[0].lkey, request.payload.length_bytes() as u32)
            }
        };
        let slot = self.slot(self.rings.produced().0);
        self.requests[slot] = Request { wr_id: request.wr_id, kind: request.op.completion(), signaled: request.signaled };
        let (fence, solicited, wr_id) = (request.fenced, request.solicited, request.wr_id);
        let wqe = Wqe { fence, solicited, wr_id, laddr, lkey, length, ..wqe_of(request.op) };
        self.rings.push(&wqe, if count > 1 { &list[..count] } else { &[] });
        Ok(())
    }

    /// Writes a receive into the ring. The caller has seen that a slot is free.
    pub fn push_recv(&mut self, request: &RecvRequest<'_>) -> Result<(), PostError> {
        let recv = recv_of(request, self.recv_pieces)?;
        let slot = self.recv_slot(self.rings.produced().1);
        self.receives[slot] = request.wr_id;
        self.rings.push_recv(&recv);
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
        Some((received(&cqe, wr_id, status, qpn, src_qpn), cqe.solicited))
    }

    /// The next receive of a shared queue that this queue pair had taken; `None` inside: LAST_WQE, no more come.
    pub fn pop_shared(&mut self, qpn: u32, src_qpn: u32) -> Option<Option<(Completion, bool)>> {
        let cqe = self.rings.pop_recv()?;
        let ends = cqe.opcode == code::OPCODE_LAST_WQE;
        Some((!ends).then(|| (received(&cqe, cqe.wr_id, status_of(&cqe), qpn, src_qpn), cqe.solicited)))
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
    use mrnic_regs::ring;

    const REMOTE: Remote = Remote { addr: 1, rkey: 2 };

    fn write(payload: Payload<'_>, wr_id: u64) -> SendRequest<'_> {
        let op = SendOp::Write { remote: REMOTE, imm: None };
        SendRequest { wr_id, op, payload, signaled: wr_id.is_multiple_of(2), solicited: false, fenced: false }
    }

    #[test]
    fn requests_and_receives_end_once_and_in_order() {
        let mut queue = Queues::new((4, 1), (4, 1), None);
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
    fn a_list_stands_behind_its_request() {
        let mut queue = Queues::new((4, 4), (4, 4), None);
        let sge = |addr, length| Sge { addr, length, lkey: 9 };
        queue.push(&write(Payload::Sges(&[sge(1 << 40, 3), sge(7, 0), sge(2, 5)]), 0)).unwrap();
        queue.push(&write(Payload::Sges(&[sge(7, 0), sge(3, 6)]), 1)).unwrap();
        let word = |slot: usize, i| unsafe { (queue.rings.rings().sq_base as *const u32).add(slot * 32 + i).read() };
        assert!(queue.rings.rings().sq_lists);
        let list = [16, 17, 18, 19, 20, 21, 22, 23].map(|i| word(0, i));
        assert_eq!((word(0, 0) >> 16, word(0, 7), list), (2, 8, [0, 1 << 8, 3, 9, 2, 0, 5, 9]));
        assert_eq!((word(1, 0) >> 16, word(1, 1), word(1, 2), word(1, 7)), (0, 9, 3, 6), "one piece has bytes");
        queue.push_recv(&RecvRequest { wr_id: 3, sges: &[sge(1 << 40, 3), sge(7, 0), sge(2, 5)] }).unwrap();
        queue.push_recv(&RecvRequest { wr_id: 4, sges: &[sge(7, 0), sge(3, 6)] }).unwrap();
        let recv = |slot: usize, i| unsafe { (queue.rings.rings().rq_base as *const u32).add(slot * 32 + i).read() };
        assert!(queue.rings.rings().rq_lists);
        assert_eq!((recv(0, 0) >> 16, [16, 17, 18, 19, 20, 21, 22, 23].map(|i| recv(0, i))), (2, list));
        assert_eq!((recv(1, 0) >> 16, recv(1, 1), recv(1, 2), recv(1, 4), recv(1, 6)), (0, 9, 3, 6, 4));
        assert_eq!(queue.push_recv(&RecvRequest { wr_id: 5, sges: &[sge(1, 1); 5] }), Err(PostError::TooManySges));
        let two = [sge(1, 1), sge(2, 2)];
        let read = SendRequest { op: SendOp::Read { remote: REMOTE }, ..write(Payload::Sges(&two), 2) };
        queue.push(&read).unwrap();
        let word = |slot: usize, i| unsafe { (queue.rings.rings().sq_base as *const u32).add(slot * 32 + i).read() };
        assert_eq!((word(2, 0) & 0xff, word(2, 0) >> 16, word(2, 7), word(2, 18), word(2, 22)), (4, 2, 3, 1, 2));
        assert_eq!(queue.push(&write(Payload::Sges(&[sge(1, 1); 5]), 2)), Err(PostError::TooManySges));
        assert_eq!((queue.outstanding(), ring::wqe::BYTES), (3, 64));
    }

    #[test]
    fn what_the_rtl_does_not_do_is_refused_and_changes_nothing() {
        let mut queue = Queues::new((4, 1), (4, 1), None);
        let sges = [Sge { addr: 1, length: 1, lkey: 1 }; 2];
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
