//! Bad WQEs, bad requests of a peer, bad frames, resets in mid-traffic: engine and model refuse alike and go on.
//!
//! In: everything that should not come. Out: statuses, counters, memory. Guarantees: each WQE has exactly one CQE, nothing
//! is written where it may not be, nothing hangs, and afterwards good traffic passes and the counters balance.
mod rig;

use mrnic_model::config::{QpAccess, Rights};
use mrnic_regs::code::{
    STATUS_LOC_LEN_ERR, STATUS_LOC_PROT_ERR, STATUS_LOC_QP_OP_ERR, STATUS_REM_ACCESS_ERR, STATUS_REM_INV_REQ_ERR,
    STATUS_RETRY_EXC_ERR, STATUS_WR_FLUSH_ERR,
};
use mrnic_sim::software::{pattern, Write};
use mrnic_wire::icrc::icrc;
use mrnic_wire::tables::FieldInfo;
use mrnic_wire::{
    emit_packet, Ack, AckFlags, Body, IpVersion, Mak, MakCode, Msg, Msn, OpenMr0, Packet, PathHeader, Ppsn, Profile, SackVector,
};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rig::{writable, write, Region, Rig};

/// Length of the WRITEs here.
const LEN: usize = 3000;

fn seed() -> u64 {
    let seed = std::env::var("MRNIC_SEED").map_or(7, |s| s.parse().expect("MRNIC_SEED is a number"));
    println!("MRNIC_SEED={seed}");
    seed
}

/// A fresh pair of regions, and a WRITE between them on QP `qp` from node 0; returns what [`Rig::assert_copied`] needs.
fn good(rig: &mut Rig, qp: u16) -> (Region, Region) {
    let (local, remote) = (rig.filled(0, LEN, 3), rig.region(1, LEN, 11, writable(), 1));
    rig.post(0, qp, &local, &remote, LEN);
    (local, remote)
}

fn flushed(mut w: Write) -> Write {
    w.expect = STATUS_WR_FLUSH_ERR;
    w
}

/// W1, W3: a WQE that is refused locally; nothing of it is sent, everything after it is flushed.
#[test]
fn bad_wqes() {
    let mut rig = Rig::new();
    rig.open(0, &|_| {});
    let local = rig.filled(0, LEN, 3);
    let foreign = rig.region(0, LEN, 3, Rights::default(), 2);
    let remote = rig.region(1, LEN, 5, writable(), 1);
    let fine = write(&local, &remote, LEN as u32);
    let cases: Vec<(&str, Write)> = vec![
        ("unknown opcode", Write { opcode: 4, expect: STATUS_LOC_QP_OP_ERR, ..fine }),
        ("opcode of all ones", Write { opcode: 0xFF, length: u32::MAX, expect: STATUS_LOC_QP_OP_ERR, ..fine }),
        ("length 2^31 + 1", Write { length: (1 << 31) + 1, lkey: 0, expect: STATUS_LOC_LEN_ERR, ..fine }),
        ("greatest length", Write { length: u32::MAX, expect: STATUS_LOC_LEN_ERR, ..fine }),
        ("length 2^31 is a matter of the region", Write { length: 1 << 31, expect: STATUS_LOC_PROT_ERR, ..fine }),
        ("low byte of the lkey", Write { lkey: local.key ^ 1, expect: STATUS_LOC_PROT_ERR, ..fine }),
        ("lkey that is not registered", Write { lkey: 60 << 8, expect: STATUS_LOC_PROT_ERR, ..fine }),
        ("lkey beyond the table", Write { lkey: local.key | 0x8000_0000, expect: STATUS_LOC_PROT_ERR, ..fine }),
        (
            "lkey of another protection domain",
            Write { local: foreign.va, lkey: foreign.key, expect: STATUS_LOC_PROT_ERR, ..fine },
        ),
        ("one byte too long", Write { length: LEN as u32 + 1, expect: STATUS_LOC_PROT_ERR, ..fine }),
        ("one byte too early", Write { local: local.va - 1, length: 1, expect: STATUS_LOC_PROT_ERR, ..fine }),
        ("one byte too late", Write { local: local.va + LEN as u64, length: 1, expect: STATUS_LOC_PROT_ERR, ..fine }),
        ("address that wraps", Write { local: u64::MAX - 10, length: 100, expect: STATUS_LOC_PROT_ERR, ..fine }),
    ];
    let queues: Vec<u16> = cases.iter().map(|_| rig.pair(0)).collect();
    for ((name, bad), qp) in cases.iter().zip(&queues) {
        println!("{name}");
        rig.post_write(0, *qp, *bad);
        rig.run();
        for _ in 0..20 {
            rig.post_write(0, *qp, flushed(fine));
        }
        rig.post_write(0, *qp, flushed(Write { opcode: 9, ..fine }));
        rig.run();
    }
    assert_eq!(rig.counters(0).get("TX_NEW"), 0, "nothing was sent");
    // another queue pair of the same connection; a key is not looked at where there is nothing to read (W1)
    let qp = rig.pair(0);
    rig.post_write(0, qp, Write { length: 0, lkey: 0xDEAD_BEEF, rkey: 0xDEAD_BEEF, local: u64::MAX, remote: u64::MAX, ..fine });
    rig.post_write(0, qp, fine);
    rig.run();
    let [c, _] = rig.finish();
    assert_eq!(c.get("WQE_REFUSED"), 22 * cases.len() as u64);
    assert_eq!(c.get("QP_ERROR"), 0, "a refused WQE moves its queue pair by itself, without an event");
    rig.assert_copied((0, &local), (1, &remote), LEN);
}

