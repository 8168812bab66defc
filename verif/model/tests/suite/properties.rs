//! Random histories against simple references: sets of numbers instead of bitmaps. And any bytes at all.

use std::collections::{BTreeMap, BTreeSet};

use mrnic_model::bits256::Bits256;
use mrnic_model::seq::Serial24;
use mrnic_model::tx::ack::apply;
use mrnic_model::*;
use mrnic_wire::{Ack, Ppsn, SackVector};
use proptest::prelude::*;

use crate::pair::{write, Setup};
use crate::profiles::config;
use crate::rules_rx::{data, Data, Receiver};
use crate::rules_tx::{open, Path, RTO_MIN};

/// The sender's sets as the page words them, over numbers that never wrap.
#[derive(Default)]
struct Reference {
    cum: u64,
    next: u64,
    sacked: BTreeSet<u64>,
    lost: BTreeSet<u64>,
    old: BTreeSet<u64>,
    new: BTreeSet<u64>,
    mark: u64,
    gen_open: bool,
    probe: Option<u64>,
}

impl Reference {
    fn resend(&mut self) -> Option<u64> {
        let n = self.lost.pop_first()?;
        // L2: joins the open generation unless a new packet was sent since its mark.
        if !self.gen_open || self.mark == self.next {
            self.gen_open = true;
            self.mark = self.next;
            self.old.insert(n);
        } else {
            self.new.insert(n);
        }
        Some(n)
    }

    fn probe(&mut self) {
        self.old.append(&mut self.new);
        self.mark = self.next;
        self.gen_open = true;
        self.probe = Some(self.next);
    }

    /// Applies an acknowledgment; returns the newly acknowledged numbers.
    fn ack(&mut self, cum: u64, received: &BTreeSet<u64>, reply: bool, tolerance: u64) -> BTreeSet<u64> {
        let mut newly: BTreeSet<u64> = (self.cum..cum).chain(received.iter().copied()).collect();
        newly.retain(|n| !self.sacked.contains(n));
        for n in &newly {
            self.lost.remove(n);
            self.old.remove(n);
            self.new.remove(n);
            self.sacked.insert(*n);
        }
        self.sacked.retain(|&n| n >= cum);
        self.cum = cum;
        let high = received.last().map_or(cum as i64 - 1, |&n| n as i64);
        let probe = if reply { self.probe } else { None };
        let edge = high.max(probe.map_or(i64::MIN, |p| p as i64));
        // L2
        if self.gen_open && edge >= self.mark as i64 {
            self.lost.append(&mut self.old);
            self.old = std::mem::take(&mut self.new);
            self.mark = self.next;
            self.gen_open = !self.old.is_empty();
        }
        // L1
        let below = (high - tolerance as i64).max(probe.map_or(i64::MIN, |p| p as i64));
        for n in cum..below.max(0) as u64 {
            if ![&self.sacked, &self.lost, &self.old, &self.new].iter().any(|s| s.contains(&n)) {
                self.lost.insert(n);
            }
        }
        if !newly.is_empty() || probe.is_some() {
            self.probe = None;
        }
        newly
    }
}

fn numbers(path: &Path, bits: &Bits256, base: u64, start: u32) -> BTreeSet<u64> {
    let first = u64::from(path.cum.ahead_of(Ppsn::new(start)));
    assert_eq!(first, base, "cum");
    (0..u64::from(path.span())).filter(|i| bits.get(path.cum.wrapping_add(*i as u32).ring256())).map(|i| base + i).collect()
}

#[derive(Clone, Debug)]
enum Op {
    Send(u8),
    Resend(u8),
    Ack { advance: u8, mask: [u64; 4], limit: u8, reply: bool },
    Probe,
    LoseAll,
}

fn op() -> impl Strategy<Value = Op> {
    let ack = (0u8..40, any::<[u64; 4]>(), any::<[u64; 4]>(), any::<u8>(), any::<bool>()).prop_map(
        |(advance, a, b, limit, reply)| {
            // Dense vectors with some holes.
            Op::Ack { advance, mask: core::array::from_fn(|w| a[w] | b[w]), limit, reply }
        },
    );
    prop_oneof![
        4 => (1u8..60).prop_map(Op::Send),
        3 => (1u8..20).prop_map(Op::Resend),
        5 => ack,
        1 => Just(Op::Probe),
        1 => Just(Op::LoseAll),
    ]
}

