//! Paths that fail: port change (L5), death and revival (L4), each shown on the records and frames of the RTL.
//!
//! In: two NICs in lockstep with the golden model, a wire that loses the frames of one route or of one path. Out: their commit
//! records and frames. Guarantees: the engine takes the steps that docs/protocol.md names, in that order, and all data arrives.
mod rig;

use mrnic_lockstep::{Kind, Record};
use mrnic_regs::reg;
use mrnic_wire::{parse_packet, Opcode};
use rig::{writable, Rig};
use std::cell::Cell;
use std::rc::Rc;

// values of the fields of the commit records (docs/microarchitecture.md)
const TIMER_L4_PROBE: u64 = 2;
const TIMER_FIRST_SUSPECT: u64 = 8;
const TIMER_DOWN: u64 = 4;
const TIMER_WHILE_DOWN: u64 = 5;
const TIMER_PORT_CHANGE: u64 = 7;
const RTO_MIN_TICKS: u64 = reg::rto_min::RESET as u64;
const STATE_UP: u64 = 1;
const STATE_SUSPECT: u64 = 2;
const STATE_DOWN: u64 = 3;
const ACK_APPLIED: u64 = 0;
const GRANT_NEW: u64 = 0;

/// L5, with the port that the rig gives to path 0.
const OLD_PORT: u64 = 0xC000;
const NEW_PORT: u64 = 0xC537;

fn opcode_and_via(frame: &[u8]) -> (Opcode, u8) {
    let p = parse_packet(frame).expect("the NIC sends good frames").packet;
    (p.opcode(), p.mph.via)
}

fn udp_port(frame: &[u8]) -> u64 {
    parse_packet(frame).expect("the NIC sends good frames").udp_src.into()
}

fn of_kind(records: &[Record], kind: Kind) -> Vec<&Record> {
    records.iter().filter(|r| r.kind == kind).collect()
}

/// Ticks from `a` to `b`.
fn ticks(a: u64, b: u64) -> u64 {
    u64::from((b as u32).wrapping_sub(a as u32))
}

