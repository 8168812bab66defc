//! A frame arrives (section 4): R1..R10.
//! In: a frame, or its parsed headers. Out: what became of it: dropped, placed, refused, an acknowledgment to send or to apply.

use mrnic_wire::{Ack, AckFlags, Body, Mak, MakCode, Packet, ParseError, Ppsn};

use super::ack_step::{AckFrame, NakEvent};
use super::desc::AckDesc;
use super::rnr_step::RNR_BUSY;
use super::Nic;
use crate::config::Stage;
use crate::event::{DropReason, Event};
use crate::memory::HostMemory;
use crate::rx::check::{code_number, code_of_number};
use crate::rx::path::RxClass;
use crate::seq::Tick;
use crate::{CongestionControl, Profile};

/// Headers of a frame and its payload. A simulation that cares about timing only may leave the bytes out.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    pub packet: &'a Packet,
    /// Its UDP source port.
    pub udp_src: u16,
    pub ecn_ce: bool,
    pub payload_len: u32,
    pub payload: Option<&'a [u8]>,
}

/// Values that hardware samples a few cycles before the step. `None` takes the exact value.
///
/// Tolerance: an error, or that a place was freed, may have been overlooked, never invented (but for an error of a QP that is being closed).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxInputs {
    pub qp_error_seen: Option<bool>,
    /// D3: no place was free for a request.
    pub busy_seen: Option<bool>,
    /// D6: a response was of use (its QP may be in Error by now).
    pub used_seen: Option<bool>,
    /// D8: the connection was given up.
    pub given_up_seen: Option<bool>,
}

/// A DMA write of a payload: bus address and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub addr: u64,
    pub len: u32,
}

/// What an accepted packet is the cause of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RxEffect {
    #[default]
    None,
    /// The stream of `qpn` may have passed messages: for [`Nic::step_execute`] and [`Nic::step_recv_cqe`].
    Stream { qpn: u32 },
    /// A response was placed; if it is whole now, for [`Nic::step_answered`].
    Response { qpn: u32, whole: Option<u32> },
    /// D7: for [`Nic::step_nak`].
    RemoteError(NakEvent),
    /// Host memory refused the payload of a response: for [`Nic::step_local_fault`].
    LocalFault { qpn: u32, msn: u32 },
}

/// Result of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RxStep {
    Dropped {
        reason: DropReason,
    },
    Data {
        conn: u16,
        home: u8,
        ppsn: u32,
        class: RxClass,
        nop: bool,
        /// What was written to memory; none without payload. With several SGEs where the first byte went, and all bytes.
        place: Option<Place>,
        /// The refusal code (R4), 0 if there is none.
        nak: u8,
        /// Q2: refused for now, with this code of the time; 0x20 is added if a place for the request is lacking (D3).
        rnr: Option<u8>,
        effect: RxEffect,
        /// The QP that refused the packet and moves to Error: for [`Nic::step_rx_error`].
        rx_error: Option<u32>,
        ack: Option<AckDesc>,
    },
    Probe {
        conn: u16,
        home: u8,
        ack: AckDesc,
    },
    /// The acknowledgment waits for [`Nic::step_ack`].
    AckQueued {
        conn: u16,
        home: u8,
    },
}

/// What an acknowledgment says beside the state of its path (R9).
pub(super) enum AckCause {
    Plain,
    Probe { ts: u16 },
    Nak(Mak),
    Rnr(Mak),
}

/// A refused packet (R4, Q2).
#[derive(Clone, Copy)]
pub(super) struct Refusal {
    pub code: MakCode,
    /// The QP, if it is one of the connection.
    pub qpn: Option<u32>,
    /// Q2: only for now.
    pub rnr: Option<u8>,
}

impl Refusal {
    pub fn rnr(code: u8) -> Refusal {
        Refusal { code: MakCode::Ok, qpn: None, rnr: Some(code) }
    }
}

