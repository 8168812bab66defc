//! Round trips as a sender measures them: the number that settles the figure of the incast.
use mrnic_cluster::endpoint::{Arrival, FlowEnd, Host, Next};
use mrnic_cluster::time::{Ps, PS_PER_US};
use mrnic_cluster::{Endpoint, MetaRoce256, MetaRoceConfig};

fn endpoint(host: u32) -> MetaRoce256 {
    let end = FlowEnd { flow: 0, sends: host == 0, host, peer: 1 - host, peer_slot: 0, entropy: 5 };
    MetaRoce256::build(&MetaRoceConfig::default(), &Host { host, flows: &[end], planes: 8, rate_gbps: 400.0 }).unwrap()
}

/// Hands over all that one has for the other.
fn carry(now: Ps, from: &mut MetaRoce256, to: &mut MetaRoce256) -> usize {
    let mut packets = 0;
    while let Next::Packet(p) = from.next(now, 0) {
        to.receive(now, &Arrival { header: &p.header, ecn_ce: false });
        packets += 1;
    }
    packets
}

#[test]
fn a_round_trip_ends_with_the_acknowledgment_of_its_first_packet() {
    let (mut sender, mut receiver) = (endpoint(0), endpoint(1));
    sender.post(0, 0, 1 << 24);
    for trip in 0..10u32 {
        let now = Ps::from(trip) * 7 * PS_PER_US;
        assert_eq!(sender.round_trips(0), Some(trip), "nothing is acknowledged before it arrived");
        assert!(carry(now, &mut sender, &mut receiver) > 1, "a window");
        let now = now + 7 * PS_PER_US - 1;
        assert!(carry(now, &mut receiver, &mut sender) > 1, "several acknowledgments are one round trip");
    }
    assert_eq!(sender.round_trips(0), Some(10));
}
