//! Objects in use cannot be destroyed; destroyed and made again they start afresh; threads do not disturb each other.
use super::harness::*;
use crate::abi::*;
use crate::verbs::*;
use std::ffi::c_int;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[test]
fn what_is_in_use_stays() {
    let side = Side::new(&Options { srq: true, ..DEFAULT });
    let region = Region::new(side.pd, vec![0; 8], 0);
    unsafe {
        assert_eq!(ibv_dealloc_pd(side.pd), libc::EBUSY);
        assert_eq!(ibv_destroy_cq(side.cq), libc::EBUSY);
        assert_eq!(ibv_destroy_srq(side.srq), libc::EBUSY);
        assert_eq!(ibv_destroy_comp_channel(side.channel), libc::EBUSY);
    }
    // The refusals changed nothing: the harness now takes everything down in order.
    drop(region);
}

#[test]
fn a_failed_creation_leaves_nothing_behind() {
    let side = Side::new(&DEFAULT);
    unsafe {
        assert!(ibv_create_cq(side.context, 0, null_mut(), side.channel, 0).is_null());
        assert!(ibv_create_cq(side.context, -1, null_mut(), side.channel, 0).is_null());
        assert!(ibv_create_cq(side.context, 1 << 30, null_mut(), side.channel, 0).is_null());
        assert!(ibv_create_cq(side.context, 1, null_mut(), side.channel, 1).is_null());
        let attr = ibv_srq_attr { max_wr: 1, max_sge: 33, srq_limit: 0 };
        assert!(ibv_create_srq(side.pd, &mut ibv_srq_init_attr { srq_context: null_mut(), attr }).is_null());
        let mut init: ibv_qp_init_attr = zeroed();
        (init.send_cq, init.recv_cq, init.qp_type) = (side.cq, null_mut(), IBV_QPT_RC);
        assert!(ibv_create_qp(side.pd, &mut init).is_null());
        let byte = 0u8;
        let place = std::ptr::from_ref(&byte).cast_mut().cast();
        assert!(ibv_reg_mr(side.pd, place, 1, IBV_ACCESS_REMOTE_WRITE as c_int).is_null());
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EINVAL));
        assert!(ibv_reg_mr(side.pd, null_mut(), 1, 1).is_null());
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EFAULT));
    }
    // Dropping the harness proves that no reference leaked: every destroy must succeed.
}

#[test]
fn create_and_destroy_a_hundred_times() {
    let mut numbers = std::collections::BTreeSet::new();
    for round in 0..100 {
        let (a, b) = pair(&DEFAULT);
        numbers.insert(a.number());
        numbers.insert(b.number());
        assert_eq!(b.post_recv(round, &[]), 0);
        assert_eq!(a.post(&mut send(round, IBV_WR_SEND, &[])), 0);
        assert_eq!((a.wait().wr_id, b.wait().wr_id), (round, round));
    }
    assert_eq!(numbers.len(), 200, "QP numbers are not given again soon");
}

#[test]
fn completions_of_a_destroyed_qp_disappear() {
    let (a, b) = pair(&DEFAULT);
    unsafe {
        let mut init: ibv_qp_init_attr = zeroed();
        (init.send_cq, init.recv_cq, init.qp_type) = (a.cq, a.cq, IBV_QPT_RC);
        init.cap = caps(4);
        let qp = ibv_create_qp(a.pd, &mut init);
        let mut attr: ibv_qp_attr = zeroed();
        attr.qp_state = IBV_QPS_ERR;
        assert_eq!(ibv_modify_qp(qp, &mut attr, IBV_QP_STATE as c_int), 0);
        let mut bad = null_mut();
        assert_eq!((*a.context).ops.post_send.unwrap()(qp, &mut send(66, IBV_WR_SEND, &[]), &mut bad), 0);
        assert_eq!(b.post_recv(1, &[]), 0);
        assert_eq!(a.post(&mut send(5, IBV_WR_SEND, &[])), 0);
        assert_eq!(ibv_destroy_qp(qp), 0);
    }
    assert_eq!(a.wait().wr_id, 5);
    assert!(a.nothing());
}

