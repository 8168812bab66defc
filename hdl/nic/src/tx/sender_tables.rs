//! sender_tables: all tables of the sender but the words: what connections and paths are.
//!
//! In: a connection and a path; one write port for each table. Out: one clock later all rows of that connection (all eight `PathTx`) and the
//! `PathAck` and `PathCfg` rows of the path. Guarantees: cleared after reset (`init_done`); a read sees the writes of its own clock and of earlier ones
//! (of `ConnCfg` and `PathCfg` those of earlier clocks only). The memories of the paths lie far apart on a chip: a row of `PathTx` and of `PathAck` goes
//! to them from a register, one clock later, so `put_path_tx`, and `put_path_ack`, may come in every second clock at most. Until the memory has a row, it
//! is read from that register.
use super::filled::filled;
use super::rows::{ConnAck, ConnCfg, ConnTx, PathAck, PathCfg, PathTx};
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct SenderTables {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub conn: Signal<In, Bits<16>>,
    pub path: Signal<In, Bits<3>>,
    /// Which of the paths read shows on `here`.
    pub select: Signal<In, Bits<3>>,
    pub path_tx: [Signal<Out, PathTx>; 8],
    pub here: Signal<Out, PathTx>,
    /// And which on `there`: late, so that nothing of `here` waits for it.
    pub other: Signal<In, Bits<3>>,
    pub there: Signal<Out, PathTx>,
    pub path_ack: Signal<Out, PathAck>,
    pub conn_cfg: Signal<Out, ConnCfg>,
    pub conn_tx: Signal<Out, ConnTx>,
    pub conn_ack: Signal<Out, ConnAck>,
    pub path_cfg: Signal<Out, PathCfg>,
    pub write_conn: Signal<In, Bits<16>>,
    /// `conn` is `write_conn`; the caller knows it earlier than `conn`.
    pub same_conn: Signal<In, Bit>,
    /// `conn` is the `write_conn` of the clock before; looked at in the clock after `put_path_tx`.
    pub same_conn_before: Signal<In, Bit>,
    /// `path` is the `write_path` of the clock before; looked at in the clock after `put_path_ack`.
    pub same_path_before: Signal<In, Bit>,
    /// `path` is `write_path`; looked at with `put_path_ack` only.
    pub same_path: Signal<In, Bit>,
    pub write_path: Signal<In, Bits<3>>,
    pub put_path_tx: Signal<In, Bit>,
    pub new_path_tx: Signal<In, PathTx>,
    pub put_path_ack: Signal<In, Bit>,
    pub new_path_ack: Signal<In, PathAck>,
    pub put_conn_cfg: Signal<In, Bit>,
    pub new_conn_cfg: Signal<In, ConnCfg>,
    pub put_conn_tx: Signal<In, Bit>,
    pub new_conn_tx: Signal<In, ConnTx>,
    pub put_conn_ack: Signal<In, Bit>,
    pub new_conn_ack: Signal<In, ConnAck>,
    /// Has its own address: conn*8 + path.
    pub put_path_cfg: Signal<In, Bit>,
    pub path_cfg_row: Signal<In, Bits<16>>,
    pub new_path_cfg: Signal<In, PathCfg>,
    pub init_done: Signal<Out, Bit>,
    /// The walk after reset, for the words: as many addresses as a lane has.
    pub clear: Signal<Out, Bit>,
    pub clear_address: Signal<Out, Bits<24>>,
    tx_ram: [Ram<PathTx>; 8],
    ack_ram: Ram<PathAck>,
    cfg_ram: Ram<ConnCfg>,
    conn_tx_ram: Ram<ConnTx>,
    conn_ack_ram: Ram<ConnAck>,
    path_cfg_ram: Ram<PathCfg>,
    // rows of a path on their way to their memories
    written_tx: DFF<Bits<8>>,
    written_conn: DFF<Bits<16>>,
    written_ack: DFF<Bit>,
    written_row: DFF<Bits<24>>,
    // rows that were read before the memories had them
    passed_tx: DFF<Bits<8>>,
    passed_ack: DFF<Bit>,
    passed_conn_tx: DFF<Bit>,
    passed_conn_ack: DFF<Bit>,
    last_path_tx: DFF<PathTx>,
    last_path_ack: DFF<PathAck>,
    last_conn_tx: DFF<ConnTx>,
    last_conn_ack: DFF<ConnAck>,
    putting: Signal<Local, Bits<8>>,
    passing: Signal<Local, Bits<8>>,
    path_row: Signal<Local, PathTx>,
    walk: DFF<Bits<24>>,
    walking: DFF<Bit>,
    started: DFF<Bit>,
    cleared: DFF<Bit>,
    row: Signal<Local, Bits<24>>,
    write_row: Signal<Local, Bits<24>>,
    write_at: Signal<Local, Bits<24>>,
    clear_row: Signal<Local, Bit>,
    clear_conn: Signal<Local, Bit>,
    walk_end: Constant<Bits<24>>,
    rows: Constant<Bits<24>>,
    conns: Constant<Bits<24>>,
    /// Bit p: the build has path p.
    paths: Constant<Bits<8>>,
    no_path_tx: Constant<PathTx>,
    no_path_ack: Constant<PathAck>,
    no_conn_cfg: Constant<ConnCfg>,
    no_conn_tx: Constant<ConnTx>,
    no_conn_ack: Constant<ConnAck>,
    no_path_cfg: Constant<PathCfg>,
}

