//! rx_tables: rows of connections, QPs and paths of the receive side.
//! In: addresses to read; the path row and the error of a QP that a step writes; the strobes of rx_config. Out: the rows, one clock later.
//! Guarantees: after reset every connection and QP is closed and every path row is zero; a path opens known to arrive by itself. A connection
//! that was given up stays so until it is written again.
use super::rx_rows::{RxAccessRow, RxConnRow, RxPathRow, RxQpRow};
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_regs::table;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

// The literals in the update are these positions.
const _: () = {
    assert!(table::qp::REMOTE_WRITE.bit == 2 && table::qp::REMOTE_READ.bit == 3 && table::qp::REMOTE_ATOMIC.bit == 4);
    assert!(
        table::access::REMOTE_WRITE.bit == 2 && table::access::REMOTE_READ.bit == 3 && table::access::REMOTE_ATOMIC.bit == 4
    );
    assert!(table::qp::MIN_RNR_TIMER.bit == 240 && table::access::MIN_RNR_TIMER.bit == 240);
};

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RxTables {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub read_conn: Signal<In, Bits<16>>,
    pub read_qp: Signal<In, Bits<16>>,
    /// conn * 8 + path.
    pub read_row: Signal<In, Bits<24>>,
    pub conn: Signal<Out, RxConnRow>,
    pub qp: Signal<Out, RxQpRow>,
    /// Read as `qp`.
    pub access: Signal<Out, RxAccessRow>,
    pub path: Signal<Out, RxPathRow>,
    /// A step writes a path back.
    pub put: Signal<In, Bit>,
    pub put_row: Signal<In, Bits<24>>,
    pub put_path: Signal<In, RxPathRow>,
    /// R4: a QP goes to Error.
    pub fail: Signal<In, Bit>,
    pub fail_qp: Signal<In, Bits<16>>,
    /// Its row.
    pub fail_row: Signal<In, RxQpRow>,
    /// MAK.code.
    pub fail_code: Signal<In, Bits<3>>,
    /// With which code QP `asked_qp` has refused its peer, one clock later; 0: it has not.
    pub asked_qp: Signal<In, Bits<16>>,
    pub refusal: Signal<Out, Bits<3>>,
    /// D8, one clock, at most one in three: the sender gave the connection up.
    pub give_up: Signal<In, Bit>,
    pub give_up_conn: Signal<In, Bits<16>>,
    /// Read as `conn`.
    pub given_up: Signal<Out, Bit>,
    /// Table writes, never in the clock of a step's writes.
    pub open_conn: Signal<In, Bit>,
    pub open_qp: Signal<In, Bit>,
    pub open_path: Signal<In, Bit>,
    /// D2, Q2: what an open QP allows changes, or its RNR timer.
    pub set_access: Signal<In, Bit>,
    /// With `open_conn`, `open_qp`, `set_access`: index and words of the write.
    pub index: Signal<In, Bits<16>>,
    pub words: Signal<In, Bits<256>>,
    /// With `open_path`.
    pub path_row: Signal<In, Bits<24>>,
    pub path_number: Signal<In, Bits<3>>,
    pub init_done: Signal<Out, Bit>,
    conns: Ram<RxConnRow>,
    qps: Ram<RxQpRow>,
    /// Apart from `qps`, so that neither write has to read what the other wrote.
    accesses: Ram<RxAccessRow>,
    /// Written as `qps`.
    refusals: Ram<Bits<3>>,
    paths: Ram<RxPathRow>,
    /// One row if the build has no READs.
    lost: Ram<Bit>,
    /// A connection that is to be marked.
    losing: DFF<Bit>,
    losing_conn: DFF<Bits<16>>,
    lost_at: Signal<Local, Bits<24>>,
    reads: Constant<Bit>,
    walking: DFF<Bit>,
    walk: DFF<Bits<24>>,
    no_path: Constant<RxPathRow>,
    no_qp: Constant<RxQpRow>,
    no_access: Constant<RxAccessRow>,
    last_row: Constant<Bits<24>>,
}

impl RxTables {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(RxTables {
            conns: Ram::new(config.conns),
            qps: Ram::new(config.qps),
            accesses: Ram::new(config.qps),
            refusals: Ram::new(config.qps),
            paths: Ram::new(config.path_rows()),
            lost: Ram::new(if config.reads { config.conns } else { 1 }),
            reads: Constant::new(config.reads),
            no_path: Constant::new(RxPathRow::default()),
            no_qp: Constant::new(RxQpRow::default()),
            no_access: Constant::new(RxAccessRow::default()),
            last_row: Constant::new((config.path_rows().max(config.qps) as u64 - 1).to_bits());
            clock, reset, read_conn, read_qp, read_row, conn, qp, access, path, put, put_row, put_path, fail, fail_qp, fail_row,
            fail_code, asked_qp, refusal,
            open_conn, open_qp, open_path, set_access, index, words, path_row, path_number, init_done, walking, walk, give_up, give_up_conn, given_up,
            losing, losing_conn, lost_at,
        })
    }
}

