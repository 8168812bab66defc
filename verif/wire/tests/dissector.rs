//! The dissector names every header, field, opcode, flag and code, and tshark, where it is installed, reads with it what we
//! wrote. (tests/lua_dissector.rs executes it everywhere.)

use mrnic_wire::dissector::dissector_of;
use mrnic_wire::*;
use std::io::Write;
use std::process::Command;

fn names_everything<P: Profile>() {
    let lua = dissector_of::<P>();
    let layout = P::LAYOUT;
    for header in layout.headers.iter().filter(|h| !layout.outer.contains(&h.name)) {
        assert!(lua.contains(&format!("{{ name = {:?}, about = {:?}, len = {},", header.name, header.about, header.len_bytes)));
        for f in header.fields {
            let text = format!("{{ name = {:?}, about = {:?}, offset = {}, width = {}", f.name, f.about, f.bit_offset, f.width);
            assert!(lua.contains(&text), "{}.{}", f.header, f.name);
        }
    }
    for opcode in layout.opcodes {
        assert!(lua.contains(&format!("[{:#04x}] = {{ name = {:?}", opcode.value, opcode.name)));
    }
    for flag in layout.flags {
        assert!(lua.contains(&format!("{{ name = {:?}, bit = {}", flag.name, flag.bit)));
    }
    for code in layout.codes {
        assert!(lua.contains(&format!("[{}] = {:?}", code.value, code.name)));
    }
}

#[test]
fn open_mr_0() {
    names_everything::<OpenMr0>();
}

#[test]
fn mrc_like() {
    names_everything::<MrcLike>();
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex digits")).collect()
}

/// Classic pcap, Ethernet, microseconds.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [0xA1B2_C3D4u32, 0x0004_0002, 0, 0, 65_535, 1] {
        out.extend(word.to_le_bytes());
    }
    for frame in frames {
        let len = frame.len() as u32;
        for word in [0, 0, len, len] {
            out.extend(word.to_le_bytes());
        }
        out.extend(frame);
    }
    out
}

/// Runs where tshark is: `apt-get install tshark`, or TSHARK=/path/to/tshark.
#[test]
fn tshark_reads_every_field() {
    let tshark = std::env::var("TSHARK").unwrap_or_else(|_| "tshark".into());
    if Command::new(&tshark).arg("--version").output().is_err() {
        // past the capture of the test's output, so that it is seen
        writeln!(std::io::stderr(), "tshark_reads_every_field: not run, no `{tshark}` (apt-get install tshark)")
            .expect("stderr");
        return;
    }
    let vectors: Vec<serde_json::Value> = serde_json::from_str(include_str!("../vectors/open-mr-0.json")).expect("valid JSON");
    let frames: Vec<Vec<u8>> = vectors.iter().map(|v| unhex(v["frame"].as_str().expect("a frame"))).collect();
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (script, capture) = (folder.join("mrnic.lua"), folder.join("vectors.pcap"));
    std::fs::write(&script, dissector()).expect("writable");
    std::fs::write(&capture, pcap(&frames)).expect("writable");
    let output = Command::new(&tshark)
        .args(["-r", capture.to_str().expect("UTF-8"), "-T", "json", "--no-duplicate-keys", "-X"])
        .arg(format!("lua_script:{}", script.display()))
        .output()
        .expect("tshark starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("Lua"), "{errors}");
    let packets: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("tshark prints JSON");
    assert_eq!(packets.len(), vectors.len());
    for (packet, vector) in packets.iter().zip(&vectors) {
        let shown = packet["_source"]["layers"]["open_mr_0"].to_string();
        for (header, fields) in vector["headers"].as_object().expect("headers") {
            for (field, value) in fields.as_object().expect("fields") {
                check_field(&shown, header, field, value, &vector["name"]);
            }
        }
    }
}

fn check_field(shown: &str, header: &str, field: &str, value: &serde_json::Value, vector: &serde_json::Value) {
    let id = format!("\"open_mr_0.{}.{field}\":\"", header.to_lowercase());
    let start = shown.find(&id).unwrap_or_else(|| panic!("{vector}: no {id} in {shown}")) + id.len();
    let text = shown[start..].split('"').next().unwrap_or_default();
    match value.as_u64() {
        Some(number) => {
            let hex = text.strip_prefix("0x").map(|h| u64::from_str_radix(h, 16).expect("hex"));
            let seen = hex.unwrap_or_else(|| text.parse().unwrap_or_else(|_| panic!("{id}{text} is no number")));
            assert_eq!(seen, number, "{vector}: {id}");
        }
        None => assert_eq!(unhex(&text.replace(':', "")), unhex(value.as_str().expect("bytes")), "{vector}: {id}"),
    }
}
