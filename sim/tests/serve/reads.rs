//! READs and atomics of programs: every size, results of atomics, fences, and what each end sees of requests that are refused.
use crate::end::{fill, End};
use crate::Server;
use mrnic_host_driver::device::*;
use mrnic_host_driver::rules::Access;

/// A size of each class: nothing, below and around a beat, packets of an MTU, and several.
const SIZES: [usize; 13] = [0, 1, 7, 8, 16, 17, 63, 64, 1024, 4096, 4097, 12_288, 40_001];

fn at(end: &End, offset: usize) -> Remote {
    Remote { addr: end.buffer.as_ptr() as u64 + offset as u64, rkey: end.keys.rkey }
}

/// Posts a request on a piece of this end's buffer; its number is the place.
fn post(end: &End, op: SendOp, place: usize, bytes: usize, fenced: bool) {
    post_with(end, op, (place, bytes), end.keys.lkey, fenced);
}

fn post_with(end: &End, op: SendOp, (place, bytes): (usize, usize), lkey: u32, fenced: bool) {
    let sge = [Sge { addr: end.buffer.as_ptr() as u64 + place as u64, length: bytes as u32, lkey }];
    let payload = Payload::Sges(&sge);
    let request = SendRequest { wr_id: place as u64, op, payload, signaled: true, solicited: false, fenced };
    end.qp.post_send(&request).unwrap();
    end.qp.ring_send();
}

fn word(end: &End, offset: usize) -> u64 {
    u64::from_ne_bytes(end.buffer[offset..offset + 8].try_into().unwrap())
}

/// D1 to D6: READs of all sizes, both ways at once, more than may be outstanding; what lies between the pieces is untouched.
#[test]
fn every_size_is_read_with_loss() {
    let room: usize = SIZES.iter().map(|s| s + 3).sum();
    let mut server = Server::start("loss-10", |_| ());
    let [mut a, mut b] = End::pair(server.session(), 2 * room);
    fill(&mut a, 1);
    fill(&mut b, 77);
    let (mut of_a, mut of_b) = (a.buffer.clone(), b.buffer.clone());
    let (mut near, mut far) = (0, room);
    for size in SIZES {
        post(&a, SendOp::Read { remote: at(&b, far) }, near, size, false);
        post(&b, SendOp::Read { remote: at(&a, far) }, near, size, false);
        of_a[near..near + size].copy_from_slice(&b.buffer[far..far + size]);
        of_b[near..near + size].copy_from_slice(&a.buffer[far..far + size]);
        (near, far) = (near + size + 3, far + size + 3);
    }
    for end in [&a, &b] {
        let mut place = 0;
        for (completion, size) in end.completions(SIZES.len()).iter().zip(SIZES) {
            assert_eq!((completion.wr_id, completion.status), (place, WcStatus::Success));
            assert_eq!((completion.kind, completion.byte_len as usize), (CompletionKind::Read, size));
            place += size as u64 + 3;
        }
    }
    assert!(a.buffer == of_a && b.buffer == of_b);
    a.close();
    b.close();
    let figures = server.finish();
    assert_eq!(figures["failure"], serde_json::Value::Null);
    assert!(figures["planes"].as_array().unwrap().iter().any(|plane| plane["lost_random"].as_u64() > Some(0)), "{figures}");
}

/// D3, D5: each atomic is done once, in its order, and brings back the value before it.
#[test]
fn atomics_count_each_once_with_loss() {
    const TIMES: usize = 12;
    let mut server = Server::start("loss-10", |_| ());
    let [a, mut b] = End::pair(server.session(), 4096);
    b.buffer[..8].copy_from_slice(&u64::MAX.to_ne_bytes());
    b.buffer[8..16].copy_from_slice(&7u64.to_ne_bytes());
    for i in 0..TIMES {
        post(&a, SendOp::FetchAdd { remote: at(&b, 0), add: 3 }, 64 + 16 * i, 8, false);
        // Every other one meets what it compares with.
        let compare = 7 + (i as u64).div_ceil(2);
        post(&a, SendOp::CompareSwap { remote: at(&b, 8), compare, swap: compare + 1 }, 72 + 16 * i, 8, i % 3 == 0);
    }
    let kinds = [CompletionKind::FetchAdd, CompletionKind::CompareSwap];
    for (i, completion) in a.completions(2 * TIMES).iter().enumerate() {
        assert_eq!((completion.wr_id, completion.status), (64 + 8 * i as u64, WcStatus::Success));
        assert_eq!((completion.kind, completion.byte_len), (kinds[i % 2], 8));
    }
    let mut swapped = 7;
    for i in 0..TIMES {
        assert_eq!(word(&a, 64 + 16 * i), u64::MAX.wrapping_add(3 * i as u64));
        assert_eq!(word(&a, 72 + 16 * i), swapped);
        swapped += u64::from(swapped == 7 + (i as u64).div_ceil(2));
    }
    assert_eq!((word(&b, 0), word(&b, 8)), (u64::MAX.wrapping_add(3 * TIMES as u64), swapped));
    a.close();
    b.close();
    server.finish();
}

