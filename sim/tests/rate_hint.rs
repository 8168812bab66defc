//! The receiver's rate hint: two senders into one receiver (R11, C2, C4), shown on the records and frames of the RTL.
//!
//! In: a run in lockstep with the golden model, with its commit records and frames. Out: epochs, hints, paced packets.
//! Guarantees: the shares are computed here again from what was placed; hints meet the fair share; senders keep to them.
use mrnic_lockstep::{Kind, Record};
use mrnic_nic::config;
use mrnic_sim::models;
use mrnic_sim::recorder::Log;
use mrnic_sim::scenario::Scenario;
use mrnic_sim::world::{Options, World};
use mrnic_wire::{parse_packet, Body};
use std::collections::{BTreeMap, BTreeSet};

/// Capacity that is shared out.
const CAPACITY_MBPS: u64 = 16_000;
/// R11: 0.95 of it in an epoch of 16.384 us, as software writes it to the register EPOCH_CAP.
const CAP_BYTES: u64 = CAPACITY_MBPS * 16_384 / 8000 * 95 / 100;
const EPOCH_TICKS: u64 = 128;
const MTU: u64 = 4096;
/// R11: what a connection may have wanted above its shares.
const SPARE_MAX_BYTES: u64 = 32_767;
/// C4: headers and framing that the pacer counts for each packet.
const OVERHEAD_BYTES: u64 = 96;
const UNLIMITED: u64 = 0xFF_FFFF;
/// By then the first, unlimited bursts are over.
const SETTLED_EPOCHS: usize = 15;

// values of the field `kind` of the records of rx_core
const RX_DATA: u64 = 0;
const EPOCH_SWAP: u64 = 5;
const EPOCH_PUBLISH: u64 = 6;

/// R11 in bytes per epoch, to Mbit/s.
fn rate(bytes: u64) -> u64 {
    (bytes * 125) >> 8
}

/// What all nodes did: node 0 receives from 1 and 2.
fn run() -> Vec<Log> {
    let mut text = format!(
        "name = \"two-into-one\"\ndescription = \"R11\"\nnics = 3\n[connection]\nhint_capacity_mbps = {CAPACITY_MBPS}\n\
         mtu_bytes = {MTU}\n[fabric]\nbuffer_bytes = 4000000\necn_threshold_bytes = 4000000\n"
    );
    for from in [1, 2] {
        text += &format!("[[traffic]]\nfrom = {from}\nto = 0\nbytes = 786432\nmessage_bytes = 65536\n");
    }
    let scenario = Scenario::parse("two-into-one.toml", &text).expect("a good scenario");
    let build = config::build(&scenario.build).expect("a named build");
    let model = models::model(&build, false, true).expect("the build can be Verilated");
    let options = Options { lockstep: true, log: true, ..Options::default() };
    let mut world = World::new(&scenario, &build, &model, &options).expect("the run starts");
    world.run(&mut |_, _| {}).unwrap_or_else(|e| panic!("{e}"));
    (0..3).map(|n| world.recorder(n).log.clone().expect("it was asked for")).collect()
}

/// A published epoch: cycle, and rate of each connection in Mbit/s.
struct Epoch {
    cycle: u64,
    rates: BTreeMap<u64, u64>,
    /// Connections that received payload in it.
    busy: usize,
}

/// Checks every epoch of the receiver against R11, computed from the packets that were placed.
fn epochs(records: &[Record]) -> Vec<Epoch> {
    let mut used: BTreeMap<u64, u64> = BTreeMap::new();
    let mut spare: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut share, mut lims, mut busy) = (0, BTreeMap::new(), 0);
    let mut next: Option<u64> = None;
    let mut swapped_at: Option<u64> = None;
    let mut all = Vec::new();
    for r in records.iter().filter(|r| r.kind == Kind::Rx) {
        match r.get("kind") {
            RX_DATA if r.get("placed") == 1 => *used.entry(r.get("conn")).or_default() += r.get("bytes"),
            EPOCH_SWAP => {
                assert_eq!(next, None, "a swap is followed by its publication: {r}");
                let now = r.get("now");
                assert!(
                    swapped_at.is_none_or(|t| (now - t) % EPOCH_TICKS < 8 && now - t >= EPOCH_TICKS),
                    "{swapped_at:?}, {r}"
                );
                swapped_at = Some(now);
                lims.clear();
                let mut greedy = 0;
                for conn in [0, 1] {
                    let bytes = used.get(&conn).copied().unwrap_or(0);
                    let want = bytes + bytes / 4 + spare.remove(&conn).unwrap_or(0);
                    if want < share.max(1) {
                        lims.insert(conn, want);
                    } else {
                        spare.insert(conn, SPARE_MAX_BYTES.min(want - share));
                        greedy += 1;
                    }
                }
                let remain = CAP_BYTES.saturating_sub(lims.values().sum());
                next = Some((remain / greedy.max(1)).max(CAP_BYTES / 64));
                busy = used.len();
                used.clear();
            }
            EPOCH_PUBLISH => {
                share = next.take().expect("a publication follows its swap");
                assert_eq!(r.get("share"), share, "{r}");
                let of = |c: u64| (c, rate(share.max(lims.get(&c).copied().unwrap_or(0))));
                all.push(Epoch { cycle: r.cycle, rates: [of(0), of(1)].into(), busy });
            }
            _ => {}
        }
    }
    all
}

