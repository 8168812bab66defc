//! What software sets up before a scenario runs.
//!
//! In: a scenario and the nodes' memories. Out: connections; buffers, keys, queue pairs, WQEs and receives of its traffic, and what they must leave.
//! Guarantees: the same seed makes the same set-up.
use super::{conn_index, Node, RunError};
use crate::atomics::{Atomics, WORD};
use crate::fabric::port_on_plane;
use crate::receiver::{Receive, Receiver};
use crate::scenario::{Op, Scenario, Traffic};
use crate::setup::{NodeSetup, SrqRow};
use crate::software::{pattern, Stream, Transfer, Write, LIST};
use mrnic_model::config::{key_of, ConnConfig, KeyConfig, QpAccess, QpConfig, Rights, RATE_UNLIMITED};
use mrnic_nic::config::BuildConfig;
use mrnic_regs::code;
use mrnic_wire::NetAddr;
use rand::rngs::SmallRng;
use rand::Rng;
use std::sync::Arc;

/// Time for the first receives to be posted before messages use them.
const HEAD_START_PS: u64 = 10_000_000;
/// Difference between the addresses of software and those of the bus, so that a missing translation shows.
const TRANSLATION: u64 = 0x7000_0000_0000;
/// Bytes between two pieces of memory, at most.
const GAP: usize = 64;

fn address(ipv6: bool, from: usize, to: usize) -> NetAddr {
    let mac = |n: usize| [2, 0, 0, 0, 0, n as u8 + 1];
    let v4 = |n: usize| [10, 0, 0, n as u8 + 1];
    let v6 = |n: usize| [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n as u8 + 1];
    if ipv6 {
        NetAddr::v6(mac(from), mac(to), v6(from), v6(to))
    } else {
        NetAddr::v4(mac(from), mac(to), v4(from), v4(to))
    }
}

/// Opens a connection between each two nodes.
pub(super) fn connections(scenario: &Scenario, rng: &mut SmallRng) -> Vec<NodeSetup> {
    let c = &scenario.connection;
    let mut setups = vec![NodeSetup::default(); scenario.nics];
    for a in 0..scenario.nics {
        for b in a + 1..scenario.nics {
            let starts: Vec<[u32; 2]> = (0..8).map(|_| [rng.random_range(0..1 << 24), rng.random_range(0..1 << 24)]).collect();
            for (from, to, tx) in [(a, b, 0), (b, a, 1)] {
                let mut conn = ConnConfig::new(conn_index(to, from), c.paths as u8, address(c.ipv6, from, to));
                conn.mtu_log2 = c.mtu_bytes.ilog2() as u8;
                conn.init_window_pkts = c.init_window as u16;
                conn.retry_cnt = c.retry_cnt as u8;
                conn.init_hint_mbps = c.init_hint_mbps.unwrap_or(RATE_UNLIMITED);
                for (p, path) in conn.path.iter_mut().enumerate() {
                    path.enabled = p < c.paths;
                    path.udp_port = port_on_plane(rng.random(), p % scenario.fabric.planes, scenario.fabric.planes);
                    path.tx_start_ppsn = starts[p][tx];
                    path.rx_start_ppsn = starts[p][1 - tx];
                }
                setups[from].connections.push((conn_index(from, to), conn));
            }
        }
    }
    for s in &mut setups {
        s.connections.sort_by_key(|c| c.0);
    }
    setups
}

