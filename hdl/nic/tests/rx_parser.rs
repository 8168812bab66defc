//! rx_parser: frames of every kind, whole and broken, against the codec of mrnic_wire; simulation = Verilog.
mod rx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::rx_fields::Uses;
use mrnic_nic::rx::rx_parser::RxParser;
use mrnic_wire::{
    emit_packet, parse_packet, Ack, AckFlags, AtomicOp, Body, ConnInfo, Mak, MakCode, Msg, Msn, NetAddr, Opcode, Packet, Ppsn,
    SackVector, WriteImm,
};
use rx_support::{Bench, Rng};
use std::collections::VecDeque;

const OVERSIZE: u64 = 13;

/// What must come out for a frame: the reason of its drop, or header fields and payload.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Drop(u64),
    Good { fields: Vec<(&'static str, u64)>, sav: Option<Vec<u32>>, payload: Vec<u8> },
}

/// The codec's verdict on a frame; `uses`: the opcodes that are of use.
fn outcome(frame: &[u8], uses: Uses) -> Outcome {
    let Uses { sends, reads } = uses;
    let parsed = match parse_packet(frame) {
        Ok(parsed) => parsed,
        Err(e) => return Outcome::Drop(e.check().into()),
    };
    let p = parsed.packet;
    let supported = matches!(p.opcode(), Opcode::Write | Opcode::Nop | Opcode::Ack | Opcode::Probe) && p.body.imm().is_none();
    use Opcode::{AtomicReq, AtomicResp, ErrorResp, ReadReq, ReadResp};
    let of_reads = reads && matches!(p.opcode(), ReadReq | ReadResp | AtomicReq | AtomicResp | ErrorResp);
    if !(supported || of_reads || sends && matches!(p.opcode(), Opcode::Write | Opcode::Send)) {
        // goes on to rx_core, which drops it as part of R1
        return Outcome::Good { fields: vec![("opcode", 0), ("payload_bytes", 0)], sav: None, payload: Vec::new() };
    }
    if parsed.payload.len().next_multiple_of(4) > 8191 {
        return Outcome::Drop(OVERSIZE);
    }
    let mut fields = vec![
        ("ack_req", u64::from(p.ack_req)),
        ("ppsn", p.ppsn.get().into()),
        ("dest_qp", p.dest_qp.into()),
        ("ecn_ce", parsed.ecn_ce.into()),
        ("home", p.mph.home.into()),
        ("via", p.mph.via.into()),
        ("conn", p.mph.conn.into()),
        ("rtx", p.mph.rtx.into()),
        ("tx_ts", p.mph.tx_ts.into()),
        ("udp_src", parsed.udp_src.into()),
    ];
    let mut payload = parsed.payload.to_vec();
    let mut sav = None;
    match p.body {
        Body::Write { msg, va, rkey, length, imm } => {
            fields.extend([("opcode", 0xE0), ("msn", msg.msn.get().into()), ("first", msg.first.into())]);
            fields.extend([("last", msg.last.into()), ("va", va), ("rkey", rkey.into()), ("length", length.into())]);
            if sends {
                fields.extend([("has_imm", imm.is_some().into()), ("sol", msg.sol.into()), ("attempt", msg.attempt.into())]);
            }
            if let Some(imm) = imm {
                fields.extend([("imm", imm.immediate.into()), ("rq_seq", imm.rq_seq.into())]);
            }
        }
        Body::Send { msg, rq_seq, offset, length, imm } => {
            fields.extend([("opcode", 0xE1), ("msn", msg.msn.get().into()), ("first", msg.first.into())]);
            fields.extend([("last", msg.last.into()), ("va", offset.into()), ("length", length.into())]);
            fields.extend([("rq_seq", rq_seq.into()), ("has_imm", imm.is_some().into()), ("sol", msg.sol.into())]);
            fields.push(("attempt", msg.attempt.into()));
            fields.extend(imm.map(|imm| ("imm", u64::from(imm))));
        }
        Body::Nop { msg } => fields.extend([("opcode", 0xF7), ("msn", msg.msn.get().into())]),
        Body::Probe => fields.extend([("opcode", 0xF2)]),
        Body::Ack(a) => {
            let flags = u64::from(a.flags.rnr)
                | u64::from(a.flags.probe_reply) << 1
                | u64::from(a.flags.ts_valid) << 2
                | u64::from(a.flags.nak) << 3;
            fields.extend([("opcode", 0xF0), ("ts_echo", a.ts_echo.into()), ("service", a.service.into())]);
            fields.extend([("ce", a.ce_packets.into()), ("dup", a.dup_packets.into()), ("flags", flags)]);
            fields.extend([("rate", a.rate.into()), ("mak_qp", a.mak.qp.into()), ("mak_msn", a.mak.msn.get().into())]);
            sav = Some(a.vector.words().iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]).collect());
        }
        Body::ReadReq { msg, va, rkey, length, tag } => {
            fields.extend([("opcode", 0xE2), ("msn", msg.msn.get().into()), ("va", va), ("rkey", rkey.into())]);
            fields.extend([("length", length.into()), ("tag", tag.into())]);
        }
        Body::ReadResp { msg, offset, tag, length } => {
            fields.extend([("opcode", 0xE3), ("msn", msg.msn.get().into()), ("va", offset), ("rkey", tag.into())]);
            fields.extend([("length", length.into())]);
        }
        Body::AtomicReq { msg, op, va, rkey, swap_add, compare } => {
            fields.extend([("opcode", 0xE4), ("msn", msg.msn.get().into()), ("va", va), ("rkey", rkey.into())]);
            fields.extend([("operand", swap_add), ("compare", compare), ("fetch_add", (op == AtomicOp::FetchAdd).into())]);
        }
        Body::AtomicResp { msg, value } => {
            // the value is a payload, as it stands on the wire
            fields.extend([("opcode", 0xE5), ("msn", msg.msn.get().into())]);
            payload = value.to_be_bytes().to_vec();
        }
        Body::ErrorResp { msg, code } => {
            fields.extend([("opcode", 0xE6), ("msn", msg.msn.get().into())]);
            fields.extend([("error_code", if code == MakCode::QpError { 6 } else { 1 })]);
        }
        _ => {}
    }
    fields.push(("payload_bytes", payload.len() as u64));
    Outcome::Good { fields, sav, payload }
}

