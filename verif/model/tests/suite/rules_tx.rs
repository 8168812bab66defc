//! Rules of the sender on one path or connection, one named test each: A1..A3, L1..L6, C1..C4, S1..S6.

use mrnic_model::congestion::{AckSample, CongestionControl};
use mrnic_model::seq::Serial24;
use mrnic_model::tx::ack::{apply, AckOutcome};
use mrnic_model::tx::conn::TxConn;
use mrnic_model::tx::slot::{choose_path, choose_resend};
use mrnic_model::tx::timer::{begin_watch, deadline, step, Others};
use mrnic_model::*;
use mrnic_wire::{Ack, AckFlags, Ppsn, SackVector};

pub type Path = TxPath<()>;
pub const RTO_MIN: u32 = 782;

pub fn open(start: u32, window: u16) -> Path {
    TxPath::open(true, 0xC000, start, window, 0)
}

pub fn ack_of(cum: u32, received: &[u32]) -> (Ppsn, Ack) {
    let mut vector = SackVector::EMPTY;
    let cum = Ppsn::new(cum);
    for &ppsn in received {
        assert!(vector.set(Ppsn::new(ppsn).ahead_of(cum) - 1));
    }
    (cum, Ack { vector, rate: RATE_UNLIMITED, ..Ack::default() })
}

pub fn ack<P: Profile>(path: &mut Path, now: Tick, cum: u32, received: &[u32]) -> AckOutcome {
    let (cum, ack) = ack_of(cum, received);
    apply(&Aimd, path, now, cum, &ack, RTO_MIN, P::VECTOR_BITS)
}

fn with<P: Profile>(path: &mut Path, now: Tick, cum: u32, received: &[u32], change: impl FnOnce(&mut Ack)) -> AckOutcome {
    let (cum, mut ack) = ack_of(cum, received);
    change(&mut ack);
    apply(&Aimd, path, now, cum, &ack, RTO_MIN, P::VECTOR_BITS)
}

fn send(path: &mut Path, count: u32) {
    for _ in 0..count {
        path.send_new(0);
    }
}

fn set(path: &Path, bits: &mrnic_model::bits256::Bits256) -> Vec<u32> {
    (0..path.span()).map(|i| path.cum.wrapping_add(i)).filter(|p| bits.get(p.ring256())).map(|p| p.get()).collect()
}

fn lost(path: &Path) -> Vec<u32> {
    set(path, &path.lost)
}

fn timer(path: &mut Path, now: Tick, other_up: bool) -> TimerAction {
    step(&Aimd, path, now, RTO_MIN, 7, Others { up: other_up, ..Others::default() })
}

/// When a path whose others have nothing stranded is looked at again.
fn due(path: &Path, now: Tick) -> Option<Tick> {
    deadline(path, now, RTO_MIN, Others::default())
}

/// A1: disabled, stale and invalid acknowledgments change nothing.
fn a1_validity<P: Profile>() {
    let mut path = open(10, 16);
    send(&mut path, 5);
    ack::<P>(&mut path, 1, 12, &[]);
    for (cum, sav, verdict) in [
        (11, vec![], AckVerdict::Stale),
        (16, vec![], AckVerdict::Invalid),
        (12, vec![15], AckVerdict::Invalid),
        (15, vec![16], AckVerdict::Invalid),
    ] {
        let before = format!("{path:?}");
        assert_eq!(ack::<P>(&mut path, 2, cum, &sav).verdict, verdict);
        assert_eq!(format!("{path:?}"), before);
    }
    path.state = PathState::Disabled;
    assert_eq!(ack::<P>(&mut path, 2, 13, &[]).verdict, AckVerdict::Disabled);
}

/// A2: a probe's reply counts once, and speaks for everything sent before the probe.
fn a2_probe_edge<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 4);
    path.send_probe(77);
    let reply = |a: &mut Ack| {
        a.flags.probe_reply = true;
        a.ts_echo = 77;
    };
    let out = with::<P>(&mut path, 5, 1, &[], |a| a.ts_echo = 77);
    assert!(!out.probe, "not a reply");
    path.send_probe(77);
    let out = with::<P>(&mut path, 6, 1, &[], |a| a.flags.probe_reply = true);
    assert!(!out.probe, "another probe's reply");
    let out = with::<P>(&mut path, 7, 1, &[], reply);
    assert!(out.probe);
    assert_eq!(lost(&path), [1, 2, 3]);
    assert!(!path.l1_since_dup, "found by the probe edge");
    assert!(!with::<P>(&mut path, 8, 1, &[], reply).probe, "no longer pending");
}

