//! rx_checks: checks 1 to 10 of docs/wire.md on the headers of a whole frame, then "unsupported" and "oversize"; a pipeline of four clocks.
//! In: `valid` with the fields, the form and the bytes received. Out: `record_valid` four clocks later with the first failed check.
//! Guarantees: the order of the checks; only WRITE, NOP, ACK and PROBE pass, with `sends` SEND and immediates, with `reads` READs,
//! atomics and responses. The value of an ATOMIC_RESP counts as its payload.
use super::rx_fields::{RxChecked, Uses};
use super::rx_layout::{constant, header_bytes, layout, opcode_header_bytes, opcode_value, FORMS};
use super::rx_rows::{RxAckHeader, RxHeader, RxRequestHeader};
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Reasons beyond the checks of the codec (11 is the ICRC).
pub const REASON_UNSUPPORTED: u64 = 12;
pub const REASON_OVERSIZE: u64 = 13;
/// Opcodes the table of header lengths has room for.
const OPCODES: usize = 16;

/// A judged frame.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxRecord {
    pub header: RxHeader,
    pub ack: RxAckHeader,
    pub request: RxRequestHeader,
    /// 0, or the first failed check.
    pub reason: Bits<4>,
    /// The payload buffer holds beats of this frame.
    pub stored: Bit,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RxChecks {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    pub header: Signal<In, RxHeader>,
    pub ack: Signal<In, RxAckHeader>,
    pub request: Signal<In, RxRequestHeader>,
    pub checked: Signal<In, RxChecked>,
    pub ipv4_words: Signal<In, Bits<160>>,
    pub vlan: Signal<In, Bit>,
    pub ipv4: Signal<In, Bit>,
    pub ipv6: Signal<In, Bit>,
    pub stored: Signal<In, Bit>,
    pub frame_bytes: Signal<In, Bits<22>>,
    pub record_valid: Signal<Out, Bit>,
    pub record: Signal<Out, RxRecord>,
    valid1: DFF<Bit>,
    header1: DFF<RxHeader>,
    ack1: DFF<RxAckHeader>,
    request1: DFF<RxRequestHeader>,
    checked1: DFF<RxChecked>,
    words1: DFF<Bits<160>>,
    ipv4_1: DFF<Bit>,
    known1: DFF<Bit>,
    stored1: DFF<Bit>,
    frame1: DFF<Bits<22>>,
    before1: DFF<Bits<22>>,
    inner1: DFF<Bits<22>>,
    total1: DFF<Bits<22>>,
    valid2: DFF<Bit>,
    header2: DFF<RxHeader>,
    ack2: DFF<RxAckHeader>,
    request2: DFF<RxRequestHeader>,
    checked2: DFF<RxChecked>,
    ipv4_2: DFF<Bit>,
    stored2: DFF<Bit>,
    short2: DFF<Bit>,
    total2: DFF<Bits<22>>,
    available2: DFF<Bits<22>>,
    need2: DFF<Bits<22>>,
    in_ip2: DFF<Bits<22>>,
    sum2: [DFF<Bits<18>>; 4],
    headers2: DFF<Bits<17>>,
    udp2: DFF<Bits<17>>,
    known_opcode2: DFF<Bit>,
    carries2: DFF<Bit>,
    supported2: DFF<Bit>,
    places2: DFF<Bit>,
    result2: DFF<Bit>,
    valid3: DFF<Bit>,
    header3: DFF<RxHeader>,
    ack3: DFF<RxAckHeader>,
    request3: DFF<RxRequestHeader>,
    stored3: DFF<Bit>,
    bad3: DFF<Bits<16>>,
    sum3: DFF<Bits<20>>,
    ipv4_3: DFF<Bit>,
    pad3: DFF<Bits<2>>,
    region3: DFF<Bits<17>>,
    places3: DFF<Bit>,
    result3: DFF<Bit>,
    valid4: DFF<Bit>,
    record4: DFF<RxRecord>,
    word: Signal<Local, Bits<16>>,
    part: Signal<Local, Bits<18>>,
    bad: Signal<Local, Bits<16>>,
    fold: Signal<Local, Bits<17>>,
    region: Signal<Local, Bits<17>>,
    all_bad: Signal<Local, Bits<16>>,
    reason: Signal<Local, Bits<4>>,
    judged: Signal<Local, RxHeader>,
    ip_at: [Constant<Bits<22>>; 4],
    inner: [Constant<Bits<22>>; 2],
    uncounted_ipv6: Constant<Bits<22>>,
    udp_bytes: Constant<Bits<22>>,
    udp_least: Constant<Bits<17>>,
    udp_and_crc: Constant<Bits<17>>,
    proto_udp: Constant<Bits<8>>,
    port: Constant<Bits<16>>,
    opcode: [Constant<Bits<8>>; OPCODES],
    opcode_known: [Constant<Bit>; OPCODES],
    opcode_bytes: [Constant<Bits<17>>; OPCODES],
    opcode_imm_bytes: [Constant<Bits<17>>; OPCODES],
    opcode_carries: [Constant<Bit>; OPCODES],
    opcode_supported: [Constant<Bit>; OPCODES],
    op_write: Constant<Bits<8>>,
    op_send: Constant<Bits<8>>,
    op_read_resp: Constant<Bits<8>>,
    op_atomic_resp: Constant<Bits<8>>,
    /// SENDs and immediates are of use.
    sends: Constant<Bit>,
    reads: Constant<Bit>,
    value_bytes: Constant<Bits<13>>,
}

