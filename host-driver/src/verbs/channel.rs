//! Completion channels, and the pollable queue that they and the asynchronous events are made of.
//!
//! In: events of the device. Out: a file descriptor that is readable exactly while events wait, whether it is blocking or not; reading
//! the events in order. Events of destroyed objects disappear.
use super::context::Context;
use super::hub::Hub;
use super::result::{code, pointer};
use super::sync::lock;
use crate::abi::{ibv_comp_channel, ibv_context, ibv_cq};
use crate::device::{DeviceError, Token};
use crate::rules::Usage;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex};

extern "C-unwind" {
    /// As in `libc`, which hides that a cancelled thread is unwound from here.
    fn read(fd: c_int, buf: *mut c_void, count: usize) -> isize;
}

/// A queue with a file descriptor.
pub struct EventQueue<T> {
    /// An eventfd in semaphore mode: its count is the number of waiting events.
    fd: OwnedFd,
    waiting: Mutex<VecDeque<T>>,
}

impl<T> EventQueue<T> {
    pub fn new() -> Result<Self, DeviceError> {
        // SAFETY: eventfd takes no pointers; the result is checked and owned from here on.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_SEMAPHORE) };
        if fd < 0 {
            return Err(DeviceError::Exhausted { what: "file descriptors" });
        }
        // SAFETY: a fresh descriptor of nobody else.
        Ok(EventQueue { fd: unsafe { OwnedFd::from_raw_fd(fd) }, waiting: Mutex::new(VecDeque::new()) })
    }

    pub fn fd(&self) -> c_int {
        self.fd.as_raw_fd()
    }

    pub fn push(&self, event: T) {
        let mut waiting = lock(&self.waiting);
        waiting.push_back(event);
        let one = 1u64;
        // SAFETY: eight bytes of a local variable. The count cannot overflow before memory does.
        unsafe { libc::write(self.fd(), std::ptr::from_ref(&one).cast(), 8) };
    }

    /// Takes the next event; waits for one unless the program made the descriptor non-blocking. `None`: errno says why.
    ///
    /// Programs end a thread that waits here with `pthread_cancel` (rping does): nothing is held while it waits, here or in the callers.
    pub fn pop(&self) -> Option<T> {
        loop {
            let mut count = 0u64;
            // SAFETY: eight bytes of a local variable.
            let bytes = unsafe { read(self.fd(), (&raw mut count).cast(), 8) };
            if bytes != 8 {
                return None;
            }
            // Another thread may have removed the event between the read and here: then wait for the next.
            if let Some(event) = lock(&self.waiting).pop_front() {
                return Some(event);
            }
        }
    }

    /// Drops the waiting events that `stale` names.
    pub fn remove(&self, stale: impl Fn(&T) -> bool) {
        let mut waiting = lock(&self.waiting);
        let before = waiting.len();
        waiting.retain(|event| !stale(event));
        for _ in waiting.len()..before {
            let mut count = 0u64;
            let part = libc::iovec { iov_base: std::ptr::from_mut(&mut count).cast(), iov_len: 8 };
            // SAFETY: one part, eight bytes of a local variable. Must not wait: a reader may have taken this count already.
            unsafe { libc::preadv2(self.fd(), &part, 1, -1, libc::RWF_NOWAIT) };
        }
    }
}

#[repr(C)]
pub struct Channel {
    public: ibv_comp_channel,
    own: ChannelOwn,
}

pub struct ChannelOwn {
    pub events: Arc<EventQueue<Token>>,
    pub usage: Usage,
}

/// Our part of a channel.
pub unsafe fn channel_own<'a>(channel: *mut ibv_comp_channel) -> &'a ChannelOwn {
    &(*channel.cast::<Channel>()).own
}

#[no_mangle]
pub unsafe extern "C" fn ibv_create_comp_channel(context: *mut ibv_context) -> *mut ibv_comp_channel {
    let make = || {
        let events = Arc::new(EventQueue::new()?);
        Context::of(context).usage.acquire("context")?;
        let public = ibv_comp_channel { context, fd: events.fd(), refcnt: 0 };
        let own = ChannelOwn { events, usage: Usage::default() };
        Ok(Box::into_raw(Box::new(Channel { public, own })).cast())
    };
    pointer(make())
}

#[no_mangle]
pub unsafe extern "C" fn ibv_destroy_comp_channel(channel: *mut ibv_comp_channel) -> c_int {
    let context = Context::of((*channel).context);
    if let Err(error) = channel_own(channel).usage.close("completion channel") {
        return code(Err(error));
    }
    drop(Box::from_raw(channel.cast::<Channel>()));
    context.usage.release();
    0
}

#[no_mangle]
pub unsafe extern "C-unwind" fn ibv_get_cq_event(
    channel: *mut ibv_comp_channel,
    cq: *mut *mut ibv_cq,
    cq_context: *mut *mut c_void,
) -> c_int {
    let hub: &Hub = &Context::of((*channel).context).hub;
    loop {
        let Some(token) = channel_own(channel).events.pop() else { return -1 };
        if let Some(found) = hub.take_completion_event(token) {
            *cq = found;
            *cq_context = (*found).cq_context;
            return 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::set_errno;
    use super::*;

    fn readable<T>(queue: &EventQueue<T>) -> bool {
        let mut poll = libc::pollfd { fd: queue.fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one local entry.
        unsafe { libc::poll(&mut poll, 1, 0) == 1 }
    }

    #[test]
    fn readable_exactly_while_events_wait() {
        let queue = EventQueue::new().unwrap();
        assert!(!readable(&queue));
        queue.push('a');
        queue.push('b');
        queue.push('a');
        assert_eq!(queue.pop(), Some('a'));
        queue.remove(|e| *e == 'a');
        assert!(readable(&queue));
        assert_eq!(queue.pop(), Some('b'));
        assert!(!readable(&queue));
    }

    #[test]
    fn a_non_blocking_descriptor_says_try_again() {
        let queue = EventQueue::<()>::new().unwrap();
        // SAFETY: a descriptor of our own.
        unsafe { libc::fcntl(queue.fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        set_errno(0);
        assert_eq!(queue.pop(), None);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN));
    }
}