fn random_body(rng: &mut Rng) -> Body {
    let msg = Msg {
        first: rng.chance(50),
        last: rng.chance(50),
        sol: rng.chance(50),
        attempt: rng.chance(50),
        msn: Msn::new(rng.next() as u32 & 0xFF_FFFF),
    };
    let (va, rkey, length) = (rng.next(), rng.next() as u32, rng.next() as u32);
    let imm = rng.chance(50).then(|| rng.next() as u32);
    match rng.below(40) {
        0 | 24..=26 => Body::Send { msg, rq_seq: rng.next() as u32 & 0xFF_FFFF, offset: rng.next() as u32, length, imm },
        1 | 30 => Body::ReadReq { msg, va, rkey, length, tag: rng.next() as u32 },
        2 | 31..=34 => Body::ReadResp { msg, offset: va, tag: rng.next() as u32, length },
        3 | 35 => {
            let op = if rng.chance(50) { AtomicOp::CompareSwap } else { AtomicOp::FetchAdd };
            Body::AtomicReq { msg, op, va, rkey, swap_add: rng.next(), compare: rng.next() }
        }
        4 | 36..=38 => Body::AtomicResp { msg, value: va },
        5 => Body::PortStatus,
        6 => Body::Connect(ConnInfo::default()),
        7 | 27..=29 => {
            let imm = WriteImm { immediate: rng.next() as u32, rq_seq: rng.next() as u32 & 0xFF_FFFF };
            Body::Write { msg, va, rkey, length, imm: Some(imm) }
        }
        8 | 39 => Body::ErrorResp { msg, code: if rng.chance(50) { MakCode::QpError } else { MakCode::BadKey } },
        9 => Body::Nop { msg },
        10 | 11 => Body::Probe,
        12..=15 => {
            let words = std::array::from_fn(|_| rng.next());
            Body::Ack(Ack {
                ts_echo: rng.next() as u16,
                service: rng.next() as u16,
                ce_packets: rng.next() as u16,
                dup_packets: rng.next() as u16,
                rx_packets: rng.next() as u16,
                flags: AckFlags { rnr: false, probe_reply: rng.chance(50), ts_valid: rng.chance(50), nak: rng.chance(50) },
                rate: rng.next() as u32 & 0xFF_FFFF,
                epoch: rng.next() as u8,
                vector: SackVector::from_words(words),
                mak: Mak { qp: rng.next() as u32 & 0xFF_FFFF, code: MakCode::Ok, msn: Msn::new(rng.next() as u32 & 0xFF_FFFF) },
            })
        }
        _ => Body::Write { msg, va, rkey, length, imm: None },
    }
}

