//! Queue pair attributes.
//!
//! In: nothing. Out: the RC state machine's states and what a modification carries; [`crate::rules::transition`] says what is allowed when.
use super::Mtu;
use crate::rules::Access;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum QpState {
    #[default]
    Reset,
    Init,
    /// Ready to receive.
    Rtr,
    /// Ready to send.
    Rts,
    /// Sending is being drained, or is drained.
    Sqd,
    Error,
}

/// Sizes of a QP's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Capacity {
    pub max_send_wr: u32,
    pub max_recv_wr: u32,
    pub max_send_sge: u32,
    pub max_recv_sge: u32,
    pub max_inline_bytes: u32,
}

/// What the device knows of a QP now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QpStatus {
    pub state: QpState,
    /// In [`QpState::Sqd`]: requests that were started are not yet all completed.
    pub draining: bool,
}

/// The way to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathAttributes {
    pub gid: [u8; 16],
    /// Index of the own address.
    pub source_gid_index: u8,
    pub flow_label: u32,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub service_level: u8,
    pub port: u8,
}

/// A modification: what is `None` stays as it is. Values are in the units of the verbs API (encoded timers as in `ibv_qp_attr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QpChange {
    pub state: Option<QpState>,
    pub access: Option<Access>,
    pub pkey_index: Option<u16>,
    pub port: Option<u8>,
    pub path: Option<PathAttributes>,
    pub path_mtu: Option<Mtu>,
    pub dest_qpn: Option<u32>,
    pub rq_psn: Option<u32>,
    pub sq_psn: Option<u32>,
    /// Local acknowledgment timeout: 4.096 us * 2^n, 0 is none (5 bits).
    pub timeout: Option<u8>,
    /// 3 bits.
    pub retry_count: Option<u8>,
    /// 3 bits, 7 is without end.
    pub rnr_retry: Option<u8>,
    /// Encoded as in the RNR NAK (5 bits).
    pub min_rnr_timer: Option<u8>,
    pub max_rd_atomic: Option<u8>,
    pub max_dest_rd_atomic: Option<u8>,
    /// Raise [`super::AsyncEvent::SendQueueDrained`] when draining ends.
    pub notify_drained: Option<bool>,
}

/// Where a QP is, for the QP that is to be connected with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpAddress {
    pub gid: [u8; 16],
    pub qpn: u32,
    /// Its first send PSN.
    pub psn: u32,
}

/// The three steps from RESET to RTS with the usual values, for Rust programs; C programs fill `ibv_qp_attr` themselves.
impl QpChange {
    pub fn to_init(access: Access) -> Self {
        let state = Some(QpState::Init);
        QpChange { state, access: Some(access), pkey_index: Some(0), port: Some(1), ..QpChange::default() }
    }

    pub fn to_rtr(peer: &QpAddress) -> Self {
        let path = PathAttributes {
            gid: peer.gid,
            source_gid_index: 0,
            flow_label: 0,
            hop_limit: 64,
            traffic_class: 0,
            service_level: 0,
            port: 1,
        };
        QpChange {
            state: Some(QpState::Rtr),
            path: Some(path),
            path_mtu: Some(Mtu::B4096),
            dest_qpn: Some(peer.qpn),
            rq_psn: Some(peer.psn),
            max_dest_rd_atomic: Some(16),
            min_rnr_timer: Some(12),
            ..QpChange::default()
        }
    }

    pub fn to_rts(own_psn: u32) -> Self {
        QpChange {
            state: Some(QpState::Rts),
            sq_psn: Some(own_psn),
            timeout: Some(14),
            retry_count: Some(7),
            rnr_retry: Some(7),
            max_rd_atomic: Some(16),
            ..QpChange::default()
        }
    }
}
