//! Access rights of memory regions and queue pairs.
//!
//! In: rights as a program names them. Out: consistent rights: what the peer may change, the owner must be able to write.
use crate::device::DeviceError;

/// What may be done to memory. Reading by the owner is always allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Access {
    pub local_write: bool,
    pub remote_write: bool,
    pub remote_read: bool,
    pub remote_atomic: bool,
}

impl Access {
    /// Everything.
    pub const ALL: Access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };

    /// Checks the rights of a memory region.
    pub fn check_region(self) -> Result<Access, DeviceError> {
        if (self.remote_write || self.remote_atomic) && !self.local_write {
            return Err(DeviceError::invalid("access", "remote write and remote atomic need local write as well"));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_writers_need_local_write() {
        for (remote_write, remote_atomic) in [(true, false), (false, true), (true, true)] {
            let access = Access { remote_write, remote_atomic, ..Access::default() };
            assert_eq!(access.check_region().map_err(|e| e.errno()), Err(libc::EINVAL));
            assert!(Access { local_write: true, ..access }.check_region().is_ok());
        }
        assert!(Access { remote_read: true, ..Access::default() }.check_region().is_ok());
    }
}
