//! scatter and spread: simulation = Verilog; spread's speed. What they do is tested with those that use them: tests/rx_core.rs compares the pieces with
//! the golden model's, tests/placement_dma.rs their data.
mod rx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::scatter::Scatter;
use mrnic_nic::rx::spread::Spread;
use rx_support::Bench;

#[test]
fn scatter_simulation_equals_verilog() {
    let config = BuildConfig { sges: 4, ..build("sim").expect("a named build") };
    let report = difftest!(Scatter::new(&config), clock: clock, inputs: {
        reset, fault, start, run, offset, bytes, keys, piece, key_code, key_addr, order_taken
    })
    .top("scatter")
    .cycles(20_000)
    .seed(1)
    .reset_chance(0.001)
    .limit("bytes", 1..=300)
    .stimulus(|random, _, inputs| {
        inputs.set("fault", *random.pick(&[0u32, 0, 0, 28]));
        inputs.set("start", random.chance(0.03));
        inputs.set("run", random.chance(0.9));
        inputs.set("offset", random.below(600));
        let piece: Vec<u32> = vec![random.below(1 << 32) as u32, random.below(1 << 32) as u32, random.below(500) as u32, 7];
        inputs.set("piece", piece);
        inputs.set("order_taken", random.chance(0.05));
    })
    .run();
    assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
}

#[test]
fn spread_simulation_equals_verilog() {
    let report = difftest!(Spread::<64, 8>::new(), clock: clock, inputs: {
        reset, start, bytes, ends, pl_valid, pl_data, out_ready
    })
    .top("spread")
    .cycles(6000)
    .seed(1)
    .reset_chance(0.001)
    .limit("bytes", 1..=40)
    .source("pl_valid", "pl_ready", &["pl_data"])
    .sink("out_ready")
    .stimulus(|random, _, inputs| inputs.set("start", random.chance(0.1)))
    .run();
    assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
}

/// A beat a clock, whatever the place of the piece in its packet.
#[test]
fn a_beat_a_clock() {
    let mut b = Bench::new("spread_128", Spread::<128, 16>::new);
    b.set("reset", 1);
    b.dut.cycles(2);
    b.set("reset", 0);
    b.set("pl_valid", 1);
    b.set("out_ready", 1);
    // (bytes, the last piece of its packet)
    for (bytes, ends) in [(5u64, 0u64), (16 * 50, 0), (16 * 40 + 11, 1), (16 * 30, 1)] {
        b.set("start", 1);
        b.set("bytes", bytes);
        b.set("ends", ends);
        b.cycle();
        b.set("start", 0);
        let mut clocks = 0;
        loop {
            b.eval();
            let last = b.get("out_valid") == 1 && b.get("out_last") == 1;
            b.cycle();
            clocks += 1;
            if last {
                break;
            }
        }
        assert!(clocks <= bytes.div_ceil(16) + 2, "{bytes} bytes: {clocks} clocks");
    }
}
