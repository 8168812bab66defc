//! A program of the C API on a Verilated NIC: what the RTL does not have, and what makes no sense, is refused with its errno and changes nothing.
//!
//! The carrier of the C API is that of the process, chosen once by its environment: the test runs itself again with that set. Both queue pairs are on
//! one NIC, which has a connection to itself.
#![allow(clippy::undocumented_unsafe_blocks)] // All is C API; the objects live until the end.
use crate::Server;
use mrnic_host_driver::abi::*;
use mrnic_host_driver::verbs::*;
use std::ffi::c_int;
use std::mem::zeroed;
use std::process::Command;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

const CARRIER: &str = "MRNIC_VERBS";
const PATIENCE: Duration = Duration::from_secs(300);
/// What the build `sim` has for programs.
const QPS: usize = 14;
const KEYS: usize = 63;
const SRQS: usize = 4;
/// A datagram QP.
const QPT_UD: c_int = 4;
const WRITABLE: u32 = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

#[test]
fn what_the_device_does_not_do_is_refused_and_changes_nothing() {
    if std::env::var_os(CARRIER).is_some_and(|name| name == "rtl") {
        return program();
    }
    let mut server = Server::start("clean", |_| ());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "c_api::what_the_device_does_not_do_is_refused_and_changes_nothing", "--nocapture"])
        .env(CARRIER, "rtl")
        .env("MRNIC_SESSION", server.session())
        .output()
        .unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(server.finish()["programs"], 1, "it had a NIC");
}

fn errno() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// A call that makes an object does not, for that reason.
fn none<T>(object: *mut T, reason: c_int) {
    assert!(object.is_null());
    assert_eq!(errno(), reason);
}

struct Program {
    context: *mut ibv_context,
    pd: *mut ibv_pd,
    cq: *mut ibv_cq,
}

const CAPS: ibv_qp_cap = ibv_qp_cap { max_send_wr: 16, max_recv_wr: 4, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };

impl Program {
    fn create_qp(&self, cap: ibv_qp_cap, qp_type: c_int) -> *mut ibv_qp {
        let mut init: ibv_qp_init_attr = unsafe { zeroed() };
        (init.send_cq, init.recv_cq, init.qp_type, init.cap) = (self.cq, self.cq, qp_type, cap);
        unsafe { ibv_create_qp(self.pd, &mut init) }
    }

    fn post_send(&self, qp: *mut ibv_qp, wr: &mut ibv_send_wr) -> (c_int, *mut ibv_send_wr) {
        let mut bad = null_mut();
        let result = unsafe { (*self.context).ops.post_send.unwrap()(qp, wr, &mut bad) };
        (result, bad)
    }

    fn post_recv(&self, qp: *mut ibv_qp, wr_id: u64, sges: &mut [ibv_sge]) -> c_int {
        let mut wr = ibv_recv_wr { wr_id, next: null_mut(), sg_list: sges.as_mut_ptr(), num_sge: sges.len() as c_int };
        unsafe { (*self.context).ops.post_recv.unwrap()(qp, &mut wr, &mut null_mut()) }
    }

    fn wait(&self, count: usize) -> Vec<ibv_wc> {
        let (end, mut all) = (Instant::now() + PATIENCE, Vec::new());
        while all.len() < count {
            let mut wc = [unsafe { zeroed::<ibv_wc>() }];
            let got = unsafe { (*self.context).ops.poll_cq.unwrap()(self.cq, 1, wc.as_mut_ptr()) };
            all.extend_from_slice(&wc[..got as usize]);
            assert!(Instant::now() < end, "{} of {count} completions came", all.len());
        }
        all
    }

