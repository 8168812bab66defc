//! rx_core: the receiver's steps, one at a time (docs/protocol.md, section 4): PACKET, RX TIMER, EPOCH SWAP, EPOCH PUBLISH, CFG.
//! In: `hdr` records of good frames, table writes, registers. Out: `place`, `ackdesc`, `ack`, `rxerr`, commit records.
//! Guarantees: every output has room before a step begins; 7 clocks a packet, 12 with acknowledgment (more where a hole is filled).
use super::key_check::KeyCheck;
use super::message_tracker::MessageTracker;
use super::path_tracker::PathTracker;
use super::rate_hint::RateHint;
use super::rx_config::RxConfig;
use super::rx_layout::{flag_mask, opcode_value};
use super::rx_rows::{kind, AckDescRow, RxAckHeader, RxCommitRow, RxConnRow, RxHeader, RxPathRow, RxQpRow};
use super::rx_timers::RxTimers;
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum RxState {
    Walk,
    Idle,
    Read,
    Calc,
    Class,
    Judge,
    Apply,
    Commit,
    Gather,
    Reply,
    Config,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RxCore {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Faults 2 (path_tracker), 6 (a duplicate is placed again), 11 (key_check); 0 = none.
    pub fault: Signal<In, Bits<5>>,
    pub now: Signal<In, Bits<32>>,
    pub ack_delay: Signal<In, Bits<32>>,
    pub ack_every: Signal<In, Bits<3>>,
    pub epoch_cap: Signal<In, Bits<32>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    pub hdr_valid: Signal<In, Bit>,
    pub hdr_ready: Signal<Out, Bit>,
    pub hdr_opcode: Signal<In, Bits<8>>,
    pub hdr_ack_req: Signal<In, Bit>,
    pub hdr_ppsn: Signal<In, Bits<24>>,
    pub hdr_dest_qp: Signal<In, Bits<24>>,
    pub hdr_ecn_ce: Signal<In, Bit>,
    pub hdr_home: Signal<In, Bits<8>>,
    pub hdr_via: Signal<In, Bits<8>>,
    pub hdr_conn: Signal<In, Bits<16>>,
    pub hdr_rtx: Signal<In, Bit>,
    pub hdr_tx_ts: Signal<In, Bits<16>>,
    pub hdr_msn: Signal<In, Bits<24>>,
    pub hdr_first: Signal<In, Bit>,
    pub hdr_last: Signal<In, Bit>,
    pub hdr_va: Signal<In, Bits<64>>,
    pub hdr_rkey: Signal<In, Bits<32>>,
    pub hdr_length: Signal<In, Bits<32>>,
    pub hdr_payload_bytes: Signal<In, Bits<13>>,
    pub hdr_ts_echo: Signal<In, Bits<16>>,
    pub hdr_service: Signal<In, Bits<16>>,
    pub hdr_ce: Signal<In, Bits<16>>,
    pub hdr_dup: Signal<In, Bits<16>>,
    pub hdr_flags: Signal<In, Bits<16>>,
    pub hdr_rate: Signal<In, Bits<24>>,
    pub hdr_sav: Signal<In, Bits<256>>,
    pub hdr_mak_qp: Signal<In, Bits<24>>,
    pub hdr_mak_code: Signal<In, Bits<8>>,
    pub hdr_mak_msn: Signal<In, Bits<24>>,
    pub place_valid: Signal<Out, Bit>,
    pub place_ready: Signal<In, Bit>,
    /// Write to `place_addr`, else discard.
    pub place_write: Signal<Out, Bit>,
    pub place_addr: Signal<Out, Bits<64>>,
    pub place_bytes: Signal<Out, Bits<13>>,
    pub ack_valid: Signal<Out, Bit>,
    pub ack_ready: Signal<In, Bit>,
    pub ack_conn: Signal<Out, Bits<16>>,
    pub ack_home: Signal<Out, Bits<3>>,
    pub ack_cum: Signal<Out, Bits<24>>,
    pub ack_ts_echo: Signal<Out, Bits<16>>,
    pub ack_service: Signal<Out, Bits<16>>,
    pub ack_ce: Signal<Out, Bits<16>>,
    pub ack_dup: Signal<Out, Bits<16>>,
    pub ack_flags: Signal<Out, Bits<16>>,
    pub ack_rate: Signal<Out, Bits<24>>,
    pub ack_sav: Signal<Out, Bits<256>>,
    pub ack_mak_qp: Signal<Out, Bits<24>>,
    pub ack_mak_code: Signal<Out, Bits<8>>,
    pub ack_mak_msn: Signal<Out, Bits<24>>,
    pub ackdesc_valid: Signal<Out, Bit>,
    pub ackdesc_ready: Signal<In, Bit>,
    pub ackdesc_conn: Signal<Out, Bits<16>>,
    pub ackdesc_home: Signal<Out, Bits<3>>,
    pub ackdesc_via: Signal<Out, Bits<3>>,
    pub ackdesc_cum: Signal<Out, Bits<24>>,
    pub ackdesc_ts_echo: Signal<Out, Bits<16>>,
    pub ackdesc_service: Signal<Out, Bits<16>>,
    pub ackdesc_ce: Signal<Out, Bits<16>>,
    pub ackdesc_dup: Signal<Out, Bits<16>>,
    pub ackdesc_rx: Signal<Out, Bits<16>>,
    pub ackdesc_flags: Signal<Out, Bits<16>>,
    pub ackdesc_rate: Signal<Out, Bits<24>>,
    pub ackdesc_epoch: Signal<Out, Bits<8>>,
    pub ackdesc_mak_qp: Signal<Out, Bits<24>>,
    pub ackdesc_mak_code: Signal<Out, Bits<8>>,
    pub ackdesc_mak_msn: Signal<Out, Bits<24>>,
    pub ackdesc_sav: Signal<Out, Bits<256>>,
    pub rxerr_valid: Signal<Out, Bit>,
    pub rxerr_ready: Signal<In, Bit>,
    pub rxerr_qp: Signal<Out, Bits<16>>,
    /// completion's error bits: the bit of the QP addressed in the previous clock.
    pub qperr_addr: Signal<Out, Bits<16>>,
    pub qperr_data: Signal<In, Bit>,
    pub commit_rx_valid: Signal<Out, Bit>,
    pub commit_rx_kind: Signal<Out, Bits<3>>,
    pub commit_rx_class: Signal<Out, Bits<2>>,
    pub commit_rx_conn: Signal<Out, Bits<16>>,
    pub commit_rx_home: Signal<Out, Bits<8>>,
    pub commit_rx_via: Signal<Out, Bits<8>>,
    pub commit_rx_opcode: Signal<Out, Bits<8>>,
    pub commit_rx_ppsn: Signal<Out, Bits<24>>,
    pub commit_rx_code: Signal<Out, Bits<8>>,
    pub commit_rx_placed: Signal<Out, Bit>,
    pub commit_rx_addr: Signal<Out, Bits<64>>,
    pub commit_rx_bytes: Signal<Out, Bits<13>>,
    pub commit_rx_acked: Signal<Out, Bit>,
    pub commit_rx_now: Signal<Out, Bits<32>>,
    pub commit_rx_share: Signal<Out, Bits<24>>,
    pub commit_rx_cum: Signal<Out, Bits<24>>,
    pub commit_rx_high: Signal<Out, Bits<24>>,
    pub commit_rx_ce: Signal<Out, Bits<16>>,
    pub commit_rx_dup: Signal<Out, Bits<16>>,
    pub commit_rx_rx: Signal<Out, Bits<16>>,
    pub commit_rx_unacked: Signal<Out, Bits<3>>,
    pub commit_rx_exp: Signal<Out, Bits<24>>,
    tracker: PathTracker,
    key: KeyCheck,
    messages: MessageTracker,
    hint: RateHint,
    timers: RxTimers,
    tables: RxConfig,
    conns: Ram<RxConnRow>,
    qps: Ram<RxQpRow>,
    paths: Ram<RxPathRow>,
    state: DFF<RxState>,
    walk: DFF<Bits<24>>,
    h: DFF<RxHeader>,
    is_timer: DFF<Bit>,
    is_write: DFF<Bit>,
    is_nop: DFF<Bit>,
    is_probe: DFF<Bit>,
    is_ack: DFF<Bit>,
    time: DFF<Bits<32>>,
    row: DFF<Bits<24>>,
    conn_row: DFF<RxConnRow>,
    qp_row: DFF<RxQpRow>,
    path: DFF<RxPathRow>,
    qp_failed: DFF<Bit>,
    allowed: DFF<Bit>,
    bad_qp: DFF<Bit>,
    too_long: DFF<Bit>,
    touches_key: DFF<Bit>,
    age: DFF<Bits<32>>,
    code: DFF<Bits<3>>,
    addr: DFF<Bits<64>>,
    accepted: DFF<Bit>,
    refused: DFF<Bit>,
    duplicate: DFF<Bit>,
    outside: DFF<Bit>,
    in_order: DFF<Bit>,
    held_full: DFF<Bit>,
    placed: DFF<Bit>,
    acking: DFF<Bit>,
    turn: DFF<Bits<2>>,
    place_full: DFF<Bit>,
    place_write_r: DFF<Bit>,
    place_bytes_r: DFF<Bits<13>>,
    ack_full: DFF<Bit>,
    ack_r: DFF<RxAckHeader>,
    desc_full: DFF<Bit>,
    desc: DFF<AckDescRow>,
    rxerr_full: DFF<Bit>,
    commit_valid: DFF<Bit>,
    commit: DFF<RxCommitRow>,
    free: Signal<Local, Bit>,
    ack_now: Signal<Local, Bit>,
    flags: Signal<Local, Bits<16>>,
    begin: Signal<Local, Bit>,
    data: Signal<Local, Bit>,
    marked: Signal<Local, Bit>,
    rewrite: Signal<Local, Bit>,
    last_qp_open: Signal<Local, Bit>,
    waited: Signal<Local, Bits<32>>,
    read_conn: Signal<Local, Bits<16>>,
    read_qp: Signal<Local, Bits<16>>,
    read_row: Signal<Local, Bits<24>>,
    home_over: Signal<Local, Bits<8>>,
    via_over: Signal<Local, Bits<8>>,
    op_write: Constant<Bits<8>>,
    op_nop: Constant<Bits<8>>,
    op_probe: Constant<Bits<8>>,
    op_ack: Constant<Bits<8>>,
    flag_probe_reply: Constant<Bits<16>>,
    flag_ts_valid: Constant<Bits<16>>,
    flag_nak: Constant<Bits<16>>,
    kind_data: Constant<Bits<3>>,
    kind_probe: Constant<Bits<3>>,
    kind_ack: Constant<Bits<3>>,
    kind_dropped: Constant<Bits<3>>,
    kind_timer: Constant<Bits<3>>,
    kind_swap: Constant<Bits<3>>,
    kind_publish: Constant<Bits<3>>,
    closed_path: Constant<RxPathRow>,
    conn_count: Constant<Bits<24>>,
    qp_count: Constant<Bits<24>>,
    last_row: Constant<Bits<24>>,
}

fn opcode(name: &str) -> Constant<Bits<8>> {
    Constant::new(opcode_value(name).to_bits())
}

fn flag(name: &str) -> Constant<Bits<16>> {
    Constant::new(flag_mask(name).to_bits())
}

impl RxCore {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(RxCore {
            tracker: PathTracker::new(config),
            key: KeyCheck::new(config),
            messages: MessageTracker::new(config),
            hint: RateHint::new(config),
            timers: RxTimers::new(config),
            tables: RxConfig::new(config),
            conns: Ram::new(config.conns),
            qps: Ram::new(config.qps),
            paths: Ram::new(config.path_rows()),
            op_write: opcode("WRITE"),
            op_nop: opcode("NOP"),
            op_probe: opcode("PROBE"),
            op_ack: opcode("ACK"),
            flag_probe_reply: flag("probe_reply"),
            flag_ts_valid: flag("ts_valid"),
            flag_nak: flag("nak"),
            kind_data: Constant::new(kind::DATA.to_bits()),
            kind_probe: Constant::new(kind::PROBE.to_bits()),
            kind_ack: Constant::new(kind::ACK.to_bits()),
            kind_dropped: Constant::new(kind::DROPPED.to_bits()),
            kind_timer: Constant::new(kind::TIMER.to_bits()),
            kind_swap: Constant::new(kind::EPOCH_SWAP.to_bits()),
            kind_publish: Constant::new(kind::EPOCH_PUBLISH.to_bits()),
            closed_path: Constant::new(RxPathRow::default()),
            conn_count: Constant::new((config.conns as u64).to_bits()),
            qp_count: Constant::new((config.qps as u64).to_bits()),
            last_row: Constant::new((config.path_rows().max(config.qps) as u64 - 1).to_bits());
            clock, reset, fault, now, ack_delay, ack_every, epoch_cap, cfg_valid, cfg_table, cfg_index, cfg_data, cfg_busy,
            init_done, hdr_valid, hdr_ready, place_valid, place_ready, place_write, place_addr, place_bytes, ack_valid,
            ack_ready, ackdesc_valid, ackdesc_ready, rxerr_valid, rxerr_ready, rxerr_qp, qperr_addr, qperr_data,
            commit_rx_valid,
            hdr_opcode, hdr_ack_req, hdr_ppsn, hdr_dest_qp, hdr_ecn_ce, hdr_home, hdr_via, hdr_conn, hdr_rtx, hdr_tx_ts,
            hdr_msn, hdr_first, hdr_last, hdr_va, hdr_rkey, hdr_length, hdr_payload_bytes, hdr_ts_echo, hdr_service, hdr_ce,
            hdr_dup, hdr_flags, hdr_rate, hdr_sav, hdr_mak_qp, hdr_mak_code, hdr_mak_msn, ack_conn, ack_home, ack_cum,
            ack_ts_echo, ack_service, ack_ce, ack_dup, ack_flags, ack_rate, ack_sav, ack_mak_qp, ack_mak_code, ack_mak_msn,
            ackdesc_conn, ackdesc_home, ackdesc_via, ackdesc_cum, ackdesc_ts_echo, ackdesc_service, ackdesc_ce, ackdesc_dup,
            ackdesc_rx, ackdesc_flags, ackdesc_rate, ackdesc_epoch, ackdesc_mak_qp, ackdesc_mak_code, ackdesc_mak_msn,
            ackdesc_sav, commit_rx_kind, commit_rx_class, commit_rx_conn, commit_rx_home, commit_rx_via, commit_rx_opcode,
            commit_rx_ppsn, commit_rx_code, commit_rx_placed, commit_rx_addr, commit_rx_bytes, commit_rx_acked,
            commit_rx_now, commit_rx_share, commit_rx_cum, commit_rx_high, commit_rx_ce, commit_rx_dup, commit_rx_rx,
            commit_rx_unacked, commit_rx_exp,
            state, walk, h, is_timer, is_write, is_nop, is_probe, is_ack, time, row, conn_row, qp_row, path, qp_failed,
            allowed, bad_qp, too_long, touches_key, age, code, addr, accepted, refused, duplicate, outside, in_order,
            held_full, placed, acking, turn, place_full, place_write_r, place_bytes_r, ack_full, ack_r, desc_full, desc,
            rxerr_full, commit_valid, commit, free, ack_now, flags, begin, data, marked, rewrite, last_qp_open, waited, read_conn, read_qp,
            read_row, home_over, via_over,
        })
    }
}

