//! silence against counts kept one by one (D8): what is awaited, signs of life, queue pairs that are closed;
//! simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, seed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::silence::Silence;
use rx_support::{Bench, Rng};

const CONNS: usize = 2;
const QPS: usize = 4;

fn small() -> BuildConfig {
    BuildConfig { conns: CONNS, qps: QPS, reads: true, ..build("sim").unwrap() }
}

/// Requests are sent, are over, are flushed unsent; queue pairs are closed and opened on another connection. What is looked at is what was counted
/// some clocks before.
#[test]
fn d8_what_is_awaited_is_counted_once() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("silence", || Silence::new(&small()));
    b.reset();
    let mut conn_of = [0usize; QPS];
    let mut sent = [0u32; QPS];
    let mut alive = [0u32; CONNS];
    let (mut seen, mut closed, mut unsent) = ([0; 2], 0, 0);
    let mut now = 0xFFFF_F000u32;
    for _ in 0..3000 {
        now = now.wrapping_add(rng.below(9) as u32);
        let qp = rng.below(QPS as u64) as usize;
        let conn = rng.below(CONNS as u64) as usize;
        let mut wait = 3;
        match rng.below(10) {
            0..=2 => {
                b.set("first_qp", qp as u64);
                b.set("first_now", now.into());
                b.set("first_valid", 1);
                sent[qp] += 1;
                alive[conn_of[qp]] = now;
            }
            // a message that is flushed before it was sent is over too
            3..=5 => {
                b.set("over_qp", qp as u64);
                b.set("over_valid", 1);
                unsent += usize::from(sent[qp] == 0);
                sent[qp] = sent[qp].saturating_sub(1);
            }
            6 | 7 => {
                let who = pick(&mut rng, &["life", "heard"]);
                b.set(&format!("{who}_conn"), conn as u64);
                b.set(&format!("{who}_now"), now.into());
                b.set(&format!("{who}_valid"), 1);
                alive[conn] = now;
            }
            8 => {
                b.set("cfg_table", 3);
                b.set("cfg_index", qp as u64);
                b.set("cfg_conn", conn as u64);
                b.set("cfg_valid", 1);
                b.set("others_busy", 1);
                closed += usize::from(sent[qp] > 0);
                (sent[qp], conn_of[qp]) = (0, conn);
                wait = 20;
            }
            _ => wait = 0,
        }
        if wait > 0 {
            b.cycle();
            for name in ["first_valid", "over_valid", "life_valid", "heard_valid", "cfg_valid"] {
                b.set(name, 0);
            }
            if wait == 20 {
                (0..rng.below(5)).for_each(|_| b.cycle());
                b.set("others_busy", 0);
            }
            (0..wait + rng.below(3)).for_each(|_| b.cycle());
            b.eval();
            assert_eq!(b.get("cfg_busy"), 0);
        }
        let conn = rng.below(CONNS as u64) as usize;
        b.set("look_conn", conn as u64);
        b.set("now", now.into());
        b.dut.cycles(2);
        let awaited = (0..QPS).any(|qp| conn_of[qp] == conn && sent[qp] > 0);
        assert_eq!(b.get("awaited"), u64::from(awaited), "connection {conn}: {conn_of:?} {sent:?}");
        if alive[conn] != 0 {
            assert_eq!(b.get("alive"), u64::from(alive[conn]));
        }
        seen[usize::from(awaited)] += 1;
    }
    assert!(seen.iter().all(|n| *n > 100) && closed > 20 && unsent > 20, "{seen:?} {closed} {unsent}");
}

/// Requests that are over in every second clock while a queue pair is closed: none is lost.
#[test]
fn a_queue_pair_is_closed_while_others_end_their_requests() {
    let mut b = Bench::new("silence", || Silence::new(&small()));
    b.reset();
    for qp in [0, 1, 1, 1, 1, 1, 1] {
        b.set("first_qp", qp);
        b.set("first_valid", 1);
        b.cycle();
        b.set("first_valid", 0);
        b.dut.cycles(4);
    }
    let mut looks = Vec::new();
    for clock in 0..24 {
        b.set("cfg_table", 3);
        b.set("cfg_valid", u64::from(clock == 3));
        b.set("over_qp", 1);
        b.set("over_valid", u64::from(clock % 2 == 0 && clock < 12));
        b.cycle();
        looks.push(b.get("awaited"));
    }
    assert_eq!((looks[10], looks[23], b.get("cfg_busy")), (1, 0, 0), "{looks:?}");
}

#[test]
fn simulation_equals_verilog() {
    difftest!(Silence::new(&small()), clock: clock, inputs: {
        reset, cfg_valid, cfg_table, cfg_index, cfg_conn, others_busy, first_valid, first_qp, first_now, over_valid, over_qp, life_valid,
        life_conn, life_now, heard_valid, heard_conn, heard_now, now, look_conn
    })
    .top("silence")
    .cycles(2000)
    .seed(1)
    .reset_chance(0.0)
    .limit("cfg_table", 3..=3)
    .limit("cfg_index", 0..=3)
    .limit("cfg_conn", 0..=1)
    .limit("first_qp", 0..=3)
    .limit("over_qp", 0..=3)
    .limit("life_conn", 0..=1)
    .limit("heard_conn", 0..=1)
    .limit("look_conn", 0..=1)
    .run();
}
