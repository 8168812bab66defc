//! Thousands of random requests of all opcodes, many at once, with every byte checked.
//!
//! Each request has a slot of memory at both sides. When it has completed (at both sides, where the peer takes part) its target must hold
//! exactly the bytes of its source, and nothing beside the target may have changed. Slots are apart, so no order of placement is assumed.
use super::harness::*;
use crate::abi::*;
use rand::rngs::SmallRng;
use rand::{Rng, RngCore, SeedableRng};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// Requests under way at most.
const SLOTS: usize = 16;
const SLOT_BYTES: usize = 20_000;
/// Immediate data and inline limits of the harness.
const INLINE_BYTES: usize = 64;

const OPCODES: [c_int; 7] = [
    IBV_WR_SEND,
    IBV_WR_SEND_WITH_IMM,
    IBV_WR_RDMA_WRITE,
    IBV_WR_RDMA_WRITE_WITH_IMM,
    IBV_WR_RDMA_READ,
    IBV_WR_ATOMIC_CMP_AND_SWP,
    IBV_WR_ATOMIC_FETCH_AND_ADD,
];

/// A request under way: what both slots must hold in the end.
struct Expected {
    opcode: c_int,
    near: Vec<u8>,
    far: Vec<u8>,
    length: u32,
    imm: u32,
    near_done: bool,
    far_done: bool,
}

fn takes_buffer(opcode: c_int) -> bool {
    matches!(opcode, IBV_WR_SEND | IBV_WR_SEND_WITH_IMM | IBV_WR_RDMA_WRITE_WITH_IMM)
}

fn with_imm(opcode: c_int) -> bool {
    matches!(opcode, IBV_WR_SEND_WITH_IMM | IBV_WR_RDMA_WRITE_WITH_IMM)
}

/// Lengths that end at and around packets, and small ones.
fn length(rng: &mut SmallRng) -> usize {
    match rng.random_range(0..4) {
        0 => rng.random_range(0..=INLINE_BYTES),
        1 => rng.random_range(1..=4) * 1024 + rng.random_range(0..3) - 1,
        2 => rng.random_range(0..SLOT_BYTES / 2),
        _ => rng.random_range(0..300),
    }
}

/// Cuts a range into one to four pieces.
fn pieces(rng: &mut SmallRng, region: &Region, start: usize, length: usize) -> Vec<ibv_sge> {
    let mut cuts: Vec<usize> = (0..rng.random_range(0..4)).map(|_| rng.random_range(0..=length)).collect();
    cuts.extend([0, length]);
    cuts.sort_unstable();
    cuts.windows(2).map(|w| region.sge(start + w[0], (w[1] - w[0]) as u32)).collect()
}

struct Soak {
    rng: SmallRng,
    // Before the sides: regions go first.
    near: Region,
    far: Region,
    a: Side,
    b: Side,
    slots: Vec<Option<Expected>>,
    /// Slots in the order in which the peer takes buffers for them.
    deliveries: VecDeque<usize>,
}

impl Soak {
    fn slot(bytes: &[u8], slot: usize) -> &[u8] {
        &bytes[slot * SLOT_BYTES..(slot + 1) * SLOT_BYTES]
    }

