//! A bench for the transmit core: Verilated model, a fabric that loses and reorders, receivers, and the reference.
pub mod reference;
pub mod weather;

use std::collections::{BTreeSet, HashMap, VecDeque};

use mrnic_model::tx::ack::AckVerdict;
use mrnic_model::tx::conn::TxConn;
use mrnic_model::tx::path::TxPath;
use mrnic_model::tx::timer;
use mrnic_nic::config::BuildConfig;
use mrnic_nic::tx::core::TxCore;
use mrnic_verilated::{build, Dut, ModelSpec, Port};
use mrnic_wire::{Ack, AckFlags, Mak, MakCode, Msn, Ppsn, SackVector};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reference::{AckFrame, Conn, Entry, Message, Record};
use weather::{Tally, Weather};

/// From the look at the error bit of a QP to the record of the slot, at most.
const SLOT_CLOCKS: u64 = 16;

/// The receiving end of a path.
#[derive(Clone, Debug, Default)]
struct Receiver {
    cum: u32,
    above: BTreeSet<u32>,
    ce: u16,
    dup: u16,
    owed: u32,
    last_ts: u16,
    ts_valid: bool,
    arrived: u32,
}

#[derive(Clone, Debug)]
struct Packet {
    probe: bool,
    conn: usize,
    home: usize,
    ppsn: u32,
    rtx: bool,
    ack_req: bool,
    ce: bool,
    ts: u16,
}

pub struct Bench {
    config: BuildConfig,
    weather: Weather,
    dut: Dut,
    ports: HashMap<String, Port>,
    rng: StdRng,
    pub conns: Vec<Conn>,
    receivers: Vec<Vec<Receiver>>,
    dead: HashMap<(usize, usize), u64>,
    flying: Vec<(u64, Packet)>,
    acks: VecDeque<AckFrame>,
    given: VecDeque<AckFrame>,
    ack_due: Vec<(u64, AckFrame)>,
    waiting: VecDeque<(usize, Message)>,
    answers: VecDeque<(usize, Message)>,
    /// Retired packets of responses (source, connection, QP, MSN) that were not told yet, and of how many ERROR_RESPs it is to be told that they were dropped.
    expected_responses: VecDeque<[u64; 4]>,
    expected_lost: VecDeque<u64>,
    /// Connection, QP, code, MSN, whether it is an RNR.
    expected_naks: VecDeque<(u64, u64, u64, u64, u64)>,
    qp_error: Vec<bool>,
    /// The last clock in which it was: a slot looks some clocks before its record.
    qp_erred: Vec<Option<u64>>,
    qp_msn: Vec<u64>,
    rto_min: u32,
    cycle: u64,
    last_commit: HashMap<&'static str, u64>,
    lossy: HashMap<usize, u64>,
    due_since: HashMap<(usize, usize), u64>,
    pub tally: Tally,
}

fn code_number(code: MakCode) -> u64 {
    match code {
        MakCode::Bounds => 3,
        MakCode::BadQp => 4,
        MakCode::Reserved(code) => code.into(),
        _ => 0,
    }
}

fn port_names(prefix: &str, ports: &HashMap<String, Port>) -> Vec<String> {
    let mut names: Vec<_> = ports.keys().filter(|n| n.starts_with(prefix) && !n.ends_with("_valid")).cloned().collect();
    names.sort();
    names
}

