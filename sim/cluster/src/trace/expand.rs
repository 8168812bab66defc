//! Nodes of all ranks become steps: collectives become their messages, sends and receives find each other.
//!
//! In: the nodes of each rank. Out: a [`Trace`]. Guarantees: every message has a sender and, where the trace says so, a
//! receiver; a node that is not understood is refused by its number.
use super::build::Builder;
use super::format::{self, Node, Value};
use super::{Trace, TraceError, STEPS_MAX};
use crate::time::{LIMIT_PS, PS_PER_US};
use crate::workload::config::MESSAGE_BYTES_MAX;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};

type Ranks = [(PathBuf, Vec<Node>)];

/// A node by its place: rank, and place in the rank.
type Place = (usize, usize);

/// First and last step of a node.
#[derive(Debug, Clone, Copy)]
struct Ends {
    start: u32,
    done: u32,
}

/// Collectives that are supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Collective {
    AllReduce,
    AllGather,
    AllToAll,
    ReduceScatter,
}

const COLLECTIVES: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];

fn bad(file: &Path, node: &Node, key: &'static str, value: impl ToString, reason: &'static str, remedy: &str) -> TraceError {
    let (value, remedy) = (value.to_string(), remedy.into());
    TraceError::Node { file: file.into(), node: format!("{} ({})", node.id, node.name), key, value, reason, remedy }
}

fn number(file: &Path, node: &Node, key: &'static str, absent: Option<u64>) -> Result<u64, TraceError> {
    match (node.value(key), absent) {
        (None, Some(value)) => Ok(value),
        (None, None) => Err(bad(file, node, key, "(absent)", "is needed for this type", "add the attribute")),
        (Some(value), _) => value.number().ok_or_else(|| {
            let text = format!("{value:?}");
            bad(file, node, key, text, "not a number from 0 on", "write it as int64_val or uint64_val")
        }),
    }
}

fn size(file: &Path, node: &Node) -> Result<u64, TraceError> {
    let bytes = number(file, node, "comm_size", None)?;
    match bytes {
        0 => Err(bad(file, node, "comm_size", 0, "nothing is sent", "leave the node out")),
        _ => Ok(bytes),
    }
}

fn peer(file: &Path, node: &Node, key: &'static str, rank: usize, ranks: usize) -> Result<usize, TraceError> {
    let peer = number(file, node, key, None)?;
    match usize::try_from(peer) {
        Ok(p) if p < ranks && p != rank => Ok(p),
        _ => {
            let remedy = format!("ranks are 0 to {}, and this is rank {rank}", ranks - 1);
            Err(bad(file, node, key, peer, "no other rank", &remedy))
        }
    }
}

/// Work that needs more than one rank.
#[derive(Default)]
struct Pending {
    /// By (source, destination, tag): steps of arrival not yet received, and receives not yet sent.
    sent: BTreeMap<(usize, usize, u64), VecDeque<(u32, Place)>>,
    receives: BTreeMap<(usize, usize, u64), VecDeque<(u32, Place)>>,
    /// By group: the collectives of each rank in order.
    groups: BTreeMap<String, BTreeMap<usize, Vec<(Ends, Place)>>>,
}

/// Puts the traces of all ranks together.
pub fn trace(prefix: &Path, ranks: &Ranks) -> Result<Trace, TraceError> {
    let mut builder = Builder::default();
    let mut pending = Pending::default();
    let mut ends: Vec<Vec<Ends>> = Vec::with_capacity(ranks.len());
    for (rank, (file, nodes)) in ranks.iter().enumerate() {
        let of_rank = nodes.iter().enumerate().map(|(i, node)| {
            let place = (rank, i);
            steps(&mut builder, &mut pending, file, node, place, ranks.len())
        });
        ends.push(of_rank.collect::<Result<_, _>>()?);
    }
    for (rank, (file, nodes)) in ranks.iter().enumerate() {
        depend(&mut builder, file, nodes, &ends[rank])?;
    }
    receive(&mut builder, &mut pending, ranks)?;
    for (group, members) in &pending.groups {
        collectives(&mut builder, prefix, ranks, group, members)?;
    }
    builder.build().map_err(|step| {
        let owner = ends.iter().enumerate().find_map(|(rank, of)| {
            let i = of.iter().position(|e| (e.start..=e.done).contains(&step))?;
            Some((rank, i))
        });
        // A step within a collective hangs on one of its ends, which are found first: they have smaller numbers.
        let (rank, i) = owner.unwrap_or((0, 0));
        let (file, nodes) = &ranks[rank];
        TraceError::Circle { file: file.clone(), id: nodes[i].id, name: nodes[i].name.clone() }
    })
}

