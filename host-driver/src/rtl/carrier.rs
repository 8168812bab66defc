//! What the driver needs of whatever carries it to the NIC: its bus.
//!
//! In: register accesses, memory that the NIC may access, frames of connection control. Out: register values, frames, and word that something
//! happened. [`super::socket`] carries them to a Verilated NIC in another process; a board's implementation stands beside it: registers
//! are its BAR, mapped through vfio; memory is mapped through the IOMMU with the process's own addresses; the frames take an ordinary
//! network interface; the wait is that for its interrupt.
use crate::device::DeviceError;
use std::time::Duration;

/// What no register tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Of the NIC on its network, from 0.
    pub place: u16,
    /// Rows of the table KEY.
    pub keys: u32,
    /// Of the engine.
    pub build: String,
}

/// The bus between the driver and one NIC.
///
/// Guarantees to the driver: register accesses take effect in order, and after all writes to memory that came before them; bus addresses are
/// addresses of this process; after [`Carrier::unmap_dma`] the NIC no longer touches that memory.
pub trait Carrier: Send + Sync {
    fn identity(&self) -> &Identity;
    fn read32(&self, offset: u16) -> Result<u32, DeviceError>;
    /// Posted: it does not wait, and a NIC that is gone takes it too.
    fn write32(&self, offset: u16, value: u32);
    fn map_dma(&self, addr: u64, bytes: u64) -> Result<(), DeviceError>;
    fn unmap_dma(&self, addr: u64, bytes: u64);
    /// Sends a frame of connection control by the ordinary network path. It may be lost.
    fn send_frame(&self, frame: &[u8]);
    /// A frame of connection control that has arrived.
    fn receive_frame(&self) -> Option<Vec<u8>>;
    /// From now on a completion ends [`Carrier::wait`], once; also one that was written before and has not been told.
    fn unmask(&self);
    /// Waits for a completion, a frame, the end of the NIC or [`Carrier::wake`]; at most so long.
    fn wait(&self, most: Duration);
    fn wake(&self);
    /// Why the NIC is gone, if it is.
    fn gone(&self) -> Option<String>;
    /// Leaves the NIC: it touches no memory of this process any more.
    fn close(&self);
}
