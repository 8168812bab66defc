//! Counters of each path in a file, for programs that know nothing of paths.
//!
//! In: the variable `MRNIC_STATS`, the engine when its NIC leaves, or when the process ends without closing it. Out: a JSON file, complete
//! or not there; what goes wrong is said on stderr and disturbs nobody.
use super::engine::{Engine, Shared};
use crate::verbs::lock;
use serde_json::{json, Value};
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};

/// NICs of this process whose counters are wanted.
static WANTED: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

extern "C" fn at_exit() {
    let nics = std::mem::take(&mut *lock(&WANTED));
    for nic in nics.iter().filter_map(Weak::upgrade).filter(|nic| nic.is_mine() && !nic.is_stopped()) {
        // A thread that was ended within the lock keeps it for ever.
        if let Some(mut engine) = nic.idle_engine() {
            engine.write_stats();
        }
    }
}

/// The counters are written at the end of the process, unless the NIC has left before.
pub fn write_at_exit(nic: &Arc<Shared>) {
    let mut wanted = lock(&WANTED);
    if wanted.is_empty() {
        // SAFETY: the function stays: a library with threads is not unloaded.
        unsafe { libc::atexit(at_exit) };
    }
    wanted.push(Arc::downgrade(nic));
}

impl Engine {
    fn stats(&self) -> Value {
        let open = self.connections().map(|(conn, peer)| (peer, self.path_statuses(conn), true));
        let closed = self.paths.closed.iter().map(|(peer, paths)| (*peer, paths.clone(), false));
        let connection = |(peer, paths, open)| json!({ "peer": peer, "open": open, "paths": paths });
        let program = std::env::args().next().unwrap_or_default();
        json!({
            "nic": self.link.endpoint().ip,
            "process": std::process::id(),
            "program": program,
            "seconds": self.link.now_ns().saturating_sub(self.start_ns) as f64 / 1e9,
            "congestion": self.settings.congestion.name(),
            "planes": self.link.planes(),
            "frames_lost_at_receivers": self.link.lost,
            "connections": closed.chain(open).map(connection).collect::<Vec<_>>(),
            "path_changes": self.paths.changes,
        })
    }

    /// Writes the file that is wanted, once.
    pub fn write_stats(&mut self) {
        let Some(file) = self.settings.stats.take() else { return };
        if let Err(error) = write(&file, &self.stats()) {
            eprintln!("mrnic: cannot write {} ({}): {error}", file.display(), super::settings::STATS);
        }
    }
}

fn write(file: &Path, stats: &Value) -> std::io::Result<()> {
    let draft = file.with_extension(format!("{}.draft", std::process::id()));
    std::fs::write(&draft, format!("{stats:#}\n"))?;
    std::fs::rename(&draft, file)
}
