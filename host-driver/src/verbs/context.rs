//! Opening and closing a device.
//!
//! In: a device of the list. Out: a context whose tables of operations are filled; its own part holds the device and its event hub.
use super::cq::{poll_cq, req_notify_cq};
use super::cq_ex::create_cq_ex;
use super::devices::name_of;
use super::hub::Hub;
use super::post::{post_recv, post_send, post_srq_recv};
use super::qp::create_qp_ex;
use super::query::{query_device_ex, query_port};
use super::result::pointer;
use super::unsupported::{alloc_mw, bind_mw, dealloc_mw};
use crate::abi::*;
use crate::device::{Device, DeviceError};
use crate::provider::provider;
use crate::rules::Usage;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::mem::{offset_of, size_of, zeroed};
use std::os::fd::AsRawFd;
use std::sync::Arc;

#[repr(C)]
pub struct OpenContext {
    public: verbs_context,
    own: Context,
}

/// Our part of a context.
pub struct Context {
    pub device: Arc<dyn Device>,
    pub hub: Arc<Hub>,
    /// Objects of this context.
    pub usage: Usage,
    /// There is no kernel device behind, but programs may duplicate the descriptor; any command to it fails.
    command: File,
}

impl Context {
    /// Our part behind the program's pointer.
    pub unsafe fn of<'a>(context: *mut ibv_context) -> &'a Context {
        &(*open_context(context)).own
    }
}

unsafe fn open_context(context: *mut ibv_context) -> *mut OpenContext {
    context.cast::<u8>().sub(offset_of!(verbs_context, context)).cast()
}

#[no_mangle]
pub unsafe extern "C" fn ibv_open_device(device: *mut ibv_device) -> *mut ibv_context {
    pointer(open(device))
}

unsafe fn open(device: *mut ibv_device) -> Result<*mut ibv_context, DeviceError> {
    let hub = Arc::new(Hub::new()?);
    let opened = provider().open(&name_of(device), hub.clone())?;
    let command = File::open("/dev/null").map_err(|_| DeviceError::Exhausted { what: "file descriptors" })?;
    let own = Context { device: opened, hub, usage: Usage::default(), command };
    // SAFETY of zeroed: pointers and optional functions; all null is their valid empty value.
    let mut public: verbs_context = zeroed();
    public.sz = size_of::<verbs_context>();
    public.query_port = Some(query_port);
    public.query_device_ex = Some(query_device_ex);
    public.create_qp_ex = Some(create_qp_ex);
    public.create_cq_ex = Some(create_cq_ex);
    let context = &mut public.context;
    context.device = device;
    context.cmd_fd = own.command.as_raw_fd();
    context.async_fd = own.hub.asynchronous.fd();
    context.num_comp_vectors = 1;
    context.mutex = libc::PTHREAD_MUTEX_INITIALIZER;
    // All ones: "there is a verbs_context around this context".
    context.abi_compat = usize::MAX as *mut c_void;
    context.ops.poll_cq = Some(poll_cq);
    context.ops.req_notify_cq = Some(req_notify_cq);
    context.ops.post_send = Some(post_send);
    context.ops.post_recv = Some(post_recv);
    context.ops.post_srq_recv = Some(post_srq_recv);
    context.ops.alloc_mw = Some(alloc_mw);
    context.ops.bind_mw = Some(bind_mw);
    context.ops.dealloc_mw = Some(dealloc_mw);
    let whole = Box::into_raw(Box::new(OpenContext { public, own }));
    Ok(&raw mut (*whole).public.context)
}

/// Closes also with objects left, as programs that end without cleaning up expect; those stay valid, but dead.
#[no_mangle]
pub unsafe extern "C" fn ibv_close_device(context: *mut ibv_context) -> c_int {
    let own = Context::of(context);
    own.device.close();
    if own.usage.close("context").is_ok() {
        drop(Box::from_raw(open_context(context)));
    }
    0
}
