//! Rust source of one profile: header structs, field constants, opcode and table constants.
//! In: a checked layout. Out: the text of one module; the packet mapping is appended by `codegen_packet`.

use super::codegen_packet;
use super::layout::*;

/// Adds one line to a `String`.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($arg:tt)*) => {{ $out.push_str(&format!($($arg)*)); $out.push('\n'); }};
}
pub(super) use line;

pub fn module(layout: &Layout) -> String {
    let mut out = String::new();
    line!(out, "// Generated from layouts/{}.ron; do not edit.", layout.profile);
    line!(out, "use crate::bits::{{bytes, expect, get, header, header_mut, put, put_bytes}};");
    line!(out, "use crate::error::{{EmitError, Mismatch}};");
    line!(out, "use crate::tables::{{CodeInfo, ConstantInfo, FieldInfo, FieldKind, FlagInfo, HeaderInfo, HeaderOffset, IcrcInfo, LayoutInfo, OpcodeInfo, OpcodeRange}};");
    line!(out);
    for constant in &layout.constants {
        doc(&mut out, "", &constant.about);
        line!(out, "pub const {}: {} = {:#x};", constant.name, unsigned(constant.value), constant.value);
    }
    field_constants(&mut out, layout);
    for header in &layout.headers {
        match (&layout.base, header.inherited) {
            (Some(base), true) => line!(out, "pub use super::{}::{};", base.replace('-', "_"), header.type_name()),
            _ => header_struct(&mut out, header),
        }
    }
    opcode_constants(&mut out, layout);
    masks(&mut out, layout);
    tables(&mut out, layout);
    codegen_packet::packet(&mut out, layout);
    out
}

fn unsigned(value: u64) -> &'static str {
    match value {
        0..=0xFF => "u8",
        0x100..=0xFFFF => "u16",
        0x1_0000..=0xFFFF_FFFF => "u32",
        _ => "u64",
    }
}

fn doc(out: &mut String, indent: &str, about: &str) {
    if !about.is_empty() {
        line!(out, "{indent}/// {about}");
    }
}

fn field_constants(out: &mut String, layout: &Layout) {
    line!(out, "/// Every field of every header as a constant `HEADER_FIELD`.");
    line!(out, "pub mod field {{");
    line!(out, "    use super::{{FieldInfo, FieldKind}};");
    for header in &layout.headers {
        for f in &header.fields {
            let kind = match f.kind {
                FieldKind::Number { send } => format!("Number {{ send: {send:#x} }}"),
                FieldKind::Bytes => "Bytes".into(),
                FieldKind::Expect { value } => format!("Expect {{ value: {value:#x} }}"),
                FieldKind::Reserved => "Reserved".into(),
            };
            line!(
                out,
                "    pub const {}: FieldInfo = FieldInfo {{ header: {:?}, name: {:?}, about: {:?}, bit_offset: {}, width: {}, kind: FieldKind::{kind} }};",
                constant_name(header, f), header.name, f.name, f.about, f.bit_offset, f.bits
            );
        }
    }
    line!(out, "}}");
    line!(out, "/// All fields of all headers, headers in layout order, fields in wire order.");
    line!(out, "pub const FIELDS: &[FieldInfo] = &[");
    for header in &layout.headers {
        line!(out, "    {}", field_list(header));
    }
    line!(out, "];");
}

fn constant_name(header: &Header, field: &Field) -> String {
    format!("{}_{}", header.name, field.name.to_uppercase())
}

fn field_list(header: &Header) -> String {
    header.fields.iter().map(|f| format!("field::{}, ", constant_name(header, f))).collect()
}

