//! Steps of the host side: WQEs taken, retired packets counted, error events, CQEs, receives and their CQEs.
//!
//! In: wqe, ret, err, rnr, cqe, recv and rcqe records. Out: expected CQE writes. Guarantees: a WQE is the one that the ring holds, an error
//! event has its cause in an earlier step, a message completes only after its last packet was counted (section 9).
use crate::checker::{Checker, HostRing};
use crate::step::{hex, show, Step};
use crate::Memory;
use mrnic_model::{Cqe, RecvWr, Sge, Status};

const WQE_BYTES: usize = 64;
const SGE_BYTES: usize = 16;
/// SGEs of an entry with a list.
const LIST: usize = 4;
/// Number of SGEs of a WQE.
const NUM_SGE: usize = 2;
const CQE_BYTES: usize = 32;
const RECV_BYTES: usize = 32;
/// CQE.opcode of the end of a queue pair with a shared receive queue.
const OPCODE_LAST_WQE: u8 = 130;

/// Word `i` of an entry, and words `i` and `i + 1`.
fn word(bytes: &[u8], i: usize) -> u32 {
    u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
}

fn pair(bytes: &[u8], i: usize) -> u64 {
    u64::from(word(bytes, i)) | u64::from(word(bytes, i + 1)) << 32
}

/// An SGE as it stands behind a WQE.
fn piece(bytes: &[u8]) -> Sge {
    Sge { addr: pair(bytes, 0), len: word(bytes, 2), lkey: word(bytes, 3) }
}

impl Checker {
    pub(crate) fn error(&mut self, s: &mut Step) {
        let (qp, code, msn) = (s.record.get("qp") as u32, s.record.get("code") as u8, s.record.get("msn") as u32);
        let result = match s.record.get("kind") {
            1 => {
                while self.causes.naks.front().is_some_and(|nak| nak.0 != qp && self.model.is_closing(nak.0)) {
                    self.causes.naks.pop_front();
                }
                // an ERROR_RESP has a way of its own to completion
                let by_response = self.causes.remote_naks.front() == Some(&(qp, code, msn));
                let naks = if by_response { &mut self.causes.remote_naks } else { &mut self.causes.naks };
                let Some((q, c, m)) = naks.pop_front() else {
                    s.text("kind", "1", "no refusal of the peer");
                    return;
                };
                s.field("qp", q);
                s.field("code", c);
                s.field("msn", m);
                self.model.step_nak(qp, code, msn)
            }
            2 => {
                let conn = s.record.get("conn") as u16;
                if !self.model.tx_conn(conn).is_ok_and(|c| c.error) {
                    s.text("conn", conn.to_string(), "not given up");
                }
                if !self.model.qps_of(conn).any(|q| q == qp) {
                    s.text("qp", qp.to_string(), "not of the connection");
                }
                // a refusal of the QP may have moved the model's QP before its own event
                let refused = self.causes.refusals.get(&qp).is_some_and(|n| *n > 0);
                let moved = self.model.step_conn_error(qp);
                if moved == Ok(false) && !refused {
                    s.text("qp", qp.to_string(), "in Error already");
                }
                moved
            }
            // the receiver's step moves the QP
            3 => {
                *self.causes.refusals.entry(qp).or_default() -= 1;
                Ok(false)
            }
            4 => {
                while self.causes.rnrs.front().is_some_and(|rnr| rnr.qpn != qp && self.model.is_closing(rnr.qpn)) {
                    self.causes.rnrs.pop_front();
                }
                let Some(rnr) = self.causes.rnrs.pop_front() else {
                    s.text("kind", "4", "no refusal for want of a receive");
                    return;
                };
                s.field("qp", rnr.qpn);
                s.field("code", rnr.code);
                s.field("msn", rnr.msn);
                let now = s.record.get("now") as u32;
                let began = self.model.step_withdraw(now, &rnr);
                if began == Ok(true) {
                    self.causes.waits.insert(rnr.qpn, now);
                }
                began
            }
            k => {
                s.text("kind", k.to_string(), "1 to 4");
                return;
            }
        };
        if let Err(e) = result {
            s.text("qp", qp.to_string(), e.to_string());
        }
    }

    /// N2: nothing of the QP is outstanding, none of its messages is in the FIFO, and its time has passed.
    pub(crate) fn begin_again(&mut self, s: &mut Step) {
        let qp = s.record.get("qp") as u32;
        let withdrawn: Vec<(u32, u32)> = self.model.send_queue(qp).map_or(Vec::new(), |queue| {
            let all = (0..queue.count).map(|n| queue.head.wrapping_add(n));
            let again = all.filter_map(|msn| queue.message(msn).filter(|m| m.withdrawn).map(|m| (msn.get(), m.npkts)));
            again.collect()
        });
        match self.model.step_rnr(s.record.get("now") as u32, qp) {
            Ok(true) => {
                self.causes.waits.remove(&qp);
                for (msn, npkts) in withdrawn {
                    self.causes.packets_left.insert((qp, msn), npkts);
                }
            }
            Ok(false) => s.text("qp", "its wait is over", "it goes on waiting"),
            Err(e) => s.text("qp", qp.to_string(), e.to_string()),
        }
    }

