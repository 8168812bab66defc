//! Queue pairs: create and destroy.
//!
//! In: creation attributes, plain or extended. Out: an RC QP; a builder (`ibv_wr_*`) only when the program asked for its operations.
use super::context::Context;
use super::cq::cq_own;
use super::memory::pd_own;
use super::post_builder::{self, Builder};
use super::result::{code, pointer};
use super::srq::srq_own;
use super::sync::{Acks, HandLock};
use crate::abi::*;
use crate::device::{Capacity, DeviceError, QpSpec, QueuePair, Token};
use crate::rules::{check_capacity, Sizes};
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::mem::zeroed;
use std::sync::{Arc, Mutex};

#[repr(C)]
pub struct Qp {
    pub public: ibv_qp_ex,
    own: QpOwn,
}

pub struct QpOwn {
    pub device: Arc<dyn QueuePair>,
    token: Token,
    pub sizes: Sizes,
    pub capacity: Capacity,
    pub signal_all: bool,
    /// Operations of the builder, 0 without one.
    send_ops: u64,
    /// One post at a time; with the builder held from `wr_start` to `wr_complete`.
    pub send_lock: HandLock,
    pub recv_lock: HandLock,
    /// Guarded by `send_lock`.
    pub builder: UnsafeCell<Builder>,
    /// What the program set, for queries; guards modifications against each other.
    pub attributes: Mutex<ibv_qp_attr>,
    pub acks: Acks,
}

/// Our part of a queue pair.
pub unsafe fn qp_own<'a>(qp: *mut ibv_qp) -> &'a QpOwn {
    &(*qp.cast::<Qp>()).own
}

/// C sizes as the device's.
pub fn capacity_of(cap: &ibv_qp_cap) -> Capacity {
    Capacity {
        max_send_wr: cap.max_send_wr,
        max_recv_wr: cap.max_recv_wr,
        max_send_sge: cap.max_send_sge,
        max_recv_sge: cap.max_recv_sge,
        max_inline_bytes: cap.max_inline_data,
    }
}

/// The device's sizes as C ones.
pub fn cap_of(capacity: &Capacity) -> ibv_qp_cap {
    ibv_qp_cap {
        max_send_wr: capacity.max_send_wr,
        max_recv_wr: capacity.max_recv_wr,
        max_send_sge: capacity.max_send_sge,
        max_recv_sge: capacity.max_recv_sge,
        max_inline_data: capacity.max_inline_bytes,
    }
}

