//! The state machine of connection control (H1..H7).
//! In: wishes of queue pairs, control packets, time. Out: [`Action`]s in order.
//! Guarantees at most one connection to a peer, and that every wish ends in `Open`, `Failed` or `Down`.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::net::IpAddr;

use mrnic_model::{ConnConfig, PathConfig};
use mrnic_wire::{start_ppsn, Body, ConnInfo, NetAddr, Packet, PathHeader};

use crate::action::{Action, ControlPacket, DownReason};
use crate::config::{Config, ConfigError};
use crate::numbers::{Numbers, Random};
use crate::peer::{Link, Peer, Role};
use crate::{Endpoint, NO_CONN, VERSION};

/// A queue pair's share of the connection to a peer; given back by [`Manager::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    ip: IpAddr,
    generation: u32,
}

/// State of the connection to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Idle,
    Opening,
    Open { conn: u16 },
}

/// The connections of one NIC.
#[derive(Debug)]
pub struct Manager {
    config: Config,
    peers: BTreeMap<IpAddr, Peer>,
    numbers: Numbers,
    random: Random,
    actions: VecDeque<Action>,
    orphans: Vec<Orphan>,
    /// Control packets that fit no connection, or no state.
    ignored: u64,
    /// Answers so far, the low bits: each takes another route than the one before, which may have been lost with its plane.
    answers: u8,
}

/// H5, H6: a connection that the peer no longer has, as long as queue pairs are on it. They notice when they send.
#[derive(Debug)]
struct Orphan {
    conn: u16,
    peer: Endpoint,
    generation: u32,
    users: u32,
}

/// Peers that are remembered for each connection of the engine; idle ones are forgotten beyond that.
const PEERS_PER_CONN: usize = 4;

