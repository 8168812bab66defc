//! How many objects refer to an object.
//!
//! In: acquire and release by the referring objects, close by destroy. Out: destroy succeeds only without users, and after it nobody
//! can become a user: the two cannot race.
use crate::device::DeviceError;
use std::sync::atomic::{AtomicU32, Ordering};

const CLOSED: u32 = u32::MAX;

/// The number of users, or closed.
#[derive(Debug, Default)]
pub struct Usage(AtomicU32);

impl Usage {
    /// One user more.
    pub fn acquire(&self, what: &'static str) -> Result<(), DeviceError> {
        let add = |n| if n == CLOSED { None } else { Some(n + 1) };
        match self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, add) {
            Ok(_) => Ok(()),
            Err(_) => Err(DeviceError::invalid(what, "it is being destroyed")),
        }
    }

    /// One user less.
    pub fn release(&self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }

    /// No users from now on; `what` is in use if there are some.
    pub fn close(&self, what: &'static str) -> Result<(), DeviceError> {
        match self.0.compare_exchange(0, CLOSED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(()),
            Err(_) => Err(DeviceError::InUse { what }),
        }
    }

    /// Takes a close back (the rest of a destroy failed).
    pub fn reopen(&self) {
        self.0.store(0, Ordering::Release);
    }

    pub fn is_used(&self) -> bool {
        !matches!(self.0.load(Ordering::Acquire), 0 | CLOSED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_only_without_users_and_takes_none_afterwards() {
        let usage = Usage::default();
        usage.acquire("PD").unwrap();
        assert_eq!(usage.close("PD").map_err(|e| e.errno()), Err(libc::EBUSY));
        usage.release();
        usage.close("PD").unwrap();
        assert!(usage.acquire("PD").is_err() && usage.close("PD").is_err());
        usage.reopen();
        usage.acquire("PD").unwrap();
    }
}
