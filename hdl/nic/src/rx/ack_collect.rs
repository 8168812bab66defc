//! ack_collect: makes the acknowledgment descriptor of a step (R9) while rx_core goes on with the next packet.
//! In: `start` in the last clock of a step, with everything the acknowledgment tells. Out: `ackdesc`, five clocks later.
//! Guarantees: what leaves is the state at `start`: all of it is copied in that clock, so no later step can change it.
use super::rx_layout::flag_mask;
use super::rx_rows::{AckDescRow, RxHeader, RxPathRow};
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct AckCollect {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Only while `ready`; takes all inputs up to `epoch`.
    pub start: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    /// Of the packet; of a timer step only the connection and the path.
    pub header: Signal<In, RxHeader>,
    /// The packet is a PROBE: its own time is echoed.
    pub probe: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    pub code: Signal<In, Bits<3>>,
    /// Code 4: there is no QP to name.
    pub bad_qp: Signal<In, Bit>,
    /// Q2: `refused` only for now, with this code of the time.
    pub rnr: Signal<In, Bit>,
    /// Code of the time; bit 5: no place was free (D3).
    pub rnr_timer: Signal<In, Bits<6>>,
    /// The path after the step.
    pub path: Signal<In, RxPathRow>,
    pub cum: Signal<In, Bits<24>>,
    /// Bit n mod W: PPSN n has been received.
    pub vector: Signal<In, Bits<256>>,
    pub now: Signal<In, Bits<32>>,
    /// The QP of the last packet is open.
    pub peer_known: Signal<In, Bit>,
    pub peer_qpn: Signal<In, Bits<24>>,
    /// Its oldest incomplete message.
    pub oldest: Signal<In, Bits<24>>,
    pub rate: Signal<In, Bits<24>>,
    pub epoch: Signal<In, Bits<8>>,
    pub ackdesc_valid: Signal<Out, Bit>,
    pub ackdesc_ready: Signal<In, Bit>,
    pub ackdesc: Signal<Out, AckDescRow>,
    /// Bit i: cum + 1 + i has been received; bits from W on are 0.
    pub ackdesc_sav: Signal<Out, Bits<256>>,
    busy: DFF<Bit>,
    full: DFF<Bit>,
    desc: DFF<AckDescRow>,
    /// The vector; it turns by a word a clock, and what comes around is shifted into place.
    word: [DFF<Bits<64>>; 4],
    /// Word 0 as it was: it also holds the far end of the vector.
    first_word: DFF<Bits<64>>,
    shift: DFF<Bits<6>>,
    turn: DFF<Bits<2>>,
    start_at: Signal<Local, Bits<24>>,
    choice: Signal<Local, Bits<2>>,
    chosen: Signal<Local, Bits<64>>,
    following: Signal<Local, Bits<64>>,
    part: Signal<Local, Bits<64>>,
    lane: Signal<Local, Bits<64>>,
    waited: Signal<Local, Bits<32>>,
    flags: Signal<Local, Bits<16>>,
    lane_shift: [Constant<Bits<16>>; 4],
    flag_probe_reply: Constant<Bits<16>>,
    flag_ts_valid: Constant<Bits<16>>,
    flag_nak: Constant<Bits<16>>,
    flag_rnr: Constant<Bits<16>>,
    /// Words of the vector - 1.
    word_ring: Constant<Bits<2>>,
}

fn flag(name: &str) -> Constant<Bits<16>> {
    Constant::new(flag_mask(name).to_bits())
}

impl AckCollect {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(AckCollect {
            word: array_init::array_init(|_| Default::default()),
            lane_shift: array_init::array_init(|k| Constant::new((64 * k as u64).to_bits())),
            flag_probe_reply: flag("probe_reply"),
            flag_ts_valid: flag("ts_valid"),
            flag_nak: flag("nak"),
            flag_rnr: flag("rnr"),
            word_ring: Constant::new((config.window_words() as u64 - 1).to_bits());
            clock, reset, start, ready, header, probe, refused, code, bad_qp, rnr, rnr_timer, path, cum, vector, now, peer_known, peer_qpn,
            oldest, rate, epoch, ackdesc_valid, ackdesc_ready, ackdesc, ackdesc_sav, busy, full, desc, first_word, shift,
            turn, start_at, choice, chosen, following, part, lane, waited, flags,
        })
    }
}