/// An accepted packet.
#[derive(Clone, Copy, Default)]
pub(super) struct Accepted {
    pub place: Option<Place>,
    pub effect: RxEffect,
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// A frame arrives at `now`. The QP of a refused packet moves to Error by [`Nic::step_rx_error`], an acknowledgment
    /// is applied by [`Nic::step_ack`].
    pub fn step_rx(&mut self, now: Tick, frame: &[u8], mem: &mut impl HostMemory) -> RxStep {
        self.step_rx_with(now, frame, &RxInputs::default(), mem)
    }

    /// [`Nic::step_rx`] with values that hardware sampled early.
    pub fn step_rx_with(&mut self, now: Tick, frame: &[u8], inputs: &RxInputs, mem: &mut impl HostMemory) -> RxStep {
        let (step, ack) = self.receive_frame(now, frame, inputs, mem);
        self.acks_in.extend(ack);
        step
    }

    /// Parses and receives; an accepted acknowledgment is returned beside the step.
    pub(super) fn receive_frame(
        &mut self,
        now: Tick,
        frame: &[u8],
        inputs: &RxInputs,
        mem: &mut impl HostMemory,
    ) -> (RxStep, Option<AckFrame>) {
        match P::parse_packet(frame) {
            Ok(parsed) => {
                let received = Received {
                    packet: &parsed.packet,
                    udp_src: parsed.udp_src,
                    ecn_ce: parsed.ecn_ce,
                    payload_len: parsed.payload.len() as u32,
                    payload: Some(parsed.payload),
                };
                self.receive(now, &received, inputs, mem)
            }
            Err(error) => {
                self.counters.rx_frames += 1;
                (self.dropped(DropReason::Codec(error)), None)
            }
        }
    }

    fn dropped(&mut self, reason: DropReason) -> RxStep {
        match reason {
            DropReason::Codec(ParseError::Icrc(_)) => self.counters.drop_icrc += 1,
            DropReason::Codec(_) => self.counters.drop_codec += 1,
            DropReason::Unsupported(_) => self.counters.drop_unsupported += 1,
            DropReason::Connection(_) => self.counters.drop_conn += 1,
            DropReason::Path { .. } => self.counters.drop_path += 1,
        }
        self.emit(Event::Dropped { reason });
        RxStep::Dropped { reason }
    }

    /// R1: the checks that need no state of a path, then the packet by its kind.
    pub(super) fn receive(
        &mut self,
        now: Tick,
        received: &Received<'_>,
        inputs: &RxInputs,
        mem: &mut impl HostMemory,
    ) -> (RxStep, Option<AckFrame>) {
        self.counters.rx_frames += 1;
        let packet = received.packet;
        let (conn, home, via) = (packet.mph.conn, packet.mph.home, packet.mph.via);
        // R1: what this stage uses; the connection; the paths.
        if !self.uses(&packet.body) {
            return (self.dropped(DropReason::Unsupported(packet.opcode())), None);
        }
        let full = self.config.stage == Stage::Full;
        let Ok(connection) = self.connection_mut(conn) else {
            return (self.dropped(DropReason::Connection(conn)), None);
        };
        let paths = connection.paths();
        let given_up = connection.tx.error && full && inputs.given_up_seen != Some(false);
        if home >= paths || via >= paths {
            return (self.dropped(DropReason::Path { home, via }), None);
        }
        // D8: a connection that was given up here answers no more, so that its peer gives it up too.
        if given_up && !matches!(packet.body, Body::Ack(_)) {
            return (self.dropped(DropReason::Connection(conn)), None);
        }
        match &packet.body {
            Body::Ack(ack) => {
                self.counters.rx_acks += 1;
                let frame = AckFrame { conn, home, via, cum: packet.ppsn, ack: *ack };
                (RxStep::AckQueued { conn, home }, Some(frame))
            }
            Body::Probe => {
                // R8, R9: a probe is answered at once with its own time stamp; it leaves last_ts alone.
                connection.rx_paths[home as usize].last_via = via;
                connection.rx_paths[via as usize].note_port(received.udp_src);
                self.counters.rx_probes += 1;
                let ack = self.make_ack(now, conn, home, &AckCause::Probe { ts: packet.mph.tx_ts });
                (RxStep::Probe { conn, home, ack }, None)
            }
            _ => (self.receive_data(now, received, inputs, mem), None),
        }
    }

