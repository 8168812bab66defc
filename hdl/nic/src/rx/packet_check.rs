//! packet_check: what a packet is and whether it may be placed: R1, who has a class (R2), then R3, Q2, Q3, D2 and D3 in their order.
//! In: the header, stable from clock 1 of a step; its rows with `load` in clock 1; the answers of path_tracker, message_tracker,
//! recv_queue, request_places, read_table and key_check. Out: kinds and `allowed` from clock 3 on, the class from clock 4 on, `code` and what else becomes of the
//! packet one clock after the last answer, until the next `load`.
use super::rx_layout::opcode_value;
use super::rx_rows::{RxAccessRow, RxConnRow, RxHeader, RxQpRow};
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct PacketCheck {
    pub clock: Signal<In, Clock>,
    /// Fault 6: a duplicate is placed again; 29: what the QP allows is not looked at.
    pub fault: Signal<In, Bits<5>>,
    pub header: Signal<In, RxHeader>,
    /// The step is one of the timer: there is no packet.
    pub timer: Signal<In, Bit>,
    pub load: Signal<In, Bit>,
    pub conn_row: Signal<In, RxConnRow>,
    pub qp_row: Signal<In, RxQpRow>,
    /// What the QP allows.
    pub access: Signal<In, RxAccessRow>,
    /// D8: the connection was given up.
    pub given_up: Signal<In, Bit>,
    /// completion's error bit of the QP.
    pub qp_error: Signal<In, Bit>,
    /// Class of the PPSN, from clock 3 on.
    pub verdict: Signal<In, Bits<2>>,
    /// From clock 4 on.
    pub fits: Signal<In, Bit>,
    /// N4: the message is complete already.
    pub complete: Signal<In, Bit>,
    pub key_code: Signal<In, Bits<2>>,
    /// recv_queue, from clock 3 on: 0 the receive of a consuming packet, 1 not posted, 2 not one for it, 3 one of a shared queue that the packet
    /// takes, perhaps its last one; and the bytes it has room for.
    pub found: Signal<In, Bits<2>>,
    pub last: Signal<In, Bit>,
    /// From clock 4 on: exp has come to the message.
    pub at_exp: Signal<In, Bit>,
    pub receive_bytes: Signal<In, Bits<32>>,
    /// request_places, from clock 3 on: the QP answers no requests; it is in Error, and its requests were answered (D7).
    pub places_none: Signal<In, Bit>,
    pub places_failed: Signal<In, Bit>,
    /// From clock 4 on: there is a place for the request (D3).
    pub places_room: Signal<In, Bit>,
    /// read_table, from clock 4 on: a message waits for this response (D6).
    pub response_used: Signal<In, Bit>,
    pub write: Signal<Out, Bit>,
    pub send: Signal<Out, Bit>,
    /// READ_REQ or ATOMIC_REQ; their length stands in the header, 8 of an atomic.
    pub ask: Signal<Out, Bit>,
    /// READ_RESP, ATOMIC_RESP, ERROR_RESP: never refused.
    pub response: Signal<Out, Bit>,
    /// With `code`: a response of use (D6, D7).
    pub used: Signal<Out, Bit>,
    /// Of a consuming message.
    pub consuming: Signal<Out, Bit>,
    pub probe: Signal<Out, Bit>,
    pub ack: Signal<Out, Bit>,
    /// R1; of a timer step: the connection is open.
    pub allowed: Signal<Out, Bit>,
    pub bad_qp: Signal<Out, Bit>,
    /// The QP's row as loaded.
    pub qp: Signal<Out, RxQpRow>,
    pub fresh: Signal<Out, Bit>,
    pub duplicate: Signal<Out, Bit>,
    pub outside: Signal<Out, Bit>,
    /// R3: 0, or the nak code a new packet is refused with.
    pub code: Signal<Out, Bits<3>>,
    /// Q2: refused for now.
    pub rnr: Signal<Out, Bit>,
    /// The QP's RNR timer as loaded.
    pub rnr_timer: Signal<Out, Bits<5>>,
    /// With `rnr`: because no place is free (D3).
    pub busy: Signal<Out, Bit>,
    /// R4: the QP, which is not in Error yet, goes there.
    pub fails: Signal<Out, Bit>,
    /// R3 saw the QP in Error.
    pub qp_failed: Signal<Out, Bit>,
    /// From clock 4 on: a receive is needed; with `code`: and it was found.
    pub looks: Signal<Out, Bit>,
    pub finds: Signal<Out, Bit>,
    /// Q3: how the receive completes if its QP fails by it: 0, or the completion's status.
    pub failed: Signal<Out, Bits<8>>,
    /// N4: accepted, but not placed and not counted for its message. With `code`.
    pub late: Signal<Out, Bit>,
    /// Fault 6 places this duplicate.
    pub again: Signal<Out, Bit>,
    // clock 1
    conn_r: DFF<RxConnRow>,
    given_up_r: DFF<Bit>,
    qp_r: DFF<RxQpRow>,
    access_r: DFF<RxAccessRow>,
    error_r: DFF<Bit>,
    is_write: DFF<Bit>,
    is_send: DFF<Bit>,
    is_read: DFF<Bit>,
    is_atomic: DFF<Bit>,
    is_response: DFF<Bit>,
    has_imm: DFF<Bit>,
    is_nop: DFF<Bit>,
    is_probe: DFF<Bit>,
    is_ack: DFF<Bit>,
    // clock 2
    allowed_r: DFF<Bit>,
    bad_qp_r: DFF<Bit>,
    qp_failed_r: DFF<Bit>,
    too_long: DFF<Bit>,
    touches_key: DFF<Bit>,
    places: DFF<Bit>,
    permits: DFF<Bit>,
    unaligned: DFF<Bit>,
    huge: DFF<Bit>,
    end: DFF<Bits<33>>,
    // clock 3
    fresh_r: DFF<Bit>,
    duplicate_r: DFF<Bit>,
    outside_r: DFF<Bit>,
    looks_r: DFF<Bit>,
    beyond_end: DFF<Bit>,
    // the clock of the last answer; of a SEND that is the key's
    beyond_receive: DFF<Bit>,
    code_r: DFF<Bits<3>>,
    rnr_r: DFF<Bit>,
    busy_r: DFF<Bit>,
    used_r: DFF<Bit>,
    late_r: DFF<Bit>,
    fails_r: DFF<Bit>,
    finds_r: DFF<Bit>,
    failed_r: DFF<Bits<8>>,
    data: Signal<Local, Bit>,
    request: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    spared: Signal<Local, Bit>,
    in_error: Signal<Local, Bit>,
    searching: Signal<Local, Bit>,
    refusal: Signal<Local, Bits<3>>,
    moves: Signal<Local, Bit>,
    classed: Signal<Local, Bit>,
    home_over: Signal<Local, Bits<8>>,
    via_over: Signal<Local, Bits<8>>,
    op_write: Constant<Bits<8>>,
    op_send: Constant<Bits<8>>,
    sends: Constant<Bit>,
    reads: Constant<Bit>,
    op_read_req: Constant<Bits<8>>,
    op_atomic_req: Constant<Bits<8>>,
    op_read_resp: Constant<Bits<8>>,
    op_atomic_resp: Constant<Bits<8>>,
    op_error_resp: Constant<Bits<8>>,
    op_nop: Constant<Bits<8>>,
    op_probe: Constant<Bits<8>>,
    op_ack: Constant<Bits<8>>,
    conn_count: Constant<Bits<24>>,
    qp_count: Constant<Bits<24>>,
}

