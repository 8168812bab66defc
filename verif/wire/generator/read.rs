//! Reads a layout file and its base into a checked [`Layout`].
//! In: RON text. Out: the layout, or an error with the line of the item at fault.

use super::error::{LayoutError, Reason};
use super::layout::*;
use super::validate;
use ron::extensions::Extensions;
use ron::value::RawValue;
use serde::Deserialize;
use std::path::Path;

// Items are kept as slices of the source text until they are checked one by one: a slice knows its line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLayout<'a> {
    profile: String,
    about: String,
    base: Option<String>,
    outer: Option<Vec<String>>,
    common: Option<Vec<String>>,
    #[serde(borrow)]
    constants: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    headers: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    opcode_block: Option<&'a RawValue>,
    #[serde(borrow)]
    opcodes: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    reserved_opcodes: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    flags: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    codes: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    icrc: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConstant {
    name: String,
    value: u64,
    #[serde(default)]
    about: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHeader<'a> {
    name: String,
    #[serde(default)]
    about: String,
    #[serde(borrow)]
    fields: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawField {
    name: String,
    bits: Option<usize>,
    bytes: Option<usize>,
    #[serde(default)]
    reserved: bool,
    expect: Option<u64>,
    send: Option<u64>,
    send_const: Option<String>,
    #[serde(default)]
    about: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRange {
    first: u64,
    last: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOpcode {
    name: String,
    value: u64,
    headers: Vec<String>,
    when_imm: Option<String>,
    #[serde(default)]
    payload: bool,
    #[serde(default)]
    about: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFlag {
    name: String,
    field: String,
    bit: u64,
    #[serde(default)]
    about: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCode {
    name: String,
    field: String,
    value: u64,
    #[serde(default)]
    about: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawIcrc {
    polynomial: u32,
    seed_bytes: usize,
    length_bytes: usize,
    masked: Vec<String>,
}

/// One source text: turns slices of it into lines and values.
pub(super) struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn fail<T>(&self, line: usize, reason: Reason) -> Result<T, LayoutError> {
        Err(LayoutError { file: self.file.to_string(), line, reason })
    }

    fn decode<T: Deserialize<'a>>(&self, text: &'a str) -> Result<T, LayoutError> {
        let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
        options.from_str(text).map_err(|e| LayoutError {
            file: self.file.to_string(),
            line: self.line(text) + e.span.start.line - 1,
            reason: Reason::Syntax { message: e.code.to_string() },
        })
    }

    /// Line of a slice of the source text, counted from 1.
    fn line(&self, slice: &str) -> usize {
        let offset = (slice.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        1 + self.text.bytes().take(offset).filter(|b| *b == b'\n').count()
    }

    fn item<T: Deserialize<'a>>(&self, raw: &'a RawValue) -> Result<(usize, T), LayoutError> {
        let text = raw.get_ron();
        Ok((self.line(text.trim_start()), self.decode(text)?))
    }

    fn items<T: Deserialize<'a>, U>(
        &self,
        raw: Option<Vec<&'a RawValue>>,
        mut build: impl FnMut(usize, T) -> Result<U, LayoutError>,
    ) -> Result<Option<Vec<U>>, LayoutError> {
        let Some(raw) = raw else { return Ok(None) };
        let mut out = Vec::with_capacity(raw.len());
        for one in raw {
            let (line, value) = self.item(one)?;
            out.push(build(line, value)?);
        }
        Ok(Some(out))
    }
}

/// Reads `<folder>/<name>.ron`, and its base from the same folder.
pub fn load(folder: &Path, name: &str) -> Result<Layout, LayoutError> {
    let path = folder.join(format!("{name}.ron"));
    let text = std::fs::read_to_string(&path).map_err(|e| LayoutError::file(&path, &e))?;
    parse(&path.display().to_string(), &text, &|base| load(folder, base))
}

/// Reads a layout from text. `base_of` supplies the base layout by name.
pub fn parse(file: &str, text: &str, base_of: &dyn Fn(&str) -> Result<Layout, LayoutError>) -> Result<Layout, LayoutError> {
    let source = Source { file, text };
    let raw: RawLayout = source.decode(text)?;
    let base = match &raw.base {
        None => None,
        Some(name) if *name == raw.profile => return source.fail(1, Reason::BadBase { base: name.clone() }),
        Some(name) => Some(base_of(name)?),
    };
    if let Some(base) = base.as_ref().filter(|b| b.base.is_some()) {
        return source.fail(1, Reason::BadBase { base: base.profile.clone() });
    }
    let last_line = text.lines().count().max(1);
    macro_rules! or_base {
        ($value:expr, $key:ident) => {
            match ($value, &base) {
                (Some(own), _) => own,
                (None, Some(base)) => base.$key.clone(),
                (None, None) => return source.fail(last_line, Reason::MissingKey { key: stringify!($key) }),
            }
        };
    }

    let constants = source
        .items(raw.constants, |line, c: RawConstant| Ok(Constant { line, name: c.name, value: c.value, about: c.about }))?;
    let constants = or_base!(constants, constants);
    let own_headers = source.items(raw.headers, |line, h: RawHeader| header(&source, line, h, &constants))?;
    let headers = match (own_headers, &base) {
        (None, None) => return source.fail(last_line, Reason::MissingKey { key: "headers" }),
        (own, base) => merge(&source, own.unwrap_or_default(), base.as_ref())?,
    };
    let range = |line, r: RawRange| Ok(Range { line, first: r.first, last: r.last });
    let opcode_block = match raw.opcode_block {
        Some(raw) => source.item(raw).and_then(|(line, r)| range(line, r)).map(Some)?,
        None => None,
    };
    let opcodes = source.items(raw.opcodes, |line, o: RawOpcode| {
        Ok(Opcode {
            line,
            name: o.name,
            about: o.about,
            value: o.value,
            headers: o.headers,
            when_imm: o.when_imm,
            payload: o.payload,
        })
    })?;
    let reserved_opcodes = source.items(raw.reserved_opcodes, range)?;
    let flags = source
        .items(raw.flags, |line, f: RawFlag| Ok(Flag { line, name: f.name, field: f.field, bit: f.bit, about: f.about }))?;
    let codes = source
        .items(raw.codes, |line, c: RawCode| Ok(Code { line, name: c.name, field: c.field, value: c.value, about: c.about }))?;
    let icrc = match raw.icrc {
        None => None,
        Some(raw) => {
            let (line, i): (_, RawIcrc) = source.item(raw)?;
            let (seed_bytes, length_bytes) = (i.seed_bytes, i.length_bytes);
            Some(Icrc { line, polynomial: i.polynomial, seed_bytes, length_bytes, masked: i.masked })
        }
    };

    let layout = Layout {
        profile: raw.profile,
        about: raw.about,
        outer: or_base!(raw.outer, outer),
        common: or_base!(raw.common, common),
        constants,
        headers,
        opcode_block: or_base!(opcode_block, opcode_block),
        opcodes: or_base!(opcodes, opcodes),
        reserved_opcodes: or_base!(reserved_opcodes, reserved_opcodes),
        flags: or_base!(flags, flags),
        codes: or_base!(codes, codes),
        icrc: or_base!(icrc, icrc),
        base: raw.base,
    };
    validate::check(&source, &layout)?;
    Ok(layout)
}

fn merge(source: &Source, own: Vec<Header>, base: Option<&Layout>) -> Result<Vec<Header>, LayoutError> {
    let mut merged: Vec<Header> = Vec::new();
    for header in base.iter().flat_map(|b| &b.headers) {
        if !own.iter().any(|h| h.name == header.name) {
            merged.push(Header { inherited: true, ..header.clone() });
        }
    }
    for header in own {
        if merged.iter().any(|h| h.name == header.name) {
            return source.fail(header.line, Reason::DuplicateHeader { header: header.name });
        }
        merged.push(header);
    }
    Ok(merged)
}

fn header(source: &Source, line: usize, raw: RawHeader, constants: &[Constant]) -> Result<Header, LayoutError> {
    let mut fields: Vec<Field> = Vec::with_capacity(raw.fields.len());
    let mut bit_offset = 0;
    for one in raw.fields {
        let (line, value): (_, RawField) = source.item(one)?;
        if fields.iter().any(|f| f.name == value.name) {
            return source.fail(line, Reason::DuplicateField { header: raw.name, field: value.name });
        }
        let field = field(source, line, &raw.name, value, bit_offset, constants)?;
        bit_offset += field.bits;
        fields.push(field);
    }
    if bit_offset == 0 || !bit_offset.is_multiple_of(8) {
        return source.fail(line, Reason::NotWholeBytes { header: raw.name, bits: bit_offset });
    }
    Ok(Header { line, name: raw.name, about: raw.about, fields, inherited: false })
}

fn field(
    source: &Source,
    line: usize,
    header: &str,
    raw: RawField,
    bit_offset: usize,
    constants: &[Constant],
) -> Result<Field, LayoutError> {
    let (name, header) = (raw.name, header.to_string());
    let bits = match (raw.bits, raw.bytes) {
        (Some(bits), None) if bits > 64 => return source.fail(line, Reason::TooWide { header, field: name, bits }),
        (Some(bits), None) if bits > 0 => bits,
        (None, Some(bytes)) if bytes > 0 => bytes * 8,
        _ => return source.fail(line, Reason::NoWidth { header, field: name }),
    };
    if raw.bytes.is_some() && !bit_offset.is_multiple_of(8) {
        return source.fail(line, Reason::Unaligned { header, field: name, bit_offset });
    }
    if raw.bytes.is_none() && (bit_offset + bits - 1) / 8 - bit_offset / 8 >= 8 {
        return source.fail(line, Reason::Straddles { header, field: name });
    }
    let send = match raw.send_const {
        None => raw.send,
        Some(_) if raw.send.is_some() => return source.fail(line, Reason::Contradiction { header, field: name }),
        Some(constant) => match constants.iter().find(|c| c.name == constant) {
            Some(constant) => Some(constant.value),
            None => return source.fail(line, Reason::UnknownConstant { name: constant }),
        },
    };
    let kind = match (raw.reserved, raw.expect, send, raw.bytes) {
        (true, None, None, None) => FieldKind::Reserved,
        (false, Some(value), None, None) => FieldKind::Expect { value },
        (false, None, None, Some(_)) => FieldKind::Bytes,
        (false, None, send, None) => FieldKind::Number { send: send.unwrap_or(0) },
        _ => return source.fail(line, Reason::Contradiction { header, field: name }),
    };
    let value = match kind {
        FieldKind::Number { send: value } | FieldKind::Expect { value } => value,
        FieldKind::Bytes | FieldKind::Reserved => 0,
    };
    if bits < 64 && value >> bits != 0 {
        return source.fail(line, Reason::ValueTooLarge { header, field: name, value, bits });
    }
    Ok(Field { line, name, about: raw.about, bit_offset, bits, kind })
}
