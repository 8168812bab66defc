//! READs and atomics of the peer are executed (D3): each its own step, in the order of the stream.
//! In: a QP whose oldest message is a request. Out: a response in its connection's FIFO. Guarantees that each request is
//! executed once: its PPSN was accepted once, and `exp` passes it here.

use mrnic_wire::{AtomicOp, MakCode};

use super::Nic;
use crate::error::StepError;
use crate::event::Event;
use crate::keys::Right;
use crate::memory::HostMemory;
use crate::rx::check::{code_number, fault_code};
use crate::rx::requests::Operation;
use crate::tx::responses::{Response, ResponseKind};
use crate::{CongestionControl, Profile};

/// A request was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    pub conn: u16,
    pub qpn: u32,
    pub msn: u32,
    /// Why it could not be; 0 if it was. Then an ERROR_RESP is sent and the QP is for [`Nic::step_rx_error`].
    pub code: u8,
    /// The value before an atomic.
    pub value: u64,
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// Whether [`Nic::step_execute`] has something to do.
    pub fn has_request(&self, qpn: u32) -> bool {
        self.qp(qpn).is_ok_and(|qp| !qp.send.in_error() && qp.recv.request().is_some())
    }

    /// D3: executes the request that the stream of `qpn` has reached, if there is one.
    pub fn step_execute(&mut self, qpn: u32, mem: &mut impl HostMemory) -> Result<Option<Executed>, StepError> {
        match self.qp(qpn) {
            Ok(qp) if qp.send.in_error() => Ok(None),
            _ => self.step_execute_overlooking(qpn, mem),
        }
    }

    /// The same although the QP may be in Error: hardware read that some clocks before the step.
    pub fn step_execute_overlooking(&mut self, qpn: u32, mem: &mut impl HostMemory) -> Result<Option<Executed>, StepError> {
        let qp = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut).ok_or(StepError::NoSuchQp { qpn })?;
        let Some(slot) = qp.recv.request() else { return Ok(None) };
        let Some(request) = qp.requests.get(slot).copied() else { return Ok(None) };
        let (conn, incarnation, peer_qpn, msn) = (qp.conn, qp.incarnation, qp.peer_qpn, request.msn);
        // D5: it is passed, so no copy of it can be executed again.
        qp.recv.pass();
        // The keys may be gone since the request arrived.
        let right = match request.operation {
            Operation::Read { .. } => Right::RemoteRead,
            Operation::Atomic { .. } => Right::RemoteAtomic,
        };
        let checked = match request.length {
            0 => Ok(0),
            length => self.keys.translate(request.rkey, qp.pd, right, request.va, length).map_err(fault_code),
        };
        let outcome = checked.and_then(|addr| match request.operation {
            Operation::Read { .. } => Ok((addr, 0)),
            Operation::Atomic { op, swap_add, compare } => {
                let before = match op {
                    AtomicOp::CompareSwap => mem.compare_swap(addr, compare, swap_add),
                    AtomicOp::FetchAdd => mem.fetch_add(addr, swap_add),
                };
                before.map(|value| (addr, value)).map_err(|_| MakCode::QpError)
            }
        });
        let connection = self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut);
        let connection = connection.ok_or(StepError::NoSuchConnection { conn })?;
        let mut executed = Executed { conn, qpn, msn, code: 0, value: 0 };
        match outcome {
            Ok((addr, value)) => {
                executed.value = value;
                let read = matches!(request.operation, Operation::Read { .. });
                let length = if read { request.length } else { 0 };
                let npkts = length.div_ceil(connection.mtu()).max(1);
                if let Some(request) = qp.requests.get_mut(slot) {
                    (request.laddr, request.value, request.unretired) = (addr, value, npkts);
                }
                let kind = ResponseKind::Request { qpn, incarnation, slot };
                connection.tx.responses.push(Response { kind, msn, npkts, length });
            }
            Err(code) => {
                // D7: its place goes over to the ERROR_RESP.
                executed.code = code_number(code);
                qp.requests.release(slot);
                let kind = ResponseKind::Error { peer_qpn, code: executed.code };
                connection.tx.responses.push(Response { kind, msn, npkts: 1, length: 0 });
            }
        }
        self.counters.requests_executed += 1;
        self.counters.rx_messages += 1;
        self.emit(Event::Executed { qpn, msn, code: executed.code });
        self.pass_messages(qpn);
        Ok(Some(executed))
    }

    /// D7: the payload of a response cannot be read any more: an ERROR_RESP takes its place.
    pub(super) fn fail_response(&mut self, qpn: u32, msn: u32) {
        let Some(qp) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return };
        let Some(connection) = self.conns.get_mut(qp.conn as usize).and_then(Option::as_deref_mut) else { return };
        if let Some(request) = qp.requests.take_msn(msn) {
            let kind = ResponseKind::Error { peer_qpn: qp.peer_qpn, code: code_number(MakCode::QpError) };
            connection.tx.responses.push(Response { kind, msn: request.msn, npkts: 1, length: 0 });
        }
    }
}
