//! Addresses of every connection, as the frame builders need them: one copy of table 1 (CONN) a builder.
//! In: configuration writes; a connection number. Out: its row one clock later; `cfg_busy` while a write is being applied.
//! A connection that is closed keeps the row that it was opened with: its last frames need it.
//! The row carries the ones' complement sum of everything in its IPv4 header that does not change from packet to packet.
use super::headers::{ipv4_header_bytes, Ipv4Front};
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// cfg_table of the connection table (docs/microarchitecture.md).
pub const TABLE_CONN: u64 = 1;

/// MAC and IP addresses are big-endian numbers; an IPv4 address stands in the low 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct NetRow {
    pub ipv6: Bit,
    pub mtu_log2: Bits<4>,
    pub peer_conn: Bits<16>,
    pub local_mac: Bits<48>,
    pub peer_mac: Bits<48>,
    pub local_ip: Bits<128>,
    pub peer_ip: Bits<128>,
    /// Sum of the IPv4 header without checksum, its total length counted as the bare header.
    pub ipv4_sum: Bits<16>,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct NetTable {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub read_conn: Signal<In, Bits<16>>,
    pub row: Signal<Out, NetRow>,
    rows: Ram<NetRow>,
    /// 0 idle, then one clock for each addition and one for the write.
    step: DFF<Bits<3>>,
    index: DFF<Bits<16>>,
    entry: DFF<NetRow>,
    sum: DFF<Bits<20>>,
    word: Signal<Local, Bits<32>>,
    ips: Signal<Local, Bits<32>>,
    conn_table: Constant<Bits<8>>,
    fixed_sum: Constant<Bits<20>>,
}

/// Sum of the 16-bit words of the IPv4 header as sent, with the header's own length as total length.
fn fixed_sum() -> u64 {
    let front: Bits<{ Ipv4Front::BITS }> = Ipv4Front::as_sent().into();
    let words = (0..ipv4_header_bytes() / 2).map(|k| front.get_bits::<16>(16 * k).to_u64());
    words.sum::<u64>() + ipv4_header_bytes() as u64
}

impl NetTable {
    pub fn new(conns: usize) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            cfg_valid: Default::default(),
            cfg_table: Default::default(),
            cfg_index: Default::default(),
            cfg_data: Default::default(),
            cfg_busy: Default::default(),
            read_conn: Default::default(),
            row: Default::default(),
            rows: Ram::new(conns),
            step: Default::default(),
            index: Default::default(),
            entry: Default::default(),
            sum: Default::default(),
            word: Default::default(),
            ips: Default::default(),
            conn_table: Constant::new(TABLE_CONN.into()),
            fixed_sum: Constant::new(fixed_sum().into()),
        }
    }
}

impl Logic for NetTable {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module net_table: addresses of every connection");
        dff_setup!(self, clock, step, index, entry, sum);
        clock!(self, clock, rows);
        self.rows.read_address.next = bit_cast::<24, 16>(self.read_conn.val());
        self.row.next = self.rows.read_data.val();
        self.rows.write_enable.next = false;
        self.rows.write_address.next = bit_cast::<24, 16>(self.index.q.val());
        self.rows.write_data.next = self.entry.q.val();
        self.cfg_busy.next = self.step.q.val().any();
        self.word.next = self.cfg_data.val().get_bits::<32>(0);
        self.ips.next = 0.into();
        match self.step.q.val().index() {
            0 => {
                comment!("a closed connection keeps its addresses: what it still has under way goes out with them");
                if self.cfg_valid.val() & (self.cfg_table.val() == self.conn_table.val()) & self.word.val().get_bit(0) {
                    self.index.d.next = self.cfg_index.val();
                    self.entry.d.next.ipv6 = self.word.val().get_bit(1);
                    self.entry.d.next.mtu_log2 = self.word.val().get_bits::<4>(8);
                    self.entry.d.next.peer_conn = self.word.val().get_bits::<16>(16);
                    self.entry.d.next.local_mac = self.cfg_data.val().get_bits::<48>(96);
                    self.entry.d.next.peer_mac = self.cfg_data.val().get_bits::<48>(144);
                    self.entry.d.next.local_ip = self.cfg_data.val().get_bits::<128>(192);
                    self.entry.d.next.peer_ip = self.cfg_data.val().get_bits::<128>(320);
                    self.sum.d.next = self.fixed_sum.val();
                    self.step.d.next = 1.into();
                }
            }
            1 => {
                self.ips.next = self.entry.q.val().local_ip.get_bits::<32>(0);
                self.sum.d.next = self.sum.q.val()
                    + (bit_cast::<20, 16>(self.ips.val().get_bits::<16>(0))
                        + bit_cast::<20, 16>(self.ips.val().get_bits::<16>(16)));
                self.step.d.next = 2.into();
            }
            2 => {
                self.ips.next = self.entry.q.val().peer_ip.get_bits::<32>(0);
                self.sum.d.next = self.sum.q.val()
                    + (bit_cast::<20, 16>(self.ips.val().get_bits::<16>(0))
                        + bit_cast::<20, 16>(self.ips.val().get_bits::<16>(16)));
                self.step.d.next = 3.into();
            }
            3 => {
                comment!("end-around carry; the second one below cannot carry again");
                self.sum.d.next = bit_cast::<20, 16>(self.sum.q.val().get_bits::<16>(0))
                    + bit_cast::<20, 4>(self.sum.q.val().get_bits::<4>(16));
                self.step.d.next = 4.into();
            }
            4 => {
                self.entry.d.next.ipv4_sum =
                    self.sum.q.val().get_bits::<16>(0) + bit_cast::<16, 4>(self.sum.q.val().get_bits::<4>(16));
                self.step.d.next = 5.into();
            }
            _ => {
                self.rows.write_enable.next = true;
                self.step.d.next = 0.into();
            }
        }
        if self.reset.val() {
            self.step.d.next = 0.into();
        }
    }
}