/// A good frame, of any form; tagged ones get their tag here, as the codec writes none.
fn random_frame(rng: &mut Rng, longest: u64) -> Vec<u8> {
    let (a, b) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let net = if rng.chance(50) {
        NetAddr::v4(a, b, [10, 0, 0, 1], [10, 0, 0, 2])
    } else {
        NetAddr::v6(a, b, [7; 16], [rng.next() as u8; 16])
    };
    let body = random_body(rng);
    let carries = matches!(body, Body::Write { .. } | Body::Send { .. } | Body::ReadResp { .. });
    let bytes = if carries { rng.below(longest + 1) } else { 0 };
    let payload: Vec<u8> = (0..bytes).map(|_| rng.next() as u8).collect();
    let mut packet = Packet { dest_qp: rng.next() as u32 & 0xFF_FFFF, ack_req: rng.chance(50), ..Packet::new(body) };
    packet.ppsn = Ppsn::new(rng.next() as u32 & 0xFF_FFFF);
    packet.mph.rtx = rng.chance(50);
    packet.mph.home = rng.next() as u8;
    packet.mph.via = rng.next() as u8;
    packet.mph.conn = rng.next() as u16;
    packet.mph.tx_ts = rng.next() as u16;
    let mut frame = vec![0; 12_000];
    let len = emit_packet(&mut frame, &net, rng.next() as u16, &packet, &payload).expect("a frame");
    frame.truncate(len);
    if rng.chance(40) {
        let ecn = rng.below(4) as u8;
        assert!(mrnic_wire::frame::set_ecn(&mut frame, ecn));
    }
    if rng.chance(30) {
        frame.splice(12..12, [0x81, 0x00, rng.next() as u8, rng.next() as u8]);
    }
    frame
}

/// The same, often damaged: a bit, a byte of the headers, an end too early, bytes behind the end.
fn damaged(rng: &mut Rng, mut frame: Vec<u8>) -> Vec<u8> {
    match rng.below(10) {
        0 => {
            let at = rng.below(frame.len() as u64) as usize;
            frame[at] ^= 1 << rng.below(8);
        }
        1 => {
            let at = 12 + rng.below(90.min(frame.len() as u64 - 12)) as usize;
            frame[at] = rng.next() as u8;
        }
        2 => frame.truncate(1 + rng.below(frame.len() as u64) as usize),
        3 | 4 => frame.extend((0..rng.below(150)).map(|_| rng.next() as u8).collect::<Vec<_>>()),
        _ => {}
    }
    frame
}

struct Rig {
    bench: Bench,
    width_bytes: usize,
    uses: Uses,
    cycles: u64,
}

impl Rig {
    fn new(config: &BuildConfig) -> Self {
        let c = *config;
        let bench = match c.data_width {
            64 => Bench::new("rx_parser_64", move || RxParser::<64, 8, 18>::new(&c)),
            128 => Bench::new("rx_parser_128", move || RxParser::<128, 16, 9>::new(&c)),
            _ => Bench::new("rx_parser_512", move || RxParser::<512, 64, 3>::new(&c)),
        };
        let mut rig = Rig { bench, width_bytes: c.data_width / 8, uses: Uses { sends: c.sends, reads: c.reads }, cycles: 0 };
        rig.bench.set("reset", 1);
        rig.bench.dut.cycles(3);
        rig.bench.set("reset", 0);
        rig
    }

