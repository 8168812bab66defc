//! Frames from descriptions: the only place of the model where packets become bytes.
//! In: what a step decided. Out: the exact frame.

use mrnic_wire::{Ack, Body, EmitError, Msg, NetAddr, Packet, PathHeader, Ppsn};

use super::desc::{AckDesc, Outgoing, PacketDesc, PacketKind, ProbeDesc};
use super::Nic;
use crate::error::{EncodeError, MemoryError};
use crate::memory::HostMemory;
use crate::sge::{pieces, Sge};
use crate::{CongestionControl, Profile};

impl PacketDesc {
    /// Header values of the packet.
    pub fn packet(&self) -> Packet {
        let msn = self.msn.into();
        let body = if self.nop {
            // S6: only the PPSN counts.
            Body::Nop { msg: Msg { msn, ..Msg::default() } }
        } else {
            let msg = Msg { first: self.first, last: self.last, sol: self.solicited, attempt: self.attempt, msn };
            let (va, rkey, length, offset) = (self.va, self.rkey, self.message_length, self.offset);
            match self.kind {
                PacketKind::Write { imm } => Body::Write { msg, va, rkey, length, imm },
                PacketKind::Send { rq_seq, imm } => Body::Send { msg, rq_seq, offset, length, imm },
                PacketKind::ReadReq { tag } => Body::ReadReq { msg, va, rkey, length, tag },
                PacketKind::AtomicReq { op, swap_add, compare } => Body::AtomicReq { msg, op, va, rkey, swap_add, compare },
                // D4: the offset stands in place of the address, the tag in place of the key.
                PacketKind::ReadResp { tag } => Body::ReadResp { msg, offset: offset.into(), tag, length },
                PacketKind::AtomicResp { value } => Body::AtomicResp { msg, value },
                PacketKind::ErrorResp { code } => Body::ErrorResp { msg, code },
            }
        };
        Packet {
            dest_qp: self.peer_qpn,
            ack_req: self.ack_req,
            ppsn: Ppsn::new(self.ppsn),
            mph: PathHeader {
                rtx: self.rtx,
                moved: self.moved,
                home: self.home,
                tx_ts: self.ts,
                conn: self.peer_conn,
                via: self.via,
            },
            ..Packet::new(body)
        }
    }
}

fn control<P: Profile>(body: Body, ppsn: Ppsn, home: u8, via: u8, conn: u16, tx_ts: u16) -> Packet {
    let mph = PathHeader { rtx: false, moved: false, home, tx_ts, conn, via };
    Packet { dest_qp: P::PATH_QP, ppsn, mph, ..Packet::new(body) }
}

impl ProbeDesc {
    /// Header values of the packet.
    pub fn packet<P: Profile>(&self) -> Packet {
        control::<P>(Body::Probe, Ppsn::new(self.ppsn), self.path, self.path, self.peer_conn, self.ts)
    }
}

impl AckDesc {
    /// Header values of the packet.
    pub fn packet<P: Profile>(&self) -> Packet {
        let body = Body::Ack(Ack { ..self.ack });
        control::<P>(body, self.cum, self.home, self.via, self.peer_conn, 0)
    }
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// The frame of a description. `udp_port` overrides the UDP source port, which hardware may sample earlier or later.
    pub fn encode(
        &self,
        outgoing: &Outgoing,
        udp_port: Option<u16>,
        mem: &impl HostMemory,
        buf: &mut [u8],
    ) -> Result<usize, EncodeError> {
        match outgoing {
            Outgoing::Data(desc) => self.encode_data(desc, udp_port, mem, buf),
            Outgoing::Probe(desc) => {
                let net = self.net(desc.conn)?;
                emit::<P>(buf, &net, udp_port.unwrap_or(desc.udp_port), &desc.packet::<P>())
            }
            Outgoing::Ack(desc) => {
                emit::<P>(buf, &self.net(desc.conn)?, udp_port.unwrap_or(desc.udp_port), &desc.packet::<P>())
            }
        }
    }

    fn net(&self, conn: u16) -> Result<NetAddr, EncodeError> {
        self.addresses.get(usize::from(conn)).copied().flatten().ok_or(EncodeError::NoSuchConnection { conn })
    }

    fn encode_data(
        &self,
        desc: &PacketDesc,
        udp_port: Option<u16>,
        mem: &impl HostMemory,
        buf: &mut [u8],
    ) -> Result<usize, EncodeError> {
        self.encode_pieces(desc, self.payload_pieces(desc), udp_port, mem, buf)
    }

    /// Where the payload of a packet is now: each piece with the place of its first byte in the packet. A list is gone when its message is done and
    /// another has taken its row.
    pub fn payload_pieces<'a>(&'a self, desc: &'a PacketDesc) -> impl Iterator<Item = (usize, Sge)> + 'a {
        let only = (desc.list.is_none() && desc.len > 0).then_some((0, Sge { addr: desc.laddr, len: desc.len, lkey: 0 }));
        let list = desc.list.map(|list| self.sges.list(list)).unwrap_or_default();
        only.into_iter().chain(pieces(list, desc.offset, desc.len))
    }

    /// The frame of a data packet whose payload is in these pieces.
    pub fn encode_pieces(
        &self,
        desc: &PacketDesc,
        pieces: impl Iterator<Item = (usize, Sge)>,
        udp_port: Option<u16>,
        mem: &impl HostMemory,
        buf: &mut [u8],
    ) -> Result<usize, EncodeError> {
        let net = self.net(desc.conn)?;
        let port = udp_port.unwrap_or(desc.udp_port);
        let mut fault = false;
        let len = P::emit_packet_with(buf, &net, port, &desc.packet(), desc.len as usize, |payload| {
            fault = read_pieces(pieces, mem, payload).is_err();
        });
        if fault {
            return Err(EncodeError::HostMemory { addr: desc.laddr, len: desc.len });
        }
        len.map_err(|error| too_small(error, buf.len()))
    }
}

fn read_pieces(
    pieces: impl Iterator<Item = (usize, Sge)>,
    mem: &impl HostMemory,
    payload: &mut [u8],
) -> Result<(), MemoryError> {
    for (at, piece) in pieces {
        mem.read(piece.addr, &mut payload[at..at + piece.len as usize])?;
    }
    Ok(())
}

fn emit<P: Profile>(buf: &mut [u8], net: &NetAddr, port: u16, packet: &Packet) -> Result<usize, EncodeError> {
    let have = buf.len();
    P::emit_packet(buf, net, port, packet, &[]).map_err(|error| too_small(error, have))
}

fn too_small(_: EmitError, have: usize) -> EncodeError {
    // Every value of a description fits its field, so only the buffer can be at fault.
    EncodeError::Buffer { have }
}
