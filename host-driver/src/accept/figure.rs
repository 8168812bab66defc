//! What a program printed, as one figure.
//!
//! In: output of perftest, of the pingpong programs and of the soak. Out: bandwidth or latency in the program's own unit, or what is missing
//! from the output: a program that ends well without a result has not passed.

/// Sizes of perftest's `-a`: 2 to 2^23 bytes.
const ALL_SIZES: usize = 23;

/// The figure of the client's output.
pub fn figure(program: &str, all_sizes: bool, output: &str) -> Result<String, String> {
    if program.ends_with("_bw") || program.ends_with("_lat") {
        perftest(program, all_sizes, output)
    } else if program.ends_with("_pingpong") {
        let line = output.lines().find(|line| line.ends_with("usec/iter"));
        let figure = line.and_then(|line| line.rsplit(' ').nth(1));
        figure.map(|f| format!("{f} us/iteration")).ok_or_else(|| "it printed no result".to_owned())
    } else {
        let line = output.lines().find(|line| line.contains("checked "));
        line.map(str::to_owned).ok_or_else(|| "it printed no result".to_owned())
    }
}

/// The lines of results of a program of perftest: those of numbers only. The last one is of the largest size.
pub fn rows(output: &str) -> Vec<Vec<f64>> {
    let numbers = |line: &str| line.split_whitespace().map(|w| w.parse::<f64>().ok()).collect::<Option<Vec<_>>>();
    output.lines().filter_map(numbers).filter(|n| n.len() >= 4).collect()
}

fn perftest(program: &str, all_sizes: bool, output: &str) -> Result<String, String> {
    let results = rows(output);
    let expected = if all_sizes { ALL_SIZES } else { 1 };
    if results.len() != expected {
        return Err(format!("it printed {} lines of results instead of {expected}", results.len()));
    }
    let last = &results[expected - 1];
    match (program.ends_with("_lat"), last.as_slice()) {
        // bytes, iterations, minimum, maximum, typical, ...
        (true, [bytes, _, _, _, typical, ..]) => Ok(format!("{typical:.1} us ({bytes} B)")),
        // bytes, iterations, peak, average, message rate
        (false, [bytes, _, _, average, ..]) => Ok(format!("{average:.0} MB/s ({bytes} B)")),
        _ => Err("its results have too few columns".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_from_the_result_lines() {
        let bandwidth =
            " #bytes #iterations BW peak[MB/sec]\n 65536      400              2081.68            1614.54\t\t   0.025833\n";
        assert_eq!(figure("ib_send_bw", false, bandwidth).unwrap(), "1615 MB/s (65536 B)");
        let latency = " 8       100          22.44          5920.65      78.00    \t       391.88      \t988.44 \t\t5920.65 \t\t5920.65\n";
        assert_eq!(figure("ib_atomic_lat", false, latency).unwrap(), "78.0 us (8 B)");
        let pingpong = "1638400 bytes in 0.02 seconds = 841.50 Mbit/sec\n200 iters in 0.02 seconds = 77.88 usec/iter\n";
        assert_eq!(figure("ibv_rc_pingpong", false, pingpong).unwrap(), "77.88 us/iteration");
    }

    #[test]
    fn output_without_a_result_is_a_failure() {
        for program in ["ib_write_bw", "ib_write_lat", "ibv_rc_pingpong", "soak"] {
            assert!(figure(program, false, "WARNING: BW peak won't be measured\n").is_err(), "{program}");
        }
        assert!(figure("ib_write_bw", true, "2 5 1.0 1.0 0.5\n").unwrap_err().contains("instead of 23"));
    }
}
