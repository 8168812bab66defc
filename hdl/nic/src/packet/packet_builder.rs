//! Turns packet descriptors into headers and payload reads; one descriptor every five clocks.
//! In: `desc` (data, NOP, PROBE), message rows from work_fetch, configuration of the connections.
//! Out: `dr_desc` (one read for each packet with payload) and `header_*` to the framer, both in the order of `desc`.
//! At most `dr_outstanding` headers wait for their payload, so as many reads are outstanding.
use super::headers::*;
use super::net_table::NetTable;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A descriptor as it waits.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct DataDesc {
    pub kind: Bits<2>,
    pub conn: Bits<16>,
    pub home: Bits<3>,
    pub via: Bits<3>,
    pub ppsn: Bits<24>,
    pub rtx: Bit,
    pub moved: Bit,
    pub ack_req: Bit,
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub index: Bits<24>,
    pub bytes: Bits<13>,
    pub first: Bit,
    pub last: Bit,
    pub ts: Bits<16>,
    pub port: Bits<16>,
}

/// What every packet of a message needs.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct MsgRow {
    pub laddr: Bits<64>,
    pub raddr: Bits<64>,
    pub rkey: Bits<32>,
    pub length: Bits<32>,
    pub peer_qpn: Bits<24>,
}

/// A finished header; the first byte of the frame in the most significant bits.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct WriteHeader {
    pub header: Bits<WRITE_HEADER_BITS>,
    pub header_bytes: Bits<8>,
    pub payload_bytes: Bits<13>,
    pub ipv6: Bit,
}

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
enum Step {
    Wait,
    Look,
    Add,
    Fold,
    Send,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct PacketBuilder {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub msgrow_valid: Signal<In, Bit>,
    pub msgrow_addr: Signal<In, Bits<24>>,
    pub msgrow_laddr: Signal<In, Bits<64>>,
    pub msgrow_raddr: Signal<In, Bits<64>>,
    pub msgrow_rkey: Signal<In, Bits<32>>,
    pub msgrow_length: Signal<In, Bits<32>>,
    pub msgrow_peer_qpn: Signal<In, Bits<24>>,
    pub desc_valid: Signal<In, Bit>,
    pub desc_ready: Signal<Out, Bit>,
    /// 0 data, 1 NOP, 2 PROBE.
    pub desc_kind: Signal<In, Bits<2>>,
    pub desc_conn: Signal<In, Bits<16>>,
    pub desc_home: Signal<In, Bits<3>>,
    pub desc_via: Signal<In, Bits<3>>,
    pub desc_ppsn: Signal<In, Bits<24>>,
    pub desc_rtx: Signal<In, Bit>,
    pub desc_moved: Signal<In, Bit>,
    pub desc_ack_req: Signal<In, Bit>,
    pub desc_qp: Signal<In, Bits<16>>,
    pub desc_msn: Signal<In, Bits<24>>,
    pub desc_index: Signal<In, Bits<24>>,
    pub desc_bytes: Signal<In, Bits<13>>,
    pub desc_first: Signal<In, Bit>,
    pub desc_last: Signal<In, Bit>,
    pub desc_ts: Signal<In, Bits<16>>,
    pub desc_port: Signal<In, Bits<16>>,
    pub dr_desc_valid: Signal<Out, Bit>,
    pub dr_desc_ready: Signal<In, Bit>,
    pub dr_desc_addr: Signal<Out, Bits<64>>,
    pub dr_desc_len: Signal<Out, Bits<16>>,
    pub header_valid: Signal<Out, Bit>,
    pub header_ready: Signal<In, Bit>,
    pub header_bits: Signal<Out, Bits<WRITE_HEADER_BITS>>,
    pub header_bytes: Signal<Out, Bits<8>>,
    pub header_payload_bytes: Signal<Out, Bits<13>>,
    pub header_ipv6: Signal<Out, Bit>,
    descs: Fifo<DataDesc>,
    messages: Ram<MsgRow>,
    net: NetTable,
    headers: Fifo<WriteHeader>,
    step: DFF<Step>,
    is_data: DFF<Bit>,
    is_nop: DFF<Bit>,
    is_probe: DFF<Bit>,
    ipv6: DFF<Bit>,
    payload_bytes: DFF<Bits<13>>,
    pad: DFF<Bits<2>>,
    udp_bytes: DFF<Bits<16>>,
    offset: DFF<Bits<32>>,
    laddr: DFF<Bits<64>>,
    va: DFF<Bits<64>>,
    ipv4_bytes: DFF<Bits<16>>,
    sum: DFF<Bits<17>>,
    checksum: DFF<Bits<16>>,
    read_valid: DFF<Bit>,
    read_addr: DFF<Bits<64>>,
    read_len: DFF<Bits<16>>,
    desc: Signal<Local, DataDesc>,
    arriving: Signal<Local, DataDesc>,
    row: Signal<Local, MsgRow>,
    bytes: Signal<Local, Bits<13>>,
    padding: Signal<Local, Bits<2>>,
    read_free: Signal<Local, Bit>,
    front4: Signal<Local, Ipv4Front>,
    front6: Signal<Local, Ipv6Front>,
    back: Signal<Local, WriteBack>,
    front4_bits: Signal<Local, Bits<{ Ipv4Front::BITS }>>,
    front6_bits: Signal<Local, Bits<{ Ipv6Front::BITS }>>,
    back_bits: Signal<Local, Bits<{ WriteBack::BITS }>>,
    made: Signal<Local, WriteHeader>,
    kind_nop: Constant<Bits<2>>,
    kind_probe: Constant<Bits<2>>,
    /// Rows of a QP's messages: M, a power of two.
    msgs_log2: Constant<Bits<8>>,
    msn_mask: Constant<Bits<24>>,
    front4_sent: Constant<Ipv4Front>,
    front6_sent: Constant<Ipv6Front>,
    back_sent: Constant<WriteBack>,
    ethertype4: Constant<Bits<16>>,
    ethertype6: Constant<Bits<16>>,
    ipv4_header: Constant<Bits<16>>,
    opcode_write: Constant<Bits<8>>,
    opcode_nop: Constant<Bits<8>>,
    opcode_probe: Constant<Bits<8>>,
    path_qp: Constant<Bits<24>>,
    udp_write: Constant<Bits<16>>,
    udp_nop: Constant<Bits<16>>,
    udp_probe: Constant<Bits<16>>,
    /// Header bytes of a frame: [IPv4, IPv6] of each kind.
    bytes_write: [Constant<Bits<8>>; 2],
    bytes_nop: [Constant<Bits<8>>; 2],
    bytes_probe: [Constant<Bits<8>>; 2],
    /// The part of `back` that a NOP or a PROBE has.
    keep_nop: Constant<Bits<{ WriteBack::BITS }>>,
    keep_probe: Constant<Bits<{ WriteBack::BITS }>>,
    shift_front4: Constant<Bits<16>>,
    shift_back4: Constant<Bits<16>>,
    shift_front6: Constant<Bits<16>>,
}

/// Ones over the leading bytes of `back` that a packet of this opcode has.
fn keep(opcode: &str) -> Bits<{ WriteBack::BITS }> {
    let kept = 8 * (frame_header_bytes(opcode, false) - Ipv4Front::BYTES);
    Bits::<{ WriteBack::BITS }>::mask() << (WriteBack::BITS - kept) as u64
}

fn header_bytes_of(opcode: &str) -> [Constant<Bits<8>>; 2] {
    [false, true].map(|ipv6| Constant::new((frame_header_bytes(opcode, ipv6) as u64).into()))
}

impl PacketBuilder {
    pub fn new(config: &BuildConfig) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            cfg_valid: Default::default(),
            cfg_table: Default::default(),
            cfg_index: Default::default(),
            cfg_data: Default::default(),
            cfg_busy: Default::default(),
            msgrow_valid: Default::default(),
            msgrow_addr: Default::default(),
            msgrow_laddr: Default::default(),
            msgrow_raddr: Default::default(),
            msgrow_rkey: Default::default(),
            msgrow_length: Default::default(),
            msgrow_peer_qpn: Default::default(),
            desc_valid: Default::default(),
            desc_ready: Default::default(),
            desc_kind: Default::default(),
            desc_conn: Default::default(),
            desc_home: Default::default(),
            desc_via: Default::default(),
            desc_ppsn: Default::default(),
            desc_rtx: Default::default(),
            desc_moved: Default::default(),
            desc_ack_req: Default::default(),
            desc_qp: Default::default(),
            desc_msn: Default::default(),
            desc_index: Default::default(),
            desc_bytes: Default::default(),
            desc_first: Default::default(),
            desc_last: Default::default(),
            desc_ts: Default::default(),
            desc_port: Default::default(),
            dr_desc_valid: Default::default(),
            dr_desc_ready: Default::default(),
            dr_desc_addr: Default::default(),
            dr_desc_len: Default::default(),
            header_valid: Default::default(),
            header_ready: Default::default(),
            header_bits: Default::default(),
            header_bytes: Default::default(),
            header_payload_bytes: Default::default(),
            header_ipv6: Default::default(),
            descs: Fifo::new(config.fifo.desc),
            messages: Ram::new(config.message_rows()),
            net: NetTable::new(config.conns),
            headers: Fifo::new(config.fifo.dr_outstanding),
            step: Default::default(),
            is_data: Default::default(),
            is_nop: Default::default(),
            is_probe: Default::default(),
            ipv6: Default::default(),
            payload_bytes: Default::default(),
            pad: Default::default(),
            udp_bytes: Default::default(),
            offset: Default::default(),
            laddr: Default::default(),
            va: Default::default(),
            ipv4_bytes: Default::default(),
            sum: Default::default(),
            checksum: Default::default(),
            read_valid: Default::default(),
            read_addr: Default::default(),
            read_len: Default::default(),
            desc: Default::default(),
            arriving: Default::default(),
            row: Default::default(),
            bytes: Default::default(),
            padding: Default::default(),
            read_free: Default::default(),
            front4: Default::default(),
            front6: Default::default(),
            back: Default::default(),
            front4_bits: Default::default(),
            front6_bits: Default::default(),
            back_bits: Default::default(),
            made: Default::default(),
            kind_nop: number(1),
            kind_probe: number(2),
            msgs_log2: number(config.msgs_per_stream.ilog2() as usize),
            msn_mask: number(config.msgs_per_stream - 1),
            front4_sent: Constant::new(Ipv4Front::as_sent()),
            front6_sent: Constant::new(Ipv6Front::as_sent()),
            back_sent: Constant::new(WriteBack::as_sent()),
            ethertype4: Constant::new(constant("ETHERTYPE_IPV4").into()),
            ethertype6: Constant::new(constant("ETHERTYPE_IPV6").into()),
            ipv4_header: number(ipv4_header_bytes()),
            opcode_write: Constant::new(opcode_value("WRITE").into()),
            opcode_nop: Constant::new(opcode_value("NOP").into()),
            opcode_probe: Constant::new(opcode_value("PROBE").into()),
            path_qp: Constant::new(constant("PATH_QP").into()),
            udp_write: number(udp_bytes("WRITE")),
            udp_nop: number(udp_bytes("NOP")),
            udp_probe: number(udp_bytes("PROBE")),
            bytes_write: header_bytes_of("WRITE"),
            bytes_nop: header_bytes_of("NOP"),
            bytes_probe: header_bytes_of("PROBE"),
            keep_nop: Constant::new(keep("NOP")),
            keep_probe: Constant::new(keep("PROBE")),
            shift_front4: number(WRITE_HEADER_BITS - Ipv4Front::BITS),
            shift_back4: number(WRITE_HEADER_BITS - Ipv4Front::BITS - WriteBack::BITS),
            shift_front6: number(WRITE_HEADER_BITS - Ipv6Front::BITS),
        }
    }
}

