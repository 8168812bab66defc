//! Every block of the dialect is emitted and passes `verilator --lint-only -Wall`.
mod blocks;
mod support;

use blocks::*;
use support::lint;

macro_rules! lint_clean {
    ($($name:ident: $block:expr;)*) => {
        $(#[test]
        fn $name() {
            lint(&mrnic_emit::emit(&$block, stringify!($name)).unwrap());
        })*
    };
}

lint_clean! {
    counter: structs::Counter::<12>::new(structs::CounterConfig { limit: 1000, reset_value: 3 });
    fields: structs::Fields::default();
    operators: structs::Operators::default();
    chain: arrays::Chain::<5>::default();
    fsm: fsm::Fsm::default();
    psn_table: memory::Table::default();
    lookup: memory::Lookup::default();
    external: memory::External::default();
    skid: streams::Skid::<structs::Header>::default();
    pipe: streams::Pipe::<3>::default();
    framer: streams::Framer::default();
    queue_top: memory::Queue::default();
    corners: corners::Corners::default();
    traps: traps::Traps::default();
}
