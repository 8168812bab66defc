//! A queue pair: the stream it sends and the stream it receives.
//! In: its configuration. Out: the state that the steps work on.

use crate::config::QpConfig;
use crate::rx::message::RecvStream;
use crate::tx::messages::SendQueue;

#[derive(Debug)]
pub struct Qp {
    pub conn: u16,
    pub peer_qpn: u32,
    pub pd: u16,
    /// Tells this QP from an earlier one of the same number.
    pub incarnation: u32,
    /// Work requests posted through [`super::Nic::post_send`], modulo 2^16.
    pub posted: u16,
    pub send: SendQueue,
    pub recv: RecvStream,
}

impl Qp {
    pub fn open(qpn: u32, config: &QpConfig, incarnation: u32, messages: usize) -> Self {
        Qp {
            conn: config.conn,
            peer_qpn: config.peer_qpn,
            pd: config.pd,
            incarnation,
            posted: 0,
            send: SendQueue::new(qpn, config.tx_start_msn, messages, config.cq_log2),
            recv: RecvStream::new(config.rx_start_msn, messages),
        }
    }
}
