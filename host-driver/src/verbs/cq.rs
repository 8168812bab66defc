//! Completion queues.
//!
//! In: create, poll, arm, resize, destroy. Out: completions in C form; destroy returns once the program has acknowledged all events it
//! took.
use super::channel::channel_own;
use super::context::Context;
use super::convert::wc_of;
use super::result::{code, pointer};
use super::sync::{Acks, HandLock};
use crate::abi::*;
use crate::device::{Completion, CompletionQueue, CqSpec, DeviceError, Token};
use crate::rules::Usage;
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::sync::Arc;

#[repr(C)]
pub struct Cq {
    pub public: ibv_cq_ex,
    own: CqOwn,
}

pub struct CqOwn {
    pub device: Arc<dyn CompletionQueue>,
    pub token: Token,
    pub usage: Usage,
    pub completion_acks: Acks,
    pub async_acks: Acks,
    /// Held from `start_poll` to `end_poll`.
    pub polling: HandLock,
    /// The completion that `read_*` look at; guarded by `polling`.
    pub current: UnsafeCell<Completion>,
}

/// Our part of a completion queue.
pub unsafe fn cq_own<'a>(cq: *mut ibv_cq) -> &'a CqOwn {
    &(*cq.cast::<Cq>()).own
}

/// What `create_cq` and `create_cq_ex` have in common.
pub struct Wanted {
    pub cqe: u32,
    pub cq_context: *mut c_void,
    pub channel: *mut ibv_comp_channel,
    pub comp_vector: u32,
}

/// Makes a CQ. `fill` sets the operations of an extended one.
pub unsafe fn create(
    context: *mut ibv_context,
    wanted: &Wanted,
    fill: impl FnOnce(&mut ibv_cq_ex),
) -> Result<*mut ibv_cq, DeviceError> {
    let own = Context::of(context);
    let limits = own.device.limits();
    if wanted.cqe == 0 || wanted.cqe > limits.max_cqe {
        return Err(DeviceError::invalid("cqe", format!("a CQ has 1 to {} entries", limits.max_cqe)));
    }
    if wanted.comp_vector != 0 {
        return Err(DeviceError::invalid("comp_vector", "there is one completion vector, 0"));
    }
    let channel = (!wanted.channel.is_null()).then(|| channel_own(wanted.channel));
    own.usage.acquire("context")?;
    let undo_context = |_: &DeviceError| own.usage.release();
    if let Some(channel) = channel {
        channel.usage.acquire("completion channel").inspect_err(undo_context)?;
    }
    let undo = |e: &DeviceError| {
        if let Some(channel) = channel {
            channel.usage.release();
        }
        undo_context(e);
    };
    // The place in memory comes first: events name the pointer, and may come as soon as the device knows of the queue.
    let place = Box::into_raw(Box::<Cq>::new_uninit());
    let cq: *mut ibv_cq = place.cast();
    let free = |e: &DeviceError| {
        drop(Box::from_raw(place));
        undo(e);
    };
    let token = own.hub.add_cq(cq, channel.map(|c| c.events.clone())).inspect_err(free)?;
    let made = own.device.create_cq(&CqSpec { depth: wanted.cqe, token }).inspect_err(|e| {
        own.hub.remove_cq(token);
        free(e);
    })?;
    let mut public: ibv_cq_ex = zeroed();
    public.cq.context = context;
    public.cq.channel = wanted.channel;
    public.cq.cq_context = wanted.cq_context;
    public.cq.handle = made.id().0;
    public.cq.cqe = made.depth() as c_int;
    fill(&mut public);
    let own = CqOwn {
        device: made,
        token,
        usage: Usage::default(),
        completion_acks: Acks::default(),
        async_acks: Acks::default(),
        polling: HandLock::default(),
        current: UnsafeCell::default(),
    };
    cq.cast::<Cq>().write(Cq { public, own });
    Ok(cq)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_create_cq(
    context: *mut ibv_context,
    cqe: c_int,
    cq_context: *mut c_void,
    channel: *mut ibv_comp_channel,
    comp_vector: c_int,
) -> *mut ibv_cq {
    let cqe = u32::try_from(cqe).unwrap_or(0);
    let comp_vector = u32::try_from(comp_vector).unwrap_or(u32::MAX);
    pointer(create(context, &Wanted { cqe, cq_context, channel, comp_vector }, |_| ()))
}

#[no_mangle]
pub unsafe extern "C" fn ibv_resize_cq(cq: *mut ibv_cq, cqe: c_int) -> c_int {
    let limits = Context::of((*cq).context).device.limits();
    let resize = || {
        let wanted = u32::try_from(cqe).ok().filter(|n| (1..=limits.max_cqe).contains(n));
        let wanted = wanted.ok_or_else(|| DeviceError::invalid("cqe", format!("a CQ has 1 to {} entries", limits.max_cqe)))?;
        (*cq).cqe = cq_own(cq).device.resize(wanted)? as c_int;
        Ok(())
    };
    code(resize())
}

#[no_mangle]
pub unsafe extern "C" fn ibv_destroy_cq(cq: *mut ibv_cq) -> c_int {
    let context = Context::of((*cq).context);
    let own = cq_own(cq);
    let end = || {
        own.usage.close("CQ")?;
        own.device.destroy().inspect_err(|_| own.usage.reopen())
    };
    if let Err(error) = end() {
        return code(Err(error));
    }
    context.hub.remove_cq(own.token);
    own.completion_acks.wait();
    own.async_acks.wait();
    if !(*cq).channel.is_null() {
        channel_own((*cq).channel).usage.release();
    }
    drop(Box::from_raw(cq.cast::<Cq>()));
    context.usage.release();
    0
}

#[no_mangle]
pub unsafe extern "C" fn ibv_ack_cq_events(cq: *mut ibv_cq, nevents: u32) {
    cq_own(cq).completion_acks.acknowledge(nevents);
}

/// Programs spin on this. With nothing to give it yields: on a small machine the peer or the NIC would starve otherwise.
pub unsafe extern "C" fn poll_cq(cq: *mut ibv_cq, num_entries: c_int, wc: *mut ibv_wc) -> c_int {
    const BATCH: usize = 16;
    let device = &cq_own(cq).device;
    let wanted = usize::try_from(num_entries).unwrap_or(0);
    let mut batch = [Completion::default(); BATCH];
    let mut done = 0;
    while done < wanted {
        let room = BATCH.min(wanted - done);
        let got = match device.poll(&mut batch[..room]) {
            Ok(got) => got,
            Err(_) if done > 0 => break,
            Err(error) => return -code(Err(error)),
        };
        for (i, completion) in batch[..got].iter().enumerate() {
            wc.add(done + i).write(wc_of(completion));
        }
        done += got;
        if got < room {
            break;
        }
    }
    if done == 0 {
        std::thread::yield_now();
    }
    done as c_int
}

pub unsafe extern "C" fn req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int {
    code(cq_own(cq).device.arm(solicited_only != 0))
}