impl Logic for RxCore {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rx_core: steps of the receiver");
        dff_setup!(
            self,
            clock,
            state,
            walk,
            h,
            is_timer,
            is_write,
            is_nop,
            is_probe,
            is_ack,
            time,
            row,
            conn_row,
            qp_row,
            path,
            qp_failed,
            allowed,
            bad_qp,
            too_long,
            touches_key,
            age,
            code,
            addr,
            accepted,
            refused,
            duplicate,
            outside,
            in_order,
            held_full,
            placed,
            acking,
            turn,
            place_full,
            place_write_r,
            place_bytes_r,
            ack_full,
            ack_r,
            desc_full,
            desc,
            rxerr_full,
            commit_valid,
            commit
        );
        clock!(self, clock, tracker, key, messages, hint, timers, tables, conns, qps, paths);
        self.tracker.reset.next = self.reset.val();
        self.key.reset.next = self.reset.val();
        self.messages.reset.next = self.reset.val();
        self.hint.reset.next = self.reset.val();
        self.timers.reset.next = self.reset.val();
        self.tables.reset.next = self.reset.val();
        self.init_done.next = (self.state.q.val() != RxState::Walk)
            & self.tracker.init_done.val()
            & self.key.init_done.val()
            & self.messages.init_done.val()
            & self.hint.init_done.val()
            & self.timers.init_done.val()
            & self.tables.init_done.val();

