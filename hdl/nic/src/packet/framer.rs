//! Puts headers and payload together, pads, computes and appends the ICRC; a frame leaves W bits a clock.
//! In: headers of the two builders (acknowledgments first, one frame at a time), the payload in the order of the headers.
//! Out: frames without FCS on `mac_tx_*`. No clock is lost between frames while headers, payload and the MAC keep up;
//! an ICRC that does not fit into the last beat makes one more. Ethernet's minimum length is the MAC's business.
use super::headers::*;
use mrnic_emit::comment;
use mrnic_widgets::{ByteReverse, Crc32Pipe, Fifo};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Beats that wait for the ICRC of their frame; the CRC takes nine clocks.
const WAITING_BEATS: usize = 16;
/// Beats with bits that the ICRC reads as ones, at the narrowest width.
const MASKED_BEATS: usize = 9;
/// Headers that a payload can follow.
const LAYOUTS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct BeatInfo {
    pub last: Bit,
    /// With `last`: bytes of the frame in this beat, without ICRC.
    pub bytes: Bits<6>,
}

/// `K` is W / 8. See the module documentation.
#[derive(LogicBlock)]
pub struct Framer<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
    pub ack_header: Signal<In, Bits<HEADER_BITS>>,
    pub ack_header_bytes: Signal<In, Bits<8>>,
    pub ack_ipv6: Signal<In, Bit>,
    pub packet_valid: Signal<In, Bit>,
    pub packet_ready: Signal<Out, Bit>,
    pub packet_header: Signal<In, Bits<PACKET_HEADER_BITS>>,
    pub packet_header_bytes: Signal<In, Bits<8>>,
    pub packet_payload_bytes: Signal<In, Bits<13>>,
    pub packet_ipv6: Signal<In, Bit>,
    /// Bit 0: with an immediate, bit 1: a SEND.
    pub packet_layout: Signal<In, Bits<2>>,
    pub dr_valid: Signal<In, Bit>,
    pub dr_ready: Signal<Out, Bit>,
    pub dr_data: Signal<In, Bits<W>>,
    pub mac_tx_tvalid: Signal<Out, Bit>,
    pub mac_tx_tready: Signal<In, Bit>,
    pub mac_tx_tdata: Signal<Out, Bits<W>>,
    pub mac_tx_tkeep: Signal<Out, Bits<K>>,
    pub mac_tx_tlast: Signal<Out, Bit>,
    reverse: ByteReverse<HEADER_BITS>,
    crc_pipe: Crc32Pipe<W>,
    beats: Fifo<Bits<W>>,
    infos: Fifo<BeatInfo>,
    crcs: Fifo<Bits<32>>,
    /// What the next beat is made of, kept beside `left`: it says when to shift and load all of the header's bits.
    in_header: DFF<Bit>,
    needs_payload: DFF<Bit>,
    is_last: DFF<Bit>,
    /// Of the beat after it.
    left_after: Signal<Local, Bits<13>>,
    /// A frame is being put together.
    busy: DFF<Bit>,
    /// What is left of the header, next byte lowest; then the part of the payload that did not fit into the last beat.
    header: DFF<Bits<HEADER_BITS>>,
    /// Header bytes left; below K it stays: the payload's offset in a beat.
    header_left: DFF<Bits<8>>,
    /// Bytes left, header, payload and pad.
    left: DFF<Bits<13>>,
    ipv6: DFF<Bit>,
    /// Which of the headers that a payload can follow: bit 0 IPv6, bits 2:1 `packet_layout`.
    layout: DFF<Bits<3>>,
    /// Index of the next beat, counting to the last masked one and a little beyond.
    beat: DFF<Bits<4>>,
    /// Payload bytes not yet taken from `dr`.
    payload_left: DFF<Bits<13>>,
    payload_valid: DFF<Bit>,
    payload: DFF<Bits<W>>,
    made_valid: DFF<Bit>,
    made: DFF<Bits<W>>,
    made_info: DFF<BeatInfo>,
    made_beat: DFF<Bits<4>>,
    made_ipv6: DFF<Bit>,
    tx_valid: DFF<Bit>,
    tx_data: DFF<Bits<W>>,
    tx_keep: DFF<Bits<K>>,
    tx_last: DFF<Bit>,
    /// The upper half of an ICRC that did not fit.
    spill_valid: DFF<Bit>,
    spill: DFF<Bits<16>>,
    made_moves: Signal<Local, Bit>,
    emits: Signal<Local, Bit>,
    takes_payload: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
    chosen: Signal<Local, Bits<HEADER_BITS>>,
    padded: Signal<Local, Bits<13>>,
    cut: Signal<Local, Bits<16>>,
    up: Signal<Local, Bits<W>>,
    down: Signal<Local, Bits<W>>,
    ones: Signal<Local, Bits<W>>,
    tail_bytes: Signal<Local, Bits<8>>,
    head: Signal<Local, BeatInfo>,
    out_free: Signal<Local, Bit>,
    beat_bytes: Constant<Bits<13>>,
    beat_bytes_8: Constant<Bits<8>>,
    two_beats: Constant<Bits<13>>,
    two_beats_8: Constant<Bits<8>>,
    beat_bits: Constant<Bits<16>>,
    spill_bytes: Constant<Bits<8>>,
    left_mask: Constant<Bits<13>>,
    all_bits: Constant<Bits<W>>,
    all_keep: Constant<Bits<K>>,
    header_align: Constant<Bits<16>>,
    /// By `layout`: where the payload starts in a beat, in bits, and what is left of the beat.
    shift_up: [Constant<Bits<16>>; LAYOUTS],
    shift_down: [Constant<Bits<16>>; LAYOUTS],
    sends: Constant<Bit>,
    ones4: [Constant<Bits<W>>; MASKED_BEATS],
    ones6: [Constant<Bits<W>>; MASKED_BEATS],
}

