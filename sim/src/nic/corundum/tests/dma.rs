//! `mrnic_dma_read` and `mrnic_dma_write`: data in order whatever the order of the DMA engine, reports in order, failures.
use super::{model, reset, rng};
use crate::memory::OutsideMemory;
use crate::nic::corundum::dma::DmaPort;
use crate::nic::corundum::Access;
use crate::nic::stream::{Names, Sink, Source};
use crate::nic::Host;
use crate::scenario::HostConfig;
use mrnic_verilated::{Dut, Model, Port};
use rand::rngs::SmallRng;
use rand::Rng;
use std::collections::VecDeque;

const SLOT_BYTES: usize = 256;
const CYCLE_PS: u64 = 4000;

/// Both adapters on the DMA interface `data`.
const TOP: &str = "
module dma_bench #(parameter DATA_WIDTH = 64, parameter SEG_DATA_WIDTH = 64, parameter RAM_PIPELINE = 2) (
    input wire clk, input wire rst,
    input wire rd_desc_valid, output wire rd_desc_ready, input wire [63:0] rd_desc_addr, input wire [15:0] rd_desc_len,
    output wire rd_valid, input wire rd_ready, output wire [DATA_WIDTH-1:0] rd_data, output wire rd_last,
    input wire wr_desc_valid, output wire wr_desc_ready, input wire [63:0] wr_desc_addr, input wire [15:0] wr_desc_len,
    input wire wr_valid, output wire wr_ready, input wire [DATA_WIDTH-1:0] wr_data, input wire wr_last,
    output wire written, output wire [1:0] failed, output wire [7:0] codes,
    output wire [63:0] m_axis_data_dma_read_desc_dma_addr, output wire [1:0] m_axis_data_dma_read_desc_ram_sel,
    output wire [11:0] m_axis_data_dma_read_desc_ram_addr, output wire [15:0] m_axis_data_dma_read_desc_len,
    output wire [5:0] m_axis_data_dma_read_desc_tag, output wire m_axis_data_dma_read_desc_valid,
    input wire m_axis_data_dma_read_desc_ready, input wire [5:0] s_axis_data_dma_read_desc_status_tag,
    input wire [3:0] s_axis_data_dma_read_desc_status_error, input wire s_axis_data_dma_read_desc_status_valid,
    output wire [63:0] m_axis_data_dma_write_desc_dma_addr, output wire [1:0] m_axis_data_dma_write_desc_ram_sel,
    output wire [11:0] m_axis_data_dma_write_desc_ram_addr, output wire [15:0] m_axis_data_dma_write_desc_len,
    output wire [5:0] m_axis_data_dma_write_desc_tag, output wire m_axis_data_dma_write_desc_valid,
    input wire m_axis_data_dma_write_desc_ready, input wire [5:0] s_axis_data_dma_write_desc_status_tag,
    input wire [3:0] s_axis_data_dma_write_desc_status_error, input wire s_axis_data_dma_write_desc_status_valid,
    input wire [2*SEG_DATA_WIDTH/8-1:0] data_dma_ram_wr_cmd_be,
    input wire [2*(12-$clog2(2*SEG_DATA_WIDTH/8))-1:0] data_dma_ram_wr_cmd_addr,
    input wire [2*SEG_DATA_WIDTH-1:0] data_dma_ram_wr_cmd_data, input wire [1:0] data_dma_ram_wr_cmd_valid,
    output wire [1:0] data_dma_ram_wr_cmd_ready, output wire [1:0] data_dma_ram_wr_done,
    input wire [2*(12-$clog2(2*SEG_DATA_WIDTH/8))-1:0] data_dma_ram_rd_cmd_addr,
    input wire [1:0] data_dma_ram_rd_cmd_valid, output wire [1:0] data_dma_ram_rd_cmd_ready,
    output wire [2*SEG_DATA_WIDTH-1:0] data_dma_ram_rd_resp_data, output wire [1:0] data_dma_ram_rd_resp_valid,
    input wire [1:0] data_dma_ram_rd_resp_ready
);
assign m_axis_data_dma_read_desc_ram_sel = 0;
assign m_axis_data_dma_write_desc_ram_sel = 0;
mrnic_dma_read #(.DATA_WIDTH(DATA_WIDTH), .SLOTS(4), .SLOT_BYTES(256), .DMA_TAG_WIDTH(6), .RAM_ADDR_WIDTH(12),
    .SEG_DATA_WIDTH(SEG_DATA_WIDTH)) reads (.clk(clk), .rst(rst),
    .desc_valid(rd_desc_valid), .desc_ready(rd_desc_ready), .desc_addr(rd_desc_addr), .desc_len(rd_desc_len),
    .data_valid(rd_valid), .data_ready(rd_ready), .data(rd_data), .data_last(rd_last),
    .dma_addr(m_axis_data_dma_read_desc_dma_addr), .dma_ram_addr(m_axis_data_dma_read_desc_ram_addr),
    .dma_len(m_axis_data_dma_read_desc_len), .dma_tag(m_axis_data_dma_read_desc_tag),
    .dma_valid(m_axis_data_dma_read_desc_valid), .dma_ready(m_axis_data_dma_read_desc_ready),
    .status_tag(s_axis_data_dma_read_desc_status_tag), .status_error(s_axis_data_dma_read_desc_status_error),
    .status_valid(s_axis_data_dma_read_desc_status_valid),
    .ram_wr_be(data_dma_ram_wr_cmd_be), .ram_wr_addr(data_dma_ram_wr_cmd_addr), .ram_wr_data(data_dma_ram_wr_cmd_data),
    .ram_wr_valid(data_dma_ram_wr_cmd_valid), .ram_wr_ready(data_dma_ram_wr_cmd_ready), .ram_wr_done(data_dma_ram_wr_done),
    .failed(failed[0]), .failed_code(codes[3:0]));
