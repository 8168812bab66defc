//! Posting work requests piece by piece: `ibv_wr_start`, `ibv_wr_*`, `ibv_wr_set_*`, `ibv_wr_complete`.
//!
//! In: calls through `ibv_qp_ex` by one thread between start and complete. Out: all requests of the batch are posted, or none.
//! The buffers keep their size from batch to batch, so that a steady program allocates nothing here.
use super::post::{check, check_state, submit};
use super::qp::qp_own;
use crate::abi::*;
use crate::device::{Limits, Operations, Payload, PostError, Remote, SendOp, Sge};
use std::ffi::{c_int, c_void};
use std::ops::Range;

/// What a program may ask for at creation.
pub fn operations(device: &Operations) -> u64 {
    let mut flags = 0;
    let mut add = |has, flag| flags |= if has { flag } else { 0 };
    add(device.write, IBV_QP_EX_WITH_RDMA_WRITE);
    add(device.write && device.immediate, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
    add(device.send, IBV_QP_EX_WITH_SEND);
    add(device.send && device.immediate, IBV_QP_EX_WITH_SEND_WITH_IMM);
    add(device.read, IBV_QP_EX_WITH_RDMA_READ);
    add(device.atomic, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
    flags
}

/// The requests of a batch, with their data in common buffers.
#[derive(Default)]
pub struct Builder {
    requests: Vec<Built>,
    sges: Vec<Sge>,
    inline: Vec<u8>,
    /// The first thing that was wrong; reported by `wr_complete`.
    error: Option<PostError>,
}

struct Built {
    op: SendOp,
    wr_id: u64,
    flags: u32,
    data: Data,
}

/// Parts of the common buffers.
enum Data {
    Sges(Range<usize>),
    Inline(Range<usize>),
}

impl Builder {
    fn clear(&mut self) {
        self.requests.clear();
        self.sges.clear();
        self.inline.clear();
        self.error = None;
    }

    fn fail(&mut self, error: PostError) {
        self.error.get_or_insert(error);
    }

    fn add_sges(&mut self, list: &[Sge]) {
        let start = self.sges.len();
        let Some(last) = self.requests.last_mut() else { return self.fail(PostError::BadOperation) };
        self.sges.extend_from_slice(list);
        last.data = Data::Sges(start..self.sges.len());
    }

    fn payload(&self, built: &Built) -> Payload<'_> {
        match &built.data {
            Data::Sges(range) => Payload::Sges(&self.sges[range.clone()]),
            Data::Inline(range) => Payload::Inline(&self.inline[range.clone()]),
        }
    }
}

/// Sets the operations; none without flags.
pub fn fill(qp: &mut ibv_qp_ex, operations: u64) {
    if operations == 0 {
        return;
    }
    let has = |flag| operations & flag != 0;
    qp.wr_atomic_cmp_swp = has(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP).then_some(wr_atomic_cmp_swp as _);
    qp.wr_atomic_fetch_add = has(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD).then_some(wr_atomic_fetch_add as _);
    qp.wr_rdma_read = has(IBV_QP_EX_WITH_RDMA_READ).then_some(wr_rdma_read as _);
    qp.wr_rdma_write = has(IBV_QP_EX_WITH_RDMA_WRITE).then_some(wr_rdma_write as _);
    qp.wr_rdma_write_imm = has(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM).then_some(wr_rdma_write_imm as _);
    qp.wr_send = has(IBV_QP_EX_WITH_SEND).then_some(wr_send as _);
    qp.wr_send_imm = has(IBV_QP_EX_WITH_SEND_WITH_IMM).then_some(wr_send_imm as _);
    qp.wr_set_inline_data = Some(wr_set_inline_data);
    qp.wr_set_inline_data_list = Some(wr_set_inline_data_list);
    qp.wr_set_sge = Some(wr_set_sge);
    qp.wr_set_sge_list = Some(wr_set_sge_list);
    qp.wr_start = Some(wr_start);
    qp.wr_complete = Some(wr_complete);
    qp.wr_abort = Some(wr_abort);
}

/// The builder, between `wr_start` and `wr_complete`, when the caller holds the send lock.
unsafe fn builder<'a>(qp: *mut ibv_qp_ex) -> &'a mut Builder {
    &mut *qp_own(qp.cast()).builder.get()
}

unsafe fn begin(qp: *mut ibv_qp_ex, op: SendOp) {
    let (wr_id, flags) = ((*qp).wr_id, (*qp).wr_flags);
    builder(qp).requests.push(Built { op, wr_id, flags, data: Data::Sges(0..0) });
}

unsafe extern "C" fn wr_start(qp: *mut ibv_qp_ex) {
    qp_own(qp.cast()).send_lock.lock();
    builder(qp).clear();
}

unsafe extern "C" fn wr_abort(qp: *mut ibv_qp_ex) {
    builder(qp).clear();
    qp_own(qp.cast()).send_lock.unlock();
}

unsafe extern "C" fn wr_complete(qp: *mut ibv_qp_ex) -> c_int {
    let own = qp_own(qp.cast());
    let builder = builder(qp);
    let all = |builder: &Builder| {
        if let Some(error) = builder.error {
            return Err(error);
        }
        check_state(own)?;
        if builder.requests.len() > own.device.send_room() as usize {
            return Err(PostError::Full);
        }
        for built in &builder.requests {
            check(own, built.op, built.flags, &builder.payload(built))?;
        }
        let posted = builder.requests.iter().try_for_each(|b| submit(own, b.op, b.wr_id, b.flags, builder.payload(b)));
        own.device.ring_send();
        posted
    };
    let result = all(builder);
    builder.clear();
    own.send_lock.unlock();
    result.map_or_else(PostError::errno, |()| 0)
}

unsafe extern "C" fn wr_atomic_cmp_swp(qp: *mut ibv_qp_ex, rkey: u32, addr: u64, compare: u64, swap: u64) {
    begin(qp, SendOp::CompareSwap { remote: Remote { addr, rkey }, compare, swap });
}

unsafe extern "C" fn wr_atomic_fetch_add(qp: *mut ibv_qp_ex, rkey: u32, addr: u64, add: u64) {
    begin(qp, SendOp::FetchAdd { remote: Remote { addr, rkey }, add });
}

unsafe extern "C" fn wr_rdma_read(qp: *mut ibv_qp_ex, rkey: u32, addr: u64) {
    begin(qp, SendOp::Read { remote: Remote { addr, rkey } });
}

unsafe extern "C" fn wr_rdma_write(qp: *mut ibv_qp_ex, rkey: u32, addr: u64) {
    begin(qp, SendOp::Write { remote: Remote { addr, rkey }, imm: None });
}

unsafe extern "C" fn wr_rdma_write_imm(qp: *mut ibv_qp_ex, rkey: u32, addr: u64, imm: u32) {
    begin(qp, SendOp::Write { remote: Remote { addr, rkey }, imm: Some(imm.to_ne_bytes()) });
}

unsafe extern "C" fn wr_send(qp: *mut ibv_qp_ex) {
    begin(qp, SendOp::Send { imm: None });
}

unsafe extern "C" fn wr_send_imm(qp: *mut ibv_qp_ex, imm: u32) {
    begin(qp, SendOp::Send { imm: Some(imm.to_ne_bytes()) });
}

unsafe extern "C" fn wr_set_sge(qp: *mut ibv_qp_ex, lkey: u32, addr: u64, length: u32) {
    builder(qp).add_sges(&[Sge { addr, length, lkey }]);
}

unsafe extern "C" fn wr_set_sge_list(qp: *mut ibv_qp_ex, num_sge: usize, list: *const ibv_sge) {
    if num_sge == 0 {
        return;
    }
    if num_sge > Limits::SGES_MAX || list.is_null() {
        return builder(qp).fail(PostError::TooManySges);
    }
    builder(qp).add_sges(std::slice::from_raw_parts(list, num_sge));
}

unsafe extern "C" fn wr_set_inline_data(qp: *mut ibv_qp_ex, addr: *mut c_void, length: usize) {
    wr_set_inline_data_list(qp, 1, &ibv_data_buf { addr, length });
}

unsafe extern "C" fn wr_set_inline_data_list(qp: *mut ibv_qp_ex, count: usize, list: *const ibv_data_buf) {
    let builder = builder(qp);
    let start = builder.inline.len();
    for i in 0..count {
        let part = &*list.add(i);
        if builder.inline.len() - start + part.length > Limits::INLINE_BYTES_MAX {
            return builder.fail(PostError::BadInline);
        }
        if part.length > 0 {
            builder.inline.extend_from_slice(std::slice::from_raw_parts(part.addr.cast(), part.length));
        }
    }
    let end = builder.inline.len();
    match builder.requests.last_mut() {
        Some(last) => last.data = Data::Inline(start..end),
        None => builder.fail(PostError::BadOperation),
    }
}
