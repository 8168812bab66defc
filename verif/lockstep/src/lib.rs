//! Replays the RTL's commit records in the golden model and compares every step.