mrnic_dma_write #(.DATA_WIDTH(DATA_WIDTH), .SLOTS(4), .SLOT_BYTES(256), .DMA_TAG_WIDTH(6), .RAM_ADDR_WIDTH(12),
    .RAM_PIPELINE(RAM_PIPELINE), .SEG_DATA_WIDTH(SEG_DATA_WIDTH)) writes (.clk(clk), .rst(rst),
    .desc_valid(wr_desc_valid), .desc_ready(wr_desc_ready), .desc_addr(wr_desc_addr), .desc_len(wr_desc_len),
    .data_valid(wr_valid), .data_ready(wr_ready), .data(wr_data), .data_last(wr_last), .written(written),
    .dma_addr(m_axis_data_dma_write_desc_dma_addr), .dma_ram_addr(m_axis_data_dma_write_desc_ram_addr),
    .dma_len(m_axis_data_dma_write_desc_len), .dma_tag(m_axis_data_dma_write_desc_tag),
    .dma_valid(m_axis_data_dma_write_desc_valid), .dma_ready(m_axis_data_dma_write_desc_ready),
    .status_tag(s_axis_data_dma_write_desc_status_tag), .status_error(s_axis_data_dma_write_desc_status_error),
    .status_valid(s_axis_data_dma_write_desc_status_valid),
    .ram_rd_addr(data_dma_ram_rd_cmd_addr), .ram_rd_valid(data_dma_ram_rd_cmd_valid), .ram_rd_ready(data_dma_ram_rd_cmd_ready),
    .ram_resp_data(data_dma_ram_rd_resp_data), .ram_resp_valid(data_dma_ram_rd_resp_valid),
    .ram_resp_ready(data_dma_ram_rd_resp_ready), .failed(failed[1]), .failed_code(codes[7:4]));
endmodule
";

/// Host memory: 64 KiB to read, 64 KiB to write.
struct Memory {
    source: Vec<u8>,
    target: Vec<u8>,
}

impl Host for Memory {
    fn dma_read(&mut self, addr: u64, len: usize) -> Result<Vec<u8>, OutsideMemory> {
        Ok(self.source[addr as usize..addr as usize + len].to_vec())
    }
    fn dma_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory> {
        self.target[addr as usize..addr as usize + data.len()].copy_from_slice(data);
        Ok(())
    }
    fn cqe_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory> {
        self.dma_write(addr, data)
    }
}

/// Descriptors into an adapter.
struct Asking {
    valid: Port,
    ready: Port,
    addr: Port,
    len: Port,
    offered: bool,
}

