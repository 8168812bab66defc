//! The newer interfaces: the work-request builder and the extended CQ.
use super::harness::*;
use crate::abi::*;
use crate::verbs::*;
use std::ffi::c_int;
use std::mem::zeroed;
use std::ptr::null_mut;

const OPS: u64 = 0x7f;

fn builder(side: &Side) -> *mut ibv_qp_ex {
    let ex = unsafe { ibv_qp_to_qp_ex(side.qp) };
    assert!(!ex.is_null());
    ex
}

#[test]
fn a_qp_without_send_ops_has_no_builder() {
    let side = Side::new(&DEFAULT);
    assert!(unsafe { ibv_qp_to_qp_ex(side.qp) }.is_null());
}

#[test]
fn a_batch_of_all_operations() {
    let (a, b) = pair(&Options { send_ops: OPS, ..DEFAULT });
    let own = Region::new(a.pd, pattern(8, 256), ALL);
    let to = Region::new(b.pd, vec![0; 512], ALL);
    let word = (to.addr() + 7) & !7;
    for wr_id in 0..3 {
        assert_eq!(b.post_recv(wr_id, &[to.sge(300, 64)]), 0);
    }
    let inline = pattern(9, 20);
    unsafe {
        let q = builder(&a);
        let x = &*q;
        let start = |wr_id| {
            (*q).wr_id = wr_id;
            (*q).wr_flags = IBV_SEND_SIGNALED;
        };
        x.wr_start.unwrap()(q);
        start(1);
        x.wr_rdma_write.unwrap()(q, to.rkey(), to.addr() + 100);
        x.wr_set_sge.unwrap()(q, (*own.mr).lkey, own.addr(), 50);
        start(2);
        x.wr_rdma_write_imm.unwrap()(q, to.rkey(), to.addr() + 200, 42);
        x.wr_set_sge_list.unwrap()(q, 2, [own.sge(0, 3), own.sge(10, 4)].as_ptr());
        start(3);
        x.wr_send.unwrap()(q);
        x.wr_set_inline_data.unwrap()(q, inline.as_ptr().cast_mut().cast(), inline.len());
        start(4);
        x.wr_send_imm.unwrap()(q, 43);
        start(5);
        x.wr_atomic_fetch_add.unwrap()(q, to.rkey(), word, 6);
        x.wr_set_sge.unwrap()(q, (*own.mr).lkey, own.addr() + 200, 8);
        start(6);
        x.wr_atomic_cmp_swp.unwrap()(q, to.rkey(), word, 6, 7);
        x.wr_set_sge.unwrap()(q, (*own.mr).lkey, own.addr() + 208, 8);
        start(7);
        x.wr_rdma_read.unwrap()(q, to.rkey(), to.addr() + 100);
        x.wr_set_sge.unwrap()(q, (*own.mr).lkey, own.addr() + 220, 10);
        assert!(a.nothing(), "nothing starts before the batch is complete");
        assert_eq!(x.wr_complete.unwrap()(q), 0);
    }
    for wr_id in 1..=7 {
        let wc = a.wait();
        assert_eq!((wc.wr_id, wc.status), (wr_id, IBV_WC_SUCCESS));
    }
    let got: Vec<_> = (0..3).map(|_| b.wait()).map(|wc| (wc.opcode, wc.byte_len, wc.imm_data)).collect();
    assert_eq!(got, [(IBV_WC_RECV_RDMA_WITH_IMM, 7, 42), (IBV_WC_RECV, 20, 0), (IBV_WC_RECV, 0, 43)]);
    assert_eq!(to.bytes[100..150], own.bytes[..50]);
    assert_eq!(to.bytes[200..207], [&own.bytes[..3], &own.bytes[10..14]].concat());
    assert_eq!(to.bytes[300..320], inline);
    let at = (word - to.addr()) as usize;
    assert_eq!(to.bytes[at..at + 8], 7u64.to_ne_bytes());
    assert_eq!(own.bytes[200..216], [0u64.to_ne_bytes(), 6u64.to_ne_bytes()].concat());
    assert_eq!(own.bytes[220..230], own.bytes[..10]);
}

#[test]
fn a_bad_or_aborted_batch_posts_nothing_and_frees_the_queue() {
    let (a, b) = pair(&Options { send_ops: OPS, max_send_wr: 4, ..DEFAULT });
    let to = Region::new(b.pd, vec![0; 8], ALL);
    let long = [0u8; 4096];
    unsafe {
        let q = builder(&a);
        let x = &*q;
        let set_flags = |flags| (&raw mut (*q).wr_flags).write(flags);
        let write = || {
            set_flags(IBV_SEND_SIGNALED);
            x.wr_rdma_write.unwrap()(q, to.rkey(), to.addr());
        };
        // A second request with too much inline data.
        x.wr_start.unwrap()(q);
        write();
        write();
        x.wr_set_inline_data.unwrap()(q, long.as_ptr().cast_mut().cast(), long.len());
        assert_eq!(x.wr_complete.unwrap()(q), libc::EINVAL);
        // More requests than fit.
        x.wr_start.unwrap()(q);
        (0..5).for_each(|_| write());
        assert_eq!(x.wr_complete.unwrap()(q), libc::ENOMEM);
        // Data without a request.
        x.wr_start.unwrap()(q);
        x.wr_set_sge.unwrap()(q, 1, 2, 3);
        assert_eq!(x.wr_complete.unwrap()(q), libc::EINVAL);
        // A flag that does not exist.
        x.wr_start.unwrap()(q);
        write();
        set_flags(1 << 9);
        x.wr_rdma_write.unwrap()(q, to.rkey(), to.addr());
        assert_eq!(x.wr_complete.unwrap()(q), libc::EINVAL);
        // Given up.
        x.wr_start.unwrap()(q);
        write();
        x.wr_abort.unwrap()(q);
        assert!(a.nothing());
        x.wr_start.unwrap()(q);
        write();
        assert_eq!(x.wr_complete.unwrap()(q), 0);
    }
    assert_eq!(a.wait().status, IBV_WC_SUCCESS);
    assert!(a.nothing());
}

