//! R11 alone: bytes of each connection in, shares and limits out.
//!
//! In: senders that have as much as they may send, or less. Out: limits, epoch by epoch.
//! Guarantees checked: the page's arithmetic, equal and steady limits for equal senders, and what may stay unused.
use crate::pair::seed;
use mrnic_model::rx::hint::{ConnUse, RateHint, SPARE_MAX};
use mrnic_model::RATE_UNLIMITED;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const MTU: u32 = 4096;
/// 0.95 x 400 Gbit/s x 16.384 us.
const CAP: u32 = 778_240;

/// A receiver whose connections are given bytes.
struct Shares {
    hint: RateHint,
    conns: Vec<ConnUse>,
}

impl Shares {
    fn new(cap: u32, conns: usize) -> Self {
        Shares { hint: RateHint::new(cap), conns: vec![ConnUse::default(); conns] }
    }

    /// An epoch in which each connection received so many bytes. Returns the share.
    fn epoch(&mut self, used: &[u32]) -> u32 {
        for (conn, used) in self.conns.iter_mut().zip(used) {
            conn.placed(*used);
        }
        self.hint.swap(self.conns.iter_mut());
        self.hint.publish(self.conns.iter_mut()).expect("an epoch was swapped")
    }

    fn rates(&self) -> Vec<u32> {
        self.conns.iter().map(|conn| self.hint.rate_mbps(conn)).collect()
    }
}

/// A sender with more to send than it may: whole packets at the rate of the hint, as C4 counts them, some of them late.
struct Backlogged {
    /// In bytes on the wire.
    tokens: i64,
    late: u32,
}

impl Backlogged {
    /// Bytes that arrive in an epoch.
    fn arrive(&mut self, rate_mbps: u32, late: bool) -> u32 {
        // an epoch has 16.384 us; who always has a packet never fills its bucket
        self.tokens += i64::from(rate_mbps) * 16_384 / 8000;
        let mut packets = 0;
        while self.tokens > 0 {
            self.tokens -= i64::from(MTU) + 96;
            packets += 1;
        }
        let now = packets + self.late - u32::from(late && packets > 0);
        self.late = packets + self.late - now;
        now * MTU
    }
}

/// Rates of `n` equal senders whose last packet of an epoch is late one time in `one_in`.
fn equal_senders(n: usize, epochs: usize, rng: &mut SmallRng, one_in: u32) -> Vec<Vec<u32>> {
    let mut shares = Shares::new(CAP, n);
    let mut senders: Vec<Backlogged> =
        (0..n).map(|_| Backlogged { tokens: -rng.random_range(0..i64::from(MTU)), late: 0 }).collect();
    // no hint yet: the first windows, 16 packets of each, spread over the time that the link needs for them
    let first = (16 * n as u32 * MTU).div_ceil(CAP).max(1);
    let usual = 16_u32.div_ceil(first);
    for _ in 0..first {
        let used: Vec<u32> = (0..n).map(|_| MTU * rng.random_range(usual - 1..=usual + 1)).collect();
        shares.epoch(&used);
    }
    let mut all = Vec::new();
    for _ in 0..epochs {
        let rates = shares.rates();
        let used: Vec<u32> =
            senders.iter_mut().zip(&rates).map(|(sender, &rate)| sender.arrive(rate, rng.random_ratio(1, one_in))).collect();
        all.push(rates);
        shares.epoch(&used);
    }
    all
}