impl Bench {
    pub fn new(config: &BuildConfig, weather: Weather) -> Self {
        let design = mrnic_emit::emit(&TxCore::new(config), "tx_core").unwrap_or_else(|e| panic!("{e}"));
        let mut spec = ModelSpec::new("tx_core", design.verilog.clone());
        spec.opt_level = 1;
        let model = build(&spec, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
        let dut = model.instance("tx_core", weather.seed);
        let ports = design.ports.iter().filter(|p| !p.is_clock).map(|p| (p.name.clone(), dut.port(&p.name).unwrap())).collect();
        let mut bench = Bench {
            config: *config,
            weather,
            dut,
            ports,
            rng: StdRng::seed_from_u64(weather.seed),
            conns: vec![],
            receivers: vec![],
            dead: HashMap::new(),
            flying: vec![],
            acks: VecDeque::new(),
            given: VecDeque::new(),
            ack_due: vec![],
            waiting: VecDeque::new(),
            answers: VecDeque::new(),
            expected_responses: VecDeque::new(),
            expected_lost: VecDeque::new(),
            expected_naks: VecDeque::new(),
            qp_error: vec![false; config.qps],
            qp_erred: vec![None; config.qps],
            qp_msn: vec![0; config.qps],
            rto_min: 200,
            cycle: 0,
            last_commit: HashMap::new(),
            lossy: HashMap::new(),
            due_since: HashMap::new(),
            tally: Tally { ack_clocks: u64::MAX, grant_clocks: u64::MAX, ..Tally::default() },
        };
        bench.start();
        bench
    }

    fn set(&self, name: &str, value: u64) {
        self.ports[name].set_u64(value);
    }

    fn get(&self, name: &str) -> u64 {
        self.ports[name].get_u64()
    }

    fn now(&self) -> u32 {
        // close to the wrap of 32 bits
        0xFFFF_F000u32.wrapping_add((self.cycle / self.weather.clocks_per_tick) as u32)
    }

    fn clock(&mut self) {
        self.set("now", self.now().into());
        self.dut.cycle();
        self.cycle += 1;
    }

    fn start(&mut self) {
        self.set("reset", 1);
        self.set("rto_min", self.rto_min.into());
        self.set("fault", self.weather.fault);
        for _ in 0..3 {
            self.clock();
        }
        self.set("reset", 0);
        while self.get("init_done") == 0 {
            self.clock();
            assert!(self.cycle < 100_000, "init_done never rises");
        }
        for conn in 0..self.config.conns {
            self.open(conn);
        }
    }

    fn configure(&mut self, table: u64, index: u64, words: [u32; 3]) -> u32 {
        self.set("cfg_table", table);
        self.set("cfg_index", index);
        let mut data = [0; 16];
        data[..3].copy_from_slice(&words);
        self.ports["cfg_data"].set_words(&data);
        self.set("cfg_valid", 1);
        self.clock();
        self.set("cfg_valid", 0);
        // the opening samples the time in the clock that starts it
        let started = self.now();
        let mut clocks = 0;
        while self.get("cfg_busy") == 1 {
            self.clock();
            clocks += 1;
            assert!(clocks < 2000, "cfg_busy never falls");
        }
        started
    }

    fn open(&mut self, conn: usize) {
        let paths_log2 = [3u32, 2, 1, 0][conn % 4].min(self.config.paths.ilog2());
        let paths = 1usize << paths_log2;
        let mtu_log2 = 8 + (conn as u32 * 3) % 5;
        let retry_cnt = [7u8, 3][conn / 4 % 2];
        let window = [4u16, 16, 64, 256][conn % 4].min(self.config.window_bits as u16);
        let mut rows = vec![];
        for path in 0..paths {
            // close to the wrap of 24 bits
            let start = 0xFF_FFF0u32 - 100 * path as u32;
            let port = 0xC000 + 97 * path as u32;
            self.configure(2, (conn * 8 + path) as u64, [1 | port << 16, start, 0]);
            rows.push((port as u16, start));
        }
        let word0 = 1 | paths_log2 << 4 | mtu_log2 << 8 | u32::from(retry_cnt) << 12;
        let now = self.configure(1, conn as u64, [word0, window.into(), 0xFF_FFFF]);
        self.receivers.push(rows.iter().map(|r| Receiver { cum: r.1, ..Receiver::default() }).collect());
        self.conns.push(Conn {
            tx: TxConn::open(0xFF_FFFF, self.config.conn_fifo, now),
            paths: rows.iter().map(|r| TxPath::open(true, r.0, r.1, window, now)).collect(),
            window_pkts: self.config.window_bits as u32,
            mtu_log2,
            retry_cnt,
            messages: VecDeque::new(),
            responses: VecDeque::new(),
            response_index: 0,
            entries: HashMap::new(),
            retiring: HashMap::new(),
        });
    }

    /// Runs for the cycles asked for, then until everything is retired (if `drain`).
    pub fn run(&mut self, drain: bool) {
        let end = self.cycle + self.weather.cycles;
        while self.cycle < end {
            self.traffic();
            self.step();
        }
        if !drain {
            return;
        }
        self.weather = Weather {
            loss: 0.0,
            ce: 0.0,
            nonsense: 0.0,
            outages: 0.0,
            back_pressure: false,
            ret_pauses: 0,
            qp_errors: false,
            responses: 0.0,
            naks: 0.0,
            rnrs: 0.0,
            ..self.weather
        };
        self.dead.clear();
        let limit = self.cycle + 2_000_000;
        while !self.is_idle() {
            self.step();
            assert!(self.cycle < limit, "seed {}: packets remain: {}", self.weather.seed, self.remains());
        }
        for _ in 0..1000 {
            self.step();
        }
        let untold = (&self.expected_naks, &self.expected_responses, &self.expected_lost);
        assert!(untold.0.is_empty() && untold.1.is_empty() && untold.2.is_empty(), "never reported: {untold:?}");
    }

    fn is_idle(&self) -> bool {
        let all_sent =
            |c: &Conn| c.messages.is_empty() && c.responses.is_empty() && c.entries.is_empty() && c.retiring.is_empty();
        self.waiting.is_empty() && self.answers.is_empty() && self.conns.iter().all(|c| c.tx.error || all_sent(c))
    }

    fn remains(&self) -> String {
        let of = |c: &Conn| {
            (
                c.messages.len(),
                c.entries.len(),
                c.retiring.len(),
                c.paths.iter().map(|p| (p.state, p.pipe(), p.nlost, p.backoff, p.t_base)).collect::<Vec<_>>(),
            )
        };
        format!("{:?}", self.conns.iter().map(of).collect::<Vec<_>>())
    }

    fn traffic(&mut self) {
        if self.waiting.len() < 4 && self.rng.random_bool(0.05) {
            let qp = self.rng.random_range(0..self.config.qps);
            let conn = qp % self.config.conns;
            let queued = self.conns[conn].messages.len() + self.waiting.iter().filter(|w| w.0 == conn).count();
            if queued < self.config.conn_fifo - 1 {
                let mtu = 1u64 << self.conns[conn].mtu_log2;
                let length = match self.rng.random_range(0..6) {
                    0 => 0,
                    1 => mtu * self.rng.random_range(1..5u64),
                    _ => self.rng.random_range(1..mtu * 40),
                };
                let npkts = length.div_ceil(mtu).max(1);
                let msn = self.qp_msn[qp];
                self.qp_msn[qp] = (msn + 1) & 0xFF_FFFF;
                let message = Message { qp: qp as u64, msn, npkts, length, source: 0, index: 0 };
                self.waiting.push_back((conn, message));
            }
        }
        if self.weather.responses > 0.0 && self.rng.random_bool(self.weather.responses / 1000.0) {
            self.answer();
        }
        if self.weather.qp_errors && self.rng.random_bool(0.002) {
            let qp = self.rng.random_range(0..self.config.qps);
            self.qp_error[qp] = self.rng.random_bool(0.3);
        }
        if self.rng.random_bool(self.weather.outages / 1000.0) {
            let conn = self.rng.random_range(0..self.conns.len());
            let path = self.rng.random_range(0..self.conns[conn].paths.len());
            let until = self.cycle + self.rng.random_range(1_000..60_000);
            self.dead.insert((conn, path), until);
        }
        if self.rng.random_bool(self.weather.nonsense / 50.0) {
            let frame = self.nonsense();
            self.acks.push_back(frame);
        }
    }

    /// A response, or an ERROR_RESP, if its connection may have another one.
    fn answer(&mut self) {
        let qp = self.rng.random_range(0..self.config.qps);
        let conn = qp % self.config.conns;
        let queued = self.conns[conn].responses.len() + self.answers.iter().filter(|a| a.0 == conn).count();
        if queued == 2 * self.config.responses {
            return;
        }
        let (mtu, msn) = (1u64 << self.conns[conn].mtu_log2, self.rng.random_range(0..1u64 << 24));
        let length = self.rng.random_range(0..mtu * 12);
        let answer = match self.rng.random_bool(0.3) {
            true => Message { qp: 6, msn, npkts: 1, length: 0, source: 2, index: self.rng.random_range(0..1u64 << 24) },
            false => Message { qp: qp as u64, msn, npkts: length.div_ceil(mtu).max(1), length, source: 1, index: 0 },
        };
        self.answers.push_back((conn, answer));
    }

    /// An acknowledgment that is stale, or of packets never sent: nothing that would be believed and is not true (a path whose
    /// peer has acknowledged what it never got waits for ever).
    fn nonsense(&mut self) -> AckFrame {
        let conn = self.rng.random_range(0..self.conns.len());
        let home = self.rng.random_range(0..8);
        let base = self.conns[conn].paths.get(home).map_or(0, |p| p.cum.get());
        let mut vector = SackVector::default();
        for _ in 0..self.rng.random_range(0..4) {
            vector.set(self.rng.random_range(0..256));
        }
        let stale = self.rng.random_bool(0.5);
        let cum = match stale {
            true => base.wrapping_sub(self.rng.random_range(1..200)),
            // It may wait until the path has sent on.
            false => base.wrapping_add(self.rng.random_range(600..1000)),
        };
        let ack = Ack {
            ts_echo: self.rng.random(),
            service: 0,
            ce_packets: self.rng.random_range(0..3),
            dup_packets: self.rng.random_range(0..3),
            rate: 0xFF_FFFF,
            vector,
            ..Ack::default()
        };
        AckFrame { conn, home, cum: cum & 0xFF_FFFF, ack }
    }

    fn step(&mut self) {
        self.deliver();
        for (erred, error) in self.qp_erred.iter_mut().zip(&self.qp_error) {
            if *error {
                *erred = Some(self.cycle);
            }
        }
        let calm = !self.weather.back_pressure;
        // inputs
        let message = self.waiting.front().copied();
        self.set("msg_valid", message.is_some().into());
        if let Some((conn, m)) = message {
            self.set("msg_conn", conn as u64);
            self.set("msg_qp", m.qp);
            self.set("msg_msn", m.msn);
            self.set("msg_npkts", m.npkts);
            self.set("msg_length", m.length);
        }
        let answer = self.answers.front().copied();
        self.set("rsp_valid", answer.is_some().into());
        if let Some((conn, m)) = answer {
            self.set("rsp_conn", conn as u64);
            self.set("rsp_error", (m.source == 2).into());
            self.set(if m.source == 2 { "rsp_code" } else { "rsp_qp" }, m.qp);
            self.set("rsp_msn", m.msn);
            self.set("rsp_npkts", m.npkts);
            self.set("rsp_length", m.length);
            self.set("rsp_peer_qpn", m.index);
        }
        let frame = self.acks.front().cloned();
        self.set("ack_valid", frame.is_some().into());
        if let Some(f) = &frame {
            self.drive_ack(f);
        }
        for ready in ["desc_ready", "ret_ready", "resp_ready", "nak_ready", "cerr_ready", "rel_conn_ready"] {
            let on = calm || self.rng.random_bool(0.6);
            self.set(ready, on.into());
        }
        if self.weather.ret_pauses > 0 && !(self.cycle / self.weather.ret_pauses).is_multiple_of(4) {
            self.set("ret_ready", 0);
        }
        if !self.cycle.is_multiple_of(self.weather.desc_clocks) {
            self.set("desc_ready", 0);
        }
        self.dut.eval();
        let qp = self.get("qperr_addr") as usize;
        let desc = self.get("desc_valid") & self.get("desc_ready") == 1;
        if desc {
            self.take_desc();
        }
        if self.get("nak_valid") & self.get("nak_ready") == 1 {
            let rnr = self.get("nak_rnr");
            let got = (self.get("nak_conn"), self.get("nak_qp"), self.get("nak_code"), self.get("nak_msn"), rnr);
            assert_eq!(Some(got), self.expected_naks.pop_front(), "nak");
            self.tally.naks += 1 - rnr;
            self.tally.rnrs += rnr;
        }
        if self.get("cerr_valid") & self.get("cerr_ready") == 1 {
            assert!(self.conns[self.get("cerr_conn") as usize].tx.error);
            self.tally.conn_errors += 1;
        }
        if self.get("resp_valid") & self.get("resp_ready") == 1 {
            let [error, conn, qp, msn] = ["error", "conn", "qp", "msn"].map(|name| self.get(&format!("resp_{name}")));
            if self.expected_responses.front() == Some(&[1 + error, conn, qp, msn]) {
                self.expected_responses.pop_front();
                self.tally.responses_retired += 1;
            } else {
                assert_eq!((error, Some(conn)), (1, self.expected_lost.pop_front()), "a response that was not retired");
                self.tally.lost += 1;
            }
        }
        let took_message = self.get("msg_ready") == 1;
        let took_answer = self.get("rsp_ready") == 1;
        let took_ack = self.get("ack_ready") == 1;
        self.clock();
        self.set("qperr_data", self.qp_error.get(qp).copied().unwrap_or(false).into());
        if let (Some((conn, m)), true) = (message, took_message) {
            self.waiting.pop_front();
            self.conns[conn].messages.push_back(m);
        }
        if let (Some((conn, m)), true) = (answer, took_answer) {
            self.answers.pop_front();
            self.conns[conn].responses.push_back(m);
        }
        if let (Some(mut f), true) = (frame, took_ack) {
            self.acks.pop_front();
            // a build without SENDs takes no notice of it
            f.ack.flags.rnr &= self.config.sends;
            self.given.push_back(f);
        }
        self.commits();
        if self.cycle.is_multiple_of(16) {
            self.watch_timers();
        }
    }

    /// How long what is due stays undone.
    fn watch_timers(&mut self) {
        let now = self.now();
        for (c, conn) in self.conns.iter().enumerate() {
            for (p, path) in conn.paths.iter().enumerate() {
                let others = timer::Others::of(&conn.paths, p);
                let due = !conn.tx.error && timer::deadline(path, now, self.rto_min, others) == Some(now);
                if due {
                    let since = *self.due_since.entry((c, p)).or_insert(self.cycle);
                    self.tally.timer_late_clocks = self.tally.timer_late_clocks.max(self.cycle - since);
                } else {
                    self.due_since.remove(&(c, p));
                }
            }
        }
    }

    fn drive_ack(&self, f: &AckFrame) {
        let a = &f.ack;
        let flags = u64::from(a.flags.rnr)
            | u64::from(a.flags.probe_reply) << 1
            | u64::from(a.flags.ts_valid) << 2
            | u64::from(a.flags.nak) << 3;
        for (name, value) in [
            ("ack_conn", f.conn as u64),
            ("ack_home", f.home as u64),
            ("ack_cum", f.cum.into()),
            ("ack_ts_echo", a.ts_echo.into()),
            ("ack_service", a.service.into()),
            ("ack_ce", a.ce_packets.into()),
            ("ack_dup", a.dup_packets.into()),
            ("ack_flags", flags),
            ("ack_rate", a.rate.into()),
            ("ack_mak_qp", a.mak.qp.into()),
            ("ack_mak_code", code_number(a.mak.code)),
            ("ack_mak_msn", a.mak.msn.get().into()),
        ] {
            self.set(name, value);
        }
        let words: Vec<u32> = a.vector.words().iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]).collect();
        self.ports["ack_sav"].set_words(&words);
    }

    fn take_desc(&mut self) {
        let kind = self.get("desc_kind");
        let via = self.get("desc_via") as usize;
        let packet = Packet {
            probe: kind == 2,
            conn: self.get("desc_conn") as usize,
            home: self.get("desc_home") as usize,
            ppsn: self.get("desc_ppsn") as u32,
            rtx: self.get("desc_rtx") == 1,
            ack_req: self.get("desc_ack_req") == 1,
            ce: self.rng.random_bool(self.weather.ce),
            ts: self.get("desc_ts") as u16,
        };
        let dead = self.dead.get(&(packet.conn, via)).is_some_and(|until| *until > self.cycle);
        if dead || self.rng.random_bool(self.weather.loss) {
            return;
        }
        let at = self.cycle + 200 + self.rng.random_range(0..=self.weather.reorder_cycles);
        if self.weather.loss > 0.0 && self.rng.random_bool(0.01) {
            self.flying.push((at + 300, packet.clone()));
        }
        self.flying.push((at, packet));
    }

    fn deliver(&mut self) {
        let cycle = self.cycle;
        let (arrived, flying): (Vec<_>, Vec<_>) = std::mem::take(&mut self.flying).into_iter().partition(|f| f.0 <= cycle);
        self.flying = flying;
        for (_, packet) in arrived {
            self.receive(&packet);
        }
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.ack_due).into_iter().partition(|f| f.0 <= cycle);
        self.ack_due = later;
        self.acks.extend(due.into_iter().map(|d| d.1));
    }

    fn receive(&mut self, p: &Packet) {
        let now = self.now();
        let r = &mut self.receivers[p.conn][p.home];
        let mut at_once = p.ack_req || p.probe;
        if !p.probe {
            let offset = p.ppsn.wrapping_sub(r.cum) & 0xFF_FFFF;
            if offset >= 1 << 23 || r.above.contains(&p.ppsn) {
                r.dup = r.dup.wrapping_add(1);
                at_once = true;
            } else {
                assert!((offset as usize) < self.config.window_bits, "packet out of the receiver's window");
                r.above.insert(p.ppsn);
                while r.above.remove(&r.cum) {
                    r.cum = (r.cum + 1) & 0xFF_FFFF;
                }
                r.ce = r.ce.wrapping_add(p.ce.into());
                at_once |= !r.above.is_empty();
                r.owed += 1;
            }
            (r.last_ts, r.ts_valid, r.arrived) = (p.ts, !p.rtx, now);
        }
        if !at_once && r.owed < 4 {
            return;
        }
        r.owed = 0;
        let mut vector = SackVector::default();
        for ppsn in &r.above {
            vector.set(ppsn.wrapping_sub(r.cum + 1) & 0xFF_FFFF);
        }
        let nak = self.rng.random_bool(self.weather.naks);
        let rnr = self.weather.rnrs > 0.0 && self.rng.random_bool(self.weather.rnrs);
        let mak = match self.rng.random_bool(0.5) {
            // N1 too
            _ if rnr && !nak => Mak {
                qp: r.cum.wrapping_add(self.rng.random_range(0..8)).wrapping_sub(2) & 0xFF_FFFF,
                code: MakCode::Reserved(self.rng.random_range(8..32)),
                msn: Msn::new(5),
            },
            // code 4 names a packet: outstanding, acknowledged or never sent
            true => Mak {
                qp: r.cum.wrapping_add(self.rng.random_range(0..8)).wrapping_sub(2) & 0xFF_FFFF,
                code: MakCode::BadQp,
                msn: Msn::new(5),
            },
            false => {
                // at times of a QP with a number that no QP has
                let above = if self.rng.random_bool(0.2) { 1 << self.rng.random_range(16..24) } else { 0 };
                Mak {
                    qp: above | self.rng.random_range(0..16),
                    code: MakCode::Bounds,
                    msn: Msn::new(self.rng.random_range(0..100)),
                }
            }
        };
        let flags = AckFlags { rnr, nak, probe_reply: p.probe, ts_valid: p.probe || r.ts_valid };
        let rate = if self.weather.hints { self.rng.random_range(50..200_000) } else { 0xFF_FFFF };
        let ack = Ack {
            ts_echo: if p.probe { p.ts } else { r.last_ts },
            service: if p.probe { 0 } else { now.wrapping_sub(r.arrived).min(65535) as u16 },
            ce_packets: r.ce,
            dup_packets: r.dup,
            flags,
            rate,
            mak,
            vector,
            ..Ack::default()
        };
        let frame = AckFrame { conn: p.conn, home: p.home, cum: r.cum, ack };
        if self.rng.random_bool(self.weather.loss) {
            return;
        }
        let at = self.cycle + 150 + self.rng.random_range(0..=self.weather.reorder_cycles);
        self.ack_due.push((at, frame));
    }

    fn record(&self, kind: &str) -> Option<Record> {
        if self.get(&format!("commit_{kind}_valid")) == 0 {
            return None;
        }
        let prefix = format!("commit_{kind}_");
        Some(port_names(&prefix, &self.ports).into_iter().map(|n| (n[prefix.len()..].to_string(), self.get(&n))).collect())
    }

    fn since(&mut self, kind: &'static str) -> u64 {
        let before = self.last_commit.insert(kind, self.cycle);
        before.map_or(u64::MAX, |b| self.cycle - b)
    }

    fn commits(&mut self) {
        if let Some(r) = self.record("retire") {
            let conn = r["conn"] as usize;
            let verdict = self.conns[conn].retire(&r);
            if let Ok(entry @ Entry { source: 1.., .. }) = verdict {
                self.expected_responses.push_back([entry.source, conn as u64, entry.qp, entry.msn]);
            }
            self.judge("retire", verdict.map(|_| ()));
            self.tally.retired += 1;
        }
        if let Some(r) = self.record("ack") {
            let frame = self.given.pop_front().expect("a commit without an acknowledgment");
            let conn = frame.conn;
            let verdict = self.conns[conn].ack(&r, &frame, self.rto_min);
            self.tally.acks[r["verdict"] as usize] += 1;
            self.tally.lost_l1 += r["lost_l1"];
            self.tally.lost_l2 += r["lost_l2"];
            if r["lost_l1"] + r["lost_l2"] > 0 {
                self.lossy.insert(conn, self.cycle);
            }
            let clocks = self.since("ack");
            if matches!(verdict, Ok(AckVerdict::Applied)) {
                self.expect_nak(&frame);
                self.tally.ack_clocks = self.tally.ack_clocks.min(clocks);
            }
            self.judge("ack", verdict.map(|_| ()));
        }
        if let Some(r) = self.record("timer") {
            let verdict = self.conns[r["conn"] as usize].timer(&r, self.rto_min);
            self.tally.timers[r["action"] as usize] += 1;
            self.judge("timer", verdict);
        }
        if let Some(r) = self.record("grant") {
            let conn = r["conn"] as usize;
            let (source, given_up) = (r["source"], self.conns[conn].tx.error);
            if r["kind"] == 2 || r["nop"] == 1 {
                let erred = self.qp_erred.get(r["qp"] as usize).copied().flatten();
                let failed = source < 2 && erred.is_some_and(|at| self.cycle - at <= SLOT_CLOCKS);
                assert!(
                    failed || (source > 0 && given_up),
                    "seed {}, a packet of a healthy QP was dropped: {r:?}",
                    self.weather.seed
                );
                assert!(source < 2 || r["nop"] == 0, "an ERROR_RESP is no NOP");
            }
            if r["kind"] == 2 && source == 2 {
                self.expected_lost.push_back(conn as u64);
            }
            let verdict = self.conns[conn].grant(&r);
            match r["kind"] {
                0 => {
                    self.tally.new_packets += 1;
                    self.tally.responses[source as usize] += 1;
                }
                1 => {
                    self.tally.resends += 1;
                    self.tally.moved += r["moved"];
                    self.tally.nops += r["nop"];
                    if let Some(at) = self.lossy.remove(&conn) {
                        self.tally.resend_clocks = self.tally.resend_clocks.max(self.cycle - at);
                    }
                }
                _ => self.tally.skips += 1,
            }
            let clocks = self.since("grant");
            if r["kind"] == 0 {
                self.tally.grant_clocks = self.tally.grant_clocks.min(clocks);
            }
            self.judge("grant", verdict);
        }
    }

    /// Section 6, "nak".
    fn expect_nak(&mut self, frame: &AckFrame) {
        let (mak, conn) = (&frame.ack.mak, &self.conns[frame.conn]);
        let of_conn = frame.conn as u64;
        let unacked = conn.paths.get(frame.home).is_some_and(|path| path.is_unacked(Ppsn::new(mak.qp)));
        // responses are never refused
        let named = unacked.then(|| conn.entries[&(frame.home, mak.qp)]).filter(|entry| entry.source == 0);
        let code = code_number(mak.code);
        // N1
        let rnr = named.filter(|_| frame.ack.flags.rnr).map(|entry| (of_conn, entry.qp, code, entry.msn, 1));
        if !frame.ack.flags.nak {
            self.expected_naks.extend(rnr);
            return;
        }
        if mak.code != MakCode::BadQp {
            if mak.qp < 1 << 16 {
                self.expected_naks.push_back((of_conn, mak.qp.into(), code, mak.msn.get().into(), 0));
            }
        } else if let Some(entry) = named {
            self.expected_naks.push_back((of_conn, entry.qp, 4, entry.msn, 0));
        }
        self.expected_naks.extend(rnr);
    }

    fn judge(&self, kind: &str, verdict: Result<(), String>) {
        if let Err(why) = verdict {
            panic!("seed {}, cycle {}: {kind}: {why}", self.weather.seed, self.cycle);
        }
    }
}
