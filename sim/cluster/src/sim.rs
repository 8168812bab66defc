//! The simulation: hosts with endpoints, the network between them, the workload, and one queue of events.
//!
//! In: a checked configuration and a seed. Out: an [`Outcome`]. Deterministic: the same seed gives the same outcome, whatever
//! runs beside it. Guarantees that every packet is delivered, dropped for a counted reason, or on its way at the end.
use crate::endpoint::{Arrival, BuildError, Endpoint, EndpointStats, FlowEnd, Host, Next, Notice};
use crate::flights::{Flight, Flights};
use crate::network::config::NetworkConfig;
use crate::network::pfc::{PfcAction, Waiting};
use crate::network::{Hop, Network, NetworkStats, Wire};
use crate::outcome::{Measured, Outcome, Probe};
use crate::queue::{CalendarQueue, Event, EventQueue};
use crate::time::{Ps, NEVER};
use crate::topology::{mix, FiveTuple, Route};
use crate::trace::Trace;
use crate::workload::{Action, Workload};

/// A host.
struct Node<E> {
    endpoint: E,
    ends: Vec<FlowEnd>,
    /// Time of the valid timer event.
    timer_at: Ps,
    /// Time of the valid port event.
    port_at: Ps,
    /// It waits for a port of which nobody knows when it will have room.
    waits: bool,
}

/// What a run is made of, beside the endpoints' own configuration.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    pub network: &'a NetworkConfig,
    pub workload: &'a crate::workload::WorkloadConfig,
    /// Of a workload that is one.
    pub trace: Option<&'a Trace>,
    pub seed: u64,
    pub limit: Ps,
    /// Time between two looks at queues and rates; 0: none.
    pub sample: Ps,
}

/// A simulation with endpoints of one kind.
pub struct Sim<E: Endpoint, Q: EventQueue = CalendarQueue> {
    network: Network,
    queue: Q,
    flights: Flights<E::Header>,
    nodes: Vec<Node<E>>,
    workload: Workload,
    /// Slots of each flow at its sender and at its receiver.
    slots: Vec<(u32, u32)>,
    measured: Measured,
    now: Ps,
    limit: Ps,
    sample: Ps,
    port_bytes: u64,
    events: u64,
    failed: u64,
}

impl<E: Endpoint, Q: EventQueue> Sim<E, Q> {
    /// Builds the hosts and opens every flow.
    pub fn new(setup: &Setup<'_>, config: &E::Config) -> Result<Self, BuildError> {
        let network = Network::new(setup.network, setup.seed);
        let workload = Workload::new(setup.workload, setup.network, setup.seed, setup.trace);
        let (ends, slots) = flow_ends(&workload, setup.network.hosts, setup.seed);
        let mut nodes = Vec::with_capacity(ends.len());
        for (host, ends) in ends.into_iter().enumerate() {
            let planes = setup.network.planes;
            let rate_gbps = setup.network.rate_gbps * planes as f64;
            let endpoint = E::build(config, &Host { host: host as u32, flows: &ends, planes, rate_gbps })?;
            nodes.push(Node { endpoint, ends, timer_at: NEVER, port_at: NEVER, waits: false });
        }
        let mut queue = Q::default();
        for &(at, token) in &workload.starts {
            queue.push(at, Event::Start { token });
        }
        for (index, at) in network.change_times().enumerate() {
            queue.push(at, Event::Fault { index: index as u32 });
        }
        if setup.sample > 0 {
            queue.push(setup.sample, Event::Sample);
        }
        let measured = Measured::new(&workload, setup.network, setup.sample);
        Ok(Sim {
            network,
            queue,
            flights: Flights::new(),
            nodes,
            workload,
            slots,
            measured,
            now: 0,
            limit: setup.limit,
            sample: setup.sample,
            port_bytes: E::port_bytes(config),
            events: 0,
            failed: 0,
        })
    }

    /// Runs until every message was received, or the time is up, or nothing is left to happen.
    pub fn run(&mut self) {
        while !self.workload.is_done() {
            let Some((at, event)) = self.queue.pop() else { break };
            if at > self.limit {
                self.now = self.limit;
                break;
            }
            self.now = at;
            self.step(event);
        }
        if self.workload.is_done() {
            self.measured.done(self.now);
        }
    }

    /// Runs on until no packet is on its way and no event is left, or the time is up: for tests of conservation.
    pub fn drain(&mut self) {
        self.sample = 0;
        while let Some((at, event)) = self.queue.pop() {
            if at > self.limit {
                break;
            }
            self.now = at;
            self.step(event);
        }
    }

