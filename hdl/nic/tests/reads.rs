//! reads: simulation = Verilog; an error waits for the answers that are older than it and for no later ones (W3).
#![recursion_limit = "256"]
mod block_support;
mod rx_support;
use block_support::rows;
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::reads::Reads;
use rx_support::Bench;

fn small() -> BuildConfig {
    BuildConfig { conns: 4, qps: 4, keys: 4, msgs_per_stream: 4, reads: true, ..build("sim").unwrap() }
}

/// Steps as rx_core makes them would be few among random signals: the parts have tests of their own, here their wires are compared.
#[test]
fn simulation_equals_verilog() {
    difftest!(Reads::<128>::new(&small()), clock: clock, inputs: {
        reset, fault, cfg_valid, cfg_table, cfg_index, cfg_data, rx_busy, completion_busy, row_write, row_qp, row_request, row_atomic,
        row_msn, row_laddr, row_length, row_tag, row_listed, piece_write, piece_row, piece_number, piece_addr, piece_end, rsp_at, sent_valid, sent_qp, sent_msn, sent_now, now, watch_conn, over_valid,
        over_qp, life_valid, life_conn, life_now, taken_valid, taken_opcode, taken_conn, taken_now, rsp_look, rsp_qp, rsp_msn, rsp_kind, rsp_offset,
        rsp_length, rsp_tag, rsp_bytes, rsp_take, rsp_ticket, ask_look, ask_conn, ask_qp, ask_msn, ask_step, ask_take, reached,
        reached_qp, reached_msn, reached_ticket, check_ready, check_done, check_code, check_addr, check_failed, finish_ready,
        finish_done, finish_ticket, done_count, answered_ready, error_waits, error_taken, flush_valid, flush_qp, resp_valid,
        resp_error, resp_conn, resp_qp, resp_msn, resp_waits, order_ready, rsprow_ready, a_desc_valid, a_desc_addr, a_desc_len, a_ready,
        cr_desc_ready, cr_valid, cr_data, cr_last
    })
    .top("reads")
    .input_as("ask_row", |b| &mut b.ask_row, rows::request_row)
    .cycles(1500)
    .seed(1)
    .reset_chance(0.0)
    .limit("cfg_table", 3..=3)
    .limit("cfg_index", 0..=3)
    .limit("over_qp", 0..=3)
    .limit("watch_conn", 0..=3)
    .limit("life_conn", 0..=3)
    .limit("taken_conn", 0..=3)
    .limit("taken_opcode", 0xE0..=0xE7)
    .limit("row_qp", 0..=3)
    .limit("sent_qp", 0..=3)
    .limit("rsp_qp", 0..=3)
    .limit("ask_qp", 0..=3)
    .limit("ask_conn", 0..=3)
    .limit("reached_qp", 0..=3)
    .limit("flush_qp", 0..=3)
    .limit("resp_qp", 0..=3)
    .limit("resp_conn", 0..=3)
    .limit("row_msn", 0..=7)
    .limit("sent_msn", 0..=7)
    .limit("rsp_msn", 0..=7)
    .limit("ask_msn", 0..=7)
    .limit("reached_msn", 0..=7)
    .limit("resp_msn", 0..=7)
    .stimulus(|_, _, inputs| {
        // connections that there are
        let mut data = inputs.words("cfg_data").to_vec();
        data[0] &= 0x0003_FFFF;
        inputs.set("cfg_data", data);
    })
    .run();
}

/// Queue pair 0 has asked for eight bytes with each of the messages.
struct Table {
    bench: Bench,
}

impl Table {
    fn new(messages: u64) -> Table {
        let mut bench = Bench::new("reads", || Reads::<128>::new(&small()));
        bench.reset();
        for name in ["order_ready", "rsprow_ready", "cr_desc_ready", "answered_ready"] {
            bench.set(name, 1);
        }
        for _ in 0..100 {
            bench.cycle();
        }
        for msn in 0..messages {
            for (name, value) in [("row_msn", msn), ("row_request", 1), ("row_length", 8), ("row_write", 1)] {
                bench.set(name, value);
            }
            bench.cycle();
            bench.set("row_write", 0);
            bench.set("sent_msn", msn);
            bench.set("sent_valid", 1);
            bench.cycle();
            bench.set("sent_valid", 0);
            bench.cycle();
        }
        Table { bench }
    }

    /// The whole response to a message arrives; its payload is write number `ticket`.
    fn response(&mut self, msn: u64, ticket: u64) {
        self.bench.set("rsp_msn", msn);
        self.bench.set("rsp_length", 8);
        self.bench.set("rsp_bytes", 8);
        self.bench.set("rsp_look", 1);
        self.bench.cycle();
        self.bench.set("rsp_look", 0);
        (0..4).for_each(|_| self.bench.cycle());
        self.bench.eval();
        assert_eq!(self.bench.get("rsp_used"), 1, "message {msn}");
        self.bench.set("rsp_take", 1);
        self.bench.cycle();
        self.bench.set("rsp_take", 0);
        self.bench.set("rsp_ticket", ticket);
        self.bench.cycle();
    }

    /// MSNs of what is answered in the next clocks, and whether an error could be taken in the end.
    fn run(&mut self, clocks: usize) -> (Vec<u64>, bool) {
        let mut answered = vec![];
        for _ in 0..clocks {
            self.bench.eval();
            if self.bench.get("answered_valid") == 1 {
                answered.push(self.bench.get("answered_msn"));
            }
            self.bench.cycle();
        }
        self.bench.eval();
        (answered, self.bench.get("quiet") == 1)
    }
}

#[test]
fn w3_an_error_waits_for_older_answers_only() {
    let mut table = Table::new(3);
    table.response(0, 1);
    table.response(1, 2);
    table.bench.set("error_waits", 1);
    assert_eq!(table.run(10), (vec![], false), "nothing is visible yet");
    // whole after the error came, so it is not waited for
    table.response(2, 3);
    table.bench.set("done_count", 1);
    assert_eq!(table.run(10), (vec![0], false));
    table.bench.set("done_count", 2);
    assert_eq!(table.run(10), (vec![1], true));
    table.bench.set("error_taken", 1);
    table.bench.cycle();
    table.bench.set("error_taken", 0);
    assert_eq!(table.run(10), (vec![], false), "the next error waits for the third");
    table.bench.set("done_count", 3);
    assert_eq!(table.run(10), (vec![2], true));
}
