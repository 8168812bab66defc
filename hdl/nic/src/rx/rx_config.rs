//! rx_config: applies table writes (CONN, PATH, QP, KEY, ACCESS) to the receive side, as one step of rx_core.
//! In: the csr broadcast, `go` when rx_core stands still, `others_busy`. Out: write strobes for the tables, `active` until the last one is
//! done, `taken` in its last clock. Guarantees: an index out of range writes nothing; writing CONN clears all eight path rows to their start
//! PPSNs, opening or closing; a row QP or CONN is taken when no other block is busy with it any more.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_regs::table;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum ConfigState {
    Walk,
    Idle,
    Apply,
    PathRead,
    PathWrite,
    Settle,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RxConfig {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// Other blocks have not applied the write yet; a row QP or CONN waits for them.
    pub others_busy: Signal<In, Bit>,
    /// A write waits for `go`.
    pub pending: Signal<Out, Bit>,
    pub go: Signal<In, Bit>,
    pub active: Signal<Out, Bit>,
    /// One clock: the write is applied; of which table, at `index`.
    pub taken: Signal<Out, Bit>,
    pub taken_table: Signal<Out, Bits<8>>,
    /// The message tracker is still clearing.
    pub clearing: Signal<In, Bit>,
    pub index: Signal<Out, Bits<16>>,
    /// Words 0 to 7 and 9 of the write.
    pub words: Signal<Out, Bits<256>>,
    pub start_msn: Signal<Out, Bits<24>>,
    pub conn_write: Signal<Out, Bit>,
    pub qp_write: Signal<Out, Bit>,
    pub access_write: Signal<Out, Bit>,
    pub key_write: Signal<Out, Bit>,
    pub path_write: Signal<Out, Bit>,
    pub path_row: Signal<Out, Bits<24>>,
    pub path_number: Signal<Out, Bits<3>>,
    pub path_start: Signal<Out, Bits<24>>,
    pub init_done: Signal<Out, Bit>,
    starts: Ram<Bits<24>>,
    state: DFF<ConfigState>,
    walk: DFF<Bits<24>>,
    waiting: DFF<Bit>,
    /// It may be applied; a register, so that no step of the receiver waits for what the other blocks do.
    due: DFF<Bit>,
    table: DFF<Bits<8>>,
    at: DFF<Bits<16>>,
    data: DFF<Bits<256>>,
    msn: DFF<Bits<24>>,
    path: DFF<Bits<3>>,
    mine: Signal<Local, Bit>,
    within: Signal<Local, Bit>,
    row: Signal<Local, Bits<24>>,
    /// The tables of the receive side, and their rows.
    tables: [Constant<Bits<8>>; 5],
    limit: [Constant<Bits<24>>; 5],
    last_row: Constant<Bits<24>>,
}

impl RxConfig {
    pub fn new(config: &BuildConfig) -> Self {
        let tables = [table::conn::NUMBER, table::path::NUMBER, table::qp::NUMBER, table::key::NUMBER, table::access::NUMBER];
        let limits = [config.conns, config.path_rows(), config.qps, config.keys, config.qps];
        filled!(RxConfig {
            starts: Ram::new(config.path_rows()),
            tables: array_init::array_init(|k| Constant::new(u64::from(tables[k]).to_bits())),
            limit: array_init::array_init(|k| Constant::new((limits[k] as u64).to_bits())),
            last_row: Constant::new((config.path_rows() as u64 - 1).to_bits());
            clock, reset, cfg_valid, cfg_table, cfg_index, cfg_data, cfg_busy, others_busy, pending, go, active, taken, taken_table, clearing, index, words,
            start_msn, conn_write, qp_write, access_write, key_write, path_write, path_row, path_number, path_start, init_done, state,
            walk, waiting, due, table, at, data, msn, path, mine, within, row,
        })
    }
}

