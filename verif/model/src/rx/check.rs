//! Refusal codes: their numbers, and which one a fault of a key is (R3).
//! In: a fault or a number. Out: the code of MAK and of a completion.

use mrnic_wire::MakCode;

use crate::keys::KeyFault;

/// R3: why an access was refused, as the peer is told.
pub fn fault_code(fault: KeyFault) -> MakCode {
    match fault {
        KeyFault::BadKey => MakCode::BadKey,
        KeyFault::Access => MakCode::Access,
        KeyFault::Bounds => MakCode::Bounds,
    }
}

/// The refusal code of a number, the inverse of [`code_number`].
pub fn code_of_number(number: u8) -> MakCode {
    match number {
        0 => MakCode::Ok,
        1 => MakCode::BadKey,
        2 => MakCode::Access,
        3 => MakCode::Bounds,
        4 => MakCode::BadQp,
        5 => MakCode::BadOpcode,
        6 => MakCode::QpError,
        7 => MakCode::MsgLength,
        code => MakCode::Reserved(code),
    }
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
