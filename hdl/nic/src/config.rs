//! Build parameters of the engine and the named builds.
//!
//! In: the name of a build. Out: one [`BuildConfig`], passed by reference to the `new` of every block.
//! Guarantees: every named build satisfies [`BuildConfig::check`].
use thiserror::Error;

/// Path rows laid out for every connection, whatever `paths` is.
pub const PATH_ROWS_PER_CONN: usize = 8;
/// Width of the vector in an ACK frame: the largest `window_bits`.
pub const VECTOR_BITS: usize = 256;
/// Duration of one tick (the unit of every timer and timestamp).
pub const TICK_PS: u64 = 128_000;

/// Depth of every FIFO of the engine, in entries unless the name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoDepths {
    /// csr -> work_fetch: (qp, producer index).
    pub doorbell: usize,
    /// work_fetch -> tx_core: messages.
    pub msg: usize,
    /// work_fetch -> completion: messages, including refused ones.
    pub cmsg: usize,
    /// rx_core -> tx_core: received acknowledgments.
    pub ack: usize,
    /// sequencer -> retire: newly acknowledged 64-bit words (at least 4).
    pub acked: usize,
    /// retire -> completion: retired packets.
    pub ret: usize,
    /// sequencer -> completion: naks and connection errors.
    pub nak: usize,
    /// tx_core -> packet_builder: packet descriptors.
    pub desc: usize,
    /// rx_parser -> rx_core: headers of good frames.
    pub hdr: usize,
    /// rx_core -> placement_dma.
    pub place: usize,
    /// rx_core -> ack_builder.
    pub ackdesc: usize,
    /// packet_builder, ack_builder -> framer: finished headers.
    pub frame: usize,
    /// rx_core -> completion: refused packets.
    pub rxerr: usize,
    /// Receive payload buffer, in bytes (at least two frames of the largest MTU).
    pub rx_payload_bytes: usize,
    /// Payload read DMA: descriptors outstanding.
    pub dr_outstanding: usize,
    /// Receives on their way from host memory.
    pub recv: usize,
    /// Payload read DMA: data buffered, in bytes.
    pub dr_payload_bytes: usize,
}

/// One build of the engine. The data width is the only const generic; everything else is a value given to `new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildConfig {
    pub name: &'static str,
    /// Width of the payload and MAC data paths in bits: 64, 128 or 512.
    pub data_width: usize,
    /// Connections (a power of two, at most 65,536).
    pub conns: usize,
    /// Queue pairs (a power of two, at most 65,536).
    pub qps: usize,
    /// Largest number of paths of a connection: 1, 2, 4 or 8 (rows for 8 are always laid out).
    pub paths: usize,
    /// M: messages of a stream that may be outstanding (a power of two).
    pub msgs_per_stream: usize,
    /// Messages waiting or running per connection in the segmenter (a power of two; with `sends` at least M).
    pub conn_fifo: usize,
    /// Outstanding packets that the retransmit pool can hold (a multiple of 8).
    pub pool_packets: usize,
    /// Memory keys (a power of two).
    pub keys: usize,
    /// W: packets a path may have outstanding, and bits of the vector in use: 64, 128 or 256.
    pub window_bits: usize,
    /// Largest MTU in bytes that buffers are sized for.
    pub max_mtu_bytes: usize,
    pub fifo: FifoDepths,
    /// Clock period in picoseconds; must divide into the tick with an error the tick counter can carry.
    pub clock_ps: u64,
    /// The `fault` input is a top-level port (otherwise it is tied to 0).
    pub faults: bool,
    /// SEND, SEND with immediate and WRITE with immediate (rules Q1 to Q6), besides WRITE.
    pub sends: bool,
    /// READ and atomics (rules D1 to D8), besides SEND.
    pub reads: bool,
    /// D3: requests of a connection's peer whose responses are not acknowledged (a power of two, 2 to 256).
    pub responses: usize,
    /// Pieces of memory that a SEND or WRITE may take its data from: 1, 2 or 4.
    pub sges: usize,
    /// Receives of a queue pair that are kept (a power of two, at least 2 M, at most 256).
    pub recvs_per_qp: usize,
    /// Shared receive queues (0 for none; else `sends`).
    pub srqs: usize,
}