fn opcode(name: &str) -> Constant<Bits<8>> {
    Constant::new(opcode_value(name).to_bits())
}

impl PacketCheck {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(PacketCheck {
            op_write: opcode("WRITE"),
            op_send: opcode("SEND"),
            sends: Constant::new(config.sends),
            reads: Constant::new(config.reads),
            op_read_req: opcode("READ_REQ"),
            op_atomic_req: opcode("ATOMIC_REQ"),
            op_read_resp: opcode("READ_RESP"),
            op_atomic_resp: opcode("ATOMIC_RESP"),
            op_error_resp: opcode("ERROR_RESP"),
            op_nop: opcode("NOP"),
            op_probe: opcode("PROBE"),
            op_ack: opcode("ACK"),
            conn_count: Constant::new((config.conns as u64).to_bits()),
            qp_count: Constant::new((config.qps as u64).to_bits());
            clock, fault, header, timer, load, conn_row, qp_row, access, access_r, given_up, given_up_r, qp_error, verdict, fits, complete, key_code, found, last, at_exp, receive_bytes,
            places_none, places_failed, places_room, response_used, write, send, ask, response, used, busy, consuming, probe, ack, allowed, bad_qp, qp, fresh, duplicate, outside, code, rnr, rnr_timer, fails, qp_failed,
            looks, finds, failed, late, again, conn_r, qp_r, error_r, is_write, is_send, is_read,
            is_atomic, is_response, has_imm, is_nop, is_probe, is_ack, permits, unaligned, huge, busy_r, used_r, asks, spared, in_error, allowed_r, bad_qp_r, qp_failed_r, too_long, touches_key, places, end, fresh_r, duplicate_r, outside_r, looks_r,
            beyond_end, beyond_receive, code_r, rnr_r, late_r, fails_r, finds_r, failed_r, data, request, searching, refusal, moves,
            classed, home_over, via_over,
        })
    }
}

