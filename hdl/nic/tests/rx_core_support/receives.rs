//! Receive queues as rx_core sees them, written from rules Q1 to Q6 of docs/protocol.md.
//! In: posted receives, looks, marks, passes. Out: answers, three clocks after a look, junk before; completions.
use mrnic_model::Sge;
use std::collections::VecDeque;

/// Clocks from a look to its answer.
const ANSWER_CLOCKS: u32 = 3;
const CQ_LOG2: u32 = 10;

/// A receive of software: one SGE, or a list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Posted {
    pub addr: u64,
    /// Of a list its sum.
    pub len: u32,
    pub lkey: u32,
    pub wr_id: u64,
    pub list: Option<[Sge; 4]>,
}

/// An SGE as it stands in memory.
fn words_of(sge: &Sge) -> [u32; 4] {
    [sge.addr as u32, (sge.addr >> 32) as u32, sge.len, sge.lkey]
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    posted: Posted,
    msn: Option<u32>,
    complete: bool,
    failed: u8,
    mark: Mark,
}

/// What rx_core tells of an accepted packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    pub length: u32,
    pub imm: Option<u32>,
    pub sol: bool,
    pub by_write: bool,
}

/// The receives of one QP.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    qpn: u32,
    /// Receives posted since the QP opened.
    pub posted: u32,
    head: u32,
    entries: VecDeque<Entry>,
    completions: u32,
}

impl Queue {
    pub fn new(qpn: u32) -> Queue {
        Queue { qpn, ..Queue::default() }
    }

    pub fn post(&mut self, posted: Posted) {
        self.entries.push_back(Entry { posted, ..Entry::default() });
        self.posted += 1;
    }

    fn index(&self, seq: u32) -> usize {
        (seq.wrapping_sub(self.head) & 0xFF_FFFF) as usize
    }

    /// Q1, Q2: 0 a receive, 1 not posted, 2 not one for this message.
    fn find(&self, seq: u32, msn: u32) -> (u64, Posted) {
        let index = self.index(seq);
        if index >= 1 << 23 {
            return (2, Posted::default());
        }
        match self.entries.get(index) {
            None => (1, Posted::default()),
            Some(e) if e.complete || e.msn.is_some_and(|m| m != msn) => (2, Posted::default()),
            Some(e) => (0, e.posted),
        }
    }

    fn mark(&mut self, seq: u32, msn: u32, accepted: Option<Mark>, failed: u8) {
        let index = self.index(seq);
        let entry = self.entries.get_mut(index).expect("a mark of a receive that was found");
        entry.msn = Some(msn);
        if let Some(mark) = accepted {
            entry.mark = mark;
        }
        if failed != 0 {
            entry.failed = failed;
        }
    }

    /// Q5: exp passed the message of the oldest receive.
    pub fn complete(&mut self, slot: u64) {
        let done = self.entries.iter().take_while(|e| e.complete).count();
        assert_eq!(u64::from((self.head + done as u32) & 0xFF), slot, "receives complete in their order");
        self.entries[done].complete = true;
    }

    /// Q5, Q6: the bytes of the next completion.
    pub fn pop(&mut self, in_error: bool) -> Option<[u8; 32]> {
        let entry = *self.entries.front().filter(|e| e.complete || in_error)?;
        self.entries.pop_front();
        let mut bytes = [0; 32];
        let done = entry.complete;
        let imm = entry.mark.imm.filter(|_| done);
        bytes[0] = match done {
            true => 0,
            false if entry.failed != 0 => entry.failed,
            false => 5,
        };
        bytes[1] = if entry.mark.by_write { 129 } else { 128 };
        bytes[2] = u8::from(self.completions >> CQ_LOG2 & 1 == 0);
        bytes[3] = u8::from(imm.is_some()) | u8::from(entry.mark.sol && done) << 1;
        bytes[4..8].copy_from_slice(&self.qpn.to_le_bytes());
        bytes[8..16].copy_from_slice(&entry.posted.wr_id.to_le_bytes());
        bytes[16..20].copy_from_slice(&if done { entry.mark.length } else { 0 }.to_le_bytes());
        bytes[20..22].copy_from_slice(&(self.head as u16).to_le_bytes());
        bytes[28..32].copy_from_slice(&imm.or(entry.msn).unwrap_or(0).to_le_bytes());
        self.head = (self.head + 1) & 0xFF_FFFF;
        self.completions += 1;
        Some(bytes)
    }
}

/// The receive queues of all QPs, and the look that is being answered.
#[derive(Default)]
pub struct Receives {
    pub queues: Vec<Queue>,
    /// Clocks until the answer, and the answer.
    waits: u32,
    found: u64,
    receive: Posted,
    /// (qp, rq_seq, msn) of the last look.
    looked: (u32, u32, u32),
    /// Payload writes ordered so far.
    pub writes: u64,
}

impl Receives {
    pub fn look(&mut self, qp: u32, seq: u32, msn: u32) {
        let nobody = Queue::default();
        let queue = self.queues.get(qp as usize).unwrap_or(&nobody);
        (self.found, self.receive) = queue.find(seq, msn);
        self.waits = ANSWER_CLOCKS;
        self.looked = (qp, seq, msn);
    }

    pub fn mark(&mut self, of: (u32, u32, u32), accepted: Option<Mark>, failed: u8) {
        assert_eq!(of, self.looked, "a mark is of the last look");
        assert_eq!((self.waits, self.found), (0, 0), "a mark of a receive that was not found");
        self.queues[of.0 as usize].mark(of.1, of.2, accepted, failed);
    }

    /// Piece `at` of the list of the receive that was found.
    pub fn piece(&self, at: u64) -> Option<[u32; 4]> {
        self.receive.list.map(|list| words_of(&list[at as usize]))
    }

    /// One clock: the answer as far as it is there, for the rest what `junk` says. The receive itself is known a clock before the verdict.
    pub fn answer(&mut self, mut junk: impl FnMut(u64) -> u64) -> [(&'static str, u64); 5] {
        self.waits = self.waits.saturating_sub(1);
        let r = self.receive;
        let of_receive = [
            ("rq_listed", r.list.is_some().into(), 1),
            ("rq_addr", r.addr, u64::MAX),
            ("rq_len", r.len.into(), u64::from(u32::MAX)),
            ("rq_lkey", r.lkey.into(), u64::from(u32::MAX)),
        ];
        let found = ("rq_found", if self.waits == 0 { self.found } else { junk(3) });
        let [a, b, c, d] = of_receive.map(|(name, value, most)| (name, if self.waits <= 1 { value } else { junk(most) }));
        [found, a, b, c, d]
    }
}
