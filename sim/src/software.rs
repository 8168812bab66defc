//! Software on a node: rings in host memory, WQEs posted as slots come free, CQEs polled, buffers checked.
//!
//! In: transfers to make. Out: WQEs and doorbells; what completed. Guarantees: never more WQEs outstanding than the ring
//! holds; every CQE is checked for owner, order and status; data is compared byte by byte.
use crate::memory::{HostMemory, OutsideMemory};
use crate::nic::NicSim;
use crate::setup::Rings;
use mrnic_regs::{code, ring};
use std::collections::VecDeque;
use thiserror::Error;

/// Entries of the rings that [`Stream`] makes, log2.
pub const RING_LOG2: u8 = 6;

/// What software saw that must not be.
#[derive(Debug, Error)]
pub enum SoftwareError {
    #[error(transparent)]
    Memory(#[from] OutsideMemory),
    #[error("completion check failed: node {node}, QP {qp}: CQE {index} completes WQE {got} instead of {expected}")]
    Order { node: usize, qp: u16, index: u64, got: u64, expected: u64 },
    #[error("completion check failed: node {node}, QP {qp}: CQE {index} names QP {got}")]
    WrongQp { node: usize, qp: u16, index: u64, got: u64 },
    #[error("completion check failed: node {node}, QP {qp}: WQE {index} completed with status {status} (nak code {nak}), expected {expected}")]
    Status { node: usize, qp: u16, index: u64, status: u8, nak: u8, expected: u8 },
    #[error(
        "completion check failed: node {node}, QP {qp}: the CQE of receive {index} has {what} {got} instead of {expected}"
    )]
    Receive { node: usize, qp: u16, index: u64, what: &'static str, got: u64, expected: u64 },
    #[error("completion check failed: node {node}, QP {qp}: receive {index} completed before byte {offset} of its data was in memory")]
    Early { node: usize, qp: u16, index: u64, offset: usize },
}

/// A work request to post: a WRITE, or with another opcode a SEND.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Write {
    pub local: u64,
    pub lkey: u32,
    pub remote: u64,
    pub rkey: u32,
    pub length: u32,
    /// Status its CQE must have, unless any may come.
    pub expect: u8,
    pub any_status: bool,
    /// Opcode, 0 for WRITE.
    pub opcode: u8,
    pub imm: u32,
    pub solicited: bool,
    /// Not before the READs and atomics in front of it are done (D1).
    pub fence: bool,
    /// Operands of an atomic.
    pub swap_add: u64,
    pub compare: u64,
    /// The data is in so many pieces of `list` (address, bytes, key) instead of at `local`; on a queue pair with lists.
    pub pieces: u8,
    pub list: [(u64, u32, u32); LIST],
}

/// Pieces that an entry of a send queue has room for.
pub const LIST: usize = 4;

impl Write {
    /// The WQE.
    pub fn encode(&self, wr_id: u64) -> [u8; ring::wqe::BYTES] {
        let mut w = [0u32; ring::wqe::BYTES / 4];
        ring::wqe::OPCODE.set(&mut w, self.opcode.into());
        ring::wqe::SIGNALED.set(&mut w, 1);
        ring::wqe::LKEY.set(&mut w, self.lkey.into());
        ring::wqe::LADDR.set(&mut w, self.local.into());
        ring::wqe::RADDR.set(&mut w, self.remote.into());
        ring::wqe::RKEY.set(&mut w, self.rkey.into());
        ring::wqe::LENGTH.set(&mut w, self.length.into());
        ring::wqe::IMM.set(&mut w, self.imm.into());
        ring::wqe::SOLICITED.set(&mut w, self.solicited.into());
        ring::wqe::FENCE.set(&mut w, self.fence.into());
        ring::wqe::SWAP_ADD.set(&mut w, self.swap_add.into());
        ring::wqe::COMPARE.set(&mut w, self.compare.into());
        ring::wqe::WR_ID.set(&mut w, wr_id.into());
        ring::wqe::NUM_SGE.set(&mut w, self.pieces.into());
        let mut bytes = [0; ring::wqe::BYTES];
        for (b, w) in bytes.chunks_exact_mut(4).zip(w) {
            b.copy_from_slice(&w.to_le_bytes());
        }
        bytes
    }
}

/// Pieces as they stand behind a WQE or a receive.
pub fn encode_list(list: &[(u64, u32, u32); LIST]) -> [u8; LIST * ring::sge::BYTES] {
    let mut bytes = [0; LIST * ring::sge::BYTES];
    for (entry, &(addr, length, lkey)) in bytes.chunks_exact_mut(ring::sge::BYTES).zip(list) {
        let mut w = [0u32; ring::sge::BYTES / 4];
        ring::sge::ADDR.set(&mut w, addr.into());
        ring::sge::LENGTH.set(&mut w, length.into());
        ring::sge::LKEY.set(&mut w, lkey.into());
        for (b, w) in entry.chunks_exact_mut(4).zip(w) {
            b.copy_from_slice(&w.to_le_bytes());
        }
    }
    bytes
}

