//! The state machine of an RC queue pair.
//!
//! In: the present state and a modification. Out: the next state, when every attribute that the step needs is there and none that it
//! does not allow. A table after the InfiniBand specification, chapter 10.3; paths are not migrated.
use crate::device::{DeviceError, Limits, QpChange, QpState};

/// Attributes of a [`QpChange`] as a set.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Set(u32);

/// (name for people, is it in the change)
const NAMES: [&str; 15] = [
    "access flags",
    "pkey index",
    "port",
    "address vector",
    "path MTU",
    "destination QPN",
    "receive PSN",
    "send PSN",
    "timeout",
    "retry count",
    "RNR retry",
    "minimum RNR timer",
    "max_rd_atomic",
    "max_dest_rd_atomic",
    "drained notification",
];
const ACCESS: u32 = 1 << 0;
const PKEY: u32 = 1 << 1;
const PORT: u32 = 1 << 2;
const PATH: u32 = 1 << 3;
const MTU: u32 = 1 << 4;
const DEST: u32 = 1 << 5;
const RQ_PSN: u32 = 1 << 6;
const SQ_PSN: u32 = 1 << 7;
const TIMEOUT: u32 = 1 << 8;
const RETRY: u32 = 1 << 9;
const RNR_RETRY: u32 = 1 << 10;
const RNR_TIMER: u32 = 1 << 11;
const RD: u32 = 1 << 12;
const DEST_RD: u32 = 1 << 13;
const DRAINED: u32 = 1 << 14;

fn set_of(c: &QpChange) -> Set {
    let present = [
        c.access.is_some(),
        c.pkey_index.is_some(),
        c.port.is_some(),
        c.path.is_some(),
        c.path_mtu.is_some(),
        c.dest_qpn.is_some(),
        c.rq_psn.is_some(),
        c.sq_psn.is_some(),
        c.timeout.is_some(),
        c.retry_count.is_some(),
        c.rnr_retry.is_some(),
        c.min_rnr_timer.is_some(),
        c.max_rd_atomic.is_some(),
        c.max_dest_rd_atomic.is_some(),
        c.notify_drained.is_some(),
    ];
    Set(present.iter().enumerate().map(|(i, p)| u32::from(*p) << i).sum())
}

impl Set {
    fn names(self) -> String {
        let names: Vec<_> = NAMES.iter().enumerate().filter(|(i, _)| self.0 >> i & 1 != 0).map(|(_, n)| *n).collect();
        names.join(", ")
    }
}

/// (needed, allowed besides) of one step, or `None` when there is no such step.
fn step(from: QpState, to: QpState) -> Option<(u32, u32)> {
    use QpState::*;
    Some(match (from, to) {
        (_, Reset | Error) => (0, 0),
        (Reset, Init) => (PKEY | PORT | ACCESS, 0),
        (Init, Init) => (0, PKEY | PORT | ACCESS),
        (Init, Rtr) => (PATH | MTU | DEST | RQ_PSN | DEST_RD | RNR_TIMER, ACCESS | PKEY),
        (Rtr, Rts) => (TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD, ACCESS | RNR_TIMER),
        (Rts, Rts) => (0, ACCESS | RNR_TIMER),
        (Rts, Sqd) => (0, DRAINED),
        (Sqd, Rts) => (0, ACCESS | RNR_TIMER),
        (Sqd, Sqd) => (0, PORT | PATH | TIMEOUT | RETRY | RNR_RETRY | RD | DEST_RD | ACCESS | PKEY | RNR_TIMER),
        _ => return None,
    })
}

/// The state after `change`, which started in `from`.
pub fn transition(from: QpState, change: &QpChange) -> Result<QpState, DeviceError> {
    let to = change.state.unwrap_or(from);
    // Without a state only attributes change: a state may be kept where the table says so.
    if change.state.is_none() && matches!(from, QpState::Reset | QpState::Rtr | QpState::Error) {
        return Err(DeviceError::invalid("modify QP", format!("no attribute can be changed alone in {from:?}")));
    }
    let (needed, allowed) =
        step(from, to).ok_or_else(|| DeviceError::invalid("modify QP", format!("there is no step from {from:?} to {to:?}")))?;
    let given = set_of(change).0;
    if needed & !given != 0 {
        let missing = Set(needed & !given).names();
        return Err(DeviceError::invalid("modify QP", format!("{from:?} to {to:?} needs {missing}")));
    }
    if given & !(needed | allowed) != 0 {
        let surplus = Set(given & !(needed | allowed)).names();
        return Err(DeviceError::invalid("modify QP", format!("{from:?} to {to:?} does not take {surplus}")));
    }
    Ok(to)
}

/// Checks the values of a modification against what fields and device can hold.
pub fn check_values(c: &QpChange, limits: &Limits, port_mtu: crate::device::Mtu, gids: u32) -> Result<(), DeviceError> {
    let bits = |what: &'static str, value: Option<u32>, bits: u32| match value {
        Some(v) if v >> bits != 0 => Err(DeviceError::invalid(what, format!("{v:#x} does not fit {bits} bits"))),
        _ => Ok(()),
    };
    bits("destination QPN", c.dest_qpn, 24)?;
    bits("receive PSN", c.rq_psn, 24)?;
    bits("send PSN", c.sq_psn, 24)?;
    bits("timeout", c.timeout.map(u32::from), 5)?;
    bits("retry count", c.retry_count.map(u32::from), 3)?;
    bits("RNR retry", c.rnr_retry.map(u32::from), 3)?;
    bits("minimum RNR timer", c.min_rnr_timer.map(u32::from), 5)?;
    for (what, value) in [("max_rd_atomic", c.max_rd_atomic), ("max_dest_rd_atomic", c.max_dest_rd_atomic)] {
        if value.is_some_and(|v| u32::from(v) > limits.max_rd_atomic) {
            return Err(DeviceError::invalid(what, format!("the device does at most {}", limits.max_rd_atomic)));
        }
    }
    if c.pkey_index.is_some_and(|i| i != 0) {
        return Err(DeviceError::invalid("pkey index", "there is one pkey, index 0"));
    }
    let port = c.port.or(c.path.map(|p| p.port));
    if port.is_some_and(|p| p == 0 || p > limits.ports) {
        return Err(DeviceError::invalid("port", format!("ports are 1 to {}", limits.ports)));
    }
    if c.path_mtu.is_some_and(|m| m > port_mtu) {
        return Err(DeviceError::invalid("path MTU", format!("the port's MTU is {}", port_mtu.bytes())));
    }
    if let Some(path) = &c.path {
        if u32::from(path.source_gid_index) >= gids {
            return Err(DeviceError::invalid("GID index", format!("the port has {gids} GIDs")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
