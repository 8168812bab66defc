//! Between C numbers and typed values.
//!
//! In: flags and enumerations of programs. Out: the device's types, or an error for what it does not know; and back.
use crate::abi::*;
use crate::device::{Completion, DeviceError, PathAttributes, QpState};
use crate::rules::Access;
use std::ffi::c_int;

/// Access flags of an MR or QP. Optional flags may be ignored by definition; huge pages make no difference here.
pub fn access_of(flags: u32) -> Result<Access, DeviceError> {
    let plain = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    if flags & !(plain | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE) != 0 {
        return Err(DeviceError::Unsupported { what: "an access flag (memory windows and on-demand paging)" });
    }
    let has = |flag| flags & flag != 0;
    Ok(Access {
        local_write: has(IBV_ACCESS_LOCAL_WRITE),
        remote_write: has(IBV_ACCESS_REMOTE_WRITE),
        remote_read: has(IBV_ACCESS_REMOTE_READ),
        remote_atomic: has(IBV_ACCESS_REMOTE_ATOMIC),
    })
}

pub fn state_of(number: c_int) -> Result<QpState, DeviceError> {
    Ok(match number {
        IBV_QPS_RESET => QpState::Reset,
        IBV_QPS_INIT => QpState::Init,
        IBV_QPS_RTR => QpState::Rtr,
        IBV_QPS_RTS => QpState::Rts,
        IBV_QPS_SQD => QpState::Sqd,
        IBV_QPS_ERR => QpState::Error,
        other => return Err(DeviceError::invalid("QP state", format!("{other} is no state of an RC QP"))),
    })
}

pub fn state_number(state: QpState) -> c_int {
    match state {
        QpState::Reset => IBV_QPS_RESET,
        QpState::Init => IBV_QPS_INIT,
        QpState::Rtr => IBV_QPS_RTR,
        QpState::Rts => IBV_QPS_RTS,
        QpState::Sqd => IBV_QPS_SQD,
        QpState::Error => IBV_QPS_ERR,
    }
}

/// A path: over Ethernet every path is global.
pub fn path_of(ah: &ibv_ah_attr) -> Result<PathAttributes, DeviceError> {
    if ah.is_global == 0 {
        return Err(DeviceError::invalid("address", "is_global is 0, but a RoCE port has no LID: the peer is named by its GID. Give the program a GID index (ibv_rc_pingpong and ibv_srq_pingpong: -g 0; perftest: -x 0)"));
    }
    Ok(PathAttributes {
        // SAFETY: both members of the union are plain bytes.
        gid: unsafe { ah.grh.dgid.raw },
        source_gid_index: ah.grh.sgid_index,
        // UCX asks for "any" with all ones; the field of the header has 20 bits.
        flow_label: ah.grh.flow_label & 0xf_ffff,
        hop_limit: ah.grh.hop_limit,
        traffic_class: ah.grh.traffic_class,
        service_level: ah.sl,
        port: ah.port_num,
    })
}

#[inline]
pub fn wc_of(c: &Completion) -> ibv_wc {
    ibv_wc {
        wr_id: c.wr_id,
        status: c.status as c_int,
        opcode: c.kind as c_int,
        vendor_err: c.vendor_error,
        byte_len: c.byte_len,
        imm_data: c.imm.map_or(0, u32::from_ne_bytes),
        qp_num: c.qpn,
        src_qp: c.src_qpn,
        wc_flags: if c.imm.is_some() { IBV_WC_WITH_IMM } else { 0 },
        pkey_index: 0,
        slid: 0,
        sl: 0,
        dlid_path_bits: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{CompletionKind, WcStatus};

    /// The typed enumerations carry the C numbers: each one is compared with the constant of its name.
    #[test]
    fn numbers_of_statuses_and_opcodes() {
        use WcStatus::*;
        let statuses = [
            (Success, IBV_WC_SUCCESS),
            (LocalLength, IBV_WC_LOC_LEN_ERR),
            (LocalQpOperation, IBV_WC_LOC_QP_OP_ERR),
            (LocalProtection, IBV_WC_LOC_PROT_ERR),
            (Flushed, IBV_WC_WR_FLUSH_ERR),
            (BadResponse, IBV_WC_BAD_RESP_ERR),
            (LocalAccess, IBV_WC_LOC_ACCESS_ERR),
            (RemoteInvalidRequest, IBV_WC_REM_INV_REQ_ERR),
            (RemoteAccess, IBV_WC_REM_ACCESS_ERR),
            (RemoteOperation, IBV_WC_REM_OP_ERR),
            (RetryExceeded, IBV_WC_RETRY_EXC_ERR),
            (RnrRetryExceeded, IBV_WC_RNR_RETRY_EXC_ERR),
            (Fatal, IBV_WC_FATAL_ERR),
            (General, IBV_WC_GENERAL_ERR),
        ];
        for (status, number) in statuses {
            assert_eq!(status as c_int, number);
        }
        let kinds = [
            (CompletionKind::Send, IBV_WC_SEND),
            (CompletionKind::Write, IBV_WC_RDMA_WRITE),
            (CompletionKind::Read, IBV_WC_RDMA_READ),
            (CompletionKind::CompareSwap, IBV_WC_COMP_SWAP),
            (CompletionKind::FetchAdd, IBV_WC_FETCH_ADD),
            (CompletionKind::Recv, IBV_WC_RECV),
            (CompletionKind::RecvWrite, IBV_WC_RECV_RDMA_WITH_IMM),
        ];
        for (kind, number) in kinds {
            assert_eq!(kind as c_int, number);
        }
    }

    #[test]
    fn states_there_and_back() {
        for number in [IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR] {
            assert_eq!(state_of(number).map(state_number), Ok(number));
        }
        assert!(state_of(IBV_QPS_SQE).is_err() && state_of(-1).is_err() && state_of(7).is_err());
    }

    /// UCX sets all 32 bits of the flow label.
    #[test]
    fn a_flow_label_is_cut_to_its_field() {
        // SAFETY: integers only.
        let mut ah: ibv_ah_attr = unsafe { std::mem::zeroed() };
        assert!(path_of(&ah).is_err(), "a path that is not global");
        ah.is_global = 1;
        ah.grh.flow_label = u32::MAX;
        assert_eq!(path_of(&ah).map(|p| p.flow_label), Ok(0xf_ffff));
    }

    #[test]
    fn access_flags_that_need_what_is_not_there_are_refused() {
        assert_eq!(access_of(0xf), Ok(Access::ALL));
        assert_eq!(access_of(1 | 1 << 20).map(|a| a.local_write), Ok(true));
        for flag in [1 << 4, 1 << 6, 1 << 8, 1 << 31] {
            assert_eq!(access_of(1 | flag).map_err(|e| e.errno()), Err(libc::EOPNOTSUPP), "{flag:#x}");
        }
    }
}