/// A3, L1, L2, PROBE, L4: the four sets equal the reference after every operation, with any start.
fn sender_sets_equal_the_reference<P: Profile>() {
    proptest!(config(400), |(start in prop_oneof![0u32..300, 0xFF_FE00u32..0x100_0000],
        ops in prop::collection::vec(op(), 1..120))| {
        let mut path = open(start, P::VECTOR_BITS as u16);
        let mut model = Reference::default();
        let mut received = BTreeSet::new();
        for (now, op) in ops.into_iter().enumerate() {
            match op {
                Op::Send(count) => for _ in 0..count {
                    if path.span() < P::VECTOR_BITS {
                        path.send_new(0);
                        model.next += 1;
                    }
                },
                Op::Resend(count) => for _ in 0..count {
                    let want = model.resend();
                    let got = path.lowest_lost();
                    prop_assert_eq!(got.map(|p| u64::from(p.ahead_of(Ppsn::new(start)))), want);
                    if let Some(ppsn) = got {
                        path.resend(ppsn);
                    }
                },
                Op::Ack { advance, mask, limit, reply } => {
                    // A receiver never forgets: its state only grows.
                    let upto = (model.cum + u64::from(limit)).min(model.next);
                    received.extend((model.cum..upto).filter(|n| mask[(n / 64 % 4) as usize] >> (n % 64) & 1 != 0));
                    received.extend(model.cum..(model.cum + u64::from(advance)).min(model.next));
                    let mut cum = model.cum;
                    while received.contains(&cum) {
                        cum += 1;
                    }
                    received.retain(|&n| n >= cum);
                    let mut vector = SackVector::EMPTY;
                    for n in &received {
                        prop_assert!(vector.set((n - cum - 1) as u32));
                    }
                    let mut ack = Ack { vector, ..Ack::default() };
                    ack.flags.probe_reply = reply;
                    ack.ts_echo = path.probe_ts;
                    let reply = reply && path.probe_pending;
                    let tolerance = u64::from(path.reo_tol);
                    let newly = model.ack(cum, &received, reply, tolerance);
                    let out = apply(&Aimd, &mut path, now as u32, Ppsn::new((u64::from(start) + cum) as u32), &ack, RTO_MIN, P::VECTOR_BITS);
                    prop_assert_eq!(out.verdict, AckVerdict::Applied);
                    prop_assert_eq!(out.acked as usize, newly.len());
                }
                Op::Probe => {
                    path.send_probe(now as u16);
                    model.probe();
                }
                Op::LoseAll => {
                    path.strand();
                    model.lost = (model.cum..model.next).filter(|n| !model.sacked.contains(n)).collect();
                    model.old.clear();
                    model.new.clear();
                    model.gen_open = false;
                }
            }
            let at = |bits: &Bits256| numbers(&path, bits, model.cum, start);
            prop_assert_eq!(at(&path.sacked), model.sacked.clone());
            prop_assert_eq!(at(&path.lost), model.lost.clone());
            prop_assert_eq!(at(&path.rtx_old), model.old.clone());
            prop_assert_eq!(at(&path.rtx_new), model.new.clone());
            prop_assert_eq!(path.gen_open, model.gen_open);
            prop_assert_eq!(path.nlost as usize, model.lost.len());
            let pipe = (model.next - model.cum) as usize - model.sacked.len() - model.lost.len();
            prop_assert_eq!(path.pipe() as usize, pipe);
        }
    });
}

/// R2, R5, R9: classes, vector and counters equal a map of what was received, with any start and any order.
fn receiver_equals_the_reference<P: Profile>() {
    proptest!(config(400), |(start in prop_oneof![0u32..300, 0xFF_FE00u32..0x100_0000],
        offsets in prop::collection::vec((-40i64..300, any::<bool>(), any::<bool>()), 1..300))| {
        let mut r = Receiver::<P>::new(&Setup { start_ppsn: start & 0xFF_FFFF, ..Setup::default() });
        let mut arrived: BTreeMap<i64, u32> = BTreeMap::new();
        let (mut cum, mut dup, mut ce_count) = (0i64, 0u16, 0u16);
        for (offset, ce, nop) in offsets {
            let n = cum + offset;
            let ppsn = (i64::from(start) + n).rem_euclid(1 << 24) as u32;
            let want = if n < cum || arrived.contains_key(&n) {
                RxClass::Duplicate
            } else if n >= cum + i64::from(P::VECTOR_BITS) {
                RxClass::OutOfWindow
            } else {
                RxClass::New
            };
            let (class, place, nak, ack) = r.data(&Data { ce, nop, ack_req: true, ..data(ppsn) });
            prop_assert_eq!((class, nak), (want, 0));
            prop_assert_eq!(place.is_some(), want == RxClass::New && !nop);
            match want {
                RxClass::New => {
                    *arrived.entry(n).or_default() += 1;
                    ce_count += u16::from(ce);
                }
                RxClass::Duplicate => dup += 1,
                RxClass::OutOfWindow => {}
            }
            while arrived.contains_key(&cum) {
                cum += 1;
            }
            let ack = ack.unwrap();
            prop_assert_eq!(ack.cum.get(), (i64::from(start) + cum).rem_euclid(1 << 24) as u32);
            for i in 0..256 {
                prop_assert_eq!(ack.ack.vector.get(i), arrived.contains_key(&(cum + 1 + i64::from(i))));
            }
            prop_assert_eq!((ack.ack.dup_packets, ack.ack.ce_packets), (dup, ce_count));
            prop_assert_eq!(ack.ack.rx_packets, dup + arrived.len() as u16);
        }
    });
}

