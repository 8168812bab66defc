//! A path's timer on unbounded ticks: cases, and section 8 of docs/protocol.md as the reference of timer_check and timer_step.
//! In: a random source. Out: `Case`, its ports, and `reference`. Guarantees: L3, L4 and the PROBE rule, nothing of the blocks.
#![allow(dead_code)] // each test uses its part
use crate::block_support::{pick, Packed};
use crate::rx_support::Rng;
use mrnic_difftest::{Inputs, Random};
use mrnic_nic::tx::rows::{ConnAck, ConnCfg, PathAck, PathTx};

pub const UP: u64 = 1;
pub const SUSPECT: u64 = 2;
pub const DOWN: u64 = 3;

/// A path with its connection; ticks count without wrap.
#[derive(Debug, Clone)]
pub struct Case {
    pub open: bool,
    pub error: bool,
    pub retry_cnt: u64,
    pub other_up: bool,
    pub stranded: bool,
    /// D8: the path watches over awaited responses, and the peer's last sign of life.
    pub watching: bool,
    pub alive: i64,
    pub state: u64,
    pub pipe: u64,
    pub next: u64,
    pub cum: u64,
    pub srtt8: i64,
    pub var4: i64,
    pub rtt_valid: bool,
    /// S of C3.
    pub longest: i64,
    pub backoff: u64,
    pub tries: u64,
    pub probe_pending: bool,
    pub probe_time: i64,
    pub t_base: i64,
    pub last_send: i64,
    pub rto_min: i64,
    pub now: i64,
}

impl Case {
    pub fn tail(&self) -> i64 {
        let srtt = self.srtt8 >> 3;
        (srtt + (srtt >> 2)).max(16)
    }

    /// Serial ticks tell no more than 2^31 - 1.
    pub fn rto(&self) -> i64 {
        let base = (3 * (self.srtt8 >> 3) + self.var4).max(self.rto_min);
        (base << self.backoff.min(6)).min((1 << 31) - 1)
    }
}

pub fn case(rng: &mut Rng) -> Case {
    let cum = pick(rng, &[0, 0xFF_FFFF, 0xFF_FF80, 1 << 23, 9]);
    let now = (1 << 40) + if rng.chance(50) { rng.below(400) as i64 } else { rng.below(1 << 32) as i64 };
    let mut c = Case {
        open: rng.chance(95),
        error: rng.chance(5),
        retry_cnt: pick(rng, &[0, 1, 2, 7, 15]),
        other_up: rng.chance(60),
        stranded: rng.chance(40),
        watching: rng.chance(30),
        alive: 0,
        state: pick(rng, &[UP, UP, UP, SUSPECT, SUSPECT, DOWN, 0]),
        pipe: pick(rng, &[0, 1, 1, 255, 256]),
        next: (cum + pick(rng, &[0, 1, 255, 256])) & 0xFF_FFFF,
        cum,
        srtt8: pick(rng, &[0, 8, 96, 103, 104, 111, 800, 6000, 40_000, (1 << 18) - 1]),
        var4: pick(rng, &[0, 1, 50, 3000, (1 << 17) - 1]),
        rtt_valid: rng.chance(85),
        longest: 0,
        backoff: pick(rng, &[0, 0, 0, 0, 1, 2, 3, 5, 6, 7, 8, 14, 15]),
        tries: pick(rng, &[0, 1, 125, 126, 126]),
        probe_pending: rng.chance(50),
        probe_time: 0,
        t_base: 0,
        last_send: 0,
        rto_min: pick(rng, &[16, 782, 782, 5000, 1 << 20, 1 << 27]),
        now,
    };
    // an unanswered tail probe
    if rng.chance(25) {
        (c.state, c.backoff, c.rtt_valid, c.probe_pending) = (UP, 0, true, true);
    }
    if c.next == c.cum {
        c.pipe = 0;
    }
    c.longest = pick(rng, &[c.srtt8 >> 3, c.srtt8 >> 3, c.tail(), (c.tail() * 2).min(0xFFFF), 0xFFFF]);
    let near = |rng: &mut Rng, span: i64| pick(rng, &[0, 1, span - 1, span, span + 1, span / 2, 2 * span]);
    let idle = match rng.below(8) {
        0..=2 => near(rng, c.tail()),
        3..=5 => near(rng, c.rto()),
        6 => -1 - rng.below(1000) as i64,
        _ => rng.below(1 << 31) as i64,
    };
    c.t_base = now - idle.min((1 << 31) - 1);
    c.alive = now - pick(rng, &[0, 0, 9, c.rto() - 1, c.rto(), c.rto() + 1, (1 << 31) - 1]).min((1 << 31) - 1);
    c.probe_time = now - near(rng, c.tail()).min(0xFFFF);
    let since = near(rng, c.tail());
    c.last_send = now - pick(rng, &[0, since, since, 0xFFFF]).clamp(0, 0xFFFF);
    c
}

