//! Two NICs in one process, on a segment of their own: what the C API cannot show or time.
//!
//! In: settings, requests. Out: completions, paths, files. Time limits are generous and decide nothing.
use super::{ModelProvider, Settings};
use crate::device::*;
use crate::rules::Access;
use mrnic_fabric::{Action, Event, FabricConfig};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const BYTES: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(30);

struct Node {
    device: Arc<dyn Device>,
    cq: Arc<dyn CompletionQueue>,
    qp: Arc<dyn QueuePair>,
    buffer: Vec<u8>,
    keys: MrKeys,
}

impl Node {
    fn open(settings: Settings, fill: u8) -> Node {
        let device = ModelProvider::with(settings).open("mrnic0", Arc::new(NoEvents)).unwrap();
        let pd = device.alloc_pd().unwrap();
        let cq = device.create_cq(&CqSpec { depth: 64, token: Token(0) }).unwrap();
        let buffer = vec![fill; BYTES];
        let addr = buffer.as_ptr() as u64;
        let region = MemoryRegion { pd, addr, length_bytes: BYTES as u64, iova: addr, access: Access::ALL };
        let keys = device.reg_mr(&region).unwrap();
        let capacity = Capacity { max_send_wr: 16, max_recv_wr: 16, max_send_sge: 1, max_recv_sge: 1, ..Capacity::default() };
        let spec = QpSpec { pd, send_cq: cq.id(), recv_cq: cq.id(), srq: None, capacity, token: Token(1) };
        let qp = device.create_qp(&spec).unwrap();
        Node { device, cq, qp, buffer, keys }
    }

    fn address(&self) -> QpAddress {
        QpAddress { gid: self.device.query_gid(1, 0).unwrap().gid, qpn: self.qp.number(), psn: 7 }
    }

    fn connect(&self, peer: &Node) {
        self.connect_to(&peer.address());
    }

    fn connect_to(&self, peer: &QpAddress) {
        self.qp.modify(&QpChange::to_init(Access::ALL)).unwrap();
        self.qp.modify(&QpChange::to_rtr(peer)).unwrap();
        self.qp.modify(&QpChange::to_rts(7)).unwrap();
    }

    fn target(&self) -> Remote {
        Remote { addr: self.buffer.as_ptr() as u64, rkey: self.keys.rkey }
    }

    fn write(&self, peer: &Node, length: usize) {
        self.write_to(peer.target(), length);
    }

    fn write_to(&self, remote: Remote, length: usize) {
        let sges = [Sge { addr: self.buffer.as_ptr() as u64, length: length as u32, lkey: self.keys.lkey }];
        let (op, payload) = (SendOp::Write { remote, imm: None }, Payload::Sges(&sges));
        let request = SendRequest { wr_id: 1, op, payload, signaled: true, solicited: false, fenced: false };
        self.qp.post_send(&request).unwrap();
        self.qp.ring_send();
    }

    fn wait(&self) -> WcStatus {
        let (mut out, end) = ([Completion::default()], Instant::now() + PATIENCE);
        while self.cq.poll(&mut out).unwrap() == 0 {
            assert!(Instant::now() < end, "no completion");
        }
        out[0].status
    }

    /// As a program ends: its queue pair first.
    fn leave(self) {
        self.qp.destroy().unwrap();
        self.device.close();
    }
}

fn settings(session: &Path, fabric: Option<FabricConfig>) -> Settings {
    Settings { session: Some(session.into()), fabric, ..Settings::default() }
}

fn pair(one: Settings, other: Settings) -> (Node, Node) {
    let (a, b) = (Node::open(one, 0xa5), Node::open(other, 0));
    a.connect(&b);
    b.connect(&a);
    (a, b)
}

/// H6: the receiver leaves at once, while all that it sends is lost. The sender's WRITE succeeds, since a NIC that leaves goes on answering.
/// (Without that the sender's retries run out.)
#[test]
fn h6_a_nic_that_leaves_repeats_its_last_acknowledgment() {
    let session = tempfile::tempdir().unwrap();
    let event = |at_ns, action| Event { at_ns, plane: 0, action };
    const DEAD_NS: u64 = 400_000_000;
    let events = vec![event(DEAD_NS, Action::Kill), event(DEAD_NS + 40_000_000, Action::Revive)];
    let fabric = FabricConfig { planes: 1, events, rate_gbps: 100.0, ..FabricConfig::default() };
    let (sender, receiver) = pair(settings(session.path(), None), settings(session.path(), Some(fabric)));
    sender.write(&receiver, 4096);
    assert_eq!(sender.wait(), WcStatus::Success);
    std::thread::sleep(Duration::from_nanos(DEAD_NS));
    // Another byte than last time, so that its arrival can be seen.
    let mark = receiver.buffer.as_ptr().wrapping_add(9000);
    sender.write(&receiver, 9001);
    let end = Instant::now() + PATIENCE;
    // SAFETY: inside the buffer, which the NIC writes meanwhile.
    while unsafe { mark.read_volatile() } == 0 {
        assert!(Instant::now() < end, "no data");
        receiver.device.progress();
    }
    receiver.leave();
    assert_eq!(sender.wait(), WcStatus::Success);
    sender.leave();
}