/// Makes buffers, keys, queue pairs and WQEs.
pub(super) fn traffic(
    scenario: &Scenario,
    build: &BuildConfig,
    nodes: &mut [Node],
    setups: &mut [NodeSetup],
    rng: &mut SmallRng,
) -> Result<(Vec<Transfer>, Vec<Atomics>), RunError> {
    let (mut transfers, mut all_atomics) = (Vec::new(), Vec::new());
    let start_ps = nodes[0].nic.now_ps();
    for (i, t) in scenario.traffic.iter().enumerate() {
        let len = t.bytes as usize;
        // the data of a READ goes the other way
        let reads = t.op == Op::Read;
        let local = nodes[t.from].nic.memory.allocate(len.max(1), t.misalign[0], t.op.is_request());
        let atomics = match t.op {
            Op::FetchAdd => Some(Atomics::fetch_adds(t.messages() as usize, rng)),
            Op::CompareSwap => Some(Atomics::compare_swaps(t.messages() as usize, t.qps, rng)),
            _ => None,
        };
        // each receive has room for a longest message
        let room = match &atomics {
            Some(atomics) => atomics.start.len() as u64 * WORD,
            None if t.op.is_send() => t.messages() * t.message_bytes,
            None => t.bytes,
        };
        let remote = nodes[t.to].nic.memory.allocate(room.max(1) as usize, t.misalign[1], !t.op.is_request());
        let sent = pattern(scenario.seed ^ (i as u64) << 40, len);
        let (holder, at) = if reads { (t.to, remote) } else { (t.from, local) };
        match &atomics {
            Some(atomics) => {
                let words: Vec<u8> = atomics.start.iter().flat_map(|w| w.to_le_bytes()).collect();
                nodes[t.to].nic.memory.write(remote, &words)?;
            }
            None => nodes[holder].nic.memory.write(at, &sent)?,
        }
        let mtu = scenario.connection.mtu_bytes;
        let of_message = |m: u64| t.message_bytes.min(t.bytes - m * t.message_bytes);
        let cuts: Vec<Vec<u32>> = (0..t.messages()).map(|m| cut(t.pieces, of_message(m), mtu, rng)).collect();
        // a receive has room for a longest message
        let receive_cuts: Vec<Vec<u32>> = match t.receive_pieces {
            1 => Vec::new(),
            pieces => (0..t.messages()).map(|_| cut(pieces, t.message_bytes, mtu, rng)).collect(),
        };
        let mut region = |node: usize, base: u64, length: u64, rights: Rights| -> Result<u32, RunError> {
            let index = setups[node].keys.len() as u32 + 1;
            if index as usize >= build.keys {
                return Err(RunError::Setup(format!("node {node} needs more than the {} keys of the build", build.keys)));
            }
            let key_low = rng.random();
            let key = KeyConfig { valid: true, key_low, pd: 1, rights, base: base ^ TRANSLATION, length, dma_base: base };
            setups[node].keys.push((index, key));
            Ok(key_of(index, key.key_low))
        };
        let lkey = region(t.from, local, t.bytes, Rights { local_write: t.op.is_request(), ..Rights::default() })?;
        // pieces lie apart, in memory of their own
        let room_of_pieces = t.bytes as usize + cuts.iter().map(Vec::len).sum::<usize>() * GAP;
        let (mut next_piece, mut list_key) = (0, 0);
        let gathers = t.pieces > 1 && !t.op.is_request();
        if gathers {
            next_piece = nodes[t.from].nic.memory.allocate(room_of_pieces, t.misalign[0], false);
            list_key = region(t.from, next_piece, room_of_pieces as u64, Rights::default())?;
        }
        let rights = Rights {
            remote_write: !t.op.is_send() && !t.op.is_request(),
            local_write: t.op.is_send(),
            remote_read: reads,
            remote_atomic: t.op.is_atomic(),
        };
        let rkey = region(t.to, remote, room - t.beyond_bytes, rights)?;
        let first_stream = nodes[t.from].streams.len();
        let first_receiver = nodes[t.to].receivers.len();
        let mut streams = Vec::new();
        let srq = t.shared.then(|| setups[t.to].srqs.len() as u16);
        if let Some(srq) = srq {
            let mut rings = Stream::new(t.to, 0, &mut nodes[t.to].nic.memory).rings;
            rings.rq_lists = t.receive_pieces > 1;
            let row = SrqRow { pd: 1, base: rings.rq_base, log2: rings.rq_log2, lists: rings.rq_lists };
            setups[t.to].srqs.push((srq, row));
            nodes[t.to].receivers.push(Receiver::of_shared(t.to, build.qps as u16 + srq, rings));
        }
        for _ in 0..t.qps {
            let (qa, qb) = (setups[t.from].qps.len() as u16, setups[t.to].qps.len() as u16);
            let msn: [u32; 2] = [rng.random_range(0..1 << 24), rng.random_range(0..1 << 24)];
            for (node, peer, qp, peer_qp, dir) in [(t.from, t.to, qa, qb, 0), (t.to, t.from, qb, qa, 1)] {
                let mut stream = Stream::new(node, qp, &mut nodes[node].nic.memory);
                stream.rings.sq_lists = t.pieces > 1;
                stream.rings.rq_lists = t.receive_pieces > 1 && dir == 1;
                let mut q = QpConfig::new(conn_index(node, peer), u32::from(peer_qp));
                q.pd = 1;
                q.tx_start_msn = msn[dir];
                q.rx_start_msn = msn[1 - dir];
                q.cq_log2 = stream.rings.cq_log2;
                q.rnr_retry = t.rnr_retry;
                (q.max_rd_atomic, q.max_dest_rd_atomic) = (t.outstanding, t.places);
                q.min_rnr_timer = t.rnr_timer;
                q.srq = srq.filter(|_| dir == 1).map(u32::from);
                if t.denied {
                    q.access = QpAccess { remote_write: false, remote_read: false, remote_atomic: false };
                }
                setups[node].qps.push((qp, q, stream.rings));
                if dir == 0 {
                    streams.push((qp, msn[0]));
                    nodes[node].streams.push(stream);
                } else {
                    let receiver = Receiver::new(node, qp, stream.rings);
                    nodes[node].receivers.push(match srq {
                        Some(srq) => receiver.taking_from(build.qps as u16 + srq, remote, t.message_bytes),
                        None => receiver,
                    });
                }
            }
        }
        let sent: Arc<[u8]> = sent.into();
        for m in 0..t.messages() {
            let (offset, stream) = (m * t.message_bytes, m as usize % t.qps);
            let length = t.message_bytes.min(t.bytes - offset) as u32;
            let imm = if t.op.has_imm() { rng.random() } else { 0 };
            let solicited = t.op.is_consuming() && m % 3 == 0;
            let operation = atomics.as_ref().map(|a| a.operations[m as usize]);
            let mut list = [(0, 0, 0); LIST];
            let mut done = offset as usize;
            if t.pieces > 1 && t.op.is_request() {
                // it comes to one piece of memory in the end, so that it can be compared
                list = list_of(&cuts[m as usize], lkey, (local ^ TRANSLATION) + offset);
            }
            for (sge, bytes) in list.iter_mut().zip(&cuts[m as usize]).filter(|_| gathers) {
                let data = &sent[done..done + *bytes as usize];
                nodes[t.from].nic.memory.write(next_piece, data)?;
                // one without bytes touches no key
                *sge = (next_piece ^ TRANSLATION, *bytes, if data.is_empty() { !list_key } else { list_key });
                done += data.len();
                next_piece += u64::from(*bytes) + rng.random_range(0..GAP as u64);
            }
            let write = Write {
                local: (local ^ TRANSLATION) + offset,
                lkey,
                remote: match operation {
                    Some(operation) => (remote ^ TRANSLATION) + operation.word as u64 * WORD,
                    None if t.op.is_send() => 0,
                    None => (remote ^ TRANSLATION) + offset,
                },
                rkey: match t.bad_message {
                    Some(bad) if bad == m => !rkey,
                    _ if t.op.is_send() => 0,
                    _ => rkey,
                },
                length,
                expect: expected_status(t),
                any_status: t.bad_message.is_some(),
                opcode: t.op.opcode(),
                imm,
                solicited,
                pieces: if t.pieces > 1 { cuts[m as usize].len() as u8 } else { 0 },
                list,
                fence: t.fence_every > 0 && m % t.fence_every == t.fence_every - 1,
                swap_add: operation.map_or(0, |o| o.swap_add),
                compare: operation.map_or(0, |o| o.compare),
            };
            let head_start = if t.op.is_consuming() { HEAD_START_PS } else { 0 };
            nodes[t.from].streams[first_stream + stream].add(write, start_ps + head_start + t.start_ns * 1000);
            if !t.op.is_consuming() || !t.receives {
                continue;
            }
            let has_memory = t.op.is_send();
            let late_ns = t.receive_gap_ns * (m / t.qps as u64 + 1);
            let cuts_here = receive_cuts.get(m as usize).map_or(&[][..], Vec::as_slice);
            let receive = Receive {
                at_ps: if t.receive_gap_ns == 0 { 0 } else { start_ps + HEAD_START_PS + (t.start_ns + late_ns) * 1000 },
                addr: if has_memory { (remote ^ TRANSLATION) + offset } else { 0 },
                lkey: if has_memory { rkey } else { 0 },
                room: if has_memory { t.message_bytes as u32 } else { 0 },
                pieces: cuts_here.len() as u8,
                list: list_of(cuts_here, rkey, (remote ^ TRANSLATION) + offset),
                expect: if t.beyond_bytes == 0 {
                    code::STATUS_SUCCESS
                } else if has_memory {
                    code::STATUS_LOC_PROT_ERR
                } else {
                    code::STATUS_WR_FLUSH_ERR
                },
                length,
                imm: t.op.has_imm().then_some(imm),
                solicited,
                by_write: t.op == Op::WriteImm,
                data_at: remote + offset,
                sent: (sent.clone(), offset as usize),
            };
            let receivers = &mut nodes[t.to].receivers[first_receiver..];
            if t.shared {
                receivers[0].add(receive.clone());
            }
            receivers[usize::from(t.shared) + stream].add(receive);
        }
        // which receive of a shared queue holds which message, only the completions tell; the receiver has looked at each of them
        if t.bad_message.is_some() || (t.shared && t.op.is_send()) {
            continue;
        }
        if let Some(mut atomics) = atomics {
            (atomics.from, atomics.local, atomics.to, atomics.remote) = (t.from, local, t.to, remote);
            all_atomics.push(atomics);
            continue;
        }
        // without a receive nothing is placed
        let beyond = if t.receives && !t.denied { t.beyond_bytes } else { t.bytes };
        let (bytes, message_bytes) = (t.bytes, t.message_bytes);
        let there = Transfer { from: t.from, to: t.to, local, remote, bytes, beyond, message_bytes, streams, answers: reads };
        transfers.push(if reads { Transfer { from: t.to, to: t.from, local: remote, remote: local, ..there } } else { there });
    }
    Ok((transfers, all_atomics))
}

