//! Every opcode moves the right bytes, at every size that matters, and completes as it should.
use super::harness::*;
use crate::abi::*;
use std::ffi::c_int;

/// 0, 1, around the path MTU, around buffers' ends, 1 MiB.
const SIZES: [usize; 11] = [0, 1, 7, 1023, 1024, 1025, 2048, 4096, 8192, 65_536, 1 << 20];

fn imm() -> u32 {
    0x1234_5678u32.to_be()
}

fn check(wc: &ibv_wc, wr_id: u64, opcode: c_int) {
    assert_eq!((wc.wr_id, wc.status, wc.opcode), (wr_id, IBV_WC_SUCCESS, opcode));
}

#[test]
fn sends_with_and_without_immediate_at_all_sizes() {
    for srq in [false, true] {
        let (a, b) = pair(&Options { srq, ..DEFAULT });
        for (n, size) in SIZES.into_iter().enumerate() {
            let from = Region::new(a.pd, pattern(n as u64, size + 1), 0);
            let to = Region::new(b.pd, vec![0; size + 2], ALL);
            for (opcode, flags) in [(IBV_WR_SEND, 0), (IBV_WR_SEND_WITH_IMM, IBV_WC_WITH_IMM)] {
                assert_eq!(b.post_recv(7, &[to.sge(1, size as u32 + 1)]), 0);
                let source = [from.sge(1, size as u32)];
                let mut wr = send(9, opcode, &source);
                wr.imm_data = imm();
                assert_eq!(a.post(&mut wr), 0);
                check(&a.wait(), 9, IBV_WC_SEND);
                let got = b.wait();
                check(&got, 7, IBV_WC_RECV);
                assert_eq!((got.byte_len, got.qp_num, got.src_qp), (size as u32, b.number(), a.number()));
                assert_eq!(got.wc_flags, flags);
                assert!(flags == 0 || got.imm_data == imm());
                assert_eq!(to.bytes[1..=size], from.bytes[1..]);
                assert_eq!((to.bytes[0], to.bytes[size + 1]), (0, 0), "bytes beside the message are untouched");
            }
        }
        assert!(a.nothing() && b.nothing());
    }
}

#[test]
fn writes_and_reads_at_all_sizes_and_offsets() {
    let (a, b) = pair(&DEFAULT);
    for (n, size) in SIZES.into_iter().enumerate() {
        let mut own = Region::new(a.pd, pattern(n as u64, size + 3), ALL);
        let remote = Region::new(b.pd, vec![0; size + 9], ALL);
        let place = remote.addr() + 5;
        let source = [own.sge(3, size as u32)];
        assert_eq!(a.post(&mut rdma(1, IBV_WR_RDMA_WRITE, &source, place, remote.rkey())), 0);
        check(&a.wait(), 1, IBV_WC_RDMA_WRITE);
        assert_eq!(remote.bytes[5..5 + size], own.bytes[3..]);
        assert_eq!((&remote.bytes[..5], &remote.bytes[5 + size..]), (&[0; 5][..], &[0; 4][..]));
        own.bytes[3..].fill(0);
        assert_eq!(a.post(&mut rdma(2, IBV_WR_RDMA_READ, &source, place, remote.rkey())), 0);
        check(&a.wait(), 2, IBV_WC_RDMA_READ);
        assert_eq!(own.bytes[3..], remote.bytes[5..5 + size]);
    }
    assert!(b.nothing(), "one-sided requests complete at the requester only");
}

#[test]
fn a_write_with_immediate_takes_one_buffer_and_completes_once_after_all_bytes() {
    let (a, b) = pair(&DEFAULT);
    for size in SIZES {
        let from = Region::new(a.pd, pattern(3, size + 1), 0);
        let to = Region::new(b.pd, vec![0; size + 1], ALL);
        let source = [from.sge(0, size as u32)];
        let mut wr = rdma(1, IBV_WR_RDMA_WRITE_WITH_IMM, &source, to.addr(), to.rkey());
        wr.imm_data = imm();
        assert_eq!(a.post(&mut wr), 0);
        assert!(a.nothing() && b.nothing() && to.bytes.iter().all(|x| *x == 0), "waits for a buffer");
        assert_eq!(b.post_recv(5, &[]), 0);
        let got = b.wait();
        check(&got, 5, IBV_WC_RECV_RDMA_WITH_IMM);
        assert_eq!((got.byte_len, got.wc_flags, got.imm_data), (size as u32, IBV_WC_WITH_IMM, imm()));
        assert_eq!(to.bytes[..size], from.bytes[..size]);
        check(&a.wait(), 1, IBV_WC_RDMA_WRITE);
        assert!(a.nothing() && b.nothing());
    }
}

