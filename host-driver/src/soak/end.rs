//! One end of the soak: its verbs objects, and its two regions of memory.
//!
//! In: the plans of both ends. Out: posted requests, checked completions, compared memory. Nothing reaches around the C ABI; a call that fails
//! is named in the error.
use super::plan::{Memory, Piece, Plan, Request, INLINE_BYTES, REGION_BYTES, SLOTS};
use super::Kinds;
use crate::abi::*;
use crate::verbs::*;
use anyhow::{bail, ensure, Context, Result};
use std::ffi::{c_int, c_void};
use std::fmt::{self, Display};
use std::mem::zeroed;
use std::ptr::null_mut;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// What the other end has to know: the QP, and the region that its requests refer to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address {
    pub gid: [u8; 16],
    pub number: u32,
    pub region: u64,
    pub rkey: u32,
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x} {} {} {}", u128::from_be_bytes(self.gid), self.number, self.region, self.rkey)
    }
}

impl FromStr for Address {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let words: Vec<_> = text.split(' ').collect();
        let [gid, number, region, rkey] = words[..] else { bail!("'{text}' is no address: is the other end a soak?") };
        let gid = u128::from_str_radix(gid, 16).context("the other end's GID")?.to_be_bytes();
        Ok(Address { gid, number: number.parse()?, region: region.parse()?, rkey: rkey.parse()? })
    }
}

/// A registered region. Declared before the objects it belongs to, and so deregistered before they go.
struct Region {
    bytes: Vec<u8>,
    mr: *mut ibv_mr,
}

impl Region {
    fn new(pd: *mut ibv_pd) -> Result<Region> {
        let mut bytes = vec![0u8; REGION_BYTES];
        let access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        // SAFETY: the bytes live, in their place, until the region is deregistered.
        let mr = unsafe { ibv_reg_mr(pd, bytes.as_mut_ptr().cast::<c_void>(), bytes.len(), access as c_int) };
        ensure!(!mr.is_null(), "ibv_reg_mr fails: {}", std::io::Error::last_os_error());
        Ok(Region { bytes, mr })
    }

    fn lists(&self, pieces: &[Piece]) -> Vec<ibv_sge> {
        // SAFETY: registered above.
        let lkey = unsafe { (*self.mr).lkey };
        let base = self.bytes.as_ptr() as u64;
        pieces.iter().map(|&(at, bytes)| ibv_sge { addr: base + at as u64, length: bytes as u32, lkey }).collect()
    }

    /// Names the first byte that differs.
    fn compare(&self, memory: &Memory, whose: &str, plan: &Plan) -> Result<()> {
        if self.bytes == memory.after {
            return Ok(());
        }
        let at = (0..REGION_BYTES).find(|&i| self.bytes[i] != memory.after[i]).unwrap_or_default();
        let request = &plan.requests[at / (REGION_BYTES / SLOTS)];
        bail!(
            "{whose} memory differs at byte {at}: {:#04x} instead of {:#04x} (opcode {}, {} bytes, to {})",
            self.bytes[at],
            memory.after[at],
            request.opcode,
            request.bytes,
            request.far_at
        )
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: registered in new, and given back once.
        unsafe { ibv_dereg_mr(self.mr) };
    }
}

struct Objects {
    context: *mut ibv_context,
    pd: *mut ibv_pd,
    cq: *mut ibv_cq,
    qp: *mut ibv_qp,
}

impl Drop for Objects {
    fn drop(&mut self) {
        // SAFETY: made by End::open; what is null was not made; each goes after what refers to it.
        unsafe {
            if !self.qp.is_null() {
                ibv_destroy_qp(self.qp);
            }
            if !self.cq.is_null() {
                ibv_destroy_cq(self.cq);
            }
            if !self.pd.is_null() {
                ibv_dealloc_pd(self.pd);
            }
            ibv_close_device(self.context);
        }
    }
}

pub struct End {
    near: Region,
    far: Region,
    peer: Option<Address>,
    /// READs and atomics outstanding each way.
    reads: u8,
    objects: Objects,
}

fn made<T>(object: *mut T, call: &str) -> Result<*mut T> {
    ensure!(!object.is_null(), "{call} fails: {}", std::io::Error::last_os_error());
    Ok(object)
}

fn done(errno: c_int, call: &str) -> Result<()> {
    ensure!(errno == 0, "{call} fails: {}", std::io::Error::from_raw_os_error(errno));
    Ok(())
}