#[test]
fn unknown_creation_attributes_are_refused() {
    let side = Side::new(&DEFAULT);
    unsafe {
        let create = (*verbs_of(side.context)).create_qp_ex.unwrap();
        let refused = |change: &dyn Fn(&mut ibv_qp_init_attr_ex)| {
            let mut init: ibv_qp_init_attr_ex = zeroed();
            (init.send_cq, init.recv_cq, init.pd) = (side.cq, side.cq, side.pd);
            init.cap = caps(1);
            init.qp_type = IBV_QPT_RC;
            init.comp_mask = IBV_QP_INIT_ATTR_PD;
            change(&mut init);
            assert!(create(side.context, &mut init).is_null());
            std::io::Error::last_os_error().raw_os_error().unwrap()
        };
        assert_eq!(refused(&|i| i.comp_mask |= 1 << 1), libc::EOPNOTSUPP);
        assert_eq!(refused(&|i| i.comp_mask = 0), libc::EINVAL);
        assert_eq!(refused(&|i| i.qp_type = 4), libc::EOPNOTSUPP);
        assert_eq!(refused(&|i| i.cap.max_send_sge = 33), libc::EINVAL);
        assert_eq!(refused(&|i| i.cap.max_inline_data = 513), libc::EINVAL);
        assert_eq!(refused(&|i| i.cap.max_recv_wr = u32::MAX), libc::EINVAL);
        let tso = |i: &mut ibv_qp_init_attr_ex| {
            i.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
            i.send_ops_flags = 1 << 10;
        };
        assert_eq!(refused(&tso), libc::EOPNOTSUPP);
    }
}

#[test]
fn the_extended_cq_reads_field_by_field() {
    let (a, b) = pair(&DEFAULT);
    unsafe {
        let create = (*verbs_of(b.context)).create_cq_ex.unwrap();
        let mut init: ibv_cq_init_attr_ex = zeroed();
        init.cqe = 16;
        init.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP;
        let cq = create(b.context, &mut init);
        let x = &*cq;
        assert!(x.read_sl.is_none() && x.read_completion_ts.is_none());
        assert_eq!(x.start_poll.unwrap()(cq, null_mut()), libc::ENOENT);

        // A QP on that CQ.
        let mut init: ibv_qp_init_attr = zeroed();
        (init.send_cq, init.recv_cq) = (cq.cast(), cq.cast());
        init.cap = caps(4);
        init.qp_type = IBV_QPT_RC;
        let qp = ibv_create_qp(b.pd, &mut init);
        let mut b2 = std::mem::ManuallyDrop::new(Side {
            context: b.context,
            pd: b.pd,
            channel: b.channel,
            cq: cq.cast(),
            srq: null_mut(),
            qp,
        });
        assert_eq!(a.to_state(IBV_QPS_RESET), 0);
        a.connect(&b2.address(), &DEFAULT);
        b2.connect(&a.address(), &DEFAULT);
        for wr_id in 0..2 {
            assert_eq!(b2.post_recv(wr_id, &[]), 0);
            let mut wr = send(1, IBV_WR_SEND_WITH_IMM, &[]);
            wr.imm_data = 7 + wr_id as u32;
            assert_eq!(a.post(&mut wr), 0);
            assert_eq!(a.wait().status, IBV_WC_SUCCESS);
        }
        assert_eq!(x.start_poll.unwrap()(cq, null_mut()), 0);
        for wr_id in 0..2u32 {
            assert_eq!(((*cq).wr_id, (*cq).status), (u64::from(wr_id), IBV_WC_SUCCESS));
            assert_eq!(x.read_opcode.unwrap()(cq), IBV_WC_RECV);
            assert_eq!(x.read_imm_data.unwrap()(cq), 7 + wr_id);
            assert_eq!(x.read_wc_flags.unwrap()(cq), IBV_WC_WITH_IMM);
            assert_eq!(x.read_byte_len.unwrap()(cq), 0);
            assert_eq!(x.read_qp_num.unwrap()(cq), b2.number());
            assert_eq!(x.read_src_qp.unwrap()(cq), a.number());
            let more: c_int = if wr_id == 0 { 0 } else { libc::ENOENT };
            assert_eq!(x.next_poll.unwrap()(cq), more);
        }
        x.end_poll.unwrap()(cq);
        assert_eq!(x.start_poll.unwrap()(cq, &mut ibv_poll_cq_attr { comp_mask: 1 }), libc::EINVAL);
        assert_eq!(ibv_destroy_qp(b2.qp), 0);
        b2.qp = null_mut();
        assert_eq!(ibv_destroy_cq(cq.cast()), 0);

        for (wc_flags, comp_mask) in [(1 << 7, 0), (1 << 10, 0), (0, 1 << 1), (0, 1 << 7)] {
            let mut init: ibv_cq_init_attr_ex = zeroed();
            (init.cqe, init.wc_flags, init.comp_mask) = (1, wc_flags, comp_mask);
            assert!(create(b.context, &mut init).is_null());
            assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EOPNOTSUPP));
        }
    }
}
