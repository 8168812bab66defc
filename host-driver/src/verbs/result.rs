//! From typed errors to what C functions return.
//!
//! In: a `Result` of the device or of a check. Out: errno, as return value or in the thread's variable, by the convention of the
//! function. With `MRNIC_VERBS_LOG` set the error's text goes to stderr: errno alone seldom says what to do.
use crate::device::{DeviceError, PostError};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

pub fn set_errno(errno: c_int) {
    // SAFETY: the location is this thread's own.
    unsafe { *libc::__errno_location() = errno }
}

fn logs() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *ON.get_or_init(|| std::env::var_os("MRNIC_VERBS_LOG").is_some())
}

fn log(error: &DeviceError) {
    if logs() {
        eprintln!("mrnic: {error}");
    }
}

/// Explains a request that was refused because the device has no such operation: the first one, since programs may post millions.
pub fn log_refused(error: PostError) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if error == PostError::BadOperation && logs() && !TOLD.swap(true, Ordering::Relaxed) {
        eprintln!("mrnic: a request is refused: {error}; `ibv_devinfo -v` and docs/verbs.md tell what the device does (MRNIC_VERBS=model does all)");
    }
}

/// 0 or the error number, for functions that return it (most of them).
pub fn code(result: Result<(), DeviceError>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            log(&error);
            set_errno(error.errno());
            error.errno()
        }
    }
}

/// 0 or -1 with errno set, for the older functions.
pub fn minus_one(result: Result<(), DeviceError>) -> c_int {
    if code(result) == 0 {
        0
    } else {
        -1
    }
}

/// The object or NULL with errno set.
pub fn pointer<T>(result: Result<*mut T, DeviceError>) -> *mut T {
    match result {
        Ok(object) => object,
        Err(error) => {
            code(Err(error));
            std::ptr::null_mut()
        }
    }
}
