//! The server's rounds: messages, then clock cycles as long as a NIC has work, else sleep.
//!
//! In: programs at the socket. Out: NICs for them on one simulated network, in simulated time, which stands still while there is nothing to do.
//! A program that ends, or sends what is no message, is cut off; the others go on.
use super::figures::Figures;
use super::log::{Log, Now};
use super::peer::Peer;
use super::station::Station;
use super::watch::Watch;
use super::{Options, FIRST_PROGRAM};
use crate::nic::{NicError, NicSim, Observer};
use crate::world::reference_config;
use mrnic_fabric::{Fabric, PlaneStats};
use mrnic_host_bus::{place, Message};
use mrnic_lockstep::Checker;
use mrnic_verilated::Model;
use mrnic_wire::{Body, Opcode};
use std::cell::RefCell;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::rc::Rc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Cycles between two looks at the sockets.
const BATCH_CYCLES: u64 = 100;
/// How long a NIC whose program has left still answers its peers: some retransmission timeouts.
const LEAVING_CYCLES: u64 = 250_000;
/// How often a server without programs looks whether its session is still there.
const LOOK_AROUND: Duration = Duration::from_secs(1);
/// Programs that have connected and not yet said who they are.
const NEWCOMERS_MAX: usize = 64;

/// The server cannot go on.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error(transparent)]
    Nic(#[from] NicError),
    #[error("{count} NICs failed a check; the first: {first}")]
    Check { count: usize, first: String },
    #[error("the socket fails: {0}")]
    Socket(#[from] std::io::Error),
    #[error("the golden model does not take the build's sizes: {0}")]
    Reference(#[from] mrnic_model::ConfigError),
}

pub struct Server<'a> {
    options: &'a Options,
    model: &'a Model,
    listener: Option<UnixListener>,
    pub(super) stations: Vec<Option<Station>>,
    /// A place is given again as late as possible.
    last_place: usize,
    newcomers: Vec<Peer>,
    fabric: Fabric,
    log: Option<Rc<RefCell<Log>>>,
    pub figures: Figures,
    /// Of the network.
    pub cycle: u64,
    /// Cycles of all NICs.
    pub nic_cycles: u64,
    pub commits: u64,
    pub programs: u64,
    /// NICs that failed a check.
    pub(super) failures: Vec<String>,
    pub(super) now: Now,
    /// Messages that were the same when a log was replayed.
    pub same: u64,
    /// When the last program had left.
    empty_since: Instant,
    scratch: Vec<u8>,
}

impl<'a> Server<'a> {
    /// Without a listener for a replay.
    pub fn new(
        options: &'a Options,
        model: &'a Model,
        listener: Option<UnixListener>,
        log: Option<Log>,
        now: Now,
    ) -> Result<Self, ServeError> {
        if let Some(listener) = &listener {
            listener.set_nonblocking(true)?;
        }
        Ok(Server {
            options,
            model,
            listener,
            stations: (0..place::PLACES).map(|_| None).collect(),
            last_place: place::PLACES - 1,
            newcomers: Vec::new(),
            fabric: Fabric::new(&options.fabric, place::PLACES, options.seed),
            log: log.map(|log| Rc::new(RefCell::new(log))),
            figures: Figures::new(place::PLACES),
            cycle: 0,
            nic_cycles: 0,
            commits: 0,
            programs: 0,
            failures: Vec::new(),
            now,
            same: 0,
            empty_since: Instant::now(),
            scratch: Vec::new(),
        })
    }

    pub fn planes(&self) -> &[PlaneStats] {
        &self.fabric.stats
    }

    /// Serves until no program is left.
    pub fn run(&mut self) -> Result<(), ServeError> {
        for round in 0.. {
            self.now.set((2 * round, self.cycle));
            let busy = self.busy();
            let attended = self.stations.iter().any(Option::is_some) || !self.newcomers.is_empty();
            let linger = if self.programs == 0 { self.options.linger.max(FIRST_PROGRAM) } else { self.options.linger };
            if attended {
                self.empty_since = Instant::now();
            } else if self.empty_since.elapsed() >= linger || !self.options.session.exists() {
                break;
            }
            // Programs that may come, and those that may say something, are waited for; a NIC with work is not.
            let wait = match (busy, attended) {
                (true, _) => Some(Duration::ZERO),
                (false, true) => None,
                (false, false) => Some(linger.saturating_sub(self.empty_since.elapsed()).min(LOOK_AROUND)),
            };
            self.exchange(wait)?;
            self.now.set((2 * round + 1, self.cycle));
            if self.busy() {
                self.advance();
            }
            self.end_those_that_left();
        }
        self.end()
    }

    pub(super) fn end(&mut self) -> Result<(), ServeError> {
        if let Some(log) = &self.log {
            log.borrow_mut().flush()?;
        }
        match self.failures.first() {
            Some(first) => Err(ServeError::Check { count: self.failures.len(), first: first.clone() }),
            None => Ok(()),
        }
    }

    pub(super) fn busy(&self) -> bool {
        self.fabric.in_flight() > 0 || self.stations.iter().flatten().any(Station::busy)
    }

    /// Waits for the sockets, and handles what they bring.
    fn exchange(&mut self, wait: Option<Duration>) -> Result<(), ServeError> {
        let entry = |fd, writes| libc::pollfd {
            fd,
            events: if writes { libc::POLLIN | libc::POLLOUT } else { libc::POLLIN },
            revents: 0,
        };
        let peers = self.stations.iter().flatten().filter(|s| !s.left).map(|s| &s.nic.memory).chain(&self.newcomers);
        let mut set: Vec<_> = peers.map(|peer| entry(peer.fd(), peer.wants_to_write())).collect();
        set.extend(self.listener.iter().map(|listener| entry(listener.as_raw_fd(), false)));
        // Rounded up: a wait that ends early would be repeated at once.
        let milliseconds = wait.map_or(-1, |w| w.as_micros().div_ceil(1000).min(i32::MAX as u128) as i32);
        // SAFETY: the entries are valid for the time of the call.
        let ready = unsafe { libc::poll(set.as_mut_ptr(), set.len() as libc::nfds_t, milliseconds) };
        let is_ready = |fd| ready > 0 && set.iter().any(|e| e.fd == fd && e.revents != 0);
        for at in 0..self.stations.len() {
            if let Some(station) = self.stations[at].as_mut().filter(|s| s.listens() && is_ready(s.nic.memory.fd())) {
                station.nic.memory.receive();
            }
            self.hear(at);
            if let Some(station) = &mut self.stations[at] {
                station.answer();
            }
        }
        for peer in &mut self.newcomers {
            if is_ready(peer.fd()) {
                peer.receive();
            }
        }
        self.welcome()?;
        while let Some(listener) = &self.listener {
            match listener.accept() {
                Ok((stream, _)) => self.meet(stream)?,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn meet(&mut self, stream: UnixStream) -> Result<(), ServeError> {
        let mut peer = Peer::new(stream, self.options.lockstep, self.log.clone())?;
        if self.newcomers.len() >= NEWCOMERS_MAX {
            peer.refuse("too many programs have connected and not said who they are");
        } else {
            self.newcomers.push(peer);
        }
        Ok(())
    }

    /// Newcomers whose first message is there get a NIC.
    fn welcome(&mut self) -> Result<(), ServeError> {
        let mut at = 0;
        while at < self.newcomers.len() {
            let peer = &mut self.newcomers[at];
            let first = peer.next(&mut self.scratch);
            let attach = match first.as_ref().map(|there| there.then(|| Message::decode(&self.scratch))) {
                Err(fault) => {
                    let why = fault.to_string();
                    peer.refuse(&why);
                    None
                }
                Ok(None) => None,
                Ok(Some(Ok(Some((Message::Attach { probe_addr, probe }, _))))) => Some((probe_addr, probe)),
                Ok(Some(_)) => {
                    peer.refuse("the first message must be ATTACH");
                    None
                }
            };
            if let Some(why) = peer.gone() {
                tracing::warn!("process {}: cut off before it had a NIC: {why}", peer.pid);
                self.newcomers.swap_remove(at);
            } else if let Some((probe_addr, probe)) = attach {
                let peer = self.newcomers.swap_remove(at);
                self.attach(peer, probe_addr, probe)?;
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    fn attach(&mut self, mut peer: Peer, probe_addr: u64, probe: u64) -> Result<(), ServeError> {
        let places = (1..=place::PLACES).map(|i| (self.last_place + i) % place::PLACES);
        let Some(at) = places.into_iter().find(|&at| self.stations[at].is_none()) else {
            peer.refuse(&format!("all {} NICs are taken: end another program first", place::PLACES));
            tracing::warn!("process {}: no NIC is free", peer.pid);
            return Ok(());
        };
        self.last_place = at;
        peer.name = at as u16;
        if !self.options.dma_by_messages {
            peer.probe(probe_addr, probe);
        }
        self.install(at, peer)
    }

    /// A program gets the NIC at a place that is free.
    pub(super) fn install(&mut self, at: usize, mut peer: Peer) -> Result<(), ServeError> {
        self.programs += 1;
        let build = &self.options.build;
        let (pid, direct) = (peer.pid, peer.direct);
        peer.send(&Message::Attached { place: at as u16, direct, keys: build.keys as u32, build: build.name });
        let nic = NicSim::with_host(self.model, at, build.clock_ps, &self.options.host, self.options.seed, peer)?;
        let checker = match self.options.lockstep {
            true => Some(Checker::new(&reference_config(build, 0), build.clock_ps)?),
            false => None,
        };
        let mut watch = Watch::new(build.conns, checker);
        for record in nic.early_records() {
            watch.record(record, &nic.memory);
        }
        let mut station = Station::new(nic, watch, build);
        station.answer();
        self.stations[at] = Some(station);
        self.figures.reset(at);
        tracing::info!(
            "NIC {at}: process {pid} has it ({})",
            if direct { "its memory is accessed directly" } else { "DMA by messages" }
        );
        Ok(())
    }

    /// Handles the messages of a program.
    pub(super) fn hear(&mut self, at: usize) {
        let mut bytes = std::mem::take(&mut self.scratch);
        while let Some(station) = self.stations[at].as_mut().filter(|s| !s.leaving) {
            match station.nic.memory.next(&mut bytes) {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => {
                    station.nic.memory.refuse(&fault.to_string());
                    break;
                }
            }
            let Ok(Some((message, _))) = Message::decode(&bytes) else { break };
            self.handle(at, &message);
        }
        self.scratch = bytes;
    }

    fn handle(&mut self, at: usize, message: &Message<'_>) {
        let Some(station) = &mut self.stations[at] else { return };
        let peer = &mut station.nic.memory;
        match *message {
            Message::RegisterRead { offset } if offset % 4 == 0 => station.read(offset),
            Message::RegisterWrite { offset, value } if offset % 4 == 0 => station.write(offset, value),
            Message::RegisterRead { offset } | Message::RegisterWrite { offset, .. } => {
                peer.refuse(&format!("register offset {offset:#x} is not a multiple of 4"));
            }
            Message::Map { addr, bytes } => match peer.map(addr, bytes) {
                true => peer.send(&Message::Done),
                false => peer.refuse("a range that cannot be mapped"),
            },
            Message::Unmap { addr, bytes } => match peer.is_mapped(addr, bytes) {
                true => station.unmap(Some((addr, bytes))),
                false => peer.refuse("a range that is unmapped was not mapped"),
            },
            Message::Frame(frame) => {
                let (now_ps, mut copy) = (self.now_ps(), self.fabric.buffer());
                copy.extend_from_slice(frame);
                // What does not parse, or goes to nobody, is lost as on any network.
                if let Some(to) = place::destination(frame).filter(|to| *to < place::PLACES) {
                    self.fabric.send(now_ps, at, to, copy, false);
                }
            }
            Message::Unmask => station.unmask(),
            Message::Detach => {
                station.leave();
                station.until_cycle = self.cycle + LEAVING_CYCLES;
                tracing::info!("NIC {at}: its program leaves");
            }
            // An answer that nobody waits for any more.
            Message::DmaData { .. } | Message::DmaDone { .. } => {}
            _ => peer.refuse("a message that only the NIC's side sends"),
        }
    }

    fn now_ps(&self) -> u64 {
        self.cycle * self.options.build.clock_ps
    }

    /// Clock cycles of all NICs that have work.
    pub(super) fn advance(&mut self) {
        let busy: Vec<bool> = self.stations.iter().map(|s| s.as_ref().is_some_and(Station::busy)).collect();
        let mut running = busy;
        if !running.iter().any(|b| *b) {
            // Nothing but frames under way: the time between is nobody's.
            if let Some(at) = self.fabric.next_arrival_ps() {
                self.cycle = self.cycle.max(at / self.options.build.clock_ps);
            }
        }
        for _ in 0..BATCH_CYCLES {
            let now_ps = self.now_ps();
            while let Some((to, _, frame)) = self.fabric.deliver(now_ps) {
                running[to] |= self.deliver(to, frame);
            }
            for (at, runs) in running.iter_mut().enumerate().filter(|(_, runs)| **runs) {
                let Some(station) = &mut self.stations[at] else { continue };
                let stepped = station.step(at, self.cycle, &mut self.figures).map_err(|error| error.to_string());
                let checked = match station.watch.failed.take() {
                    Some(report) => Err(format!("it differs from the golden model:\n{report}")),
                    None => stepped,
                };
                let frame = match checked {
                    Ok(frame) => frame,
                    Err(report) => {
                        // The others go on; the server's exit status tells.
                        station.nic.memory.refuse("its NIC failed a check: the server's log says which");
                        tracing::error!("NIC {at}: cut off: {report}");
                        self.failures.push(format!("NIC {at}: {report}"));
                        self.take_away(at);
                        self.figures.reset(at);
                        *runs = false;
                        continue;
                    }
                };
                self.nic_cycles += 1;
                if station.nic.memory.gone().is_some() && !station.left {
                    // What it could not read must not leave it.
                    *runs = false;
                    continue;
                }
                let Some(frame) = frame else { continue };
                let Some(to) = place::destination(&frame).filter(|to| *to < place::PLACES) else { continue };
                let is_ack = mrnic_wire::parse_packet(&frame).is_ok_and(|p| p.packet.opcode() == Opcode::Ack);
                self.fabric.send(now_ps, at, to, frame, is_ack);
            }
            self.cycle += 1;
            self.now.set((self.now.get().0, self.cycle));
        }
        for station in self.stations.iter_mut().flatten() {
            station.answer();
        }
    }

    /// A frame arrives at a port: connection control goes to the host, all else to the engine. Returns whether the engine has work.
    fn deliver(&mut self, to: usize, frame: Vec<u8>) -> bool {
        let Some(station) = self.stations.get_mut(to).and_then(Option::as_mut) else {
            self.fabric.recycle(frame);
            return false;
        };
        let control = mrnic_wire::parse_packet(&frame)
            .is_ok_and(|p| matches!(p.packet.body, Body::Connect(_) | Body::Accept(_) | Body::Close(_)));
        if control {
            if !station.leaving {
                station.nic.memory.send(&Message::Frame(&frame));
                station.nic.memory.flush();
            }
            self.fabric.recycle(frame);
            return false;
        }
        station.nic.receive(frame, &mut station.watch)
    }

    /// Programs that are gone lose their NIC; one that has left keeps it until its peers are quiet.
    pub(super) fn end_those_that_left(&mut self) {
        let peers = self.stations.iter().flatten().filter(|s| !s.leaving).count();
        let busy = self.busy();
        for at in 0..self.stations.len() {
            let Some(station) = &mut self.stations[at] else { continue };
            let left = station.left && (peers == 0 || !busy || self.cycle >= station.until_cycle);
            let gone = (!station.left).then(|| station.nic.memory.gone().map(str::to_owned)).flatten();
            if let Some(why) = &gone {
                tracing::warn!("NIC {at}: process {} is cut off: {why}", station.nic.memory.pid);
            }
            if !left && gone.is_none() {
                continue;
            }
            if let Some(checker) = &mut station.watch.checker {
                // In the middle of something there is always something missing.
                if gone.is_none() && !busy {
                    if let Err(report) = checker.finish() {
                        tracing::error!("NIC {at}: at its end: {report}");
                        self.failures.push(format!("NIC {at} at its end: {report}"));
                    }
                }
                self.commits += checker.commits();
            }
            self.take_away(at);
            self.figures.reset(at);
        }
    }

    /// A program has no NIC any more. One that is replayed has been told what it was told then, or that is a failure.
    pub(super) fn take_away(&mut self, at: usize) {
        let script = self.stations[at].take().and_then(|mut station| station.nic.memory.take_script());
        if let Some(mut script) = script {
            script.finish();
            self.same += script.same;
            self.failures.extend(script.difference().map(|report| format!("NIC {at}: it is not as in the log:\n{report}")));
        }
    }
}
