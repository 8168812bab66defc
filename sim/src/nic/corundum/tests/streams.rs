//! `mrnic_rx_split`, `mrnic_tx_merge`, `mrnic_tx_cpl`: frames go where they belong, whole and in order.
use super::{model, reset, rng};
use crate::nic::corundum::frames::{set_wide, wide, Frame, FrameSink, FrameSource};
use crate::nic::corundum::others::{self, Expected};
use mrnic_wire::open_mr_0::UDP_PORT;
use rand::rngs::SmallRng;
use rand::Rng;
use std::collections::VecDeque;

const SPLIT: &str = "
module split_bench #(parameter W = 64) (
    input wire clk, input wire rst,
    input wire [W-1:0] s_tdata, input wire [W/8-1:0] s_tkeep, input wire s_tvalid, output wire s_tready,
    input wire s_tlast, input wire [96:0] s_tuser,
    output wire [W-1:0] ours_tdata, output wire [W/8-1:0] ours_tkeep, output wire ours_tvalid, input wire ours_tready,
    output wire ours_tlast, output wire ours_tuser,
    output wire [W-1:0] m_tdata, output wire [W/8-1:0] m_tkeep, output wire m_tvalid, input wire m_tready,
    output wire m_tlast, output wire [96:0] m_tuser, output wire ours_frame, output wire other_frame
);
assign ours_tuser = 0;
mrnic_rx_split #(.DATA_WIDTH(W), .FIFO_DEPTH(16)) split (.clk(clk), .rst(rst), .s_tdata(s_tdata), .s_tkeep(s_tkeep),
    .s_tvalid(s_tvalid), .s_tready(s_tready), .s_tlast(s_tlast), .s_tuser(s_tuser), .ours_tdata(ours_tdata),
    .ours_tkeep(ours_tkeep), .ours_tvalid(ours_tvalid), .ours_tready(ours_tready), .ours_tlast(ours_tlast),
    .m_tdata(m_tdata), .m_tkeep(m_tkeep), .m_tvalid(m_tvalid), .m_tready(m_tready), .m_tlast(m_tlast), .m_tuser(m_tuser),
    .ours_frame(ours_frame), .other_frame(other_frame));
endmodule
";

const MERGE: &str = "
module merge_bench #(parameter W = 64) (
    input wire clk, input wire rst,
    input wire [W-1:0] ours_tdata, input wire [W/8-1:0] ours_tkeep, input wire ours_tvalid, output wire ours_tready,
    input wire ours_tlast, input wire ours_tuser,
    input wire [W-1:0] s_tdata, input wire [W/8-1:0] s_tkeep, input wire s_tvalid, output wire s_tready,
    input wire s_tlast, input wire [6:0] s_tuser,
    output wire [W-1:0] m_tdata, output wire [W/8-1:0] m_tkeep, output wire m_tvalid, input wire m_tready,
    output wire m_tlast, output wire [6:0] m_tuser, output wire ours_frame, output wire other_frame,
    input wire [95:0] s_ts, input wire [5:0] s_tag, input wire s_valid, output wire s_ready,
    output wire [95:0] m_ts, output wire [5:0] m_tag, output wire m_valid, input wire m_ready,
    output wire ours, output wire other, output wire [95:0] ours_ts
);
mrnic_tx_merge #(.DATA_WIDTH(W)) merge (.clk(clk), .rst(rst), .ours_tdata(ours_tdata), .ours_tkeep(ours_tkeep),
    .ours_tvalid(ours_tvalid), .ours_tready(ours_tready), .ours_tlast(ours_tlast), .s_tdata(s_tdata), .s_tkeep(s_tkeep),
    .s_tvalid(s_tvalid), .s_tready(s_tready), .s_tlast(s_tlast), .s_tuser(s_tuser), .m_tdata(m_tdata), .m_tkeep(m_tkeep),
    .m_tvalid(m_tvalid), .m_tready(m_tready), .m_tlast(m_tlast), .m_tuser(m_tuser), .ours_frame(ours_frame),
    .other_frame(other_frame));
