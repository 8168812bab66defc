//! What the NIC has completed reaches the completion queues.
//!
//! In: CQEs in the rings of a queue pair. Out: completions, each once and in the order of its ring; a queue pair that failed, and what that
//! means for its connection.
use super::engine::Engine;
use super::qp::Entry;
use crate::completions::Slot;
use crate::device::{AsyncEvent, QpState, WcStatus};

/// What a look at the rings has found.
#[derive(Default)]
struct Found {
    worked: bool,
    /// A completion queue had no room.
    overrun: bool,
    /// The NIC has given this connection up.
    given_up: Option<u16>,
}

impl Entry {
    fn take_sends(&mut self, qpn: u32, found: &mut Found) {
        while let Some((completion, seen)) = self.queues.pop(qpn) {
            found.worked = true;
            if completion.status != WcStatus::Success {
                if completion.status == WcStatus::RetryExceeded && completion.vendor_error == 0 {
                    found.given_up = self.conn;
                }
                self.failed = true;
            }
            if seen {
                found.overrun |= !self.send_cq.push(completion, false, Some(Slot::take(&self.unpolled)));
            }
        }
    }

    fn take_receives(&mut self, qpn: u32, found: &mut Found) {
        while let Some((completion, solicited)) = self.queues.pop_recv(qpn, self.dest_qpn) {
            found.worked = true;
            if completion.status != WcStatus::Success && !self.failed {
                // If a request of its own has failed, the NIC has said so before this; maybe since the look above.
                self.take_sends(qpn, found);
                if !std::mem::replace(&mut self.failed, true) {
                    // Otherwise it has refused a packet of the peer. Which one it does not say, unless it was for a receive.
                    let of_receive = matches!(completion.status, WcStatus::LocalLength | WcStatus::LocalProtection);
                    let event = if of_receive { AsyncEvent::QpRequestError } else { AsyncEvent::QpFatal };
                    self.events.asynchronous(event(self.token));
                }
            }
            found.overrun |= !self.recv_cq.push(completion, solicited, None);
        }
    }
}

impl Engine {
    /// Takes what the NIC has completed. Returns whether there was something.
    pub fn harvest(&mut self, qpn: u32) -> bool {
        let Some(entry) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return false };
        let mut found = Found::default();
        entry.take_sends(qpn, &mut found);
        entry.take_receives(qpn, &mut found);
        if entry.draining && entry.state() == QpState::Sqd && entry.is_drained() {
            self.drained(qpn);
        }
        if let Some(conn) = found.given_up {
            // L4: the NIC has given the connection up.
            self.manager.engine_error(conn);
            self.run_connections();
        }
        if found.overrun {
            self.strand(qpn, WcStatus::Flushed);
        }
        found.worked
    }
}
