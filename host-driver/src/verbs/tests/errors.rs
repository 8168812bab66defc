//! What goes wrong ends as the API says: errno at once and nothing changed, or a completion with the right status and a QP in the error
//! state, with every request accounted for.
use super::harness::*;
use crate::abi::*;
use crate::verbs::*;
use std::ffi::c_int;
use std::mem::zeroed;
use std::ptr::null_mut;

/// (what is wrong, the request, status at the requester)
fn refused(options: &Options, target_access: u32, wr: impl Fn(&Region, &Region) -> ibv_send_wr) -> (Side, Side, ibv_wc) {
    let (a, b) = pair(options);
    let own = Region::new(a.pd, vec![1; 64], ALL);
    let target = Region::new(b.pd, vec![0; 64], target_access);
    let sges = [own.sge(0, 8)];
    let mut wr = wr(&own, &target);
    if wr.num_sge != 0 {
        wr.sg_list = sges.as_ptr().cast_mut();
    }
    let mut behind = send(77, IBV_WR_SEND, &[]);
    behind.send_flags = 0; // Flushed requests complete whether signalled or not.
    wr.next = &mut behind;
    assert_eq!(a.post(&mut wr), 0);
    let wc = a.wait();
    assert_eq!(wc.wr_id, 1);
    let flushed = a.wait();
    assert_eq!((flushed.wr_id, flushed.status), (77, IBV_WC_WR_FLUSH_ERR));
    assert_eq!(a.state(), IBV_QPS_ERR);
    assert!(target.bytes.iter().all(|b| *b == 0), "nothing was written");
    drop((own, target));
    (a, b, wc)
}

/// A request of eight bytes at the start of the target.
fn op(opcode: c_int) -> impl Fn(&Region, &Region) -> ibv_send_wr {
    const SOME: [ibv_sge; 1] = [ibv_sge { addr: 0, length: 0, lkey: 0 }];
    move |_: &Region, target: &Region| {
        let mut wr = rdma(1, opcode, &SOME, (target.addr() + 7) & !7, target.rkey());
        if matches!(opcode, IBV_WR_ATOMIC_CMP_AND_SWP | IBV_WR_ATOMIC_FETCH_AND_ADD) {
            let remote_addr = (target.addr() + 7) & !7;
            wr.wr.atomic = wr_atomic { remote_addr, compare_add: 1, swap: 1, rkey: target.rkey() };
        }
        wr
    }
}