/// A3: newly acknowledged packets leave all sets; each is reported once; right across the wrap.
fn a3_newly_acknowledged<P: Profile>() {
    for start in [0u32, 0xFF_FFFE] {
        let mut path = open(start, 16);
        send(&mut path, 6);
        let at = |n: u32| (start + n) & 0xFF_FFFF;
        let out = ack::<P>(&mut path, 1, at(1), &[at(3), at(4)]);
        assert_eq!((out.acked, lost(&path)), (3, vec![at(1), at(2)]));
        path.resend(Ppsn::new(at(1)));
        let out = ack::<P>(&mut path, 2, at(2), &[at(3), at(4)]);
        assert_eq!(out.acked, 1);
        assert!(path.rtx_old.is_empty());
        let out = ack::<P>(&mut path, 3, at(5), &[]);
        assert_eq!((out.acked, path.nlost, path.nsacked, path.pipe()), (1, 0, 0, 1));
    }
}

/// L1: exactly the packets below a later one of the same path are lost, at once.
fn l1_gap_is_loss<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 8);
    let out = ack::<P>(&mut path, 1, 1, &[3, 6]);
    assert_eq!(lost(&path), [1, 2, 4, 5]);
    assert_eq!(out.lost_l1.count(), 4);
    assert_eq!(path.pipe(), 1, "only packet 7 is in flight");
    assert_eq!(ack::<P>(&mut path, 2, 1, &[3, 6]).lost_l1.count(), 0, "found once");
}

/// L2: a resend is lost again only when a packet first sent after it has arrived.
fn l2_resend_marker<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 4);
    ack::<P>(&mut path, 1, 0, &[3]);
    for n in 0..3 {
        path.resend(Ppsn::new(n));
    }
    assert_eq!((path.mark.get(), path.gen_open), (4, true));
    assert_eq!(ack::<P>(&mut path, 2, 1, &[3]).lost_l2.count(), 0, "nothing newer has arrived");
    send(&mut path, 2);
    let out = ack::<P>(&mut path, 3, 1, &[3, 4]);
    assert_eq!((out.lost_l2.count(), lost(&path)), (2, vec![1, 2]));
    // A second generation: resent after a new packet of the first.
    path.resend(Ppsn::new(1));
    send(&mut path, 1);
    path.resend(Ppsn::new(2));
    assert_eq!((set(&path, &path.rtx_old), set(&path, &path.rtx_new)), (vec![1], vec![2]));
    let out = ack::<P>(&mut path, 4, 1, &[3, 4, 5, 6]);
    assert_eq!((out.lost_l2.count(), lost(&path)), (1, vec![1]));
    assert_eq!(set(&path, &path.rtx_old), [2], "the younger generation waits for its own marker");
}

/// L3: the tail probe: when it goes, when not, and that it is repeated when it is not answered.
fn l3_tail_probe<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 2);
    assert_eq!(timer(&mut path, 200, true), TimerAction::None, "no RTT known");
    with::<P>(&mut path, 30, 1, &[], |a| a.flags.ts_valid = true);
    assert_eq!(path.srtt_ticks(), 30);
    // tail = 30 + 7, from the last packet on, which was sent at 0: an acknowledgment of those before it does not delay it
    assert_eq!(due(&path, 30), Some(37));
    assert_eq!(timer(&mut path, 36, true), TimerAction::None);
    assert_eq!(timer(&mut path, 37, true), TimerAction::TailProbe);
    assert_eq!((path.probe_ts, path.probe_ppsn.get(), path.mark.get()), (37, 2, 2));
    assert_eq!(path.next.get(), 2, "a probe takes no PPSN");
    assert_eq!(timer(&mut path, 73, true), TimerAction::None, "not yet repeated");
    assert_eq!(due(&path, 73), Some(74));
    assert_eq!(timer(&mut path, 74, false), TimerAction::TailProbe, "repeated, as no other path is UP");
    // progress answers the probe, as it were; the next one goes a tail after that
    path.send_new(80);
    with::<P>(&mut path, 90, 2, &[], |_| ());
    assert_eq!(due(&path, 90), Some(117));
    path.send_new(100);
    assert_eq!(due(&path, 100), Some(127), "90 + 37: progress is older than the last packet");
    assert_eq!(timer(&mut path, 127, true), TimerAction::TailProbe);
    let out = with::<P>(&mut path, 134, 3, &[], |a| {
        a.flags = AckFlags { probe_reply: true, ts_valid: true, ..AckFlags::default() };
        a.ts_echo = 127;
    });
    assert!(out.probe);
    assert_eq!(lost(&path), [3]);
    assert_eq!(timer(&mut path, 400, true), TimerAction::None, "pipe = 0: nothing to probe for");
}