    /// Sends the frames with gaps and stalls of the given chances (percent) and checks every outcome in order.
    fn run(&mut self, frames: &[Vec<u8>], rng: &mut Rng, gap: u64, stall: u64) {
        let want: Vec<Outcome> = frames.iter().map(|f| outcome(f, self.uses)).collect();
        let mut want_drops: VecDeque<_> =
            want.iter().filter_map(|w| if let Outcome::Drop(r) = w { Some(*r) } else { None }).collect();
        let mut want_headers: VecDeque<_> = want.iter().filter(|w| matches!(w, Outcome::Good { .. })).cloned().collect();
        let mut want_payloads: VecDeque<_> = want
            .iter()
            .filter_map(|w| if let Outcome::Good { payload, .. } = w { Some(payload.clone()) } else { None })
            .filter(|p| !p.is_empty())
            .collect();
        let (mut frame, mut at, mut driving) = (0, 0, false);
        let mut payload = Vec::new();
        let mut idle = 0;
        while !(want_drops.is_empty() && want_headers.is_empty() && want_payloads.is_empty()) {
            if !driving && frame < frames.len() && !rng.chance(gap) {
                let rest = &frames[frame][at..];
                let n = rest.len().min(self.width_bytes);
                let last = n == rest.len();
                let mut data = rest[..n].to_vec();
                // lanes without a byte may hold anything
                data.resize_with(self.width_bytes, || rng.next() as u8);
                self.bench.set_bytes("mac_rx_tdata", &data);
                let keep = if n == 64 { u64::MAX } else { (1 << n) - 1 };
                self.bench.set("mac_rx_tkeep", keep);
                self.bench.set("mac_rx_tlast", last.into());
                driving = true;
            }
            self.bench.set("mac_rx_tvalid", driving.into());
            self.bench.set("hdr_ready", (!rng.chance(stall)).into());
            self.bench.set("pl_ready", (!rng.chance(stall)).into());
            self.bench.eval();
            idle += 1;
            if driving && self.bench.get("mac_rx_tready") == 1 {
                driving = false;
                idle = 0;
                at += self.width_bytes;
                if at >= frames[frame].len() {
                    (frame, at) = (frame + 1, 0);
                }
            }
            if self.bench.get("commit_drop_valid") == 1 {
                let reason = self.bench.get("commit_drop_reason");
                assert_eq!(Some(reason), want_drops.pop_front(), "drop reason, near frame {frame}");
            }
            if self.bench.get("hdr_valid") == 1 && self.bench.get("hdr_ready") == 1 {
                let Some(Outcome::Good { fields, sav, .. }) = want_headers.pop_front() else {
                    panic!("a header too many, near frame {frame}")
                };
                for (name, value) in fields {
                    assert_eq!(self.bench.get(&format!("hdr_{name}")), value, "{name}, near frame {frame}");
                }
                if let Some(sav) = sav {
                    assert_eq!(self.bench.get_words("hdr_sav"), sav);
                }
            }
            if self.bench.get("pl_valid") == 1 && self.bench.get("pl_ready") == 1 {
                idle = 0;
                payload.extend(self.bench.get_bytes("pl_data", self.width_bytes));
                if self.bench.get("pl_last") == 1 {
                    let want = want_payloads.pop_front().expect("a payload too many");
                    let beats = want.len().div_ceil(self.width_bytes);
                    assert_eq!(payload.len(), beats * self.width_bytes, "beats of a payload of {} bytes", want.len());
                    assert_eq!(payload[..want.len()], want[..]);
                    payload.clear();
                }
            }
            self.bench.cycle();
            self.cycles += 1;
            assert!(
                idle < 20_000,
                "nothing moves: frame {frame}, {} headers, {} payloads left",
                want_headers.len(),
                want_payloads.len()
            );
        }
        assert_eq!(frame, frames.len(), "outcomes before their frames");
    }
}

fn widths() -> [BuildConfig; 3] {
    [build("ecp5").unwrap(), build("sim").unwrap(), build("bench512").unwrap()]
}

#[test]
fn random_and_damaged_frames_fare_as_in_the_codec() {
    // all opcodes at every width, and fewer of them at one or the other
    let all = widths().map(|c| BuildConfig { sends: true, reads: true, ..c });
    let [narrow, middle, wide] = widths();
    let fewer =
        [BuildConfig { sends: false, ..narrow }, BuildConfig { sends: true, ..middle }, BuildConfig { sends: false, ..wide }];
    for config in all.into_iter().chain(fewer) {
        for (seed, gap, stall) in [(11, 30, 30), (12, 0, 0), (13, 0, 80), (14, 70, 10)] {
            println!("width {}, SENDs {}, READs {}, seed {seed}", config.data_width, config.sends, config.reads);
            let mut rng = Rng(seed);
            let frames: Vec<_> = (0..400)
                .map(|_| {
                    let frame = random_frame(&mut rng, 300);
                    damaged(&mut rng, frame)
                })
                .collect();
            Rig::new(&config).run(&frames, &mut rng, gap, stall);
        }
    }
}