#[test]
fn each_access_flag_is_needed_on_the_region_and_on_the_qp() {
    let needs = [
        (IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE),
        (IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ),
        (IBV_WR_ATOMIC_CMP_AND_SWP, IBV_ACCESS_REMOTE_ATOMIC),
        (IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC),
    ];
    for (opcode, flag) in needs {
        for (qp, region) in [(ALL & !flag, ALL), (ALL, ALL & !flag)] {
            let options = Options { access: qp, ..DEFAULT };
            let (_a, b, wc) = refused(&options, region, op(opcode));
            assert_eq!(wc.status, IBV_WC_REM_ACCESS_ERR, "opcode {opcode}");
            assert_eq!(b.state(), IBV_QPS_ERR);
            let mut event: ibv_async_event = unsafe { zeroed() };
            assert_eq!(unsafe { ibv_get_async_event(b.context, &mut event) }, 0);
            assert_eq!(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
            assert_eq!(unsafe { event.element.qp }, b.qp);
            unsafe { ibv_ack_async_event(&mut event) };
        }
    }
}

#[test]
fn ranges_and_keys_that_do_not_fit_are_refused_by_the_peer() {
    let write = |change: fn(&mut wr_rdma)| {
        move |own: &Region, target: &Region| {
            let mut wr = op(IBV_WR_RDMA_WRITE)(own, target);
            change(unsafe { &mut wr.wr.rdma });
            wr
        }
    };
    let wrong: [fn(&mut wr_rdma); 5] = [
        |r| r.rkey ^= 1,
        |r| r.rkey ^= 1 << 16,
        |r| r.remote_addr -= 64,
        |r| r.remote_addr += 64,
        |r| r.remote_addr = u64::MAX - 3,
    ];
    for change in wrong {
        let (.., wc) = refused(&DEFAULT, ALL, write(change));
        assert_eq!(wc.status, IBV_WC_REM_ACCESS_ERR);
    }
    let odd = |own: &Region, target: &Region| {
        let mut wr = op(IBV_WR_ATOMIC_FETCH_AND_ADD)(own, target);
        unsafe { wr.wr.atomic.remote_addr += 4 };
        wr
    };
    assert_eq!(refused(&DEFAULT, ALL, odd).2.status, IBV_WC_REM_INV_REQ_ERR);
}

#[test]
fn a_message_longer_than_the_buffer_ends_both_sides() {
    let (a, b) = pair(&DEFAULT);
    let from = Region::new(a.pd, vec![1; 9], 0);
    let to = Region::new(b.pd, vec![0; 9], ALL);
    assert_eq!(b.post_recv(1, &[to.sge(0, 8)]), 0);
    assert_eq!(b.post_recv(2, &[to.sge(0, 8)]), 0);
    assert_eq!(a.post(&mut send(3, IBV_WR_SEND, &[from.sge(0, 9)])), 0);
    assert_eq!(a.wait().status, IBV_WC_REM_INV_REQ_ERR);
    let (first, second) = (b.wait(), b.wait());
    assert_eq!((first.wr_id, first.status), (1, IBV_WC_LOC_LEN_ERR));
    assert_eq!((second.wr_id, second.status), (2, IBV_WC_WR_FLUSH_ERR));
    assert_eq!(to.bytes, [0; 9]);
}

#[test]
fn local_keys_are_checked() {
    let (a, b) = pair(&DEFAULT);
    let read_only = Region::new(a.pd, vec![0; 8], IBV_ACCESS_REMOTE_READ);
    let target = Region::new(b.pd, vec![0; 8], ALL);
    let sge = [read_only.sge(0, 8)];
    assert_eq!(a.post(&mut rdma(1, IBV_WR_RDMA_READ, &sge, target.addr(), target.rkey())), 0);
    assert_eq!(a.wait().status, IBV_WC_LOC_PROT_ERR, "a READ needs local write");

    let (a, b) = pair(&DEFAULT);
    let of_another_pd = Region::new(b.pd, vec![0; 8], ALL);
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[of_another_pd.sge(0, 8)])), 0);
    assert_eq!(a.wait().status, IBV_WC_LOC_PROT_ERR);
}

#[test]
fn retries_end() {
    // Nobody at the other end: 2 * 4.096 us * 2^1.
    let options = Options { timeout: 1, ..DEFAULT };
    let lonely = Side::new(&options);
    lonely.connect(&lonely.nowhere(), &options);
    assert_eq!(lonely.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    assert_eq!(lonely.wait().status, IBV_WC_RETRY_EXC_ERR);
    assert_eq!(lonely.state(), IBV_QPS_ERR);
    // A peer without a buffer.
    for rnr_retry in [0, 2] {
        let (a, b) = pair(&Options { rnr_retry, ..DEFAULT });
        assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
        assert_eq!(a.wait().status, IBV_WC_RNR_RETRY_EXC_ERR);
        assert_eq!(b.state(), IBV_QPS_RTS);
    }
}

#[test]
fn refused_posts_name_the_request_and_keep_those_before_it() {
    let (a, b) = pair(&DEFAULT);
    let to = Region::new(b.pd, vec![0; 64], ALL);
    let good = || rdma(1, IBV_WR_RDMA_WRITE, &[], to.addr(), to.rkey());
    let many = [ibv_sge::default(); 5];
    let huge = [ibv_sge { addr: 0, length: 1 << 30, lkey: 0 }, ibv_sge { addr: 0, length: 1, lkey: 0 }];
    let flagged = |flags| ibv_send_wr { send_flags: flags, ..good() };
    let bad: [(ibv_send_wr, c_int); 7] = [
        (send(2, IBV_WR_SEND, &many), libc::EINVAL),
        (send(2, IBV_WR_SEND, &huge), libc::EINVAL),
        (send(2, 9, &[]), libc::EINVAL),
        (send(2, -1, &[]), libc::EINVAL),
        (flagged(1 << 4), libc::EINVAL),
        (ibv_send_wr { num_sge: -1, ..good() }, libc::EINVAL),
        (ibv_send_wr { send_flags: IBV_SEND_INLINE, ..rdma(2, IBV_WR_RDMA_WRITE, &huge, 0, 0) }, libc::EINVAL),
    ];
    for (mut wrong, errno) in bad {
        let (mut first, mut last) = (good(), good());
        wrong.next = &mut last;
        first.next = &mut wrong;
        let mut named = null_mut();
        let result = unsafe { (*a.context).ops.post_send.unwrap()(a.qp, &mut first, &mut named) };
        assert_eq!((result, named), (errno, &raw mut wrong));
        assert_eq!(a.wait().wr_id, 1);
        assert!(a.nothing(), "what stands behind the bad request was not posted");
    }
    assert_eq!(a.state(), IBV_QPS_RTS);
    assert_eq!(a.post_recv(1, &many), libc::EINVAL);
}

#[test]
fn a_full_queue_says_so() {
    // No buffer at the peer: nothing completes.
    let (a, b) = pair(&Options { max_send_wr: 4, ..DEFAULT });
    for _ in 0..4 {
        assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    }
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), libc::ENOMEM);
    assert_eq!(b.post_recv(1, &[]), 0);
    a.wait();
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    for _ in 0..64 {
        assert_eq!(a.post_recv(2, &[]), 0);
    }
    assert_eq!(a.post_recv(2, &[]), libc::ENOMEM);
}

