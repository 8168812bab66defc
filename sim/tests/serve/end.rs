//! One end of a connection, on the driver's safe interface.
//!
//! In: a session. Out: a device, a completion queue, a queue pair and a registered buffer.
use mrnic_host_driver::device::*;
use mrnic_host_driver::rtl::RtlProvider;
use mrnic_host_driver::rules::Access;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Receives that an end may have posted: more than the NIC keeps.
pub const RECVS: u32 = 200;

/// Far more than a run takes on a busy machine: only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(300);

/// Keeps what the device tells.
#[derive(Default)]
pub struct Events {
    told: Mutex<(u32, Vec<AsyncEvent>)>,
    news: Condvar,
}

impl EventSink for Events {
    fn completion(&self, _: Token) {
        self.told.lock().unwrap().0 += 1;
        self.news.notify_all();
    }

    fn asynchronous(&self, event: AsyncEvent) {
        self.told.lock().unwrap().1.push(event);
        self.news.notify_all();
    }
}

impl Events {
    /// Sleeps until there is a completion event.
    pub fn wait_for_completion(&self) {
        let told = self.told.lock().unwrap();
        let mut told = self.news.wait_timeout_while(told, PATIENCE, |told| told.0 == 0).unwrap().0;
        assert!(told.0 > 0, "no completion event comes");
        told.0 -= 1;
    }

    /// Completion events since the last that was waited for.
    pub fn completion_events(&self) -> u32 {
        self.told.lock().unwrap().0
    }

    pub fn wait_for(&self, event: AsyncEvent) {
        let told = self.told.lock().unwrap();
        let told = self.news.wait_timeout_while(told, PATIENCE, |told| !told.1.contains(&event)).unwrap().0;
        assert!(told.1.contains(&event), "{event:?} does not come: {:?}", told.1);
    }
}

pub struct End {
    pub device: Arc<dyn Device>,
    pub events: Arc<Events>,
    pub cq: Arc<dyn CompletionQueue>,
    pub qp: Arc<dyn QueuePair>,
    pub buffer: Vec<u8>,
    pub pd: PdId,
    pub keys: MrKeys,
}