/// W3: a bad WQE among good ones that are all posted at once: those before it succeed.
#[test]
fn a_bad_wqe_waits_for_those_before_it() {
    let mut rig = Rig::new();
    rig.open(0, &|_| {});
    let qp = rig.pair(0);
    let copied: Vec<_> = (0..5).map(|_| good(&mut rig, qp)).collect();
    let (local, remote) = copied[0];
    rig.post_write(0, qp, Write { lkey: 0, expect: STATUS_LOC_PROT_ERR, ..write(&local, &remote, 9) });
    // this one may be sent before its queue pair is in Error, so it writes nothing
    let unsent = rig.region(1, 8, 0, writable(), 1);
    for _ in 0..3 {
        rig.post_write(0, qp, flushed(write(&local, &unsent, 0)));
    }
    rig.run();
    rig.finish();
    for (local, remote) in &copied {
        rig.assert_copied((0, local), (1, remote), LEN);
    }
}

/// R3, R4, W3: requests that the peer refuses; the queue pair is in Error at both ends, the others go on.
#[test]
fn requests_that_the_peer_refuses() {
    let mut rig = Rig::new();
    rig.open(0, &|_| {});
    let local = rig.filled(0, 2 * LEN, 3);
    let back = rig.filled(1, LEN, 3);
    let home = rig.region(0, LEN, 3, writable(), 1);
    let remote = rig.region(1, LEN, 5, writable(), 1);
    let closed =
        rig.region(1, LEN, 5, Rights { local_write: true, remote_read: true, remote_atomic: true, remote_write: false }, 1);
    let foreign = rig.region(1, LEN, 5, writable(), 2);
    let fine = Write { expect: STATUS_REM_ACCESS_ERR, ..write(&local, &remote, 100) };
    let cases: Vec<(&str, Write)> = vec![
        ("low byte of the rkey", Write { rkey: remote.key ^ 1, ..fine }),
        ("rkey that is not registered", Write { rkey: 60 << 8, ..fine }),
        ("rkey beyond the table", Write { rkey: remote.key | 0x8000_0000, ..fine }),
        ("no right to write", Write { rkey: closed.key, remote: closed.va, ..fine }),
        ("another protection domain", Write { rkey: foreign.key, remote: foreign.va, ..fine }),
        ("begins one byte early", Write { remote: remote.va - 1, ..fine }),
        ("begins at the end", Write { remote: remote.va + LEN as u64, length: 1, ..fine }),
        ("ends one byte late", Write { remote: remote.va + LEN as u64 - 99, ..fine }),
        ("address that wraps", Write { remote: u64::MAX - 10, ..fine }),
        ("address of all ones", Write { remote: u64::MAX, length: 1, ..fine }),
    ];
    let bystander = rig.pair(0);
    let queues: Vec<u16> = cases.iter().map(|_| rig.pair(0)).collect();
    let mut copied = Vec::new();
    for ((name, bad), qp) in cases.iter().zip(&queues) {
        println!("{name}");
        copied.push(good(&mut rig, bystander));
        rig.post_write(0, *qp, *bad);
        rig.run();
        rig.settle();
        rig.post_write(0, *qp, flushed(write(&local, &remote, 50)));
        rig.post_write(1, *qp, flushed(write(&back, &home, 50)));
        rig.run();
    }
    let [a, b] = rig.finish();
    let n = cases.len() as u64;
    assert_eq!((a.get("QP_ERROR"), b.get("QP_ERROR")), (n, n), "each queue pair once at each end");
    assert!(b.get("RX_NAK") >= n);
    assert_eq!(a.get("TX_NEW"), a.get("RETIRED"));
    for r in [&remote, &closed, &foreign] {
        rig.assert_untouched(1, r);
    }
    rig.assert_untouched(0, &home);
    for (local, remote) in &copied {
        rig.assert_copied((0, local), (1, remote), LEN);
    }
}

