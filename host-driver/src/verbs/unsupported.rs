//! Functions of the API that this device does not do, and those that have nothing to do here.
//!
//! In: any call. Out: EOPNOTSUPP by the convention of the function (never a crash of a program that tries), or success where doing
//! nothing is right.
use super::result::{code, pointer};
use crate::abi::*;
use crate::device::DeviceError;
use std::ffi::{c_int, c_void};

fn no<T>(what: &'static str) -> *mut T {
    pointer(Err(DeviceError::Unsupported { what }))
}

fn not(what: &'static str) -> c_int {
    code(Err(DeviceError::Unsupported { what }))
}

const WINDOWS: &str = "memory windows";
const SHARED: &str = "importing objects of another process";
const MULTICAST: &str = "multicast";

pub unsafe extern "C" fn alloc_mw(_: *mut ibv_pd, _kind: c_int) -> *mut c_void {
    no(WINDOWS)
}

pub unsafe extern "C" fn bind_mw(_: *mut ibv_qp, _: *mut c_void, _: *mut c_void) -> c_int {
    not(WINDOWS)
}

pub unsafe extern "C" fn dealloc_mw(_: *mut c_void) -> c_int {
    not(WINDOWS)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_import_device(_cmd_fd: c_int) -> *mut ibv_context {
    no(SHARED)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_import_pd(_: *mut ibv_context, _handle: u32) -> *mut ibv_pd {
    no(SHARED)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_unimport_pd(_: *mut ibv_pd) {
    not(SHARED);
}

#[no_mangle]
pub unsafe extern "C" fn ibv_import_mr(_: *mut ibv_pd, _handle: u32) -> *mut ibv_mr {
    no(SHARED)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_unimport_mr(_: *mut ibv_mr) {
    not(SHARED);
}

#[no_mangle]
pub unsafe extern "C" fn ibv_import_dm(_: *mut ibv_context, _handle: u32) -> *mut c_void {
    no(SHARED)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_unimport_dm(_: *mut c_void) {
    not(SHARED);
}

#[no_mangle]
pub unsafe extern "C" fn ibv_reg_dmabuf_mr(
    _: *mut ibv_pd,
    _offset: u64,
    _length: usize,
    _iova: u64,
    _fd: c_int,
    _access: c_int,
) -> *mut ibv_mr {
    no("registering a dma-buf")
}

#[no_mangle]
pub unsafe extern "C" fn ibv_attach_mcast(_: *mut ibv_qp, _: *const ibv_gid, _lid: u16) -> c_int {
    not(MULTICAST)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_detach_mcast(_: *mut ibv_qp, _: *const ibv_gid, _lid: u16) -> c_int {
    not(MULTICAST)
}

/// Memory is never pinned or remapped for a device here, so forking needs no preparation.
#[no_mangle]
pub extern "C" fn ibv_fork_init() -> c_int {
    0
}

#[no_mangle]
pub extern "C" fn ibv_is_fork_initialized() -> c_int {
    IBV_FORK_UNNEEDED
}

#[no_mangle]
pub extern "C" fn ibv_dontfork_range(_base: *mut c_void, _size: usize) -> c_int {
    0
}

#[no_mangle]
pub extern "C" fn ibv_dofork_range(_base: *mut c_void, _size: usize) -> c_int {
    0
}