        comment!("outputs are registers; a step begins when all of them are free");
        self.place_valid.next = self.place_full.q.val();
        self.place_write.next = self.place_write_r.q.val();
        self.place_addr.next = self.addr.q.val();
        self.place_bytes.next = self.place_bytes_r.q.val();
        self.ack_valid.next = self.ack_full.q.val();
        self.ack_conn.next = self.h.q.val().conn;
        self.ack_home.next = self.h.q.val().home.get_bits::<3>(0);
        self.ack_cum.next = self.h.q.val().ppsn;
        self.ack_ts_echo.next = self.ack_r.q.val().ts_echo;
        self.ack_service.next = self.ack_r.q.val().service;
        self.ack_ce.next = self.ack_r.q.val().ce;
        self.ack_dup.next = self.ack_r.q.val().dup;
        self.ack_flags.next = self.ack_r.q.val().flags;
        self.ack_rate.next = self.ack_r.q.val().rate;
        self.ack_sav.next = self.ack_r.q.val().sav;
        self.ack_mak_qp.next = self.ack_r.q.val().mak_qp;
        self.ack_mak_code.next = self.ack_r.q.val().mak_code;
        self.ack_mak_msn.next = self.ack_r.q.val().mak_msn;
        self.ackdesc_valid.next = self.desc_full.q.val();
        self.ackdesc_conn.next = self.desc.q.val().conn;
        self.ackdesc_home.next = self.desc.q.val().home;
        self.ackdesc_via.next = self.desc.q.val().via;
        self.ackdesc_cum.next = self.desc.q.val().cum;
        self.ackdesc_ts_echo.next = self.desc.q.val().ts_echo;
        self.ackdesc_service.next = self.desc.q.val().service;
        self.ackdesc_ce.next = self.desc.q.val().ce;
        self.ackdesc_dup.next = self.desc.q.val().dup;
        self.ackdesc_rx.next = self.desc.q.val().rx;
        self.ackdesc_flags.next = self.desc.q.val().flags;
        self.ackdesc_rate.next = self.desc.q.val().rate;
        self.ackdesc_epoch.next = self.desc.q.val().epoch;
        self.ackdesc_mak_qp.next = self.desc.q.val().mak_qp;
        self.ackdesc_mak_code.next = self.desc.q.val().mak_code;
        self.ackdesc_mak_msn.next = self.desc.q.val().mak_msn;
        self.ackdesc_sav.next = self.tracker.sav.val();
        self.rxerr_valid.next = self.rxerr_full.q.val();
        self.rxerr_qp.next = self.h.q.val().dest_qp.get_bits::<16>(0);
        if self.place_ready.val() {
            self.place_full.d.next = false;
        }
        if self.ack_ready.val() {
            self.ack_full.d.next = false;
        }
        if self.ackdesc_ready.val() {
            self.desc_full.d.next = false;
        }
        if self.rxerr_ready.val() {
            self.rxerr_full.d.next = false;
        }
        self.free.next = (self.state.q.val() == RxState::Idle)
            & self.init_done.val()
            & (!self.place_full.q.val() | self.place_ready.val())
            & (!self.ack_full.q.val() | self.ack_ready.val())
            & (!self.desc_full.q.val() | self.ackdesc_ready.val())
            & (!self.rxerr_full.q.val() | self.rxerr_ready.val());
        self.commit_rx_valid.next = self.commit_valid.q.val();
        self.commit_rx_kind.next = self.commit.q.val().kind;
        self.commit_rx_class.next = self.commit.q.val().class;
        self.commit_rx_conn.next = self.commit.q.val().conn;
        self.commit_rx_home.next = self.commit.q.val().home;
        self.commit_rx_via.next = self.commit.q.val().via;
        self.commit_rx_opcode.next = self.commit.q.val().opcode;
        self.commit_rx_ppsn.next = self.commit.q.val().ppsn;
        self.commit_rx_code.next = self.commit.q.val().code;
        self.commit_rx_placed.next = self.commit.q.val().placed;
        self.commit_rx_addr.next = self.commit.q.val().addr;
        self.commit_rx_bytes.next = self.commit.q.val().bytes;
        self.commit_rx_acked.next = self.commit.q.val().acked;
        self.commit_rx_now.next = self.commit.q.val().now;
        self.commit_rx_share.next = self.commit.q.val().share;
        self.commit_rx_cum.next = self.commit.q.val().cum;
        self.commit_rx_high.next = self.commit.q.val().high;
        self.commit_rx_ce.next = self.commit.q.val().ce;
        self.commit_rx_dup.next = self.commit.q.val().dup;
        self.commit_rx_rx.next = self.commit.q.val().rx;
        self.commit_rx_unacked.next = self.commit.q.val().unacked;
        self.commit_rx_exp.next = self.commit.q.val().exp;
        self.commit_valid.d.next = false;