/// Stimulus of a difftest: a look at a timer every so many clocks; sometimes its rows change in between.
pub fn looks(clocks: u64) -> impl FnMut(&mut Random, u64, &mut Inputs) {
    let mut held = Vec::new();
    move |random, cycle, inputs| {
        if cycle.is_multiple_of(clocks) {
            let mut rng = Rng(random.u64() | 1);
            let c = case(&mut rng);
            held = ports(&c, &mut rng);
        }
        if random.chance(0.97) {
            held.iter().for_each(|(name, value)| inputs.set(name, value.clone()));
        }
    }
}

pub fn ports(c: &Case, rng: &mut Rng) -> Vec<(&'static str, Vec<u32>)> {
    let tick = |v: i64| v.rem_euclid(1 << 32) as u64;
    let mut path = Packed::random::<PathTx>(rng);
    path.set("state", c.state).set("pipe", c.pipe).set("next_ppsn", c.next).set("cum", c.cum).set("t_base", tick(c.t_base));
    path.set("last_send", tick(c.last_send) & 0xFFFF);
    path.set("srtt8", c.srtt8 as u64).set("rtt_valid", c.rtt_valid.into());
    let mut row = Packed::random::<PathAck>(rng);
    row.set("var4", c.var4 as u64).set("backoff", c.backoff).set("probe_pending", c.probe_pending.into()).set("tries", c.tries);
    row.set("probe_ts", tick(c.probe_time) & 0xFFFF);
    let mut cfg = Packed::random::<ConnCfg>(rng);
    cfg.set("open", c.open.into()).set("retry_cnt", c.retry_cnt);
    let mut conn = Packed::random::<ConnAck>(rng);
    conn.set("error", c.error.into()).set("longest_srtt", c.longest as u64);
    vec![
        ("path", path.words().to_vec()),
        ("row", row.words().to_vec()),
        ("cfg", cfg.words().to_vec()),
        ("conn", conn.words().to_vec()),
        ("other_up", vec![c.other_up.into()]),
        ("stranded", vec![c.stranded.into()]),
        ("watching", vec![c.watching.into()]),
        ("alive", vec![tick(c.alive) as u32]),
        ("now", vec![tick(c.now) as u32]),
        ("rto_min", vec![c.rto_min as u32]),
    ]
}

/// Section 8: the action of the commit record, and the path afterwards.
pub fn reference(c: &Case) -> (u64, Case) {
    let mut after = c.clone();
    let idle = match c.now - c.t_base {
        // D8; a time ahead of now is no time
        idle if c.watching && c.next == c.cum && c.now >= c.alive && (idle < 0 || c.now - c.alive < idle) => c.now - c.alive,
        idle => idle,
    };
    if !active(c) || idle < 0 {
        return (0, after);
    }
    let outstanding = c.next != c.cum;
    if idle < c.rto() {
        // L3; ts and probe_ts have 16 bits
        let answered = !c.probe_pending || (c.now - c.probe_time) & 0xFFFF >= c.tail();
        let waits = match c.state {
            UP => c.pipe > 0 && c.backoff == 0,
            SUSPECT => outstanding || c.backoff == 0,
            _ => false,
        };
        // or the path's last packet was sent so long ago
        let quiet = if c.state == UP { idle.max((c.now - c.last_send) & 0xFFFF) } else { idle };
        if waits && c.rtt_valid && quiet >= c.tail() && answered {
            (after.probe_pending, after.probe_time, after.last_send) = (true, c.now, c.now);
            if c.state == UP && !(c.probe_pending && c.other_up && idle >= c.longest + c.longest / 2) {
                return (1, after);
            }
            (after.pipe, after.state) = (0, SUSPECT);
            return (if c.state == UP { 9 } else { 10 }, after);
        }
        return (0, after);
    }
    // L4
    if c.state != DOWN || !outstanding {
        after.backoff = (c.backoff + 1).min(15);
    }
    after.t_base = c.now;
    if c.state == DOWN && c.pipe > 0 {
        after.tries += 1;
    }
    if after.tries == 127 || (after.backoff > c.retry_cnt || after.backoff == 15) && !c.other_up {
        after.error = true;
        return (6, after);
    }
    (after.probe_pending, after.probe_time, after.last_send) = (true, c.now, c.now);
    let (action, state) = match c.state {
        UP if after.backoff >= 2 && c.other_up => (3, SUSPECT),
        UP if after.backoff >= 2 => (7, UP),
        UP if outstanding && c.other_up => (8, SUSPECT),
        SUSPECT if after.backoff == 2 => (7, SUSPECT),
        SUSPECT if after.backoff >= 3 && c.other_up => (4, DOWN),
        DOWN => (5, DOWN),
        state => (2, state),
    };
    after.state = state;
    if state != UP {
        after.pipe = 0;
    }
    (action, after)
}

pub fn active(c: &Case) -> bool {
    c.open && !c.error && c.state != 0 && (c.next != c.cum || c.state == SUSPECT || c.state == DOWN || c.stranded || c.watching)
}
