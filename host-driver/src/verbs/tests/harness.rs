//! Two connected QPs in one process.
use crate::abi::*;
use crate::verbs::*;
use std::ffi::c_int;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// A region with its bytes.
pub struct Region {
    pub bytes: Vec<u8>,
    pub mr: *mut ibv_mr,
}

impl Region {
    pub fn new(pd: *mut ibv_pd, bytes: Vec<u8>, access: u32) -> Region {
        let mut bytes = bytes;
        let mr = unsafe { ibv_reg_mr(pd, bytes.as_mut_ptr().cast(), bytes.len(), access as c_int) };
        assert!(!mr.is_null());
        Region { bytes, mr }
    }

    pub fn sge(&self, offset: usize, length: u32) -> ibv_sge {
        ibv_sge { addr: self.bytes.as_ptr() as u64 + offset as u64, length, lkey: unsafe { (*self.mr).lkey } }
    }

    pub fn rkey(&self) -> u32 {
        unsafe { (*self.mr).rkey }
    }

    pub fn addr(&self) -> u64 {
        self.bytes.as_ptr() as u64
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        assert_eq!(unsafe { ibv_dereg_mr(self.mr) }, 0);
    }
}

/// One side: a context of its own, a PD, a CQ and a QP.
pub struct Side {
    pub context: *mut ibv_context,
    pub pd: *mut ibv_pd,
    pub channel: *mut ibv_comp_channel,
    pub cq: *mut ibv_cq,
    pub srq: *mut ibv_srq,
    pub qp: *mut ibv_qp,
}

/// Of a QP.
pub struct Address {
    pub gid: ibv_gid,
    pub number: u32,
}

#[derive(Clone, Copy)]
pub struct Options {
    pub srq: bool,
    pub send_ops: u64,
    pub signal_all: bool,
    pub access: u32,
    pub timeout: u8,
    pub rnr_retry: u8,
    pub max_send_wr: u32,
    pub cqe: c_int,
}

pub const DEFAULT: Options =
    Options { srq: false, send_ops: 0, signal_all: false, access: ALL, timeout: 14, rnr_retry: 7, max_send_wr: 64, cqe: 256 };

pub const ALL: u32 = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

pub fn open() -> *mut ibv_context {
    unsafe {
        let list = ibv_get_device_list(null_mut());
        let context = ibv_open_device(*list);
        ibv_free_device_list(list);
        assert!(!context.is_null());
        context
    }
}

pub fn caps(max_send_wr: u32) -> ibv_qp_cap {
    ibv_qp_cap { max_send_wr, max_recv_wr: 64, max_send_sge: 4, max_recv_sge: 4, max_inline_data: 64 }
}

impl Side {
    pub fn new(options: &Options) -> Side {
        unsafe {
            let context = open();
            let pd = ibv_alloc_pd(context);
            let channel = ibv_create_comp_channel(context);
            let cq = ibv_create_cq(context, options.cqe, null_mut(), channel, 0);
            let mut srq = null_mut();
            if options.srq {
                let attr = ibv_srq_attr { max_wr: 64, max_sge: 4, srq_limit: 0 };
                srq = ibv_create_srq(pd, &mut ibv_srq_init_attr { srq_context: null_mut(), attr });
                assert!(!srq.is_null());
            }
            let mut init: ibv_qp_init_attr_ex = zeroed();
            (init.send_cq, init.recv_cq, init.srq) = (cq, cq, srq);
            init.cap = caps(options.max_send_wr);
            init.qp_type = IBV_QPT_RC;
            init.sq_sig_all = c_int::from(options.signal_all);
            init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
            init.pd = pd;
            init.send_ops_flags = options.send_ops;
            let create = (*verbs_of(context)).create_qp_ex.unwrap();
            let qp = create(context, &mut init);
            assert!(!qp.is_null());
            Side { context, pd, channel, cq, srq, qp }
        }
    }

    pub fn modify(&self, attr: &mut ibv_qp_attr, mask: u32) -> c_int {
        unsafe { ibv_modify_qp(self.qp, attr, mask as c_int) }
    }

    pub fn to_state(&self, state: c_int) -> c_int {
        let mut attr: ibv_qp_attr = unsafe { zeroed() };
        attr.qp_state = state;
        self.modify(&mut attr, IBV_QP_STATE)
    }

    pub fn state(&self) -> c_int {
        unsafe {
            let mut attr: ibv_qp_attr = zeroed();
            assert_eq!(ibv_query_qp(self.qp, &mut attr, IBV_QP_STATE as c_int, null_mut()), 0);
            attr.qp_state
        }
    }

    /// What the other side has to know.
    pub fn address(&self) -> Address {
        let mut gid = ibv_gid { raw: [0; 16] };
        assert_eq!(unsafe { ibv_query_gid(self.context, 1, 0, &mut gid) }, 0);
        Address { gid, number: self.number() }
    }

    /// An address of this device where no QP is.
    pub fn nowhere(&self) -> Address {
        Address { number: 0xff_fffe, ..self.address() }
    }