mrnic_tx_cpl cpl (.clk(clk), .rst(rst), .s_ts(s_ts), .s_tag(s_tag), .s_valid(s_valid), .s_ready(s_ready), .m_ts(m_ts),
    .m_tag(m_tag), .m_valid(m_valid), .m_ready(m_ready), .ours(ours), .other(other), .ours_ts(ours_ts));
endmodule
";

/// A frame to our port: IPv4 or IPv6, with or without a tag.
fn ours(rng: &mut SmallRng) -> Vec<u8> {
    let mut f: Vec<u8> = (0..rng.random_range(66..400)).map(|_| rng.random()).collect();
    let tag = if rng.random() { 4 } else { 0 };
    f[12..14].copy_from_slice(&[0x81, 0]);
    let ip = 14 + tag;
    let (ethertype, first, protocol, port) = if rng.random() { (0x0800u16, 0x45, 9, 22) } else { (0x86DD, 0x6A, 6, 42) };
    f[ip - 2..ip].copy_from_slice(&ethertype.to_be_bytes());
    f[ip] = first;
    f[ip + protocol] = 17;
    if first == 0x45 {
        f[ip + 6..ip + 8].copy_from_slice(&[0x40, 0]);
    }
    f[ip + port..ip + port + 2].copy_from_slice(&UDP_PORT.to_be_bytes());
    f
}

/// 400 frames through the divider; `gap` is the chance of each side to wait.
fn split(width: usize, gap: f64, fault: Option<[&str; 2]>) -> Result<(), String> {
    let mut rng = rng(2);
    let mut dut = reset(&model("split_bench", SPLIT, &[("W", width)], fault), 3);
    let mut from = FrameSource::new(&dut, "s").map_err(|e| e.to_string())?;
    let mut to = [FrameSink::new(&dut, "ours"), FrameSink::new(&dut, "m")].map(|s| s.expect("a stream"));
    let mut expected = [Expected::default(), Expected::default()];
    for _ in 0..400 {
        let mine = rng.random();
        let bytes = if mine { ours(&mut rng) } else { others::frame(&mut rng) };
        let user = rng.random::<u128>() >> 31;
        from.push(Frame { bytes: bytes.clone(), user });
        expected[usize::from(!mine)].push(Frame { bytes, user: if mine { 0 } else { user } });
    }
    for _ in 0..200_000 {
        if expected.iter().all(|e| e.missing() == 0) {
            return Ok(());
        }
        from.drive(rng.random_bool(gap));
        to.iter_mut().for_each(|s| s.drive(rng.random_bool(gap)));
        dut.eval();
        from.sample();
        for (i, way) in ["to the engine", "to the host"].into_iter().enumerate() {
            if let Some(frame) = to[i].sample()? {
                expected[i].check(&frame, way)?;
            }
        }
        dut.cycle();
    }
    Err(format!("{:?} frames do not come out", expected.map(|e| e.missing())))
}

#[test]
fn arriving_frames_are_divided() {
    for width in [64, 128, 512] {
        for gap in [0.0, 0.3] {
            split(width, gap, None).unwrap_or_else(|e| panic!("{width} bits, {gap}: {e}"));
        }
    }
}

/// Found with the whole wrapper: in a gap within a frame the `last` of an older beat ended its way.
#[test]
fn a_gap_within_a_frame_keeps_its_way() {
    let fault = [".out_ready(beat_valid && beat_taken && beat_last)", ".out_ready(beat_taken && beat_last)"];
    split(512, 0.3, None).expect("the way is kept");
    assert!(split(512, 0.3, Some(fault)).is_err(), "the fault is not found");
}

/// What merged frames and completions showed.
#[derive(Default)]
struct Merged {
    /// Frames that left, true for ours.
    order: Vec<bool>,
    swallowed: u64,
}