impl Asking {
    fn new(dut: &Dut, dir: &str) -> Self {
        let port = |n: &str| dut.port(&format!("{dir}_desc_{n}")).expect("a port");
        Self { valid: port("valid"), ready: port("ready"), addr: port("addr"), len: port("len"), offered: false }
    }

    fn drive(&mut self, next: Option<&(u64, usize)>, stall: bool) {
        if self.offered {
            return;
        }
        let next = next.filter(|_| !stall);
        self.offered = next.is_some();
        self.valid.set_bit(self.offered);
        if let Some((addr, len)) = next {
            self.addr.set_u64(*addr);
            self.len.set_u64(*len as u64);
        }
    }

    fn taken(&mut self) -> bool {
        let taken = self.offered && self.ready.get_bit();
        self.offered &= !taken;
        taken
    }
}

struct Bench {
    dut: Dut,
    port: DmaPort,
    memory: Memory,
    host: HostConfig,
    rng: SmallRng,
    cycle: u64,
    reads: VecDeque<(u64, usize)>,
    /// Reads asked for, whose bytes have not come.
    read: VecDeque<(u64, usize)>,
    writes: VecDeque<(u64, usize)>,
    /// Writes whose report has not come: address and bytes.
    write: VecDeque<(u64, Vec<u8>)>,
    ask: [Asking; 2],
    sink: Sink,
    source: Source,
    reports: u64,
    unchecked: VecDeque<Vec<u8>>,
}

impl Bench {
    fn new(model: &Model, operations: usize, mut rng: SmallRng) -> Self {
        let dut = reset(model, 7);
        let names = |dir: &'static str| {
            let n = ["valid", "ready", "data", "last"].map(|n| format!("{dir}_{n}"));
            let leak: Vec<&'static str> = n.into_iter().map(|s| &*s.leak()).collect();
            Names { valid: leak[0], ready: leak[1], data: leak[2], last: Some(leak[3]), keep: None }
        };
        let mut reads = VecDeque::new();
        let mut writes = VecDeque::new();
        let mut at = 0;
        for _ in 0..operations {
            let len = |rng: &mut SmallRng| match rng.random_range(0..3) {
                0 => rng.random_range(1..=20),
                1 => 1 << rng.random_range(3..=8),
                _ => rng.random_range(1..=SLOT_BYTES),
            };
            let n = len(&mut rng);
            reads.push_back((rng.random_range(0..65_536 - n as u64), n));
            // writes do not overlap: what is in memory shows which of them arrived
            let n = len(&mut rng);
            writes.push_back((at, n));
            at += n as u64;
        }
        let source: Vec<u8> = (0..65_536).map(|_| rng.random()).collect();
        Self {
            port: DmaPort::new(&dut, "data").expect("the ports"),
            memory: Memory { source, target: vec![0; 65_536] },
            host: HostConfig { read_latency_ns: [0, 400], write_latency_ns: [0, 400], ..HostConfig::default() },
            rng,
            cycle: 0,
            reads,
            read: VecDeque::new(),
            writes,
            write: VecDeque::new(),
            ask: [Asking::new(&dut, "rd"), Asking::new(&dut, "wr")],
            sink: Sink::new(&dut, &names("rd")).expect("a stream"),
            source: Source::new(&dut, &names("wr")).expect("a stream"),
            reports: 0,
            unchecked: VecDeque::new(),
            dut,
        }
    }

    fn step(&mut self) -> Result<(), String> {
        let now = self.cycle * CYCLE_PS;
        self.port.drive(now, &mut self.memory, false, &mut self.rng).map_err(|e| e.to_string())?;
        self.ask[0].drive(self.reads.front(), self.rng.random_bool(0.2));
        self.ask[1].drive(self.writes.front(), self.rng.random_bool(0.2));
        self.sink.drive(self.rng.random_bool(0.2));
        self.source.drive(self.rng.random_bool(0.2));
        self.dut.eval();
        for access in self.port.sample(now, &self.host, &mut self.rng)? {
            if let Access::Write(addr, data) = access {
                if self.unchecked.pop_front().as_ref() != Some(&data) {
                    return Err(format!("other bytes are written to {addr:#x}"));
                }
            }
        }
        if self.ask[0].taken() {
            self.read.extend(self.reads.pop_front());
        }
        if self.ask[1].taken() {
            let Some((addr, len)) = self.writes.pop_front() else { return Err("no descriptor".into()) };
            let data: Vec<u8> = (0..len).map(|_| self.rng.random_range(1..=255)).collect();
            self.source.push(data.clone());
            self.unchecked.push_back(data.clone());
            self.write.push_back((addr, data));
        }
        self.source.sample();
        if let Some(got) = self.sink.sample() {
            let Some((addr, len)) = self.read.pop_front() else { return Err("bytes that were not asked for".into()) };
            let beat = self.dut.port("rd_data").map_err(|e| e.to_string())?.width() as usize / 8;
            let wanted = &self.memory.source[addr as usize..addr as usize + len];
            if got.len() != len.div_ceil(beat) * beat || got[..len] != *wanted {
                return Err(format!("other bytes come from {addr:#x}"));
            }
        }
        if self.dut.port("written").map_err(|e| e.to_string())?.get_bit() {
            let Some((addr, data)) = self.write.pop_front() else { return Err("a report too many".into()) };
            if self.memory.target[addr as usize..][..data.len()] != *data {
                return Err(format!("report {} comes before its bytes are in memory", self.reports));
            }
            self.reports += 1;
        }
        self.dut.cycle();
        self.cycle += 1;
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let left = |b: &Self| b.reads.len() + b.read.len() + b.writes.len() + b.write.len();
        for _ in 0..100_000 {
            if left(self) == 0 && self.port.idle() {
                return Ok(());
            }
            self.step()?;
        }
        Err(format!("{} operations do not end", left(self)))
    }
}

