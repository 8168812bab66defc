//! Software that receives: posts receives ahead, polls their completions, checks each one and its data at once.
//!
//! In: the receives of a queue pair and what must arrive in each. Out: ring entries and doorbells. Guarantees: what a completion says is
//! checked without the golden model; the data of a message is in memory when its receive completes.
use crate::memory::HostMemory;
use crate::nic::NicSim;
use crate::setup::Rings;
use crate::software::{encode_list, SoftwareError, LIST, RING_LOG2};
use mrnic_regs::{code, ring};
use std::collections::VecDeque;
use std::sync::Arc;

/// A receive, and the message that it is for.
#[derive(Debug, Clone)]
pub struct Receive {
    /// It is not posted before.
    pub at_ps: u64,
    /// As software knows it.
    pub addr: u64,
    pub lkey: u32,
    /// Bytes of memory.
    pub room: u32,
    /// The memory is in so many pieces of `list` (address, bytes, key) instead of at `addr`; in a queue with lists.
    pub pieces: u8,
    pub list: [(u64, u32, u32); LIST],
    /// Status its CQE must have.
    pub expect: u8,
    /// Bytes of the message.
    pub length: u32,
    pub imm: Option<u32>,
    pub solicited: bool,
    /// By a WRITE with immediate.
    pub by_write: bool,
    /// Bus address of the data.
    pub data_at: u64,
    /// What the sender sends, from there on the bytes of this message.
    pub sent: (Arc<[u8]>, usize),
}

/// Where receives come from and their completions go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The queue pair has a receive queue of its own.
    Own,
    /// It posts to a shared queue; the completions are those of queue pairs.
    Posts,
    /// It has none: those of the shared queue with this number, whose memory begins there, one after the other.
    Takes { queue: u16, memory: u64, room: u64 },
}

/// The receiving side of one queue pair.
#[derive(Debug)]
pub struct Receiver {
    node: usize,
    qp: u16,
    rings: Rings,
    role: Role,
    waiting: VecDeque<Receive>,
    posted: VecDeque<Receive>,
    produced: u64,
    completed: u64,
}

impl Receiver {
    /// For a queue pair with those rings.
    pub fn new(node: usize, qp: u16, rings: Rings) -> Self {
        let (waiting, posted) = (VecDeque::new(), VecDeque::new());
        Self { node, qp, rings, role: Role::Own, waiting, posted, produced: 0, completed: 0 }
    }

    /// For the receives of a shared queue, by its number for doorbells.
    pub fn of_shared(node: usize, queue: u16, rings: Rings) -> Self {
        Self { role: Role::Posts, ..Self::new(node, queue, rings) }
    }

    /// The receives are those of the shared queue; `add` names the messages.
    pub fn taking_from(self, queue: u16, memory: u64, room: u64) -> Self {
        Self { role: Role::Takes { queue, memory, room }, ..self }
    }

    /// Adds a receive; it is posted as soon as there is room.
    pub fn add(&mut self, receive: Receive) {
        self.waiting.push_back(receive);
    }

    /// Every receive has completed.
    pub fn done(&self) -> bool {
        self.waiting.is_empty() && self.posted.is_empty()
    }

