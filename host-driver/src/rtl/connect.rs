//! Connections between NICs: what the control plane wants is done here, in the NIC's tables.
//!
//! In: its actions. Out: rows of CONN, PATH and QP; queue pairs that are bound to a connection, or fail with it.
use super::engine::Engine;
use crate::completions::Slot;
use crate::device::{AsyncEvent, QpChange, QpState, Token, WcStatus};
use mrnic_firmware::{Action, Endpoint, State};
use mrnic_host_bus::rows::{self, SendLimits};
use mrnic_model::{QpAccess, QpConfig};
use mrnic_regs::{reg, table};
use std::time::{Duration, Instant};

/// How long the NIC may take to flush what a queue pair had taken from a shared queue: it writes some completions.
const TAKE_BACK_PATIENCE: Duration = Duration::from_secs(15);
/// Before the program has named them: without limit; no READs and atomics.
const UNNAMED: SendLimits = SendLimits { rnr_retry: 7, max_rd_atomic: 0 };
/// How often in a row the NIC is asked whether a queue pair number is drained; it takes some clocks to look.
const DRAIN_READS: u32 = 8;
/// A number that has not drained by then is opened all the same: only a connection that the NIC has given up keeps packets for so long, and on that
/// one a queue pair begins in Error, which is how this driver learns of it.
const DRAIN_PATIENCE: Duration = Duration::from_secs(15);

impl Engine {
    /// Carries out what the control plane wants.
    pub fn run_connections(&mut self) {
        while let Some(action) = self.manager.poll_action() {
            match action {
                Action::Send(packet) => self.send_control(&packet),
                Action::Open { conn, config, .. } => {
                    for write in rows::connection(conn, &config) {
                        self.write_row(&write);
                    }
                }
                Action::Ready { conn, peer } => {
                    for qpn in self.unbound(&peer) {
                        self.bind(qpn, conn);
                    }
                }
                Action::Down { conn, .. } => {
                    self.connection_lost(conn);
                    let of_conn = |(qpn, at): (&u32, &(Instant, u16))| (at.1 == conn).then_some(*qpn);
                    for qpn in self.deferred.iter().filter_map(of_conn).collect::<Vec<_>>() {
                        self.strand(qpn, WcStatus::RetryExceeded);
                    }
                }
                Action::Failed { peer, .. } => {
                    for qpn in self.unbound(&peer) {
                        self.strand(qpn, WcStatus::RetryExceeded);
                    }
                }
                Action::Close { conn } => self.close_connection(conn),
            }
        }
    }

    fn close_connection(&mut self, conn: u16) {
        self.write_row(&rows::closed(table::conn::NUMBER, conn));
    }

    /// A queue pair enters RTR: it is bound to the connection to its peer, now or when there is one.
    pub fn connect(&mut self, qpn: u32, peer: Endpoint) {
        let lease = self.manager.acquire(self.now_us(), peer);
        let state = self.manager.state(peer.ip);
        if let Some(entry) = self.qp(qpn) {
            entry.lease = Some(lease);
            entry.peer = Some(peer);
        }
        if let State::Open { conn } = state {
            self.bind(qpn, conn);
        }
        self.run_connections();
    }

    /// Queue pairs that wait for a connection to `peer`.
    fn unbound(&self, peer: &Endpoint) -> Vec<u32> {
        let waits = |entry: &super::qp::Entry| {
            entry.conn.is_none() && entry.lease.is_some() && entry.peer.is_some_and(|p| p.ip == peer.ip)
        };
        let waiting = self.qps.iter().enumerate().filter(|(_, qp)| qp.as_deref().is_some_and(waits));
        waiting.map(|(qpn, _)| qpn as u32).collect()
    }

    /// Opens the queue pair in the NIC, at once or when nothing of an earlier queue pair of this number is under way (section 10). Both streams
    /// begin at MSN 0: the row is written whole in RTR, when a program has not yet said at which PSN it will begin to send, nor rnr_retry and
    /// max_rd_atomic, which have a row of their own.
    fn bind(&mut self, qpn: u32, conn: u16) {
        if !self.number_is_drained(qpn) {
            self.deferred.entry(qpn).or_insert((Instant::now(), conn)).1 = conn;
            return;
        }
        self.deferred.remove(&qpn);
        let Some(entry) = self.qp(qpn) else { return };
        entry.conn = Some(conn);
        let (rings, limits) = (entry.queues.rings.rings(), entry.limits.unwrap_or(UNNAMED));
        let config = QpConfig {
            pd: entry.pd,
            cq_log2: rings.cq_log2,
            access: entry.access,
            srq: entry.srq,
            min_rnr_timer: entry.min_rnr_timer,
            rnr_retry: limits.rnr_retry,
            max_rd_atomic: limits.max_rd_atomic,
            max_dest_rd_atomic: entry.max_dest_rd_atomic,
            ..QpConfig::new(conn, entry.dest_qpn)
        };
        self.write_row(&rows::qp(qpn as u16, &config, &rings));
        self.ring_what_waits(qpn);
    }

    /// Opens what waits for its number to be drained. Returns whether it did.
    pub fn bind_deferred(&mut self) -> bool {
        let mut worked = false;
        for (qpn, (since, conn)) in self.deferred.clone() {
            if self.qp(qpn).is_none_or(|entry| entry.lease.is_none() || entry.conn.is_some()) {
                self.deferred.remove(&qpn);
                continue;
            }
            if since.elapsed() > DRAIN_PATIENCE {
                self.undrained.remove(&qpn);
            }
            self.bind(qpn, conn);
            worked |= !self.deferred.contains_key(&qpn);
        }
        worked
    }

