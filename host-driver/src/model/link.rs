//! The NIC's link: frames to and from the other NICs of the segment.
//!
//! In: frames with the place they go to. Out: frames that arrived. A ring that fills up marks frames (ECN) as the queue of a switch does,
//! and a full one drops them.
use super::faults::Faults;
use super::settings::Settings;
use crate::device::DeviceError;
use mrnic_fabric::PlaneStats;
use mrnic_firmware::Endpoint;
use mrnic_host_net::{Port, Rings, Segment, Sleeper, Urgency};
use mrnic_wire::frame::set_ecn;
use mrnic_wire::open_mr_0::ECN_CE;
use std::net::{IpAddr, Ipv4Addr};

/// Frames in a ring above which further ones are marked.
const MARK_FRAMES: u32 = 64;
/// A frame that arrives within this time is waited for without sleeping.
const SOON_NS: u64 = 50_000;
/// 10.77.0.0/16: place p has 10.77.0.(p + 1).
const NET: [u8; 2] = [10, 77];

pub struct Link {
    port: Port,
    faults: Option<Faults>,
    /// Frames that found no room or no receiver.
    pub lost: u64,
}

/// The addresses of the NIC at a place.
pub fn endpoint_of(place: usize) -> Endpoint {
    let host = place as u16 + 1;
    let [high, low] = host.to_be_bytes();
    Endpoint { ip: IpAddr::V4(Ipv4Addr::new(NET[0], NET[1], high, low)), mac: [0x02, 0x4d, 0x52, 0, high, low] }
}

/// The place of an address, if it is one of ours.
pub fn place_of(ip: IpAddr) -> Option<usize> {
    let IpAddr::V4(ip) = ip else { return None };
    let [a, b, high, low] = ip.octets();
    let host = u16::from_be_bytes([high, low]);
    (([a, b] == NET) && (1..=mrnic_host_net::PLACES as u16).contains(&host)).then(|| usize::from(host) - 1)
}

/// The address in a GID.
pub fn ip_of_gid(gid: [u8; 16]) -> Option<IpAddr> {
    std::net::Ipv6Addr::from(gid).to_ipv4_mapped().map(IpAddr::V4)
}

/// Writes a frame into the ring of its receiver.
fn give(port: &mut Port, to: usize, frame: &mut [u8], is_ack: bool) -> bool {
    if port.queued(to) > MARK_FRAMES {
        set_ecn(frame, ECN_CE);
    }
    let urgency = if is_ack { Urgency::Soon } else { Urgency::Now };
    port.send_with(to, frame.len(), urgency, |buf| buf.copy_from_slice(frame)).is_ok()
}

impl Link {
    pub fn attach(settings: &Settings) -> Result<Self, DeviceError> {
        let gone = |error: mrnic_host_net::NetError| DeviceError::Gone { detail: error.to_string() };
        let segment = Segment::open(settings.session.clone().unwrap_or_else(Segment::default_dir)).map_err(gone)?;
        let port = Port::attach(&segment).map_err(gone)?;
        let faults = settings.fabric.as_ref().map(|fabric| Faults::new(fabric, port.place(), segment.now_ns()));
        Ok(Link { port, faults, lost: 0 })
    }

    /// What became of the frames that were sent, by plane; nothing without a scenario.
    pub fn planes(&self) -> &[PlaneStats] {
        self.faults.as_ref().map_or(&[], Faults::planes)
    }

    pub fn endpoint(&self) -> Endpoint {
        endpoint_of(self.port.place())
    }

    pub fn sleeper(&self) -> Sleeper {
        self.port.sleeper()
    }

    pub fn now_ns(&self) -> u64 {
        self.port.segment().now_ns()
    }

    /// The receiver need not be woken for what can wait until then.
    pub fn attend(&self, until_ns: u64) {
        self.port.attend(until_ns);
    }

    /// Nor for anything else.
    pub fn polls(&self, until_ns: u64) {
        self.port.polls(until_ns);
    }

    /// Doorbells of receivers that are due: see [`Port::take_due`].
    pub fn take_due(&mut self) -> Rings {
        self.port.take_due()
    }

    /// A frame leaves; `is_ack`: it can wait if the receiver looks by itself.
    pub fn send(&mut self, to: usize, frame: &mut [u8], is_ack: bool) {
        let now_ns = self.now_ns();
        match &mut self.faults {
            Some(faults) => faults.send(now_ns, to, frame, is_ack),
            None => self.lost += u64::from(!give(&mut self.port, to, frame, is_ack)),
        }
    }

    /// Frames that have crossed the network reach the rings. Returns whether there were any, or there will be at once.
    pub fn deliver(&mut self) -> bool {
        let now_ns = self.now_ns();
        let Link { port, faults: Some(faults), lost } = self else { return false };
        let count = faults.deliver(now_ns, |to, frame| *lost += u64::from(!give(port, to, frame, false)));
        count > 0 || faults.next_ns(now_ns).is_some_and(|ns| ns < SOON_NS)
    }

    /// How long until a frame has crossed the network.
    pub fn next_delivery_ns(&self) -> Option<u64> {
        self.faults.as_ref()?.next_ns(self.now_ns())
    }

    pub fn receive(&mut self, limit: usize, take: impl FnMut(&mut [u8])) -> usize {
        self.port.receive(limit, take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_addresses_map_both_ways() {
        for place in [0, 1, 63] {
            assert_eq!(place_of(endpoint_of(place).ip), Some(place));
        }
        for ip in ["10.77.0.0", "10.77.0.65", "10.77.1.1", "10.78.0.1", "::1"] {
            assert_eq!(place_of(ip.parse().unwrap()), None, "{ip}");
        }
    }
}
