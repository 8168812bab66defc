//! Rust source that maps a profile's headers to the profile-independent `Packet` and back, and the `Profile` impl.
//! In: a checked layout, whose fields are found by name through the schema. Out: text appended to the profile's module.

use super::codegen::line;
use super::layout::*;
use super::schema::{self, Kind, Slot, SlotKind};

pub(super) fn packet(out: &mut String, layout: &Layout) {
    values(out, layout);
    parse(out, layout);
    emit(out, layout);
    profile(out, layout);
}

/// Opcodes, flags and codes between their Rust names and their numbers.
fn values(out: &mut String, layout: &Layout) {
    line!(out);
    line!(out, "/// The number of an opcode in this profile.");
    line!(out, "pub const fn opcode_value(opcode: crate::Opcode) -> u8 {{");
    line!(out, "    match opcode {{");
    for (o, kind) in kinds(layout) {
        line!(out, "        crate::Opcode::{} => {:#04x},", kind.variant, o.value);
    }
    line!(out, "    }}");
    line!(out, "}}");
    line!(out, "/// The opcode of a number, if this profile uses it.");
    line!(out, "pub const fn opcode_from(value: u8) -> Option<crate::Opcode> {{");
    line!(out, "    Some(match value {{");
    for (o, kind) in kinds(layout) {
        line!(out, "        {:#04x} => crate::Opcode::{},", o.value, kind.variant);
    }
    line!(out, "        _ => return None,");
    line!(out, "    }})");
    line!(out, "}}");

    line!(out, "/// Acknowledgment flags as they stand on the wire.");
    line!(out, "pub const fn flags_to_bits(flags: crate::AckFlags) -> u64 {{");
    let terms: Vec<String> = layout.flags.iter().map(|f| format!("((flags.{} as u64) << {})", f.name, f.bit)).collect();
    line!(out, "    {}", terms.join(" | "));
    line!(out, "}}");
    line!(out, "/// Acknowledgment flags from the wire; reserved bits are ignored.");
    line!(out, "pub const fn flags_from_bits(bits: u64) -> crate::AckFlags {{");
    line!(out, "    crate::AckFlags {{");
    for f in &layout.flags {
        line!(out, "        {}: (bits >> {}) & 1 == 1,", f.name, f.bit);
    }
    line!(out, "    }}");
    line!(out, "}}");

    line!(out, "/// Error code as it stands on the wire.");
    line!(out, "pub const fn code_to_value(code: crate::MakCode) -> u8 {{");
    line!(out, "    match code {{");
    for c in &layout.codes {
        line!(out, "        crate::MakCode::{} => {},", camel(&c.name), c.value);
    }
    line!(out, "        crate::MakCode::Reserved(value) => value,");
    line!(out, "    }}");
    line!(out, "}}");
    line!(out, "/// Error code from the wire.");
    line!(out, "pub const fn code_from_value(value: u8) -> crate::MakCode {{");
    line!(out, "    match value {{");
    for c in &layout.codes {
        line!(out, "        {} => crate::MakCode::{},", c.value, camel(&c.name));
    }
    line!(out, "        other => crate::MakCode::Reserved(other),");
    line!(out, "    }}");
    line!(out, "}}");
}

