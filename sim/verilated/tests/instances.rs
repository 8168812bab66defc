//! Many instances, threads and models in one process; seeds; order of dropping; assertions.

mod common;

use common::{spec_built, wide};
use mrnic_verilated::{Dut, Initial, ModelSpec};

fn unset(dut: &Dut) -> u64 {
    dut.output("unset").unwrap().get_u64()
}

#[test]
fn the_seed_decides_the_initial_state() {
    let model = wide();
    let of = |seed| unset(&model.instance("t", seed));
    let values: Vec<u64> = (0..20).map(of).collect();
    assert_eq!(values, (0..20).map(of).collect::<Vec<_>>(), "same seeds, same state");
    let mut distinct = values.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 20, "{values:x?}");
    assert_ne!(of(1), of(1 << 40), "all 64 bits of the seed count");
    let with = |initial| unset(&model.instance_with("t", 3, initial));
    assert_eq!((with(Initial::Zeros), with(Initial::Ones)), (0, u64::MAX));
    assert_eq!(with(Initial::Random), values[3]);
}

#[test]
fn instances_in_threads_are_independent_and_reproducible() {
    let model = wide();
    let run = |seed: u64| {
        let mut dut = model.instance("t", seed);
        let (a, sum) = (dut.input("a8").unwrap(), dut.output("sum").unwrap());
        for i in 0..2000 {
            a.set_u64(i * seed);
            dut.cycle();
        }
        (unset(&dut), sum.get_u64())
    };
    let alone: Vec<_> = (1..9).map(run).collect();
    let together: Vec<_> = std::thread::scope(|s| {
        let h: Vec<_> = (1..9).map(|i| s.spawn(move || run(i))).collect();
        h.into_iter().map(|h| h.join().unwrap()).collect()
    });
    assert_eq!(alone, together);
}

#[test]
fn interleaved_instances_of_two_models_do_not_touch_each_other() {
    let other = "module wide(input clock, input [7:0] a8, output reg [7:0] sum); initial sum = 0; always @(posedge clock) sum <= sum - a8; endmodule";
    let (other, _) = spec_built(&ModelSpec { opt_level: 0, ..ModelSpec::new("wide", other) });
    let mut duts: Vec<Dut> =
        (0..40).map(|i| if i % 2 == 0 { wide().instance("a", i) } else { other.instance("b", i) }).collect();
    let ports: Vec<_> = duts.iter().map(|d| (d.input("a8").unwrap(), d.output("sum").unwrap())).collect();
    for step in 0..50 {
        for (i, d) in duts.iter_mut().enumerate() {
            ports[i].0.set_u64(i as u64 + step);
            d.cycle();
        }
    }
    for (i, p) in ports.iter().enumerate() {
        let total: u64 = (0..50).map(|s| (i as u64 + s) & 0xff).sum();
        let want = if i % 2 == 0 { total + 50 } else { total.wrapping_neg() } & 0xff;
        assert_eq!(p.1.get_u64(), want, "instance {i}");
    }
}

/// On 5.006 a thread whose current context was another instance's deadlocked in the destructor.
#[test]
fn any_order_of_dropping_works_also_from_another_thread() {
    let model = wide();
    for order in 0..6 {
        let mut v: Vec<Dut> = (0..4).map(|i| model.instance("t", i)).collect();
        let port = v[2].output("sum").unwrap();
        for d in &mut v {
            d.cycle();
        }
        match order {
            0 => drop(v),
            1 => v.into_iter().rev().for_each(drop),
            2 => std::thread::spawn(move || drop(v)).join().unwrap(),
            3 => {
                let last = v.pop();
                std::thread::spawn(move || drop(last)).join().unwrap();
                v[0].cycle();
            }
            4 => {
                v.swap(0, 3);
                v.truncate(2);
                v[1].cycle();
            }
            _ => {
                drop(v);
                model.instance("again", 9).cycle();
            }
        }
        assert_eq!(port.get_u64(), 1, "a port keeps the memory of its instance");
    }
}

#[test]
fn a_dut_and_its_ports_move_between_threads() {
    let mut dut = wide().instance("t", 5);
    let sum = dut.output("sum").unwrap();
    for round in 1..5u64 {
        (dut, _) = std::thread::spawn(move || {
            let sum = dut.output("sum").unwrap();
            dut.cycles(10);
            (dut, sum)
        })
        .join()
        .unwrap();
        assert_eq!(sum.get_u64(), 10 * round);
    }
    assert_eq!((dut.cycle_count(), dut.time_ps()), (40, 40 * 4000));
    dut.set_period_ps(10_000);
    dut.cycle();
    assert_eq!((dut.period_ps(), dut.time_ps()), (10_000, 170_000));
}

#[test]
fn failed_assertions_count_on_their_own_instance_with_a_place() {
    let v = "module asserted(input clock, input bad, output reg q);\nalways @(posedge clock) begin\n  q <= bad;\n  assert (!bad);\nend\nendmodule";
    let spec =
        ModelSpec { opt_level: 0, extra_args: vec!["--language".into(), "1800-2017".into()], ..ModelSpec::new("asserted", v) };
    let (model, _) = spec_built(&spec);
    let (mut good, mut bad) = (model.instance("good", 1), model.instance("bad", 1));
    bad.input("bad").unwrap().set_bit(true);
    bad.cycle();
    good.cycle();
    bad.cycle();
    assert_eq!((good.errors(), bad.errors()), (0, 2));
    assert!(bad.messages().contains("asserted.v:4"), "{}", bad.messages());
    assert_eq!(good.messages(), "");
    assert!(!bad.finished());
}