    /// Receives completed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Polls the completion queue and posts what fits. Rings the doorbell once.
    pub fn poll(&mut self, nic: &mut NicSim) -> Result<(), SoftwareError> {
        if matches!(self.role, Role::Takes { .. }) {
            self.posted.append(&mut self.waiting);
        }
        while self.role != Role::Posts && self.poll_one(&nic.memory)? {}
        let before = self.produced;
        while self.posted.len() < 1 << RING_LOG2 {
            if self.waiting.front().is_none_or(|r| r.at_ps > nic.now_ps()) {
                break;
            }
            let Some(r) = self.waiting.pop_front() else { break };
            let slot = self.produced & ((1 << RING_LOG2) - 1);
            let mut w = [0u32; ring::recv::BYTES / 4];
            ring::recv::LKEY.set(&mut w, r.lkey.into());
            ring::recv::ADDR.set(&mut w, r.addr.into());
            ring::recv::LENGTH.set(&mut w, r.room.into());
            ring::recv::WR_ID.set(&mut w, self.wr_id(self.produced).into());
            ring::recv::NUM_SGE.set(&mut w, r.pieces.into());
            let bytes: Vec<u8> = w.iter().flat_map(|w| w.to_le_bytes()).collect();
            let at = self.rings.rq_base + slot * self.rings.rq_entry_bytes();
            nic.memory.write(at, &bytes)?;
            if self.rings.rq_lists {
                nic.memory.write(at + ring::wqe::BYTES as u64, &encode_list(&r.list))?;
            }
            self.produced += 1;
            if self.role != Role::Posts {
                self.posted.push_back(r);
            }
        }
        if self.produced != before {
            nic.ring_recv(self.qp, self.produced as u16);
        }
        Ok(())
    }

    fn wr_id(&self, index: u64) -> u64 {
        let queue = if let Role::Takes { queue, .. } = self.role { queue } else { self.qp };
        u64::from(queue) << 48 | 0xECE1 << 32 | index
    }

    fn poll_one(&mut self, memory: &HostMemory) -> Result<bool, SoftwareError> {
        let Some(r) = self.posted.front() else { return Ok(false) };
        let slot = self.completed & ((1 << RING_LOG2) - 1);
        let bytes = memory.read(self.rings.rcq_base + slot * ring::cqe::BYTES as u64, ring::cqe::BYTES)?;
        let mut words = [0u32; ring::cqe::BYTES / 4];
        for (w, b) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *w = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        if ring::cqe::PHASE.get(&words) != (self.completed >> RING_LOG2) & 1 ^ 1 {
            return Ok(false);
        }
        let (node, qp, index) = (self.node, self.qp, self.completed);
        let success = r.expect == code::STATUS_SUCCESS;
        // which receive of a shared queue a message took the completion alone tells
        let number = if self.role == Role::Own { index } else { ring::cqe::WQE_INDEX.get(&words) };
        let opcode = if r.by_write { code::OPCODE_RECV_RDMA_WITH_IMM } else { code::OPCODE_RECV };
        let imm = r.imm.filter(|_| success);
        let checks = [
            ("QP", ring::cqe::QPN.get(&words), qp.into()),
            ("wr_id", ring::cqe::WR_ID.get(&words), self.wr_id(number)),
            ("status", ring::cqe::STATUS.get(&words), r.expect.into()),
            ("opcode", ring::cqe::OPCODE.get(&words), u64::from(opcode)),
            ("index", ring::cqe::WQE_INDEX.get(&words), number & 0xFFFF),
            ("length", ring::cqe::BYTE_LEN.get(&words), if success { r.length.into() } else { 0 }),
            ("solicited flag", ring::cqe::SOLICITED.get(&words), (r.solicited && success).into()),
            ("immediate flag", ring::cqe::IMM.get(&words), imm.is_some().into()),
        ];
        let immediate = imm.map(|imm| ("immediate", ring::cqe::MSN.get(&words), u64::from(imm)));
        if let Some((what, got, expected)) = checks.into_iter().chain(immediate).find(|c| c.1 != c.2) {
            return Err(SoftwareError::Receive { node, qp, index, what, got, expected });
        }
        if success {
            let data_at = match self.role {
                Role::Takes { memory, room, .. } if !r.by_write => memory + number * room,
                _ => r.data_at,
            };
            let got = memory.read(data_at, r.length as usize)?;
            let sent = &r.sent.0[r.sent.1..];
            if let Some(offset) = got.iter().zip(sent).position(|(a, b)| a != b) {
                return Err(SoftwareError::Early { node, qp, index, offset });
            }
        }
        self.posted.pop_front();
        self.completed += 1;
        Ok(true)
    }
}
