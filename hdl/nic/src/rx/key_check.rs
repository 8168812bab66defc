//! key_check: the key part of R3, Q3 and D2: index, validity, low byte, protection domain, right, bounds; and the bus address of the bytes.
//! In: `start` with the key, va, bytes and the right it needs; `pd` of the QP two clocks later; rows written by cfg table 4. Out: `code` and `addr`, valid from the
//! fourth clock after `start` until the next one. Guarantees: no address arithmetic wraps; one 64-bit operation a clock.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// `right`: which of a region's rights the bytes need.
pub mod right {
    pub const REMOTE_WRITE: u64 = 0;
    pub const LOCAL_WRITE: u64 = 1;
    pub const REMOTE_READ: u64 = 2;
    pub const REMOTE_ATOMIC: u64 = 3;
}

/// A memory region.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct KeyRow {
    pub valid: Bit,
    pub remote_write: Bit,
    pub local_write: Bit,
    pub remote_read: Bit,
    pub remote_atomic: Bit,
    pub key_low: Bits<8>,
    pub pd: Bits<16>,
    pub base: Bits<64>,
    pub length: Bits<64>,
    pub dma_base: Bits<64>,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct KeyCheck {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 11: the length of the region is ignored.
    pub fault: Signal<In, Bits<5>>,
    pub start: Signal<In, Bit>,
    pub rkey: Signal<In, Bits<32>>,
    pub va: Signal<In, Bits<64>>,
    /// Of the packet; of a READ those of the whole message (D2).
    pub bytes: Signal<In, Bits<32>>,
    /// What is needed, see the module [`right`].
    pub right: Signal<In, Bits<2>>,
    /// Protection domain of the QP, stable from the second clock after `start` on.
    pub pd: Signal<In, Bits<16>>,
    pub write: Signal<In, Bit>,
    pub write_index: Signal<In, Bits<16>>,
    /// Words 0 to 6 of cfg table 4.
    pub write_data: Signal<In, Bits<224>>,
    /// 0, or the nak code: 1 bad_key, 2 access, 3 bounds.
    pub code: Signal<Out, Bits<2>>,
    pub addr: Signal<Out, Bits<64>>,
    pub init_done: Signal<Out, Bit>,
    rows: Ram<KeyRow>,
    walking: DFF<Bit>,
    walk: DFF<Bits<24>>,
    key: DFF<Bits<32>>,
    va1: DFF<Bits<64>>,
    bytes1: DFF<Bits<32>>,
    right1: DFF<Bits<2>>,
    stage: DFF<Bits<3>>,
    row: DFF<KeyRow>,
    known: DFF<Bit>,
    bad_key: DFF<Bit>,
    no_access: DFF<Bit>,
    below: DFF<Bit>,
    wraps: DFF<Bit>,
    offset: DFF<Bits<64>>,
    beyond: DFF<Bit>,
    /// Bytes left, if fewer than 2^32.
    left: DFF<Bits<32>>,
    plenty: DFF<Bit>,
    early: DFF<Bits<2>>,
    address: DFF<Bits<64>>,
    difference: Signal<Local, Bits<65>>,
    end: Signal<Local, Bits<65>>,
    room: Signal<Local, Bits<65>>,
    allows: Signal<Local, Bit>,
    short: Signal<Local, Bit>,
    keys: Constant<Bits<24>>,
    last_row: Constant<Bits<24>>,
}

impl KeyCheck {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(KeyCheck {
            rows: Ram::new(config.keys),
            keys: Constant::new((config.keys as u64).to_bits()),
            last_row: Constant::new((config.keys as u64 - 1).to_bits());
            clock, reset, fault, start, rkey, va, bytes, right, pd, write, write_index, write_data, code, addr, init_done,
            walking, walk, key, va1, bytes1, right1, stage, row, known, bad_key, no_access, below, wraps, offset, beyond,
            left, plenty, early, address, difference, end, room, allows, short,
        })
    }
}

