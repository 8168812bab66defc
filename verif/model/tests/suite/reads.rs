//! READ: D1..D4, D6..D8.

use mrnic_model::*;

use crate::duo::{rough, sge, wqe, Duo, DuoSetup, BARE_KEY, BASE, LONG};
use crate::fabric::FabricConfig;
use crate::pair::seed;

const SIZES: [u32; 9] = [0, 1, 4095, 4096, 4097, 8192, 8 << 10, 65_536, 1 << 20];

/// Every size, with lists, over two QPs in both directions; every byte, completion and counter is checked.
fn all_sizes<P: Profile>(setup: &DuoSetup) {
    let mut duo = Duo::<P>::new(setup);
    let mut places = vec![];
    for (i, &len) in SIZES.iter().enumerate() {
        for side in 0..2 {
            let (to, from) = (duo.alloc(side, len), duo.alloc(1 - side, len));
            let local = duo.split(to, len, 1 + i % 8);
            duo.nic[side].post_send_list(i as u32 % 2, &wqe(WQE_READ, i as u64, to, from, len), &local).unwrap();
            places.push((side, to, from, len));
        }
    }
    duo.run_until(LONG, "all sizes", |d| d.cqes.iter().all(|c| c.len() == SIZES.len()));
    duo.run(LONG);
    for (side, to, from, len) in places {
        assert!(duo.bytes(side, to, len) == duo.bytes(1 - side, from, len), "{len} bytes");
    }
    for cqes in &duo.cqes {
        assert!(cqes
            .iter()
            .all(|c| c.status == Status::Success && c.byte_len == SIZES[c.wr_id as usize] && c.wc_opcode() == 2));
    }
    duo.assert_quiet();
}

/// D4, D6: all sizes on a good network.
#[test]
fn d4_sizes_without_faults() {
    for (paths, mtu_log2) in [(1, 12), (8, 12), (2, 8)] {
        all_sizes::<OpenMr0>(&DuoSetup { paths, mtu_log2, ..DuoSetup::default() });
    }
}

/// D4, D6: all sizes with loss, duplicates and reordering over 8 paths, in both wire profiles.
#[test]
fn d4_sizes_under_faults() {
    for (i, loss) in [0.0, 0.03, 0.1].into_iter().enumerate() {
        let setup = DuoSetup { fabric: rough(loss), seed: seed(40 + i as u64), ..DuoSetup::default() };
        all_sizes::<OpenMr0>(&setup);
        all_sizes::<MrcLike>(&setup);
    }
}

/// D1: at most max_rd_atomic READs are outstanding; the others, and everything behind them, wait and none is lost.
#[test]
fn d1_limit_of_outstanding_reads() {
    for limit in [1u8, 3, 16] {
        let qp = QpConfig { max_rd_atomic: limit, max_dest_rd_atomic: limit, ..DuoSetup::default().qp };
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp, fabric: rough(0.05), seed: seed(50), ..DuoSetup::default() });
        for i in 0..30 {
            let (to, from) = (duo.alloc(0, 9000), duo.alloc(1, 9000));
            duo.post(0, 0, &wqe(WQE_READ, i, to, from, 9000));
        }
        let end = duo.tick() + LONG as u32;
        while duo.cqes[0].len() < 30 {
            assert!(duo.step() && duo.tick() < end);
            assert!(duo.nic[0].send_queue(0).unwrap().requests <= u32::from(limit));
        }
        assert_eq!(duo.statuses(0, false), (0..30).map(|i| (i, 0)).collect::<Vec<_>>());
        duo.run(LONG);
        duo.assert_quiet();
    }
}

/// D1: a fence waits for the READs before it: what it sends is what they brought.
#[test]
fn d1_fence() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.1), seed: seed(51), ..DuoSetup::default() });
    let len = 50_000;
    let (middle, from, to) = (duo.alloc(0, len), duo.alloc(1, len), duo.alloc(1, len));
    duo.post(0, 0, &wqe(WQE_READ, 1, middle, from, len));
    duo.post(0, 0, &Wqe { fence: true, ..wqe(WQE_WRITE, 2, middle, to, len) });
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), [(1, 0), (2, 0)]);
    assert!(duo.bytes(1, from, len) == duo.bytes(1, to, len));
    duo.assert_quiet();
}