/// L5: the route of the only path dies. The second timeout changes the UDP source port; losses are told from gaps again only
/// RTO_MIN later, and then everything is resent on the new route.
#[test]
fn second_timeout_changes_the_port_and_the_floor_holds() {
    let mut rig = Rig::new();
    rig.open(0, &|c| c.paths = 1);
    let qp = rig.pair(0);
    let len = 60_000;
    let (warm, there) = (rig.filled(0, len, 3), rig.region(1, len, 5, writable(), 1));
    rig.post(0, qp, &warm, &there, len);
    rig.run();
    // from here on nothing comes through by the old port
    rig.lose = Some(Box::new(|node, frame| node == 0 && udp_port(frame) == OLD_PORT));
    rig.tapped = Some(Vec::new());
    rig.nodes[0].keep_records();
    let (local, remote) = (rig.filled(0, len, 7), rig.region(1, len, 9, writable(), 1));
    rig.post(0, qp, &local, &remote, len);
    rig.run();
    let counters = rig.finish();
    rig.assert_copied((0, &local), (1, &remote), len);
    let records = rig.nodes[0].records();

    // one timeout keeps the port, the second changes it, and it stays
    let timers = of_kind(records, Kind::Timer);
    let changes: Vec<usize> = (0..timers.len()).filter(|i| timers[*i].get("action") == TIMER_PORT_CHANGE).collect();
    let [change] = changes[..] else { panic!("{} port changes: {timers:#?}", changes.len()) };
    let timeouts: Vec<_> = timers[..change].iter().filter(|t| t.get("action") == TIMER_L4_PROBE).collect();
    assert_eq!(timeouts.len(), 1, "timeouts before the change: {timers:#?}");
    assert_eq!((timeouts[0].get("backoff"), timers[change].get("backoff")), (1, 2));
    for (i, t) in timers.iter().enumerate() {
        let port = if i < change { OLD_PORT } else { NEW_PORT };
        assert_eq!((t.get("port"), t.get("state")), (port, STATE_UP), "timer {i}: {t}");
    }
    let doubled = ticks(timeouts[0].get("now"), timers[change].get("now"));
    assert!(doubled >= 2 * RTO_MIN_TICKS, "the second timeout comes after {doubled} ticks");

    // the frames say the same: old port, then new port, the first of them the probe
    let frames = rig.tapped.take().expect("tapped");
    let first_new = frames.iter().position(|f| udp_port(f) == NEW_PORT).expect("frames with the new port");
    assert!(frames[..first_new].iter().all(|f| udp_port(f) == OLD_PORT));
    assert!(frames[first_new..].iter().all(|f| udp_port(f) == NEW_PORT));
    assert_eq!(opcode_and_via(&frames[first_new]), (Opcode::Probe, 0));

    // the floor: the probe's reply shows that everything is missing, and nothing is declared lost for RTO_MIN
    let floor_time = timers[change].get("now");
    let floor = timers[change].get("next");
    let acks: Vec<_> = of_kind(records, Kind::Ack).into_iter().filter(|a| a.get("verdict") == ACK_APPLIED).collect();
    let held: Vec<_> = acks.iter().filter(|a| ticks(floor_time, a.get("now")) < RTO_MIN_TICKS).collect();
    assert!(!held.is_empty(), "no acknowledgment while the floor holds");
    for a in &held {
        assert!(a.get("next") == floor && a.get("cum") != floor, "everything is outstanding: {a}");
        assert_eq!((a.get("lost_l1"), a.get("lost_l2")), (0, 0), "{a}");
    }
    let found = acks.iter().find(|a| a.get("lost_l1") > 0).expect("the losses are found");
    assert!(ticks(floor_time, found.get("now")) >= RTO_MIN_TICKS, "{found}");
    assert_eq!(found.get("lost_l1"), floor.wrapping_sub(found.get("cum")) & 0xFF_FFFF, "{found}");

    // traffic goes on: the resends and whatever had no room before
    let grants = of_kind(records, Kind::Grant);
    let resent: Vec<_> = grants.iter().filter(|g| g.get("rtx") == 1).collect();
    assert_eq!(resent.len() as u64, found.get("lost_l1"), "each lost packet is resent once");
    assert!(resent.iter().all(|g| g.get("port") == NEW_PORT && g.get("now") >= found.get("now")));
    assert_eq!(counters[0].get("TX_RESEND"), resent.len() as u64);
}

/// R9, L5: the way back of the only path dies, by which nothing but acknowledgments travels. The port change of the sender is one for both ways.
#[test]
fn a_sender_that_leaves_a_route_leaves_it_for_acknowledgments_too() {
    let mut rig = Rig::new();
    rig.open(0, &|c| c.paths = 1);
    let qp = rig.pair(0);
    let len = 60_000;
    rig.lose = Some(Box::new(|node, frame| node == 1 && udp_port(frame) == OLD_PORT));
    rig.nodes[0].keep_records();
    let (local, remote) = (rig.filled(0, len, 7), rig.region(1, len, 9, writable(), 1));
    rig.post(0, qp, &local, &remote, len);
    rig.run();
    let counters = rig.finish();
    rig.assert_copied((0, &local), (1, &remote), len);
    let timers = of_kind(rig.nodes[0].records(), Kind::Timer);
    let changes: Vec<u64> = timers.iter().filter(|t| t.get("action") == TIMER_PORT_CHANGE).map(|t| t.get("port")).collect();
    assert_eq!(changes, [NEW_PORT], "{timers:#?}");
    assert_eq!(counters[0].get("TX_RESEND"), 0, "everything had arrived");
}