fn parse(out: &mut String, layout: &Layout) {
    let common: Vec<&Header> = layout.common.iter().filter_map(|n| layout.header(n)).collect();
    line!(out, "/// Checks 7 to 9 of `parse_packet`: reads all headers of a UDP payload that ends with its ICRC.");
    line!(out, "pub fn parse_headers(udp_payload: &[u8]) -> Result<crate::ParsedHeaders, crate::ParseError> {{");
    line!(out, "    use crate::error::{{Expected, ParseError}};");
    line!(out, "    let end = udp_payload.len().saturating_sub(ICRC_LEN);");
    line!(out, "    let b = &udp_payload[..end];");
    let mut offset = 0;
    for (i, h) in common.iter().enumerate() {
        let (var, ty) = (variable(h), h.type_name());
        let variant = if i == 0 { "Bth" } else { "PathHeader" };
        line!(out, "    let {var} = {ty}::parse(b.get({offset}..).unwrap_or(&[])).map_err(|e| ParseError::{variant}(e.after({offset})))?;");
        if i == 0 {
            let byte = h.fields.iter().find(|f| f.name == "opcode").map_or(0, |f| f.bit_offset / 8);
            line!(out, "    let Some(opcode) = opcode_from({var}.opcode) else {{");
            line!(out, "        let found = u64::from({var}.opcode);");
            line!(out, "        let expected = Expected::OneOf(OPCODE_VALUES);");
            line!(
                out,
                "        return Err(ParseError::Bth(Mismatch {{ field: \"{}.opcode\", offset: {byte}, found, expected }}));",
                h.name
            );
            line!(out, "    }};");
        }
        offset += h.len_bytes();
    }
    assign(out, "    ", schema::COMMON, &common, &["mph"]);
    line!(out, "    let too_short = |need: usize| {{");
    line!(out, "        let expected = Expected::AtLeast(need as u64);");
    line!(out, "        ParseError::HeaderLength(Mismatch {{ field: \"headers\", offset: 0, found: end as u64, expected }})");
    line!(out, "    }};");
    line!(out, "    let (body, header_len) = match opcode {{");
    for (o, kind) in kinds(layout) {
        body_parse(out, layout, o, kind, offset);
    }
    line!(out, "    }};");
    line!(out, "    if end > header_len && !carries_payload(opcode) {{");
    line!(out, "        let expected = Expected::Exactly(header_len as u64);");
    line!(out, "        return Err(ParseError::HeaderLength(Mismatch {{ field: \"headers\", offset: 0, found: end as u64, expected }}));");
    line!(out, "    }}");
    line!(out, "    let packet = crate::Packet {{ se, m, pkey, dest_qp, ack_req, ppsn, mph, body }};");
    let pad = place_of(&common, "pad");
    line!(out, "    Ok(crate::ParsedHeaders {{ packet, pad: {pad}, header_len }})");
    line!(out, "}}");
}

fn body_parse(out: &mut String, layout: &Layout, opcode: &Opcode, kind: &Kind, common_len: usize) {
    let headers = body_headers(layout, opcode);
    let total = common_len + headers.iter().map(|h| h.len_bytes()).sum::<usize>();
    line!(out, "        crate::Opcode::{} => {{", kind.variant);
    line!(out, "            if end < {total} {{ return Err(too_short({total})); }}");
    let mut offset = common_len;
    for h in &headers {
        if h.values().count() > 0 {
            line!(
                out,
                "            let {} = {}::parse(&b[{offset}..]).map_err(ParseError::HeaderLength)?;",
                variable(h),
                h.type_name()
            );
        }
        offset += h.len_bytes();
    }
    let mut len = total.to_string();
    if let Some(imm) = opcode.when_imm.as_ref().and_then(|n| layout.header(n)) {
        let with_imm = total + imm.len_bytes();
        let flag = place_of(&headers, "imm");
        line!(out, "            let header_len = if {flag} {{ {with_imm} }} else {{ {total} }};");
        line!(out, "            if end < header_len {{ return Err(too_short(header_len)); }}");
        line!(out, "            let imm = match {flag} {{");
        line!(
            out,
            "                true => {{ let h = {}::parse(&b[{total}..]).map_err(ParseError::HeaderLength)?; Some({}) }}",
            imm.type_name(),
            if names_receive(kind) { "h.immediate" } else { "crate::WriteImm { immediate: h.immediate, rq_seq: h.rq_seq }" }
        );
        line!(out, "                false => None,");
        line!(out, "            }};");
        len = "header_len".into();
    }
    assign(out, "            ", kind.slots, &headers, &["msg", "info", "ack"]);
    line!(out, "            (crate::Body::{}{}, {len})", kind.variant, spaced(kind.pattern));
    line!(out, "        }}");
}

/// `let` statements that fill the places of the slots from the header structs.
fn assign(out: &mut String, indent: &str, slots: &[Slot], headers: &[&Header], groups: &[&str]) {
    for group in groups {
        if slots.iter().any(|s| s.place.starts_with(&format!("{group}."))) {
            let ty = match *group {
                "mph" => "PathHeader",
                "msg" => "Msg",
                "info" => "ConnInfo",
                _ => "Ack",
            };
            line!(out, "{indent}let mut {group} = crate::{ty}::default();");
        }
    }
    for slot in slots {
        let field = place_of(headers, slot.field);
        let value = match slot.kind {
            SlotKind::Derived => continue,
            SlotKind::Bool => field,
            SlotKind::U8 => format!("u8::from({field})"),
            SlotKind::U16 => format!("u16::from({field})"),
            SlotKind::U32 => format!("u32::from({field})"),
            SlotKind::U64 => format!("u64::from({field})"),
            SlotKind::Ppsn => format!("crate::Ppsn::new({field})"),
            SlotKind::Msn => format!("crate::Msn::new({field})"),
            SlotKind::Vector => format!("crate::SackVector::from_wire(&{field})"),
            SlotKind::AckFlags => format!("flags_from_bits(u64::from({field}))"),
            SlotKind::MakCode => format!("code_from_value({field})"),
            SlotKind::AtomicOp => {
                format!("if {field} {{ crate::AtomicOp::FetchAdd }} else {{ crate::AtomicOp::CompareSwap }}")
            }
        };
        let binding = if slot.place.contains('.') { "" } else { "let " };
        line!(out, "{indent}{binding}{} = {value};", slot.place);
    }
}

