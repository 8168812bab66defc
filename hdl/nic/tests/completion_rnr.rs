//! completion: which refusals for want of a receive withdraw a message (N1), when a wait is over (N2), how often that may happen (N3).
mod tx_support;
use mrnic_nic::config::build;
use mrnic_nic::host::completion::Completion;
use tx_support::Bench;

const START: u64 = 0xFF_FFFE;

struct World {
    bench: Bench,
    /// MSN and status.
    cqes: Vec<(u64, u32)>,
}

impl World {
    /// QP 5 of connection 1 with so many retries, and four messages of three packets.
    fn new(rnr_retry: u32) -> World {
        let mut bench = Bench::new(&Completion::<128>::new(&build("sim").unwrap()), "completion_rnr");
        bench.until("init_done", 20_000);
        let mut data = [0u32; 16];
        (data[0], data[4], data[7], data[8]) = (1 | 1 << 16, 4 << 4, rnr_retry << 21, START as u32);
        for (name, value) in [("cfg_table", 3), ("cfg_index", 5), ("quiet", 1), ("flush_ready", 1), ("rel_qp_ready", 1)] {
            bench.set(name, value);
        }
        for ready in ["cw_desc_ready", "cw_ready"] {
            bench.set(ready, 1);
        }
        bench.set_words("cfg_data", &data);
        bench.set("cfg_valid", 1);
        bench.clock();
        bench.set("cfg_valid", 0);
        let mut w = World { bench, cqes: vec![] };
        w.clocks(20);
        for n in 0..4 {
            w.offer("cmsg", &[("qp", 5), ("msn", msn(n)), ("npkts", 3), ("length", 9), ("signaled", 1), ("status", 0)]);
        }
        w
    }

    fn clock(&mut self) {
        if self.bench.high("commit_cqe_valid") {
            let words = self.bench.words("commit_cqe_data");
            self.cqes.push((words[7].into(), words[0] & 0xFF));
        }
        self.bench.clock();
    }

    fn clocks(&mut self, n: usize) {
        (0..n).for_each(|_| self.clock());
    }

    fn take(&mut self, port: &str) {
        self.bench.set(&format!("{port}_valid"), 1);
        let mut clocks = 0;
        while !self.bench.high(&format!("{port}_ready")) {
            self.clock();
            clocks += 1;
            assert!(clocks < 100, "{port} is not taken");
        }
        self.clock();
        self.bench.set(&format!("{port}_valid"), 0);
    }

    /// Until what was taken is told.
    fn until(&mut self, port: &str) {
        let mut clocks = 0;
        while !self.bench.high(port) {
            self.clock();
            clocks += 1;
            assert!(clocks < 5, "{port}: each is told");
        }
    }

    fn offer(&mut self, port: &str, fields: &[(&str, u64)]) {
        for (name, value) in fields {
            self.bench.set(&format!("{port}_{name}"), *value);
        }
        self.take(port);
        self.clocks(12);
    }

    fn retire(&mut self, n: u64, packets: usize) {
        for _ in 0..packets {
            self.offer("ret", &[("qp", 5), ("msn", msn(n)), ("bytes", 3)]);
        }
    }

    /// An RNR; whether it withdraws the message, and whether a wait begins with it.
    fn refuse(&mut self, n: u64, code: u64) -> Option<bool> {
        for (name, value) in [("conn", 1), ("qp", 5), ("code", code), ("msn", msn(n)), ("rnr", 1)] {
            self.bench.set(&format!("nak_{name}"), value);
        }
        self.take("nak");
        self.until("commit_err_valid");
        assert_eq!(self.bench.get("commit_err_kind"), 4);
        let told = self.bench.high("withdraw_valid").then(|| {
            let names = ["withdraw_qp", "withdraw_msn", "withdraw_code"].map(|name| self.bench.get(name));
            assert_eq!(names, [5, msn(n), code]);
            self.bench.high("withdraw_began")
        });
        self.clocks(20);
        told
    }

    /// N2: asks for the end of the wait: the oldest message, unless the queue pair failed.
    fn over(&mut self) -> Option<u64> {
        self.bench.set("over_qp", 5);
        self.take("over");
        self.until("over_done");
        let failed = self.bench.high("over_failed");
        assert_eq!(self.bench.high("commit_rnr_valid"), !failed);
        let head = self.bench.get("over_head");
        self.clock();
        (!failed).then_some(head)
    }

    fn again(&mut self, n: u64) {
        self.offer("again", &[("qp", 5), ("msn", msn(n))]);
    }

    /// Table RNR.
    fn write_retry(&mut self, retry: u32) {
        let mut data = [0u32; 16];
        data[0] = retry;
        for (name, value) in [("cfg_table", 5), ("cfg_index", 5), ("cfg_valid", 1)] {
            self.bench.set(name, value);
        }
        self.bench.set_words("cfg_data", &data);
        self.bench.clock();
        self.bench.set("cfg_valid", 0);
        self.clocks(20);
        assert!(!self.bench.high("cfg_busy"));
    }

    /// A whole round for one message, up to its second attempt.
    fn round(&mut self, n: u64, code: u64) {
        assert_eq!(self.refuse(n, code), Some(true));
        assert!(self.over().is_some());
        self.again(n);
    }
}

fn msn(n: u64) -> u64 {
    (START + n) & 0xFF_FFFF
}