/// A parameter that the blocks cannot be built with.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    #[error("build {build}: {field} = {value} must be a power of two; choose the next larger power of two")]
    NotPowerOfTwo { build: &'static str, field: &'static str, value: usize },
    #[error("build {build}: {field} = {value} must lie in {min}..={max}")]
    OutOfRange { build: &'static str, field: &'static str, value: usize, min: usize, max: usize },
    #[error("build {build}: data_width = {value} must be 64, 128 or 512")]
    DataWidth { build: &'static str, value: usize },
    #[error("build {build}: window_bits = {value} must be 64, 128 or 256")]
    WindowBits { build: &'static str, value: usize },
}

impl BuildConfig {
    /// Rows of a table indexed by (connection, path): conn * 8 + path.
    pub fn path_rows(&self) -> usize {
        self.conns * PATH_ROWS_PER_CONN
    }

    /// 64-bit words of a set that is indexed by PPSN mod W: 1, 2 or 4.
    pub fn window_words(&self) -> usize {
        self.window_bits / 64
    }

    /// Rows of a table of messages: qp * M + msn mod M.
    pub fn message_rows(&self) -> usize {
        self.qps * self.msgs_per_stream
    }

    /// Checks what the blocks rely on.
    pub fn check(&self) -> Result<(), ConfigError> {
        let build = self.name;
        if ![64, 128, 512].contains(&self.data_width) {
            return Err(ConfigError::DataWidth { build, value: self.data_width });
        }
        if ![64, 128, VECTOR_BITS].contains(&self.window_bits) {
            return Err(ConfigError::WindowBits { build, value: self.window_bits });
        }
        for (field, value, min, max) in [
            ("conns", self.conns, 1, 65_536),
            ("qps", self.qps, 1, 65_536),
            ("paths", self.paths, 1, 8),
            ("msgs_per_stream", self.msgs_per_stream, 1, 256),
            ("conn_fifo", self.conn_fifo, 1, 256),
            ("keys", self.keys, 1, 1 << 24),
            ("responses", self.responses, 2, 256),
            ("sges", self.sges, 1, 4),
        ] {
            if !value.is_power_of_two() {
                return Err(ConfigError::NotPowerOfTwo { build, field, value });
            }
            if !(min..=max).contains(&value) {
                return Err(ConfigError::OutOfRange { build, field, value, min, max });
            }
        }
        if self.sends {
            let (field, value, min, max) = ("recvs_per_qp", self.recvs_per_qp, 2 * self.msgs_per_stream, 256);
            if !value.is_power_of_two() {
                return Err(ConfigError::NotPowerOfTwo { build, field, value });
            }
            if !(min..=max).contains(&value) {
                return Err(ConfigError::OutOfRange { build, field, value, min, max });
            }
            if self.srqs > 64 {
                return Err(ConfigError::OutOfRange { build, field: "srqs", value: self.srqs, min: 0, max: 64 });
            }
            // N2: all messages of a queue pair may come back at once
            let (field, value, min, max) = ("conn_fifo", self.conn_fifo, self.msgs_per_stream, 256);
            if !(min..=max).contains(&value) {
                return Err(ConfigError::OutOfRange { build, field, value, min, max });
            }
        }
        let f = &self.fifo;
        for (field, value, min, max) in [
            ("max_mtu_bytes", self.max_mtu_bytes, 256, 4096),
            ("pool_packets", self.pool_packets, 16, 1 << 20),
            ("fifo.doorbell", f.doorbell, 1, 65_535),
            ("fifo.msg", f.msg, 1, 65_535),
            ("fifo.cmsg", f.cmsg, 1, 65_535),
            ("fifo.ack", f.ack, 1, 65_535),
            ("fifo.acked", f.acked, 4, 65_535),
            ("fifo.ret", f.ret, 1, 65_535),
            ("fifo.nak", f.nak, 1, 65_535),
            ("fifo.desc", f.desc, 1, 65_535),
            ("fifo.hdr", f.hdr, 1, 65_535),
            ("fifo.place", f.place, 1, 65_535),
            ("fifo.ackdesc", f.ackdesc, 1, 65_535),
            ("fifo.frame", f.frame, 1, 65_535),
            ("fifo.rxerr", f.rxerr, 1, 65_535),
            ("fifo.rx_payload_bytes", f.rx_payload_bytes, 2 * self.max_mtu_bytes, 1 << 22),
            ("fifo.dr_outstanding", f.dr_outstanding, 1, 65_535),
            ("fifo.recv", f.recv, 1, 65_535),
            ("fifo.dr_payload_bytes", f.dr_payload_bytes, self.max_mtu_bytes, 1 << 22),
        ] {
            if !(min..=max).contains(&value) {
                return Err(ConfigError::OutOfRange { build, field, value, min, max });
            }
        }
        Ok(())
    }
}

const SIM_FIFOS: FifoDepths = FifoDepths {
    doorbell: 16,
    msg: 4,
    cmsg: 4,
    ack: 8,
    acked: 16,
    ret: 8,
    nak: 4,
    desc: 8,
    hdr: 8,
    place: 8,
    ackdesc: 16,
    frame: 4,
    rxerr: 4,
    rx_payload_bytes: 16_384,
    dr_outstanding: 8,
    recv: 32,
    dr_payload_bytes: 16_384,
};

const MIN_FIFOS: FifoDepths = FifoDepths {
    doorbell: 1,
    msg: 1,
    cmsg: 1,
    ack: 1,
    acked: 4,
    ret: 1,
    nak: 1,
    desc: 1,
    hdr: 1,
    place: 1,
    ackdesc: 1,
    frame: 1,
    rxerr: 1,
    rx_payload_bytes: 8_192,
    dr_outstanding: 1,
    recv: 1,
    dr_payload_bytes: 4_096,
};

/// The simulation build: 128 bits at 250 MHz.
const SIM: BuildConfig = BuildConfig {
    name: "sim",
    data_width: 128,
    conns: 8,
    qps: 16,
    paths: 8,
    msgs_per_stream: 16,
    conn_fifo: 16,
    pool_packets: 2048,
    keys: 64,
    window_bits: VECTOR_BITS,
    max_mtu_bytes: 4096,
    fifo: SIM_FIFOS,
    clock_ps: 4_000,
    faults: false,
    sends: true,
    reads: false,
    sges: 1,
    recvs_per_qp: 128,
    srqs: 4,
    responses: 32,
};

/// The engine of a 100G board: 512 bits at 250 MHz.
const CORUNDUM_100G: BuildConfig = BuildConfig {
    name: "corundum100g",
    data_width: 512,
    conns: 1024,
    qps: 1024,
    recvs_per_qp: 64,
    srqs: 0,
    pool_packets: 32_768,
    keys: 1024,
    reads: true,
    fifo: FifoDepths {
        doorbell: 256,
        ack: 32,
        acked: 32,
        ret: 32,
        desc: 32,
        hdr: 32,
        place: 32,
        ackdesc: 64,
        rx_payload_bytes: 131_072,
        dr_outstanding: 64,
        dr_payload_bytes: 131_072,
        ..SIM_FIFOS
    },
    ..SIM
};

/// Every build known by name.
pub const BUILDS: &[BuildConfig] = &[
    SIM,
    // Every buffer at its minimum: back-pressure everywhere. READ, atomics and lists too.
    BuildConfig {
        name: "sim_min",
        reads: true,
        sges: 4,
        msgs_per_stream: 4,
        conn_fifo: 4,
        pool_packets: 128,
        fifo: MIN_FIFOS,
        ..SIM
    },
    // Windows of 128 packets, the second of the three widths (`ecp5` has the third).
    BuildConfig { name: "sim_w128", window_bits: 128, ..SIM },
    // READ, atomics and lists too, and the fault input as a port of the top level; what `mrnic serve` serves to programs.
    BuildConfig { name: "sim_reads", reads: true, sges: 4, faults: true, ..SIM },
    BuildConfig {
        name: "bench512",
        data_width: 512,
        pool_packets: 8192,
        fifo: FifoDepths { rx_payload_bytes: 65_536, dr_outstanding: 32, dr_payload_bytes: 65_536, ..SIM_FIFOS },
        ..SIM
    },
    // 64 packets of 1 KiB on each of 4 paths cover far more than 10 Gbit/s x round trip; the state of 256 would cost block RAM.
    BuildConfig {
        name: "ecp5",
        window_bits: 64,
        data_width: 64,
        conns: 4,
        qps: 8,
        paths: 4,
        msgs_per_stream: 8,
        recvs_per_qp: 32,
        srqs: 0,
        conn_fifo: 8,
        pool_packets: 512,
        keys: 32,
        max_mtu_bytes: 1024,
        fifo: FifoDepths { rx_payload_bytes: 8_192, dr_payload_bytes: 4_096, ..SIM_FIFOS },
        clock_ps: 10_000,
        ..SIM
    },
    // Corundum's small boards: 10G with 64-bit streams, 25G with 128-bit ones, both at its 250 MHz.
    BuildConfig { name: "corundum10g", data_width: 64, conns: 16, qps: 32, window_bits: 128, reads: true, srqs: 0, ..SIM },
    BuildConfig { name: "corundum25g", conns: 64, qps: 128, pool_packets: 8192, keys: 256, reads: true, srqs: 0, ..SIM },
    CORUNDUM_100G,
    // As many connections as the published engines that share their state among them; their state lies in UltraRAM.
    BuildConfig { name: "corundum100g_4k", conns: 4096, qps: 4096, recvs_per_qp: 32, keys: 4096, ..CORUNDUM_100G },
];

/// The build of that name.
pub fn build(name: &str) -> Option<BuildConfig> {
    BUILDS.iter().find(|b| b.name == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_build_is_consistent() {
        for b in BUILDS {
            b.check().unwrap();
            assert_eq!(build(b.name), Some(*b));
        }
        assert_eq!(build("none"), None);
    }

    #[test]
    fn a_bad_parameter_is_named() {
        let bad = BuildConfig { conns: 6, ..SIM };
        assert_eq!(bad.check(), Err(ConfigError::NotPowerOfTwo { build: "sim", field: "conns", value: 6 }));
        let bad = BuildConfig { sends: true, recvs_per_qp: 16, ..SIM };
        let range = ConfigError::OutOfRange { build: "sim", field: "recvs_per_qp", value: 16, min: 32, max: 256 };
        assert_eq!(bad.check(), Err(range));
        let bad = BuildConfig { fifo: FifoDepths { acked: 3, ..SIM_FIFOS }, ..SIM };
        assert!(bad.check().is_err());
        let bad = BuildConfig { window_bits: 100, ..SIM };
        assert_eq!(bad.check(), Err(ConfigError::WindowBits { build: "sim", value: 100 }));
        assert_eq!(bad.check().unwrap_err().to_string(), "build sim: window_bits = 100 must be 64, 128 or 256");
    }
}
