//! A NIC leaves the network when its last open is closed.
//!
//! In: the shared engine. Out: peers that have what they wait for, as far as that takes a bounded time (rule H6). A child that was forked
//! has no NIC: it leaves without a word.
use super::engine::Shared;
use std::time::Duration;

/// H6: a NIC leaves when nothing was heard for this time that asks for an acknowledgment: three timeouts in a row of a peer whose last
/// packet, or its acknowledgment, was lost.
const QUIET_NS: u64 = 50_000_000;
/// H6: and after this time in any case.
const LEAVE_NS: u64 = 250_000_000;
/// Between two looks at whether the peers have closed.
const LOOK_AGAIN: Duration = Duration::from_micros(100);

impl Shared {
    /// H6: answers until the peers have closed too, or nothing is heard; then they are told.
    pub fn leave(&self) {
        let mut engine = self.engine();
        engine.manager.hasten();
        let begin_ns = engine.link.now_ns();
        loop {
            engine.run();
            let now_ns = engine.link.now_ns();
            let quiet = now_ns.saturating_sub(engine.heard_ns) >= QUIET_NS || now_ns.saturating_sub(begin_ns) >= LEAVE_NS;
            if quiet || !engine.has_peers() {
                break;
            }
            drop(engine);
            std::thread::sleep(LOOK_AGAIN);
            engine = self.engine();
        }
        engine.write_stats();
        engine.manager.shutdown();
        engine.run();
    }
}
