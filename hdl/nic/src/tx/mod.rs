//! Transmit side: from messages and acknowledgments to packet descriptors.
mod filled;
pub mod path_scheduler;
pub mod rate_limiter;
pub mod ring_mask;
pub mod rows;
pub mod sack_scoreboard;
pub mod word_lane;
pub mod word_step;
pub mod ack_check;
pub mod ack_unpack;
pub mod acked_words;
pub mod congestion;
pub mod grant_pick;
pub mod longest_srtt;
pub mod records;
pub mod sender_tables;
pub mod timer_check;
pub mod timers;
