//! From descriptors to frames: packet_builder, ack_builder, gather, framer, and the four of them as one block.
//! In: `desc`, `ackdesc`, payload read data, configuration. Out: payload read descriptors and finished frames.
mod ack_builder;
pub mod egress;
mod framer;
mod gather;
pub mod headers;
mod message_tail;
mod net_table;
mod packet_builder;
mod row_gate;

pub use ack_builder::{AckBuilder, AckDesc};
pub use egress::Egress;
pub use framer::Framer;
pub use gather::Gather;
pub use message_tail::{AskRow, MessageTail};
pub use net_table::{NetRow, NetTable};
pub use packet_builder::{DataDesc, MsgRow, PacketBuilder, PacketHeader, PieceRow, SendRow};
pub use row_gate::RowGate;
