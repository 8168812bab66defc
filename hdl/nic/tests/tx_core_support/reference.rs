//! The rules of sections 6 to 8 as the golden model has them, applied to the commit records of the transmit core one by one.
use std::collections::{HashMap, VecDeque};

use mrnic_model::congestion::Aimd;
use mrnic_model::seq::Serial24;
use mrnic_model::tx::ack::{apply, AckVerdict};
use mrnic_model::tx::conn::TxConn;
use mrnic_model::tx::path::TxPath;
use mrnic_model::tx::slot::{choose_path, choose_resend};
use mrnic_model::tx::timer;
use mrnic_wire::{Ack, Ppsn};

/// A message of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub qp: u64,
    pub msn: u64,
    pub npkts: u64,
    pub length: u64,
    /// 0 a message, 1 a response, 2 ERROR_RESP: then `qp` is its code and `index` the peer's QPN.
    pub source: u64,
    pub index: u64,
}

/// What an outstanding packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub qp: u64,
    pub msn: u64,
    pub index: u64,
    pub bytes: u64,
    pub source: u64,
}

pub struct Conn {
    /// W.
    pub window_pkts: u32,
    pub tx: TxConn,
    pub paths: Vec<TxPath<()>>,
    pub mtu_log2: u32,
    pub retry_cnt: u8,
    pub messages: VecDeque<Message>,
    pub responses: VecDeque<Message>,
    /// Packets sent of the oldest response.
    pub response_index: u64,
    pub entries: HashMap<(usize, u32), Entry>,
    /// Newly acknowledged and not yet retired.
    pub retiring: HashMap<(usize, u32), Entry>,
}

/// An acknowledgment given to the transmit core.
#[derive(Clone, Debug)]
pub struct AckFrame {
    pub conn: usize,
    pub home: usize,
    pub cum: u32,
    pub ack: Ack,
}

/// The fields of a commit record by name.
pub type Record = HashMap<String, u64>;

fn expect(what: &str, record: &Record, field: &str, want: u64) -> Result<(), String> {
    let got = record[field];
    if got != want {
        return Err(format!("{what}: {field} is {got:#x}, the model says {want:#x}; {record:x?}"));
    }
    Ok(())
}

fn check_path(what: &str, record: &Record, path: &TxPath<()>) -> Result<(), String> {
    for (field, want) in [
        ("state", path.state as u64),
        ("next", path.next.get().into()),
        ("cum", path.cum.get().into()),
        ("pipe", path.pipe().into()),
        ("window", path.win.window.into()),
        ("credit", path.win.credit.into()),
        ("srtt8", path.srtt8.into()),
        ("var4", path.var4.into()),
        ("backoff", path.backoff.into()),
        ("reo_tol", path.reo_tol.into()),
        ("mark", path.mark.get().into()),
        ("gen_open", path.gen_open.into()),
        ("probe_pending", path.probe_pending.into()),
    ] {
        expect(what, record, field, want)?;
    }
    Ok(())
}

impl Conn {
    fn mtu(&self) -> u32 {
        1 << self.mtu_log2
    }

    /// commit_ack: order A1, A2, A3, L2, L5, L1, RTT, C1, L6, C2, progress.
    pub fn ack(&mut self, record: &Record, frame: &AckFrame, rto_min: u32) -> Result<AckVerdict, String> {
        let now = record["now"] as u32;
        let Some(path) = self.paths.get_mut(frame.home) else {
            expect("ack", record, "verdict", 1)?;
            return Ok(AckVerdict::Disabled);
        };
        let outcome = apply(&Aimd, path, now, Ppsn::new(frame.cum), &frame.ack, rto_min, self.window_pkts);
        expect("ack", record, "verdict", outcome.verdict as u64)?;
        // N1
        if outcome.verdict == AckVerdict::Applied && frame.ack.flags.rnr {
            path.refused(Ppsn::new(frame.ack.mak.qp));
        }
        check_path("ack", record, path)?;
        if outcome.verdict == AckVerdict::Applied {
            expect("ack", record, "acked", outcome.acked.into())?;
            expect("ack", record, "lost_l1", outcome.lost_l1.count().into())?;
            expect("ack", record, "lost_l2", outcome.lost_l2.count().into())?;
            self.tx.hint = frame.ack.rate.max(1);
            expect("ack", record, "hint", self.tx.hint.into())?;
            let mut left = outcome.newly;
            while let Some(distance) = left.first_from(outcome.base.ring256()) {
                let ppsn = outcome.base.wrapping_add(distance);
                left.clear(ppsn.ring256());
                let entry = self.entries.remove(&(frame.home, ppsn.get())).ok_or("acknowledged packet is not outstanding")?;
                self.retiring.insert((frame.home, ppsn.get()), entry);
            }
        }
        Ok(outcome.verdict)
    }

