//! A log of `mrnic serve` once more, without its programs.
//!
//! In: a log. Out: whether the NICs say and write the same in the same cycles; the first difference if not. Nothing else enters: the network, the host
//! memory's latency and every NIC follow from the log's header, and what programs said, or their memory held, is in its records.
use super::log::{self, Now};
use super::peer::Peer;
use super::script::{scripts, Script};
use super::server::{ServeError, Server};
use super::Options;
use crate::models;
use anyhow::{anyhow, ensure, Context, Result};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Server<'_> {
    /// Serves the programs of a log until its last phase.
    fn replay(&mut self, programs: Vec<Script>, last_phase: u64) -> Result<(), ServeError> {
        let mut programs = VecDeque::from(programs);
        for round in 0..=last_phase / 2 {
            self.now.set((2 * round, self.cycle));
            for at in 0..self.stations.len() {
                if let Some(station) = &mut self.stations[at] {
                    station.nic.memory.cut_off_as_before();
                }
                self.hear(at);
                if let Some(station) = &mut self.stations[at] {
                    station.answer();
                }
            }
            while let Some(script) = programs.pop_front_if(|script| script.phase <= 2 * round) {
                let at = usize::from(script.place);
                if self.stations.get(at).is_none_or(Option::is_some) {
                    self.failures
                        .push(format!("NIC {at}: in the log it is free in phase {}, and here it is not", script.phase));
                    return self.end();
                }
                self.install(at, Peer::replayed(script)?)?;
            }
            self.now.set((2 * round + 1, self.cycle));
            if self.busy() {
                self.advance();
            }
            for station in self.stations.iter_mut().flatten() {
                station.nic.memory.cut_off_as_before();
            }
            self.end_those_that_left();
        }
        // A server that was killed has left programs behind.
        (0..self.stations.len()).for_each(|at| self.take_away(at));
        self.end()
    }
}

/// Replays a log. Returns what to tell the user.
pub fn replay(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the log {}", path.display()))?;
    let (header, entries) = log::read(&bytes).map_err(|why| anyhow!("{}: {why}", path.display()))?;
    let build =
        mrnic_nic::config::build(&header.build).with_context(|| format!("there is no build {} any more", header.build))?;
    header.fabric.check().map_err(|fault| anyhow!("{}: fabric.{fault}", path.display()))?;
    let last_phase = entries.iter().map(|entry| entry.phase).max().unwrap_or(0);
    ensure!(last_phase < 1 << 40, "{}: phase {last_phase}", path.display());
    let model = models::model(&build, false, false)?;
    let options = Options {
        session: PathBuf::new(),
        build,
        scenario: header.scenario,
        fabric: header.fabric,
        host: header.host,
        seed: header.seed,
        // It looks at memory before the NIC does, and the log has only what the NIC has read.
        lockstep: false,
        dma_by_messages: false,
        log: None,
        json: PathBuf::new(),
        linger: Duration::ZERO,
    };
    let now = Now::default();
    let programs = scripts(&entries, &now);
    let count = programs.len();
    let mut server = Server::new(&options, &model, None, None, now)?;
    server.replay(programs, last_phase)?;
    Ok(format!(
        "{count} programs, {} cycles, {} messages of their NICs: the same, in the same cycles",
        server.cycle, server.same
    ))
}
