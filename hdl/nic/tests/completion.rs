//! completion: simulation = Verilog.
use mrnic_difftest::difftest;
use mrnic_nic::config::build;
use mrnic_nic::host::completion::Completion;

#[test]
fn simulation_equals_verilog() {
    difftest!(Completion::<64>::new(&build("ecp5").unwrap()), clock: clock, inputs: {
        reset, fault, cmsg_valid, cmsg_qp, cmsg_msn, cmsg_npkts, cmsg_length, cmsg_wqe_index, cmsg_wr_id, cmsg_signaled, cmsg_opcode,
        cmsg_status, ret_valid, ret_qp, ret_msn, ret_bytes, nak_valid, nak_qp, nak_code, nak_msn, cerr_valid, cerr_conn, rxerr_valid,
        rxerr_qp, quiet, cfg_valid, cfg_table, cfg_index, cfg_data, rel_qp_ready, qperr_tx_addr, qperr_rx_addr, qperr_host_addr,
        cw_desc_ready, cw_ready
    })
    .top("completion")
    .cycles(3000)
    .seed(1)
    .reset_chance(0.0)
    .limit("cmsg_qp", 0..=3)
    .limit("cmsg_npkts", 1..=2)
    .limit("cmsg_msn", 0..=7)
    .limit("ret_qp", 0..=3)
    .limit("ret_msn", 0..=7)
    .limit("nak_qp", 0..=7)
    .limit("nak_msn", 0..=7)
    .limit("cerr_conn", 0..=3)
    .limit("rxerr_qp", 0..=7)
    .limit("cfg_index", 0..=3)
    .limit("cfg_table", 3..=3)
    .limit("qperr_tx_addr", 0..=7)
    .limit("qperr_rx_addr", 0..=7)
    .limit("qperr_host_addr", 0..=7)
    .source("cmsg_valid", "cmsg_ready", &["cmsg_qp", "cmsg_msn", "cmsg_npkts", "cmsg_length", "cmsg_wqe_index", "cmsg_wr_id", "cmsg_signaled", "cmsg_opcode", "cmsg_status"])
    .source("ret_valid", "ret_ready", &["ret_qp", "ret_msn", "ret_bytes"])
    .source("nak_valid", "nak_ready", &["nak_qp", "nak_code", "nak_msn"])
    .source("cerr_valid", "cerr_ready", &["cerr_conn"])
    .source("rxerr_valid", "rxerr_ready", &["rxerr_qp"])
    .sink("rel_qp_ready")
    .sink("cw_desc_ready")
    .sink("cw_ready")
    .stimulus(|random, _, inputs| {
        // errors are rare, statuses mostly 0, rows valid, MSNs start at 0
        let mut data = inputs.words("cfg_data").to_vec();
        data[0] = 1 | (random.below(4) as u32) << 16;
        data[8] = 0;
        inputs.set("cfg_data", data);
        for v in ["cfg_valid"] {
            if random.chance(0.98) {
                inputs.set(v, 0u32);
            }
        }
        for (v, r) in [("nak_valid", "nak_ready"), ("cerr_valid", "cerr_ready"), ("rxerr_valid", "rxerr_ready")] {
            let waiting = inputs.previous(v) == 1 && inputs.sampled(r) == 0;
            if !waiting && random.chance(0.97) {
                inputs.set(v, 0u32);
            }
        }
    })
    .run();
}
