//! The checks of a new WRITE (R3), in their order.
//! In: the packet's fields and the QP they name. Out: the bus address of the payload, or the refusal code.

use mrnic_wire::{MakCode, Msn};

use crate::keys::{KeyFault, KeyTable, Right};
use crate::rx::message::RecvStream;

/// What R3 looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteFields {
    pub msn: Msn,
    pub va: u64,
    pub rkey: u32,
    /// Bytes of the whole message.
    pub length: u32,
    /// Bytes of this packet.
    pub payload: u32,
}

/// R3 after the QP checks. Returns the bus address.
pub fn check_write(
    write: &WriteFields,
    stream: &RecvStream,
    keys: &KeyTable,
    pd: u16,
    qp_error: bool,
    mtu: u32,
) -> Result<u64, MakCode> {
    if qp_error {
        return Err(MakCode::QpError);
    }
    if write.payload > mtu || !stream.fits(write.msn, write.payload, write.length) {
        return Err(MakCode::MsgLength);
    }
    // A zero-length message touches no key.
    if write.length == 0 {
        return Ok(0);
    }
    keys.translate(write.rkey, pd, Right::RemoteWrite, write.va, write.payload).map_err(|fault| match fault {
        KeyFault::BadKey => MakCode::BadKey,
        KeyFault::Access => MakCode::Access,
        KeyFault::Bounds => MakCode::Bounds,
    })
}

/// The number of a refusal code in MAK and in a completion.
pub fn code_number(code: MakCode) -> u8 {
    match code {
        MakCode::Ok => 0,
        MakCode::BadKey => 1,
        MakCode::Access => 2,
        MakCode::Bounds => 3,
        MakCode::BadQp => 4,
        MakCode::BadOpcode => 5,
        MakCode::QpError => 6,
        MakCode::MsgLength => 7,
        MakCode::Reserved(code) => code,
    }
}