    /// Is nothing of an earlier queue pair of this number under way in the NIC?
    fn number_is_drained(&mut self, qpn: u32) -> bool {
        if !self.undrained.contains(&qpn) {
            return true;
        }
        self.carrier.write32(reg::qp_drain::OFFSET, qpn);
        let drained = (0..DRAIN_READS).any(|_| {
            let read = self.carrier.read32(reg::qp_drain::OFFSET);
            read.is_ok_and(|word| reg::qp_drain::BUSY.get(&[word]) == 0)
        });
        if drained {
            self.undrained.remove(&qpn);
        }
        drained
    }

    /// R4: what to tell of a packet of the peer that the queue pair has refused: for key or rights (codes 1 to 3), or for its form. None: it has not.
    pub fn refusal(&self, qpn: u32) -> Option<fn(Token) -> AsyncEvent> {
        self.carrier.write32(reg::qp_drain::OFFSET, qpn);
        let word = self.carrier.read32(reg::qp_drain::OFFSET).ok()?;
        match reg::qp_drain::REFUSAL.get(&[word]) {
            0 => None,
            1..=3 => Some(AsyncEvent::QpAccessError),
            _ => Some(AsyncEvent::QpRequestError),
        }
    }

    /// N3, D1: the program names its retries, and how many READs and atomics it has outstanding, on the way to RTS.
    pub fn name_limits(&mut self, qpn: u32, change: &QpChange) {
        let Some(entry) = self.qp(qpn).filter(|_| change.rnr_retry.is_some() || change.max_rd_atomic.is_some()) else { return };
        let known = entry.limits.unwrap_or(UNNAMED);
        let limits = SendLimits {
            rnr_retry: change.rnr_retry.unwrap_or(known.rnr_retry),
            max_rd_atomic: change.max_rd_atomic.unwrap_or(known.max_rd_atomic),
        };
        entry.limits = Some(limits);
        if entry.conn.is_some() {
            self.write_row(&rows::send_limits(qpn as u16, limits));
        }
    }

    /// D2, Q2: the program names what the peer may do, or the RNR timer; of a queue pair that the NIC knows it counts when this returns.
    pub fn name_terms(&mut self, qpn: u32, access: Option<QpAccess>, min_rnr_timer: Option<u8>) {
        let Some(entry) = self.qp(qpn) else { return };
        let known = (entry.access, entry.min_rnr_timer);
        let terms = (access.unwrap_or(known.0), min_rnr_timer.unwrap_or(known.1));
        (entry.access, entry.min_rnr_timer) = terms;
        if terms != known && entry.conn.is_some() && !self.fatal {
            self.write_row(&rows::access(qpn as u16, terms.0, terms.1));
            self.settle();
        }
    }

    /// Closes the queue pair in the NIC, if it is open there, and waits until it is.
    pub fn unbind(&mut self, qpn: u32) {
        let Some(entry) = self.qp(qpn) else { return };
        let shared = entry.srq.is_some();
        if entry.conn.take().is_some() && !self.fatal {
            self.write_row(&rows::closed(table::qp::NUMBER, qpn as u16));
            self.settle();
            self.undrained.insert(qpn);
            if shared {
                self.take_back(qpn);
            }
        }
    }

    /// Q6: what a queue pair that was closed in the NIC had taken from its shared queue ends, until the NIC says that this was all.
    fn take_back(&mut self, qpn: u32) {
        let end = Instant::now() + TAKE_BACK_PATIENCE;
        while self.carrier.gone().is_none() && Instant::now() < end {
            let Some(entry) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return };
            let dest_qpn = entry.dest_qpn;
            while let Some(taken) = entry.queues.pop_shared(qpn, dest_qpn) {
                let Some((completion, solicited)) = taken else { return };
                entry.recv_cq.push(completion, solicited, None);
                if let Some(srq) = entry.srq.and_then(|srq| self.srqs.get_mut(srq as usize)).and_then(Option::as_mut) {
                    srq.ended();
                }
            }
            // Lets the time of a simulated NIC pass.
            self.settle();
        }
    }

    /// The connection is gone: its queue pairs fail (W3) and stay in Error; then it is closed.
    fn connection_lost(&mut self, conn: u16) {
        let of_conn = |qp: &Option<Box<super::qp::Entry>>| qp.as_deref().is_some_and(|entry| entry.conn == Some(conn));
        let qpns: Vec<u32> = (0..self.qps.len()).filter(|&at| of_conn(&self.qps[at])).map(|at| at as u32).collect();
        for qpn in qpns {
            self.unbind(qpn);
            // What the NIC has said itself counts.
            self.harvest(qpn);
            self.strand(qpn, WcStatus::RetryExceeded);
        }
        self.close_connection(conn);
    }

    /// A queue pair moves to Error here and not in the NIC, where it is closed: the oldest request ends with `status` unless another has failed
    /// before, all others and all receives are flushed.
    pub fn strand(&mut self, qpn: u32, status: WcStatus) {
        self.unbind(qpn);
        let now_us = self.now_us();
        let Some(entry) = self.qp(qpn) else { return };
        entry.wanted = QpState::Error;
        let mut status = if std::mem::replace(&mut entry.failed, true) { WcStatus::Flushed } else { status };
        while let Some(completion) = entry.queues.flush(qpn, status) {
            // In Error already: an overrun changes nothing more.
            entry.send_cq.push(completion, false, Some(Slot::take(&entry.unpolled)));
            status = WcStatus::Flushed;
        }
        while let Some(completion) = entry.queues.flush_recv(qpn) {
            entry.recv_cq.push(completion, false, None);
        }
        if entry.srq.is_some() && !std::mem::replace(&mut entry.told_last_wqe, true) {
            entry.events.asynchronous(AsyncEvent::LastWqeReached(entry.token));
        }
        if let Some(lease) = entry.lease.take() {
            self.manager.release(now_us, lease);
        }
    }
}
