//! Random packets, addresses and payloads for property tests, for any profile.

use mrnic_wire::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases in every run; `PROPTEST_RNG_SEED` chooses others.
pub fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(0x6D72_6E69);
    }
    println!("PROPTEST_RNG_SEED: {:?}", config.rng_seed);
    config
}

fn bits24() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(0xFF_FFFF), 0..0x100_0000u32]
}

fn msg() -> impl Strategy<Value = Msg> {
    (any::<[bool; 4]>(), bits24()).prop_map(|([first, last, sol, attempt], msn)| Msg {
        first,
        last,
        sol,
        attempt,
        msn: Msn::new(msn),
    })
}

fn mak_code() -> impl Strategy<Value = MakCode> {
    use MakCode::*;
    let named = prop::sample::select(vec![Ok, BadKey, Access, Bounds, BadQp, BadOpcode, QpError, MsgLength]);
    prop_oneof![named, (8..=255u8).prop_map(Reserved)]
}

fn vector(bits: u32) -> impl Strategy<Value = SackVector> {
    let ones = SackVector::from_words([u64::MAX; 4]);
    let any_words = prop_oneof![Just(ones), any::<[u64; 4]>().prop_map(SackVector::from_words)];
    any_words.prop_map(move |v| v.shifted_down(SackVector::MAX_BITS - bits))
}

fn ack(vector_bits: u32) -> impl Strategy<Value = Ack> {
    let counters = any::<(u16, u16, u16, u16, u16, u8)>();
    let flags = any::<(bool, bool, bool, bool)>();
    (counters, flags, bits24(), vector(vector_bits), (bits24(), mak_code(), bits24())).prop_map(
        |(c, f, rate, vector, (qp, code, msn))| Ack {
            ts_echo: c.0,
            service: c.1,
            ce_packets: c.2,
            dup_packets: c.3,
            rx_packets: c.4,
            epoch: c.5,
            flags: AckFlags { rnr: f.0, probe_reply: f.1, ts_valid: f.2, nak: f.3 },
            rate,
            vector,
            mak: Mak { qp, code, msn: Msn::new(msn) },
        },
    )
}

fn conn_info() -> impl Strategy<Value = ConnInfo> {
    any::<(u8, u8, u16, u8, u16, u8, u32)>().prop_map(|c| ConnInfo {
        version: c.0,
        paths: c.1,
        vector_bits: c.2,
        mtu_log2: c.3,
        conn: c.4,
        epoch: c.5,
        start_ppsn_seed: c.6,
    })
}

fn body(vector_bits: u32) -> impl Strategy<Value = Body> {
    let numbers = any::<(u64, u32, u32, u32, u64, u64)>();
    let imm = prop::option::of(any::<u32>()).boxed();
    prop_oneof![
        (msg(), numbers, imm.clone(), bits24()).prop_map(|(msg, n, imm, rq_seq)| Body::Write {
            msg,
            va: n.0,
            rkey: n.1,
            length: n.2,
            imm: imm.map(|immediate| WriteImm { immediate, rq_seq })
        }),
        (msg(), numbers, imm, bits24()).prop_map(|(msg, n, imm, rq_seq)| Body::Send {
            msg,
            rq_seq,
            offset: n.1,
            length: n.2,
            imm
        }),
        (msg(), numbers).prop_map(|(msg, n)| Body::ReadReq { msg, va: n.0, rkey: n.1, length: n.2, tag: n.3 }),
        (msg(), numbers).prop_map(|(msg, n)| Body::ReadResp { msg, offset: n.0, tag: n.1, length: n.2 }),
        (msg(), numbers, any::<bool>()).prop_map(|(msg, n, add)| {
            let op = if add { AtomicOp::FetchAdd } else { AtomicOp::CompareSwap };
            Body::AtomicReq { msg, op, va: n.0, rkey: n.1, swap_add: n.4, compare: n.5 }
        }),
        (msg(), any::<u64>()).prop_map(|(msg, value)| Body::AtomicResp { msg, value }),
        (msg(), mak_code()).prop_map(|(msg, code)| Body::ErrorResp { msg, code }),
        msg().prop_map(|msg| Body::Nop { msg }),
        ack(vector_bits).prop_map(Body::Ack),
        Just(Body::Probe),
        Just(Body::PortStatus),
        conn_info().prop_map(Body::Connect),
        conn_info().prop_map(Body::Accept),
        conn_info().prop_map(Body::Close),
    ]
}

/// Any packet that profile `P` can carry.
pub fn packet<P: Profile>() -> impl Strategy<Value = Packet> {
    let flags = any::<(bool, bool, bool, bool, bool)>();
    let path = any::<(u8, u16, u16, u8, u16)>();
    (flags, path, bits24(), bits24(), body(P::VECTOR_BITS)).prop_map(|(f, p, dest_qp, ppsn, body)| Packet {
        se: f.0,
        m: f.1,
        pkey: p.4,
        dest_qp,
        ack_req: f.2,
        ppsn: Ppsn::new(ppsn),
        mph: PathHeader { rtx: f.3, moved: f.4, home: p.0, tx_ts: p.1, conn: p.2, via: p.3 },
        body,
    })
}

pub fn net() -> impl Strategy<Value = NetAddr> {
    let macs = any::<([u8; 6], [u8; 6])>();
    prop_oneof![
        (macs, any::<([u8; 4], [u8; 4])>()).prop_map(|(m, ip)| NetAddr::v4(m.0, m.1, ip.0, ip.1)),
        (macs, any::<([u8; 16], [u8; 16])>()).prop_map(|(m, ip)| NetAddr::v6(m.0, m.1, ip.0, ip.1)),
    ]
}

/// A packet with as much payload as its opcode allows.
pub fn packet_and_payload<P: Profile>() -> impl Strategy<Value = (Packet, Vec<u8>)> {
    (packet::<P>(), prop::collection::vec(any::<u8>(), 0..300)).prop_map(|(packet, mut payload)| {
        if !P::carries_payload(packet.opcode()) {
            payload.clear();
        }
        (packet, payload)
    })
}