/// L4: one of four paths dies under its new ports, too: SUSPECT, its packets move, one first, then DOWN. It comes back: three probes in turn
/// are answered, then it is UP with a window of 1 and carries new packets.
#[test]
fn a_dead_path_is_left_and_comes_back_after_three_probes() {
    const DEAD: u64 = 1;
    let mut rig = Rig::new();
    rig.open(0, &|c| c.paths = 4);
    let qp = rig.pair(0);
    let len = 400_000;
    let dead = Rc::new(Cell::new(true));
    let flag = dead.clone();
    // both directions, whatever the port
    rig.lose = Some(Box::new(move |_, frame| flag.get() && u64::from(opcode_and_via(frame).1) == DEAD));
    rig.nodes[0].keep_records();
    let (local, remote) = (rig.filled(0, len, 3), rig.region(1, len, 5, writable(), 1));
    rig.post(0, qp, &local, &remote, len);
    rig.run();
    rig.assert_copied((0, &local), (1, &remote), len);
    let of_dead = |r: &Record| match r.kind {
        Kind::Timer => r.get("path") == DEAD,
        Kind::Ack | Kind::Grant => r.get("home") == DEAD,
        _ => false,
    };

    // SUSPECT, the port change, DOWN; its packets do not wait for that
    let is_down = |rig: &Rig| rig.nodes[0].records().iter().any(|r| r.kind == Kind::Timer && r.get("action") == TIMER_DOWN);
    for _ in 0..1000 {
        if is_down(&rig) {
            break;
        }
        rig.cycles(1000);
    }
    let records = rig.nodes[0].records().to_vec();
    let timers: Vec<_> = of_kind(&records, Kind::Timer).into_iter().filter(|t| of_dead(t)).collect();
    let steps: Vec<_> = timers.iter().map(|t| (t.get("action"), t.get("state"), t.get("backoff"))).collect();
    let expected =
        [(TIMER_FIRST_SUSPECT, STATE_SUSPECT, 1), (TIMER_PORT_CHANGE, STATE_SUSPECT, 2), (TIMER_DOWN, STATE_DOWN, 3)];
    assert_eq!(steps, expected, "{timers:#?}");
    let ports: Vec<_> = timers.iter().map(|t| t.get("port")).collect();
    assert_eq!(ports, [0xC001, 0xC538, 0xC538], "the second timeout changes the port (L5)");
    let suspect = timers[0];
    let homeless = suspect.get("next").wrapping_sub(suspect.get("cum")) & 0xFF_FFFF;
    assert!(homeless > 1, "packets were under way: {suspect}");

    // each of them moves to a living path, once
    let grants = of_kind(&records, Kind::Grant);
    let moved: Vec<_> = grants.iter().filter(|g| g.get("moved") == 1).collect();
    assert_eq!(moved.len() as u64, homeless);
    for g in &moved {
        assert!(of_dead(g) && g.get("rtx") == 1 && g.get("via") != DEAD && g.cycle > suspect.cycle, "{g}");
    }
    // S1: the first of them asks what has arrived
    let acks = of_kind(&records, Kind::Ack);
    let heard = acks.iter().find(|a| of_dead(a) && a.get("acked") > 0).expect("it was acknowledged");
    assert!(moved[0].cycle < heard.cycle && heard.cycle < moved[1].cycle, "{heard}");
    let later_by_dead = grants.iter().filter(|g| g.cycle > suspect.cycle && g.get("via") == DEAD);
    assert_eq!(later_by_dead.count(), 0, "nothing but probes travels by a path that is not UP");

    // it comes back, with nothing to send
    dead.set(false);
    let revived = rig.nodes[0].nic.cycle();
    let acks_since = |rig: &Rig| -> Vec<Record> {
        let acks = rig.nodes[0].records().iter().filter(|r| r.kind == Kind::Ack && of_dead(r) && r.cycle > revived);
        acks.cloned().collect()
    };
    for _ in 0..1000 {
        if acks_since(&rig).last().is_some_and(|a| a.get("state") == STATE_UP) {
            break;
        }
        rig.cycles(1000);
    }
    let acks = acks_since(&rig);
    let states: Vec<_> = acks.iter().map(|a| a.get("state")).collect();
    assert_eq!(states, [STATE_DOWN, STATE_DOWN, STATE_UP], "one probe after another is answered: {acks:#?}");
    assert!(acks.iter().all(|a| a.get("verdict") == ACK_APPLIED && a.get("acked") == 0), "replies to probes: {acks:#?}");
    assert_eq!(acks[2].get("window"), 1);
    let probes = rig.nodes[0].records().iter().filter(|r| r.kind == Kind::Timer && of_dead(r) && r.cycle > revived);
    let actions: Vec<_> = probes.map(|t| t.get("action")).collect();
    assert_eq!(actions, [TIMER_WHILE_DOWN; 3], "a probe for each reply");

    let c = rig.counters(0);
    assert_eq!((c.get("PATH_SUSPECT"), c.get("PATH_DOWN"), c.get("TX_MOVED")), (1, 1, homeless));

    // and carries new packets again
    let up = acks[2].cycle;
    let (local, remote) = (rig.filled(0, len, 7), rig.region(1, len, 9, writable(), 1));
    rig.post(0, qp, &local, &remote, len);
    rig.run();
    rig.assert_copied((0, &local), (1, &remote), len);
    let by_dead = rig.nodes[0]
        .records()
        .iter()
        .filter(|r| r.kind == Kind::Grant && r.cycle > up && r.get("kind") == GRANT_NEW && r.get("via") == DEAD);
    let by_dead: Vec<_> = by_dead.collect();
    assert!(by_dead.len() > 3 && by_dead.iter().all(|g| of_dead(g) && g.get("port") == 0xC538), "{by_dead:#?}");
    // (its round trip is that of a path without traffic: it may be taken for SUSPECT once more, but not for DOWN)
    let [c, _] = rig.finish();
    assert_eq!(c.get("PATH_DOWN"), 1);
}

