//! Queue pairs: modify and query.
//!
//! In: `ibv_qp_attr` and the mask of what counts in it. Out: a checked change for the device; for queries, what was set. A refused
//! modification changes nothing.
use super::context::Context;
use super::convert::{access_of, path_of, state_number, state_of};
use super::qp::{cap_of, qp_own};
use super::result::{code, set_errno};
use super::sync::lock;
use crate::abi::*;
use crate::device::{DeviceError, Mtu, QpChange, QpState};
use crate::rules::{check_values, transition};
use std::ffi::c_int;
use std::mem::zeroed;

const KNOWN: u32 = IBV_QP_STATE
    | IBV_QP_CUR_STATE
    | IBV_QP_EN_SQD_ASYNC_NOTIFY
    | IBV_QP_ACCESS_FLAGS
    | IBV_QP_PKEY_INDEX
    | IBV_QP_PORT
    | IBV_QP_AV
    | IBV_QP_PATH_MTU
    | IBV_QP_TIMEOUT
    | IBV_QP_RETRY_CNT
    | IBV_QP_RNR_RETRY
    | IBV_QP_RQ_PSN
    | IBV_QP_MAX_QP_RD_ATOMIC
    | IBV_QP_MIN_RNR_TIMER
    | IBV_QP_SQ_PSN
    | IBV_QP_MAX_DEST_RD_ATOMIC
    | IBV_QP_PATH_MIG_STATE
    | IBV_QP_DEST_QPN;

fn change_of(a: &ibv_qp_attr, mask: u32) -> Result<QpChange, DeviceError> {
    if mask & (IBV_QP_ALT_PATH | IBV_QP_CAP) != 0 {
        return Err(DeviceError::Unsupported { what: "an alternate path or a resize of a QP" });
    }
    if mask & !KNOWN != 0 {
        return Err(DeviceError::invalid("attribute mask", format!("{:#x} does not apply to RC", mask & !KNOWN)));
    }
    let has = |bit| mask & bit != 0;
    if has(IBV_QP_PATH_MIG_STATE) && a.path_mig_state != IBV_MIG_MIGRATED {
        return Err(DeviceError::Unsupported { what: "path migration" });
    }
    let mtu = || {
        Mtu::from_code(a.path_mtu as u32)
            .ok_or_else(|| DeviceError::invalid("path MTU", format!("{} is no ibv_mtu", a.path_mtu)))
    };
    Ok(QpChange {
        state: has(IBV_QP_STATE).then(|| state_of(a.qp_state)).transpose()?,
        access: has(IBV_QP_ACCESS_FLAGS).then(|| access_of(a.qp_access_flags)).transpose()?,
        pkey_index: has(IBV_QP_PKEY_INDEX).then_some(a.pkey_index),
        port: has(IBV_QP_PORT).then_some(a.port_num),
        path: has(IBV_QP_AV).then(|| path_of(&a.ah_attr)).transpose()?,
        path_mtu: has(IBV_QP_PATH_MTU).then(mtu).transpose()?,
        dest_qpn: has(IBV_QP_DEST_QPN).then_some(a.dest_qp_num),
        rq_psn: has(IBV_QP_RQ_PSN).then_some(a.rq_psn),
        sq_psn: has(IBV_QP_SQ_PSN).then_some(a.sq_psn),
        timeout: has(IBV_QP_TIMEOUT).then_some(a.timeout),
        retry_count: has(IBV_QP_RETRY_CNT).then_some(a.retry_cnt),
        rnr_retry: has(IBV_QP_RNR_RETRY).then_some(a.rnr_retry),
        min_rnr_timer: has(IBV_QP_MIN_RNR_TIMER).then_some(a.min_rnr_timer),
        max_rd_atomic: has(IBV_QP_MAX_QP_RD_ATOMIC).then_some(a.max_rd_atomic),
        max_dest_rd_atomic: has(IBV_QP_MAX_DEST_RD_ATOMIC).then_some(a.max_dest_rd_atomic),
        notify_drained: has(IBV_QP_EN_SQD_ASYNC_NOTIFY).then_some(a.en_sqd_async_notify != 0),
    })
}