impl RxChecks {
    /// Opcodes that are not of use do not pass.
    pub fn new(uses: Uses) -> Self {
        let opcodes = layout().opcodes;
        assert!(opcodes.len() <= OPCODES, "{} opcodes in the layout, room for {OPCODES}", opcodes.len());
        let common: usize = layout().common.iter().map(|h| header_bytes(h)).sum();
        let (udp, crc) = (header_bytes("UDP"), layout().icrc.len_bytes);
        let size = |n: usize| (n as u64).to_bits();
        let with_imm = |k: usize| opcodes[k].header_bytes + opcodes[k].when_imm.map_or(0, header_bytes);
        let supported = |k: usize| match opcodes[k].name {
            "WRITE" | "NOP" | "ACK" | "PROBE" => true,
            "SEND" => uses.sends,
            "READ_REQ" | "READ_RESP" | "ATOMIC_REQ" | "ATOMIC_RESP" | "ERROR_RESP" => uses.reads,
            _ => false,
        };
        debug_assert!(opcode_header_bytes("WRITE") > common);
        filled!(RxChecks {
            sum2: array_init::array_init(|_| Default::default()),
            ip_at: array_init::array_init(|f| Constant::new(size(FORMS[f].ip_at()))),
            inner: array_init::array_init(|v| Constant::new(size(header_bytes(FORMS[2 * v].ip())))),
            uncounted_ipv6: Constant::new(size(FORMS[2].uncounted_bytes())),
            udp_bytes: Constant::new(size(udp)),
            udp_least: Constant::new(((udp + common + crc) as u64).to_bits()),
            udp_and_crc: Constant::new(((udp + crc) as u64).to_bits()),
            proto_udp: Constant::new(constant("IP_PROTO_UDP").to_bits()),
            port: Constant::new(constant("UDP_PORT").to_bits()),
            opcode: array_init::array_init(|k| Constant::new(opcodes.get(k).map_or(0, |o| u64::from(o.value)).to_bits())),
            opcode_known: array_init::array_init(|k| Constant::new(k < opcodes.len())),
            opcode_bytes: array_init::array_init(|k| {
                Constant::new((opcodes.get(k).map_or(0, |o| o.header_bytes) as u64).to_bits())
            }),
            opcode_imm_bytes: array_init::array_init(|k| {
                Constant::new(if k < opcodes.len() { with_imm(k) as u64 } else { 0 }.to_bits())
            }),
            opcode_carries: array_init::array_init(|k| Constant::new(opcodes.get(k).is_some_and(|o| o.payload))),
            opcode_supported: array_init::array_init(|k| Constant::new(k < opcodes.len() && supported(k))),
            op_write: Constant::new(opcode_value("WRITE").to_bits()),
            op_send: Constant::new(opcode_value("SEND").to_bits()),
            op_read_resp: Constant::new(opcode_value("READ_RESP").to_bits()),
            op_atomic_resp: Constant::new(opcode_value("ATOMIC_RESP").to_bits()),
            sends: Constant::new(uses.sends),
            reads: Constant::new(uses.reads),
            value_bytes: Constant::new(size(header_bytes("ARH")).get_bits::<13>(0));
            clock, reset, valid, header, ack, request, checked, ipv4_words, vlan, ipv4, ipv6, stored, frame_bytes, record_valid, record,
            valid1, header1, ack1, request1, checked1, words1, ipv4_1, known1, stored1, frame1, before1, inner1, total1, valid2, header2,
            ack2, request2, checked2, ipv4_2, stored2, short2, total2, available2, need2, in_ip2, headers2, udp2, known_opcode2, carries2,
            supported2, places2, result2, valid3, header3, ack3, request3, stored3, bad3, sum3, ipv4_3, pad3, region3, places3, result3, valid4,
            record4, word, part, bad, fold, region, all_bad, reason,
            judged,
        })
    }
}

