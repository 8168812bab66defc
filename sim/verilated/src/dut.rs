//! One running instance of a model.
//! Comes in: input values through `Port`s, clock edges. Goes out: output values, assertion counts, traces, coverage.
//! Guarantees the sampling protocol of the crate documentation, and that instances share nothing.

use std::{
    ffi::{c_void, CStr, CString},
    path::Path,
    sync::Arc,
};

use crate::{
    error::{FileError, PortError},
    header::{Direction, PortInfo},
    model::{Initial, Model, PortMem},
    port::Port,
};

/// The C++ object. Ports hold it too, so that it outlives the last of them.
pub(crate) struct Instance {
    handle: *mut c_void,
    model: Model,
    memory: Vec<PortMem>,
}

// SAFETY: the C++ object has no thread affinity (the shim sets Verilator's thread context at every call), `handle` is
// used through &mut Dut only, and the pointers in `memory` are only handed out as Ports.
unsafe impl Send for Instance {}
unsafe impl Sync for Instance {}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the last owner; nothing else can reach the handle or the ports' memory.
        unsafe { (self.model.0.api.free)(self.handle) }
    }
}

/// A design under test. See the crate documentation for the sampling protocol.
pub struct Dut {
    handle: *mut c_void,
    instance: Arc<Instance>,
    cycles: u64,
    period_ps: u64,
}

// SAFETY: see Instance. Dut is not Sync (raw pointer).
unsafe impl Send for Dut {}

impl std::fmt::Debug for Dut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dut({}, cycle {})", self.instance.model.top(), self.cycles)
    }
}

/// 250 MHz.
const DEFAULT_PERIOD_PS: u64 = 4000;

impl Dut {
    pub(crate) fn new(model: Model, name: &CStr, initial: Initial, seed: u32) -> Dut {
        let api = model.0.api;
        let n = model.0.ports.len();
        let mut memory = vec![PortMem { ptr: std::ptr::null_mut(), bytes: 0, is_input: 0 }; n];
        // SAFETY: the table comes from the loaded shim; `memory` has room for n ports.
        let handle = unsafe {
            let h = (api.create)(name.as_ptr(), initial as u32, seed, DEFAULT_PERIOD_PS / 2);
            let found = (api.ports)(h, memory.as_mut_ptr(), n as u32);
            assert_eq!(found as usize, n, "the port list of {} does not match its model: delete the cache", model.top());
            h
        };
        let instance = Arc::new(Instance { handle, model, memory });
        Dut { handle, instance, cycles: 0, period_ps: DEFAULT_PERIOD_PS }
    }

    /// A port of either direction. Setting an output panics.
    pub fn port(&self, name: &str) -> Result<Port, PortError> {
        let ports = self.model().ports();
        let Some(i) = ports.iter().position(|p| p.name == name) else {
            return Err(PortError::Unknown { top: self.model().top().into(), name: name.into(), near: near(name, ports) });
        };
        let m = self.instance.memory[i];
        let writable = ports[i].direction == Direction::Input;
        Ok(Port::new(self.instance.clone(), m.ptr, m.bytes, ports[i].width, writable))
    }

    /// A port that must be an input.
    pub fn input(&self, name: &str) -> Result<Port, PortError> {
        self.directed(name, Direction::Input)
    }

    /// A port that must be an output.
    pub fn output(&self, name: &str) -> Result<Port, PortError> {
        self.directed(name, Direction::Output)
    }

    fn directed(&self, name: &str, wanted: Direction) -> Result<Port, PortError> {
        let port = self.port(name)?;
        let word = |d| if d == Direction::Input { "input" } else { "output" };
        let is = if port.is_input() { Direction::Input } else { Direction::Output };
        if is == wanted {
            return Ok(port);
        }
        Err(PortError::Direction { top: self.model().top().into(), name: name.into(), is: word(is), wanted: word(wanted) })
    }

    /// The model this is an instance of.
    pub fn model(&self) -> &Model {
        &self.instance.model
    }

    /// Settles the combinational outputs for the present inputs, without a clock edge.
    #[inline]
    pub fn eval(&mut self) {
        // SAFETY: the handle is alive and exclusively borrowed.
        unsafe { (self.instance.model.0.api.eval)(self.handle) }
    }

    /// One clock cycle: rising edge, then falling edge, both evaluated.
    #[inline]
    pub fn cycle(&mut self) {
        self.cycles(1);
    }

    /// `n` clock cycles with constant inputs, in one call.
    #[inline]
    pub fn cycles(&mut self, n: u64) {
        self.cycles += n;
        // SAFETY: as in eval.
        unsafe { (self.instance.model.0.api.cycles)(self.handle, n) }
    }