impl End {
    /// Asks for no more than these requests need.
    pub fn open(kinds: Kinds) -> Result<End> {
        // SAFETY: plain C API; Objects keeps what was made alive, and gives it back.
        unsafe {
            let list = made(ibv_get_device_list(null_mut()), "ibv_get_device_list")?;
            let device = *list;
            let context = if device.is_null() { null_mut() } else { ibv_open_device(device) };
            ibv_free_device_list(list);
            ensure!(!device.is_null(), "there is no device");
            let context = made(context, "ibv_open_device")?;
            let mut objects = Objects { context, pd: null_mut(), cq: null_mut(), qp: null_mut() };
            objects.pd = made(ibv_alloc_pd(context), "ibv_alloc_pd")?;
            objects.cq = made(ibv_create_cq(context, 4 * SLOTS as c_int, null_mut(), null_mut(), 0), "ibv_create_cq")?;
            let mut init: ibv_qp_init_attr = zeroed();
            (init.send_cq, init.recv_cq, init.qp_type) = (objects.cq, objects.cq, IBV_QPT_RC);
            let slots = SLOTS as u32;
            let most = |lists| if lists { 4 } else { 1 };
            init.cap = ibv_qp_cap {
                max_send_wr: slots,
                max_recv_wr: slots,
                max_send_sge: most(kinds.send_lists()),
                max_recv_sge: most(kinds == Kinds::All),
                max_inline_data: INLINE_BYTES as u32,
            };
            objects.qp = made(ibv_create_qp(objects.pd, &mut init), "ibv_create_qp")?;
            let (near, far) = (Region::new(objects.pd)?, Region::new(objects.pd)?);
            Ok(End { near, far, peer: None, reads: if kinds.asks() { 4 } else { 1 }, objects })
        }
    }

    pub fn address(&self) -> Result<Address> {
        let mut gid = ibv_gid { raw: [0; 16] };
        // SAFETY: the context is open, the objects are alive.
        unsafe {
            done(ibv_query_gid(self.objects.context, 1, 0, &mut gid), "ibv_query_gid")?;
            let (number, rkey) = ((*self.objects.qp).qp_num, (*self.far.mr).rkey);
            Ok(Address { gid: gid.raw, number, region: self.far.bytes.as_ptr() as u64, rkey })
        }
    }

    fn modify(&self, attr: &mut ibv_qp_attr, mask: u32, to: &str) -> Result<()> {
        // SAFETY: the QP is alive.
        done(unsafe { ibv_modify_qp(self.objects.qp, attr, mask as c_int) }, to)
    }

    /// Up to ready-to-send.
    pub fn connect(&mut self, peer: &Address) -> Result<()> {
        // SAFETY: all zeros is a value of this plain structure.
        let mut a: ibv_qp_attr = unsafe { zeroed() };
        a.qp_state = IBV_QPS_INIT;
        a.port_num = 1;
        a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        let init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
        self.modify(&mut a, init, "ibv_modify_qp to INIT")?;
        a.qp_state = IBV_QPS_RTR;
        a.path_mtu = 3;
        a.dest_qp_num = peer.number;
        a.max_dest_rd_atomic = self.reads;
        a.min_rnr_timer = 1;
        a.ah_attr.is_global = 1;
        a.ah_attr.port_num = 1;
        a.ah_attr.grh.dgid = ibv_gid { raw: peer.gid };
        a.ah_attr.grh.hop_limit = 64;
        let path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
        let rtr = IBV_QP_STATE | path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        self.modify(&mut a, rtr, "ibv_modify_qp to RTR")?;
        a.qp_state = IBV_QPS_RTS;
        a.timeout = 14;
        (a.retry_cnt, a.rnr_retry, a.max_rd_atomic) = (7, 7, self.reads);
        let retry = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
        let rts = IBV_QP_STATE | retry | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
        self.modify(&mut a, rts, "ibv_modify_qp to RTS")?;
        self.peer = Some(*peer);
        Ok(())
    }