#[test]
fn posts_follow_the_state() {
    let side = Side::new(&DEFAULT);
    assert_eq!(side.post(&mut send(1, IBV_WR_SEND, &[])), libc::EINVAL);
    assert_eq!(side.post_recv(1, &[]), libc::EINVAL, "reset takes no buffer");
    assert_eq!(side.to_state(IBV_QPS_ERR), 0);
    assert_eq!(side.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    assert_eq!(side.post_recv(2, &[]), 0);
    let both = [side.wait(), side.wait()].map(|wc| (wc.status, wc.wr_id));
    assert!(both.contains(&(IBV_WC_WR_FLUSH_ERR, 1)) && both.contains(&(IBV_WC_WR_FLUSH_ERR, 2)));
}

#[test]
fn a_refused_modification_changes_nothing() {
    let (a, _b) = pair(&DEFAULT);
    let mut before: ibv_qp_attr = unsafe { zeroed() };
    unsafe { ibv_query_qp(a.qp, &mut before, 0, null_mut()) };
    let mut attr: ibv_qp_attr = unsafe { zeroed() };
    attr.min_rnr_timer = 9;
    let tries = [
        (IBV_QP_MIN_RNR_TIMER | IBV_QP_TIMEOUT, libc::EINVAL),
        (IBV_QP_MIN_RNR_TIMER | IBV_QP_ALT_PATH, libc::EOPNOTSUPP),
        (IBV_QP_MIN_RNR_TIMER | IBV_QP_CAP, libc::EOPNOTSUPP),
        (IBV_QP_MIN_RNR_TIMER | 1 << 6, libc::EINVAL),
        (IBV_QP_MIN_RNR_TIMER | 1 << 30, libc::EINVAL),
        (IBV_QP_MIN_RNR_TIMER | IBV_QP_CUR_STATE, libc::EINVAL),
    ];
    for (mask, errno) in tries {
        assert_eq!(a.modify(&mut attr, mask), errno, "{mask:#x}");
        let mut after: ibv_qp_attr = unsafe { zeroed() };
        unsafe { ibv_query_qp(a.qp, &mut after, 0, null_mut()) };
        assert_eq!((after.min_rnr_timer, after.qp_state), (before.min_rnr_timer, before.qp_state));
    }
    assert_eq!(a.modify(&mut attr, IBV_QP_MIN_RNR_TIMER), 0);
}

#[test]
fn reset_clears_everything_a_hundred_times() {
    let (a, b) = pair(&DEFAULT);
    for round in 0..100 {
        assert_eq!(a.post(&mut send(round, IBV_WR_SEND, &[])), 0, "waits for a buffer that never comes");
        for side in [&a, &b] {
            assert_eq!(side.to_state(IBV_QPS_RESET), 0);
            let mut attr: ibv_qp_attr = unsafe { zeroed() };
            unsafe { ibv_query_qp(side.qp, &mut attr, 0, null_mut()) };
            assert_eq!((attr.dest_qp_num, attr.qp_access_flags, attr.timeout), (0, 0, 0));
        }
        a.connect(&b.address(), &DEFAULT);
        b.connect(&a.address(), &DEFAULT);
        assert_eq!(b.post_recv(round, &[]), 0);
        assert!(b.nothing() && a.nothing(), "the old request is gone");
        assert_eq!(a.post(&mut send(1000 + round, IBV_WR_SEND, &[])), 0);
        assert_eq!((a.wait().wr_id, b.wait().wr_id), (1000 + round, round));
    }
}
