//! Packets on their way, in one array whose places are used again.
//!
//! In: a packet that leaves a host. Out: its number, by which events name it. Guarantees that nothing is allocated for a packet
//! once as many have been on their way at a time before.
use crate::topology::Route;

/// A packet on its way.
#[derive(Debug, Clone, Copy)]
pub struct Flight<H> {
    pub header: H,
    pub route: Route,
    /// Place in the route.
    pub hop: u8,
    pub ecn_ce: bool,
    pub is_ack: bool,
    pub dst: u32,
    pub flow: u32,
    pub bytes: u32,
}

/// All of them.
#[derive(Debug)]
pub struct Flights<H> {
    all: Vec<Flight<H>>,
    free: Vec<u32>,
}

impl<H: Copy> Flights<H> {
    pub fn new() -> Self {
        Flights { all: Vec::new(), free: Vec::new() }
    }

    pub fn insert(&mut self, flight: Flight<H>) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.all[at as usize] = flight;
                at
            }
            None => {
                self.all.push(flight);
                self.all.len() as u32 - 1
            }
        }
    }

    pub fn get(&mut self, at: u32) -> &mut Flight<H> {
        &mut self.all[at as usize]
    }

    /// The place may be used again; what stands there stays readable until then.
    pub fn release(&mut self, at: u32) {
        self.free.push(at);
    }

    /// Packets on their way.
    pub fn live(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// Most packets that were on their way at a time.
    pub fn most(&self) -> usize {
        self.all.len()
    }
}

impl<H: Copy> Default for Flights<H> {
    fn default() -> Self {
        Self::new()
    }
}
