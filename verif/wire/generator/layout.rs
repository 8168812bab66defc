//! The checked layout: what code generation, and nothing else, reads.
//! Every item keeps the line it was declared at, so that later checks can still name it.

#[derive(Debug, Clone)]
pub struct Layout {
    pub profile: String,
    pub about: String,
    /// Profile whose unchanged headers this one uses.
    pub base: Option<String>,
    pub outer: Vec<String>,
    pub common: Vec<String>,
    pub constants: Vec<Constant>,
    pub headers: Vec<Header>,
    pub opcode_block: Range,
    pub opcodes: Vec<Opcode>,
    pub reserved_opcodes: Vec<Range>,
    pub flags: Vec<Flag>,
    pub codes: Vec<Code>,
    pub icrc: Icrc,
}

#[derive(Debug, Clone)]
pub struct Constant {
    pub line: usize,
    pub name: String,
    pub value: u64,
    pub about: String,
}

#[derive(Debug, Clone)]
pub struct Header {
    pub line: usize,
    pub name: String,
    pub about: String,
    pub fields: Vec<Field>,
    /// Declared by the base layout and not replaced.
    pub inherited: bool,
}

#[derive(Debug, Clone)]
pub struct Field {
    pub line: usize,
    pub name: String,
    pub about: String,
    /// Offset in the header; bit 0 is the most significant bit of the first byte.
    pub bit_offset: usize,
    pub bits: usize,
    pub kind: FieldKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    Number { send: u64 },
    Bytes,
    Expect { value: u64 },
    Reserved,
}

#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub line: usize,
    pub first: u64,
    pub last: u64,
}

#[derive(Debug, Clone)]
pub struct Opcode {
    pub line: usize,
    pub name: String,
    pub about: String,
    pub value: u64,
    pub headers: Vec<String>,
    pub when_imm: Option<String>,
    pub payload: bool,
}

#[derive(Debug, Clone)]
pub struct Flag {
    pub line: usize,
    pub name: String,
    pub field: String,
    pub bit: u64,
    pub about: String,
}

#[derive(Debug, Clone)]
pub struct Code {
    pub line: usize,
    pub name: String,
    pub field: String,
    pub value: u64,
    pub about: String,
}

#[derive(Debug, Clone)]
pub struct Icrc {
    pub line: usize,
    pub polynomial: u32,
    pub seed_bytes: usize,
    pub length_bytes: usize,
    pub masked: Vec<String>,
}

impl Layout {
    pub fn module_name(&self) -> String {
        self.profile.replace('-', "_")
    }

    pub fn header(&self, name: &str) -> Option<&Header> {
        self.headers.iter().find(|h| h.name == name)
    }

    /// The field that "HEADER.field" names.
    pub fn field(&self, reference: &str) -> Option<(&Header, &Field)> {
        let (header, field) = reference.split_once('.')?;
        let header = self.header(header)?;
        let field = header.fields.iter().find(|f| f.name == field)?;
        Some((header, field))
    }
}

impl Header {
    pub fn bits(&self) -> usize {
        self.fields.iter().map(|f| f.bits).sum()
    }

    pub fn len_bytes(&self) -> usize {
        self.bits() / 8
    }

    /// Name of the generated struct: `BTH` -> `Bth`.
    pub fn type_name(&self) -> String {
        let (first, rest) = self.name.split_at(1);
        format!("{first}{}", rest.to_lowercase())
    }

    /// Fields that carry a value of the packet.
    pub fn values(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|f| matches!(f.kind, FieldKind::Number { .. } | FieldKind::Bytes))
    }
}

impl Field {
    /// Rust type of the field in its header's struct.
    pub fn rust_type(&self) -> String {
        match (self.kind, self.bits) {
            (FieldKind::Bytes, bits) => format!("[u8; {}]", bits / 8),
            (_, 1) => "bool".into(),
            (_, 2..=8) => "u8".into(),
            (_, 9..=16) => "u16".into(),
            (_, 17..=32) => "u32".into(),
            _ => "u64".into(),
        }
    }
}
