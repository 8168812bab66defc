//! The transmit core of every build becomes Verilog that lints clean.
use mrnic_nic::config::BUILDS;
use mrnic_nic::tx::core::TxCore;

#[test]
fn every_build_emits() {
    for build in BUILDS {
        let text = mrnic_emit::emit_new("tx_core", || TxCore::new(build)).unwrap_or_else(|e| panic!("{}: {e}", build.name));
        if let Ok(dir) = std::env::var("MRNIC_EMIT_DIR") {
            std::fs::write(format!("{dir}/tx_core_{}.v", build.name), text.verilog).unwrap();
        }
    }
}