    /// Posts a random request on a free slot, filled with new bytes.
    fn post(&mut self, slot: usize) {
        let base = slot * SLOT_BYTES;
        for region in [&mut self.near, &mut self.far] {
            self.rng.fill_bytes(&mut region.bytes[base..base + SLOT_BYTES]);
        }
        let opcode = OPCODES[self.rng.random_range(0..OPCODES.len())];
        let atomic = matches!(opcode, IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD);
        let bytes = if atomic { 8 } else { length(&mut self.rng) };
        let near_at = base + self.rng.random_range(0..SLOT_BYTES - bytes);
        let mut far_at = base + self.rng.random_range(8..SLOT_BYTES - bytes);
        if atomic {
            far_at -= (self.far.addr() as usize + far_at) % 8;
        }
        let mut near = Self::slot(&self.near.bytes, slot).to_vec();
        let mut far = Self::slot(&self.far.bytes, slot).to_vec();
        let (n, f) = (near_at - base, far_at - base);

        let source = pieces(&mut self.rng, &self.near, near_at, bytes);
        let mut wr = rdma(slot as u64, opcode, &source, self.far.addr() + far_at as u64, self.far.rkey());
        wr.imm_data = self.rng.next_u32();
        match opcode {
            IBV_WR_RDMA_READ => near[n..n + bytes].copy_from_slice(&far[f..f + bytes]),
            _ if atomic => {
                let before = u64::from_ne_bytes(far[f..f + 8].try_into().unwrap());
                let (add, swap) = (self.rng.next_u64(), self.rng.next_u64());
                let hit = self.rng.random_bool(0.5);
                let compare_add = if opcode == IBV_WR_ATOMIC_CMP_AND_SWP && hit { before } else { add };
                let (remote_addr, rkey) = (self.far.addr() + far_at as u64, self.far.rkey());
                wr.wr.atomic = wr_atomic { remote_addr, compare_add, swap, rkey };
                let after = match opcode {
                    IBV_WR_ATOMIC_FETCH_AND_ADD => before.wrapping_add(compare_add),
                    _ if before == compare_add => swap,
                    _ => before,
                };
                near[n..n + 8].copy_from_slice(&before.to_ne_bytes());
                far[f..f + 8].copy_from_slice(&after.to_ne_bytes());
            }
            _ => {
                far[f..f + bytes].copy_from_slice(&near[n..n + bytes]);
                if bytes <= INLINE_BYTES && self.rng.random_bool(0.5) {
                    wr.send_flags |= IBV_SEND_INLINE;
                }
            }
        }
        if self.rng.random_bool(0.2) {
            wr.send_flags |= IBV_SEND_FENCE | IBV_SEND_SOLICITED;
        }
        if takes_buffer(opcode) {
            // Sometimes a buffer that is longer than the message.
            let room = (SLOT_BYTES - f).min(bytes + self.rng.random_range(0..2) * 7);
            let target = pieces(&mut self.rng, &self.far, far_at, room);
            assert_eq!(self.b.post_recv(slot as u64, &target), 0);
            self.deliveries.push_back(slot);
        }
        assert_eq!(self.a.post(&mut wr), 0);
        let (length, imm) = (bytes as u32, wr.imm_data);
        let far_done = !takes_buffer(opcode);
        self.slots[slot] = Some(Expected { opcode, near, far, length, imm, near_done: false, far_done });
    }

    fn poll(&mut self) {
        let mut wcs = [unsafe { std::mem::zeroed::<ibv_wc>() }; 5];
        let got = self.a.poll(&mut wcs) as usize;
        for wc in &wcs[..got] {
            assert_eq!(wc.status, IBV_WC_SUCCESS, "request");
            self.slots[wc.wr_id as usize].as_mut().expect("a posted request").near_done = true;
        }
        let got = self.b.poll(&mut wcs) as usize;
        for wc in &wcs[..got] {
            assert_eq!(Some(wc.wr_id as usize), self.deliveries.pop_front(), "buffers are taken in order");
            let expected = self.slots[wc.wr_id as usize].as_mut().expect("a posted request");
            assert_eq!((wc.status, wc.byte_len), (IBV_WC_SUCCESS, expected.length));
            assert_eq!(wc.wc_flags & IBV_WC_WITH_IMM != 0, with_imm(expected.opcode));
            assert!(!with_imm(expected.opcode) || wc.imm_data == expected.imm);
            expected.far_done = true;
        }
    }

    /// Frees the slots of completed requests, after a look at every byte.
    fn check(&mut self) -> usize {
        let mut checked = 0;
        for (slot, entry) in self.slots.iter_mut().enumerate() {
            let done = |e: &mut Expected| e.near_done && e.far_done;
            if let Some(expected) = entry.take_if(done) {
                let what = format!("opcode {} of {} bytes", expected.opcode, expected.length);
                assert!(Self::slot(&self.near.bytes, slot) == expected.near, "requester, {what}");
                assert!(Self::slot(&self.far.bytes, slot) == expected.far, "responder, {what}");
                checked += 1;
            }
        }
        checked
    }
}

#[test]
fn random_requests_move_exactly_their_bytes() {
    const REQUESTS: usize = 4000;
    let rng = SmallRng::seed_from_u64(crate::testing::seed());
    let (a, b) = pair(&DEFAULT);
    let near = Region::new(a.pd, vec![0; SLOTS * SLOT_BYTES], ALL);
    let far = Region::new(b.pd, vec![0; SLOTS * SLOT_BYTES], ALL);
    let slots = (0..SLOTS).map(|_| None).collect();
    let mut soak = Soak { rng, a, b, near, far, slots, deliveries: VecDeque::new() };
    let (mut posted, mut done) = (0, 0);
    let mut deadline = Instant::now() + Duration::from_secs(20);
    while done < REQUESTS {
        let free: Vec<usize> = (0..SLOTS).filter(|i| soak.slots[*i].is_none()).collect();
        if posted < REQUESTS && !free.is_empty() && soak.rng.random_bool(0.7) {
            let slot = free[soak.rng.random_range(0..free.len())];
            soak.post(slot);
            posted += 1;
        } else {
            soak.poll();
        }
        let checked = soak.check();
        done += checked;
        if checked > 0 {
            deadline = Instant::now() + Duration::from_secs(20);
        }
        assert!(Instant::now() < deadline, "{} requests never complete", posted - done);
    }
    assert!(soak.a.nothing() && soak.b.nothing());
}