impl End {
    pub fn open(session: &Path, bytes: usize) -> End {
        let events = Arc::new(Events::default());
        let device = RtlProvider::new(session.to_owned()).open("mrnic0", events.clone()).expect("a NIC");
        let pd = device.alloc_pd().unwrap();
        let mut buffer = vec![0u8; bytes];
        let access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };
        let addr = buffer.as_mut_ptr() as u64;
        let keys = device.reg_mr(&MemoryRegion { pd, addr, length_bytes: bytes as u64, iova: addr, access }).unwrap();
        let cq = device.create_cq(&CqSpec { depth: 256, token: Token(1) }).unwrap();
        let capacity = Capacity { max_send_wr: 32, max_recv_wr: RECVS, max_send_sge: 1, max_recv_sge: 1, max_inline_bytes: 64 };
        let (send_cq, recv_cq) = (cq.id(), cq.id());
        let qp = device.create_qp(&QpSpec { pd, send_cq, recv_cq, srq: None, capacity, token: Token(2) }).unwrap();
        End { device, events, cq, qp, buffer, pd, keys }
    }

    fn change(&self, state: QpState) -> QpChange {
        QpChange { state: Some(state), ..QpChange::default() }
    }

    /// Receives may be posted.
    pub fn init(&self) {
        self.qp.modify(&self.change(QpState::Init)).unwrap();
    }

    /// D2: what the peer may do from now on.
    pub fn allow(&self, state: Option<QpState>, access: Access) {
        self.qp.modify(&QpChange { state, access: Some(access), ..QpChange::default() }).unwrap();
    }

    /// Back to the beginning, whatever is under way.
    pub fn reset(&self) {
        self.qp.modify(&self.change(QpState::Reset)).unwrap();
    }

    /// Ready to receive and to send.
    pub fn ready(&self, peer: (GidEntry, u32)) {
        self.init();
        self.connect(peer);
    }

    /// From INIT on.
    pub fn connect(&self, peer: (GidEntry, u32)) {
        self.connect_with(peer, None);
    }

    /// The same with so many retries of messages that find no receive; the peer asks for 10 us between them.
    pub fn connect_with(&self, peer: (GidEntry, u32), rnr_retry: Option<u8>) {
        let path = PathAttributes {
            gid: peer.0.gid,
            source_gid_index: 0,
            flow_label: 0,
            hop_limit: 64,
            traffic_class: 0,
            service_level: 0,
            port: 1,
        };
        let (path, dest_qpn, min_rnr_timer) = (Some(path), Some(peer.1), Some(1));
        let to_rtr = QpChange { path, dest_qpn, rq_psn: Some(5), min_rnr_timer, ..self.change(QpState::Rtr) };
        self.qp.modify(&QpChange { max_dest_rd_atomic: Some(4), ..to_rtr }).unwrap();
        let to_rts = QpChange { sq_psn: Some(9), rnr_retry, ..self.change(QpState::Rts) };
        self.qp.modify(&QpChange { max_rd_atomic: Some(4), ..to_rts }).unwrap();
    }

    pub fn address(&self) -> (GidEntry, u32) {
        (self.device.query_gid(1, 0).unwrap(), self.qp.number())
    }

    pub fn pair(session: &Path, bytes: usize) -> [End; 2] {
        End::pair_of([session, session], bytes)
    }

    /// Two ends that are connected. Both enter RTR at once, as two programs do.
    pub fn pair_of(sessions: [&Path; 2], bytes: usize) -> [End; 2] {
        let ends = sessions.map(|session| End::open(session, bytes));
        ends.iter().for_each(End::init);
        End::connect_both(&ends);
        ends
    }

    /// Both from INIT to RTS.
    pub fn connect_both([a, b]: &[End; 2]) {
        std::thread::scope(|scope| {
            scope.spawn(|| a.connect(b.address()));
            b.connect(a.address());
        });
    }

    /// Posts a piece of the buffer for a message to come.
    pub fn post_recv(&self, wr_id: u64, at: usize, bytes: usize) -> Result<(), PostError> {
        self.post_recv_with(wr_id, at, bytes, self.keys.lkey)
    }

    pub fn post_recv_with(&self, wr_id: u64, at: usize, bytes: usize, lkey: u32) -> Result<(), PostError> {
        let sge = Sge { addr: self.buffer.as_ptr() as u64 + at as u64, length: bytes as u32, lkey };
        self.qp.post_recv(&RecvRequest { wr_id, sges: &[sge] })
    }

    /// Posts a message out of a piece of the buffer; short ones of odd lengths are inline.
    pub fn message(&self, op: SendOp, wr_id: u64, at: usize, bytes: usize, solicited: bool) -> Result<(), PostError> {
        let sge = [Sge { addr: self.buffer.as_ptr() as u64 + at as u64, length: bytes as u32, lkey: self.keys.lkey }];
        let inline = bytes <= 64 && bytes % 2 == 1;
        let payload = if inline { Payload::Inline(&self.buffer[at..at + bytes]) } else { Payload::Sges(&sge) };
        self.qp.post_send(&SendRequest { wr_id, op, payload, signaled: true, solicited, fenced: false })?;
        self.qp.ring_send();
        Ok(())
    }

    /// Posts a WRITE of a piece of this end's buffer to the same place of the other end's.
    pub fn write(&self, to: &End, at: usize, bytes: usize, signaled: bool) -> Result<(), PostError> {
        let remote = Remote { addr: to.buffer.as_ptr() as u64 + at as u64, rkey: to.keys.rkey };
        self.post(remote, at, bytes, signaled)
    }

    pub fn post(&self, remote: Remote, at: usize, bytes: usize, signaled: bool) -> Result<(), PostError> {
        let sge = [Sge { addr: self.buffer.as_ptr() as u64 + at as u64, length: bytes as u32, lkey: self.keys.lkey }];
        let inline = bytes <= 64 && bytes % 2 == 1;
        let payload = if inline { Payload::Inline(&self.buffer[at..at + bytes]) } else { Payload::Sges(&sge) };
        let op = SendOp::Write { remote, imm: None };
        self.qp.post_send(&SendRequest { wr_id: at as u64, op, payload, signaled, solicited: false, fenced: false })?;
        self.qp.ring_send();
        Ok(())
    }

    /// Polls until there are so many completions.
    pub fn completions(&self, count: usize) -> Vec<Completion> {
        let end = Instant::now() + PATIENCE;
        let mut all = Vec::new();
        while all.len() < count {
            let mut some = [Completion::default(); 8];
            let got = self.cq.poll(&mut some).unwrap();
            all.extend_from_slice(&some[..got]);
            assert!(Instant::now() < end, "{} of {count} completions came", all.len());
        }
        all
    }

    /// The buffer once more, in a protection domain of its own.
    pub fn of_another_pd(&self) -> (PdId, MrKeys) {
        let pd = self.device.alloc_pd().unwrap();
        let (addr, length_bytes) = (self.buffer.as_ptr() as u64, self.buffer.len() as u64);
        let access = Access { local_write: true, ..Access::default() };
        (pd, self.device.reg_mr(&MemoryRegion { pd, addr, length_bytes, iova: addr, access }).unwrap())
    }

    /// What a program does before it ends.
    pub fn close(self) {
        self.qp.destroy().unwrap();
        self.cq.destroy().unwrap();
        self.device.dereg_mr(self.keys).unwrap();
        self.device.close();
    }
}

/// Another byte at each place of each buffer.
pub fn fill(end: &mut End, seed: u8) {
    end.buffer.iter_mut().enumerate().for_each(|(i, b)| *b = (i as u8).wrapping_mul(31) ^ (i >> 8) as u8 ^ seed);
}