    /// To RTS, with that peer on the same NIC.
    fn connect(&self, qp: *mut ibv_qp, peer: u32) {
        unsafe {
            let modify = |a: &mut ibv_qp_attr, mask: u32| assert_eq!(ibv_modify_qp(qp, a, mask as c_int), 0);
            let mut a: ibv_qp_attr = zeroed();
            (a.qp_state, a.port_num, a.qp_access_flags) = (IBV_QPS_INIT, 1, IBV_ACCESS_REMOTE_WRITE);
            modify(&mut a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
            let mut gid = ibv_gid { raw: [0; 16] };
            assert_eq!(ibv_query_gid(self.context, 1, 0, &mut gid), 0);
            (a.qp_state, a.path_mtu, a.dest_qp_num) = (IBV_QPS_RTR, 3, peer);
            (a.max_dest_rd_atomic, a.min_rnr_timer) = (1, 1);
            (a.ah_attr.is_global, a.ah_attr.port_num) = (1, 1);
            (a.ah_attr.grh.dgid, a.ah_attr.grh.hop_limit) = (gid, 64);
            let path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
            modify(&mut a, IBV_QP_STATE | path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
            (a.qp_state, a.timeout, a.retry_cnt, a.rnr_retry, a.max_rd_atomic) = (IBV_QPS_RTS, 14, 7, 7, 1);
            let retry = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
            modify(&mut a, IBV_QP_STATE | retry | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
        }
    }
}

fn request(wr_id: u64, opcode: c_int, sges: &mut [ibv_sge]) -> ibv_send_wr {
    let mut wr: ibv_send_wr = unsafe { zeroed() };
    (wr.wr_id, wr.opcode, wr.send_flags) = (wr_id, opcode, IBV_SEND_SIGNALED);
    (wr.sg_list, wr.num_sge) = (sges.as_mut_ptr(), sges.len() as c_int);
    wr
}

fn program() {
    let (context, pd, cq) = unsafe {
        let list = ibv_get_device_list(null_mut());
        let context = ibv_open_device(*list);
        ibv_free_device_list(list);
        assert!(!context.is_null());
        (context, ibv_alloc_pd(context), ibv_create_cq(context, 64, null_mut(), null_mut(), 0))
    };
    let program = Program { context, pd, cq };
    queues_and_regions(&program);
    requests(&program);
    unsafe {
        assert_eq!(ibv_destroy_cq(cq), 0);
        assert_eq!(ibv_dealloc_pd(pd), 0);
        assert_eq!(ibv_close_device(context), 0);
    }
}

/// Objects that do not fit are not made, and those of others stay.
fn queues_and_regions(p: &Program) {
    let wrong = [
        (ibv_qp_cap { max_send_sge: 5, ..CAPS }, IBV_QPT_RC, libc::EINVAL),
        (ibv_qp_cap { max_recv_sge: 5, ..CAPS }, IBV_QPT_RC, libc::EINVAL),
        (ibv_qp_cap { max_send_wr: 8193, ..CAPS }, IBV_QPT_RC, libc::EINVAL),
        (ibv_qp_cap { max_recv_wr: 8193, ..CAPS }, IBV_QPT_RC, libc::EINVAL),
        (ibv_qp_cap { max_inline_data: 513, ..CAPS }, IBV_QPT_RC, libc::EINVAL),
        (CAPS, QPT_UD, libc::EOPNOTSUPP),
    ];
    for (cap, qp_type, reason) in wrong {
        none(p.create_qp(cap, qp_type), reason);
    }
    let mut attr: ibv_device_attr = unsafe { zeroed() };
    assert_eq!(unsafe { ibv_query_device(p.context, &mut attr) }, 0);
    assert_eq!((attr.max_sge, attr.max_sge_rd), (4, 4), "of every request and receive");
    let attr = ibv_srq_attr { max_wr: 1, max_sge: 1, srq_limit: 0 };
    let create_srq = || unsafe { ibv_create_srq(p.pd, &mut ibv_srq_init_attr { srq_context: null_mut(), attr }) };
    let srqs: Vec<_> = (0..SRQS).map(|_| create_srq()).collect();
    assert!(srqs.iter().all(|srq| !srq.is_null()));
    none(create_srq(), libc::ENOMEM);
    srqs.into_iter().for_each(|srq| assert_eq!(unsafe { ibv_destroy_srq(srq) }, 0));
    // Every one there is, one more, and again one when another is gone.
    let mut qps: Vec<_> = (0..QPS).map(|_| p.create_qp(CAPS, IBV_QPT_RC)).collect();
    assert!(qps.iter().all(|qp| !qp.is_null()));
    none(p.create_qp(CAPS, IBV_QPT_RC), libc::ENOMEM);
    assert_eq!(unsafe { ibv_destroy_qp(qps.remove(3)) }, 0);
    qps.push(p.create_qp(CAPS, IBV_QPT_RC));
    assert!(!qps[QPS - 1].is_null());
    qps.into_iter().for_each(|qp| assert_eq!(unsafe { ibv_destroy_qp(qp) }, 0));

    let mut bytes = [0u8; 64];
    let register = |addr: *mut u8, access: u32| unsafe { ibv_reg_mr(p.pd, addr.cast(), 64, access as c_int) };
    let start = bytes.as_mut_ptr();
    none(register(start, IBV_ACCESS_REMOTE_WRITE), libc::EINVAL);
    none(register(8 as *mut u8, WRITABLE), libc::EFAULT);
    let mut regions: Vec<_> = (0..KEYS).map(|_| register(start, WRITABLE)).collect();
    assert!(regions.iter().all(|mr| !mr.is_null()));
    none(register(start, WRITABLE), libc::ENOMEM);
    // Inline data would need a key too.
    none(p.create_qp(ibv_qp_cap { max_inline_data: 64, ..CAPS }, IBV_QPT_RC), libc::ENOMEM);
    assert_eq!(unsafe { ibv_dereg_mr(regions.remove(5)) }, 0);
    regions.push(register(start, WRITABLE));
    assert!(!regions[KEYS - 1].is_null());
    regions.into_iter().for_each(|mr| assert_eq!(unsafe { ibv_dereg_mr(mr) }, 0));
}

/// Requests that do not fit are not posted; those before them in their list are.
fn requests(p: &Program) {
    let mut bytes: Vec<u8> = (0..128).collect();
    let mr = unsafe { ibv_reg_mr(p.pd, bytes.as_mut_ptr().cast(), 128, WRITABLE as c_int) };
    let (lkey, base) = (unsafe { (*mr).lkey }, bytes.as_mut_ptr() as u64);
    let sge = |at: u64, length: u32| ibv_sge { addr: base + at, length, lkey };
    let qps = [p.create_qp(CAPS, IBV_QPT_RC), p.create_qp(CAPS, IBV_QPT_RC)];
    let [a, b] = qps;
    assert!(!a.is_null() && !b.is_null());
    let mut one = [sge(0, 8)];
    assert_eq!(p.post_send(a, &mut request(1, IBV_WR_SEND, &mut one)).0, libc::EINVAL, "RESET");
    assert_eq!(p.post_recv(a, 1, &mut one), libc::EINVAL, "RESET");
    unsafe {
        p.connect(a, (*b).qp_num);
        p.connect(b, (*a).qp_num);
    }
    for i in 0..4 {
        assert_eq!(p.post_recv(b, 100 + i, &mut [sge(64 + 8 * i, 8)]), 0);
    }
    assert_eq!(p.post_recv(b, 104, &mut [sge(64, 8)]), libc::ENOMEM);
    assert_eq!(p.post_recv(a, 1, &mut [sge(64, 8); 2]), libc::EINVAL);
    assert_eq!(unsafe { ibv_dereg_mr(mr) }, 0, "keys are looked at when a message comes");
    let mr = unsafe { ibv_reg_mr(p.pd, bytes.as_mut_ptr().cast(), 128, WRITABLE as c_int) };
    let (new_lkey, old_lkey) = (unsafe { (*mr).lkey }, lkey);
    assert_ne!(new_lkey, old_lkey);
    let sge = |at: u64, length: u32| ibv_sge { addr: base + at, length, lkey: new_lkey };
    // The four receives name a key that is gone: they are given back, and posted again.
    let mut reset: ibv_qp_attr = unsafe { zeroed() };
    reset.qp_state = IBV_QPS_RESET;
    for qp in qps {
        assert_eq!(unsafe { ibv_modify_qp(qp, &mut reset, IBV_QP_STATE as c_int) }, 0);
    }
    unsafe {
        p.connect(a, (*b).qp_num);
        p.connect(b, (*a).qp_num);
    }
    for i in 0..4 {
        assert_eq!(p.post_recv(b, 100 + i, &mut [sge(64 + 8 * i, 8)]), 0);
    }
    let (mut two, mut huge) = ([sge(0, 4), sge(4, 4)], [ibv_sge { length: (1 << 30) + 1, ..sge(0, 0) }]);
    let (mut first, mut part, mut short, mut inline) = ([sge(0, 8)], [sge(0, 8)], [sge(0, 4)], [sge(0, 8)]);
    let wrong = [
        ibv_send_wr { send_flags: IBV_SEND_INLINE, ..request(2, IBV_WR_RDMA_READ, &mut part) },
        request(2, IBV_WR_ATOMIC_FETCH_AND_ADD, &mut short),
        request(2, IBV_WR_ATOMIC_CMP_AND_SWP, &mut []),
        request(2, 99, &mut []),
        request(2, IBV_WR_SEND, &mut two),
        request(2, IBV_WR_SEND, &mut huge),
        ibv_send_wr { num_sge: -1, ..request(2, IBV_WR_SEND, &mut []) },
        ibv_send_wr { send_flags: IBV_SEND_INLINE, ..request(2, IBV_WR_SEND, &mut inline) },
        ibv_send_wr { send_flags: 1 << 5, ..request(2, IBV_WR_SEND, &mut []) },
    ];
    for (i, mut wrong) in wrong.into_iter().enumerate() {
        // A WRITE of eight bytes before it is posted, and one behind it is not.
        let mut list = [10, 3].map(|wr_id| request(wr_id, IBV_WR_RDMA_WRITE, &mut first));
        list.iter_mut().for_each(|wr| wr.wr.rdma = wr_rdma { remote_addr: base + 32, rkey: unsafe { (*mr).rkey } });
        let [good, behind] = &mut list;
        wrong.next = behind;
        good.next = &mut wrong;
        let named = &raw mut wrong;
        assert_eq!(p.post_send(a, good), (libc::EINVAL, named), "request {i}");
        let done = p.wait(1)[0];
        assert_eq!((done.wr_id, done.status), (10, IBV_WC_SUCCESS), "request {i}");
    }
    // All is as it was: four messages find their receives, and nothing else completes.
    for i in 0..4 {
        assert_eq!(p.post_send(a, &mut request(20 + i, IBV_WR_SEND, &mut [sge(8 * i, 8)])).0, 0);
    }
    let all = p.wait(8);
    let of =
        |qp: *mut ibv_qp| all.iter().filter(move |wc| wc.qp_num == unsafe { (*qp).qp_num }).map(|wc| (wc.wr_id, wc.status));
    assert!(of(a).eq((20..24).map(|wr_id| (wr_id, IBV_WC_SUCCESS))), "{:?}", of(a).collect::<Vec<_>>());
    assert!(of(b).eq((100..104).map(|wr_id| (wr_id, IBV_WC_SUCCESS))), "{:?}", of(b).collect::<Vec<_>>());
    let sent: Vec<u8> = (0..32).collect();
    assert!(bytes[64..96] == sent && bytes[32..40] == sent[..8] && bytes[40..64] == (40..64).collect::<Vec<u8>>());
    for qp in qps {
        assert_eq!(unsafe { ibv_destroy_qp(qp) }, 0);
    }
    assert_eq!(unsafe { ibv_dereg_mr(mr) }, 0);
}