#[test]
fn atomics_return_what_was_before() {
    let (a, b) = pair(&DEFAULT);
    let own = Region::new(a.pd, vec![0; 16], ALL);
    let word = Region::new(b.pd, vec![0; 24], ALL);
    let place = (word.addr() + 7) & !7;
    let at = (place - word.addr()) as usize;
    let value = |r: &Region, at: usize| u64::from_ne_bytes(r.bytes[at..at + 8].try_into().unwrap());
    let sge = [own.sge(0, 8)];
    let atomic = |opcode, compare_add, swap| {
        let mut wr = send(1, opcode, &sge);
        wr.wr.atomic = wr_atomic { remote_addr: place, compare_add, swap, rkey: word.rkey() };
        assert_eq!(a.post(&mut wr), 0);
        let wc = a.wait();
        assert_eq!((wc.status, wc.byte_len), (IBV_WC_SUCCESS, 8));
        (value(&own, 0), value(&word, at))
    };
    assert_eq!(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0), (0, 5));
    assert_eq!(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 4, 99), (5, 5));
    assert_eq!(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 5, u64::MAX), (5, u64::MAX));
    assert_eq!(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), (u64::MAX, 1));
}

#[test]
fn pieces_are_gathered_and_scattered_in_order() {
    let (a, b) = pair(&DEFAULT);
    let from = Region::new(a.pd, pattern(4, 100), 0);
    let to = Region::new(b.pd, vec![0; 100], ALL);
    let target = [to.sge(50, 3), to.sge(0, 0), to.sge(0, 17), to.sge(90, 10)];
    assert_eq!(b.post_recv(1, &target), 0);
    let source = [from.sge(10, 9), from.sge(40, 0), from.sge(0, 8), from.sge(60, 5)];
    assert_eq!(a.post(&mut send(1, IBV_WR_SEND, &source)), 0);
    assert_eq!(b.wait().byte_len, 22);
    let sent: Vec<u8> = [&from.bytes[10..19], &from.bytes[0..8], &from.bytes[60..65]].concat();
    let got: Vec<u8> = [&to.bytes[50..53], &to.bytes[0..17], &to.bytes[90..92]].concat();
    assert_eq!(got, sent);
}

#[test]
fn inline_data_are_taken_at_once_and_need_no_key() {
    let (a, b) = pair(&DEFAULT);
    let to = Region::new(b.pd, vec![0; 64], ALL);
    let mut data = pattern(5, 64);
    let kept = data.clone();
    let parts = [
        ibv_sge { addr: data.as_ptr() as u64, length: 10, lkey: 0 },
        ibv_sge { addr: data.as_ptr() as u64 + 10, length: 54, lkey: 0 },
    ];
    let mut wr = send(1, IBV_WR_SEND, &parts);
    wr.send_flags |= IBV_SEND_INLINE;
    assert_eq!(a.post(&mut wr), 0);
    data.fill(0);
    assert_eq!(b.post_recv(1, &[to.sge(0, 64)]), 0);
    assert_eq!(b.wait().byte_len, 64);
    assert_eq!(to.bytes, kept);
}

#[test]
fn unsignalled_requests_complete_silently_and_a_list_keeps_its_order() {
    let (a, b) = pair(&DEFAULT);
    let from = Region::new(a.pd, pattern(6, 8), 0);
    let to = Region::new(b.pd, vec![0; 8], ALL);
    let sges: Vec<_> = (0..4).map(|i| from.sge(i, 1)).collect();
    let mut list: Vec<_> =
        (0..4u64).map(|i| rdma(i, IBV_WR_RDMA_WRITE, &sges[i as usize..=i as usize], to.addr() + i, to.rkey())).collect();
    for i in 0..4 {
        list[i].send_flags = if i % 2 == 0 { 0 } else { IBV_SEND_SIGNALED };
        list[i].next = if i < 3 { &raw mut list[i + 1] } else { std::ptr::null_mut() };
    }
    assert_eq!(a.post(&mut list[0]), 0);
    assert_eq!((a.wait().wr_id, a.wait().wr_id), (1, 3));
    assert!(a.nothing());
    assert_eq!(to.bytes[..4], from.bytes[..4]);

    let (a, b) = pair(&Options { signal_all: true, ..DEFAULT });
    let to = Region::new(b.pd, vec![0; 8], ALL);
    let mut wr = rdma(4, IBV_WR_RDMA_WRITE, &[], to.addr(), to.rkey());
    wr.send_flags = 0;
    assert_eq!(a.post(&mut wr), 0);
    assert_eq!(a.wait().wr_id, 4);
}
