//! Lists of the sender on whole NICs, in lockstep with the golden model: what is refused, and what is left of it.
//!
//! In: WQEs with lists on build `sim_reads`. Out: their statuses, and the memory of the peer. Guarantees: a list that is refused moves nothing.
mod rig;

use mrnic_model::config::Rights;
use mrnic_model::wqe::WQE_READ;
use mrnic_regs::code::{STATUS_LOC_LEN_ERR, STATUS_LOC_PROT_ERR, STATUS_LOC_QP_OP_ERR};
use mrnic_sim::software::Write;
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
    let last = |piece| Write { list: [list[0], list[1], list[2], piece], ..fine };
    let refused = |status, write: Write| Write { expect: status, ..write };
    let cases = [
        ("five pieces", refused(STATUS_LOC_QP_OP_ERR, Write { pieces: 5, ..fine })),
        ("as many as can be named", refused(STATUS_LOC_QP_OP_ERR, Write { pieces: 255, ..fine })),
        ("an unknown opcode", refused(STATUS_LOC_QP_OP_ERR, Write { opcode: 9, ..fine })),
        ("a READ", refused(STATUS_LOC_QP_OP_ERR, Write { opcode: WQE_READ, ..fine })),
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
