//! The tables of docs/wire.md, from the layout.
//! In: a profile, and a document with markers. Out: Markdown, or the document with the text between the markers renewed.

use crate::tables::{FieldInfo, FieldKind, LayoutInfo};
use crate::Profile;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Marks where the tables begin and end in a document.
pub const BEGIN: &str = "<!-- generated from the layout file: begin -->";
pub const END: &str = "<!-- generated from the layout file: end -->";

/// The document with current tables; none if its markers are missing.
pub fn renewed<P: Profile>(document: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{}{END}{after}", tables::<P>()))
}

/// All tables of a profile in Markdown.
pub fn tables<P: Profile>() -> String {
    let layout = P::LAYOUT;
    let mut out = String::new();
    headers(&mut out, layout);
    opcodes(&mut out, layout);
    values(&mut out, layout);
    icrc(&mut out, layout);
    out
}

fn field_text(field: &FieldInfo) -> String {
    let FieldInfo { name, width, .. } = field;
    match field.kind {
        FieldKind::Reserved => format!("rsv {width}"),
        FieldKind::Expect { value } => format!("**{name}** {width} = {value}"),
        FieldKind::Number { send } if send != 0 => format!("**{name}** {width} (sent: {send})"),
        FieldKind::Number { .. } | FieldKind::Bytes => format!("**{name}** {width}"),
    }
}

fn headers(out: &mut String, layout: &LayoutInfo) {
    *out += "\n### Headers\n\n| header | bytes | fields in wire order (bits) | what it is |\n|---|---|---|---|\n";
    for header in layout.headers {
        let fields: Vec<String> = header.fields.iter().map(field_text).collect();
        *out += &format!("| {} | {} | {} | {} |\n", header.name, header.len_bytes, fields.join(", "), header.about);
    }
    *out += "\n### Fields\n\nBit 0 is the most significant bit of the header's first byte.\n\n";
    *out += "| field | first bit | bits | meaning |\n|---|---|---|---|\n";
    let transport = layout.headers.iter().filter(|h| !layout.outer.contains(&h.name));
    for field in transport.flat_map(|h| h.fields).filter(|f| f.kind != FieldKind::Reserved) {
        let FieldInfo { header, name, about, bit_offset, width, .. } = field;
        *out += &format!("| {header}.{name} | {bit_offset} | {width} | {about} |\n");
    }
}

fn opcodes(out: &mut String, layout: &LayoutInfo) {
    *out += "\n### Opcodes\n\n| value | opcode | headers (byte offset in an IPv4 / IPv6 frame) | payload | note |\n|---|---|---|---|---|\n";
    for opcode in layout.opcodes {
        let offsets = layout.header_offsets.iter().filter(|o| o.opcode == opcode.name);
        let headers: Vec<String> = offsets
            .map(|o| {
                let imm = if o.only_with_imm { " if imm" } else { "" };
                format!("{} ({} / {}){imm}", o.header, o.ipv4_bytes, o.ipv6_bytes)
            })
            .collect();
        let payload = if opcode.payload { "yes" } else { "no" };
        *out +=
            &format!("| {:#04X} | {} | {} | {payload} | {} |\n", opcode.value, opcode.name, headers.join(", "), opcode.about);
    }
    let reserved: Vec<String> = layout
        .reserved_opcodes
        .iter()
        .map(|r| if r.first == r.last { format!("{:#04X}", r.first) } else { format!("{:#04X}-{:#04X}", r.first, r.last) })
        .collect();
    *out += &format!("\nReserved: {}.\n", reserved.join(", "));
}

fn values(out: &mut String, layout: &LayoutInfo) {
    *out += "\n### Flags and codes\n\n| field | value | name | meaning |\n|---|---|---|---|\n";
    for flag in layout.flags {
        *out += &format!("| {} | bit {} | {} | {} |\n", flag.field, flag.bit, flag.name, flag.about);
    }
    for code in layout.codes {
        *out += &format!("| {} | {} | {} | {} |\n", code.field, code.value, code.name, code.about);
    }
    *out += "\n### Constants\n\n| name | value | meaning |\n|---|---|---|\n";
    for constant in layout.constants {
        *out += &format!("| {} | {} ({:#x}) | {} |\n", constant.name, constant.value, constant.value, constant.about);
    }
}

fn icrc(out: &mut String, layout: &LayoutInfo) {
    let icrc = layout.icrc;
    *out += &format!(
        "\n### ICRC\n\nPolynomial {:#010X}, {} bytes of 0xFF before the IP header, {} bytes at the end. Read as ones: {}.\n\n",
        icrc.polynomial,
        icrc.seed_bytes,
        icrc.len_bytes,
        icrc.masked.join(", ")
    );
}
