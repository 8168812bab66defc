//! placement_dma: each order takes one packet of the buffer, writes it with its length or throws it away, a number of 8 bytes turned
//! around, writes it in pieces, or writes 8 bytes of its own; writes that are done are counted; simulation = Verilog.
mod rx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::placement_dma::PlacementDma;
use rx_support::{Bench, Rng};
use std::collections::VecDeque;

/// What becomes of a packet, or 8 bytes of the order's own.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Discard,
    Write,
    /// Not the last piece of its packet.
    More,
    Swap,
    Own,
}

fn with_lists(name: &str) -> BuildConfig {
    BuildConfig { sges: 4, ..build(name).expect("a named build") }
}

fn check<const W: usize, const K: usize>(name: &'static str, build_name: &'static str, seed: u64, stall: u64) {
    let mut b = Bench::new(name, move || PlacementDma::<W, K>::new(&with_lists(build_name)));
    b.set("reset", 1);
    b.dut.cycles(2);
    b.set("reset", 0);
    let mut rng = Rng(seed);
    // a packet is one order, or several of which all but the last have `More`
    let packets: Vec<Vec<(Order, u64, Vec<u8>)>> = (0..300)
        .map(|_| {
            let most = if rng.chance(30) { 3 * K as u64 } else { 700 };
            let order = match rng.below(10) {
                0..=2 => Order::Discard,
                3 => Order::Swap,
                4 => Order::Own,
                _ => Order::Write,
            };
            let bytes = if matches!(order, Order::Swap | Order::Own) { 8 } else { 1 + rng.below(most) };
            let mut rest: Vec<u8> = (0..bytes).map(|_| rng.next() as u8).collect();
            let mut orders = vec![];
            while orders.len() < 3 && rest.len() > 1 && order == Order::Write && rng.chance(50) {
                let some = [1, K as u64, 1 + rng.below(rest.len() as u64 - 1), 1 + rng.below(5)][rng.below(4) as usize];
                let behind = rest.split_off((some as usize).min(rest.len() - 1));
                orders.push((Order::More, rng.next(), std::mem::replace(&mut rest, behind)));
            }
            orders.push((order, rng.next(), rest));
            orders
        })
        .collect();
    let mut orders: VecDeque<_> = packets.iter().flatten().cloned().collect();
    let mut stream: VecDeque<(Vec<u8>, bool)> = packets
        .iter()
        .filter(|p| p[0].0 != Order::Own)
        .flat_map(|p| {
            let whole: Vec<u8> = p.iter().flat_map(|order| order.2.clone()).collect();
            let all: Vec<Vec<u8>> = whole.chunks(K).map(<[u8]>::to_vec).collect();
            let n = all.len();
            all.into_iter().enumerate().map(move |(i, beat)| (beat, i + 1 == n))
        })
        .collect();
    let mut want: VecDeque<_> = orders.iter().filter(|p| p.0 != Order::Discard).cloned().collect();
    want.iter_mut().filter(|p| p.0 == Order::Swap).for_each(|p| p.2.reverse());
    // an order with 8 bytes of its own has not left
    let mut own = false;
    let (mut order_on, mut beat_on) = (false, false);
    let mut current: Option<(u64, usize)> = None;
    let mut data = Vec::new();
    // writes whose data has left, and those that software can see
    let (mut written, mut visible) = (0u64, 0u64);
    for cycle in 0..100_000 {
        let waits = orders.front().is_none_or(|o| o.0 == Order::Own && own);
        order_on = order_on || (!waits && !rng.chance(stall));
        if order_on {
            let (order, _, bytes) = &orders[0];
            b.set("place_write", (*order != Order::Discard).into());
            b.set("place_swap", (*order == Order::Swap).into());
            b.set("place_more", (*order == Order::More).into());
            b.set("place_own", (*order == Order::Own).into());
            let data = if *order == Order::Own { u64::from_le_bytes(bytes[..].try_into().unwrap()) } else { rng.next() };
            b.set("place_data", data);
            b.set("place_addr", orders[0].1);
            b.set("place_bytes", orders[0].2.len() as u64);
        }
        b.set("place_valid", order_on.into());
        beat_on = beat_on || (!stream.is_empty() && !rng.chance(stall));
        if beat_on {
            b.set_bytes("pl_data", &stream[0].0);
            b.set("pl_last", stream[0].1.into());
        }
        b.set("pl_valid", beat_on.into());
        b.set("dw_desc_ready", (!rng.chance(stall)).into());
        b.set("dw_ready", (!rng.chance(stall)).into());
        let done = visible < written && !rng.chance(stall);
        b.set("dw_done", done.into());
        b.eval();
        assert_eq!(b.get("done_count"), visible);
        visible += u64::from(done);
        if order_on && b.get("place_ready") == 1 {
            own |= orders.pop_front().is_some_and(|o| o.0 == Order::Own);
            order_on = false;
        }
        if beat_on && b.get("pl_ready") == 1 {
            stream.pop_front();
            beat_on = false;
        }
        if b.get("dw_desc_valid") == 1 && b.get("dw_desc_ready") == 1 {
            assert!(current.is_none(), "a descriptor inside a packet");
            current = Some((b.get("dw_desc_addr"), b.get("dw_desc_len") as usize));
        }
        if b.get("dw_valid") == 1 && b.get("dw_ready") == 1 {
            let (addr, len) = current.expect("data before its descriptor");
            let keep = b.get("dw_keep");
            let kept = if keep == u64::MAX { 64 } else { keep.trailing_ones() as usize };
            assert_eq!(keep, if kept == 64 { u64::MAX } else { (1 << kept) - 1 });
            data.extend(b.get_bytes("dw_data", kept));
            if b.get("dw_last") == 1 {
                let (order, want_addr, want_data) = want.pop_front().expect("a write too many");
                assert_eq!((addr, len, &data), (want_addr, want_data.len(), &want_data));
                own &= order != Order::Own;
                data.clear();
                current = None;
                written += 1;
            }
        }
        b.cycle();
        if want.is_empty() && orders.is_empty() && stream.is_empty() && visible == written {
            println!("{name}: {cycle} clocks");
            return;
        }
    }
    panic!("{} writes, {} orders, {} beats are left", want.len(), orders.len(), stream.len());
}

#[test]
fn every_packet_is_written_or_thrown_away_whole() {
    for stall in [0, 40, 80] {
        check::<64, 8>("placement_dma_64", "ecp5", 1, stall);
        check::<128, 16>("placement_dma_128", "sim_min", 2, stall);
        check::<512, 64>("placement_dma_512", "bench512", 3, stall);
    }
}

#[test]
fn simulation_equals_verilog() {
    difftest!(PlacementDma::<64, 8>::new(&with_lists("sim")), clock: clock, inputs: {
        reset, place_valid, place_write, place_addr, place_bytes, place_own, place_data, place_swap, place_more, pl_valid, pl_data, pl_last,
        dw_desc_ready, dw_ready, dw_done
    })
    .top("placement_dma")
    .cycles(3000)
    .seed(5)
    .source(
        "place_valid",
        "place_ready",
        &["place_write", "place_addr", "place_bytes", "place_own", "place_data", "place_swap", "place_more"],
    )
    .source("pl_valid", "pl_ready", &["pl_data", "pl_last"])
    .sink("dw_desc_ready")
    .sink("dw_ready")
    .run();
}