fn write_frame(rng: &mut Rng, bytes: usize) -> Vec<u8> {
    let body = Body::Write { msg: Msg::default(), va: rng.next(), rkey: 1, length: 99, imm: None };
    whole_frame(rng, bytes, body, false)
}

fn whole_frame(rng: &mut Rng, bytes: usize, body: Body, ipv6: bool) -> Vec<u8> {
    let net = match ipv6 {
        true => NetAddr::v6([2; 6], [4; 6], [7; 16], [9; 16]),
        false => NetAddr::v4([2; 6], [4; 6], [10, 0, 0, 1], [10, 0, 0, 2]),
    };
    let payload: Vec<u8> = (0..bytes).map(|_| rng.next() as u8).collect();
    let mut frame = vec![0; 70_000];
    let len = emit_packet(&mut frame, &net, 1, &Packet::new(body), &payload).expect("a frame");
    frame.truncate(len);
    frame
}

#[test]
fn an_end_at_every_byte_drops_the_frame_and_nothing_else() {
    for config in widths() {
        let mut rng = Rng(21);
        let whole = write_frame(&mut rng, 70);
        let mut frames = Vec::new();
        for end in 1..=whole.len() {
            frames.push(whole[..end].to_vec());
            frames.push(write_frame(&mut rng, 33));
        }
        Rig::new(&config).run(&frames, &mut rng, 0, 20);
    }
}

/// Every place where a payload may start, in frames that follow each other without a gap, in any order of them.
#[test]
fn payloads_of_every_kind_and_form_are_aligned() {
    for config in widths() {
        let config = BuildConfig { sends: true, reads: true, ..config };
        let mut rng = Rng(26);
        let mut frames = Vec::new();
        for _ in 0..400 {
            let (msg, length) = (Msg { msn: Msn::new(7), ..Msg::default() }, rng.next() as u32);
            let imm = rng.chance(50).then(|| rng.next() as u32);
            let body = match rng.below(4) {
                0 => Body::AtomicResp { msg, value: rng.next() },
                1 => Body::ReadResp { msg, offset: rng.next(), tag: 1, length },
                2 => Body::Send { msg, rq_seq: 0xFF_FFFE, offset: rng.next() as u32, length, imm },
                _ => {
                    let imm = imm.map(|immediate| WriteImm { immediate, rq_seq: 0xABCDEF });
                    Body::Write { msg, va: rng.next(), rkey: 1, length, imm }
                }
            };
            let atomic = matches!(body, Body::AtomicResp { .. });
            let bytes = *[0, 1, 4, 63, 64, 65, 130, 200].get(rng.below(8) as usize).expect("eight");
            let ipv6 = rng.chance(50);
            let mut frame = whole_frame(&mut rng, if atomic { 0 } else { bytes }, body, ipv6);
            if rng.chance(50) {
                frame.splice(12..12, [0x81, 0x00, 0, 5]);
            }
            frames.push(frame);
        }
        let mut rig = Rig::new(&config);
        rig.run(&frames, &mut rng, 0, 0);
        rig.run(&frames, &mut rng, 20, 60);
    }
}

#[test]
fn a_frame_larger_than_the_buffer_is_dropped() {
    for config in widths() {
        let mut rng = Rng(22);
        let mut frames = Vec::new();
        for bytes in [4096, 8188, 8192, 9000, 20_000, 60_000, 100] {
            frames.push(write_frame(&mut rng, bytes));
        }
        // longer than any IP packet: the beat counter must not wrap into a good one
        let mut endless = write_frame(&mut rng, 64);
        endless.resize(140_000, 0);
        frames.push(endless);
        frames.push(write_frame(&mut rng, 100));
        Rig::new(&config).run(&frames, &mut rng, 0, 0);
    }
}

#[test]
fn smallest_buffers_lose_nothing() {
    let config = BuildConfig { data_width: 64, ..build("sim_min").unwrap() };
    let mut rng = Rng(23);
    let frames: Vec<_> = (0..200)
        .map(|_| {
            let frame = random_frame(&mut rng, 600);
            damaged(&mut rng, frame)
        })
        .collect();
    Rig::new(&config).run(&frames, &mut rng, 0, 50);
}