/// L3: queues grow as in an incast: a path whose last round trip was short is silent only after what others need for one.
fn l3_queues_that_have_grown<P: Profile>() {
    let mut paths = [open(0, 16), open(0, 16)];
    for (path, rtt) in paths.iter_mut().zip([32, 100]) {
        send(path, 5);
        with::<P>(path, rtt, 1, &[], |a| a.flags.ts_valid = true);
    }
    let others = Others::of(&paths, 0);
    assert_eq!(others, Others { up: true, stranded: false, longest_ticks: 100 });
    // tail = 32 + 8; the other path says that answers may take up to 100 ticks: it is silent after 150
    for (idle, action) in [(40, TimerAction::TailProbe), (80, TimerAction::TailProbe), (120, TimerAction::TailProbe)] {
        assert_eq!(step(&Aimd, &mut paths[0], 32 + idle, RTO_MIN, 7, others), action);
    }
    let mut path = paths[0].clone();
    assert_eq!(step(&Aimd, &mut path, 32 + 160, RTO_MIN, 7, others), TimerAction::TailSuspect);
    // one that is not UP says nothing
    paths[1].state = PathState::Suspect;
    assert_eq!(Others::of(&paths, 0).longest_ticks, 32);
}

/// L3: a tail probe without an answer, and another path is UP: the path is SUSPECT, all its packets are lost and take the paths
/// that live, one first; probes go on; the peer's answer brings it back, a moved packet's does not.
fn l3_a_burst_that_swallows_probes_too<P: Profile>() {
    let mut paths = [open(0, 16), open(0, 16)];
    let path = &mut paths[0];
    send(path, 5);
    with::<P>(path, 32, 1, &[], |a| a.flags.ts_valid = true);
    // tail = 32 + 8
    let mut lone = path.clone();
    for now in [40, 80, 120] {
        assert_eq!(timer(&mut lone, now, false), TimerAction::TailProbe, "no other path is UP");
    }
    for (now, action) in [(40, TimerAction::TailProbe), (80, TimerAction::TailSuspect)] {
        assert_eq!(timer(path, now - 1, true), TimerAction::None);
        assert_eq!(timer(path, now, true), action);
    }
    assert_eq!((path.state, path.t_base, path.backoff, path.win.window), (PathState::Suspect, 32, 0, 16));
    assert_eq!((lost(path), path.pipe(), path.gen_open, path.port), (vec![1, 2, 3, 4], 0, true, 0xC000));
    // S1: one asks, then all others that have not arrived move.
    let moved = |paths: &[Path]| choose_resend(paths, 0, P::VECTOR_BITS).map(|r| (r.home, r.via, r.ppsn.get(), r.moved));
    assert_eq!(moved(&paths), Some((0, 1, 1, true)));
    paths[0].resend(Ppsn::new(1));
    assert_eq!(moved(&paths), None);
    let out = ack::<P>(&mut paths[0], 130, 3, &[]);
    assert_eq!((out.acked, paths[0].state, paths[0].t_base), (2, PathState::Suspect, 130), "the other path lives, says this");
    for n in [3, 4] {
        assert_eq!(moved(&paths), Some((0, 1, n, true)));
        paths[0].resend(Ppsn::new(n));
    }
    let path = &mut paths[0];
    assert_eq!(timer(path, 170, true), TimerAction::TailStillSuspect);
    assert_eq!((lost(path), path.heard), (vec![3, 4], false), "moved resends may be lost too");
    path.resend(Ppsn::new(3));
    let mut dead = path.clone();
    let out = with::<P>(path, 180, 3, &[], |a| (a.flags.probe_reply, a.ts_echo) = (true, 170));
    assert_eq!((out.probe, path.state), (true, PathState::Up));
    assert_eq!(out.lost_l2.count(), 0, "the reply does not tell of what travels by another path");
    // It stays silent: L4 from the last progress, with a new port at the second timeout; tail probes go on between.
    let mut now = 130;
    for (wait, action) in [(1, TimerAction::TimeoutProbe), (2, TimerAction::PortChange), (4, TimerAction::Down)] {
        assert_eq!(timer(&mut dead, now + 200, true), TimerAction::TailStillSuspect);
        dead.resend(Ppsn::new(3));
        now += wait * RTO_MIN;
        assert_eq!(timer(&mut dead, now, true), action);
        assert_eq!(lost(&dead), [3, 4]);
    }
    assert_eq!(dead.port, 0xC537);
}

