//! The thread that keeps the NIC going while no program polls: it answers peers, repeats what was lost, and fills armed queues.
//!
//! In: the shared engine. Out: rounds of it, and sleep between them: until a frame arrives or a timer is due, near whoever wakes it (`Near`).
use super::engine::Shared;
use crate::device::DeviceError;
use mrnic_host_net::Near;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A sleep is at least that long: a timer of the transport may come later than it could, never too often.
const SLEEP_MIN: Duration = Duration::from_micros(200);
/// And at most that long, unless there is nothing to wait for.
pub const SLEEP_MAX: Duration = Duration::from_millis(1);

pub fn start(shared: &Arc<Shared>) -> Result<(), DeviceError> {
    let weak = Arc::downgrade(shared);
    let run = move || run(&weak);
    let gone = |error: std::io::Error| DeviceError::Gone { detail: format!("its thread does not start: {error}") };
    std::thread::Builder::new().name("mrnic-model".to_owned()).spawn(run).map_err(gone)?;
    Ok(())
}

fn run(weak: &Weak<Shared>) {
    let (mut woken, mut slept) = (false, false);
    let mut near = Near::new();
    while let Some(shared) = weak.upgrade() {
        if shared.is_stopped() {
            return;
        }
        // Read before looking for work: what arrives afterwards ends the sleep at once.
        let ticket = shared.sleeper.ticket();
        let (round, rest) = shared.thread_round(woken, slept);
        // Who rang meanwhile is answered in the next round, without sleep.
        (woken, slept) = (shared.sleeper.ticket() != ticket, false);
        let gives_way = round.worked && near.worked(round.frames);
        // At its waker's a second look would be in the way of the program, which has just got what it waited for.
        if round.more || woken || gives_way {
            if gives_way {
                // The program may want the processor, and the lock, between two rounds.
                std::thread::yield_now();
            }
            continue;
        }
        near.sleeps(shared.sleeper.rung_on(), rest.program_polls);
        shared.deep_sleep.store(rest.limit.is_none(), Ordering::Release);
        shared.sleeper.wait(ticket, Some(rest.limit.map_or(Duration::from_secs(1), |d| d.clamp(SLEEP_MIN, SLEEP_MAX))));
        shared.deep_sleep.store(false, Ordering::Release);
        (woken, slept) = (shared.sleeper.ticket() != ticket, true);
    }
}
