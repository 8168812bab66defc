//! cqe_writer: CQEs in their order, each once, as beats of every data width; simulation = Verilog.
mod block_support;
mod rx_support;
mod tx_support;
use block_support::maker;
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::host::cqe_writer::{CqeWrite, CqeWriter};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use tx_support::Bench;

maker!(cqe_write: CqeWrite { addr, data });

fn width(data_width: usize) -> BuildConfig {
    BuildConfig { data_width, ..build("sim").unwrap() }
}

#[test]
fn simulation_equals_verilog() {
    difftest!(CqeWriter::<128>::new(&width(128)), clock: clock, inputs: { reset, write, cw_desc_ready, cw_ready })
        .input_as("cqe", |b| &mut b.cqe, cqe_write)
        .top("cqe_writer")
        .cycles(3000)
        .seed(1)
        .reset_chance(0.001)
        .run();
}

fn in_order<const W: usize>(seed: u64) {
    let mut bench = Bench::new(&CqeWriter::<W>::new(&width(W)), "cqe_writer");
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut descs, mut datas): (VecDeque<u64>, VecDeque<Vec<u32>>) = Default::default();
    let (mut beats, mut done) = (Vec::<u32>::new(), 0);
    while done < 300 {
        bench.set("write", 0);
        if rng.random_bool(0.2) && !bench.high("full") {
            let words: Vec<u32> = (0..10).map(|_| rng.random()).collect();
            bench.set_words("cqe", &words);
            bench.set("write", 1);
            descs.push_back(u64::from(words[0]) | u64::from(words[1]) << 32);
            datas.push_back(words[2..].to_vec());
        }
        let (take_desc, take_data) = (rng.random_bool(0.5), rng.random_bool(0.5));
        bench.set("cw_desc_ready", take_desc.into());
        bench.set("cw_ready", take_data.into());
        if take_desc && bench.high("cw_desc_valid") {
            assert_eq!((Some(bench.get("cw_desc_addr")), bench.get("cw_desc_len")), (descs.pop_front(), 32));
        }
        if take_data && bench.high("cw_valid") {
            beats.extend(bench.words("cw_data").iter().take(8));
            if bench.high("cw_last") {
                assert_eq!(Some(std::mem::take(&mut beats)), datas.pop_front());
                done += 1;
            }
        }
        bench.clock();
        assert!(bench.clocks() < 100_000);
    }
}

#[test]
fn cqes_leave_in_order() {
    in_order::<64>(1);
    in_order::<128>(2);
    in_order::<512>(3);
}
