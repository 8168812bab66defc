//! What one end requests in a round, and what the memories hold before and after it.
//!
//! In: the seed, the round, which end, and the responder's memory. Out: requests on slots of memory that are apart, so that no order of
//! placement is assumed; both memories as they must be in the end, byte for byte.
use super::end::Address;
use super::Kinds;
use crate::abi::*;
use rand::rngs::SmallRng;
use rand::{Rng, RngCore, SeedableRng};
use std::ffi::c_int;

/// Requests of a round.
pub const SLOTS: usize = 16;
pub const SLOT_BYTES: usize = 20_000;
/// All that one end requests with, and as much that the other end's requests refer to.
pub const REGION_BYTES: usize = SLOTS * SLOT_BYTES;
pub const INLINE_BYTES: usize = 64;

const OPCODES: [c_int; 7] = [
    IBV_WR_SEND,
    IBV_WR_SEND_WITH_IMM,
    IBV_WR_RDMA_WRITE,
    IBV_WR_RDMA_WRITE_WITH_IMM,
    IBV_WR_RDMA_READ,
    IBV_WR_ATOMIC_CMP_AND_SWP,
    IBV_WR_ATOMIC_FETCH_AND_ADD,
];

/// The first of them.
const SENDS_AND_WRITES: usize = 4;

/// A piece of a region: offset and length.
pub type Piece = (usize, usize);

/// One request, in offsets of the requester's and the responder's region.
pub struct Request {
    pub opcode: c_int,
    pub bytes: usize,
    pub source: Vec<Piece>,
    pub far_at: usize,
    /// Where the responder's buffer lies, if the request takes one.
    pub buffer: Option<Vec<Piece>>,
    pub imm: u32,
    pub flags: u32,
    pub compare_add: u64,
    pub swap: u64,
}

impl Request {
    pub fn has_imm(&self) -> bool {
        matches!(self.opcode, IBV_WR_SEND_WITH_IMM | IBV_WR_RDMA_WRITE_WITH_IMM)
    }

    pub fn is_atomic(&self) -> bool {
        matches!(self.opcode, IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD)
    }
}

/// A memory before and after the round.
pub struct Memory {
    pub before: Vec<u8>,
    pub after: Vec<u8>,
}

impl Memory {
    fn random(rng: &mut SmallRng) -> Memory {
        let mut before = vec![0; REGION_BYTES];
        rng.fill_bytes(&mut before);
        Memory { after: before.clone(), before }
    }
}

pub struct Plan {
    pub near: Memory,
    pub far: Memory,
    pub requests: Vec<Request>,
}

/// Cuts a range into one to four pieces, some of them empty.
fn pieces(rng: &mut SmallRng, start: usize, bytes: usize) -> Vec<Piece> {
    let mut cuts: Vec<usize> = (0..rng.random_range(0..4)).map(|_| rng.random_range(0..=bytes)).collect();
    cuts.extend([0, bytes]);
    cuts.sort_unstable();
    cuts.windows(2).map(|w| (start + w[0], w[1] - w[0])).collect()
}

/// Lengths around the ends of packets, and small ones.
fn length(rng: &mut SmallRng) -> usize {
    match rng.random_range(0..4) {
        0 => rng.random_range(0..=INLINE_BYTES),
        1 => rng.random_range(1..=4) * 1024 + rng.random_range(0..3) - 1,
        2 => rng.random_range(0..SLOT_BYTES / 2),
        _ => rng.random_range(0..300),
    }
}

impl Plan {
    pub fn new(seed: u64, round: u32, client: bool, responder: &Address, kinds: Kinds) -> Plan {
        let of_round = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (u64::from(round) << 1) ^ u64::from(client);
        let mut rng = SmallRng::seed_from_u64(of_round);
        let (near, far) = (Memory::random(&mut rng), Memory::random(&mut rng));
        let mut plan = Plan { near, far, requests: Vec::with_capacity(SLOTS) };
        for slot in 0..SLOTS {
            let request = plan.request(&mut rng, slot * SLOT_BYTES, responder, kinds);
            plan.requests.push(request);
        }
        plan
    }

