//! path_scheduler: the path for a packet (rule S3), a pipeline of three clocks.
//! In: `start` with ok mask, pipe and window of the 8 paths, rr and the number of paths. Out: `valid` three clocks later, with `found` and `path`,
//! which stay until the next result. Guarantees: among the ok paths the least pipe/window by cross multiplication, the
//! earliest in the order rr, rr+1, .. on a tie; the result comes from registers: a row is chosen with it in the same clock.
use super::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// One match of the tournament: the better of two candidates, registered.
#[derive(LogicBlock, Default)]
pub struct PathDuel {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Without it the earlier result stays.
    pub enable: Signal<In, Bit>,
    pub a_ok: Signal<In, Bit>,
    pub a_order: Signal<In, Bits<3>>,
    pub a_path: Signal<In, Bits<3>>,
    pub a_pipe: Signal<In, Bits<9>>,
    pub a_window: Signal<In, Bits<9>>,
    pub b_ok: Signal<In, Bit>,
    pub b_order: Signal<In, Bits<3>>,
    pub b_path: Signal<In, Bits<3>>,
    pub b_pipe: Signal<In, Bits<9>>,
    pub b_window: Signal<In, Bits<9>>,
    pub ok: Signal<Out, Bit>,
    pub order: Signal<Out, Bits<3>>,
    pub path: Signal<Out, Bits<3>>,
    pub pipe: Signal<Out, Bits<9>>,
    pub window: Signal<Out, Bits<9>>,
    a_load: Signal<Local, Bits<32>>,
    b_load: Signal<Local, Bits<32>>,
    take_b: Signal<Local, Bit>,
    best_ok: DFF<Bit>,
    best_order: DFF<Bits<3>>,
    best_path: DFF<Bits<3>>,
    best_pipe: DFF<Bits<9>>,
    best_window: DFF<Bits<9>>,
}

impl Logic for PathDuel {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module path_duel: the better of two paths, by pipe/window, then by order (S3)");
        dff_setup!(self, clock, best_ok, best_order, best_path, best_pipe, best_window);
        // S3: a beats b if pipe_a * window_b < pipe_b * window_a
        self.a_load.next = bit_cast::<16, 9>(self.a_pipe.val()) * bit_cast::<16, 9>(self.b_window.val());
        self.b_load.next = bit_cast::<16, 9>(self.b_pipe.val()) * bit_cast::<16, 9>(self.a_window.val());
        self.take_b.next = false;
        if self.b_ok.val() {
            if self.a_ok.val() {
                self.take_b.next = (self.b_load.val() < self.a_load.val())
                    | ((self.b_load.val() == self.a_load.val()) & (self.b_order.val() < self.a_order.val()));
            } else {
                self.take_b.next = true;
            }
        }
        if self.enable.val() {
            self.best_ok.d.next = self.a_ok.val() | self.b_ok.val();
            self.best_order.d.next = self.a_order.val();
            self.best_path.d.next = self.a_path.val();
            self.best_pipe.d.next = self.a_pipe.val();
            self.best_window.d.next = self.a_window.val();
            if self.take_b.val() {
                self.best_order.d.next = self.b_order.val();
                self.best_path.d.next = self.b_path.val();
                self.best_pipe.d.next = self.b_pipe.val();
                self.best_window.d.next = self.b_window.val();
            }
        }
        if self.reset.val() {
            self.best_ok.d.next = false;
        }
        self.ok.next = self.best_ok.q.val();
        self.order.next = self.best_order.q.val();
        self.path.next = self.best_path.q.val();
        self.pipe.next = self.best_pipe.q.val();
        self.window.next = self.best_window.q.val();
    }
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct PathScheduler {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    /// Bit p: state UP, room, fewer than W packets outstanding.
    pub ok: Signal<In, Bits<8>>,
    /// Path p in bits 9p+8:9p.
    pub pipe: Signal<In, Bits<72>>,
    pub window: Signal<In, Bits<72>>,
    pub rr: Signal<In, Bits<3>>,
    pub paths_log2: Signal<In, Bits<2>>,
    pub valid: Signal<Out, Bit>,
    pub found: Signal<Out, Bit>,
    pub path: Signal<Out, Bits<3>>,
    order_mask: Signal<Local, Bits<3>>,
    order: [Signal<Local, Bits<3>>; 8],
    order_here: Signal<Local, Bits<3>>,
    usable: Signal<Local, Bits<8>>,
    quarter: [PathDuel; 4],
    half: [PathDuel; 2],
    last: PathDuel,
    stage1: DFF<Bit>,
    stage2: DFF<Bit>,
    stage3: DFF<Bit>,
}

