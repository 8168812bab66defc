//! Figures of a whole build that people quote.
//!
//! In: the figures of the build and its parameters. Out: LUTs for each path and QP, memory for 1,000 connections, shares of the part.
//! Guarantees: nothing is estimated; every figure is a quotient of measured ones.
use crate::figures::Figures;
use mrnic_nic::config::BuildConfig;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Derived {
    pub build: String,
    pub part: &'static str,
    pub conns: usize,
    pub paths: usize,
    pub qps: usize,
    pub lut_per_path: f64,
    pub lut_per_qp: f64,
    /// All memory of the build, buffers included.
    pub memory_bits_per_1000_conns: f64,
    pub lut_percent: f64,
    pub ff_percent: f64,
    pub bram_percent: f64,
    pub uram_percent: f64,
}

fn percent(used: f64, there: f64) -> f64 {
    if there == 0.0 {
        0.0
    } else {
        100.0 * used / there
    }
}

impl Derived {
    pub fn new(whole: &Figures, config: &BuildConfig) -> Derived {
        let there = whole.target.capacity();
        Derived {
            build: whole.build.clone(),
            part: whole.target.part(),
            conns: config.conns,
            paths: config.paths,
            qps: config.qps,
            lut_per_path: whole.lut as f64 / (config.conns * config.paths) as f64,
            lut_per_qp: whole.lut as f64 / config.qps as f64,
            memory_bits_per_1000_conns: whole.memory_bits as f64 * 1000.0 / config.conns as f64,
            lut_percent: percent(whole.lut as f64, there.lut as f64),
            ff_percent: percent(whole.ff as f64, there.ff as f64),
            bram_percent: percent(whole.bram, there.bram),
            uram_percent: percent(whole.uram as f64, there.uram as f64),
        }
    }

    /// One paragraph for people.
    pub fn text(&self) -> String {
        format!(
            "{} on {}: {:.1} % of the LUTs, {:.1} % of the FFs, {:.1} % of the BRAM, {:.1} % of the URAM\n  \
             {} connections x {} paths: {:.1} LUTs a path; {} QPs: {:.1} LUTs a QP; {:.2} Mbit of memory for 1,000 connections",
            self.build,
            self.part,
            self.lut_percent,
            self.ff_percent,
            self.bram_percent,
            self.uram_percent,
            self.conns,
            self.paths,
            self.lut_per_path,
            self.qps,
            self.lut_per_qp,
            self.memory_bits_per_1000_conns / 1e6,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::measured;
    use crate::target::Target;

    #[test]
    fn quotients_are_those_of_the_build() {
        let config = mrnic_nic::config::build("corundum100g").unwrap();
        let mut m = measured(&[("LUT6", 118_224), ("URAM288", 96)], 9);
        m.memory_bits = 2_048_000;
        let d = Derived::new(&Figures::new(Target::Xcup, config.name, config.name, &m, None), &config);
        assert!((d.lut_percent - 10.0).abs() < 1e-9 && (d.uram_percent - 10.0).abs() < 1e-9);
        assert!((d.lut_per_path - 118_224.0 / 8192.0).abs() < 1e-9);
        assert!((d.memory_bits_per_1000_conns - 2_000_000.0).abs() < 1e-6);
        let ecp5 = mrnic_nic::config::build("ecp5").unwrap();
        assert_eq!(Derived::new(&Figures::new(Target::Ecp5, "ecp5", "ecp5", &m, None), &ecp5).uram_percent, 0.0);
    }
}