/// D3: a READ behind a WRITE sees its data, although packets are reordered over 8 paths.
#[test]
fn d3_read_after_write() {
    for n in 0..10 {
        let fabric = FabricConfig { reorder: 0.5, reorder_ticks: 200, skew_ticks: 50, loss: 0.05, ..FabricConfig::default() };
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric, seed: seed(60) + n, ..DuoSetup::default() });
        let len = 100_000;
        let (from, back, there) = (duo.alloc(0, len), duo.alloc(0, len), duo.alloc(1, len));
        duo.post(0, 0, &wqe(WQE_WRITE, 1, from, there, len));
        duo.post(0, 0, &wqe(WQE_READ, 2, back, there, len));
        duo.run(LONG);
        assert_eq!(duo.statuses(0, false), [(1, 0), (2, 0)]);
        assert!(duo.bytes(0, from, len) == duo.bytes(0, back, len));
        duo.assert_quiet();
    }
}

/// D3: a later message of the stream is placed but not reported before an earlier READ is executed; the READ sees memory as
/// it was when the stream reached it or later, and the SEND behind it completes.
#[test]
fn d3_messages_behind_a_read() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.1), seed: seed(61), ..DuoSetup::default() });
    for i in 0..10 {
        let (to, from, buffer) = (duo.alloc(0, 20_000), duo.alloc(1, 20_000), duo.alloc(1, 5_000));
        duo.post_recv(1, 0, i, &[sge(buffer, 5_000)]);
        duo.post(0, 0, &wqe(WQE_READ, 2 * i, to, from, 20_000));
        duo.post(0, 0, &wqe(WQE_SEND, 2 * i + 1, 0, 0, 5_000));
    }
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), (0..20).map(|i| (i, 0)).collect::<Vec<_>>());
    assert_eq!(duo.statuses(1, true), (0..10).map(|i| (i, 0)).collect::<Vec<_>>());
    duo.assert_quiet();
}

/// D2: keys, rights, bounds and the QP's own flags, each with its code.
#[test]
fn d2_refusals() {
    let run = |qp: QpConfig, change: &dyn Fn(&mut Wqe)| {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp, ..DuoSetup::default() });
        let mut w = wqe(WQE_READ, 1, 0, 0, 100);
        change(&mut w);
        duo.post(0, 0, &w);
        duo.run(LONG);
        duo.assert_quiet();
        (duo.cqes[0][0].status as u8, duo.cqes[0][0].nak_code)
    };
    let usual = DuoSetup::default().qp;
    assert_eq!(run(usual, &|w| w.rkey = 0x77), (10, 1));
    assert_eq!(run(usual, &|w| w.rkey = BARE_KEY), (10, 2));
    assert_eq!(run(usual, &|w| w.raddr = BASE - 1), (10, 3));
    assert_eq!(run(usual, &|w| w.raddr = u64::MAX - 3), (10, 3));
    assert_eq!(run(usual, &|w| (w.length, w.rkey) = (0, 0x77)), (0, 0), "a zero-length READ touches no key");
    assert_eq!(run(usual, &|w| w.lkey = BARE_KEY), (4, 0), "W1: local write is needed");
    let no = |remote_read, remote_write| QpConfig { access: QpAccess { remote_read, remote_write, ..QpAccess::ALL }, ..usual };
    assert_eq!(run(no(false, true), &|_| {}), (10, 2));
    assert_eq!(run(no(true, false), &|w| w.opcode = WQE_WRITE), (10, 2));
    assert_eq!(run(no(true, false), &|w| (w.opcode, w.length) = (WQE_WRITE, 0)), (10, 2), "without bytes too");
    assert_eq!(run(QpConfig { max_rd_atomic: 0, ..usual }, &|_| {}), (2, 0), "W1");
}