    /// Fills both regions, and posts a buffer for each request of the other end that takes one. Both ends do this before any requests.
    pub fn prepare(&mut self, own: &Plan, theirs: &Plan) -> Result<()> {
        self.near.bytes.copy_from_slice(&own.near.before);
        self.far.bytes.copy_from_slice(&theirs.far.before);
        for (slot, request) in theirs.requests.iter().enumerate() {
            let Some(buffer) = &request.buffer else { continue };
            let mut list = self.far.lists(buffer);
            let (num_sge, sg_list) = (list.len() as c_int, list.as_mut_ptr());
            let mut wr = ibv_recv_wr { wr_id: (SLOTS + slot) as u64, next: null_mut(), sg_list, num_sge };
            let mut bad = null_mut();
            // SAFETY: the request and its list outlive the call.
            let post = unsafe { (*self.objects.context).ops.post_recv }.context("no post_recv")?;
            done(unsafe { post(self.objects.qp, &mut wr, &mut bad) }, "ibv_post_recv")?;
        }
        Ok(())
    }

    fn post(&self, slot: usize, request: &Request) -> Result<()> {
        let peer = self.peer.context("not connected")?;
        let mut list = self.near.lists(&request.source);
        // SAFETY: all zeros is a value of this plain structure; the request and its list outlive the call.
        unsafe {
            let mut wr: ibv_send_wr = zeroed();
            (wr.wr_id, wr.opcode, wr.send_flags, wr.imm_data) = (slot as u64, request.opcode, request.flags, request.imm);
            (wr.sg_list, wr.num_sge) = (list.as_mut_ptr(), list.len() as c_int);
            let remote_addr = peer.region + request.far_at as u64;
            if request.is_atomic() {
                let (compare_add, swap) = (request.compare_add, request.swap);
                wr.wr.atomic = wr_atomic { remote_addr, compare_add, swap, rkey: peer.rkey };
            } else {
                wr.wr.rdma = wr_rdma { remote_addr, rkey: peer.rkey };
            }
            let mut bad = null_mut();
            let post = (*self.objects.context).ops.post_send.context("no post_send")?;
            done(post(self.objects.qp, &mut wr, &mut bad), "ibv_post_send")
        }
    }

    /// Posts all own requests and polls until they, and all that come in, are complete: each once, buffers in their order.
    pub fn carry_out(&mut self, own: &Plan, theirs: &Plan, patience: Duration) -> Result<()> {
        for (slot, request) in own.requests.iter().enumerate() {
            self.post(slot, request)?;
        }
        let mut deliveries = (0..SLOTS).filter(|&slot| theirs.requests[slot].buffer.is_some());
        let mut to_come = SLOTS + deliveries.clone().count();
        let mut requests = 0..SLOTS;
        let deadline = Instant::now() + patience;
        while to_come > 0 {
            // SAFETY: all zeros is a value; as many entries as are named.
            let mut wcs = [unsafe { zeroed::<ibv_wc>() }; 5];
            let poll = unsafe { (*self.objects.context).ops.poll_cq }.context("no poll_cq")?;
            let got = unsafe { poll(self.objects.cq, wcs.len() as c_int, wcs.as_mut_ptr()) };
            ensure!(got >= 0, "ibv_poll_cq fails");
            ensure!(Instant::now() < deadline, "{to_come} completions do not come");
            for wc in &wcs[..got as usize] {
                ensure!(wc.status == IBV_WC_SUCCESS, "completion {} has status {}", wc.wr_id, wc.status);
                let slot = wc.wr_id as usize;
                if slot < SLOTS {
                    ensure!(requests.next() == Some(slot), "request {slot} completes out of order");
                } else {
                    let slot = slot - SLOTS;
                    ensure!(deliveries.next() == Some(slot), "buffer {slot} is taken out of order");
                    let request = &theirs.requests[slot];
                    ensure!(wc.byte_len as usize == request.bytes, "{} bytes instead of {}", wc.byte_len, request.bytes);
                    ensure!(
                        (wc.wc_flags & IBV_WC_WITH_IMM != 0) == request.has_imm(),
                        "immediate data, or none, in slot {slot}"
                    );
                    ensure!(!request.has_imm() || wc.imm_data == request.imm, "immediate data of slot {slot}");
                }
                to_come -= 1;
            }
        }
        Ok(())
    }

    pub fn compare(&self, own: &Plan, theirs: &Plan) -> Result<()> {
        self.near.compare(&own.near, "the requester's", own)?;
        self.far.compare(&theirs.far, "the responder's", theirs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_its_text_and_other_words_are_refused() {
        let address = Address { gid: *b"0123456789abcdef", number: 17, region: u64::MAX, rkey: 0x1234_5678 };
        assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
        assert!("GET / HTTP/1.1".parse::<Address>().is_err());
    }
}
