//! What is known of one peer.
//! In: the manager's decisions. Out: the state of the one connection to it, and the incarnations that are over.

use mrnic_wire::ConnInfo;

use crate::Endpoint;

/// Old incarnations that are remembered; a delayed CONNECT of one of them is stale.
const OLD_MAX: usize = 8;

/// One of the two ends of an open connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Opener,
    Answerer,
}

/// The connection to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Idle,
    /// CONNECT was sent `tries` times; the next is due at `at_us`.
    Opening {
        own: ConnInfo,
        tries: u8,
        at_us: u64,
        wait_us: u64,
    },
    Open {
        role: Role,
        own: ConnInfo,
        theirs: ConnInfo,
    },
    /// Nobody uses it. CLOSE was sent `tries` times; the next is due at `at_us`.
    Closing {
        role: Role,
        own: ConnInfo,
        theirs: ConnInfo,
        tries: u8,
        at_us: u64,
        wait_us: u64,
    },
}

impl Link {
    /// The connection number that is in use.
    pub fn own(&self) -> Option<&ConnInfo> {
        match self {
            Link::Idle => None,
            Link::Opening { own, .. } | Link::Open { own, .. } | Link::Closing { own, .. } => Some(own),
        }
    }
}

/// A peer and the connection to it.
#[derive(Clone, Debug)]
pub struct Peer {
    pub endpoint: Endpoint,
    pub link: Link,
    /// Queue pairs that use it.
    pub users: u32,
    /// Counts connections; a lease of an earlier one no longer counts as a user.
    pub generation: u32,
    /// Since when nobody uses it.
    pub idle_since_us: u64,
    old: [(u16, u32); OLD_MAX],
    old_count: usize,
}

impl Peer {
    pub fn new(endpoint: Endpoint) -> Self {
        Peer { endpoint, link: Link::Idle, users: 0, generation: 0, idle_since_us: 0, old: [(0, 0); OLD_MAX], old_count: 0 }
    }

    /// The incarnation of the peer that `theirs` names is over.
    pub fn remember(&mut self, theirs: &ConnInfo) {
        self.old[self.old_count % OLD_MAX] = (theirs.conn, theirs.start_ppsn_seed);
        self.old_count += 1;
    }

    /// H5: whether a CONNECT belongs to an incarnation that is over.
    pub fn is_over(&self, theirs: &ConnInfo) -> bool {
        let known = &self.old[..self.old_count.min(OLD_MAX)];
        known.contains(&(theirs.conn, theirs.start_ppsn_seed))
    }
}
