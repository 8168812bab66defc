//! Traffic of others through the same port: what the host's stack sends and what arrives for it.
//!
//! In: chance. Out: frames of many kinds, none of them ours by the rule of docs/corundum.md, some very near to it.
//! Guarantees: what went in must come out with the same bytes and tuser, in the same order.
use super::frames::Frame;
use mrnic_wire::open_mr_0::UDP_PORT;
use rand::rngs::SmallRng;
use rand::Rng;
use std::collections::VecDeque;

/// One direction: what has gone in and not come out.
#[derive(Default)]
pub struct Expected {
    frames: VecDeque<Frame>,
    passed: u64,
}

impl Expected {
    /// A frame goes in.
    pub fn push(&mut self, frame: Frame) {
        self.frames.push_back(frame);
    }

    /// A frame has come out.
    pub fn check(&mut self, got: &Frame, way: &str) -> Result<(), String> {
        match self.frames.pop_front() {
            None => Err(format!("{way}: a frame of {} bytes came out that did not go in", got.bytes.len())),
            Some(sent) if sent == *got => {
                self.passed += 1;
                Ok(())
            }
            Some(sent) if sent.bytes == got.bytes => {
                Err(format!("{way}: tuser went in as {:#x} and came out as {:#x}", sent.user, got.user))
            }
            Some(sent) => {
                let at = sent.bytes.iter().zip(&got.bytes).position(|(a, b)| a != b);
                let at = at.unwrap_or(sent.bytes.len().min(got.bytes.len()));
                let lengths = (sent.bytes.len(), got.bytes.len());
                Err(format!("{way}: frame {} came out changed at byte {at} (lengths {lengths:?})", self.passed))
            }
        }
    }

    /// Frames that have come out.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Frames that have not.
    pub fn missing(&self) -> usize {
        self.frames.len()
    }
}

fn put(frame: &mut [u8], at: usize, bytes: &[u8]) {
    frame[at..at + bytes.len()].copy_from_slice(bytes);
}

/// A frame that is not ours.
pub fn frame(rng: &mut SmallRng) -> Vec<u8> {
    let len = match rng.random_range(0..4) {
        0 => rng.random_range(60..=80),
        1 => rng.random_range(60..=600),
        2 => 64 * rng.random_range(1..=9usize),
        _ => rng.random_range(60..=1514),
    };
    let mut f: Vec<u8> = (0..len).map(|_| rng.random()).collect();
    // bytes 5 of the addresses name no node of the simulation
    (f[0], f[5], f[6]) = (2, 0xEE, 2);
    let port = UDP_PORT.to_be_bytes();
    let other = loop {
        let p: u16 = rng.random();
        if p != UDP_PORT {
            break p.to_be_bytes();
        }
    };
    // a tag moves everything behind it
    let tag = if rng.random_bool(0.25) { 4 } else { 0 };
    if tag == 4 {
        put(&mut f, 12, &[0x81, 0]);
    }
    let ip = 14 + tag;
    match rng.random_range(0..9) {
        // ARP
        0 => put(&mut f, 12 + tag, &[0x08, 0x06]),
        // TCP to the number of our port
        1 => {
            put(&mut f, 12 + tag, &[0x08, 0]);
            put(&mut f, ip, &[0x45]);
            put(&mut f, ip + 6, &[0x40, 0]);
            put(&mut f, ip + 9, &[6]);
            put(&mut f, ip + 22, &port);
        }
        // UDP to another port, from ours
        2 => {
            put(&mut f, 12 + tag, &[0x08, 0]);
            put(&mut f, ip, &[0x45]);
            put(&mut f, ip + 6, &[0x40, 0]);
            put(&mut f, ip + 9, &[17]);
            put(&mut f, ip + 20, &port);
            put(&mut f, ip + 22, &other);
        }
        // a fragment
        3 => {
            put(&mut f, 12 + tag, &[0x08, 0]);
            put(&mut f, ip, &[0x45]);
            put(&mut f, ip + 6, if rng.random() { &[0x20, 0] } else { &[0, 0xB9] });
            put(&mut f, ip + 9, &[17]);
            put(&mut f, ip + 22, &port);
        }
        // IPv4 with options
        4 => {
            put(&mut f, 12 + tag, &[0x08, 0]);
            put(&mut f, ip, &[0x46]);
            put(&mut f, ip + 6, &[0x40, 0]);
            put(&mut f, ip + 9, &[17]);
            put(&mut f, ip + 22, &port);
            put(&mut f, ip + 26, &port);
        }
        // IPv6, UDP to another port; too short for one now and then
        5 => {
            put(&mut f, 12 + tag, &[0x86, 0xDD]);
            put(&mut f, ip, &[0x60]);
            put(&mut f, ip + 6, &[17]);
            if ip + 44 <= f.len() {
                put(&mut f, ip + 42, &other);
            }
        }
        // IPv6, TCP or an extension header
        6 => {
            put(&mut f, 12 + tag, &[0x86, 0xDD]);
            put(&mut f, ip, &[0x60]);
            put(&mut f, ip + 6, if rng.random() { &[6] } else { &[44] });
            if ip + 44 <= f.len() {
                put(&mut f, ip + 42, &port);
            }
        }
        // two tags
        7 => {
            put(&mut f, 12, &[0x81, 0]);
            put(&mut f, 16, &[0x81, 0]);
            put(&mut f, 20, &[0x08, 0, 0x45]);
        }
        // a length instead of an ethertype
        _ => put(&mut f, 12, &(len as u16 - 14).to_be_bytes()),
    }
    f
}

/// A frame that the host sends to our port, as RoCEv2 in software would.
pub fn to_our_port(rng: &mut SmallRng) -> Vec<u8> {
    let mut f = frame(rng);
    put(&mut f, 12, &[0x08, 0, 0x45]);
    put(&mut f, 20, &[0x40, 0]);
    put(&mut f, 23, &[17]);
    put(&mut f, 36, &UDP_PORT.to_be_bytes());
    f
}
