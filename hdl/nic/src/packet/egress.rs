//! packet_builder, ack_builder, gather and framer as one block: descriptors in, frames out.
//! In: `desc`, `msgrow`, `ackdesc`, `portset`, configuration, payload data. Out: payload read descriptors and frames.
//! Only wires; see the blocks. gather is in use in a build with lists only.
use super::{AckBuilder, Framer, Gather, PacketBuilder};
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// `K` is W / 8. See the module documentation.
#[derive(LogicBlock)]
pub struct Egress<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub fault: Signal<In, Bits<5>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// A row waits to be written; it may be once `msgrow_ready` is high.
    pub msgrow_ask: Signal<In, Bit>,
    pub msgrow_ready: Signal<Out, Bit>,
    pub msgrow_valid: Signal<In, Bit>,
    pub msgrow_addr: Signal<In, Bits<24>>,
    pub msgrow_laddr: Signal<In, Bits<64>>,
    pub msgrow_raddr: Signal<In, Bits<64>>,
    pub msgrow_rkey: Signal<In, Bits<32>>,
    pub msgrow_length: Signal<In, Bits<32>>,
    pub msgrow_peer_qpn: Signal<In, Bits<24>>,
    pub msgrow_opcode: Signal<In, Bits<3>>,
    pub msgrow_imm: Signal<In, Bits<32>>,
    pub msgrow_rq_seq: Signal<In, Bits<24>>,
    pub msgrow_sol: Signal<In, Bit>,
    pub msgrow_tag: Signal<In, Bits<32>>,
    pub msgrow_swap_add: Signal<In, Bits<64>>,
    pub msgrow_compare: Signal<In, Bits<64>>,
    pub msgrow_listed: Signal<In, Bit>,
    pub msgpiece_write: Signal<In, Bit>,
    pub msgpiece_at: Signal<In, Bits<2>>,
    pub msgpiece_addr: Signal<In, Bits<64>>,
    pub msgpiece_end: Signal<In, Bits<32>>,
    pub rsprow_ask: Signal<In, Bit>,
    pub rsprow_ready: Signal<Out, Bit>,
    pub rsprow_valid: Signal<In, Bit>,
    pub rsprow_addr: Signal<In, Bits<24>>,
    pub rsprow_atomic: Signal<In, Bit>,
    pub rsprow_base: Signal<In, Bits<64>>,
    pub rsprow_length: Signal<In, Bits<32>>,
    pub rsprow_tag: Signal<In, Bits<32>>,
    pub rsprow_peer_qpn: Signal<In, Bits<24>>,
    pub portset_valid: Signal<In, Bit>,
    pub portset_conn: Signal<In, Bits<16>>,
    pub portset_path: Signal<In, Bits<3>>,
    pub portset_port: Signal<In, Bits<16>>,
    pub desc_valid: Signal<In, Bit>,
    pub desc_ready: Signal<Out, Bit>,
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
    pub desc_source: Signal<In, Bits<2>>,
    pub desc_attempt: Signal<In, Bit>,
    pub desc_ts: Signal<In, Bits<16>>,
    pub desc_port: Signal<In, Bits<16>>,
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
    pub dr_desc_valid: Signal<Out, Bit>,
    pub dr_desc_ready: Signal<In, Bit>,
    pub dr_desc_addr: Signal<Out, Bits<64>>,
    pub dr_desc_len: Signal<Out, Bits<16>>,
    pub dr_valid: Signal<In, Bit>,
    pub dr_ready: Signal<Out, Bit>,
    pub dr_data: Signal<In, Bits<W>>,
    pub mac_tx_tvalid: Signal<Out, Bit>,
    pub mac_tx_tready: Signal<In, Bit>,
    pub mac_tx_tdata: Signal<Out, Bits<W>>,
    pub mac_tx_tkeep: Signal<Out, Bits<K>>,
    pub mac_tx_tlast: Signal<Out, Bit>,
    packet_builder: Box<PacketBuilder>,
    ack_builder: Box<AckBuilder>,
    gather: Box<Gather<W>>,
    framer: Box<Framer<W, K>>,
    with_lists: Constant<Bit>,
}

