//! docs/wire.md shows the layout as it is.

use mrnic_wire::{doc, OpenMr0, ParseError, Profile};

const DOCUMENT: &str = include_str!("../../../docs/wire.md");

#[test]
fn the_tables_are_up_to_date() {
    let renewed = doc::renewed::<OpenMr0>(DOCUMENT).expect("docs/wire.md has its markers");
    assert!(renewed == DOCUMENT, "docs/wire.md is out of date; run `cargo run -p mrnic-wire --example wire_doc`");
}

#[test]
fn every_header_opcode_and_field_is_in_it() {
    let layout = OpenMr0::LAYOUT;
    for header in layout.headers {
        assert!(DOCUMENT.contains(&format!("\n| {} | {} |", header.name, header.len_bytes)), "{}", header.name);
    }
    for opcode in layout.opcodes {
        assert!(DOCUMENT.contains(&format!("| {:#04X} | {} |", opcode.value, opcode.name)), "{}", opcode.name);
    }
}

#[test]
fn the_checks_are_described_in_their_order() {
    let mut rest = DOCUMENT;
    for (i, name) in ParseError::NAMES.iter().enumerate() {
        let row = format!("\n| {} | {name} |", i + 1);
        let at =
            rest.find(&row).unwrap_or_else(|| panic!("docs/wire.md lacks check {} ({name}), or has it out of order", i + 1));
        rest = &rest[at + row.len()..];
    }
}

#[test]
fn a_document_without_markers_is_not_touched() {
    assert_eq!(doc::renewed::<OpenMr0>("no markers"), None);
    assert_eq!(doc::renewed::<OpenMr0>(doc::BEGIN), None);
}