impl PathScheduler {
    pub fn new() -> Self {
        filled!(PathScheduler {
            order: array_init::array_init(|_| Default::default()),
            quarter: array_init::array_init(|_| Default::default()),
            half: array_init::array_init(|_| Default::default());
            clock, reset, start, ok, pipe, window, rr, paths_log2, valid, found, path, order_mask, order_here,
            usable, last, stage1, stage2, stage3,
        })
    }
}

impl Default for PathScheduler {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for PathScheduler {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module path_scheduler: least loaded usable path, three clocks after start (S3)");
        dff_setup!(self, clock, stage1, stage2, stage3);
        self.stage1.d.next = self.start.val();
        self.stage2.d.next = self.stage1.q.val();
        self.stage3.d.next = self.stage2.q.val();
        // S3: path p has order i = (p - rr) mod paths; paths beyond the connection's number do not take part
        self.order_mask.next = 7.into();
        if self.paths_log2.val() == 0 {
            self.order_mask.next = 0.into();
        }
        if self.paths_log2.val() == 1 {
            self.order_mask.next = 1.into();
        }
        if self.paths_log2.val() == 2 {
            self.order_mask.next = 3.into();
        }
        self.usable.next = 0.into();
        for p in 0..8 {
            self.order_here.next = (p.to_bits::<3>() - self.rr.val()) & self.order_mask.val();
            self.order[p].next = self.order_here.val();
            self.usable.next = self
                .usable
                .val()
                .replace_bit(p, self.ok.val().get_bit(p) & ((p.to_bits::<3>() & self.order_mask.val()) == p.to_bits::<3>()));
        }
        for n in 0..4 {
            self.quarter[n].clock.next = self.clock.val();
            self.quarter[n].reset.next = self.reset.val();
            self.quarter[n].enable.next = true;
            self.quarter[n].a_ok.next = self.usable.val().get_bit(n * 2);
            self.quarter[n].a_order.next = self.order[n * 2].val();
            self.quarter[n].a_path.next = n.to_bits::<3>() << 1;
            self.quarter[n].a_pipe.next = self.pipe.val().get_bits::<9>(n * 18);
            self.quarter[n].a_window.next = self.window.val().get_bits::<9>(n * 18);
            self.quarter[n].b_ok.next = self.usable.val().get_bit(n * 2 + 1);
            self.quarter[n].b_order.next = self.order[n * 2 + 1].val();
            self.quarter[n].b_path.next = (n.to_bits::<3>() << 1) | 1;
            self.quarter[n].b_pipe.next = self.pipe.val().get_bits::<9>(n * 18 + 9);
            self.quarter[n].b_window.next = self.window.val().get_bits::<9>(n * 18 + 9);
        }
        for n in 0..2 {
            self.half[n].clock.next = self.clock.val();
            self.half[n].reset.next = self.reset.val();
            self.half[n].enable.next = true;
            self.half[n].a_ok.next = self.quarter[n * 2].ok.val();
            self.half[n].a_order.next = self.quarter[n * 2].order.val();
            self.half[n].a_path.next = self.quarter[n * 2].path.val();
            self.half[n].a_pipe.next = self.quarter[n * 2].pipe.val();
            self.half[n].a_window.next = self.quarter[n * 2].window.val();
            self.half[n].b_ok.next = self.quarter[n * 2 + 1].ok.val();
            self.half[n].b_order.next = self.quarter[n * 2 + 1].order.val();
            self.half[n].b_path.next = self.quarter[n * 2 + 1].path.val();
            self.half[n].b_pipe.next = self.quarter[n * 2 + 1].pipe.val();
            self.half[n].b_window.next = self.quarter[n * 2 + 1].window.val();
        }
        clock!(self, clock, last);
        self.last.reset.next = self.reset.val();
        self.last.enable.next = self.stage2.q.val();
        self.last.a_ok.next = self.half[0].ok.val();
        self.last.a_order.next = self.half[0].order.val();
        self.last.a_path.next = self.half[0].path.val();
        self.last.a_pipe.next = self.half[0].pipe.val();
        self.last.a_window.next = self.half[0].window.val();
        self.last.b_ok.next = self.half[1].ok.val();
        self.last.b_order.next = self.half[1].order.val();
        self.last.b_path.next = self.half[1].path.val();
        self.last.b_pipe.next = self.half[1].pipe.val();
        self.last.b_window.next = self.half[1].window.val();
        comment!("the result comes from registers and stays readable until the next one");
        self.valid.next = self.stage3.q.val();
        self.found.next = self.last.ok.val();
        self.path.next = self.last.path.val();
        if self.reset.val() {
            self.stage1.d.next = false;
            self.stage2.d.next = false;
            self.stage3.d.next = false;
        }
    }
}