/// The software side of one queue pair.
#[derive(Debug)]
pub struct Stream {
    node: usize,
    pub qp: u16,
    pub rings: Rings,
    waiting: VecDeque<Write>,
    outstanding: VecDeque<Write>,
    produced: u64,
    completed: u64,
    bytes: u64,
    start_ps: u64,
}

impl Stream {
    /// Rings for a queue pair.
    pub fn new(node: usize, qp: u16, memory: &mut HostMemory) -> Self {
        // room for entries with lists, too
        let sq_base = memory.allocate((2 * ring::wqe::BYTES) << RING_LOG2, 0, false);
        let cq_base = memory.allocate(ring::cqe::BYTES << RING_LOG2, 0, false);
        let rq_base = memory.allocate((2 * ring::wqe::BYTES) << RING_LOG2, 0, false);
        let rcq_base = memory.allocate(ring::cqe::BYTES << RING_LOG2, 0, false);
        Self {
            node,
            qp,
            rings: Rings {
                sq_base,
                sq_log2: RING_LOG2,
                sq_lists: false,
                cq_base,
                cq_log2: RING_LOG2,
                rq_base,
                rq_log2: RING_LOG2,
                rq_lists: false,
                rcq_base,
            },
            waiting: VecDeque::new(),
            outstanding: VecDeque::new(),
            produced: 0,
            completed: 0,
            bytes: 0,
            start_ps: 0,
        }
    }

    /// Adds a WRITE; none is posted before `start_ps`.
    pub fn add(&mut self, write: Write, start_ps: u64) {
        self.start_ps = self.start_ps.max(start_ps);
        self.waiting.push_back(write);
    }

    /// Everything has completed.
    pub fn done(&self) -> bool {
        self.waiting.is_empty() && self.outstanding.is_empty()
    }

    /// Bytes of completed WRITEs.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// WQEs completed.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    /// Polls the completion queue and posts what fits. Rings the doorbell once.
    pub fn poll(&mut self, nic: &mut NicSim) -> Result<(), SoftwareError> {
        while self.poll_one(&nic.memory)? {}
        if nic.now_ps() < self.start_ps {
            return Ok(());
        }
        let mut posted = false;
        while self.outstanding.len() < 1 << RING_LOG2 {
            let Some(w) = self.waiting.pop_front() else { break };
            let slot = self.produced & ((1 << RING_LOG2) - 1);
            let at = self.rings.sq_base + slot * self.rings.sq_entry_bytes();
            nic.memory.write(at, &w.encode(self.produced))?;
            if self.rings.sq_lists {
                nic.memory.write(at + ring::wqe::BYTES as u64, &encode_list(&w.list))?;
            }
            self.produced += 1;
            self.outstanding.push_back(w);
            posted = true;
        }
        if posted {
            nic.ring(self.qp, self.produced as u16);
        }
        Ok(())
    }

    fn poll_one(&mut self, memory: &HostMemory) -> Result<bool, SoftwareError> {
        let Some(write) = self.outstanding.front().copied() else { return Ok(false) };
        let slot = self.completed & ((1 << RING_LOG2) - 1);
        let bytes = memory.read(self.rings.cq_base + slot * ring::cqe::BYTES as u64, ring::cqe::BYTES)?;
        let mut words = [0u32; ring::cqe::BYTES / 4];
        for (w, b) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *w = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        let phase = (self.completed >> RING_LOG2) & 1 ^ 1;
        if ring::cqe::PHASE.get(&words) != phase {
            return Ok(false);
        }
        let (node, qp, index) = (self.node, self.qp, self.completed);
        let got = ring::cqe::QPN.get(&words);
        if got != u64::from(qp) {
            return Err(SoftwareError::WrongQp { node, qp, index, got });
        }
        let got = ring::cqe::WR_ID.get(&words);
        if got != index {
            return Err(SoftwareError::Order { node, qp, index, got, expected: index });
        }
        let status = ring::cqe::STATUS.get(&words) as u8;
        if status != write.expect && !write.any_status {
            let nak = ring::cqe::NAK_CODE.get(&words) as u8;
            return Err(SoftwareError::Status { node, qp, index, status, nak, expected: write.expect });
        }
        if status == code::STATUS_SUCCESS {
            self.bytes += u64::from(write.length);
        }
        self.outstanding.pop_front();
        self.completed += 1;
        Ok(true)
    }
}

/// A transfer between two buffers.
#[derive(Debug, Clone)]
pub struct Transfer {
    pub from: usize,
    pub to: usize,
    pub local: u64,
    pub remote: u64,
    pub bytes: u64,
    /// Bytes at its end that lie beyond the remote region: it is refused, they stay unwritten.
    pub beyond: u64,
    pub message_bytes: u64,
    /// QP and first MSN of the streams that the messages are dealt to in turn. A message that begins again (N2) may be written once more.
    pub streams: Vec<(u16, u32)>,
    /// It came as responses to READs, of which each byte is written once.
    pub answers: bool,
}

/// Bytes of a pattern that differs at every position of every transfer.
pub fn pattern(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut v = Vec::with_capacity(len + 8);
    while v.len() < len {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        v.extend_from_slice(&x.to_le_bytes());
    }
    v.truncate(len);
    v
}
