//! Shared receive queues.
//!
//! In: create, modify, query, destroy. Out: an SRQ that QPs of the same device refer to; posting is in `post`.
use super::context::Context;
use super::memory::pd_own;
use super::result::{code, pointer};
use super::sync::{Acks, HandLock};
use crate::abi::*;
use crate::device::{DeviceError, SharedReceiveQueue, SrqSpec, Token};
use crate::rules::{check_srq, Usage};
use std::ffi::c_int;
use std::mem::zeroed;
use std::sync::Arc;

#[repr(C)]
pub struct Srq {
    public: ibv_srq,
    own: SrqOwn,
}

pub struct SrqOwn {
    pub device: Arc<dyn SharedReceiveQueue>,
    token: Token,
    pub usage: Usage,
    pub acks: Acks,
    /// One post at a time.
    pub lock: HandLock,
}

/// Our part of a shared receive queue.
pub unsafe fn srq_own<'a>(srq: *mut ibv_srq) -> &'a SrqOwn {
    &(*srq.cast::<Srq>()).own
}

unsafe fn create(pd: *mut ibv_pd, init: &mut ibv_srq_init_attr) -> Result<*mut ibv_srq, DeviceError> {
    let context = Context::of((*pd).context);
    check_srq(init.attr.max_wr, init.attr.max_sge, context.device.limits())?;
    context.usage.acquire("context")?;
    pd_own(pd).usage.acquire("PD").inspect_err(|_| context.usage.release())?;
    let place = Box::into_raw(Box::<Srq>::new_uninit());
    let srq: *mut ibv_srq = place.cast();
    let undo = |_: &DeviceError| {
        drop(Box::from_raw(place));
        pd_own(pd).usage.release();
        context.usage.release();
    };
    let token = context.hub.add_srq(srq).inspect_err(undo)?;
    let spec = SrqSpec { pd: pd_own(pd).id, max_wr: init.attr.max_wr, max_sge: init.attr.max_sge, token };
    let made = context.device.create_srq(&spec).inspect_err(|e| {
        context.hub.remove_srq(token);
        undo(e);
    })?;
    (init.attr.max_wr, init.attr.max_sge) = made.capacity();
    let mut public: ibv_srq = zeroed();
    public.context = (*pd).context;
    public.srq_context = init.srq_context;
    public.pd = pd;
    public.handle = made.id().0;
    let own = SrqOwn { device: made, token, usage: Usage::default(), acks: Acks::default(), lock: HandLock::default() };
    srq.cast::<Srq>().write(Srq { public, own });
    Ok(srq)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_create_srq(pd: *mut ibv_pd, init: *mut ibv_srq_init_attr) -> *mut ibv_srq {
    pointer(create(pd, &mut *init))
}

#[no_mangle]
pub unsafe extern "C" fn ibv_modify_srq(srq: *mut ibv_srq, attr: *mut ibv_srq_attr, mask: c_int) -> c_int {
    let own = srq_own(srq);
    let limits = Context::of((*srq).context).device.limits();
    let attr = &*attr;
    let change = || {
        if mask & !(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT) != 0 {
            return Err(DeviceError::invalid("SRQ attribute mask", format!("{mask:#x} has unknown bits")));
        }
        let (mut max_wr, max_sge) = own.device.capacity();
        if mask & IBV_SRQ_MAX_WR != 0 {
            check_srq(attr.max_wr, max_sge, limits)?;
            max_wr = attr.max_wr;
        }
        if mask & IBV_SRQ_LIMIT != 0 && attr.srq_limit > max_wr {
            return Err(DeviceError::invalid("srq_limit", format!("the SRQ holds {max_wr} buffers")));
        }
        if mask & IBV_SRQ_MAX_WR != 0 {
            own.device.resize(attr.max_wr)?;
        }
        if mask & IBV_SRQ_LIMIT != 0 {
            own.device.set_limit(attr.srq_limit)?;
        }
        Ok(())
    };
    code(change())
}

#[no_mangle]
pub unsafe extern "C" fn ibv_query_srq(srq: *mut ibv_srq, attr: *mut ibv_srq_attr) -> c_int {
    let device = &srq_own(srq).device;
    let (max_wr, max_sge) = device.capacity();
    attr.write(ibv_srq_attr { max_wr, max_sge, srq_limit: device.limit() });
    0
}

#[no_mangle]
pub unsafe extern "C" fn ibv_destroy_srq(srq: *mut ibv_srq) -> c_int {
    let context = Context::of((*srq).context);
    let own = srq_own(srq);
    let end = || {
        own.usage.close("SRQ")?;
        own.device.destroy().inspect_err(|_| own.usage.reopen())
    };
    if let Err(error) = end() {
        return code(Err(error));
    }
    context.hub.remove_srq(own.token);
    own.acks.wait();
    pd_own((*srq).pd).usage.release();
    drop(Box::from_raw(srq.cast::<Srq>()));
    context.usage.release();
    0
}
