//! Host side: work queues in, completions out.
pub mod completion;
pub mod cqe_writer;
pub mod ctrl_reads;
pub mod recv_queue;
pub mod work_fetch;
