//! Receives of the rig's NICs: shared queues (Q1), lists (Q3, Q4).
//!
//! In: receives to post. Out: table rows, rings, doorbells. Guarantees: nothing looks at their completions; the commit records tell.
use super::{Region, Rig, START_MSN};
use mrnic_model::config::QpConfig;
use mrnic_regs::ring;
use mrnic_sim::setup::{NodeSetup, Rings, SrqRow};
use mrnic_sim::software::{encode_list, Stream, LIST, RING_LOG2};

/// Shared receive queue 0 of a node.
pub struct Shared {
    node: usize,
    rings: Rings,
    pub posted: u64,
}

impl Rig {
    /// Posts the first receive of a queue pair that was opened with lists: `count` pieces of `list` (address, bytes, key).
    pub fn post_list(&mut self, node: usize, qp: u16, count: usize, list: &[(u64, u32, u32); LIST]) {
        let n = &mut self.nodes[node];
        let rings = n.streams[usize::from(qp)].rings;
        assert!(rings.rq_lists, "a queue pair with lists");
        let mut words = [0u32; ring::recv::BYTES / 4];
        ring::recv::NUM_SGE.set(&mut words, count as u128);
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        n.nic.memory.write(rings.rq_base, &bytes).expect("the ring");
        n.nic.memory.write(rings.rq_base + ring::wqe::BYTES as u64, &encode_list(list)).expect("the ring");
        n.nic.ring_recv(qp, 1);
        // until it has arrived
        self.cycles(2000);
    }

    /// The status of the first completion of a receive, if there is one.
    pub fn receive_status(&self, node: usize, qp: u16) -> Option<u8> {
        let n = &self.nodes[node];
        let base = n.streams[usize::from(qp)].rings.rcq_base;
        let bytes = n.nic.memory.read(base, ring::cqe::BYTES).expect("the ring");
        (bytes[2] & 1 == 1).then_some(bytes[0])
    }

    /// Opens shared receive queue 0 of `node`, in protection domain 1.
    pub fn open_shared(&mut self, node: usize) -> Shared {
        let rings = Stream::new(node, 0, &mut self.nodes[node].nic.memory).rings;
        let row = SrqRow { pd: 1, base: rings.rq_base, log2: rings.rq_log2, lists: rings.rq_lists };
        self.apply(node, NodeSetup { srqs: vec![(0, row)], ..NodeSetup::default() });
        Shared { node, rings, posted: 0 }
    }

    /// Opens a queue pair at both ends, with the same number; at that of `shared` it takes its receives from there.
    pub fn pair_with(&mut self, conn: u16, shared: &Shared) -> u16 {
        let qp = self.open_qp(1 - shared.node, conn, self.nodes[shared.node].qps, 1);
        let n = &mut self.nodes[shared.node];
        assert_eq!(qp, n.qps, "both ends number alike");
        n.qps += 1;
        let stream = Stream::new(shared.node, qp, &mut n.nic.memory);
        let rings = stream.rings;
        let config = QpConfig {
            srq: Some(0),
            pd: 1,
            tx_start_msn: START_MSN,
            rx_start_msn: START_MSN,
            cq_log2: rings.cq_log2,
            ..QpConfig::new(conn, qp.into())
        };
        n.streams.push(stream);
        self.apply(shared.node, NodeSetup { qps: vec![(qp, config, rings)], ..NodeSetup::default() });
        qp
    }

    /// Posts receives into the same memory, each with its number for wr_id.
    pub fn post_shared(&mut self, shared: &mut Shared, to: &Region, count: u64) {
        let nic = &mut self.nodes[shared.node].nic;
        for _ in 0..count {
            let mut words = [0u32; ring::recv::BYTES / 4];
            ring::recv::LKEY.set(&mut words, to.key.into());
            ring::recv::ADDR.set(&mut words, to.va.into());
            ring::recv::LENGTH.set(&mut words, to.len as u128);
            ring::recv::WR_ID.set(&mut words, shared.posted.into());
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let slot = shared.posted % (1 << RING_LOG2);
            nic.memory.write(shared.rings.rq_base + slot * bytes.len() as u64, &bytes).expect("the ring");
            shared.posted += 1;
        }
        nic.ring_recv(self.build.qps as u16, shared.posted as u16);
    }
}
