//! The thread that keeps the NIC going while no program polls: it answers peers, repeats what was lost, and fills armed queues.
//!
//! In: the shared engine. Out: rounds of it, and sleep between them: until a frame arrives or a timer is due.
use super::engine::Shared;
use crate::device::DeviceError;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A sleep is at least that long: a timer of the transport may come later than it could, never too often.
const SLEEP_MIN: Duration = Duration::from_micros(200);
const SLEEP_MAX: Duration = Duration::from_millis(1);

pub fn start(shared: &Arc<Shared>) -> Result<(), DeviceError> {
    let weak = Arc::downgrade(shared);
    let run = move || run(&weak);
    let gone = |error: std::io::Error| DeviceError::Gone { detail: format!("its thread does not start: {error}") };
    std::thread::Builder::new().name("mrnic-model".to_owned()).spawn(run).map_err(gone)?;
    Ok(())
}

fn run(weak: &Weak<Shared>) {
    let (mut woken, mut slept) = (false, false);
    while let Some(shared) = weak.upgrade() {
        if shared.is_stopped() {
            return;
        }
        // Read before looking for work: what arrives afterwards ends the sleep at once.
        let ticket = shared.sleeper.ticket();
        let (worked, deadline) = shared.thread_round(woken, slept);
        (woken, slept) = (false, false);
        if worked {
            // The program may want the processor, and the lock, between two rounds.
            std::thread::yield_now();
            continue;
        }
        shared.deep_sleep.store(deadline.is_none(), Ordering::Release);
        shared.sleeper.wait(ticket, Some(deadline.map_or(Duration::from_secs(1), |d| d.clamp(SLEEP_MIN, SLEEP_MAX))));
        shared.deep_sleep.store(false, Ordering::Release);
        (woken, slept) = (shared.sleeper.ticket() != ticket, true);
    }
}
