//! From typed errors to what C functions return.
//!
//! In: a `Result` of the device or of a check. Out: errno, as return value or in the thread's variable, by the convention of the
//! function. With `MRNIC_VERBS_LOG` set the error's text goes to stderr: errno alone seldom says what to do.
use crate::device::DeviceError;
use std::ffi::c_int;
use std::sync::OnceLock;

pub fn set_errno(errno: c_int) {
    // SAFETY: the location is this thread's own.
    unsafe { *libc::__errno_location() = errno }
}

fn log(error: &DeviceError) {
    static ON: OnceLock<bool> = OnceLock::new();
    if *ON.get_or_init(|| std::env::var_os("MRNIC_VERBS_LOG").is_some()) {
        eprintln!("mrnic: {error}");
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