/// D3: more requests than the responder has places for are refused for now and begin again; none is lost or executed twice.
#[test]
fn d3_no_place_is_busy() {
    let qp = QpConfig { max_rd_atomic: 16, max_dest_rd_atomic: 2, rnr_retry: 0, ..DuoSetup::default().qp };
    // With windows of one packet the responses must not starve behind the requests, on both sides (D4).
    for (paths, window) in [(8, 16), (1, 1), (2, 1)] {
        let setup = DuoSetup { qp, paths, window, fabric: rough(0.05), seed: seed(70), ..DuoSetup::default() };
        let mut duo = Duo::<OpenMr0>::new(&setup);
        let mut places = vec![];
        for i in 0..40 {
            for side in 0..2 {
                let (to, from) = (duo.alloc(side, 6000), duo.alloc(1 - side, 6000));
                duo.post(side, i as u32 % 2, &wqe(WQE_READ, i, to, from, 6000));
                places.push((side, to, from));
            }
        }
        duo.run(LONG);
        for (side, to, from) in places {
            assert!(duo.bytes(side, to, 6000) == duo.bytes(1 - side, from, 6000));
        }
        for side in 0..2 {
            assert!(duo.statuses(side, false).iter().all(|c| c.1 == 0));
            let c = duo.nic[side].counters();
            assert_eq!(c.requests_executed, 40);
            assert!(c.rx_busy > 0 && c.messages_begun_again > 0, "{c:?}");
        }
        duo.assert_quiet();
    }
}

/// D3: requests arrive in any order and there is one place only: those behind do not keep the oldest out for ever.
#[test]
fn d3_last_place_is_for_the_oldest() {
    let qp = QpConfig { max_rd_atomic: 8, max_dest_rd_atomic: 1, ..DuoSetup::default().qp };
    for n in 0..5 {
        let fabric = FabricConfig { reorder: 0.5, reorder_ticks: 300, skew_ticks: 20, ..FabricConfig::default() };
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp, fabric, seed: seed(72) + n, ..DuoSetup::default() });
        for i in 0..20 {
            duo.post(0, 0, &wqe(WQE_READ, i, 0, 0, 100));
        }
        duo.run(LONG);
        assert_eq!(duo.statuses(0, false), (0..20).map(|i| (i, 0)).collect::<Vec<_>>());
        duo.assert_quiet();
    }
}

/// L4: one packet, all paths dead: those that carry it are found dead too, with requests under way (D8) or without.
#[test]
fn l4_a_moved_packet_is_watched() {
    for opcode in [WQE_WRITE, WQE_READ] {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { retry: 3, ..DuoSetup::default() });
        duo.fabric.dead = vec![true; 8];
        duo.post(0, 0, &wqe(opcode, 1, 0, 0, 100));
        duo.run(LONG);
        assert_eq!(duo.statuses(0, false), [(1, 12)]);
    }
}

/// D3: the response FIFO of the connection is bounded, and each place in it is reserved.
#[test]
fn d3_response_fifo_full() {
    let nic = NicConfig { responses: 1, ..DuoSetup::default().nic };
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { nic, qps: 4, fabric: rough(0.05), seed: seed(71), ..DuoSetup::default() });
    for i in 0..40 {
        let (to, from) = (duo.alloc(0, 6000), duo.alloc(1, 6000));
        duo.post(0, i as u32 % 4, &wqe(WQE_READ, i, to, from, 6000));
    }
    while duo.step() {
        let responses = &duo.nic[1].tx_conn(0).unwrap().responses;
        assert!(responses.fifo.len() <= 1 && responses.reserved <= 1);
    }
    assert_eq!(duo.cqes[0].len(), 40);
    assert!(duo.cqes[0].iter().all(|c| c.status == Status::Success));
    duo.assert_quiet();
}