/// L4 (a): packets of a DOWN path that others carry and nobody acknowledges end in a connection error; sooner than 127 tries,
/// or with an acknowledgment between, they do not.
fn l4_moved_packets_are_not_tried_for_ever<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 2);
    (path.state, path.backoff) = (PathState::Down, 3);
    let mut now = 0;
    let tries = |path: &mut Path, now: &mut Tick, count: u32| {
        for i in 0..count {
            *now += 8 * RTO_MIN;
            let lowest = path.cum;
            path.resend(lowest);
            assert_eq!(timer(path, *now, true), TimerAction::StillDown, "try {i}");
        }
    };
    tries(&mut path, &mut now, 126);
    ack::<P>(&mut path, now, 1, &[]);
    tries(&mut path, &mut now, 126);
    for _ in 0..200 {
        now += 8 * RTO_MIN;
        assert_eq!(timer(&mut path, now, true), TimerAction::StillDown, "nothing was tried");
    }
    path.resend(Ppsn::new(1));
    assert_eq!(timer(&mut path, now + 8 * RTO_MIN, true), TimerAction::ConnError);
}

/// L4: back-off, SUSPECT with everything lost, a new port, DOWN, and back after three answered probes.
fn l4_timeouts_and_health<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 3);
    let mut now = RTO_MIN;
    assert_eq!(timer(&mut path, now - 1, true), TimerAction::None);
    assert_eq!(timer(&mut path, now, true), TimerAction::FirstSuspect);
    assert_eq!((path.backoff, path.win.window, path.t_base, path.port), (1, 1, now, 0xC000));
    assert_eq!((lost(&path), path.pipe()), (vec![0, 1, 2], 0));
    now += 2 * RTO_MIN;
    assert_eq!(timer(&mut path, now - 1, true), TimerAction::None, "backed off");
    assert_eq!(timer(&mut path, now, true), TimerAction::PortChange);
    assert_eq!((path.state, path.port), (PathState::Suspect, 0xC537));
    now += 4 * RTO_MIN;
    assert_eq!(timer(&mut path, now, true), TimerAction::Down);
    assert_eq!((lost(&path), path.pipe()), (vec![0, 1, 2], 0));
    path.resend(Ppsn::new(0));
    now += 8 * RTO_MIN;
    assert_eq!(timer(&mut path, now, true), TimerAction::StillDown);
    assert_eq!(lost(&path), [0, 1, 2], "moved resends may be lost too");
    assert_eq!(path.backoff, 3, "and are tried again at an even pace");
    for clean in 1..=3u8 {
        let ts = path.probe_ts;
        let out = with::<P>(&mut path, now + 10, 0, &[], |a| {
            a.flags.probe_reply = true;
            a.ts_echo = ts;
        });
        assert!(out.probe);
        assert_eq!((path.clean, path.backoff), (clean % 3, 0));
        if clean < 3 {
            now = path.t_base + RTO_MIN;
            assert_eq!(timer(&mut path, now, true), TimerAction::StillDown);
        }
    }
    assert_eq!((path.state, path.win.window), (PathState::Up, 1));
    // SUSPECT comes back with an acknowledgment of a packet that went by it, not of a resend.
    path.state = PathState::Suspect;
    assert_eq!(ack::<P>(&mut path, now, 1, &[]).state_was, None);
    assert_eq!(with::<P>(&mut path, now, 2, &[], |a| a.flags.ts_valid = true).state_was, Some(PathState::Suspect));
    assert_eq!(path.state, PathState::Up);
}

