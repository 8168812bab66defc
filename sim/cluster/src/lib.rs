//! A cluster at packet level: the golden model, or a RoCEv2 baseline, at every host of a leaf-spine network with planes.
//!
//! In: an experiment (TOML). Out: figures, JSON and a page with plots. No RTL, no bytes of payload, no clock: a run is
//! determined by its configuration and its seed. `docs/experiments.md` tells what is modelled and what was measured.
pub mod command;
pub mod endpoint;
pub mod experiment;
pub mod figures;
pub mod flights;
pub mod metaroce;
pub mod network;
pub mod outcome;
pub mod part;
pub mod queue;
pub mod report;
pub mod rocev2;
pub mod run;
pub mod sim;
pub mod time;
pub mod topology;
pub mod trace;
pub mod workload;

pub use endpoint::Endpoint;
pub use metaroce::{MetaRoce256, MetaRoce64, MetaRoceConfig};
pub use network::config::NetworkConfig;
pub use outcome::Outcome;
pub use rocev2::RoceV2;
pub use sim::{Setup, Sim};
pub use workload::{Pattern, WorkloadConfig};