#[test]
fn a_region_changes_in_place() {
    let (a, b) = pair(&DEFAULT);
    let mut target = Region::new(b.pd, vec![0; 8], IBV_ACCESS_LOCAL_WRITE);
    let mut other = vec![0u8; 16];
    let (lkey, rkey) = unsafe { ((*target.mr).lkey, (*target.mr).rkey) };
    let rereg = |flags, pd, addr: *mut u8, length, access: u32| unsafe {
        ibv_rereg_mr(target.mr, flags, pd, addr.cast(), length, access as c_int)
    };
    assert_eq!(rereg(0, null_mut(), null_mut(), 0, 0), IBV_REREG_MR_ERR_INPUT);
    assert_eq!(rereg(1 << 3, null_mut(), null_mut(), 0, 0), IBV_REREG_MR_ERR_INPUT);
    assert_eq!(rereg(IBV_REREG_MR_CHANGE_ACCESS, null_mut(), null_mut(), 0, 2), IBV_REREG_MR_ERR_INPUT);
    assert_eq!(rereg(IBV_REREG_MR_CHANGE_ACCESS, null_mut(), null_mut(), 0, ALL), 0);
    let translation = IBV_REREG_MR_CHANGE_TRANSLATION;
    assert_eq!(rereg(translation, null_mut(), other.as_mut_ptr(), other.len(), 0), 0);
    unsafe {
        assert_eq!(((*target.mr).lkey, (*target.mr).rkey), (lkey, rkey));
        assert_eq!(((*target.mr).addr as usize, (*target.mr).length), (other.as_ptr() as usize, 16));
    }
    let own = Region::new(a.pd, pattern(1, 16), 0);
    let sges = [own.sge(0, 16)];
    assert_eq!(a.post(&mut rdma(1, IBV_WR_RDMA_WRITE, &sges, other.as_ptr() as u64, rkey)), 0);
    assert_eq!(a.wait().status, IBV_WC_SUCCESS);
    assert_eq!(other, own.bytes);
    target.bytes.clear();
}

#[test]
fn a_cq_grows_and_shrinks_but_not_below_what_waits() {
    let (a, b) = pair(&Options { cqe: 4, ..DEFAULT });
    let to = Region::new(b.pd, vec![0; 8], ALL);
    assert_eq!(unsafe { ibv_resize_cq(a.cq, 32) }, 0);
    assert!(unsafe { (*a.cq).cqe } >= 32);
    for wr_id in 0..20 {
        // The event says that the completion is there, without taking it.
        a.arm(0);
        assert_eq!(a.post(&mut rdma(wr_id, IBV_WR_RDMA_WRITE, &[], to.addr(), to.rkey())), 0);
        a.take_event();
    }
    assert_eq!(unsafe { ibv_resize_cq(a.cq, 19) }, libc::EINVAL);
    assert_eq!(unsafe { ibv_resize_cq(a.cq, 0) }, libc::EINVAL);
    assert_eq!(unsafe { ibv_resize_cq(a.cq, 20) }, 0);
    for wr_id in 0..20 {
        assert_eq!(a.wait().wr_id, wr_id);
    }
}

#[test]
fn closing_stops_what_is_left() {
    let (a, b) = pair(&DEFAULT);
    let a = std::mem::ManuallyDrop::new(a);
    unsafe {
        assert_eq!(ibv_close_device(a.context), 0);
        let mut bad = null_mut();
        let post = (*a.context).ops.post_send.unwrap();
        assert_eq!(post(a.qp, &mut send(1, IBV_WR_SEND, &[]), &mut bad), libc::EIO);
        assert_eq!(ibv_destroy_qp(a.qp), 0);
        assert_eq!(ibv_destroy_cq(a.cq), 0);
    }
    drop(b);
}

#[test]
fn many_threads_on_pairs_of_their_own_and_on_one_cq() {
    const MESSAGES: u64 = 2000;
    let run = |seed: u64| {
        let (a, b) = pair(&DEFAULT);
        let from = Region::new(a.pd, pattern(seed, 64), 0);
        let to = Region::new(b.pd, vec![0; 64], ALL);
        let sges = [from.sge(0, 64)];
        for n in 0..MESSAGES {
            assert_eq!(b.post_recv(n, &[to.sge(0, 64)]), 0);
            assert_eq!(a.post(&mut send(n, IBV_WR_SEND, &sges)), 0);
            assert_eq!((a.wait().wr_id, b.wait().wr_id), (n, n));
            assert_eq!(to.bytes, from.bytes);
        }
    };
    std::thread::scope(|scope| {
        for seed in 0..4 {
            scope.spawn(move || run(seed));
        }
    });
}

