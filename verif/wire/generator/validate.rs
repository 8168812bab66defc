//! Cross-checks between the items of a layout: names, opcodes, meaning, masks.
//! In: a layout whose items are each well formed. Guarantees to code generation that every reference resolves.

use super::error::{LayoutError, Reason};
use super::layout::*;
use super::read::Source;
use super::schema::{self, Kind, Slot, SlotKind};

/// IBTA gives this block to manufacturers; nothing outside it may be used.
const MANUFACTURER_BLOCK: (u64, u64) = (0xE0, 0xFF);
/// CRC-32 of Ethernet, the only one the codec computes.
const ETHERNET_POLYNOMIAL: u32 = 0x04C1_1DB7;

pub(super) fn check(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    names(source, layout)?;
    constants(source, layout)?;
    outer(source, layout)?;
    common(source, layout)?;
    opcode_values(source, layout)?;
    for opcode in &layout.opcodes {
        opcode_meaning(source, layout, opcode)?;
    }
    vector(source, layout)?;
    value_names(source, layout)?;
    icrc(source, layout)
}

fn names(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    let bad = |name: &str, rule| Reason::BadName { name: name.to_string(), rule };
    let lower = |s: &str| {
        s.starts_with(|c: char| c.is_ascii_lowercase())
            && s.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
    };
    let upper = |s: &str| {
        s.starts_with(|c: char| c.is_ascii_uppercase())
            && s.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    if !lower(&layout.profile) {
        return source.fail(1, bad(&layout.profile, "a profile is lower case with `-`"));
    }
    if let Some(constant) = layout.constants.iter().find(|c| !upper(&c.name)) {
        return source.fail(constant.line, bad(&constant.name, "a constant is UPPER_CASE"));
    }
    for header in &layout.headers {
        if !upper(&header.name) || header.name.contains('_') {
            return source.fail(header.line, bad(&header.name, "a header is UPPERCASE letters and digits"));
        }
        let bad_field = |f: &&Field| !lower(&f.name) || f.name.contains('-') || is_keyword(&f.name);
        if let Some(field) = header.fields.iter().find(bad_field) {
            return source.fail(field.line, bad(&field.name, "a field is lower_case and no Rust or Lua keyword"));
        }
    }
    Ok(())
}

fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 22] = [
        "type", "match", "mod", "ref", "move", "fn", "let", "use", "as", "in", "if", "else", "for", "while", "loop", "self",
        "end", "local", "function", "return", "not", "then",
    ];
    KEYWORDS.contains(&name)
}

fn constants(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    for (i, constant) in layout.constants.iter().enumerate() {
        if layout.constants[..i].iter().any(|c| c.name == constant.name) {
            return source.fail(constant.line, Reason::DuplicateConstant { name: constant.name.clone() });
        }
    }
    for name in schema::CONSTANTS {
        if !layout.constants.iter().any(|c| c.name == *name) {
            return source.fail(1, Reason::UnknownConstant { name: name.to_string() });
        }
    }
    Ok(())
}

fn outer(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    let wanted: Vec<&str> = schema::OUTER.iter().map(|(name, _)| *name).collect();
    for name in &layout.outer {
        if !wanted.contains(&name.as_str()) {
            return source.fail(1, Reason::UnknownHeader { user: "outer".into(), header: name.clone() });
        }
    }
    for (name, fields) in schema::OUTER {
        let unknown = || Reason::UnknownHeader { user: "outer".into(), header: name.to_string() };
        let Some(header) = layout.header(name) else { return source.fail(1, unknown()) };
        if !layout.outer.iter().any(|o| o == name) {
            return source.fail(header.line, unknown());
        }
        // The frame codec is shared by all profiles, so only a base may declare what surrounds the transport.
        if layout.base.is_some() && !header.inherited {
            return source.fail(header.line, Reason::DuplicateHeader { header: header.name.clone() });
        }
        for field in *fields {
            if !header.values().any(|f| f.name == *field) {
                return source.fail(header.line, Reason::UnknownField { reference: format!("{name}.{field}") });
            }
        }
    }
    Ok(())
}

fn headers_of<'a>(
    source: &Source,
    layout: &'a Layout,
    line: usize,
    user: &str,
    names: &[String],
) -> Result<Vec<&'a Header>, LayoutError> {
    let mut out = Vec::with_capacity(names.len());
    for name in names {
        match layout.header(name) {
            Some(header) => out.push(header),
            None => return source.fail(line, Reason::UnknownHeader { user: user.to_string(), header: name.clone() }),
        }
    }
    Ok(out)
}

