//! The simulator against what can be worked out by hand: conservation, rates, queues, failures, determinism.
mod baseline;
mod command;
mod conservation;
mod experiments;
mod failures;
mod network;
mod parts;
mod pfc;
mod round_trips;
mod support;
mod trace;
