//! Asynchronous events.
//!
//! In: `ibv_get_async_event` (waits, or not, by the mode of `async_fd`) and its acknowledgment. Out: events of living objects, in
//! order; each keeps its object from being destroyed until it is acknowledged.
use super::context::Context;
use super::cq::cq_own;
use super::hub::Element;
use super::qp::qp_own;
use super::srq::srq_own;
use crate::abi::*;
use crate::device::AsyncEvent;
use std::ffi::c_int;

fn type_of(event: AsyncEvent) -> c_int {
    match event {
        AsyncEvent::CqError(_) => IBV_EVENT_CQ_ERR,
        AsyncEvent::QpFatal(_) => IBV_EVENT_QP_FATAL,
        AsyncEvent::QpRequestError(_) => IBV_EVENT_QP_REQ_ERR,
        AsyncEvent::QpAccessError(_) => IBV_EVENT_QP_ACCESS_ERR,
        AsyncEvent::CommunicationEstablished(_) => IBV_EVENT_COMM_EST,
        AsyncEvent::SendQueueDrained(_) => IBV_EVENT_SQ_DRAINED,
        AsyncEvent::LastWqeReached(_) => IBV_EVENT_QP_LAST_WQE_REACHED,
        AsyncEvent::SrqError(_) => IBV_EVENT_SRQ_ERR,
        AsyncEvent::SrqLimitReached(_) => IBV_EVENT_SRQ_LIMIT_REACHED,
        AsyncEvent::PortActive { .. } => IBV_EVENT_PORT_ACTIVE,
        AsyncEvent::PortError { .. } => IBV_EVENT_PORT_ERR,
        AsyncEvent::GidChange { .. } => IBV_EVENT_GID_CHANGE,
        AsyncEvent::DeviceFatal => IBV_EVENT_DEVICE_FATAL,
    }
}

#[no_mangle]
pub unsafe extern "C-unwind" fn ibv_get_async_event(context: *mut ibv_context, event: *mut ibv_async_event) -> c_int {
    let hub = &Context::of(context).hub;
    loop {
        let Some(raised) = hub.asynchronous.pop() else { return -1 };
        let element = hub.with_element(raised, |element| match element {
            Element::Cq(cq, acks) => {
                acks.deliver();
                event_element { cq }
            }
            Element::Qp(qp, acks) => {
                acks.deliver();
                event_element { qp }
            }
            Element::Srq(srq, acks) => {
                acks.deliver();
                event_element { srq }
            }
            Element::Port(port) => event_element { port_num: c_int::from(port) },
        });
        if let Some(element) = element {
            event.write(ibv_async_event { element, event_type: type_of(raised) });
            return 0;
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn ibv_ack_async_event(event: *mut ibv_async_event) {
    let element = (*event).element;
    match (*event).event_type {
        IBV_EVENT_CQ_ERR => cq_own(element.cq).async_acks.acknowledge(1),
        IBV_EVENT_SRQ_ERR | IBV_EVENT_SRQ_LIMIT_REACHED => srq_own(element.srq).acks.acknowledge(1),
        IBV_EVENT_QP_FATAL
        | IBV_EVENT_QP_REQ_ERR
        | IBV_EVENT_QP_ACCESS_ERR
        | IBV_EVENT_COMM_EST
        | IBV_EVENT_SQ_DRAINED
        | IBV_EVENT_QP_LAST_WQE_REACHED => qp_own(element.qp).acks.acknowledge(1),
        _ => {}
    }
}
