//! Lists on whole NICs, in lockstep with the golden model: what is refused, and what is left of it; which bytes go where.
//!
//! In: WQEs and receives with lists on builds `sim_reads` and `sim_min`. Out: their statuses, and the memory of both. Guarantees: a list that is refused
//! moves nothing.
mod rig;
mod runs;

use mrnic_model::config::Rights;
use mrnic_model::wqe::{WQE_FETCH_ADD, WQE_READ, WQE_SEND};
use mrnic_regs::code::{STATUS_LOC_LEN_ERR, STATUS_LOC_PROT_ERR, STATUS_LOC_QP_OP_ERR};
use mrnic_regs::code::{STATUS_REM_INV_REQ_ERR, STATUS_REM_OP_ERR, STATUS_SUCCESS};
use mrnic_sim::software::{Write, LIST};
use rig::{build_with_reads, write, Rig};

const LEN: usize = 9000;

/// W1: lists that are too long, of too many bytes, or with a piece that is not theirs; the keys of pieces without bytes are not looked at.
#[test]
fn bad_lists() {
    let mut rig = Rig::of(build_with_reads());
    rig.lists = true;
    rig.open(0, &|_| {});
    let local = rig.filled(0, LEN, 3);
    let foreign = rig.region(0, LEN, 3, Rights::default(), 2);
    let writable = Rights { remote_write: true, ..Rights::default() };
    let remote = rig.region(1, LEN, 5, writable, 1);
    let (va, key) = (local.va, local.key);
    let list = [(va + 8000, 900, key), (va, 0, !key), (va + 1, 4097, key), (va + 8999, 1, key)];
    let fine = Write { pieces: 4, list, ..write(&local, &remote, 4998) };
    let nine = [(va, 3, key), (va + 9, 4, key), (va + 20, 2, key), (va, 0, !key)];
    let last = |piece| Write { list: [list[0], list[1], list[2], piece], ..fine };
    let refused = |status, write: Write| Write { expect: status, ..write };
    let cases = [
        ("five pieces", refused(STATUS_LOC_QP_OP_ERR, Write { pieces: 5, ..fine })),
        ("as many as can be named", refused(STATUS_LOC_QP_OP_ERR, Write { pieces: 255, ..fine })),
        ("an unknown opcode", refused(STATUS_LOC_QP_OP_ERR, Write { opcode: 9, ..fine })),
        ("five pieces of a READ", refused(STATUS_LOC_QP_OP_ERR, Write { opcode: WQE_READ, pieces: 5, ..fine })),
        ("a READ into memory that must not be written", refused(STATUS_LOC_PROT_ERR, Write { opcode: WQE_READ, ..fine })),
        ("an atomic of nine bytes", refused(STATUS_LOC_LEN_ERR, Write { opcode: WQE_FETCH_ADD, list: nine, ..fine })),
        ("one byte more than 2^31", refused(STATUS_LOC_LEN_ERR, last((va, (1 << 31) - 4996, key)))),
        ("2^31 bytes", refused(STATUS_LOC_PROT_ERR, last((va, (1 << 31) - 4997, key)))),
        ("more than 32 bits", refused(STATUS_LOC_LEN_ERR, Write { list: [(va, u32::MAX, key); 4], ..fine })),
        ("the last key", refused(STATUS_LOC_PROT_ERR, last((va, 1, key ^ 1)))),
        ("the last piece one byte too long", refused(STATUS_LOC_PROT_ERR, last((va + 8999, 2, key)))),
        ("the last piece of another protection domain", refused(STATUS_LOC_PROT_ERR, last((foreign.va, 1, foreign.key)))),
        (
            "the first piece",
            refused(STATUS_LOC_PROT_ERR, Write { list: [(va - 1, 1, key), list[1], list[2], list[3]], ..fine }),
        ),
    ];
    for (name, bad) in cases {
        println!("{name}");
        let qp = rig.pair(0);
        rig.post_write(0, qp, bad);
        rig.run();
    }
    assert_eq!(rig.counters(0).get("TX_NEW"), 0, "nothing was sent");
    let qp = rig.pair(0);
    rig.post_write(0, qp, fine);
    rig.run();
    let there = rig.nodes[1].nic.memory.read(remote.base, 4998).expect("the region").to_vec();
    let here = rig.nodes[0].nic.memory.read(local.base, LEN).expect("the region").to_vec();
    assert_eq!(there, [&here[8000..8900], &here[1..4098], &here[8999..]].concat());
    let [c, _] = rig.finish();
    assert_eq!(c.get("WQE_REFUSED"), cases.len() as u64);
}

