//! rate_limiter: simulation = Verilog, and rules C3 and C4 against 128-bit arithmetic.
mod tx_support;
use mrnic_difftest::difftest;
use mrnic_nic::tx::rate_limiter::RateLimiter;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tx_support::Bench;

#[test]
fn simulation_equals_verilog() {
    difftest!(RateLimiter::new(), clock: clock, inputs: {
        reset, fault, start, hint, s, any_rtt, mtu_log2, tokens, token_time, now, inflight, bytes
    })
    .top("rate_limiter")
    .cycles(3000)
    .seed(1)
    .stimulus(|random, _, inputs| {
        if random.chance(0.8) {
            inputs.set("fault", 0u32);
        }
        if random.chance(0.5) {
            let past = (inputs.get("now") as u32).wrapping_sub(random.below(1100) as u32);
            inputs.set("token_time", past);
        }
    })
    .run();
}

const UNLIMITED: u64 = 0xff_ffff;

#[test]
fn c3_c4_exact_arithmetic() {
    let mut bench = Bench::new(&RateLimiter::new(), "rate_limiter");
    let mut rng = StdRng::seed_from_u64(4);
    let (mut capped, mut paced) = (0, 0);
    for round in 0..40_000 {
        let hint = match round % 5 {
            0 => UNLIMITED,
            1 => UNLIMITED - 1,
            2 => rng.random_range(1..50),
            3 => rng.random_range(1..400_000),
            _ => rng.random_range(0..=UNLIMITED),
        };
        let s: u64 = if round % 7 == 0 { rng.random_range(0..=65_535) } else { rng.random_range(0..600) };
        let any_rtt = rng.random_bool(0.8);
        let mtu_log2 = rng.random_range(8..=12u32);
        let mtu = 1i128 << mtu_log2;
        let bytes = rng.random_range(0..=mtu as u64);
        let full = 500 * mtu as i64;
        let tokens: i64 = match round % 4 {
            0 => rng.random_range(-600_000..=0),
            1 => rng.random_range(-10..=10),
            _ => rng.random_range(-600_000..=full),
        };
        let now: u32 = rng.random();
        let elapsed: u32 = if round % 3 == 0 { rng.random() } else { rng.random_range(0..1100) };
        let cap = mtu.max((i128::from(hint) * i128::from(s) * 5) >> 8);
        let inflight: u64 = match round % 3 {
            0 => (cap as u64).saturating_sub(rng.random_range(0..=2 * bytes)).min(u32::MAX.into()),
            1 => rng.random_range(0..100_000),
            _ => rng.random::<u32>().into(),
        };
        let fault = if round % 11 == 0 { 7 } else { 0 };
        for (name, value) in [
            ("fault", fault),
            ("hint", hint),
            ("s", s),
            ("any_rtt", any_rtt.into()),
            ("mtu_log2", mtu_log2.into()),
            ("tokens", tokens as u64 & ((1 << 36) - 1)),
            ("token_time", now.wrapping_sub(elapsed).into()),
            ("now", now.into()),
            ("inflight", inflight),
            ("bytes", bytes),
            ("start", 1),
        ] {
            bench.set(name, value);
        }
        bench.clock();
        bench.set("start", 0);
        bench.clock();
        bench.clock();
        assert!(bench.high("valid"), "three clocks after start");
        // C3
        let limited = hint != UNLIMITED && fault != 7;
        let has_cap = limited && any_rtt;
        let context = format!("round {round}: hint {hint} s {s} any_rtt {any_rtt} mtu {mtu} tokens {tokens} elapsed {elapsed} inflight {inflight} bytes {bytes}");
        assert_eq!(bench.high("cap_exists"), has_cap, "{context}");
        assert_eq!(bench.high("cap_ok"), !has_cap || i128::from(inflight) < cap, "{context}");
        assert_eq!(bench.high("cap_reached_after"), has_cap && i128::from(inflight + bytes) >= cap, "{context}");
        // C4
        let t = (i128::from(tokens) + 2 * i128::from(hint) * i128::from(elapsed.min(1023))).min(500 * mtu);
        let after = if limited { t - 125 * (i128::from(bytes) + 96) } else { tokens.into() };
        assert_eq!(bench.high("pace_ok"), !limited || t > 0, "{context}");
        assert_eq!(bench.get("new_tokens"), after as u64 & ((1 << 36) - 1), "{context}");
        capped += usize::from(has_cap && i128::from(inflight) >= cap);
        paced += usize::from(limited && t <= 0);
    }
    assert!(capped > 1000 && paced > 1000, "{capped} {paced}");
}
