//! The extended way to poll: `start_poll`, `next_poll`, `end_poll` and `read_*`.
//!
//! In: calls through `ibv_cq_ex`. Out: one completion at a time, read field by field. The queue is locked from a successful
//! `start_poll` to `end_poll`, unless the program said that it uses one thread.
use super::cq::{cq_own, create, Wanted};
use super::result::pointer;
use crate::abi::*;
use crate::device::{Completion, DeviceError};
use std::ffi::c_int;

/// What `read_*` can tell. Local identifiers and service levels are always 0 over Ethernet, and may be asked for.
const FIELDS: u64 = IBV_WC_EX_WITH_BYTE_LEN
    | IBV_WC_EX_WITH_IMM
    | IBV_WC_EX_WITH_QP_NUM
    | IBV_WC_EX_WITH_SRC_QP
    | IBV_WC_EX_WITH_SLID
    | IBV_WC_EX_WITH_SL
    | IBV_WC_EX_WITH_DLID_PATH_BITS;

pub unsafe extern "C" fn create_cq_ex(context: *mut ibv_context, attributes: *mut ibv_cq_init_attr_ex) -> *mut ibv_cq_ex {
    let a = &*attributes;
    let make = || {
        if a.wc_flags & !FIELDS != 0 {
            return Err(DeviceError::Unsupported { what: "a completion field (timestamps, VLAN, flow tag, tag matching)" });
        }
        let flags = if a.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS != 0 { a.flags } else { 0 };
        if a.comp_mask & !IBV_CQ_INIT_ATTR_MASK_FLAGS != 0 || flags & !IBV_CREATE_CQ_ATTR_SINGLE_THREADED != 0 {
            return Err(DeviceError::Unsupported { what: "a CQ creation attribute" });
        }
        let wanted = Wanted { cqe: a.cqe, cq_context: a.cq_context, channel: a.channel, comp_vector: a.comp_vector };
        create(context, &wanted, |cq| fill(cq, a.wc_flags)).map(|cq| cq.cast())
    };
    pointer(make())
}

/// Operations for the fields that the program asked for; others stay empty, as the manual says.
fn fill(cq: &mut ibv_cq_ex, fields: u64) {
    cq.start_poll = Some(start_poll);
    cq.next_poll = Some(next_poll);
    cq.end_poll = Some(end_poll);
    cq.read_opcode = Some(read_opcode);
    cq.read_vendor_err = Some(read_vendor_err);
    cq.read_wc_flags = Some(read_wc_flags);
    let has = |flag| fields & flag != 0;
    cq.read_byte_len = has(IBV_WC_EX_WITH_BYTE_LEN).then_some(read_byte_len as _);
    cq.read_imm_data = has(IBV_WC_EX_WITH_IMM).then_some(read_imm_data as _);
    cq.read_qp_num = has(IBV_WC_EX_WITH_QP_NUM).then_some(read_qp_num as _);
    cq.read_src_qp = has(IBV_WC_EX_WITH_SRC_QP).then_some(read_src_qp as _);
    cq.read_slid = has(IBV_WC_EX_WITH_SLID).then_some(read_zero_u32 as _);
    cq.read_sl = has(IBV_WC_EX_WITH_SL).then_some(read_zero_u8 as _);
    cq.read_dlid_path_bits = has(IBV_WC_EX_WITH_DLID_PATH_BITS).then_some(read_zero_u8 as _);
}

/// Makes the next completion the current one: 0, ENOENT when there is none, or an error number.
unsafe fn advance(cq: *mut ibv_cq_ex) -> c_int {
    let own = cq_own(cq.cast());
    let mut next = [Completion::default()];
    match own.device.poll(&mut next) {
        Ok(0) => libc::ENOENT,
        Ok(_) => {
            *own.current.get() = next[0];
            (*cq).wr_id = next[0].wr_id;
            (*cq).status = next[0].status as c_int;
            0
        }
        Err(error) => error.errno(),
    }
}

unsafe extern "C" fn start_poll(cq: *mut ibv_cq_ex, attributes: *mut ibv_poll_cq_attr) -> c_int {
    if !attributes.is_null() && (*attributes).comp_mask != 0 {
        return libc::EINVAL;
    }
    let own = cq_own(cq.cast());
    own.polling.lock();
    let result = advance(cq);
    if result != 0 {
        own.polling.unlock(); // No end_poll follows a failed start_poll.
        std::thread::yield_now();
    }
    result
}

unsafe extern "C" fn next_poll(cq: *mut ibv_cq_ex) -> c_int {
    advance(cq)
}

unsafe extern "C" fn end_poll(cq: *mut ibv_cq_ex) {
    cq_own(cq.cast()).polling.unlock();
}

/// The completion between `start_poll` and `end_poll`, when this thread alone touches it.
unsafe fn current<'a>(cq: *mut ibv_cq_ex) -> &'a Completion {
    &*cq_own(cq.cast()).current.get()
}

unsafe extern "C" fn read_opcode(cq: *mut ibv_cq_ex) -> c_int {
    current(cq).kind as c_int
}

unsafe extern "C" fn read_vendor_err(cq: *mut ibv_cq_ex) -> u32 {
    current(cq).vendor_error
}

unsafe extern "C" fn read_byte_len(cq: *mut ibv_cq_ex) -> u32 {
    current(cq).byte_len
}

unsafe extern "C" fn read_imm_data(cq: *mut ibv_cq_ex) -> u32 {
    current(cq).imm.map_or(0, u32::from_ne_bytes)
}

unsafe extern "C" fn read_qp_num(cq: *mut ibv_cq_ex) -> u32 {
    current(cq).qpn
}

unsafe extern "C" fn read_src_qp(cq: *mut ibv_cq_ex) -> u32 {
    current(cq).src_qpn
}

unsafe extern "C" fn read_wc_flags(cq: *mut ibv_cq_ex) -> u32 {
    if current(cq).imm.is_some() {
        IBV_WC_WITH_IMM
    } else {
        0
    }
}

unsafe extern "C" fn read_zero_u32(_: *mut ibv_cq_ex) -> u32 {
    0
}

unsafe extern "C" fn read_zero_u8(_: *mut ibv_cq_ex) -> u8 {
    0
}