fn emit(out: &mut String, layout: &Layout) {
    let common: Vec<&Header> = layout.common.iter().filter_map(|n| layout.header(n)).collect();
    line!(out, "/// Writes all headers of a packet to the start of a UDP payload and returns their length.");
    line!(out, "pub fn emit_headers(packet: &crate::Packet, pad: u8, out: &mut [u8]) -> Result<usize, EmitError> {{");
    line!(out, "    use crate::bits::fit;");
    line!(out, "    let crate::Packet {{ se, m, pkey, dest_qp, ack_req, ppsn, mph, body }} = *packet;");
    line!(out, "    let opcode = opcode_value(packet.opcode());");
    let mut offset = 0;
    for h in &common {
        emit_header(out, "    ", h, schema::COMMON, offset);
        offset += h.len_bytes();
    }
    line!(out, "    Ok(match body {{");
    for (o, kind) in kinds(layout) {
        let mut at = offset;
        line!(out, "        crate::Body::{}{} => {{", kind.variant, spaced(kind.pattern));
        for h in body_headers(layout, o) {
            emit_header(out, "            ", h, kind.slots, at);
            at += h.len_bytes();
        }
        match o.when_imm.as_ref().and_then(|n| layout.header(n)) {
            Some(h) => {
                line!(out, "            match imm {{");
                let place = if names_receive(kind) { "immediate" } else { "crate::WriteImm { immediate, rq_seq }" };
                line!(out, "                Some({place}) => {{");
                let rq_seq = format!("fit(u64::from(rq_seq), \"{}.rq_seq\")?", h.name);
                line!(out, "                    {} {{ immediate, rq_seq: {rq_seq} }}.emit(room(out, {at})?)?;", h.type_name());
                line!(out, "                    {}", at + h.len_bytes());
                line!(out, "                }}");
                line!(out, "                None => {at},");
                line!(out, "            }}");
            }
            None => line!(out, "            {at}"),
        }
        line!(out, "        }}");
    }
    line!(out, "    }})");
    line!(out, "}}");
    line!(out, "#[inline]");
    line!(out, "fn room(out: &mut [u8], offset: usize) -> Result<&mut [u8], EmitError> {{");
    line!(out, "    let have = out.len();");
    line!(out, "    out.get_mut(offset..).ok_or(EmitError::BufferTooSmall {{ need: offset, have }})");
    line!(out, "}}");
}

fn emit_header(out: &mut String, indent: &str, header: &Header, slots: &[Slot], offset: usize) {
    line!(out, "{indent}{} {{", header.type_name());
    for f in header.values() {
        let Some(slot) = slots.iter().find(|s| s.field == f.name) else { continue };
        let (place, reference) = (slot.place, format!("{}.{}", header.name, f.name));
        let number = match slot.kind {
            SlotKind::Bool => place.to_string(),
            SlotKind::Derived if f.bits == 1 => place.to_string(),
            SlotKind::AtomicOp => format!("matches!({place}, crate::AtomicOp::FetchAdd)"),
            SlotKind::Vector => format!("{place}.to_wire({reference:?})?"),
            SlotKind::Ppsn | SlotKind::Msn => format!("{place}.get()"),
            SlotKind::AckFlags => format!("fit(flags_to_bits({place}), {reference:?})?"),
            SlotKind::MakCode => format!("fit(u64::from(code_to_value({place})), {reference:?})?"),
            _ => format!("fit(u64::from({place}), {reference:?})?"),
        };
        line!(out, "{indent}    {}: {number},", f.name);
    }
    line!(out, "{indent}    ..Default::default()");
    line!(out, "{indent}}}.emit(room(out, {offset})?)?;");
}