impl<const W: usize, const K: usize> Egress<W, K> {
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
            msgrow_ask: Default::default(),
            msgrow_ready: Default::default(),
            msgrow_valid: Default::default(),
            msgrow_addr: Default::default(),
            msgrow_laddr: Default::default(),
            msgrow_raddr: Default::default(),
            msgrow_rkey: Default::default(),
            msgrow_length: Default::default(),
            msgrow_peer_qpn: Default::default(),
            msgrow_opcode: Default::default(),
            msgrow_imm: Default::default(),
            msgrow_rq_seq: Default::default(),
            msgrow_sol: Default::default(),
            msgrow_tag: Default::default(),
            msgrow_swap_add: Default::default(),
            msgrow_compare: Default::default(),
            msgrow_listed: Default::default(),
            msgpiece_write: Default::default(),
            msgpiece_at: Default::default(),
            msgpiece_addr: Default::default(),
            msgpiece_end: Default::default(),
            rsprow_ask: Default::default(),
            rsprow_valid: Default::default(),
            rsprow_addr: Default::default(),
            rsprow_atomic: Default::default(),
            rsprow_base: Default::default(),
            rsprow_length: Default::default(),
            rsprow_tag: Default::default(),
            rsprow_peer_qpn: Default::default(),
            rsprow_ready: Default::default(),
            portset_valid: Default::default(),
            portset_conn: Default::default(),
            portset_path: Default::default(),
            portset_port: Default::default(),
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
            desc_source: Default::default(),
            desc_attempt: Default::default(),
            desc_ts: Default::default(),
            desc_port: Default::default(),
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
            dr_desc_valid: Default::default(),
            dr_desc_ready: Default::default(),
            dr_desc_addr: Default::default(),
            dr_desc_len: Default::default(),
            dr_valid: Default::default(),
            dr_ready: Default::default(),
            dr_data: Default::default(),
            mac_tx_tvalid: Default::default(),
            mac_tx_tready: Default::default(),
            mac_tx_tdata: Default::default(),
            mac_tx_tkeep: Default::default(),
            mac_tx_tlast: Default::default(),
            packet_builder: Box::new(PacketBuilder::new(config)),
            ack_builder: Box::new(AckBuilder::new(config)),
            gather: Box::new(Gather::new(config)),
            framer: Box::new(Framer::new(config.sends)),
            with_lists: Constant::new(config.sges > 1),
        }
    }
}