fn bench(width: usize, segment: usize, pipeline: usize, fault: Option<[&str; 2]>) -> Bench {
    let parameters = [("DATA_WIDTH", width), ("SEG_DATA_WIDTH", segment), ("RAM_PIPELINE", pipeline)];
    Bench::new(&model("dma_bench", TOP, &parameters, fault), 400, rng(1))
}

#[test]
fn reads_and_writes_keep_their_order() {
    for (width, segment, pipeline) in [(64, 128, 2), (64, 32, 1), (128, 64, 3)] {
        let mut b = bench(width, segment, pipeline, None);
        b.run().unwrap_or_else(|e| panic!("{width} bits: {e}"));
        assert_eq!(b.reports, 400);
        let [reads, writes] = b.port.out_of_order();
        assert!(reads > 50 && writes > 50, "the DMA engine was too tame: {reads}, {writes}");
    }
}

/// A failed access stops its adapter: nothing of what it would have given leaves, and nothing after it.
#[test]
fn a_failed_access_stops_its_adapter() {
    let mut b = bench(64, 128, 2, None);
    for _ in 0..500 {
        b.step().expect("all is well before");
    }
    b.port.fail(0xA);
    for _ in 0..500 {
        b.step().expect("what is given is right");
    }
    let (failed, codes) = (b.dut.port("failed").expect("a port"), b.dut.port("codes").expect("a port"));
    assert_eq!((failed.get_u64(), codes.get_u64()), (3, 0xAA));
    let (read, reports) = (b.read.len(), b.reports);
    assert!(read > 0 && !b.write.is_empty(), "the failure came too late");
    for _ in 0..2000 {
        b.step().expect("nothing more is given");
    }
    assert_eq!((b.read.len(), b.reports), (read, reports));
    assert!(!b.reads.is_empty() && !b.writes.is_empty());
}

#[test]
fn planted_faults_are_found() {
    for (good, bad, what) in [
        // a report for the first status that comes
        (
            "if (report != issue && done[report_slot] && !failed) begin",
            "if (report != issue && |done && !failed) begin",
            "comes before its bytes",
        ),
        // a slot is sent before its read has ended
        ("used != 0 && done[take_slot] && room", "used != 0 && room", "other bytes come from"),
        // bytes of a row land in its first word
        ("<< (index[RATIO_BITS-1:0]*(DATA_WIDTH/8))", "<< 0", "other bytes are written"),
    ] {
        let found = bench(64, 128, 2, Some([good, bad])).run();
        let said = found.expect_err("a fault that is not found");
        assert!(said.contains(what), "{bad:?} gives {said:?} instead of {what:?}");
    }
}
