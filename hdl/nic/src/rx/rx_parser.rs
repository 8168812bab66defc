//! rx_parser: frames in; headers of good frames and their payload out (checks 1 to 11 of docs/wire.md, then "unsupported").
//! In: `mac_rx_*`. Out: `hdr` records in frame order, `pl` with one packet for each record with payload, `commit_drop`.
//! Guarantees: a frame is judged as a whole; the payload of a bad one never leaves the buffer; one beat a clock, no idle ones;
//! a frame is only let in when its record has room, and no frame needs more buffer than there is.
use super::rx_checks::{RxChecks, RxRecord};
use super::rx_fields::{RxFields, Uses};
use super::rx_layout::{constant, crc_initial, crc_residue, field, header_at, header_bytes, opcode_value, payload_at, FORMS};
use super::rx_rows::{RxAckHeader, RxHeader, RxRequestHeader};
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::{Crc32Pipe, Fifo, LastOne64};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Frames between their first beat and their verdict, at most.
const UNDECIDED_FRAMES: usize = 15;
/// What decides where the payload starts: the form of the frame + 4 * (0 WRITE, 1 SEND, 2 READ_RESP, 3 ATOMIC_RESP, whose payload is the
/// value) + 16 if it has an immediate.
const VARIANTS: usize = 32;
/// Places in a beat where a payload may start.
const LANES: usize = 16;
/// Beats with bytes that the CRC reads otherwise, at the narrowest width.
const MASKED_BEATS: usize = 9;
/// `commit_drop_reason` of a frame with a wrong ICRC; lower ones are the checks of docs/wire.md.
pub const REASON_ICRC: u64 = 11;

/// A good frame.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct GoodFrame {
    pub header: RxHeader,
    pub ack: RxAckHeader,
    pub request: RxRequestHeader,
}