fn common(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    let headers = headers_of(source, layout, 1, "common", &layout.common)?;
    slots(source, "common", 1, schema::COMMON, &headers, &[])?;
    // The opcode decides what follows, so it must be readable before the other common headers.
    let first_has_opcode = headers.first().is_some_and(|h| h.values().any(|f| f.name == "opcode"));
    if !first_has_opcode {
        return source.fail(1, Reason::MissingField { opcode: "common".into(), field: "opcode".into() });
    }
    for header in layout.headers.iter().filter(|h| !layout.outer.contains(&h.name) && !layout.common.contains(&h.name)) {
        if let Some(field) = header.fields.iter().find(|f| matches!(f.kind, FieldKind::Expect { .. })) {
            let (header, field_name) = (header.name.clone(), field.name.clone());
            return source.fail(field.line, Reason::ExpectInBody { header, field: field_name });
        }
    }
    Ok(())
}

/// Every slot has exactly one field, wide enough for nothing more than its meaning; every field has a slot.
fn slots(
    source: &Source,
    opcode: &str,
    line: usize,
    slots: &[Slot],
    headers: &[&Header],
    ignored: &[&str],
) -> Result<(), LayoutError> {
    for slot in slots {
        let (opcode, field_name) = (opcode.to_string(), slot.field.to_string());
        let mut found = headers.iter().flat_map(|h| h.values().map(|f| (h.inherited, f))).filter(|(_, f)| f.name == slot.field);
        let Some((inherited, field)) = found.next() else {
            return source.fail(line, Reason::MissingField { opcode, field: field_name });
        };
        if found.next().is_some() {
            return source.fail(line, Reason::AmbiguousField { opcode, field: field_name });
        }
        let bytes = slot.kind == SlotKind::Vector;
        let (bits, min, max) = (field.bits, slot.min_bits(), slot.max_bits);
        if !(min..=max).contains(&bits) || (field.kind == FieldKind::Bytes) != bytes {
            // An inherited field's line belongs to another file.
            let line = if inherited { line } else { field.line };
            return source.fail(line, Reason::FieldWidth { opcode, field: field_name, bits, min, max });
        }
    }
    for header in headers {
        for field in header.values() {
            if !slots.iter().any(|s| s.field == field.name) && !ignored.contains(&field.name.as_str()) {
                let (opcode, header) = (opcode.to_string(), header.name.clone());
                return source.fail(line, Reason::UnusedField { opcode, header, field: field.name.clone() });
            }
        }
    }
    Ok(())
}

fn opcode_values(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    let block = layout.opcode_block;
    let (outer_first, outer_last) = MANUFACTURER_BLOCK;
    if block.first > block.last || block.first < outer_first || block.last > outer_last {
        let Range { line, first, last } = block;
        return source.fail(line, Reason::BadRange { first, last, outer_first, outer_last });
    }
    let known = || schema::KINDS.iter().map(|k| k.name).collect::<Vec<_>>().join(", ");
    let mut users: Vec<(u64, String)> = Vec::new();
    for (i, opcode) in layout.opcodes.iter().enumerate() {
        let name = opcode.name.clone();
        if schema::kind(&name).is_none() {
            return source.fail(opcode.line, Reason::UnknownOpcode { opcode: name, known: known() });
        }
        if layout.opcodes[..i].iter().any(|o| o.name == name) {
            return source.fail(opcode.line, Reason::DuplicateOpcode { opcode: name });
        }
        let (value, first, last) = (opcode.value, block.first, block.last);
        if !(first..=last).contains(&value) {
            return source.fail(opcode.line, Reason::OpcodeOutsideBlock { opcode: name, value, first, last });
        }
        claim(source, opcode.line, &mut users, value, &name)?;
    }
    for kind in schema::KINDS {
        if !layout.opcodes.iter().any(|o| o.name == kind.name) {
            return source.fail(block.line, Reason::MissingOpcode { opcode: kind.name.to_string() });
        }
    }
    for range in &layout.reserved_opcodes {
        if range.first > range.last || range.first < block.first || range.last > block.last {
            let (outer_first, outer_last) = (block.first, block.last);
            let Range { line, first, last } = *range;
            return source.fail(line, Reason::BadRange { first, last, outer_first, outer_last });
        }
        for value in range.first..=range.last {
            claim(source, range.line, &mut users, value, "reserved_opcodes")?;
        }
    }
    for value in block.first..=block.last {
        if !users.iter().any(|(v, _)| *v == value) {
            return source.fail(block.line, Reason::UnassignedOpcode { value });
        }
    }
    Ok(())
}

fn claim(source: &Source, line: usize, users: &mut Vec<(u64, String)>, value: u64, name: &str) -> Result<(), LayoutError> {
    if let Some((_, first)) = users.iter().find(|(v, _)| *v == value) {
        let (first, second) = (first.clone(), name.to_string());
        return source.fail(line, Reason::DuplicateOpcodeValue { value, first, second });
    }
    users.push((value, name.to_string()));
    Ok(())
}