/// L4 (a): the connection error comes only when no other path is UP; back-off doubles up to 64 and stays until progress.
fn l4_retry_back_off<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 1);
    let (mut now, mut waits) = (0, vec![]);
    loop {
        let due = due(&path, now).unwrap();
        waits.push((due - now) / RTO_MIN);
        now = due;
        match timer(&mut path, now, false) {
            TimerAction::ConnError => break,
            TimerAction::PortChange | TimerAction::TimeoutProbe => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 64], "retry_cnt = 7");
    assert_eq!(path.state, PathState::Up, "no other path: it stays UP and tries new ports");
    // An acknowledgment of a resend proves progress, not the round trip: the back-off stays.
    ack::<P>(&mut path, now, 1, &[]);
    assert_eq!(path.backoff, 8);
}

/// L4 (a): the back-off ends at 15, so a retry count of 15 ends like one of 14.
fn l4_retry_15_ends<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 1);
    ack::<P>(&mut path, 100, 1, &[]);
    send(&mut path, 1);
    let mut now = 100;
    for timeouts in 1.. {
        now = due(&path, now).unwrap();
        if step(&Aimd, &mut path, now, RTO_MIN, 15, Others::default()) == TimerAction::ConnError {
            assert_eq!(timeouts, 15);
            break;
        }
        assert!(timeouts < 15, "gives up at last");
    }
}

/// L4: a path that is UP with nothing outstanding is watched while packets are stranded on a DOWN one: asked after RTO_MIN
/// without a cut of its window, SUSPECT if it stays silent, left alone as soon as nothing is stranded.
fn l4_idle_paths_are_watched_while_packets_are_stranded<P: Profile>() {
    let mut paths = [open(0, 16), open(0, 16), open(0, 16)];
    send(&mut paths[0], 1);
    send(&mut paths[2], 1);
    (paths[0].state, paths[2].t_base) = (PathState::Down, 7);
    let stranded = Others::of(&paths, 1);
    assert_eq!(stranded, Others { up: true, stranded: true, longest_ticks: 0 });
    begin_watch(&mut paths, 500);
    assert_eq!((paths[0].t_base, paths[1].t_base, paths[2].t_base), (0, 500, 7), "only those with nothing outstanding");
    let path = &mut paths[1];
    let at = |path: &mut Path, now, others| step(&Aimd, path, now, RTO_MIN, 7, others);
    assert_eq!(deadline(path, 500, RTO_MIN, stranded), Some(500 + RTO_MIN));
    assert_eq!(deadline(path, 500, RTO_MIN, Others { stranded: false, ..stranded }), None);
    assert_eq!(at(path, 499 + RTO_MIN, stranded), TimerAction::None);
    assert_eq!(at(path, 500 + RTO_MIN, Others { stranded: false, ..stranded }), TimerAction::None);
    assert_eq!(at(path, 500 + RTO_MIN, stranded), TimerAction::TimeoutProbe);
    assert_eq!((path.backoff, path.win.window), (1, 16));
    let ts = path.probe_ts;
    let reply = |a: &mut Ack| (a.flags.probe_reply, a.ts_echo) = (true, ts);
    assert!(with::<P>(path, 520 + RTO_MIN, 0, &[], reply).probe);
    assert_eq!((path.backoff, path.t_base), (0, 520 + RTO_MIN));
    let mut now = path.t_base;
    for (wait, action) in [(1, TimerAction::TimeoutProbe), (2, TimerAction::Suspect), (4, TimerAction::Down)] {
        now += wait * RTO_MIN;
        assert_eq!(at(path, now - 1, stranded), TimerAction::None);
        assert_eq!(at(path, now, stranded), action);
    }
    assert_eq!(path.win.window, 1);
    assert!(Others::of(&paths, 2).stranded, "by path 0");
    let cum = paths[0].next;
    paths[0].cum = cum;
    assert!(!Others::of(&paths, 2).stranded, "path 1 is DOWN, and nothing is outstanding on it");
}

