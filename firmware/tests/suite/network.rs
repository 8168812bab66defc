//! Control planes joined by a network that loses, duplicates and delays, in virtual time.

use std::collections::BTreeMap;
use std::net::IpAddr;

use mrnic_firmware::{Action, Config, DownReason, Endpoint, Lease, Manager, State};
use mrnic_model::ConnConfig;
use mrnic_wire::{NetAddr, OpenMr0, Profile};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// What the network does to a packet.
#[derive(Clone, Copy, Default)]
pub struct Faults {
    pub loss: f64,
    pub duplication: f64,
    pub delay_max_us: u64,
}

/// A NIC: its control plane and what it told the engine.
pub struct Node {
    pub manager: Manager,
    pub engine: BTreeMap<u16, (Endpoint, ConnConfig<NetAddr>)>,
    pub ready: Vec<u16>,
    pub down: Vec<(u16, DownReason)>,
    pub failed: Vec<DownReason>,
    pub opened: u64,
}

pub struct World {
    pub nodes: Vec<Node>,
    pub now_us: u64,
    pub faults: Faults,
    pub frames: u64,
    queue: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    rng: StdRng,
}

pub fn endpoint(n: usize) -> Endpoint {
    Endpoint { ip: IpAddr::from([10, 0, 0, n as u8 + 1]), mac: [2, 0, 0, 0, 0, n as u8 + 1] }
}

impl Node {
    pub fn new(config: Config) -> Self {
        Node {
            manager: Manager::new(config).unwrap(),
            engine: BTreeMap::new(),
            ready: Vec::new(),
            down: Vec::new(),
            failed: Vec::new(),
            opened: 0,
        }
    }
}

impl World {
    pub fn new(count: usize, seed: u64, faults: Faults) -> Self {
        println!("seed {seed}");
        let nodes = (0..count).map(|n| Node::new(Config::new(endpoint(n), seed + 1000 * n as u64))).collect();
        World { nodes, now_us: 0, faults, frames: 0, queue: BTreeMap::new(), rng: StdRng::seed_from_u64(seed) }
    }

    pub fn acquire(&mut self, node: usize, peer: usize) -> Lease {
        let lease = self.nodes[node].manager.acquire(self.now_us, endpoint(peer));
        self.collect();
        lease
    }

    pub fn release(&mut self, node: usize, lease: Lease) {
        self.nodes[node].manager.release(self.now_us, lease);
    }

    pub fn conn(&self, node: usize, peer: usize) -> Option<u16> {
        match self.nodes[node].manager.state(endpoint(peer).ip) {
            State::Open { conn } => Some(conn),
            _ => None,
        }
    }

    /// Puts a frame into the network, faults included.
    pub fn inject(&mut self, to: usize, frame: &[u8]) {
        let copies = 1 + usize::from(self.rng.random_bool(self.faults.duplication));
        for _ in 0..copies {
            if self.rng.random_bool(self.faults.loss) {
                continue;
            }
            let at = self.now_us + 10 + self.rng.random_range(0..=self.faults.delay_max_us);
            self.queue.insert((at, self.frames), (to, frame.to_vec()));
            self.frames += 1;
        }
    }

    /// Carries out what the control planes want.
    pub fn collect(&mut self) {
        for n in 0..self.nodes.len() {
            while let Some(action) = self.nodes[n].manager.poll_action() {
                let node = &mut self.nodes[n];
                match action {
                    Action::Send(packet) => {
                        let mut buf = [0; 256];
                        let len = packet.emit::<OpenMr0>(&mut buf).unwrap();
                        let to = (0..self.nodes.len()).find(|&m| endpoint(m).mac == packet.net.dst_mac);
                        if let Some(to) = to {
                            self.inject(to, &buf[..len]);
                        }
                    }
                    Action::Open { conn, peer, config } => {
                        assert!(node.engine.insert(conn, (peer, config)).is_none(), "connection {conn} opened twice");
                        node.opened += 1;
                    }
                    Action::Ready { conn, .. } => {
                        assert!(node.engine.contains_key(&conn), "connection {conn} is ready but not open");
                        node.ready.push(conn);
                    }
                    Action::Down { conn, reason, .. } => {
                        assert!(node.engine.remove(&conn).is_some(), "connection {conn} is down but was not open");
                        node.down.push((conn, reason));
                    }
                    Action::Close { conn } => {
                        assert!(node.engine.remove(&conn).is_some(), "connection {conn} closed but was not open");
                    }
                    Action::Failed { reason, .. } => node.failed.push(reason),
                }
            }
        }
    }

    /// The next event before `end_us`. False if there is none.
    pub fn step(&mut self, end_us: u64) -> bool {
        let timers = self.nodes.iter().filter_map(|node| node.manager.next_timeout_us());
        let arrival = self.queue.keys().next().map(|key| key.0);
        let Some(next) = timers.chain(arrival).min().filter(|&next| next <= end_us) else {
            self.now_us = end_us;
            return false;
        };
        self.now_us = self.now_us.max(next);
        for node in &mut self.nodes {
            node.manager.handle_timeout(self.now_us);
        }
        self.collect();
        while let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= self.now_us) {
            let (to, frame) = entry.remove();
            let parsed = OpenMr0::parse_packet(&frame).unwrap();
            self.nodes[to].manager.handle(self.now_us, &parsed.net, &parsed.packet);
            self.collect();
        }
        true
    }

    pub fn run_for(&mut self, us: u64) {
        let end = self.now_us + us;
        while self.step(end) {}
    }

    /// Both ends have the same connection: numbers, sizes and first PPSNs fit together.
    pub fn assert_joined(&self, a: usize, b: usize) {
        let conn_a = self.conn(a, b).expect("open at the first node");
        let conn_b = self.conn(b, a).expect("open at the second node");
        let (_, config_a) = &self.nodes[a].engine[&conn_a];
        let (_, config_b) = &self.nodes[b].engine[&conn_b];
        assert_eq!((config_a.peer_conn, config_b.peer_conn), (conn_b, conn_a));
        assert_eq!((config_a.paths, config_a.mtu_log2), (config_b.paths, config_b.mtu_log2));
        assert_eq!(config_a.addr, config_b.addr.reversed());
        for i in 0..config_a.paths as usize {
            assert!(config_a.path[i].enabled && config_b.path[i].enabled);
            assert_eq!(config_a.path[i].tx_start_ppsn, config_b.path[i].rx_start_ppsn, "path {i}");
            assert_eq!(config_a.path[i].rx_start_ppsn, config_b.path[i].tx_start_ppsn, "path {i}");
        }
    }
}
