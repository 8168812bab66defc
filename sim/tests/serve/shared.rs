//! Shared receive queues of programs on Verilated NICs.
use crate::end::{fill, End};
use crate::Server;
use mrnic_host_driver::device::*;

/// Q1, Q5 to Q7: messages take receives of the queue, the program is told when few are left, and that a queue pair took its last one.
#[test]
fn messages_take_receives_of_a_shared_queue() {
    const PIECE: usize = 100;
    let mut server = Server::start("clean", |_| ());
    let mut ends = [End::open(server.session(), 4096), End::open(server.session(), 4096)];
    fill(&mut ends[0], 3);
    let b = &mut ends[1];
    let srq = b.device.create_srq(&SrqSpec { pd: b.pd, max_wr: 12, max_sge: 1, token: Token(3) }).unwrap();
    b.qp.destroy().unwrap();
    let capacity = Capacity { max_send_wr: 32, max_recv_wr: 0, max_send_sge: 1, max_recv_sge: 0, max_inline_bytes: 0 };
    let (send_cq, recv_cq, shared) = (b.cq.id(), b.cq.id(), Some(srq.id()));
    b.qp = b.device.create_qp(&QpSpec { pd: b.pd, send_cq, recv_cq, srq: shared, capacity, token: Token(2) }).unwrap();
    let [a, b] = &ends;
    let post = |wr_id: u64| {
        let sge = Sge { addr: b.buffer.as_ptr() as u64 + wr_id * PIECE as u64, length: PIECE as u32, lkey: b.keys.lkey };
        srq.post_recv(&RecvRequest { wr_id, sges: &[sge] })
    };
    (0..12).for_each(|wr_id| post(wr_id).unwrap());
    assert_eq!(post(12), Err(PostError::Full));
    a.init();
    b.init();
    End::connect_both(&ends);
    srq.set_limit(5).unwrap();
    for i in 0..8 {
        a.message(SendOp::Send { imm: None }, i, i as usize * PIECE, 90, false).unwrap();
    }
    assert!(a.completions(8).iter().all(|c| c.status == WcStatus::Success));
    let mut seen = 0u32;
    for (i, c) in b.completions(8).iter().enumerate() {
        assert_eq!((c.status, c.byte_len, c.qpn), (WcStatus::Success, 90, b.qp.number()));
        let at = c.wr_id as usize * PIECE;
        assert!(b.buffer[at..at + 90] == a.buffer[i * PIECE..i * PIECE + 90], "message {i} in receive {}", c.wr_id);
        seen |= 1 << c.wr_id;
    }
    assert_eq!(seen.count_ones(), 8, "each receive once");
    b.events.wait_for(AsyncEvent::SrqLimitReached(Token(3)));
    assert_eq!(srq.limit(), 0, "disarmed");
    post(12).unwrap();
    b.qp.modify(&QpChange { state: Some(QpState::Error), ..QpChange::default() }).unwrap();
    b.events.wait_for(AsyncEvent::LastWqeReached(Token(2)));
    let [a, b] = ends;
    a.close();
    b.close();
    srq.destroy().unwrap();
    server.finish();
}
