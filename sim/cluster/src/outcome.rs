//! What a run measures, and its result.
//!
//! In: payload that was received, messages that completed, samples of queues and rates. Out: an [`Outcome`], whose numbers
//! have names ([`Outcome::metric`]) by which experiments refer to them.
use crate::endpoint::EndpointStats;
use crate::network::config::NetworkConfig;
use crate::network::NetworkStats;
use crate::time::{Ps, PS_PER_US};
use crate::workload::Workload;
use serde::{Deserialize, Serialize};

/// One look at the watched host: the receiver of the first flow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Longest queue towards it.
    pub queue_bytes: u64,
    /// Senders that are limited by the receiver, and those that are not.
    pub limited: u32,
    pub unlimited: u32,
    /// Smallest and largest limit.
    pub min_mbps: f64,
    pub max_mbps: f64,
    /// In which of its round trips, counted from 1, a sender is that is not allowed an equal part of the receiver's line within
    /// 10 %: the largest of all; 0 if there is none.
    pub unsettled_round_trip: u32,
}

impl Default for Probe {
    fn default() -> Self {
        Probe { queue_bytes: 0, limited: 0, unlimited: 0, min_mbps: f64::MAX, max_mbps: 0.0, unsettled_round_trip: 0 }
    }
}

/// What is gathered while a simulation runs.
pub struct Measured {
    /// Receiver of the first flow.
    pub watched: u32,
    sample: Ps,
    total_bytes: u64,
    received_bytes: u64,
    received_wire_bytes: u64,
    background_bytes: u64,
    /// When the workload was done.
    done_at: Option<Ps>,
    /// Time and wire bytes at 10 % and at 90 % of the payload.
    steady: [Option<(Ps, u64, u64)>; 2],
    flow_bytes: Vec<u64>,
    /// Bytes of each interval.
    bins: Vec<u64>,
    probes: Vec<Probe>,
    jain: Option<f64>,
    first_flow: Option<Ps>,
    receivers: u32,
    host_gbps: f64,
}

impl Measured {
    pub fn new(workload: &Workload, network: &NetworkConfig, sample: Ps) -> Self {
        let flows = &workload.flows[..workload.measured];
        let mut receivers: Vec<u32> = flows.iter().map(|f| f.dst).collect();
        receivers.sort_unstable();
        receivers.dedup();
        Measured {
            watched: flows.first().map_or(0, |f| f.dst),
            sample,
            total_bytes: workload.total_bytes,
            received_bytes: 0,
            received_wire_bytes: 0,
            background_bytes: 0,
            done_at: None,
            steady: [None; 2],
            flow_bytes: vec![0; workload.measured],
            bins: Vec::new(),
            probes: Vec::new(),
            jain: None,
            first_flow: None,
            receivers: receivers.len() as u32,
            host_gbps: network.rate_gbps * network.planes as f64,
        }
    }

    /// Payload of a flow arrived for the first time, in a packet of `wire_bytes`.
    pub fn received(&mut self, now: Ps, flow: u32, bytes: u64, wire_bytes: u32) {
        let Some(of_flow) = self.flow_bytes.get_mut(flow as usize) else {
            self.background_bytes += bytes;
            return;
        };
        *of_flow += bytes;
        self.received_bytes += bytes;
        self.received_wire_bytes += u64::from(wire_bytes);
        for (mark, percent) in self.steady.iter_mut().zip([10, 90]) {
            if mark.is_none() && self.received_bytes * 100 >= self.total_bytes * percent {
                *mark = Some((now, self.received_bytes, self.received_wire_bytes));
            }
        }
        if let Some(bin) = now.checked_div(self.sample) {
            let bin = bin as usize;
            if bin >= self.bins.len() {
                self.bins.resize(bin + 1, 0);
            }
            self.bins[bin] += bytes;
        }
    }

    /// A message of a flow was received completely.
    pub fn message(&mut self, now: Ps, workload: &Workload, flow: u32) {
        if flow as usize >= workload.measured {
            return;
        }
        let f = &workload.flows[flow as usize];
        if f.received == f.total && self.first_flow.is_none() {
            self.first_flow = Some(now);
            self.jain = Some(jain(&self.flow_bytes));
        }
    }

    /// The workload is done.
    pub fn done(&mut self, now: Ps) {
        self.done_at.get_or_insert(now);
    }

    /// An equal part of the receiver's line, in Mbit/s.
    pub fn equal_part_mbps(&self, senders: usize) -> f64 {
        self.host_gbps * 1000.0 / senders as f64
    }

    pub fn sample(&mut self, probe: Probe) {
        self.probes.push(probe);
    }

