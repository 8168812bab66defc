//! The receiving side (section 4): paths, checks, messages and the rate hint.

pub mod check;
pub mod hint;
pub mod message;
pub mod path;
pub mod recv_queue;
pub mod requests;
