//! The example of the paths: its plane dies and comes back, and the data arrives.
#[path = "../examples/paths.rs"]
mod paths;

use mrnic_host_driver::device::PathHealth;

#[test]
fn the_example_sees_paths_fail_and_come_back() {
    let seen = paths::run().expect("the example runs");
    assert!(seen.messages >= 2 && seen.paths.len() == 8);
    assert!(seen.paths.iter().all(|path| path.state == PathHealth::Up && path.plane.is_some()));
    let failed = seen.changes.iter().filter(|change| change.to == PathHealth::Suspect).count();
    let healed = seen.changes.iter().filter(|change| change.to == PathHealth::Up && change.from != PathHealth::Up).count();
    assert!(failed > 0 && healed > 0, "{:?}", seen.changes);
    assert!(seen.paths.iter().any(|path| path.counters.timeouts > 0));
}