/// L5: after a port change gaps below the floor are no evidence, for RTO_MIN.
fn l5_port_change_floor<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 4);
    path.change_port(1000);
    assert_eq!((path.port, path.floor.get()), (0xC537, 4));
    send(&mut path, 4);
    ack::<P>(&mut path, 1010, 0, &[3, 6]);
    assert_eq!(lost(&path), [4, 5]);
    assert!(path.floor_active);
    ack::<P>(&mut path, 1000 + RTO_MIN, 0, &[3, 6]);
    assert!(!path.floor_active);
    assert_eq!(lost(&path), [0, 1, 2, 4, 5]);
    for _ in 0..0x4000 {
        path.change_port(0);
        assert!(path.port >= 0xC000);
    }
}

/// L6: duplicates after a gap mean reordering: the tolerance grows, is applied, and decays.
fn l6_reordering_guard<P: Profile>() {
    let (v, most) = (P::VECTOR_BITS, (P::VECTOR_BITS / 4) as u8);
    let mut path = open(0, v as u16);
    send(&mut path, v - 1);
    with::<P>(&mut path, 100, 0, &[1], |a| {
        a.flags.ts_valid = true;
        a.ts_echo = 90;
    });
    assert!(path.l1_since_dup);
    let dup = |path: &mut Path, now, cum: u32, dup: u16| with::<P>(path, now, cum, &[], |a| a.dup_packets = dup);
    dup(&mut path, 101, 2, 1);
    assert_eq!((path.reo_tol, path.l1_since_dup), (1, false));
    dup(&mut path, 102, 2, 2);
    assert_eq!(path.reo_tol, 1, "no gap since the last duplicate");
    // One packet of reordering is tolerated now.
    assert!(ack_keeping::<P>(&mut path, 103, 2, &[3], 2).lost_l1.is_empty());
    assert_eq!(ack_keeping::<P>(&mut path, 104, 2, &[3, 5], 2).lost_l1.count(), 1, "2 is below 5 - 1; 4 is not");
    for (i, doubled) in [2u8, 4, 8, 16, 32, 64, 128].into_iter().enumerate() {
        path.l1_since_dup = true;
        dup(&mut path, 105, 2, 3 + i as u16);
        assert_eq!(path.reo_tol, doubled.min(most));
    }
    let wait = 2 * path.srtt8;
    dup(&mut path, 104 + wait, 2, 8);
    assert_eq!(path.reo_tol, most, "an older count is ignored, and it is not yet time");
    ack_keeping::<P>(&mut path, 105 + wait, 2, &[3, 5], 9);
    assert_eq!(path.reo_tol, most / 2);
}

fn ack_keeping<P: Profile>(path: &mut Path, now: Tick, cum: u32, received: &[u32], dup: u16) -> AckOutcome {
    with::<P>(path, now, cum, received, |a| a.dup_packets = dup)
}

/// RTT of section 6: first sample, smoothing, and samples that are ignored.
fn rtt_samples<P: Profile>() {
    let mut path = open(0, 16);
    send(&mut path, 9);
    let sample = |path: &mut Path, cum, now: u32, echo: u16, service: u16| {
        with::<P>(path, now, cum, &[], |a| {
            a.flags.ts_valid = true;
            a.ts_echo = echo;
            a.service = service;
        })
    };
    sample(&mut path, 1, 0x1_0005, 0xFFF0, 1);
    assert_eq!((path.srtt8, path.var4), (160, 40), "across the wrap of the stamp: 20 ticks");
    sample(&mut path, 2, 1000, 964, 0);
    assert_eq!((path.srtt8, path.var4), (176, 46));
    sample(&mut path, 3, 1000, 1001, 0);
    assert_eq!(path.srtt8, 176, "negative: ignored");
    sample(&mut path, 4, 1000, 1000, 0);
    assert_eq!(path.srtt8, 176 + 1 - 22, "at least 1");
}