    /// Up to ready-to-send with that peer.
    pub fn connect(&self, peer: &Address, options: &Options) {
        unsafe {
            let mut a: ibv_qp_attr = zeroed();
            a.qp_state = IBV_QPS_INIT;
            a.port_num = 1;
            a.qp_access_flags = options.access;
            let init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
            assert_eq!(self.modify(&mut a, init), 0);
            a.qp_state = IBV_QPS_RTR;
            a.path_mtu = 3;
            a.dest_qp_num = peer.number;
            // Each direction has a PSN of its own, which both sides know.
            a.rq_psn = !peer.number & 0xff_ffff;
            a.max_dest_rd_atomic = 1;
            a.min_rnr_timer = 1;
            a.ah_attr.is_global = 1;
            a.ah_attr.port_num = 1;
            a.ah_attr.grh.dgid = peer.gid;
            a.ah_attr.grh.hop_limit = 64;
            let rtr = IBV_QP_STATE
                | IBV_QP_AV
                | IBV_QP_PATH_MTU
                | IBV_QP_DEST_QPN
                | IBV_QP_RQ_PSN
                | IBV_QP_MAX_DEST_RD_ATOMIC
                | IBV_QP_MIN_RNR_TIMER;
            assert_eq!(self.modify(&mut a, rtr), 0);
            a.qp_state = IBV_QPS_RTS;
            a.timeout = options.timeout;
            a.sq_psn = !self.number() & 0xff_ffff;
            a.retry_cnt = 1;
            a.rnr_retry = options.rnr_retry;
            a.max_rd_atomic = 1;
            let rts =
                IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
            assert_eq!(self.modify(&mut a, rts), 0);
        }
    }

    pub fn number(&self) -> u32 {
        unsafe { (*self.qp).qp_num }
    }

    pub fn post(&self, wr: &mut ibv_send_wr) -> c_int {
        let mut bad = null_mut();
        unsafe { (*self.context).ops.post_send.unwrap()(self.qp, wr, &mut bad) }
    }

    pub fn post_recv(&self, wr_id: u64, sges: &[ibv_sge]) -> c_int {
        let mut wr = recv(wr_id, sges);
        let mut bad = null_mut();
        unsafe {
            if self.srq.is_null() {
                (*self.context).ops.post_recv.unwrap()(self.qp, &mut wr, &mut bad)
            } else {
                (*self.context).ops.post_srq_recv.unwrap()(self.srq, &mut wr, &mut bad)
            }
        }
    }

    /// What is there now.
    pub fn poll(&self, wcs: &mut [ibv_wc]) -> c_int {
        unsafe { (*self.context).ops.poll_cq.unwrap()(self.cq, wcs.len() as c_int, wcs.as_mut_ptr()) }
    }

    /// The next completion; fails after a while.
    pub fn wait(&self) -> ibv_wc {
        let end = Instant::now() + Duration::from_secs(20);
        let mut wc = [unsafe { zeroed() }];
        while self.poll(&mut wc) == 0 {
            assert!(Instant::now() < end, "no completion");
        }
        wc[0]
    }

    pub fn arm(&self, solicited: c_int) {
        assert_eq!(unsafe { (*self.context).ops.req_notify_cq.unwrap()(self.cq, solicited) }, 0);
    }

    /// Waits for an event of the CQ and acknowledges it.
    pub fn take_event(&self) {
        unsafe {
            let (mut cq, mut context) = (null_mut(), null_mut());
            assert_eq!(ibv_get_cq_event(self.channel, &mut cq, &mut context), 0);
            assert_eq!(cq, self.cq);
            ibv_ack_cq_events(cq, 1);
        }
    }

    pub fn nothing(&self) -> bool {
        self.poll(&mut [unsafe { zeroed() }]) == 0
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        unsafe {
            assert_eq!(ibv_destroy_qp(self.qp), 0);
            if !self.srq.is_null() {
                assert_eq!(ibv_destroy_srq(self.srq), 0);
            }
            assert_eq!(ibv_destroy_cq(self.cq), 0);
            assert_eq!(ibv_destroy_comp_channel(self.channel), 0);
            assert_eq!(ibv_dealloc_pd(self.pd), 0);
            assert_eq!(ibv_close_device(self.context), 0);
        }
    }
}

pub fn verbs_of(context: *mut ibv_context) -> *mut verbs_context {
    unsafe { context.cast::<u8>().sub(std::mem::offset_of!(verbs_context, context)).cast() }
}

/// Two connected sides.
pub fn pair(options: &Options) -> (Side, Side) {
    let (a, b) = (Side::new(options), Side::new(options));
    a.connect(&b.address(), options);
    b.connect(&a.address(), options);
    (a, b)
}

pub fn recv(wr_id: u64, sges: &[ibv_sge]) -> ibv_recv_wr {
    ibv_recv_wr { wr_id, next: null_mut(), sg_list: sges.as_ptr().cast_mut(), num_sge: sges.len() as c_int }
}

/// A signalled request without target.
pub fn send(wr_id: u64, opcode: c_int, sges: &[ibv_sge]) -> ibv_send_wr {
    let mut wr: ibv_send_wr = unsafe { zeroed() };
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    wr.sg_list = sges.as_ptr().cast_mut();
    wr.num_sge = sges.len() as c_int;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr
}

/// A signalled request with a target.
pub fn rdma(wr_id: u64, opcode: c_int, sges: &[ibv_sge], remote_addr: u64, rkey: u32) -> ibv_send_wr {
    let mut wr = send(wr_id, opcode, sges);
    wr.wr.rdma = wr_rdma { remote_addr, rkey };
    wr
}

/// Bytes that are different at every place.
pub fn pattern(seed: u64, length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| ((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ seed) >> 32) as u8).collect()
}
