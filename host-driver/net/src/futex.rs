//! Sleeping on a word of shared memory until another process changes it.
//! In: the word and the value it had. Out: nothing; every wake-up may be spurious.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` is `seen`, at most `timeout`.
pub fn wait(word: &AtomicU32, seen: u32, timeout: Option<Duration>) {
    let limit = timeout.map(|t| libc::timespec { tv_sec: t.as_secs() as libc::time_t, tv_nsec: t.subsec_nanos().into() });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word outlives the call, the time is null or valid; the kernel checks everything else.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, limit) };
}

/// Wakes everybody who sleeps on `word`.
pub fn wake(word: &AtomicU32) {
    // SAFETY: the word outlives the call.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}