/// D3, D7: the region is gone when the READ is executed: an ERROR_RESP with its code, and both QPs fail.
#[test]
fn d7_key_gone_before_execution() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { paths: 1, ..DuoSetup::default() });
    // The WRITE before the READ loses its first packet, so the READ waits for it.
    duo.fabric.drop_rule = Some(Box::new(|from, kind, n| from == 0 && kind == TransmitKind::New && n == 0));
    duo.post(0, 0, &wqe(WQE_WRITE, 1, 0, 0, 10_000));
    duo.post(0, 0, &wqe(WQE_READ, 2, 0, 0, 100));
    duo.post(0, 0, &wqe(WQE_READ, 3, 0, 0, 100));
    duo.run_until(LONG, "the READ arrived", |d| d.nic[1].tx_conn(0).unwrap().responses.reserved == 2);
    let other = KeyConfig {
        valid: true,
        rights: Rights::from_bits(2),
        base: BASE,
        length: 100_000,
        dma_base: crate::duo::BUS,
        key_low: 0x5A,
        pd: 0,
    };
    duo.nic[1].register_key(1, &other).unwrap();
    duo.run(LONG);
    let cqes = &duo.cqes[0];
    assert_eq!(duo.statuses(0, false), [(1, 0), (2, 10), (3, 5)]);
    assert_eq!(cqes[1].nak_code, 2);
    assert_eq!(duo.nic[1].qp_state(0), Ok(QpState::Error));
    assert_eq!(duo.nic[1].counters().tx_error_responses, 2);
    duo.assert_quiet();
}

/// D7: the responder's QP fails, is reset or destroyed while READs are pending: each is answered, none waits for ever.
#[test]
fn d7_responder_goes_away() {
    for how in 0..3 {
        for n in 0..6 {
            let setup = DuoSetup { fabric: rough(0.1), seed: seed(80) + n, ..DuoSetup::default() };
            let mut duo = Duo::<OpenMr0>::new(&setup);
            for i in 0..12 {
                let (to, from) = (duo.alloc(0, 60_000), duo.alloc(1, 60_000));
                duo.post(0, 0, &wqe(WQE_READ, i, to, from, 60_000));
            }
            let after = 100_000 * n;
            let pending = |d: &Duo| d.nic[1].requests_held(0).unwrap() > 0;
            duo.run_until(LONG, "some", |d| d.nic[0].counters().rx_placed_bytes >= after && (after > 0 || pending(d)));
            match how {
                0 => duo.nic[1].modify_qp(0, QpState::Error).unwrap(),
                1 => duo.nic[1].modify_qp(0, QpState::Reset).unwrap(),
                _ => duo.nic[1].close_qp(0),
            }
            duo.run(LONG);
            let ids: Vec<u64> = duo.statuses(0, false).iter().map(|c| c.0).collect();
            assert_eq!(ids, (0..12).collect::<Vec<_>>(), "one completion each");
            let failed = duo.cqes[0].iter().any(|c| c.status != Status::Success);
            assert_eq!(duo.nic[0].qp_state(0), Ok(if failed { QpState::Error } else { QpState::Rts }));
            assert!(failed || after >= 300_000, "with so much missing it must show");
            duo.assert_quiet();
        }
    }
}

/// D4, D7: the payload of a response cannot be read any more.
#[test]
fn d7_response_memory_gone() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup::default());
    duo.mem[1].broken = Some(50_000..50_001);
    duo.post(0, 0, &wqe(WQE_READ, 1, 0, 0, 100_000));
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), [(1, 11)]);
    duo.assert_quiet();
}

/// D6: host memory of the requester refuses the payload: its own error.
#[test]
fn d6_local_memory_gone() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup::default());
    duo.mem[0].broken = Some(50_000..50_001);
    duo.post(0, 0, &wqe(WQE_READ, 1, 0, 0, 100_000));
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), [(1, 4)]);
    duo.assert_quiet();
}

/// D6: the requester's QP fails while responses are on their way: they are accepted and not placed.
#[test]
fn d6_requester_in_error() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.05), seed: seed(90), ..DuoSetup::default() });
    duo.post(0, 0, &wqe(WQE_READ, 1, 0, 0, 1 << 20));
    duo.run_until(LONG, "half", |d| d.nic[0].counters().rx_placed_bytes > 500_000);
    duo.nic[0].modify_qp(0, QpState::Error).unwrap();
    let before = duo.mem[0].bytes.clone();
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), [(1, 5)]);
    assert!(before == duo.mem[0].bytes);
    let c = duo.nic[0].counters();
    assert!(c.rx_responses > c.rx_responses_used);
    duo.assert_quiet();
}

