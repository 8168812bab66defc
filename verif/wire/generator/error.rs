//! Why a layout file is refused. Every error names the file, the line and what to change.

use std::path::Path;
use thiserror::Error;

/// A refused layout file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {reason}")]
pub struct LayoutError {
    pub file: String,
    /// First line of the refused item, counted from 1; 0 if the file could not be read.
    pub line: usize,
    pub reason: Reason,
}

impl LayoutError {
    pub fn file(path: &Path, error: &std::io::Error) -> Self {
        Self { file: path.display().to_string(), line: 0, reason: Reason::File { error: error.to_string() } }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Reason {
    #[error("cannot access the file: {error}")]
    File { error: String },
    #[error("not valid RON for a layout: {message}")]
    Syntax { message: String },
    #[error("key `{key}` is missing; a layout without `base` must state it")]
    MissingKey { key: &'static str },
    #[error("base layout `{base}` is not this layout's to build on; only a layout without a base of its own can be a base")]
    BadBase { base: String },
    #[error("`{name}` is not usable as a name here: {rule}")]
    BadName { name: String, rule: &'static str },
    #[error("header `{header}` is declared twice; rename or delete one")]
    DuplicateHeader { header: String },
    #[error("field `{header}.{field}` is declared twice; rename or delete one")]
    DuplicateField { header: String, field: String },
    #[error("field `{header}.{field}` must state exactly one of `bits` and `bytes`, above zero")]
    NoWidth { header: String, field: String },
    #[error("field `{header}.{field}` is {bits} bits wide; a number has at most 64, declare longer fields in `bytes`")]
    TooWide { header: String, field: String, bits: usize },
    #[error("field `{header}.{field}` touches more than 8 bytes; move it to a byte boundary")]
    Straddles { header: String, field: String },
    #[error("field `{header}.{field}` is declared in `bytes` but starts at bit {bit_offset} of its header; move it to a byte boundary")]
    Unaligned { header: String, field: String, bit_offset: usize },
    #[error("field `{header}.{field}` can have only one of `reserved`, `expect`, `send` and `send_const`, and none of them if declared in `bytes`")]
    Contradiction { header: String, field: String },
    #[error("`expect` of `{header}.{field}`: only outer and common headers are checked for a fixed value")]
    ExpectInBody { header: String, field: String },
    #[error("value {value} does not fit the {bits} bits of `{header}.{field}`")]
    ValueTooLarge { header: String, field: String, value: u64, bits: usize },
    #[error("header `{header}` is {bits} bits long, not a whole number of bytes; correct a width or add a reserved field")]
    NotWholeBytes { header: String, bits: usize },
    #[error("the vector of `{header}` has {bits} bits; it must have 8 to 256")]
    VectorWidth { header: String, bits: usize },
    #[error("`{user}` names header `{header}`, which is not declared")]
    UnknownHeader { user: String, header: String },
    #[error("`{reference}` names no declared field; write \"HEADER.field\"")]
    UnknownField { reference: String },
    #[error("constant `{name}` is not declared")]
    UnknownConstant { name: String },
    #[error("constant `{name}` is declared twice; delete one")]
    DuplicateConstant { name: String },
    #[error("opcode `{opcode}` has no meaning in the transport; known are: {known}")]
    UnknownOpcode { opcode: String, known: String },
    #[error("opcode `{opcode}` is declared twice; delete one")]
    DuplicateOpcode { opcode: String },
    #[error("opcode `{opcode}` is not declared; the transport needs it")]
    MissingOpcode { opcode: String },
    #[error("value {value:#04x} of opcode `{opcode}` is outside the block {first:#04x}..={last:#04x}")]
    OpcodeOutsideBlock { opcode: String, value: u64, first: u64, last: u64 },
    #[error("opcode value {value:#04x} is used by both `{first}` and `{second}`")]
    DuplicateOpcodeValue { value: u64, first: String, second: String },
    #[error("opcode value {value:#04x} is neither used nor in `reserved_opcodes`; add it to one of them")]
    UnassignedOpcode { value: u64 },
    #[error("the block {first:#04x}..={last:#04x} is empty or outside {outer_first:#04x}..={outer_last:#04x}")]
    BadRange { first: u64, last: u64, outer_first: u64, outer_last: u64 },
    #[error("opcode `{opcode}` must begin with the common headers {common}")]
    NotCommon { opcode: String, common: String },
    #[error("header `{header}` occurs twice in opcode `{opcode}`")]
    RepeatedHeader { opcode: String, header: String },
    #[error("opcode `{opcode}` needs a field `{field}` and none of its headers has it")]
    MissingField { opcode: String, field: String },
    #[error("opcode `{opcode}` has field `{field}` in two headers, so its meaning is not clear")]
    AmbiguousField { opcode: String, field: String },
    #[error(
        "opcode `{opcode}` has field `{header}.{field}`, which has no meaning there; mark it `reserved` or correct its name"
    )]
    UnusedField { opcode: String, header: String, field: String },
    #[error("opcode `{opcode}`: field `{field}` has {bits} bits; the transport needs {min} to {max}, and `bytes` for the vector only")]
    FieldWidth { opcode: String, field: String, bits: usize, min: usize, max: usize },
    #[error("opcode `{opcode}`: `when_imm` must name a header with the field `immediate`, and fits WRITE and SEND only")]
    BadImmediate { opcode: String },
    #[error("`{field}` is masked twice in the ICRC")]
    OverlappingMask { field: String },
    #[error("`{field}` is in no header that the ICRC masks: use the IP headers, UDP or the first common header")]
    UnmaskableField { field: String },
    #[error("flag or code `{name}` has no meaning in the transport; known are: {known}")]
    UnknownValueName { name: String, known: String },
    #[error("flag or code `{name}` is not declared; the transport needs it")]
    MissingValueName { name: String },
    #[error("flag or code `{name}` uses {value}, which is already taken or does not fit `{field}`")]
    BadValue { name: String, value: u64, field: String },
}