fn header_struct(out: &mut String, header: &Header) {
    let (name, type_name, len) = (&header.name, header.type_name(), header.len_bytes());
    line!(out);
    line!(out, "/// {name}, {len} bytes: {}.", header.about);
    line!(out, "#[derive(Debug, Clone, Copy, PartialEq, Eq)]");
    line!(out, "pub struct {type_name} {{");
    for f in header.values() {
        doc(out, "    ", &f.about);
        line!(out, "    pub {}: {},", f.name, f.rust_type());
    }
    line!(out, "}}");

    line!(out, "impl Default for {type_name} {{");
    line!(out, "    /// The values this implementation sends; zero where the packet decides.");
    line!(out, "    fn default() -> Self {{");
    line!(out, "        Self {{");
    for f in header.values() {
        let value = match f.kind {
            FieldKind::Number { send } if f.bits == 1 => (send == 1).to_string(),
            FieldKind::Number { send } => format!("{send:#x}"),
            _ => format!("[0; {}]", f.bits / 8),
        };
        line!(out, "            {}: {value},", f.name);
    }
    line!(out, "        }}");
    line!(out, "    }}");
    line!(out, "}}");

    line!(out, "impl {type_name} {{");
    line!(out, "    pub const NAME: &'static str = {name:?};");
    line!(out, "    /// Length in bytes.");
    line!(out, "    pub const LEN: usize = {len};");
    line!(out, "    pub const FIELDS: &'static [FieldInfo] = &[{}];", field_list(header));
    line!(out);
    line!(out, "    /// Reads the header from the start of `bytes`. Refuses a short slice and a wrong fixed value.");
    line!(out, "    #[inline]");
    line!(out, "    pub fn parse(bytes_in: &[u8]) -> Result<Self, Mismatch> {{");
    line!(out, "        let b: &[u8; {len}] = header(bytes_in, {name:?})?;");
    for f in &header.fields {
        if let FieldKind::Expect { value } = f.kind {
            let (offset, bits) = (f.bit_offset, f.bits);
            line!(out, "        expect(get::<{offset}, {bits}>(b), {value:#x}, \"{name}.{}\", {})?;", f.name, offset / 8);
        }
    }
    if header.values().count() == 0 {
        line!(out, "        let _ = b;");
    }
    line!(out, "        Ok(Self {{");
    for f in header.values() {
        let (offset, bits) = (f.bit_offset, f.bits);
        let value = match f.kind {
            FieldKind::Bytes => format!("bytes::<{}, {}>(b)", offset / 8, bits / 8),
            _ if bits == 1 => format!("get::<{offset}, 1>(b) != 0"),
            _ => format!("get::<{offset}, {bits}>(b) as {}", f.rust_type()),
        };
        line!(out, "            {}: {value},", f.name);
    }
    line!(out, "        }})");
    line!(out, "    }}");
    line!(out);
    line!(
        out,
        "    /// Writes the header to the start of `out`; reserved bits are zero. Refuses a value too large for its field."
    );
    line!(out, "    #[inline]");
    line!(out, "    pub fn emit(&self, out: &mut [u8]) -> Result<(), EmitError> {{");
    line!(out, "        let b: &mut [u8; {len}] = header_mut(out)?;");
    line!(out, "        *b = [0; {len}];");
    for f in &header.fields {
        let (field, offset, bits) = (&f.name, f.bit_offset, f.bits);
        match f.kind {
            FieldKind::Reserved => {}
            FieldKind::Bytes => line!(out, "        put_bytes::<{}, {}>(b, &self.{field});", offset / 8, bits / 8),
            FieldKind::Expect { value } => line!(out, "        put::<{offset}, {bits}>(b, {value:#x}, \"{name}.{field}\")?;"),
            FieldKind::Number { .. } => {
                line!(out, "        put::<{offset}, {bits}>(b, u64::from(self.{field}), \"{name}.{field}\")?;");
            }
        }
    }
    line!(out, "        Ok(())");
    line!(out, "    }}");
    line!(out, "}}");
}

fn opcode_constants(out: &mut String, layout: &Layout) {
    line!(out);
    line!(out, "/// Opcode values of this profile.");
    line!(out, "pub mod opcode {{");
    for o in &layout.opcodes {
        doc(out, "    ", &o.about);
        line!(out, "    pub const {}: u8 = {:#04x};", o.name, o.value);
    }
    line!(out, "}}");
    let values: Vec<String> = layout.opcodes.iter().map(|o| format!("{:#04x}", o.value)).collect();
    line!(out, "/// Every opcode value a receiver accepts.");
    line!(out, "pub const OPCODE_VALUES: &[u64] = &[{}];", values.join(", "));
}

/// One byte mask per header the ICRC reads: ones where the bit counts as one.
fn masks(out: &mut String, layout: &Layout) {
    let mut names = vec!["IPV4", "IPV6", "UDP"];
    names.extend(layout.common.first().map(String::as_str));
    for (i, header) in names.iter().filter_map(|n| layout.header(n)).enumerate() {
        let mut mask = vec![0u8; header.len_bytes()];
        for f in &header.fields {
            if layout.icrc.masked.contains(&format!("{}.{}", header.name, f.name)) {
                for bit in f.bit_offset..f.bit_offset + f.bits {
                    mask[bit / 8] |= 0x80 >> (bit % 8);
                }
            }
        }
        let name = if i == 3 { "COMMON".to_string() } else { header.name.clone() };
        line!(out, "/// Bits of {} that the ICRC reads as ones.", header.name);
        line!(out, "pub const ICRC_MASK_{name}: [u8; {}] = {mask:?};", mask.len());
    }
    line!(out, "pub const ICRC_POLYNOMIAL: u32 = {:#x};", layout.icrc.polynomial);
    line!(out, "pub const ICRC_SEED_BYTES: usize = {};", layout.icrc.seed_bytes);
    line!(out, "pub const ICRC_LEN: usize = {};", layout.icrc.length_bytes);
}

