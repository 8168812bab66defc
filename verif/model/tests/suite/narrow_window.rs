//! W = 64 in a profile whose vector has 256 bits (`NicConfig::window_pkts`): R2, room(p) and S4, A1, C1 and L6, and what set-up refuses.

use mrnic_model::*;

use crate::pair::{conn_config, keys, Memory, Setup};
use crate::rules_rx::{data, Receiver};
use crate::slots::Sender;

const W: u32 = 64;

fn setup(window: u16) -> Setup {
    let own = Setup::default();
    Setup { paths: 1, window, nic: NicConfig { window_pkts: W as u16, events: true, ..own.nic }, ..own }
}

/// A NIC with one connection of one path, QP 0, and a message of `packets` packets.
fn sender(window: u16, packets: u32) -> Sender<OpenMr0> {
    let setup = setup(window);
    let mut nic = Nic::new(setup.nic).unwrap();
    nic.open_connection(0, 0, &conn_config(0, &setup)).unwrap();
    nic.open_qp(0, &QpConfig::new(0, 0x50)).unwrap();
    keys(&mut nic, 1 << 20);
    let mut s = Sender { nic, mem: Memory::new(1 << 20) };
    s.wqe(0, 0, packets * 4096);
    s
}

/// R2: cum + W - 1 is the last of the window, cum + W is out of it.
#[test]
fn r2_out_of_window() {
    for start in [0u32, 0xFF_FFE1] {
        let mut r = Receiver::<OpenMr0>::new(&Setup { start_ppsn: start, ..setup(16) });
        let at = |n: u32| data(start.wrapping_add(n) & 0xFF_FFFF);
        assert_eq!(r.data(&at(W - 1)).0, RxClass::New);
        let (class, place, _, ack) = r.data(&at(W));
        assert_eq!((class, place), (RxClass::OutOfWindow, None));
        assert!(ack.is_some(), "acknowledged at once");
        assert_eq!(r.data(&at(W - 1)).0, RxClass::Duplicate);
        assert_eq!(r.data(&at(0)).0, RxClass::New);
        assert_eq!(r.data(&at(W)).0, RxClass::New, "cum has moved by one");
    }
}

/// S2 and S4: W packets at most from the oldest missing one on, whatever the window leaves room for; the last of them asks for an
/// acknowledgment.
#[test]
fn s2_s4_a_path_has_w_packets_outstanding_at_most() {
    let mut s = sender(W as u16, 200);
    for n in 0..W {
        let packet = s.packet();
        assert_eq!((packet.ppsn, packet.ack_req), (n, n == W - 1));
    }
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::Paths));
    // half of them have arrived, the first one has not: its resend fits the window, a new packet does not
    s.ack(0, 0, &(W / 2..W).collect::<Vec<_>>(), |_| {});
    let path = s.nic.tx_path(0, 0).unwrap();
    assert!(path.room() && !path.ok(W) && path.span() == W);
    for n in 0..W / 2 {
        let packet = s.packet();
        assert_eq!((packet.ppsn, packet.rtx), (n, true));
    }
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::Paths));
    s.ack(0, 1, &(W / 2..W).collect::<Vec<_>>(), |_| {});
    let packet = s.packet();
    assert_eq!((packet.ppsn, packet.ack_req), (W, true), "span = W again");
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::Paths));
}

/// C1: the window grows to W and stays there. A1: a vector that reaches beyond what is outstanding is invalid.
#[test]
fn c1_a1_limits() {
    let mut s = sender(W as u16 - 1, 250);
    for cum in 1..=200 {
        while let Grant::Packet(_) = s.grant() {}
        s.ack(0, cum, &[], |_| {});
        assert!(s.nic.tx_path(0, 0).unwrap().win.window <= W as u16);
    }
    assert_eq!(s.nic.tx_path(0, 0).unwrap().win.window, W as u16);
    while let Grant::Packet(_) = s.grant() {}
    let before = s.nic.tx_path(0, 0).unwrap().clone();
    let step = s.ack(0, 200, &[200 + W], |_| {});
    assert_eq!(step.outcome.verdict, AckVerdict::Invalid);
    let after = s.nic.tx_path(0, 0).unwrap();
    assert_eq!((after.cum, after.next, after.pipe()), (before.cum, before.next, before.pipe()));
}

/// L6: the tolerance is W / 4 at most.
#[test]
fn l6_tolerance() {
    let mut s = sender(W as u16, 250);
    for round in 0..7u16 {
        while let Grant::Packet(_) = s.grant() {}
        // a new gap, wider than the tolerance, then a duplicate
        let cum = 20 * u32::from(round);
        s.ack(0, cum, &[cum + 40], |a| (a.flags.ts_valid, a.ts_echo) = (round == 0, 10));
        s.ack(0, cum + 1, &[], |a| a.dup_packets = round + 1);
        assert_eq!(s.nic.tx_path(0, 0).unwrap().reo_tol, (1 << round).min(W as u8 / 4));
    }
}

/// Widths that are no width, and an initial window above W, are refused; a profile with a smaller vector limits W.
#[test]
fn set_up_refuses_what_does_not_fit() {
    let nic = |window_pkts| NicConfig { window_pkts, ..NicConfig::default() };
    let bad = |window_pkts| Nic::<OpenMr0>::new(nic(window_pkts)).err();
    assert_eq!(bad(100), Some(ConfigError::PowerOfTwo { what: "window_pkts", value: 100 }));
    assert_eq!(bad(512), Some(ConfigError::Range { what: "window_pkts", value: 512, min: 64, max: 256 }));
    for most in [64u16, 128, 256] {
        let mut own = Nic::<OpenMr0>::new(nic(most)).unwrap();
        own.open_connection(0, 0, &conn_config(0, &Setup { window: most, ..setup(1) })).unwrap();
        let too_much = own.open_connection(0, 1, &conn_config(0, &Setup { window: most + 1, ..setup(1) }));
        let refused = ConfigError::Range { what: "init_window_pkts", value: most as u64 + 1, min: 1, max: most.into() };
        assert_eq!(too_much, Err(refused));
        let mut narrow = Nic::<MrcLike>::new(nic(most)).unwrap();
        assert!(narrow.open_connection(0, 1, &conn_config(0, &Setup { window: 65, ..setup(1) })).is_err());
    }
}