/// `K` is W / 8, `NB` the beats that hold all headers: (64, 8, 18), (128, 16, 9), (512, 64, 3). See the module documentation.
#[derive(LogicBlock)]
pub struct RxParser<const W: usize, const K: usize, const NB: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 10: the ICRC is not checked.
    pub fault: Signal<In, Bits<5>>,
    pub mac_rx_tvalid: Signal<In, Bit>,
    pub mac_rx_tready: Signal<Out, Bit>,
    pub mac_rx_tdata: Signal<In, Bits<W>>,
    /// Looked at with `tlast` only.
    pub mac_rx_tkeep: Signal<In, Bits<K>>,
    pub mac_rx_tlast: Signal<In, Bit>,
    pub hdr_valid: Signal<Out, Bit>,
    pub hdr_ready: Signal<In, Bit>,
    pub hdr_opcode: Signal<Out, Bits<8>>,
    pub hdr_ack_req: Signal<Out, Bit>,
    pub hdr_ppsn: Signal<Out, Bits<24>>,
    pub hdr_dest_qp: Signal<Out, Bits<24>>,
    pub hdr_ecn_ce: Signal<Out, Bit>,
    pub hdr_home: Signal<Out, Bits<8>>,
    pub hdr_via: Signal<Out, Bits<8>>,
    pub hdr_conn: Signal<Out, Bits<16>>,
    pub hdr_rtx: Signal<Out, Bit>,
    pub hdr_tx_ts: Signal<Out, Bits<16>>,
    pub hdr_msn: Signal<Out, Bits<24>>,
    pub hdr_first: Signal<Out, Bit>,
    pub hdr_last: Signal<Out, Bit>,
    pub hdr_va: Signal<Out, Bits<64>>,
    pub hdr_rkey: Signal<Out, Bits<32>>,
    pub hdr_length: Signal<Out, Bits<32>>,
    pub hdr_payload_bytes: Signal<Out, Bits<13>>,
    pub hdr_rq_seq: Signal<Out, Bits<24>>,
    pub hdr_imm: Signal<Out, Bits<32>>,
    pub hdr_has_imm: Signal<Out, Bit>,
    pub hdr_sol: Signal<Out, Bit>,
    pub hdr_attempt: Signal<Out, Bit>,
    pub hdr_udp_src: Signal<Out, Bits<16>>,
    /// Of READs and atomics, and so are the next four.
    pub hdr_tag: Signal<Out, Bits<32>>,
    pub hdr_operand: Signal<Out, Bits<64>>,
    pub hdr_compare: Signal<Out, Bits<64>>,
    pub hdr_fetch_add: Signal<Out, Bit>,
    pub hdr_error_code: Signal<Out, Bits<8>>,
    pub hdr_ts_echo: Signal<Out, Bits<16>>,
    pub hdr_service: Signal<Out, Bits<16>>,
    pub hdr_ce: Signal<Out, Bits<16>>,
    pub hdr_dup: Signal<Out, Bits<16>>,
    pub hdr_flags: Signal<Out, Bits<16>>,
    pub hdr_rate: Signal<Out, Bits<24>>,
    pub hdr_sav: Signal<Out, Bits<256>>,
    pub hdr_mak_qp: Signal<Out, Bits<24>>,
    pub hdr_mak_code: Signal<Out, Bits<8>>,
    pub hdr_mak_msn: Signal<Out, Bits<24>>,
    pub pl_valid: Signal<Out, Bit>,
    pub pl_ready: Signal<In, Bit>,
    pub pl_data: Signal<Out, Bits<W>>,
    pub pl_last: Signal<Out, Bit>,
    pub commit_drop_valid: Signal<Out, Bit>,
    pub commit_drop_reason: Signal<Out, Bits<8>>,
    fields: RxFields<W, NB>,
    checks: RxChecks,
    crc_pipe: Crc32Pipe<W>,
    keep_last: LastOne64,
    records: Fifo<RxRecord>,
    crc_good: Fifo<Bit>,
    headers: Fifo<GoodFrame>,
    payload: Fifo<Bits<W>>,
    payload_last: Fifo<Bit>,
    verdicts: Fifo<Bit>,
    undecided: DFF<Bits<8>>,
    inside: DFF<Bit>,
    // stage 1: the beat as it came
    valid1: DFF<Bit>,
    data1: DFF<Bits<W>>,
    keep1: DFF<Bits<K>>,
    last1: DFF<Bit>,
    first1: DFF<Bit>,
    index1: DFF<Bits<16>>,
    // stage 2: its bytes counted, the form of the frame known
    valid2: DFF<Bit>,
    data2: DFF<Bits<W>>,
    last2: DFF<Bit>,
    first2: DFF<Bit>,
    index2: DFF<Bits<16>>,
    /// Bit f: in form f the opcode, the bit imm lies in this beat.
    opcode_here2: DFF<Bits<4>>,
    imm_here2: DFF<Bits<4>>,
    opcode_here: Signal<Local, Bits<4>>,
    imm_here: Signal<Local, Bits<4>>,
    /// Bit k: it is k.
    at2: DFF<Bits<9>>,
    bytes2: DFF<Bits<8>>,
    outer2: DFF<Bits<16>>,
    inner2: DFF<Bits<16>>,
    vlan2: DFF<Bit>,
    ipv4_2: DFF<Bit>,
    ipv6_2: DFF<Bit>,
    length2: DFF<Bits<16>>,
    ip_last2: DFF<Bits<17>>,
    crc_done2: DFF<Bit>,
    // stage 3: headers captured, payload realigned
    valid3: DFF<Bit>,
    data3: DFF<Bits<W>>,
    last3: DFF<Bit>,
    index3: DFF<Bits<16>>,
    bytes3: DFF<Bits<8>>,
    vlan3: DFF<Bit>,
    ipv4_3: DFF<Bit>,
    ipv6_3: DFF<Bit>,
    /// The opcode carries payload that is of use; what the opcode and MSGH say of its place.
    places3: DFF<Bit>,
    kind3: DFF<Bits<2>>,
    imm3: DFF<Bit>,
    payload_beat3: DFF<Bits<16>>,
    lane3: DFF<Bits<4>>,
    region3: DFF<Bits<18>>,
    left3: DFF<Bits<18>>,
    /// It is not 0.
    more3: DFF<Bit>,
    stored3: DFF<Bit>,
    beat: [DFF<Bits<W>>; NB],
    // to the CRC
    crc_valid: DFF<Bit>,
    crc_first: DFF<Bit>,
    crc_last: DFF<Bit>,
    crc_unused: DFF<Bits<6>>,
    crc_data: DFF<Bits<W>>,
    drop_valid: DFF<Bit>,
    drop_reason: DFF<Bits<8>>,
    admit: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    move1: Signal<Local, Bit>,
    move2: Signal<Local, Bit>,
    move3: Signal<Local, Bit>,
    outer_raw: Signal<Local, Bits<16>>,
    inner_raw: Signal<Local, Bits<16>>,
    kind: Signal<Local, Bits<16>>,
    length_raw: Signal<Local, Bits<16>>,
    form2: Signal<Local, Bits<2>>,
    form1: Signal<Local, Bits<2>>,
    ends: Signal<Local, Bit>,
    tail: Signal<Local, Bits<16>>,
    masked: Signal<Local, Bits<W>>,
    region: Signal<Local, Bits<18>>,
    left: Signal<Local, Bits<18>>,
    any_left: Signal<Local, Bit>,
    aligned: Signal<Local, Bits<W>>,
    at_payload: Signal<Local, Bit>,
    stores: Signal<Local, Bit>,
    opcode: Signal<Local, Bits<8>>,
    places2: Signal<Local, Bit>,
    kind2: Signal<Local, Bits<2>>,
    imm2: Signal<Local, Bit>,
    variant2: Signal<Local, Bits<5>>,
    payload_beat2: Signal<Local, Bits<16>>,
    at1: Signal<Local, Bits<9>>,
    lane2: Signal<Local, Bits<4>>,
    decide: Signal<Local, Bit>,
    good: Signal<Local, Bit>,
    useful: Signal<Local, Bit>,
    passed: Signal<Local, RxHeader>,
    record: Signal<Local, RxRecord>,
    head: Signal<Local, GoodFrame>,
    outer_beat: Constant<Bits<16>>,
    inner_beat: Constant<Bits<16>>,
    outer_at: Constant<Bits<10>>,
    inner_at: Constant<Bits<10>>,
    length_at: [Constant<Bits<10>>; 4],
    type_vlan: Constant<Bits<16>>,
    type_ipv4: Constant<Bits<16>>,
    type_ipv6: Constant<Bits<16>>,
    ip_last_offset: [Constant<Bits<17>>; 4],
    opcode_beat: [Constant<Bits<16>>; 4],
    opcode_at: [Constant<Bits<10>>; 4],
    op_write: Constant<Bits<8>>,
    op_send: Constant<Bits<8>>,
    op_read_resp: Constant<Bits<8>>,
    op_atomic_resp: Constant<Bits<8>>,
    sends: Constant<Bit>,
    reads: Constant<Bit>,
    imm_beat: [Constant<Bits<16>>; 4],
    imm_at: [Constant<Bits<10>>; 4],
    payload_beat: [Constant<Bits<16>>; VARIANTS],
    payload_offset: [Constant<Bits<18>>; VARIANTS],
    /// Number of the variant's shift among those that occur.
    lane: [Constant<Bits<4>>; VARIANTS],
    down: [Constant<Bits<16>>; LANES],
    up: [Constant<Bits<16>>; LANES],
    keep_plain: [Constant<Bits<W>>; MASKED_BEATS],
    keep_vlan: [Constant<Bits<W>>; MASKED_BEATS],
    ones: [Constant<Bits<W>>; MASKED_BEATS],
    ones_vlan: [Constant<Bits<W>>; MASKED_BEATS],
    ones_ipv6: [Constant<Bits<W>>; MASKED_BEATS],
    ones_both: [Constant<Bits<W>>; MASKED_BEATS],
    all_bits: Constant<Bits<W>>,
    beat_bytes: Constant<Bits<18>>,
    beat_log2: Constant<Bits<17>>,
    beat_mask: Constant<Bits<17>>,
    residue: Constant<Bits<32>>,
    hdr_depth: Constant<Bits<16>>,
    verdict_depth: Constant<Bits<16>>,
    undecided_most: Constant<Bits<8>>,
}