    /// Only the rising edge. Counts as a cycle.
    pub fn posedge(&mut self) {
        self.cycles += 1;
        // SAFETY: as in eval.
        unsafe { (self.instance.model.0.api.posedge)(self.handle) }
    }

    /// Only the falling edge.
    pub fn negedge(&mut self) {
        // SAFETY: as in eval.
        unsafe { (self.instance.model.0.api.negedge)(self.handle) }
    }

    /// Rising edges so far.
    pub fn cycle_count(&self) -> u64 {
        self.cycles
    }

    /// Simulated time in picoseconds: two half periods a cycle.
    pub fn time_ps(&self) -> u64 {
        // SAFETY: the handle is alive.
        unsafe { (self.instance.model.0.api.time_ps)(self.handle) }
    }

    /// The clock period in picoseconds; 4000 (250 MHz) unless set.
    pub fn period_ps(&self) -> u64 {
        self.period_ps
    }

    /// Sets the clock period from now on, rounded up to an even number of picoseconds, at least 2.
    pub fn set_period_ps(&mut self, period_ps: u64) {
        let half = period_ps.div_ceil(2).max(1);
        self.period_ps = half * 2;
        // SAFETY: as in eval.
        unsafe { (self.instance.model.0.api.set_half_period_ps)(self.handle, half) }
    }

    /// Failed assertions and `$error`s so far. They do not stop the simulation.
    pub fn errors(&self) -> u32 {
        // SAFETY: the handle is alive.
        unsafe { (self.instance.model.0.api.errors)(self.handle) }
    }

    /// Whether `$finish` was reached.
    pub fn finished(&self) -> bool {
        // SAFETY: the handle is alive.
        unsafe { (self.instance.model.0.api.finished)(self.handle) != 0 }
    }

    /// What the design printed ($display, assertion failures with file:line): the first 64 KiB.
    pub fn messages(&self) -> String {
        // SAFETY: the C string lives until the next call into this instance, which &self excludes.
        unsafe { CStr::from_ptr((self.instance.model.0.api.messages)(self.handle)) }.to_string_lossy().into_owned()
    }

    /// Starts an FST file with everything in it, from the present time on. A file that is open already is closed.
    /// The model must have been built with `ModelSpec::trace`.
    pub fn trace_open(&mut self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        let open_error = || FileError::Open { path: path.display().to_string() };
        if !self.model().0.api.traced() {
            return Err(FileError::NotBuilt { top: self.model().top().into(), what: "trace" });
        }
        // Verilator's own writer notices an unwritable path only when it closes
        std::fs::File::create(path).map_err(|_| open_error())?;
        // SAFETY: as in eval; the string outlives the call.
        match unsafe { (self.instance.model.0.api.trace_open)(self.handle, c_path(path)?.as_ptr()) } {
            0 => Ok(()),
            _ => Err(open_error()),
        }
    }

    /// Finishes the FST file. Also done when the Dut is dropped.
    pub fn trace_close(&mut self) {
        // SAFETY: as in eval.
        unsafe { (self.instance.model.0.api.trace_close)(self.handle) }
    }

    /// Stops or continues writing to the open file: a window of interest costs no speed outside it.
    pub fn trace_pause(&mut self, pause: bool) {
        // SAFETY: as in eval.
        unsafe { (self.instance.model.0.api.trace_pause)(self.handle, u32::from(pause)) }
    }

    /// Writes the coverage counts (for `verilator_coverage`). Needs `ModelSpec::coverage`.
    pub fn coverage_write(&mut self, path: impl AsRef<Path>) -> Result<(), FileError> {
        let path = path.as_ref();
        // SAFETY: as in trace_open.
        match unsafe { (self.instance.model.0.api.coverage_write)(self.handle, c_path(path)?.as_ptr()) } {
            0 if path.exists() => Ok(()),
            0 => Err(FileError::Open { path: path.display().to_string() }),
            _ => Err(FileError::NotBuilt { top: self.model().top().into(), what: "coverage" }),
        }
    }
}

impl Drop for Dut {
    fn drop(&mut self) {
        self.trace_close(); // even if a Port keeps the memory alive
    }
}

fn c_path(path: &Path) -> Result<CString, FileError> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(|_| FileError::Open { path: path.display().to_string() })
}

/// The names most like the one asked for, best first.
fn near(name: &str, ports: &[PortInfo]) -> String {
    let mut all: Vec<_> = ports
        .iter()
        .map(|p| {
            let contains = p.name.contains(name) || name.contains(p.name.as_str());
            (distance(name, &p.name) - if contains { 100 } else { 0 }, p.name.as_str())
        })
        .collect();
    all.sort();
    all.iter().take(5).map(|x| x.1).collect::<Vec<_>>().join(", ")
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> i64 {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<i64> = (0..=b.len() as i64).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i as i64 + 1;
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + i64::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
