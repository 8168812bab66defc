//! open_step: what software wrote of a connection (tables 1 and 2), and the rows that the connection starts with (section 5, "Opening sets").
//!
//! In: cfg; while the sequencer opens the connection a path and its PATH row; `opened` at the end. Out: the new rows; `pending` until then, `busy`
//! until then and, if the connection was closed, until nothing of it waits (`emptied`).
//! Guarantees: a PATH row is stored in the clock in which it is written, a CONN row is kept until its connection is open.
use super::filled::filled;
use super::rows::{ConnAck, ConnCfg, ConnTx, PathAck, PathCfg, PathTx};
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct OpenStep {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_word0: Signal<In, Bits<32>>,
    pub cfg_word1: Signal<In, Bits<32>>,
    pub cfg_word2: Signal<In, Bits<32>>,
    /// A row of table 2, to be stored at `cfg_index`.
    pub put_path_cfg: Signal<Out, Bit>,
    pub new_path_cfg: Signal<Out, PathCfg>,
    /// A connection is to be opened.
    pub pending: Signal<Out, Bit>,
    pub conn: Signal<Out, Bits<16>>,
    pub opened: Signal<In, Bit>,
    /// Nothing waits any more of the connection that was closed.
    pub emptied: Signal<In, Bit>,
    /// The next CONN row has to wait.
    pub busy: Signal<Out, Bit>,
    /// The time of the step.
    pub now: Signal<In, Bits<32>>,
    pub path: Signal<In, Bits<3>>,
    pub path_cfg: Signal<In, PathCfg>,
    pub new_path: Signal<Out, PathTx>,
    pub new_row: Signal<Out, PathAck>,
    pub new_conn_cfg: Signal<Out, ConnCfg>,
    pub new_conn_tx: Signal<Out, ConnTx>,
    pub new_conn_ack: Signal<Out, ConnAck>,
    waits: DFF<Bit>,
    /// The connection closed last may have messages left.
    emptying: DFF<Bit>,
    index: DFF<Bits<16>>,
    word0: DFF<Bits<32>>,
    window: DFF<Bits<9>>,
    hint: DFF<Bits<24>>,
    no_path: Constant<PathTx>,
    no_row: Constant<PathAck>,
    no_conn_cfg: Constant<ConnCfg>,
    no_conn_tx: Constant<ConnTx>,
    no_conn_ack: Constant<ConnAck>,
    no_path_cfg: Constant<PathCfg>,
    /// W: the largest window.
    window_max: Constant<Bits<9>>,
}

impl OpenStep {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(OpenStep {
            no_path: Constant::new(PathTx::default()),
            no_row: Constant::new(PathAck::default()),
            no_conn_cfg: Constant::new(ConnCfg::default()),
            no_conn_tx: Constant::new(ConnTx::default()),
            no_conn_ack: Constant::new(ConnAck::default()),
            no_path_cfg: Constant::new(PathCfg::default()),
            window_max: Constant::new((config.window_bits as u64).to_bits());
            clock, reset, cfg_valid, cfg_table, cfg_index, cfg_word0, cfg_word1, cfg_word2, put_path_cfg, new_path_cfg,
            pending, conn, opened, emptied, busy, now, path, path_cfg, new_path, new_row, new_conn_cfg, new_conn_tx, new_conn_ack,
            waits, emptying, index, word0, window, hint,
        })
    }
}

impl Logic for OpenStep {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module open_step: what a connection starts with");
        dff_setup!(self, clock, waits, emptying, index, word0, window, hint);
        comment!("what software writes");
        self.put_path_cfg.next = self.cfg_valid.val() & (self.cfg_table.val() == 2);
        self.new_path_cfg.next = self.no_path_cfg.val();
        self.new_path_cfg.next.enable = self.cfg_word0.val().get_bit(0);
        self.new_path_cfg.next.port = self.cfg_word0.val().get_bits::<16>(16);
        self.new_path_cfg.next.start_ppsn = self.cfg_word1.val().get_bits::<24>(0);
        if self.emptied.val() {
            self.emptying.d.next = false;
        }
        if self.opened.val() {
            self.waits.d.next = false;
            // section 10: what still waits of a closed connection is dropped first
            self.emptying.d.next = !self.word0.q.val().get_bit(0);
        }
        if self.cfg_valid.val() & (self.cfg_table.val() == 1) {
            self.waits.d.next = true;
            self.index.d.next = self.cfg_index.val();
            self.word0.d.next = self.cfg_word0.val();
            self.window.d.next = self.cfg_word1.val().get_bits::<9>(0);
            self.hint.d.next = self.cfg_word2.val().get_bits::<24>(0);
        }
        self.pending.next = self.waits.q.val();
        self.busy.next = self.waits.q.val() | self.emptying.q.val();
        self.conn.next = self.index.q.val();
        comment!("a path");
        self.new_path.next = self.no_path.val();
        if self.word0.q.val().get_bit(0)
            & self.path_cfg.val().enable
            & !(self.path.val() >> self.word0.q.val().get_bits::<2>(4)).any()
        {
            self.new_path.next.state = 1.into();
        }
        self.new_path.next.port = self.path_cfg.val().port;
        self.new_path.next.next_ppsn = self.path_cfg.val().start_ppsn;
        self.new_path.next.cum = self.path_cfg.val().start_ppsn;
        // section 10: more than the largest window counts as that
        self.new_path.next.window = self.window.q.val();
        if self.window.q.val() > self.window_max.val() {
            self.new_path.next.window = self.window_max.val();
        }
        self.new_path.next.t_base = self.now.val();
        self.new_path.next.last_send = self.now.val().get_bits::<16>(0);
        self.new_row.next = self.no_row.val();
        self.new_row.next.mark = self.path_cfg.val().start_ppsn;
        self.new_row.next.last_cut = self.now.val();
        self.new_row.next.reo_base = self.now.val();
        comment!("the connection");
        self.new_conn_cfg.next = self.no_conn_cfg.val();
        self.new_conn_cfg.next.open = self.word0.q.val().get_bit(0);
        self.new_conn_cfg.next.paths_log2 = self.word0.q.val().get_bits::<2>(4);
        self.new_conn_cfg.next.mtu_log2 = self.word0.q.val().get_bits::<4>(8);
        self.new_conn_cfg.next.retry_cnt = self.word0.q.val().get_bits::<4>(12);
        self.new_conn_tx.next = self.no_conn_tx.val();
        self.new_conn_tx.next.token_time = self.now.val();
        self.new_conn_ack.next = self.no_conn_ack.val();
        self.new_conn_ack.next.hint = self.hint.q.val();
        if self.reset.val() {
            self.waits.d.next = false;
            self.emptying.d.next = false;
        }
    }
}