/// A two-byte number as it stands in a beat: first byte lowest.
fn in_beat(value: u64) -> Constant<Bits<16>> {
    Constant::new(u64::from((value as u16).swap_bytes()).to_bits())
}

/// Beat `k` of bytes that start at the frame's first one; what is missing is `fill`.
fn beats<const W: usize>(bytes: &[u8], fill: u8) -> [Constant<Bits<W>>; MASKED_BEATS] {
    array_init::array_init(|k| {
        let mut beat = Bits::<W>::default();
        for i in 0..W {
            let byte = bytes.get((k * W + i) / 8).copied().unwrap_or(fill);
            if byte >> (i % 8) & 1 == 1 {
                beat = beat.replace_bit(i, true);
            }
        }
        Constant::new(beat)
    })
}

impl<const W: usize, const K: usize, const NB: usize> RxParser<W, K, NB> {
    pub fn new(config: &BuildConfig) -> Self {
        assert!(K * 8 == W, "K must be W / 8");
        let outer = field("ETH", "ethertype").bit_offset / 8;
        let inner = header_bytes("ETH") + field("VLAN", "ethertype").bit_offset / 8;
        let fits = FORMS.iter().all(|f| f.length_at() / K == inner / K) && FORMS[3].transport_at() < MASKED_BEATS * K;
        assert!(fits, "the IP length of every form must stand in the beat of the tagged Ethertype");
        let each = |f: &dyn Fn(super::rx_layout::Form) -> usize| -> Vec<u64> { FORMS.iter().map(|x| f(*x) as u64).collect() };
        let length_at = each(&|f| f.length_at() % K * 8);
        // Last byte of the IP packet = this + the length field.
        let last = each(&|f| f.ip_at() + f.uncounted_bytes() - 1);
        let opcode_at = each(&|f| f.transport_at() + field("BTH", "opcode").bit_offset / 8);
        let imm = field("MSGH", "imm").bit_offset;
        let imm_at = each(&|f| f.transport_at() + header_at("WRITE", "MSGH") + imm / 8);
        let payload: [u64; VARIANTS] = array_init::array_init(|v| {
            let (form, imm) = (FORMS[v % 4], v & 16 != 0 && config.sends);
            let at = match v / 4 % 4 {
                1 if config.sends => payload_at(form, "SEND", imm),
                2 if config.reads => payload_at(form, "READ_RESP", false),
                3 if config.reads => form.transport_at() + header_at("ATOMIC_RESP", "ARH"),
                _ => payload_at(form, "WRITE", imm),
            };
            at as u64
        });
        // The shifts that occur; what is too much repeats the first one and is never chosen.
        let mut lanes: Vec<u64> = payload.iter().map(|at| at % K as u64).collect();
        lanes.sort_unstable();
        lanes.dedup();
        assert!(lanes.len() <= LANES, "payloads start at {} places of a beat", lanes.len());
        let lane = |v: usize| lanes.iter().position(|at| *at == payload[v] % K as u64).unwrap_or(0) as u64;
        let shift = |l: usize| 8 * lanes.get(l).copied().unwrap_or(lanes[0]);
        // Payload with pad = last byte of the IP packet + 1 - ICRC - first byte of the payload.
        let crc_bytes = super::rx_layout::layout().icrc.len_bytes as u64;
        let (keep, ones): (Vec<_>, Vec<_>) = FORMS.iter().map(|f| f.crc_masks()).unzip();
        let uses = Uses { sends: config.sends, reads: config.reads };
        let verdicts = (2 * config.fifo.hdr + 2 * config.fifo.place).max(16) as u64;
        let buffer_beats = config.fifo.rx_payload_bytes / K;
        filled!(RxParser {
            crc_pipe: Crc32Pipe::new(crc_initial()),
            fields: RxFields::new(uses),
            checks: RxChecks::new(uses),
            records: Fifo::new(UNDECIDED_FRAMES + 1),
            crc_good: Fifo::new(UNDECIDED_FRAMES + 1),
            headers: Fifo::new(config.fifo.hdr),
            payload: Fifo::new(buffer_beats),
            payload_last: Fifo::new(buffer_beats),
            verdicts: Fifo::new(verdicts as usize),
            beat: array_init::array_init(|_| Default::default()),
            outer_beat: Constant::new(((outer / K) as u64).to_bits()),
            inner_beat: Constant::new(((inner / K) as u64).to_bits()),
            outer_at: Constant::new(((outer % K * 8) as u64).to_bits()),
            inner_at: Constant::new(((inner % K * 8) as u64).to_bits()),
            length_at: array_init::array_init(|f| Constant::new(length_at[f].to_bits())),
            type_vlan: in_beat(constant("ETHERTYPE_VLAN")),
            type_ipv4: in_beat(constant("ETHERTYPE_IPV4")),
            type_ipv6: in_beat(constant("ETHERTYPE_IPV6")),
            ip_last_offset: array_init::array_init(|f| Constant::new(last[f].to_bits())),
            opcode_beat: array_init::array_init(|f| Constant::new((opcode_at[f] / K as u64).to_bits())),
            opcode_at: array_init::array_init(|f| Constant::new((opcode_at[f] % K as u64 * 8).to_bits())),
            op_write: Constant::new(opcode_value("WRITE").to_bits()),
            op_send: Constant::new(opcode_value("SEND").to_bits()),
            op_read_resp: Constant::new(opcode_value("READ_RESP").to_bits()),
            op_atomic_resp: Constant::new(opcode_value("ATOMIC_RESP").to_bits()),
            sends: Constant::new(config.sends),
            reads: Constant::new(config.reads),
            imm_beat: array_init::array_init(|f| Constant::new((imm_at[f] / K as u64).to_bits())),
            imm_at: array_init::array_init(|f| Constant::new((imm_at[f] % K as u64 * 8 + 7 - imm as u64 % 8).to_bits())),
            payload_beat: array_init::array_init(|v| Constant::new((payload[v] / K as u64).to_bits())),
            payload_offset: array_init::array_init(|v| Constant::new((payload[v] + crc_bytes - 1).to_bits())),
            lane: array_init::array_init(|v| Constant::new(lane(v).to_bits())),
            down: array_init::array_init(|l| Constant::new(shift(l).to_bits())),
            up: array_init::array_init(|l| Constant::new((W as u64 - shift(l)).to_bits())),
            keep_plain: beats(&keep[0], 0xFF),
            keep_vlan: beats(&keep[1], 0xFF),
            ones: beats(&ones[0], 0),
            ones_vlan: beats(&ones[1], 0),
            ones_ipv6: beats(&ones[2], 0),
            ones_both: beats(&ones[3], 0),
            all_bits: Constant::new(!Bits::<W>::default()),
            beat_bytes: Constant::new((K as u64).to_bits()),
            beat_log2: Constant::new(u64::from(K.ilog2()).to_bits()),
            beat_mask: Constant::new((K as u64 - 1).to_bits()),
            residue: Constant::new(u64::from(crc_residue()).to_bits()),
            hdr_depth: Constant::new((config.fifo.hdr as u64).to_bits()),
            verdict_depth: Constant::new(verdicts.to_bits()),
            undecided_most: Constant::new((UNDECIDED_FRAMES as u64).to_bits());
            clock, reset, fault, mac_rx_tvalid, mac_rx_tready, mac_rx_tdata, mac_rx_tkeep, mac_rx_tlast, hdr_valid, hdr_ready,
            hdr_opcode, hdr_ack_req, hdr_ppsn, hdr_dest_qp, hdr_ecn_ce, hdr_home, hdr_via, hdr_conn, hdr_rtx, hdr_tx_ts,
            hdr_msn, hdr_first, hdr_last, hdr_va, hdr_rkey, hdr_length, hdr_payload_bytes, hdr_rq_seq, hdr_imm, hdr_has_imm, hdr_sol, hdr_attempt, hdr_udp_src, hdr_tag, hdr_operand, hdr_compare, hdr_fetch_add, hdr_error_code, hdr_ts_echo, hdr_service, hdr_ce,
            hdr_dup, hdr_flags, hdr_rate, hdr_sav, hdr_mak_qp, hdr_mak_code, hdr_mak_msn,
            pl_valid, pl_ready, pl_data, pl_last, commit_drop_valid, commit_drop_reason, keep_last, undecided, inside,
            valid1, data1, keep1, last1, first1, index1, valid2, data2, last2, first2, index2, opcode_here2, imm_here2, opcode_here, imm_here, at1, at2, bytes2, outer2, inner2, vlan2,
            ipv4_2, ipv6_2, length2, ip_last2, crc_done2, valid3, data3, last3, index3, bytes3, vlan3, ipv4_3, ipv6_3, places3,
            kind3, imm3, payload_beat3, lane3, region3, left3, more3, stored3, crc_valid, crc_first, crc_last, crc_unused, crc_data, drop_valid, drop_reason,
            admit, take, move1, move2, move3, outer_raw, inner_raw, kind, length_raw, form2, form1, ends, tail, masked, region,
            left, any_left, aligned, at_payload, stores, opcode, places2, kind2, imm2, variant2, payload_beat2, lane2, decide, good, useful, passed, record, head,
        })
    }
}

