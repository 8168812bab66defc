//! Two NICs, a network of four planes of which one dies, and what happens on the paths: the part of the NIC that verbs cannot show.
//!
//! In: nothing. Out: a table of the paths and the changes of their health, on standard output. Run it with
//! `cargo run -p mrnic-host-driver --example paths`.
use anyhow::{ensure, Context, Result};
use mrnic_fabric::{Action, Event, FabricConfig};
use mrnic_host_driver::device::*;
use mrnic_host_driver::model::{ModelProvider, Settings};
use mrnic_host_driver::rules::Access;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const MESSAGE_BYTES: usize = 256 << 10;
const QPS: usize = 2;
/// One plane dies at once, and comes back.
const DIES_NS: u64 = 20_000_000;
const REVIVES_NS: u64 = 150_000_000;
const PATIENCE: Duration = Duration::from_secs(20);

/// An open NIC with a completion queue, a buffer, and queue pairs.
struct Node {
    device: Arc<dyn Device>,
    cq: Arc<dyn CompletionQueue>,
    qps: Vec<Arc<dyn QueuePair>>,
    /// Registered: it outlives the device, which is closed when the node is dropped.
    buffer: Vec<u8>,
    keys: MrKeys,
}

impl Node {
    fn open(session: &Path, fabric: &FabricConfig, fill: u8) -> Result<Node> {
        let settings = Settings { session: Some(session.into()), fabric: Some(fabric.clone()), ..Settings::default() };
        let device = ModelProvider::with(settings).open("mrnic0", Arc::new(NoEvents))?;
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(&CqSpec { depth: 64, token: Token(0) })?;
        let buffer = vec![fill; QPS * MESSAGE_BYTES];
        let (addr, length_bytes) = (buffer.as_ptr() as u64, buffer.len() as u64);
        let keys = device.reg_mr(&MemoryRegion { pd, addr, length_bytes, iova: addr, access: Access::ALL })?;
        let capacity = Capacity { max_send_wr: 16, max_recv_wr: 16, max_send_sge: 1, max_recv_sge: 1, ..Capacity::default() };
        let spec = QpSpec { pd, send_cq: cq.id(), recv_cq: cq.id(), srq: None, capacity, token: Token(1) };
        let qps = (0..QPS).map(|_| device.create_qp(&spec)).collect::<Result<_, _>>()?;
        Ok(Node { device, cq, qps, buffer, keys })
    }

    fn addresses(&self) -> Result<Vec<QpAddress>> {
        let gid = self.device.query_gid(1, 0)?.gid;
        Ok(self.qps.iter().map(|qp| QpAddress { gid, qpn: qp.number(), psn: 100 }).collect())
    }

    fn connect(&self, peers: &[QpAddress]) -> Result<()> {
        for (qp, peer) in self.qps.iter().zip(peers) {
            qp.modify(&QpChange::to_init(Access::ALL))?;
            qp.modify(&QpChange::to_rtr(peer))?;
            qp.modify(&QpChange::to_rts(100))?;
        }
        Ok(())
    }

    /// Writes a message to the peer on each queue pair, and waits for the completions.
    fn write_all(&self, peer: &Node) -> Result<()> {
        for (i, qp) in self.qps.iter().enumerate() {
            let at = (i * MESSAGE_BYTES) as u64;
            let sges = [Sge { addr: self.buffer.as_ptr() as u64 + at, length: MESSAGE_BYTES as u32, lkey: self.keys.lkey }];
            let remote = Remote { addr: peer.buffer.as_ptr() as u64 + at, rkey: peer.keys.rkey };
            let op = SendOp::Write { remote, imm: None };
            let payload = Payload::Sges(&sges);
            qp.post_send(&SendRequest { wr_id: i as u64, op, payload, signaled: true, solicited: false, fenced: false })?;
            qp.ring_send();
        }
        let (mut done, end) = (0, Instant::now() + PATIENCE);
        let mut out = [Completion::default(); 8];
        while done < self.qps.len() {
            let count = self.cq.poll(&mut out)?;
            for completion in &out[..count] {
                ensure!(completion.status == WcStatus::Success, "a WRITE failed: {:?}", completion.status);
            }
            done += count;
            ensure!(Instant::now() < end, "a WRITE has not completed after {PATIENCE:?}");
        }
        Ok(())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.device.close();
    }
}

/// What was seen.
pub struct Seen {
    pub messages: usize,
    pub paths: Vec<PathStatus>,
    pub changes: Vec<PathChange>,
}

/// Moves data until the plane has died, and its paths are UP again.
pub fn run() -> Result<Seen> {
    let session = tempfile::tempdir().context("a folder where the NICs meet")?;
    let event = |at_ns, action| Event { at_ns, plane: 1, action };
    let events = vec![event(DIES_NS, Action::Kill), event(REVIVES_NS, Action::Revive)];
    let fabric = FabricConfig { planes: 4, events, ..FabricConfig::default() };
    let (sender, receiver) = (Node::open(session.path(), &fabric, 0xa5)?, Node::open(session.path(), &fabric, 0)?);
    sender.connect(&receiver.addresses()?)?;
    receiver.connect(&sender.addresses()?)?;
    let (mut changes, mut messages, begin) = (Vec::new(), 0, Instant::now());
    loop {
        sender.write_all(&receiver)?;
        messages += sender.qps.len();
        changes.extend(sender.device.take_path_changes());
        let paths = sender.qps[0].paths();
        let healed = !changes.is_empty() && paths.iter().all(|path| path.state == PathHealth::Up);
        if healed && begin.elapsed() > Duration::from_nanos(REVIVES_NS) {
            ensure!(receiver.buffer == sender.buffer, "the memories differ");
            return Ok(Seen { messages, paths, changes });
        }
        ensure!(begin.elapsed() < PATIENCE, "no path has failed and come back after {PATIENCE:?}: {paths:?}");
    }
}

#[allow(dead_code)] // A test runs the rest.
fn main() -> Result<()> {
    let seen = run()?;
    println!("{} messages of {} KiB on {QPS} queue pairs", seen.messages, MESSAGE_BYTES >> 10);
    println!("path  plane   port  state    window  RTT us   sent  resent  moved  duplicates  marks");
    for p in &seen.paths {
        let (plane, n) = (p.plane.map_or("-".to_owned(), |plane| plane.to_string()), &p.counters);
        let rtt_us = p.rtt_ns.map_or("-".to_owned(), |ns| format!("{:.1}", ns as f64 / 1000.0));
        println!(
            "{:>4}  {plane:>5}  {:>5}  {:<7}  {:>6}  {rtt_us:>6}  {:>5}  {:>6}  {:>5}  {:>10}  {:>5}",
            p.path,
            p.udp_port,
            p.state.name(),
            p.window_pkts,
            n.sent,
            n.resent,
            n.moved,
            n.duplicates,
            n.marks
        );
    }
    for c in &seen.changes {
        let (ms, plane) = (c.at_ns as f64 / 1e6, c.plane.map_or("-".to_owned(), |plane| plane.to_string()));
        let what = if c.from == c.to { "took another route" } else { "changed" };
        println!("{ms:8.2} ms: path {} {what}: {} -> {}, now plane {plane}", c.path, c.from.name(), c.to.name());
    }
    Ok(())
}
