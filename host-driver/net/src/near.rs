//! Where a thread sleeps that other processes wake: on the processor of whoever wakes it, while it has little to do and its own program is busy.
//!
//! In: each sleep, who ended the last one, and how much there was to do since. Out: the thread's affinity.
//! Why: a wake-up on another processor costs an interrupt there, which on a virtual machine takes longer than all that a small frame needs; on
//! the waker's own processor it is a switch of threads, while the programs of both ends look at their memory. A thread with much to do, or one
//! whose own program leaves its processor idle, runs wherever there is room. It never leaves the processors that it had at its start.

use std::mem::size_of;

/// Frames of a visit from which on a thread is busy: more than a small message and an acknowledgment.
const BUSY_FRAMES: usize = 4;
/// Short visits in a row, all woken from the same processor, after which the thread moves there.
const VISITS: u32 = 16;

/// The affinity of the thread that made it.
#[derive(Debug)]
pub struct Near {
    /// Processors that it may use; none if there is no choice.
    allowed: Option<libc::cpu_set_t>,
    /// It sleeps there.
    at: Option<usize>,
    /// Processor of the last waker, and how often it was the same.
    waker: Option<usize>,
    visits: u32,
    /// Of this visit.
    frames: usize,
}

impl Near {
    /// For the calling thread.
    pub fn new() -> Self {
        // SAFETY: it only counts.
        let allowed = affinity().filter(|set| unsafe { libc::CPU_COUNT(set) } > 1);
        Near { allowed, at: None, waker: None, visits: 0, frames: 0 }
    }

    /// The thread has done a round of work and taken `frames`. Whether it should let others run before the next one: unless it is on a short visit
    /// at its waker's.
    pub fn worked(&mut self, frames: usize) -> bool {
        self.frames += frames;
        if self.frames > BUSY_FRAMES {
            self.leave();
        }
        self.at.is_none()
    }

    /// Back to all of its processors.
    fn leave(&mut self) {
        self.visits = 0;
        if let (Some(allowed), Some(_)) = (&self.allowed, self.at.take()) {
            bind(allowed);
        }
    }

    /// The thread is about to sleep. `waker`: on which processor it was that rang since it last slept, if anybody did; `program_runs`: its own
    /// program keeps a processor busy.
    pub fn sleeps(&mut self, waker: Option<usize>, program_runs: bool) {
        let busy = std::mem::take(&mut self.frames) > BUSY_FRAMES;
        if !program_runs {
            self.leave();
            return;
        }
        let (Some(allowed), Some(waker), false) = (&self.allowed, waker, busy) else { return };
        self.visits = if self.waker.replace(waker) == Some(waker) { (self.visits + 1).min(VISITS) } else { 1 };
        // SAFETY: reads a bit of the set; the number is checked.
        let may = waker < libc::CPU_SETSIZE as usize && unsafe { libc::CPU_ISSET(waker, allowed) };
        if self.visits == VISITS && self.at != Some(waker) && may {
            bind(&only(waker));
            self.at = Some(waker);
        }
    }
}

impl Default for Near {
    fn default() -> Self {
        Near::new()
    }
}

/// No processor.
fn none() -> libc::cpu_set_t {
    // SAFETY: a set of bits, for which zeros are valid.
    unsafe { std::mem::zeroed() }
}

/// One processor; its number is below CPU_SETSIZE.
fn only(processor: usize) -> libc::cpu_set_t {
    let mut set = none();
    // SAFETY: sets a bit of the set.
    unsafe { libc::CPU_SET(processor, &mut set) };
    set
}

/// The processors that the calling thread may use.
fn affinity() -> Option<libc::cpu_set_t> {
    let mut set = none();
    // SAFETY: the pointer is valid for the size given; 0 is the calling thread.
    let found = unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) } == 0;
    found.then_some(set)
}

/// The calling thread runs there only. If the system refuses, it runs where it may.
fn bind(set: &libc::cpu_set_t) {
    // SAFETY: the pointer is valid for the size given; 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) };
}

/// The processor that this thread is on now.
pub(crate) fn processor() -> Option<usize> {
    // SAFETY: it has no arguments.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The processors of the calling thread.
    fn bits() -> Vec<usize> {
        let set = affinity().unwrap();
        // SAFETY: reads bits of the set.
        (0..libc::CPU_SETSIZE as usize).filter(|&n| unsafe { libc::CPU_ISSET(n, &set) }).collect()
    }

    /// In a thread of its own: the affinity of the test's stays.
    fn apart(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn many_short_visits_move_the_thread_to_its_waker_and_work_frees_it() {
        apart(|| {
            let all = bits();
            let (Some(&here), true) = (all.first(), all.len() > 1) else { return };
            let mut near = Near::new();
            for visit in 1..=VISITS {
                assert_eq!(bits(), all, "before visit {visit}");
                assert!(near.worked(1));
                near.sleeps(Some(here), true);
            }
            assert_eq!(bits(), [here]);
            // another waker now and then changes nothing
            near.sleeps(all.last().copied(), true);
            near.sleeps(None, true);
            assert_eq!(bits(), [here]);
            for _ in 0..BUSY_FRAMES {
                assert!(!near.worked(1));
            }
            assert!(near.worked(1));
            assert_eq!(bits(), all);
        });
    }

    #[test]
    fn a_thread_whose_program_sleeps_stays_where_there_is_room() {
        apart(|| {
            let all = bits();
            let (Some(&here), true) = (all.first(), all.len() > 1) else { return };
            let mut near = Near::new();
            for _ in 0..2 * VISITS {
                near.worked(1);
                near.sleeps(Some(here), false);
            }
            assert_eq!(bits(), all);
            for _ in 0..VISITS {
                near.worked(1);
                near.sleeps(Some(here), true);
            }
            assert_eq!(bits(), [here]);
            near.sleeps(Some(here), false);
            assert_eq!(bits(), all);
        });
    }

    #[test]
    fn it_stays_within_the_processors_it_was_given() {
        apart(|| {
            let all = bits();
            let (Some(&first), Some(&last), true) = (all.first(), all.last(), all.len() > 1) else { return };
            bind(&only(first));
            let mut near = Near::new();
            for _ in 0..2 * VISITS {
                near.worked(1);
                near.sleeps(Some(last), true);
            }
            assert_eq!(bits(), [first]);
        });
        apart(|| {
            let all = bits();
            let mut near = Near::new();
            for _ in 0..2 * VISITS {
                near.worked(1);
                near.sleeps(Some(libc::CPU_SETSIZE as usize + 7), true);
            }
            assert_eq!(bits(), all);
        });
    }
}