        comment!("rows addressed: of the packet or the timer in its first clock, of the last QP for an acknowledgment");
        self.read_conn.next = self.hdr_conn.val();
        self.read_row.next =
            (bit_cast::<24, 16>(self.hdr_conn.val()) << 3) | bit_cast::<24, 3>(self.hdr_home.val().get_bits::<3>(0));
        self.read_qp.next = self.hdr_dest_qp.val().get_bits::<16>(0);
        if self.timers.due.val() {
            self.read_conn.next = bit_cast::<16, 24>(self.timers.due_row.val() >> 3);
            self.read_row.next = self.timers.due_row.val();
        }
        if self.state.q.val() != RxState::Idle {
            self.read_qp.next = self.path.q.val().last_qp;
        }
        if self.state.q.val() == RxState::Config {
            self.read_qp.next = self.tables.index.val();
        }
        self.qperr_addr.next = self.read_qp.val();
        self.begin.next = false;
        self.hdr_ready.next = false;

        self.tables.cfg_valid.next = self.cfg_valid.val();
        self.tables.cfg_table.next = self.cfg_table.val();
        self.tables.cfg_index.next = self.cfg_index.val();
        self.tables.cfg_data.next = self.cfg_data.val();
        self.cfg_busy.next = self.tables.cfg_busy.val();
        self.tables.go.next = false;
        self.tables.clearing.next = self.messages.busy.val();