unsafe fn create(pd: *mut ibv_pd, attr: &mut ibv_qp_init_attr, send_ops: u64) -> Result<*mut ibv_qp, DeviceError> {
    if attr.qp_type != IBV_QPT_RC {
        return Err(DeviceError::Unsupported { what: "a QP type other than RC" });
    }
    if pd.is_null() || attr.send_cq.is_null() || attr.recv_cq.is_null() {
        return Err(DeviceError::invalid("QP", "it needs a PD and two CQs"));
    }
    let context = Context::of((*pd).context);
    let on_srq = !attr.srq.is_null();
    let mut capacity = capacity_of(&attr.cap);
    if on_srq {
        (capacity.max_recv_wr, capacity.max_recv_sge) = (0, 0);
    }
    check_capacity(&capacity, context.device.limits(), on_srq)?;

    let srq = on_srq.then(|| srq_own(attr.srq));
    let uses = [
        (Some(&context.usage), "context"),
        (Some(&pd_own(pd).usage), "PD"),
        (Some(&cq_own(attr.send_cq).usage), "CQ"),
        (Some(&cq_own(attr.recv_cq).usage), "CQ"),
        (srq.map(|s| &s.usage), "SRQ"),
    ];
    let uses = || uses.iter().filter_map(|(usage, what)| Some((usage.as_ref()?, what)));
    for (taken, (usage, what)) in uses().enumerate() {
        usage.acquire(what).inspect_err(|_| uses().take(taken).for_each(|(u, _)| u.release()))?;
    }
    let place = Box::into_raw(Box::<Qp>::new_uninit());
    let qp: *mut ibv_qp = place.cast();
    let undo = |_: &DeviceError| {
        drop(Box::from_raw(place));
        uses().for_each(|(u, _)| u.release());
    };
    let token = context.hub.add_qp(qp).inspect_err(undo)?;
    let spec = QpSpec {
        pd: pd_own(pd).id,
        send_cq: cq_own(attr.send_cq).device.id(),
        recv_cq: cq_own(attr.recv_cq).device.id(),
        srq: srq.map(|s| s.device.id()),
        capacity,
        token,
    };
    let undo = |e: &DeviceError| {
        context.hub.remove_qp(token);
        undo(e);
    };
    let port = context.device.query_port(1).inspect_err(undo)?;
    let made = context.device.create_qp(&spec).inspect_err(undo)?;

    let capacity = made.capacity();
    attr.cap = cap_of(&capacity);
    let mut public: ibv_qp_ex = zeroed();
    let base = &mut public.qp_base;
    base.context = (*pd).context;
    base.qp_context = attr.qp_context;
    base.pd = pd;
    base.send_cq = attr.send_cq;
    base.recv_cq = attr.recv_cq;
    base.srq = attr.srq;
    base.handle = token.0;
    base.qp_num = made.number();
    base.state = IBV_QPS_RESET;
    base.qp_type = attr.qp_type;
    post_builder::fill(&mut public, send_ops);
    let own = QpOwn {
        token,
        sizes: Sizes {
            max_send_sge: capacity.max_send_sge,
            max_inline_bytes: capacity.max_inline_bytes,
            max_message_bytes: port.max_message_bytes,
            operations: context.device.limits().operations,
        },
        capacity,
        signal_all: attr.sq_sig_all != 0,
        send_ops,
        send_lock: HandLock::default(),
        recv_lock: HandLock::default(),
        builder: UnsafeCell::default(),
        attributes: Mutex::new(zeroed()),
        acks: Acks::default(),
        device: made,
    };
    qp.cast::<Qp>().write(Qp { public, own });
    Ok(qp)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_create_qp(pd: *mut ibv_pd, attr: *mut ibv_qp_init_attr) -> *mut ibv_qp {
    pointer(create(pd, &mut *attr, 0))
}

pub unsafe extern "C" fn create_qp_ex(context: *mut ibv_context, attr: *mut ibv_qp_init_attr_ex) -> *mut ibv_qp {
    let a = &*attr;
    let known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    let has = |bit| a.comp_mask & bit != 0;
    let send_ops = if has(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) { a.send_ops_flags } else { 0 };
    if a.comp_mask & !known != 0 || (has(IBV_QP_INIT_ATTR_CREATE_FLAGS) && a.create_flags != 0) {
        return pointer(Err(DeviceError::Unsupported { what: "a QP creation attribute" }));
    }
    if send_ops & !post_builder::operations(&Context::of(context).device.limits().operations) != 0 {
        return pointer(Err(DeviceError::Unsupported { what: "a send operation" }));
    }
    if !has(IBV_QP_INIT_ATTR_PD) {
        return pointer(Err(DeviceError::invalid("QP", "an RC QP needs a PD")));
    }
    // The extended structure begins as the plain one does.
    pointer(create(a.pd, &mut *attr.cast::<ibv_qp_init_attr>(), send_ops))
}

#[no_mangle]
pub unsafe extern "C" fn ibv_qp_to_qp_ex(qp: *mut ibv_qp) -> *mut ibv_qp_ex {
    if qp_own(qp).send_ops == 0 {
        return std::ptr::null_mut();
    }
    qp.cast()
}

#[no_mangle]
pub unsafe extern "C" fn ibv_destroy_qp(qp: *mut ibv_qp) -> c_int {
    let context = Context::of((*qp).context);
    let own = qp_own(qp);
    if let Err(error) = own.device.destroy() {
        return code(Err(error));
    }
    context.hub.remove_qp(own.token);
    own.acks.wait();
    pd_own((*qp).pd).usage.release();
    cq_own((*qp).send_cq).usage.release();
    cq_own((*qp).recv_cq).usage.release();
    if !(*qp).srq.is_null() {
        srq_own((*qp).srq).usage.release();
    }
    drop(Box::from_raw(qp.cast::<Qp>()));
    context.usage.release();
    0
}