impl Logic for RxTables {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rx_tables: rows of connections, QPs and paths of the receive side");
        dff_setup!(self, clock, walking, walk, losing, losing_conn);
        clock!(self, clock, conns, qps, accesses, refusals, paths, lost);
        self.init_done.next = !self.walking.q.val();
        self.conns.read_address.next = bit_cast::<24, 16>(self.read_conn.val());
        self.qps.read_address.next = bit_cast::<24, 16>(self.read_qp.val());
        self.accesses.read_address.next = bit_cast::<24, 16>(self.read_qp.val());
        self.paths.read_address.next = self.read_row.val();
        self.conn.next = self.conns.read_data.val();
        self.qp.next = self.qps.read_data.val();
        self.access.next = self.accesses.read_data.val();
        self.path.next = self.paths.read_data.val();

        self.conns.write_enable.next = self.open_conn.val();
        self.conns.write_address.next = bit_cast::<24, 16>(self.index.val());
        self.conns.write_data.next.open = self.words.val().get_bit(0);
        self.conns.write_data.next.paths_log2 = self.words.val().get_bits::<2>(4);
        self.conns.write_data.next.mtu_log2 = self.words.val().get_bits::<4>(8);

        self.qps.write_enable.next = self.open_qp.val() | self.fail.val();
        self.qps.write_address.next = bit_cast::<24, 16>(self.fail_qp.val());
        self.qps.write_data.next = self.fail_row.val();
        self.qps.write_data.next.failed = true;
        if self.open_qp.val() {
            self.qps.write_address.next = bit_cast::<24, 16>(self.index.val());
            self.qps.write_data.next.open = self.words.val().get_bit(0);
            self.qps.write_data.next.conn = self.words.val().get_bits::<16>(16);
            self.qps.write_data.next.peer_qpn = self.words.val().get_bits::<24>(32);
            self.qps.write_data.next.pd = self.words.val().get_bits::<16>(224);
            self.qps.write_data.next.failed = false;
        }

        comment!("R4: with which code a queue pair has refused its peer, until it is written again");
        self.refusals.read_address.next = bit_cast::<24, 16>(self.asked_qp.val());
        self.refusal.next = self.refusals.read_data.val();
        self.refusals.write_enable.next = self.open_qp.val() | self.fail.val();
        self.refusals.write_address.next = bit_cast::<24, 16>(self.fail_qp.val());
        self.refusals.write_data.next = self.fail_code.val();
        if self.open_qp.val() {
            self.refusals.write_address.next = bit_cast::<24, 16>(self.index.val());
            self.refusals.write_data.next = 0.into();
        }

        comment!("D2, Q2: the bits stand in the same places of both tables");
        self.accesses.write_enable.next = self.open_qp.val() | self.set_access.val();
        self.accesses.write_address.next = bit_cast::<24, 16>(self.index.val());
        self.accesses.write_data.next.remote_write = self.words.val().get_bit(2);
        self.accesses.write_data.next.remote_read = self.words.val().get_bit(3);
        self.accesses.write_data.next.remote_atomic = self.words.val().get_bit(4);
        self.accesses.write_data.next.rnr_timer = self.words.val().get_bits::<5>(240);

        self.paths.write_enable.next = self.open_path.val() | self.put.val();
        self.paths.write_address.next = self.put_row.val();
        self.paths.write_data.next = self.put_path.val();
        if self.open_path.val() {
            self.paths.write_address.next = self.path_row.val();
            self.paths.write_data.next = self.no_path.val();
            self.paths.write_data.next.last_via = self.path_number.val();
        }

        comment!("D8: the mark of a connection that was given up, until it is written again");
        self.lost.read_address.next = 0.into();
        self.lost_at.next = bit_cast::<24, 16>(self.losing_conn.q.val());
        self.lost.write_enable.next = self.losing.q.val();
        self.lost.write_data.next = true;
        self.losing.d.next = self.losing.q.val() & self.open_conn.val();
        if self.open_conn.val() {
            self.lost_at.next = bit_cast::<24, 16>(self.index.val());
            self.lost.write_enable.next = true;
            self.lost.write_data.next = false;
        }
        if self.give_up.val() {
            self.losing.d.next = true;
            self.losing_conn.d.next = self.give_up_conn.val();
        }
        if self.walking.q.val() {
            self.lost_at.next = self.walk.q.val();
            self.lost.write_enable.next = true;
            self.lost.write_data.next = false;
        }
        self.lost.write_address.next = 0.into();
        if self.reads.val() {
            self.lost.read_address.next = bit_cast::<24, 16>(self.read_conn.val());
            self.lost.write_address.next = self.lost_at.val();
        }
        self.given_up.next = self.reads.val() & self.lost.read_data.val();

        if self.walking.q.val() {
            self.conns.write_enable.next = true;
            self.conns.write_address.next = self.walk.q.val();
            self.conns.write_data.next.open = false;
            self.qps.write_enable.next = true;
            self.qps.write_address.next = self.walk.q.val();
            self.qps.write_data.next = self.no_qp.val();
            self.accesses.write_enable.next = true;
            self.accesses.write_address.next = self.walk.q.val();
            self.accesses.write_data.next = self.no_access.val();
            self.refusals.write_enable.next = true;
            self.refusals.write_address.next = self.walk.q.val();
            self.refusals.write_data.next = 0.into();
            self.paths.write_enable.next = true;
            self.paths.write_address.next = self.walk.q.val();
            self.paths.write_data.next = self.no_path.val();
            self.walk.d.next = self.walk.q.val() + 1;
            self.walking.d.next = self.walk.q.val() != self.last_row.val();
        }
        if self.reset.val() {
            self.losing.d.next = false;
            self.walking.d.next = true;
            self.walk.d.next = 0.into();
        }
    }
}
