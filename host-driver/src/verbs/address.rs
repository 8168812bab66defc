//! Address handles.
//!
//! In: an address vector. Out: a handle with nothing behind it yet: only datagram QPs would use one, but programs make them beforehand.
use super::context::Context;
use super::convert::path_of;
use super::memory::pd_own;
use super::result::{code, minus_one, pointer};
use crate::abi::*;
use crate::device::DeviceError;
use std::ffi::{c_int, c_void};

#[no_mangle]
pub unsafe extern "C" fn ibv_create_ah(pd: *mut ibv_pd, attr: *mut ibv_ah_attr) -> *mut ibv_ah {
    let device = &Context::of((*pd).context).device;
    let make = || {
        let path = path_of(&*attr)?;
        device.query_gid(path.port, u32::from(path.source_gid_index))?;
        pd_own(pd).usage.acquire("PD")?;
        Ok(Box::into_raw(Box::new(ibv_ah { context: (*pd).context, pd, handle: 0 })))
    };
    pointer(make())
}

#[no_mangle]
pub unsafe extern "C" fn ibv_destroy_ah(ah: *mut ibv_ah) -> c_int {
    pd_own((*ah).pd).usage.release();
    drop(Box::from_raw(ah));
    0
}

/// Needs a datagram's header, and there are no datagram QPs.
#[no_mangle]
pub unsafe extern "C" fn ibv_init_ah_from_wc(
    _: *mut ibv_context,
    _port: u8,
    _: *mut ibv_wc,
    _grh: *mut c_void,
    _: *mut ibv_ah_attr,
) -> c_int {
    minus_one(Err(DeviceError::Unsupported { what: "an address from a datagram" }))
}

#[no_mangle]
pub unsafe extern "C" fn ibv_create_ah_from_wc(_: *mut ibv_pd, _: *mut ibv_wc, _grh: *mut c_void, _port: u8) -> *mut ibv_ah {
    pointer(Err(DeviceError::Unsupported { what: "an address from a datagram" }))
}

/// Addresses are resolved by the carrier: programs have no use for the peer's MAC.
#[no_mangle]
pub unsafe extern "C" fn ibv_resolve_eth_l2_from_gid(
    _: *mut ibv_context,
    _: *mut ibv_ah_attr,
    _mac: *mut u8,
    _vid: *mut u16,
) -> c_int {
    code(Err(DeviceError::Unsupported { what: "resolving a MAC address" }))
}
