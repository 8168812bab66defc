//! Which carrier stands behind the library.
//!
//! In: the environment variable `MRNIC_VERBS`. Out: the provider whose devices programs see. A new carrier is added here, and nowhere
//! else above the seam.
use crate::device::Provider;
use crate::loopback::LoopbackProvider;
use crate::model::ModelProvider;
use crate::rtl::RtlProvider;
use std::sync::OnceLock;

/// The name of the environment variable that picks a carrier.
pub const VARIABLE: &str = "MRNIC_VERBS";

/// The provider of this process, chosen at the first call.
pub fn provider() -> &'static dyn Provider {
    static PROVIDER: OnceLock<Box<dyn Provider>> = OnceLock::new();
    PROVIDER.get_or_init(|| choose(std::env::var(VARIABLE).as_deref().unwrap_or(CARRIERS[0]))).as_ref()
}

/// The names that [`VARIABLE`] may have, the default first.
pub const CARRIERS: [&str; 3] = ["model", "rtl", "loopback"];

/// Whether there is a carrier of that name.
pub fn check(name: &str) -> Result<(), String> {
    let known = || format!("{name} is no device; there are {}", CARRIERS.join(", "));
    CARRIERS.contains(&name).then_some(()).ok_or_else(known)
}

fn choose(name: &str) -> Box<dyn Provider> {
    match name {
        "model" => Box::new(ModelProvider::default()),
        "rtl" => Box::new(RtlProvider::new(crate::rtl::session())),
        "loopback" => Box::new(LoopbackProvider::default()),
        other => {
            eprintln!("mrnic: {VARIABLE}={other} names no carrier (there are: {}); no devices are shown", CARRIERS.join(", "));
            Box::new(NoDevices)
        }
    }
}

/// A wrong name gives an empty list rather than some other device.
struct NoDevices;

impl Provider for NoDevices {
    fn devices(&self) -> Vec<crate::device::DeviceIdentity> {
        Vec::new()
    }

    fn open(
        &self,
        name: &str,
        _: std::sync::Arc<dyn crate::device::EventSink>,
    ) -> Result<std::sync::Arc<dyn crate::device::Device>, crate::device::DeviceError> {
        Err(crate::device::DeviceError::NoDevice { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_carrier_name_shows_no_device() {
        assert_eq!(choose("loopback").devices().len(), 1);
        assert!(choose("nothing").devices().is_empty());
        assert!(check("nothing").is_err());
        for name in CARRIERS {
            check(name).unwrap();
            assert_eq!(choose(name).devices().len(), 1);
        }
    }
}
