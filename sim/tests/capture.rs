//! The capture of a run, read back by other libraries than those that made its frames.
//!
//! In: a lossy run over IPv4 and one over IPv6. Out: its pcapng file. Guarantees: every frame decodes, times never go back,
//! and the frames of each plane and kind are as many as the report says.
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use mrnic_nic::config;
use mrnic_sim::models;
use mrnic_sim::scenario::Scenario;
use mrnic_sim::world::{Options, Outcome, World};
use mrnic_wire::{parse_packet, Opcode};
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PLANES: usize = 3;
const UDP_PORT: u16 = 4791;

/// A run with everything that puts different frames on the wire.
fn run(ipv6: bool, pcap: &Path) -> Outcome {
    let text = format!(
        "name = \"captured\"\ndescription = \"for its capture\"\n[connection]\npaths = 4\nipv6 = {ipv6}\n\
         [fabric]\nplanes = {PLANES}\nloss_data = 0.05\nloss_ack = 0.05\necn_threshold_bytes = 20000\n\
         [[traffic]]\nfrom = 0\nto = 1\nbytes = 600001\nmessage_bytes = 70001\nmisalign = [1, 2]\n\
         [[traffic]]\nfrom = 1\nto = 0\nbytes = 90000\nmessage_bytes = 9000\n"
    );
    let scenario = Scenario::parse("captured.toml", &text).expect("a good scenario");
    let build = config::build(&scenario.build).expect("a named build");
    let model = models::model(&build, false, true).expect("the build can be Verilated");
    let options = Options { pcap: Some(pcap.into()), lockstep: true, ..Options::default() };
    let mut world = World::new(&scenario, &build, &model, &options).expect("the run starts");
    // the file is complete while the world still exists
    world.run(&mut |_, _| {}).unwrap_or_else(|e| panic!("{e}"))
}

/// A frame of the capture.
struct Captured {
    plane: usize,
    time: Duration,
    frame: Vec<u8>,
}

fn read(pcap: &Path) -> Vec<Captured> {
    let mut reader = PcapNgReader::new(File::open(pcap).expect("the capture")).expect("a section header");
    let (mut planes, mut frames) = (0, Vec::new());
    while let Some(block) = reader.next_block() {
        match block.expect("a good block") {
            Block::InterfaceDescription(i) => {
                assert!(i.options.contains(&InterfaceDescriptionOption::IfName(format!("plane{planes}").into())), "{i:?}");
                assert!(i.options.contains(&InterfaceDescriptionOption::IfTsResol(9)), "nanoseconds: {i:?}");
                planes += 1;
            }
            Block::EnhancedPacket(p) => {
                assert_eq!(p.original_len as usize, p.data.len(), "whole frames");
                frames.push(Captured { plane: p.interface_id as usize, time: p.timestamp, frame: p.data.into_owned() });
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    assert_eq!(planes, PLANES, "one interface a plane");
    frames
}

/// The outer headers, read by etherparse.
fn check_outer(frame: &[u8], ipv6: bool) {
    let sliced = SlicedPacket::from_ethernet(frame).unwrap_or_else(|e| panic!("{e}: {frame:02x?}"));
    match sliced.net.expect("an IP header") {
        NetSlice::Ipv4(ip) => {
            let header = ip.header().to_header();
            assert!(!ipv6 && header.header_checksum == header.calc_header_checksum(), "{header:?}");
            assert_eq!(usize::from(header.total_len), frame.len() - 14, "nothing behind the packet");
        }
        NetSlice::Ipv6(ip) => {
            assert!(ipv6);
            assert_eq!(usize::from(ip.header().payload_length()), frame.len() - 54, "nothing behind the packet");
        }
        other => panic!("unexpected {other:?}"),
    }
    let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!("not UDP: {frame:02x?}") };
    assert_eq!(udp.destination_port(), UDP_PORT);
}

fn counted(o: &Outcome, names: &[&str]) -> u64 {
    let of = |name: &str| -> u64 { o.nodes.iter().map(|n| u64::from(n.counters[name])).sum() };
    names.iter().map(|n| of(n)).sum()
}

fn capture_agrees_with_the_report(ipv6: bool) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("run.pcapng");
    let outcome = run(ipv6, &file);
    let frames = read(&file);
    for pair in frames.windows(2) {
        assert!(pair[0].time <= pair[1].time, "{:?} after {:?}", pair[1].time, pair[0].time);
    }
    let span = frames[frames.len() - 1].time - frames[0].time;
    assert!(span.as_nanos() > u128::from(outcome.duration_ns) / 2, "{span:?} of a run of {} ns", outcome.duration_ns);
    let (mut new, mut resent, mut probes, mut acks) = (0, 0, 0, 0);
    for f in &frames {
        check_outer(&f.frame, ipv6);
        let parsed = parse_packet(&f.frame).unwrap_or_else(|e| panic!("{e}: {:02x?}", f.frame));
        match parsed.packet.opcode() {
            Opcode::Write if parsed.packet.mph.rtx => resent += 1,
            Opcode::Write => new += 1,
            Opcode::Probe => probes += 1,
            Opcode::Ack => acks += 1,
            other => panic!("{other:?} is not of this stage"),
        }
    }
    for (plane, stats) in outcome.planes.iter().enumerate() {
        let seen = frames.iter().filter(|f| f.plane == plane).count() as u64;
        assert_eq!(seen, stats.sent, "frames of plane {plane}");
    }
    assert_eq!(new, counted(&outcome, &["tx_new"]), "new packets");
    assert_eq!(resent, counted(&outcome, &["tx_resend"]), "resends");
    assert_eq!(probes, counted(&outcome, &["probe_tail", "probe_timeout"]), "probes");
    assert!(resent > 0 && acks > 0 && acks <= counted(&outcome, &["ack_sent"]), "{acks} acknowledgments");
    check_with_tshark(&file, frames.len());
}

/// A third opinion where tshark is installed: with the dissector it knows every frame and finds nothing malformed.
fn check_with_tshark(file: &Path, frames: usize) {
    let script = file.with_extension("lua");
    std::fs::write(&script, mrnic_wire::dissector::dissector()).expect("the folder is writable");
    let tshark = std::env::var("TSHARK").unwrap_or_else(|_| "tshark".into());
    let ran = Command::new(&tshark)
        .args([
            "-r",
            file.to_str().expect("UTF-8"),
            "-Y",
            "open_mr_0 && !_ws.malformed && !open_mr_0.short && !open_mr_0.expect",
        ])
        .args(["-T", "fields", "-e", "frame.number", "-X"])
        .arg(format!("lua_script:{}", script.display()))
        .output();
    match ran {
        Ok(o) => {
            let (known, said) = (String::from_utf8_lossy(&o.stdout).lines().count(), String::from_utf8_lossy(&o.stderr));
            assert!(o.status.success() && !said.contains("Lua"), "{said}");
            assert_eq!(known, frames, "frames that tshark knows: {said}");
        }
        // past the capture of the test's output, so that it is seen
        Err(e) => writeln!(std::io::stderr(), "the capture was not read by tshark: {tshark}: {e}").expect("stderr"),
    }
}

#[test]
fn a_capture_over_ipv4_agrees_with_the_report() {
    capture_agrees_with_the_report(false);
}

#[test]
fn a_capture_over_ipv6_agrees_with_the_report() {
    capture_agrees_with_the_report(true);
}
