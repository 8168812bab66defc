//! Numbers of `infiniband/verbs.h`.
//!
//! In: nothing. Out: constants by their C names. Those with a typed twin in `crate::device` are converted in `crate::verbs`, nowhere else.
use std::ffi::c_int;

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: $type = $value;)*
        /// All constants of the header by name, for the comparison in `tests/abi_header.rs`.
        pub const CONSTANTS: &[(&str, i64)] = &[$((stringify!($name), $value as i64)),*];
    };
}

/// `ibv_query_gid_type` has an enumeration of its own (that of sysfs).
pub const IBV_GID_TYPE_SYSFS_ROCE_V2: c_int = 1;

constants! {
    IBV_NODE_CA: c_int = 1;
    IBV_TRANSPORT_IB: c_int = 0;

    IBV_DEVICE_BAD_PKEY_CNTR: u32 = 1 << 1;
    IBV_DEVICE_RC_RNR_NAK_GEN: u32 = 1 << 12;
    IBV_DEVICE_SRQ_RESIZE: u32 = 1 << 13;

    IBV_ATOMIC_NONE: c_int = 0;
    IBV_ATOMIC_HCA: c_int = 1;

    IBV_LINK_LAYER_ETHERNET: u8 = 2;
    IBV_PORT_CM_SUP: u32 = 1 << 16;
    IBV_PORT_IP_BASED_GIDS: u32 = 1 << 26;

    IBV_GID_TYPE_ROCE_V2: u32 = 2;

    IBV_EVENT_CQ_ERR: c_int = 0;
    IBV_EVENT_QP_FATAL: c_int = 1;
    IBV_EVENT_QP_REQ_ERR: c_int = 2;
    IBV_EVENT_QP_ACCESS_ERR: c_int = 3;
    IBV_EVENT_COMM_EST: c_int = 4;
    IBV_EVENT_SQ_DRAINED: c_int = 5;
    IBV_EVENT_DEVICE_FATAL: c_int = 8;
    IBV_EVENT_PORT_ACTIVE: c_int = 9;
    IBV_EVENT_PORT_ERR: c_int = 10;
    IBV_EVENT_SRQ_ERR: c_int = 14;
    IBV_EVENT_SRQ_LIMIT_REACHED: c_int = 15;
    IBV_EVENT_QP_LAST_WQE_REACHED: c_int = 16;
    IBV_EVENT_GID_CHANGE: c_int = 18;
    IBV_EVENT_WQ_FATAL: c_int = 19;

    IBV_WC_SUCCESS: c_int = 0;
    IBV_WC_LOC_LEN_ERR: c_int = 1;
    IBV_WC_LOC_QP_OP_ERR: c_int = 2;
    IBV_WC_LOC_PROT_ERR: c_int = 4;
    IBV_WC_WR_FLUSH_ERR: c_int = 5;
    IBV_WC_BAD_RESP_ERR: c_int = 7;
    IBV_WC_LOC_ACCESS_ERR: c_int = 8;
    IBV_WC_REM_INV_REQ_ERR: c_int = 9;
    IBV_WC_REM_ACCESS_ERR: c_int = 10;
    IBV_WC_REM_OP_ERR: c_int = 11;
    IBV_WC_RETRY_EXC_ERR: c_int = 12;
    IBV_WC_RNR_RETRY_EXC_ERR: c_int = 13;
    IBV_WC_FATAL_ERR: c_int = 19;
    IBV_WC_GENERAL_ERR: c_int = 21;

    IBV_WC_SEND: c_int = 0;
    IBV_WC_RDMA_WRITE: c_int = 1;
    IBV_WC_RDMA_READ: c_int = 2;
    IBV_WC_COMP_SWAP: c_int = 3;
    IBV_WC_FETCH_ADD: c_int = 4;
    IBV_WC_RECV: c_int = 128;
    IBV_WC_RECV_RDMA_WITH_IMM: c_int = 129;

    IBV_WC_WITH_IMM: u32 = 1 << 1;

    IBV_WC_EX_WITH_BYTE_LEN: u64 = 1 << 0;
    IBV_WC_EX_WITH_IMM: u64 = 1 << 1;
    IBV_WC_EX_WITH_QP_NUM: u64 = 1 << 2;
    IBV_WC_EX_WITH_SRC_QP: u64 = 1 << 3;
    IBV_WC_EX_WITH_SLID: u64 = 1 << 4;
    IBV_WC_EX_WITH_SL: u64 = 1 << 5;
    IBV_WC_EX_WITH_DLID_PATH_BITS: u64 = 1 << 6;

    IBV_CQ_INIT_ATTR_MASK_FLAGS: u32 = 1 << 0;
    IBV_CREATE_CQ_ATTR_SINGLE_THREADED: u32 = 1 << 0;

    IBV_ACCESS_LOCAL_WRITE: u32 = 1 << 0;
    IBV_ACCESS_REMOTE_WRITE: u32 = 1 << 1;
    IBV_ACCESS_REMOTE_READ: u32 = 1 << 2;
    IBV_ACCESS_REMOTE_ATOMIC: u32 = 1 << 3;
    IBV_ACCESS_ZERO_BASED: u32 = 1 << 5;
    IBV_ACCESS_HUGETLB: u32 = 1 << 7;
    /// Bits that a library may ignore (relaxed ordering is one of them).
    IBV_ACCESS_OPTIONAL_RANGE: u32 = 0x3ff0_0000;

    IBV_REREG_MR_CHANGE_TRANSLATION: c_int = 1 << 0;
    IBV_REREG_MR_CHANGE_PD: c_int = 1 << 1;
    IBV_REREG_MR_CHANGE_ACCESS: c_int = 1 << 2;
    IBV_REREG_MR_ERR_INPUT: c_int = -1;

    IBV_SRQ_MAX_WR: c_int = 1 << 0;
    IBV_SRQ_LIMIT: c_int = 1 << 1;

    IBV_QPT_RC: c_int = 2;

    IBV_QP_INIT_ATTR_PD: u32 = 1 << 0;
    IBV_QP_INIT_ATTR_CREATE_FLAGS: u32 = 1 << 2;
    IBV_QP_INIT_ATTR_SEND_OPS_FLAGS: u32 = 1 << 6;

    IBV_QP_EX_WITH_RDMA_WRITE: u64 = 1 << 0;
    IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM: u64 = 1 << 1;
    IBV_QP_EX_WITH_SEND: u64 = 1 << 2;
    IBV_QP_EX_WITH_SEND_WITH_IMM: u64 = 1 << 3;
    IBV_QP_EX_WITH_RDMA_READ: u64 = 1 << 4;
    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP: u64 = 1 << 5;
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD: u64 = 1 << 6;

    IBV_QP_STATE: u32 = 1 << 0;
    IBV_QP_CUR_STATE: u32 = 1 << 1;
    IBV_QP_EN_SQD_ASYNC_NOTIFY: u32 = 1 << 2;
    IBV_QP_ACCESS_FLAGS: u32 = 1 << 3;
    IBV_QP_PKEY_INDEX: u32 = 1 << 4;
    IBV_QP_PORT: u32 = 1 << 5;
    IBV_QP_AV: u32 = 1 << 7;
    IBV_QP_PATH_MTU: u32 = 1 << 8;
    IBV_QP_TIMEOUT: u32 = 1 << 9;
    IBV_QP_RETRY_CNT: u32 = 1 << 10;
    IBV_QP_RNR_RETRY: u32 = 1 << 11;
    IBV_QP_RQ_PSN: u32 = 1 << 12;
    IBV_QP_MAX_QP_RD_ATOMIC: u32 = 1 << 13;
    IBV_QP_ALT_PATH: u32 = 1 << 14;
    IBV_QP_MIN_RNR_TIMER: u32 = 1 << 15;
    IBV_QP_SQ_PSN: u32 = 1 << 16;
    IBV_QP_MAX_DEST_RD_ATOMIC: u32 = 1 << 17;
    IBV_QP_PATH_MIG_STATE: u32 = 1 << 18;
    IBV_QP_CAP: u32 = 1 << 19;
    IBV_QP_DEST_QPN: u32 = 1 << 20;

    IBV_QPS_RESET: c_int = 0;
    IBV_QPS_INIT: c_int = 1;
    IBV_QPS_RTR: c_int = 2;
    IBV_QPS_RTS: c_int = 3;
    IBV_QPS_SQD: c_int = 4;
    IBV_QPS_SQE: c_int = 5;
    IBV_QPS_ERR: c_int = 6;

    IBV_MIG_MIGRATED: c_int = 0;

    IBV_WR_RDMA_WRITE: c_int = 0;
    IBV_WR_RDMA_WRITE_WITH_IMM: c_int = 1;
    IBV_WR_SEND: c_int = 2;
    IBV_WR_SEND_WITH_IMM: c_int = 3;
    IBV_WR_RDMA_READ: c_int = 4;
    IBV_WR_ATOMIC_CMP_AND_SWP: c_int = 5;
    IBV_WR_ATOMIC_FETCH_AND_ADD: c_int = 6;

    IBV_SEND_FENCE: u32 = 1 << 0;
    IBV_SEND_SIGNALED: u32 = 1 << 1;
    IBV_SEND_SOLICITED: u32 = 1 << 2;
    IBV_SEND_INLINE: u32 = 1 << 3;

    /// `ibv_is_fork_initialized`: memory stays with the parent without any call to `madvise`.
    IBV_FORK_UNNEEDED: c_int = 2;
}
