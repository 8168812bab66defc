//! Records as the engine makes them, from the steps of a model.
//!
//! In: a step and the model after it. Out: the fields of its record. Guarantees: fields that a step does not define are 0.
use crate::twin::PATHS;
use mrnic_lockstep::{Kind, Record};
use mrnic_model::{AckStep, AckVerdict, Grant, Nic, OpenMr0, Profile, RxClass, RxStep, TimerStep};
use mrnic_wire::{Body, Parsed};

type Fields = Vec<(&'static str, u64)>;

/// A record of a step at tick `now`.
pub fn record(kind: Kind, now: u32, fields: &[(&str, u64)], wide: &[u8]) -> Record {
    for (name, _) in fields {
        assert!(kind.fields().contains(name), "a {kind} record has no field {name}");
    }
    let value = |name: &&str| fields.iter().find(|f| f.0 == *name).map_or(0, |f| f.1);
    Record {
        kind,
        // 128 ns are 32 cycles
        cycle: u64::from(now) * 32,
        values: kind.fields().iter().map(value).collect(),
        wide: wide.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect(),
    }
}

fn rx_state(nic: &Nic<OpenMr0>, path: u8) -> Fields {
    let p = nic.rx_path(0, path).unwrap();
    vec![
        ("cum", p.cum.get().into()),
        ("high", p.high.get().into()),
        ("ce", p.ce.into()),
        ("dup", p.dup.into()),
        ("rx", p.rx.into()),
        ("unacked", p.unacked.into()),
    ]
}

/// A frame was received.
pub fn rx(nic: &Nic<OpenMr0>, now: u32, frame: &Parsed<'_>, step: &RxStep) -> Fields {
    let p = &frame.packet;
    let mut f: Fields = vec![
        ("now", now.into()),
        ("conn", p.mph.conn.into()),
        ("home", p.mph.home.into()),
        ("via", p.mph.via.into()),
        ("ppsn", p.ppsn.get().into()),
        ("opcode", OpenMr0::opcode_value(p.opcode()).into()),
        ("bytes", frame.payload.len() as u64),
    ];
    match step {
        RxStep::Dropped { .. } => f.push(("kind", 3)),
        RxStep::AckQueued { .. } => f.push(("kind", 2)),
        RxStep::Probe { home, .. } => {
            f.extend([("kind", 1), ("acked", 1)]);
            f.extend(rx_state(nic, *home));
        }
        RxStep::Data { home, class, place, nak, rnr, ack, .. } => {
            let class = match class {
                RxClass::New => 0,
                RxClass::Duplicate => 1,
                RxClass::OutOfWindow => 2,
            };
            f.extend([("kind", 0), ("class", class), ("code", (*nak).into()), ("rnr", rnr.is_some().into())]);
            f.push(("acked", ack.is_some().into()));
            if let Some(p) = place {
                f.extend([("placed", 1), ("addr", p.addr)]);
            }
            if let Body::Write { .. } | Body::Send { .. } = p.body {
                f.push(("exp", nic.recv_stream(p.dest_qp).unwrap().exp.get().into()));
            }
            f.extend(rx_state(nic, *home));
        }
    }
    f
}

/// A held acknowledgment was sent.
pub fn rx_timer(nic: &Nic<OpenMr0>, now: u32, path: u8) -> Fields {
    let mut f: Fields = vec![("kind", 4), ("now", now.into()), ("home", path.into()), ("acked", 1)];
    f.extend(rx_state(nic, path));
    f
}

fn tx_state(nic: &Nic<OpenMr0>, path: u8) -> Fields {
    let p = nic.tx_path(0, path).unwrap();
    vec![
        ("state", p.state as u64),
        ("next", p.next.get().into()),
        ("cum", p.cum.get().into()),
        ("pipe", p.pipe().into()),
        ("window", p.win.window.into()),
        ("credit", p.win.credit.into()),
        ("srtt8", p.srtt8.into()),
        ("var4", p.var4.into()),
        ("backoff", p.backoff.into()),
        ("reo_tol", p.reo_tol.into()),
        ("mark", p.mark.get().into()),
        ("gen_open", p.gen_open.into()),
        ("probe_pending", p.probe_pending.into()),
    ]
}

/// An acknowledgment was applied.
pub fn ack(nic: &Nic<OpenMr0>, now: u32, step: &AckStep) -> Fields {
    let o = &step.outcome;
    let mut f: Fields = vec![("now", now.into()), ("home", step.home.into()), ("verdict", o.verdict as u64)];
    if o.verdict == AckVerdict::Applied {
        f.extend([("acked", o.acked.into()), ("lost_l1", o.lost_l1.count().into()), ("lost_l2", o.lost_l2.count().into())]);
        f.extend(tx_state(nic, step.home));
        f.push(("hint", nic.tx_conn(0).unwrap().hint.into()));
    }
    f
}

/// A timer acted.
pub fn timer(nic: &Nic<OpenMr0>, now: u32, path: u8, step: &TimerStep) -> Fields {
    let mut f: Fields = vec![("now", now.into()), ("path", path.into()), ("action", step.action as u64)];
    f.push(("port", nic.tx_path(0, path).unwrap().port.into()));
    f.push(("probe_ppsn", step.probe.map_or(0, |p| p.ppsn.into())));
    f.extend(tx_state(nic, path));
    f
}

/// What a slot reads before it decides: bytes in flight, whether another message waits.
pub fn before_grant(nic: &Nic<OpenMr0>) -> (u32, bool) {
    let c = nic.tx_conn(0).unwrap();
    (c.inflight_bytes(), c.fifo.len() > 1)
}

/// A slot was granted.
pub fn grant(nic: &Nic<OpenMr0>, now: u32, before: (u32, bool), step: &Grant) -> Option<Fields> {
    let mut f: Fields = vec![("now", now.into()), ("inflight_bytes", before.0.into()), ("more", before.1.into())];
    match step {
        Grant::Blocked(_) => return None,
        Grant::SetAside { qpn, msn } => f.extend([("kind", 3), ("qp", (*qpn).into()), ("msn", (*msn).into())]),
        Grant::SkippedMessage { qpn, msn } => f.extend([("kind", 2), ("qp", (*qpn).into()), ("msn", (*msn).into())]),
        Grant::Packet(p) => {
            assert!(p.home < PATHS);
            let path = nic.tx_path(0, p.home).unwrap();
            f.extend([
                ("kind", p.rtx.into()),
                ("home", p.home.into()),
                ("via", p.via.into()),
                ("ppsn", p.ppsn.into()),
                ("rtx", p.rtx.into()),
                ("moved", p.moved.into()),
                ("ack_req", p.ack_req.into()),
                ("nop", p.nop.into()),
                ("qp", p.qpn.into()),
                ("msn", p.msn.into()),
                ("index", p.index.into()),
                ("bytes", p.len.into()),
                ("port", p.udp_port.into()),
                ("next", path.next.get().into()),
                ("pipe", path.pipe().into()),
                ("window", path.win.window.into()),
                ("rr", nic.tx_conn(0).unwrap().rr.into()),
            ]);
        }
    }
    Some(f)
}