/// C1: one cut a round trip on a mark; otherwise one packet more per window; loss does not cut.
fn c1_aimd<P: Profile>() {
    let mut path = open(0, 8);
    path.srtt8 = 8 * 50;
    send(&mut path, P::VECTOR_BITS);
    let mark = |path: &mut Path, now, cum, ce: u16| with::<P>(path, now, cum, &[], |a| a.ce_packets = ce);
    mark(&mut path, 49, 1, 1);
    assert_eq!(path.win.window, 8, "within a round trip of the last cut (the opening)");
    assert!(mark(&mut path, 50, 2, 2).window_cut);
    assert_eq!((path.win.window, path.win.last_cut), (4, 50));
    mark(&mut path, 99, 3, 3);
    assert_eq!(path.win.window, 4);
    mark(&mut path, 100, 7, 2);
    assert_eq!((path.win.window, path.win.credit), (5, 0), "an older mark count is ignored: 4 acknowledged, window + 1");
    let out = with::<P>(&mut path, 101, 7, &[20], |a| a.ce_packets = 3);
    assert!(out.lost_l1.count() > 0 && path.win.window == 5, "loss does not cut");
    let most = P::VECTOR_BITS as u16;
    for window in [1, 2, most] {
        path.win.window = window;
        path.win.credit = 511;
        Aimd.on_ack(
            &mut path.win,
            &mut (),
            &AckSample { now: 0, acked: most.into(), ce_delta: 0, srtt_ticks: 1, window_max_pkts: most },
        );
        assert_eq!(path.win.window, (window + 1).min(most));
    }
}

/// The second congestion control cuts in proportion to the marked share and never below one packet.
#[test]
fn dctcp_like_cuts_less_for_few_marks() {
    let mut path: TxPath<<DctcpLike as CongestionControl>::Path> = TxPath::open(true, 0xC000, 0, 100, 0);
    let mut now = 0;
    let mut round = |path: &mut TxPath<_>, ce_delta| {
        now += 100;
        let sample = AckSample { now, acked: 100, ce_delta, srtt_ticks: 100, window_max_pkts: 256 };
        DctcpLike.on_ack(&mut path.win, &mut path.cc, &sample)
    };
    assert!(round(&mut path, 10));
    assert!(path.win.window > 98);
    for _ in 0..200 {
        round(&mut path, 100);
    }
    assert!((900..=1024).contains(&path.cc.alpha_1024), "{:?}", path.cc);
    assert_eq!(path.win.window, 1);
    DctcpLike.on_timeout(&mut path.win, &mut path.cc, 0);
    assert_eq!(path.win.window, 1);
}

fn paths(count: usize, window: u16) -> Vec<Path> {
    (0..count).map(|_| open(0, window)).collect()
}

/// C3: the window of the connection is 1.22 x hint x longest RTT of the paths that are UP.
#[test]
fn c3_window_of_the_connection() {
    let mut ps = paths(2, 16);
    let mut conn = TxConn::open(100_000, 4, 0);
    assert_eq!(conn.cap_bytes(&ps, 4096), None, "no RTT known");
    ps[0].rtt_valid = true;
    ps[0].srtt8 = 8 * 60;
    ps[1].srtt8 = 8 * 100;
    assert_eq!(conn.cap_bytes(&ps, 4096), Some((100_000 * 100 * 5) >> 8));
    ps[1].state = PathState::Suspect;
    assert_eq!(conn.cap_bytes(&ps, 4096), Some((100_000 * 60 * 5) >> 8));
    conn.hint = 1;
    assert_eq!(conn.cap_bytes(&ps, 4096), Some(4096), "at least one packet");
    conn.hint = 0xFF_FFFE;
    ps[0].srtt8 = 8 * 0x7FFF;
    assert_eq!(conn.cap_bytes(&ps, 4096), Some((0xFF_FFFE * 0x7FFF * 5) >> 8), "no product is truncated");
    conn.hint = RATE_UNLIMITED;
    assert_eq!(conn.cap_bytes(&ps, 4096), None);
}