fn profile(out: &mut String, layout: &Layout) {
    let common_len: usize = layout.common.iter().filter_map(|n| layout.header(n)).map(Header::len_bytes).sum();
    let vector = layout.headers.iter().flat_map(|h| &h.fields).find(|f| f.name == "vector").map_or(0, |f| f.bits);
    line!(out, "/// Whether packets of this opcode may carry payload.");
    line!(out, "pub const fn carries_payload(opcode: crate::Opcode) -> bool {{");
    line!(out, "    match opcode {{");
    for (o, kind) in kinds(layout) {
        line!(out, "        crate::Opcode::{} => {},", kind.variant, o.payload);
    }
    line!(out, "    }}");
    line!(out, "}}");
    line!(out, "/// Bytes of the headers between UDP and payload.");
    line!(out, "pub const fn header_len(opcode: crate::Opcode, imm: bool) -> usize {{");
    line!(out, "    match (opcode, imm) {{");
    for (o, kind) in kinds(layout) {
        let len: usize = o.headers.iter().filter_map(|n| layout.header(n)).map(Header::len_bytes).sum();
        if let Some(h) = o.when_imm.as_ref().and_then(|n| layout.header(n)) {
            line!(out, "        (crate::Opcode::{}, true) => {},", kind.variant, len + h.len_bytes());
        }
        line!(out, "        (crate::Opcode::{}, _) => {len},", kind.variant);
    }
    line!(out, "    }}");
    line!(out, "}}");
    let type_name = camel(&layout.module_name());
    line!(out, "/// Profile `{}`: {}.", layout.profile, layout.about);
    line!(out, "#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]");
    line!(out, "pub struct {type_name};");
    line!(out, "impl crate::Profile for {type_name} {{");
    line!(out, "    const NAME: &'static str = {:?};", layout.profile);
    line!(out, "    const VECTOR_BITS: u32 = {vector};");
    line!(out, "    const COMMON_LEN: usize = {common_len};");
    line!(out, "    const UDP_PORT: u16 = UDP_PORT as u16;");
    line!(out, "    const PATH_QP: u32 = PATH_QP as u32;");
    line!(out, "    const RATE_UNLIMITED: u32 = RATE_UNLIMITED as u32;");
    line!(out, "    const TIME_UNIT_NS: u32 = TIME_UNIT_NS as u32;");
    line!(out, "    const LAYOUT: &'static LayoutInfo = &LAYOUT;");
    line!(out, "    const ICRC_MASKS: &'static crate::icrc::Masks = &crate::icrc::Masks {{");
    line!(out, "        ipv4: ICRC_MASK_IPV4,");
    line!(out, "        ipv6: ICRC_MASK_IPV6,");
    line!(out, "        udp: ICRC_MASK_UDP,");
    line!(out, "        common: &ICRC_MASK_COMMON,");
    line!(out, "    }};");
    line!(out, "    fn opcode_value(opcode: crate::Opcode) -> u8 {{ opcode_value(opcode) }}");
    line!(out, "    fn opcode_from(value: u8) -> Option<crate::Opcode> {{ opcode_from(value) }}");
    line!(out, "    fn carries_payload(opcode: crate::Opcode) -> bool {{ carries_payload(opcode) }}");
    line!(out, "    fn header_len(opcode: crate::Opcode, imm: bool) -> usize {{ header_len(opcode, imm) }}");
    line!(out, "    fn parse_headers(udp_payload: &[u8]) -> Result<crate::ParsedHeaders, crate::ParseError> {{ parse_headers(udp_payload) }}");
    line!(out, "    fn emit_headers(packet: &crate::Packet, pad: u8, out: &mut [u8]) -> Result<usize, EmitError> {{ emit_headers(packet, pad, out) }}");
    line!(out, "}}");
}

fn kinds(layout: &Layout) -> impl Iterator<Item = (&Opcode, &'static Kind)> {
    layout.opcodes.iter().filter_map(|o| schema::kind(&o.name).map(|k| (o, k)))
}

fn body_headers<'a>(layout: &'a Layout, opcode: &Opcode) -> Vec<&'a Header> {
    opcode.headers[layout.common.len()..].iter().filter_map(|n| layout.header(n)).collect()
}

/// Whether the opcode's own headers name the receive; else its immediate header does.
fn names_receive(kind: &Kind) -> bool {
    kind.slots.iter().any(|s| s.field == "rq_seq")
}

fn variable(header: &Header) -> String {
    format!("h_{}", header.name.to_lowercase())
}

fn place_of(headers: &[&Header], field: &str) -> String {
    let owner = headers.iter().find(|h| h.values().any(|f| f.name == field));
    owner.map_or_else(String::new, |h| format!("{}.{field}", variable(h)))
}

fn spaced(pattern: &str) -> String {
    if pattern.starts_with('{') {
        format!(" {pattern}")
    } else {
        pattern.to_string()
    }
}

fn camel(name: &str) -> String {
    name.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}