/// R9, R11: each acknowledgment carries number and rate of an epoch that was just published. Returns how many were limited.
fn check_acknowledgments(log: &Log, epochs: &[Epoch]) -> usize {
    let mut limited = 0;
    for (cycle, frame) in &log.frames {
        let p = parse_packet(frame).expect("the NIC sends good frames");
        let Body::Ack(ack) = &p.packet.body else { panic!("the receiver sends acknowledgments only") };
        let published = epochs.iter().filter(|e| e.cycle <= *cycle).count();
        // made when its packet came, sent a little later
        let number = usize::from(ack.epoch);
        assert!(number <= published && number + 1 >= published, "epoch {number} at cycle {cycle}, {published} published");
        // node 1 is connection 0 of node 0
        let conn = u64::from(p.net.dst_mac[5]) - 2;
        let expected = number.checked_sub(1).map_or(UNLIMITED, |i| epochs[i].rates[&conn]);
        assert_eq!(u64::from(ack.rate), expected, "connection {conn}, epoch {number}");
        limited += usize::from(expected != UNLIMITED);
    }
    limited
}

/// C4: no packet goes while the bucket is empty; it is full at first, and refilled at the hint of the last acknowledgment.
/// Returns (tick, bytes with overhead) of each packet.
fn check_pacing(records: &[Record], rates: &BTreeSet<u64>) -> Vec<(u64, u64)> {
    let full = (125 * 4 * MTU) as i64;
    let (mut hint, mut tokens, mut then) = (UNLIMITED, full, 0);
    let (mut sent, mut paced) = (Vec::new(), 0);
    for r in records {
        match r.kind {
            Kind::Ack if r.get("verdict") == 0 => {
                hint = r.get("hint");
                assert!(hint == UNLIMITED || rates.contains(&hint), "C2: the hint is one that the receiver gave: {r}");
            }
            Kind::Grant => {
                let (now, bytes) = (r.get("now"), r.get("bytes") + OVERHEAD_BYTES);
                sent.push((now, bytes));
                if hint == UNLIMITED {
                    continue;
                }
                tokens = full.min(tokens + (2 * hint * (now - then).min(1023)) as i64);
                assert!(tokens > 0, "C4: {tokens} tokens at {r}");
                (tokens, then) = (tokens - (125 * bytes) as i64, now);
                paced += 1;
            }
            _ => {}
        }
    }
    assert!(paced > 100, "only {paced} packets were paced");
    sent
}

/// Two greedy senders: each gets half of what there is, and uses it.
#[test]
fn two_senders_converge_to_the_fair_share() {
    let logs = run();
    let epochs = epochs(&logs[0].records);
    let fair = rate(CAP_BYTES / 2);
    assert!(check_acknowledgments(&logs[0], &epochs) > 100, "the hint limits");

    // while both send
    let both: Vec<_> = epochs.iter().skip(SETTLED_EPOCHS).take_while(|e| e.busy == 2).collect();
    assert!(both.len() > 15, "{} epochs with two senders of {}", both.len(), epochs.len());
    for conn in [0, 1] {
        let rates: Vec<u64> = both.iter().map(|e| e.rates[&conn]).collect();
        let mean = rates.iter().sum::<u64>() / rates.len() as u64;
        println!("connection {conn}: fair {fair} Mbit/s, hints {rates:?}, mean {mean}");
        assert!(mean.abs_diff(fair) * 20 <= fair, "connection {conn}: mean {mean} Mbit/s, fair {fair}");
        // an epoch holds about four packets of a sender: one that comes just too late shows
        let near = rates.iter().filter(|r| r.abs_diff(fair) * 20 <= fair).count();
        assert!(near * 10 >= rates.len() * 9, "connection {conn}: {rates:?}, fair {fair}");
        assert!(rates.iter().all(|r| r.abs_diff(fair) * 2 <= fair), "connection {conn}: {rates:?}, fair {fair}");
    }

    let rates: BTreeSet<u64> = epochs.iter().flat_map(|e| e.rates.values().copied()).collect();
    let ticks_of = |cycle: u64| cycle / 32;
    let (from, to) = (ticks_of(both[0].cycle), ticks_of(both[both.len() - 1].cycle));
    for sender in &logs[1..] {
        let sent = check_pacing(&sender.records, &rates);
        let bytes: u64 = sent.iter().filter(|s| (from..to).contains(&s.0)).map(|s| s.1).sum();
        let mbps = bytes * 8 * 1000 / ((to - from) * 128);
        println!("a sender: {mbps} Mbit/s of {fair}");
        assert!(mbps.abs_diff(fair) * 10 <= fair, "{mbps} Mbit/s, fair {fair}");
    }
}
