//! Completion channels and asynchronous events: readable exactly when something waits, each event once.
use super::harness::*;
use crate::abi::*;
use crate::verbs::*;
use std::ffi::{c_int, c_void};
use std::mem::zeroed;
use std::ptr::null_mut;

/// How long a carrier may take; never waited for when all is well.
const LONG_MS: c_int = 20_000;

fn readable(fd: c_int, wait_ms: c_int) -> bool {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    unsafe { libc::poll(&mut poll, 1, wait_ms) == 1 }
}

fn channel_fd(side: &Side) -> c_int {
    unsafe { (*side.channel).fd }
}

#[test]
fn one_event_for_one_arming() {
    let (a, b) = pair(&DEFAULT);
    for wr_id in 0..4 {
        assert_eq!(b.post_recv(wr_id, &[]), 0);
    }
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    a.wait();
    assert!(!readable(channel_fd(&b), 0), "not armed");
    b.arm(0);
    assert_eq!(a.post(&mut send(2, IBV_WR_SEND, &[])), 0);
    assert_eq!(a.post(&mut send(3, IBV_WR_SEND, &[])), 0);
    assert!(readable(channel_fd(&b), LONG_MS));
    b.take_event();
    assert!(!readable(channel_fd(&b), 0), "one event, though two completions came");
    let got: Vec<_> = (0..3).map(|_| b.wait().wr_id).collect();
    assert_eq!(got, [0, 1, 2]);
}

#[test]
fn solicited_only_wakes_for_solicited_and_for_errors() {
    let (a, b) = pair(&DEFAULT);
    for wr_id in 0..3 {
        assert_eq!(b.post_recv(wr_id, &[]), 0);
    }
    b.arm(1);
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    a.wait();
    assert!(!readable(channel_fd(&b), 0));
    let mut wr = send(2, IBV_WR_SEND, &[]);
    wr.send_flags |= IBV_SEND_SOLICITED;
    assert_eq!(a.post(&mut wr), 0);
    assert!(readable(channel_fd(&b), LONG_MS));
    b.take_event();
    b.arm(1);
    assert_eq!(b.to_state(IBV_QPS_ERR), 0);
    assert!(readable(channel_fd(&b), LONG_MS), "a flushed receive is an error");
    b.take_event();
}

