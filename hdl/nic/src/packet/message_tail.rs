//! message_tail: opcode of a data packet, and the headers behind those of every message.
//! In: the operation, the rows it is built from, address and offset of the packet. Out: `opcode` and `tail`, the first byte in the most
//! significant bits, in the same clock. Guarantees that bits behind the tail's end are 0, as are all of a packet without one.
use super::headers::*;
use super::packet_builder::{MsgRow, SendRow};
use crate::filled::filled;
use crate::rx::request_places::rows::ResponseRow;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// Values of `operation`; 0 is a packet without a tail.
pub const WRITE: u64 = 1;
pub const SEND: u64 = 2;
pub const READ_REQ: u64 = 3;
pub const ATOMIC_REQ: u64 = 4;
pub const READ_RESP: u64 = 5;
pub const ATOMIC_RESP: u64 = 6;
pub const ERROR_RESP: u64 = 7;

/// Of READs and atomics, in a build with them.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct AskRow {
    pub is_read: Bit,
    pub is_atomic: Bit,
    pub fetch_add: Bit,
    pub tag: Bits<32>,
    pub swap_add: Bits<64>,
    pub compare: Bits<64>,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct MessageTail {
    pub operation: Signal<In, Bits<3>>,
    /// Of a WRITE or SEND: with an immediate.
    pub has_imm: Signal<In, Bit>,
    pub va: Signal<In, Bits<64>>,
    pub offset: Signal<In, Bits<32>>,
    /// Of an ERROR_RESP.
    pub code: Signal<In, Bits<8>>,
    pub row: Signal<In, MsgRow>,
    pub send_row: Signal<In, SendRow>,
    pub ask_row: Signal<In, AskRow>,
    pub response_row: Signal<In, ResponseRow>,
    pub opcode: Signal<Out, Bits<8>>,
    pub tail: Signal<Out, Bits<TAIL_BITS>>,
    write: Signal<Local, WriteTail>,
    send: Signal<Local, SendTail>,
    imm: Signal<Local, ImmTail>,
    read_req: Signal<Local, ReadReqTail>,
    atomic_req: Signal<Local, AtomicReqTail>,
    atomic_resp: Signal<Local, AtomicRespTail>,
    error_resp: Signal<Local, ErrorRespTail>,
    write_bits: Signal<Local, Bits<{ WriteTail::BITS }>>,
    send_bits: Signal<Local, Bits<{ SendTail::BITS }>>,
    imm_bits: Signal<Local, Bits<{ ImmTail::BITS }>>,
    read_req_bits: Signal<Local, Bits<{ ReadReqTail::BITS }>>,
    atomic_req_bits: Signal<Local, Bits<{ AtomicReqTail::BITS }>>,
    atomic_resp_bits: Signal<Local, Bits<{ AtomicRespTail::BITS }>>,
    error_resp_bits: Signal<Local, Bits<{ ErrorRespTail::BITS }>>,
    imm_tail: Signal<Local, Bits<TAIL_BITS>>,
    reads: Constant<Bit>,
    write_sent: Constant<WriteTail>,
    send_sent: Constant<SendTail>,
    imm_sent: Constant<ImmTail>,
    read_req_sent: Constant<ReadReqTail>,
    atomic_req_sent: Constant<AtomicReqTail>,
    atomic_resp_sent: Constant<AtomicRespTail>,
    error_resp_sent: Constant<ErrorRespTail>,
    shift_write: Constant<Bits<16>>,
    shift_write_imm: Constant<Bits<16>>,
    shift_send: Constant<Bits<16>>,
    shift_send_imm: Constant<Bits<16>>,
    shift_read_req: Constant<Bits<16>>,
    shift_atomic_req: Constant<Bits<16>>,
    shift_atomic_resp: Constant<Bits<16>>,
    shift_error_resp: Constant<Bits<16>>,
    opcode_write: Constant<Bits<8>>,
    opcode_send: Constant<Bits<8>>,
    opcode_read_req: Constant<Bits<8>>,
    opcode_atomic_req: Constant<Bits<8>>,
    opcode_read_resp: Constant<Bits<8>>,
    opcode_atomic_resp: Constant<Bits<8>>,
    opcode_error_resp: Constant<Bits<8>>,
}

fn opcode(name: &str) -> Constant<Bits<8>> {
    Constant::new(opcode_value(name).into())
}

impl MessageTail {
    /// `reads`: operations above SEND come.
    pub fn new(reads: bool) -> Self {
        filled!(MessageTail {
            reads: Constant::new(reads),
            write_sent: Constant::new(WriteTail::as_sent()),
            send_sent: Constant::new(SendTail::as_sent()),
            imm_sent: Constant::new(ImmTail::as_sent()),
            read_req_sent: Constant::new(ReadReqTail::as_sent()),
            atomic_req_sent: Constant::new(AtomicReqTail::as_sent()),
            atomic_resp_sent: Constant::new(AtomicRespTail::as_sent()),
            error_resp_sent: Constant::new(ErrorRespTail::as_sent()),
            shift_write: number(TAIL_BITS - WriteTail::BITS),
            shift_write_imm: number(TAIL_BITS - WriteTail::BITS - ImmTail::BITS),
            shift_send: number(TAIL_BITS - SendTail::BITS),
            shift_send_imm: number(TAIL_BITS - SendTail::BITS - ImmTail::BITS),
            shift_read_req: number(TAIL_BITS - ReadReqTail::BITS),
            shift_atomic_req: number(TAIL_BITS - AtomicReqTail::BITS),
            shift_atomic_resp: number(TAIL_BITS - AtomicRespTail::BITS),
            shift_error_resp: number(TAIL_BITS - ErrorRespTail::BITS),
            opcode_write: opcode("WRITE"),
            opcode_send: opcode("SEND"),
            opcode_read_req: opcode("READ_REQ"),
            opcode_atomic_req: opcode("ATOMIC_REQ"),
            opcode_read_resp: opcode("READ_RESP"),
            opcode_atomic_resp: opcode("ATOMIC_RESP"),
            opcode_error_resp: opcode("ERROR_RESP");
            operation, has_imm, va, offset, code, row, send_row, ask_row, response_row, write, send, imm, read_req,
            atomic_req, atomic_resp, error_resp, write_bits, send_bits, imm_bits, read_req_bits, atomic_req_bits, atomic_resp_bits,
            error_resp_bits, imm_tail, tail,
            opcode,
        })
    }
}

