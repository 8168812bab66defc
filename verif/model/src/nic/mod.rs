//! The NIC: connections, queue pairs, memory regions and the steps on them.
//! In: set-up calls (here) and steps (in the modules below). Guarantees that all memory is allocated when things are opened.

pub mod ack_step;
mod connection;
pub mod desc;
pub mod driver;
mod encode;
mod epoch_step;
pub mod grant_step;
mod qp;
pub mod retire_step;
pub mod rx_step;
mod schedule;
pub mod timer_step;
mod views;
pub mod wqe_step;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::marker::PhantomData;

use mrnic_wire::{NetAddr, Profile};

use crate::config::{ConnConfig, KeyConfig, NicConfig, QpConfig};
use crate::congestion::{Aimd, CongestionControl};
use crate::error::{ConfigError, StepError};
use crate::event::{Counters, Event};
use crate::keys::KeyTable;
use crate::rx::hint::RateHint;
use crate::seq::Tick;
use crate::tx::messages::Fail;
use crate::tx::pool::{Pool, Record};
use crate::wqe::Status;
use ack_step::AckFrame;
use connection::Connection;
use driver::Driver;
use qp::Qp;

/// A NIC of wire profile `P` with congestion control `C`.
#[derive(Debug)]
pub struct Nic<P: Profile, C: CongestionControl = Aimd> {
    config: NicConfig,
    cc: C,
    conns: Vec<Option<Box<Connection<C::Path>>>>,
    qps: Vec<Option<Box<Qp>>>,
    keys: KeyTable,
    pool: Pool,
    /// Step mode only: packets that were acknowledged and await their retirement.
    retiring: BTreeMap<(u16, u8, u32), Record>,
    /// Step mode only: acknowledgments that await their step.
    acks_in: VecDeque<AckFrame>,
    hint: RateHint,
    incarnations: u32,
    counters: Counters,
    events: VecDeque<Event>,
    driver: Driver,
    profile: PhantomData<P>,
}

/// Events kept at most; older ones are dropped.
const EVENTS_MAX: usize = 1 << 16;

impl<P: Profile, C: CongestionControl + Default> Nic<P, C> {
    /// A NIC with the default parameters of its congestion control.
    pub fn new(config: NicConfig) -> Result<Self, ConfigError> {
        Nic::with_congestion(config, C::default())
    }
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// A NIC without connections, queue pairs and memory regions.
    pub fn with_congestion(config: NicConfig, cc: C) -> Result<Self, ConfigError> {
        config.check()?;
        let mut conns = Vec::new();
        conns.resize_with(config.conns as usize, || None);
        let mut qps = Vec::new();
        qps.resize_with(config.qps as usize, || None);
        Ok(Nic {
            cc,
            conns,
            qps,
            keys: KeyTable::new(config.keys as usize),
            pool: Pool::new(config.pool_packets as usize),
            retiring: BTreeMap::new(),
            acks_in: VecDeque::new(),
            hint: RateHint::new(config.epoch_cap_bytes),
            incarnations: 0,
            counters: Counters::default(),
            events: VecDeque::new(),
            driver: Driver::new(&config),
            profile: PhantomData,
            config,
        })
    }

    pub fn config(&self) -> &NicConfig {
        &self.config
    }

    /// Opens connection `conn` at `now`. One that is open is closed first: every field starts anew.
    pub fn open_connection(&mut self, now: Tick, conn: u16, config: &ConnConfig<NetAddr>) -> Result<(), ConfigError> {
        let count = self.conns.len() as u64;
        if u64::from(conn) >= count {
            return Err(ConfigError::NoSuch { what: "connection", index: conn.into(), count });
        }
        config.check(&self.config)?;
        let window = config.init_window_pkts;
        if u32::from(window) > P::VECTOR_BITS {
            let max = P::VECTOR_BITS.into();
            return Err(ConfigError::Range { what: "init_window_pkts", value: window.into(), min: 1, max });
        }
        self.close_connection(conn);
        self.conns[conn as usize] = Some(Box::new(Connection::open(config, &self.config, now)));
        self.driver.watch(now);
        Ok(())
    }

