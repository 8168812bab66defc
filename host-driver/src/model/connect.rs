//! Connections between NICs: what the control plane wants is done here.
//!
//! In: its actions. Out: open and closed connections of the model; queue pairs that are bound to them, or fail with them.
use super::engine::Engine;
use super::link::place_of;
use crate::completions::Slot;
use crate::device::{Completion, QpState, WcStatus};
use mrnic_firmware::{Action, Endpoint, State};
use mrnic_model::{QpConfig, QpState as ModelState};

impl Engine {
    /// Carries out what the control plane wants.
    pub fn run_connections(&mut self) {
        while let Some(action) = self.manager.poll_action() {
            match action {
                Action::Send(packet) => self.send_control(&packet),
                Action::Open { conn, peer, mut config } => {
                    self.place_paths(&mut config);
                    let tick = self.tick();
                    // The numbers were checked by both sides; a failure would leave a connection that drops everything.
                    if self.nic.open_connection(tick, conn, &config).is_ok() {
                        self.places[usize::from(conn)] = place_of(peer.ip);
                    }
                }
                Action::Ready { conn, peer } => self.bind_waiting(conn, &peer),
                Action::Down { conn, .. } => self.connection_lost(conn),
                Action::Failed { peer, .. } => self.unreachable(&peer),
                Action::Close { conn } => self.close_connection(conn),
            }
        }
    }

    /// Connections that the model has given up (rule L4) are ended.
    pub fn end_failed_connections(&mut self) {
        for conn in 0..self.places.len() as u16 {
            if self.places[usize::from(conn)].is_some() && self.nic.tx_conn(conn).is_ok_and(|tx| tx.error) {
                self.manager.engine_error(conn);
            }
        }
    }

    fn close_connection(&mut self, conn: u16) {
        self.keep_counters(conn);
        self.nic.close_connection(conn);
        self.places[usize::from(conn)] = None;
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
    }

    fn bind_waiting(&mut self, conn: u16, peer: &Endpoint) {
        for qpn in self.unbound(peer) {
            self.bind(qpn, conn);
        }
    }

    /// Queue pairs that wait for a connection to `peer`.
    fn unbound(&self, peer: &Endpoint) -> Vec<u32> {
        let waits = |entry: &super::qp::Entry| {
            entry.conn.is_none() && entry.lease.is_some() && entry.peer.is_some_and(|p| p.ip == peer.ip)
        };
        let waiting = self.qps.iter().enumerate().filter(|(_, qp)| qp.as_deref().is_some_and(waits));
        waiting.map(|(qpn, _)| qpn as u32).collect()
    }

    fn bind(&mut self, qpn: u32, conn: u16) {
        let Some(entry) = self.qp(qpn) else { return };
        let config = QpConfig { conn, ..entry.config };
        let (sends, drains) = (entry.wanted != QpState::Rtr, entry.wanted == QpState::Sqd);
        if self.nic.connect_qp(qpn, &config).is_err() {
            return;
        }
        if sends {
            // Both were checked when the program asked for them.
            let _sending = self.nic.start_sending(qpn, &config);
        }
        if drains {
            let _draining = self.nic.modify_qp(qpn, ModelState::Sqd);
        }
        if let Some(entry) = self.qp(qpn) {
            entry.conn = Some(conn);
            entry.config.conn = conn;
        }
        self.wake(qpn);
    }

    /// The connection is gone: its queue pairs fail (W3) and stay in Error.
    fn connection_lost(&mut self, conn: u16) {
        let qpns: Vec<u32> = self.nic.qps_of(conn).collect();
        for &qpn in &qpns {
            let _first = self.nic.step_conn_error(qpn);
            let _flushed = self.nic.modify_qp(qpn, ModelState::Error);
        }
        self.hand_out();
        self.close_connection(conn);
        for qpn in qpns {
            self.strand(qpn, WcStatus::Flushed);
        }
    }

    /// No connection could be opened: the queue pairs that wait for it fail.
    fn unreachable(&mut self, peer: &Endpoint) {
        for qpn in self.unbound(peer) {
            self.strand(qpn, WcStatus::RetryExceeded);
        }
    }

    /// A queue pair without a connection in Error: the first request that waits ends with `status`, all others are flushed.
    pub fn strand(&mut self, qpn: u32, status: WcStatus) {
        let Some(entry) = self.qp(qpn) else { return };
        entry.conn = None;
        entry.lease = None;
        entry.wanted = QpState::Error;
        let config = QpConfig { state: ModelState::Init, ..entry.config };
        // The model's QP is open only as long as its connection; receives are flushed by it.
        if self.nic.qp_state(qpn).is_err() {
            let _opened = self.nic.open_qp(qpn, &config);
        }
        let _flushed = self.nic.modify_qp(qpn, ModelState::Error);
        self.flush_backlog(qpn, status);
        self.hand_out();
    }

    /// Requests that the model has not taken end here.
    pub fn flush_backlog(&mut self, qpn: u32, first: WcStatus) {
        let Some(entry) = self.qp(qpn) else { return };
        let mut status = first;
        while let Some(request) = entry.backlog.pop() {
            let kind = super::qp::kind_of(request.wqe.opcode);
            let completion = Completion { wr_id: request.wqe.wr_id, status, kind, qpn, ..Completion::default() };
            // In Error already: an overrun changes nothing more.
            entry.send_cq.push(completion, false, Some(Slot::take(&entry.unpolled)));
            status = WcStatus::Flushed;
        }
    }
}