/// The steps of one node.
fn steps(
    builder: &mut Builder,
    pending: &mut Pending,
    file: &Path,
    node: &Node,
    place: Place,
    ranks: usize,
) -> Result<Ends, TraceError> {
    let rank = place.0;
    let one = |step| Ok(Ends { start: step, done: step });
    match node.kind {
        format::METADATA => one(builder.time(0)),
        format::COMP => {
            let us = node.duration_micros;
            if us == 0 && number(file, node, "num_ops", Some(0))? > 0 {
                let remedy = "give the duration, as in a trace of a run";
                return Err(bad(file, node, "duration_micros", 0, "operations are not turned into time", remedy));
            }
            if us > LIMIT_PS / PS_PER_US {
                return Err(bad(file, node, "duration_micros", us, "longer than any run", "durations are microseconds"));
            }
            one(builder.time(us * PS_PER_US))
        }
        format::COMM_SEND => {
            let to = peer(file, node, "comm_dst", rank, ranks)?;
            let bytes = size(file, node)?;
            if bytes > MESSAGE_BYTES_MAX {
                let remedy = "cut it into several sends";
                return Err(bad(file, node, "comm_size", bytes, "a message would be longer than 2^31 bytes", remedy));
            }
            let (post, arrival) = builder.message(rank as u32, to as u32, bytes as u32);
            let key = (rank, to, number(file, node, "comm_tag", Some(0))?);
            pending.sent.entry(key).or_default().push_back((arrival, place));
            one(post)
        }
        format::COMM_RECV => {
            let from = peer(file, node, "comm_src", rank, ranks)?;
            let step = builder.time(0);
            let key = (from, rank, number(file, node, "comm_tag", Some(0))?);
            pending.receives.entry(key).or_default().push_back((step, place));
            one(step)
        }
        format::COMM_COLL => {
            let ends = Ends { start: builder.time(0), done: builder.time(0) };
            let group = match node.value("pg_name") {
                Some(Value::Text(name)) => name.clone(),
                _ => String::new(),
            };
            pending.groups.entry(group).or_default().entry(rank).or_default().push((ends, place));
            Ok(ends)
        }
        kind => {
            let value = format!("{kind} ({})", node.type_name());
            let remedy = "only COMP, COMM_SEND, COMM_RECV and COMM_COLL nodes are simulated: leave it out, or make it a COMP \
                          node with a duration";
            Err(bad(file, node, "type", value, "is not supported", remedy))
        }
    }
}

/// What a node depends on.
fn depend(builder: &mut Builder, file: &Path, nodes: &[Node], ends: &[Ends]) -> Result<(), TraceError> {
    let mut places = HashMap::with_capacity(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        if places.insert(node.id, i).is_some() {
            return Err(bad(file, node, "id", node.id, "two nodes have it", "give each node its own"));
        }
    }
    for (i, node) in nodes.iter().enumerate() {
        for (key, deps) in [("ctrl_deps", &node.ctrl_deps), ("data_deps", &node.data_deps)] {
            for dep in deps {
                let Some(&before) = places.get(dep) else {
                    return Err(bad(file, node, key, dep, "there is no such node", "give the whole trace"));
                };
                builder.edge(ends[before].done, ends[i].start);
            }
        }
    }
    Ok(())
}

fn alone(ranks: &Ranks, (rank, i): Place, reason: &str) -> TraceError {
    let (file, nodes) = &ranks[rank];
    TraceError::Alone { file: file.clone(), rank, id: nodes[i].id, name: nodes[i].name.clone(), reason: reason.into() }
}

/// Receives wait for their messages, in order for each source, destination and tag.
fn receive(builder: &mut Builder, pending: &mut Pending, ranks: &Ranks) -> Result<(), TraceError> {
    for (key, sends) in &mut pending.sent {
        let receives = pending.receives.entry(*key).or_default();
        while let Some((arrival, place)) = sends.pop_front() {
            let Some((step, _)) = receives.pop_front() else {
                return Err(alone(ranks, place, "nobody receives it"));
            };
            builder.edge(arrival, step);
        }
    }
    match pending.receives.values().flatten().next() {
        Some((_, place)) => Err(alone(ranks, *place, "nobody sends it")),
        None => Ok(()),
    }
}