    /// R1: the opcodes of this stage.
    fn uses(&self, body: &Body) -> bool {
        match body {
            Body::Write { imm: None, .. } | Body::Nop { .. } | Body::Ack(_) | Body::Probe => true,
            Body::Write { .. } | Body::Send { .. } => self.config.stage >= Stage::Send,
            body => self.config.stage == Stage::Full && body.opcode().is_data(),
        }
    }

    /// R2 and what follows for a data packet.
    fn receive_data(&mut self, now: Tick, received: &Received<'_>, inputs: &RxInputs, mem: &mut impl HostMemory) -> RxStep {
        let packet = received.packet;
        let (conn, home, ppsn) = (packet.mph.conn, packet.mph.home, packet.ppsn);
        let nop = matches!(packet.body, Body::Nop { .. });
        let mut accepted = Accepted::default();
        let mut refusal = None;
        let window_pkts = self.window_pkts;
        let Ok(connection) = self.connection_mut(conn) else {
            return self.dropped(DropReason::Connection(conn));
        };
        // R2: the class.
        let class = connection.rx_paths[home as usize].classify(ppsn, window_pkts);
        if class != RxClass::OutOfWindow {
            connection.rx_paths[packet.mph.via as usize].note_port(received.udp_src);
            connection.rx_paths[home as usize].note_arrival(now, packet.mph.tx_ts, packet.mph.rtx, packet.mph.via);
        }
        let path = &mut connection.rx_paths[home as usize];
        let ack_now = match class {
            RxClass::OutOfWindow => {
                self.counters.rx_out_of_window += 1;
                true
            }
            RxClass::Duplicate => {
                path.duplicate();
                self.counters.rx_duplicates += 1;
                true
            }
            RxClass::New => match self.place_new(now, received, inputs, mem) {
                Ok(new) => {
                    accepted = new;
                    self.counters.rx_new += 1;
                    self.counters.rx_nops += u64::from(nop);
                    // R5, R6: the bit is set after the payload was written.
                    self.accept_new(conn, home, ppsn, received.ecn_ce)
                }
                Err(refused) => {
                    refusal = Some(refused);
                    match refused.rnr {
                        None => self.counters.rx_refused += 1,
                        Some(code) if code & RNR_BUSY != 0 => self.counters.rx_busy += 1,
                        Some(_) => self.counters.rx_rnr += 1,
                    }
                    true
                }
            },
        };
        // R8: acknowledge at once, or hold it back.
        let ack_every = self.config.ack_every;
        let held = !(ack_now || packet.ack_req)
            && self.connection_mut(conn).is_ok_and(|c| !c.rx_paths[home as usize].hold_ack(now, ack_every));
        let cause = match &refusal {
            Some(Refusal { rnr: Some(code), .. }) => AckCause::Rnr(Mak {
                // Q2, N1: it names the packet, so that a late copy of this refusal finds it acknowledged.
                qp: ppsn.get(),
                code: code_of_number(*code),
                msn: packet.body.msg().map(|m| m.msn).unwrap_or_default(),
            }),
            Some(refused) => AckCause::Nak(self.refusal_mak(refused, packet)),
            None => AckCause::Plain,
        };
        let ack = (!held).then(|| self.make_ack(now, conn, home, &cause));
        let nak = refusal.as_ref().map_or(0, |r| code_number(r.code));
        let rx_error = refusal.and_then(|r| r.qpn);
        let rnr = refusal.and_then(|r| r.rnr);
        let Accepted { place, effect } = accepted;
        RxStep::Data { conn, home, ppsn: ppsn.get(), class, nop, place, nak, rnr, effect, rx_error, ack }
    }

