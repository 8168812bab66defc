//! A queue pair: the stream it sends, the stream it receives, its receives and the requests it answers.
//! In: its configuration. Out: the state that the steps work on.

use crate::config::{QpConfig, QpState};
use crate::rx::message::RecvStream;
use crate::rx::recv_queue::RecvQueue;
use crate::rx::requests::Requests;
use crate::tx::messages::{SendLimits, SendQueue};

#[derive(Debug)]
pub struct Qp {
    pub config: QpConfig,
    /// As set by software; [`Qp::state`] knows errors too.
    pub state: QpState,
    pub conn: u16,
    pub peer_qpn: u32,
    pub pd: u16,
    /// Tells this QP from an earlier one of the same number.
    pub incarnation: u32,
    /// Work requests posted through [`super::Nic::post_send`], modulo 2^16.
    pub posted: u16,
    /// D1.
    pub max_requests: u8,
    pub send: SendQueue,
    pub recv: RecvStream,
    pub receives: RecvQueue,
    pub requests: Requests,
    /// A packet of the peer arrived in RTR.
    pub established: bool,
    /// Q6: LAST_WQE_REACHED was reported.
    pub last_wqe: bool,
    /// SQD: SQ_DRAINED is to be reported.
    pub draining: bool,
    /// Section 10: software is closing it, so a step may see it in Error already.
    pub closing: bool,
}

impl Qp {
    pub fn open(qpn: u32, config: &QpConfig, incarnation: u32, messages: usize) -> Self {
        let depth = if config.srq.is_some() { config.recv_depth.max(messages as u32) } else { config.recv_depth };
        Qp {
            config: *config,
            state: config.state,
            conn: config.conn,
            peer_qpn: config.peer_qpn,
            pd: config.pd,
            incarnation,
            posted: 0,
            max_requests: config.max_rd_atomic,
            send: send_queue(qpn, config, messages),
            recv: RecvStream::new(config.rx_start_msn, messages),
            receives: RecvQueue::new(qpn, config.srq.is_some(), depth, config.cq_log2),
            requests: Requests::new(config.max_dest_rd_atomic, messages),
            established: false,
            last_wqe: false,
            draining: false,
            closing: false,
        }
    }

    /// The sending half begins with the parameters that are known only in RTS.
    pub fn restart_send(&mut self, qpn: u32, config: &QpConfig, messages: usize) {
        self.send = send_queue(qpn, config, messages);
        self.max_requests = config.max_rd_atomic;
        self.config.tx_start_msn = config.tx_start_msn;
        self.config.rnr_retry = config.rnr_retry;
        self.config.max_rd_atomic = config.max_rd_atomic;
    }

    pub fn state(&self) -> QpState {
        if self.send.in_error() {
            QpState::Error
        } else {
            self.state
        }
    }

    /// It is a stream of this connection. Before RTR it belongs to none.
    pub fn is_of(&self, conn: u16) -> bool {
        self.conn == conn && !matches!(self.state, QpState::Reset | QpState::Init)
    }
}

fn send_queue(qpn: u32, config: &QpConfig, messages: usize) -> SendQueue {
    let limits = SendLimits { messages, max_requests: config.max_rd_atomic, rnr_retry: config.rnr_retry };
    SendQueue::new(qpn, config.tx_start_msn, config.cq_log2, &limits)
}
