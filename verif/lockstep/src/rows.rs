//! Table rows that software writes: the model has one from the moment at which the receiver has it.
//!
//! In: writes, in the order of software; row records. Out: opened and closed connections, queue pairs and regions. Guarantees: a row is taken
//! in its turn; between the write that closes a queue pair and its record, steps may see the pair in Error, and acknowledgments may find the
//! sender of a connection closed (section 10).
use crate::checker::{Checker, HostRing, HostRings};
use crate::step::Step;
use mrnic_model::{ConfigError, ConnConfig, KeyConfig, NetAddr, QpAccess, QpConfig};

/// One write of a table row.
#[derive(Debug, Clone)]
pub struct RowWrite {
    pub table: u8,
    pub index: u16,
    pub change: RowChange,
}

/// What the row changes.
#[derive(Debug, Clone)]
pub enum RowChange {
    /// Nothing yet: a path, whose row counts when its connection is written.
    Nothing,
    OpenConnection(Box<ConnConfig<NetAddr>>),
    CloseConnection,
    OpenQp(Box<(QpConfig, HostRings)>),
    CloseQp,
    Key(KeyConfig),
    /// N3, D1: the receiver does not take this one.
    SendLimits {
        rnr_retry: u8,
        max_rd_atomic: u8,
    },
    /// A shared receive queue: protection domain and ring.
    OpenSrq {
        pd: u16,
        ring: HostRing,
    },
    CloseSrq,
    /// D2, Q2: what an open queue pair allows its peer, and its RNR timer.
    Access(QpAccess, u8),
}

impl RowChange {
    fn reaches_receiver(&self) -> bool {
        !matches!(self, RowChange::SendLimits { .. } | RowChange::OpenSrq { .. } | RowChange::CloseSrq)
    }
}

impl Checker {
    /// Software writes a row.
    pub fn row_written(&mut self, write: RowWrite) {
        match write.change {
            RowChange::CloseQp => self.model.begin_closing_qp(write.index.into()),
            RowChange::CloseConnection => self.model.begin_closing_connection(write.index),
            _ => {}
        }
        self.rows.push_back(write);
        self.unseen_rows();
    }

    /// Whether a step may see a queue pair in Error: it is, or software is closing it (section 10).
    pub(crate) fn may_be_in_error(&self, qp: u32) -> bool {
        self.model.is_closing(qp) || self.model.send_queue(qp).is_ok_and(|queue| queue.in_error())
    }

    /// Rows that the receiver has yet to take.
    pub fn rows_waiting(&self) -> usize {
        self.rows.len()
    }

    /// Why the model did not take a row that the NIC took; nothing can be compared from then on.
    pub fn refused_row(&self) -> Option<&str> {
        self.refused_row.as_deref()
    }

    /// The receiver has taken a row.
    pub(crate) fn row(&mut self, s: &mut Step) {
        let Some(write) = self.rows.pop_front() else {
            s.text("table", s.record.get("table").to_string(), "no row was written");
            return;
        };
        s.field("table", write.table);
        s.field("index", write.index);
        self.apply(&write);
        self.unseen_rows();
    }

    /// Rows in front that only others take.
    fn unseen_rows(&mut self) {
        while self.rows.front().is_some_and(|write| !write.change.reaches_receiver()) {
            if let Some(write) = self.rows.pop_front() {
                self.apply(&write);
            }
        }
    }

    fn apply(&mut self, write: &RowWrite) {
        let index = write.index;
        let applied: Result<(), ConfigError> = match &write.change {
            RowChange::Nothing => Ok(()),
            RowChange::OpenConnection(config) => self.open_connection(index, config),
            RowChange::CloseConnection => {
                self.close_connection(index);
                Ok(())
            }
            RowChange::OpenQp(qp) => self.open_qp(index, &qp.0, qp.1),
            RowChange::CloseQp => {
                self.close_qp(index);
                Ok(())
            }
            RowChange::Key(key) => self.register_key(index.into(), key),
            RowChange::SendLimits { rnr_retry, max_rd_atomic } => self.set_send_limits(index, *rnr_retry, *max_rd_atomic),
            RowChange::OpenSrq { pd, ring } => self.open_srq(index, *pd, *ring),
            RowChange::CloseSrq => self.close_srq(index),
            RowChange::Access(access, min_rnr_timer) => {
                self.model.set_terms(index.into(), *access, *min_rnr_timer);
                Ok(())
            }
        };
        if let Err(error) = applied {
            self.refused_row.get_or_insert(format!("row {index} of table {}: {error}", write.table));
        }
    }
}
