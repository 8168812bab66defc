//! The host's side of the AXI-Lite bus: a queue of register writes and reads, one at a time.
//!
//! In: writes and reads to do. Out: the values read. Guarantees: in order, one outstanding.
use mrnic_verilated::{Dut, Port, PortError};
use std::collections::VecDeque;

#[derive(Debug, Clone, Copy)]
enum Op {
    Write(u32, u32),
    Read(u32),
}

/// The bus.
pub struct AxiLite {
    awaddr: Port,
    awvalid: Port,
    awready: Port,
    wdata: Port,
    wvalid: Port,
    wready: Port,
    bvalid: Port,
    bready: Port,
    araddr: Port,
    arvalid: Port,
    arready: Port,
    rdata: Port,
    rvalid: Port,
    rready: Port,
    queue: VecDeque<Op>,
    busy: Option<Op>,
    /// Valids whose handshake the last edge saw.
    taken: [bool; 3],
    values: VecDeque<u32>,
    /// Accesses that are done.
    done: u64,
}

impl AxiLite {
    /// The ports `prefix_*`.
    pub fn new(dut: &Dut, prefix: &str) -> Result<Self, PortError> {
        let name = |n: &str| format!("{prefix}_{n}");
        let bus = Self {
            awaddr: dut.input(&name("awaddr"))?,
            awvalid: dut.input(&name("awvalid"))?,
            awready: dut.output(&name("awready"))?,
            wdata: dut.input(&name("wdata"))?,
            wvalid: dut.input(&name("wvalid"))?,
            wready: dut.output(&name("wready"))?,
            bvalid: dut.output(&name("bvalid"))?,
            bready: dut.input(&name("bready"))?,
            araddr: dut.input(&name("araddr"))?,
            arvalid: dut.input(&name("arvalid"))?,
            arready: dut.output(&name("arready"))?,
            rdata: dut.output(&name("rdata"))?,
            rvalid: dut.output(&name("rvalid"))?,
            rready: dut.input(&name("rready"))?,
            queue: VecDeque::new(),
            busy: None,
            taken: [false; 3],
            values: VecDeque::new(),
            done: 0,
        };
        // Corundum has strobes, the engine has not
        if let Ok(strobes) = dut.input(&name("wstrb")) {
            strobes.set_u64(0xF);
        }
        bus.bready.set_bit(true);
        bus.rready.set_bit(true);
        // what a bus before a reset had on offer is withdrawn
        for valid in [&bus.awvalid, &bus.wvalid, &bus.arvalid] {
            valid.set_bit(false);
        }
        Ok(bus)
    }

    /// Queues a write.
    pub fn write(&mut self, addr: impl Into<u32>, data: u32) {
        self.queue.push_back(Op::Write(addr.into(), data));
    }

    /// Queues a read; its value comes out of [`AxiLite::value`].
    pub fn read(&mut self, addr: impl Into<u32>) {
        self.queue.push_back(Op::Read(addr.into()));
    }

    /// The next value read.
    pub fn value(&mut self) -> Option<u32> {
        self.values.pop_front()
    }

    /// Accesses that are done.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Everything queued is done.
    pub fn idle(&self) -> bool {
        self.busy.is_none() && self.queue.is_empty()
    }

    /// Sets the inputs of this cycle.
    pub fn drive(&mut self) {
        for (taken, valid) in self.taken.iter_mut().zip([&self.awvalid, &self.wvalid, &self.arvalid]) {
            if std::mem::take(taken) {
                valid.set_bit(false);
            }
        }
        if self.busy.is_some() {
            return;
        }
        let Some(op) = self.queue.pop_front() else { return };
        match op {
            Op::Write(addr, data) => {
                self.awaddr.set_u64(addr.into());
                self.wdata.set_u64(data.into());
                self.awvalid.set_bit(true);
                self.wvalid.set_bit(true);
            }
            Op::Read(addr) => {
                self.araddr.set_u64(addr.into());
                self.arvalid.set_bit(true);
            }
        }
        self.busy = Some(op);
    }

    /// Before the rising edge.
    pub fn sample(&mut self) {
        match self.busy {
            None => {}
            Some(Op::Write(..)) => {
                self.taken[0] |= self.awvalid.get_bit() && self.awready.get_bit();
                self.taken[1] |= self.wvalid.get_bit() && self.wready.get_bit();
                if self.bvalid.get_bit() {
                    self.done += 1;
                    self.busy = None;
                }
            }
            Some(Op::Read(_)) => {
                self.taken[2] |= self.arvalid.get_bit() && self.arready.get_bit();
                if self.rvalid.get_bit() {
                    self.values.push_back(self.rdata.get_u64() as u32);
                    self.done += 1;
                    self.busy = None;
                }
            }
        }
    }
}
