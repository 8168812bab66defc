//! Turns packet descriptors into headers and payload reads; one descriptor every five clocks.
//! In: `desc` (data, NOP, PROBE), rows of messages from work_fetch and of responses from request_places, configuration of the connections.
//! Out: `dr_desc` (one read for each packet with payload, or for each piece of it) and `header_*` to the framer, both in the order of `desc`; `piece_*`
//! tells gather of each read. At most `dr_outstanding` headers wait for their payload. A packet in pieces takes 3 clocks more for each piece up to its end.
//! Guarantees that a row is not written while a resend waits that was granted before: its message may be done meanwhile.
use super::headers::*;
use super::message_tail::{self, AskRow, MessageTail};
use super::net_table::NetTable;
use super::row_gate::RowGate;
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::rx::request_places::rows::ResponseRow;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A descriptor as it waits.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct DataDesc {
    pub kind: Bits<2>,
    pub conn: Bits<16>,
    pub home: Bits<3>,
    pub via: Bits<3>,
    pub ppsn: Bits<24>,
    pub rtx: Bit,
    pub moved: Bit,
    pub ack_req: Bit,
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub index: Bits<24>,
    pub bytes: Bits<13>,
    pub first: Bit,
    pub last: Bit,
    pub source: Bits<2>,
    pub attempt: Bit,
    pub ts: Bits<16>,
    pub port: Bits<16>,
}

/// What every packet of a message needs.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct MsgRow {
    pub laddr: Bits<64>,
    pub raddr: Bits<64>,
    pub rkey: Bits<32>,
    pub length: Bits<32>,
    pub peer_qpn: Bits<24>,
}

/// The rest of it, in a build with SENDs.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SendRow {
    pub has_imm: Bit,
    pub is_send: Bit,
    pub solicited: Bit,
    pub rq_seq: Bits<24>,
    pub imm: Bits<32>,
}

/// A piece of a message's payload, or of the memory that a response goes to, in a build with lists.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PieceRow {
    /// Bus address.
    pub addr: Bits<64>,
    /// Bytes of the message up to and with this piece.
    pub end: Bits<32>,
}