/// D1: a SEND with a fence leaves after the READ before it, so that it carries what was read.
#[test]
fn a_fence_waits_for_what_was_read() {
    let mut server = Server::start("clean", |_| ());
    let [a, mut b] = End::pair(server.session(), 40_000);
    fill(&mut b, 5);
    b.post_recv(9, 30_000, 10_000).unwrap();
    post(&a, SendOp::Read { remote: at(&b, 0) }, 0, 10_000, false);
    post(&a, SendOp::Send { imm: None }, 0, 10_000, true);
    assert!(a.completions(2).iter().chain(&b.completions(1)).all(|c| c.status == WcStatus::Success));
    assert!(b.buffer[30_000..] == b.buffer[..10_000]);
    a.close();
    b.close();
    server.finish();
}

/// W1, D2, D3: what is refused, by the own NIC or by the peer's, has its status; what is behind it is flushed.
#[test]
fn refused_requests_have_their_status_and_the_rest_is_flushed() {
    let mut server = Server::start("clean", |_| ());
    for case in 0..10 {
        let [a, b] = End::pair(server.session(), 8192);
        let here = at(&b, 0);
        let read_only = |end: &End| {
            let (addr, access) = (end.buffer.as_ptr() as u64, Access { remote_read: true, ..Access::default() });
            end.device.reg_mr(&MemoryRegion { pd: end.pd, addr, length_bytes: 64, iova: addr, access }).unwrap()
        };
        let (own, other) = (read_only(&a), read_only(&b));
        let (pd, foreign) = a.of_another_pd();
        let add = |remote| SendOp::FetchAdd { remote, add: 1 };
        let (op, bytes, lkey, status) = match case {
            // Not what the peer's key is.
            0 => (SendOp::Read { remote: Remote { rkey: here.rkey ^ 1, ..here } }, 8, a.keys.lkey, WcStatus::RemoteAccess),
            // Beyond the region.
            1 => (SendOp::Read { remote: at(&b, 8000) }, 500, a.keys.lkey, WcStatus::RemoteAccess),
            // A region without atomics.
            2 => (add(Remote { rkey: other.rkey, ..here }), 8, a.keys.lkey, WcStatus::RemoteAccess),
            // Not on a boundary of eight bytes.
            3 => (add(Remote { addr: (here.addr & !7) + 12, ..here }), 8, a.keys.lkey, WcStatus::RemoteInvalidRequest),
            // An answer cannot be written there.
            4 => (SendOp::Read { remote: here }, 8, own.lkey, WcStatus::LocalProtection),
            // W1: the key is of another protection domain.
            5 => (SendOp::Read { remote: here }, 8, foreign.lkey, WcStatus::LocalProtection),
            6 => (add(here), 8, foreign.lkey, WcStatus::LocalProtection),
            7 => (SendOp::Write { remote: here, imm: None }, 8, foreign.lkey, WcStatus::LocalProtection),
            8 => (SendOp::Send { imm: None }, 8, foreign.lkey, WcStatus::LocalProtection),
            // An atomic has eight bytes.
            _ => (add(here), 16, a.keys.lkey, WcStatus::LocalLength),
        };
        let before = b.buffer.clone();
        post_with(&a, op, (0, bytes), lkey, false);
        post(&a, SendOp::Read { remote: here }, 1000, 100, true);
        let statuses: Vec<_> = a.completions(2).iter().map(|c| (c.wr_id, c.status)).collect();
        assert_eq!(statuses, [(0, status), (1000, WcStatus::Flushed)], "case {case}");
        assert_eq!(a.qp.status().state, QpState::Error);
        assert!(b.buffer == before && a.buffer.iter().all(|byte| *byte == 0), "case {case}");
        a.device.dereg_mr(own).unwrap();
        a.device.dereg_mr(foreign).unwrap();
        a.device.dealloc_pd(pd).unwrap();
        b.device.dereg_mr(other).unwrap();
        a.close();
        b.close();
    }
    server.finish();
}

/// What the device says of itself, and what a queue pair may not ask for.
#[test]
fn the_device_says_how_many_it_has_outstanding() {
    let mut server = Server::start("clean", |_| ());
    let [a, b] = End::pair(server.session(), 4096);
    let limits = a.device.limits();
    assert_eq!((limits.operations, limits.max_rd_atomic), (Operations::ALL, 16));
    // D1: with none outstanding there are none; named while the send queue is drained.
    let to = |state, max_rd_atomic| QpChange { state: Some(state), max_rd_atomic, ..QpChange::default() };
    a.qp.modify(&to(QpState::Sqd, None)).unwrap();
    a.qp.modify(&to(QpState::Sqd, Some(0))).unwrap();
    a.qp.modify(&to(QpState::Rts, None)).unwrap();
    post(&a, SendOp::Read { remote: at(&b, 0) }, 0, 8, false);
    assert_eq!(a.completions(1)[0].status, WcStatus::LocalQpOperation);
    a.close();
    b.close();
    server.finish();
}
