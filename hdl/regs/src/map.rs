//! Reads and checks the register-map file.
//!
//! In: the RON text. Out: [`Map`], or a [`MapError`] which names line and reason. Guarantees: names are unique, offsets
//! are aligned and do not overlap, fields fit their word or row and do not overlap.
use serde::Deserialize;

/// How software may use a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Access {
    /// Read only.
    Ro,
    /// Read and write.
    Rw,
    /// Write only; reads as 0.
    Wo,
}

/// Bits `lsb .. lsb + width` counted from bit 0 of 32-bit word `word`; `width` may span words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    /// 32-bit word within the row or entry (0 in a register).
    #[serde(default)]
    pub word: u32,
    pub lsb: u32,
    pub width: u32,
    pub doc: String,
}

/// A register of the BAR, or `count` consecutive ones.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    pub name: String,
    /// Byte offset in the BAR.
    pub offset: u32,
    pub access: Access,
    /// Value after reset.
    #[serde(default)]
    pub reset: u32,
    /// Number of consecutive 32-bit registers.
    #[serde(default = "one")]
    pub count: u32,
    pub doc: String,
    pub fields: Vec<Field>,
}

fn one() -> u32 {
    1
}

/// A named number: counter, status code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    pub name: String,
    #[serde(default)]
    pub value: u32,
    pub doc: String,
}

/// A table written through TABLE_COMMIT; rows of 16 words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub name: String,
    pub number: u32,
    /// What the row index counts.
    pub index: String,
    pub doc: String,
    pub fields: Vec<Field>,
}

/// An entry of a ring in host memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    pub name: String,
    pub bytes: u32,
    pub doc: String,
    pub fields: Vec<Field>,
}

/// The whole file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    pub registers: Vec<Register>,
    /// In the order of their numbers.
    pub counters: Vec<Code>,
    pub tables: Vec<Table>,
    pub rings: Vec<Ring>,
    pub codes: Vec<Code>,
}

/// Why a register-map file was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// Not RON, or not of this shape.
    #[error("register map, line {line}, column {column}: {reason}")]
    Syntax { line: usize, column: usize, reason: String },
    /// Well-formed, but contradictory.
    #[error("register map, line {line}: {item}: {reason}")]
    Content { line: usize, item: String, reason: String },
}

/// Rows of a table have this many 32-bit words.
pub const ROW_WORDS: u32 = 16;
/// Bytes of the BAR that are decoded.
pub const BAR_BYTES: u32 = 0x1000;

impl Map {
    /// Parses and checks `text`.
    pub fn parse(text: &str) -> Result<Map, MapError> {
        let map: Map = ron::from_str(text).map_err(|e| MapError::Syntax {
            line: e.span.start.line,
            column: e.span.start.col,
            reason: e.code.to_string(),
        })?;
        map.check(text)?;
        Ok(map)
    }

    fn check(&self, text: &str) -> Result<(), MapError> {
        let fail = |name: &str, reason: String| {
            let line = text.lines().position(|l| l.contains(&format!("\"{name}\""))).map_or(0, |l| l + 1);
            Err(MapError::Content { line, item: name.to_string(), reason })
        };
        unique("register", self.registers.iter().map(|r| &r.name), &fail)?;
        unique("table", self.tables.iter().map(|t| &t.name), &fail)?;
        unique("ring", self.rings.iter().map(|r| &r.name), &fail)?;
        unique("counter", self.counters.iter().map(|c| &c.name), &fail)?;
        unique("code", self.codes.iter().map(|c| &c.name), &fail)?;
        let mut end = 0;
        let mut previous = "";
        for r in &self.registers {
            if r.offset % 4 != 0 {
                return fail(&r.name, format!("offset {:#x} is not a multiple of 4", r.offset));
            }
            if r.offset < end {
                return fail(&r.name, format!("offset {:#x} overlaps or precedes {previous}", r.offset));
            }
            if r.count == 0 {
                return fail(&r.name, "count is 0".into());
            }
            end = r.offset + 4 * r.count;
            if end > BAR_BYTES {
                return fail(&r.name, format!("ends at {end:#x}, beyond the BAR's {BAR_BYTES:#x} bytes"));
            }
            previous = &r.name;
            check_fields(&r.name, &r.fields, 32, &fail)?;
        }
        if let Some(r) = self.registers.iter().find(|r| r.name == "COUNTER") {
            if r.count as usize != self.counters.len() {
                return fail(&r.name, format!("count is {}, but {} counters are named", r.count, self.counters.len()));
            }
        }
        for t in &self.tables {
            if t.number == 0 || t.number > 255 {
                return fail(&t.name, format!("table number {} is not in 1..=255", t.number));
            }
            if self.tables.iter().filter(|u| u.number == t.number).count() > 1 {
                return fail(&t.name, format!("table number {} is used twice", t.number));
            }
            check_fields(&t.name, &t.fields, 32 * ROW_WORDS, &fail)?;
        }
        for r in &self.rings {
            if !r.bytes.is_power_of_two() || r.bytes < 4 {
                return fail(&r.name, format!("{} bytes is not a power of two of at least 4", r.bytes));
            }
            check_fields(&r.name, &r.fields, 8 * r.bytes, &fail)?;
        }
        Ok(())
    }
}

fn unique<'a>(
    kind: &str,
    names: impl Iterator<Item = &'a String>,
    fail: &impl Fn(&str, String) -> Result<(), MapError>,
) -> Result<(), MapError> {
    let mut seen = std::collections::BTreeSet::new();
    for n in names {
        if !seen.insert(n) {
            return fail(n, format!("{kind} named twice"));
        }
    }
    Ok(())
}

fn check_fields(
    owner: &str,
    fields: &[Field],
    bits: u32,
    fail: &impl Fn(&str, String) -> Result<(), MapError>,
) -> Result<(), MapError> {
    let mut used: Vec<Option<&str>> = vec![None; bits as usize];
    for f in fields {
        let item = format!("{owner}.{}", f.name);
        let (start, end) = (32 * f.word + f.lsb, 32 * f.word + f.lsb + f.width);
        if f.width == 0 || f.lsb > 31 {
            return fail(&f.name, format!("{item}: width 0, or lsb above 31"));
        }
        if end > bits {
            return fail(&f.name, format!("{item}: bits {}..{} do not fit in {bits} bits", start, end));
        }
        for b in start..end {
            if let Some(other) = used[b as usize] {
                return fail(&f.name, format!("{item}: bit {b} is also in {other}"));
            }
            used[b as usize] = Some(&f.name);
        }
    }
    Ok(())
}