        self.hint.now.next = self.now.val();
        self.hint.cap.next = self.epoch_cap.val();
        self.hint.add.next = false;
        self.hint.add_conn.next = self.h.q.val().conn;
        self.hint.add_bytes.next = self.h.q.val().payload_bytes;
        self.hint.read_conn.next = self.h.q.val().conn;
        self.hint.swap.next = false;
        self.hint.publish.next = false;
        self.hint.clear.next = self.tables.conn_write.val();
        self.hint.clear_conn.next = self.tables.index.val();
        self.timers.now.next = self.now.val();
        self.timers.ack_delay.next = self.ack_delay.val();
        self.timers.taken.next = false;
        self.tracker.fault.next = self.fault.val();
        self.tracker.take.next = false;
        self.tracker.gather.next = false;
        self.messages.take.next = false;
        self.key.fault.next = self.fault.val();
        self.ack_now.next = false;
        self.flags.next = 0.into();
        self.data.next = self.is_write.q.val() | self.is_nop.q.val();
        self.marked.next = self.h.q.val().ecn_ce != self.path.q.val().ce_state;
        self.rewrite.next = (self.fault.val() == 6) & self.duplicate.q.val() & self.is_write.q.val() & (self.code.q.val() == 0);
        self.waited.next = self.time.q.val() - self.path.q.val().last_arrival;
        self.last_qp_open.next = self.path.q.val().last_qp_known
            & self.qps.read_data.val().open
            & (self.qps.read_data.val().conn == self.h.q.val().conn);
        self.home_over.next = self.h.q.val().home >> self.conn_row.q.val().paths_log2;
        self.via_over.next = self.h.q.val().via >> self.conn_row.q.val().paths_log2;
        self.conns.write_enable.next = self.tables.conn_write.val();
        self.qps.write_enable.next = self.tables.qp_write.val();
        self.paths.write_enable.next = self.tables.path_write.val();
        self.timers.write.next = self.tables.path_write.val();