#[test]
fn threads_share_a_qp_and_its_cqs() {
    const EACH: u64 = 3000;
    let (a, b) = pair(&Options { send_ops: 0x7f, cqe: 1024, max_send_wr: 256, ..DEFAULT });
    let to = Region::new(b.pd, vec![0; 8], ALL);
    let (place, rkey, qp, cq) = (to.addr(), to.rkey(), a.qp as usize, a.cq as usize);
    let context = a.context as usize;
    let (polled, sum) = (AtomicU64::new(0), AtomicU64::new(0));
    let by_list = |id: u64| unsafe {
        let (mut bad, mut wr) = (null_mut(), rdma(id, IBV_WR_RDMA_WRITE, &[], place, rkey));
        (*(context as *mut ibv_context)).ops.post_send.unwrap()(qp as *mut ibv_qp, &mut wr, &mut bad)
    };
    let by_builder = |id: u64| unsafe {
        let q = ibv_qp_to_qp_ex(qp as *mut ibv_qp);
        (*q).wr_start.unwrap()(q);
        (&raw mut (*q).wr_id).write(id);
        (&raw mut (*q).wr_flags).write(IBV_SEND_SIGNALED);
        (*q).wr_rdma_write.unwrap()(q, rkey, place);
        (*q).wr_complete.unwrap()(q)
    };
    let poll = || {
        let poll_cq = unsafe { (*(context as *mut ibv_context)).ops.poll_cq.unwrap() };
        let mut wcs = [unsafe { zeroed::<ibv_wc>() }; 8];
        while polled.load(Relaxed) < 4 * EACH {
            let got = unsafe { poll_cq(cq as *mut ibv_cq, 8, wcs.as_mut_ptr()) };
            for wc in &wcs[..usize::try_from(got).unwrap()] {
                assert_eq!(wc.status, IBV_WC_SUCCESS);
                sum.fetch_add(wc.wr_id, Relaxed);
            }
            polled.fetch_add(got as u64, Relaxed);
        }
    };
    let post = |first: u64, one: &dyn Fn(u64) -> c_int| {
        for id in first..first + EACH {
            loop {
                match one(id) {
                    0 => break,
                    errno => assert_eq!(errno, libc::ENOMEM, "only a full queue"),
                }
                std::thread::yield_now();
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(poll);
        scope.spawn(poll);
        scope.spawn(|| post(0, &by_list));
        scope.spawn(|| post(EACH, &by_list));
        scope.spawn(|| post(2 * EACH, &by_builder));
        scope.spawn(|| post(3 * EACH, &by_builder));
    });
    assert_eq!(sum.into_inner(), (0..4 * EACH).sum::<u64>());
    assert!(a.nothing());
}

/// Once a buffer that was posted during the flush overtook those that were waiting.
#[test]
fn a_flush_keeps_the_order_of_buffers_that_are_posted_meanwhile() {
    const BUFFERS: u64 = 40;
    for _ in 0..100 {
        let side = Side::new(&DEFAULT);
        side.connect(&side.nowhere(), &DEFAULT);
        let (qp, context) = (side.qp as usize, side.context as usize);
        let poster = std::thread::spawn(move || {
            for wr_id in 0..BUFFERS {
                let (mut wr, mut bad) = (recv(wr_id, &[]), null_mut());
                let post = unsafe { (*(context as *mut ibv_context)).ops.post_recv.unwrap() };
                assert_eq!(unsafe { post(qp as *mut ibv_qp, &mut wr, &mut bad) }, 0);
            }
        });
        assert_eq!(side.to_state(IBV_QPS_ERR), 0);
        poster.join().unwrap();
        for wr_id in 0..BUFFERS {
            let wc = side.wait();
            assert_eq!((wc.wr_id, wc.status), (wr_id, IBV_WC_WR_FLUSH_ERR));
        }
    }
}
