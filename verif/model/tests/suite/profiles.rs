//! Every test of a rule runs once for each wire profile.
//! In: test functions that are generic over the profile. Out: one `#[test]` for each profile and function.
//! A function that is left out of its module's list is dead code, which the compiler reports.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::{RngSeed, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use crate::pair::seed;

/// `for_each_profile!(a, b)` makes the tests `open_mr_0::a`, `mrc_like::a`, ... of `a::<P: Profile>()`.
#[macro_export]
macro_rules! for_each_profile {
    ($($test:ident),+ $(,)?) => {
        mod open_mr_0 {
            $(#[test] fn $test() { super::$test::<mrnic_model::OpenMr0>() })+
        }
        mod mrc_like {
            $(#[test] fn $test() { super::$test::<mrnic_model::MrcLike>() })+
        }
    };
}

/// Property tests of `cases` cases from one printed seed (MRNIC_SEED), without files of past failures.
pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(seed(1)), failure_persistence: None, ..ProptestConfig::default() }
}

/// Runs a state machine on `cases` random histories of `steps` operations from one printed seed; a failure is shrunk.
pub fn run_machine<T: StateMachineTest>(cases: u32, steps: std::ops::Range<usize>) {
    let config = ProptestConfig { max_shrink_iters: 4000, ..config(cases) };
    let histories = <T::Reference as ReferenceStateMachine>::sequential_strategy(steps);
    let outcome = TestRunner::new(config.clone()).run(&histories, |(start, operations, seen)| {
        T::test_sequential(config.clone(), start, operations, seen);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
