mod rx_support;
use mrnic_nic::config::build;
use mrnic_nic::rx::rx_core::RxCore;
#[test]
fn lint() {
    let mut b = rx_support::Bench::new("rx_core", || RxCore::new(&build("sim").unwrap()));
    b.reset();
}
