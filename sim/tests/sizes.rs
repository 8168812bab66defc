//! WRITEs of every interesting size at every kind of address.
//!
//! In: sizes around the MTU, zero, and up to 1 MiB. Out: memory, byte by byte. Guarantees: each byte is written once,
//! nothing beyond, one CQE for each WQE in order; every step agrees with the golden model.
mod rig;

use rig::{writable, Rig};

/// Sizes of one MTU each way, on four queue pairs of one connection, zero-length WRITEs between the others.
fn sizes_at(mtu_log2: u8, paths: u8, ipv6: bool, last: usize) {
    let mtu = 1usize << mtu_log2;
    let mut rig = Rig::new();
    rig.open(0, &|c| {
        c.mtu_log2 = mtu_log2;
        c.paths = paths;
        if ipv6 {
            c.addr = rig::address(usize::from(c.addr.src_mac[5]) - 1, true);
        }
    });
    let qps: Vec<u16> = (0..4).map(|_| rig.pair(0)).collect();
    let sizes = [0, 1, mtu - 1, 0, mtu, mtu + 1, 0, 2 * mtu, 3, last, 0];
    let mut copied = Vec::new();
    let mut bytes = 0;
    for (i, size) in sizes.into_iter().enumerate() {
        let (from, to) = (i % 2, 1 - i % 2);
        // local and remote differ in their place in a beat, and cross pages
        let local = rig.filled(from, size, 4095 - 7 * i as u64);
        let remote = rig.region(to, size + 64, 1 + 13 * i as u64, writable(), 1);
        rig.post(from, qps[i % qps.len()], &local, &remote, size);
        copied.push((from, local, remote, size));
        bytes += size.div_ceil(mtu).max(1);
    }
    rig.run();
    let counters = rig.finish();
    for (from, local, remote, size) in &copied {
        rig.assert_copied((*from, local), (1 - from, remote), *size);
    }
    let new: u64 = counters.iter().map(|c| c.get("TX_NEW")).sum();
    assert_eq!(new, bytes as u64, "packets: one for each MTU begun, one for nothing");
    assert_eq!(counters.iter().map(|c| c.get("CQE")).sum::<u64>(), sizes.len() as u64);
}

#[test]
fn sizes_around_an_mtu_of_4096() {
    sizes_at(12, 8, false, 64 << 10);
}

#[test]
fn sizes_around_an_mtu_of_256_over_ipv6() {
    sizes_at(8, 4, true, 8 << 10);
}

#[test]
fn sizes_around_an_mtu_of_1024_on_one_path() {
    sizes_at(10, 1, false, 8 << 10);
}

#[test]
fn a_mebibyte_to_an_odd_address() {
    sizes_at(11, 8, false, 1 << 20);
}

/// Small WRITEs at every offset in a beat of 16 bytes, into one region.
#[test]
fn every_offset_in_a_beat() {
    let mut rig = Rig::new();
    rig.open(0, &|c| c.mtu_log2 = 8);
    let qp = rig.pair(0);
    let local = rig.filled(0, 4096, 0);
    let remote = rig.region(1, 4096, 5, writable(), 1);
    let mut at = 0;
    for i in 0..64u64 {
        let length = (1 + i * 7 % 37) as u32;
        let mut w = rig::write(&local, &remote, length);
        w.local += at;
        w.remote += at;
        at += u64::from(length);
        rig.post_write(0, qp, w);
    }
    rig.run();
    rig.finish();
    rig.assert_copied((0, &local), (1, &remote), at as usize);
}

/// More WRITEs than the rings hold, so that both rings, the MSN (24 bits) and the phase bit wrap.
#[test]
fn rings_wrap() {
    let mut rig = Rig::new();
    rig.open(0, &|_| {});
    let qp = rig.pair(0);
    let local = rig.filled(0, 200, 1);
    let remote = rig.region(1, 200, 2, writable(), 1);
    for i in 0..200 {
        let mut w = rig::write(&local, &remote, 1);
        w.local += i;
        w.remote += i;
        rig.post_write(0, qp, w);
    }
    rig.run();
    assert_eq!(rig.finish()[0].get("CQE"), 200);
    rig.assert_copied((0, &local), (1, &remote), 200);
}