impl Logic for KeyCheck {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module key_check: key part of R3 and the translation of the address");
        dff_setup!(
            self, clock, walking, walk, key, va1, bytes1, right1, stage, row, known, bad_key, no_access, below, wraps, offset,
            beyond, left, plenty, early, address
        );
        clock!(self, clock, rows);
        self.stage.d.next = (self.stage.q.val() << 1) | bit_cast::<3, 1>(self.start.val().into());
        self.rows.read_address.next = bit_cast::<24, 32>(self.rkey.val() >> 8);
        if self.start.val() {
            self.key.d.next = self.rkey.val();
            self.va1.d.next = self.va.val();
            self.bytes1.d.next = self.bytes.val();
            self.right1.d.next = self.right.val();
        }
        comment!("clock 1: the row");
        if self.stage.q.val().get_bit(0) {
            self.row.d.next = self.rows.read_data.val();
            self.known.d.next = (self.key.q.val() >> 8) < bit_cast::<32, 24>(self.keys.val());
        }
        comment!("clock 2: identity, rights, place in the region, wrap of the end");
        self.difference.next = bit_cast::<65, 64>(self.va1.q.val()) - bit_cast::<65, 64>(self.row.q.val().base);
        self.end.next = bit_cast::<65, 64>(self.va1.q.val()) + bit_cast::<65, 32>(self.bytes1.q.val());
        self.allows.next = self.row.q.val().remote_write;
        if self.right1.q.val() == 1 {
            self.allows.next = self.row.q.val().local_write;
        } else if self.right1.q.val() == 2 {
            self.allows.next = self.row.q.val().remote_read;
        } else if self.right1.q.val() == 3 {
            self.allows.next = self.row.q.val().remote_atomic;
        }
        if self.stage.q.val().get_bit(1) {
            self.bad_key.d.next =
                !self.known.q.val() | !self.row.q.val().valid | (self.row.q.val().key_low != self.key.q.val().get_bits::<8>(0));
            self.no_access.d.next = (self.row.q.val().pd != self.pd.val()) | !self.allows.val();
            self.below.d.next = self.difference.val().get_bit(64);
            self.offset.d.next = self.difference.val().get_bits::<64>(0);
            self.wraps.d.next = self.end.val().get_bit(64);
        }
        comment!("clock 3: bytes left behind the address, and the bus address; what is wrong whatever is left");
        self.room.next = bit_cast::<65, 64>(self.row.q.val().length) - bit_cast::<65, 64>(self.offset.q.val());
        if self.stage.q.val().get_bit(2) {
            self.beyond.d.next = self.room.val().get_bit(64);
            self.left.d.next = self.room.val().get_bits::<32>(0);
            self.plenty.d.next = self.room.val().get_bits::<32>(32).any();
            self.address.d.next = self.row.q.val().dma_base + self.offset.q.val();
            self.early.d.next = 0.into();
            if self.bad_key.q.val() {
                self.early.d.next = 1.into();
            } else if self.no_access.q.val() {
                self.early.d.next = 2.into();
            } else if self.below.q.val() | self.wraps.q.val() {
                self.early.d.next = 3.into();
            }
        }
        comment!("clock 4: the verdict");
        self.short.next = self.beyond.q.val() | (!self.plenty.q.val() & (self.left.q.val() < self.bytes1.q.val()));
        if self.fault.val() == 11 {
            self.short.next = false;
        }
        self.code.next = self.early.q.val();
        if !self.early.q.val().any() & self.short.val() {
            self.code.next = 3.into();
        }
        self.addr.next = self.address.q.val();

        self.init_done.next = !self.walking.q.val();
        self.rows.write_enable.next = self.walking.q.val() | self.write.val();
        self.rows.write_address.next = bit_cast::<24, 16>(self.write_index.val());
        self.rows.write_data.next.valid = self.write_data.val().get_bit(0);
        self.rows.write_data.next.remote_write = self.write_data.val().get_bit(2);
        self.rows.write_data.next.local_write = self.write_data.val().get_bit(1);
        self.rows.write_data.next.remote_read = self.write_data.val().get_bit(3);
        self.rows.write_data.next.remote_atomic = self.write_data.val().get_bit(4);
        self.rows.write_data.next.key_low = self.write_data.val().get_bits::<8>(8);
        self.rows.write_data.next.pd = self.write_data.val().get_bits::<16>(16);
        self.rows.write_data.next.base = self.write_data.val().get_bits::<64>(32);
        self.rows.write_data.next.length = self.write_data.val().get_bits::<64>(96);
        self.rows.write_data.next.dma_base = self.write_data.val().get_bits::<64>(160);
        if self.walking.q.val() {
            self.rows.write_address.next = self.walk.q.val();
            self.rows.write_data.next.valid = false;
            self.walk.d.next = self.walk.q.val() + 1;
            self.walking.d.next = self.walk.q.val() != self.last_row.val();
        }
        if self.reset.val() {
            self.walking.d.next = true;
            self.walk.d.next = 0.into();
            self.stage.d.next = 0.into();
        }
    }
}
