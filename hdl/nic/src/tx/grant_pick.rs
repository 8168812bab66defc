//! grant_pick: what a transmit slot may do: which paths are ok, which path has a packet to resend (S1).
//!
//! In: the eight paths of the connection, in clock 1 of the step (`load`). Out: valid from clock 2 on.
//! Guarantees: candidates in the order rr, rr+1, .. Clock 1 judges each path for itself, turns them into that order and
//! knows whether there is any; clock 2 finds the first, in a tree of pairs.
use super::filled::filled;
use super::rows::{ConnCfg, PathTx};
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct GrantPick {
    pub clock: Signal<In, Clock>,
    /// Fault 1: room(p) is pipe <= window.
    pub fault: Signal<In, Bits<5>>,
    pub load: Signal<In, Bit>,
    pub path_tx: [Signal<In, PathTx>; 8],
    pub cfg: Signal<In, ConnCfg>,
    pub rr: Signal<In, Bits<3>>,
    pub ok: Signal<Out, Bits<8>>,
    pub pipe: Signal<Out, Bits<72>>,
    pub window: Signal<Out, Bits<72>>,
    /// Bit p, of an ok path: one more packet of it fills its window, or is the last of W that may be outstanding.
    pub brim: Signal<Out, Bits<8>>,
    pub resend: Signal<Out, Bit>,
    pub home: Signal<Out, Bits<3>>,
    /// The home is SUSPECT or DOWN: the packet moves to another path.
    pub moves: Signal<Out, Bit>,
    /// Paths of the connection.
    pub paths: Signal<Out, Bits<4>>,
    /// paths - 1
    pub path_mask: Signal<Out, Bits<3>>,
    ok_reg: DFF<Bits<8>>,
    pipe_reg: DFF<Bits<72>>,
    window_reg: DFF<Bits<72>>,
    brim_reg: DFF<Bits<8>>,
    /// Some path is ok, ready, stranded.
    any_ok: DFF<Bit>,
    any_ready: DFF<Bit>,
    any_stranded: DFF<Bit>,
    // bit i: of path rr + i
    ready_reg: DFF<Bits<8>>,
    stranded_reg: DFF<Bits<8>>,
    /// Path rr + i.
    turn_reg: [DFF<Bits<3>>; 8],
    paths_reg: DFF<Bits<4>>,
    mask_reg: DFF<Bits<3>>,
    element: Signal<Local, PathTx>,
    room: Signal<Local, Bit>,
    moving: Signal<Local, Bit>,
    span: Signal<Local, Bits<9>>,
    is_ok: Signal<Local, Bits<8>>,
    ready: Signal<Local, Bits<8>>,
    stranded: Signal<Local, Bits<8>>,
    all_pipe: Signal<Local, Bits<72>>,
    all_window: Signal<Local, Bits<72>>,
    all_brim: Signal<Local, Bits<8>>,
    turned_ready: Signal<Local, Bits<8>>,
    turned_stranded: Signal<Local, Bits<8>>,
    candidates: Signal<Local, Bits<8>>,
    path_count: Signal<Local, Bits<4>>,
    mask: Signal<Local, Bits<3>>,
    turn: Signal<Local, Bits<3>>,
    is_path: Signal<Local, Bits<8>>,
    pair_found: [Signal<Local, Bit>; 4],
    pair_moves: [Signal<Local, Bit>; 4],
    pair_home: [Signal<Local, Bits<3>>; 4],
    half_found: [Signal<Local, Bit>; 2],
    half_moves: [Signal<Local, Bit>; 2],
    half_home: [Signal<Local, Bits<3>>; 2],
    nth: [Constant<Bits<3>>; 8],
    /// W: packets a path may have outstanding.
    span_max: Constant<Bits<9>>,
    /// W - 1: with one more packet a path has W outstanding.
    span_last: Constant<Bits<9>>,
}

impl GrantPick {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(GrantPick {
            path_tx: array_init::array_init(|_| Default::default()),
            turn_reg: array_init::array_init(|_| Default::default()),
            pair_found: array_init::array_init(|_| Default::default()),
            pair_moves: array_init::array_init(|_| Default::default()),
            pair_home: array_init::array_init(|_| Default::default()),
            half_found: array_init::array_init(|_| Default::default()),
            half_moves: array_init::array_init(|_| Default::default()),
            half_home: array_init::array_init(|_| Default::default()),
            nth: array_init::array_init(|i| Constant::new((i as u64).to_bits())),
            span_max: Constant::new((config.window_bits as u64).to_bits()),
            span_last: Constant::new((config.window_bits as u64 - 1).to_bits());
            clock, fault, load, cfg, rr, ok, pipe, window, brim, resend, home, moves, paths, path_mask, ok_reg, pipe_reg,
            window_reg, brim_reg, any_ok, any_ready, any_stranded, ready_reg, stranded_reg, paths_reg, mask_reg, element, room, moving, span, is_ok, ready,
            stranded, all_pipe, all_window, all_brim, turned_ready, turned_stranded, candidates, path_count, mask, turn, is_path,
        })
    }
}