/// A list of a receive, the status of the sender and that of the receive.
type Case = (&'static str, usize, [(u64, u32, u32); LIST], u8, u8);

/// Q3, Q4: a SEND of two packets goes to the pieces that its bytes belong to, whatever their lengths; a piece that gets none names no key; of a packet
/// of which one piece is not theirs nothing is placed.
#[test]
fn receives_with_lists() {
    const BYTES: usize = 8000;
    let mut rig = Rig::of(build_with_reads());
    rig.lists = true;
    rig.open(0, &|c| c.mtu_log2 = 12);
    let local = rig.filled(0, BYTES, 3);
    let writable = Rights { local_write: true, ..Rights::default() };
    let (a, b) = (rig.region(1, 20_000, 1, writable, 1), rig.region(1, 20_000, 7, writable, 1));
    let foreign = rig.region(1, 20_000, 0, writable, 2);
    let read_only = rig.region(1, 20_000, 0, Rights::default(), 1);
    let (x, y, key, other) = (a.va, b.va, a.key, b.key);
    let fine = [
        ("one byte, then the rest of the packet", 4, [(x, 1, key), (y, 4095, other), (x + 9, 3904, key), (0, 0, 0)]),
        ("pieces without bytes name no key", 4, [(0, 0, !key), (x, 4097, key), (0, 0, !key), (y + 1, 3903, other)]),
        ("the last piece gets no bytes", 3, [(x, 4096, key), (y, 3904, other), (foreign.va, 9, foreign.key), (0, 0, 0)]),
        ("odd pieces", 4, [(x + 3, 3, key), (y + 5, 4091, other), (x + 9, 5, key), (y + 5000, 3901, other)]),
        ("a piece over both packets, more room than data", 2, [(x, 333, key), (y, 9000, other), (9, 9, 9), (9, 9, 9)]),
        ("as many as there are", 255, [(x, 2000, key), (y, 2000, other), (x + 5000, 2000, key), (y + 5000, 2000, other)]),
    ];
    for (name, count, list) in fine {
        println!("{name}");
        let qp = rig.pair(0);
        rig.post_list(1, qp, count, &list);
        rig.post_write(0, qp, Write { opcode: WQE_SEND, ..write(&local, &local, BYTES as u32) });
        rig.run();
        rig.settle();
        assert_eq!(rig.receive_status(1, qp), Some(STATUS_SUCCESS), "{name}");
        let sent = rig.nodes[0].nic.memory.read(local.base, BYTES).expect("the region").to_vec();
        let mut got: Vec<u8> = Vec::new();
        for (va, bytes, _) in list.iter().take(count).filter(|piece| piece.1 > 0 && piece.0 != foreign.va) {
            got.extend(rig.nodes[1].nic.memory.read(va ^ rig::TRANSLATION, *bytes as usize).expect("a piece"));
        }
        assert!(got[..BYTES] == sent, "{name}");
    }
    let mut bad: Vec<Case> = Vec::new();
    let good = [(x, 2000, key), (y, 2096, other), (x + 5000, 1, key), (y + 5000, 4000, other)];
    let names = ["the first piece", "the second piece", "the third piece", "the last piece"];
    for (at, name) in names.into_iter().enumerate() {
        let mut list = good;
        list[at].2 ^= 1;
        bad.push((name, 4, list, STATUS_REM_OP_ERR, STATUS_LOC_PROT_ERR));
    }
    let with = |piece| [good[0], good[1], good[2], piece];
    bad.push(("another protection domain", 4, with((foreign.va, 4000, foreign.key)), STATUS_REM_OP_ERR, STATUS_LOC_PROT_ERR));
    bad.push(("no local write", 4, with((read_only.va, 4000, read_only.key)), STATUS_REM_OP_ERR, STATUS_LOC_PROT_ERR));
    bad.push(("beyond its region", 4, with((y + 16_098, 4000, other)), STATUS_REM_OP_ERR, STATUS_LOC_PROT_ERR));
    bad.push(("one byte too little", 4, with((y, 3902, other)), STATUS_REM_INV_REQ_ERR, STATUS_LOC_LEN_ERR));
    for (name, count, list, sender, receiver) in bad {
        println!("{name}");
        let qp = rig.pair(0);
        rig.post_list(1, qp, count, &list);
        rig.post_write(0, qp, Write { opcode: WQE_SEND, expect: sender, ..write(&local, &local, BYTES as u32) });
        rig.run();
        rig.settle();
        assert_eq!(rig.receive_status(1, qp), Some(receiver), "{name}");
    }
    rig.assert_untouched(1, &foreign);
    rig.assert_untouched(1, &read_only);
    rig.finish();
}

fn run(build: &str, sections: &str) {
    runs::run("lists", build, 60_000, sections);
}

/// Lists of receives at 1 % loss, in queues of the queue pairs' own and in a shared one, out of one piece and out of several, receives that come late too.
#[test]
fn lists_of_receives_at_loss() {
    let fabric =
        "[connection]\nmtu_bytes = 1024\n[fabric]\nloss_data = 0.01\nloss_ack = 0.01\nreorder = 0.05\nduplicate = 0.01\n";
    let mut sections = fabric.to_owned();
    for (op, message, more) in [
        ("send", 5000, "pieces = 4\nreceive_pieces = 4\nqps = 2\n"),
        ("send_imm", 700, "receive_pieces = 3\nshared = true\nqps = 3\n"),
        ("send", 3000, "receive_pieces = 2\nreceive_gap_ns = 20000\nrnr_retry = 7\n"),
        ("write_imm", 3000, "receive_pieces = 4\n"),
    ] {
        let (bytes, from) = (message * 12 + 17, usize::from(op == "send_imm"));
        sections += &format!(
            "[[traffic]]\nfrom = {from}\nto = {}\nop = \"{op}\"\nbytes = {bytes}\nmessage_bytes = {message}\n{more}",
            1 - from
        );
    }
    run("sim_reads", &sections);
    // every buffer at its minimum: receives come slowly, and messages begin again
    run("sim_min", &format!("{fabric}[[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nbytes = 30000\nmessage_bytes = 2500\npieces = 4\nreceive_pieces = 4\nrnr_retry = 7\nmisalign = [5, 3]\n"));
}

/// D6: what READs and atomics bring goes to the pieces of their WQEs, whatever comes first.
#[test]
fn reads_and_atomics_into_lists_at_loss() {
    let fabric =
        "[connection]\nmtu_bytes = 1024\n[fabric]\nloss_data = 0.01\nloss_ack = 0.01\nreorder = 0.1\nduplicate = 0.01\n";
    let asks = "[[traffic]]\nfrom = 0\nto = 1\nop = \"read\"\nbytes = 60017\nmessage_bytes = 5000\npieces = 4\nqps = 2\nmisalign = [3, 1]\n[[traffic]]\nfrom = 1\nto = 0\nop = \"fetch_add\"\nbytes = 240\nmessage_bytes = 8\npieces = 4\n[[traffic]]\nfrom = 1\nto = 0\nop = \"compare_swap\"\nbytes = 80\nmessage_bytes = 8\npieces = 2\n";
    run("sim_reads", &format!("{fabric}{asks}"));
    run("sim_min", &format!("{fabric}[[traffic]]\nfrom = 0\nto = 1\nop = \"read\"\nbytes = 20017\nmessage_bytes = 3000\npieces = 3\nmisalign = [1, 2]\n"));
}
