//! The loopback engine: carries out send requests.
//!
//! In: the queues of all QPs of the process. Out: copied bytes and completions, each request whole and in order. Runs in whatever thread
//! polls or posts; two threads never run it at once, and no wake-up is lost.
use super::memory::{copy, Piece, Pieces, Regions};
use super::qp::{Entry, Qp};
use super::receive::Srq;
use crate::completions::Cq;
use crate::device::*;
use crate::table::Table;
use crate::verbs::{lock, try_lock};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Requests that one call carries out at most.
const BUDGET: usize = 256;

/// What all opens of the device share.
pub struct Fabric {
    pub engine: Mutex<Engine>,
    pub regions: Regions,
    pub pds: Mutex<Table<()>>,
    pub cqs: Mutex<Table<Arc<Cq<Fabric>>>>,
    pub srqs: Mutex<Table<Arc<Srq>>>,
    /// Send requests that wait.
    pub pending: AtomicU64,
    kicks: AtomicU64,
    awake: AtomicBool,
}

pub struct Engine {
    /// By QP number.
    pub qps: Table<Arc<Qp>>,
}

impl Default for Fabric {
    fn default() -> Self {
        let limits = super::limits();
        // A peer in another process is not reached: its numbers must not look like ours.
        let generation = (std::process::id() % 255) as u8 + 1;
        Fabric {
            engine: Mutex::new(Engine { qps: Table::starting_at(limits.max_qp, generation) }),
            regions: Regions::starting_at(generation),
            pds: Mutex::new(Table::new(limits.max_pd)),
            cqs: Mutex::new(Table::new(limits.max_cq)),
            srqs: Mutex::new(Table::new(limits.max_srq)),
            pending: AtomicU64::new(0),
            kicks: AtomicU64::new(0),
            awake: AtomicBool::new(false),
        }
    }
}

/// How a try of a request ended.
enum Outcome {
    Done(WcStatus, u32),
    /// The same request again, later.
    Wait,
}

impl crate::completions::Engine for Fabric {
    fn poll(&self) {
        self.progress();
    }

    fn keep_going(self: &Arc<Self>) {
        self.stay_awake();
        self.progress();
    }

    fn remove_cq(&self, id: CqId) {
        lock(&self.cqs).remove(id.0);
    }
}

impl Fabric {
    pub fn remove_srq(&self, id: SrqId) {
        lock(&self.srqs).remove(id.0);
    }

    /// Advances in this thread, or leaves it to the thread that is at it.
    pub fn progress(&self) {
        if self.pending.load(Ordering::Acquire) == 0 {
            return;
        }
        self.kicks.fetch_add(1, Ordering::AcqRel);
        loop {
            let Some(engine) = try_lock(&self.engine) else { return };
            let seen = self.kicks.load(Ordering::Acquire);
            engine.run(self);
            drop(engine);
            // Someone who found the lock taken has left a kick.
            if self.kicks.load(Ordering::Acquire) == seen {
                return;
            }
        }
    }

