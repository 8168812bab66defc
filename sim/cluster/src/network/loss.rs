//! Loss of one port: independent, and in bursts (Gilbert-Elliott).
//!
//! In: one call per packet. Out: whether it is lost, and by which model. Guarantees: draws nothing where the rate is 0.
use super::config::LossConfig;
use rand::rngs::SmallRng;
use rand::Rng;

/// Which model took a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    Random,
    Burst,
}

/// State of a port's chain.
#[derive(Debug, Clone, Copy, Default)]
pub struct PortLoss {
    bad: bool,
}

impl PortLoss {
    /// Judges the next packet of the port.
    #[inline]
    pub fn judge(&mut self, config: &LossConfig, rng: &mut SmallRng, is_ack: bool) -> Option<Lost> {
        if let Some(burst) = config.burst {
            let change = if self.bad { burst.leave } else { burst.enter };
            self.bad ^= rng.random_bool(change);
            if self.bad && rng.random_bool(burst.loss) {
                return Some(Lost::Burst);
            }
        }
        let p = if is_ack { config.ack.unwrap_or(config.data) } else { config.data };
        (p > 0.0 && rng.random_bool(p)).then_some(Lost::Random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mrnic_fabric::Burst;
    use rand::SeedableRng;

    fn lost(config: &LossConfig, is_ack: bool) -> (usize, usize) {
        let mut rng = SmallRng::seed_from_u64(7);
        let mut port = PortLoss::default();
        let judged: Vec<_> = (0..200_000).map(|_| port.judge(config, &mut rng, is_ack).is_some()).collect();
        let runs = judged.windows(2).filter(|w| w[1] && !w[0]).count();
        (judged.iter().filter(|&&l| l).count(), runs)
    }

    #[test]
    fn independent_loss_takes_its_share_of_each_kind() {
        let config = LossConfig { data: 0.1, ack: Some(0.01), burst: None };
        assert!((19_000..21_000).contains(&lost(&config, false).0));
        assert!((1_800..2_200).contains(&lost(&config, true).0));
        let same = LossConfig { data: 0.1, ack: None, burst: None };
        assert!((19_000..21_000).contains(&lost(&same, true).0));
        assert_eq!(lost(&LossConfig::default(), false).0, 0);
    }

    #[test]
    fn bursts_have_their_share_and_their_length() {
        // share of the bad state: 0.001 / (0.001 + 0.1); mean length 10
        let config = LossConfig { burst: Some(Burst { enter: 0.001, leave: 0.1, loss: 1.0 }), ..LossConfig::default() };
        let (packets, runs) = lost(&config, false);
        assert!((1_500..2_500).contains(&packets), "{packets}");
        assert!((7..13).contains(&(packets / runs)), "{packets} in {runs}");
    }
}