/// D2: a queue pair allows WRITEs or not; software changes it while packets are under way, and the others go on.
#[test]
fn writes_that_the_queue_pair_does_not_allow() {
    let mut rig = Rig::new();
    rig.open(0, &|_| {});
    let (local, back) = (rig.filled(0, LEN, 3), rig.filled(1, LEN, 3));
    let (home, remote) = (rig.region(0, LEN, 3, writable(), 1), rig.region(1, LEN, 5, writable(), 1));
    let denied = QpAccess { remote_write: false, ..QpAccess::ALL };
    let (bystander, qp, taken) = (rig.pair(0), rig.pair(0), rig.pair(0));
    rig.allow(1, qp, denied);
    let mut copied = vec![good(&mut rig, bystander)];
    for bytes in [0, 50] {
        // without bytes too
        let expect = if bytes == 0 { STATUS_REM_ACCESS_ERR } else { STATUS_WR_FLUSH_ERR };
        rig.post_write(0, qp, Write { expect, ..write(&local, &remote, bytes) });
    }
    rig.run();
    rig.settle();
    rig.post_write(1, qp, flushed(write(&back, &home, 50)));
    // the leave is taken while WRITEs come in: those that came before are placed
    for _ in 0..12 {
        let to = rig.region(1, LEN, 1, writable(), 1);
        rig.post_write(0, taken, Write { any_status: true, ..write(&local, &to, LEN as u32) });
    }
    rig.poll();
    let passed = |rig: &Rig| rig.nodes[1].model().recv_stream(taken.into()).expect("a queue pair").exp.get();
    let first = passed(&rig);
    while passed(&rig).wrapping_sub(first) & 0xFF_FFFF < 3 {
        rig.cycles(10);
    }
    rig.allow(1, taken, denied);
    rig.run();
    // a queue pair that is opened anew has what its row says, and one that is closed nothing to change
    rig.allow(1, 9, denied);
    let late = rig.pair(0);
    rig.allow(1, late, denied);
    rig.allow(1, late, QpAccess::ALL);
    copied.push(good(&mut rig, late));
    copied.push(good(&mut rig, bystander));
    rig.run();
    let [a, b] = rig.finish();
    assert_eq!(b.get("QP_ERROR"), 2, "each queue pair once");
    assert!(a.get("QP_ERROR") >= 2, "each refusal of what was under way counts here");
    rig.assert_untouched(1, &remote);
    rig.assert_untouched(0, &home);
    for (local, remote) in &copied {
        rig.assert_copied((0, local), (1, remote), LEN);
    }
}

/// R4: of a long WRITE whose end lies beyond the region, only what lies inside is written.
#[test]
fn a_long_write_past_the_end_of_its_region() {
    let mut rig = Rig::new();
    rig.open(0, &|c| c.mtu_log2 = 8);
    let (qp, other) = (rig.pair(0), rig.pair(0));
    let local = rig.filled(0, 8192, 0);
    let remote = rig.region(1, 8191, 0, writable(), 1);
    rig.post_write(0, qp, Write { expect: STATUS_REM_ACCESS_ERR, ..write(&local, &remote, 8192) });
    let (from, to) = good(&mut rig, other);
    rig.run();
    let [a, b] = rig.finish();
    assert!(a.get("TX_NOP") >= 1 && b.get("RX_NAK") >= 1);
    rig.assert_copied((0, &from), (1, &to), LEN);
    let writes = rig.nodes[1].nic.memory.write_counts(remote.base).expect("audited");
    assert!(writes[7936..].iter().all(|w| *w == 0), "nothing of the refused packet");
}

/// L4 (a), W3: no path answers. Each WQE has exactly one CQE: the oldest of each queue pair RETRY_EXC, the others flushed.
fn never_answers(paths: u8, retry_cnt: u8, later_wqes: usize) {
    let mut rig = Rig::new();
    rig.limit_us = 8_000;
    let change = |c: &mut mrnic_model::ConnConfig<mrnic_wire::NetAddr>| (c.paths, c.retry_cnt) = (paths, retry_cnt);
    rig.open(0, &change);
    rig.open(1, &change);
    let qps = [rig.pair(0), rig.pair(0)];
    let other = rig.pair(1);
    let local = rig.filled(0, 20_000, 3);
    let remote = rig.region(1, 20_000, 5, writable(), 1);
    rig.cut = true;
    for qp in qps {
        rig.post_write(0, qp, Write { expect: STATUS_RETRY_EXC_ERR, ..write(&local, &remote, 20_000) });
        for _ in 0..later_wqes {
            rig.post_write(0, qp, flushed(write(&local, &remote, 20_000)));
        }
    }
    rig.run();
    rig.cut = false;
    rig.post_write(0, qps[0], flushed(write(&local, &remote, 1)));
    // a queue pair opened on it now is in Error too
    let late = rig.pair(0);
    rig.post_write(0, late, flushed(write(&local, &remote, 1)));
    let (from, to) = good(&mut rig, other);
    rig.run();
    let [a, _] = rig.finish();
    assert_eq!(a.get("CONN_ERROR"), 1, "{paths} paths");
    assert_eq!(a.get("QP_ERROR"), 2);
    rig.assert_untouched(1, &remote);
    rig.assert_copied((0, &from), (1, &to), LEN);
}

#[test]
fn a_peer_that_never_answers_on_one_path() {
    never_answers(1, 1, 5);
}

#[test]
fn a_peer_that_never_answers_on_eight_paths() {
    never_answers(8, 2, 5);
}

#[test]
fn a_peer_that_never_answers_more_wqes_than_fit() {
    // with eight paths more messages than the FIFO holds have been sent by then
    never_answers(1, 1, 30);
    never_answers(8, 2, 30);
}

/// L4 (a): one small message uses one path, and all are dead: six of the seven that were idle are found dead too, and the
/// last one ends the connection.
#[test]
fn a_lone_packet_to_a_peer_that_never_answers() {
    let mut rig = Rig::new();
    rig.set_rto_min(16);
    rig.open(0, &|_| {});
    let qp = rig.pair(0);
    let local = rig.filled(0, 64, 3);
    let remote = rig.region(1, 64, 5, writable(), 1);
    rig.cut = true;
    rig.post_write(0, qp, Write { expect: STATUS_RETRY_EXC_ERR, ..write(&local, &remote, 64) });
    rig.run();
    let [a, _] = rig.finish();
    assert_eq!((a.get("CONN_ERROR"), a.get("PATH_DOWN")), (1, 7));
    rig.assert_untouched(1, &remote);
}