impl<const W: usize, const K: usize> Logic for Egress<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module egress: descriptors to frames");
        clock!(self, clock, packet_builder, ack_builder, gather, framer);
        self.packet_builder.reset.next = self.reset.val();
        self.packet_builder.fault.next = self.fault.val();
        self.packet_builder.cfg_valid.next = self.cfg_valid.val();
        self.packet_builder.cfg_table.next = self.cfg_table.val();
        self.packet_builder.cfg_index.next = self.cfg_index.val();
        self.packet_builder.cfg_data.next = self.cfg_data.val();
        self.packet_builder.msgrow_ask.next = self.msgrow_ask.val();
        self.msgrow_ready.next = self.packet_builder.msgrow_ready.val();
        self.packet_builder.msgrow_valid.next = self.msgrow_valid.val();
        self.packet_builder.msgrow_addr.next = self.msgrow_addr.val();
        self.packet_builder.msgrow_laddr.next = self.msgrow_laddr.val();
        self.packet_builder.msgrow_raddr.next = self.msgrow_raddr.val();
        self.packet_builder.msgrow_rkey.next = self.msgrow_rkey.val();
        self.packet_builder.msgrow_length.next = self.msgrow_length.val();
        self.packet_builder.msgrow_peer_qpn.next = self.msgrow_peer_qpn.val();
        self.packet_builder.msgrow_opcode.next = self.msgrow_opcode.val();
        self.packet_builder.msgrow_imm.next = self.msgrow_imm.val();
        self.packet_builder.msgrow_rq_seq.next = self.msgrow_rq_seq.val();
        self.packet_builder.msgrow_sol.next = self.msgrow_sol.val();
        self.packet_builder.msgrow_tag.next = self.msgrow_tag.val();
        self.packet_builder.msgrow_swap_add.next = self.msgrow_swap_add.val();
        self.packet_builder.msgrow_compare.next = self.msgrow_compare.val();
        self.packet_builder.msgrow_listed.next = self.msgrow_listed.val();
        self.packet_builder.msgpiece_write.next = self.msgpiece_write.val();
        self.packet_builder.msgpiece_at.next = self.msgpiece_at.val();
        self.packet_builder.msgpiece_addr.next = self.msgpiece_addr.val();
        self.packet_builder.msgpiece_end.next = self.msgpiece_end.val();
        self.packet_builder.rsprow_ask.next = self.rsprow_ask.val();
        self.packet_builder.rsprow_valid.next = self.rsprow_valid.val();
        self.packet_builder.rsprow_addr.next = self.rsprow_addr.val();
        self.packet_builder.rsprow_atomic.next = self.rsprow_atomic.val();
        self.packet_builder.rsprow_base.next = self.rsprow_base.val();
        self.packet_builder.rsprow_length.next = self.rsprow_length.val();
        self.packet_builder.rsprow_tag.next = self.rsprow_tag.val();
        self.packet_builder.rsprow_peer_qpn.next = self.rsprow_peer_qpn.val();
        self.rsprow_ready.next = self.packet_builder.rsprow_ready.val();
        self.packet_builder.desc_valid.next = self.desc_valid.val();
        self.desc_ready.next = self.packet_builder.desc_ready.val();
        self.packet_builder.desc_kind.next = self.desc_kind.val();
        self.packet_builder.desc_conn.next = self.desc_conn.val();
        self.packet_builder.desc_home.next = self.desc_home.val();
        self.packet_builder.desc_via.next = self.desc_via.val();
        self.packet_builder.desc_ppsn.next = self.desc_ppsn.val();
        self.packet_builder.desc_rtx.next = self.desc_rtx.val();
        self.packet_builder.desc_moved.next = self.desc_moved.val();
        self.packet_builder.desc_ack_req.next = self.desc_ack_req.val();
        self.packet_builder.desc_qp.next = self.desc_qp.val();
        self.packet_builder.desc_msn.next = self.desc_msn.val();
        self.packet_builder.desc_index.next = self.desc_index.val();
        self.packet_builder.desc_bytes.next = self.desc_bytes.val();
        self.packet_builder.desc_first.next = self.desc_first.val();
        self.packet_builder.desc_last.next = self.desc_last.val();
        self.packet_builder.desc_source.next = self.desc_source.val();
        self.packet_builder.desc_attempt.next = self.desc_attempt.val();
        self.packet_builder.desc_ts.next = self.desc_ts.val();
        self.packet_builder.desc_port.next = self.desc_port.val();
        self.dr_desc_valid.next = self.packet_builder.dr_desc_valid.val();
        self.packet_builder.dr_desc_ready.next = self.dr_desc_ready.val();
        self.dr_desc_addr.next = self.packet_builder.dr_desc_addr.val();
        self.dr_desc_len.next = self.packet_builder.dr_desc_len.val();
        self.ack_builder.reset.next = self.reset.val();
        self.ack_builder.cfg_valid.next = self.cfg_valid.val();
        self.ack_builder.cfg_table.next = self.cfg_table.val();
        self.ack_builder.cfg_index.next = self.cfg_index.val();
        self.ack_builder.cfg_data.next = self.cfg_data.val();
        self.ack_builder.fault.next = self.fault.val();
        self.ack_builder.portset_valid.next = self.portset_valid.val();
        self.ack_builder.portset_conn.next = self.portset_conn.val();
        self.ack_builder.portset_path.next = self.portset_path.val();
        self.ack_builder.portset_port.next = self.portset_port.val();
        self.ack_builder.ackdesc_valid.next = self.ackdesc_valid.val();
        self.ackdesc_ready.next = self.ack_builder.ackdesc_ready.val();
        self.ack_builder.ackdesc_conn.next = self.ackdesc_conn.val();
        self.ack_builder.ackdesc_home.next = self.ackdesc_home.val();
        self.ack_builder.ackdesc_via.next = self.ackdesc_via.val();
        self.ack_builder.ackdesc_cum.next = self.ackdesc_cum.val();
        self.ack_builder.ackdesc_sav.next = self.ackdesc_sav.val();
        self.ack_builder.ackdesc_ts_echo.next = self.ackdesc_ts_echo.val();
        self.ack_builder.ackdesc_service.next = self.ackdesc_service.val();
        self.ack_builder.ackdesc_ce.next = self.ackdesc_ce.val();
        self.ack_builder.ackdesc_dup.next = self.ackdesc_dup.val();
        self.ack_builder.ackdesc_rx.next = self.ackdesc_rx.val();
        self.ack_builder.ackdesc_flags.next = self.ackdesc_flags.val();
        self.ack_builder.ackdesc_rate.next = self.ackdesc_rate.val();
        self.ack_builder.ackdesc_epoch.next = self.ackdesc_epoch.val();
        self.ack_builder.ackdesc_mak_qp.next = self.ackdesc_mak_qp.val();
        self.ack_builder.ackdesc_mak_code.next = self.ackdesc_mak_code.val();
        self.ack_builder.ackdesc_mak_msn.next = self.ackdesc_mak_msn.val();
        self.cfg_busy.next = self.packet_builder.cfg_busy.val() | self.ack_builder.cfg_busy.val();
        self.framer.reset.next = self.reset.val();
        self.framer.packet_valid.next = self.packet_builder.header_valid.val();
        self.packet_builder.header_ready.next = self.framer.packet_ready.val();
        self.framer.packet_header.next = self.packet_builder.header_bits.val();
        self.framer.packet_header_bytes.next = self.packet_builder.header_bytes.val();
        self.framer.packet_payload_bytes.next = self.packet_builder.header_payload_bytes.val();
        self.framer.packet_ipv6.next = self.packet_builder.header_ipv6.val();
        self.framer.packet_layout.next = self.packet_builder.header_layout.val();
        self.framer.ack_valid.next = self.ack_builder.header_valid.val();
        self.ack_builder.header_ready.next = self.framer.ack_ready.val();
        self.framer.ack_header.next = self.ack_builder.header_bits.val();
        self.framer.ack_header_bytes.next = self.ack_builder.header_bytes.val();
        self.framer.ack_ipv6.next = self.ack_builder.header_ipv6.val();
        self.gather.reset.next = self.reset.val();
        self.packet_builder.piece_room.next = self.gather.piece_room.val();
        self.gather.piece_write.next = self.packet_builder.piece_write.val() & self.with_lists.val();
        self.gather.piece_bytes.next = self.packet_builder.piece_bytes.val();
        self.gather.piece_ends.next = self.packet_builder.piece_ends.val();
        self.gather.dr_valid.next = self.dr_valid.val();
        self.gather.dr_data.next = self.dr_data.val();
        self.gather.out_ready.next = self.framer.dr_ready.val();
        self.framer.dr_valid.next = self.dr_valid.val();
        self.dr_ready.next = self.framer.dr_ready.val();
        self.framer.dr_data.next = self.dr_data.val();
        if self.with_lists.val() {
            self.framer.dr_valid.next = self.gather.out_valid.val();
            self.dr_ready.next = self.gather.dr_ready.val();
            self.framer.dr_data.next = self.gather.out_data.val();
        }
        self.mac_tx_tvalid.next = self.framer.mac_tx_tvalid.val();
        self.framer.mac_tx_tready.next = self.mac_tx_tready.val();
        self.mac_tx_tdata.next = self.framer.mac_tx_tdata.val();
        self.mac_tx_tkeep.next = self.framer.mac_tx_tkeep.val();
        self.mac_tx_tlast.next = self.framer.mac_tx_tlast.val();
    }
}
