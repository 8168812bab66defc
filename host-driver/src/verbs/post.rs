//! Posting work requests by lists: the classic way.
//!
//! In: linked lists of C work requests. Out: posted requests up to the first bad one, which is named in `bad_wr`; one doorbell a list.
//! Nothing is allocated: scatter lists are passed on as they lie in the program's memory.
use super::qp::{qp_own, QpOwn};
use super::srq::srq_own;
use crate::abi::*;
use crate::device::{Limits, Payload, PostError, QpState, RecvRequest, Remote, SendOp, SendRequest, Sge};
use crate::rules::check_request;
use std::ffi::c_int;

/// A program's scatter list; an empty one may have any pointer.
unsafe fn sges<'a>(list: *const ibv_sge, count: c_int) -> Result<&'a [Sge], PostError> {
    match usize::try_from(count) {
        Ok(0) => Ok(&[]),
        Ok(count) if count <= Limits::SGES_MAX && !list.is_null() => Ok(std::slice::from_raw_parts(list, count)),
        _ => Err(PostError::TooManySges),
    }
}

unsafe fn op_of(wr: &ibv_send_wr) -> Result<SendOp, PostError> {
    let imm = Some(wr.imm_data.to_ne_bytes());
    let rdma = || Remote { addr: wr.wr.rdma.remote_addr, rkey: wr.wr.rdma.rkey };
    let atomic = || Remote { addr: wr.wr.atomic.remote_addr, rkey: wr.wr.atomic.rkey };
    Ok(match wr.opcode {
        IBV_WR_SEND => SendOp::Send { imm: None },
        IBV_WR_SEND_WITH_IMM => SendOp::Send { imm },
        IBV_WR_RDMA_WRITE => SendOp::Write { remote: rdma(), imm: None },
        IBV_WR_RDMA_WRITE_WITH_IMM => SendOp::Write { remote: rdma(), imm },
        IBV_WR_RDMA_READ => SendOp::Read { remote: rdma() },
        IBV_WR_ATOMIC_CMP_AND_SWP => {
            SendOp::CompareSwap { remote: atomic(), compare: wr.wr.atomic.compare_add, swap: wr.wr.atomic.swap }
        }
        IBV_WR_ATOMIC_FETCH_AND_ADD => SendOp::FetchAdd { remote: atomic(), add: wr.wr.atomic.compare_add },
        _ => return Err(PostError::BadOperation),
    })
}

/// Sending needs a QP that was brought up; in the error state requests are taken and flushed.
#[inline]
pub fn check_state(own: &QpOwn) -> Result<(), PostError> {
    match own.device.status().state {
        QpState::Rts | QpState::Sqd | QpState::Error => Ok(()),
        QpState::Reset | QpState::Init | QpState::Rtr => Err(PostError::WrongState),
    }
}

/// Checks a request against the QP.
#[inline]
pub fn check(own: &QpOwn, op: SendOp, flags: u32, payload: &Payload<'_>) -> Result<(), PostError> {
    if flags & !(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE) != 0 {
        return Err(PostError::BadOperation);
    }
    check_request(op, payload, &own.sizes)
}

/// Posts a checked request.
#[inline]
pub fn submit(own: &QpOwn, op: SendOp, wr_id: u64, flags: u32, payload: Payload<'_>) -> Result<(), PostError> {
    own.device.post_send(&SendRequest {
        wr_id,
        op,
        payload,
        signaled: own.signal_all || flags & IBV_SEND_SIGNALED != 0,
        solicited: flags & IBV_SEND_SOLICITED != 0,
        fenced: flags & IBV_SEND_FENCE != 0,
    })
}

unsafe fn send_one(own: &QpOwn, wr: &ibv_send_wr) -> Result<(), PostError> {
    let op = op_of(wr)?;
    let list = sges(wr.sg_list, wr.num_sge)?;
    if wr.send_flags & IBV_SEND_INLINE == 0 {
        let payload = Payload::Sges(list);
        check(own, op, wr.send_flags, &payload)?;
        return submit(own, op, wr.wr_id, wr.send_flags, payload);
    }
    let mut buffer = [0u8; Limits::INLINE_BYTES_MAX];
    let mut used = 0;
    for sge in list {
        let end = used + sge.length as usize;
        let part = buffer.get_mut(used..end).ok_or(PostError::BadInline)?;
        std::ptr::copy_nonoverlapping(sge.addr as *const u8, part.as_mut_ptr(), part.len());
        used = end;
    }
    let payload = Payload::Inline(&buffer[..used]);
    check(own, op, wr.send_flags, &payload)?;
    submit(own, op, wr.wr_id, wr.send_flags, payload)
}

pub unsafe extern "C" fn post_send(qp: *mut ibv_qp, mut wr: *mut ibv_send_wr, bad_wr: *mut *mut ibv_send_wr) -> c_int {
    let own = qp_own(qp);
    own.send_lock.with(|| {
        let mut result = check_state(own);
        while result.is_ok() && !wr.is_null() {
            result = send_one(own, &*wr);
            if result.is_ok() {
                wr = (*wr).next;
            }
        }
        own.device.ring_send();
        finish(result, wr, bad_wr)
    })
}

/// The number to return, with the request that was refused.
unsafe fn finish<T>(result: Result<(), PostError>, wr: *mut T, bad_wr: *mut *mut T) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            super::result::log_refused(error);
            if !bad_wr.is_null() {
                *bad_wr = wr;
            }
            error.errno()
        }
    }
}

/// Posts a list of buffers of at most `max_sge` pieces.
unsafe fn receive(
    mut wr: *mut ibv_recv_wr,
    bad_wr: *mut *mut ibv_recv_wr,
    max_sge: u32,
    post: impl Fn(&RecvRequest<'_>) -> Result<(), PostError>,
) -> c_int {
    let mut result = Ok(());
    while !wr.is_null() {
        let one = &*wr;
        result = sges(one.sg_list, one.num_sge).and_then(|sges| {
            if sges.len() as u64 > u64::from(max_sge) {
                return Err(PostError::TooManySges);
            }
            post(&RecvRequest { wr_id: one.wr_id, sges })
        });
        if result.is_err() {
            break;
        }
        wr = one.next;
    }
    finish(result, wr, bad_wr)
}

pub unsafe extern "C" fn post_recv(qp: *mut ibv_qp, wr: *mut ibv_recv_wr, bad_wr: *mut *mut ibv_recv_wr) -> c_int {
    let own = qp_own(qp);
    if !(*qp).srq.is_null() {
        return finish(Err(PostError::BadOperation), wr, bad_wr);
    }
    own.recv_lock.with(|| {
        if own.device.status().state == QpState::Reset {
            return finish(Err(PostError::WrongState), wr, bad_wr);
        }
        receive(wr, bad_wr, own.capacity.max_recv_sge, |r| own.device.post_recv(r))
    })
}

pub unsafe extern "C" fn post_srq_recv(srq: *mut ibv_srq, wr: *mut ibv_recv_wr, bad_wr: *mut *mut ibv_recv_wr) -> c_int {
    let own = srq_own(srq);
    own.lock.with(|| receive(wr, bad_wr, own.device.capacity().1, |r| own.device.post_recv(r)))
}