/// R1: any bytes, and any good frame with any bytes changed, never panic and never write outside the region.
fn any_bytes_are_survived<P: Profile>() {
    proptest!(config(400), |(junk in prop::collection::vec(any::<u8>(), 0..200),
        at in 14usize..110, value in any::<u8>(), ppsn in any::<u32>(), conn in 0u16..4, home in 0u8..10)| {
        let mut r = Receiver::<P>::new(&Setup::default());
        r.nic.handle_packet(5, &junk, &mut r.mem);
        let mut frame = Data { ppsn: ppsn & 0xFF_FFFF, conn, home, ..data(0) }.frame::<P>();
        r.nic.handle_packet(6, &frame, &mut r.mem);
        let at = at.min(frame.len() - 1);
        frame[at] = value;
        r.nic.handle_packet(7, &frame, &mut r.mem);
        r.nic.step_rx(8, &frame, &mut r.mem);
    });
}

/// W1: any 64 bytes are taken or refused, and complete exactly once.
fn any_wqe_is_survived<P: Profile>() {
    proptest!(config(400), |(bytes in prop::collection::vec(any::<u8>(), 64), opcode in 0u8..2)| {
        let mut r = Receiver::<P>::new(&Setup::default());
        let mut wqe: [u8; 64] = bytes.try_into().unwrap();
        wqe[0] = opcode;
        let step = r.nic.step_wqe(0, 3, &wqe).unwrap();
        prop_assert_eq!(step.npkts == 0, step.refused.is_some());
        r.nic.step_conn_error(0).unwrap();
        prop_assert_eq!(r.nic.step_cqe(0).unwrap().unwrap().0.wqe_index, 3);
        prop_assert!(r.nic.step_cqe(0).unwrap().is_none());
    });
}

/// The bit ring equals a set of positions.
#[test]
fn bits256_equals_a_set() {
    proptest!(config(400), |(start in 0usize..256, len in 0u32..=256, turn in 0usize..256,
        picks in prop::collection::btree_set(0usize..256, 0..40))| {
        let range = Bits256::range(start, len);
        let want: BTreeSet<usize> = (0..len as usize).map(|i| (start + i) % 256).collect();
        prop_assert_eq!((0..256).filter(|&i| range.get(i)).collect::<BTreeSet<_>>(), want);
        let mut bits = Bits256::EMPTY;
        picks.iter().for_each(|&i| bits.set(i));
        prop_assert_eq!(bits.count() as usize, picks.len());
        prop_assert_eq!(bits.highest(), picks.last().map(|&i| i as u32));
        let first = (0..256u32).find(|&d| picks.contains(&((start + d as usize) % 256)));
        prop_assert_eq!(bits.first_from(start), first);
        let down = bits.rotate_down(turn);
        prop_assert!((0..256).all(|i| down.get(i) == bits.get((i + turn) % 256)));
        prop_assert_eq!(down.rotate_up(turn), bits);
    });
}

/// Unknown numbers in every public call give typed errors.
fn unknown_numbers_are_errors<P: Profile>() {
    let mut r = Receiver::<P>::new(&Setup::default());
    let nic = &mut r.nic;
    assert!(nic.step_wqe(99, 0, &[0; 64]).is_err());
    assert!(nic.post_send(99, &write(0, 0, 0, 0)).is_err());
    assert_eq!(nic.step_grant(0, 9, &GrantInputs::default()), Err(StepError::NoSuchConnection { conn: 9 }));
    assert!(nic.step_tx_timer(0, 9, 0).is_err() && nic.step_tx_timer(0, 0, 8).is_err());
    assert!(nic.step_rx_timer(0, 9, 0).is_err() && nic.step_rx_timer(0, 0, 8).is_err());
    assert!(nic.step_retire(0, 0, 0).is_err() && nic.step_ack(0).is_err());
    assert!(nic.step_nak(99, 1, 0).is_err() && nic.step_cqe(99).is_err());
    assert!(nic.tx_path(0, 8).is_err() && nic.rx_path(9, 0).is_err() && nic.reply_port(9, 0).is_err());
    let bad = ConnConfig { paths: 3, ..crate::pair::conn_config(0, &Setup::default()) };
    assert_eq!(nic.open_connection(0, 0, &bad), Err(ConfigError::PowerOfTwo { what: "paths", value: 3 }));
    assert!(nic.open_connection(0, 99, &bad).is_err());
    assert!(nic.open_qp(0, &QpConfig::new(3, 0)).is_err());
    let key = KeyConfig { base: u64::MAX, length: 2, ..KeyConfig::default() };
    assert!(matches!(nic.register_key(0, &key), Err(ConfigError::KeyWraps { .. })));
    assert!(Nic::<P>::new(NicConfig { msgs_per_stream: 5, ..NicConfig::default() }).is_err());
    let mut small = [0; 10];
    assert!(nic.poll_transmit(0, &mut small, &memory::NoMemory).is_none());
}

crate::for_each_profile!(
    sender_sets_equal_the_reference,
    receiver_equals_the_reference,
    any_bytes_are_survived,
    any_wqe_is_survived,
    unknown_numbers_are_errors,
);
