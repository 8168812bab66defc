//! Turns acknowledgment descriptors into headers of ACK frames; one every four clocks.
//! In: `ackdesc`, configuration of connections and paths, the ports of packets that came (`portset`, always taken at once).
//! Out: `header_*` to the framer in the order of `ackdesc`. The UDP source port is that of the last packet by the path travelled (R9, R10).
use super::headers::*;
use super::net_table::NetTable;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::{BitReverse, Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// cfg_table of the path table (docs/microarchitecture.md).
const TABLE_PATH: u64 = 2;

/// A descriptor as it waits.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct AckDesc {
    pub conn: Bits<16>,
    pub home: Bits<3>,
    pub via: Bits<3>,
    pub cum: Bits<24>,
    pub sav: Bits<256>,
    pub ts_echo: Bits<16>,
    pub service: Bits<16>,
    pub ce: Bits<16>,
    pub dup: Bits<16>,
    pub rx: Bits<16>,
    pub flags: Bits<16>,
    pub rate: Bits<24>,
    pub epoch: Bits<8>,
    pub mak_qp: Bits<24>,
    pub mak_code: Bits<8>,
    pub mak_msn: Bits<24>,
}

/// A finished header; the first byte of the frame in the most significant bits.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct AckHeader {
    pub header: Bits<HEADER_BITS>,
    pub ipv6: Bit,
}

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
enum Step {
    Wait,
    Add,
    Fold,
    Send,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct AckBuilder {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub fault: Signal<In, Bits<5>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub portset_valid: Signal<In, Bit>,
    pub portset_conn: Signal<In, Bits<16>>,
    pub portset_path: Signal<In, Bits<3>>,
    pub portset_port: Signal<In, Bits<16>>,
    pub ackdesc_valid: Signal<In, Bit>,
    pub ackdesc_ready: Signal<Out, Bit>,
    pub ackdesc_conn: Signal<In, Bits<16>>,
    pub ackdesc_home: Signal<In, Bits<3>>,
    pub ackdesc_via: Signal<In, Bits<3>>,
    pub ackdesc_cum: Signal<In, Bits<24>>,
    pub ackdesc_sav: Signal<In, Bits<256>>,
    pub ackdesc_ts_echo: Signal<In, Bits<16>>,
    pub ackdesc_service: Signal<In, Bits<16>>,
    pub ackdesc_ce: Signal<In, Bits<16>>,
    pub ackdesc_dup: Signal<In, Bits<16>>,
    pub ackdesc_rx: Signal<In, Bits<16>>,
    pub ackdesc_flags: Signal<In, Bits<16>>,
    pub ackdesc_rate: Signal<In, Bits<24>>,
    pub ackdesc_epoch: Signal<In, Bits<8>>,
    pub ackdesc_mak_qp: Signal<In, Bits<24>>,
    pub ackdesc_mak_code: Signal<In, Bits<8>>,
    pub ackdesc_mak_msn: Signal<In, Bits<24>>,
    pub header_valid: Signal<Out, Bit>,
    pub header_ready: Signal<In, Bit>,
    pub header_bits: Signal<Out, Bits<HEADER_BITS>>,
    pub header_bytes: Signal<Out, Bits<8>>,
    pub header_ipv6: Signal<Out, Bit>,
    descs: Fifo<AckDesc>,
    ports: Ram<Bits<16>>,
    net: NetTable,
    headers: Fifo<AckHeader>,
    reversed: [BitReverse<64>; 4],
    step: DFF<Step>,
    sum: DFF<Bits<17>>,
    checksum: DFF<Bits<16>>,
    port_pending: DFF<Bit>,
    port_index: DFF<Bits<16>>,
    port_value: DFF<Bits<16>>,
    arriving: Signal<Local, AckDesc>,
    desc: Signal<Local, AckDesc>,
    vector: Signal<Local, Bits<256>>,
    mirrored: Signal<Local, Bits<256>>,
    word: Signal<Local, Bits<64>>,
    front4: Signal<Local, Ipv4Front>,
    front6: Signal<Local, Ipv6Front>,
    back: Signal<Local, AckBack>,
    front4_bits: Signal<Local, Bits<{ Ipv4Front::BITS }>>,
    front6_bits: Signal<Local, Bits<{ Ipv6Front::BITS }>>,
    back_bits: Signal<Local, Bits<{ AckBack::BITS }>>,
    made: Signal<Local, AckHeader>,
    path_table: Constant<Bits<8>>,
    word_shift: [Constant<Bits<16>>; 4],
    front4_sent: Constant<Ipv4Front>,
    front6_sent: Constant<Ipv6Front>,
    back_sent: Constant<AckBack>,
    ethertype4: Constant<Bits<16>>,
    ethertype6: Constant<Bits<16>>,
    opcode_ack: Constant<Bits<8>>,
    path_qp: Constant<Bits<24>>,
    udp_bytes: Constant<Bits<16>>,
    ipv4_bytes: Constant<Bits<16>>,
    header_bytes4: Constant<Bits<8>>,
    header_bytes6: Constant<Bits<8>>,
    shift_front4: Constant<Bits<16>>,
    shift_back4: Constant<Bits<16>>,
    shift_front6: Constant<Bits<16>>,
}

impl AckBuilder {
    pub fn new(config: &BuildConfig) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            fault: Default::default(),
            cfg_valid: Default::default(),
            cfg_table: Default::default(),
            cfg_index: Default::default(),
            cfg_data: Default::default(),
            cfg_busy: Default::default(),
            portset_valid: Default::default(),
            portset_conn: Default::default(),
            portset_path: Default::default(),
            portset_port: Default::default(),
            ackdesc_valid: Default::default(),
            ackdesc_ready: Default::default(),
            ackdesc_conn: Default::default(),
            ackdesc_home: Default::default(),
            ackdesc_via: Default::default(),
            ackdesc_cum: Default::default(),
            ackdesc_sav: Default::default(),
            ackdesc_ts_echo: Default::default(),
            ackdesc_service: Default::default(),
            ackdesc_ce: Default::default(),
            ackdesc_dup: Default::default(),
            ackdesc_rx: Default::default(),
            ackdesc_flags: Default::default(),
            ackdesc_rate: Default::default(),
            ackdesc_epoch: Default::default(),
            ackdesc_mak_qp: Default::default(),
            ackdesc_mak_code: Default::default(),
            ackdesc_mak_msn: Default::default(),
            header_valid: Default::default(),
            header_ready: Default::default(),
            header_bits: Default::default(),
            header_bytes: Default::default(),
            header_ipv6: Default::default(),
            descs: Fifo::new(config.fifo.ackdesc),
            ports: Ram::new(config.path_rows()),
            net: NetTable::new(config.conns),
            headers: Fifo::new(config.fifo.frame),
            reversed: array_init::array_init(|_| Default::default()),
            step: Default::default(),
            sum: Default::default(),
            checksum: Default::default(),
            port_pending: Default::default(),
            port_index: Default::default(),
            port_value: Default::default(),
            arriving: Default::default(),
            desc: Default::default(),
            vector: Default::default(),
            mirrored: Default::default(),
            word: Default::default(),
            front4: Default::default(),
            front6: Default::default(),
            back: Default::default(),
            front4_bits: Default::default(),
            front6_bits: Default::default(),
            back_bits: Default::default(),
            made: Default::default(),
            path_table: Constant::new(TABLE_PATH.into()),
            word_shift: array_init::array_init(|k| number(64 * k)),
            front4_sent: Constant::new(Ipv4Front::as_sent()),
            front6_sent: Constant::new(Ipv6Front::as_sent()),
            back_sent: Constant::new(AckBack::as_sent()),
            ethertype4: Constant::new(constant("ETHERTYPE_IPV4").into()),
            ethertype6: Constant::new(constant("ETHERTYPE_IPV6").into()),
            opcode_ack: Constant::new(opcode_value("ACK").into()),
            path_qp: Constant::new(constant("PATH_QP").into()),
            udp_bytes: number(udp_bytes("ACK")),
            ipv4_bytes: number(udp_bytes("ACK") + ipv4_header_bytes()),
            header_bytes4: number(frame_header_bytes("ACK", false)),
            header_bytes6: number(frame_header_bytes("ACK", true)),
            shift_front4: number(HEADER_BITS - Ipv4Front::BITS),
            shift_back4: number(HEADER_BITS - Ipv4Front::BITS - AckBack::BITS),
            shift_front6: number(HEADER_BITS - Ipv6Front::BITS),
        }
    }
}