/// Keeps what was set, for queries.
fn merge(kept: &mut ibv_qp_attr, a: &ibv_qp_attr, mask: u32) {
    let has = |bit| mask & bit != 0;
    macro_rules! keep {
        ($($bit:ident: $field:ident),* $(,)?) => { $(if has($bit) { kept.$field = a.$field })* };
    }
    keep! {
        IBV_QP_EN_SQD_ASYNC_NOTIFY: en_sqd_async_notify,
        IBV_QP_ACCESS_FLAGS: qp_access_flags,
        IBV_QP_PKEY_INDEX: pkey_index,
        IBV_QP_PORT: port_num,
        IBV_QP_AV: ah_attr,
        IBV_QP_PATH_MTU: path_mtu,
        IBV_QP_TIMEOUT: timeout,
        IBV_QP_RETRY_CNT: retry_cnt,
        IBV_QP_RNR_RETRY: rnr_retry,
        IBV_QP_RQ_PSN: rq_psn,
        IBV_QP_MAX_QP_RD_ATOMIC: max_rd_atomic,
        IBV_QP_MIN_RNR_TIMER: min_rnr_timer,
        IBV_QP_SQ_PSN: sq_psn,
        IBV_QP_MAX_DEST_RD_ATOMIC: max_dest_rd_atomic,
        IBV_QP_DEST_QPN: dest_qp_num,
    }
}

unsafe fn modify(qp: *mut ibv_qp, attr: &ibv_qp_attr, mask: u32) -> Result<(), DeviceError> {
    let own = qp_own(qp);
    let device = &Context::of((*qp).context).device;
    let change = change_of(attr, mask)?;
    let mut kept = lock(&own.attributes);
    let from = own.device.status().state;
    if mask & IBV_QP_CUR_STATE != 0 && state_of(attr.cur_qp_state)? != from {
        return Err(DeviceError::invalid("current state", format!("the QP is in {from:?}")));
    }
    let to = transition(from, &change)?;
    let port = device.query_port(1)?;
    check_values(&change, device.limits(), port.max_mtu, port.gids)?;
    own.device.modify(&change)?;
    if to == QpState::Reset {
        // SAFETY: integers and arrays only.
        *kept = zeroed();
    }
    merge(&mut kept, attr, mask);
    (*qp).state = state_number(to);
    Ok(())
}

#[no_mangle]
pub unsafe extern "C" fn ibv_modify_qp(qp: *mut ibv_qp, attr: *mut ibv_qp_attr, attr_mask: c_int) -> c_int {
    code(modify(qp, &*attr, attr_mask as u32))
}

/// All attributes are filled, whatever the mask asks for.
#[no_mangle]
pub unsafe extern "C" fn ibv_query_qp(
    qp: *mut ibv_qp,
    attr: *mut ibv_qp_attr,
    _attr_mask: c_int,
    init_attr: *mut ibv_qp_init_attr,
) -> c_int {
    let own = qp_own(qp);
    let status = own.device.status();
    let mut answer = *lock(&own.attributes);
    answer.qp_state = state_number(status.state);
    answer.cur_qp_state = answer.qp_state;
    answer.sq_draining = u8::from(status.draining);
    answer.path_mig_state = IBV_MIG_MIGRATED;
    answer.cap = cap_of(&own.capacity);
    attr.write(answer);
    (*qp).state = answer.qp_state;
    if !init_attr.is_null() {
        init_attr.write(ibv_qp_init_attr {
            qp_context: (*qp).qp_context,
            send_cq: (*qp).send_cq,
            recv_cq: (*qp).recv_cq,
            srq: (*qp).srq,
            cap: cap_of(&own.capacity),
            qp_type: (*qp).qp_type,
            sq_sig_all: c_int::from(own.signal_all),
        });
    }
    0
}

/// In-order delivery of data cannot be relied on: packets of one message take several paths.
#[no_mangle]
pub unsafe extern "C" fn ibv_query_qp_data_in_order(_: *mut ibv_qp, _op: c_int, _flags: u32) -> c_int {
    0
}

#[no_mangle]
pub unsafe extern "C" fn ibv_query_ece(_: *mut ibv_qp, ece: *mut ibv_ece) -> c_int {
    ece.write(ibv_ece { vendor_id: 0, options: 0, comp_mask: 0 });
    set_errno(libc::EOPNOTSUPP);
    libc::EOPNOTSUPP
}

#[no_mangle]
pub unsafe extern "C" fn ibv_set_ece(_: *mut ibv_qp, _: *mut ibv_ece) -> c_int {
    set_errno(libc::EOPNOTSUPP);
    libc::EOPNOTSUPP
}
