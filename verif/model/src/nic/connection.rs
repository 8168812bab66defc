//! A connection: both directions of it, path by path.
//! In: its configuration. Out: the state that the steps work on. All of its memory is allocated here.

use alloc::vec::Vec;
use mrnic_wire::NetAddr;

use crate::config::{ConnConfig, NicConfig};
use crate::event::PathCounters;
use crate::rx::hint::ConnUse;
use crate::rx::path::RxPath;
use crate::seq::Tick;
use crate::tx::conn::TxConn;
use crate::tx::path::{PathState, TxPath};
use crate::tx::pool::ChunkMap;

#[derive(Debug)]
pub struct Connection<S> {
    pub peer_conn: u16,
    pub mtu_log2: u8,
    pub retry_cnt: u8,
    pub tx: TxConn,
    pub tx_paths: Vec<TxPath<S>>,
    /// Where the outstanding packets of each path lie in the pool.
    pub chunks: Vec<ChunkMap>,
    pub rx_paths: Vec<RxPath>,
    pub rx_use: ConnUse,
    pub path_counters: Vec<PathCounters>,
    /// N1: queue pairs that wait.
    pub waiting: Vec<u32>,
    /// Section 10: software is closing it, so its sender may be closed already.
    pub closing: bool,
}

impl<S: Default + Clone> Connection<S> {
    pub fn open(config: &ConnConfig<NetAddr>, nic: &NicConfig, now: Tick) -> Self {
        let paths = config.paths as usize;
        let window = config.init_window_pkts;
        let configured = &config.path[..paths];
        Connection {
            peer_conn: config.peer_conn,
            mtu_log2: config.mtu_log2,
            retry_cnt: config.retry_cnt,
            tx: TxConn::open(config.init_hint_mbps, nic.conn_fifo as usize, now),
            tx_paths: configured
                .iter()
                .map(|p| TxPath {
                    without_l3: !nic.tail_probes,
                    ..TxPath::open(p.enabled, p.udp_port, p.tx_start_ppsn, window, now)
                })
                .collect(),
            chunks: alloc::vec![ChunkMap::default(); paths],
            rx_paths: configured.iter().enumerate().map(|(i, p)| RxPath::open(i as u8, p.rx_start_ppsn, p.udp_port)).collect(),
            rx_use: ConnUse::default(),
            path_counters: alloc::vec![PathCounters::default(); paths],
            waiting: Vec::new(),
            closing: false,
        }
    }
}

impl<S> Connection<S> {
    pub fn mtu(&self) -> u32 {
        1 << self.mtu_log2
    }

    /// D8: the path that watches over awaited responses: the lowest that is UP.
    pub fn watching_path(&self) -> Option<u8> {
        if self.tx.responses.awaited == 0 || self.tx.error {
            return None;
        }
        self.tx_paths.iter().position(|p| p.state == PathState::Up).map(|path| path as u8)
    }

    pub fn paths(&self) -> u8 {
        self.tx_paths.len() as u8
    }
}