    /// Closes connection `conn` and its queue pairs. Their work requests get no completions (section 10).
    pub fn close_connection(&mut self, conn: u16) {
        let Some(mut old) = self.conns.get_mut(conn as usize).and_then(Option::take) else { return };
        for chunks in &mut old.chunks {
            self.pool.release(chunks);
        }
        self.retiring.retain(|key, _| key.0 != conn);
        self.acks_in.retain(|ack| ack.conn != conn);
        self.driver.forget(conn);
        self.driver.wake_pool_waiters();
        for qp in &mut self.qps {
            if qp.as_ref().is_some_and(|qp| qp.conn == conn) {
                *qp = None;
            }
        }
    }

    /// Opens queue pair `qpn`. One that is open starts anew; packets of the old one that are outstanding go on as NOPs.
    pub fn open_qp(&mut self, qpn: u32, config: &QpConfig) -> Result<(), ConfigError> {
        let count = self.qps.len() as u64;
        if u64::from(qpn) >= count {
            return Err(ConfigError::NoSuch { what: "queue pair", index: qpn.into(), count });
        }
        crate::config::in_range("peer_qpn", config.peer_qpn.into(), 0, 0xFF_FFFF)?;
        crate::config::in_range("tx_start_msn", config.tx_start_msn.into(), 0, 0xFF_FFFF)?;
        crate::config::in_range("rx_start_msn", config.rx_start_msn.into(), 0, 0xFF_FFFF)?;
        crate::config::in_range("cq_log2", config.cq_log2.into(), 0, 15)?;
        if self.connection(config.conn).is_err() {
            return Err(ConfigError::ConnectionClosed { conn: config.conn });
        }
        self.incarnations = self.incarnations.wrapping_add(1);
        let mut qp = Qp::open(qpn, config, self.incarnations, self.config.msgs_per_stream as usize);
        if self.connection(config.conn).is_ok_and(|c| c.tx.error) {
            // W4: nothing of it would ever be sent.
            qp.send.fail(Fail::FirstNotDone, Status::RetryExcErr, 0);
        }
        self.qps[qpn as usize] = Some(Box::new(qp));
        Ok(())
    }

    /// Closes queue pair `qpn`. Its work requests get no completions; its outstanding packets go on as NOPs.
    pub fn close_qp(&mut self, qpn: u32) {
        if let Some(old) = self.qps.get_mut(qpn as usize).and_then(Option::take) {
            // S2: its messages are skipped, also while the windows of the connection are full
            self.driver.wake(old.conn);
        }
    }

    /// Sets memory region `index`; `valid: false` removes it.
    pub fn register_key(&mut self, index: u32, key: &KeyConfig) -> Result<(), ConfigError> {
        let count = self.keys.len() as u64;
        if u64::from(index) >= count {
            return Err(ConfigError::NoSuch { what: "key", index: index.into(), count });
        }
        if key.base.checked_add(key.length).is_none() {
            return Err(ConfigError::KeyWraps { index, base: key.base, length: key.length });
        }
        self.keys.set(index as usize, *key);
        Ok(())
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The oldest event not yet taken.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Switches events on or off.
    pub fn set_events(&mut self, on: bool) {
        self.config.events = on;
    }

    fn emit(&mut self, event: Event) {
        if !self.config.events {
            return;
        }
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn connection(&self, conn: u16) -> Result<&Connection<C::Path>, StepError> {
        self.conns.get(conn as usize).and_then(Option::as_deref).ok_or(StepError::NoSuchConnection { conn })
    }

    fn connection_mut(&mut self, conn: u16) -> Result<&mut Connection<C::Path>, StepError> {
        self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut).ok_or(StepError::NoSuchConnection { conn })
    }

    fn qp(&self, qpn: u32) -> Result<&Qp, StepError> {
        self.qps.get(qpn as usize).and_then(Option::as_deref).ok_or(StepError::NoSuchQp { qpn })
    }

    fn qp_mut(&mut self, qpn: u32) -> Result<&mut Qp, StepError> {
        self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut).ok_or(StepError::NoSuchQp { qpn })
    }
}