impl Logic for RxChecks {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rx_checks: the receiver's checks of a frame, in their order");
        dff_setup!(
            self,
            clock,
            valid1,
            header1,
            ack1,
            request1,
            checked1,
            words1,
            ipv4_1,
            known1,
            stored1,
            frame1,
            before1,
            inner1,
            total1,
            valid2,
            header2,
            ack2,
            request2,
            checked2,
            ipv4_2,
            stored2,
            short2,
            total2,
            available2,
            need2,
            in_ip2,
            headers2,
            udp2,
            known_opcode2,
            carries2,
            supported2,
            places2,
            result2,
            valid3,
            header3,
            ack3,
            request3,
            stored3,
            bad3,
            sum3,
            ipv4_3,
            pad3,
            region3,
            places3,
            result3,
            valid4,
            record4
        );
        comment!("clock 1: the fields; where the IP header starts, how long it is, what the length field says");
        self.valid1.d.next = self.valid.val();
        self.header1.d.next = self.header.val();
        self.ack1.d.next = self.ack.val();
        self.request1.d.next = self.request.val();
        self.checked1.d.next = self.checked.val();
        self.words1.d.next = self.ipv4_words.val();
        self.ipv4_1.d.next = self.ipv4.val();
        self.known1.d.next = self.ipv4.val() | self.ipv6.val();
        self.stored1.d.next = self.stored.val();
        self.frame1.d.next = self.frame_bytes.val();
        self.before1.d.next = self.ip_at[0].val();
        if self.vlan.val() {
            self.before1.d.next = self.ip_at[1].val();
        }
        self.inner1.d.next = self.inner[0].val();
        self.total1.d.next = bit_cast::<22, 16>(self.checked.val().length);
        if self.ipv6.val() {
            self.inner1.d.next = self.inner[1].val();
            self.total1.d.next = bit_cast::<22, 16>(self.checked.val().length) + self.uncounted_ipv6.val();
        }

        comment!("clock 2: differences, partial sums of the IPv4 header, properties of the opcode");
        self.valid2.d.next = self.valid1.q.val();
        self.header2.d.next = self.header1.q.val();
        self.ack2.d.next = self.ack1.q.val();
        self.request2.d.next = self.request1.q.val();
        self.checked2.d.next = self.checked1.q.val();
        self.ipv4_2.d.next = self.ipv4_1.q.val();
        self.stored2.d.next = self.stored1.q.val();
        self.total2.d.next = self.total1.q.val();
        self.need2.d.next = self.inner1.q.val() + self.udp_bytes.val();
        self.available2.d.next = self.frame1.q.val() - self.before1.q.val();
        self.short2.d.next = !self.known1.q.val()
            | (self.frame1.q.val() < ((self.before1.q.val() + self.inner1.q.val()) + self.udp_bytes.val()));
        self.in_ip2.d.next = self.total1.q.val() - self.inner1.q.val();
        self.udp2.d.next = bit_cast::<17, 16>(self.checked1.q.val().udp_length);
        for k in 0..4 {
            self.sum2[k].clock.next = self.clock.val();
            self.part.next = 0.into();
            self.word.next = self.words1.q.val().get_bits::<16>(k * 32);
            self.part.next = self.part.val() + bit_cast::<18, 16>(self.word.val());
            self.word.next = self.words1.q.val().get_bits::<16>(k * 32 + 16);
            self.part.next = self.part.val() + bit_cast::<18, 16>(self.word.val());
            if k < 2 {
                self.word.next = self.words1.q.val().get_bits::<16>(k * 16 + 128);
                self.part.next = self.part.val() + bit_cast::<18, 16>(self.word.val());
            }
            self.sum2[k].d.next = self.part.val();
        }
        self.headers2.d.next = 0.into();
        self.known_opcode2.d.next = false;
        self.carries2.d.next = false;
        self.supported2.d.next = false;
        self.places2.d.next = (self.header1.q.val().opcode == self.op_write.val())
            | (self.sends.val() & (self.header1.q.val().opcode == self.op_send.val()))
            | (self.reads.val() & (self.header1.q.val().opcode == self.op_read_resp.val()));
        self.result2.d.next = self.reads.val() & (self.header1.q.val().opcode == self.op_atomic_resp.val());
        for k in 0..16 {
            if self.opcode_known[k].val() & (self.header1.q.val().opcode == self.opcode[k].val()) {
                self.known_opcode2.d.next = true;
                self.headers2.d.next = self.opcode_bytes[k].val();
                if self.checked1.q.val().imm {
                    self.headers2.d.next = self.opcode_imm_bytes[k].val();
                }
                self.carries2.d.next = self.opcode_carries[k].val();
                self.supported2.d.next = self.opcode_supported[k].val();
            }
        }

