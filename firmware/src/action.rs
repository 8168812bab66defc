//! What the control plane wants done.
//! In: nothing. Out: packets to send and calls to make on the engine, in this order.

use mrnic_model::ConnConfig;
use mrnic_wire::{NetAddr, Packet, Profile};

use crate::Endpoint;

/// An unreliable datagram of connection control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlPacket {
    pub net: NetAddr,
    /// UDP source port: each repetition may take another route.
    pub udp_port: u16,
    pub packet: Packet,
}

impl ControlPacket {
    /// Writes the frame and returns its length.
    pub fn emit<P: Profile>(&self, buf: &mut [u8]) -> Result<usize, mrnic_wire::EmitError> {
        let packet = Packet { dest_qp: P::PATH_QP, ..self.packet };
        P::emit_packet(buf, &self.net, self.udp_port, &packet, &[])
    }
}

/// Why a connection went down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownReason {
    /// H3: no answer.
    NoAnswer,
    /// H5: the peer started anew while a wish waited.
    PeerRestarted,
    /// H7: the peer speaks another version or profile, or uses an unusable size.
    Refused,
    /// [`crate::Manager::shutdown`].
    Shutdown,
    /// The engine gave it up (rule L4).
    EngineError,
    /// Every connection number is in use.
    NoNumber,
    /// One end has an IPv4 address, the other an IPv6 address.
    AddressFamily,
}

/// A wish of the control plane; carry them out in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Send(ControlPacket),
    /// Opens `conn` in the engine.
    Open {
        conn: u16,
        peer: Endpoint,
        config: ConnConfig<NetAddr>,
    },
    /// Queue pairs that wait for a connection to `peer` may be opened on `conn`.
    Ready {
        conn: u16,
        peer: Endpoint,
    },
    /// The queue pairs of `conn` that are still open get a connection error (W3); then `conn` is closed in the engine.
    Down {
        conn: u16,
        peer: Endpoint,
        reason: DownReason,
    },
    /// Queue pairs that wait for a connection to `peer` get a connection error (W3).
    Failed {
        peer: Endpoint,
        reason: DownReason,
    },
    /// Closes `conn` in the engine; nobody uses it.
    Close {
        conn: u16,
    },
}