impl Logic for AckCollect {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module ack_collect: acknowledgment of a step (R9), beside the next one");
        dff_setup!(self, clock, busy, full, desc, first_word, shift, turn);
        for k in 0..4 {
            self.word[k].clock.next = self.clock.val();
            self.word[k].d.next = self.word[k].q.val();
        }
        self.ready.next = !self.busy.q.val() & (!self.full.q.val() | self.ackdesc_ready.val());
        self.ackdesc_valid.next = self.full.q.val();
        self.ackdesc.next = self.desc.q.val();
        self.ackdesc_sav.next = 0.into();
        for k in 0..4 {
            self.lane.next = self.word[k].q.val();
            self.ackdesc_sav.next = self.ackdesc_sav.val() | (bit_cast::<256, 64>(self.lane.val()) << self.lane_shift[k].val());
        }
        if self.ackdesc_ready.val() {
            self.full.d.next = false;
        }

        comment!("one word of the vector a clock, relative to cum + 1");
        self.following.next = self.word[1].q.val();
        if self.turn.q.val() == 3 {
            self.following.next = self.first_word.q.val();
        }
        self.part.next = (self.word[0].q.val() >> self.shift.q.val()) | ((self.following.val() << 1) << !self.shift.q.val());
        if (self.turn.q.val() & !self.word_ring.val()).any() {
            self.part.next = 0.into();
        }
        if self.busy.q.val() {
            for k in 0..3 {
                self.word[k].d.next = self.word[k + 1].q.val();
            }
            self.word[3].d.next = self.part.val();
            self.turn.d.next = self.turn.q.val() + 1;
            if self.turn.q.val() == 3 {
                self.busy.d.next = false;
                self.full.d.next = true;
            }
        }

        comment!("the word of cum + 1 comes first");
        self.start_at.next = self.cum.val() + 1;
        for k in 0..4 {
            self.choice.next = (self.start_at.val().get_bits::<2>(6) + k.to_bits::<2>()) & self.word_ring.val();
            self.chosen.next = self.vector.val().get_bits::<64>(0);
            for w in 1..4 {
                if self.choice.val() == w.to_bits::<2>() {
                    self.chosen.next = self.vector.val().get_bits::<64>(w * 64);
                }
            }
            if self.start.val() {
                self.word[k].d.next = self.chosen.val();
                if k == 0 {
                    self.first_word.d.next = self.chosen.val();
                }
            }
        }

        self.waited.next = self.now.val() - self.path.val().last_arrival;
        self.flags.next = 0.into();
        if self.path.val().last_ts_valid {
            self.flags.next = self.flag_ts_valid.val();
        }
        if self.start.val() {
            self.busy.d.next = true;
            self.turn.d.next = 0.into();
            self.shift.d.next = self.start_at.val().get_bits::<6>(0);
            self.desc.d.next.conn = self.header.val().conn;
            self.desc.d.next.home = self.header.val().home.get_bits::<3>(0);
            self.desc.d.next.via = self.path.val().last_via;
            self.desc.d.next.cum = self.cum.val();
            self.desc.d.next.ce = self.path.val().ce;
            self.desc.d.next.dup = self.path.val().dup;
            self.desc.d.next.rx = self.path.val().rx;
            self.desc.d.next.rate = self.rate.val();
            self.desc.d.next.epoch = self.epoch.val();
            self.desc.d.next.ts_echo = self.path.val().last_ts;
            self.desc.d.next.service = self.waited.val().get_bits::<16>(0);
            if self.waited.val().get_bits::<16>(16).any() {
                self.desc.d.next.service = 0xFFFF.into();
            }
            if self.probe.val() {
                self.desc.d.next.ts_echo = self.header.val().tx_ts;
                self.desc.d.next.service = 0.into();
                self.flags.next = self.flag_probe_reply.val() | self.flag_ts_valid.val();
            }
            self.desc.d.next.mak_qp = 0.into();
            self.desc.d.next.mak_code = 0.into();
            self.desc.d.next.mak_msn = 0.into();
            if self.peer_known.val() {
                self.desc.d.next.mak_qp = self.peer_qpn.val();
                self.desc.d.next.mak_msn = self.oldest.val() - 1;
            }
            if self.refused.val() {
                self.desc.d.next.mak_code = bit_cast::<8, 3>(self.code.val());
                self.desc.d.next.mak_msn = self.header.val().msn;
                if self.rnr.val() {
                    comment!("Q2: the packet is named, so that a late copy finds it acknowledged");
                    self.flags.next = self.flags.val() | self.flag_rnr.val();
                    self.desc.d.next.mak_code = bit_cast::<8, 6>(self.rnr_timer.val());
                    self.desc.d.next.mak_qp = self.header.val().ppsn;
                } else {
                    self.flags.next = self.flags.val() | self.flag_nak.val();
                }
                if self.bad_qp.val() {
                    comment!("no row names the sender's QP: the refused packet is named by its PPSN");
                    self.desc.d.next.mak_qp = self.header.val().ppsn;
                }
            }
            self.desc.d.next.flags = self.flags.val();
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.full.d.next = false;
        }
    }
}
