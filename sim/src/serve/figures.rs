//! Figures of the engine in simulated time, taken from what programs do.
//!
//! In: doorbells, WQEs, payload writes and completions of all NICs, with the cycle. Out: latency of messages that were alone, and bytes a
//! cycle of runs of messages of one opcode and length. How fast the programs or the simulation are does not enter: a run begins with a doorbell at an idle NIC
//! and ends when everything has completed.
use mrnic_model::wqe::{WQE_COMPARE_SWAP, WQE_FETCH_ADD, WQE_READ, WQE_SEND, WQE_SEND_IMM, WQE_WRITE, WQE_WRITE_IMM};
use serde::Serialize;
use std::collections::BTreeMap;

/// Messages that a run must have to count for bandwidth.
const RUN_MESSAGES: u64 = 8;
/// Samples kept of an opcode and length.
const SAMPLES: usize = 100_000;

/// Opcode of the WQE, and bytes of the message.
type Shape = (u8, u64);

fn name_of(opcode: u8) -> &'static str {
    match opcode {
        WQE_WRITE => "write",
        WQE_WRITE_IMM => "write with immediate",
        WQE_SEND => "send",
        WQE_SEND_IMM => "send with immediate",
        WQE_READ => "read",
        WQE_COMPARE_SWAP => "compare-and-swap",
        WQE_FETCH_ADD => "fetch-and-add",
        _ => "other",
    }
}

#[derive(Clone, Debug, Default)]
struct Sender {
    /// By queue pair: producer index told, and WQEs taken, both modulo 2^16.
    rung: BTreeMap<u64, (u16, u16)>,
    taken: u64,
    completed: u64,
    start_cycle: u64,
    last_cqe: u64,
    bytes: u64,
    /// Of all messages of the run, if it is the same.
    shape: Option<Shape>,
    mixed: bool,
    /// The receive of a message that was alone has completed.
    received: bool,
}

impl Sender {
    fn idle(&self) -> bool {
        self.taken == self.completed && self.rung.values().all(|(rung, taken)| rung == taken)
    }
}

#[derive(Clone, Debug, Default)]
struct Samples {
    to_memory: Vec<u64>,
    to_receive: Vec<u64>,
    to_cqe: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Runs {
    runs: u64,
    messages: u64,
    bytes: u64,
    cycles: u64,
    best: f64,
}

/// All figures so far.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    senders: Vec<Sender>,
    /// Cycle of the last payload write, by place.
    placed: Vec<u64>,
    lone: BTreeMap<Shape, Samples>,
    runs: BTreeMap<Shape, Runs>,
}

/// Cycles from the doorbell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    pub least: u64,
    pub median: u64,
    pub most: u64,
}

impl Spread {
    fn of(samples: &[u64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        Some(Spread { least: *sorted.first()?, median: sorted[sorted.len() / 2], most: *sorted.last()? })
    }
}

/// Messages that were alone in their NIC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latency {
    pub operation: &'static str,
    pub message_bytes: u64,
    pub messages: usize,
    /// Until the last byte was written to the remote host's memory.
    pub cycles_to_remote_memory: Option<Spread>,
    /// Until the completion of the peer's receive was written.
    pub cycles_to_receive_completion: Option<Spread>,
    /// Until the completion was written.
    pub cycles_to_completion: Option<Spread>,
}

/// Messages that followed one another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bandwidth {
    pub operation: &'static str,
    pub message_bytes: u64,
    pub messages: u64,
    pub runs: u64,
    pub bytes_per_cycle: f64,
    /// Of the best run.
    pub best_bytes_per_cycle: f64,
}

impl Figures {
    pub fn new(places: usize) -> Self {
        Figures { senders: vec![Sender::default(); places], placed: vec![0; places], ..Default::default() }
    }

    /// The NIC at a place starts anew.
    pub fn reset(&mut self, place: usize) {
        self.senders[place] = Sender::default();
    }

    /// A queue pair was opened or closed: its indices count from 0.
    pub fn open_qp(&mut self, place: usize, qp: u64) {
        let sender = &mut self.senders[place];
        sender.rung.insert(qp, (0, 0));
        // WQEs of a closed queue pair get no completion.
        if sender.rung.values().all(|(rung, taken)| rung == taken) {
            sender.taken = sender.completed;
        }
    }

    pub fn doorbell(&mut self, place: usize, cycle: u64, qp: u64, producer: u16) {
        let sender = &mut self.senders[place];
        if sender.idle() {
            let rung = std::mem::take(&mut sender.rung);
            *sender = Sender { rung, start_cycle: cycle, ..Sender::default() };
        }
        sender.rung.entry(qp).or_default().0 = producer;
    }

    pub fn wqe(&mut self, place: usize, qp: u64, index: u16, shape: Shape) {
        let sender = &mut self.senders[place];
        sender.rung.entry(qp).or_default().1 = index.wrapping_add(1);
        sender.taken += 1;
        sender.bytes += shape.1;
        sender.mixed |= *sender.shape.get_or_insert(shape) != shape;
    }

    pub fn placed(&mut self, place: usize, cycle: u64) {
        self.placed[place] = cycle;
    }

