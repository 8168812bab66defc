//! The hand-written modules of the ECP5 board, in Verilator.
//!
//! In: constraints/ecp5/rtl and the emitted build. Out: failures. Guarantees: lint clean around the real engine; registers and memory
//! are reached over the serial line; DMA at any address; frames survive the byte stream and damaged ones do not.
use mrnic_synth::design::Emitted;
use mrnic_synth::full::{verilog, MODULES};
use mrnic_verilated::{build, lint, Dut, ModelSpec};
use rand::{rngs::StdRng, Rng, SeedableRng};

const SEED: u64 = 1;
/// Clocks of a bit of the serial line, here.
const DIVISOR: u64 = 4;

fn seed() -> u64 {
    let seed = std::env::var("MRNIC_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(SEED);
    println!("MRNIC_SEED={seed}");
    seed
}

/// A model of board modules and the text of a top.
fn model(top: &str, text: &str) -> Dut {
    let mut all = text.to_string();
    MODULES.iter().filter(|(name, _)| !matches!(*name, "mrnic_board" | "mrnic_ecp5")).for_each(|(_, m)| all += m);
    let spec = ModelSpec { opt_level: 1, ..ModelSpec::new(top, all) };
    let mut dut = build(&spec, &mut |_| {}).unwrap_or_else(|e| panic!("{e}")).instance(top, 1);
    let reset = dut.input("reset").unwrap();
    reset.set_u64(1);
    dut.cycles(4);
    reset.set_u64(0);
    dut
}

#[test]
fn the_board_is_lint_clean_around_the_engine() {
    // the PLL of the top is a cell of the part
    let pll = MODULES.iter().find(|m| m.0 == "mrnic_ecp5").unwrap().1;
    let text = verilog().unwrap().replace(pll, "");
    lint(&text, "mrnic_board").unwrap_or_else(|e| panic!("{e}"));
}

/// Serial line, bus, memory and the real register block.
const CONTROL: &str = "
module control(input clock, input reset, input rxd, output txd);
    wire rx_valid, tx_valid, tx_ready;
    wire [7:0] rx_data, tx_data;
    uart_rx #(.DIVISOR(4)) rx(clock, reset, rxd, rx_valid, rx_data);
    uart_tx #(.DIVISOR(4)) tx(clock, reset, tx_valid, tx_data, tx_ready, txd);
    wire [15:0] awaddr, araddr; wire [31:0] wdata, rdata; wire [1:0] bresp, rresp;
    wire awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    wire mem_valid, mem_write, mem_done; wire [30:0] mem_addr; wire [31:0] mem_wdata, mem_rdata;
    uart_bus bus(clock, reset, rx_valid, rx_data, tx_valid, tx_data, tx_ready, awaddr, awvalid, awready, wdata, wvalid, wready,
        bresp, bvalid, bready, araddr, arvalid, arready, rdata, rresp, rvalid, rready, mem_valid, mem_write, mem_addr, mem_wdata,
        mem_done, mem_rdata);
    /* verilator lint_off PINMISSING */
    csr registers(.clock(clock), .reset(reset), .axil_awaddr(awaddr), .axil_awvalid(awvalid), .axil_awready(awready),
        .axil_wdata(wdata), .axil_wvalid(wvalid), .axil_wready(wready), .axil_bresp(bresp), .axil_bvalid(bvalid),
        .axil_bready(bready), .axil_araddr(araddr), .axil_arvalid(arvalid), .axil_arready(arready), .axil_rdata(rdata),
        .axil_rresp(rresp), .axil_rvalid(rvalid), .axil_rready(rready), .cfg_busy(1'b0), .init_done(1'b1), .events(32'd0));
    host_memory #(.WORD_BITS(8)) memory(.clock(clock), .reset(reset), .cr_desc_valid(1'b0), .dr_desc_valid(1'b0),
        .cw_desc_valid(1'b0), .dw_desc_valid(1'b0), .mem_valid(mem_valid), .mem_write(mem_write), .mem_addr(mem_addr),
        .mem_wdata(mem_wdata), .mem_done(mem_done), .mem_rdata(mem_rdata));
endmodule
";

struct Serial {
    dut: Dut,
}

impl Serial {
    fn send(&mut self, bytes: &[u8]) {
        let line = self.dut.input("rxd").unwrap();
        for byte in bytes {
            for bit in 0..10 {
                line.set_u64(match bit {
                    0 => 0,
                    9 => 1,
                    n => u64::from(byte >> (n - 1) & 1),
                });
                self.dut.cycles(DIVISOR);
            }
        }
    }

    fn receive(&mut self, count: usize) -> Vec<u8> {
        let line = self.dut.output("txd").unwrap();
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let mut waited = 0;
            while line.get_u64() == 1 {
                self.dut.cycle();
                waited += 1;
                assert!(waited < 1000, "no answer; so far {bytes:02x?}");
            }
            self.dut.cycles(DIVISOR / 2);
            let mut byte = 0;
            for bit in 0..8 {
                self.dut.cycles(DIVISOR);
                byte |= (line.get_u64() as u8) << bit;
            }
            self.dut.cycles(DIVISOR);
            assert_eq!(line.get_u64(), 1, "stop bit");
            bytes.push(byte);
        }
        bytes
    }

    fn write(&mut self, address: u32, data: u32) -> u8 {
        self.send(&[&b"W"[..], &address.to_le_bytes(), &data.to_le_bytes()].concat());
        self.receive(1)[0]
    }

    fn read(&mut self, address: u32) -> (u8, u32) {
        self.send(&[&b"R"[..], &address.to_le_bytes()].concat());
        let answer = self.receive(5);
        (answer[0], u32::from_le_bytes(answer[1..].try_into().unwrap()))
    }
}

const MEMORY: u32 = 1 << 31;

#[test]
fn the_serial_line_reaches_registers_and_memory() {
    let registers = Emitted::new("ecp5").unwrap().text_of("csr").unwrap();
    let dut = model("control", &(registers + "`default_nettype wire\n/* verilator lint_off DECLFILENAME */" + CONTROL));
    let line = dut.input("rxd").unwrap();
    line.set_u64(1);
    let mut serial = Serial { dut };
    serial.dut.cycles(100);
    assert_eq!(serial.read(0), (b'K', 0x4d52_4e31), "ID");
    assert_eq!(serial.write(0x20, 0x1234), b'K');
    assert_eq!(serial.read(0x20), (b'K', 0x1234), "RTO_MIN");
    let mut rng = StdRng::seed_from_u64(seed());
    let words: Vec<(u32, u32)> = (0..12).map(|i| (MEMORY + 4 * i + i % 3, rng.random())).collect();
    for (address, data) in words.iter().step_by(3) {
        assert_eq!(serial.write(*address, *data), b'K');
    }
    for (address, data) in words.iter().step_by(3) {
        assert_eq!(serial.read(*address), (b'K', *data));
    }
    // unaligned: the bytes on both sides stay
    assert_eq!(serial.write(MEMORY + 0x100, 0x4433_2211), b'K');
    assert_eq!(serial.write(MEMORY + 0x104, 0x8877_6655), b'K');
    assert_eq!(serial.write(MEMORY + 0x102, 0xddcc_bbaa), b'K');
    assert_eq!(serial.read(MEMORY + 0x100), (b'K', 0xbbaa_2211));
    assert_eq!(serial.read(MEMORY + 0x104), (b'K', 0x8877_ddcc));
    // an unknown command is answered, and the line works on
    serial.send(b"x");
    assert_eq!(serial.receive(1), b"?");
    assert_eq!(serial.read(0).0, b'K');
}

/// Writes of one port, reads of the other, at any address and length, against bytes in a vector.
#[test]
fn dma_reaches_every_byte() {
    let mut rng = StdRng::seed_from_u64(seed());
    let text = MODULES.iter().find(|m| m.0 == "host_memory").unwrap().1;
    let spec = ModelSpec { opt_level: 1, ..ModelSpec::new("host_memory", text) };
    let mut dut = build(&spec, &mut |_| {}).unwrap_or_else(|e| panic!("{e}")).instance("m", 1);
    let set = |dut: &Dut, name: &str, value: u64| dut.input(name).unwrap().set_u64(value);
    set(&dut, "reset", 1);
    dut.cycles(3);
    set(&dut, "reset", 0);
    let mut memory = vec![None; 1 << 14];
    for round in 0..200 {
        let (port, reader) = [("cw", "dr"), ("dw", "cr")][round % 2];
        let (address, length) = (rng.random_range(0..1u64 << 14), rng.random_range(1..60usize));
        set(&dut, &format!("{port}_desc_addr"), address);
        set(&dut, &format!("{port}_desc_len"), length as u64);
        hand_over(&mut dut, &format!("{port}_desc"));
        let bytes: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        for beat in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..beat.len()].copy_from_slice(beat);
            set(&dut, &format!("{port}_data"), u64::from_le_bytes(word));
            hand_over(&mut dut, port);
        }
        // dw_done is a register: one clock after the last beat, and only for a payload
        assert_eq!(dut.output("dw_done").unwrap().get_u64(), u64::from(port == "dw"), "round {round}");
        dut.cycle();
        assert_eq!(dut.output("dw_done").unwrap().get_u64(), 0);
        for (i, byte) in bytes.iter().enumerate() {
            memory[(address as usize + i) % (1 << 14)] = Some(*byte);
        }
        // a wider piece around it, bytes that were never written left out
        let (from, length) = ((address + (1 << 14) - 5) % (1 << 14), length + 10);
        set(&dut, &format!("{reader}_desc_addr"), from);
        set(&dut, &format!("{reader}_desc_len"), length as u64);
        hand_over(&mut dut, &format!("{reader}_desc"));
        let mut got: Vec<u8> = Vec::new();
        while got.len() < length {
            set(&dut, &format!("{reader}_ready"), rng.random_range(0..2));
            dut.eval();
            let taken = dut.port(&format!("{reader}_ready")).unwrap().get_u64() == 1
                && dut.output(&format!("{reader}_valid")).unwrap().get_u64() == 1;
            let beat = dut.output(&format!("{reader}_data")).unwrap().get_u64();
            if taken && reader == "cr" {
                assert_eq!(dut.output("cr_last").unwrap().get_u64() == 1, got.len() + 8 >= length);
            }
            dut.cycle();
            if taken {
                got.extend(beat.to_le_bytes());
            }
        }
        set(&dut, &format!("{reader}_ready"), 0);
        for (i, byte) in got[..length].iter().enumerate() {
            if let Some(expected) = memory[(from as usize + i) % (1 << 14)] {
                assert_eq!(*byte, expected, "round {round}, byte {i} of {length} from {from:#x}");
            }
        }
    }
}

