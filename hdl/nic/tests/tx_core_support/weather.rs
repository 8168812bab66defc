//! What a run of the bench is like, and what it did.

/// How rough the run is.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    pub seed: u64,
    pub cycles: u64,
    pub loss: f64,
    pub ce: f64,
    pub reorder_cycles: u64,
    /// Chance that an acknowledgment is nonsense.
    pub nonsense: f64,
    /// Chance per 1,000 cycles that a path stops for a while.
    pub outages: f64,
    pub qp_errors: bool,
    /// Chance per 1,000 cycles that a response joins a connection.
    pub responses: f64,
    /// Chance that an acknowledgment refuses something.
    pub naks: f64,
    /// Chance that an acknowledgment refuses a packet for now.
    pub rnrs: f64,
    /// Random rate hints instead of none.
    pub hints: bool,
    pub back_pressure: bool,
    /// Completion takes retired packets in one of four stretches of so many cycles; 0: always.
    pub ret_pauses: u64,
    /// The packet builder takes one descriptor in so many clocks.
    pub desc_clocks: u64,
    pub fault: u64,
    pub clocks_per_tick: u64,
}

impl Weather {
    pub fn calm(seed: u64, cycles: u64) -> Self {
        Weather {
            seed,
            cycles,
            loss: 0.0,
            ce: 0.0,
            reorder_cycles: 0,
            nonsense: 0.0,
            outages: 0.0,
            qp_errors: false,
            responses: 0.0,
            naks: 0.0,
            rnrs: 0.0,
            hints: false,
            back_pressure: false,
            ret_pauses: 0,
            desc_clocks: 1,
            fault: 0,
            clocks_per_tick: 8,
        }
    }
}

/// What a run did, for the assertions of the tests.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub new_packets: u64,
    pub resends: u64,
    pub moved: u64,
    pub nops: u64,
    pub skips: u64,
    pub acks: [u64; 4],
    pub timers: [u64; 11],
    pub lost_l1: u64,
    pub lost_l2: u64,
    pub retired: u64,
    pub naks: u64,
    pub rnrs: u64,
    pub conn_errors: u64,
    /// New packets of responses and ERROR_RESPs, and what was retired of them; ERROR_RESPs that a connection in error dropped.
    pub responses: [u64; 3],
    pub responses_retired: u64,
    pub lost: u64,
    /// Least clocks between two commits of the kind.
    pub ack_clocks: u64,
    pub grant_clocks: u64,
    /// Most clocks from an acknowledgment that showed a loss to the next resend of that connection.
    pub resend_clocks: u64,
    /// Most clocks for which a timer was due and nothing was done.
    pub timer_late_clocks: u64,
}