/// A finished header; the first byte of the frame in the most significant bits.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PacketHeader {
    pub header: Bits<PACKET_HEADER_BITS>,
    pub header_bytes: Bits<8>,
    pub payload_bytes: Bits<13>,
    pub ipv6: Bit,
    /// Bit 0: with an immediate, bit 1: a SEND.
    pub layout: Bits<2>,
}

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
enum Step {
    Wait,
    Look,
    Add,
    Fold,
    Send,
    Seek,
    Judge,
    Take,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct PacketBuilder {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 31: a piece is read from where the packet would be, were it the only one.
    pub fault: Signal<In, Bits<5>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// A row waits to be written; it may be once `msgrow_ready` is high.
    pub msgrow_ask: Signal<In, Bit>,
    pub msgrow_ready: Signal<Out, Bit>,
    pub msgrow_valid: Signal<In, Bit>,
    pub msgrow_addr: Signal<In, Bits<24>>,
    pub msgrow_laddr: Signal<In, Bits<64>>,
    pub msgrow_raddr: Signal<In, Bits<64>>,
    pub msgrow_rkey: Signal<In, Bits<32>>,
    pub msgrow_length: Signal<In, Bits<32>>,
    pub msgrow_peer_qpn: Signal<In, Bits<24>>,
    /// 0 WRITE, 1 WRITE with immediate, 2 SEND, 3 SEND with immediate, 4 READ, 5 compare-and-swap, 6 fetch-and-add.
    pub msgrow_opcode: Signal<In, Bits<3>>,
    pub msgrow_imm: Signal<In, Bits<32>>,
    pub msgrow_rq_seq: Signal<In, Bits<24>>,
    pub msgrow_sol: Signal<In, Bit>,
    pub msgrow_tag: Signal<In, Bits<32>>,
    pub msgrow_swap_add: Signal<In, Bits<64>>,
    pub msgrow_compare: Signal<In, Bits<64>>,
    /// Its payload is in the pieces that were written for the row.
    pub msgrow_listed: Signal<In, Bit>,
    /// A piece of the row that has asked and may be written: its number, its place, where it ends in the message.
    pub msgpiece_write: Signal<In, Bit>,
    pub msgpiece_at: Signal<In, Bits<2>>,
    pub msgpiece_addr: Signal<In, Bits<64>>,
    pub msgpiece_end: Signal<In, Bits<32>>,
    /// The same of a response: its row waits, it may be written, it is.
    pub rsprow_ask: Signal<In, Bit>,
    pub rsprow_ready: Signal<Out, Bit>,
    pub rsprow_valid: Signal<In, Bit>,
    pub rsprow_addr: Signal<In, Bits<24>>,
    pub rsprow_atomic: Signal<In, Bit>,
    /// Where the data of a READ is; of an atomic the old value.
    pub rsprow_base: Signal<In, Bits<64>>,
    pub rsprow_length: Signal<In, Bits<32>>,
    pub rsprow_tag: Signal<In, Bits<32>>,
    pub rsprow_peer_qpn: Signal<In, Bits<24>>,
    pub desc_valid: Signal<In, Bit>,
    pub desc_ready: Signal<Out, Bit>,
    /// 0 data, 1 NOP, 2 PROBE.
    pub desc_kind: Signal<In, Bits<2>>,
    pub desc_conn: Signal<In, Bits<16>>,
    pub desc_home: Signal<In, Bits<3>>,
    pub desc_via: Signal<In, Bits<3>>,
    pub desc_ppsn: Signal<In, Bits<24>>,
    pub desc_rtx: Signal<In, Bit>,
    pub desc_moved: Signal<In, Bit>,
    pub desc_ack_req: Signal<In, Bit>,
    pub desc_qp: Signal<In, Bits<16>>,
    pub desc_msn: Signal<In, Bits<24>>,
    pub desc_index: Signal<In, Bits<24>>,
    pub desc_bytes: Signal<In, Bits<13>>,
    pub desc_first: Signal<In, Bit>,
    pub desc_last: Signal<In, Bit>,
    /// Of data: 0 of a message, 1 of a response, 2 ERROR_RESP, its code in `desc_qp`, the peer's QPN in `desc_index`.
    pub desc_source: Signal<In, Bits<2>>,
    /// N2: MSGH.attempt of the message as it was when the slot was granted; of a response it says nothing.
    pub desc_attempt: Signal<In, Bit>,
    pub desc_ts: Signal<In, Bits<16>>,
    pub desc_port: Signal<In, Bits<16>>,
    pub dr_desc_valid: Signal<Out, Bit>,
    pub dr_desc_ready: Signal<In, Bit>,
    pub dr_desc_addr: Signal<Out, Bits<64>>,
    pub dr_desc_len: Signal<Out, Bits<16>>,
    /// Of each read, in the clock in which it is made: its bytes, and whether it is the last one of its packet.
    pub piece_room: Signal<In, Bit>,
    pub piece_write: Signal<Out, Bit>,
    pub piece_bytes: Signal<Out, Bits<13>>,
    pub piece_ends: Signal<Out, Bit>,
    pub header_valid: Signal<Out, Bit>,
    pub header_ready: Signal<In, Bit>,
    pub header_bits: Signal<Out, Bits<PACKET_HEADER_BITS>>,
    pub header_bytes: Signal<Out, Bits<8>>,
    pub header_payload_bytes: Signal<Out, Bits<13>>,
    pub header_ipv6: Signal<Out, Bit>,
    /// Bit 0: with an immediate, bit 1: a SEND.
    pub header_layout: Signal<Out, Bits<2>>,
    descs: Fifo<DataDesc>,
    messages: Ram<MsgRow>,
    /// One row if the build has no SENDs.
    sends: Ram<SendRow>,
    /// One row if the build has no READs.
    asks: Ram<AskRow>,
    responses: Ram<ResponseRow>,
    /// The pieces of each message and whether it has any; no row if the build has no lists.
    pieces: Ram<PieceRow>,
    in_pieces: Ram<Bit>,
    message_gate: RowGate,
    response_gate: RowGate,
    behind: MessageTail,
    net: NetTable,
    headers: Fifo<PacketHeader>,
    /// Resends that wait here.
    resends: DFF<Bits<16>>,
    resends_next: Signal<Local, Bits<16>>,
    leaves: Signal<Local, Bit>,
    comes: Signal<Local, Bit>,
    outside: Signal<Local, Bit>,
    step: DFF<Step>,
    is_data: DFF<Bit>,
    is_nop: DFF<Bit>,
    is_probe: DFF<Bit>,
    has_imm: DFF<Bit>,
    /// Those of message_tail.
    operation: DFF<Bits<3>>,
    /// Bytes of UDP and ICRC and of the headers between them.
    fixed_bytes: DFF<Bits<8>>,
    ipv6: DFF<Bit>,
    payload_bytes: DFF<Bits<13>>,
    pad: DFF<Bits<2>>,
    udp_bytes: DFF<Bits<16>>,
    offset: DFF<Bits<32>>,
    laddr: DFF<Bits<64>>,
    va: DFF<Bits<64>>,
    ipv4_bytes: DFF<Bits<16>>,
    sum: DFF<Bits<17>>,
    checksum: DFF<Bits<16>>,
    read_valid: DFF<Bit>,
    read_addr: DFF<Bits<64>>,
    read_len: DFF<Bits<16>>,
    listed: DFF<Bit>,
    /// Number of the piece, and where it begins in the message.
    piece: DFF<Bits<2>>,
    begins: DFF<Bits<32>>,
    /// Bytes of the message that were read, and those up to the packet's end.
    at: DFF<Bits<32>>,
    until: DFF<Bits<32>>,
    /// The piece ends before the packet goes on; the packet ends in it.
    before: DFF<Bit>,
    ends_here: DFF<Bit>,
    /// Where the packet goes on in the piece, bytes of it from there on, and of the packet.
    inside: DFF<Bits<32>>,
    piece_left: DFF<Bits<32>>,
    packet_left: DFF<Bits<32>>,
    piece_row: Signal<Local, PieceRow>,
    is_listed: Signal<Local, Bit>,
    last_piece: Signal<Local, Bit>,
    reads: Signal<Local, Bit>,
    desc: Signal<Local, DataDesc>,
    arriving: Signal<Local, DataDesc>,
    row: Signal<Local, MsgRow>,
    bytes: Signal<Local, Bits<13>>,
    padding: Signal<Local, Bits<2>>,
    read_free: Signal<Local, Bit>,
    front4: Signal<Local, Ipv4Front>,
    front6: Signal<Local, Ipv6Front>,
    back: Signal<Local, MessageBack>,
    front4_bits: Signal<Local, Bits<{ Ipv4Front::BITS }>>,
    front6_bits: Signal<Local, Bits<{ Ipv6Front::BITS }>>,
    back_bits: Signal<Local, Bits<{ MessageBack::BITS }>>,
    operates: Signal<Local, Bits<3>>,
    send_row: Signal<Local, SendRow>,
    ask_row: Signal<Local, AskRow>,
    new_response: Signal<Local, ResponseRow>,
    response_row: Signal<Local, ResponseRow>,
    of_message: Signal<Local, Bit>,
    of_response: Signal<Local, Bit>,
    of_error: Signal<Local, Bit>,
    base: Signal<Local, Bits<64>>,
    target: Signal<Local, Bits<64>>,
    asks_at: Signal<Local, Bits<24>>,
    row_at: Signal<Local, Bits<24>>,
    fixed: Signal<Local, Bits<8>>,
    sends_at: Signal<Local, Bits<24>>,
    made: Signal<Local, PacketHeader>,
    kind_nop: Constant<Bits<2>>,
    kind_probe: Constant<Bits<2>>,
    /// Rows of a QP's messages: M, a power of two.
    msgs_log2: Constant<Bits<8>>,
    msn_mask: Constant<Bits<24>>,
    front4_sent: Constant<Ipv4Front>,
    front6_sent: Constant<Ipv6Front>,
    back_sent: Constant<MessageBack>,
    with_sends: Constant<Bit>,
    with_reads: Constant<Bit>,
    with_lists: Constant<Bit>,
    sges_log2: Constant<Bits<8>>,
    last_sge: Constant<Bits<2>>,
    write_op: Constant<Bits<3>>,
    send_op: Constant<Bits<3>>,
    read_req_op: Constant<Bits<3>>,
    atomic_req_op: Constant<Bits<3>>,
    read_resp_op: Constant<Bits<3>>,
    atomic_resp_op: Constant<Bits<3>>,
    error_resp_op: Constant<Bits<3>>,
    fixed_read_req: Constant<Bits<8>>,
    fixed_atomic_req: Constant<Bits<8>>,
    fixed_atomic_resp: Constant<Bits<8>>,
    fixed_error_resp: Constant<Bits<8>>,
    ethertype4: Constant<Bits<16>>,
    ethertype6: Constant<Bits<16>>,
    ipv4_header: Constant<Bits<16>>,
    opcode_nop: Constant<Bits<8>>,
    opcode_probe: Constant<Bits<8>>,
    path_qp: Constant<Bits<24>>,
    /// UDP.length without payload.
    fixed_write: Constant<Bits<8>>,
    fixed_write_imm: Constant<Bits<8>>,
    fixed_send: Constant<Bits<8>>,
    fixed_send_imm: Constant<Bits<8>>,
    fixed_nop: Constant<Bits<8>>,
    fixed_probe: Constant<Bits<8>>,
    /// Bytes before UDP, without the ICRC that UDP.length counts.
    before4: Constant<Bits<8>>,
    before6: Constant<Bits<8>>,
    /// The part of `back` that a PROBE has.
    keep_probe: Constant<Bits<{ MessageBack::BITS }>>,
    shift_front4: Constant<Bits<16>>,
    shift_front6: Constant<Bits<16>>,
    shift_back4: Constant<Bits<16>>,
    shift_back6: Constant<Bits<16>>,
    shift_tail4: Constant<Bits<16>>,
}

/// Ones over the leading bytes of `back` that a packet of this opcode has.
fn keep(opcode: &str) -> Bits<{ MessageBack::BITS }> {
    let kept = 8 * (frame_header_bytes(opcode, false) - Ipv4Front::BYTES);
    Bits::<{ MessageBack::BITS }>::mask() << (MessageBack::BITS - kept) as u64
}

impl PacketBuilder {
    pub fn new(config: &BuildConfig) -> Self {
        let rows = config.message_rows();
        filled!(PacketBuilder {
            descs: Fifo::new(config.fifo.desc),
            messages: Ram::new(rows),
            sends: Ram::new(if config.sends { rows } else { 1 }),
            net: NetTable::new(config.conns),
            headers: Fifo::new(config.fifo.dr_outstanding),
            asks: Ram::new(if config.reads { rows } else { 1 }),
            responses: Ram::new(if config.reads { rows } else { 1 }),
            behind: MessageTail::new(config.reads),
            write_op: Constant::new(message_tail::WRITE.to_bits()),
            send_op: Constant::new(message_tail::SEND.to_bits()),
            read_req_op: Constant::new(message_tail::READ_REQ.to_bits()),
            atomic_req_op: Constant::new(message_tail::ATOMIC_REQ.to_bits()),
            read_resp_op: Constant::new(message_tail::READ_RESP.to_bits()),
            atomic_resp_op: Constant::new(message_tail::ATOMIC_RESP.to_bits()),
            error_resp_op: Constant::new(message_tail::ERROR_RESP.to_bits()),
            message_gate: RowGate::new(),
            response_gate: RowGate::new(),
            fixed_read_req: number(udp_bytes("READ_REQ")),
            fixed_atomic_req: number(udp_bytes("ATOMIC_REQ")),
            fixed_atomic_resp: number(udp_bytes("ATOMIC_RESP")),
            fixed_error_resp: number(udp_bytes("ERROR_RESP")),
            with_sends: Constant::new(config.sends),
            with_reads: Constant::new(config.reads),
            with_lists: Constant::new(config.sges > 1),
            sges_log2: number(config.sges.ilog2() as usize),
            last_sge: number(config.sges - 1),
            pieces: Ram::new(if config.sges > 1 { rows * config.sges } else { 0 }),
            in_pieces: Ram::new(if config.sges > 1 { rows } else { 0 }),
            kind_nop: number(1),
            kind_probe: number(2),
            msgs_log2: number(config.msgs_per_stream.ilog2() as usize),
            msn_mask: number(config.msgs_per_stream - 1),
            front4_sent: Constant::new(Ipv4Front::as_sent()),
            front6_sent: Constant::new(Ipv6Front::as_sent()),
            back_sent: Constant::new(MessageBack::as_sent()),
            ethertype4: Constant::new(constant("ETHERTYPE_IPV4").into()),
            ethertype6: Constant::new(constant("ETHERTYPE_IPV6").into()),
            ipv4_header: number(ipv4_header_bytes()),
            opcode_nop: Constant::new(opcode_value("NOP").into()),
            opcode_probe: Constant::new(opcode_value("PROBE").into()),
            path_qp: Constant::new(constant("PATH_QP").into()),
            fixed_write: number(udp_bytes("WRITE")),
            fixed_write_imm: number(udp_bytes("WRITE") + ImmTail::BYTES),
            fixed_send: number(udp_bytes("SEND")),
            fixed_send_imm: number(udp_bytes("SEND") + ImmTail::BYTES),
            fixed_nop: number(udp_bytes("NOP")),
            fixed_probe: number(udp_bytes("PROBE")),
            before4: number(Ipv4Front::BYTES - icrc_bytes()),
            before6: number(Ipv6Front::BYTES - icrc_bytes()),
            keep_probe: Constant::new(keep("PROBE")),
            shift_front4: number(PACKET_HEADER_BITS - Ipv4Front::BITS),
            shift_front6: number(PACKET_HEADER_BITS - Ipv6Front::BITS),
            shift_back4: number(PACKET_HEADER_BITS - Ipv4Front::BITS - MessageBack::BITS),
            shift_back6: number(TAIL_BITS),
            shift_tail4: number(Ipv6Front::BITS - Ipv4Front::BITS);
            clock, reset, cfg_valid, cfg_table, cfg_index, cfg_data, cfg_busy, msgrow_ask, msgrow_ready, msgrow_valid, msgrow_addr, msgrow_laddr,
            msgrow_raddr, msgrow_rkey, msgrow_length, msgrow_peer_qpn, msgrow_opcode, msgrow_imm, msgrow_rq_seq, msgrow_sol, msgrow_tag, msgrow_swap_add, msgrow_compare,
            rsprow_ask, rsprow_ready, rsprow_valid, rsprow_addr, rsprow_atomic, rsprow_base, rsprow_length, rsprow_tag, rsprow_peer_qpn,
            desc_valid, desc_ready, desc_kind, desc_conn, desc_home, desc_via, desc_ppsn, desc_rtx, desc_moved, desc_ack_req,
            desc_qp, desc_msn, desc_index, desc_bytes, desc_first, desc_last, desc_source, desc_attempt, desc_ts, desc_port, dr_desc_valid,
            dr_desc_ready, dr_desc_addr, dr_desc_len, header_valid, header_ready, header_bits, header_bytes,
            header_payload_bytes, header_ipv6, header_layout, resends, resends_next, leaves, comes, outside, step, is_data, is_nop, is_probe, has_imm, fixed_bytes,
            ipv6, payload_bytes, pad, udp_bytes, offset, laddr, va, ipv4_bytes, sum, checksum, read_valid, read_addr,
            read_len, desc, arriving, row, bytes, padding, read_free, front4, front6, back, front4_bits,
            front6_bits, back_bits, send_row, fixed, sends_at, made,
            listed, piece, begins, at, until, before, ends_here, inside, piece_left, packet_left, piece_row, is_listed, last_piece, reads,
            fault, msgrow_listed, msgpiece_write, msgpiece_at, msgpiece_addr, msgpiece_end, piece_room, piece_write, piece_bytes, piece_ends,
            operation, operates, ask_row, new_response, response_row, of_message, of_response, of_error, base, target, asks_at, row_at,
        })
    }
}

impl Logic for PacketBuilder {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module packet_builder: descriptors to headers and payload reads");
        dff_setup!(
            self,
            clock,
            resends,
            step,
            is_data,
            is_nop,
            is_probe,
            has_imm,
            operation,
            fixed_bytes,
            ipv6,
            payload_bytes,
            pad,
            udp_bytes,
            offset,
            laddr,
            va,
            ipv4_bytes,
            sum,
            checksum,
            read_valid,
            read_addr,
            read_len,
            listed,
            piece,
            begins,
            at,
            until,
            before,
            ends_here,
            inside,
            piece_left,
            packet_left
        );
        clock!(
            self,
            clock,
            descs,
            messages,
            sends,
            asks,
            responses,
            pieces,
            in_pieces,
            message_gate,
            response_gate,
            net,
            headers
        );
        self.message_gate.reset.next = self.reset.val();
        self.response_gate.reset.next = self.reset.val();
        self.descs.reset.next = self.reset.val();
        self.net.reset.next = self.reset.val();
        self.headers.reset.next = self.reset.val();
        self.net.cfg_valid.next = self.cfg_valid.val();
        self.net.cfg_table.next = self.cfg_table.val();
        self.net.cfg_index.next = self.cfg_index.val();
        self.net.cfg_data.next = self.cfg_data.val();
        self.cfg_busy.next = self.net.cfg_busy.val();
        self.messages.write_enable.next = self.msgrow_valid.val();
        self.messages.write_address.next = self.msgrow_addr.val();
        self.messages.write_data.next.laddr = self.msgrow_laddr.val();
        self.messages.write_data.next.raddr = self.msgrow_raddr.val();
        self.messages.write_data.next.rkey = self.msgrow_rkey.val();
        self.messages.write_data.next.length = self.msgrow_length.val();
        self.messages.write_data.next.peer_qpn = self.msgrow_peer_qpn.val();
        self.sends.write_enable.next = self.msgrow_valid.val() & self.with_sends.val();
        self.sends.write_data.next.has_imm = self.msgrow_opcode.val().get_bit(0) & !self.msgrow_opcode.val().get_bit(2);
        self.sends.write_data.next.is_send = self.msgrow_opcode.val().get_bit(1) & !self.msgrow_opcode.val().get_bit(2);
        self.sends.write_data.next.solicited = self.msgrow_sol.val();
        self.sends.write_data.next.rq_seq = self.msgrow_rq_seq.val();
        self.sends.write_data.next.imm = self.msgrow_imm.val();
        self.asks.write_enable.next = self.msgrow_valid.val() & self.with_reads.val();
        self.asks.write_data.next.is_read = self.msgrow_opcode.val() == 4;
        self.asks.write_data.next.is_atomic = self.msgrow_opcode.val() > 4;
        self.asks.write_data.next.fetch_add = self.msgrow_opcode.val() == 6;
        self.asks.write_data.next.tag = self.msgrow_tag.val();
        self.asks.write_data.next.swap_add = self.msgrow_swap_add.val();
        self.asks.write_data.next.compare = self.msgrow_compare.val();
        comment!("a message may have its payload in pieces");
        self.in_pieces.write_enable.next = self.msgrow_valid.val() & self.with_lists.val();
        self.in_pieces.write_address.next = self.msgrow_addr.val();
        self.in_pieces.write_data.next = self.msgrow_listed.val();
        self.pieces.write_enable.next = self.msgpiece_write.val() & self.with_lists.val();
        self.pieces.write_address.next =
            (self.msgrow_addr.val() << self.sges_log2.val()) | bit_cast::<24, 2>(self.msgpiece_at.val());
        self.pieces.write_data.next.addr = self.msgpiece_addr.val();
        self.pieces.write_data.next.end = self.msgpiece_end.val();
        self.new_response.next.atomic = self.rsprow_atomic.val();
        self.new_response.next.base = self.rsprow_base.val();
        self.new_response.next.length = self.rsprow_length.val();
        self.new_response.next.tag = self.rsprow_tag.val();
        self.new_response.next.peer_qpn = self.rsprow_peer_qpn.val();
        self.responses.write_enable.next = self.rsprow_valid.val() & self.with_reads.val();
        self.responses.write_data.next = self.new_response.val();
        comment!("descriptors wait in a FIFO; the oldest one stays at its head until its header is made");
        self.arriving.next.kind = self.desc_kind.val();
        self.arriving.next.conn = self.desc_conn.val();
        self.arriving.next.home = self.desc_home.val();
        self.arriving.next.via = self.desc_via.val();
        self.arriving.next.ppsn = self.desc_ppsn.val();
        self.arriving.next.rtx = self.desc_rtx.val();
        self.arriving.next.moved = self.desc_moved.val();
        self.arriving.next.ack_req = self.desc_ack_req.val();
        self.arriving.next.qp = self.desc_qp.val();
        self.arriving.next.msn = self.desc_msn.val();
        self.arriving.next.index = self.desc_index.val();
        self.arriving.next.bytes = self.desc_bytes.val();
        self.arriving.next.first = self.desc_first.val();
        self.arriving.next.last = self.desc_last.val();
        self.arriving.next.source = self.desc_source.val();
        self.arriving.next.attempt = self.desc_attempt.val();
        self.arriving.next.ts = self.desc_ts.val();
        self.arriving.next.port = self.desc_port.val();
        self.descs.data_in.next = self.arriving.val();
        self.descs.write.next = self.desc_valid.val();
        self.desc_ready.next = !self.descs.full.val();
        self.descs.read.next = false;
        self.desc.next = self.descs.data_out.val();
        self.net.read_conn.next = self.desc.val().conn;
        self.row_at.next =
            (bit_cast::<24, 16>(self.desc.val().qp) << self.msgs_log2.val()) | (self.desc.val().msn & self.msn_mask.val());
        self.messages.read_address.next = self.row_at.val();
        self.row.next = self.messages.read_data.val();
        self.in_pieces.read_address.next = self.row_at.val();
        self.pieces.read_address.next = (self.row_at.val() << self.sges_log2.val()) | bit_cast::<24, 2>(self.piece.q.val());
        self.piece_row.next = self.pieces.read_data.val();
        self.is_listed.next = self.with_lists.val() & self.listed.q.val();
        self.last_piece.next = self.piece.q.val() == self.last_sge.val();
        self.asks_at.next = 0.into();
        self.asks.write_address.next = 0.into();
        self.responses.write_address.next = 0.into();
        if self.with_reads.val() {
            self.asks_at.next = self.row_at.val();
            self.asks.write_address.next = self.msgrow_addr.val();
            self.responses.write_address.next = self.rsprow_addr.val();
        }
        self.asks.read_address.next = self.asks_at.val();
        self.responses.read_address.next = self.asks_at.val();
        self.ask_row.next = self.asks.read_data.val();
        self.response_row.next = self.responses.read_data.val();
        self.of_response.next = self.with_reads.val() & (self.desc.val().source == 1);
        self.of_error.next = self.with_reads.val() & (self.desc.val().source == 2);
        self.of_message.next = !self.of_response.val() & !self.of_error.val();
        self.sends_at.next = 0.into();
        self.sends.write_address.next = 0.into();
        if self.with_sends.val() {
            self.sends_at.next = self.row_at.val();
            self.sends.write_address.next = self.msgrow_addr.val();
        }
        self.sends.read_address.next = self.sends_at.val();
        self.send_row.next = self.sends.read_data.val();
        self.read_free.next =
            (!self.read_valid.q.val() | self.dr_desc_ready.val()) & (self.piece_room.val() | !self.with_lists.val());
        self.reads.next = false;
        self.piece_ends.next = true;
        if self.dr_desc_ready.val() {
            self.read_valid.d.next = false;
        }
        comment!("S6: a NOP has no payload, nor has a PROBE");
        self.bytes.next = 0.into();
        if self.desc.val().kind == 0 {
            self.bytes.next = self.desc.val().bytes;
        }
        self.padding.next = (!self.bytes.val() + 1).get_bits::<2>(0);
        comment!("what a packet of data is, and bytes of UDP's length that do not depend on the payload");
        self.operates.next = self.write_op.val();
        self.fixed.next = self.fixed_write.val();
        if self.with_sends.val() & self.send_row.val().is_send {
            self.operates.next = self.send_op.val();
            self.fixed.next = self.fixed_send.val();
            if self.send_row.val().has_imm {
                self.fixed.next = self.fixed_send_imm.val();
            }
        } else if self.with_sends.val() & self.send_row.val().has_imm {
            self.fixed.next = self.fixed_write_imm.val();
        }
        if self.with_reads.val() & self.ask_row.val().is_read {
            self.operates.next = self.read_req_op.val();
            self.fixed.next = self.fixed_read_req.val();
        }
        if self.with_reads.val() & self.ask_row.val().is_atomic {
            self.operates.next = self.atomic_req_op.val();
            self.fixed.next = self.fixed_atomic_req.val();
        }
        if self.of_response.val() {
            self.operates.next = self.read_resp_op.val();
            self.fixed.next = self.fixed_write.val();
            if self.response_row.val().atomic {
                self.operates.next = self.atomic_resp_op.val();
                self.fixed.next = self.fixed_atomic_resp.val();
            }
        }
        if self.of_error.val() {
            self.operates.next = self.error_resp_op.val();
            self.fixed.next = self.fixed_error_resp.val();
        }
        if self.desc.val().kind == self.kind_nop.val() {
            self.fixed.next = self.fixed_nop.val();
        }
        if self.desc.val().kind == self.kind_probe.val() {
            self.fixed.next = self.fixed_probe.val();
        }
        comment!("D4: a READ_RESP has the offset in place of the address");
        self.base.next = self.row.val().laddr;
        self.target.next = self.row.val().raddr;
        if self.of_response.val() {
            self.base.next = self.response_row.val().base;
            self.target.next = 0.into();
        }
        self.headers.write.next = false;
        match self.step.q.val() {
            Step::Wait => {
                if !self.descs.empty.val() {
                    self.step.d.next = Step::Look;
                }
            }
            Step::Look => {
                self.is_data.d.next = self.desc.val().kind == 0;
                self.is_nop.d.next = self.desc.val().kind == self.kind_nop.val();
                self.is_probe.d.next = self.desc.val().kind == self.kind_probe.val();
                self.ipv6.d.next = self.net.row.val().ipv6;
                self.payload_bytes.d.next = self.bytes.val();
                self.pad.d.next = self.padding.val();
                self.has_imm.d.next =
                    self.with_sends.val() & (self.desc.val().kind == 0) & self.of_message.val() & self.send_row.val().has_imm;
                self.operation.d.next = 0.into();
                if self.desc.val().kind == 0 {
                    self.operation.d.next = self.operates.val();
                }
                self.fixed_bytes.d.next = self.fixed.val();
                self.udp_bytes.d.next = bit_cast::<16, 8>(self.fixed.val())
                    + bit_cast::<16, 13>(self.bytes.val() + bit_cast::<13, 2>(self.padding.val()));
                comment!("section 7, offsets: packet i of a message carries the bytes from i * MTU");
                self.offset.d.next = bit_cast::<32, 24>(self.desc.val().index) << self.net.row.val().mtu_log2;
                self.listed.d.next = (self.desc.val().kind == 0)
                    & self.of_message.val()
                    & self.in_pieces.read_data.val()
                    & self.bytes.val().any();
                self.step.d.next = Step::Add;
            }
            Step::Add => {
                self.laddr.d.next = self.base.val() + bit_cast::<64, 32>(self.offset.q.val());
                self.va.d.next = self.target.val() + bit_cast::<64, 32>(self.offset.q.val());
                self.ipv4_bytes.d.next = self.udp_bytes.q.val() + self.ipv4_header.val();
                self.sum.d.next = bit_cast::<17, 16>(self.net.row.val().ipv4_sum) + bit_cast::<17, 16>(self.udp_bytes.q.val());
                self.piece.d.next = 0.into();
                self.begins.d.next = 0.into();
                self.at.d.next = self.offset.q.val();
                self.until.d.next = self.offset.q.val() + bit_cast::<32, 13>(self.payload_bytes.q.val());
                self.step.d.next = Step::Fold;
            }
            Step::Fold => {
                self.checksum.d.next =
                    !(self.sum.q.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.sum.q.val().get_bits::<1>(16)));
                self.step.d.next = Step::Send;
            }
            Step::Send => {
                if self.is_listed.val() {
                    comment!("the header goes first: memory may give data only while some of it is taken");
                    if !self.headers.full.val() {
                        self.headers.write.next = true;
                        self.step.d.next = Step::Judge;
                    }
                } else if !self.headers.full.val() & (!self.payload_bytes.q.val().any() | self.read_free.val()) {
                    self.headers.write.next = true;
                    self.descs.read.next = true;
                    if self.payload_bytes.q.val().any() {
                        self.reads.next = true;
                        self.read_addr.d.next = self.laddr.q.val();
                        self.read_len.d.next = bit_cast::<16, 13>(self.payload_bytes.q.val());
                    }
                    self.step.d.next = Step::Wait;
                }
            }
            Step::Seek => {
                self.step.d.next = Step::Judge;
            }
            Step::Judge => {
                comment!("the last piece has what the others have not");
                self.step.d.next = Step::Take;
                if self.with_lists.val() {
                    self.before.d.next = (self.at.q.val() >= self.piece_row.val().end) & !self.last_piece.val();
                    self.ends_here.d.next = (self.piece_row.val().end >= self.until.q.val()) | self.last_piece.val();
                    self.inside.d.next = self.at.q.val() - self.begins.q.val();
                    if self.fault.val() == 31 {
                        self.inside.d.next = self.at.q.val();
                    }
                    self.piece_left.d.next = self.piece_row.val().end - self.at.q.val();
                    self.packet_left.d.next = self.until.q.val() - self.at.q.val();
                }
            }
            Step::Take => {
                if self.with_lists.val() & (self.before.q.val() | self.read_free.val()) {
                    self.piece.d.next = self.piece.q.val() + 1;
                    self.begins.d.next = self.piece_row.val().end;
                    self.step.d.next = Step::Seek;
                }
                if self.with_lists.val() & !self.before.q.val() & self.read_free.val() {
                    self.reads.next = true;
                    self.piece_ends.next = self.ends_here.q.val();
                    self.at.d.next = self.piece_row.val().end;
                    self.read_addr.d.next = self.piece_row.val().addr + bit_cast::<64, 32>(self.inside.q.val());
                    self.read_len.d.next = self.piece_left.q.val().get_bits::<16>(0);
                    if self.ends_here.q.val() {
                        self.read_len.d.next = self.packet_left.q.val().get_bits::<16>(0);
                        self.descs.read.next = true;
                        self.step.d.next = Step::Wait;
                    }
                }
            }
        }
        if self.reads.val() {
            self.read_valid.d.next = true;
        }
        self.piece_write.next = self.reads.val();
        self.piece_bytes.next = self.read_len.d.val().get_bits::<13>(0);
        comment!("a resend may wait while the original is acknowledged, its message ends and a later one takes the row");
        self.leaves.next = self.descs.read.val() & self.desc.val().rtx;
        self.comes.next = self.desc_valid.val() & !self.descs.full.val() & self.desc_rtx.val();
        self.outside.next = self.desc_valid.val() & self.descs.full.val() & self.desc_rtx.val();
        self.resends_next.next = self.resends.q.val();
        if self.comes.val() & !self.leaves.val() {
            self.resends_next.next = self.resends.q.val() + 1;
        } else if self.leaves.val() & !self.comes.val() {
            self.resends_next.next = self.resends.q.val() - 1;
        }
        self.resends.d.next = self.resends_next.val();
        self.message_gate.any.next = self.resends.q.val().any() | (self.desc_valid.val() & self.desc_rtx.val());
        self.message_gate.resends_next.next = self.resends_next.val();
        self.message_gate.outside.next = self.outside.val();
        self.message_gate.leaves.next = self.leaves.val();
        self.message_gate.ask.next = self.msgrow_ask.val();
        self.message_gate.written.next = self.msgrow_valid.val();
        self.msgrow_ready.next = self.message_gate.ready.val();
        self.response_gate.any.next = self.resends.q.val().any() | (self.desc_valid.val() & self.desc_rtx.val());
        self.response_gate.resends_next.next = self.resends_next.val();
        self.response_gate.outside.next = self.outside.val();
        self.response_gate.leaves.next = self.leaves.val();
        self.response_gate.ask.next = self.rsprow_ask.val();
        self.response_gate.written.next = self.rsprow_valid.val();
        self.rsprow_ready.next = self.response_gate.ready.val();
        comment!("towards the host's memory");
        self.dr_desc_valid.next = self.read_valid.q.val();
        self.dr_desc_addr.next = self.read_addr.q.val();
        self.dr_desc_len.next = self.read_len.q.val();
        comment!("the header, of which the layout's template fills what does not change");
        self.front4.next = self.front4_sent.val();
        self.front4.next.eth_dst_mac = self.net.row.val().peer_mac;
        self.front4.next.eth_src_mac = self.net.row.val().local_mac;
        self.front4.next.eth_ethertype = self.ethertype4.val();
        self.front4.next.ipv4_total_length = self.ipv4_bytes.q.val();
        self.front4.next.ipv4_checksum = self.checksum.q.val();
        self.front4.next.ipv4_src = self.net.row.val().local_ip.get_bits::<32>(0);
        self.front4.next.ipv4_dst = self.net.row.val().peer_ip.get_bits::<32>(0);
        self.front6.next = self.front6_sent.val();
        self.front6.next.eth_dst_mac = self.net.row.val().peer_mac;
        self.front6.next.eth_src_mac = self.net.row.val().local_mac;
        self.front6.next.eth_ethertype = self.ethertype6.val();
        self.front6.next.ipv6_payload_length = self.udp_bytes.q.val();
        self.front6.next.ipv6_src = self.net.row.val().local_ip;
        self.front6.next.ipv6_dst = self.net.row.val().peer_ip;
        self.back.next = self.back_sent.val();
        self.back.next.udp_src_port = self.desc.val().port;
        self.back.next.udp_length = self.udp_bytes.q.val();
        self.back.next.bth_opcode = self.behind.opcode.val();
        self.back.next.bth_dest_qp = self.row.val().peer_qpn;
        if self.of_response.val() {
            self.back.next.bth_dest_qp = self.response_row.val().peer_qpn;
        }
        if self.of_error.val() {
            self.back.next.bth_dest_qp = self.desc.val().index;
        }
        if self.is_nop.q.val() {
            self.back.next.bth_opcode = self.opcode_nop.val();
        }
        if self.is_probe.q.val() {
            self.back.next.bth_opcode = self.opcode_probe.val();
        }
        if !self.is_data.q.val() {
            comment!("S6: a NOP, too, belongs to its path alone");
            self.back.next.bth_dest_qp = self.path_qp.val();
        }
        self.back.next.bth_pad = self.pad.q.val();
        self.back.next.bth_ack_req = self.desc.val().ack_req;
        self.back.next.bth_ppsn = self.desc.val().ppsn;
        self.back.next.mph_rtx = self.desc.val().rtx;
        self.back.next.mph_moved = self.desc.val().moved;
        self.back.next.mph_home = bit_cast::<8, 3>(self.desc.val().home);
        self.back.next.mph_via = bit_cast::<8, 3>(self.desc.val().via);
        self.back.next.mph_tx_ts = self.desc.val().ts;
        self.back.next.mph_conn = self.net.row.val().peer_conn;
        if self.is_data.q.val() {
            self.back.next.msgh_first = self.desc.val().first;
            self.back.next.msgh_last = self.desc.val().last;
            self.back.next.msgh_imm = self.has_imm.q.val();
            self.back.next.msgh_attempt = self.with_sends.val() & self.of_message.val() & self.desc.val().attempt;
            self.back.next.msgh_sol = self.with_sends.val() & self.of_message.val() & self.send_row.val().solicited;
            self.back.next.msgh_fetch_add = (self.operation.q.val() == self.atomic_req_op.val()) & self.ask_row.val().fetch_add;
        }
        self.back.next.msgh_msn = self.desc.val().msn;
        self.front4_bits.next = self.front4.val().into();
        self.front6_bits.next = self.front6.val().into();
        self.back_bits.next = self.back.val().into();
        if self.is_probe.q.val() {
            self.back_bits.next = self.back_bits.val() & self.keep_probe.val();
        }
        comment!("what stands behind the headers of every message");
        self.behind.operation.next = self.operation.q.val();
        self.behind.has_imm.next = self.has_imm.q.val();
        self.behind.va.next = self.va.q.val();
        self.behind.offset.next = self.offset.q.val();
        self.behind.code.next = self.desc.val().qp.get_bits::<8>(0);
        self.behind.row.next = self.row.val();
        self.behind.send_row.next = self.send_row.val();
        self.behind.ask_row.next = self.ask_row.val();
        self.behind.response_row.next = self.response_row.val();
        self.made.next.payload_bytes = self.payload_bytes.q.val();
        self.made.next.ipv6 = self.ipv6.q.val();
        self.made.next.layout = (bit_cast::<2, 1>((self.operation.q.val() == self.send_op.val()).into()) << 1)
            | bit_cast::<2, 1>(self.has_imm.q.val().into());
        if self.ipv6.q.val() {
            self.made.next.header = (bit_cast::<PACKET_HEADER_BITS, { Ipv6Front::BITS }>(self.front6_bits.val())
                << self.shift_front6.val())
                | (bit_cast::<PACKET_HEADER_BITS, { MessageBack::BITS }>(self.back_bits.val()) << self.shift_back6.val())
                | bit_cast::<PACKET_HEADER_BITS, TAIL_BITS>(self.behind.tail.val());
            self.made.next.header_bytes = self.fixed_bytes.q.val() + self.before6.val();
        } else {
            self.made.next.header = (bit_cast::<PACKET_HEADER_BITS, { Ipv4Front::BITS }>(self.front4_bits.val())
                << self.shift_front4.val())
                | (bit_cast::<PACKET_HEADER_BITS, { MessageBack::BITS }>(self.back_bits.val()) << self.shift_back4.val())
                | (bit_cast::<PACKET_HEADER_BITS, TAIL_BITS>(self.behind.tail.val()) << self.shift_tail4.val());
            self.made.next.header_bytes = self.fixed_bytes.q.val() + self.before4.val();
        }
        self.headers.data_in.next = self.made.val();
        self.headers.read.next = self.header_ready.val();
        self.header_valid.next = !self.headers.empty.val();
        self.header_bits.next = self.headers.data_out.val().header;
        self.header_bytes.next = self.headers.data_out.val().header_bytes;
        self.header_payload_bytes.next = self.headers.data_out.val().payload_bytes;
        self.header_ipv6.next = self.headers.data_out.val().ipv6;
        self.header_layout.next = self.headers.data_out.val().layout;
        if self.reset.val() {
            self.step.d.next = Step::Wait;
            self.read_valid.d.next = false;
            self.resends.d.next = 0.into();
        }
    }
}