/// C4: the token bucket: 1/125 byte a token, at most four packets saved, 1,023 ticks at most.
#[test]
fn c4_pacer() {
    let mut conn = TxConn::open(100_000, 4, 0);
    assert_eq!(conn.pace(0, 4096, 4096).unwrap_err().wait_ticks, 1, "no token yet");
    let left = conn.pace(1, 4096, 4096).unwrap();
    assert_eq!(left, Some(200_000 - 125 * (4096 + 96)));
    conn.spend(1, left);
    let wait = conn.pace(1, 1, 4096).unwrap_err().wait_ticks;
    assert_eq!(wait, 2, "324,000 tokens are missing, 200,000 a tick");
    assert!(conn.pace(1 + wait - 1, 1, 4096).is_err());
    assert!(conn.pace(1 + wait, 1, 4096).is_ok());
    assert_eq!(conn.pace(1 << 30, 0, 256).unwrap(), Some(125 * 4 * 256 - 125 * 96), "the bucket is full");
    conn.hint = 1;
    conn.tokens = 0;
    assert_eq!(conn.pace(1 + 5000, 0, 4096).unwrap(), Some(2 * 1023 - 125 * 96));
    conn.hint = RATE_UNLIMITED;
    assert_eq!(conn.pace(0, 4096, 4096), Ok(None));
}

/// S1: the first path in order with a lost packet and room; a SUSPECT or DOWN home needs a living path.
fn s1_resend_choice<P: Profile>() {
    let mut ps = paths(4, 4);
    assert_eq!(choose_resend(&ps, 0, P::VECTOR_BITS), None);
    for p in [1usize, 3] {
        send(&mut ps[p], 4);
        ack::<P>(&mut ps[p], 1, 1, &[3]);
    }
    let first = |ps: &[Path], rr| choose_resend(ps, rr, P::VECTOR_BITS).map(|r| (r.home, r.via, r.ppsn.get(), r.moved));
    assert_eq!(first(&ps, 0), Some((1, 1, 1, false)));
    assert_eq!(first(&ps, 2), Some((3, 3, 1, false)));
    ps[1].win.window = 1;
    ps[1].resend(Ppsn::new(1));
    assert_eq!(first(&ps, 0), Some((3, 3, 1, false)), "no room");
    ps[1].strand();
    for state in [PathState::Suspect, PathState::Down] {
        ps[1].state = state;
        assert_eq!(first(&ps, 0), Some((1, 0, 1, true)), "moved to the least loaded path");
    }
    for p in [0usize, 2] {
        ps[p].state = PathState::Suspect;
    }
    (ps[3].win.window, ps[1].win.window) = (1, 1);
    assert_eq!((ps[3].room(), first(&ps, 0)), (true, Some((1, 3, 1, true))));
    ps[3].resend(Ppsn::new(1));
    assert_eq!(first(&ps, 0), None, "no path to move to");
}

/// S3: the least pipe / window wins, of all paths; ties go to the earliest in order.
fn s3_path_choice<P: Profile>() {
    let v = P::VECTOR_BITS;
    let mut ps = paths(4, 4);
    assert_eq!(choose_path(&ps, 2, v), Some(2));
    send(&mut ps[2], 1);
    assert_eq!(choose_path(&ps, 2, v), Some(3));
    ps[2].win.window = 50;
    send(&mut ps[3], 1);
    send(&mut ps[0], 1);
    send(&mut ps[1], 1);
    assert_eq!(choose_path(&ps, 3, v), Some(2), "1/50 is less than 1/4");
    ps[2].state = PathState::Suspect;
    assert_eq!(choose_path(&ps, 2, v), Some(3), "equals: the first in order that may send");
    ps[2].state = PathState::Up;
    send(&mut ps[2], v - 2);
    ps[2].win.window = 500;
    (0..4).filter(|p| *p != 2).for_each(|p| ps[p].win.window = 1);
    assert_eq!(choose_path(&ps, 2, v), Some(2), "a span of V - 1");
    send(&mut ps[2], 1);
    assert_eq!(choose_path(&ps, 3, v), None, "a span of V is full");
    assert_eq!(choose_path(&paths(1, 4), 0, 64), Some(0));
}

crate::for_each_profile!(
    a1_validity,
    a2_probe_edge,
    a3_newly_acknowledged,
    l1_gap_is_loss,
    l2_resend_marker,
    l3_tail_probe,
    l3_queues_that_have_grown,
    l3_a_burst_that_swallows_probes_too,
    l4_moved_packets_are_not_tried_for_ever,
    l4_timeouts_and_health,
    l4_retry_back_off,
    l4_retry_15_ends,
    l4_idle_paths_are_watched_while_packets_are_stranded,
    l5_port_change_floor,
    l6_reordering_guard,
    rtt_samples,
    c1_aimd,
    s1_resend_choice,
    s3_path_choice,
);