impl Logic for AckBuilder {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module ack_builder: acknowledgment descriptors to headers");
        dff_setup!(self, clock, step, sum, checksum, port_pending, port_index, port_value);
        clock!(self, clock, descs, ports, net, headers);
        self.descs.reset.next = self.reset.val();
        self.net.reset.next = self.reset.val();
        self.headers.reset.next = self.reset.val();
        self.net.cfg_valid.next = self.cfg_valid.val();
        self.net.cfg_table.next = self.cfg_table.val();
        self.net.cfg_index.next = self.cfg_index.val();
        self.net.cfg_data.next = self.cfg_data.val();
        self.cfg_busy.next = self.net.cfg_busy.val() | self.port_pending.q.val();
        comment!("ports of the paths: that of a packet (R10) is written at once, a configured port when there is none");
        if self.cfg_valid.val() & (self.cfg_table.val() == self.path_table.val()) {
            self.port_pending.d.next = true;
            self.port_index.d.next = self.cfg_index.val();
            self.port_value.d.next = self.cfg_data.val().get_bits::<16>(16);
        }
        self.ports.write_enable.next = self.portset_valid.val() | self.port_pending.q.val();
        self.ports.write_address.next = bit_cast::<24, 16>(self.port_index.q.val());
        self.ports.write_data.next = self.port_value.q.val();
        if self.portset_valid.val() {
            self.ports.write_address.next =
                (bit_cast::<24, 16>(self.portset_conn.val()) << 3) | bit_cast::<24, 3>(self.portset_path.val());
            self.ports.write_data.next = self.portset_port.val();
        } else if self.port_pending.q.val() {
            self.port_pending.d.next = false;
        }
        comment!("descriptors wait in a FIFO; the oldest one stays at its head until its header is made");
        self.arriving.next.conn = self.ackdesc_conn.val();
        self.arriving.next.home = self.ackdesc_home.val();
        self.arriving.next.via = self.ackdesc_via.val();
        self.arriving.next.cum = self.ackdesc_cum.val();
        self.arriving.next.sav = self.ackdesc_sav.val();
        self.arriving.next.ts_echo = self.ackdesc_ts_echo.val();
        self.arriving.next.service = self.ackdesc_service.val();
        self.arriving.next.ce = self.ackdesc_ce.val();
        self.arriving.next.dup = self.ackdesc_dup.val();
        self.arriving.next.rx = self.ackdesc_rx.val();
        self.arriving.next.flags = self.ackdesc_flags.val();
        self.arriving.next.rate = self.ackdesc_rate.val();
        self.arriving.next.epoch = self.ackdesc_epoch.val();
        self.arriving.next.mak_qp = self.ackdesc_mak_qp.val();
        self.arriving.next.mak_code = self.ackdesc_mak_code.val();
        self.arriving.next.mak_msn = self.ackdesc_mak_msn.val();
        self.descs.data_in.next = self.arriving.val();
        self.descs.write.next = self.ackdesc_valid.val();
        self.ackdesc_ready.next = !self.descs.full.val();
        self.descs.read.next = false;
        self.desc.next = self.descs.data_out.val();
        self.net.read_conn.next = self.desc.val().conn;
        self.ports.read_address.next = (bit_cast::<24, 16>(self.desc.val().conn) << 3) | bit_cast::<24, 3>(self.desc.val().via);
        self.headers.write.next = false;
        match self.step.q.val() {
            Step::Wait => {
                if !self.descs.empty.val() {
                    self.step.d.next = Step::Add;
                }
            }
            Step::Add => {
                self.sum.d.next = bit_cast::<17, 16>(self.net.row.val().ipv4_sum) + bit_cast::<17, 16>(self.udp_bytes.val());
                self.step.d.next = Step::Fold;
            }
            Step::Fold => {
                self.checksum.d.next =
                    !(self.sum.q.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.sum.q.val().get_bits::<1>(16)));
                self.step.d.next = Step::Send;
            }
            Step::Send => {
                if !self.headers.full.val() {
                    self.headers.write.next = true;
                    self.descs.read.next = true;
                    self.step.d.next = Step::Wait;
                }
            }
        }
        comment!("R9: bit i of the vector is packet cum + 1 + i; as a big-endian number it needs no rearrangement (fault 9 mirrors its words)");
        self.mirrored.next = 0.into();
        for k in 0..4 {
            self.reversed[k].x.next = self.desc.val().sav.get_bits::<64>(k * 64);
            self.word.next = self.reversed[k].y.val();
            self.mirrored.next = self.mirrored.val() | (bit_cast::<256, 64>(self.word.val()) << self.word_shift[k].val());
        }
        self.vector.next = self.desc.val().sav;
        if self.fault.val() == 9 {
            self.vector.next = self.mirrored.val();
        }
        comment!("the header, of which the layout's template fills what does not change");
        self.front4.next = self.front4_sent.val();
        self.front4.next.eth_dst_mac = self.net.row.val().peer_mac;
        self.front4.next.eth_src_mac = self.net.row.val().local_mac;
        self.front4.next.eth_ethertype = self.ethertype4.val();
        self.front4.next.ipv4_total_length = self.ipv4_bytes.val();
        self.front4.next.ipv4_checksum = self.checksum.q.val();
        self.front4.next.ipv4_src = self.net.row.val().local_ip.get_bits::<32>(0);
        self.front4.next.ipv4_dst = self.net.row.val().peer_ip.get_bits::<32>(0);
        self.front6.next = self.front6_sent.val();
        self.front6.next.eth_dst_mac = self.net.row.val().peer_mac;
        self.front6.next.eth_src_mac = self.net.row.val().local_mac;
        self.front6.next.eth_ethertype = self.ethertype6.val();
        self.front6.next.ipv6_payload_length = self.udp_bytes.val();
        self.front6.next.ipv6_src = self.net.row.val().local_ip;
        self.front6.next.ipv6_dst = self.net.row.val().peer_ip;
        self.back.next = self.back_sent.val();
        self.back.next.udp_src_port = self.ports.read_data.val();
        self.back.next.udp_length = self.udp_bytes.val();
        self.back.next.bth_opcode = self.opcode_ack.val();
        self.back.next.bth_dest_qp = self.path_qp.val();
        self.back.next.bth_ppsn = self.desc.val().cum;
        self.back.next.mph_home = bit_cast::<8, 3>(self.desc.val().home);
        self.back.next.mph_via = bit_cast::<8, 3>(self.desc.val().via);
        self.back.next.mph_conn = self.net.row.val().peer_conn;
        self.back.next.akh_ts_echo = self.desc.val().ts_echo;
        self.back.next.akh_service = self.desc.val().service;
        self.back.next.akh_ce_packets = self.desc.val().ce;
        self.back.next.akh_dup_packets = self.desc.val().dup;
        self.back.next.akh_rx_packets = self.desc.val().rx;
        self.back.next.akh_flags = self.desc.val().flags;
        self.back.next.akh_rate = self.desc.val().rate;
        self.back.next.akh_epoch = self.desc.val().epoch;
        self.back.next.sav_vector = self.vector.val();
        self.back.next.mak_qp = self.desc.val().mak_qp;
        self.back.next.mak_code = self.desc.val().mak_code;
        self.back.next.mak_msn = self.desc.val().mak_msn;
        self.front4_bits.next = self.front4.val().into();
        self.front6_bits.next = self.front6.val().into();
        self.back_bits.next = self.back.val().into();
        self.made.next.ipv6 = self.net.row.val().ipv6;
        if self.net.row.val().ipv6 {
            self.made.next.header = (bit_cast::<HEADER_BITS, { Ipv6Front::BITS }>(self.front6_bits.val())
                << self.shift_front6.val())
                | bit_cast::<HEADER_BITS, { AckBack::BITS }>(self.back_bits.val());
        } else {
            self.made.next.header = (bit_cast::<HEADER_BITS, { Ipv4Front::BITS }>(self.front4_bits.val())
                << self.shift_front4.val())
                | (bit_cast::<HEADER_BITS, { AckBack::BITS }>(self.back_bits.val()) << self.shift_back4.val());
        }
        self.headers.data_in.next = self.made.val();
        self.headers.read.next = self.header_ready.val();
        self.header_valid.next = !self.headers.empty.val();
        self.header_bits.next = self.headers.data_out.val().header;
        self.header_ipv6.next = self.headers.data_out.val().ipv6;
        self.header_bytes.next = self.header_bytes4.val();
        if self.headers.data_out.val().ipv6 {
            self.header_bytes.next = self.header_bytes6.val();
        }
        if self.reset.val() {
            self.step.d.next = Step::Wait;
            self.port_pending.d.next = false;
        }
    }
}