        comment!("clock 3: the checks; bit n is check n");
        self.valid3.d.next = self.valid2.q.val();
        self.header3.d.next = self.header2.q.val();
        self.ack3.d.next = self.ack2.q.val();
        self.request3.d.next = self.request2.q.val();
        self.stored3.d.next = self.stored2.q.val();
        self.ipv4_3.d.next = self.ipv4_2.q.val();
        self.pad3.d.next = self.checked2.q.val().pad;
        self.places3.d.next = self.places2.q.val();
        self.result3.d.next = self.result2.q.val();
        self.sum3.d.next = (bit_cast::<20, 18>(self.sum2[0].q.val()) + bit_cast::<20, 18>(self.sum2[1].q.val()))
            + (bit_cast::<20, 18>(self.sum2[2].q.val()) + bit_cast::<20, 18>(self.sum2[3].q.val()));
        comment!("payload and pad: what UDP counts without its header, the opcode's headers and the ICRC");
        self.region.next = (self.udp2.q.val() - self.udp_and_crc.val()) - self.headers2.q.val();
        self.region3.d.next = self.region.val();
        self.bad.next = 0.into();
        self.bad.next = self.bad.val().replace_bit(1, self.short2.q.val());
        self.bad.next = self.bad.val().replace_bit(
            2,
            !self.checked2.q.val().ip_good
                | (self.total2.q.val() < self.need2.q.val())
                | (self.total2.q.val() > self.available2.q.val()),
        );
        self.bad.next = self.bad.val().replace_bit(4, self.checked2.q.val().protocol != self.proto_udp.val());
        self.bad.next = self.bad.val().replace_bit(5, self.checked2.q.val().port != self.port.val());
        self.bad.next = self.bad.val().replace_bit(
            6,
            (bit_cast::<22, 17>(self.udp2.q.val()) != self.in_ip2.q.val())
                | (self.udp2.q.val() < self.udp_least.val())
                | (self.udp2.q.val().get_bits::<2>(0) != 0),
        );
        self.bad.next = self.bad.val().replace_bit(7, !self.checked2.q.val().bth_good | !self.known_opcode2.q.val());
        self.bad.next = self.bad.val().replace_bit(8, !self.checked2.q.val().path_header_good);
        self.bad.next =
            self.bad.val().replace_bit(9, self.region.val().get_bit(16) | (self.region.val().any() & !self.carries2.q.val()));
        self.bad.next = self.bad.val().replace_bit(10, !self.region.val().any() & self.checked2.q.val().pad.any());
        self.bad.next = self
            .bad
            .val()
            .replace_bit(12, !self.supported2.q.val() | (self.places2.q.val() & self.checked2.q.val().imm & !self.sends.val()));
        self.bad.next = self.bad.val().replace_bit(13, self.region.val().get_bits::<3>(13) != 0);
        self.bad3.d.next = self.bad.val();

        comment!("clock 4: the first one that fails");
        self.valid4.d.next = self.valid3.q.val();
        self.fold.next = bit_cast::<17, 20>(self.sum3.q.val() & 0xFFFF) + bit_cast::<17, 20>(self.sum3.q.val() >> 16);
        self.all_bad.next = self.bad3.q.val();
        self.all_bad.next = self.all_bad.val().replace_bit(3, self.ipv4_3.q.val() & (self.fold.val() != 0xFFFF));
        self.reason.next = 0.into();
        for k in 1..14 {
            if (self.reason.val() == 0) & self.all_bad.val().get_bit(k) {
                self.reason.next = k.to_bits::<4>();
            }
        }
        self.record4.d.next.reason = self.reason.val();
        self.judged.next = self.header3.q.val();
        self.judged.next.payload_bytes = 0.into();
        if self.places3.q.val() {
            self.judged.next.payload_bytes = bit_cast::<13, 17>(self.region3.q.val() - bit_cast::<17, 2>(self.pad3.q.val()));
        }
        if self.result3.q.val() {
            self.judged.next.payload_bytes = self.value_bytes.val();
        }
        self.record4.d.next.header = self.judged.val();
        self.record4.d.next.ack = self.ack3.q.val();
        self.record4.d.next.request = self.request3.q.val();
        self.record4.d.next.stored = self.stored3.q.val();
        self.record_valid.next = self.valid4.q.val();
        self.record.next = self.record4.q.val();
        if self.reset.val() {
            self.valid1.d.next = false;
            self.valid2.d.next = false;
            self.valid3.d.next = false;
            self.valid4.d.next = false;
        }
    }
}
