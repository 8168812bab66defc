//! Typed errors of the device, each with the errno that a verbs program gets.
//!
//! In: nothing. Out: errors that say what was refused and what to do about it.
use crate::table::TableFull;
use std::ffi::c_int;
use thiserror::Error;

/// A control call that was refused; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    #[error("{what}: {detail}")]
    Invalid { what: &'static str, detail: String },
    #[error("{what} is not supported by this device")]
    Unsupported { what: &'static str },
    #[error("no more {what} on this device: destroy some first")]
    Exhausted { what: &'static str },
    #[error("{what} is in use: destroy what refers to it first")]
    InUse { what: &'static str },
    #[error("memory {addr:#x}+{length_bytes} is not mapped in this process")]
    Unmapped { addr: u64, length_bytes: u64 },
    #[error("no device {name}: see ibv_devices for those that there are")]
    NoDevice { name: String },
    #[error("the device is gone: {detail}")]
    Gone { detail: String },
}

impl DeviceError {
    /// An [`DeviceError::Invalid`] from anything printable.
    pub fn invalid(what: &'static str, detail: impl Into<String>) -> Self {
        DeviceError::Invalid { what, detail: detail.into() }
    }

    /// For a table of the device that is full.
    pub fn full(what: &'static str) -> impl Fn(TableFull) -> DeviceError {
        move |_| DeviceError::Exhausted { what }
    }

    /// What the C function reports.
    pub fn errno(&self) -> c_int {
        match self {
            DeviceError::Invalid { .. } => libc::EINVAL,
            DeviceError::Unsupported { .. } => libc::EOPNOTSUPP,
            DeviceError::Exhausted { .. } => libc::ENOMEM,
            DeviceError::InUse { .. } => libc::EBUSY,
            DeviceError::Unmapped { .. } => libc::EFAULT,
            DeviceError::NoDevice { .. } => libc::ENODEV,
            DeviceError::Gone { .. } => libc::EIO,
        }
    }
}

/// A work request that was refused. Plain data: the data path makes no strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PostError {
    #[error("the queue is full: poll completions first")]
    Full,
    #[error("the QP is in a state that takes no such request: modify it first")]
    WrongState,
    #[error("the opcode or a flag is not supported on this QP")]
    BadOperation,
    #[error("more scatter/gather entries than the queue was created for")]
    TooManySges,
    #[error("more inline data than the QP was created for, or inline data where it makes no sense")]
    BadInline,
    #[error("the message length is not allowed (atomics take 8 bytes, others at most the port's largest message)")]
    BadLength,
    #[error("the device is gone")]
    Gone,
}

impl PostError {
    /// What the C function reports.
    pub fn errno(self) -> c_int {
        match self {
            PostError::Full => libc::ENOMEM,
            PostError::Gone => libc::EIO,
            _ => libc::EINVAL,
        }
    }
}
