//! csr: simulation = Verilog, and its behaviour on the bus.
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig, BUILDS};
use mrnic_nic::control::csr::{caps, Csr};
use mrnic_nic::control::event_counters::COUNTERS;
use mrnic_regs::{reg, Field};
use mrnic_verilated::{build as verilate, Dut, ModelSpec};

fn with_sends(sends: bool) -> BuildConfig {
    BuildConfig { sends, ..build("sim").unwrap() }
}

#[test]
fn simulation_equals_verilog() {
    difftest!(Csr::new(&with_sends(true)), clock: clock, inputs: {
        reset, axil_awaddr, axil_awvalid, axil_wdata, axil_wvalid, axil_bready, axil_araddr, axil_arvalid, axil_rready,
        events, init_done, cfg_busy, doorbell_ready, rdoorbell_ready, drained_valid, drained_qp, refusal
    })
    .top("csr")
    .cycles(1500)
    .seed(1)
    .source("axil_awvalid", "axil_awready", &["axil_awaddr"])
    .source("axil_wvalid", "axil_wready", &["axil_wdata"])
    .source("axil_arvalid", "axil_arready", &["axil_araddr"])
    .sink("axil_bready")
    .sink("axil_rready")
    .sink("doorbell_ready")
    .sink("rdoorbell_ready")
    .stimulus(|random, _, inputs| {
        // most addresses are registers; an address that is waiting stays
        for (valid, ready, address) in
            [("axil_awvalid", "axil_awready", "axil_awaddr"), ("axil_arvalid", "axil_arready", "axil_araddr")]
        {
            let waiting = inputs.previous(valid) == 1 && inputs.sampled(ready) == 0;
            if !waiting && random.chance(0.9) {
                let known = [
                    reg::id::OFFSET,
                    reg::version::OFFSET,
                    reg::caps::OFFSET,
                    reg::caps2::OFFSET,
                    reg::status::OFFSET,
                    reg::now::OFFSET,
                    reg::rto_min::OFFSET,
                    reg::ack_delay::OFFSET,
                    reg::ack_every::OFFSET,
                    reg::epoch_cap::OFFSET,
                    reg::table_commit::OFFSET,
                    reg::doorbell::OFFSET,
                    reg::doorbell_rq::OFFSET,
                    reg::qp_drain::OFFSET,
                    reg::table_data::OFFSET + 60,
                    reg::counter::OFFSET + 8,
                ];
                inputs.set(address, u32::from(*random.pick(&known)));
            }
        }
        // mostly the queue pair asked for
        if random.chance(0.7) {
            let asked = inputs.sampled("drain_qp") as u32;
            inputs.set("drained_qp", asked);
        }
        if random.chance(0.7) {
            inputs.set("init_done", 1u32);
            inputs.set("cfg_busy", 0u32);
        }
    })
    .run();
}

fn instance(name: &str) -> Dut {
    instance_of(&build(name).unwrap())
}

fn instance_of(config: &BuildConfig) -> Dut {
    let design = mrnic_emit::emit(&Csr::new(config), "csr").unwrap();
    let spec = ModelSpec { opt_level: 1, ..ModelSpec::new("csr", design.verilog) };
    let mut dut = verilate(&spec, &mut |_| {}).unwrap().instance("csr", 7);
    dut.input("reset").unwrap().set_bit(true);
    dut.cycles(2);
    dut.input("reset").unwrap().set_bit(false);
    dut.input("init_done").unwrap().set_bit(true);
    dut
}

/// Returns false if the write has not completed after 50 cycles.
fn write(dut: &mut Dut, addr: u16, data: u32) -> bool {
    let set = |d: &Dut, n: &str, v: u64| d.input(n).unwrap().set_u64(v);
    set(dut, "axil_awaddr", addr.into());
    set(dut, "axil_wdata", data.into());
    set(dut, "axil_awvalid", 1);
    set(dut, "axil_wvalid", 1);
    set(dut, "axil_bready", 1);
    dut.cycle();
    set(dut, "axil_awvalid", 0);
    set(dut, "axil_wvalid", 0);
    for _ in 0..50 {
        if dut.output("axil_bvalid").unwrap().get_bit() {
            dut.cycle();
            return true;
        }
        dut.cycle();
    }
    false
}