/// Beat `k` of the bits that enter the ICRC as ones.
fn ones<const W: usize>(ipv6: bool) -> [Constant<Bits<W>>; MASKED_BEATS] {
    let bytes = icrc_ones(ipv6);
    array_init::array_init(|k| {
        let beat = bytes.iter().skip(k * W / 8).take(W / 8).enumerate();
        Constant::new(beat.fold(Bits::<W>::default(), |mut ones, (i, byte)| {
            ones.set_bits::<8>(8 * i, u64::from(*byte).into());
            ones
        }))
    })
}

impl<const W: usize, const K: usize> Framer<W, K> {
    const WIDTHS: () = assert!((W == 64 || W == 128 || W == 512) && K == W / 8, "W is 64, 128 or 512 and K is W / 8");

    /// `sends`: not only WRITEs carry payload.
    pub fn new(sends: bool) -> Self {
        #[allow(clippy::let_unit_value)]
        let () = Self::WIDTHS;
        let offset = |layout: usize| {
            let opcode = if layout & 4 != 0 { "SEND" } else { "WRITE" };
            8 * (packet_header_bytes(opcode, layout & 2 != 0, layout & 1 != 0) % K)
        };
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ack_valid: Default::default(),
            ack_ready: Default::default(),
            ack_header: Default::default(),
            ack_header_bytes: Default::default(),
            ack_ipv6: Default::default(),
            packet_valid: Default::default(),
            packet_ready: Default::default(),
            packet_header: Default::default(),
            packet_header_bytes: Default::default(),
            packet_payload_bytes: Default::default(),
            packet_ipv6: Default::default(),
            packet_layout: Default::default(),
            dr_valid: Default::default(),
            dr_ready: Default::default(),
            dr_data: Default::default(),
            mac_tx_tvalid: Default::default(),
            mac_tx_tready: Default::default(),
            mac_tx_tdata: Default::default(),
            mac_tx_tkeep: Default::default(),
            mac_tx_tlast: Default::default(),
            reverse: Default::default(),
            crc_pipe: Crc32Pipe::new(icrc_initial()),
            beats: Fifo::new(WAITING_BEATS),
            infos: Fifo::new(WAITING_BEATS),
            crcs: Fifo::new(WAITING_BEATS),
            in_header: Default::default(),
            needs_payload: Default::default(),
            is_last: Default::default(),
            busy: Default::default(),
            header: Default::default(),
            header_left: Default::default(),
            left: Default::default(),
            ipv6: Default::default(),
            layout: Default::default(),
            beat: Default::default(),
            payload_left: Default::default(),
            payload_valid: Default::default(),
            payload: Default::default(),
            made_valid: Default::default(),
            made: Default::default(),
            made_info: Default::default(),
            made_beat: Default::default(),
            made_ipv6: Default::default(),
            tx_valid: Default::default(),
            tx_data: Default::default(),
            tx_keep: Default::default(),
            tx_last: Default::default(),
            spill_valid: Default::default(),
            spill: Default::default(),
            made_moves: Default::default(),
            emits: Default::default(),
            takes_payload: Default::default(),
            loads: Default::default(),
            chosen: Default::default(),
            padded: Default::default(),
            cut: Default::default(),
            up: Default::default(),
            down: Default::default(),
            ones: Default::default(),
            tail_bytes: Default::default(),
            head: Default::default(),
            out_free: Default::default(),
            beat_bytes: number(K),
            beat_bytes_8: number(K),
            two_beats: number(2 * K),
            two_beats_8: number(2 * K),
            beat_bits: number(W),
            spill_bytes: number(K - 2),
            left_after: Default::default(),
            left_mask: number(K - 1),
            all_bits: Constant::new(Bits::mask()),
            all_keep: Constant::new(Bits::mask()),
            header_align: number(HEADER_BITS - PACKET_HEADER_BITS),
            shift_up: array_init::array_init(|layout| number(offset(layout))),
            shift_down: array_init::array_init(|layout| number(W - offset(layout))),
            sends: Constant::new(sends),
            ones4: ones(false),
            ones6: ones(true),
        }
    }
}