    /// commit_timer.
    pub fn timer(&mut self, record: &Record, rto_min: u32) -> Result<(), String> {
        let (now, index) = (record["now"] as u32, record["path"] as usize);
        if self.tx.error {
            return Err("a timer of a connection in error".into());
        }
        let others = timer::Others::of(&self.paths, index);
        let path = &mut self.paths[index];
        let action = timer::step(&Aimd, path, now, rto_min, self.retry_cnt, others);
        expect("timer", record, "action", action as u64)?;
        expect("timer", record, "port", path.port.into())?;
        if action.probes() {
            expect("timer", record, "probe_ppsn", path.probe_ppsn.get().into())?;
        }
        check_path("timer", record, path)?;
        self.tx.error |= action == timer::TimerAction::ConnError;
        if action == timer::TimerAction::Down {
            timer::begin_watch(&mut self.paths, now);
        }
        Ok(())
    }

    /// commit_grant.
    pub fn grant(&mut self, record: &Record) -> Result<(), String> {
        if self.tx.error && record["kind"] != 2 {
            return Err("a connection in error sends".into());
        }
        let resend = choose_resend(&self.paths, self.tx.rr, self.window_pkts).filter(|_| !self.tx.error);
        match (record["kind"], resend) {
            (1, Some(r)) => {
                let now = record["now"] as u32;
                expect("resend", record, "home", r.home.into())?;
                expect("resend", record, "via", r.via.into())?;
                expect("resend", record, "ppsn", r.ppsn.get().into())?;
                expect("resend", record, "moved", r.moved.into())?;
                expect("resend", record, "ack_req", 1)?;
                expect("resend", record, "rtx", 1)?;
                let entry = self.entries[&(r.home as usize, r.ppsn.get())];
                self.check_entry("resend", record, &entry)?;
                let bytes = if record["nop"] == 1 { 0 } else { entry.bytes };
                expect("resend", record, "bytes", bytes)?;
                let tokens = self.tx.pace(now, bytes as u32, self.mtu()).map_err(|e| format!("resend: paced {e:?}"))?;
                self.tx.spend(now, tokens);
                self.paths[r.home as usize].note_send(now);
                self.paths[r.home as usize].resend(r.ppsn);
                // S3
                if r.moved {
                    self.tx.rr = (r.via + 1) % self.paths.len() as u8;
                }
                self.check_slot("resend", record, r.home, r.via)
            }
            (2, None) => {
                let message = record["source"] == 0;
                let queue = if message { &mut self.messages } else { &mut self.responses };
                let head = queue.pop_front().ok_or("skip of nothing")?;
                match message {
                    true => self.tx.head_index = 0,
                    false => self.response_index = 0,
                }
                expect("skip", record, "source", head.source)?;
                expect("skip", record, "qp", head.qp)?;
                expect("skip", record, "msn", head.msn)
            }
            (0, None) => self.grant_new(record),
            (kind, resend) => Err(format!("slot of kind {kind}, the model's resend is {resend:?}; {record:x?}")),
        }
    }

    fn check_entry(&self, what: &str, record: &Record, entry: &Entry) -> Result<(), String> {
        expect(what, record, "qp", entry.qp)?;
        expect(what, record, "msn", entry.msn)?;
        expect(what, record, "source", entry.source)?;
        expect(what, record, "index", entry.index)
    }

