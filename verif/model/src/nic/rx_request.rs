//! A new packet of a request: WRITE, SEND, READ_REQ, ATOMIC_REQ (R3..R7, Q1..Q4, D2, N4).
//! In: its headers and payload. Out: what was placed, or the refusal. Guarantees that a refused packet changes no message
//! context and writes nothing.

use mrnic_wire::{AtomicOp, Body, MakCode, Msg, Packet};

use super::rnr_step::RNR_BUSY;
use super::rx_step::{Accepted, Place, Received, Refusal, RxEffect, RxInputs};
use super::wqe_step::LENGTH_MAX;
use super::Nic;
use crate::config::{QpState, Stage};
use crate::error::MemoryError;
use crate::event::{AsyncEvent, Event};
use crate::keys::Right;
use crate::memory::HostMemory;
use crate::rx::check::fault_code;
use crate::rx::message::{Arrival, RxKind};
use crate::rx::recv_queue::{Found, RecvState};
use crate::rx::requests::{Operation, Request};
use crate::sge::pieces;
use crate::wqe::Status;
use crate::{CongestionControl, Profile};

/// Shortest RNR time of [`RNR_BUSY`], 10 us.
const BUSY_TIMER: u8 = 1;

/// What the checks look at.
#[derive(Clone, Copy)]
struct Incoming {
    msg: Msg,
    /// Bytes of the whole message.
    length: u32,
    va: u64,
    rkey: u32,
    /// Of a SEND.
    offset: u32,
    imm: Option<u32>,
    /// Of a consuming message.
    rq_seq: Option<u32>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Write,
    Send,
    Read { tag: u32 },
    Atomic { op: AtomicOp, swap_add: u64, compare: u64 },
}

