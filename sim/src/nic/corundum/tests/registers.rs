//! `mrnic_axil` and `mrnic_app_regs`: the application BAR, its two halves and what lies outside.
use super::{model, reset};
use mrnic_verilated::{Dut, Port};

const TOP: &str = "
module bar_bench (
    input wire clk, input wire rst,
    input wire [23:0] s_awaddr, input wire s_awvalid, output wire s_awready, input wire [31:0] s_wdata, input wire [3:0] s_wstrb,
    input wire s_wvalid, output wire s_wready, output wire [1:0] s_bresp, output wire s_bvalid, input wire s_bready,
    input wire [23:0] s_araddr, input wire s_arvalid, output wire s_arready, output wire [31:0] s_rdata,
    output wire [1:0] s_rresp, output wire s_rvalid, input wire s_rready,
    output wire [15:0] e_awaddr, output wire e_awvalid, input wire e_awready, output wire [31:0] e_wdata,
    output wire e_wvalid, input wire e_wready, input wire [1:0] e_bresp, input wire e_bvalid, output wire e_bready,
    output wire [15:0] e_araddr, output wire e_arvalid, input wire e_arready, input wire [31:0] e_rdata,
    input wire [1:0] e_rresp, input wire e_rvalid, output wire e_rready,
    input wire [5:0] events, input wire [95:0] cpl_ts, input wire [3:0] failed, input wire [15:0] failed_codes
);
wire [7:0] addr;
wire [31:0] data;
mrnic_axil axil (.clk(clk), .rst(rst), .s_awaddr(s_awaddr), .s_awvalid(s_awvalid), .s_awready(s_awready), .s_wdata(s_wdata),
    .s_wstrb(s_wstrb), .s_wvalid(s_wvalid), .s_wready(s_wready), .s_bresp(s_bresp), .s_bvalid(s_bvalid), .s_bready(s_bready),
    .s_araddr(s_araddr), .s_arvalid(s_arvalid), .s_arready(s_arready), .s_rdata(s_rdata), .s_rresp(s_rresp),
    .s_rvalid(s_rvalid), .s_rready(s_rready), .e_awaddr(e_awaddr), .e_awvalid(e_awvalid), .e_awready(e_awready),
    .e_wdata(e_wdata), .e_wvalid(e_wvalid), .e_wready(e_wready), .e_bresp(e_bresp), .e_bvalid(e_bvalid), .e_bready(e_bready),
    .e_araddr(e_araddr), .e_arvalid(e_arvalid), .e_arready(e_arready), .e_rdata(e_rdata), .e_rresp(e_rresp),
    .e_rvalid(e_rvalid), .e_rready(e_rready), .reg_addr(addr), .reg_data(data));
mrnic_app_regs #(.DATA_WIDTH(128)) regs (.clk(clk), .rst(rst), .addr(addr), .data(data), .events(events), .cpl_ts(cpl_ts),
    .failed(failed), .failed_codes(failed_codes));
endmodule
";

struct Bar {
    dut: Dut,
    /// Engine: the writes it saw; reads give the address doubled.
    written: Vec<(u64, u64)>,
    /// Of the write under way: address and data that were taken.
    halves: (Option<u64>, Option<u64>),
}

impl Bar {
    fn port(&self, name: &str) -> Port {
        self.dut.port(name).unwrap_or_else(|e| panic!("{e}"))
    }

    fn bit(&self, name: &str) -> bool {
        self.port(name).get_bit()
    }

    /// One cycle with an engine that takes address and data of a write at different times and answers later.
    fn step(&mut self, cycle: usize) {
        self.port("e_awready").set_bit(cycle.is_multiple_of(3));
        self.port("e_wready").set_bit(cycle % 3 == 1);
        self.port("e_arready").set_bit(cycle.is_multiple_of(2));
        self.dut.eval();
        let (aw, w) = (self.bit("e_awvalid") && self.bit("e_awready"), self.bit("e_wvalid") && self.bit("e_wready"));
        let ar = self.bit("e_arvalid") && self.bit("e_arready");
        let answered = [self.bit("e_bvalid") && self.bit("e_bready"), self.bit("e_rvalid") && self.bit("e_rready")];
        let (addr, data) = (self.port("e_awaddr").get_u64(), self.port("e_wdata").get_u64());
        let read = self.port("e_araddr").get_u64();
        self.dut.cycle();
        if answered[0] {
            self.port("e_bvalid").set_bit(false);
        }
        if answered[1] {
            self.port("e_rvalid").set_bit(false);
        }
        let (a, d) = self.halves;
        self.halves = (a.or(aw.then_some(addr)), d.or(w.then_some(data)));
        if let (Some(addr), Some(data)) = self.halves {
            self.written.push((addr, data));
            self.halves = (None, None);
            self.port("e_bvalid").set_bit(true);
        }
        if ar {
            self.port("e_rdata").set_u64(2 * read);
            self.port("e_rvalid").set_bit(true);
        }
    }

