//! Packets that were sent and are not acknowledged, by connection.
//!
//! In: commit records; connections that were opened or closed. Out: whether anything is outstanding. Guarantees: a connection that was given
//! up has nothing outstanding.
use mrnic_lockstep::{Kind, Record};

/// The action of a timer record that gives a connection up.
const CONNECTION_ERROR: u64 = 6;

/// See the module's description.
#[derive(Debug)]
pub struct Outstanding(Vec<u64>);

impl Outstanding {
    /// Of a NIC with that many connections.
    pub fn new(conns: usize) -> Self {
        Outstanding(vec![0; conns])
    }

    /// A step was committed.
    pub fn record(&mut self, record: &Record) {
        let conn = || record.get("conn") as usize;
        match record.kind {
            Kind::Grant if record.get("kind") == 0 => self.0[conn()] += 1,
            Kind::Retire => self.0[conn()] = self.0[conn()].saturating_sub(1),
            // nothing more is sent on it
            Kind::Timer if record.get("action") == CONNECTION_ERROR => self.0[conn()] = 0,
            _ => {}
        }
    }

    /// A connection was opened or closed.
    pub fn forget(&mut self, conn: u64) {
        if let Some(count) = self.0.get_mut(conn as usize) {
            *count = 0;
        }
    }

    /// Packets wait for acknowledgments.
    pub fn any(&self) -> bool {
        self.0.iter().any(|count| *count > 0)
    }
}