/// S3, L4: paths die while nearly all are idle. Small messages, one at a time, still arrive, even by a single path: a moved
/// packet's next try takes another path, and idle paths are asked whether they live.
#[test]
fn moved_packets_find_the_paths_that_live() {
    const LEN: usize = 64;
    let mut tried_again = 0;
    for living in [0b1010_1010u32, 0b1111_0000, 0b0000_1111, 0b0000_0001, 0b1000_0000] {
        let mut rig = Rig::new();
        rig.set_rto_min(100);
        rig.open(0, &|_| {});
        let qp = rig.pair(0);
        let warm = 4;
        for n in 0..16 {
            if n == warm {
                // both directions, whatever the port
                rig.lose = Some(Box::new(move |_, frame| living >> opcode_and_via(frame).1 & 1 == 0));
                rig.nodes[0].keep_records();
            }
            let (local, remote) = (rig.filled(0, LEN, n), rig.region(1, LEN, 5, writable(), 1));
            rig.post(0, qp, &local, &remote, LEN);
            rig.run();
            rig.assert_copied((0, &local), (1, &remote), LEN);
        }
        let records = rig.nodes[0].records().to_vec();
        let grants = of_kind(&records, Kind::Grant);
        let moved: Vec<_> = grants.iter().filter(|g| g.get("moved") == 1).collect();
        assert!(!moved.is_empty(), "living {living:#b}");
        let packet = |r: &Record| (r.get("home"), r.get("ppsn"));
        for pair in moved.windows(2).filter(|p| packet(p[0]) == packet(p[1])) {
            assert_ne!(pair[0].get("via"), pair[1].get("via"), "the next try takes another path: {}", pair[1]);
            tried_again += 1;
        }
        let [c, _] = rig.finish();
        assert_eq!((c.get("CONN_ERROR"), c.get("TX_MOVED")), (0, moved.len() as u64), "living {living:#b}");
        assert!(c.get("PATH_SUSPECT") >= 1, "living {living:#b}");
    }
    assert!(tried_again > 0, "no packet was tried a second time");
}
