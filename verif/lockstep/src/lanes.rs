//! Messages and responses that wait in each connection (D4), queue pairs in Error (W3), and what hardware may have overlooked of them.
//!
//! In: the model after each step. Out: whether a slot may have overlooked a message or a response, a step a place that was freed (D3), a WQE that its queue pair has failed.
//! Guarantees: only what came a short time ago may be overlooked; nothing may be invented.
use crate::checker::Checker;
use crate::outputs::Resends;
use crate::step::Step;
use mrnic_model::{Nic, OpenMr0, Stage};
use std::collections::{HashMap, VecDeque};

/// Clocks from a step to the tables that a slot or a request looks at.
const OVERLOOKED_CYCLES: u64 = 2_000;

/// What waits, the oldest first: since when a slot may see it, and how many packets were granted before it came. Its row is not written while
/// one of those is a resend that has not left (docs/microarchitecture.md, packet_builder).
#[derive(Debug, Default, Clone)]
struct Lane(VecDeque<(u64, u64)>);

impl Lane {
    fn follow(&mut self, waiting: usize, cycle: u64, packets: u64) {
        while self.0.len() > waiting {
            self.0.pop_front();
        }
        self.0.resize(waiting, (cycle, packets));
    }

    fn resend_left(&mut self, number: u64, cycle: u64) {
        let behind = self.0.iter_mut().filter(|(_, packets)| *packets > number);
        behind.for_each(|(since, _)| *since = cycle);
    }

    fn came_lately(&self, cycle: u64, resends: &Resends) -> bool {
        let oldest = self.0.front();
        oldest.is_some_and(|(since, packets)| cycle - since <= OVERLOOKED_CYCLES || resends.wait_among(*packets))
    }
}

/// See the module documentation.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    /// Of each connection: messages, responses.
    waiting: Vec<[Lane; 2]>,
    freed: HashMap<u16, u64>,
    /// Since when a queue pair is in Error.
    failed: HashMap<u32, u64>,
}

impl Lanes {
    /// After a step.
    pub fn follow(&mut self, model: &Nic<OpenMr0>, cycle: u64, packets: u64) {
        for qp in 0..model.config().qps {
            match model.send_queue(qp).is_ok_and(|queue| queue.in_error()) {
                true => drop(self.failed.entry(qp).or_insert(cycle)),
                false => drop(self.failed.remove(&qp)),
            }
        }
        if model.config().stage != Stage::Full {
            return;
        }
        self.waiting.resize(model.config().conns as usize, Default::default());
        for (conn, lanes) in self.waiting.iter_mut().enumerate() {
            if let Ok(tx) = model.tx_conn(conn as u16) {
                lanes[0].follow(tx.fifo.len(), cycle, packets);
                lanes[1].follow(tx.responses.fifo.len(), cycle, packets);
            }
        }
    }

    /// Packet `number`, a resend, has left.
    pub fn resend_left(&mut self, number: u64, cycle: u64) {
        self.waiting.iter_mut().flatten().for_each(|lane| lane.resend_left(number, cycle));
    }

    /// D3: a place of the connection was freed.
    pub fn freed(&mut self, conn: u16, cycle: u64) {
        self.freed.insert(conn, cycle);
    }

    /// W3: the queue pair moved to Error a short time ago.
    pub fn failed_lately(&self, qp: u32, cycle: u64) -> bool {
        self.failed.get(&qp).is_some_and(|at| cycle - at <= OVERLOOKED_CYCLES)
    }

    pub fn freed_lately(&self, conn: u16, cycle: u64) -> bool {
        self.freed.get(&conn).is_some_and(|at| cycle - at <= OVERLOOKED_CYCLES)
    }
}

impl Checker {
    /// D4: a slot takes the other source than the model only if it overlooked what just came.
    pub(crate) fn turn(&self, s: &mut Step, conn: u16) {
        let Ok(tx) = self.model.tx_conn(conn) else { return };
        let (exact, seen) = (tx.responds(), s.record.get("source") > 0);
        let overlooked = self.lanes.waiting.get(usize::from(conn)).map(|lanes| &lanes[usize::from(exact)]);
        if exact != seen && !overlooked.is_some_and(|lane| lane.came_lately(s.record.cycle, &self.expected.resends)) {
            let name = |response| if response { "a response" } else { "a message" };
            s.text("source", name(seen), name(exact));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_lately_may_be_overlooked() {
        let mut resends = Resends::default();
        let mut lane = Lane::default();
        assert!(!lane.came_lately(5, &resends), "nothing waits");
        lane.follow(1, 10, 0);
        lane.follow(2, 5_000, 0);
        assert!(lane.came_lately(2_010, &resends) && !lane.came_lately(2_011, &resends), "the oldest counts");
        lane.follow(1, 5_100, 0);
        assert!(lane.came_lately(7_000, &resends) && !lane.came_lately(7_001, &resends));
        // a resend that was granted before it came holds it up, one that came later does not
        (0..2).for_each(|_| resends.ordered(true));
        lane = Lane(VecDeque::from([(0, 1)]));
        assert!(lane.came_lately(9_000, &resends));
        assert_eq!(resends.left(), Some(0));
        assert!(!lane.came_lately(9_000, &resends));
        lane.resend_left(0, 9_000);
        assert!(lane.came_lately(11_000, &resends) && !lane.came_lately(11_001, &resends));
        lane.resend_left(1, 12_000);
        assert!(!lane.came_lately(12_000, &resends));
        let mut lanes = Lanes::default();
        lanes.freed(3, 100);
        lanes.failed.insert(1, 50);
        assert!(lanes.failed_lately(1, 2_050) && !lanes.failed_lately(1, 2_051) && !lanes.failed_lately(2, 50));
        assert!(lanes.freed_lately(3, 2_100) && !lanes.freed_lately(3, 2_101) && !lanes.freed_lately(2, 100));
    }
}