        match self.state.q.val() {
            RxState::Walk => {
                self.conns.write_enable.next = true;
                self.qps.write_enable.next = true;
                self.paths.write_enable.next = true;
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val() == self.last_row.val() {
                    self.state.d.next = RxState::Idle;
                }
            }
            RxState::Idle => {
                if self.free.val() {
                    if self.tables.pending.val() & self.hint.at_rest.val() {
                        self.tables.go.next = true;
                        self.state.d.next = RxState::Config;
                    } else if self.hint.swap_due.val() | self.hint.publish_due.val() {
                        comment!("a table write waits while the hint is computed, and no epoch ends while one waits");
                        self.hint.swap.next = self.hint.swap_due.val();
                        self.hint.publish.next = self.hint.publish_due.val();
                        self.commit_valid.d.next = true;
                        self.commit.d.next.kind = self.kind_swap.val();
                        if self.hint.publish_due.val() {
                            self.commit.d.next.kind = self.kind_publish.val();
                        }
                        self.commit.d.next.now = self.now.val();
                        self.commit.d.next.share = self.hint.share.val();
                    } else if self.timers.due.val() {
                        self.timers.taken.next = true;
                        self.begin.next = true;
                    } else {
                        self.hdr_ready.next = true;
                        self.begin.next = self.hdr_valid.val();
                    }
                }
            }
            RxState::Read => {
                comment!("clock 1: the rows");
                self.conn_row.d.next = self.conns.read_data.val();
                self.qp_row.d.next = self.qps.read_data.val();
                self.path.d.next = self.paths.read_data.val();
                self.qp_failed.d.next = self.qperr_data.val();
                self.is_write.d.next = self.h.q.val().opcode == self.op_write.val();
                self.is_nop.d.next = self.h.q.val().opcode == self.op_nop.val();
                self.is_probe.d.next = self.h.q.val().opcode == self.op_probe.val();
                self.is_ack.d.next = self.h.q.val().opcode == self.op_ack.val();
                self.state.d.next = RxState::Calc;
            }
            RxState::Calc => {
                comment!("clock 2: the opcode is one of this stage, R1, the QP part of R3, the age of a held acknowledgment");
                self.allowed.d.next = (bit_cast::<24, 16>(self.h.q.val().conn) < self.conn_count.val())
                    & self.conn_row.q.val().open
                    & (self.is_timer.q.val() | self.data.val() | self.is_probe.q.val() | self.is_ack.q.val())
                    & (self.home_over.val() == 0)
                    & (self.via_over.val() == 0);
                self.bad_qp.d.next = (self.h.q.val().dest_qp >= self.qp_count.val())
                    | !self.qp_row.q.val().open
                    | (self.qp_row.q.val().conn != self.h.q.val().conn);
                self.qp_failed.d.next = self.qp_failed.q.val() | self.qp_row.q.val().failed;
                self.too_long.d.next =
                    bit_cast::<17, 13>(self.h.q.val().payload_bytes) > (bits::<17>(1) << self.conn_row.q.val().mtu_log2);
                self.touches_key.d.next = self.h.q.val().length.any();
                self.age.d.next = self.time.q.val() - self.path.q.val().ack_time;
                self.held_full.d.next =
                    (bit_cast::<4, 3>(self.path.q.val().unacked) + 1) >= bit_cast::<4, 3>(self.ack_every.val());
                self.state.d.next = RxState::Class;
            }
            RxState::Class => {
                comment!("clock 3: R2; only a packet that passed R1 and carries a PPSN has a class");
                self.accepted.d.next = self.allowed.q.val() & self.data.val() & (self.tracker.verdict.val() == 0);
                self.duplicate.d.next = self.allowed.q.val() & self.data.val() & (self.tracker.verdict.val() == 1);
                self.outside.d.next = self.allowed.q.val() & self.data.val() & (self.tracker.verdict.val() == 2);
                self.in_order.d.next = self.tracker.in_order.val();
                self.state.d.next = RxState::Judge;
                if self.is_timer.q.val() {
                    self.accepted.d.next = false;
                    self.duplicate.d.next = false;
                    self.outside.d.next = false;
                    comment!("R8: the scan only offers; here it is decided");
                    if !self.path.q.val().unacked.any() | (self.age.q.val() < self.ack_delay.val()) {
                        self.state.d.next = RxState::Idle;
                    }
                }
            }
            RxState::Judge => {
                comment!("clock 4: R3 in its order");
                self.code.d.next = 0.into();
                if self.is_write.q.val() {
                    if self.bad_qp.q.val() {
                        self.code.d.next = 4.into();
                    } else if self.qp_failed.q.val() {
                        self.code.d.next = 6.into();
                    } else if self.too_long.q.val() | !self.messages.fits.val() {
                        self.code.d.next = 7.into();
                    } else if self.touches_key.q.val() {
                        self.code.d.next = bit_cast::<3, 2>(self.key.code.val());
                    }
                    if (self.fault.val() == 6) & self.duplicate.q.val() {
                        self.code.d.next = bit_cast::<3, 2>(self.key.code.val());
                    }
                }
                self.addr.d.next = self.key.addr.val();
                self.state.d.next = RxState::Apply;
            }
            RxState::Apply => {
                comment!("clock 5: R4 to R8, R10");
                self.state.d.next = RxState::Commit;
                self.refused.d.next = self.accepted.q.val() & (self.code.q.val() != 0);
                self.accepted.d.next = self.accepted.q.val() & (self.code.q.val() == 0);
                self.ack_now.next = self.is_timer.q.val();
                if !self.is_timer.q.val() {
                    self.place_full.d.next = self.h.q.val().payload_bytes.any();
                    self.ack_full.d.next = self.allowed.q.val() & self.is_ack.q.val();
                    if self.allowed.q.val() & self.is_probe.q.val() {
                        self.path.d.next.last_via = self.h.q.val().via.get_bits::<3>(0);
                        self.ack_now.next = true;
                    }
                }
                if self.accepted.q.val() | self.duplicate.q.val() {
                    comment!("R10, refused packets included");
                    self.path.d.next.last_ts = self.h.q.val().tx_ts;
                    self.path.d.next.last_ts_valid = !self.h.q.val().rtx;
                    self.path.d.next.last_via = self.h.q.val().via.get_bits::<3>(0);
                    self.path.d.next.last_arrival = self.time.q.val();
                }
                if self.duplicate.q.val() {
                    self.path.d.next.dup = self.path.q.val().dup + 1;
                    self.path.d.next.rx = self.path.q.val().rx + 1;
                    self.ack_now.next = true;
                }
                if self.outside.q.val() {
                    self.ack_now.next = true;
                }
                if self.accepted.q.val() & self.is_write.q.val() & !self.bad_qp.q.val() {
                    self.path.d.next.last_qp = self.h.q.val().dest_qp.get_bits::<16>(0);
                    self.path.d.next.last_qp_known = true;
                }
                self.placed.d.next = self.rewrite.val();
                if self.accepted.q.val() {
                    if self.code.q.val() != 0 {
                        comment!("R4: the bit is not set; the QP goes to Error unless there is none or it is there");
                        self.ack_now.next = true;
                        if (self.code.q.val() != 4) & (self.code.q.val() != 6) {
                            self.rxerr_full.d.next = true;
                            self.qps.write_enable.next = true;
                        }
                    } else {
                        comment!("R5 to R7");
                        self.tracker.take.next = true;
                        self.messages.take.next = self.is_write.q.val();
                        self.hint.add.next = self.is_write.q.val();
                        self.placed.d.next = self.is_write.q.val() & self.h.q.val().payload_bytes.any();
                        self.path.d.next.rx = self.path.q.val().rx + 1;
                        if self.h.q.val().ecn_ce {
                            self.path.d.next.ce = self.path.q.val().ce + 1;
                        }
                        self.path.d.next.ce_state = self.h.q.val().ecn_ce;
                        if self.h.q.val().ack_req | !self.in_order.q.val() | self.marked.val() | self.held_full.q.val() {
                            self.ack_now.next = true;
                        } else {
                            self.path.d.next.unacked = self.path.q.val().unacked + 1;
                            if !self.path.q.val().unacked.any() {
                                self.path.d.next.ack_time = self.time.q.val();
                            }
                        }
                    }
                }
                self.place_write_r.d.next =
                    (self.accepted.q.val() & (self.code.q.val() == 0) & self.is_write.q.val()) | self.rewrite.val();
                self.place_bytes_r.d.next = self.h.q.val().payload_bytes;
                if self.ack_now.val() {
                    self.path.d.next.unacked = 0.into();
                }
                self.acking.d.next = self.ack_now.val();
            }
            RxState::Commit => {
                comment!("clock 6: write back as soon as the cumulative point and exp are final");
                if !self.tracker.busy.val() & !self.messages.busy.val() {
                    self.paths.write_enable.next = self.is_timer.q.val() | (self.allowed.q.val() & !self.is_ack.q.val());
                    self.timers.write.next = self.is_timer.q.val() | (self.allowed.q.val() & !self.is_ack.q.val());
                    self.turn.d.next = 0.into();
                    self.state.d.next = RxState::Idle;
                    if self.acking.q.val() {
                        self.tracker.gather.next = true;
                        self.state.d.next = RxState::Gather;
                    }
                    self.commit_valid.d.next = true;
                    self.commit.d.next.kind = self.kind_data.val();
                    if self.is_timer.q.val() {
                        self.commit.d.next.kind = self.kind_timer.val();
                    } else if !self.allowed.q.val() {
                        self.commit.d.next.kind = self.kind_dropped.val();
                    } else if self.is_ack.q.val() {
                        self.commit.d.next.kind = self.kind_ack.val();
                    } else if self.is_probe.q.val() {
                        self.commit.d.next.kind = self.kind_probe.val();
                    }
                    self.commit.d.next.class = 0.into();
                    if self.duplicate.q.val() {
                        self.commit.d.next.class = 1.into();
                    }
                    if self.outside.q.val() {
                        self.commit.d.next.class = 2.into();
                    }
                    self.commit.d.next.conn = self.h.q.val().conn;
                    self.commit.d.next.home = self.h.q.val().home;
                    self.commit.d.next.via = self.h.q.val().via;
                    self.commit.d.next.opcode = self.h.q.val().opcode;
                    self.commit.d.next.ppsn = self.h.q.val().ppsn;
                    self.commit.d.next.code = 0.into();
                    if self.refused.q.val() {
                        self.commit.d.next.code = bit_cast::<8, 3>(self.code.q.val());
                    }
                    self.commit.d.next.placed = self.placed.q.val();
                    self.commit.d.next.addr = 0.into();
                    if self.placed.q.val() {
                        self.commit.d.next.addr = self.addr.q.val();
                    }
                    self.commit.d.next.bytes = self.h.q.val().payload_bytes;
                    self.commit.d.next.acked = self.acking.q.val();
                    self.commit.d.next.now = self.time.q.val();
                    self.commit.d.next.share = self.hint.share.val();
                    self.commit.d.next.cum = self.tracker.cum.val();
                    self.commit.d.next.high = self.tracker.high.val();
                    self.commit.d.next.ce = self.path.q.val().ce;
                    self.commit.d.next.dup = self.path.q.val().dup;
                    self.commit.d.next.rx = self.path.q.val().rx;
                    self.commit.d.next.unacked = self.path.q.val().unacked;
                    self.commit.d.next.exp = 0.into();
                    if self.is_write.q.val() & !self.is_timer.q.val() & !self.bad_qp.q.val() {
                        self.commit.d.next.exp = self.messages.exp.val();
                    }
                }
            }
            RxState::Gather => {
                self.turn.d.next = self.turn.q.val() + 1;
                if self.turn.q.val() == 3 {
                    self.state.d.next = RxState::Reply;
                }
            }
            RxState::Reply => {
                comment!("R9");
                self.desc_full.d.next = true;
                self.desc.d.next.conn = self.h.q.val().conn;
                self.desc.d.next.home = self.h.q.val().home.get_bits::<3>(0);
                self.desc.d.next.via = self.path.q.val().last_via;
                self.desc.d.next.cum = self.tracker.cum.val();
                self.desc.d.next.ce = self.path.q.val().ce;
                self.desc.d.next.dup = self.path.q.val().dup;
                self.desc.d.next.rx = self.path.q.val().rx;
                self.desc.d.next.rate = self.hint.rate.val();
                self.desc.d.next.epoch = self.hint.epoch.val();
                self.desc.d.next.ts_echo = self.path.q.val().last_ts;
                self.desc.d.next.service = self.waited.val().get_bits::<16>(0);
                if (self.waited.val() >> 16).any() {
                    self.desc.d.next.service = 0xFFFF.into();
                }
                self.flags.next = 0.into();
                if self.path.q.val().last_ts_valid {
                    self.flags.next = self.flag_ts_valid.val();
                }
                if self.is_probe.q.val() & !self.is_timer.q.val() {
                    self.desc.d.next.ts_echo = self.h.q.val().tx_ts;
                    self.desc.d.next.service = 0.into();
                    self.flags.next = self.flag_probe_reply.val() | self.flag_ts_valid.val();
                }
                self.desc.d.next.mak_qp = 0.into();
                self.desc.d.next.mak_code = 0.into();
                self.desc.d.next.mak_msn = 0.into();
                if self.last_qp_open.val() {
                    self.desc.d.next.mak_qp = self.qps.read_data.val().peer_qpn;
                    self.desc.d.next.mak_msn = self.messages.exp_read.val() - 1;
                }
                if self.refused.q.val() {
                    self.flags.next = self.flags.val() | self.flag_nak.val();
                    self.desc.d.next.mak_code = bit_cast::<8, 3>(self.code.q.val());
                    self.desc.d.next.mak_msn = self.h.q.val().msn;
                    if self.bad_qp.q.val() {
                        comment!("no row names the sender's QP: the refused packet is named by its PPSN");
                        self.desc.d.next.mak_qp = self.h.q.val().ppsn;
                    }
                }
                self.desc.d.next.flags = self.flags.val();
                self.state.d.next = RxState::Idle;
            }
            RxState::Config => {
                if !self.tables.active.val() {
                    self.state.d.next = RxState::Idle;
                }
            }
            _ => {}
        }
        if self.begin.val() {
            self.state.d.next = RxState::Read;
            self.time.d.next = self.now.val();
            self.row.d.next = self.read_row.val();
            self.is_timer.d.next = self.timers.due.val();
            self.h.d.next.opcode = self.hdr_opcode.val();
            self.h.d.next.ack_req = self.hdr_ack_req.val();
            self.h.d.next.ppsn = self.hdr_ppsn.val();
            self.h.d.next.dest_qp = self.hdr_dest_qp.val();
            self.h.d.next.ecn_ce = self.hdr_ecn_ce.val();
            self.h.d.next.home = self.hdr_home.val();
            self.h.d.next.via = self.hdr_via.val();
            self.h.d.next.conn = self.hdr_conn.val();
            self.h.d.next.rtx = self.hdr_rtx.val();
            self.h.d.next.tx_ts = self.hdr_tx_ts.val();
            self.h.d.next.msn = self.hdr_msn.val();
            self.h.d.next.first = self.hdr_first.val();
            self.h.d.next.last = self.hdr_last.val();
            self.h.d.next.va = self.hdr_va.val();
            self.h.d.next.rkey = self.hdr_rkey.val();
            self.h.d.next.length = self.hdr_length.val();
            self.h.d.next.payload_bytes = self.hdr_payload_bytes.val();
            if self.timers.due.val() {
                self.h.d.next.conn = self.read_conn.val();
                self.h.d.next.home = bit_cast::<8, 3>(self.read_row.val().get_bits::<3>(0));
                self.h.d.next.via = 0.into();
                self.h.d.next.payload_bytes = 0.into();
            }
            self.ack_r.d.next.ts_echo = self.hdr_ts_echo.val();
            self.ack_r.d.next.service = self.hdr_service.val();
            self.ack_r.d.next.ce = self.hdr_ce.val();
            self.ack_r.d.next.dup = self.hdr_dup.val();
            self.ack_r.d.next.flags = self.hdr_flags.val();
            self.ack_r.d.next.rate = self.hdr_rate.val();
            self.ack_r.d.next.sav = self.hdr_sav.val();
            self.ack_r.d.next.mak_qp = self.hdr_mak_qp.val();
            self.ack_r.d.next.mak_code = self.hdr_mak_code.val();
            self.ack_r.d.next.mak_msn = self.hdr_mak_msn.val();
        }

