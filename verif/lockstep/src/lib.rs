//! Replays the RTL's commit records in the golden model and compares every step.
//!
//! In: records, frames and DMA accesses of one NIC, in the RTL's order. Out: nothing, or the first [`Divergence`].
//! Guarantees: order and timing are the RTL's freedom, each decision, header byte, DMA access and state field is the model's.
mod checker;
mod divergence;
mod host_steps;
mod lanes;
mod leaving;
mod outputs;
mod record;
mod rows;
mod rules;
mod rx_steps;
mod silence;
mod step;
mod tx_steps;

pub use checker::{Checker, HostRing, HostRings};
pub use divergence::{Divergence, Field};
pub use record::{Kind, Record};
pub use rows::{RowChange, RowWrite};

/// Host memory, read only.
pub trait Memory {
    /// Fills `out` from bus address `addr`; false if that lies outside memory.
    fn read_into(&self, addr: u64, out: &mut [u8]) -> bool;

    /// The same where the NIC may have read more than once, of which its last read counts (a WQE that was set back, D1). Memory that its software may
    /// have changed since tells then what the NIC has read.
    fn read_last(&self, addr: u64, out: &mut [u8]) -> bool {
        self.read_into(addr, out)
    }
}
