//! atomic_unit: chains of operations on a memory against plain arithmetic (D3), with a slow read port; simulation = Verilog.
mod rx_support;

use mrnic_difftest::difftest;
use mrnic_nic::rx::atomic_unit::AtomicUnit;
use rx_support::{Bench, Rng};

fn check<const W: usize>(name: &'static str, seed: u64) {
    println!("seed {seed}");
    let mut b = Bench::new(name, AtomicUnit::<W>::new);
    b.set("reset", 1);
    b.dut.cycles(2);
    b.set("reset", 0);
    let mut rng = Rng(seed);
    let mut memory = [0u64, u64::MAX, 0x0102_0304_0506_0708, 7];
    let (mut swapped, mut kept) = (0, 0);
    for _ in 0..400 {
        let word = rng.below(4) as usize;
        let (add, operand) = (rng.chance(50), [1, u64::MAX, rng.next()][rng.below(3) as usize]);
        // half of the comparisons miss by one bit
        let compare = memory[word] ^ [0, 1 << rng.below(64)][rng.below(2) as usize];
        for (port, value) in
            [("op_addr", 8 * word as u64), ("op_add", add.into()), ("op_operand", operand), ("op_compare", compare)]
        {
            b.set(port, value);
        }
        b.set("op_valid", 1);
        b.eval();
        assert_eq!(b.get("op_ready"), 1);
        b.cycle();
        // the next operation is on offer at once and has to wait
        b.set("op_addr", 0xBAD);
        b.set("op_operand", !operand);
        let (mut asked, mut answered) = (false, false);
        for clock in 0.. {
            assert!(clock < 200, "no result");
            b.set("ar_desc_ready", rng.chance(40).into());
            b.set("ar_valid", (asked && !answered && rng.chance(40)).into());
            b.set_words("ar_data", &vec![0xDEAD_BEEF; W / 32]);
            let mut data = vec![0x55; W / 8];
            data[..8].copy_from_slice(&memory[word].to_le_bytes());
            b.set_bytes("ar_data", &data);
            b.set("result_ready", rng.chance(40).into());
            b.eval();
            assert_eq!(b.get("op_ready"), 0, "one at a time");
            if b.get("ar_desc_valid") == 1 && b.get("ar_desc_ready") == 1 {
                assert_eq!((b.get("ar_desc_addr"), b.get("ar_desc_len"), asked), (8 * word as u64, 8, false));
                asked = true;
            }
            answered |= b.get("ar_valid") == 1 && b.get("ar_ready") == 1;
            let taken = b.get("result_valid") == 1 && b.get("result_ready") == 1;
            if taken {
                assert!(answered);
                let after = if add { memory[word].wrapping_add(operand) } else { operand };
                let writes = add || compare == memory[word];
                assert_eq!((b.get("result_before"), b.get("result_writes")), (memory[word], writes.into()));
                if writes {
                    assert_eq!(b.get("result_after"), after);
                    memory[word] = after;
                }
                swapped += u32::from(writes && !add);
                kept += u32::from(!writes);
                b.set("op_valid", 0);
            }
            b.cycle();
            if taken {
                break;
            }
        }
    }
    assert!(swapped > 50 && kept > 50, "{swapped} {kept}");
}

/// D3: the value before, the value after, and whether memory changes.
#[test]
fn operations_are_those_of_plain_arithmetic() {
    check::<64>("atomic_unit_64", 1);
    check::<512>("atomic_unit_512", 2);
}

#[test]
fn simulation_equals_verilog() {
    difftest!(AtomicUnit::<128>::new(), clock: clock, inputs: {
        reset, op_valid, op_addr, op_add, op_operand, op_compare, ar_desc_ready, ar_valid, ar_data, result_ready
    })
    .top("atomic_unit")
    .cycles(3000)
    .seed(3)
    .source("op_valid", "op_ready", &["op_addr", "op_add", "op_operand", "op_compare"])
    .source("ar_valid", "ar_ready", &["ar_data"])
    .sink("ar_desc_ready")
    .sink("result_ready")
    // so that comparisons hold now and then
    .limit("op_compare", 0..=1)
    .limit("ar_data", 0..=1)
    .run();
}