fn read(dut: &mut Dut, addr: u16) -> u32 {
    dut.input("axil_araddr").unwrap().set_u64(addr.into());
    dut.input("axil_arvalid").unwrap().set_bit(true);
    dut.input("axil_rready").unwrap().set_bit(true);
    dut.cycle();
    dut.input("axil_arvalid").unwrap().set_bit(false);
    while !dut.output("axil_rvalid").unwrap().get_bit() {
        dut.cycle();
    }
    let v = dut.output("axil_rdata").unwrap().get_u64() as u32;
    dut.cycle();
    v
}

#[test]
fn registers_identify_the_build_and_read_back() {
    let mut dut = instance("ecp5");
    assert_eq!(read(&mut dut, reg::id::OFFSET), reg::id::RESET);
    assert_eq!(read(&mut dut, reg::caps::OFFSET), caps(&build("ecp5").unwrap()));
    assert_eq!(read(&mut dut, reg::status::OFFSET), 1);
    assert_eq!(read(&mut dut, reg::rto_min::OFFSET), reg::rto_min::RESET);
    for (offset, mask) in [(reg::rto_min::OFFSET, !0), (reg::ack_every::OFFSET, 7), (reg::table_data::OFFSET + 60, !0)] {
        assert!(write(&mut dut, offset, 0xA5A5_1236));
        assert_eq!(read(&mut dut, offset), 0xA5A5_1236 & mask);
    }
    assert_eq!(read(&mut dut, 0xFF0), 0, "an unknown offset reads as 0");
    assert!(write(&mut dut, 0xFF0, 1), "a write to an unknown offset completes");
}

#[test]
fn caps_fit_their_fields() {
    for b in BUILDS {
        let w = [caps(b)];
        let log = |f: Field| 1usize << f.get(&w);
        assert_eq!(log(reg::caps::CONNS_LOG2), b.conns);
        assert_eq!(log(reg::caps::QPS_LOG2), b.qps);
        assert_eq!(reg::caps::DATA_WIDTH.get(&w) as usize, b.data_width);
        assert_eq!(log(reg::caps::WINDOW_LOG2), b.window_bits);
    }
}

#[test]
fn a_table_write_waits_until_the_previous_one_is_applied() {
    let mut dut = instance("sim");
    for i in 0..16 {
        assert!(write(&mut dut, reg::table_data::OFFSET + 4 * i, 0x100 + u32::from(i)));
    }
    dut.input("cfg_busy").unwrap().set_bit(true);
    assert!(!write(&mut dut, reg::table_commit::OFFSET, 0x0300_0005), "must wait");
    assert!(!dut.output("cfg_valid").unwrap().get_bit());
    dut.input("cfg_busy").unwrap().set_bit(false);
    let mut seen = 0;
    for _ in 0..10 {
        dut.cycle();
        if dut.output("cfg_valid").unwrap().get_bit() {
            seen += 1;
            assert_eq!(dut.output("cfg_table").unwrap().get_u64(), 3);
            assert_eq!(dut.output("cfg_index").unwrap().get_u64(), 5);
            assert_eq!(dut.output("cfg_data").unwrap().to_words()[15], 0x10F);
        }
    }
    assert_eq!(seen, 1, "one pulse");
}

#[test]
fn doorbells_wait_for_their_consumer_and_none_is_lost() {
    let mut dut = instance("sim");
    assert!(write(&mut dut, reg::doorbell::OFFSET, 0x0002_0007));
    assert!(!write(&mut dut, reg::doorbell::OFFSET, 0x0003_0009), "the first is not taken yet");
    dut.input("doorbell_ready").unwrap().set_bit(true);
    let mut got = vec![];
    for _ in 0..10 {
        if dut.output("doorbell_valid").unwrap().get_bit() {
            got.push((dut.output("doorbell_qp").unwrap().get_u64(), dut.output("doorbell_index").unwrap().get_u64()));
        }
        dut.cycle();
    }
    assert_eq!(got, [(2, 7), (3, 9)]);
}

