//! work_fetch: simulation = Verilog.
use mrnic_difftest::difftest;
use mrnic_nic::config::build;
use mrnic_nic::host::work_fetch::WorkFetch;

/// Tables 1, 3 and 4 with small indices; doorbells and releases of the same few rows.
#[test]
fn simulation_equals_verilog() {
    difftest!(WorkFetch::<64>::new(&build("ecp5").unwrap()), clock: clock, inputs: {
        reset, doorbell_valid, doorbell_qp, doorbell_index, cfg_valid, cfg_table, cfg_index, cfg_data, rel_conn_valid, rel_conn,
        rel_qp_valid, rel_qp, qperr_data, cr_desc_ready, cr_valid, cr_data, cr_last, cmsg_ready, msg_ready
    })
    .top("work_fetch")
    .cycles(2500)
    .seed(1)
    .reset_chance(0.0)
    .limit("doorbell_qp", 0..=7)
    .limit("rel_conn", 0..=3)
    .limit("rel_qp", 0..=7)
    .limit("cfg_index", 0..=3)
    .limit("cfg_table", 1..=4)
    .source("doorbell_valid", "doorbell_ready", &["doorbell_qp", "doorbell_index"])
    .source("rel_conn_valid", "rel_conn_ready", &["rel_conn"])
    .source("rel_qp_valid", "rel_qp_ready", &["rel_qp"])
    .source("cr_valid", "cr_ready", &["cr_data", "cr_last"])
    .sink("cr_desc_ready")
    .sink("cmsg_ready")
    .sink("msg_ready")
    .stimulus(|random, cycle, inputs| {
        // rows are valid, connections small, rings of 16 entries
        let mut data = inputs.words("cfg_data").to_vec();
        data[0] = data[0] & 0xFF00_0F00 | 1 | (random.below(4) as u32) << 16;
        data[4] = 0x44;
        inputs.set("cfg_data", data);
        if cycle > 200 && random.chance(0.95) {
            inputs.set("cfg_valid", 0u32);
        }
    })
    .run();
}