    pub(crate) fn wqe(&mut self, s: &mut Step, memory: &dyn Memory) {
        let mut bytes = [0; WQE_BYTES];
        let wide = s.record.wide_bytes();
        bytes.copy_from_slice(&wide[..WQE_BYTES]);
        let qp = s.record.get("qp") as u32;
        let mut list = Vec::new();
        if let Some(Some(ring)) = self.rings.get_mut(qp as usize) {
            s.field("wqe_index", ring.wqes & 0xFFFF);
            let slot = ring.wqes & ((1 << ring.rings.sq_log2) - 1);
            ring.wqes += 1;
            let mut posted = vec![0; if ring.rings.sq_lists { 2 * WQE_BYTES } else { WQE_BYTES }];
            let inside = memory.read_last(ring.rings.sq_base + slot * posted.len() as u64, &mut posted);
            s.text("data", hex(&bytes), if inside { hex(&posted[..WQE_BYTES]) } else { "outside host memory".into() });
            list.extend(posted[WQE_BYTES..].chunks(SGE_BYTES).take(bytes[NUM_SGE].into()).map(piece));
            if !ring.rings.sq_lists {
                bytes[NUM_SGE] = 0;
            }
        }
        let flushed = s.record.get("status") == Status::WrFlushErr as u64;
        let in_error = self.model.send_queue(qp).is_ok_and(|queue| queue.in_error());
        if flushed && !in_error && self.model.is_closing(qp) {
            // section 10: completion has closed it already; it gets no CQE (one in Error may get its CQE yet)
            return;
        }
        let overlooks = in_error && !flushed && self.lanes.failed_lately(qp, s.record.cycle);
        let index = s.record.get("wqe_index") as u16;
        let taken = match overlooks {
            true => self.model.step_wqe_overlooking(qp, index, &bytes, &list),
            false => self.model.step_wqe_list(qp, index, &bytes, &list),
        };
        match taken {
            Ok(w) => {
                s.field("conn", w.conn);
                s.field("msn", w.msn);
                s.field("status", w.refused.map_or(0, |r| r as u64));
                if w.npkts > 0 {
                    self.causes.packets_left.insert((qp, w.msn), w.npkts);
                }
            }
            Err(e) => s.text("qp", s.record.get("qp").to_string(), e.to_string()),
        }
    }

    /// W2: completion counts the packets in the order in which they were retired.
    pub(crate) fn ret(&mut self, s: &mut Step) {
        let Some(r) = self.causes.retired.pop_front() else {
            s.text("msn", show(s.record.get("msn")), "no packet was retired");
            return;
        };
        s.field("qp", r.qp);
        s.field("msn", r.msn);
        s.field("bytes", r.bytes);
        if let Some(left) = self.causes.packets_left.get_mut(&(r.qp, r.msn)) {
            *left -= 1;
            if *left == 0 {
                self.causes.packets_left.remove(&(r.qp, r.msn));
            }
        }
    }

    /// D6: the whole response is visible.
    pub(crate) fn answered(&mut self, s: &mut Step) {
        let Some((qp, msn, writes)) = self.causes.answers.pop_front() else {
            s.text("msn", show(s.record.get("msn")), "no response is whole");
            return;
        };
        if self.expected.writes_visible < writes {
            s.text("visible", format!("{writes} payload writes"), self.expected.writes_visible.to_string());
        }
        s.field("qp", qp);
        s.field("msn", msn);
        // of a closed QP nothing is left
        if self.rings.get(qp as usize).is_some_and(Option::is_some) {
            if let Err(e) = self.model.step_answered(qp, msn) {
                s.text("msn", show(s.record.get("msn")), e.to_string());
            }
        }
    }

    /// D7.
    pub(crate) fn answer(&mut self, s: &mut Step) {
        let qp = s.record.get("qp") as u32;
        if let Err(e) = self.model.step_answer(qp) {
            s.text("qp", qp.to_string(), e.to_string());
        }
    }

    pub(crate) fn cqe(&mut self, s: &mut Step) {
        let (qp, msn) = (s.record.get("qp") as u32, s.record.get("msn") as u32);
        let wide = s.record.wide_bytes();
        let rtl = hex(&wide[..CQE_BYTES]);
        let left = self.causes.packets_left.remove(&(qp, msn)).unwrap_or(0);
        if wide[0] == Status::Success as u8 {
            s.text("packets to come", "0", left.to_string());
        }
        match self.model.step_cqe(qp) {
            Ok(Some((cqe, bytes))) => {
                s.field("msn", cqe.msn);
                s.text("data", rtl, hex(&bytes));
                if let Some(Some(ring)) = self.rings.get_mut(qp as usize) {
                    let slot = ring.cqes & ((1 << ring.cq_log2) - 1);
                    self.expected.cqes.push_back((ring.rings.cq_base + slot * CQE_BYTES as u64, bytes.to_vec()));
                    ring.cqes += 1;
                }
            }
            Ok(None) => s.text("data", rtl, "no completion is due"),
            Err(e) => s.text("qp", qp.to_string(), e.to_string()),
        }
    }

