//! Golden model of the transport of docs/protocol.md: a sans-IO state machine, the page in code.
//!
//! In: work requests, frames and the time. Out: frames, completions and typed events. No clock, socket, thread or randomness;
//! no allocation per packet; no panic on any input.
//!
//! Two ways to drive one object, [`Nic`]:
//! - autonomous ([`Nic::post_send`], [`Nic::handle_packet`], [`Nic::handle_timeout`], [`Nic::poll_transmit`],
//!   [`Nic::poll_timeout`], [`Nic::poll_completion`]), for users and simulations;
//! - step by step (`step_*`), for a comparison with hardware: order and timing are the caller's, each decision the model's.
//!
//! The autonomous driver is built from the same steps. Receives come in by [`Nic::post_recv`] and [`Nic::post_srq_recv`],
//! work requests with lists by [`Nic::post_send_list`]; [`Nic::poll_async_event`] tells what completions do not.
//! `NicConfig::stage` leaves the model with what the RTL does.
#![no_std]

extern crate alloc;

pub mod bits256;
pub mod config;
pub mod congestion;
pub mod error;
pub mod event;
pub mod keys;
pub mod memory;
pub mod nic;
pub mod rx;
pub mod seq;
pub mod sge;
pub mod tx;
pub mod wqe;

pub use config::{
    key_of, ConnConfig, KeyConfig, NicConfig, PathConfig, QpAccess, QpConfig, QpState, Rights, Stage, PATHS_MAX, RATE_UNLIMITED,
};
pub use congestion::{Aimd, Congestion, CongestionControl, DctcpLike, LossCuts};
pub use error::{ConfigError, EncodeError, MemoryError, PostError, StepError};
pub use event::{AsyncEvent, Counters, DropReason, Event, LossRule, PathChange, PathCounters};
pub use memory::HostMemory;
pub use mrnic_wire::{IpPair, MrcLike, NetAddr, OpenMr0, Profile};
pub use nic::ack_step::{AckFrame, AckStep, NakEvent};
pub use nic::desc::{AckDesc, Outgoing, PacketDesc, PacketKind, ProbeDesc};
pub use nic::driver::{RxOutcome, Transmit, TransmitKind};
pub use nic::execute_step::Executed;
pub use nic::grant_step::{BlockReason, Grant, GrantInputs};
pub use nic::recv_post::{RecvWr, SrqConfig};
pub use nic::retire_step::Retire;
pub use nic::rnr_step::{rnr_ticks, RnrEvent, RNR_BUSY};
pub use nic::rx_step::{Place, Received, RxEffect, RxInputs, RxStep};
pub use nic::timer_step::{TimerStep, WatchSeen};
pub use nic::wqe_step::WqeStep;
pub use nic::Nic;
pub use rx::check::code_number;
pub use rx::path::{RxClass, RxPath};
pub use seq::Tick;
pub use sge::{Sge, SGES_MAX};
pub use tx::ack::AckVerdict;
pub use tx::path::{PathState, TxPath};
pub use tx::timer::TimerAction;
pub use wqe::{
    Cqe, Status, Wqe, CQE_RECV, CQE_RECV_WRITE_IMM, WQE_COMPARE_SWAP, WQE_FETCH_ADD, WQE_READ, WQE_SEND, WQE_SEND_IMM,
    WQE_WRITE, WQE_WRITE_IMM,
};