/// H6: with both sides closing, or with no traffic lately, nobody waits; with a peer that stays, not for long.
#[test]
fn h6_leaving_takes_a_bounded_time() {
    let session = tempfile::tempdir().unwrap();
    let (a, b) = pair(settings(session.path(), None), settings(session.path(), None));
    a.write(&b, 4096);
    assert_eq!(a.wait(), WcStatus::Success);
    let begin = Instant::now();
    b.leave();
    // The rule's 250 ms, and whatever the machine does meanwhile.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    a.leave();
}

/// L4, S3: with one of two planes dead the data arrives, and paths, counters and changes say how.
#[test]
fn paths_tell_of_a_dead_plane() {
    let session = tempfile::tempdir().unwrap();
    let events = vec![Event { at_ns: 0, plane: 1, action: Action::Kill }];
    let fabric = FabricConfig { planes: 2, events, rate_gbps: 100.0, ..FabricConfig::default() };
    let mut one = settings(session.path(), Some(fabric.clone()));
    one.paths = 4;
    let (a, b) = pair(one, settings(session.path(), Some(fabric)));
    a.write(&b, BYTES);
    assert_eq!(a.wait(), WcStatus::Success);
    assert_eq!(a.buffer, b.buffer);
    let paths = a.qp.paths();
    assert_eq!(paths.iter().map(|p| p.path).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let sum = |of: fn(&PathCounters) -> u64| paths.iter().map(|p| of(&p.counters)).sum::<u64>();
    assert_eq!(sum(|n| n.sent), (BYTES / 4096) as u64);
    assert_eq!(sum(|n| n.acked), sum(|n| n.sent));
    let changes = a.device.take_path_changes();
    // Paths 1 and 3 begin on the dead plane.
    assert!(sum(|n| n.timeouts) > 0);
    // (Where the machine is slow others may change too, and come back.)
    let left = |path| changes.iter().any(|change| change.path == path && change.from == PathHealth::Up);
    assert!(left(1) && left(3), "{changes:?}");
    assert!(a.device.take_path_changes().is_empty(), "each is told once");
    a.leave();
    b.leave();
}

/// The mask decides where paths begin, and the named congestion control is the NIC's.
#[test]
fn paths_begin_on_the_planes_of_the_mask() {
    let session = tempfile::tempdir().unwrap();
    let fabric = FabricConfig { planes: 4, rate_gbps: 100.0, ..FabricConfig::default() };
    let congestion = super::settings::congestion("dctcp").unwrap();
    let masked = Settings { plane_mask: 0b1010, congestion, ..settings(session.path(), Some(fabric.clone())) };
    let (a, b) = pair(masked, settings(session.path(), Some(fabric)));
    a.write(&b, BYTES);
    assert_eq!(a.wait(), WcStatus::Success);
    let paths = a.qp.paths();
    assert_eq!(paths.len(), 8);
    for path in paths.iter().filter(|path| path.counters.timeouts == 0) {
        assert_eq!(path.plane, Some([1, 3][usize::from(path.path) % 2]), "{path:?}");
        assert!(path.window_pkts > 0, "{path:?}");
    }
    // A round trip in which the machine was away for 32 ms or more is no sample (16-bit timestamps).
    let end = Instant::now() + PATIENCE;
    while a.qp.paths().iter().all(|path| path.rtt_ns.is_none()) {
        assert!(Instant::now() < end, "no path knows its round trip time");
        a.write(&b, BYTES);
        assert_eq!(a.wait(), WcStatus::Success);
    }
    a.leave();
    b.leave();
}

#[test]
fn counters_are_in_the_file_when_the_nic_has_left() {
    let session = tempfile::tempdir().unwrap();
    let file = session.path().join("stats.json");
    let counted = Settings { stats: Some(file.clone()), ..settings(session.path(), None) };
    let (a, b) = pair(counted, settings(session.path(), None));
    a.write(&b, BYTES);
    assert_eq!(a.wait(), WcStatus::Success);
    a.leave();
    b.leave();
    let stats: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let paths = stats["connections"][0]["paths"].as_array().unwrap();
    let sent: u64 = paths.iter().filter_map(|path| path["sent"].as_u64()).sum();
    assert_eq!((paths.len(), sent), (8, (BYTES / 4096) as u64));
    assert_eq!(stats["congestion"], "aimd");
}

#[test]
fn wrong_settings_open_no_device() {
    let bad = Settings { paths: 3, ..Settings::default() };
    let error = ModelProvider::with(bad).open("mrnic0", Arc::new(NoEvents)).err().map(|e| e.to_string());
    assert!(error.is_some_and(|text| text.contains("MRNIC_PATHS: 3")));
}

/// Names the session of a child process.
const CHILD: &str = "MRNIC_TEST_CHILD";

/// Who a node is, as a line of text.
fn line(node: &Node) -> String {
    let (address, target) = (node.address(), node.target());
    let gid = u128::from_be_bytes(address.gid);
    format!("node {gid} {} {} {}\n", address.qpn, target.addr, target.rkey)
}

fn parse(line: &str) -> Option<(QpAddress, Remote)> {
    let numbers: Vec<u128> = line.trim().strip_prefix("node ")?.split(' ').map_while(|word| word.parse().ok()).collect();
    let [gid, qpn, addr, rkey] = numbers[..] else { return None };
    Some((QpAddress { gid: gid.to_be_bytes(), qpn: qpn as u32, psn: 7 }, Remote { addr: addr as u64, rkey: rkey as u32 }))
}

/// The other process of [`a_program_killed_in_mid_transfer_disturbs_nobody`]: it writes without end. Nothing happens here without its variable.
#[test]
fn child_process() {
    let Some(session) = std::env::var_os(CHILD) else { return };
    let node = Node::open(settings(Path::new(&session), None), 0x77);
    // The test harness may have begun the line.
    print!("\n{}", line(&node));
    std::io::stdout().flush().unwrap();
    let mut told = String::new();
    std::io::stdin().read_line(&mut told).unwrap();
    let (peer, target) = parse(&told).expect("the parent says who it is");
    node.connect_to(&peer);
    // Until it is killed; its parent ends it in any case.
    loop {
        node.write_to(target, BYTES);
        assert_eq!(node.wait(), WcStatus::Success);
    }
}

/// Starts a child that writes to `node`, and returns it with its address when its data arrives.
fn writing_child(session: &Path, node: &Node) -> (Child, Remote) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["model::tests::child_process", "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, session);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (peer, target) = lines.map_while(Result::ok).find_map(|l| parse(&l)).expect("the child says who it is");
    node.connect_to(&peer);
    child.stdin.take().unwrap().write_all(line(node).as_bytes()).unwrap();
    let (first, end) = (node.buffer.as_ptr(), Instant::now() + PATIENCE);
    // SAFETY: inside the buffer, which the NIC writes meanwhile.
    while unsafe { first.read_volatile() } != 0x77 {
        assert!(Instant::now() < end, "the child writes nothing");
        node.device.progress();
    }
    (child, target)
}

/// A process that is killed while packets fly both ways: its peer's requests fail in a bounded time, a third NIC's transfer goes on, and a new
/// process works on the place of the dead one.
#[test]
fn a_program_killed_in_mid_transfer_disturbs_nobody() {
    let session = tempfile::tempdir().unwrap();
    let (a, b) = pair(settings(session.path(), None), settings(session.path(), None));
    for _ in 0..2 {
        let victim_peer = Node::open(settings(session.path(), None), 0);
        let (mut child, target) = writing_child(session.path(), &victim_peer);
        victim_peer.write_to(target, BYTES);
        child.kill().unwrap();
        child.wait().unwrap();
        // What had arrived may complete; what is sent to the dead fails.
        let mut status = victim_peer.wait();
        if status == WcStatus::Success {
            victim_peer.write_to(target, BYTES);
            status = victim_peer.wait();
        }
        assert_eq!(status, WcStatus::RetryExceeded);
        for _ in 0..20 {
            a.write(&b, BYTES);
            assert_eq!(a.wait(), WcStatus::Success);
        }
        assert_eq!(a.buffer, b.buffer);
        victim_peer.leave();
    }
    a.leave();
    b.leave();
}