impl SenderTables {
    pub fn new(config: &BuildConfig) -> Self {
        let rows = config.path_rows();
        filled!(SenderTables {
            path_tx: array_init::array_init(|_| Default::default()),
            // a path that the build does not have is DISABLED, and nothing keeps or chooses its row
            tx_ram: array_init::array_init(|p| Ram::new(if p < config.paths { config.conns } else { 0 })),
            paths: Constant::new(((1u64 << config.paths) - 1).to_bits()),
            ack_ram: Ram::new(rows),
            cfg_ram: Ram::new(config.conns),
            conn_tx_ram: Ram::new(config.conns),
            conn_ack_ram: Ram::new(config.conns),
            path_cfg_ram: Ram::new(rows),
            walk_end: Constant::new(((rows * config.window_words().div_ceil(2)) as u64 - 1).to_bits()),
            rows: Constant::new((rows as u64).to_bits()),
            conns: Constant::new((config.conns as u64).to_bits()),
            no_path_tx: Constant::new(PathTx::default()),
            no_path_ack: Constant::new(PathAck::default()),
            no_conn_cfg: Constant::new(ConnCfg::default()),
            no_conn_tx: Constant::new(ConnTx::default()),
            no_conn_ack: Constant::new(ConnAck::default()),
            no_path_cfg: Constant::new(PathCfg::default());
            clock, reset, conn, path, select, here, other, there, path_ack, conn_cfg, conn_tx, conn_ack, path_cfg, write_conn, same_conn, same_conn_before, same_path, same_path_before, write_path,
            put_path_tx, new_path_tx, put_path_ack, new_path_ack, put_conn_cfg, new_conn_cfg, put_conn_tx, new_conn_tx,
            put_conn_ack, new_conn_ack, put_path_cfg, path_cfg_row, new_path_cfg, init_done, clear, clear_address,
            written_tx, written_conn, written_ack, written_row, passed_tx, passed_ack, passed_conn_tx, passed_conn_ack, last_path_tx, last_path_ack, last_conn_tx, last_conn_ack,
            putting, passing, path_row, walk, walking, started, cleared, row, write_row, write_at, clear_row, clear_conn,
        })
    }
}

