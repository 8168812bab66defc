//! What a WQE says of its operation, for the golden model and for the RTL.
//!
//! In: the operation of a request. Out: the opcode and the fields of the WQE that belong to it; the others are 0.
use super::requests::imm_of;
use crate::device::SendOp;
use mrnic_model::wqe::{WQE_COMPARE_SWAP, WQE_FETCH_ADD, WQE_READ, WQE_SEND, WQE_SEND_IMM, WQE_WRITE, WQE_WRITE_IMM};
use mrnic_model::Wqe;

/// A WQE without local memory that does this.
pub fn wqe_of(op: SendOp) -> Wqe {
    let with = |opcode, imm: Option<[u8; 4]>| Wqe { opcode, imm: imm.map_or(0, imm_of), ..Wqe::default() };
    let (wqe, remote) = match op {
        SendOp::Send { imm } => (with(if imm.is_some() { WQE_SEND_IMM } else { WQE_SEND }, imm), None),
        SendOp::Write { remote, imm } => (with(if imm.is_some() { WQE_WRITE_IMM } else { WQE_WRITE }, imm), Some(remote)),
        SendOp::Read { remote } => (with(WQE_READ, None), Some(remote)),
        SendOp::CompareSwap { remote, compare, swap } => {
            (Wqe { compare, swap_add: swap, ..with(WQE_COMPARE_SWAP, None) }, Some(remote))
        }
        SendOp::FetchAdd { remote, add } => (Wqe { swap_add: add, ..with(WQE_FETCH_ADD, None) }, Some(remote)),
    };
    let (raddr, rkey) = remote.map_or((0, 0), |remote| (remote.addr, remote.rkey));
    Wqe { raddr, rkey, ..wqe }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Remote;

    #[test]
    fn each_operation_has_its_opcode_and_its_operands() {
        let remote = Remote { addr: 1 << 40, rkey: 9 };
        let imm = Some([0, 0, 1, 2]);
        let at = Wqe { raddr: 1 << 40, rkey: 9, ..Wqe::default() };
        for (op, wqe) in [
            (SendOp::Write { remote, imm: None }, at),
            (SendOp::Write { remote, imm }, Wqe { opcode: 1, imm: 0x102, ..at }),
            (SendOp::Send { imm: None }, Wqe { opcode: 2, ..Wqe::default() }),
            (SendOp::Send { imm }, Wqe { opcode: 3, imm: 0x102, ..Wqe::default() }),
            (SendOp::Read { remote }, Wqe { opcode: 4, ..at }),
            (SendOp::CompareSwap { remote, compare: 5, swap: 6 }, Wqe { opcode: 5, compare: 5, swap_add: 6, ..at }),
            (SendOp::FetchAdd { remote, add: 7 }, Wqe { opcode: 6, swap_add: 7, ..at }),
        ] {
            assert_eq!(wqe_of(op), wqe, "{op:?}");
        }
    }
}
