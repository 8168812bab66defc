//! Host side: work queues in, completions out.
pub mod completion;
pub mod work_fetch;
