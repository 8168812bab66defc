//! Locks and counters that live as long as a C object.
//!
//! In: calls from any thread. Out: a lock that is taken in one C call and given back in another ([`HandLock`]), and the wait of destroy
//! functions for events that a program has taken and not yet acknowledged ([`Acks`]).
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks even if another thread panicked with the lock held: the data stay usable, and C code cannot be told.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same if nobody has it.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// How often a lock is looked at before the thread sleeps for it: some 20 us.
const LOOKS: u32 = 400;
/// After so many looks the processor is offered to others: the holder may wait for it.
const LOOKS_A_YIELD: u32 = 100;

/// The same for a lock that is held for microseconds: it is looked at for a while first. Being put to sleep and woken takes longer, and on the
/// data path would happen with each message.
pub fn lock_soon<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for look in 1..=LOOKS {
        if let Some(guard) = try_lock(mutex) {
            return guard;
        }
        if look % LOOKS_A_YIELD == 0 {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
    lock(mutex)
}

/// A lock without a guard. Held for a few hundred nanoseconds, so it spins, then yields.
#[derive(Debug, Default)]
pub struct HandLock(AtomicBool);

impl HandLock {
    #[inline]
    pub fn lock(&self) {
        let mut spins = 0;
        while self.0.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            spins += 1;
            if spins % 64 == 0 {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    #[inline]
    pub fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }

    /// Runs `f` with the lock held.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        self.lock();
        let result = f();
        self.unlock();
        result
    }
}

/// Events of one object: taken by the program and acknowledged by it.
#[derive(Debug, Default)]
pub struct Acks {
    outstanding: Mutex<u32>,
    none: Condvar,
}

impl Acks {
    /// The program takes an event.
    pub fn deliver(&self) {
        *lock(&self.outstanding) += 1;
    }

    /// The program acknowledges `events`; more than it took count as all.
    pub fn acknowledge(&self, events: u32) {
        let mut outstanding = lock(&self.outstanding);
        *outstanding = outstanding.saturating_sub(events);
        if *outstanding == 0 {
            self.none.notify_all();
        }
    }

    /// Waits until all taken events are acknowledged.
    pub fn wait(&self) {
        let mut outstanding = lock(&self.outstanding);
        while *outstanding != 0 {
            outstanding = self.none.wait(outstanding).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