impl Logic for SenderTables {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module sender_tables: rows of connections and paths");
        dff_setup!(
            self,
            clock,
            written_tx,
            written_conn,
            written_ack,
            written_row,
            passed_tx,
            passed_ack,
            passed_conn_tx,
            passed_conn_ack,
            last_path_tx,
            last_path_ack,
            last_conn_tx,
            last_conn_ack,
            walk,
            walking,
            started,
            cleared
        );
        clock!(self, clock, ack_ram, cfg_ram, conn_tx_ram, conn_ack_ram, path_cfg_ram);
        // the walk starts when reset ends (or at power-up)
        self.started.d.next = true;
        if !self.started.q.val() {
            self.walking.d.next = true;
            self.walk.d.next = 0.into();
        }
        if self.walking.q.val() {
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val() == self.walk_end.val() {
                self.walking.d.next = false;
            }
        }
        self.clear.next = self.walking.q.val();
        self.clear_address.next = self.walk.q.val();
        self.clear_row.next = self.walking.q.val() & (self.walk.q.val() < self.rows.val());
        self.clear_conn.next = self.walking.q.val() & (self.walk.q.val() < self.conns.val());
        // a clock after the walk: its last row is in the memory
        self.cleared.d.next = self.started.q.val() & !self.walking.q.val();
        self.init_done.next = self.cleared.q.val();
        self.row.next = (bit_cast::<24, 16>(self.conn.val()) << 3) | bit_cast::<24, 3>(self.path.val());
        self.write_row.next = (bit_cast::<24, 16>(self.write_conn.val()) << 3) | bit_cast::<24, 3>(self.write_path.val());
        self.write_at.next = bit_cast::<24, 16>(self.write_conn.val());
        if self.walking.q.val() {
            self.write_row.next = self.walk.q.val();
            self.write_at.next = self.walk.q.val();
        }
        comment!("a row that is written while it is read, or was in the clock before, goes past its memory");
        self.putting.next = 0.into();
        for p in 0..8 {
            self.putting.next =
                self.putting.val().replace_bit(p, self.put_path_tx.val() & (self.write_path.val() == p.to_bits::<3>()));
        }
        self.written_tx.d.next = self.putting.val() & self.paths.val();
        self.written_conn.d.next = self.write_conn.val();
        self.passing.next = 0.into();
        if self.same_conn.val() {
            self.passing.next = self.putting.val();
        }
        if self.same_conn_before.val() {
            self.passing.next = self.passing.val() | self.written_tx.q.val();
        }
        self.passed_tx.d.next = self.passing.val() & self.paths.val();
        self.written_ack.d.next = self.put_path_ack.val();
        self.written_row.d.next = self.write_row.val();
        self.passed_ack.d.next = (self.same_conn.val() & self.same_path.val() & self.put_path_ack.val())
            | (self.same_conn_before.val() & self.same_path_before.val() & self.written_ack.q.val());
        self.passed_conn_tx.d.next = self.same_conn.val() & self.put_conn_tx.val();
        self.passed_conn_ack.d.next = self.same_conn.val() & self.put_conn_ack.val();
        if self.put_path_tx.val() {
            self.last_path_tx.d.next = self.new_path_tx.val();
        }
        if self.walking.q.val() {
            self.written_ack.d.next = self.clear_row.val();
            self.last_path_ack.d.next = self.no_path_ack.val();
            self.written_tx.d.next = 0.into();
            if self.clear_conn.val() {
                self.written_tx.d.next = self.paths.val();
            }
            self.written_conn.d.next = self.walk.q.val().get_bits::<16>(0);
            self.last_path_tx.d.next = self.no_path_tx.val();
        }
        if self.put_path_ack.val() {
            self.last_path_ack.d.next = self.new_path_ack.val();
        }
        self.last_conn_tx.d.next = self.new_conn_tx.val();
        self.last_conn_ack.d.next = self.new_conn_ack.val();
        comment!("the memories");
        self.here.next = self.tx_ram[0].read_data.val();
        self.there.next = self.tx_ram[0].read_data.val();
        for p in 0..8 {
            self.tx_ram[p].clock.next = self.clock.val();
            self.tx_ram[p].read_address.next = bit_cast::<24, 16>(self.conn.val());
            self.tx_ram[p].write_address.next = bit_cast::<24, 16>(self.written_conn.q.val());
            self.tx_ram[p].write_enable.next = self.written_tx.q.val().get_bit(p);
            self.tx_ram[p].write_data.next = self.last_path_tx.q.val();
            self.path_row.next = self.tx_ram[p].read_data.val();
            if self.passed_tx.q.val().get_bit(p) & self.paths.val().get_bit(p) {
                self.path_row.next = self.last_path_tx.q.val();
            }
            self.path_tx[p].next = self.path_row.val();
            if self.select.val() == p.to_bits::<3>() {
                self.here.next = self.path_row.val();
            }
            if self.other.val() == p.to_bits::<3>() {
                self.there.next = self.path_row.val();
            }
        }
        self.ack_ram.read_address.next = self.row.val();
        self.path_ack.next = self.ack_ram.read_data.val();
        if self.passed_ack.q.val() {
            self.path_ack.next = self.last_path_ack.q.val();
        }
        self.ack_ram.write_enable.next = self.written_ack.q.val();
        self.ack_ram.write_address.next = self.written_row.q.val();
        self.ack_ram.write_data.next = self.last_path_ack.q.val();
        self.cfg_ram.read_address.next = bit_cast::<24, 16>(self.conn.val());
        self.conn_cfg.next = self.cfg_ram.read_data.val();
        self.cfg_ram.write_enable.next = self.clear_conn.val() | self.put_conn_cfg.val();
        self.cfg_ram.write_address.next = self.write_at.val();
        self.cfg_ram.write_data.next = self.new_conn_cfg.val();
        self.conn_tx_ram.read_address.next = bit_cast::<24, 16>(self.conn.val());
        self.conn_tx.next = self.conn_tx_ram.read_data.val();
        if self.passed_conn_tx.q.val() {
            self.conn_tx.next = self.last_conn_tx.q.val();
        }
        self.conn_tx_ram.write_enable.next = self.clear_conn.val() | self.put_conn_tx.val();
        self.conn_tx_ram.write_address.next = self.write_at.val();
        self.conn_tx_ram.write_data.next = self.new_conn_tx.val();
        self.conn_ack_ram.read_address.next = bit_cast::<24, 16>(self.conn.val());
        self.conn_ack.next = self.conn_ack_ram.read_data.val();
        if self.passed_conn_ack.q.val() {
            self.conn_ack.next = self.last_conn_ack.q.val();
        }
        self.conn_ack_ram.write_enable.next = self.clear_conn.val() | self.put_conn_ack.val();
        self.conn_ack_ram.write_address.next = self.write_at.val();
        self.conn_ack_ram.write_data.next = self.new_conn_ack.val();
        self.path_cfg_ram.read_address.next = self.row.val();
        self.path_cfg.next = self.path_cfg_ram.read_data.val();
        self.path_cfg_ram.write_enable.next = self.clear_row.val() | self.put_path_cfg.val();
        self.path_cfg_ram.write_address.next = bit_cast::<24, 16>(self.path_cfg_row.val());
        self.path_cfg_ram.write_data.next = self.new_path_cfg.val();
        if self.walking.q.val() {
            self.cfg_ram.write_data.next = self.no_conn_cfg.val();
            self.conn_tx_ram.write_data.next = self.no_conn_tx.val();
            self.conn_ack_ram.write_data.next = self.no_conn_ack.val();
            self.path_cfg_ram.write_address.next = self.walk.q.val();
            self.path_cfg_ram.write_data.next = self.no_path_cfg.val();
        }
        if self.reset.val() {
            self.started.d.next = false;
            self.cleared.d.next = false;
            self.walking.d.next = false;
            self.written_tx.d.next = 0.into();
            self.written_ack.d.next = false;
            self.passed_tx.d.next = 0.into();
            self.passed_ack.d.next = false;
            self.passed_conn_tx.d.next = false;
            self.passed_conn_ack.d.next = false;
        }
    }
}
