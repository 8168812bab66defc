//! Whatever a program does: every request it posted completes exactly once, in order, or is forgotten by a reset.
use super::harness::*;
use crate::abi::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
enum Action {
    Send { side: bool, imm: bool, size: u32 },
    Write { side: bool, bad_key: bool },
    Recv { side: bool, size: u32 },
    Poll { side: bool },
    Fail { side: bool },
    Reconnect,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let one = prop_oneof![
        8 => (any::<bool>(), any::<bool>(), 0u32..64).prop_map(|(side, imm, size)| Action::Send { side, imm, size }),
        4 => (any::<bool>(), prop::bool::weighted(0.05)).prop_map(|(side, bad_key)| Action::Write { side, bad_key }),
        // Seldom a buffer that is too small.
        8 => (any::<bool>(), prop_oneof![19 => Just(64u32), 1 => Just(8)]).prop_map(|(side, size)| Action::Recv { side, size }),
        6 => any::<bool>().prop_map(|side| Action::Poll { side }),
        1 => any::<bool>().prop_map(|side| Action::Fail { side }),
        1 => Just(Action::Reconnect),
    ];
    prop::collection::vec(one, 1..120)
}

/// What a side has posted and not yet seen completed.
#[derive(Default)]
struct Posted {
    sends: VecDeque<u64>,
    recvs: VecDeque<u64>,
}

/// Takes all completions of a side, and checks each against the next posted request of its queue.
fn drain(side: &Side, posted: &mut Posted) -> Result<(), TestCaseError> {
    let mut wcs = [unsafe { std::mem::zeroed::<ibv_wc>() }; 7];
    loop {
        let got = side.poll(&mut wcs);
        for wc in &wcs[..usize::try_from(got).expect("no error")] {
            // Of a failed completion only wr_id, status and QP count; ids tell the queues apart.
            let queue = if wc.wr_id % 2 == 0 { &mut posted.sends } else { &mut posted.recvs };
            prop_assert_eq!(queue.pop_front(), Some(wc.wr_id));
            prop_assert_eq!(wc.qp_num, side.number());
        }
        if got < 7 {
            return Ok(());
        }
    }
}

fn run(actions: &[Action]) -> Result<(), TestCaseError> {
    // No retry timers: time decides nothing.
    let options = Options { timeout: 0, ..DEFAULT };
    let (a, b) = pair(&options);
    let sides = [&a, &b];
    let regions = sides.map(|s| Region::new(s.pd, vec![0; 64], ALL));
    let mut posted = [Posted::default(), Posted::default()];
    let mut id = 0;
    for action in actions {
        id += 2;
        match *action {
            Action::Send { side, imm, size } => {
                let me = usize::from(side);
                let sges = [regions[me].sge(0, size)];
                let opcode = if imm { IBV_WR_SEND_WITH_IMM } else { IBV_WR_SEND };
                if sides[me].post(&mut send(id, opcode, &sges)) == 0 {
                    posted[me].sends.push_back(id);
                }
            }
            Action::Write { side, bad_key } => {
                let (me, peer) = (usize::from(side), usize::from(!side));
                let key = regions[peer].rkey() ^ u32::from(bad_key);
                let sges = [regions[me].sge(0, 9)];
                if sides[me].post(&mut rdma(id, IBV_WR_RDMA_WRITE, &sges, regions[peer].addr(), key)) == 0 {
                    posted[me].sends.push_back(id);
                }
            }
            Action::Recv { side, size } => {
                let me = usize::from(side);
                if sides[me].post_recv(id + 1, &[regions[me].sge(0, size)]) == 0 {
                    posted[me].recvs.push_back(id + 1);
                }
            }
            Action::Poll { side } => drain(sides[usize::from(side)], &mut posted[usize::from(side)])?,
            Action::Fail { side } => prop_assert_eq!(sides[usize::from(side)].to_state(IBV_QPS_ERR), 0),
            Action::Reconnect => {
                for (side, posted) in sides.iter().zip(&mut posted) {
                    prop_assert_eq!(side.to_state(IBV_QPS_RESET), 0);
                    *posted = Posted::default();
                    prop_assert!(side.nothing());
                }
                a.connect(&b.address(), &options);
                b.connect(&a.address(), &options);
            }
        }
    }
    for side in sides {
        prop_assert_eq!(side.to_state(IBV_QPS_ERR), 0);
    }
    let end = Instant::now() + Duration::from_secs(20);
    for (side, posted) in sides.iter().zip(&mut posted) {
        while !(posted.sends.is_empty() && posted.recvs.is_empty()) && Instant::now() < end {
            drain(side, posted)?;
        }
        prop_assert!(side.nothing());
        prop_assert!(posted.sends.is_empty(), "sends without completion: {:?}", posted.sends);
        prop_assert!(posted.recvs.is_empty(), "buffers without completion: {:?}", posted.recvs);
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::testing::config(300))]
    #[test]
    fn every_request_completes_exactly_once(actions in actions()) {
        run(&actions)?;
    }
}