    pub fn outcome(
        &self,
        now: Ps,
        workload: &Workload,
        network: &NetworkStats,
        endpoints: &EndpointStats,
        events: u64,
        failed: u64,
    ) -> Outcome {
        let finished = workload.is_done();
        let end = self.done_at.unwrap_or(now);
        let us = |ps: Ps| ps as f64 / PS_PER_US as f64;
        let gbps = |bytes: u64, ps: Ps| if ps == 0 { 0.0 } else { bytes as f64 * 8000.0 / ps as f64 };
        let (mut steady_gbps, mut link_share) = (0.0, 0.0);
        if let [Some((from, bytes, wire)), Some((to, bytes_to, wire_to))] = self.steady {
            steady_gbps = gbps(bytes_to - bytes, to - from);
            link_share = gbps(wire_to - wire, to - from) / (self.host_gbps * f64::from(self.receivers));
        }
        Outcome {
            finished,
            failed_messages: failed,
            duration_us: us(end),
            first_flow_us: self.first_flow.map_or(us(end), us),
            received_bytes: self.received_bytes,
            goodput_gbps: gbps(self.received_bytes, end),
            background_gbps: gbps(self.background_bytes, now),
            steady_gbps,
            link_share,
            jain: self.jain.unwrap_or_else(|| jain(&self.flow_bytes)),
            receivers: self.receivers,
            host_gbps: self.host_gbps,
            events,
            network: *network,
            endpoints: *endpoints,
            sample_us: us(self.sample),
            goodput_series_gbps: self.bins.iter().map(|&bytes| gbps(bytes, self.sample)).collect(),
            probes: self.probes.clone(),
        }
    }
}

/// Jain's index of fairness: 1 if all are equal, 1 / n if one has all.
pub fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&x| x as f64).sum();
    let squares: f64 = shares.iter().map(|&x| (x as f64).powi(2)).sum();
    if squares == 0.0 {
        return 1.0;
    }
    sum * sum / (shares.len() as f64 * squares)
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Every message was received.
    pub finished: bool,
    pub failed_messages: u64,
    /// Until the last message was received.
    pub duration_us: f64,
    /// Until the first flow had received all its messages.
    pub first_flow_us: f64,
    pub received_bytes: u64,
    /// Payload of all hosts together over the whole time.
    pub goodput_gbps: f64,
    /// Payload of what ran beside the workload.
    pub background_gbps: f64,
    /// The same between 10 % and 90 % of the payload.
    pub steady_gbps: f64,
    /// Wire bytes of packets that arrived for the first time, over the rate of all receivers' ports, in the same time.
    pub link_share: f64,
    /// Fairness of the flows' bytes when the first of them had all.
    pub jain: f64,
    pub receivers: u32,
    pub host_gbps: f64,
    pub events: u64,
    pub network: NetworkStats,
    pub endpoints: EndpointStats,
    pub sample_us: f64,
    /// Payload of all hosts together by interval.
    pub goodput_series_gbps: Vec<f64>,
    /// Of the watched host, at the end of each interval.
    pub probes: Vec<Probe>,
}

/// Names of [`Outcome::metric`].
pub const METRICS: [&str; 18] = [
    "duration_us",
    "goodput_gbps",
    "steady_gbps",
    "link_share",
    "jain",
    "failed_messages",
    "resent",
    "timeouts",
    "duplicates",
    "dropped_queue",
    "marked",
    "max_queue_bytes",
    "recovery_us",
    "share_settled_us",
    "share_settled_round_trips",
    "background_gbps",
    "pauses",
    "paused_us",
];

impl Outcome {
    /// A number by its name. `recovery_us` needs the time of the failure and the goodput share that counts as recovered.
    pub fn metric(&self, name: &str, fault_us: f64, recovered_share: f64) -> Option<f64> {
        Some(match name {
            "duration_us" => self.duration_us,
            "goodput_gbps" => self.goodput_gbps,
            "steady_gbps" => self.steady_gbps,
            "link_share" => self.link_share,
            "jain" => self.jain,
            "failed_messages" => self.failed_messages as f64,
            "resent" => self.endpoints.resent as f64,
            "timeouts" => self.endpoints.timeouts as f64,
            "duplicates" => self.endpoints.duplicates as f64,
            "dropped_queue" => self.network.dropped_queue as f64,
            "marked" => self.network.marked as f64,
            "max_queue_bytes" => self.network.max_queue_bytes as f64,
            "background_gbps" => self.background_gbps,
            "pauses" => self.network.pauses as f64,
            "paused_us" => self.network.paused_us,
            "recovery_us" => self.recovery_us(fault_us, recovered_share)?,
            "share_settled_us" => self.settled()?.0,
            "share_settled_round_trips" => self.settled()?.1,
            _ => return None,
        })
    }

