//! Sizes: of queues when they are made, of requests when they are posted.
//!
//! In: sizes that a program asked for, and the device's limits. Out: they fit, or an error that names the size.
use crate::device::{Capacity, DeviceError, Limits, Operations, Payload, PostError, SendOp};

fn at_most(what: &'static str, wanted: u32, most: u32) -> Result<(), DeviceError> {
    if wanted > most {
        return Err(DeviceError::invalid(what, format!("{wanted} is more than the device's {most}")));
    }
    Ok(())
}

/// Checks the queues of a new QP. Receive sizes do not matter on an SRQ.
pub fn check_capacity(capacity: &Capacity, limits: &Limits, on_srq: bool) -> Result<(), DeviceError> {
    at_most("max_send_wr", capacity.max_send_wr, limits.max_qp_wr)?;
    at_most("max_send_sge", capacity.max_send_sge, limits.max_send_sge)?;
    at_most("max_inline_data", capacity.max_inline_bytes, limits.max_inline_bytes)?;
    if !on_srq {
        at_most("max_recv_wr", capacity.max_recv_wr, limits.max_qp_wr)?;
        at_most("max_recv_sge", capacity.max_recv_sge, limits.max_sge)?;
    }
    Ok(())
}

/// Checks the sizes of a new SRQ.
pub fn check_srq(max_wr: u32, max_sge: u32, limits: &Limits) -> Result<(), DeviceError> {
    if limits.max_srq == 0 {
        return Err(DeviceError::Unsupported { what: "a shared receive queue" });
    }
    if max_wr == 0 {
        return Err(DeviceError::invalid("max_wr", "an SRQ holds at least one buffer"));
    }
    at_most("max_wr", max_wr, limits.max_srq_wr)?;
    at_most("max_sge", max_sge, limits.max_sge)
}

/// What a request is measured against.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub max_send_sge: u32,
    pub max_inline_bytes: u32,
    pub max_message_bytes: u32,
    pub operations: Operations,
}

/// Checks a send request: before it is encoded anywhere, so that no field can overflow.
#[inline]
pub fn check_request(op: SendOp, payload: &Payload<'_>, sizes: &Sizes) -> Result<(), PostError> {
    if !sizes.operations.has(op) {
        return Err(PostError::BadOperation);
    }
    match payload {
        Payload::Inline(data) => {
            if op.is_read_or_atomic() || data.len() as u64 > u64::from(sizes.max_inline_bytes) {
                return Err(PostError::BadInline);
            }
        }
        Payload::Sges(list) => {
            if list.len() as u64 > u64::from(sizes.max_send_sge) {
                return Err(PostError::TooManySges);
            }
            let length = payload.length_bytes();
            if length > u64::from(sizes.max_message_bytes) || (op.is_atomic() && length < 8) {
                return Err(PostError::BadLength);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Remote, Sge};

    const SIZES: Sizes =
        Sizes { max_send_sge: 2, max_inline_bytes: 16, max_message_bytes: 1 << 30, operations: Operations::ALL };
    const REMOTE: Remote = Remote { addr: 0, rkey: 0 };

    fn sge(length: u32) -> Sge {
        Sge { addr: 0, length, lkey: 0 }
    }

    #[test]
    fn lengths_at_and_past_each_bound() {
        let send = SendOp::Send { imm: None };
        let check = |op, list: &[Sge]| check_request(op, &Payload::Sges(list), &SIZES);
        assert_eq!(check(send, &[sge(1 << 29), sge(1 << 29)]), Ok(()));
        assert_eq!(check(send, &[sge(1 << 29), sge((1 << 29) + 1)]), Err(PostError::BadLength));
        // Two lengths whose sum does not fit 32 bits.
        assert_eq!(check(send, &[sge(u32::MAX), sge(2)]), Err(PostError::BadLength));
        assert_eq!(check(send, &[sge(1); 3]), Err(PostError::TooManySges));
        assert_eq!(check(send, &[]), Ok(()));
        assert_eq!(check(SendOp::FetchAdd { remote: REMOTE, add: 1 }, &[sge(7)]), Err(PostError::BadLength));
        assert_eq!(check(SendOp::FetchAdd { remote: REMOTE, add: 1 }, &[sge(8)]), Ok(()));
    }

    #[test]
    fn inline_data_only_where_data_leaves() {
        let check = |op, n| check_request(op, &Payload::Inline(&[0; 64][..n]), &SIZES);
        assert_eq!(check(SendOp::Send { imm: None }, 16), Ok(()));
        assert_eq!(check(SendOp::Write { remote: REMOTE, imm: None }, 17), Err(PostError::BadInline));
        assert_eq!(check(SendOp::Read { remote: REMOTE }, 1), Err(PostError::BadInline));
    }

    #[test]
    fn operations_that_the_device_lacks_are_refused() {
        let all = [
            SendOp::Send { imm: None },
            SendOp::Send { imm: Some([0; 4]) },
            SendOp::Write { remote: REMOTE, imm: None },
            SendOp::Write { remote: REMOTE, imm: Some([0; 4]) },
            SendOp::Read { remote: REMOTE },
            SendOp::CompareSwap { remote: REMOTE, compare: 0, swap: 0 },
            SendOp::FetchAdd { remote: REMOTE, add: 0 },
        ];
        let allowed = |operations| {
            let sizes = Sizes { operations, ..SIZES };
            let list = [sge(8)];
            all.map(|op| check_request(op, &Payload::Sges(&list), &sizes) == Ok(()))
        };
        let (y, n) = (true, false);
        assert_eq!(allowed(Operations::ALL), [y; 7]);
        assert_eq!(allowed(Operations { send: n, ..Operations::ALL }), [n, n, y, y, y, y, y]);
        assert_eq!(allowed(Operations { write: n, ..Operations::ALL }), [y, y, n, n, y, y, y]);
        assert_eq!(allowed(Operations { immediate: n, ..Operations::ALL }), [y, n, y, n, y, y, y]);
        assert_eq!(allowed(Operations { read: n, ..Operations::ALL }), [y, y, y, y, n, y, y]);
        assert_eq!(allowed(Operations { atomic: n, ..Operations::ALL }), [y, y, y, y, y, n, n]);
    }
}
