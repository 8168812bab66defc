//! The data path allocates nothing once its buffers have grown.
//!
//! In: posts and polls of every kind through the C API. Out: a failure with the number of allocations. In a process of its own, because a
//! thread that polls also carries out what other threads have posted.
#[path = "../src/verbs/tests/harness.rs"]
#[allow(dead_code)] // Other tests use the rest.
mod harness;

use harness::*;
use mrnic_host_driver::{abi, verbs};

use abi::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use verbs::*;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts what each thread allocates.
struct Counting;

// SAFETY: everything is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        System.dealloc(place, layout);
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        System.realloc(place, layout, size)
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn posting_and_polling_allocate_nothing() {
    let (a, b) = pair(&Options { send_ops: 0x7f, ..DEFAULT });
    let from = Region::new(a.pd, pattern(1, 64), ALL);
    let to = Region::new(b.pd, vec![0; 64], ALL);
    let (source, target) = ([from.sge(0, 32), from.sge(32, 32)], [to.sge(0, 64)]);
    let round = || {
        assert_eq!(b.post_recv(1, &target), 0);
        assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &source)), 0);
        let mut inline = send(2, IBV_WR_RDMA_WRITE, &source);
        inline.wr.rdma = wr_rdma { remote_addr: to.addr(), rkey: to.rkey() };
        inline.send_flags |= IBV_SEND_INLINE;
        assert_eq!(a.post(&mut inline), 0);
        unsafe {
            let q = ibv_qp_to_qp_ex(a.qp);
            let x = &*q;
            x.wr_start.unwrap()(q);
            x.wr_rdma_read.unwrap()(q, to.rkey(), to.addr());
            x.wr_set_sge_list.unwrap()(q, 2, source.as_ptr());
            x.wr_rdma_write.unwrap()(q, to.rkey(), to.addr());
            x.wr_set_inline_data.unwrap()(q, source.as_ptr().cast_mut().cast(), 16);
            assert_eq!(x.wr_complete.unwrap()(q), 0);
        }
        // The builder's requests are not signalled: wr_flags is 0.
        assert_eq!((a.wait().wr_id, a.wait().wr_id, b.wait().wr_id), (1, 2, 1));
        assert!(a.nothing() && b.nothing());
    };
    // How far a buffer grows depends on what the other thread of the device left undone, so it may still do so in a later round; what
    // allocates for a request does so in each of them.
    let mut allocated = Vec::new();
    for _ in 0..8 {
        let before = ALLOCATIONS.get();
        (0..1000).for_each(|_| round());
        let new = ALLOCATIONS.get() - before;
        if new == 0 {
            return;
        }
        allocated.push(new);
    }
    panic!("allocations in each 1000 rounds: {allocated:?}");
}