impl<const W: usize, const K: usize> Logic for Framer<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module framer: headers and payload to frames with ICRC");
        dff_setup!(
            self,
            clock,
            in_header,
            needs_payload,
            is_last,
            busy,
            header,
            header_left,
            left,
            ipv6,
            layout,
            beat,
            payload_left,
            payload_valid,
            payload,
            made_valid,
            made,
            made_info,
            made_beat,
            made_ipv6,
            tx_valid,
            tx_data,
            tx_keep,
            tx_last,
            spill_valid,
            spill
        );
        clock!(self, clock, crc_pipe, beats, infos, crcs);
        self.crc_pipe.reset.next = self.reset.val();
        self.beats.reset.next = self.reset.val();
        self.infos.reset.next = self.reset.val();
        self.crcs.reset.next = self.reset.val();
        comment!("what the next beat is made of; the bytes left are 2 more than a multiple of 4, so never a whole beat");
        self.made_moves.next = self.made_valid.q.val() & !self.beats.full.val();
        self.left_after.next = self.left.q.val() - self.beat_bytes.val();
        self.emits.next = self.busy.q.val()
            & (!self.made_valid.q.val() | !self.beats.full.val())
            & (!self.needs_payload.q.val() | self.payload_valid.q.val());
        self.takes_payload.next = self.emits.val() & self.needs_payload.q.val();
        comment!("payload: one beat ahead, bytes beyond the end cleared");
        self.dr_ready.next = self.payload_left.q.val().any() & (!self.payload_valid.q.val() | self.takes_payload.val());
        if self.takes_payload.val() {
            self.payload_valid.d.next = false;
        }
        self.cut.next = 0.into();
        if self.payload_left.q.val() < self.beat_bytes.val() {
            self.cut.next = bit_cast::<16, 13>(self.beat_bytes.val() - self.payload_left.q.val()) << 3;
        }
        if self.payload_left.q.val().any() & (!self.payload_valid.q.val() | self.takes_payload.val()) & self.dr_valid.val() {
            self.payload_valid.d.next = true;
            self.payload.d.next = self.dr_data.val() & (self.all_bits.val() >> self.cut.val());
            self.payload_left.d.next = self.payload_left.q.val() - self.beat_bytes.val();
            if self.payload_left.q.val() < self.beat_bytes.val() {
                self.payload_left.d.next = 0.into();
            }
        }
        comment!("a frame's payload stands at one of few offsets in a beat, by IP version and operation");
        self.up.next = self.payload.q.val() << self.shift_up[0].val();
        self.down.next = self.payload.q.val() >> self.shift_down[0].val();
        for k in 1..LAYOUTS {
            if self.layout.q.val() == k.to_bits::<3>() {
                self.up.next = self.payload.q.val() << self.shift_up[k].val();
                self.down.next = self.payload.q.val() >> self.shift_down[k].val();
            }
        }
        if self.made_moves.val() {
            self.made_valid.d.next = false;
        }
        if self.emits.val() {
            self.made_valid.d.next = true;
            self.made.d.next = self.header.q.val().get_bits::<W>(0);
            self.header.d.next = self.header.q.val() >> self.beat_bits.val();
            if self.needs_payload.q.val() {
                self.made.d.next = self.header.q.val().get_bits::<W>(0) | self.up.val();
                self.header.d.next = bit_cast::<HEADER_BITS, W>(self.down.val());
            }
            self.made_info.d.next.last = self.is_last.q.val();
            self.made_info.d.next.bytes = (self.left.q.val() & self.left_mask.val()).get_bits::<6>(0);
            self.made_beat.d.next = self.beat.q.val();
            self.made_ipv6.d.next = self.ipv6.q.val();
            self.left.d.next = self.left_after.val();
            self.is_last.d.next = self.left.q.val() < self.two_beats.val();
            self.in_header.d.next = false;
            self.needs_payload.d.next = self.left_after.val() > bit_cast::<13, 8>(self.header_left.q.val());
            if self.in_header.q.val() {
                self.header_left.d.next = self.header_left.q.val() - self.beat_bytes_8.val();
                self.in_header.d.next = self.header_left.q.val() >= self.two_beats_8.val();
                self.needs_payload.d.next = (self.header_left.q.val() < self.two_beats_8.val())
                    & (self.left.q.val() > bit_cast::<13, 8>(self.header_left.q.val()));
            }
            if !self.beat.q.val().all() {
                self.beat.d.next = self.beat.q.val() + 1;
            }
            if self.is_last.q.val() {
                self.busy.d.next = false;
            }
        }
        comment!("the next frame starts in the clock in which the last beat is made");
        self.loads.next = !self.busy.q.val() | (self.emits.val() & self.is_last.q.val());
        self.ack_ready.next = self.loads.val();
        self.packet_ready.next = self.loads.val() & !self.ack_valid.val();
        self.padded.next = (self.packet_payload_bytes.val() + 3) & !bits::<13>(3);
        self.chosen.next = bit_cast::<HEADER_BITS, PACKET_HEADER_BITS>(self.packet_header.val()) << self.header_align.val();
        if self.ack_valid.val() {
            self.chosen.next = self.ack_header.val();
        }
        self.reverse.x.next = self.chosen.val();
        if self.loads.val() & (self.ack_valid.val() | self.packet_valid.val()) {
            self.busy.d.next = true;
            self.beat.d.next = 0.into();
            self.header.d.next = self.reverse.y.val();
            self.header_left.d.next = self.packet_header_bytes.val();
            self.left.d.next = bit_cast::<13, 8>(self.packet_header_bytes.val()) + self.padded.val();
            self.ipv6.d.next = self.packet_ipv6.val();
            self.layout.d.next = bit_cast::<3, 1>(self.packet_ipv6.val().into());
            if self.sends.val() {
                self.layout.d.next =
                    bit_cast::<3, 1>(self.packet_ipv6.val().into()) | (bit_cast::<3, 2>(self.packet_layout.val()) << 1);
            }
            self.payload_left.d.next = self.packet_payload_bytes.val();
            self.in_header.d.next = self.packet_header_bytes.val() >= self.beat_bytes_8.val();
            self.needs_payload.d.next =
                (self.packet_header_bytes.val() < self.beat_bytes_8.val()) & self.packet_payload_bytes.val().any();
            self.is_last.d.next =
                (bit_cast::<13, 8>(self.packet_header_bytes.val()) + self.padded.val()) < self.beat_bytes.val();
            if self.ack_valid.val() {
                self.in_header.d.next = self.ack_header_bytes.val() >= self.beat_bytes_8.val();
                self.needs_payload.d.next = false;
                self.is_last.d.next = self.ack_header_bytes.val() < self.beat_bytes_8.val();
                self.header_left.d.next = self.ack_header_bytes.val();
                self.left.d.next = bit_cast::<13, 8>(self.ack_header_bytes.val());
                self.ipv6.d.next = self.ack_ipv6.val();
                self.payload_left.d.next = 0.into();
            }
        }
        comment!("beats wait for their ICRC, which sees masked fields as ones");
        self.ones.next = 0.into();
        for k in 0..MASKED_BEATS {
            if self.made_beat.q.val() == k.to_bits::<4>() {
                self.ones.next = self.ones4[k].val();
                if self.made_ipv6.q.val() {
                    self.ones.next = self.ones6[k].val();
                }
            }
        }
        self.crc_pipe.valid.next = self.made_moves.val();
        self.crc_pipe.first.next = !self.made_beat.q.val().any();
        self.crc_pipe.last.next = self.made_info.q.val().last;
        self.crc_pipe.unused_bytes.next = (!self.made_info.q.val().bytes + 1) & self.left_mask.val().get_bits::<6>(0);
        self.crc_pipe.data.next = self.made.q.val() | self.ones.val();
        self.beats.write.next = self.made_moves.val();
        self.beats.data_in.next = self.made.q.val();
        self.infos.write.next = self.made_moves.val();
        self.infos.data_in.next = self.made_info.q.val();
        self.crcs.write.next = self.crc_pipe.crc_valid.val();
        self.crcs.data_in.next = !self.crc_pipe.crc.val();
        comment!("the last beat of a frame leaves with its ICRC, least significant byte first");
        self.head.next = self.infos.data_out.val();
        self.tail_bytes.next = bit_cast::<8, 6>(self.head.val().bytes);
        self.out_free.next = !self.tx_valid.q.val() | self.mac_tx_tready.val();
        self.beats.read.next = false;
        self.infos.read.next = false;
        self.crcs.read.next = false;
        if self.out_free.val() {
            self.tx_valid.d.next = false;
            self.tx_last.d.next = false;
            self.tx_keep.d.next = self.all_keep.val();
            self.tx_data.d.next = self.beats.data_out.val();
            if self.spill_valid.q.val() {
                self.tx_valid.d.next = true;
                self.tx_data.d.next = bit_cast::<W, 16>(self.spill.q.val());
                self.tx_keep.d.next = 3.into();
                self.tx_last.d.next = true;
                self.spill_valid.d.next = false;
            } else if !self.beats.empty.val() & (!self.head.val().last | !self.crcs.empty.val()) {
                self.tx_valid.d.next = true;
                self.beats.read.next = true;
                self.infos.read.next = true;
                if self.head.val().last {
                    self.crcs.read.next = true;
                    self.tx_data.d.next = self.beats.data_out.val()
                        | (bit_cast::<W, 32>(self.crcs.data_out.val()) << (bit_cast::<16, 8>(self.tail_bytes.val()) << 3));
                    self.spill.d.next = self.crcs.data_out.val().get_bits::<16>(16);
                    if self.tail_bytes.val() == self.spill_bytes.val() {
                        self.spill_valid.d.next = true;
                    } else {
                        self.tx_last.d.next = true;
                        self.tx_keep.d.next = self.all_keep.val() >> (self.beat_bytes_8.val() - (self.tail_bytes.val() + 4));
                    }
                }
            }
        }
        self.mac_tx_tvalid.next = self.tx_valid.q.val();
        self.mac_tx_tdata.next = self.tx_data.q.val();
        self.mac_tx_tkeep.next = self.tx_keep.q.val();
        self.mac_tx_tlast.next = self.tx_last.q.val();
        if self.reset.val() {
            self.busy.d.next = false;
            self.payload_left.d.next = 0.into();
            self.payload_valid.d.next = false;
            self.made_valid.d.next = false;
            self.tx_valid.d.next = false;
            self.spill_valid.d.next = false;
        }
    }
}
