//! Parameters of the control plane.
//! In: numbers from software. Out: checked numbers; the defaults are those of docs/protocol.md section 12.

use mrnic_model::{PATHS_MAX, RATE_UNLIMITED};
use thiserror::Error;

use crate::Endpoint;

/// What a NIC offers to its peers, and how patient it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub local: Endpoint,
    /// Connections of the engine; their numbers are 0 to `conns - 1`.
    pub conns: u16,
    /// Paths at most: 1, 2, 4 or 8.
    pub paths: u8,
    /// Greatest payload of a packet as power of two, 8 to 12.
    pub mtu_log2: u8,
    /// Width of the acknowledgment vector of the wire profile.
    pub vector_bits: u16,
    /// Initial window of each path.
    pub init_window_pkts: u16,
    pub init_hint_mbps: u32,
    /// Timeouts of a path in a row until the engine gives a connection up.
    pub retry_cnt: u8,
    /// Start of all random numbers. Two incarnations of a NIC need different ones.
    pub seed: u64,
    /// H3: first interval between two CONNECTs; it doubles up to `retry_max_us`.
    pub retry_us: u64,
    pub retry_max_us: u64,
    /// H3: CONNECTs at most.
    pub connect_tries: u8,
    /// H6: CLOSEs at most.
    pub close_tries: u8,
    /// H6: an unused connection is closed after this time.
    pub idle_us: u64,
}

/// A parameter is out of range; nothing was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{what} = {value} is outside {min}..={max}; correct the configuration")]
pub struct ConfigError {
    pub what: &'static str,
    pub value: u64,
    pub min: u64,
    pub max: u64,
}

impl Config {
    /// The defaults for a NIC at `local`.
    pub fn new(local: Endpoint, seed: u64) -> Self {
        Config {
            local,
            conns: 64,
            paths: 8,
            mtu_log2: 12,
            vector_bits: 256,
            init_window_pkts: 16,
            init_hint_mbps: RATE_UNLIMITED,
            retry_cnt: 7,
            seed,
            retry_us: 1_000,
            retry_max_us: 64_000,
            connect_tries: 10,
            close_tries: 10,
            idle_us: 1_000_000,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let range = |what, value: u64, min: u64, max: u64| {
            if (min..=max).contains(&value) {
                Ok(())
            } else {
                Err(ConfigError { what, value, min, max })
            }
        };
        range("conns", self.conns.into(), 1, u64::from(crate::NO_CONN) - 1)?;
        range("paths", self.paths.into(), 1, PATHS_MAX as u64)?;
        range("mtu_log2", self.mtu_log2.into(), 8, 12)?;
        range("vector_bits", self.vector_bits.into(), 1, 256)?;
        range("init_window_pkts", self.init_window_pkts.into(), 1, self.vector_bits.into())?;
        range("init_hint_mbps", self.init_hint_mbps.into(), 1, RATE_UNLIMITED.into())?;
        range("retry_cnt", self.retry_cnt.into(), 0, 15)?;
        range("retry_us", self.retry_us, 1, self.retry_max_us)?;
        range("retry_max_us", self.retry_max_us, 1, 1 << 40)?;
        range("connect_tries", self.connect_tries.into(), 1, 255)?;
        range("close_tries", self.close_tries.into(), 1, 255)?;
        range("idle_us", self.idle_us, 1, 1 << 40)
    }
}