#[test]
fn throughput_of_512_bits() {
    let config = build("bench512").unwrap();
    for (bytes, extra) in [(4096, 2), (64, 5)] {
        let mut rng = Rng(24);
        let frames: Vec<_> = (0..60).map(|_| write_frame(&mut rng, bytes)).collect();
        let beats: usize = frames.iter().map(|f| f.len().div_ceil(64)).sum();
        let mut rig = Rig::new(&config);
        rig.run(&frames, &mut rng, 0, 0);
        println!("{bytes} bytes: {} clocks for {beats} beats of {} frames", rig.cycles, frames.len());
        assert!(rig.cycles <= (beats + extra * frames.len() + 40) as u64);
    }
}

#[test]
fn fault_10_lets_a_wrong_icrc_pass() {
    let mut rng = Rng(25);
    let mut frame = write_frame(&mut rng, 64);
    let at = frame.len() - 10;
    frame[at] ^= 1;
    assert_eq!(outcome(&frame, Uses { sends: false, reads: false }), Outcome::Drop(11));
    for fault in [0, 10] {
        let mut rig = Rig::new(&build("sim").unwrap());
        rig.bench.set("fault", fault);
        let frame = frame.clone();
        let passes =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || rig.run(&[frame], &mut Rng(1), 0, 0))).is_err();
        assert_eq!(passes, fault == 10);
    }
}

/// Inputs of the difftest: frames of a list, in beats, with gaps; then resets anywhere.
fn parser_difftest<const W: usize, const K: usize, const NB: usize>(name: &str, cycles: u64) {
    let mut config = BuildConfig { data_width: W, sends: true, reads: true, ..build("sim").unwrap() };
    config.fifo.rx_payload_bytes = 8192;
    let mut rng = Rng(31);
    let frames: Vec<Vec<u8>> = (0..400)
        .map(|_| {
            let frame = random_frame(&mut rng, 200);
            damaged(&mut rng, frame)
        })
        .collect();
    let (mut frame, mut at) = (0usize, 0usize);
    let report = difftest!(RxParser::<W, K, NB>::new(&config), clock: clock, inputs: {
        reset, fault, mac_rx_tvalid, mac_rx_tdata, mac_rx_tkeep, mac_rx_tlast, hdr_ready, pl_ready
    })
    .top(name)
    .cycles(cycles)
    .seed(3)
    .reset_chance(0.0005)
    .sink("hdr_ready")
    .sink("pl_ready")
    .stimulus(move |random, _, inputs| {
        inputs.set("fault", if random.chance(0.05) { 10u32 } else { 0 });
        let sent = inputs.previous("mac_rx_tvalid") == 1 && inputs.sampled("mac_rx_tready") == 1;
        if sent {
            at += K;
            if at >= frames[frame].len() {
                (frame, at) = ((frame + 1) % frames.len(), 0);
            }
        }
        let waiting = inputs.previous("mac_rx_tvalid") == 1 && !sent;
        inputs.set("mac_rx_tvalid", waiting || random.chance(0.9));
        let rest = &frames[frame][at..];
        let n = rest.len().min(K);
        let mut words = vec![0u32; W / 32];
        for (i, byte) in rest[..n].iter().enumerate() {
            words[i / 4] |= u32::from(*byte) << (8 * (i % 4));
        }
        inputs.set("mac_rx_tdata", words);
        let keep = if n == 64 { u64::MAX } else { (1u64 << n) - 1 };
        inputs.set("mac_rx_tkeep", keep);
        inputs.set("mac_rx_tlast", n == rest.len());
    })
    .run();
    for port in ["hdr_valid", "pl_valid", "commit_drop_valid", "hdr_sav", "pl_last"] {
        assert!(!report.stuck().iter().any(|s| s.contains(port)), "{port} never moved");
    }
}

#[test]
fn simulation_equals_verilog_at_64_bits() {
    parser_difftest::<64, 8, 18>("rx_parser_64", 1500);
}

#[test]
fn simulation_equals_verilog_at_512_bits() {
    parser_difftest::<512, 64, 3>("rx_parser_512", 400);
}
