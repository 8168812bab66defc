//! Small hardware building blocks of the engine: memories, FIFOs, arbiters, bit searches, CRC-32 matrices.
//! Depths are build parameters given to `new()`, widths are the data type.
//! Every block here is compared with its Verilog cycle by cycle in `tests/`.

mod bit_reverse;
mod bit_search;
mod byte_reverse;
mod crc32;
mod fifo;
mod ram;
mod round_robin;
mod skid;

pub use bit_reverse::BitReverse;
pub use bit_search::{FirstOne, FirstOne64, LastOne64, Popcount64};
pub use byte_reverse::ByteReverse;
pub use crc32::{crc32_advance, crc32_append, crc32_before, Crc32Advance, Crc32Pipe, Crc32Sum};
pub use fifo::Fifo;
pub use ram::{Ram, RamStyle};
pub use round_robin::RoundRobin;
pub use skid::Skid;
