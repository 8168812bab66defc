//! word_step: what one step does to the four sets of a 64-bit word (A3, L2, L1, and the set moves of section 8).
//!
//! In: the old word, the acknowledged bits of the vector, masks, the refused packet (N1), the operation. Out: the new word and the packets that were newly
//! acknowledged, that left the pipe, that L1 and L2 found lost. Guarantees: the four sets stay disjoint. Combinational.
use super::rows::WordRow;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// Operations of a step on a path's words.
pub const OP_ACK: u64 = 0;
/// PROBE: rtx_old gains rtx_new.
pub const OP_MERGE: u64 = 1;
/// Everything unacknowledged below `bound` becomes lost.
pub const OP_ALL_LOST: u64 = 2;
pub const OP_CLEAR: u64 = 3;

/// See the module documentation.
#[derive(LogicBlock, Default)]
pub struct WordStep {
    pub op: Signal<In, Bits<2>>,
    pub word: Signal<In, WordRow>,
    /// The vector, at absolute positions.
    pub sav: Signal<In, Bits<64>>,
    /// [cum, cum').
    pub passed: Signal<In, Bits<64>>,
    /// Where L1 looks: from its lower bound to B.
    pub gap: Signal<In, Bits<64>>,
    /// N1: the packet that the peer refused for now, at most one.
    pub refused: Signal<In, Bits<64>>,
    /// L2 applies.
    pub turn: Signal<In, Bit>,
    pub result: Signal<Out, WordRow>,
    pub newly: Signal<Out, Bits<64>>,
    pub dropped: Signal<Out, Bits<64>>,
    pub lost_l1: Signal<Out, Bits<64>>,
    pub lost_l2: Signal<Out, Bits<64>>,
    fresh: Signal<Local, Bits<64>>,
    live: Signal<Local, Bits<64>>,
    sacked: Signal<Local, Bits<64>>,
    lost: Signal<Local, Bits<64>>,
    old: Signal<Local, Bits<64>>,
    young: Signal<Local, Bits<64>>,
    again: Signal<Local, Bits<64>>,
    found: Signal<Local, Bits<64>>,
    known: Signal<Local, Bits<64>>,
    gone: Signal<Local, Bits<64>>,
}

impl Logic for WordStep {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module word_step: one step on the four sets of a word");
        // A3
        self.fresh.next = (self.passed.val() | self.sav.val()) & !self.word.val().sacked;
        self.live.next = !(self.fresh.val() | self.passed.val());
        self.sacked.next = (self.word.val().sacked | self.fresh.val()) & !self.passed.val();
        self.lost.next = self.word.val().lost & self.live.val();
        self.old.next = self.word.val().rtx_old & self.live.val();
        self.young.next = self.word.val().rtx_new & self.live.val();
        // L2: a packet first sent after the resends has arrived, so what is left of them is lost again
        self.again.next = 0.into();
        if self.turn.val() {
            self.again.next = self.old.val();
            self.lost.next = self.lost.val() | self.old.val();
            self.old.next = self.young.val();
            self.young.next = 0.into();
        }
        // L1
        self.known.next = self.sacked.val() | self.lost.val() | self.old.val() | self.young.val();
        self.found.next = self.gap.val() & !self.known.val();
        // N1: what was refused is lost too, unless a resend of it is under way
        self.gone.next = (self.gap.val() | self.refused.val()) & !self.known.val();
        self.result.next.sacked = self.sacked.val();
        self.result.next.lost = self.lost.val() | self.gone.val();
        self.result.next.rtx_old = self.old.val();
        self.result.next.rtx_new = self.young.val();
        self.newly.next = self.fresh.val();
        self.dropped.next = (self.fresh.val() & !self.word.val().lost) | self.again.val() | self.gone.val();
        self.lost_l1.next = self.found.val();
        self.lost_l2.next = self.again.val();
        if self.op.val() != 0 {
            self.newly.next = 0.into();
            self.dropped.next = 0.into();
            self.lost_l1.next = 0.into();
            self.lost_l2.next = 0.into();
            self.result.next = self.word.val();
        }
        if self.op.val() == 1 {
            self.result.next.rtx_old = self.word.val().rtx_old | self.word.val().rtx_new;
            self.result.next.rtx_new = 0.into();
        }
        if self.op.val() == 2 {
            // L4: DOWN
            self.result.next.lost = self.gap.val() & !self.word.val().sacked;
            self.result.next.rtx_old = 0.into();
            self.result.next.rtx_new = 0.into();
        }
        if self.op.val() == 3 {
            self.result.next.sacked = 0.into();
            self.result.next.lost = 0.into();
            self.result.next.rtx_old = 0.into();
            self.result.next.rtx_new = 0.into();
        }
    }
}
