//! Receives: the scatter lists of posted ones, and shared receive queues.
//!
//! In: requests of the program. Out: receives of the model.
use super::engine::Shared;
use crate::device::{DeviceError, PostError, RecvRequest, SharedReceiveQueue, SrqId};
use mrnic_model::{PostError as ModelError, RecvWr, Sge, SGES_MAX};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// The model's form of a list; pieces without bytes are left out.
pub fn sges_of<'a>(request: &RecvRequest<'_>, list: &'a mut [Sge; SGES_MAX]) -> Result<&'a [Sge], PostError> {
    let mut count = 0;
    for sge in request.sges.iter().filter(|sge| sge.length > 0) {
        *list.get_mut(count).ok_or(PostError::TooManySges)? = Sge { addr: sge.addr, len: sge.length, lkey: sge.lkey };
        count += 1;
    }
    Ok(&list[..count])
}

pub fn refusal(error: ModelError) -> PostError {
    match error {
        ModelError::RecvFull { .. } => PostError::Full,
        ModelError::State { .. } => PostError::WrongState,
        ModelError::Sges { .. } => PostError::TooManySges,
        ModelError::UsesSrq { .. } => PostError::BadOperation,
        _ => PostError::Gone,
    }
}

/// A shared receive queue as the program holds it.
pub struct Srq {
    pub id: SrqId,
    pub shared: Arc<Shared>,
    pub max_wr: AtomicU32,
    pub max_sge: u32,
}

impl SharedReceiveQueue for Srq {
    fn id(&self) -> SrqId {
        self.id
    }

    fn capacity(&self) -> (u32, u32) {
        (self.max_wr.load(Ordering::Acquire), self.max_sge)
    }

    fn limit(&self) -> u32 {
        self.shared.engine().nic.srq_limit(self.id.0).unwrap_or(0)
    }

    fn set_limit(&self, limit: u32) -> Result<(), DeviceError> {
        let mut engine = self.shared.engine();
        let refused = |error: mrnic_model::ConfigError| DeviceError::invalid("SRQ limit", error.to_string());
        engine.nic.arm_srq(self.id.0, limit).map_err(refused)?;
        engine.hand_out();
        Ok(())
    }

    fn resize(&self, max_wr: u32) -> Result<(), DeviceError> {
        let mut engine = self.shared.engine();
        let refused = |error: mrnic_model::ConfigError| DeviceError::invalid("max_wr", error.to_string());
        engine.nic.resize_srq(self.id.0, max_wr).map_err(refused)?;
        self.max_wr.store(max_wr, Ordering::Release);
        Ok(())
    }

    fn post_recv(&self, request: &RecvRequest<'_>) -> Result<(), PostError> {
        let mut engine = self.shared.engine();
        if self.shared.is_stopped() {
            return Err(PostError::Gone);
        }
        if request.sges.len() > self.max_sge as usize {
            return Err(PostError::TooManySges);
        }
        let mut list = [Sge::default(); SGES_MAX];
        let sges = sges_of(request, &mut list)?;
        engine.nic.post_srq_recv(self.id.0, &RecvWr { wr_id: request.wr_id, sges }).map_err(refusal)
    }

    fn destroy(&self) -> Result<(), DeviceError> {
        let mut engine = self.shared.engine();
        let refused = |error: mrnic_model::ConfigError| DeviceError::invalid("SRQ", error.to_string());
        engine.nic.destroy_srq(self.id.0).map_err(refused)?;
        if let Some(place) = engine.srqs.get_mut(self.id.0 as usize) {
            *place = None;
        }
        Ok(())
    }
}
