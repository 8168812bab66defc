//! The NIC: connections, queue pairs, memory regions and the steps on them.
//! In: set-up calls (here) and steps (in the modules below). Guarantees that all memory is allocated when things are opened.

pub mod ack_step;
mod connection;
pub mod desc;
mod describe;
pub mod driver;
mod encode;
mod epoch_step;
pub mod execute_step;
pub mod grant_step;
mod path_stats;
mod qp;
mod qp_control;
pub mod recv_post;
mod response_step;
pub mod retire_step;
pub mod rnr_step;
mod rx_request;
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

use crate::config::{ConnConfig, KeyConfig, NicConfig};
use crate::congestion::{Aimd, CongestionControl};
use crate::error::{ConfigError, StepError};
use crate::event::{AsyncEvent, Counters, Event, PathChange};
use crate::keys::KeyTable;
use crate::rx::hint::RateHint;
use crate::rx::recv_queue::Srq;
use crate::seq::Tick;
use crate::sge::SgeTable;
use crate::tx::pool::{Pool, Record};
use ack_step::AckFrame;
use connection::Connection;
use driver::Driver;
use qp::Qp;

/// A NIC of wire profile `P` with congestion control `C`.
#[derive(Debug)]
pub struct Nic<P: Profile, C: CongestionControl = Aimd> {
    config: NicConfig,
    /// W.
    window_pkts: u32,
    cc: C,
    conns: Vec<Option<Box<Connection<C::Path>>>>,
    /// Addresses of each connection, of a closed one the last it had: what it still has under way goes out with them (section 10).
    addresses: Vec<Option<NetAddr>>,
    qps: Vec<Option<Box<Qp>>>,
    keys: KeyTable,
    srqs: Vec<Option<Srq>>,
    sges: SgeTable,
    pool: Pool,
    /// Step mode only: packets that were acknowledged and await their retirement.
    retiring: BTreeMap<(u16, u8, u32), Record>,
    /// Step mode only: acknowledgments that await their step.
    acks_in: VecDeque<AckFrame>,
    hint: RateHint,
    incarnations: u32,
    counters: Counters,
    events: VecDeque<Event>,
    async_events: VecDeque<AsyncEvent>,
    path_changes: VecDeque<PathChange>,
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
        let mut srqs = Vec::new();
        srqs.resize_with(config.srqs as usize, || None);
        Ok(Nic {
            cc,
            addresses: alloc::vec![None; conns.len()],
            conns,
            qps,
            keys: KeyTable::new(config.keys as usize),
            srqs,
            sges: SgeTable::default(),
            pool: Pool::new(config.pool_packets as usize),
            retiring: BTreeMap::new(),
            acks_in: VecDeque::new(),
            hint: RateHint::new(config.epoch_cap_bytes),
            incarnations: 0,
            counters: Counters::default(),
            events: VecDeque::new(),
            async_events: VecDeque::new(),
            path_changes: VecDeque::with_capacity(64),
            driver: Driver::new(&config),
            profile: PhantomData,
            window_pkts: P::VECTOR_BITS.min(config.window_pkts.into()),
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
        if u32::from(window) > self.window_pkts {
            let max = self.window_pkts.into();
            return Err(ConfigError::Range { what: "init_window_pkts", value: window.into(), min: 1, max });
        }
        self.close_connection(conn);
        self.addresses[conn as usize] = Some(config.addr);
        self.conns[conn as usize] = Some(Box::new(Connection::open(config, &self.config, now)));
        self.driver.watch(now);
        Ok(())
    }

    /// Software closes connection `conn`: until [`Nic::close_connection`] its sender may be closed already (section 10).
    pub fn begin_closing_connection(&mut self, conn: u16) {
        if let Ok(connection) = self.connection_mut(conn) {
            connection.closing = true;
        }
    }

    /// Closes connection `conn` and its queue pairs. Their work requests get no completions (section 10).
    pub fn close_connection(&mut self, conn: u16) {
        let Some(mut old) = self.conns.get_mut(conn as usize).and_then(Option::take) else { return };
        for chunks in &mut old.chunks {
            self.pool.release(chunks);
        }
        self.retiring.retain(|key, _| key.0 != conn);
        self.driver.forget(conn);
        self.driver.wake_pool_waiters();
        for qpn in 0..self.qps.len() as u32 {
            if self.qp(qpn).is_ok_and(|qp| qp.is_of(conn)) {
                self.close_qp(qpn);
            }
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

    /// The oldest asynchronous event not yet taken. These are always recorded.
    pub fn poll_async_event(&mut self) -> Option<AsyncEvent> {
        self.async_events.pop_front()
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
