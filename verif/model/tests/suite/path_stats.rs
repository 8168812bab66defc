//! What the driver notes of each path: the sums are the NIC's own counters, and a dead path shows in the changes.

use mrnic_model::*;

use crate::fabric::FabricConfig;
use crate::pair::{write, Pair, Setup};

fn sum<C: CongestionControl>(nic: &Nic<OpenMr0, C>, paths: u8, of: impl Fn(&PathCounters) -> u64) -> u64 {
    (0..paths).map(|path| of(nic.path_counters(0, path).unwrap())).sum()
}

#[test]
fn counters_of_the_paths_add_up_to_those_of_the_nic() {
    let fabric = FabricConfig { loss: 0.05, duplicate: 0.05, mark_ticks: 5, ..FabricConfig::default() };
    let mut pair = Pair::<OpenMr0>::new(&Setup { paths: 4, fabric, ..Setup::default() });
    pair.post(0, 0, write(1, 0, 0, 1 << 20));
    pair.run_until_cqes(0, 1, 10_000_000);
    pair.run(1_000_000);
    let (nic, peer) = (&pair.nic[0], pair.nic[1].counters());
    let c = nic.counters();
    assert_eq!(sum(nic, 4, |n| n.sent), c.tx_new);
    assert_eq!(sum(nic, 4, |n| n.resent), c.tx_resent + c.tx_nops);
    assert_eq!(sum(nic, 4, |n| n.probes), c.tx_probes_tail + c.tx_probes_timeout);
    assert_eq!(sum(nic, 4, |n| n.acked), sum(nic, 4, |n| n.sent), "everything was acknowledged");
    assert_eq!(sum(nic, 4, |n| n.lost), c.lost_l1 + c.lost_l2);
    assert!(c.tx_resent > 0 && sum(nic, 4, |n| n.marks) > 0);
    assert!((1..=peer.rx_duplicates).contains(&sum(nic, 4, |n| n.duplicates)), "the last ones may not be reported");
}

/// L4, L5: a path whose plane dies becomes SUSPECT with another port, then DOWN, and UP again when probes are answered.
#[test]
fn a_plane_that_dies_and_comes_back_shows_in_the_changes() {
    let mut pair = Pair::<OpenMr0>::new(&Setup { paths: 2, ..Setup::default() });
    pair.fabric.dead[1] = true;
    pair.post(0, 0, write(1, 0, 0, 1 << 20));
    pair.run_until_cqes(0, 1, 10_000_000);
    pair.fabric.dead[1] = false;
    pair.run(10_000_000);
    let changes: Vec<PathChange> = std::iter::from_fn(|| pair.nic[0].poll_path_change()).collect();
    assert!(changes.iter().all(|change| (change.conn, change.path) == (0, 1)), "{changes:?}");
    let health: Vec<_> = changes.iter().map(|change| (change.from, change.to)).collect();
    use PathState::{Suspect, Up};
    // The transfer did not wait until it was DOWN.
    assert_eq!(health, [(Up, Suspect), (Suspect, Suspect), (Suspect, Up)]);
    assert_ne!(changes[1].port, 0xC001, "L5: the suspect path looks for another route");
    let counters = pair.nic[0].path_counters(0, 1).unwrap();
    assert!(counters.timeouts >= 2 && counters.moved > 0, "{counters:?}");
    assert_eq!(pair.nic[0].path_counters(0, 0).unwrap().timeouts, 0);
}

/// Names find their algorithm, and the algorithm behind a name does what it does on its own.
#[test]
fn congestion_control_by_name_is_the_algorithm_of_that_name() {
    for named in Congestion::ALL {
        assert_eq!(Congestion::from_name(named.name()), Some(named));
    }
    assert_eq!(Congestion::from_name("reno"), None);
    let start = congestion::Window { window: 64, ..Default::default() };
    let mut windows = [start; 4];
    let mut paths: [congestion::DctcpPath; 3] = Default::default();
    for round in 1..200 {
        let ce_delta = u32::from(round % 7 == 0) * 20;
        let sample = congestion::AckSample { now: round * 100, acked: 64, ce_delta, srtt_ticks: 100, window_max_pkts: 256 };
        Aimd.on_ack(&mut windows[0], &mut (), &sample);
        Congestion::Aimd.on_ack(&mut windows[1], &mut paths[0], &sample);
        DctcpLike.on_ack(&mut windows[2], &mut paths[1], &sample);
        Congestion::Dctcp.on_ack(&mut windows[3], &mut paths[2], &sample);
        assert_eq!((windows[0], windows[2]), (windows[1], windows[3]));
    }
    assert_ne!(windows[0], windows[2]);
}