impl Logic for PacketCheck {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module packet_check: kind, class and verdict of a packet (R1 to R3)");
        dff_setup!(
            self,
            clock,
            conn_r,
            given_up_r,
            qp_r,
            access_r,
            error_r,
            is_write,
            is_send,
            is_read,
            is_atomic,
            is_response,
            has_imm,
            is_nop,
            is_probe,
            is_ack,
            allowed_r,
            bad_qp_r,
            qp_failed_r,
            too_long,
            touches_key,
            places,
            permits,
            unaligned,
            huge,
            end,
            fresh_r,
            duplicate_r,
            outside_r,
            looks_r,
            beyond_end,
            beyond_receive,
            code_r,
            rnr_r,
            busy_r,
            used_r,
            late_r,
            fails_r,
            finds_r,
            failed_r
        );
        comment!("clock 1: the rows; a timer step has no opcode");
        if self.load.val() {
            self.conn_r.d.next = self.conn_row.val();
            self.given_up_r.d.next = self.reads.val() & !self.timer.val() & self.given_up.val();
            self.qp_r.d.next = self.qp_row.val();
            self.access_r.d.next = self.access.val();
            self.error_r.d.next = self.qp_error.val();
            self.is_write.d.next = !self.timer.val() & (self.header.val().opcode == self.op_write.val());
            self.is_send.d.next = self.sends.val() & !self.timer.val() & (self.header.val().opcode == self.op_send.val());
            self.is_read.d.next = self.reads.val() & !self.timer.val() & (self.header.val().opcode == self.op_read_req.val());
            self.is_atomic.d.next =
                self.reads.val() & !self.timer.val() & (self.header.val().opcode == self.op_atomic_req.val());
            self.is_response.d.next = self.reads.val()
                & !self.timer.val()
                & ((self.header.val().opcode == self.op_read_resp.val())
                    | (self.header.val().opcode == self.op_atomic_resp.val())
                    | (self.header.val().opcode == self.op_error_resp.val()));
            self.has_imm.d.next = self.sends.val() & self.header.val().has_imm;
            self.is_nop.d.next = !self.timer.val() & (self.header.val().opcode == self.op_nop.val());
            self.is_probe.d.next = !self.timer.val() & (self.header.val().opcode == self.op_probe.val());
            self.is_ack.d.next = !self.timer.val() & (self.header.val().opcode == self.op_ack.val());
        }
        self.asks.next = self.is_read.q.val() | self.is_atomic.q.val();
        self.request.next = self.is_write.q.val() | self.is_send.q.val() | self.asks.val();
        self.data.next = self.request.val() | self.is_nop.q.val() | self.is_response.q.val();