/// The messages of all collectives of a group.
fn collectives(
    builder: &mut Builder,
    prefix: &Path,
    ranks: &Ranks,
    group: &str,
    members: &BTreeMap<usize, Vec<(Ends, Place)>>,
) -> Result<(), TraceError> {
    let most = members.values().map(Vec::len).max().unwrap_or(0);
    let longest = || members.values().find(|of| of.len() == most).map_or((0, 0), |of| of[0].1);
    if group.is_empty() && members.len() < ranks.len() {
        return Err(alone(ranks, longest(), "not every rank has this collective, and it has no pg_name"));
    }
    if let Some((rank, of)) = members.iter().find(|(_, of)| of.len() < most) {
        let reason = format!("rank {rank} has {} collectives of its group, this one {most}", of.len());
        return Err(alone(ranks, longest(), &reason));
    }
    for k in 0..most {
        let each: Vec<(usize, Ends, Place)> = members.iter().map(|(&rank, of)| (rank, of[k].0, of[k].1)).collect();
        let kinds = each.iter().map(|(.., place)| kind_and_size(ranks, *place)).collect::<Result<Vec<_>, _>>()?;
        if let Some(i) = kinds.iter().position(|kind| *kind != kinds[0]) {
            let reason = format!("rank {} has another type or comm_size at this place", each[0].0);
            return Err(alone(ranks, each[i].2, &reason));
        }
        let (kind, bytes) = kinds[0];
        let n = each.len() as u64;
        let parts = if kind == Collective::AllToAll { (n - 1).max(1) } else { n };
        let part = bytes.div_ceil(parts);
        let (_, _, (rank, i)) = each[0];
        if part > MESSAGE_BYTES_MAX {
            let (file, nodes) = &ranks[rank];
            let remedy = "cut it into several collectives";
            return Err(bad(file, &nodes[i], "comm_size", bytes, "a message would be longer than 2^31 bytes", remedy));
        }
        expand(builder, kind, part as u32, &each);
        if builder.steps() > STEPS_MAX {
            return Err(TraceError::TooLong { prefix: prefix.into(), limit: STEPS_MAX });
        }
    }
    Ok(())
}

fn kind_and_size(ranks: &Ranks, (rank, i): Place) -> Result<(Collective, u64), TraceError> {
    let (file, nodes) = &ranks[rank];
    let node = &nodes[i];
    let number = number(file, node, "comm_type", None)?;
    let name = usize::try_from(number).ok().and_then(|n| COLLECTIVES.get(n)).copied().unwrap_or("unknown");
    let kind = match name {
        "ALL_REDUCE" => Collective::AllReduce,
        "ALL_GATHER" => Collective::AllGather,
        "ALL_TO_ALL" => Collective::AllToAll,
        "REDUCE_SCATTER" => Collective::ReduceScatter,
        _ => {
            let remedy = "use ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER, or sends and receives";
            return Err(bad(file, node, "comm_type", format!("{number} ({name})"), "is not supported", remedy));
        }
    };
    Ok((kind, size(file, node)?))
}

/// Messages of one collective among `each`.
fn expand(builder: &mut Builder, kind: Collective, part: u32, each: &[(usize, Ends, Place)]) {
    let n = each.len();
    for (_, ends, _) in each {
        builder.edge(ends.start, ends.done);
    }
    if kind == Collective::AllToAll {
        for d in 1..n {
            for i in 0..n {
                let to = (i + d) % n;
                let (post, arrival) = builder.message(each[i].0 as u32, each[to].0 as u32, part);
                builder.edge(each[i].1.start, post);
                builder.edge(arrival, each[to].1.done);
            }
        }
        return;
    }
    // A ring: each step goes out when the one before came in.
    let rounds = if kind == Collective::AllReduce { 2 * (n - 1) } else { n - 1 };
    let mut before: Vec<Option<u32>> = vec![None; n];
    for _ in 0..rounds {
        let mut arrivals = vec![None; n];
        for i in 0..n {
            let to = (i + 1) % n;
            let (post, arrival) = builder.message(each[i].0 as u32, each[to].0 as u32, part);
            builder.edge(each[i].1.start, post);
            if let Some(came_in) = before[i] {
                builder.edge(came_in, post);
            }
            builder.edge(arrival, each[to].1.done);
            arrivals[to] = Some(arrival);
        }
        before = arrivals;
    }
}
