//! rx_checks against docs/wire.md ("What a receiver checks, in this order") in plain integers, one frame a clock;
//! simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::rx::rx_checks::{RxChecks, RxRecord, REASON_OVERSIZE, REASON_UNSUPPORTED};
use mrnic_nic::rx::rx_fields::{RxChecked, Uses};
use mrnic_nic::rx::rx_rows::{RxAckHeader, RxHeader, RxRequestHeader};
use mrnic_wire::{Opcode, OpenMr0, Profile};
use rx_support::{Bench, Rng};
use std::collections::VecDeque;

/// What the checks look at.
#[derive(Debug, Clone)]
struct Case {
    vlan: bool,
    ipv4: bool,
    ipv6: bool,
    frame_bytes: i64,
    /// The length field of the IP header.
    ip_length: i64,
    ip_good: bool,
    ip_words: [u16; 10],
    protocol: u64,
    port: u64,
    udp_length: i64,
    opcode: u64,
    bth_good: bool,
    path_header_good: bool,
    pad: i64,
    imm: bool,
    stored: bool,
}

fn imm_counts(opcode: u64, imm: bool) -> bool {
    imm && matches!(OpenMr0::opcode_from(opcode as u8), Some(Opcode::Write | Opcode::Send))
}

/// Sets the checksum field (word 5) to what RFC 791 asks for.
fn with_checksum(words: &mut [u16; 10]) {
    words[5] = 0;
    words[5] = !ones_sum(words);
}