/// W3, S2: a queue pair is refused while its messages, more than fit, lie between those of others in the connection's FIFO.
#[test]
fn a_refused_queue_pair_between_others() {
    let mut rig = Rig::new();
    rig.open(0, &|c| (c.paths, c.mtu_log2) = (1, 10));
    let (first, bad, last) = (rig.pair(0), rig.pair(0), rig.pair(0));
    let mut copied = vec![good(&mut rig, first)];
    let local = rig.filled(0, LEN, 3);
    let remote = rig.region(1, LEN, 5, writable(), 1);
    let wrong = Write { rkey: remote.key ^ 1, expect: STATUS_REM_ACCESS_ERR, ..write(&local, &remote, LEN as u32) };
    rig.post_write(0, bad, wrong);
    for _ in 0..25 {
        rig.post_write(0, bad, flushed(wrong));
        copied.push(good(&mut rig, last));
        copied.push(good(&mut rig, first));
    }
    rig.run();
    rig.finish();
    rig.assert_untouched(1, &remote);
    for (local, remote) in &copied {
        rig.assert_copied((0, local), (1, remote), LEN);
    }
}

/// A connection with one path that is full of the packets of queue pair `.1`, whose messages wait; those of `.2` wait behind.
fn blocked(wqes: u64) -> (Rig, u16, u16, Region) {
    let mut rig = Rig::new();
    rig.open(0, &|c| (c.paths, c.mtu_log2) = (1, 10));
    let (closed, other) = (rig.pair(0), rig.pair(0));
    let local = rig.filled(0, 20_000, 3);
    let remote = rig.region(1, 20_000, 5, writable(), 1);
    rig.cut = true;
    for _ in 0..wqes {
        rig.post_write(0, closed, write(&local, &remote, 20_000));
    }
    rig.poll();
    rig.cycles(3000);
    let taken = rig.counters(0).get("WQE");
    assert_eq!(taken == wqes, wqes <= rig::build().conn_fifo as u64, "{taken} of {wqes}");
    (rig, closed, other, remote)
}

/// S2, S6, section 10: a queue pair is closed whose messages and outstanding packets stand before those of another.
#[test]
fn a_closed_queue_pair_holds_up_nobody() {
    for wqes in [5, 30] {
        let (mut rig, closed, other, remote) = blocked(wqes);
        let (from, to) = good(&mut rig, other);
        rig.poll();
        rig.cycles(1000);
        rig.close_pair(closed);
        rig.cut = false;
        rig.run();
        let [a, _] = rig.finish();
        assert!(a.get("TX_NOP") > 0, "{a:?}");
        rig.assert_untouched(1, &remote);
        rig.assert_copied((0, &from), (1, &to), LEN);
    }
}

/// Section 10: a connection is closed while its messages wait and its packets are outstanding, and opened again at once.
#[test]
fn a_closed_connection_leaves_nothing_behind() {
    for (qps_first, wqes) in [(true, 5), (false, 5), (true, 30)] {
        let (mut rig, closed, other, remote) = blocked(wqes);
        if qps_first {
            rig.close_pair(closed);
            rig.close_pair(other);
        }
        rig.close(0);
        if !qps_first {
            rig.close_pair(closed);
            rig.close_pair(other);
        }
        rig.open(0, &|c| c.mtu_log2 = 10);
        rig.cut = false;
        let qp = rig.pair(0);
        let copied: Vec<_> = (0..40).map(|_| good(&mut rig, qp)).collect();
        rig.run();
        rig.finish();
        rig.assert_untouched(1, &remote);
        for (local, remote) in &copied {
            rig.assert_copied((0, local), (1, remote), LEN);
        }
    }
}

/// The wire is cut in mid-transfer and comes back: nothing is lost, whatever state the paths were in.
#[test]
fn a_cut_and_a_recovery() {
    for cut_us in [30, 150, 500, 1500] {
        let mut rig = Rig::new();
        rig.limit_us = 60_000;
        rig.open(0, &|c| c.retry_cnt = 15);
        let qp = rig.pair(0);
        let (local, remote) = (rig.filled(0, 300_000, 3), rig.region(1, 300_000, 9, writable(), 1));
        rig.post(0, qp, &local, &remote, 300_000);
        rig.poll();
        rig.cycles(4000);
        rig.cut = true;
        for _ in 0..cut_us {
            rig.cycles(250);
            rig.poll();
        }
        rig.cut = false;
        rig.run();
        let [a, _] = rig.finish();
        println!("{cut_us} us: {} timeouts, {} resends", a.get("PROBE_TIMEOUT"), a.get("TX_RESEND"));
        rig.assert_copied((0, &local), (1, &remote), 300_000);
    }
}