fn tables(out: &mut String, layout: &Layout) {
    let len = |names: &[String]| -> usize { names.iter().filter_map(|n| layout.header(n)).map(Header::len_bytes).sum() };
    let outer = |name: &str| layout.header(name).map_or(0, Header::len_bytes);
    let before = outer("ETH") + outer("UDP");
    line!(out, "/// Byte offset of every header in every opcode's packet, without a VLAN tag.");
    line!(out, "pub const HEADER_OFFSETS: &[HeaderOffset] = &[");
    for o in &layout.opcodes {
        let all: Vec<String> = o.headers.iter().chain(&o.when_imm).cloned().collect();
        for (i, header) in all.iter().enumerate() {
            let offset = len(&all[..i]);
            line!(
                out,
                "    HeaderOffset {{ opcode: {:?}, opcode_value: {:#04x}, header: {header:?}, only_with_imm: {}, udp_payload_bytes: {offset}, ipv4_bytes: {}, ipv6_bytes: {} }},",
                o.name, o.value, i >= o.headers.len(), before + outer("IPV4") + offset, before + outer("IPV6") + offset
            );
        }
    }
    line!(out, "];");

    line!(out, "/// The whole layout as data.");
    line!(out, "pub const LAYOUT: LayoutInfo = LayoutInfo {{");
    line!(out, "    profile: {:?},", layout.profile);
    line!(out, "    about: {:?},", layout.about);
    line!(out, "    outer: &{:?},", layout.outer);
    line!(out, "    common: &{:?},", layout.common);
    line!(out, "    constants: &[");
    for c in &layout.constants {
        line!(out, "        ConstantInfo {{ name: {:?}, value: {:#x}, about: {:?} }},", c.name, c.value, c.about);
    }
    line!(out, "    ],");
    line!(out, "    headers: &[");
    for h in &layout.headers {
        let (name, about, len) = (&h.name, &h.about, h.len_bytes());
        line!(
            out,
            "        HeaderInfo {{ name: {name:?}, about: {about:?}, len_bytes: {len}, fields: {}::FIELDS }},",
            h.type_name()
        );
    }
    line!(out, "    ],");
    line!(out, "    opcodes: &[");
    for o in &layout.opcodes {
        let imm = match &o.when_imm {
            Some(header) => format!("Some({header:?})"),
            None => "None".into(),
        };
        line!(
            out,
            "        OpcodeInfo {{ name: {:?}, value: {:#04x}, about: {:?}, headers: &{:?}, when_imm: {imm}, payload: {}, header_bytes: {} }},",
            o.name, o.value, o.about, o.headers, o.payload, len(&o.headers)
        );
    }
    line!(out, "    ],");
    line!(out, "    reserved_opcodes: &[");
    for r in &layout.reserved_opcodes {
        line!(out, "        OpcodeRange {{ first: {:#04x}, last: {:#04x} }},", r.first, r.last);
    }
    line!(out, "    ],");
    line!(out, "    header_offsets: HEADER_OFFSETS,");
    line!(out, "    flags: &[");
    for f in &layout.flags {
        line!(out, "        FlagInfo {{ name: {:?}, field: {:?}, bit: {}, about: {:?} }},", f.name, f.field, f.bit, f.about);
    }
    line!(out, "    ],");
    line!(out, "    codes: &[");
    for c in &layout.codes {
        line!(
            out,
            "        CodeInfo {{ name: {:?}, field: {:?}, value: {}, about: {:?} }},",
            c.name,
            c.field,
            c.value,
            c.about
        );
    }
    line!(out, "    ],");
    line!(
        out,
        "    icrc: IcrcInfo {{ polynomial: ICRC_POLYNOMIAL, seed_bytes: ICRC_SEED_BYTES, len_bytes: ICRC_LEN, masked: &{:?} }},",
        layout.icrc.masked
    );
    line!(out, "}};");
}