        comment!("clock 2, R1: an opcode of this stage, an open connection, home and via among its paths; the QP part of R3");
        self.home_over.next = self.header.val().home >> self.conn_r.q.val().paths_log2;
        self.via_over.next = self.header.val().via >> self.conn_r.q.val().paths_log2;
        self.allowed_r.d.next = (bit_cast::<24, 16>(self.header.val().conn) < self.conn_count.val())
            & self.conn_r.q.val().open
            & (self.timer.val() | self.data.val() | self.is_probe.q.val() | self.is_ack.q.val())
            & (!self.given_up_r.q.val() | self.is_ack.q.val())
            & (self.home_over.val() == 0)
            & (self.via_over.val() == 0);
        self.bad_qp_r.d.next = (self.header.val().dest_qp >= self.qp_count.val())
            | !self.qp_r.q.val().open
            | (self.qp_r.q.val().conn != self.header.val().conn);
        self.qp_failed_r.d.next = self.error_r.q.val() | self.qp_r.q.val().failed;
        self.too_long.d.next =
            bit_cast::<17, 13>(self.header.val().payload_bytes) > (bits::<17>(1) << self.conn_r.q.val().mtu_log2);
        self.touches_key.d.next = self.header.val().length.any();
        self.places.d.next = self.header.val().payload_bytes.any();
        comment!("D2: what the queue pair allows");
        self.permits.d.next = self.is_send.q.val()
            | (self.is_write.q.val() & self.access_r.q.val().remote_write)
            | (self.is_read.q.val() & self.access_r.q.val().remote_read)
            | (self.is_atomic.q.val() & self.access_r.q.val().remote_atomic)
            | (self.fault.val() == 29);
        self.unaligned.d.next = self.is_atomic.q.val() & self.header.val().va.get_bits::<3>(0).any();
        self.huge.d.next =
            self.is_read.q.val() & self.header.val().length.get_bit(31) & self.header.val().length.get_bits::<31>(0).any();
        self.end.d.next =
            bit_cast::<33, 32>(self.header.val().va.get_bits::<32>(0)) + bit_cast::<33, 13>(self.header.val().payload_bytes);

        comment!("clock 3, R2: only a packet that passed R1 and carries a PPSN has a class");
        self.classed.next = self.allowed_r.q.val() & self.data.val();
        self.fresh_r.d.next = self.classed.val() & (self.verdict.val() == 0);
        self.duplicate_r.d.next = self.classed.val() & (self.verdict.val() == 1);
        self.outside_r.d.next = self.classed.val() & (self.verdict.val() == 2);

        comment!("Q2: only a new packet whose QP is all right needs a receive; Q3: where a SEND ends in its message");
        self.searching.next = self.is_send.q.val() | (self.is_write.q.val() & self.has_imm.q.val());
        self.looks_r.d.next = self.classed.val()
            & (self.verdict.val() == 0)
            & self.searching.val()
            & !self.bad_qp_r.q.val()
            & !self.qp_failed_r.q.val();
        self.beyond_end.d.next = self.end.q.val() > bit_cast::<33, 32>(self.header.val().length);
        self.beyond_receive.d.next = self.header.val().length > self.receive_bytes.val();