    fn request(&mut self, rng: &mut SmallRng, base: usize, responder: &Address, kinds: Kinds) -> Request {
        let opcode = match kinds {
            Kinds::Writes => IBV_WR_RDMA_WRITE,
            _ if kinds.asks() => OPCODES[rng.random_range(0..OPCODES.len())],
            _ => OPCODES[rng.random_range(0..SENDS_AND_WRITES)],
        };
        let leaves = OPCODES[..SENDS_AND_WRITES].contains(&opcode);
        let one_piece = !(kinds == Kinds::All || kinds.send_lists() && leaves);
        let atomic = matches!(opcode, IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD);
        let bytes = if atomic { 8 } else { length(rng) };
        let near_at = base + rng.random_range(0..SLOT_BYTES - bytes);
        let mut far_at = base + rng.random_range(8..SLOT_BYTES - bytes);
        if atomic {
            far_at -= (responder.region as usize + far_at) % 8;
        }
        let mut request = Request {
            opcode,
            bytes,
            source: if one_piece { vec![(near_at, bytes)] } else { pieces(rng, near_at, bytes) },
            far_at,
            buffer: None,
            imm: rng.next_u32(),
            flags: IBV_SEND_SIGNALED,
            compare_add: rng.next_u64(),
            swap: rng.next_u64(),
        };
        let (near, far) = (near_at..near_at + bytes, far_at..far_at + bytes);
        match opcode {
            IBV_WR_RDMA_READ => self.near.after[near].copy_from_slice(&self.far.before[far]),
            _ if atomic => {
                let mut operand = [0; 8];
                operand.copy_from_slice(&self.far.before[far.clone()]);
                let before = u64::from_ne_bytes(operand);
                if opcode == IBV_WR_ATOMIC_CMP_AND_SWP && rng.random_bool(0.5) {
                    request.compare_add = before;
                }
                let after = match opcode {
                    IBV_WR_ATOMIC_FETCH_AND_ADD => before.wrapping_add(request.compare_add),
                    _ if before == request.compare_add => request.swap,
                    _ => before,
                };
                self.near.after[near].copy_from_slice(&operand);
                self.far.after[far].copy_from_slice(&after.to_ne_bytes());
            }
            _ => {
                self.far.after[far].copy_from_slice(&self.near.before[near]);
                if bytes <= INLINE_BYTES && rng.random_bool(0.5) {
                    request.flags |= IBV_SEND_INLINE;
                }
            }
        }
        if rng.random_bool(0.2) {
            request.flags |= IBV_SEND_FENCE | IBV_SEND_SOLICITED;
        }
        if matches!(opcode, IBV_WR_SEND | IBV_WR_SEND_WITH_IMM | IBV_WR_RDMA_WRITE_WITH_IMM) {
            // Sometimes a buffer that is longer than the message.
            let room = (base + SLOT_BYTES - far_at).min(bytes + rng.random_range(0..2) * 7);
            request.buffer = Some(if kinds != Kinds::All { vec![(far_at, room)] } else { pieces(rng, far_at, room) });
        }
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_derive_the_same_plan_and_each_round_another() {
        let responder = Address { gid: [0; 16], number: 1, region: 0x1004, rkey: 7 };
        let plan = |round, client| Plan::new(3, round, client, &responder, Kinds::All);
        let (a, b) = (plan(5, true), plan(5, true));
        assert!(a.near.after == b.near.after && a.far.after == b.far.after);
        assert!(a.near.before != plan(6, true).near.before && a.near.before != plan(5, false).near.before);
        // Something moves, and what an atomic request refers to is aligned.
        assert!(a.near.after != a.near.before || a.far.after != a.far.before);
        let all: Vec<_> = (0..50).flat_map(|round| plan(round, true).requests).collect();
        assert!(OPCODES.iter().all(|opcode| all.iter().any(|r| r.opcode == *opcode)));
        assert!(all.iter().filter(|r| r.is_atomic()).all(|r| (0x1004 + r.far_at) % 8 == 0));
        let of = |kinds| -> Vec<_> { (0..9).flat_map(|round| Plan::new(3, round, true, &responder, kinds).requests).collect() };
        let one_piece = |r: &Request| r.source.len() == 1 && r.buffer.as_ref().is_none_or(|b| b.len() == 1);
        let (whole, simple) = (of(Kinds::OnePiece), of(Kinds::SendsAndWrites));
        assert!(whole.iter().chain(&simple).all(one_piece) && !all.iter().all(one_piece));
        let lists = of(Kinds::SendLists);
        assert!(lists.iter().all(|r| r.buffer.as_ref().is_none_or(|b| b.len() == 1)));
        let leaves = |r: &&Request| OPCODES[..SENDS_AND_WRITES].contains(&r.opcode);
        assert!(lists.iter().filter(leaves).any(|r| r.source.len() == 4) && lists.iter().all(|r| leaves(&r) || one_piece(r)));
        assert!(OPCODES.iter().all(|opcode| whole.iter().any(|r| r.opcode == *opcode)));
        assert!((0..OPCODES.len()).all(|i| simple.iter().any(|r| r.opcode == OPCODES[i]) == (i < SENDS_AND_WRITES)));
        let writes = Plan::new(3, 5, true, &responder, Kinds::Writes).requests;
        assert!(writes.iter().all(|r| r.opcode == IBV_WR_RDMA_WRITE && r.source.len() == 1 && r.buffer.is_none()));
    }
}
