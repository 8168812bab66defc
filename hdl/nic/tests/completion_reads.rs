//! completion with READs and atomics (docs/protocol.md, section 11, D6, D7): a message is done when its request was retired and its response
//! is whole; an ERROR_RESP fails it; each request is told to be over once.
mod tx_support;

use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::host::completion::Completion;
use tx_support::Bench;

const READ: u64 = 4;
const WRITE: u64 = 0;

struct Queue {
    bench: Bench,
    /// MSN and status of each CQE.
    cqes: Vec<(u32, u32)>,
    over: usize,
}

impl Queue {
    fn new() -> Queue {
        let config = BuildConfig { reads: true, ..build("sim").unwrap() };
        let mut bench = Bench::new(&Completion::<128>::new(&config), "completion_128");
        bench.until("init_done", 20_000);
        for name in ["cw_desc_ready", "cw_ready", "rel_qp_ready", "quiet", "flush_ready"] {
            bench.set(name, 1);
        }
        let mut data = [0; 16];
        (data[0], data[4]) = (1, 4 << 4);
        bench.set("cfg_table", 3);
        bench.set("cfg_index", 0);
        bench.set_words("cfg_data", &data);
        bench.set("cfg_valid", 1);
        bench.clock();
        bench.set("cfg_valid", 0);
        let mut queue = Queue { bench, cqes: vec![], over: 0 };
        queue.clocks(20);
        queue
    }

    fn clocks(&mut self, n: usize) {
        for _ in 0..n {
            if self.bench.high("commit_cqe_valid") {
                let words = self.bench.words("commit_cqe_data");
                self.cqes.push((words[7], words[0] & 0xff));
            }
            self.over += usize::from(self.bench.high("request_done"));
            self.bench.clock();
        }
    }

    /// An event, and all that follows.
    fn event(&mut self, port: &str, fields: &[(&str, u64)]) {
        for (name, value) in fields {
            self.bench.set(&format!("{port}_{name}"), *value);
        }
        self.bench.set(&format!("{port}_valid"), 1);
        let ready = format!("{port}_ready");
        for _ in 0..20 {
            let taken = self.bench.high(&ready);
            self.clocks(1);
            if taken {
                self.bench.set(&format!("{port}_valid"), 0);
                self.clocks(30);
                return;
            }
        }
        panic!("{port} is never taken");
    }

    fn message(&mut self, msn: u64, opcode: u64) {
        self.event("cmsg", &[("qp", 0), ("msn", msn), ("npkts", 1), ("opcode", opcode), ("signaled", 1)]);
    }

    fn retired(&mut self, msn: u64) {
        self.event("ret", &[("qp", 0), ("msn", msn), ("bytes", 0)]);
    }

    fn answered(&mut self, msn: u64) {
        self.event("answered", &[("qp", 0), ("msn", msn)]);
    }
}

#[test]
fn a_read_is_done_when_it_is_retired_and_answered() {
    let mut q = Queue::new();
    (0..4).for_each(|msn| q.message(msn, if msn == 1 { WRITE } else { READ }));
    q.retired(1);
    q.retired(0);
    assert!(q.cqes.is_empty() && q.over == 0, "no response yet");
    q.answered(0);
    assert_eq!((&q.cqes[..], q.over), (&[(0, 0), (1, 0)][..], 1));
    q.answered(3);
    q.answered(2);
    assert_eq!((q.cqes.len(), q.over), (2, 1), "the requests may have to be sent again");
    q.retired(3);
    assert_eq!((q.cqes.len(), q.over), (2, 2), "in the order of the stream");
    q.retired(2);
    assert_eq!((&q.cqes[2..], q.over), (&[(2, 0), (3, 0)][..], 3));
    q.answered(2);
    assert_eq!((q.cqes.len(), q.over), (4, 3));
}

#[test]
fn an_error_response_fails_its_message_and_all_behind_it() {
    let mut q = Queue::new();
    (0..3).for_each(|msn| q.message(msn, READ));
    q.retired(0);
    q.answered(0);
    q.retired(1);
    q.event("rnak", &[("qp", 0), ("msn", 1), ("code", 6)]);
    assert_eq!(q.cqes, [(0, 0), (1, 11), (2, 5)]);
    assert_eq!(q.over, 3, "flushed ones are over too");
    q.answered(2);
    assert_eq!((q.cqes.len(), q.over), (3, 3));
}
