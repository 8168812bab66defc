//! Connection control, rule by rule and under random faults.

mod network;
mod random;
mod rules;
