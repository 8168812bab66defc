//! The list of devices.
//!
//! In: the provider's devices, looked up at each call. Out: `ibv_device` structures, which live as long as the process, because
//! programs use them after freeing the list.
use super::sync::lock;
use crate::abi::*;
use crate::provider::provider;
use std::ffi::{c_char, c_int, CStr};
use std::mem::{size_of, zeroed};
use std::sync::Mutex;

/// One device for the rest of the process.
struct Known {
    device: *mut ibv_device,
    name: String,
    guid: u64,
    index: c_int,
}
// SAFETY: the structure behind the pointer is never changed after it was made.
unsafe impl Send for Known {}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// Copies text into a fixed C array, always terminated.
pub fn copy_text(to: &mut [c_char], text: &str) {
    let end = text.len().min(to.len() - 1);
    for (slot, byte) in to.iter_mut().zip(text.as_bytes()[..end].iter().chain([&0])) {
        *slot = *byte as c_char;
    }
}

fn make(name: &str, index: c_int) -> *mut ibv_device {
    // SAFETY: integers, arrays and optional functions, valid when zero.
    let mut device: ibv_device = unsafe { zeroed() };
    device.node_type = IBV_NODE_CA;
    device.transport_type = IBV_TRANSPORT_IB;
    copy_text(&mut device.name, name);
    copy_text(&mut device.dev_name, &format!("uverbs{index}"));
    copy_text(&mut device.dev_path, &format!("/sys/class/infiniband_verbs/uverbs{index}"));
    copy_text(&mut device.ibdev_path, &format!("/sys/class/infiniband/{name}"));
    Box::into_raw(Box::new(device))
}

/// The device's name as the provider knows it.
pub unsafe fn name_of(device: *mut ibv_device) -> String {
    CStr::from_ptr((&raw const (*device).name).cast()).to_string_lossy().into_owned()
}

#[no_mangle]
pub unsafe extern "C" fn ibv_get_device_list(num_devices: *mut c_int) -> *mut *mut ibv_device {
    let mut known = lock(&KNOWN);
    let identities = provider().devices();
    let list: *mut *mut ibv_device = libc::calloc(identities.len() + 1, size_of::<usize>()).cast();
    if list.is_null() {
        return list; // calloc has set errno
    }
    for (i, identity) in identities.iter().enumerate() {
        let found = known.iter().find(|k| k.name == identity.name).map(|k| k.device);
        let device = found.unwrap_or_else(|| {
            let index = known.len() as c_int;
            let device = make(&identity.name, index);
            known.push(Known { device, name: identity.name.clone(), guid: identity.guid, index });
            device
        });
        *list.add(i) = device;
    }
    if !num_devices.is_null() {
        *num_devices = identities.len() as c_int;
    }
    list
}

#[no_mangle]
pub unsafe extern "C" fn ibv_free_device_list(list: *mut *mut ibv_device) {
    libc::free(list.cast());
}

#[no_mangle]
pub unsafe extern "C" fn ibv_get_device_name(device: *mut ibv_device) -> *const c_char {
    (&raw const (*device).name).cast()
}

/// Network byte order.
#[no_mangle]
pub unsafe extern "C" fn ibv_get_device_guid(device: *mut ibv_device) -> u64 {
    lock(&KNOWN).iter().find(|k| k.device == device).map_or(0, |k| k.guid.to_be())
}

#[no_mangle]
pub unsafe extern "C" fn ibv_get_device_index(device: *mut ibv_device) -> c_int {
    lock(&KNOWN).iter().find(|k| k.device == device).map_or(-1, |k| k.index)
}
