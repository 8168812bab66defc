//! A loaded model, from which any number of instances are made.
//! Comes in: a shared object of this crate's shim. Goes out: `Dut`s and the port list.
//! Guarantees that the object stays loaded as long as the process lives: unloading C++ with thread-local state is not
//! safe, and a model is about half a megabyte.

use std::{
    ffi::{c_char, c_void, CString},
    path::Path,
    sync::Arc,
};

use crate::{dut::Dut, error::BuildError, header::PortInfo};

/// Must match `struct PortMem` in shim.cpp.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PortMem {
    pub ptr: *mut u8,
    pub bytes: u32,
    pub is_input: u32,
}

/// Must match `struct Api` in shim.cpp.
#[repr(C)]
pub(crate) struct Api {
    pub version: u32,
    pub features: u32,
    pub create: unsafe extern "C" fn(*const c_char, u32, u32, u64) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void),
    pub ports: unsafe extern "C" fn(*mut c_void, *mut PortMem, u32) -> u32,
    pub eval: unsafe extern "C" fn(*mut c_void),
    pub posedge: unsafe extern "C" fn(*mut c_void),
    pub negedge: unsafe extern "C" fn(*mut c_void),
    pub cycles: unsafe extern "C" fn(*mut c_void, u64),
    pub time_ps: unsafe extern "C" fn(*mut c_void) -> u64,
    pub set_half_period_ps: unsafe extern "C" fn(*mut c_void, u64),
    pub errors: unsafe extern "C" fn(*mut c_void) -> u32,
    pub finished: unsafe extern "C" fn(*mut c_void) -> u32,
    pub messages: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    pub trace_open: unsafe extern "C" fn(*mut c_void, *const c_char) -> u32,
    pub trace_close: unsafe extern "C" fn(*mut c_void),
    pub trace_pause: unsafe extern "C" fn(*mut c_void, u32),
    pub coverage_write: unsafe extern "C" fn(*mut c_void, *const c_char) -> u32,
}

impl Api {
    pub fn clocked(&self) -> bool {
        self.features & 1 != 0
    }

    pub fn traced(&self) -> bool {
        self.features & 2 != 0
    }
}

pub(crate) struct ModelInner {
    pub top: String,
    pub api: &'static Api,
    pub ports: Vec<PortInfo>,
}

/// What registers and memories without an initial value hold at power-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initial {
    /// As FPGAs power up.
    Zeros,
    Ones,
    /// Decided by the seed: finds designs that depend on state they never set.
    Random,
}

/// A compiled Verilog top. Cheap to clone.
#[derive(Clone)]
pub struct Model(pub(crate) Arc<ModelInner>);

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("top", &self.0.top).field("ports", &self.0.ports).finish()
    }
}

impl Model {
    pub(crate) fn load(top: &str, path: &Path, ports: Vec<PortInfo>) -> Result<Model, BuildError> {
        let bad = |reason: String| BuildError::Load { path: path.into(), reason };
        // libloading opens with RTLD_LOCAL: the models do not see each other's symbols.
        // SAFETY: the file comes from this crate's own build under a key that covers its content; loading it runs
        // only the static initialisers of Verilator's runtime.
        let library = unsafe { libloading::Library::new(path) }.map_err(|e| bad(e.to_string()))?;
        let library: &'static libloading::Library = Box::leak(Box::new(library));
        // SAFETY: the shim exports this symbol with this signature; it returns a static table.
        let api = unsafe {
            let get =
                library.get::<unsafe extern "C" fn() -> *const Api>(b"mrnic_model_api\0").map_err(|e| bad(e.to_string()))?;
            &*get()
        };
        if api.version != 2 {
            return Err(bad(format!("its interface has version {}, 2 is expected", api.version)));
        }
        Ok(Model(Arc::new(ModelInner { top: top.to_string(), api, ports })))
    }

    /// A new instance. `name` is its scope name in traces and messages. Registers and memories without an initial
    /// value start random, decided by `seed` alone; all inputs start at 0 and the design is evaluated once.
    pub fn instance(&self, name: &str, seed: u64) -> Dut {
        self.instance_with(name, seed, Initial::Random)
    }

    /// Like `instance`, with a choice of what registers and memories without an initial value hold.
    pub fn instance_with(&self, name: &str, seed: u64, initial: Initial) -> Dut {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() {
                c
            } else {
                '_'
            }
        };
        let name = CString::new(name.chars().map(plain).collect::<String>()).unwrap_or_default();
        Dut::new(self.clone(), &name, initial, fold_seed(seed))
    }

    /// The ports of the top module.
    pub fn ports(&self) -> &[PortInfo] {
        &self.0.ports
    }

    /// Name of the top module.
    pub fn top(&self) -> &str {
        &self.0.top
    }

    /// Whether traces can be written (`ModelSpec::trace`).
    pub fn traced(&self) -> bool {
        self.0.api.traced()
    }

    /// Whether the model has a clock (`ModelSpec::clock`).
    pub fn clocked(&self) -> bool {
        self.0.api.clocked()
    }
}

/// Verilator takes 31 bits and reads 0 as "choose one yourself".
fn fold_seed(seed: u64) -> u32 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z % 0x7fff_fffe) as u32 + 1
}