/// R11: the page's arithmetic, by hand.
#[test]
fn r11_fair_shares() {
    let mut s = Shares::new(100_000, 3);
    assert_eq!(s.rates(), [RATE_UNLIMITED; 3], "before the first epoch");
    assert_eq!(s.epoch(&[60_000, 4_000, 0]), 50_000, "both are greedy at first");
    assert_eq!(s.rates()[0], (50_000 * 125) >> 8);
    assert_eq!((s.conns[0].spare, s.conns[1].spare, s.conns[2].spare), (SPARE_MAX, 5_000, 0));
    assert_eq!(s.epoch(&[80_000, 8_000, 0]), 85_000, "10,000 and 5,000 to spare are wanted, 50,000 may be");
    assert_eq!((s.conns[1].lim, s.conns[1].spare), (15_000, 0));
    assert_eq!(s.epoch(&[85_000, 8_000, 0]), 90_000);
    assert_eq!(s.epoch(&[50_000, 0, 0]), 100_000, "62,500 and 32,767 to spare are more than its share");
    assert_eq!(s.conns[0].spare, 62_500 + SPARE_MAX - 90_000);
    assert_eq!(s.epoch(&[50_000, 0, 0]), 32_233, "67,767 are not");
    assert_eq!((s.conns[0].lim, s.rates()[0]), (67_767, (67_767 * 125) >> 8));
    assert_eq!(s.epoch(&[0, 0, 0]), 100_000, "who sends nothing is given nothing");
    assert_eq!(s.epoch(&[33_000; 3]), 1_562, "remain = 0: cap / 64");
    assert_eq!(s.hint.epoch, 7);
    let mut off = Shares::new(0, 3);
    off.epoch(&[1, 1, 1]);
    assert_eq!(off.rates(), [RATE_UNLIMITED; 3], "cap = 0");
}

/// R11: senders that have more than they may send are allowed the same, exactly and always, though a share of few packets
/// cannot be met in each epoch.
#[test]
fn r11_equal_senders_are_allowed_equal_and_steady_rates() {
    let mut rng = SmallRng::seed_from_u64(seed(7));
    for n in [1, 2, 15, 31, 63] {
        let fair = ((u64::from(CAP) / n as u64 * 125) >> 8) as u32;
        // what the first windows left in the limits is gone after two epochs
        for (epoch, rates) in equal_senders(n, 400, &mut rng, 4).iter().enumerate().skip(2) {
            assert!(rates.iter().all(|&rate| rate == fair), "{n} senders, epoch {epoch}: {rates:?}, fair {fair}");
        }
    }
}

/// R11, the bound: 62 senders that are held back by something else to 2 of 3 packets an epoch, one that is not.
#[test]
fn r11_what_others_cannot_use_goes_to_the_one_that_can() {
    let mut s = Shares::new(CAP, 63);
    let mut greedy = Backlogged { tokens: 0, late: 0 };
    // all had their share, and what they may have to spare
    for _ in 0..10 {
        s.epoch(&[5 * MTU; 63]);
    }
    assert!(s.conns.iter().all(|conn| conn.spare == SPARE_MAX));
    let mut used = [2 * MTU; 63];
    let mut links = Vec::new();
    for _ in 0..40 {
        used[0] = greedy.arrive(s.rates()[0], false);
        links.push(used.iter().sum::<u32>());
        s.epoch(&used);
    }
    // spare lasts for 32,767 / (share - 5/4 x 2 packets) epochs
    let share = CAP / 63;
    let until = (SPARE_MAX / (share - 2 * MTU * 5 / 4)) as usize + 2;
    let short = |link: &u32| link * 5 < CAP * 4;
    assert!(links[2..until - 2].iter().all(short), "while they have something to spare: {links:?}");
    assert!(!links[until..].iter().any(short), "at least 4/5 of cap: {links:?}");
    assert!(s.conns[1..].iter().all(|conn| conn.lim == 2 * MTU * 5 / 4), "{:?}", s.conns);
}

/// R11, the bound for any traffic: what a connection is given over any stretch of epochs is at most 5/4 of what it used and 32,767 bytes.
#[test]
fn r11_a_connection_keeps_little_from_the_others() {
    let mut rng = SmallRng::seed_from_u64(seed(8));
    for cap in [20_000, 100_000, CAP] {
        let mut s = Shares::new(cap, 20);
        // the largest (given - used - used/4) of a stretch that ends here
        let mut kept = [0i64; 20];
        for _ in 0..3000 {
            let share = s.hint.share;
            let some = [0, 1, share / 2, share * 4 / 5, share, 2 * share, 60_000];
            let used: Vec<u32> = (0..20).map(|_| some[rng.random_range(0..some.len())]).collect();
            s.epoch(&used);
            for ((kept, conn), used) in kept.iter_mut().zip(&s.conns).zip(used) {
                let given = if conn.lim > 0 || used == 0 && conn.spare == 0 { conn.lim } else { share };
                *kept = (*kept).max(0) + i64::from(given) - i64::from(used + used / 4);
                assert!(*kept <= i64::from(SPARE_MAX), "cap {cap}: {conn:?} kept {kept} bytes from the others");
            }
        }
    }
}