impl Manager {
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Manager {
            peers: BTreeMap::new(),
            numbers: Numbers::new(config.conns),
            random: Random::new(config.seed),
            actions: VecDeque::new(),
            orphans: Vec::new(),
            ignored: 0,
            answers: 0,
            config,
        })
    }

    /// The next wish, to be carried out before anything else is asked of the engine.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    pub fn state(&self, ip: IpAddr) -> State {
        match self.peers.get(&ip).map(|peer| &peer.link) {
            Some(Link::Open { own, .. }) => State::Open { conn: own.conn },
            Some(Link::Opening { .. } | Link::Closing { .. }) => State::Opening,
            _ => State::Idle,
        }
    }

    /// Control packets that were ignored.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// H1: a queue pair needs the connection to `endpoint`; it is opened if there is none.
    pub fn acquire(&mut self, now_us: u64, endpoint: Endpoint) -> Lease {
        let peer = self.peers.entry(endpoint.ip).or_insert_with(|| Peer::new(endpoint));
        peer.users += 1;
        let lease = Lease { ip: endpoint.ip, generation: peer.generation };
        if peer.link == Link::Idle {
            self.start_opening(now_us, endpoint.ip);
        }
        lease
    }

    /// The queue pair no longer needs it.
    pub fn release(&mut self, now_us: u64, lease: Lease) {
        let Some(peer) = self.peers.get_mut(&lease.ip).filter(|peer| peer.generation == lease.generation) else {
            return self.release_orphan(lease);
        };
        peer.users = peer.users.saturating_sub(1);
        if peer.users == 0 {
            peer.idle_since_us = now_us;
        }
    }

    fn release_orphan(&mut self, lease: Lease) {
        let is_it = |orphan: &Orphan| orphan.peer.ip == lease.ip && orphan.generation == lease.generation;
        let Some(at) = self.orphans.iter().position(is_it) else { return };
        let orphan = &mut self.orphans[at];
        orphan.users = orphan.users.saturating_sub(1);
        if orphan.users == 0 {
            let conn = self.orphans.swap_remove(at).conn;
            self.numbers.give(conn);
            self.actions.push_back(Action::Close { conn });
        }
    }

    /// The engine gave `conn` up (rule L4).
    pub fn engine_error(&mut self, conn: u16) {
        if let Some(at) = self.orphans.iter().position(|orphan| orphan.conn == conn) {
            let peer = self.orphans.swap_remove(at).peer;
            self.numbers.give(conn);
            self.actions.push_back(Action::Down { conn, peer, reason: DownReason::EngineError });
            return;
        }
        let used = |peer: &&Peer| peer.link.own().is_some_and(|own| own.conn == conn);
        if let Some(ip) = self.peers.values().find(used).map(|peer| peer.endpoint.ip) {
            self.down(ip, DownReason::EngineError);
        }
    }

    /// H6: the NIC will go away soon: from now on what nobody uses is closed without waiting.
    pub fn hasten(&mut self) {
        self.config.idle_us = self.config.idle_us.min(self.config.retry_us);
    }

    /// Peers with which a connection is open, or being closed.
    pub fn connected(&self) -> impl Iterator<Item = &Endpoint> {
        let connected = |peer: &&Peer| matches!(peer.link, Link::Open { .. } | Link::Closing { .. });
        self.peers.values().filter(connected).map(|peer| &peer.endpoint)
    }

    /// The NIC goes away: every peer is told at once.
    pub fn shutdown(&mut self) {
        for orphan in core::mem::take(&mut self.orphans) {
            self.numbers.give(orphan.conn);
            self.actions.push_back(Action::Close { conn: orphan.conn });
        }
        let open: Vec<IpAddr> = self.peers.keys().copied().collect();
        for ip in open {
            if let Some(Link::Open { theirs, .. } | Link::Closing { theirs, .. }) = self.peers.get(&ip).map(|p| p.link) {
                self.send_unknown(ip, &theirs);
                self.down(ip, DownReason::Shutdown);
            }
        }
    }

    /// A control packet arrives. Packets of other kinds are ignored.
    pub fn handle(&mut self, now_us: u64, net: &NetAddr, packet: &Packet) {
        let from = Endpoint::source(net);
        let to = packet.mph.conn;
        let used = match &packet.body {
            Body::Connect(info) => self.on_connect(now_us, from, info),
            Body::Accept(info) => self.on_accept(now_us, from, to, info),
            Body::Close(info) => self.on_close(now_us, from, to, info),
            _ => false,
        };
        self.ignored += u64::from(!used);
    }

    /// When [`Manager::handle_timeout`] has something to do.
    pub fn next_timeout_us(&self) -> Option<u64> {
        self.peers.values().filter_map(|peer| self.due_us(peer)).min()
    }

    fn due_us(&self, peer: &Peer) -> Option<u64> {
        match &peer.link {
            Link::Idle => None,
            Link::Opening { at_us, .. } | Link::Closing { at_us, .. } => Some(*at_us),
            Link::Open { .. } => (peer.users == 0).then_some(peer.idle_since_us.saturating_add(self.config.idle_us)),
        }
    }

    /// H3, H6: repeats what was not answered, gives up, closes what nobody uses.
    pub fn handle_timeout(&mut self, now_us: u64) {
        let due = |peer: &&Peer| self.due_us(peer).is_some_and(|at| at <= now_us);
        let due: Vec<IpAddr> = self.peers.values().filter(due).map(|peer| peer.endpoint.ip).collect();
        for ip in due {
            self.on_due(now_us, ip);
        }
    }

    fn on_due(&mut self, now_us: u64, ip: IpAddr) {
        let (retry_max_us, config) = (self.config.retry_max_us, self.config);
        let Some(peer) = self.peers.get_mut(&ip) else { return };
        match &mut peer.link {
            Link::Idle => {}
            Link::Opening { tries, .. } if *tries >= config.connect_tries => self.fail(ip, DownReason::NoAnswer),
            Link::Opening { own, tries, at_us, wait_us } => {
                // H3: repeated with back-off.
                let (own, n) = (*own, *tries);
                *tries += 1;
                *wait_us = (*wait_us * 2).min(retry_max_us);
                *at_us = now_us + *wait_us;
                self.send(ip, NO_CONN, Body::Connect(own), n);
            }
            Link::Open { role, own, theirs } => {
                // H6: nobody has used it for a while.
                let (role, own, theirs) = (*role, *own, *theirs);
                let wait_us = config.retry_us;
                peer.link = Link::Closing { role, own, theirs, tries: 1, at_us: now_us + wait_us, wait_us };
                self.send(ip, theirs.conn, Body::Close(own), 0);
            }
            Link::Closing { tries, .. } if *tries >= config.close_tries => self.closed(now_us, ip),
            Link::Closing { own, theirs, tries, at_us, wait_us, .. } => {
                let (own, theirs, n) = (*own, *theirs, *tries);
                *tries += 1;
                *wait_us = (*wait_us * 2).min(retry_max_us);
                *at_us = now_us + *wait_us;
                self.send(ip, theirs.conn, Body::Close(own), n);
            }
        }
    }

    /// H1: a number, a seed and an epoch; the first CONNECT.
    fn start_opening(&mut self, now_us: u64, ip: IpAddr) {
        let Some(own) = self.new_info() else { return self.fail(ip, DownReason::NoNumber) };
        let Some(peer) = self.peers.get_mut(&ip) else { return };
        if self.config.local.to(&peer.endpoint).is_none() {
            self.numbers.give(own.conn);
            return self.fail(ip, DownReason::AddressFamily);
        }
        let wait_us = self.config.retry_us;
        peer.link = Link::Opening { own, tries: 1, at_us: now_us + wait_us, wait_us };
        self.send(ip, NO_CONN, Body::Connect(own), 0);
    }

    fn new_info(&mut self) -> Option<ConnInfo> {
        let conn = self.numbers.take()?;
        let random = self.random.next();
        Some(ConnInfo {
            version: VERSION,
            paths: self.config.paths,
            vector_bits: self.config.vector_bits,
            mtu_log2: self.config.mtu_log2,
            conn,
            epoch: (random >> 32) as u8,
            start_ppsn_seed: random as u32,
        })
    }

    /// H7: whether a connection with this peer can work.
    fn is_usable(&self, theirs: &ConnInfo) -> bool {
        theirs.version == VERSION
            && theirs.vector_bits == self.config.vector_bits
            && (8..=12).contains(&theirs.mtu_log2)
            && theirs.paths > 0
            && theirs.conn != NO_CONN
    }

    fn on_connect(&mut self, now_us: u64, from: Endpoint, theirs: &ConnInfo) -> bool {
        let limit = PEERS_PER_CONN * usize::from(self.config.conns);
        if !self.peers.contains_key(&from.ip) && self.peers.len() >= limit {
            let idle = self.peers.iter().find(|(_, peer)| peer.link == Link::Idle && peer.users == 0).map(|(ip, _)| *ip);
            let Some(idle) = idle else { return false };
            self.peers.remove(&idle);
        }
        let local_is_smaller = self.config.local.ip < from.ip;
        let usable = self.is_usable(theirs);
        let peer = self.peers.entry(from.ip).or_insert_with(|| Peer::new(from));
        // H5: a delayed packet of an incarnation that is over.
        if peer.is_over(theirs) {
            return false;
        }
        peer.endpoint.mac = from.mac;
        if !usable {
            self.send_unknown(from.ip, theirs);
            return true;
        }
        match peer.link {
            Link::Idle => match self.new_info() {
                Some(own) => self.answer(now_us, from.ip, own, theirs),
                None => self.send_unknown(from.ip, theirs),
            },
            // H4: the side with the smaller address stays the opener.
            Link::Opening { .. } if local_is_smaller => {}
            Link::Opening { own, .. } => self.answer(now_us, from.ip, own, theirs),
            Link::Open { role, own, theirs: known } | Link::Closing { role, own, theirs: known, .. } => {
                let same = (known.conn, known.start_ppsn_seed) == (theirs.conn, theirs.start_ppsn_seed);
                match (same, role) {
                    // H3: our ACCEPT was lost.
                    (true, Role::Answerer) => {
                        let was_closing = matches!(peer.link, Link::Closing { .. });
                        peer.link = Link::Open { role, own, theirs: known };
                        peer.idle_since_us = now_us;
                        self.send_answer(from.ip, theirs.conn, Body::Accept(own));
                        if was_closing {
                            self.ready(from.ip);
                        }
                    }
                    // H4: the CONNECT that lost the crossing arrives late.
                    (true, Role::Opener) => return false,
                    (false, _) => {
                        // H5: the peer started anew.
                        self.orphan(from.ip);
                        match self.new_info() {
                            Some(own) => self.answer(now_us, from.ip, own, theirs),
                            None => self.send_unknown(from.ip, theirs),
                        }
                    }
                }
            }
        }
        true
    }

    /// H2: ACCEPT, and the connection is open here.
    fn answer(&mut self, now_us: u64, ip: IpAddr, own: ConnInfo, theirs: &ConnInfo) {
        let own = ConnInfo { epoch: theirs.epoch, ..own };
        self.send_answer(ip, theirs.conn, Body::Accept(own));
        self.open(now_us, ip, Role::Answerer, own, theirs);
    }

    fn on_accept(&mut self, now_us: u64, from: Endpoint, to: u16, theirs: &ConnInfo) -> bool {
        let Some(peer) = self.peers.get_mut(&from.ip) else {
            self.peers.insert(from.ip, Peer::new(from));
            self.send_unknown(from.ip, theirs);
            self.peers.remove(&from.ip);
            return false;
        };
        match peer.link {
            Link::Opening { own, .. } if own.conn == to && own.epoch == theirs.epoch => {
                peer.endpoint.mac = from.mac;
                if !self.is_usable(theirs) {
                    self.fail(from.ip, DownReason::Refused);
                    return true;
                }
                self.open(now_us, from.ip, Role::Opener, own, theirs);
                true
            }
            Link::Open { own, theirs: known, .. } if own.conn == to && known.start_ppsn_seed == theirs.start_ppsn_seed => {
                // A repeated answer.
                false
            }
            Link::Closing { role, own, theirs: known, .. }
                if own.conn == to && known.start_ppsn_seed == theirs.start_ppsn_seed =>
            {
                // H6: the peer still uses it.
                peer.link = Link::Open { role, own, theirs: known };
                peer.idle_since_us = now_us;
                self.ready(from.ip);
                true
            }
            _ => {
                // An answer to a question of an earlier incarnation.
                self.send_unknown(from.ip, theirs);
                false
            }
        }
    }

    fn on_close(&mut self, now_us: u64, from: Endpoint, to: u16, theirs: &ConnInfo) -> bool {
        let unknown_there = theirs.conn == NO_CONN;
        let Some(peer) = self.peers.get(&from.ip) else { return false };
        // A confirmation names our connection by our seed, a request the peer's by the peer's.
        let named = match peer.link {
            Link::Idle => None,
            Link::Opening { own, .. } => unknown_there.then_some((own, own)),
            Link::Open { own, theirs: known, .. } | Link::Closing { own, theirs: known, .. } => {
                Some((own, if unknown_there { own } else { known }))
            }
        };
        let fits = named.is_some_and(|(own, by)| own.conn == to && by.start_ppsn_seed == theirs.start_ppsn_seed);
        if !fits {
            // It fits nothing: the peer is told, unless it has said the same.
            if !unknown_there {
                self.send_unknown(from.ip, theirs);
            }
            return false;
        }
        match peer.link {
            // The peer has no such connection: it refuses it (H7), or has closed or lost it (H6).
            Link::Opening { .. } => self.fail(from.ip, DownReason::Refused),
            Link::Open { .. } if unknown_there => self.orphan(from.ip),
            // H6: the peer wants to close, but it is in use here.
            Link::Open { own, theirs: known, .. } if peer.users > 0 => {
                self.send_answer(from.ip, known.conn, Body::Accept(own));
            }
            // H6: closed on both sides.
            _ => {
                if !unknown_there {
                    self.send_unknown(from.ip, theirs);
                }
                self.closed(now_us, from.ip);
            }
        }
        true
    }

    /// The connection works: the engine is told what both sides agreed on (H2).
    fn open(&mut self, now_us: u64, ip: IpAddr, role: Role, own: ConnInfo, theirs: &ConnInfo) {
        let Some(peer) = self.peers.get_mut(&ip) else { return };
        peer.link = Link::Open { role, own, theirs: *theirs };
        // H6: unused since now, not since the last user of an earlier connection left.
        peer.idle_since_us = now_us;
        let Some(addr) = self.config.local.to(&peer.endpoint) else { return };
        let (endpoint, paths) = (peer.endpoint, power_of_two(own.paths.min(theirs.paths)));
        let mut config = ConnConfig::new(theirs.conn, paths, addr);
        config.mtu_log2 = own.mtu_log2.min(theirs.mtu_log2);
        config.init_window_pkts = self.config.init_window_pkts;
        config.retry_cnt = self.config.retry_cnt;
        config.init_hint_mbps = self.config.init_hint_mbps;
        let mut ports = Random::new(u64::from(own.start_ppsn_seed) << 16 | u64::from(own.conn));
        config.path = core::array::from_fn(|i| PathConfig {
            enabled: i < usize::from(paths),
            udp_port: port(ports.next()),
            tx_start_ppsn: start_ppsn(own.start_ppsn_seed, i as u8).get(),
            rx_start_ppsn: start_ppsn(theirs.start_ppsn_seed, i as u8).get(),
        });
        self.actions.push_back(Action::Open { conn: own.conn, peer: endpoint, config });
        self.ready(ip);
    }

    /// Wishes that wait are fulfilled.
    fn ready(&mut self, ip: IpAddr) {
        let Some(peer) = self.peers.get(&ip).filter(|peer| peer.users > 0) else { return };
        let Link::Open { own, .. } = peer.link else { return };
        self.actions.push_back(Action::Ready { conn: own.conn, peer: peer.endpoint });
    }

    /// Nobody used it and both sides know; a wish that came meanwhile opens a new one.
    fn closed(&mut self, now_us: u64, ip: IpAddr) {
        let Some(peer) = self.peers.get_mut(&ip) else { return };
        let (Link::Open { own, theirs, .. } | Link::Closing { own, theirs, .. }) = peer.link else { return };
        peer.remember(&theirs);
        peer.link = Link::Idle;
        let wanted = peer.users > 0;
        self.numbers.give(own.conn);
        self.actions.push_back(Action::Close { conn: own.conn });
        if wanted {
            self.start_opening(now_us, ip);
        }
    }

    /// The peer no longer has the connection. Its queue pairs keep it until they are gone, or have found out by sending.
    fn orphan(&mut self, ip: IpAddr) {
        let Some(peer) = self.peers.get_mut(&ip) else { return };
        let (Link::Open { own, theirs, .. } | Link::Closing { own, theirs, .. }) = peer.link else { return };
        // Wishes that came while it was closing have no queue pair on it yet.
        let waiting = matches!(peer.link, Link::Closing { .. }) && peer.users > 0;
        peer.remember(&theirs);
        peer.link = Link::Idle;
        let (endpoint, users, generation) = (peer.endpoint, peer.users, peer.generation);
        peer.users = 0;
        peer.generation += 1;
        if users == 0 || waiting {
            self.numbers.give(own.conn);
            self.actions.push_back(Action::Close { conn: own.conn });
            if waiting {
                self.actions.push_back(Action::Failed { peer: endpoint, reason: DownReason::PeerRestarted });
            }
        } else {
            self.orphans.push(Orphan { conn: own.conn, peer: endpoint, generation, users });
        }
    }

    /// An open connection ends although it may be in use.
    fn down(&mut self, ip: IpAddr, reason: DownReason) {
        let Some(peer) = self.peers.get_mut(&ip) else { return };
        let (Link::Open { own, theirs, .. } | Link::Closing { own, theirs, .. }) = peer.link else { return };
        peer.remember(&theirs);
        let waiting = matches!(peer.link, Link::Closing { .. }) && peer.users > 0;
        peer.link = Link::Idle;
        peer.users = 0;
        peer.generation += 1;
        let endpoint = peer.endpoint;
        self.numbers.give(own.conn);
        self.actions.push_back(Action::Down { conn: own.conn, peer: endpoint, reason });
        if waiting {
            self.actions.push_back(Action::Failed { peer: endpoint, reason });
        }
    }

    /// A connection could not be opened.
    fn fail(&mut self, ip: IpAddr, reason: DownReason) {
        let Some(peer) = self.peers.get_mut(&ip) else { return };
        if let Some(own) = peer.link.own() {
            self.numbers.give(own.conn);
        }
        peer.link = Link::Idle;
        peer.users = 0;
        peer.generation += 1;
        let endpoint = peer.endpoint;
        self.actions.push_back(Action::Failed { peer: endpoint, reason });
    }

    /// CLOSE that says: there is no such connection here. It is never answered.
    fn send_unknown(&mut self, ip: IpAddr, theirs: &ConnInfo) {
        let info = ConnInfo { conn: NO_CONN, ..*theirs };
        self.send_answer(ip, theirs.conn, Body::Close(info));
    }

    /// H3: the question is repeated until an answer arrives, and nothing else repeats the answer.
    fn send_answer(&mut self, ip: IpAddr, to: u16, body: Body) {
        self.send(ip, to, body, self.answers);
        self.answers = self.answers.wrapping_add(1);
    }

    /// The `n`-th repetition takes another route than the ones before.
    fn send(&mut self, ip: IpAddr, to: u16, body: Body, n: u8) {
        let Some(net) = self.peers.get(&ip).and_then(|peer| self.config.local.to(&peer.endpoint)) else { return };
        let packet = Packet { mph: PathHeader { conn: to, ..PathHeader::default() }, ..Packet::new(body) };
        let udp_port = port(u64::from(n) * 0x0537);
        self.actions.push_back(Action::Send(ControlPacket { net, udp_port, packet }));
    }
}

/// A UDP source port of the range that paths use.
fn port(entropy: u64) -> u16 {
    0xC000 | (entropy & 0x3FFF) as u16
}

/// The largest power of two that is not above `n`, for `n` > 0.
fn power_of_two(n: u8) -> u8 {
    1 << n.ilog2()
}