    /// Q1: a receive is the one that the ring holds.
    pub(crate) fn recv(&mut self, s: &mut Step, memory: &dyn Memory) {
        let qp = s.record.get("qp") as u32;
        // shared queues stand behind those of the queue pairs
        let srq = qp.checked_sub(self.rings.len() as u32);
        let wide = s.record.wide_bytes();
        let ring =
            match srq {
                None => self.rings.get_mut(qp as usize).and_then(Option::as_mut).map(|r| {
                    (HostRing { base: r.rings.rq_base, log2: r.rings.rq_log2, lists: r.rings.rq_lists }, &mut r.recvs)
                }),
                Some(srq) => self.srqs.get_mut(srq as usize).and_then(Option::as_mut).map(|r| (r.0, &mut r.1)),
            };
        let mut list = [Sge::default(); LIST];
        let mut pieces = 0;
        if let Some((HostRing { base, log2, lists }, recvs)) = ring {
            s.field("index", *recvs & 0xFFFF);
            let slot = *recvs & ((1 << log2) - 1);
            *recvs += 1;
            let mut posted = [0; 2 * WQE_BYTES];
            let bytes = if lists { posted.len() } else { RECV_BYTES };
            let inside = memory.read_into(base + slot * bytes as u64, &mut posted[..bytes]);
            let ring = if inside { hex(&posted[..RECV_BYTES]) } else { "outside host memory".into() };
            s.text("data", hex(&wide[..RECV_BYTES]), ring);
            // a receive names more than one SGE, or it has the one in its own words; those that the NIC has no room for do not count
            let named = usize::from(wide[NUM_SGE]);
            if lists && named > 1 {
                pieces = named.min(self.model.config().sges.into()).min(LIST);
                list.iter_mut().zip(posted[WQE_BYTES..].chunks(SGE_BYTES)).for_each(|(sge, bytes)| *sge = piece(bytes));
            }
        }
        let sge = [Sge { lkey: word(&wide, 1), addr: pair(&wide, 2), len: word(&wide, 4) }];
        let sges = if pieces > 0 { &list[..pieces] } else { &sge[..] };
        let receive = RecvWr { wr_id: pair(&wide, 6), sges };
        let posted = match srq {
            None => self.model.step_recv(qp, &receive),
            Some(srq) => self.model.post_srq_recv(srq, &receive),
        };
        if let Err(e) = posted {
            s.text("qp", qp.to_string(), e.to_string());
        }
    }

    /// Q5, Q6.
    pub(crate) fn recv_cqe(&mut self, s: &mut Step) {
        let qp = s.record.get("qp") as u32;
        let wide = s.record.wide_bytes();
        let rtl = hex(&wide[..CQE_BYTES]);
        if wide[1] == OPCODE_LAST_WQE {
            return self.last_wqe(s, qp, rtl);
        }
        match self.model.step_recv_cqe(qp) {
            Ok(Some((_, bytes))) => {
                s.text("data", rtl, hex(&bytes));
                self.expect_recv_cqe(qp, &bytes);
            }
            Ok(None) => s.text("data", rtl, "no completion is due"),
            Err(e) => s.text("qp", qp.to_string(), e.to_string()),
        }
    }

    /// Q6: a queue pair that is being closed has given back every receive that it took from its shared queue.
    fn last_wqe(&mut self, s: &mut Step, qp: u32, rtl: String) {
        if !self.model.is_closing(qp) {
            s.text("data", rtl, "the queue pair is not being closed");
            return;
        }
        match self.model.step_recv_cqe(qp) {
            Ok(None) => {}
            Ok(Some((cqe, _))) => return s.text("data", rtl, format!("the completion of wr_id {} comes before", cqe.wr_id)),
            Err(e) => return s.text("qp", qp.to_string(), e.to_string()),
        }
        let Some(Some(ring)) = self.rings.get(qp as usize) else { return };
        let last = Cqe {
            status: Status::Success,
            opcode: OPCODE_LAST_WQE,
            phase: ring.recv_cqes >> ring.cq_log2 & 1 == 0,
            qpn: qp,
            wr_id: 0,
            byte_len: 0,
            wqe_index: 0,
            imm: None,
            solicited: false,
            nak_code: 0,
            msn: 0,
        };
        let bytes = last.to_bytes();
        s.text("data", rtl, hex(&bytes));
        self.expect_recv_cqe(qp, &bytes);
    }

    /// The next entry of the ring of receives' completions.
    fn expect_recv_cqe(&mut self, qp: u32, bytes: &[u8; CQE_BYTES]) {
        let Some(Some(ring)) = self.rings.get_mut(qp as usize) else { return };
        let slot = ring.recv_cqes & ((1 << ring.cq_log2) - 1);
        self.expected.recv_cqes.push_back((ring.rings.rcq_base + slot * CQE_BYTES as u64, bytes.to_vec()));
        ring.recv_cqes += 1;
    }
}