    /// Response of a write.
    fn write(&mut self, addr: u64, data: u64, strobes: u64) -> u64 {
        for (port, value) in [("s_awaddr", addr), ("s_wdata", data), ("s_wstrb", strobes), ("s_awvalid", 1), ("s_wvalid", 1)] {
            self.port(port).set_u64(value);
        }
        for cycle in 0..50 {
            self.dut.eval();
            let taken = self.port("s_awready").get_bit();
            self.step(cycle);
            if taken {
                self.port("s_awvalid").set_bit(false);
                self.port("s_wvalid").set_bit(false);
            }
            // the core keeps the response waiting for a while
            self.port("s_bready").set_bit(cycle % 5 == 4);
            if self.port("s_bvalid").get_bit() && self.port("s_bready").get_bit() {
                let response = self.port("s_bresp").get_u64();
                self.step(cycle + 1);
                self.port("s_bready").set_bit(false);
                return response;
            }
        }
        panic!("no response to a write of {addr:#x}");
    }

    /// Response and value of a read.
    fn read(&mut self, addr: u64) -> (u64, u64) {
        self.port("s_araddr").set_u64(addr);
        self.port("s_arvalid").set_bit(true);
        for cycle in 0..50 {
            self.dut.eval();
            let taken = self.port("s_arready").get_bit();
            self.step(cycle);
            if taken {
                self.port("s_arvalid").set_bit(false);
            }
            self.port("s_rready").set_bit(cycle % 5 == 4);
            if self.port("s_rvalid").get_bit() && self.port("s_rready").get_bit() {
                let got = (self.port("s_rresp").get_u64(), self.port("s_rdata").get_u64());
                self.step(cycle + 1);
                self.port("s_rready").set_bit(false);
                return got;
            }
        }
        panic!("no response to a read of {addr:#x}");
    }
}

const OKAY: u64 = 0;
const SLVERR: u64 = 2;
const DECERR: u64 = 3;
const ALL_ONES: u64 = 0xFFFF_FFFF;

#[test]
fn the_bar_has_the_engine_and_the_wrapper() {
    let mut bar = Bar { dut: reset(&model("bar_bench", TOP, &[], None), 5), written: Vec::new(), halves: (None, None) };
    assert_eq!(bar.write(0x40, 0x1234_5678, 15), OKAY);
    assert_eq!(bar.write(0xFFFC, 7, 15), OKAY);
    assert_eq!(bar.read(0x102), (OKAY, 0x204));
    // what the engine cannot do, it does not see
    assert_eq!(bar.write(0x40, 9, 3), SLVERR);
    assert_eq!(bar.write(0x1_0000, 9, 15), SLVERR);
    assert_eq!(bar.write(0x2_0040, 9, 15), DECERR);
    assert_eq!(bar.read(0x2_0000), (DECERR, ALL_ONES));
    assert_eq!(bar.read(0x1_0100), (DECERR, ALL_ONES));
    assert_eq!(bar.read(0xFF_0000), (DECERR, ALL_ONES));
    assert_eq!(bar.written, [(0x40, 0x1234_5678), (0xFFFC, 7)]);
}

#[test]
fn the_wrapper_counts_and_tells_failures() {
    let mut bar = Bar { dut: reset(&model("bar_bench", TOP, &[], None), 5), written: Vec::new(), halves: (None, None) };
    for i in 0..6 {
        bar.port("events").set_u64(1 << i);
        bar.dut.cycles(i + 1);
    }
    bar.port("events").set_u64(0);
    bar.port("cpl_ts").set_words(&[1, 2, 3]);
    bar.port("failed").set_u64(0b0100);
    bar.port("failed_codes").set_u64(0x0A00);
    let expected = [
        (0x00, 0x4D52_4E41),
        (0x04, 1),
        (0x08, 4791 << 16 | 128),
        (0x0C, 0x0A00_0004),
        (0x10, 1),
        (0x14, 2),
        (0x18, 3),
        (0x1C, 4),
        (0x20, 5),
        (0x24, 6),
        (0x28, 0),
        (0x30, 1),
        (0x34, 2),
        (0x38, 3),
    ];
    for (offset, value) in expected {
        assert_eq!(bar.read(0x1_0000 + offset), (OKAY, value), "{offset:#x}");
    }
}
