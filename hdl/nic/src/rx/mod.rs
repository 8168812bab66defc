//! Receive side: from frames to placed payload and acknowledgment descriptors.
// A guard would be shorter, but match arms of a kernel have none.
#![allow(clippy::collapsible_match)]

pub mod ack_collect;
pub mod atomic_unit;
pub mod executor;
pub mod key_check;
pub mod message_tracker;
pub mod packet_check;
pub mod path_tracker;
pub mod path_update;
pub mod placement_dma;
pub mod rate_hint;
pub mod read_table;
pub mod reads;
pub mod request_places;
pub mod responder;
pub mod rx_checks;
pub mod rx_commit;
pub mod rx_config;
pub mod rx_core;
pub mod rx_fields;
pub mod rx_layout;
pub mod rx_parser;
pub mod rx_rows;
pub mod rx_tables;
pub mod rx_timers;
pub mod scatter;
pub mod silence;
pub mod spread;