/// The first work of a queue pair comes when every block has its row.
#[test]
fn a_doorbell_waits_for_the_rows_written_before_it() {
    let mut dut = instance_of(&with_sends(true));
    for (doorbell, valid) in [(reg::doorbell::OFFSET, "doorbell_valid"), (reg::doorbell_rq::OFFSET, "rdoorbell_valid")] {
        assert!(write(&mut dut, reg::table_commit::OFFSET, 0x0300_0005));
        dut.input("cfg_busy").unwrap().set_bit(true);
        assert!(!write(&mut dut, doorbell, 0x0005_0001));
        assert!(!dut.output(valid).unwrap().get_bit());
        dut.input("cfg_busy").unwrap().set_bit(false);
        let mut rings = false;
        for _ in 0..10 {
            dut.cycle();
            rings |= dut.output(valid).unwrap().get_bit();
        }
        assert!(rings, "{valid}");
    }
}

#[test]
fn doorbells_of_receives_have_a_stream_of_their_own() {
    let mut dut = instance_of(&with_sends(true));
    assert_eq!(reg::caps2::SENDS.get(&[read(&mut dut, reg::caps2::OFFSET)]), 1);
    assert_eq!(reg::caps2::SGES.get(&[read(&mut dut, reg::caps2::OFFSET)]), 1);
    assert!(write(&mut dut, reg::doorbell_rq::OFFSET, 0x0002_0007));
    assert!(!dut.output("doorbell_valid").unwrap().get_bit());
    assert!(!write(&mut dut, reg::doorbell_rq::OFFSET, 0x0003_0009), "the first is not taken yet");
    dut.input("rdoorbell_ready").unwrap().set_bit(true);
    let mut got = vec![];
    for _ in 0..10 {
        if dut.output("rdoorbell_valid").unwrap().get_bit() {
            got.push((dut.output("rdoorbell_qp").unwrap().get_u64(), dut.output("rdoorbell_index").unwrap().get_u64()));
        }
        dut.cycle();
    }
    assert_eq!(got, [(2, 7), (3, 9)]);
    // A build without receive queues ignores them.
    let mut dut = instance_of(&with_sends(false));
    assert_eq!(read(&mut dut, reg::caps2::OFFSET), 0x10, "one SGE");
    for _ in 0..3 {
        assert!(write(&mut dut, reg::doorbell_rq::OFFSET, 0x0002_0007));
        assert!(!dut.output("rdoorbell_valid").unwrap().get_bit());
    }
}

/// Section 10: software asks whether a queue pair is drained; what is said of another one, or was said before, is no answer.
#[test]
fn a_drained_queue_pair_is_told() {
    let mut dut = instance("sim");
    let tell = |dut: &mut Dut, qp: u64| {
        dut.input("drained_qp").unwrap().set_u64(qp);
        dut.input("drained_valid").unwrap().set_bit(true);
        dut.cycle();
        dut.input("drained_valid").unwrap().set_bit(false);
    };
    assert_eq!(read(&mut dut, reg::qp_drain::OFFSET), 0);
    for qp in [7u32, 0, 0xFFFF, 7] {
        tell(&mut dut, qp.into());
        assert!(write(&mut dut, reg::qp_drain::OFFSET, qp));
        assert!(dut.output("drain_valid").unwrap().get_bit());
        assert_eq!(dut.output("drain_qp").unwrap().get_u64(), u64::from(qp));
        tell(&mut dut, u64::from(qp ^ 1));
        assert_eq!(read(&mut dut, reg::qp_drain::OFFSET), 1);
        tell(&mut dut, qp.into());
        assert_eq!(read(&mut dut, reg::qp_drain::OFFSET), 0);
        assert!(!dut.output("drain_valid").unwrap().get_bit());
        // R4: beside it stands with which code the queue pair has refused its peer
        for code in [5u32, 0] {
            dut.input("refusal").unwrap().set_u64(code.into());
            assert_eq!(read(&mut dut, reg::qp_drain::OFFSET), code << 8);
        }
    }
}

#[test]
fn counters_count_pulses_and_ticks_follow_the_clock() {
    let mut dut = instance("sim");
    dut.input("events").unwrap().set_u64(0x8000_0004);
    dut.cycles(5);
    dut.input("events").unwrap().set_u64(0);
    for i in 0..COUNTERS as u16 {
        assert_eq!(read(&mut dut, reg::counter::OFFSET + 4 * i), if i == 2 || i == 31 { 5 } else { 0 });
    }
    let now = dut.output("now").unwrap();
    let start = now.get_u64();
    dut.cycles(3200); // 12.8 us at 4 ns
    assert_eq!(now.get_u64() - start, 100);
}
