//! rate_hint against R11 in plain integers, epoch by epoch; simulation = Verilog.
mod rx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::rate_hint::{RateHint, EPOCH_TICKS};
use rx_support::{Bench, Rng};

const CONNS: usize = 8;

/// R11 as it stands in docs/protocol.md.
#[derive(Default)]
struct Hint {
    cap: u64,
    share: u64,
    lim: [u64; CONNS],
    used: [u64; CONNS],
    spare: [u64; CONNS],
    published: bool,
}

impl Hint {
    fn epoch(&mut self) {
        let (mut sum, mut greedy, mut lim) = (0u64, 0, [0; CONNS]);
        for (c, lim) in lim.iter_mut().enumerate() {
            let want = self.used[c] + self.used[c] / 4 + self.spare[c];
            self.used[c] = 0;
            self.spare[c] = 0;
            if want < self.share.max(1) {
                *lim = want;
                sum += want;
            } else {
                self.spare[c] = (want - self.share).min(32_767);
                greedy += 1;
            }
        }
        self.lim = lim;
        self.share = (self.cap.saturating_sub(sum) / greedy.max(1)).max(self.cap / 64);
        self.published = true;
    }

    fn rate(&self, conn: usize) -> u64 {
        if !self.published || self.cap == 0 {
            return 0xFF_FFFF;
        }
        ((self.lim[conn].max(self.share) * 125) >> 8).min(0xFF_FFFE)
    }
}

fn pulse(b: &mut Bench, name: &str) {
    b.set(name, 1);
    b.cycle();
    b.set(name, 0);
}

fn rates(b: &mut Bench, hint: &Hint) {
    for c in 0..CONNS {
        b.set("read_conn", c as u64);
        b.dut.cycles(4);
        assert_eq!(b.get("rate"), hint.rate(c), "rate of connection {c}");
    }
}

#[test]
fn shares_and_rates_are_those_of_the_rule() {
    for (seed, cap) in [(1, 40_000), (2, 1_556_480), (3, 0xFF_FFFF), (4, 0), (5, 63)] {
        println!("seed {seed}");
        let mut b = Bench::new("rate_hint", || RateHint::new(&build("sim").unwrap()));
        let mut rng = Rng(seed);
        let mut hint = Hint { cap, ..Hint::default() };
        let mut now = 0xFFFF_FFF0u64;
        b.set("cap", cap);
        b.set("now", now);
        b.reset();
        rates(&mut b, &hint);
        for epoch in 1..120u64 {
            // from idle through a few connections to more than there is, and saturated counters
            let packets = *[0, 5, 60, 400].get(rng.below(4) as usize).unwrap();
            let some = 1 + rng.below(CONNS as u64);
            for _ in 0..packets {
                let (c, bytes) = (rng.below(some), *[1, 64, 4096, 8191].get(rng.below(4) as usize).unwrap());
                hint.used[c as usize] = (hint.used[c as usize] + bytes).min(0xFF_FFFF);
                b.set("add_conn", c);
                b.set("add_bytes", bytes);
                pulse(&mut b, "add");
                b.cycle();
                b.cycle();
            }
            if rng.chance(10) {
                let c = rng.below(CONNS as u64);
                b.set("clear_conn", c);
                pulse(&mut b, "clear");
                let c = c as usize;
                (hint.used[c], hint.spare[c], hint.lim[c]) = (0, 0, 0);
            }
            now = (now + EPOCH_TICKS - 1) & 0xFFFF_FFFF;
            b.set("now", now);
            b.cycle();
            assert_eq!(b.get("swap_due"), 0, "an epoch ended early");
            now = (now + 1) & 0xFFFF_FFFF;
            b.set("now", now);
            b.cycle();
            assert_eq!(b.get("swap_due"), 1);
            rates(&mut b, &hint);
            pulse(&mut b, "swap");
            // what arrives now belongs to the next epoch
            b.set("add_conn", 0);
            b.set("add_bytes", 100);
            pulse(&mut b, "add");
            let mut clocks = 0;
            while b.get("publish_due") == 0 {
                b.cycle();
                clocks += 1;
                assert!(clocks < 200, "the walk takes too long");
            }
            hint.epoch();
            hint.used[0] = 100;
            assert_eq!(b.get("share"), hint.share);
            pulse(&mut b, "publish");
            assert_eq!(b.get("epoch"), epoch % 256);
            rates(&mut b, &hint);
        }
    }
}

#[test]
fn a_counter_saturates() {
    let mut b = Bench::new("rate_hint", || RateHint::new(&build("sim").unwrap()));
    b.set("cap", 100_000);
    b.reset();
    b.set("add_bytes", 8191);
    for _ in 0..2100 {
        pulse(&mut b, "add");
        b.dut.cycles(2);
    }
    let mut hint = Hint { cap: 100_000, ..Hint::default() };
    hint.used[0] = 0xFF_FFFF;
    b.set("now", 128);
    pulse(&mut b, "swap");
    while b.get("publish_due") == 0 {
        b.cycle();
    }
    hint.epoch();
    assert_eq!(b.get("share"), hint.share);
}

#[test]
fn simulation_equals_verilog() {
    let small = BuildConfig { conns: 2, ..build("sim").unwrap() };
    difftest!(RateHint::new(&small), clock: clock, inputs: {
        reset, now, cap, add, add_conn, add_bytes, clear, clear_conn, swap, publish, read_conn
    })
    .top("rate_hint")
    .cycles(8000)
    .seed(8)
    .reset_chance(0.0003)
    .limit("add_conn", 0..=1)
    .limit("clear_conn", 0..=1)
    .limit("read_conn", 0..=1)
    .stimulus(|random, cycle, inputs| {
        inputs.set("now", cycle * 2 + 0xFFFF_0000);
        inputs.set("cap", *random.pick(&[90_000u32, 90_000, 90_000, 0, 0xFF_FFFF]));
        inputs.set("add", cycle % 3 == 0 && random.chance(0.5));
        let due = |name: &str| inputs.sampled(name) == 1;
        let (swap, publish, rest) = (due("swap_due"), due("publish_due"), due("at_rest"));
        let was = inputs.previous("swap") == 1 || inputs.previous("publish") == 1;
        inputs.set("swap", swap && !was && random.chance(0.3));
        inputs.set("publish", publish && !was && random.chance(0.3));
        inputs.set("clear", rest && !was && !swap && random.chance(0.005));
    })
    .run();
}
