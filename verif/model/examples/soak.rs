//! A long run of random messages of all opcodes and sizes between two models, with random faults; every byte is checked.
//! Run: `cargo run -p mrnic-model --example soak -- --messages 1000000 --seed 1`. Prints progress and the counters at the end.

#![allow(dead_code)]

#[path = "../tests/suite/duo.rs"]
mod duo;
#[path = "../tests/suite/fabric.rs"]
mod fabric;
#[path = "../tests/suite/pair.rs"]
mod pair;
#[path = "../tests/suite/workload.rs"]
mod workload;

use std::time::Instant;

use mrnic_model::OpenMr0;

fn argument(name: &str, default: u64) -> Result<u64, String> {
    let mut arguments = std::env::args().skip_while(|a| a != name);
    match (arguments.next(), arguments.next()) {
        (None, _) => Ok(default),
        (Some(_), Some(value)) => value.parse().map_err(|_| format!("{name} needs a number, not {value}")),
        (Some(_), None) => Err(format!("{name} needs a number")),
    }
}

fn main() -> Result<(), String> {
    let (messages, seed) = (argument("--messages", 1_000_000)?, argument("--seed", 1)?);
    println!("{messages} messages, seed {seed}");
    let load = workload::Load { messages, qps: 8, longest: 40_000, longest_send: 16_000, ..workload::Load::default() };
    // Fewer places for READs and atomics than the peer may ask for, so that some are refused as busy.
    let usual = duo::DuoSetup::default();
    let qp = mrnic_model::QpConfig { max_rd_atomic: 8, max_dest_rd_atomic: 4, ..usual.qp };
    let setup = duo::DuoSetup { retry: 15, seed, qp, ..usual };
    let mut workload = workload::Workload::<OpenMr0>::new(&load, &setup);
    let start = Instant::now();
    let mut next = 0;
    workload.run(|done| {
        if done >= next {
            println!("{done:10} messages, {:7.1} s", start.elapsed().as_secs_f64());
            next += (messages / 20).max(1);
        }
    });
    println!(
        "{:10} messages, {:7.1} s: every byte right, all counters in balance",
        workload.done,
        start.elapsed().as_secs_f64()
    );
    println!("of each opcode (WRITE, WRITE_IMM, SEND, SEND_IMM, READ, CAS, FAA): {:?}", workload.done_of);
    for (side, nic) in workload.duo.nic.iter().enumerate() {
        println!("side {side}: {:#?}", nic.counters());
    }
    Ok(())
}