impl Incoming {
    fn of(packet: &Packet) -> Option<Incoming> {
        let none = Incoming {
            msg: packet.body.msg()?,
            length: 0,
            va: 0,
            rkey: 0,
            offset: 0,
            imm: packet.body.imm(),
            rq_seq: None,
            kind: Kind::Write,
        };
        Some(match packet.body {
            Body::Write { va, rkey, length, imm, .. } => {
                Incoming { va, rkey, length, rq_seq: imm.map(|imm| imm.rq_seq), ..none }
            }
            Body::Send { rq_seq, offset, length, .. } => {
                Incoming { offset, length, rq_seq: Some(rq_seq), kind: Kind::Send, ..none }
            }
            Body::ReadReq { va, rkey, length, tag, .. } => Incoming { va, rkey, length, kind: Kind::Read { tag }, ..none },
            Body::AtomicReq { op, va, rkey, swap_add, compare, .. } => {
                Incoming { va, rkey, length: 8, kind: Kind::Atomic { op, swap_add, compare }, ..none }
            }
            _ => return None,
        })
    }
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// R3, R5, R7 for a new packet of a request.
    pub(super) fn accept_request(
        &mut self,
        received: &Received<'_>,
        inputs: &RxInputs,
        mem: &mut impl HostMemory,
    ) -> Result<Accepted, Refusal> {
        let packet = received.packet;
        let (conn, qpn, home) = (packet.mph.conn, packet.dest_qp, packet.mph.home);
        let bad_qp = Refusal { code: MakCode::BadQp, qpn: None, rnr: None };
        let Some(incoming) = Incoming::of(packet) else { return Ok(Accepted::default()) };
        // R3: the QP is open and of this connection.
        let Some(qp) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return Err(bad_qp) };
        if qp.state() == QpState::Init {
            // Q2: not yet ready to receive.
            return Err(Refusal::rnr(qp.config.min_rnr_timer));
        }
        if !qp.is_of(conn) {
            return Err(bad_qp);
        }
        // R10: the QP of the last request whose QP was known.
        if let Some(connection) = self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut) {
            connection.rx_paths[home as usize].last_qp = Some(qpn);
        }
        let refuse = |code| Refusal { code, qpn: Some(qpn), rnr: None };
        let qp_error = inputs.qp_error_seen.map_or(qp.send.in_error(), |seen| seen && (qp.send.in_error() || qp.closing));
        if qp_error {
            return Err(refuse(MakCode::QpError));
        }
        let msn = incoming.msg.msn;
        if self.config.stage == Stage::Full && qp.state == QpState::Rtr && !qp.established {
            qp.established = true;
            self.async_events.push_back(AsyncEvent::CommEst { qpn });
        }
        // N4: the message is complete already; its sender has begun it again without need.
        if self.config.stage != Stage::Write && qp.recv.is_late(msn) {
            self.counters.rx_late += 1;
            return Ok(Accepted::default());
        }
        let mtu = self.connection(conn).map_err(|_| bad_qp)?.mtu();
        let qp = self.qp(qpn).map_err(|_| bad_qp)?;
        let payload = received.payload_len;
        let attempt = incoming.msg.attempt && self.config.stage != Stage::Write;
        let length = incoming.length;
        let fits = payload <= mtu && qp.recv.fits(msn, attempt, payload, length);
        // Q2: the receive comes before the length.
        let recv = match incoming.rq_seq {
            Some(rq_seq) => Some(self.find_receive(qpn, rq_seq, msn.get(), fits)?),
            None => None,
        };
        if !fits {
            return Err(refuse(MakCode::MsgLength));
        }
        let (place, kind) = match incoming.kind {
            Kind::Write => (self.place_write(&incoming, qpn, received, mem).map_err(refuse)?, RxKind::Plain),
            Kind::Send => (self.place_send(&incoming, qpn, recv, received, mem).map_err(refuse)?, RxKind::Plain),
            Kind::Read { .. } | Kind::Atomic { .. } => (None, self.accept_asking(&incoming, conn, qpn, inputs)?),
        };
        let kind = incoming.rq_seq.map_or(kind, |rq_seq| RxKind::Consuming { rq_seq });
        let Ok(qp) = self.qp_mut(qpn) else { return Err(bad_qp) };
        if let Some(recv) = recv.and_then(|index| qp.receives.at_mut(index)) {
            recv.byte_len = length;
            recv.imm = incoming.imm;
            recv.solicited = incoming.msg.sol;
            recv.by_write = incoming.kind == Kind::Write;
        }
        qp.recv.accept(&Arrival { msn, attempt, payload, length, kind });
        if let Ok(connection) = self.connection_mut(conn) {
            connection.rx_use.placed(payload);
        }
        self.counters.rx_placed_bytes += u64::from(payload);
        self.pass_messages(qpn);
        Ok(Accepted { place, effect: RxEffect::Stream { qpn } })
    }

    /// R7, Q5: `exp` passes what is complete, up to a request (D3).
    pub(super) fn pass_messages(&mut self, qpn: u32) {
        let mut completed = 0;
        if let Ok(qp) = self.qp_mut(qpn) {
            while let Some(kind) = qp.recv.advance() {
                completed += 1;
                if let RxKind::Consuming { rq_seq } = kind {
                    qp.receives.complete(rq_seq);
                }
            }
        }
        self.counters.rx_messages += u64::from(completed);
        if completed > 0 {
            self.emit(Event::Received { qpn, messages: completed });
        }
    }

    /// Q1, Q2: the receive of a consuming message; of a shared queue it is taken now.
    fn find_receive(&mut self, qpn: u32, rq_seq: u32, msn: u32, fits: bool) -> Result<usize, Refusal> {
        let wrong = Refusal { code: MakCode::MsgLength, qpn: Some(qpn), rnr: None };
        let Some(qp) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return Err(wrong) };
        let rnr = Refusal::rnr(qp.config.min_rnr_timer);
        let index = match qp.receives.find(rq_seq, msn) {
            Found::Recv(index) => index,
            Found::Missing => return Err(rnr),
            Found::Wrong => return Err(wrong),
            Found::Untaken => {
                let Some(srq) = qp.config.srq else { return Err(rnr) };
                let Some(queue) = self.srqs.get_mut(srq as usize).and_then(Option::as_mut) else { return Err(rnr) };
                if queue.queue.is_empty() {
                    return Err(rnr);
                }
                // What does not fit, or lies outside of the window, shall not cost a receive.
                if !fits {
                    return Err(wrong);
                }
                // Q1: the last receive is only for the message that completes next in its stream.
                if queue.queue.len() == 1 && qp.recv.exp.get() != msn {
                    return Err(Refusal::rnr(RNR_BUSY | BUSY_TIMER));
                }
                let (recv, limit_reached) = queue.take().ok_or(rnr)?;
                if limit_reached {
                    self.async_events.push_back(AsyncEvent::SrqLimitReached { srq });
                }
                qp.receives.put(rq_seq, recv)
            }
        };
        if let Some(recv) = qp.receives.at_mut(index) {
            recv.state = RecvState::Taken;
            recv.msn = msn;
        }
        Ok(index)
    }

    /// R3 and R5 of a WRITE.
    fn place_write(
        &mut self,
        incoming: &Incoming,
        qpn: u32,
        received: &Received<'_>,
        mem: &mut impl HostMemory,
    ) -> Result<Option<Place>, MakCode> {
        let Ok(qp) = self.qp(qpn) else { return Err(MakCode::BadQp) };
        // D2: what the QP allows.
        if !qp.config.access.remote_write {
            return Err(MakCode::Access);
        }
        // A zero-length message touches no key.
        if incoming.length == 0 {
            return Ok(None);
        }
        let len = received.payload_len;
        let addr = self.keys.translate(incoming.rkey, qp.pd, Right::RemoteWrite, incoming.va, len).map_err(fault_code)?;
        // R5: payload first.
        write_bytes(received, 0, addr, len, mem).map_err(|_| MakCode::Bounds)?;
        Ok((len > 0).then_some(Place { addr, len }))
    }

    /// Q3 and Q4 of a SEND: `offset` of the message is that byte of the SGE list.
    fn place_send(
        &mut self,
        incoming: &Incoming,
        qpn: u32,
        index: Option<usize>,
        received: &Received<'_>,
        mem: &mut impl HostMemory,
    ) -> Result<Option<Place>, MakCode> {
        let len = received.payload_len;
        let Some(qp) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return Err(MakCode::BadQp) };
        let pd = match qp.config.srq.and_then(|srq| self.srqs.get(srq as usize)).and_then(Option::as_ref) {
            Some(srq) => srq.pd,
            None => qp.pd,
        };
        let Some(recv) = index.and_then(|index| qp.receives.at_mut(index)) else { return Err(MakCode::MsgLength) };
        if u64::from(incoming.length) > recv.total_bytes {
            recv.failed = Some(Status::LocLenErr);
            return Err(MakCode::MsgLength);
        }
        if incoming.offset.checked_add(len).is_none_or(|end| end > incoming.length) {
            return Err(MakCode::MsgLength);
        }
        let sges = self.sges.get(recv.list, &recv.only);
        let mut place = None;
        let mut fault = false;
        // Every piece is checked before the first is written.
        for (_, piece) in pieces(sges, incoming.offset, len) {
            let addr = self.keys.translate(piece.lkey, pd, Right::LocalWrite, piece.addr, piece.len);
            fault |= addr.is_err();
            place = place.or(addr.ok().map(|addr| Place { addr, len }));
        }
        for (at, piece) in pieces(sges, incoming.offset, len).filter(|_| !fault) {
            let addr = self.keys.translate(piece.lkey, pd, Right::LocalWrite, piece.addr, piece.len).unwrap_or_default();
            if write_bytes(received, at, addr, piece.len, mem).is_err() {
                fault = true;
                break;
            }
        }
        if fault {
            recv.failed = Some(Status::LocProtErr);
            return Err(MakCode::QpError);
        }
        Ok(place)
    }

    /// D2, D3: a READ or an atomic is checked and kept until `exp` reaches it.
    fn accept_asking(&mut self, incoming: &Incoming, conn: u16, qpn: u32, inputs: &RxInputs) -> Result<RxKind, Refusal> {
        let refuse = |code| Refusal { code, qpn: Some(qpn), rnr: None };
        let msn = incoming.msg.msn.get();
        let busy = inputs.busy_seen == Some(true) || self.is_busy(conn, qpn, msn);
        let Some(qp) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else {
            return Err(refuse(MakCode::BadQp));
        };
        let Some(connection) = self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut) else {
            return Err(refuse(MakCode::BadQp));
        };
        let Incoming { va, rkey, length, .. } = *incoming;
        let (right, allowed, operation) = match incoming.kind {
            Kind::Atomic { op, swap_add, compare } => {
                if va % 8 != 0 {
                    return Err(refuse(MakCode::BadOpcode));
                }
                (Right::RemoteAtomic, qp.config.access.remote_atomic, Operation::Atomic { op, swap_add, compare })
            }
            Kind::Read { tag } => (Right::RemoteRead, qp.config.access.remote_read, Operation::Read { tag }),
            _ => return Err(refuse(MakCode::BadOpcode)),
        };
        if !allowed || qp.config.max_dest_rd_atomic == 0 {
            return Err(refuse(MakCode::Access));
        }
        if length > LENGTH_MAX {
            return Err(refuse(MakCode::MsgLength));
        }
        if length > 0 {
            self.keys.translate(rkey, qp.pd, right, va, length).map_err(|fault| refuse(fault_code(fault)))?;
        }
        // D3: the place of the response is reserved before the request is accepted; the last one for a request that is executed
        // at once, or those behind it would keep it out for ever.
        if busy {
            return Err(Refusal::rnr(RNR_BUSY | BUSY_TIMER));
        }
        let request = Request { live: true, msn, operation, va, rkey, length, laddr: 0, value: 0, unretired: 0 };
        let slot = qp.requests.insert(request);
        connection.tx.responses.reserved += 1;
        Ok(RxKind::Request { slot })
    }
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// D3: there is no place for the request `msn` of the peer.
    pub fn is_busy(&self, conn: u16, qpn: u32, msn: u32) -> bool {
        let (Ok(qp), Ok(connection)) = (self.qp(qpn), self.connection(conn)) else { return false };
        let reached = msn == qp.recv.exp.get();
        let full = connection.tx.responses.reserved + u32::from(!reached) >= self.config.responses;
        full || !qp.requests.has_room(msn, reached)
    }
}

/// Writes `len` bytes of the payload from `at` on, if there are bytes.
pub(super) fn write_bytes(
    received: &Received<'_>,
    at: usize,
    addr: u64,
    len: u32,
    mem: &mut impl HostMemory,
) -> Result<(), MemoryError> {
    match received.payload.and_then(|payload| payload.get(at..at + len as usize)) {
        Some(bytes) if !bytes.is_empty() => mem.write(addr, bytes),
        _ => Ok(()),
    }
}