impl<const W: usize, const K: usize, const NB: usize> Logic for RxParser<W, K, NB> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rx_parser: frames to headers and payload");
        dff_setup!(
            self,
            clock,
            undecided,
            inside,
            valid1,
            data1,
            keep1,
            last1,
            first1,
            index1,
            valid2,
            data2,
            last2,
            first2,
            index2,
            opcode_here2,
            imm_here2,
            at2,
            bytes2,
            outer2,
            inner2,
            vlan2,
            ipv4_2,
            ipv6_2,
            length2,
            ip_last2,
            crc_done2,
            valid3,
            data3,
            last3,
            index3,
            bytes3,
            vlan3,
            ipv4_3,
            ipv6_3,
            places3,
            kind3,
            imm3,
            payload_beat3,
            lane3,
            region3,
            left3,
            more3,
            stored3,
            crc_valid,
            crc_first,
            crc_last,
            crc_unused,
            crc_data,
            drop_valid,
            drop_reason
        );
        clock!(self, clock, checks, crc_pipe, records, crc_good, headers, payload, payload_last, verdicts);
        self.checks.reset.next = self.reset.val();
        self.crc_pipe.reset.next = self.reset.val();
        self.records.reset.next = self.reset.val();
        self.crc_good.reset.next = self.reset.val();
        self.headers.reset.next = self.reset.val();
        self.payload.reset.next = self.reset.val();
        self.payload_last.reset.next = self.reset.val();
        self.verdicts.reset.next = self.reset.val();

        comment!("a frame is let in when there will be room for its verdict and its record");
        self.admit.next = (self.undecided.q.val() < self.undecided_most.val())
            & ((bit_cast::<16, 8>(self.undecided.q.val()) + self.headers.count.val()) < self.hdr_depth.val())
            & ((bit_cast::<16, 8>(self.undecided.q.val()) + self.verdicts.count.val()) < self.verdict_depth.val());

        comment!("stage 3 keeps a beat until the next one of its frame is in stage 2, as payload straddles them");
        self.form2.next = 0.into();
        if self.vlan2.q.val() {
            self.form2.next = 1.into();
        }
        if self.ipv6_2.q.val() {
            self.form2.next = self.form2.val() | 2;
        }
        self.at_payload.next = self.index3.q.val() == self.payload_beat3.q.val();
        self.aligned.next = (self.data3.q.val() >> self.down[0].val()) | (self.data2.q.val() << self.up[0].val());
        for l in 0..16 {
            if self.lane3.q.val() == l.to_bits::<4>() {
                self.aligned.next = self.data3.q.val() >> self.down[l].val();
                if !self.last3.q.val() {
                    self.aligned.next = (self.data3.q.val() >> self.down[l].val()) | (self.data2.q.val() << self.up[l].val());
                }
            }
        }
        self.left.next = self.left3.q.val();
        comment!("whether anything is left is decided beside how much: the moves of all stages wait for it");
        self.any_left.next = self.more3.q.val();
        if self.at_payload.val() {
            self.any_left.next = self.places3.q.val()
                & !self.region3.q.val().get_bits::<5>(13).any()
                & self.region3.q.val().get_bits::<13>(0).any();
            comment!("a payload of 8 KiB or more (or of negative length) is not stored: its frame is dropped");
            self.left.next = self.region3.q.val();
            if self.region3.q.val().get_bits::<5>(13).any() | !self.places3.q.val() {
                self.left.next = 0.into();
            }
        }
        self.stores.next = self.valid3.q.val() & (self.last3.q.val() | self.valid2.q.val()) & self.any_left.val();
        self.move3.next =
            self.valid3.q.val() & (self.last3.q.val() | self.valid2.q.val()) & !(self.stores.val() & self.payload.full.val());
        self.move2.next = self.valid2.q.val() & (!self.valid3.q.val() | self.move3.val());
        self.move1.next = self.valid1.q.val() & (!self.valid2.q.val() | self.move2.val());
        self.take.next = false;
        self.mac_rx_tready.next = false;
        if (!self.valid1.q.val() | self.move1.val()) & (self.inside.q.val() | self.admit.val()) {
            self.mac_rx_tready.next = true;
            self.take.next = self.mac_rx_tvalid.val();
        }

        comment!("stage 1");
        if self.move1.val() {
            self.valid1.d.next = false;
        }
        if self.take.val() {
            self.valid1.d.next = true;
            self.data1.d.next = self.mac_rx_tdata.val();
            self.keep1.d.next = self.mac_rx_tkeep.val();
            self.last1.d.next = self.mac_rx_tlast.val();
            self.first1.d.next = !self.inside.q.val();
            self.inside.d.next = !self.mac_rx_tlast.val();
            if !self.inside.q.val() {
                self.index1.d.next = 0.into();
            } else if !self.index1.q.val().all() {
                self.index1.d.next = self.index1.q.val() + 1;
            }
        }

        comment!("stage 2: form of the frame and its IP length, in the order of the bytes on the wire");
        self.keep_last.x.next = bit_cast::<64, K>(self.keep1.q.val());
        self.outer_raw.next = self.outer2.q.val();
        self.inner_raw.next = self.inner2.q.val();
        if self.first1.q.val() {
            self.outer_raw.next = 0.into();
            self.inner_raw.next = 0.into();
        }
        if self.index1.q.val() == self.outer_beat.val() {
            self.outer_raw.next = self.data1.q.val().get_bits::<16>(self.outer_at.val().index());
        }
        if self.index1.q.val() == self.inner_beat.val() {
            self.inner_raw.next = self.data1.q.val().get_bits::<16>(self.inner_at.val().index());
        }
        self.kind.next = self.outer_raw.val();
        self.form1.next = 0.into();
        if self.outer_raw.val() == self.type_vlan.val() {
            self.kind.next = self.inner_raw.val();
            self.form1.next = 1.into();
        }
        if self.kind.val() == self.type_ipv6.val() {
            self.form1.next = self.form1.val() | 2;
        }
        self.at1.next = 0.into();
        for k in 0..9 {
            self.at1.next = self.at1.val().replace_bit(k, self.index1.q.val() == k.to_bits::<16>());
        }
        self.opcode_here.next = 0.into();
        self.imm_here.next = 0.into();
        for f in 0..4 {
            self.opcode_here.next = self.opcode_here.val().replace_bit(f, self.index1.q.val() == self.opcode_beat[f].val());
            self.imm_here.next = self.imm_here.val().replace_bit(f, self.index1.q.val() == self.imm_beat[f].val());
        }
        self.length_raw.next = 0.into();
        for f in 0..4 {
            if self.form1.val() == f.to_bits::<2>() {
                self.length_raw.next = self.data1.q.val().get_bits::<16>(self.length_at[f].val().index());
            }
        }
        if self.move2.val() {
            self.valid2.d.next = false;
        }
        if self.move1.val() {
            self.valid2.d.next = true;
            self.data2.d.next = self.data1.q.val();
            self.last2.d.next = self.last1.q.val();
            self.first2.d.next = self.first1.q.val();
            self.index2.d.next = self.index1.q.val();
            self.at2.d.next = self.at1.val();
            self.opcode_here2.d.next = self.opcode_here.val();
            self.imm_here2.d.next = self.imm_here.val();
            self.bytes2.d.next = self.beat_bytes.val().get_bits::<8>(0);
            if self.last1.q.val() {
                self.bytes2.d.next = 0.into();
                if self.keep_last.any.val() {
                    self.bytes2.d.next = bit_cast::<8, 6>(self.keep_last.index.val()) + 1;
                }
            }
            self.outer2.d.next = self.outer_raw.val();
            self.inner2.d.next = self.inner_raw.val();
            self.vlan2.d.next = self.outer_raw.val() == self.type_vlan.val();
            self.ipv4_2.d.next = self.kind.val() == self.type_ipv4.val();
            self.ipv6_2.d.next = self.kind.val() == self.type_ipv6.val();
            if self.index1.q.val() == self.inner_beat.val() {
                self.length2.d.next = (self.length_raw.val() >> 8) | (self.length_raw.val() << 8);
            }
        }
        for f in 0..4 {
            if self.form2.val() == f.to_bits::<2>() {
                self.ip_last2.d.next = bit_cast::<17, 16>(self.length2.q.val()) + self.ip_last_offset[f].val();
            }
        }

        comment!("to the CRC: what does not count is replaced, what lies behind the IP packet is cut off; one result a frame");
        self.ends.next = self.last2.q.val();
        self.tail.next = 0.into();
        if (self.index2.q.val() > self.inner_beat.val())
            & (bit_cast::<17, 16>(self.index2.q.val()) == (self.ip_last2.q.val() >> self.beat_log2.val()))
        {
            self.ends.next = true;
            self.tail.next = bit_cast::<16, 17>(self.beat_mask.val() & !self.ip_last2.q.val());
        }
        self.masked.next = self.data2.q.val();
        for k in 0..9 {
            if self.at2.q.val().get_bit(k) {
                self.masked.next = (self.data2.q.val() & self.keep_plain[k].val()) | self.ones[k].val();
                if self.form2.val() == 1 {
                    self.masked.next = (self.data2.q.val() & self.keep_vlan[k].val()) | self.ones_vlan[k].val();
                }
                if self.form2.val() == 2 {
                    self.masked.next = (self.data2.q.val() & self.keep_plain[k].val()) | self.ones_ipv6[k].val();
                }
                if self.form2.val() == 3 {
                    self.masked.next = (self.data2.q.val() & self.keep_vlan[k].val()) | self.ones_both[k].val();
                }
            }
        }
        self.crc_valid.d.next = false;
        self.crc_first.d.next = self.first2.q.val();
        self.crc_last.d.next = self.ends.val();
        self.crc_unused.d.next = self.tail.val().get_bits::<6>(0);
        self.crc_data.d.next = self.masked.val() & (self.all_bits.val() >> (self.tail.val() << 3));
        if self.move2.val() {
            self.crc_valid.d.next = self.first2.q.val() | !self.crc_done2.q.val();
            self.crc_done2.d.next = self.ends.val() | (self.crc_done2.q.val() & !self.first2.q.val());
        }
        self.crc_pipe.valid.next = self.crc_valid.q.val();
        self.crc_pipe.first.next = self.crc_first.q.val();
        self.crc_pipe.last.next = self.crc_last.q.val();
        self.crc_pipe.unused_bytes.next = self.crc_unused.q.val();
        self.crc_pipe.data.next = self.crc_data.q.val();
        self.crc_good.write.next = self.crc_pipe.crc_valid.val();
        self.crc_good.data_in.next = self.crc_pipe.crc.val() == self.residue.val();

        comment!("stage 3: capture, opcode and immediate as far as they are known, payload length from the IP length");
        self.places2.next = self.places3.q.val() & !self.first2.q.val();
        self.kind2.next = self.kind3.q.val();
        if self.first2.q.val() {
            self.kind2.next = 0.into();
        }
        self.imm2.next = self.imm3.q.val() & !self.first2.q.val();
        self.opcode.next = 0.into();
        for f in 0..4 {
            if self.form2.val() == f.to_bits::<2>() {
                if self.opcode_here2.q.val().get_bit(f) {
                    self.opcode.next = self.data2.q.val().get_bits::<8>(self.opcode_at[f].val().index());
                    self.kind2.next = 0.into();
                    if self.sends.val() & (self.opcode.val() == self.op_send.val()) {
                        self.kind2.next = 1.into();
                    }
                    if self.reads.val() & (self.opcode.val() == self.op_read_resp.val()) {
                        self.kind2.next = 2.into();
                    }
                    if self.reads.val() & (self.opcode.val() == self.op_atomic_resp.val()) {
                        self.kind2.next = 3.into();
                    }
                    self.places2.next = self.kind2.val().any() | (self.opcode.val() == self.op_write.val());
                }
                if self.imm_here2.q.val().get_bit(f) {
                    self.imm2.next = self.sends.val() & self.data2.q.val().get_bit(self.imm_at[f].val().index());
                }
            }
        }
        self.variant2.next = bit_cast::<5, 2>(self.form2.val()) | (bit_cast::<5, 2>(self.kind2.val()) << 2);
        comment!("only a WRITE or SEND has an immediate");
        if self.imm2.val() & !self.kind2.val().get_bit(1) {
            self.variant2.next = self.variant2.val() | 16;
        }
        self.region.next = 0.into();
        self.payload_beat2.next = 0.into();
        self.lane2.next = 0.into();
        for v in 0..32 {
            if self.variant2.val() == v.to_bits::<5>() {
                self.region.next = bit_cast::<18, 17>(self.ip_last2.q.val()) - self.payload_offset[v].val();
                self.payload_beat2.next = self.payload_beat[v].val();
                self.lane2.next = self.lane[v].val();
            }
        }
        for k in 0..NB {
            self.beat[k].clock.next = self.clock.val();
            self.beat[k].d.next = self.beat[k].q.val();
            if self.move2.val() & (self.index2.q.val() == k.to_bits::<16>()) {
                self.beat[k].d.next = self.data2.q.val();
            }
            self.fields.beat[k].next = self.beat[k].q.val();
        }
        if self.move3.val() {
            self.valid3.d.next = false;
            self.stored3.d.next = (self.stored3.q.val() | self.stores.val()) & !self.last3.q.val();
            self.left3.d.next = 0.into();
            self.more3.d.next = false;
            if (self.left.val() > self.beat_bytes.val()) & !self.last3.q.val() {
                self.more3.d.next = true;
                self.left3.d.next = self.left.val() - self.beat_bytes.val();
            }
        }
        if self.move2.val() {
            self.valid3.d.next = true;
            self.data3.d.next = self.data2.q.val();
            self.last3.d.next = self.last2.q.val();
            self.index3.d.next = self.index2.q.val();
            self.bytes3.d.next = self.bytes2.q.val();
            self.vlan3.d.next = self.vlan2.q.val();
            self.ipv4_3.d.next = self.ipv4_2.q.val();
            self.ipv6_3.d.next = self.ipv6_2.q.val();
            self.places3.d.next = self.places2.val();
            self.kind3.d.next = self.kind2.val();
            self.imm3.d.next = self.imm2.val();
            self.payload_beat3.d.next = self.payload_beat2.val();
            self.lane3.d.next = self.lane2.val();
            self.region3.d.next = self.region.val();
        }
        self.payload.data_in.next = self.aligned.val();
        self.payload.write.next = self.stores.val() & self.move3.val();
        self.payload_last.data_in.next = self.last3.q.val() | (self.left.val() <= self.beat_bytes.val());
        self.payload_last.write.next = self.stores.val() & self.move3.val();

        comment!("the headers of a whole frame go through the checks");
        self.fields.vlan.next = self.vlan3.q.val();
        self.fields.ipv6.next = self.ipv6_3.q.val();
        self.checks.valid.next = self.move3.val() & self.last3.q.val();
        self.checks.header.next = self.fields.header.val();
        self.checks.ack.next = self.fields.ack.val();
        self.checks.request.next = self.fields.request.val();
        self.checks.checked.next = self.fields.checked.val();
        self.checks.ipv4_words.next = self.fields.ipv4_words.val();
        self.checks.vlan.next = self.vlan3.q.val();
        self.checks.ipv4.next = self.ipv4_3.q.val();
        self.checks.ipv6.next = self.ipv6_3.q.val();
        self.checks.stored.next = self.stored3.q.val() | self.stores.val();
        self.checks.frame_bytes.next =
            (bit_cast::<22, 16>(self.index3.q.val()) << self.beat_log2.val()) + bit_cast::<22, 8>(self.bytes3.q.val());
        self.records.data_in.next = self.checks.record.val();
        self.records.write.next = self.checks.record_valid.val();

        comment!("verdict: record and CRC of the oldest frame");
        self.decide.next = !self.records.empty.val() & !self.crc_good.empty.val();
        self.records.read.next = self.decide.val();
        self.crc_good.read.next = self.decide.val();
        self.record.next = self.records.data_out.val();
        comment!("an opcode of no use in this stage goes on without its number and its payload: rx_core drops and counts it");
        self.useful.next = self.record.val().reason == 0;
        self.good.next = self.useful.val() | (self.record.val().reason == 12);
        self.drop_reason.d.next = bit_cast::<8, 4>(self.record.val().reason);
        if !self.crc_good.data_out.val()
            & (self.fault.val() != 10)
            & ((self.record.val().reason == 0) | (self.record.val().reason > 11))
        {
            self.good.next = false;
            self.useful.next = false;
            self.drop_reason.d.next = 11.into();
        }
        self.drop_valid.d.next = self.decide.val() & !self.good.val();
        self.commit_drop_valid.next = self.drop_valid.q.val();
        self.commit_drop_reason.next = self.drop_reason.q.val();
        self.passed.next = self.record.val().header;
        if !self.useful.val() {
            self.passed.next.opcode = 0.into();
            self.passed.next.payload_bytes = 0.into();
        }
        self.headers.data_in.next.header = self.passed.val();
        self.headers.data_in.next.ack = self.record.val().ack;
        self.headers.data_in.next.request = self.record.val().request;
        self.headers.write.next = self.decide.val() & self.good.val();
        self.verdicts.data_in.next = self.useful.val();
        self.verdicts.write.next = self.decide.val() & self.record.val().stored;
        if self.take.val() & !self.inside.q.val() {
            if !self.decide.val() {
                self.undecided.d.next = self.undecided.q.val() + 1;
            }
        } else if self.decide.val() {
            self.undecided.d.next = self.undecided.q.val() - 1;
        }

        comment!("out: records, and the payload of good frames; that of bad ones ends here");
        self.hdr_valid.next = !self.headers.empty.val();
        self.headers.read.next = self.hdr_ready.val();
        self.head.next = self.headers.data_out.val();
        self.hdr_opcode.next = self.head.val().header.opcode;
        self.hdr_ack_req.next = self.head.val().header.ack_req;
        self.hdr_ppsn.next = self.head.val().header.ppsn;
        self.hdr_dest_qp.next = self.head.val().header.dest_qp;
        self.hdr_ecn_ce.next = self.head.val().header.ecn_ce;
        self.hdr_home.next = self.head.val().header.home;
        self.hdr_via.next = self.head.val().header.via;
        self.hdr_conn.next = self.head.val().header.conn;
        self.hdr_rtx.next = self.head.val().header.rtx;
        self.hdr_tx_ts.next = self.head.val().header.tx_ts;
        self.hdr_msn.next = self.head.val().header.msn;
        self.hdr_first.next = self.head.val().header.first;
        self.hdr_last.next = self.head.val().header.last;
        self.hdr_va.next = self.head.val().header.va;
        self.hdr_rkey.next = self.head.val().header.rkey;
        self.hdr_length.next = self.head.val().header.length;
        self.hdr_payload_bytes.next = self.head.val().header.payload_bytes;
        self.hdr_rq_seq.next = self.head.val().header.rq_seq;
        self.hdr_imm.next = self.head.val().header.imm;
        self.hdr_has_imm.next = self.head.val().header.has_imm;
        self.hdr_sol.next = self.head.val().header.sol;
        self.hdr_attempt.next = self.head.val().header.attempt;
        self.hdr_udp_src.next = self.head.val().header.udp_src;
        self.hdr_tag.next = self.head.val().request.tag;
        self.hdr_operand.next = self.head.val().request.operand;
        self.hdr_compare.next = self.head.val().request.compare;
        self.hdr_fetch_add.next = self.head.val().request.fetch_add;
        self.hdr_error_code.next = self.head.val().request.error_code;
        self.hdr_ts_echo.next = self.head.val().ack.ts_echo;
        self.hdr_service.next = self.head.val().ack.service;
        self.hdr_ce.next = self.head.val().ack.ce;
        self.hdr_dup.next = self.head.val().ack.dup;
        self.hdr_flags.next = self.head.val().ack.flags;
        self.hdr_rate.next = self.head.val().ack.rate;
        self.hdr_sav.next = self.head.val().ack.sav;
        self.hdr_mak_qp.next = self.head.val().ack.mak_qp;
        self.hdr_mak_code.next = self.head.val().ack.mak_code;
        self.hdr_mak_msn.next = self.head.val().ack.mak_msn;
        self.pl_valid.next = !self.verdicts.empty.val() & self.verdicts.data_out.val() & !self.payload.empty.val();
        self.pl_data.next = self.payload.data_out.val();
        self.pl_last.next = self.payload_last.data_out.val();
        self.payload.read.next = !self.verdicts.empty.val() & (self.pl_ready.val() | !self.verdicts.data_out.val());
        self.payload_last.read.next = !self.verdicts.empty.val() & (self.pl_ready.val() | !self.verdicts.data_out.val());
        self.verdicts.read.next = !self.payload.empty.val()
            & self.payload_last.data_out.val()
            & (self.pl_ready.val() | !self.verdicts.data_out.val());

        if self.reset.val() {
            self.undecided.d.next = 0.into();
            self.inside.d.next = false;
            self.valid1.d.next = false;
            self.valid2.d.next = false;
            self.valid3.d.next = false;
            self.stored3.d.next = false;
            self.left3.d.next = 0.into();
            self.more3.d.next = false;
            self.crc_valid.d.next = false;
            self.drop_valid.d.next = false;
        }
    }
}