        self.tracker.start.next = self.begin.val();
        self.tracker.row.next = self.read_row.val();
        self.tracker.ppsn.next = self.hdr_ppsn.val();
        self.tracker.clear.next = self.tables.path_write.val();
        self.messages.start.next = self.begin.val();
        self.messages.qp.next = self.read_qp.val();
        self.messages.msn.next = self.hdr_msn.val();
        self.messages.payload_bytes.next = self.hdr_payload_bytes.val();
        self.messages.length.next = self.hdr_length.val();
        self.messages.clear.next = self.tables.qp_write.val();
        self.key.start.next = self.begin.val();
        self.key.rkey.next = self.hdr_rkey.val();
        self.key.va.next = self.hdr_va.val();
        self.key.bytes.next = self.hdr_payload_bytes.val();
        self.key.pd.next = self.qp_row.q.val().pd;
        self.key.write.next = self.tables.key_write.val();
        self.key.write_index.next = self.tables.index.val();
        self.key.write_data.next = self.tables.words.val().get_bits::<224>(0);
        if self.state.q.val() == RxState::Config {
            self.tracker.row.next = self.tables.path_row.val();
            self.tracker.ppsn.next = self.tables.path_start.val();
            self.messages.msn.next = self.tables.start_msn.val();
        }
        self.timers.row.next = self.row.q.val();
        self.timers.armed.next = self.path.q.val().unacked.any();
        self.timers.since.next = self.path.q.val().ack_time;