/// D8: the responder dies after it has acknowledged the request: a connection error, never silence.
#[test]
fn d8_dead_responder() {
    for (paths, retry) in [(1, 2), (8, 3)] {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { paths, retry, ..DuoSetup::default() });
        // Responses get lost, acknowledgments come through; then everything is dead.
        duo.fabric.drop_rule = Some(Box::new(|from, kind, _| from == 1 && kind != TransmitKind::Ack));
        duo.post(0, 0, &wqe(WQE_READ, 1, 0, 0, 100));
        let idle = |d: &Duo| (0..paths).all(|p| d.nic[0].tx_path(0, p).unwrap().span() == 0);
        duo.run_until(LONG, "the request is acknowledged", |d| d.nic[0].counters().retired_packets == 1 && idle(d));
        duo.fabric.dead = vec![true; paths.into()];
        duo.run(LONG);
        assert_eq!(duo.statuses(0, false), [(1, 12)]);
        assert!(duo.nic[0].tx_conn(0).unwrap().error);
    }
}

/// D8: the responder gave the connection up, as nobody acknowledged its responses; the requester hears it by silence.
#[test]
fn d8_responder_gave_up() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { paths: 2, retry: 2, ..DuoSetup::default() });
    // The requester's acknowledgments are lost, nothing else.
    duo.fabric.drop_rule = Some(Box::new(|from, kind, _| from == 0 && kind == TransmitKind::Ack));
    duo.post(0, 0, &wqe(WQE_READ, 1, 0, 0, 200_000));
    duo.run(LONG);
    let responder = duo.nic[1].tx_conn(0).unwrap();
    assert!(responder.error);
    // S2: what is left of the response, and the ERROR_RESP that follows it, are dropped and hold no place.
    assert_eq!((responder.responses.fifo.len(), responder.responses.reserved), (0, 0));
    assert_eq!(duo.statuses(0, false), [(1, 12)]);
    assert!(duo.nic[0].tx_conn(0).unwrap().error);
}

/// D8: a slow responder is asked whether it lives, and nothing fails.
#[test]
fn d8_slow_responder() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { paths: 2, retry: 2, ..DuoSetup::default() });
    // Responses are lost for a while, acknowledgments are not.
    let dropped = std::rc::Rc::new(std::cell::Cell::new(true));
    let rule = dropped.clone();
    duo.fabric.drop_rule = Some(Box::new(move |from, kind, _| from == 1 && kind != TransmitKind::Ack && rule.get()));
    duo.post(0, 0, &wqe(WQE_READ, 1, 0, 4096, 100));
    duo.run_for(4_000);
    assert!(duo.nic[0].counters().tx_probes_timeout > 1, "{:?}", duo.nic[0].counters());
    assert_eq!(duo.cqes[0], []);
    dropped.set(false);
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), [(1, 0)]);
    duo.assert_quiet();
}

/// D4: READs both ways and WRITEs at once: neither FIFO starves.
#[test]
fn d4_both_fifos_share_the_slots() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { bytes: 32 << 20, ..DuoSetup::default() });
    let len = 4 << 20;
    for side in 0..2 {
        let (from, to, back) = (duo.alloc(side, len), duo.alloc(1 - side, len), duo.alloc(side, len));
        // The request first, or it would wait in the FIFO behind the whole WRITE.
        duo.post(side, 1, &wqe(WQE_READ, 2, back, to, len));
        duo.post(side, 0, &wqe(WQE_WRITE, 1, from, to, len));
    }
    let half = u64::from(len) / 2;
    duo.run_until(LONG, "half", |d| d.nic[0].counters().tx_payload_bytes > half);
    let c = duo.nic[0].counters();
    let responses = c.tx_responses as f64 / c.tx_new as f64;
    assert!((0.3..0.7).contains(&responses), "{responses}");
    duo.run(LONG);
    assert_eq!((duo.cqes[0].len(), duo.cqes[1].len()), (2, 2));
    duo.assert_quiet();
}