fn ones_sum(words: &[u16; 10]) -> u16 {
    let mut sum: u32 = words.iter().map(|w| u32::from(*w)).sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

/// A good frame, in which perhaps one or two things are wrong.
fn case(rng: &mut Rng) -> Case {
    let known = [0xE0, 0xE0, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xF0, 0xF0, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7];
    let opcode = pick(rng, &known);
    let imm = rng.chance(30);
    let ipv6 = rng.chance(50);
    let vlan = rng.chance(30);
    let kind = OpenMr0::opcode_from(opcode as u8).expect("an opcode of the layout");
    let headers = OpenMr0::header_len(kind, imm_counts(opcode, imm)) as i64;
    let payload = if OpenMr0::carries_payload(kind) {
        pick(rng, &[0, 0, 1, 2, 3, 4, 5, 63, 256, 1024, 4096, 8187, 8188, 8189, 8191, 8192, 9000])
    } else {
        0
    };
    let pad = (4 - payload % 4) % 4;
    let udp_length = 8 + headers + payload + pad + 4;
    let total = udp_length + if ipv6 { 40 } else { 20 };
    let mut c = Case {
        vlan,
        ipv4: !ipv6,
        ipv6,
        frame_bytes: 14 + if vlan { 4 } else { 0 } + total + pick(rng, &[0, 0, 0, 1, 18]),
        ip_length: if ipv6 { udp_length } else { total },
        ip_good: true,
        ip_words: std::array::from_fn(|_| rng.next() as u16),
        protocol: 17,
        port: 4791,
        udp_length,
        opcode,
        bth_good: true,
        path_header_good: true,
        pad,
        imm,
        stored: rng.chance(50),
    };
    match rng.below(12) {
        0 => c.ip_words = [0xFFFF; 10],
        1 => c.ip_words = [0xFF00, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0],
        _ => with_checksum(&mut c.ip_words),
    }
    for _ in 0..pick(rng, &[0, 0, 1, 1, 1, 2]) {
        match rng.below(16) {
            0 => (c.ipv4, c.ipv6) = (false, false),
            1 => c.frame_bytes = pick(rng, &[0, 14, 41, 42, 45, 46, 61, 62, 65, 66, total, total + 13, total + 17, 1 << 21]),
            2 => c.frame_bytes -= 1 + rng.below(20) as i64,
            3 => c.ip_good = false,
            4 => c.ip_length = pick(rng, &[0, 7, 8, 27, 28, 0xFFFF, c.ip_length + 1, c.ip_length - 1, c.ip_length + 4]),
            5 => c.ip_words[rng.below(10) as usize] ^= 1 << rng.below(16),
            6 => c.ip_words = pick(rng, &[[0; 10], [0xFFFF; 10], [1; 10]]),
            7 => c.protocol = pick(rng, &[0, 6, 16, 255]),
            8 => c.port = pick(rng, &[0, 4790, 4792, 0xFFFF]),
            9 => c.udp_length = pick(rng, &[0, 8, 28, 31, 32, 0xFFFF, c.udp_length - 1, c.udp_length + 4]),
            10 => {
                // as long as both lengths agree, it is the headers that do not fit
                let by = pick(rng, &[-40, -8, -4, 4, 8]);
                c.udp_length += by;
                c.ip_length += by;
            }
            11 => c.opcode = pick(rng, &[0, 0xE6, 0xEF, 0xF1, 0xF8, 0xFF, 0x60, 0x70, 0x0A]),
            12 => c.bth_good = false,
            13 => c.path_header_good = false,
            14 => c.pad = pick(rng, &[0, 1, 2, 3]),
            _ => c.imm = !c.imm,
        }
    }
    c.udp_length = c.udp_length.clamp(0, 0xFFFF);
    c.ip_length = c.ip_length.clamp(0, 0xFFFF);
    c.frame_bytes = c.frame_bytes.max(0);
    c
}

/// The number of the first failed check, and what a good frame carries: payload, or the value of an atomic.
fn reference(c: &Case, uses: Uses) -> (u64, i64) {
    let ip_at = if c.vlan { 18 } else { 14 };
    let ip_header = if c.ipv6 { 40 } else { 20 };
    let total = c.ip_length + if c.ipv6 { 40 } else { 0 };
    if !c.ipv4 && !c.ipv6 || c.frame_bytes < ip_at + ip_header + 8 {
        return (1, 0);
    }
    if !c.ip_good || total < ip_header + 8 || total > c.frame_bytes - ip_at {
        return (2, 0);
    }
    if c.ipv4 && ones_sum(&c.ip_words) != 0xFFFF {
        return (3, 0);
    }
    if c.protocol != 17 {
        return (4, 0);
    }
    if c.port != 4791 {
        return (5, 0);
    }
    if c.udp_length != total - ip_header || c.udp_length < 32 || c.udp_length % 4 != 0 {
        return (6, 0);
    }
    let Some(opcode) = OpenMr0::opcode_from(c.opcode as u8).filter(|_| c.bth_good) else { return (7, 0) };
    if !c.path_header_good {
        return (8, 0);
    }
    let region = c.udp_length - 8 - OpenMr0::header_len(opcode, imm_counts(c.opcode, c.imm)) as i64 - 4;
    if region < 0 || region > 0 && !OpenMr0::carries_payload(opcode) {
        return (9, 0);
    }
    if c.pad > region {
        return (10, 0);
    }
    let supported = matches!(opcode, Opcode::Write | Opcode::Nop | Opcode::Ack | Opcode::Probe);
    let supported = supported && !(opcode == Opcode::Write && c.imm);
    let of_sends = uses.sends && matches!(opcode, Opcode::Write | Opcode::Send);
    if !(supported || of_sends || uses.reads && is_of_reads(opcode)) {
        return (REASON_UNSUPPORTED, 0);
    }
    // no MTU is above 4096; lengths of a packet have 13 bits
    if region > 8191 {
        return (REASON_OVERSIZE, 0);
    }
    match opcode {
        Opcode::Write | Opcode::Send | Opcode::ReadResp => (0, region - c.pad),
        Opcode::AtomicResp => (0, 8),
        _ => (0, 0),
    }
}

fn is_of_reads(opcode: Opcode) -> bool {
    use Opcode::{AtomicReq, AtomicResp, ErrorResp, ReadReq, ReadResp};
    matches!(opcode, ReadReq | ReadResp | AtomicReq | AtomicResp | ErrorResp)
}

fn ports(c: &Case, rng: &mut Rng) -> Vec<(&'static str, Vec<u32>)> {
    let mut header = Packed::random::<RxHeader>(rng);
    header.set("opcode", c.opcode);
    let mut checked = Packed::zero::<RxChecked>();
    for (name, value) in [
        ("length", c.ip_length as u64),
        ("protocol", c.protocol),
        ("port", c.port),
        ("udp_length", c.udp_length as u64),
        ("pad", c.pad as u64),
        ("imm", c.imm.into()),
        ("ip_good", c.ip_good.into()),
        ("bth_good", c.bth_good.into()),
        ("path_header_good", c.path_header_good.into()),
    ] {
        checked.set(name, value);
    }
    // first byte most significant
    let ip_words = (0..5).map(|k| u32::from(c.ip_words[8 - 2 * k]) << 16 | u32::from(c.ip_words[9 - 2 * k])).collect();
    vec![
        ("valid", vec![1]),
        ("header", header.words().to_vec()),
        ("ack", Packed::random::<RxAckHeader>(rng).words().to_vec()),
        ("request", Packed::random::<RxRequestHeader>(rng).words().to_vec()),
        ("checked", checked.words().to_vec()),
        ("ipv4_words", ip_words),
        ("vlan", vec![c.vlan.into()]),
        ("ipv4", vec![c.ipv4.into()]),
        ("ipv6", vec![c.ipv6.into()]),
        ("stored", vec![c.stored.into()]),
        ("frame_bytes", vec![c.frame_bytes as u32]),
    ]
}

/// Clocks from a frame to its record.
const CLOCKS: usize = 4;

#[test]
fn the_first_failed_check_decides() {
    the_first_failed_check(Uses { sends: false, reads: false });
}

#[test]
fn sends_and_immediates_pass_where_they_are_of_use() {
    the_first_failed_check(Uses { sends: true, reads: false });
}

#[test]
fn reads_and_atomics_pass_where_they_are_of_use() {
    the_first_failed_check(Uses { sends: true, reads: true });
}

fn the_first_failed_check(uses: Uses) {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("rx_checks", move || RxChecks::new(uses));
    let mut counts = [0u64; 14];
    let (mut good_sends, mut good_values) = (0, 0);
    // frames under judgement, the oldest first; each with its header, ACK and request
    let mut running: VecDeque<Option<(Case, Packed, Packed, Packed)>> = vec![None; CLOCKS].into();
    let mut density = 100;
    for clock in 0..12_000 {
        if clock % 100 == 0 {
            density = pick(&mut rng, &[100, 100, 50, 5]);
        }
        let resets = rng.below(500) == 0;
        let c = case(&mut rng);
        let ports = ports(&c, &mut rng);
        let header = Packed::from_words::<RxHeader>(&ports[1].1);
        let ack = Packed::from_words::<RxAckHeader>(&ports[2].1);
        let request = Packed::from_words::<RxRequestHeader>(&ports[3].1);
        for (name, value) in &ports {
            b.set_words(name, value);
        }
        let valid = rng.chance(density);
        b.set("valid", valid.into());
        b.set("reset", resets.into());
        b.eval();
        let oldest = running.pop_front().expect("as many as clocks");
        assert_eq!(b.get("record_valid"), u64::from(oldest.is_some()), "clock {clock}");
        if let Some((c, header, ack, request)) = oldest {
            let record = Packed::from_words::<RxRecord>(&b.get_words("record"));
            let (reason, payload_bytes) = reference(&c, uses);
            assert_eq!(record.get("reason"), reason, "clock {clock}: {c:?}");
            assert_eq!(record.get("stored"), u64::from(c.stored), "clock {clock}: {c:?}");
            counts[reason as usize] += 1;
            if reason == 0 {
                good_sends += u64::from(c.opcode == 0xE1);
                good_values += u64::from(c.opcode == 0xE5);
                assert_eq!(record.get("header.payload_bytes"), payload_bytes as u64, "clock {clock}: {c:?}");
                for name in ["opcode", "ppsn", "dest_qp", "home", "via", "conn", "tx_ts", "msn", "va", "rkey", "length"] {
                    assert_eq!(record.get(&format!("header.{name}")), header.get(name), "clock {clock}: {name}");
                }
                for name in ["ts_echo", "service", "ce", "dup", "flags", "rate", "mak_qp", "mak_code", "mak_msn"] {
                    assert_eq!(record.get(&format!("ack.{name}")), ack.get(name), "clock {clock}: {name}");
                }
                for name in ["tag", "operand", "compare", "fetch_add", "error_code"] {
                    assert_eq!(record.get(&format!("request.{name}")), request.get(name), "clock {clock}: {name}");
                }
                assert_eq!(record.vector("ack.sav"), ack.vector("sav"), "clock {clock}");
            }
        }
        b.cycle();
        running.push_back(valid.then_some((c, header, ack, request)));
        if resets {
            // in the middle of the work: no record of what was under judgement
            running = vec![None; CLOCKS].into();
        }
    }
    assert_eq!(good_values > 20, uses.reads, "{good_values} good values of atomics");
    assert_eq!(good_sends > 20, uses.sends, "{good_sends} good SENDs");
    for (reason, n) in counts.iter().enumerate() {
        // 11 is the ICRC, judged elsewhere
        assert!((reason == 11) == (*n == 0) && (reason == 11 || *n > 20), "{counts:?}");
    }
}

#[test]
fn simulation_equals_verilog() {
    let report =
        difftest!(RxChecks::new(Uses { sends: true, reads: true }), clock: clock, inputs: { reset, valid, ipv4_words, vlan, ipv4, ipv6, stored, frame_bytes })
            .input_as("header", |b| &mut b.header, rows::rx_header)
            .input_as("ack", |b| &mut b.ack, rows::rx_ack_header)
            .input_as("request", |b| &mut b.request, rows::rx_request_header)
            .input_as("checked", |b| &mut b.checked, rows::rx_checked)
            .top("rx_checks")
            .cycles(1000)
            .seed(1)
            .stimulus(|random, _, inputs| {
                if random.chance(0.9) {
                    let mut rng = Rng(random.u64() | 1);
                    let c = case(&mut rng);
                    ports(&c, &mut rng).into_iter().for_each(|(name, value)| inputs.set(name, value));
                }
                inputs.set("valid", random.chance(0.8));
            })
            .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