/// Pieces of those lengths, one after the other; one without bytes has a key that is not there.
fn list_of(cuts: &[u32], key: u32, mut at: u64) -> [(u64, u32, u32); LIST] {
    let mut list = [(0, 0, 0); LIST];
    for (sge, bytes) in list.iter_mut().zip(cuts) {
        *sge = (at, *bytes, if *bytes == 0 { !key } else { key });
        at += u64::from(*bytes);
    }
    list
}

/// Lengths of the pieces of so many bytes: some of them nothing, some up to the end of a packet.
fn cut(pieces: usize, bytes: u64, mtu: usize, rng: &mut SmallRng) -> Vec<u32> {
    if pieces == 1 {
        return vec![bytes as u32];
    }
    let mut ends: Vec<u64> = (1..rng.random_range(2..=pieces))
        .map(|_| match rng.random_range(0..4) {
            0 => (rng.random_range(0..4) * mtu as u64).min(bytes),
            1 => rng.random_range(0..=bytes.min(40)),
            _ => rng.random_range(0..=bytes),
        })
        .collect();
    ends.sort_unstable();
    ends.push(bytes);
    let mut begin = 0;
    let lengths = ends.iter().map(|end| (end - std::mem::replace(&mut begin, *end)) as u32);
    lengths.collect()
}

/// How the WQEs of a transfer complete.
fn expected_status(t: &Traffic) -> u8 {
    match (t.receives, t.beyond_bytes > 0 || t.denied, t.op.is_send()) {
        (false, ..) => code::STATUS_RNR_RETRY_EXC_ERR,
        (_, false, _) => code::STATUS_SUCCESS,
        // R3: the region, D2: the queue pair; Q3: the memory of the receive
        (_, true, false) => code::STATUS_REM_ACCESS_ERR,
        (_, true, true) => code::STATUS_REM_OP_ERR,
    }
}
