//! A layout file with a mistake is refused, with its line and the reason.
//! Each case changes the shipped layout in one place, so that the mistake is the only one.

#[path = "../generator/mod.rs"]
#[allow(dead_code, unused_imports)]
mod generator;

use generator::{load, parse, Layout, LayoutError, Reason};
use std::path::Path;

const OPEN_MR_0: &str = include_str!("../layouts/open-mr-0.ron");
const MRC_LIKE: &str = include_str!("../layouts/mrc-like.ron");

fn no_base(name: &str) -> Result<Layout, LayoutError> {
    panic!("base {name} asked for by a layout without one");
}

fn shipped(name: &str) -> Result<Layout, LayoutError> {
    load(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/layouts")), name)
}

fn line_of(text: &str, needle: &str) -> usize {
    let offset = text.find(needle).unwrap_or_else(|| panic!("`{needle}` is not in the layout"));
    1 + text[..offset].matches('\n').count()
}

/// Replaces the first `from` by `to` and returns the error; its line must be that of `at` in the changed text.
fn refused(from: &str, to: &str, at: &str) -> Reason {
    assert!(OPEN_MR_0.contains(from), "`{from}` is not in the layout");
    let text = OPEN_MR_0.replacen(from, to, 1);
    let error = parse("test.ron", &text, &no_base).expect_err("must be refused");
    assert_eq!((error.file.as_str(), error.line), ("test.ron", line_of(&text, at)), "{error}");
    error.reason
}

#[test]
fn the_shipped_layouts_are_accepted() {
    for name in ["open-mr-0", "mrc-like"] {
        let layout = shipped(name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(layout.profile, name);
    }
}

#[test]
fn duplicate_field() {
    let reason =
        refused(r#"(name: "via", bits: 8"#, r#"(name: "home", bits: 8"#, r#"(name: "home", bits: 8, about: "path travelled""#);
    assert_eq!(reason, Reason::DuplicateField { header: "MPH".into(), field: "home".into() });
}

#[test]
fn header_of_broken_bytes() {
    let reason = refused(r#"(name: "rtx", bits: 1"#, r#"(name: "rtx", bits: 2"#, r#"(name: "MPH""#);
    assert_eq!(reason, Reason::NotWholeBytes { header: "MPH".into(), bits: 65 });
}

#[test]
fn unknown_header_in_an_opcode() {
    let reason = refused(r#""MSGH", "RDH"]"#, r#""MSGH", "RDX"]"#, r#"(name: "READ_REQ""#);
    assert_eq!(reason, Reason::UnknownHeader { user: "READ_REQ".into(), header: "RDX".into() });
}

#[test]
fn opcode_outside_the_block() {
    for (value, number) in [("0xDF", 0xDF), ("0x100", 0x100)] {
        let to = format!("\"PROBE\", value: {value}");
        let reason = refused(r#""PROBE", value: 0xF2"#, &to, r#"(name: "PROBE""#);
        let expected = Reason::OpcodeOutsideBlock { opcode: "PROBE".into(), value: number, first: 0xE0, last: 0xFF };
        assert_eq!(reason, expected);
    }
    let reason = refused("opcode_block: (first: 0xE0", "opcode_block: (first: 0xC0", "opcode_block:");
    assert_eq!(reason, Reason::BadRange { first: 0xC0, last: 0xFF, outer_first: 0xE0, outer_last: 0xFF });
}

#[test]
fn duplicate_opcode_value() {
    let reason = refused(r#""SEND", value: 0xE1"#, r#""SEND", value: 0xE0"#, r#"(name: "SEND""#);
    assert_eq!(reason, Reason::DuplicateOpcodeValue { value: 0xE0, first: "WRITE".into(), second: "SEND".into() });
    let reason = refused("(first: 0xF1, last: 0xF1)", "(first: 0xF1, last: 0xF2)", "(first: 0xF1");
    let second = "reserved_opcodes".into();
    assert_eq!(reason, Reason::DuplicateOpcodeValue { value: 0xF2, first: "PROBE".into(), second });
}

#[test]
fn opcode_neither_used_nor_reserved() {
    let reason = refused("(first: 0xF1, last: 0xF1),", "", "opcode_block:");
    assert_eq!(reason, Reason::UnassignedOpcode { value: 0xF1 });
}

#[test]
fn field_too_wide() {
    let reason = refused(r#"(name: "va", bits: 64, about"#, r#"(name: "va", bits: 65, about"#, r#"(name: "va", bits: 65"#);
    assert_eq!(reason, Reason::TooWide { header: "PLH".into(), field: "va".into(), bits: 65 });
    // Wider than the transport can hold, although it would fit the header.
    let reason = refused(r#"(name: "offset", bits: 32"#, r#"(name: "offset", bits: 64"#, r#"(name: "offset", bits: 64"#);
    let (opcode, field) = ("SEND".into(), "offset".into());
    assert_eq!(reason, Reason::FieldWidth { opcode, field, bits: 64, min: 2, max: 32 });
}

#[test]
fn vector_has_a_limit() {
    let reason = refused(r#"(name: "vector", bytes: 32"#, r#"(name: "vector", bytes: 33"#, r#"(name: "vector", bytes: 33"#);
    let (opcode, field) = ("ACK".into(), "vector".into());
    assert_eq!(reason, Reason::FieldWidth { opcode, field, bits: 264, min: 8, max: 256 });
}

#[test]
fn overlapping_mask() {
    let reason = refused(r#""IPV4.ecn", "IPV4.ttl""#, r#""IPV4.ecn", "IPV4.ecn", "IPV4.ttl""#, "icrc: (");
    assert_eq!(reason, Reason::OverlappingMask { field: "IPV4.ecn".into() });
}

#[test]
fn mask_of_an_unknown_or_unmasked_field() {
    let reason = refused(r#""IPV4.ttl""#, r#""IPV4.tll""#, "icrc: (");
    assert_eq!(reason, Reason::UnknownField { reference: "IPV4.tll".into() });
    let reason = refused(r#""BTH.rsv0","#, r#""BTH.rsv0", "MPH.rsv0","#, "icrc: (");
    assert_eq!(reason, Reason::UnmaskableField { field: "MPH.rsv0".into() });
}

#[test]
fn syntax_error() {
    let reason = refused(r#"(name: "RDH", about"#, r#"(name "RDH", about"#, r#"(name "RDH""#);
    assert!(matches!(&reason, Reason::Syntax { message } if message == "Expected comma"), "{reason}");
    // A type error inside an item has the line of the item.
    let reason = refused(r#"(name: "tag", bits: 32"#, r#"(name: "tag", bits: "32""#, r#"(name: "tag""#);
    assert!(matches!(reason, Reason::Syntax { .. }), "{reason}");
}

#[test]
fn missing_and_unknown_keys() {
    let reason = refused(r#"(name: "PROBE", value: 0xF2,"#, r#"(name: "PROBE","#, r#"(name: "PROBE""#);
    assert!(matches!(&reason, Reason::Syntax { message } if message.contains("value")), "{reason}");
    let reason = refused(r#"(name: "PROBE", value"#, r#"(name: "PROBE", size: 1, value"#, r#"(name: "PROBE""#);
    assert!(matches!(&reason, Reason::Syntax { message } if message.contains("size")), "{reason}");
    // A whole section: there is no line to point at but the end.
    let (start, end) =
        (OPEN_MR_0.find("    codes: [").expect("codes"), OPEN_MR_0.find("    // CRC-32 (Ethernet)").expect("icrc"));
    let text = format!("{}{}", &OPEN_MR_0[..start], &OPEN_MR_0[end..]);
    let error = parse("test.ron", &text, &no_base).expect_err("codes are missing");
    assert_eq!((error.line, &error.reason), (text.lines().count(), &Reason::MissingKey { key: "codes" }));
}

#[test]
fn a_field_needs_one_width_and_one_role() {
    let reason = refused(r#"(name: "sol", bits: 1"#, r#"(name: "sol", bits: 0"#, r#"(name: "sol""#);
    assert_eq!(reason, Reason::NoWidth { header: "MSGH".into(), field: "sol".into() });
    let reason =
        refused(r#"(name: "tver", bits: 4, expect: 0"#, r#"(name: "tver", bits: 4, expect: 0, send: 0"#, r#"(name: "tver""#);
    assert_eq!(reason, Reason::Contradiction { header: "BTH".into(), field: "tver".into() });
    let reason = refused(r#"(name: "tver", bits: 4, expect: 0"#, r#"(name: "tver", bits: 4, expect: 16"#, r#"(name: "tver""#);
    assert_eq!(reason, Reason::ValueTooLarge { header: "BTH".into(), field: "tver".into(), value: 16, bits: 4 });
    let reason = refused(
        r#"(name: "swap_add", bits: 64"#,
        r#"(name: "x", bits: 4, reserved: true), (name: "swap_add", bits: 64"#,
        r#"(name: "swap_add""#,
    );
    assert_eq!(reason, Reason::Straddles { header: "ATH".into(), field: "swap_add".into() });
    let reason = refused(r#"send_const: "ECN_ECT0""#, r#"send_const: "ECN_ECT9""#, r#"send_const: "ECN_ECT9""#);
    assert_eq!(reason, Reason::UnknownConstant { name: "ECN_ECT9".into() });
    let reason =
        refused(r#"(name: "flags", bits: 16"#, r#"(name: "flags", bits: 16, expect: 0"#, r#"(name: "flags", bits: 16"#);
    assert_eq!(reason, Reason::ExpectInBody { header: "AKH".into(), field: "flags".into() });
}

#[test]
fn every_opcode_has_exactly_its_fields() {
    let reason = refused(r#"(name: "tag", bits: 32"#, r#"(name: "label", bits: 32"#, r#"(name: "READ_REQ""#);
    assert_eq!(reason, Reason::MissingField { opcode: "READ_REQ".into(), field: "tag".into() });
    let reason = refused(
        r#"(name: "value", bits: 64"#,
        r#"(name: "value", bits: 64), (name: "extra", bits: 8"#,
        r#"(name: "ATOMIC_RESP""#,
    );
    let (opcode, header, field) = ("ATOMIC_RESP".into(), "ARH".into(), "extra".into());
    assert_eq!(reason, Reason::UnusedField { opcode, header, field });
    let reason = refused(r#""MSGH", "PLH"], when_imm"#, r#""MSGH", "PLH", "SNDH"], when_imm"#, r#"(name: "WRITE""#);
    assert_eq!(reason, Reason::AmbiguousField { opcode: "WRITE".into(), field: "length".into() });
    // A sequence number cannot be narrower: the transport's arithmetic would not wrap with it.
    let reason = refused(r#"(name: "ppsn", bits: 24"#, r#"(name: "ppsn", bits: 16"#, r#"(name: "ppsn", bits: 16"#);
    let (opcode, field) = ("common".into(), "ppsn".into());
    assert_eq!(reason, Reason::FieldWidth { opcode, field, bits: 16, min: 24, max: 24 });
}

#[test]
fn a_base_must_be_a_root_layout() {
    let text = MRC_LIKE.replacen(r#"base: "open-mr-0""#, r#"base: "mrc-like-2""#, 1);
    let error = parse("test.ron", &text, &|_| shipped("mrc-like")).expect_err("base of a base");
    assert_eq!(error.reason, Reason::BadBase { base: "mrc-like".into() });
    let itself = MRC_LIKE.replacen(r#"base: "open-mr-0""#, r#"base: "mrc-like""#, 1);
    let error = parse("test.ron", &itself, &shipped).expect_err("base of itself");
    assert_eq!(error.reason, Reason::BadBase { base: "mrc-like".into() });
}

#[test]
fn a_missing_file_is_named() {
    let error = shipped("no-such-layout").expect_err("no such file");
    assert!(matches!(error.reason, Reason::File { .. }) && error.file.ends_with("no-such-layout.ron"), "{error}");
}

#[test]
fn the_message_names_file_line_and_remedy() {
    let text = OPEN_MR_0.replacen(r#""SEND", value: 0xE1"#, r#""SEND", value: 0x11"#, 1);
    let error = parse("layouts/open-mr-0.ron", &text, &no_base).expect_err("outside the block");
    let line = line_of(&text, r#"(name: "SEND""#);
    let expected = format!("layouts/open-mr-0.ron:{line}: value 0x11 of opcode `SEND` is outside the block 0xe0..=0xff");
    assert_eq!(error.to_string(), expected);
}