    fn accept_new(&mut self, conn: u16, home: u8, ppsn: Ppsn, ce: bool) -> bool {
        self.connection_mut(conn).is_ok_and(|c| c.rx_paths[home as usize].accept(ppsn, ce))
    }

    /// A new packet by its kind; nothing for a NOP (R6).
    fn place_new(
        &mut self,
        now: Tick,
        received: &Received<'_>,
        inputs: &RxInputs,
        mem: &mut impl HostMemory,
    ) -> Result<Accepted, Refusal> {
        match received.packet.body {
            Body::Nop { .. } => Ok(Accepted::default()),
            Body::ReadResp { .. } | Body::AtomicResp { .. } | Body::ErrorResp { .. } => {
                Ok(self.accept_response(now, received, inputs, mem))
            }
            _ => self.accept_request(received, inputs, mem),
        }
    }

    /// R4, R9: what the refusal says. A QP of this connection is named by the sender's number, an unknown one by the PPSN.
    fn refusal_mak(&mut self, refusal: &Refusal, packet: &Packet) -> Mak {
        let msn = packet.body.msg().map(|m| m.msn).unwrap_or_default();
        let qp = match refusal.qpn.map(|qpn| self.qp(qpn)) {
            Some(Ok(qp)) => qp.peer_qpn,
            _ => packet.ppsn.get(),
        };
        let code = code_number(refusal.code);
        self.emit(Event::Refused { conn: packet.mph.conn, qpn: packet.dest_qp, code, msn: msn.get() });
        Mak { qp, code: refusal.code, msn }
    }

    /// R9: the acknowledgment of a path as it is now. R8: any acknowledgment sets `unacked` to 0.
    pub(super) fn make_ack(&mut self, now: Tick, conn: u16, home: u8, cause: &AckCause) -> AckDesc {
        self.counters.acks_made += 1;
        let (mut rate, epoch) = (crate::RATE_UNLIMITED, self.hint.epoch);
        let mut last_qp = None;
        let mut desc = AckDesc { conn, peer_conn: 0, home, via: home, udp_port: 0, cum: Ppsn::new(0), ack: Ack::default() };
        if let Some(connection) = self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut) {
            rate = self.hint.rate_mbps(&connection.rx_use);
            desc.peer_conn = connection.peer_conn;
            desc.via = connection.rx_paths[home as usize].last_via;
            desc.udp_port = connection.rx_paths[desc.via as usize].reply_port;
            let path = &mut connection.rx_paths[home as usize];
            path.unacked = 0;
            last_qp = path.last_qp;
            desc.cum = path.cum;
            desc.ack = Ack {
                ts_echo: path.last_ts,
                service: path.service(now),
                ce_packets: path.ce,
                dup_packets: path.dup,
                rx_packets: path.rx,
                flags: AckFlags { ts_valid: path.last_ts_valid, ..AckFlags::default() },
                vector: path.vector(),
                ..Ack::default()
            };
        }
        desc.ack.rate = rate;
        desc.ack.epoch = epoch;
        if let Some(qp) = last_qp.and_then(|qpn| self.qp(qpn).ok()).filter(|qp| qp.is_of(conn)) {
            desc.ack.mak = Mak { qp: qp.peer_qpn, code: MakCode::Ok, msn: qp.recv.exp.wrapping_sub(1) };
        }
        match cause {
            AckCause::Plain => {}
            AckCause::Probe { ts } => {
                desc.ack.ts_echo = *ts;
                desc.ack.service = 0;
                desc.ack.flags.ts_valid = true;
                desc.ack.flags.probe_reply = true;
            }
            AckCause::Nak(mak) => {
                desc.ack.mak = *mak;
                desc.ack.flags.nak = true;
            }
            AckCause::Rnr(mak) => {
                desc.ack.mak = *mak;
                desc.ack.flags.rnr = true;
            }
        }
        desc
    }
}
