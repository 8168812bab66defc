//! The paths of connections, for reports: their state, their counters, changes of their health.
//!
//! In: the model's views. Out: the plain data of [`crate::device`]. Changes are kept until the program takes them, the newest 4096.
use super::engine::Engine;
use super::link::endpoint_of;
use crate::device::{PathChange, PathCounters, PathHealth, PathStatus};
use mrnic_fabric::{plane_of_port, port_on_plane};
use mrnic_model::{ConnConfig, OpenMr0, PathState};
use mrnic_wire::{NetAddr, Profile};
use std::collections::VecDeque;
use std::net::IpAddr;

/// Changes kept at most; older ones are dropped.
const CHANGES_MAX: usize = 4096;
/// Closed connections whose last counters are kept at most.
const CLOSED_MAX: usize = 256;

/// What is kept of the paths beyond the model's own state.
#[derive(Default)]
pub struct PathLog {
    pub changes: VecDeque<PathChange>,
    /// Of these, from the oldest, how many the program has taken.
    taken: usize,
    /// Paths of connections that were closed, at that time.
    pub closed: Vec<(IpAddr, Vec<PathStatus>)>,
}

impl PathLog {
    fn push(&mut self, change: PathChange) {
        if self.changes.len() == CHANGES_MAX {
            self.changes.pop_front();
            self.taken = self.taken.saturating_sub(1);
        }
        self.changes.push_back(change);
    }

    /// The changes since the last call.
    pub fn take(&mut self) -> Vec<PathChange> {
        let new = self.changes.iter().skip(self.taken).copied().collect();
        self.taken = self.changes.len();
        new
    }
}

fn health(state: PathState) -> PathHealth {
    match state {
        PathState::Disabled => PathHealth::Disabled,
        PathState::Up => PathHealth::Up,
        PathState::Suspect => PathHealth::Suspect,
        PathState::Down => PathHealth::Down,
    }
}

fn counters(of: &mrnic_model::PathCounters) -> PathCounters {
    let mrnic_model::PathCounters { sent, resent, moved, probes, acked, lost, timeouts, duplicates, marks } = *of;
    PathCounters { sent, resent, moved, probes, acked, lost, timeouts, duplicates, marks }
}

impl Engine {
    /// The plane that a port leads to, where the network is known.
    fn plane(&self, port: u16) -> Option<u8> {
        self.settings.fabric.as_ref().map(|fabric| plane_of_port(port, fabric.planes) as u8)
    }

    /// Paths begin on the planes of the mask, in turn: were it left to chance, all paths of a NIC that only acknowledges could begin on one
    /// plane, and when that dies nothing makes it change their ports (L5 is for a NIC that sends).
    pub fn place_paths(&self, config: &mut ConnConfig<NetAddr>) {
        let Some(fabric) = &self.settings.fabric else { return };
        for (path, plane) in config.path.iter_mut().zip(self.settings.planes(fabric.planes).into_iter().cycle()) {
            path.udp_port = port_on_plane(path.udp_port, plane, fabric.planes);
        }
    }

    /// The paths of a connection; none if it is not open.
    pub fn path_statuses(&self, conn: u16) -> Vec<PathStatus> {
        let status = |path: u8| {
            let p = self.nic.tx_path(conn, path).ok()?;
            let counted = self.nic.path_counters(conn, path).ok()?;
            Some(PathStatus {
                path,
                udp_port: p.port,
                plane: self.plane(p.port),
                state: health(p.state),
                window_pkts: p.win.window,
                in_flight_pkts: p.pipe(),
                rtt_ns: p.rtt_valid.then(|| u64::from(p.srtt_ticks()) * u64::from(OpenMr0::TIME_UNIT_NS)),
                counters: counters(counted),
            })
        };
        (0..).map_while(status).collect()
    }

    /// Connections that are open, with their peers.
    pub fn connections(&self) -> impl Iterator<Item = (u16, IpAddr)> + '_ {
        let open = self.places.iter().enumerate();
        open.filter_map(|(conn, place)| place.map(|place| (conn as u16, endpoint_of(place).ip)))
    }

    /// Notes what the model has to say about health and routes.
    pub fn note_path_changes(&mut self) {
        while let Some(change) = self.nic.poll_path_change() {
            let Some(place) = self.places[usize::from(change.conn)] else { continue };
            self.paths.push(PathChange {
                at_ns: self.link.now_ns().saturating_sub(self.start_ns),
                peer: endpoint_of(place).ip,
                path: change.path,
                from: health(change.from),
                to: health(change.to),
                udp_port: change.port,
                plane: self.plane(change.port),
            });
        }
    }

    /// A connection is about to be closed: its counters are kept, if somebody will want them.
    pub fn keep_counters(&mut self, conn: u16) {
        if let Some(place) = self.places[usize::from(conn)].filter(|_| self.settings.stats.is_some()) {
            if self.paths.closed.len() < CLOSED_MAX {
                let statuses = self.path_statuses(conn);
                self.paths.closed.push((endpoint_of(place).ip, statuses));
            }
        }
    }
}