    fn check_slot(&self, what: &str, record: &Record, home: u8, via: u8) -> Result<(), String> {
        let path = &self.paths[home as usize];
        expect(what, record, "next", path.next.get().into())?;
        expect(what, record, "pipe", path.pipe().into())?;
        expect(what, record, "window", path.win.window.into())?;
        expect(what, record, "rr", self.tx.rr.into())?;
        expect(what, record, "port", self.paths[via as usize].port.into())
    }

    fn grant_new(&mut self, record: &Record) -> Result<(), String> {
        let what = "new packet";
        let (now, mtu) = (record["now"] as u32, self.mtu());
        // D4: whose turn it is, segmenter's test knows
        let message = record["source"] == 0;
        let queue = if message { &self.messages } else { &self.responses };
        let head = *queue.front().ok_or("new packet of nothing")?;
        let (exact, seen) = (self.tx.inflight_bytes(), record["inflight_bytes"] as u32);
        if seen < exact {
            return Err(format!("{what}: {seen} bytes in flight were used, there are {exact}"));
        }
        // C3
        let cap = self.tx.cap_bytes(&self.paths, mtu);
        if cap.is_some_and(|cap| u64::from(seen) >= cap) {
            return Err(format!("{what}: {seen} bytes in flight, the window is {cap:?}"));
        }
        let more = record["more"] == 1;
        if more && self.messages.len() + self.responses.len() < 2 {
            return Err("another message was seen that is not there".into());
        }
        let count = self.paths.len();
        let home = choose_path(&self.paths, self.tx.rr, self.window_pkts).ok_or_else(|| format!("{what}: no path may send"))?;
        expect(what, record, "home", home as u64)?;
        let part = if message { self.tx.head_index.into() } else { self.response_index };
        let bytes = (head.length - (part << self.mtu_log2)).min(mtu.into());
        let (last, late) = (part + 1 == head.npkts, part + count as u64 >= head.npkts);
        let entry = Entry { qp: head.qp, msn: head.msn, index: head.index + part, bytes, source: head.source };
        self.check_entry(what, record, &entry)?;
        expect(what, record, "bytes", bytes)?;
        // C4
        let tokens = self.tx.pace(now, bytes as u32, mtu).map_err(|e| format!("{what}: paced {e:?}"))?;
        self.tx.spend(now, tokens);
        let path = &mut self.paths[home];
        let ppsn = path.send_new(now);
        expect(what, record, "ppsn", ppsn.get().into())?;
        // S4
        let full = path.pipe() == u32::from(path.win.window) || path.span() == self.window_pkts;
        let conn_full = cap.is_some_and(|cap| u64::from(seen) + bytes >= cap);
        expect(what, record, "ack_req", ((late && !more) || full || conn_full).into())?;
        self.entries.insert((home, ppsn.get()), entry);
        self.tx.sent_bytes = self.tx.sent_bytes.wrapping_add(bytes as u32);
        self.tx.rr = ((self.tx.rr as usize + 1) % count) as u8;
        if last {
            let queue = if message { &mut self.messages } else { &mut self.responses };
            queue.pop_front();
        }
        match message {
            true => self.tx.head_index = if last { 0 } else { self.tx.head_index + 1 },
            false => self.response_index = if last { 0 } else { self.response_index + 1 },
        }
        self.check_slot(what, record, home as u8, home as u8)
    }

    /// commit_retire.
    pub fn retire(&mut self, record: &Record) -> Result<Entry, String> {
        let key = (record["home"] as usize, record["ppsn"] as u32);
        let entry = self.retiring.remove(&key).ok_or_else(|| format!("retired without acknowledgment: {record:x?}"))?;
        expect("retire", record, "qp", entry.qp)?;
        expect("retire", record, "msn", entry.msn)?;
        expect("retire", record, "bytes", entry.bytes)?;
        self.tx.retired_bytes = self.tx.retired_bytes.wrapping_add(entry.bytes as u32);
        Ok(entry)
    }
}
