//! Queue pairs that are closed while packets for them arrive (docs/protocol.md, section 10).
//!
//! In: two NICs on a wire, WRITEs under way, copies of their packets. Out: the first difference from the golden model. Guarantees: duplicates
//! and new packets were seen both before and after the receiver had the row.
mod rig;

use std::cell::Cell;
use std::rc::Rc;

use mrnic_lockstep::{Kind, Record};
use mrnic_regs::code;
use mrnic_sim::software::Write;
use mrnic_wire::parse_packet;
use rig::{writable, Rig};

/// Rounds, each with a queue pair of its own that is closed some cycles later than the one before.
const ROUNDS: u64 = 12;
const LATER_CYCLES: u64 = 13;
/// Between copies of packets.
const COPY_CYCLES: u64 = 9;
/// Of a row's record, before and after: what is counted as near.
const NEAR_CYCLES: u64 = 250;
const BYTES: usize = 60_000;
/// WQEs of the queue pair that is in Error.
const WQES: usize = 32;
/// Class of a record of a packet.
const NEW: u64 = 0;
const DUPLICATE: u64 = 1;

/// Packets near the moment at which the receiver took the row: new before, duplicates before, new after, duplicates after.
fn near(records: &[Record], taken: u64) -> [usize; 4] {
    let count = |class: u64, after: bool| {
        let packets = records.iter().filter(|r| r.kind == Kind::Rx && r.get("kind") == 0 && r.get("class") == class);
        packets.filter(|r| r.cycle.abs_diff(taken) < NEAR_CYCLES && (r.cycle > taken) == after).count()
    };
    [count(NEW, false), count(DUPLICATE, false), count(NEW, true), count(DUPLICATE, true)]
}

/// R3, R4, section 10: a row counts from the moment at which the receiver has it, for new packets and for duplicates, which are not refused.
#[test]
fn packets_arrive_while_their_queue_pair_is_closed() {
    let mut rig = Rig::new();
    rig.open(0, &|c| (c.paths, c.mtu_log2, c.init_window_pkts) = (2, 8, 32));
    let from = rig.filled(0, BYTES, 3);
    let to = rig.region(1, BYTES, 5, writable(), 1);
    let mut seen = [0; 4];
    for round in 0..ROUNDS {
        let qp = rig.pair(0);
        rig.tapped = Some(Vec::new());
        rig.nodes[1].keep_records();
        rig.post(0, qp, &from, &to, BYTES);
        rig.poll();
        let copy = |rig: &mut Rig| {
            rig.cycles(COPY_CYCLES);
            // of a packet that has arrived: it travels for 250 cycles
            let sent = rig.tapped.as_ref().map_or(0, Vec::len);
            if let Some(frame) = rig.tapped.as_ref().and_then(|frames| frames.get(sent.checked_sub(40)?)).cloned() {
                rig.inject(1, frame);
            }
        };
        for _ in 0..120 {
            copy(&mut rig);
        }
        rig.cycles(round * LATER_CYCLES);
        rig.begin_closing(qp);
        for _ in 0..80 {
            copy(&mut rig);
        }
        rig.rows_taken();
        let records = rig.nodes[1].records();
        let rows: Vec<_> = records.iter().filter(|r| r.kind == Kind::Row).map(|r| (r.get("table"), r.get("index"))).collect();
        assert_eq!(rows, [(3, u64::from(qp))], "round {round}: the receiver tells of each row once");
        let taken = records.iter().find(|r| r.kind == Kind::Row).map_or(0, |r| r.cycle);
        for (all, here) in seen.iter_mut().zip(near(records, taken)) {
            *all += here;
        }
        // what is outstanding goes on as NOPs
        rig.tapped = None;
        rig.settle();
    }
    assert!(seen.iter().all(|packets| *packets > ROUNDS as usize), "{seen:?}");
    let [a, _] = rig.finish();
    assert!(a.get("TX_NOP") > 0, "{a:?}");
}

/// Section 10, W3: a queue pair in Error is closed while its WQEs are flushed. Each has its CQE until completion has taken the row, however
/// long ago software wrote it.
#[test]
fn a_queue_pair_in_error_is_closed_while_its_wqes_are_flushed() {
    let mut rig = Rig::new();
    rig.open(0, &|c| c.paths = 1);
    let from = rig.filled(0, BYTES, 3);
    let to = rig.region(1, BYTES, 5, writable(), 1);
    // flushed after software wrote the row: with a CQE, without
    let mut seen = [0; 2];
    for round in 0..ROUNDS {
        let qp = rig.pair(0);
        rig.nodes[0].keep_records();
        let write = rig::write(&from, &to, 64);
        rig.post_write(0, qp, Write { lkey: from.key ^ 1, expect: code::STATUS_LOC_PROT_ERR, ..write });
        for _ in 1..WQES {
            rig.post_write(0, qp, Write { any_status: true, ..write });
        }
        rig.poll();
        while !rig.nodes[0].records().iter().any(|r| r.kind == Kind::Cqe) {
            rig.cycle();
        }
        rig.cycles(round * LATER_CYCLES);
        let written = rig.nodes[0].records().last().map_or(0, |r| r.cycle);
        rig.begin_closing(qp);
        rig.rows_taken();
        rig.settle();
        let after = |kind| rig.nodes[0].records().iter().filter(|r| r.kind == kind && r.cycle > written).count();
        let (wqes, cqes) = (after(Kind::Wqe), after(Kind::Cqe));
        seen[0] += cqes;
        seen[1] += wqes - cqes.min(wqes);
    }
    assert!(seen.iter().all(|wqes| *wqes > 0), "{seen:?}");
    rig.finish();
}

/// Section 10: a connection is closed in the middle of its traffic. What it still has under way are whole frames with its addresses.
#[test]
fn frames_of_a_closed_connection_have_its_addresses() {
    let mut rig = Rig::new();
    let from = rig.filled(0, BYTES, 3);
    let to = rig.region(1, BYTES, 5, writable(), 1);
    // frames of each end since software wrote that it is closed
    let late = Rc::new([Cell::new(0), Cell::new(0)]);
    let mut seen = [0; 2];
    for round in 0..ROUNDS {
        rig.open(0, &|c| (c.paths, c.mtu_log2, c.init_window_pkts) = (2, 8, 32));
        let qp = rig.pair(0);
        rig.post(0, qp, &from, &to, BYTES);
        rig.poll();
        rig.cycles(1000 + round * LATER_CYCLES);
        rig.begin_closing(qp);
        late.iter().for_each(|frames| frames.set(0));
        let counted = Rc::clone(&late);
        rig.lose = Some(Box::new(move |node, frame| {
            assert!(parse_packet(frame).is_ok(), "a frame of node {node} that nobody can read");
            counted[node].set(counted[node].get() + 1);
            false
        }));
        rig.close(0);
        rig.settle();
        seen.iter_mut().zip(late.iter()).for_each(|(all, frames)| *all += frames.get());
    }
    assert!(seen.iter().all(|frames| *frames > 0), "{seen:?}");
    rig.finish();
}
