//! How often each message has begun (N2), as the sender's records tell.
//!
//! In: commit records of one node. Out: the attempts of a message. Guarantees: never fewer than there were; more only where a refusal came that
//! was ignored because its message was done.
use mrnic_lockstep::{Kind, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Kind of an error record that is a refusal for want of a receive.
const ERR_RNR: u64 = 4;

/// Of the messages of one node.
#[derive(Debug, Default)]
pub struct Attempts {
    /// QP and MSN of messages that were refused and have not begun again.
    refused: BTreeSet<(u16, u32)>,
    /// How often a message has begun again.
    again: BTreeMap<(u16, u32), u32>,
}

impl Attempts {
    /// Takes a record.
    pub fn record(&mut self, record: &Record) {
        match record.kind {
            Kind::Err if record.get("kind") == ERR_RNR => {
                self.refused.insert((record.get("qp") as u16, record.get("msn") as u32));
            }
            Kind::Rnr => {
                let qp = record.get("qp") as u16;
                let begins: Vec<_> = self.refused.range((qp, 0)..=(qp, u32::MAX)).copied().collect();
                for message in begins {
                    self.refused.remove(&message);
                    *self.again.entry(message).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// Attempts of a message; its MSN counts modulo 2^24.
    pub fn of(&self, qp: u16, msn: u32) -> u32 {
        1 + self.again.get(&(qp, msn & 0xFF_FFFF)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(attempts: &mut Attempts, kind: Kind, fields: &[(&str, u64)]) {
        let value = |name: &&str| fields.iter().find(|field| field.0 == *name).map_or(0, |field| field.1);
        let values = kind.fields().iter().map(value).collect();
        attempts.record(&Record { kind, cycle: 1, values, wide: Vec::new() });
    }

    /// N2: refusals of one wait are one attempt, however many packets they were; other queue pairs begin in their own time.
    #[test]
    fn n2_refusals_of_one_wait_are_one_attempt() {
        let mut a = Attempts::default();
        for (qp, msn) in [(3, 0xFF_FFFF), (3, 0xFF_FFFF), (3, 0), (4, 0)] {
            seen(&mut a, Kind::Err, &[("kind", 4), ("qp", qp), ("msn", msn)]);
        }
        seen(&mut a, Kind::Err, &[("kind", 1), ("qp", 3), ("msn", 7)]);
        seen(&mut a, Kind::Rnr, &[("qp", 3)]);
        assert_eq!([a.of(3, 0xFF_FFFF), a.of(3, 0x100_0000), a.of(4, 0), a.of(3, 7)], [2, 2, 1, 1]);
        seen(&mut a, Kind::Err, &[("kind", 4), ("qp", 3), ("msn", 0)]);
        seen(&mut a, Kind::Rnr, &[("qp", 4)]);
        seen(&mut a, Kind::Rnr, &[("qp", 3)]);
        assert_eq!([a.of(3, 0xFF_FFFF), a.of(3, 0), a.of(4, 0)], [2, 3, 2]);
    }
}