    /// From the failure until goodput stays at or above `share` of what it was before, over the time in which every flow
    /// still sends.
    fn recovery_us(&self, fault_us: f64, share: f64) -> Option<f64> {
        if self.sample_us <= 0.0 || fault_us <= 0.0 {
            return None;
        }
        let fault = (fault_us / self.sample_us) as usize;
        let end = (self.first_flow_us / self.sample_us) as usize;
        let series = &self.goodput_series_gbps[..end.min(self.goodput_series_gbps.len())];
        let before = series.get(fault / 2..fault).filter(|bins| !bins.is_empty())?;
        let usual = before.iter().sum::<f64>() / before.len() as f64;
        let after = series.get(fault..).filter(|bins| !bins.is_empty())?;
        let low = after.iter().rposition(|&gbps| gbps < share * usual);
        let bins = match low {
            None => 0,
            // It never came back.
            Some(last) if last + 1 == after.len() => return Some(f64::INFINITY),
            Some(last) => last + 1,
        };
        Some((fault + bins) as f64 * self.sample_us - fault_us)
    }

    /// Time, and round trips of the slowest sender, from which on the receiver allowed every sender an equal part of its line
    /// within 10 % for as long as all sent; infinite if it did not in the end.
    fn settled(&self) -> Option<(f64, f64)> {
        let end = (self.first_flow_us / self.sample_us.max(1e-9)) as usize;
        let probes = &self.probes[..end.min(self.probes.len())];
        probes.iter().find(|p| p.limited > 0)?;
        if probes.last()?.unsettled_round_trip > 0 {
            return Some((f64::INFINITY, f64::INFINITY));
        }
        let settled = probes.iter().rposition(|p| p.unsettled_round_trip > 0).map_or(0, |last| last + 1);
        let round_trips = probes.iter().map(|p| p.unsettled_round_trip).max().unwrap_or(0);
        Some((settled as f64 * self.sample_us, round_trips.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_is_one_for_equals_and_one_nth_for_one() {
        assert!((jain(&[5, 5, 5, 5]) - 1.0).abs() < 1e-12);
        assert!((jain(&[9, 0, 0, 0]) - 0.25).abs() < 1e-12);
        assert!((jain(&[]) - 1.0).abs() < 1e-12);
    }

    /// Probes: limited senders, and the round trip of one whose limit is not its share.
    fn outcome(series: &[f64], probes: &[(u32, u32)]) -> Outcome {
        let network = NetworkConfig::default();
        let config = crate::workload::WorkloadConfig::new(crate::workload::Pattern::Pair, 1);
        let workload = Workload::new(&config, &network, 1, None);
        let measured = Measured::new(&workload, &network, 10 * PS_PER_US);
        let stats = (NetworkStats::default(), EndpointStats::default());
        let empty = measured.outcome(100_000 * PS_PER_US, &workload, &stats.0, &stats.1, 0, 0);
        let probe = |&(limited, unsettled_round_trip): &(u32, u32)| Probe { limited, unsettled_round_trip, ..Probe::default() };
        Outcome { goodput_series_gbps: series.to_vec(), probes: probes.iter().map(probe).collect(), ..empty }
    }

    #[test]
    fn recovery_ends_with_the_last_interval_below_the_share() {
        let recovery = |series: &[f64]| outcome(series, &[]).metric("recovery_us", 40.0, 0.8);
        assert_eq!(recovery(&[90.0, 100.0, 100.0, 100.0, 85.0, 88.0, 87.0]), Some(0.0));
        assert_eq!(recovery(&[90.0, 100.0, 100.0, 100.0, 10.0, 90.0, 70.0, 85.0, 86.0]), Some(30.0));
        assert_eq!(recovery(&[90.0, 100.0, 100.0, 100.0, 85.0, 20.0]), Some(f64::INFINITY));
        assert_eq!(recovery(&[]), None);
    }

    #[test]
    fn the_share_is_settled_when_all_senders_stay_near_an_equal_part() {
        let settled = |probes: &[(u32, u32)]| {
            let outcome = outcome(&[], probes);
            let metric = |name| outcome.metric(name, 0.0, 0.0);
            (metric("share_settled_us"), metric("share_settled_round_trips"))
        };
        assert_eq!(settled(&[(1, 1), (2, 2), (2, 0)]), (Some(20.0), Some(2.0)));
        assert_eq!(settled(&[(2, 1), (2, 0), (2, 3), (2, 2), (2, 0), (2, 0)]), (Some(40.0), Some(3.0)), "it has to stay so");
        assert_eq!(settled(&[(2, 0)]), (Some(0.0), Some(0.0)));
        assert_eq!(settled(&[(2, 0), (2, 7)]), (Some(f64::INFINITY), Some(f64::INFINITY)));
        assert_eq!(settled(&[(0, 1)]), (None, None), "nobody is limited");
    }
}