        self.conns.read_address.next = bit_cast::<24, 16>(self.read_conn.val());
        self.conns.write_address.next = bit_cast::<24, 16>(self.tables.index.val());
        self.conns.write_data.next.open = self.tables.words.val().get_bit(0);
        self.conns.write_data.next.paths_log2 = self.tables.words.val().get_bits::<2>(4);
        self.conns.write_data.next.mtu_log2 = self.tables.words.val().get_bits::<4>(8);
        self.qps.read_address.next = bit_cast::<24, 16>(self.read_qp.val());
        self.qps.write_address.next = bit_cast::<24, 16>(self.h.q.val().dest_qp.get_bits::<16>(0));
        self.qps.write_data.next = self.qp_row.q.val();
        self.qps.write_data.next.failed = true;
        if self.state.q.val() == RxState::Config {
            self.qps.write_address.next = bit_cast::<24, 16>(self.tables.index.val());
            self.qps.write_data.next.open = self.tables.words.val().get_bit(0);
            self.qps.write_data.next.conn = self.tables.words.val().get_bits::<16>(16);
            self.qps.write_data.next.peer_qpn = self.tables.words.val().get_bits::<24>(32);
            self.qps.write_data.next.pd = self.tables.words.val().get_bits::<16>(224);
            self.qps.write_data.next.failed = false;
        }
        self.paths.read_address.next = self.read_row.val();
        self.paths.write_address.next = self.row.q.val();
        self.paths.write_data.next = self.path.q.val();
        if self.state.q.val() == RxState::Config {
            comment!("a path opens with everything zero, and known to arrive by itself");
            self.paths.write_address.next = self.tables.path_row.val();
            self.paths.write_data.next = self.closed_path.val();
            self.paths.write_data.next.last_via = self.tables.path_number.val();
            self.timers.row.next = self.tables.path_row.val();
            self.timers.armed.next = false;
        }
        if self.state.q.val() == RxState::Walk {
            self.conns.write_address.next = self.walk.q.val();
            self.conns.write_data.next.open = false;
            self.qps.write_address.next = self.walk.q.val();
            self.qps.write_data.next.open = false;
            self.qps.write_data.next.failed = false;
            self.paths.write_address.next = self.walk.q.val();
            self.paths.write_data.next = self.closed_path.val();
        }
        if self.reset.val() {
            self.state.d.next = RxState::Walk;
            self.walk.d.next = 0.into();
            self.place_full.d.next = false;
            self.ack_full.d.next = false;
            self.desc_full.d.next = false;
            self.rxerr_full.d.next = false;
            self.commit_valid.d.next = false;
        }
    }
}