impl Logic for PacketBuilder {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module packet_builder: descriptors to headers and payload reads");
        dff_setup!(
            self,
            clock,
            step,
            is_data,
            is_nop,
            is_probe,
            ipv6,
            payload_bytes,
            pad,
            udp_bytes,
            offset,
            laddr,
            va,
            ipv4_bytes,
            sum,
            checksum,
            read_valid,
            read_addr,
            read_len
        );
        clock!(self, clock, descs, messages, net, headers);
        self.descs.reset.next = self.reset.val();
        self.net.reset.next = self.reset.val();
        self.headers.reset.next = self.reset.val();
        self.net.cfg_valid.next = self.cfg_valid.val();
        self.net.cfg_table.next = self.cfg_table.val();
        self.net.cfg_index.next = self.cfg_index.val();
        self.net.cfg_data.next = self.cfg_data.val();
        self.cfg_busy.next = self.net.cfg_busy.val();
        self.messages.write_enable.next = self.msgrow_valid.val();
        self.messages.write_address.next = self.msgrow_addr.val();
        self.messages.write_data.next.laddr = self.msgrow_laddr.val();
        self.messages.write_data.next.raddr = self.msgrow_raddr.val();
        self.messages.write_data.next.rkey = self.msgrow_rkey.val();
        self.messages.write_data.next.length = self.msgrow_length.val();
        self.messages.write_data.next.peer_qpn = self.msgrow_peer_qpn.val();
        comment!("descriptors wait in a FIFO; the oldest one stays at its head until its header is made");
        self.arriving.next.kind = self.desc_kind.val();
        self.arriving.next.conn = self.desc_conn.val();
        self.arriving.next.home = self.desc_home.val();
        self.arriving.next.via = self.desc_via.val();
        self.arriving.next.ppsn = self.desc_ppsn.val();
        self.arriving.next.rtx = self.desc_rtx.val();
        self.arriving.next.moved = self.desc_moved.val();
        self.arriving.next.ack_req = self.desc_ack_req.val();
        self.arriving.next.qp = self.desc_qp.val();
        self.arriving.next.msn = self.desc_msn.val();
        self.arriving.next.index = self.desc_index.val();
        self.arriving.next.bytes = self.desc_bytes.val();
        self.arriving.next.first = self.desc_first.val();
        self.arriving.next.last = self.desc_last.val();
        self.arriving.next.ts = self.desc_ts.val();
        self.arriving.next.port = self.desc_port.val();
        self.descs.data_in.next = self.arriving.val();
        self.descs.write.next = self.desc_valid.val();
        self.desc_ready.next = !self.descs.full.val();
        self.descs.read.next = false;
        self.desc.next = self.descs.data_out.val();
        self.net.read_conn.next = self.desc.val().conn;
        self.messages.read_address.next =
            (bit_cast::<24, 16>(self.desc.val().qp) << self.msgs_log2.val()) | (self.desc.val().msn & self.msn_mask.val());
        self.row.next = self.messages.read_data.val();
        self.read_free.next = !self.read_valid.q.val() | self.dr_desc_ready.val();
        if self.dr_desc_ready.val() {
            self.read_valid.d.next = false;
        }
        comment!("S6: a NOP has no payload, nor has a PROBE");
        self.bytes.next = 0.into();
        if self.desc.val().kind == 0 {
            self.bytes.next = self.desc.val().bytes;
        }
        self.padding.next = (!self.bytes.val() + 1).get_bits::<2>(0);
        self.headers.write.next = false;
        match self.step.q.val() {
            Step::Wait => {
                if !self.descs.empty.val() {
                    self.step.d.next = Step::Look;
                }
            }
            Step::Look => {
                self.is_data.d.next = self.desc.val().kind == 0;
                self.is_nop.d.next = self.desc.val().kind == self.kind_nop.val();
                self.is_probe.d.next = self.desc.val().kind == self.kind_probe.val();
                self.ipv6.d.next = self.net.row.val().ipv6;
                self.payload_bytes.d.next = self.bytes.val();
                self.pad.d.next = self.padding.val();
                self.udp_bytes.d.next =
                    self.udp_write.val() + bit_cast::<16, 13>(self.bytes.val() + bit_cast::<13, 2>(self.padding.val()));
                if self.desc.val().kind == self.kind_nop.val() {
                    self.udp_bytes.d.next = self.udp_nop.val();
                }
                if self.desc.val().kind == self.kind_probe.val() {
                    self.udp_bytes.d.next = self.udp_probe.val();
                }
                comment!("section 7, offsets: packet i of a message carries the bytes from i * MTU");
                self.offset.d.next = bit_cast::<32, 24>(self.desc.val().index) << self.net.row.val().mtu_log2;
                self.step.d.next = Step::Add;
            }
            Step::Add => {
                self.laddr.d.next = self.row.val().laddr + bit_cast::<64, 32>(self.offset.q.val());
                self.va.d.next = self.row.val().raddr + bit_cast::<64, 32>(self.offset.q.val());
                self.ipv4_bytes.d.next = self.udp_bytes.q.val() + self.ipv4_header.val();
                self.sum.d.next = bit_cast::<17, 16>(self.net.row.val().ipv4_sum) + bit_cast::<17, 16>(self.udp_bytes.q.val());
                self.step.d.next = Step::Fold;
            }
            Step::Fold => {
                self.checksum.d.next =
                    !(self.sum.q.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.sum.q.val().get_bits::<1>(16)));
                self.step.d.next = Step::Send;
            }
            Step::Send => {
                if !self.headers.full.val() & (!self.payload_bytes.q.val().any() | self.read_free.val()) {
                    self.headers.write.next = true;
                    self.descs.read.next = true;
                    if self.payload_bytes.q.val().any() {
                        self.read_valid.d.next = true;
                        self.read_addr.d.next = self.laddr.q.val();
                        self.read_len.d.next = bit_cast::<16, 13>(self.payload_bytes.q.val());
                    }
                    self.step.d.next = Step::Wait;
                }
            }
        }
        self.dr_desc_valid.next = self.read_valid.q.val();
        self.dr_desc_addr.next = self.read_addr.q.val();
        self.dr_desc_len.next = self.read_len.q.val();
        comment!("the header, of which the layout's template fills what does not change");
        self.front4.next = self.front4_sent.val();
        self.front4.next.eth_dst_mac = self.net.row.val().peer_mac;
        self.front4.next.eth_src_mac = self.net.row.val().local_mac;
        self.front4.next.eth_ethertype = self.ethertype4.val();
        self.front4.next.ipv4_total_length = self.ipv4_bytes.q.val();
        self.front4.next.ipv4_checksum = self.checksum.q.val();
        self.front4.next.ipv4_src = self.net.row.val().local_ip.get_bits::<32>(0);
        self.front4.next.ipv4_dst = self.net.row.val().peer_ip.get_bits::<32>(0);
        self.front6.next = self.front6_sent.val();
        self.front6.next.eth_dst_mac = self.net.row.val().peer_mac;
        self.front6.next.eth_src_mac = self.net.row.val().local_mac;
        self.front6.next.eth_ethertype = self.ethertype6.val();
        self.front6.next.ipv6_payload_length = self.udp_bytes.q.val();
        self.front6.next.ipv6_src = self.net.row.val().local_ip;
        self.front6.next.ipv6_dst = self.net.row.val().peer_ip;
        self.back.next = self.back_sent.val();
        self.back.next.udp_src_port = self.desc.val().port;
        self.back.next.udp_length = self.udp_bytes.q.val();
        self.back.next.bth_opcode = self.opcode_write.val();
        self.back.next.bth_dest_qp = self.row.val().peer_qpn;
        if self.is_nop.q.val() {
            self.back.next.bth_opcode = self.opcode_nop.val();
        }
        if self.is_probe.q.val() {
            self.back.next.bth_opcode = self.opcode_probe.val();
            self.back.next.bth_dest_qp = self.path_qp.val();
        }
        self.back.next.bth_pad = self.pad.q.val();
        self.back.next.bth_ack_req = self.desc.val().ack_req;
        self.back.next.bth_ppsn = self.desc.val().ppsn;
        self.back.next.mph_rtx = self.desc.val().rtx;
        self.back.next.mph_moved = self.desc.val().moved;
        self.back.next.mph_home = bit_cast::<8, 3>(self.desc.val().home);
        self.back.next.mph_via = bit_cast::<8, 3>(self.desc.val().via);
        self.back.next.mph_tx_ts = self.desc.val().ts;
        self.back.next.mph_conn = self.net.row.val().peer_conn;
        if self.is_data.q.val() {
            self.back.next.msgh_first = self.desc.val().first;
            self.back.next.msgh_last = self.desc.val().last;
        }
        self.back.next.msgh_msn = self.desc.val().msn;
        self.back.next.plh_va = self.va.q.val();
        self.back.next.plh_rkey = self.row.val().rkey;
        self.back.next.plh_length = self.row.val().length;
        self.front4_bits.next = self.front4.val().into();
        self.front6_bits.next = self.front6.val().into();
        self.back_bits.next = self.back.val().into();
        if self.is_nop.q.val() {
            self.back_bits.next = self.back_bits.val() & self.keep_nop.val();
        }
        if self.is_probe.q.val() {
            self.back_bits.next = self.back_bits.val() & self.keep_probe.val();
        }
        self.made.next.payload_bytes = self.payload_bytes.q.val();
        self.made.next.ipv6 = self.ipv6.q.val();
        if self.ipv6.q.val() {
            self.made.next.header = (bit_cast::<WRITE_HEADER_BITS, { Ipv6Front::BITS }>(self.front6_bits.val())
                << self.shift_front6.val())
                | bit_cast::<WRITE_HEADER_BITS, { WriteBack::BITS }>(self.back_bits.val());
            self.made.next.header_bytes = self.bytes_write[1].val();
            if self.is_nop.q.val() {
                self.made.next.header_bytes = self.bytes_nop[1].val();
            }
            if self.is_probe.q.val() {
                self.made.next.header_bytes = self.bytes_probe[1].val();
            }
        } else {
            self.made.next.header = (bit_cast::<WRITE_HEADER_BITS, { Ipv4Front::BITS }>(self.front4_bits.val())
                << self.shift_front4.val())
                | (bit_cast::<WRITE_HEADER_BITS, { WriteBack::BITS }>(self.back_bits.val()) << self.shift_back4.val());
            self.made.next.header_bytes = self.bytes_write[0].val();
            if self.is_nop.q.val() {
                self.made.next.header_bytes = self.bytes_nop[0].val();
            }
            if self.is_probe.q.val() {
                self.made.next.header_bytes = self.bytes_probe[0].val();
            }
        }
        self.headers.data_in.next = self.made.val();
        self.headers.read.next = self.header_ready.val();
        self.header_valid.next = !self.headers.empty.val();
        self.header_bits.next = self.headers.data_out.val().header;
        self.header_bytes.next = self.headers.data_out.val().header_bytes;
        self.header_payload_bytes.next = self.headers.data_out.val().payload_bytes;
        self.header_ipv6.next = self.headers.data_out.val().ipv6;
        if self.reset.val() {
            self.step.d.next = Step::Wait;
            self.read_valid.d.next = false;
        }
    }
}