    /// From the first armed CQ on a thread keeps retry timers going while the program sleeps.
    fn stay_awake(self: &Arc<Self>) {
        if self.awake.swap(true, Ordering::AcqRel) {
            return;
        }
        let weak = Arc::downgrade(self);
        let keep = move || {
            while let Some(fabric) = weak.upgrade() {
                fabric.progress();
                drop(fabric);
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        // Without a thread only programs that sleep through a retry are worse off.
        let _ = std::thread::Builder::new().name("mrnic-loopback".to_owned()).spawn(keep);
    }
}

impl Engine {
    fn run(&self, fabric: &Fabric) {
        let mut budget = BUDGET;
        for (_, qp) in self.qps.iter() {
            while budget > 0 && self.step(fabric, qp) {
                budget -= 1;
            }
        }
    }

    /// Carries out the next request of a QP; `false` when there is nothing to do now.
    fn step(&self, fabric: &Fabric, qp: &Qp) -> bool {
        match qp.state() {
            _ if qp.is_closed() => return false,
            QpState::Rts => {}
            QpState::Error => {
                qp.flush_sends();
                return false;
            }
            _ => return false,
        }
        let Some(mut entry) = qp.take_send() else { return false };
        let (status, byte_len) = match self.attempt(fabric, qp, &mut entry) {
            Outcome::Done(status, byte_len) => (status, byte_len),
            Outcome::Wait => {
                qp.put_back(entry);
                return false;
            }
        };
        let completion = Completion {
            wr_id: entry.wr_id,
            status,
            kind: entry.op.completion(),
            byte_len,
            qpn: qp.number,
            ..Completion::default()
        };
        let mut fits = true;
        if entry.signaled || status != WcStatus::Success {
            fits = qp.send_cq.push(completion, false, entry.slot.take());
        }
        qp.retire(entry);
        if status != WcStatus::Success || !fits {
            qp.fail();
        }
        true
    }

    /// The peer, if it listens to this QP.
    fn peer_of(&self, qp: &Qp) -> Option<&Arc<Qp>> {
        let dest = lock(&qp.attributes).dest_qpn;
        let peer = self.qps.get(dest)?;
        let listens = matches!(peer.state(), QpState::Rtr | QpState::Rts | QpState::Sqd);
        (listens && !peer.is_closed() && lock(&peer.attributes).dest_qpn == qp.number).then_some(peer)
    }

    fn attempt(&self, fabric: &Fabric, qp: &Qp, entry: &mut Entry) -> Outcome {
        use WcStatus::*;
        let regions = &fabric.regions;
        let own = *lock(&qp.attributes);
        if entry.op.is_read_or_atomic() && own.max_rd_atomic == 0 {
            return Outcome::Done(LocalQpOperation, 0);
        }
        let local = match entry.inline() {
            Some(data) => Some(Pieces::of(data)),
            None => regions.local(&entry.sges, qp.pd, entry.op.is_read_or_atomic()),
        };
        let Some(local) = local else { return Outcome::Done(LocalProtection, 0) };
        let length: u64 = local.as_slice().iter().map(|p| p.length).sum();
        let Some(peer) = self.peer_of(qp) else { return no_peer(&own, entry) };
        entry.give_up = None;

        let theirs = *lock(&peer.attributes);
        if entry.op.is_read_or_atomic() && theirs.max_dest_rd_atomic == 0 {
            return refuse(peer, RemoteInvalidRequest);
        }
        // Rights are those of the region and of the peer's QP.
        let place = |remote: Remote, length, right: fn(crate::rules::Access) -> bool| {
            let found = regions.resolve(remote.rkey, peer.pd, remote.addr, length, right);
            found.filter(|_| length == 0 || right(theirs.access)).map(|addr| Pieces::of(Piece { addr, length }))
        };
        match entry.op {
            SendOp::Send { imm } => return self.deliver(fabric, qp, peer, entry, imm, &local, length),
            SendOp::Write { remote, imm } => {
                let Some(target) = place(remote, length, |a| a.remote_write) else { return refuse(peer, RemoteAccess) };
                if imm.is_some() {
                    // The buffer first: a request that waits for one has placed nothing.
                    return self.deliver(fabric, qp, peer, entry, imm, &target, length);
                }
                copy(target.as_slice(), local.as_slice(), length);
            }
            SendOp::Read { remote } => {
                let Some(source) = place(remote, length, |a| a.remote_read) else { return refuse(peer, RemoteAccess) };
                copy(local.as_slice(), source.as_slice(), length);
            }
            SendOp::CompareSwap { remote, .. } | SendOp::FetchAdd { remote, .. } => {
                if remote.addr % 8 != 0 {
                    return refuse(peer, RemoteInvalidRequest);
                }
                let Some(target) = place(remote, 8, |a| a.remote_atomic) else { return refuse(peer, RemoteAccess) };
                let addr = target.as_slice()[0].addr;
                if addr % 8 != 0 {
                    return refuse(peer, RemoteInvalidRequest);
                }
                let before = atomic(addr, entry.op);
                let source = Piece { addr: before.as_ptr() as u64, length: 8 };
                copy(local.as_slice(), &[source], 8);
                return Outcome::Done(Success, 8);
            }
        }
        Outcome::Done(Success, length as u32)
    }

    /// A message that takes a receive buffer: SEND into it, WRITE with immediate beside it (`pieces` is then the target).
    #[allow(clippy::too_many_arguments)] // The parts of one message.
    fn deliver(
        &self,
        fabric: &Fabric,
        qp: &Qp,
        peer: &Qp,
        entry: &mut Entry,
        imm: Option<[u8; 4]>,
        pieces: &Pieces,
        length: u64,
    ) -> Outcome {
        use WcStatus::*;
        let Some((buffer, low)) = peer.receive.take() else { return not_ready(qp, peer, entry) };
        if let (true, Some(srq)) = (low, &peer.srq) {
            srq.raise_limit();
        }
        let write = matches!(entry.op, SendOp::Write { .. });
        let mut answer = Completion {
            wr_id: buffer.wr_id,
            kind: if write { CompletionKind::RecvWrite } else { CompletionKind::Recv },
            byte_len: length as u32,
            imm,
            qpn: peer.number,
            src_qpn: qp.number,
            ..Completion::default()
        };
        let mut result = Success;
        if write {
            let local = fabric.regions.local(&entry.sges, qp.pd, false);
            match (entry.inline(), local) {
                (Some(data), _) => copy(pieces.as_slice(), &[data], length),
                (None, Some(local)) => copy(pieces.as_slice(), local.as_slice(), length),
                (None, None) => result = LocalProtection,
            }
        } else if length > buffer.length_bytes() {
            (answer.status, result) = (LocalLength, RemoteInvalidRequest);
        } else {
            match fabric.regions.local(buffer.sges(), peer.pd, true) {
                Some(target) => copy(target.as_slice(), pieces.as_slice(), length),
                None => (answer.status, result) = (LocalProtection, RemoteOperation),
            }
        }
        let fits = peer.recv_cq.push(answer, entry.solicited, None);
        if answer.status != Success || !fits {
            peer.fail();
            peer.raise(AsyncEvent::QpFatal);
        }
        Outcome::Done(result, length as u32)
    }
}

/// The peer's QP ends too, and its owner hears of it.
fn refuse(peer: &Qp, status: WcStatus) -> Outcome {
    peer.fail();
    if status == WcStatus::RemoteAccess {
        peer.raise(AsyncEvent::QpAccessError);
    } else {
        peer.raise(AsyncEvent::QpRequestError);
    }
    Outcome::Done(status, 0)
}

/// Nobody answers: until the retries are used up.
fn no_peer(own: &super::qp::Attributes, entry: &mut Entry) -> Outcome {
    if own.timeout == 0 {
        return Outcome::Wait;
    }
    let now = Instant::now();
    let once_ns = 4096u64 << own.timeout;
    let all = Duration::from_nanos(once_ns * (u64::from(own.retry_count) + 1));
    if now >= *entry.give_up.get_or_insert(now + all) {
        return Outcome::Done(WcStatus::RetryExceeded, 0);
    }
    Outcome::Wait
}

/// RNR NAK timer values, in microseconds, by their code.
const RNR_TIMER_US: [u64; 32] = [
    655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10_240, 15_360,
    20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520,
];

/// No receive buffer: `rnr_retry` more tries, 7 without end.
fn not_ready(qp: &Qp, peer: &Qp, entry: &mut Entry) -> Outcome {
    const FOREVER: u8 = 7;
    let tries = lock(&qp.attributes).rnr_retry;
    if tries == FOREVER {
        return Outcome::Wait;
    }
    let now = Instant::now();
    if entry.rnr_next.is_some_and(|next| now < next) {
        return Outcome::Wait;
    }
    if entry.rnr_tries >= tries {
        return Outcome::Done(WcStatus::RnrRetryExceeded, 0);
    }
    entry.rnr_tries += 1;
    let code = usize::from(lock(&peer.attributes).min_rnr_timer);
    entry.rnr_next = Some(now + Duration::from_micros(RNR_TIMER_US[code % RNR_TIMER_US.len()]));
    Outcome::Wait
}

/// Carries out an atomic at an aligned address; the value before, as memory of this machine holds it.
fn atomic(addr: u64, op: SendOp) -> [u8; 8] {
    // SAFETY: aligned to 8 and within a region that the peer registered and keeps mapped.
    let word = unsafe { AtomicU64::from_ptr(addr as *mut u64) };
    let before = match op {
        SendOp::CompareSwap { compare, swap, .. } => {
            word.compare_exchange(compare, swap, Ordering::AcqRel, Ordering::Acquire).unwrap_or_else(|now| now)
        }
        SendOp::FetchAdd { add, .. } => word.fetch_add(add, Ordering::AcqRel),
        SendOp::Send { .. } | SendOp::Write { .. } | SendOp::Read { .. } => word.load(Ordering::Acquire),
    };
    before.to_ne_bytes()
}