        comment!("clock 4 and later: R3, N4, Q2, Q3, D2, D3 in their order");
        self.refusal.next = 0.into();
        self.moves.next = true;
        self.rnr_r.d.next = false;
        self.busy_r.d.next = false;
        self.in_error.next = self.qp_failed_r.q.val() | (self.asks.val() & self.places_failed.val());
        comment!("Q1: the last receive of a shared queue is for the message that exp has come to");
        self.spared.next = (self.found.val() == 3) & self.last.val() & !self.at_exp.val();
        self.late_r.d.next = false;
        self.failed_r.d.next = 0.into();
        if self.request.val() {
            if self.bad_qp_r.q.val() {
                self.refusal.next = 4.into();
                self.moves.next = false;
            } else if self.in_error.val() {
                self.refusal.next = 6.into();
                self.moves.next = false;
            } else if self.complete.val() {
                self.late_r.d.next = true;
            } else if self.searching.val() & (self.found.val() == 1) {
                self.rnr_r.d.next = true;
            } else if (self.searching.val() & (self.found.val() == 2)) | self.too_long.q.val() | !self.fits.val() {
                self.refusal.next = 7.into();
            } else if self.searching.val() & self.spared.val() {
                self.rnr_r.d.next = true;
                self.busy_r.d.next = true;
            } else if self.is_send.q.val() {
                if self.beyond_receive.q.val() {
                    self.refusal.next = 7.into();
                    self.failed_r.d.next = 1.into();
                } else if self.beyond_end.q.val() {
                    self.refusal.next = 7.into();
                } else if self.places.q.val() & self.key_code.val().any() {
                    self.refusal.next = 6.into();
                    self.failed_r.d.next = 4.into();
                }
            } else if self.unaligned.q.val() {
                self.refusal.next = 5.into();
            } else if !self.permits.q.val() | (self.asks.val() & self.places_none.val()) {
                self.refusal.next = 2.into();
            } else if self.huge.q.val() {
                self.refusal.next = 7.into();
            } else if self.touches_key.q.val() & self.key_code.val().any() {
                self.refusal.next = bit_cast::<3, 2>(self.key_code.val());
            } else if self.asks.val() & !self.places_room.val() {
                self.rnr_r.d.next = true;
                self.busy_r.d.next = true;
            }
        }
        comment!("D6: a response is judged by what its message waits for");
        self.used_r.d.next = self.is_response.q.val()
            & !self.bad_qp_r.q.val()
            & !self.qp_failed_r.q.val()
            & !self.too_long.q.val()
            & self.response_used.val();
        self.code_r.d.next = self.refusal.val();
        self.fails_r.d.next = self.moves.val() & self.refusal.val().any();
        self.finds_r.d.next = self.looks_r.q.val()
            & !self.complete.val()
            & ((self.found.val() == 0)
                | ((self.found.val() == 3) & self.fits.val() & !self.too_long.q.val() & !self.spared.val()));
        self.again.next =
            (self.fault.val() == 6) & self.duplicate_r.q.val() & self.is_write.q.val() & !self.key_code.val().any();

        self.write.next = self.is_write.q.val();
        self.send.next = self.is_send.q.val();
        self.ask.next = self.asks.val();
        self.response.next = self.is_response.q.val();
        self.used.next = self.used_r.q.val();
        self.consuming.next = self.searching.val();
        self.probe.next = self.is_probe.q.val();
        self.ack.next = self.is_ack.q.val();
        self.allowed.next = self.allowed_r.q.val();
        self.bad_qp.next = self.bad_qp_r.q.val();
        self.qp.next = self.qp_r.q.val();
        self.fresh.next = self.fresh_r.q.val();
        self.duplicate.next = self.duplicate_r.q.val();
        self.outside.next = self.outside_r.q.val();
        self.code.next = self.code_r.q.val();
        self.rnr.next = self.rnr_r.q.val();
        self.rnr_timer.next = self.access_r.q.val().rnr_timer;
        self.busy.next = self.busy_r.q.val();
        self.late.next = self.late_r.q.val();
        self.fails.next = self.fails_r.q.val();
        self.qp_failed.next = self.in_error.val();
        self.looks.next = self.looks_r.q.val();
        self.finds.next = self.finds_r.q.val();
        self.failed.next = self.failed_r.q.val();
    }
}
