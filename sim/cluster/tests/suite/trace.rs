//! Chakra execution traces: what they say is done in its order, and what is wrong with one is told.
use crate::support::{cluster, sim_with, small, TINY};
use mrnic_cluster::queue::CalendarQueue;
use mrnic_cluster::trace::format::{self, encode, Attribute, Node, Value};
use mrnic_cluster::trace::{Trace, TraceError};
use mrnic_cluster::{MetaRoce256, MetaRoceConfig, NetworkConfig, Outcome, Pattern, Setup, Sim, WorkloadConfig};
use std::path::Path;

fn node(id: u64, kind: i32, deps: &[u64], attr: &[(&str, i64)]) -> Node {
    let attr = attr.iter().map(|&(name, v)| Attribute { name: name.into(), value: Some(Value::Int64(v)) }).collect();
    Node { id, name: format!("n{id}"), kind, data_deps: deps.to_vec(), attr, ..Node::default() }
}

fn comp(id: u64, deps: &[u64], us: u64) -> Node {
    Node { duration_micros: us, ..node(id, format::COMP, deps, &[]) }
}

fn coll(id: u64, deps: &[u64], kind: i64, bytes: i64) -> Node {
    node(id, format::COMM_COLL, deps, &[("comm_type", kind), ("comm_size", bytes)])
}

fn send(id: u64, deps: &[u64], to: i64, bytes: i64) -> Node {
    node(id, format::COMM_SEND, deps, &[("comm_dst", to), ("comm_size", bytes), ("comm_tag", 9)])
}

fn recv(id: u64, deps: &[u64], from: i64) -> Node {
    node(id, format::COMM_RECV, deps, &[("comm_src", from), ("comm_size", 1), ("comm_tag", 9)])
}

fn write(folder: &Path, ranks: &[Vec<Node>]) {
    for (rank, nodes) in ranks.iter().enumerate() {
        std::fs::write(folder.join(format!("t.{rank}.et")), encode(nodes)).unwrap();
    }
}

fn load(ranks: &[Vec<Node>]) -> Result<Trace, TraceError> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ranks);
    Trace::load(&folder.path().join("t"), ranks.len())
}

fn network(hosts: usize) -> NetworkConfig {
    NetworkConfig { hosts, hosts_per_leaf: 2, ..small() }
}

fn simulate(ranks: &[Vec<Node>]) -> Outcome {
    let trace = load(ranks).unwrap();
    let (network, workload) = (network(ranks.len()), WorkloadConfig::new(Pattern::Trace, 0));
    let setup =
        Setup { network: &network, workload: &workload, trace: Some(&trace), seed: 1, limit: 50_000_000_000, sample: 0 };
    let mut sim = Sim::<MetaRoce256, CalendarQueue>::new(&setup, &MetaRoceConfig::default()).unwrap();
    sim.run();
    let outcome = sim.outcome();
    assert!(outcome.finished && outcome.failed_messages == 0, "{outcome:?}");
    outcome
}

#[test]
fn an_all_reduce_of_a_trace_is_the_ring_of_the_simulator() {
    const BYTES: i64 = 4 << 20;
    let of_trace = simulate(&vec![vec![coll(1, &[], 0, BYTES)]; 8]);
    let mut sim = sim_with::<MetaRoce256, CalendarQueue>(
        &network(8),
        &WorkloadConfig::new(Pattern::RingAllReduce, BYTES as u64),
        1,
        &MetaRoceConfig::default(),
    );
    sim.run();
    let own = sim.outcome();
    assert_eq!((of_trace.duration_us, of_trace.received_bytes), (own.duration_us, own.received_bytes));
    assert_eq!((of_trace.network, of_trace.jain), (own.network, own.jain));
}

#[test]
fn computation_messages_and_collectives_come_in_their_order() {
    // 100 us, an All-Reduce, 50 us, a chain of sends round the ranks, an All-to-All
    let chain = |rank: i64| match rank {
        0 => vec![send(4, &[3], 1, 100_000), recv(5, &[4], 3)],
        3 => vec![recv(4, &[3], 2), send(5, &[4], 0, 100_000)],
        r => vec![recv(4, &[3], r - 1), send(5, &[4], r + 1, 100_000)],
    };
    let rank = |r: i64| {
        let mut nodes = vec![comp(1, &[], 100), coll(2, &[1], 0, 400_000), comp(3, &[2], 50)];
        nodes.extend(chain(r));
        nodes.push(coll(6, &[5], 6, 300_000));
        nodes
    };
    let all = simulate(&(0..4).map(rank).collect::<Vec<_>>());
    assert_eq!(all.received_bytes, 4 * 6 * 100_000 + 4 * 100_000 + 12 * 100_000);
    // beside both collectives: 150 us of computation, and four sends of 100 kB at 400 Gbit/s, one after the other
    let alone = [simulate(&vec![vec![coll(1, &[], 0, 400_000)]; 4]), simulate(&vec![vec![coll(1, &[], 6, 300_000)]; 4])];
    let least = 150.0 + 4.0 * 2.0 + alone.iter().map(|o| o.duration_us).sum::<f64>();
    assert!(all.duration_us > least && all.duration_us < 2.0 * least, "{} {least}", all.duration_us);
    // computation alone takes its time; what is parallel does not add up
    let pure = simulate(&[vec![comp(1, &[], 30), comp(2, &[1], 40), comp(3, &[], 60)], vec![comp(1, &[], 10)]]);
    assert_eq!((pure.duration_us, pure.received_bytes), (70.0, 0));
    // collectives of two groups run beside each other
    let group = |name: &str| {
        let mut c = coll(1, &[], 7, 400_000);
        c.attr.push(Attribute { name: "pg_name".into(), value: Some(Value::Text(name.into())) });
        vec![c]
    };
    let groups = simulate(&[group("a"), group("b"), group("a"), group("b")]);
    assert_eq!(groups.received_bytes, 4 * 200_000);
}

