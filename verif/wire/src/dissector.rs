//! Wireshark dissector in Lua, from the layout.
//! In: a profile. Out: the text of a plug-in (`mrnic.lua`): copy it to Wireshark's personal plug-in folder or give it to
//! tshark with `-X lua_script:`. Every field can be filtered as `open_mr_0.header.field`.

use crate::tables::{FieldInfo, FieldKind, LayoutInfo};
use crate::{OpenMr0, Profile};
use alloc::format;
use alloc::string::String;

/// Dissector of `open-mr-0`.
pub fn dissector() -> String {
    dissector_of::<OpenMr0>()
}

/// Dissector of any profile.
pub fn dissector_of<P: Profile>() -> String {
    let layout = P::LAYOUT;
    let id = layout.profile.replace('-', "_");
    let title = format!("{}: {}", layout.profile, layout.about);
    let mut out = format!("-- Wireshark dissector of {title}.\n");
    out += "-- Generated from the layout file of the wire format; do not edit.\n";
    out += "local PROFILE = {\n";
    out += &format!("  id = \"{id}\", name = {:?}, title = {title:?},\n", layout.profile);
    out += &format!("  udp_port = {}, common_len = {}, icrc_len = {},\n", P::UDP_PORT, P::COMMON_LEN, layout.icrc.len_bytes);
    let opcode = common_field(layout, "opcode");
    let (reference, offset) = opcode.map_or((String::new(), 0), |f| (reference(f), f.bit_offset));
    out += &format!("  opcode_field = {reference:?}, opcode_offset = {offset},\n");
    headers(&mut out, layout);
    opcodes(&mut out, layout);
    named_values(&mut out, layout);
    out += "}\n\n";
    out += include_str!("dissector.lua");
    out
}

fn common_field(layout: &LayoutInfo, name: &str) -> Option<&'static FieldInfo> {
    layout.common.iter().find_map(|header| layout.field(header, name))
}

fn reference(field: &FieldInfo) -> String {
    format!("{}.{}", field.header, field.name)
}

fn headers(out: &mut String, layout: &LayoutInfo) {
    *out += "  headers = {\n";
    // Wireshark dissects the outer headers itself.
    for header in layout.headers.iter().filter(|h| !layout.outer.contains(&h.name)) {
        let (name, about, len) = (header.name, header.about, header.len_bytes);
        *out += &format!("    {{ name = {name:?}, about = {about:?}, len = {len}, fields = {{\n");
        for f in header.fields {
            let kind = match f.kind {
                FieldKind::Bytes => ", bytes = true".into(),
                FieldKind::Expect { value } => format!(", expect = {value}"),
                FieldKind::Number { .. } | FieldKind::Reserved => String::new(),
            };
            let (name, about, offset, width) = (f.name, f.about, f.bit_offset, f.width);
            *out += &format!("      {{ name = {name:?}, about = {about:?}, offset = {offset}, width = {width}{kind} }},\n");
        }
        *out += "    } },\n";
    }
    *out += "  },\n";
}

fn opcodes(out: &mut String, layout: &LayoutInfo) {
    *out += "  opcodes = {\n";
    for o in layout.opcodes {
        let headers: String = o.headers.iter().map(|h| format!("{h:?}, ")).collect();
        let imm = o.when_imm.map_or_else(String::new, |h| format!(", when_imm = {h:?}"));
        *out += &format!("    [{:#04x}] = {{ name = {:?}, headers = {{ {headers}}}{imm} }},\n", o.value, o.name);
    }
    *out += "  },\n  opcode_names = {\n";
    for o in layout.opcodes {
        *out += &format!("    [{:#04x}] = {:?},\n", o.value, o.name);
    }
    *out += "  },\n";
}

/// Flags and codes, grouped by the field that holds them.
fn named_values(out: &mut String, layout: &LayoutInfo) {
    let all_fields = || layout.headers.iter().flat_map(|h| h.fields).map(reference);
    *out += "  flags = {\n";
    for reference in all_fields().filter(|r| layout.flags.iter().any(|f| f.field == r)) {
        *out += &format!("    [{reference:?}] = {{\n");
        for f in layout.flags.iter().filter(|f| f.field == reference) {
            *out += &format!("      {{ name = {:?}, bit = {}, about = {:?} }},\n", f.name, f.bit, f.about);
        }
        *out += "    },\n";
    }
    *out += "  },\n  codes = {\n";
    for reference in all_fields().filter(|r| layout.codes.iter().any(|c| c.field == r)) {
        *out += &format!("    [{reference:?}] = {{\n");
        for c in layout.codes.iter().filter(|c| c.field == reference) {
            *out += &format!("      [{}] = {:?},\n", c.value, c.name);
        }
        *out += "    },\n";
    }
    *out += "  },\n";
}