#[test]
fn a_sleeping_program_is_woken_though_nobody_polls() {
    // The request runs out of retries while the program waits for its descriptor.
    let options = Options { timeout: 1, ..DEFAULT };
    let lonely = Side::new(&options);
    lonely.connect(&lonely.nowhere(), &options);
    lonely.arm(0);
    assert_eq!(lonely.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    assert!(readable(channel_fd(&lonely), LONG_MS));
    lonely.take_event();
    assert_eq!(lonely.wait().status, IBV_WC_RETRY_EXC_ERR);
}

#[test]
fn a_waiting_event_of_a_destroyed_cq_disappears() {
    let (a, b) = pair(&DEFAULT);
    unsafe {
        let other = ibv_create_cq(b.context, 4, null_mut(), b.channel, 0);
        let mut init: ibv_qp_init_attr = zeroed();
        (init.send_cq, init.recv_cq) = (other, other);
        init.cap = caps(4);
        init.qp_type = IBV_QPT_RC;
        let qp = ibv_create_qp(b.pd, &mut init);
        assert_eq!((*b.context).ops.req_notify_cq.unwrap()(other, 0), 0);
        let mut attr: ibv_qp_attr = zeroed();
        attr.qp_state = IBV_QPS_ERR;
        assert_eq!(ibv_modify_qp(qp, &mut attr, IBV_QP_STATE as c_int), 0);
        let mut bad = null_mut();
        assert_eq!((*b.context).ops.post_send.unwrap()(qp, &mut send(1, IBV_WR_SEND, &[]), &mut bad), 0);
        assert!(readable(channel_fd(&b), LONG_MS));
        assert_eq!(ibv_destroy_qp(qp), 0);
        assert_eq!(ibv_destroy_cq(other), 0);
    }
    assert!(!readable(channel_fd(&b), 0));
    // The channel goes on working for the CQ that is left.
    b.arm(0);
    assert_eq!(b.post_recv(1, &[]), 0);
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    b.take_event();
}

#[test]
fn destroy_waits_for_the_acknowledgment() {
    let (a, b) = pair(&DEFAULT);
    b.arm(0);
    assert_eq!(b.post_recv(1, &[]), 0);
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    let (mut cq, mut context) = (null_mut(), null_mut());
    unsafe {
        assert_eq!(ibv_get_cq_event(b.channel, &mut cq, &mut context), 0);
        assert_eq!(ibv_destroy_qp(b.qp), 0);
    }
    let place = b.cq as usize;
    let destroyer = std::thread::spawn(move || unsafe { ibv_destroy_cq(place as *mut ibv_cq) });
    // It cannot have ended: the event is not acknowledged.
    std::thread::yield_now();
    assert!(!destroyer.is_finished());
    unsafe { ibv_ack_cq_events(cq, 1) };
    assert_eq!(destroyer.join().unwrap(), 0);
    let b = std::mem::ManuallyDrop::new(b);
    unsafe {
        assert_eq!(ibv_destroy_comp_channel(b.channel), 0);
        assert_eq!(ibv_dealloc_pd(b.pd), 0);
        assert_eq!(ibv_close_device(b.context), 0);
    }
}

fn next_async(side: &Side) -> ibv_async_event {
    let mut event: ibv_async_event = unsafe { zeroed() };
    assert_eq!(unsafe { ibv_get_async_event(side.context, &mut event) }, 0);
    unsafe { ibv_ack_async_event(&mut event) };
    event
}

#[test]
fn an_srq_raises_its_limit_once() {
    let (a, b) = pair(&Options { srq: true, ..DEFAULT });
    for wr_id in 0..4 {
        assert_eq!(b.post_recv(wr_id, &[]), 0);
    }
    let fd = unsafe { (*b.context).async_fd };
    let mut attr = ibv_srq_attr { max_wr: 0, max_sge: 0, srq_limit: 3 };
    assert_eq!(unsafe { ibv_modify_srq(b.srq, &mut attr, IBV_SRQ_LIMIT) }, 0);
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    assert!(!readable(fd, 0), "three are left");
    assert_eq!(a.post(&mut send(2, IBV_WR_SEND, &[])), 0);
    assert_eq!(a.post(&mut send(3, IBV_WR_SEND, &[])), 0);
    assert!(readable(fd, LONG_MS));
    let event = next_async(&b);
    assert_eq!(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    assert_eq!(unsafe { event.element.srq }, b.srq);
    assert!(!readable(fd, 0));
    assert_eq!(unsafe { ibv_query_srq(b.srq, &mut attr) }, 0);
    assert_eq!((attr.max_wr, attr.max_sge, attr.srq_limit), (64, 4, 0));
}

#[test]
fn draining_and_the_last_buffer_are_announced() {
    let (a, _b) = pair(&Options { srq: true, ..DEFAULT });
    let mut attr: ibv_qp_attr = unsafe { zeroed() };
    attr.qp_state = IBV_QPS_SQD;
    attr.en_sqd_async_notify = 1;
    assert_eq!(a.modify(&mut attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
    assert_eq!(next_async(&a).event_type, IBV_EVENT_SQ_DRAINED);
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    assert!(a.nothing(), "nothing starts while the queue is drained");
    assert_eq!(a.to_state(IBV_QPS_ERR), 0);
    assert_eq!(next_async(&a).event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    assert_eq!(a.wait().status, IBV_WC_WR_FLUSH_ERR);
}

#[test]
fn an_overrun_cq_is_reported() {
    let (a, b) = pair(&Options { cqe: 2, ..DEFAULT });
    let to = Region::new(b.pd, vec![0; 8], ALL);
    for wr_id in 0..3 {
        assert_eq!(a.post(&mut rdma(wr_id, IBV_WR_RDMA_WRITE, &[], to.addr(), to.rkey())), 0);
    }
    let event = next_async(&a);
    assert_eq!(event.event_type, IBV_EVENT_CQ_ERR);
    assert_eq!(unsafe { event.element.cq }, a.cq);
    assert_eq!((a.wait().wr_id, a.wait().wr_id), (0, 1));
    assert!(a.poll(&mut [unsafe { zeroed() }]) < 0);
    assert_eq!(a.state(), IBV_QPS_ERR);
}

/// A thread of a C program, which ends in `wait`.
unsafe fn cancelled(wait: extern "C-unwind" fn(*mut c_void) -> *mut c_void, argument: *mut c_void, fd: c_int) {
    type Start = extern "C" fn(*mut c_void) -> *mut c_void;
    let mut thread = zeroed();
    let start = std::mem::transmute::<extern "C-unwind" fn(*mut c_void) -> *mut c_void, Start>(wait);
    assert_eq!(libc::pthread_create(&mut thread, std::ptr::null(), start, argument), 0);
    // Whether it waits already or not: the call is where cancellation takes effect.
    assert!(!readable(fd, 0));
    assert_eq!(libc::pthread_cancel(thread), 0);
    let mut result = null_mut();
    assert_eq!(libc::pthread_join(thread, &mut result), 0);
    assert_eq!(result as isize, -1, "PTHREAD_CANCELED");
}

/// rping ends its threads like this.
#[test]
fn threads_that_wait_for_events_can_be_cancelled() {
    extern "C-unwind" fn completion(channel: *mut c_void) -> *mut c_void {
        let (mut cq, mut context) = (null_mut(), null_mut());
        unsafe { ibv_get_cq_event(channel.cast(), &mut cq, &mut context) };
        null_mut()
    }
    extern "C-unwind" fn asynchronous(context: *mut c_void) -> *mut c_void {
        let mut event: ibv_async_event = unsafe { zeroed() };
        unsafe { ibv_get_async_event(context.cast(), &mut event) };
        null_mut()
    }
    let (a, b) = pair(&DEFAULT);
    unsafe {
        cancelled(completion, b.channel.cast(), channel_fd(&b));
        cancelled(asynchronous, b.context.cast(), (*b.context).async_fd);
    }
    // Nothing is lost or locked.
    b.arm(0);
    assert_eq!(b.post_recv(1, &[]), 0);
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &[])), 0);
    b.take_event();
}