#[test]
fn n1_a_withdrawn_message_is_not_done_until_its_packets_were_retired_again() {
    let mut w = World::new(3);
    assert_eq!(w.refuse(0, 9), Some(true), "it begins a wait");
    assert_eq!(w.refuse(2, 9), Some(false), "it joins the wait");
    assert_eq!(w.refuse(0, 9), None, "withdrawn already");
    for n in 0..3 {
        w.retire(n, 3);
    }
    assert_eq!(w.refuse(1, 9), None, "it is done");
    assert!(w.cqes.is_empty(), "{:?}", w.cqes);
    assert_eq!(w.over(), Some(msn(0)));
    assert_eq!(w.over(), None, "it no longer waits");
    for n in 0..3 {
        w.again(n);
    }
    w.retire(2, 3);
    w.retire(0, 2);
    assert!(w.cqes.is_empty());
    w.retire(0, 1);
    assert_eq!(w.cqes, [(msn(0), 0), (msn(1), 0), (msn(2), 0)]);
    assert_eq!(w.refuse(3, 9), Some(true), "the next wait");
}

#[test]
fn n3_retries_are_used_up_and_restored() {
    let mut w = World::new(2);
    w.round(0, 9);
    // bit 5: the peer is busy
    for _ in 0..4 {
        w.round(0, 0x21);
    }
    w.retire(0, 3);
    assert_eq!(w.cqes, [(msn(0), 0)], "a message that completes restores the count");
    w.round(1, 9);
    w.round(1, 9);
    w.round(1, 0x21);
    assert_eq!(w.refuse(1, 9), None, "no retry is left");
    assert_eq!(w.cqes[1..], [(msn(1), 13), (msn(2), 5), (msn(3), 5)]);
    assert_eq!(w.over(), None);
}

#[test]
fn n3_seven_is_without_limit() {
    let mut w = World::new(7);
    for _ in 0..30 {
        w.round(0, 1);
    }
    w.retire(0, 3);
    assert_eq!(w.cqes, [(msn(0), 0)]);
}

/// N1, W3: a queue pair that fails while it waits is flushed, and does not begin again.
#[test]
fn n1_an_error_ends_the_wait() {
    let mut w = World::new(7);
    assert_eq!(w.refuse(1, 9), Some(true));
    w.offer("rxerr", &[("qp", 5)]);
    w.clocks(40);
    assert_eq!(w.cqes, [0, 1, 2, 3].map(|n| (msn(n), 5)));
    assert_eq!(w.refuse(2, 9), None, "it is in Error");
    assert_eq!(w.over(), None);
    w.again(1);
    w.retire(1, 3);
    assert_eq!(w.cqes.len(), 4);
}

/// N2: errors wait while messages enter the rings again; packets and messages do not.
#[test]
fn n2_errors_wait_while_messages_enter_again() {
    let mut w = World::new(7);
    w.bench.set("rnr_hold", 1);
    for port in ["nak", "rxerr", "cerr"] {
        w.bench.set(&format!("{port}_valid"), 1);
        for _ in 0..10 {
            assert!(!w.bench.high(&format!("{port}_ready")));
            w.clock();
        }
        w.bench.set(&format!("{port}_valid"), 0);
    }
    w.bench.set("nak_valid", 1);
    w.retire(0, 3);
    assert_eq!(w.cqes, [(msn(0), 0)]);
    w.offer("cmsg", &[("qp", 5), ("msn", msn(4)), ("npkts", 1)]);
}

/// N2: neither the question nor a message that begins again waits for the end of a burst of retired packets, nor holds it up.
#[test]
fn n2_a_burst_of_retired_packets_lets_both_in() {
    let mut w = World::new(7);
    assert_eq!(w.refuse(3, 9), Some(true));
    // packets of another queue pair, one after the other
    for (name, value) in [("ret_qp", 6), ("ret_msn", 0), ("ret_bytes", 3), ("ret_valid", 1)] {
        w.bench.set(name, value);
    }
    assert_eq!(w.over(), Some(msn(0)));
    for (name, value) in [("again_qp", 5), ("again_msn", msn(3))] {
        w.bench.set(name, value);
    }
    w.take("again");
    let mut taken = 0;
    for port in ["over", "again"] {
        // even while they ask without end
        w.bench.set(&format!("{port}_valid"), 1);
        for _ in 0..100 {
            taken += usize::from(w.bench.high("ret_ready"));
            w.clock();
        }
        w.bench.set(&format!("{port}_valid"), 0);
    }
    assert!(taken > 30, "{taken}");
    w.bench.set("ret_valid", 0);
    w.clocks(5);
    w.retire(3, 3);
    (0..3).for_each(|n| w.retire(n, 3));
    assert_eq!(w.cqes.len(), 4, "message 3 has begun again: {:?}", w.cqes);
}

/// N3: retries that are named after the queue pair was opened count from the beginning, and are restored.
#[test]
fn n3_retries_may_be_named_later() {
    let mut w = World::new(7);
    w.round(0, 9);
    w.write_retry(1);
    w.round(0, 9);
    w.retire(0, 3);
    assert_eq!(w.cqes, [(msn(0), 0)], "restored");
    w.round(1, 9);
    assert_eq!(w.refuse(1, 9), None, "no retry is left");
    assert_eq!(w.cqes[1..], [(msn(1), 13), (msn(2), 5), (msn(3), 5)]);
    let mut w = World::new(0);
    w.write_retry(7);
    (0..10).for_each(|_| w.round(0, 9));
}
