//! The thread that keeps the driver going while no program polls: it answers peers' control planes, and fills armed queues.
//!
//! In: the shared engine. Out: rounds of it, and sleep between them: until the NIC has news or a timer is due.
use super::engine::Shared;
use crate::device::DeviceError;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A sleep is at most that long: so soon an engine that nobody holds any more is let go.
const SLEEP_MAX: Duration = Duration::from_secs(1);

pub fn start(shared: &Arc<Shared>) -> Result<(), DeviceError> {
    let (weak, carrier) = (Arc::downgrade(shared), shared.carrier.clone());
    let run = move || {
        while let Some(deadline) = round(&weak) {
            carrier.wait(deadline);
        }
    };
    let gone = |error: std::io::Error| DeviceError::Gone { detail: format!("its thread does not start: {error}") };
    std::thread::Builder::new().name("mrnic-rtl".to_owned()).spawn(run).map_err(gone)?;
    Ok(())
}

/// How long to sleep afterwards; none: it is over.
fn round(weak: &Weak<Shared>) -> Option<Duration> {
    let shared = weak.upgrade().filter(|shared| !shared.is_stopped())?;
    Some(shared.thread_round().map_or(SLEEP_MAX, |d| d.min(SLEEP_MAX)))
}
