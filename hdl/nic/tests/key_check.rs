//! key_check against unbounded integers (R3, the key part, Q3 and D2); fault 11; simulation = Verilog.
mod rx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::key_check::{right, KeyCheck};
use rx_support::{Bench, Rng};

#[derive(Clone, Copy, Default)]
struct Key {
    valid: bool,
    remote_write: bool,
    local_write: bool,
    remote_read: bool,
    remote_atomic: bool,
    low: u8,
    pd: u16,
    base: u64,
    length: u64,
    dma_base: u64,
}

fn bench() -> Bench {
    let mut b = Bench::new("key_check", || KeyCheck::new(&build("sim").unwrap()));
    b.reset();
    b
}

fn write(b: &mut Bench, index: u64, k: &Key) {
    let w0 = u32::from(k.valid) | u32::from(k.local_write) << 1 | u32::from(k.remote_write) << 2;
    let w0 = w0 | u32::from(k.remote_read) << 3 | u32::from(k.remote_atomic) << 4;
    let w0 = w0 | u32::from(k.low) << 8 | u32::from(k.pd) << 16;
    let mut words = vec![w0];
    for v in [k.base, k.length, k.dma_base] {
        words.extend([v as u32, (v >> 32) as u32]);
    }
    b.set_words("write_data", &words);
    b.set("write_index", index);
    b.set("write", 1);
    b.cycle();
    b.set("write", 0);
}

/// (code, addr)
fn check(b: &mut Bench, rkey: u32, pd: u16, va: u64, bytes: u64, needs: u64) -> (u64, u64) {
    for (name, value) in [("rkey", rkey.into()), ("va", va), ("bytes", bytes), ("right", needs), ("start", 1)] {
        b.set(name, value);
    }
    b.cycle();
    for (name, value) in [("rkey", 0), ("va", 1), ("bytes", 2), ("right", 3 - needs), ("start", 0), ("pd", u64::from(pd))] {
        b.set(name, value);
    }
    b.dut.cycles(3);
    (b.get("code"), b.get("addr"))
}

fn want(keys: &[Key], rkey: u32, pd: u16, va: u64, bytes: u64, needs: u64) -> (u64, u64) {
    let Some(k) = keys.get((rkey >> 8) as usize).filter(|k| k.valid && k.low == rkey as u8) else { return (1, 0) };
    let allows = match needs {
        right::REMOTE_WRITE => k.remote_write,
        right::LOCAL_WRITE => k.local_write,
        right::REMOTE_READ => k.remote_read,
        _ => k.remote_atomic,
    };
    if k.pd != pd || !allows {
        return (2, 0);
    }
    let (va, bytes, base, length) = (u128::from(va), u128::from(bytes), u128::from(k.base), u128::from(k.length));
    if va < base || va + bytes > base + length || va + bytes >= 1 << 64 {
        return (3, 0);
    }
    (0, ((va - base + u128::from(k.dma_base)) & u128::from(u64::MAX)) as u64)
}

#[test]
fn verdict_and_address_are_those_of_unbounded_integers() {
    for seed in [1, 2] {
        println!("seed {seed}");
        let mut b = bench();
        let mut rng = Rng(seed);
        let mut keys = vec![Key::default(); 64];
        let mut codes = [0; 4];
        for round in 0..6000 {
            if round < 30 || rng.chance(3) {
                let most = if rng.chance(50) { 4 } else { 64 };
                let index = rng.below(most);
                let edge = *[0, 1, 4096, 1 << 32, u64::MAX - 5000, u64::MAX].get(rng.below(6) as usize).unwrap();
                let key = Key {
                    valid: rng.chance(90),
                    remote_write: rng.chance(80),
                    local_write: rng.chance(80),
                    remote_read: rng.chance(80),
                    remote_atomic: rng.chance(80),
                    low: rng.below(3) as u8,
                    pd: rng.below(2) as u16,
                    base: edge,
                    length: (*[0, 1, 63, 5000, 0xFFFF_FFFE, 1 << 40].get(rng.below(6) as usize).unwrap()).min(u64::MAX - edge),
                    dma_base: rng.next(),
                };
                keys[index as usize] = key;
                write(&mut b, index, &key);
            }
            let index = if rng.chance(95) { rng.below(4) } else { rng.below(1 << 24) };
            let k = keys.get(index as usize).copied().unwrap_or_default();
            let low = if rng.chance(90) { k.low } else { rng.next() as u8 };
            let pd = if rng.chance(90) { k.pd } else { rng.next() as u16 };
            let bytes = *[0, 1, 64, 4096, 8191, 0x8000_0000, 0xFFFF_FFFF].get(rng.below(7) as usize).unwrap();
            let from = if rng.chance(50) { k.base } else { k.base.wrapping_add(k.length).wrapping_sub(bytes) };
            let va = if rng.chance(95) { from.wrapping_add(rng.below(5)).wrapping_sub(2) } else { rng.next() };
            let rkey = (index as u32) << 8 | u32::from(low);
            let needs = rng.below(4);
            let (code, addr) = check(&mut b, rkey, pd, va, bytes, needs);
            let (want_code, want_addr) = want(&keys, rkey, pd, va, bytes, needs);
            assert_eq!(code, want_code, "rkey {rkey:x} pd {pd} va {va:x} bytes {bytes} right {needs}");
            if code == 0 {
                assert_eq!(addr, want_addr);
            }
            codes[code as usize] += 1;
        }
        assert!(codes.iter().all(|n| *n > 50), "{codes:?}");
    }
}

#[test]
fn fault_11_ignores_the_length() {
    let key = Key { valid: true, remote_write: true, base: 100, length: 50, ..Key::default() };
    for (fault, code) in [(0, 3), (11, 0)] {
        let mut b = bench();
        b.set("fault", fault);
        write(&mut b, 0, &key);
        assert_eq!(check(&mut b, 0, 0, 100, 51, right::REMOTE_WRITE).0, code);
        assert_eq!(check(&mut b, 0, 0, 100, 50, right::REMOTE_WRITE).0, 0);
        assert_eq!(check(&mut b, 0, 0, 99, 50, right::REMOTE_WRITE).0, 3);
    }
}

#[test]
fn simulation_equals_verilog() {
    let small = BuildConfig { keys: 2, ..build("sim").unwrap() };
    difftest!(KeyCheck::new(&small), clock: clock, inputs: {
        reset, fault, start, rkey, va, bytes, right, pd, write, write_index, write_data
    })
    .top("key_check")
    .cycles(4000)
    .seed(4)
    .limit("write_index", 0..=1)
    .limit("rkey", 0..=0x2FF)
    .limit("pd", 0..=1)
    .stimulus(|random, _, inputs| {
        inputs.set("fault", if random.chance(0.05) { 11u32 } else { 0 });
        inputs.set("write", random.chance(0.1));
        let rkey = (random.below(3) << 8) | random.below(2);
        inputs.set("rkey", rkey);
        let va = 0x1000 + random.below(300);
        inputs.set("va", va);
        if random.chance(0.8) {
            let flags = 1 | (random.below(16) << 1) | (random.below(2) << 8) | (random.below(2) << 16);
            inputs.set("write_data", vec![flags as u32, 0x1000, 0, 200, 0, 7, 9]);
        }
    })
    .run();
}