    fn step(&mut self, event: Event) {
        self.events += 1;
        match event {
            Event::Arrive { flight } => self.arrive(flight),
            Event::Port { node } => {
                let n = &mut self.nodes[node as usize];
                if n.port_at == self.now {
                    n.port_at = NEVER;
                    self.pump(node);
                }
            }
            Event::Timer { node } => {
                let n = &mut self.nodes[node as usize];
                if n.timer_at == self.now {
                    n.timer_at = NEVER;
                    n.endpoint.on_timer(self.now);
                    self.settle(node);
                }
            }
            Event::Start { token } => {
                self.workload.begin(self.now, token);
                // All that follows from one time is posted at one host.
                if let Some(src) = self.act() {
                    self.settle(src);
                }
            }
            Event::Left { link } => {
                if let Some(pfc) = &mut self.network.pfc {
                    pfc.left(self.now, link);
                }
                self.flow_control();
            }
            Event::Pause { code } => {
                self.network.pause(self.now, code);
                self.flow_control();
            }
            Event::Fault { index } => {
                self.network.change(self.now, index as usize);
                self.flow_control();
            }
            Event::Sample => self.take_sample(),
        }
    }

    /// Does what the workload asks for. Returns the host that has something to send for it.
    fn act(&mut self) -> Option<u32> {
        let mut host = None;
        while let Some(action) = self.workload.actions.pop_front() {
            match action {
                Action::Post { flow, bytes } => {
                    let src = self.workload.flows[flow as usize].src;
                    self.nodes[src as usize].endpoint.post(self.now, self.slots[flow as usize].0, bytes);
                    host = Some(src);
                }
                Action::Begin { at, token } => self.queue.push(at, Event::Start { token }),
            }
        }
        host
    }

    /// A packet is at the end of a link.
    fn arrive(&mut self, at: u32) {
        let flight = self.flights.get(at);
        let link = flight.route.links[flight.hop as usize] as usize;
        let hop = hop_of(&flight.route, flight.hop);
        if !self.network.arrived(link, hop) {
            self.flights.release(at);
            return;
        }
        if hop != Hop::Last {
            flight.hop += 1;
            self.forward(at);
            return;
        }
        let Flight { header, ecn_ce, dst, flow, bytes, .. } = *flight;
        self.flights.release(at);
        let endpoint = &mut self.nodes[dst as usize].endpoint;
        let before = endpoint.received_bytes();
        endpoint.receive(self.now, &Arrival { header: &header, ecn_ce });
        let fresh = endpoint.received_bytes() - before;
        if fresh > 0 {
            self.measured.received(self.now, flow, fresh, bytes);
        }
        self.settle(dst);
    }

    /// Puts a packet on the link where it stands.
    fn forward(&mut self, at: u32) {
        let flight = self.flights.get(at);
        let link = flight.route.links[flight.hop as usize] as usize;
        let hop = hop_of(&flight.route, flight.hop);
        if self.network.pfc.is_some() {
            let from = flight.hop.checked_sub(1).map(|before| flight.route.links[before as usize]);
            let packet = Waiting { flight: at, bytes: flight.bytes, from, is_ack: flight.is_ack };
            match self.network.put(self.now, link, hop, &packet) {
                Ok(marked) => flight.ecn_ce |= marked,
                Err(_) => self.flights.release(at),
            }
            self.flow_control();
            return;
        }
        match self.network.pass(self.now, link, hop, &Wire { bytes: flight.bytes, is_ack: flight.is_ack }) {
            Ok(passed) => {
                flight.ecn_ce |= passed.marked;
                self.queue.push(passed.at, Event::Arrive { flight: at });
            }
            Err(_) => self.flights.release(at),
        }
    }

    /// Sees to what flow control asks for.
    fn flow_control(&mut self) {
        while let Some(action) = self.network.pfc.as_mut().and_then(|pfc| pfc.action()) {
            match action {
                PfcAction::Pause { at, code } => self.queue.push(at, Event::Pause { code }),
                PfcAction::Room { link } => {
                    let node = link as usize / self.network.topology.planes;
                    let n = &mut self.nodes[node];
                    if std::mem::take(&mut n.waits) {
                        n.port_at = self.now;
                        self.queue.push(self.now, Event::Port { node: node as u32 });
                    }
                }
                PfcAction::Leaves { link, flight, end, bytes } => {
                    self.queue.push(end, Event::Left { link });
                    let f = self.flights.get(flight);
                    let (hop, wire) = (hop_of(&f.route, f.hop), Wire { bytes, is_ack: f.is_ack });
                    match self.network.launch(end, link as usize, hop, &wire) {
                        Ok(at) => self.queue.push(at, Event::Arrive { flight }),
                        Err(_) => self.flights.release(flight),
                    }
                }
            }
        }
    }

    /// After anything that happened at a host: notices, packets, timers.
    fn settle(&mut self, node: u32) {
        while let Some(notice) = self.nodes[node as usize].endpoint.notice() {
            let flow_of = |slot: u32| self.nodes[node as usize].ends[slot as usize].flow;
            match notice {
                Notice::Received { slot } => {
                    let flow = flow_of(slot);
                    self.workload.received(self.now, flow);
                    self.measured.message(self.now, &self.workload, flow);
                    // What follows begins here, where the message was received.
                    self.act();
                }
                Notice::Sent { slot } => {
                    let flow = flow_of(slot);
                    self.workload.sent(self.now, flow);
                    self.act();
                }
                Notice::Failed { .. } => self.failed += 1,
            }
        }
        self.pump(node);
    }