fn opcode_meaning(source: &Source, layout: &Layout, opcode: &Opcode) -> Result<(), LayoutError> {
    let line = opcode.line;
    let headers = headers_of(source, layout, line, &opcode.name, &opcode.headers)?;
    for (i, header) in opcode.headers.iter().enumerate() {
        if opcode.headers[..i].contains(header) {
            let (opcode, header) = (opcode.name.clone(), header.clone());
            return source.fail(line, Reason::RepeatedHeader { opcode, header });
        }
    }
    if !opcode.headers.starts_with(&layout.common) {
        let common = layout.common.join(", ");
        return source.fail(line, Reason::NotCommon { opcode: opcode.name.clone(), common });
    }
    let Some(kind) = schema::kind(&opcode.name) else {
        let known = String::new();
        return source.fail(line, Reason::UnknownOpcode { opcode: opcode.name.clone(), known });
    };
    immediate(source, layout, opcode, kind)?;
    let body = &headers[layout.common.len()..];
    slots(source, &opcode.name, line, kind.slots, body, schema::IGNORED)
}

fn immediate(source: &Source, layout: &Layout, opcode: &Opcode, kind: &Kind) -> Result<(), LayoutError> {
    let bad = || Reason::BadImmediate { opcode: opcode.name.clone() };
    let Some(name) = &opcode.when_imm else {
        return if kind.imm { source.fail(opcode.line, bad()) } else { Ok(()) };
    };
    let names = std::slice::from_ref(name);
    let header = headers_of(source, layout, opcode.line, &opcode.name, names)?[0];
    let fields: Vec<&Field> = header.values().collect();
    let has = |name: &str, bits: usize| fields.iter().any(|f| f.name == name && f.bits == bits);
    let is_immediate = fields.len() == 2 && has("immediate", 32) && has("rq_seq", 24);
    if !kind.imm || !is_immediate || opcode.headers.contains(name) {
        return source.fail(opcode.line, bad());
    }
    Ok(())
}

fn vector(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    let vectors = layout.headers.iter().filter(|h| h.fields.iter().any(|f| f.name == "vector"));
    for header in vectors {
        let bits = header.fields.iter().filter(|f| f.name == "vector").map(|f| f.bits).sum();
        if !(8..=256).contains(&bits) {
            return source.fail(header.line, Reason::VectorWidth { header: header.name.clone(), bits });
        }
    }
    Ok(())
}

fn value_names(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    let flags: Vec<_> = layout.flags.iter().map(|f| (f.line, &f.name, &f.field, f.bit, true)).collect();
    let codes: Vec<_> = layout.codes.iter().map(|c| (c.line, &c.name, &c.field, c.value, false)).collect();
    for (entries, known) in [(flags, schema::FLAGS), (codes, schema::CODES)] {
        for (i, (line, name, field, value, is_bit)) in entries.iter().enumerate() {
            let name = name.to_string();
            if !known.contains(&name.as_str()) {
                return source.fail(*line, Reason::UnknownValueName { name, known: known.join(", ") });
            }
            let Some((_, target)) = layout.field(field) else {
                return source.fail(*line, Reason::UnknownField { reference: field.to_string() });
            };
            let fits = if *is_bit { *value < target.bits as u64 } else { target.bits >= 64 || value >> target.bits == 0 };
            let taken = entries[..i].iter().any(|e| e.3 == *value || *e.1 == name);
            if !fits || taken {
                let field = field.to_string();
                return source.fail(*line, Reason::BadValue { name, value: *value, field });
            }
        }
        for name in known {
            if !entries.iter().any(|e| e.1 == name) {
                return source.fail(1, Reason::MissingValueName { name: name.to_string() });
            }
        }
    }
    Ok(())
}

fn icrc(source: &Source, layout: &Layout) -> Result<(), LayoutError> {
    let icrc = &layout.icrc;
    if icrc.polynomial != ETHERNET_POLYNOMIAL || icrc.length_bytes != 4 {
        let message = format!("the codec computes the ICRC as 4 bytes of CRC-32 {ETHERNET_POLYNOMIAL:#010x} only");
        return source.fail(icrc.line, Reason::Syntax { message });
    }
    let mut maskable = vec!["IPV4", "IPV6", "UDP"];
    maskable.extend(layout.common.first().map(String::as_str));
    for (i, reference) in icrc.masked.iter().enumerate() {
        let Some((header, _)) = layout.field(reference) else {
            return source.fail(icrc.line, Reason::UnknownField { reference: reference.clone() });
        };
        if !maskable.contains(&header.name.as_str()) {
            return source.fail(icrc.line, Reason::UnmaskableField { field: reference.clone() });
        }
        if icrc.masked[..i].contains(reference) {
            return source.fail(icrc.line, Reason::OverlappingMask { field: reference.clone() });
        }
    }
    Ok(())
}
