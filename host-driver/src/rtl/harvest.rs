//! What the NIC has completed reaches the completion queues.
//!
//! In: CQEs in the rings of a queue pair. Out: completions, each once and in the order of its ring; a queue pair that failed, and what that
//! means for its connection.
use super::engine::Engine;
use super::qp::Entry;
use super::srq::SrqEntry;
use crate::completions::Slot;
use crate::device::{AsyncEvent, Completion, QpState, WcStatus};

/// What a look at the rings has found.
#[derive(Default)]
struct Found {
    worked: bool,
    /// A completion queue had no room.
    overrun: bool,
    /// The NIC has given this connection up.
    given_up: Option<u16>,
    /// It has failed, and no request of its own is the reason.
    flushed: bool,
    /// With `flushed`: its receives say so.
    of_receive: bool,
}

impl Entry {
    fn take_sends(&mut self, qpn: u32, found: &mut Found) {
        while let Some((completion, seen)) = self.queues.pop(qpn) {
            found.worked = true;
            if completion.status != WcStatus::Success {
                if completion.status == WcStatus::RetryExceeded && completion.vendor_error == 0 {
                    found.given_up = self.conn;
                }
                found.flushed |= completion.status == WcStatus::Flushed && !self.failed;
                self.failed = true;
            }
            if seen {
                found.overrun |= !self.send_cq.push(completion, false, Some(Slot::take(&self.unpolled)));
            }
        }
    }

    /// A receive that has failed, and no request before it: the NIC has refused a packet of the peer.
    fn fail_by(&mut self, status: WcStatus, qpn: u32, found: &mut Found) {
        if status == WcStatus::Success || self.failed {
            return;
        }
        // If a request of its own has failed, the NIC has said so before this; maybe since the look above.
        self.take_sends(qpn, found);
        if !std::mem::replace(&mut self.failed, true) {
            (found.flushed, found.of_receive) = (true, true);
        }
    }

    /// The next receive that the NIC has ended, its own or one of its shared queue.
    fn next_receive(&mut self, qpn: u32) -> Option<(Completion, bool)> {
        match self.srq {
            Some(_) => self.queues.pop_shared(qpn, self.dest_qpn).flatten(),
            None => self.queues.pop_recv(qpn, self.dest_qpn),
        }
    }

    /// Receives that have ended with success, or by a failure of the queue pair.
    fn take_receives(&mut self, mut srq: Option<&mut SrqEntry>, qpn: u32, found: &mut Found) {
        while let Some((completion, solicited)) = self.next_receive(qpn) {
            found.worked = true;
            self.fail_by(completion.status, qpn, found);
            found.overrun |= !self.recv_cq.push(completion, solicited, None);
            if let Some(srq) = &mut srq {
                srq.ended();
            }
        }
    }
}

impl Engine {
    /// Takes what the NIC has completed. Returns whether there was something.
    pub fn harvest(&mut self, qpn: u32) -> bool {
        let Some(entry) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return false };
        let mut found = Found::default();
        entry.take_sends(qpn, &mut found);
        let srq = entry.srq.and_then(|srq| self.srqs.get_mut(srq as usize)?.as_mut());
        entry.take_receives(srq, qpn, &mut found);
        // Q6: what it has taken comes back at once, and the program is told.
        let ends = entry.srq.is_some() && entry.failed && entry.conn.is_some();
        if entry.draining && entry.state() == QpState::Sqd && entry.is_drained() {
            self.drained(qpn);
        }
        if found.flushed {
            let event = self.refusal(qpn).or(found.of_receive.then_some(AsyncEvent::QpFatal));
            if let (Some(event), Some(entry)) = (event, self.qp(qpn)) {
                entry.events.asynchronous(event(entry.token));
            }
        }
        if let Some(conn) = found.given_up {
            // L4: the NIC has given the connection up.
            self.manager.engine_error(conn);
            self.run_connections();
        }
        if ends {
            self.unbind(qpn);
            self.harvest(qpn);
        }
        if found.overrun || ends {
            self.strand(qpn, WcStatus::Flushed);
        }
        found.worked
    }
}