impl Logic for GrantPick {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module grant_pick: usable paths and the path to resend on (S1)");
        dff_setup!(
            self,
            clock,
            ok_reg,
            pipe_reg,
            window_reg,
            brim_reg,
            any_ok,
            any_ready,
            any_stranded,
            ready_reg,
            stranded_reg,
            paths_reg,
            mask_reg
        );
        for i in 0..8 {
            self.turn_reg[i].clock.next = self.clock.val();
            self.turn_reg[i].d.next = self.turn_reg[i].q.val();
        }
        self.is_ok.next = 0.into();
        self.ready.next = 0.into();
        self.stranded.next = 0.into();
        self.all_pipe.next = 0.into();
        self.all_window.next = 0.into();
        self.all_brim.next = 0.into();
        for p in 0..8 {
            self.element.next = self.path_tx[p].val();
            self.room.next = (self.element.val().pipe < self.element.val().window)
                | ((self.fault.val() == 1) & (self.element.val().pipe == self.element.val().window));
            self.span.next = self.element.val().next_ppsn.get_bits::<9>(0) - self.element.val().cum.get_bits::<9>(0);
            // a span never exceeds W, a power of two
            self.is_ok.next = self.is_ok.val().replace_bit(
                p,
                self.room.val() & (self.element.val().state == 1) & !(self.span.val() & self.span_max.val()).any(),
            );
            self.ready.next = self
                .ready
                .val()
                .replace_bit(p, self.element.val().lost_words.any() & self.room.val() & (self.element.val().state == 1));
            // S1: a DOWN home, or a SUSPECT one: one packet alone until something was acknowledged
            self.moving.next = (self.element.val().state == 3)
                | ((self.element.val().state == 2) & (self.element.val().heard | !self.element.val().pipe.any()));
            self.stranded.next = self.stranded.val().replace_bit(p, self.element.val().lost_words.any() & self.moving.val());
            self.all_brim.next = self.all_brim.val().replace_bit(
                p,
                (self.element.val().pipe + 1 == self.element.val().window) | (self.span.val() == self.span_last.val()),
            );
            self.all_pipe.next = (self.all_pipe.val() >> 9) | (bit_cast::<72, 9>(self.element.val().pipe) << 63);
            self.all_window.next = (self.all_window.val() >> 9) | (bit_cast::<72, 9>(self.element.val().window) << 63);
        }
        self.path_count.next = 1.into();
        self.mask.next = 0.into();
        self.is_path.next = 1.into();
        if self.cfg.val().paths_log2 == 1 {
            self.path_count.next = 2.into();
            self.mask.next = 1.into();
            self.is_path.next = 3.into();
        }
        if self.cfg.val().paths_log2 == 2 {
            self.path_count.next = 4.into();
            self.mask.next = 3.into();
            self.is_path.next = 15.into();
        }
        if self.cfg.val().paths_log2 == 3 {
            self.path_count.next = 8.into();
            self.mask.next = 7.into();
            self.is_path.next = 255.into();
        }
        self.turned_ready.next = 0.into();
        self.turned_stranded.next = 0.into();
        for i in 0..8 {
            self.turn.next = (self.rr.val() + self.nth[i].val()) & self.mask.val();
            self.turned_ready.next = self.turned_ready.val().replace_bit(i, self.ready.val().get_bit(self.turn.val().index()));
            self.turned_stranded.next =
                self.turned_stranded.val().replace_bit(i, self.stranded.val().get_bit(self.turn.val().index()));
            if self.load.val() {
                self.turn_reg[i].d.next = self.turn.val();
            }
        }
        if self.load.val() {
            self.ok_reg.d.next = self.is_ok.val();
            self.pipe_reg.d.next = self.all_pipe.val();
            self.window_reg.d.next = self.all_window.val();
            self.brim_reg.d.next = self.all_brim.val();
            self.any_ok.d.next = self.is_ok.val().any();
            self.ready_reg.d.next = self.turned_ready.val();
            self.stranded_reg.d.next = self.turned_stranded.val();
            self.any_ready.d.next = (self.ready.val() & self.is_path.val()).any();
            self.any_stranded.d.next = (self.stranded.val() & self.is_path.val()).any();
            self.paths_reg.d.next = self.path_count.val();
            self.mask_reg.d.next = self.mask.val();
        }
        comment!("clock 2: a SUSPECT or DOWN home counts only if some path can carry its packet (S1)");
        self.candidates.next = self.ready_reg.q.val();
        if self.any_ok.q.val() {
            self.candidates.next = self.ready_reg.q.val() | self.stranded_reg.q.val();
        }
        for n in 0..4 {
            self.pair_found[n].next = self.candidates.val().get_bit(n * 2) | self.candidates.val().get_bit(n * 2 + 1);
            self.pair_moves[n].next = self.stranded_reg.q.val().get_bit(n * 2 + 1);
            self.pair_home[n].next = self.turn_reg[n * 2 + 1].q.val();
            if self.candidates.val().get_bit(n * 2) {
                self.pair_moves[n].next = self.stranded_reg.q.val().get_bit(n * 2);
                self.pair_home[n].next = self.turn_reg[n * 2].q.val();
            }
        }
        for n in 0..2 {
            self.half_found[n].next = self.pair_found[n * 2].val() | self.pair_found[n * 2 + 1].val();
            self.half_moves[n].next = self.pair_moves[n * 2 + 1].val();
            self.half_home[n].next = self.pair_home[n * 2 + 1].val();
            if self.pair_found[n * 2].val() {
                self.half_moves[n].next = self.pair_moves[n * 2].val();
                self.half_home[n].next = self.pair_home[n * 2].val();
            }
        }
        self.moves.next = self.half_moves[1].val();
        self.home.next = self.half_home[1].val();
        if self.half_found[0].val() {
            self.moves.next = self.half_moves[0].val();
            self.home.next = self.half_home[0].val();
        }
        self.resend.next = self.any_ready.q.val() | (self.any_ok.q.val() & self.any_stranded.q.val());
        self.ok.next = self.ok_reg.q.val();
        self.pipe.next = self.pipe_reg.q.val();
        self.window.next = self.window_reg.q.val();
        self.brim.next = self.brim_reg.q.val();
        self.paths.next = self.paths_reg.q.val();
        self.path_mask.next = self.mask_reg.q.val();
    }
}