fn merge(gap: f64, fault: Option<[&str; 2]>) -> Result<Merged, String> {
    let mut rng = rng(3);
    let mut dut = reset(&model("merge_bench", MERGE, &[], fault), 3);
    let mut from = [FrameSource::new(&dut, "ours"), FrameSource::new(&dut, "s")].map(|s| s.expect("a stream"));
    let mut to = FrameSink::new(&dut, "m").map_err(|e| e.to_string())?;
    let port = |n: &str| dut.port(n).expect("a port");
    let (s_ts, s_tag, s_valid, s_ready) = (port("s_ts"), port("s_tag"), port("s_valid"), port("s_ready"));
    let (m_ts, m_tag, m_valid, m_ready) = (port("m_ts"), port("m_tag"), port("m_valid"), port("m_ready"));
    let (swallowed, ours_ts) = (port("ours"), port("ours_ts"));
    let mut expected = [Expected::default(), Expected::default()];
    for i in 0..200u128 {
        let bytes = ours(&mut rng);
        from[0].push(Frame { bytes: bytes.clone(), user: 0 });
        expected[0].push(Frame { bytes, user: (i & 31) << 1 });
        let frame = Frame { bytes: others::frame(&mut rng), user: 0x40 | rng.random_range(0..64) };
        from[1].push(frame.clone());
        expected[1].push(frame);
    }
    let mut done = Merged::default();
    // completions: to give, expected, timestamp of our last one
    let (mut give, mut passing, mut last_ts) = (VecDeque::new(), VecDeque::new(), 0);
    for _ in 0..200_000 {
        if expected.iter().all(|e| e.missing() == 0) && give.is_empty() {
            return if passing.is_empty() { Ok(done) } else { Err("completions are missing".into()) };
        }
        from.iter_mut().for_each(|s| s.drive(rng.random_bool(gap)));
        to.drive(rng.random_bool(gap));
        m_ready.set_bit(!rng.random_bool(gap));
        s_valid.set_bit(!give.is_empty());
        if let Some((tag, ts)) = give.front() {
            s_tag.set_u64(*tag);
            set_wide(&s_ts, *ts);
        }
        dut.eval();
        from.iter_mut().for_each(FrameSource::sample);
        if swallowed.get_bit() {
            done.swallowed += 1;
            last_ts = wide(&s_ts);
        }
        if m_valid.get_bit() && m_ready.get_bit() && passing.pop_front() != Some((m_tag.get_u64(), wide(&m_ts))) {
            return Err("another completion passes".into());
        }
        if s_valid.get_bit() && s_ready.get_bit() {
            give.pop_front();
        }
        if let Some(frame) = to.sample()? {
            let mine = frame.user & 0x40 == 0;
            expected[usize::from(!mine)].check(&frame, "to the network")?;
            let completion = ((frame.user >> 1) as u64, rng.random::<u128>() >> 32);
            give.push_back(completion);
            if !mine {
                passing.push_back(completion);
            }
            done.order.push(mine);
        }
        dut.cycle();
        if wide(&ours_ts) != last_ts {
            return Err("another timestamp is kept".into());
        }
    }
    Err(format!("{:?} frames do not come out", expected.map(|e| e.missing())))
}

#[test]
fn sent_frames_are_merged_whole_and_in_turns() {
    for gap in [0.0, 0.3] {
        let done = merge(gap, None).unwrap_or_else(|e| panic!("{gap}: {e}"));
        assert_eq!(done.swallowed, 200);
        if gap == 0.0 {
            let turns = done.order.windows(2).filter(|w| w[0] != w[1]).count();
            assert!(turns > 390, "{turns} turns of 399 while both sides have frames");
        }
    }
}

#[test]
fn planted_faults_are_found() {
    // fragments are ours; options are not seen; both sides wait for the host
    for fault in [
        [" && fragment[13:0] == 14'd0", ""],
        ["version == 8'h45", "version[7:4] == 4'd4"],
        ["assign beat_taken  = way_valid && (way_ours ? ours_tready : m_tready)", "assign beat_taken  = way_valid && m_tready"],
    ] {
        assert!(split(64, 0.3, Some(fault)).is_err(), "the fault {fault:?} is not found");
    }
    for fault in [
        ["wire now_ours  = in_frame ? last_ours : pick_ours;", "wire now_ours  = pick_ours;"],
        ["assign m_valid = s_valid && !mine;", "assign m_valid = s_valid;"],
        ["assign s_ready = mine || m_ready;", "assign s_ready = 1'b1;"],
    ] {
        assert!(merge(0.3, Some(fault)).is_err(), "the fault {fault:?} is not found");
    }
}