/// Gives a frame the ICRC (and IPv4 header checksum) that suit its bytes, so that later checks see it.
fn mend(frame: &mut [u8], checksum: bool) {
    let (ip, ip_len) = match frame.get(12..14) {
        Some([0x08, 0x00]) => (IpVersion::V4, 20),
        Some([0x86, 0xDD]) => (IpVersion::V6, 40),
        _ => return,
    };
    if frame.len() < 14 + ip_len + 8 + 20 + 4 {
        return;
    }
    if ip == IpVersion::V4 && checksum {
        frame[24..26].fill(0);
        let sum: u32 = frame[14..34].chunks(2).map(|c| u32::from(c[0]) << 8 | u32::from(c[1])).sum();
        let sum = (sum & 0xFFFF) + (sum >> 16);
        let sum = !((sum & 0xFFFF) + (sum >> 16)) as u16;
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
    }
    let end = frame.len() - 4;
    let crc = icrc(OpenMr0::ICRC_MASKS, ip, &frame[14..end]);
    frame[end..].copy_from_slice(&crc.to_le_bytes());
}

fn put(frame: &mut [u8], at: usize, f: &FieldInfo, value: u64) {
    for bit in 0..f.width {
        let place = at * 8 + f.bit_offset + bit;
        let Some(byte) = frame.get_mut(place / 8) else { return };
        let mask = 0x80 >> (place % 8);
        let one = bit + 64 >= f.width && value >> (f.width - 1 - bit) & 1 == 1;
        *byte = if one { *byte | mask } else { *byte & !mask };
    }
}

/// Node 1 with a connection and queue pairs that only hand-made frames use, beside a connection with real traffic.
struct Attacked {
    rig: Rig,
    victim: Region,
    open: Region,
    qps: Vec<u16>,
    good_qp: u16,
}

/// Connection of hand-made frames.
const BAD_CONN: u16 = 3;

impl Attacked {
    fn new() -> Self {
        let mut rig = Rig::new();
        rig.open(0, &|c| c.mtu_log2 = 10);
        rig.open_end(1, BAD_CONN, &|c| (c.peer_conn, c.mtu_log2, c.paths) = (7, 10, 4));
        let good_qp = rig.pair(0);
        let qps = (0..8).map(|i| rig.open_qp(1, BAD_CONN, 100 + i, 2)).collect();
        // neither may be written by the hand-made frames; the third may
        let victim = rig.region(1, LEN, 0, writable(), 1);
        let open = rig.region(1, LEN, 0, writable(), 2);
        let mut attacked = Self { rig, victim, open, qps, good_qp };
        attacked.rig.cycles(200);
        for home in 0..4 {
            attacked.mark(home);
        }
        attacked
    }

    /// C1: the window of a path is cut. The checker opens connections at tick 0, the engine some ticks later: from here on
    /// both agree on the time of the last cut.
    fn mark(&mut self, home: u8) {
        let cum = self.rig.nodes[1].model().tx_path(BAD_CONN, home).expect("a path").cum;
        let mph = PathHeader { rtx: false, moved: false, home, tx_ts: 0, conn: BAD_CONN, via: home };
        let ack = Ack { rate: 0xFF_FFFF, ce_packets: 1, ..Ack::default() };
        let packet = Packet { ppsn: cum, mph, ..Packet::new(Body::Ack(ack)) };
        let mut frame = vec![0; 9000];
        let n = emit_packet(&mut frame, &rig::address(0, false), 0xC123, &packet, &[]).expect("a packet");
        frame.truncate(n);
        self.inject(frame);
    }

    fn packet(&self, r: &mut SmallRng) -> (Packet, usize) {
        let home = r.random_range(0..4u8);
        let (cum, next, ce_seen) = {
            let m = self.rig.nodes[1].model();
            let (rx, tx) = (m.rx_path(BAD_CONN, home).expect("a path"), m.tx_path(BAD_CONN, home).expect("a path"));
            (rx.cum, tx.cum, tx.ce_seen)
        };
        let qp = self.qps[r.random_range(0..self.qps.len())];
        let msn = self.rig.nodes[1].model().recv_stream(qp.into()).expect("a queue pair").exp;
        let msg = Msg::only(msn);
        let mut len = 0;
        let mut ppsn = cum;
        let body = match r.random_range(0..6) {
            0 => Body::Nop { msg },
            1 => Body::Probe,
            2 => {
                ppsn = next;
                let flags =
                    AckFlags { nak: r.random_bool(0.2), ts_valid: r.random(), probe_reply: r.random(), rnr: r.random() };
                // of its own QPs, the QP with real traffic, QPs that there are not; packets sent, or not
                let named = [u32::from(qp), self.good_qp.into(), 0xFFFF, u32::from(qp) | 1 << r.random_range(16..24)];
                let mak = if r.random_bool(0.3) {
                    let ppsn = next.wrapping_add(r.random_range(0..5)).get().wrapping_sub(3);
                    Mak { qp: ppsn & 0xFF_FFFF, code: MakCode::BadQp, msn }
                } else {
                    Mak { qp: named[r.random_range(0..4)], code: MakCode::Access, msn }
                };
                Body::Ack(Ack {
                    rate: 0xFF_FFFF,
                    vector: SackVector::default(),
                    flags,
                    mak,
                    ts_echo: r.random(),
                    ce_packets: ce_seen.wrapping_add(r.random_range(0..2)),
                    ..Ack::default()
                })
            }
            _ => {
                len = r.random_range(0..200);
                Body::Write {
                    msg,
                    va: self.open.va + r.random_range(0..1000),
                    rkey: self.open.key,
                    length: len as u32,
                    imm: None,
                }
            }
        };
        let mph = PathHeader { rtx: r.random(), moved: false, home, tx_ts: r.random(), conn: BAD_CONN, via: home };
        let dest = if matches!(body, Body::Write { .. } | Body::Nop { .. }) { qp.into() } else { 2 };
        (Packet { dest_qp: dest, ppsn, mph, ack_req: r.random(), ..Packet::new(body) }, len)
    }