    /// A receive completes at this place: of the message of another that is alone.
    pub fn received(&mut self, place: usize, cycle: u64) {
        let senders = self.senders.iter_mut().enumerate().filter(|(other, _)| *other != place).map(|(_, sender)| sender);
        let waits = |sender: &&mut Sender| sender.taken == 1 && !sender.received && !sender.mixed;
        let consumes = |sender: &&mut Sender| {
            sender.shape.is_some_and(|(opcode, _)| [WQE_SEND, WQE_SEND_IMM, WQE_WRITE_IMM].contains(&opcode))
        };
        let mut found = senders.filter(waits).filter(consumes);
        if let (Some(sender), None) = (found.next(), found.next()) {
            sender.received = true;
            if let Some(shape) = sender.shape.filter(|_| cycle >= sender.start_cycle) {
                let samples = self.lone.entry(shape).or_default();
                if samples.to_receive.len() < SAMPLES {
                    samples.to_receive.push(cycle - sender.start_cycle);
                }
            }
        }
    }

    pub fn completion(&mut self, place: usize, cycle: u64) {
        let sender = &mut self.senders[place];
        sender.completed += 1;
        sender.last_cqe = cycle;
        if !sender.idle() || sender.mixed {
            return;
        }
        let Some(shape) = sender.shape else { return };
        let cycles = cycle - sender.start_cycle;
        if sender.taken == 1 {
            let samples = self.lone.entry(shape).or_default();
            if samples.to_cqe.len() < SAMPLES {
                samples.to_cqe.push(cycles);
                let others = self.placed.iter().enumerate().filter(|(other, _)| *other != place);
                let at = others.map(|(_, at)| *at).max().unwrap_or(0);
                if at > sender.start_cycle && shape.1 > 0 {
                    samples.to_memory.push(at - sender.start_cycle);
                }
            }
        } else if sender.taken >= RUN_MESSAGES {
            let runs = self.runs.entry(shape).or_default();
            (runs.runs, runs.messages) = (runs.runs + 1, runs.messages + sender.taken);
            (runs.bytes, runs.cycles) = (runs.bytes + sender.bytes, runs.cycles + cycles);
            runs.best = runs.best.max(sender.bytes as f64 / cycles.max(1) as f64);
        }
    }

    pub fn latency(&self) -> Vec<Latency> {
        let row = |(&(opcode, message_bytes), samples): (&Shape, &Samples)| Latency {
            operation: name_of(opcode),
            message_bytes,
            messages: samples.to_cqe.len(),
            cycles_to_remote_memory: Spread::of(&samples.to_memory),
            cycles_to_receive_completion: Spread::of(&samples.to_receive),
            cycles_to_completion: Spread::of(&samples.to_cqe),
        };
        self.lone.iter().map(row).collect()
    }

    pub fn bandwidth(&self) -> Vec<Bandwidth> {
        let row = |(&(opcode, message_bytes), runs): (&Shape, &Runs)| Bandwidth {
            operation: name_of(opcode),
            message_bytes,
            messages: runs.messages,
            runs: runs.runs,
            bytes_per_cycle: runs.bytes as f64 / runs.cycles.max(1) as f64,
            best_bytes_per_cycle: runs.best,
        };
        self.runs.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_messages_give_latency_and_runs_bandwidth() {
        let mut figures = Figures::new(2);
        for i in 0..3u16 {
            let at = 1000 * u64::from(i);
            figures.doorbell(0, at, 5, i + 1);
            figures.wqe(0, 5, i, (2, 8));
            figures.placed(1, at + 300 + u64::from(i));
            figures.received(0, at + 310);
            figures.received(1, at + 320);
            figures.received(1, at + 330);
            figures.completion(0, at + 500);
        }
        let spread = |least, median, most| Some(Spread { least, median, most });
        let latency = figures.latency();
        assert_eq!((latency.len(), latency[0].message_bytes, latency[0].messages), (1, 8, 3));
        assert_eq!(latency[0].cycles_to_remote_memory, spread(300, 301, 302));
        assert_eq!(latency[0].cycles_to_completion, spread(500, 500, 500));
        assert_eq!((latency[0].operation, &latency[0].cycles_to_receive_completion), ("send", &spread(320, 320, 320)));
        assert!(figures.bandwidth().is_empty());
        // Two doorbells, ten messages, no moment without work between them.
        figures.doorbell(0, 10_000, 5, 8);
        figures.doorbell(0, 10_100, 5, 13);
        for i in 3..13 {
            figures.wqe(0, 5, i, (0, 4096));
        }
        (1..=10).for_each(|i| figures.completion(0, 10_000 + 256 * i));
        let run = &figures.bandwidth()[0];
        assert_eq!((run.message_bytes, run.messages, run.runs), (4096, 10, 1));
        assert_eq!(run.bytes_per_cycle, 16.0);
    }

    #[test]
    fn mixed_lengths_and_abandoned_work_do_not_count() {
        let mut figures = Figures::new(2);
        figures.doorbell(0, 0, 2, 2);
        figures.wqe(0, 2, 0, (0, 8));
        figures.wqe(0, 2, 1, (0, 16));
        figures.completion(0, 100);
        figures.completion(0, 200);
        figures.doorbell(0, 300, 2, 3);
        figures.wqe(0, 2, 2, (0, 8));
        figures.open_qp(0, 2);
        figures.doorbell(0, 5000, 2, 1);
        figures.wqe(0, 2, 0, (0, 8));
        figures.completion(0, 5400);
        let latency = figures.latency();
        assert_eq!(latency[0].messages, 1);
        assert_eq!(latency[0].cycles_to_completion, Some(Spread { least: 400, median: 400, most: 400 }));
        assert!(latency[0].cycles_to_remote_memory.is_none() && figures.bandwidth().is_empty());
    }
}