/// Raises valid until ready has been seen at a clock edge.
fn hand_over(dut: &mut Dut, stream: &str) {
    let valid = dut.input(&format!("{stream}_valid")).unwrap();
    let ready = dut.output(&format!("{stream}_ready")).unwrap();
    valid.set_u64(1);
    for _ in 0..50 {
        dut.eval();
        let taken = ready.get_u64() == 1;
        dut.cycle();
        if taken {
            valid.set_u64(0);
            return;
        }
    }
    panic!("{stream} is never taken");
}

/// Sender and receiver back to back, with a way to damage bytes between them.
const STREAM: &str = "
module stream(input clock, input reset, input write, output ready, input [63:0] data, input [2:0] bytes, input last,
    input [7:0] damage, input error, output [7:0] line, output line_valid,
    output out_valid, input out_read, output [63:0] out_data, output [2:0] out_bytes, output out_last);
    wire v, r, l; wire [63:0] d; wire [2:0] b;
    frame_fifo t(clock, reset, write, ready, data, bytes, last, 1'b0, v, r, d, b, l);
    gmii_tx s(clock, reset, v, r, d, b, l, line, line_valid);
    wire w2, r2, l2, drop; wire [63:0] d2; wire [2:0] b2;
    gmii_rx x(clock, reset, line ^ damage, line_valid, error, w2, r2, d2, b2, l2, drop);
    frame_fifo #(.BITS(6)) q(clock, reset, w2, r2, d2, b2, l2, drop, out_valid, out_read, out_data, out_bytes, out_last);
endmodule
";

#[test]
fn frames_survive_the_byte_stream_and_damaged_ones_do_not() {
    let mut rng = StdRng::seed_from_u64(seed());
    let mut dut = model("stream", STREAM);
    let set = |dut: &Dut, name: &str, value: u64| dut.input(name).unwrap().set_u64(value);
    let get = |dut: &Dut, name: &str| dut.output(name).unwrap().get_u64();
    let mut dropped = 0;
    for round in 0..120usize {
        // the receiving memory holds 64 words: a frame of more finds no room
        let length = if round % 40 == 39 { 600 } else { rng.random_range(1..200usize) };
        let frame: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        let good = round % 3 != 1 && length < 500;
        for (i, beat) in frame.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..beat.len()].copy_from_slice(beat);
            set(&dut, "data", u64::from_le_bytes(word));
            set(&dut, "bytes", beat.len() as u64 % 8);
            set(&dut, "last", u64::from((i + 1) * 8 >= length));
            set(&dut, "write", 1);
            assert_eq!(get(&dut, "ready"), 1);
            dut.cycle();
        }
        set(&dut, "write", 0);
        let mut padded = frame.clone();
        padded.resize(length.max(60), 0);
        // one damaged byte, or an error told by the line, anywhere after the preamble
        let at = rng.random_range(0..padded.len() + 4) + 8;
        let (mut seen, mut rest) = (Vec::new(), 0);
        while rest < 16 {
            dut.eval();
            if get(&dut, "line_valid") == 1 {
                let hit = round % 3 == 1 && seen.len() == at;
                set(&dut, "damage", if hit && round % 2 == 0 { 1 << (round % 8) } else { 0 });
                set(&dut, "error", u64::from(hit && round % 2 == 1));
                seen.push(get(&dut, "line") as u8);
            }
            rest = if get(&dut, "line_valid") == 0 && !seen.is_empty() { rest + 1 } else { 0 };
            dut.cycle();
        }
        assert_eq!(&seen[..8], [0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xd5]);
        assert_eq!(seen[8..seen.len() - 4], padded);
        assert_eq!(seen[seen.len() - 4..], crc32fast::hash(&padded).to_le_bytes(), "FCS of round {round}");
        dropped += usize::from(!good);
        // all that has arrived
        let mut got: Vec<u8> = Vec::new();
        set(&dut, "out_read", 1);
        for _ in 0..80 {
            dut.eval();
            if get(&dut, "out_valid") == 1 {
                let word = get(&dut, "out_data").to_le_bytes();
                let last = get(&dut, "out_last") == 1;
                let n = if last && get(&dut, "out_bytes") != 0 { get(&dut, "out_bytes") as usize } else { 8 };
                got.extend(&word[..n]);
            }
            dut.cycle();
        }
        set(&dut, "out_read", 0);
        let want = if good { padded } else { Vec::new() };
        assert_eq!(got, want, "round {round}, {length} bytes");
    }
    assert_eq!(dropped, 42, "40 damaged, 2 of the 3 too long ones beside them");
}