    /// Sends what can be sent, and sees to the timers.
    fn pump(&mut self, node: u32) {
        loop {
            let (full, first) = self.network.full_ports(self.now, node as usize, self.port_bytes);
            let n = &mut self.nodes[node as usize];
            match n.endpoint.next(self.now, full) {
                Next::Packet(p) => {
                    let end = &n.ends[p.slot as usize];
                    let tuple = FiveTuple { src: node, dst: end.peer, source_port: p.source_port };
                    let route = self.network.topology.route(p.plane as usize, &tuple);
                    let (header, bytes, is_ack) = (p.header, p.bytes, p.is_ack);
                    let (dst, flow) = (end.peer, end.flow);
                    let flight = Flight { header, route, hop: 0, ecn_ce: false, is_ack, dst, flow, bytes };
                    let at = self.flights.insert(flight);
                    self.forward(at);
                }
                Next::PortFull => {
                    n.waits = first == NEVER;
                    if first < n.port_at {
                        n.port_at = first.max(self.now + 1);
                        self.queue.push(n.port_at, Event::Port { node });
                    }
                    break;
                }
                Next::Idle => break,
            }
        }
        let n = &mut self.nodes[node as usize];
        if let Some(due) = n.endpoint.timer(self.now) {
            if due < n.timer_at {
                n.timer_at = due;
                self.queue.push(due, Event::Timer { node });
            }
        }
    }

    fn take_sample(&mut self) {
        if self.sample == 0 {
            return;
        }
        let host = self.measured.watched as usize;
        let t = self.network.topology;
        let queue_bytes =
            (0..t.planes).map(|plane| self.network.backlog_bytes(self.now, t.downlink(plane, host))).max().unwrap_or(0);
        let mut probe = Probe { queue_bytes, ..Probe::default() };
        let senders = || self.nodes[host].ends.iter().filter(|end| !end.sends);
        let equal_mbps = self.measured.equal_part_mbps(senders().count());
        for end in senders() {
            let sender = &self.nodes[end.peer as usize].endpoint;
            let allowed = sender.allowed_mbps(end.peer_slot);
            if !allowed.is_some_and(|mbps| (0.9 * equal_mbps..=1.1 * equal_mbps).contains(&mbps)) {
                let round_trip = sender.round_trips(end.peer_slot).map_or(1, |over| over + 1);
                probe.unsettled_round_trip = probe.unsettled_round_trip.max(round_trip);
            }
            let Some(mbps) = allowed else {
                probe.unlimited += 1;
                continue;
            };
            probe.limited += 1;
            probe.min_mbps = probe.min_mbps.min(mbps);
            probe.max_mbps = probe.max_mbps.max(mbps);
        }
        self.measured.sample(probe);
        self.queue.push(self.now + self.sample, Event::Sample);
    }

    /// What became of packets so far.
    pub fn network_stats(&self) -> NetworkStats {
        self.network.stats()
    }

    /// Packets on their way.
    pub fn in_flight(&self) -> usize {
        self.flights.live()
    }

    /// Most packets that were on their way at a time.
    pub fn most_in_flight(&self) -> usize {
        self.flights.most()
    }

    pub fn is_done(&self) -> bool {
        self.workload.is_done()
    }

    pub fn now(&self) -> Ps {
        self.now
    }

    /// The result so far.
    pub fn outcome(&self) -> Outcome {
        let mut endpoints = EndpointStats::default();
        for node in &self.nodes {
            endpoints += node.endpoint.stats();
        }
        self.measured.outcome(self.now, &self.workload, &self.network.stats(), &endpoints, self.events, self.failed)
    }
}

fn hop_of(route: &Route, hop: u8) -> Hop {
    match hop {
        0 => Hop::First,
        h if h + 1 == route.hops => Hop::Last,
        _ => Hop::Middle,
    }
}

/// Both ends of every flow by host, and the slots of each flow at its ends.
fn flow_ends(workload: &Workload, hosts: usize, seed: u64) -> (Vec<Vec<FlowEnd>>, Vec<(u32, u32)>) {
    let mut ends: Vec<Vec<FlowEnd>> = vec![Vec::new(); hosts];
    let mut slots = Vec::with_capacity(workload.flows.len());
    for (i, flow) in workload.flows.iter().enumerate() {
        let (src, dst) = (flow.src as usize, flow.dst as usize);
        let (at_src, at_dst) = (ends[src].len() as u32, ends[dst].len() as u32);
        let entropy = mix(seed ^ mix(i as u64 + 1));
        let end = FlowEnd { flow: i as u32, sends: true, host: flow.src, peer: flow.dst, peer_slot: at_dst, entropy };
        ends[src].push(end);
        ends[dst].push(FlowEnd { sends: false, host: flow.dst, peer: flow.src, peer_slot: at_src, ..end });
        slots.push((at_src, at_dst));
    }
    (ends, slots)
}
