//! Leaf-spine planes: which links there are, and which way a packet takes.
//!
//! In: the `[network]` table. Out: numbers of links, next hops. Every host has one port on each plane; in a plane every leaf
//! is connected with every spine. ECMP: the spine follows from a hash of the five-tuple.
use crate::network::config::NetworkConfig;

/// Where a link ends or begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// Host to leaf.
    Uplink {
        host: usize,
    },
    /// Leaf to host.
    Downlink {
        host: usize,
    },
    LeafToSpine {
        leaf: usize,
        spine: usize,
    },
    SpineToLeaf {
        spine: usize,
        leaf: usize,
    },
}

/// What a switch hashes (the destination port and the protocol are the same everywhere).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FiveTuple {
    pub src: u32,
    pub dst: u32,
    pub source_port: u16,
}

/// Sizes of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topology {
    pub hosts: usize,
    pub hosts_per_leaf: usize,
    pub leaves: usize,
    pub spines: usize,
    pub planes: usize,
}

impl Topology {
    /// The sizes of a checked configuration.
    pub fn of(config: &NetworkConfig) -> Self {
        let hosts_per_leaf = config.hosts_per_leaf;
        let leaves = config.hosts.div_ceil(hosts_per_leaf);
        Topology { hosts: config.hosts, hosts_per_leaf, leaves, spines: config.spines, planes: config.planes }
    }

    pub fn leaf_of(&self, host: usize) -> usize {
        host / self.hosts_per_leaf
    }

    /// Links of the whole network. The ports of one host stand side by side.
    pub fn links(&self) -> usize {
        2 * self.planes * (self.hosts + self.leaves * self.spines)
    }

    pub fn uplink(&self, plane: usize, host: usize) -> usize {
        host * self.planes + plane
    }

    pub fn downlink(&self, plane: usize, host: usize) -> usize {
        self.planes * self.hosts + plane * self.hosts + host
    }

    pub fn leaf_to_spine(&self, plane: usize, leaf: usize, spine: usize) -> usize {
        2 * self.planes * self.hosts + (plane * self.leaves + leaf) * self.spines + spine
    }

    pub fn spine_to_leaf(&self, plane: usize, spine: usize, leaf: usize) -> usize {
        let before = 2 * self.planes * self.hosts + self.planes * self.leaves * self.spines;
        before + (plane * self.spines + spine) * self.leaves + leaf
    }

    /// Plane and kind of a link.
    pub fn kind(&self, link: usize) -> (usize, LinkKind) {
        let (ports, between) = (self.planes * self.hosts, self.planes * self.leaves * self.spines);
        if link < ports {
            return (link % self.planes, LinkKind::Uplink { host: link / self.planes });
        }
        if link < 2 * ports {
            return ((link - ports) / self.hosts, LinkKind::Downlink { host: (link - ports) % self.hosts });
        }
        let at = link - 2 * ports;
        if at < between {
            let (pair, spine) = (at / self.spines, at % self.spines);
            return (pair / self.leaves, LinkKind::LeafToSpine { leaf: pair % self.leaves, spine });
        }
        let (pair, leaf) = ((at - between) / self.leaves, (at - between) % self.leaves);
        (pair / self.spines, LinkKind::SpineToLeaf { spine: pair % self.spines, leaf })
    }

    /// The links from host to host in `plane`.
    pub fn route(&self, plane: usize, tuple: &FiveTuple) -> Route {
        let (src, dst) = (tuple.src as usize, tuple.dst as usize);
        let (from, to) = (self.leaf_of(src), self.leaf_of(dst));
        let (first, last) = (self.uplink(plane, src) as u32, self.downlink(plane, dst) as u32);
        if from == to {
            return Route { links: [first, last, 0, 0], hops: 2 };
        }
        let spine = spine_of(tuple, plane, self.spines);
        let up = self.leaf_to_spine(plane, from, spine) as u32;
        let down = self.spine_to_leaf(plane, spine, to) as u32;
        Route { links: [first, up, down, last], hops: 4 }
    }
}

/// The way of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    pub links: [u32; 4],
    pub hops: u8,
}

/// Mixes 64 bits (the finaliser of splitmix64).
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// ECMP: the spine of a five-tuple. Each plane has a hash of its own.
pub fn spine_of(tuple: &FiveTuple, plane: usize, spines: usize) -> usize {
    let ends = u64::from(tuple.src) << 32 | u64::from(tuple.dst);
    let hash = mix(mix(ends ^ 0x9E37_79B9_7F4A_7C15) ^ (u64::from(tuple.source_port) << 16 | plane as u64));
    (((hash >> 32) * spines as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Topology = Topology { hosts: 20, hosts_per_leaf: 8, leaves: 3, spines: 5, planes: 2 };

    #[test]
    fn every_link_has_one_number_and_back() {
        for link in 0..T.links() {
            let (plane, kind) = T.kind(link);
            let again = match kind {
                LinkKind::Uplink { host } => T.uplink(plane, host),
                LinkKind::Downlink { host } => T.downlink(plane, host),
                LinkKind::LeafToSpine { leaf, spine } => T.leaf_to_spine(plane, leaf, spine),
                LinkKind::SpineToLeaf { spine, leaf } => T.spine_to_leaf(plane, spine, leaf),
            };
            assert_eq!(again, link, "{kind:?}");
        }
    }

    #[test]
    fn every_pair_is_connected_in_its_plane_over_two_or_four_links() {
        for (src, dst) in (0..20u32).flat_map(|s| (0..20u32).map(move |d| (s, d))).filter(|(s, d)| s != d) {
            for plane in 0..2 {
                let tuple = FiveTuple { src, dst, source_port: 0xC000 };
                let route = T.route(plane, &tuple);
                let way = &route.links[..route.hops as usize];
                let kinds: Vec<_> = way.iter().map(|&link| T.kind(link as usize)).collect();
                assert!(kinds.iter().all(|(p, _)| *p == plane));
                let (up, down) = (LinkKind::Uplink { host: src as usize }, LinkKind::Downlink { host: dst as usize });
                assert_eq!((kinds[0].1, kinds[kinds.len() - 1].1), (up, down));
                if let [_, (_, LinkKind::LeafToSpine { leaf: from, spine }), (_, middle), _] = kinds[..] {
                    let to = T.leaf_of(dst as usize);
                    assert_eq!((from, middle), (T.leaf_of(src as usize), LinkKind::SpineToLeaf { spine, leaf: to }));
                }
                assert_eq!(way.len(), if src / 8 == dst / 8 { 2 } else { 4 });
            }
        }
    }

    #[test]
    fn ecmp_depends_on_the_five_tuple_only_and_spreads_ports_evenly() {
        let tuple = |source_port| FiveTuple { src: 3, dst: 17, source_port };
        let mut hits = [0u32; 8];
        for port in 0xC000..0xC000 + 8000u16 {
            let spine = spine_of(&tuple(port), 1, 8);
            assert_eq!(spine, spine_of(&tuple(port), 1, 8));
            hits[spine] += 1;
        }
        assert!(hits.iter().all(|&n| (850..1150).contains(&n)), "{hits:?}");
        let differs = |a: FiveTuple, b: FiveTuple| (0..64).filter(|&p| spine_of(&a, p, 8) != spine_of(&b, p, 8)).count();
        assert!(differs(tuple(1), FiveTuple { src: 4, ..tuple(1) }) > 40);
        assert!(differs(tuple(1), FiveTuple { dst: 4, ..tuple(1) }) > 40);
        assert!(differs(tuple(1), tuple(2)) > 40);
    }
}