    fn frame(&self, r: &mut SmallRng) -> Vec<u8> {
        let (packet, len) = self.packet(r);
        let mut buffer = vec![0; 9000];
        let n = emit_packet(&mut buffer, &rig::address(0, r.random()), 0xC123, &packet, &pattern(r.random(), len))
            .expect("a packet");
        buffer.truncate(n);
        buffer
    }

    /// Every field of every header of `frame`.
    fn fields(frame: &[u8]) -> Vec<(usize, &'static FieldInfo)> {
        let v6 = frame[12] == 0x86;
        let layout = OpenMr0::LAYOUT;
        let (ip, ip_len) = if v6 { ("IPV6", 40) } else { ("IPV4", 20) };
        let mut headers = vec![("ETH", 0), (ip, 14), ("UDP", 14 + ip_len)];
        let opcode = frame[14 + ip_len + 8];
        let parts = layout.header_offsets.iter().filter(|o| o.opcode_value == opcode && !o.only_with_imm);
        headers.extend(parts.map(|o| (o.header, if v6 { o.ipv6_bytes } else { o.ipv4_bytes })));
        headers.iter().flat_map(|(name, at)| layout.header(name).into_iter().flat_map(|h| h.fields).map(|f| (*at, f))).collect()
    }

    /// Lets it in unless it speaks for the connection with real traffic.
    fn inject(&mut self, frame: Vec<u8>) {
        if let Ok(p) = mrnic_wire::parse_packet(&frame) {
            if p.packet.mph.conn == 0 {
                return;
            }
        }
        while self.rig.nodes[1].nic.rx_backlog() > 4 {
            self.rig.cycle();
        }
        self.rig.inject(1, frame);
    }

    /// Good traffic passes, counters balance, nothing was written where it may not be.
    fn survives(mut self) -> rig::Counters {
        self.rig.settle();
        let (local, remote) = good(&mut self.rig, self.good_qp);
        self.rig.run();
        let [_, b] = self.rig.finish();
        self.rig.assert_copied((0, &local), (1, &remote), LEN);
        self.rig.assert_untouched(1, &self.victim);
        b
    }
}

/// The acknowledgment of nothing new that refuses, made for path `home` of connection `conn` of node 0.
fn refusal(rig: &Rig, conn: u16, home: u8, mak: Mak) -> Vec<u8> {
    let cum = rig.nodes[0].model().tx_path(conn, home).expect("a path").cum;
    let flags = AckFlags { nak: true, ..AckFlags::default() };
    let body = Body::Ack(Ack { rate: 0xFF_FFFF, flags, mak, ..Ack::default() });
    let mph = PathHeader { rtx: false, moved: false, home, tx_ts: 0, conn, via: home };
    let packet = Packet { ppsn: cum, mph, ..Packet::new(body) };
    let mut frame = vec![0; 9000];
    let n = emit_packet(&mut frame, &rig::address(1, false), 0xC123, &packet, &[]).expect("a packet");
    frame.truncate(n);
    frame
}

/// Section 6, nak: a peer refuses for queue pairs of its own connection, and for packets of it that are outstanding, only.
#[test]
fn forged_refusals() {
    let mut rig = Rig::new();
    rig.open(0, &|_| {});
    rig.open(1, &|_| {});
    let (victim, own, doomed) = (rig.pair(0), rig.pair(1), rig.pair(1));
    let msn = rig.nodes[0].model().send_queue(victim.into()).expect("a queue pair").head;
    // the oldest message of each is under way and stays so
    rig.cut = true;
    let copied = [good(&mut rig, victim), good(&mut rig, own)];
    rig.poll();
    rig.cycles(1000);
    let (from, to) = (rig.filled(0, LEN, 3), rig.region(1, LEN, 11, writable(), 1));
    rig.post_write(0, doomed, Write { expect: STATUS_REM_INV_REQ_ERR, ..write(&from, &to, LEN as u32) });
    rig.poll();
    rig.cycles(1000);
    let path = |rig: &Rig, home: u8| {
        let p = rig.nodes[0].model().tx_path(1, home).expect("a path");
        (p.cum.get(), p.next.get())
    };
    let [(own_ppsn, own_next), (doomed_ppsn, doomed_next)] = [0, 1].map(|home| path(&rig, home));
    assert_eq!((own_next, doomed_next), (own_ppsn + 1, doomed_ppsn + 1), "each has one packet outstanding");
    let (victim, own) = (u32::from(victim), u32::from(own));
    for qp in [victim, victim | 1 << 16, own | 1 << 16, own | 1 << 23, 0xFFFF, 0xFF_FFFF, own + rig::build().qps as u32] {
        for code in [MakCode::BadKey, MakCode::Access, MakCode::QpError, MakCode::MsgLength] {
            let frame = refusal(&rig, 1, 0, Mak { qp, code, msn });
            rig.inject(0, frame);
        }
    }
    // code 4 names a packet of that path
    for ppsn in [own_ppsn.wrapping_sub(1), own_next, own_next + 1, own_ppsn + 256, own_ppsn ^ 0x80_0000] {
        let frame = refusal(&rig, 1, 0, Mak { qp: ppsn & 0xFF_FFFF, code: MakCode::BadQp, msn });
        rig.inject(0, frame);
    }
    rig.cycles(2000);
    assert_eq!(rig.counters(0).get("QP_ERROR"), 0, "forged refusals move nothing");
    let frame = refusal(&rig, 1, 1, Mak { qp: doomed_ppsn, code: MakCode::BadQp, msn });
    rig.inject(0, frame);
    rig.cycles(2000);
    assert_eq!(rig.counters(0).get("QP_ERROR"), 1, "a true one does");
    rig.cut = false;
    rig.run();
    rig.finish();
    for (local, remote) in &copied {
        rig.assert_copied((0, local), (1, remote), LEN);
    }
    rig.assert_untouched(1, &to);
}