impl Logic for MessageTail {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module message_tail: opcode of a data packet, and what stands behind the headers of every message");
        self.write.next = self.write_sent.val();
        self.write.next.plh_va = self.va.val();
        self.write.next.plh_rkey = self.row.val().rkey;
        self.write.next.plh_length = self.row.val().length;
        if self.reads.val() & (self.operation.val() == 5) {
            // D4: the tag stands in place of the key
            self.write.next.plh_rkey = self.response_row.val().tag;
            self.write.next.plh_length = self.response_row.val().length;
        }
        self.send.next = self.send_sent.val();
        self.send.next.sndh_rq_seq = self.send_row.val().rq_seq;
        self.send.next.sndh_offset = self.offset.val();
        self.send.next.sndh_length = self.row.val().length;
        self.imm.next = self.imm_sent.val();
        self.imm.next.immh_immediate = self.send_row.val().imm;
        self.imm.next.immh_rq_seq = self.send_row.val().rq_seq;
        self.read_req.next = self.read_req_sent.val();
        self.read_req.next.rdh_va = self.va.val();
        self.read_req.next.rdh_rkey = self.row.val().rkey;
        self.read_req.next.rdh_length = self.row.val().length;
        self.read_req.next.rdh_tag = self.ask_row.val().tag;
        self.atomic_req.next = self.atomic_req_sent.val();
        self.atomic_req.next.ath_va = self.va.val();
        self.atomic_req.next.ath_rkey = self.row.val().rkey;
        self.atomic_req.next.ath_swap_add = self.ask_row.val().swap_add;
        self.atomic_req.next.ath_compare = self.ask_row.val().compare;
        self.atomic_resp.next = self.atomic_resp_sent.val();
        self.atomic_resp.next.arh_value = self.response_row.val().base;
        self.error_resp.next = self.error_resp_sent.val();
        self.error_resp.next.erh_code = self.code.val();
        self.write_bits.next = self.write.val().into();
        self.send_bits.next = self.send.val().into();
        self.imm_bits.next = self.imm.val().into();
        self.read_req_bits.next = self.read_req.val().into();
        self.atomic_req_bits.next = self.atomic_req.val().into();
        self.atomic_resp_bits.next = self.atomic_resp.val().into();
        self.error_resp_bits.next = self.error_resp.val().into();
        self.imm_tail.next = 0.into();
        if self.has_imm.val() {
            self.imm_tail.next = bit_cast::<TAIL_BITS, { ImmTail::BITS }>(self.imm_bits.val());
        }
        self.opcode.next = self.opcode_write.val();
        self.tail.next = 0.into();
        if (self.operation.val() == 1) | (self.reads.val() & (self.operation.val() == 5)) {
            self.tail.next = (bit_cast::<TAIL_BITS, { WriteTail::BITS }>(self.write_bits.val()) << self.shift_write.val())
                | (self.imm_tail.val() << self.shift_write_imm.val());
        }
        if self.operation.val() == 2 {
            self.opcode.next = self.opcode_send.val();
            self.tail.next = (bit_cast::<TAIL_BITS, { SendTail::BITS }>(self.send_bits.val()) << self.shift_send.val())
                | (self.imm_tail.val() << self.shift_send_imm.val());
        }
        if self.reads.val() {
            if self.operation.val() == 3 {
                self.opcode.next = self.opcode_read_req.val();
                self.tail.next =
                    bit_cast::<TAIL_BITS, { ReadReqTail::BITS }>(self.read_req_bits.val()) << self.shift_read_req.val();
            }
            if self.operation.val() == 4 {
                self.opcode.next = self.opcode_atomic_req.val();
                self.tail.next =
                    bit_cast::<TAIL_BITS, { AtomicReqTail::BITS }>(self.atomic_req_bits.val()) << self.shift_atomic_req.val();
            }
            if self.operation.val() == 5 {
                self.opcode.next = self.opcode_read_resp.val();
            }
            if self.operation.val() == 6 {
                self.opcode.next = self.opcode_atomic_resp.val();
                self.tail.next = bit_cast::<TAIL_BITS, { AtomicRespTail::BITS }>(self.atomic_resp_bits.val())
                    << self.shift_atomic_resp.val();
            }
            if self.operation.val() == 7 {
                self.opcode.next = self.opcode_error_resp.val();
                self.tail.next =
                    bit_cast::<TAIL_BITS, { ErrorRespTail::BITS }>(self.error_resp_bits.val()) << self.shift_error_resp.val();
            }
        }
    }
}
