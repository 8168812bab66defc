//! A message from one queue pair to another, both of this process: the smallest program on the NIC in Rust, without the C API.
//!
//! In: nothing. Out: one line. Run it with `cargo run -p mrnic-host-driver --example write`; `--example paths` shows more.
use anyhow::{ensure, Result};
use mrnic_host_driver::device::*;
use mrnic_host_driver::provider::provider;
use mrnic_host_driver::rules::Access;
use std::sync::Arc;

const BYTES: usize = 65_536;

pub fn run() -> Result<String> {
    let name = provider().devices()[0].name.clone();
    let device = provider().open(&name, Arc::new(NoEvents))?;
    let pd = device.alloc_pd()?;
    let cq = device.create_cq(&CqSpec { depth: 16, token: Token(0) })?;

    // The NIC writes behind the compiler's back: the memory is looked at only after the completion.
    let (from, mut to) = (vec![0xa5u8; BYTES], vec![0u8; BYTES]);
    let region = |addr: u64, access| MemoryRegion { pd, addr, length_bytes: BYTES as u64, iova: addr, access };
    let (source_addr, target_addr) = (from.as_ptr() as u64, to.as_mut_ptr() as u64);
    let source = device.reg_mr(&region(source_addr, Access::default()))?;
    let target = device.reg_mr(&region(target_addr, Access::ALL))?;

    let capacity = Capacity { max_send_wr: 4, max_recv_wr: 4, max_send_sge: 1, max_recv_sge: 1, ..Capacity::default() };
    let spec = QpSpec { pd, send_cq: cq.id(), recv_cq: cq.id(), srq: None, capacity, token: Token(1) };
    let (a, b) = (device.create_qp(&spec)?, device.create_qp(&spec)?);
    let gid = device.query_gid(1, 0)?.gid;
    for (qp, peer) in [(&a, &b), (&b, &a)] {
        qp.modify(&QpChange::to_init(Access::ALL))?;
        qp.modify(&QpChange::to_rtr(&QpAddress { gid, qpn: peer.number(), psn: 1 }))?;
        qp.modify(&QpChange::to_rts(1))?;
    }

    let sges = [Sge { addr: source_addr, length: BYTES as u32, lkey: source.lkey }];
    let op = SendOp::Write { remote: Remote { addr: target_addr, rkey: target.rkey }, imm: None };
    let payload = Payload::Sges(&sges);
    a.post_send(&SendRequest { wr_id: 1, op, payload, signaled: true, solicited: false, fenced: false })?;
    a.ring_send();
    let mut completion = [Completion::default()];
    while cq.poll(&mut completion)? == 0 {}
    ensure!(completion[0].status == WcStatus::Success, "the WRITE failed: {:?}", completion[0].status);
    ensure!(from == to, "the message did not arrive");
    a.destroy()?;
    b.destroy()?;
    // No memory is touched any more, so that the buffers may go.
    device.close();
    Ok(format!("{BYTES} bytes written by {name}"))
}

#[allow(dead_code)] // A test runs the rest.
fn main() -> Result<()> {
    println!("{}", run()?);
    Ok(())
}