#[test]
fn a_trace_with_a_fault_is_refused_with_file_node_and_remedy() {
    let refused = |ranks: &[Vec<Node>], named: &[&str]| {
        let error = load(ranks).expect_err(named[0]).to_string();
        for name in named {
            assert!(error.contains(name), "{name}: {error}");
        }
    };
    let ok = vec![comp(1, &[], 1)];
    let second = |nodes: &[Node]| vec![ok.clone(), nodes.to_vec()];
    refused(&second(&[node(4, 2, &[], &[])]), &["t.1.et: node 4 (n4): type = 2 (MEM_LOAD_NODE)", "not supported", "COMP"]);
    refused(&second(&[coll(4, &[], 5, 8)]), &["t.1.et: rank 1 has no partner for node 4", "every rank"]);
    refused(&vec![vec![coll(4, &[], 5, 8)]; 2], &["t.0.et: node 4 (n4): comm_type = 5 (BROADCAST)", "ALL_REDUCE"]);
    refused(&[vec![coll(1, &[], 0, 8)], vec![coll(1, &[], 0, 16)]], &["t.1.et", "another type or comm_size"]);
    refused(&second(&[comp(1, &[7], 3)]), &["t.1.et: node 1 (n1): data_deps = 7", "whole trace"]);
    refused(&second(&[comp(1, &[], 3), comp(1, &[], 3)]), &["t.1.et: node 1 (n1): id = 1", "two nodes"]);
    refused(&second(&[comp(1, &[2], 3), comp(2, &[1], 3)]), &["t.1.et: node", "never starts", "data_deps"]);
    refused(&second(&[node(1, format::COMP, &[], &[("num_ops", 5)])]), &["duration_micros = 0", "not turned into time"]);
    refused(&second(&[send(1, &[], 0, 8)]), &["rank 1 has no partner for node 1", "nobody receives it"]);
    refused(&second(&[recv(1, &[], 0)]), &["rank 1 has no partner for node 1", "nobody sends it"]);
    refused(&second(&[send(1, &[], 1, 8)]), &["comm_dst = 1", "this is rank 1"]);
    refused(&second(&[send(1, &[], 0, 0)]), &["comm_size = 0", "leave the node out"]);
    refused(&second(&[node(1, format::COMM_SEND, &[], &[("comm_dst", 0)])]), &["comm_size = (absent)", "add the attribute"]);
    // a receives before it sends, and so does b
    let waits = |peer| vec![recv(1, &[], peer), send(2, &[1], peer, 8)];
    refused(&[waits(1), waits(0)], &["never starts"]);
}

#[test]
fn a_file_that_was_cut_off_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = encode(&[comp(1, &[], 1), comp(2, &[1], 1)]);
    let file = folder.path().join("t.0.et");
    let decode = |bytes: &[u8]| format::decode(&file, bytes).map_err(|e| e.to_string());
    assert_eq!(decode(&bytes).map(|nodes| nodes.len()), Ok(2));
    for length in 0..bytes.len() {
        match decode(&bytes[..length]) {
            // only between two messages a file may end
            Ok(nodes) => assert_eq!(encode(&nodes).len(), length),
            Err(e) => assert!(e.contains("t.0.et: ends within message") && e.contains("copy it again"), "{e}"),
        }
    }
    let garbage = decode(b"{ \"json\": 1, and some more of it }").unwrap_err();
    assert!(garbage.contains("t.0.et") && garbage.contains("message 0"), "{garbage}");
}

#[test]
fn an_experiment_finds_its_traces_beside_its_file() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &vec![vec![comp(1, &[], 5), coll(2, &[1], 0, 100_000)]; 4]);
    let text = TINY
        .replace("pattern = \"permutation\"\nbytes = 100000", "pattern = \"trace\"\ntrace = \"t\"")
        .replace("least = 1e9", "least = 0.1");
    let (file, out) = (folder.path().join("e.toml"), folder.path().join("out"));
    std::fs::write(&file, &text).unwrap();
    let args = [file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    assert_eq!(cluster(&args), None);
    std::fs::write(&file, text.replace("hosts = 4", "hosts = 6")).unwrap();
    let error = cluster(&args).unwrap();
    assert!(error.contains("t.4.et") && error.contains("network.hosts"), "{error}");
    let whole = std::fs::read(folder.path().join("t.2.et")).unwrap();
    std::fs::write(folder.path().join("t.2.et"), &whole[..whole.len() - 3]).unwrap();
    std::fs::write(&file, &text).unwrap();
    let error = cluster(&args).unwrap();
    assert!(error.contains("t.2.et: ends within message 2") && error.contains("copy it again"), "{error}");
}