/// Every prefix of a frame, as it is and with a fresh ICRC.
#[test]
fn frames_cut_at_every_byte() {
    let mut r = SmallRng::seed_from_u64(seed());
    let mut a = Attacked::new();
    let frames: Vec<_> = (0..6).map(|_| a.frame(&mut r)).collect();
    for frame in frames {
        for n in 1..frame.len() {
            a.inject(frame[..n].to_vec());
            let mut mended = frame[..n].to_vec();
            mend(&mut mended, true);
            a.inject(mended);
        }
        let longer = [&frame[..], &[0xEE; 40]].concat();
        for n in frame.len() + 1..longer.len() {
            a.inject(longer[..n].to_vec());
        }
    }
    assert!(a.survives().sum(&["RX_DROP_FRAME", "RX_DROP_ICRC"]) > 500);
}

/// Every field of every header at 0, at its greatest value, and one more and less than it was.
#[test]
fn every_header_field_at_its_limits() {
    let mut r = SmallRng::seed_from_u64(seed());
    let mut a = Attacked::new();
    let mut tried = std::collections::BTreeSet::new();
    for round in 0..24 {
        let sample = a.frame(&mut r);
        for (at, field) in Attacked::fields(&sample) {
            for change in 0..4 {
                // with fresh sequence numbers, so that what is damaged is the reason
                let mut frame = sample.clone();
                let header = &frame[at.min(frame.len())..];
                let was = field.read(header).unwrap_or(0);
                let value = [0, u64::MAX, was.wrapping_add(1), was.wrapping_sub(1)][change];
                put(&mut frame, at, field, value);
                if round % 3 > 0 {
                    mend(&mut frame, round % 3 == 1);
                }
                tried.insert((field.header, field.name));
                a.inject(frame);
            }
        }
    }
    println!("{} fields", tried.len());
    assert!(tried.len() > 60, "{tried:?}");
    let b = a.survives();
    assert!(b.get("RX_DROP_FRAME") > 100 && b.get("RX_DROP_ICRC") > 100 && b.get("RX_DROP_CONN") > 10, "{b:?}");
}