impl Logic for RxConfig {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rx_config: table writes of the receive side");
        dff_setup!(self, clock, state, walk, waiting, due, table, at, data, msn, path);
        clock!(self, clock, starts);
        self.mine.next = false;
        self.within.next = false;
        for k in 0..5 {
            if self.cfg_table.val() == self.tables[k].val() {
                self.mine.next = self.cfg_valid.val();
            }
            if (self.table.q.val() == self.tables[k].val()) & (bit_cast::<24, 16>(self.at.q.val()) < self.limit[k].val()) {
                self.within.next = true;
            }
        }
        if self.mine.val() {
            self.waiting.d.next = true;
            self.table.d.next = self.cfg_table.val();
            self.at.d.next = self.cfg_index.val();
            self.data.d.next = self.cfg_data.val().get_bits::<256>(0);
            self.msn.d.next = self.cfg_data.val().get_bits::<24>(288);
        }
        self.cfg_busy.next = self.waiting.q.val();
        comment!(
            "section 10: the receiver closes a queue pair last, when no slot takes it for open any longer; a connection, too"
        );
        self.pending.next = self.due.q.val() & (self.state.q.val() == ConfigState::Idle);
        self.due.d.next = self.waiting.q.val()
            & (self.state.q.val() == ConfigState::Idle)
            & !(((self.table.q.val() == 1) | (self.table.q.val() == 3)) & self.others_busy.val());
        self.taken.next = (self.state.q.val() == ConfigState::Settle) & !self.clearing.val();
        self.taken_table.next = self.table.q.val();
        self.active.next = (self.state.q.val() != ConfigState::Idle) & (self.state.q.val() != ConfigState::Walk);
        self.index.next = self.at.q.val();
        self.words.next = self.data.q.val();
        self.start_msn.next = self.msn.q.val();
        self.conn_write.next = false;
        self.qp_write.next = false;
        self.access_write.next = false;
        self.key_write.next = false;
        self.path_write.next = false;
        self.row.next = (bit_cast::<24, 16>(self.at.q.val()) << 3) | bit_cast::<24, 3>(self.path.q.val());
        self.path_row.next = self.row.val();
        self.path_number.next = self.path.q.val();
        self.path_start.next = self.starts.read_data.val();
        self.starts.read_address.next = self.row.val();
        self.starts.write_enable.next = false;
        self.starts.write_address.next = bit_cast::<24, 16>(self.at.q.val());
        self.starts.write_data.next = self.data.q.val().get_bits::<24>(64);
        self.init_done.next = self.state.q.val() != ConfigState::Walk;
        match self.state.q.val() {
            ConfigState::Walk => {
                self.starts.write_enable.next = true;
                self.starts.write_address.next = self.walk.q.val();
                self.starts.write_data.next = 0.into();
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val() == self.last_row.val() {
                    self.state.d.next = ConfigState::Idle;
                }
            }
            ConfigState::Idle => {
                self.path.d.next = 0.into();
                if self.go.val() & self.pending.val() {
                    self.state.d.next = ConfigState::Apply;
                }
            }
            ConfigState::Apply => {
                self.state.d.next = ConfigState::Settle;
                if self.within.val() {
                    if self.table.q.val() == 1 {
                        self.conn_write.next = true;
                        self.state.d.next = ConfigState::PathRead;
                    } else if self.table.q.val() == 2 {
                        self.starts.write_enable.next = true;
                    } else if self.table.q.val() == 3 {
                        self.qp_write.next = true;
                    } else if self.table.q.val() == 4 {
                        self.key_write.next = true;
                    } else {
                        self.access_write.next = true;
                    }
                }
            }
            ConfigState::PathRead => {
                self.state.d.next = ConfigState::PathWrite;
            }
            ConfigState::PathWrite => {
                self.path_write.next = true;
                self.path.d.next = self.path.q.val() + 1;
                self.state.d.next = ConfigState::PathRead;
                if self.path.q.val() == 7 {
                    self.state.d.next = ConfigState::Settle;
                }
            }
            ConfigState::Settle => {
                if !self.clearing.val() {
                    self.waiting.d.next = false;
                    self.state.d.next = ConfigState::Idle;
                }
            }
            _ => {}
        }
        if self.reset.val() {
            self.state.d.next = ConfigState::Walk;
            self.walk.d.next = 0.into();
            self.waiting.d.next = false;
            self.due.d.next = false;
        }
    }
}
