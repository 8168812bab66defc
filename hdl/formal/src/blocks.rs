//! The blocks that are proven, as the emitter writes them.
//!
//! In: a block and its size. Out: its Verilog, all modules, the top one called `block`. Guarantees: nothing is simplified for the proof; widths are
//! those of the engine.
use crate::harness::Size;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::path_tracker::PathTracker;
use mrnic_nic::tx::rate_limiter::RateLimiter;
use mrnic_nic::tx::retransmit_queue::RetransmitQueue;
use mrnic_nic::tx::sack_scoreboard::SackScoreboard;
use mrnic_nic::tx::timer_step::TimerStep;
use mrnic_widgets::{Fifo, Skid};
use rust_hdl_core::prelude::*;

/// A block with a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockName {
    PathTracker,
    SackScoreboard,
    RetransmitQueue,
    RateLimiter,
    TimerStep,
    Skid,
    Fifo,
}

fn text<B: Block>(make: impl FnOnce() -> B + Send) -> Result<String, String> {
    mrnic_emit::emit_new("block", make).map(|design| design.verilog).map_err(|e| e.to_string())
}

/// See the module documentation; an error is the emitter's.
pub fn verilog(name: BlockName, size: &Size) -> Result<String, String> {
    let sim = build("sim").ok_or("there is no build sim")?;
    let config = BuildConfig { window_bits: size.window_bits, conns: size.conns, pool_packets: size.pool_packets, ..sim };
    let depth = size.depth;
    match name {
        BlockName::PathTracker => text(|| PathTracker::new(&config)),
        BlockName::SackScoreboard => text(|| SackScoreboard::new(&config)),
        BlockName::RetransmitQueue => text(|| RetransmitQueue::new(&config)),
        BlockName::RateLimiter => text(RateLimiter::new),
        BlockName::TimerStep => text(TimerStep::new),
        BlockName::Skid => text(Skid::<Bits<64>>::default),
        BlockName::Fifo => text(|| Fifo::<Bits<64>>::new(depth)),
    }
}