/// Random damage to random frames, random bytes, runts, too long ones, opcodes that this stage does not use.
#[test]
fn three_thousand_bad_frames() {
    let mut r = SmallRng::seed_from_u64(seed());
    let mut a = Attacked::new();
    for i in 0..3000 {
        let mut frame = a.frame(&mut r);
        match i % 10 {
            0 => frame = (0..r.random_range(1..1600)).map(|_| r.random()).collect(),
            1 => frame.truncate(r.random_range(1..64)),
            2 => frame.resize(r.random_range(4200..12_000), 0x11),
            3 => {
                // any opcode, with the lengths left as they are
                let at = if frame[12] == 0x86 { 62 } else { 42 };
                frame[at] = r.random_range(0xDF..=0xF8);
                mend(&mut frame, true);
            }
            4 => {
                // speaks for a connection or path that there is not
                let (mut p, len) = a.packet(&mut r);
                p.mph.conn = [1, 7, 8, 9, 0x7FFF, 0xFFFF, BAD_CONN | 0x100][r.random_range(0..7)];
                if r.random() {
                    p.mph = PathHeader { conn: BAD_CONN, home: r.random(), via: r.random(), ..p.mph };
                }
                frame.resize(9000, 0);
                let n = emit_packet(&mut frame, &rig::address(0, false), 0xC001, &p, &pattern(1, len)).expect("a packet");
                frame.truncate(n);
            }
            5 => {
                // a WRITE with a key, a place or a length that it may not have
                let (mut p, len) = a.packet(&mut r);
                if let Body::Write { va, rkey, length, .. } = &mut p.body {
                    match r.random_range(0..5) {
                        0 => (*rkey, *va) = (a.victim.key, a.victim.va),
                        1 => *va = a.open.va + LEN as u64 - r.random_range(0..3),
                        2 => *va = u64::MAX - r.random_range(0..300),
                        3 => *length = r.random(),
                        _ => *rkey = r.random(),
                    }
                }
                frame.resize(9000, 0);
                let n = emit_packet(&mut frame, &rig::address(0, true), 0xC001, &p, &pattern(1, len)).expect("a packet");
                frame.truncate(n);
            }
            6 => {
                // a PPSN or an MSN from anywhere
                let (mut p, len) = a.packet(&mut r);
                p.ppsn = Ppsn::new(
                    p.ppsn.get().wrapping_add([1, 255, 256, 257, 1 << 23, 0xFF_FFFF, r.random()][r.random_range(0..7)]),
                );
                if let (Body::Write { msg, .. } | Body::Nop { msg }, true) = (&mut p.body, r.random()) {
                    msg.msn =
                        Msn::new(msg.msn.get().wrapping_add([1, 15, 16, 17, 0xFF_FFFF, r.random()][r.random_range(0..6)]));
                }
                frame.resize(9000, 0);
                let n = emit_packet(&mut frame, &rig::address(0, true), 0xC001, &p, &pattern(1, len)).expect("a packet");
                frame.truncate(n);
            }
            7 => {
                // an acknowledgment of packets that were never sent
                let (mut p, _) = a.packet(&mut r);
                let vector = SackVector::from_words([r.random(), 0, 0, r.random()]);
                p.body = Body::Ack(Ack {
                    rate: r.random_range(0..1 << 24),
                    vector,
                    dup_packets: r.random(),
                    ce_packets: r.random(),
                    ..Ack::default()
                });
                p.ppsn = Ppsn::new(p.ppsn.get().wrapping_add(r.random_range(0..3)));
                frame.resize(9000, 0);
                let n = emit_packet(&mut frame, &rig::address(0, false), 0xC001, &p, &[]).expect("a packet");
                frame.truncate(n);
            }
            _ => {
                for _ in 0..r.random_range(1..4) {
                    let bit = r.random_range(0..frame.len() * 8);
                    frame[bit / 8] ^= 1 << (bit % 8);
                }
                if r.random() {
                    mend(&mut frame, r.random());
                }
            }
        }
        a.inject(frame);
    }
    let b = a.survives();
    println!("{b:?}");
    for counter in [
        "RX_DROP_FRAME",
        "RX_DROP_ICRC",
        "RX_DROP_CONN",
        "RX_NAK",
        "RX_DUPLICATE",
        "RX_OUT_OF_WINDOW",
        "RX_PROBE",
        "ACK_INVALID",
    ] {
        assert!(b.get(counter) > 0, "{counter} is 0: {b:?}");
    }
}

/// Damaged copies of real traffic arrive in the middle of it.
#[test]
fn damaged_copies_of_live_traffic() {
    let mut r = SmallRng::seed_from_u64(seed());
    let mut rig = Rig::new();
    rig.open(0, &|c| c.mtu_log2 = 10);
    let qp = rig.pair(0);
    rig.tapped = Some(Vec::new());
    let copied: Vec<_> = (0..20).map(|_| good(&mut rig, qp)).collect();
    rig.poll();
    let mut injected = 0;
    for _ in 0..3000 {
        rig.cycles(16);
        rig.poll();
        for mut frame in rig.tapped.replace(Vec::new()).unwrap_or_default() {
            let bit = r.random_range(14 * 8..frame.len() * 8);
            frame[bit / 8] ^= 1 << (bit % 8);
            // what a switch may change, it may change
            if mrnic_wire::parse_packet(&frame).is_err() {
                rig.inject(1, frame);
                injected += 1;
            }
        }
    }
    rig.run();
    let [_, b] = rig.finish();
    assert!(injected > 40);
    assert_eq!(b.sum(&["RX_DROP_FRAME", "RX_DROP_ICRC"]), injected);
    for (local, remote) in &copied {
        rig.assert_copied((0, local), (1, remote), LEN);
    }
}

/// Reset in mid-traffic, at many moments; everything is set up again each time and traffic passes.
#[test]
fn resets_in_mid_traffic() {
    let mut r = SmallRng::seed_from_u64(seed());
    let mut rig = Rig::new();
    for round in 0..20 {
        rig.open(0, &|c| c.paths = [1, 2, 4, 8][round % 4]);
        let qp = rig.pair(0);
        let (local, remote) = good(&mut rig, qp);
        rig.run();
        rig.finish();
        rig.assert_copied((0, &local), (1, &remote), LEN);
        // both ways and half done
        let (there, back) = (rig.filled(0, 100_000, 3), rig.filled(1, 100_000, 3));
        let (from, to) = (rig.region(0, 100_000, 0, writable(), 1), rig.region(1, 100_000, 0, writable(), 1));
        rig.post_write(0, qp, write(&there, &to, 100_000));
        rig.post_write(1, qp, write(&back, &from, 100_000));
        rig.poll();
        rig.cycles(r.random_range(1..6000));
        rig.reset();
    }
}

/// Section 10: a queue pair and its connection are opened again and again, with all numbers at their start.
#[test]
fn connections_opened_again() {
    let mut rig = Rig::new();
    for _ in 0..20 {
        rig.open(0, &|_| {});
        let qp = rig.pair(0);
        let (local, remote) = good(&mut rig, qp);
        rig.run();
        rig.settle();
        rig.assert_copied((0, &local), (1, &remote), LEN);
        rig.close_all();
    }
    let [a, b] = rig.finish();
    assert_eq!(a.get("TX_NEW"), b.get("RX_DATA_NEW"));
}
