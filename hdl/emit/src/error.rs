//! Why a design cannot be turned into Verilog. An error names the module (instance path), the signal or field whose
//! assignment or declaration is at fault, and the reason together with the remedy.

/// A design that cannot be emitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("module `{module}`, `{signal}`: {reason}")]
pub struct EmitError {
    /// Instance path of the module, e.g. `top.lane_2.fifo`.
    pub module: String,
    /// Name of the signal or field as in the Rust source (array elements as `lane$2$x`).
    pub signal: String,
    pub reason: Reason,
}

/// The reason of an [`EmitError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("width mismatch: {left} bits {between} {right} bits; use bit_cast")]
    WidthMismatch { left: usize, between: String, right: usize },
    #[error("unknown name `{0}`; only signals, Constant fields, enum variants and loop variables are visible in a kernel (const generics and const items are not: use a Constant field)")]
    UnknownName(String),
    #[error("array index `{0}` is not made of numbers and loop variables; select the element in a for loop with `if index == k.to_bits()`")]
    ArrayIndex(String),
    #[error("literal {literal} does not fit in {width} bits")]
    LiteralTooLarge { literal: String, width: usize },
    #[error("negative number {0} where an unsigned one is needed; large literals need the suffix u64, signed ones `.to_signed_bits()`")]
    Negative(String),
    #[error("the width of a literal cannot be inferred here; write bits::<N>(..)")]
    NoWidth,
    #[error("never assigned")]
    Undriven,
    #[error("latch: bits {bits} are assigned only in some branches; assign a default first")]
    Latch { bits: String },
    #[error("`{read}` is read before it is assigned (a latch or a combinational loop); assign a default first, or keep the value in a DFF")]
    ReadBeforeWrite { read: String },
    #[error("`{0}` is an input of a sub-module computed together with this signal; read a Local signal instead")]
    SettledRead(String),
    #[error("two drivers: {0}")]
    TwoDrivers(String),
    #[error("a clock must be one plain clock signal, assigned outside of branches; enable the registers instead of gating the clock")]
    ClockNotPlain,
    #[error("index {index} is outside of {width} bits")]
    IndexOutOfRange { index: i128, width: usize },
    #[error("the Verilog name `{0}` is already used by another port; rename one of the fields")]
    NameClash(String),
    #[error("`{0}` cannot be the name of a port: it is a (System)Verilog keyword; rename the field")]
    Keyword(String),
    #[error("`{0}` is no Verilog identifier")]
    BadIdentifier(String),
    #[error("zero bits wide (an enum needs at least two variants)")]
    ZeroWidth,
    #[error("two enums of this name with different variants are visible here; rename one")]
    EnumClash,
    #[error("the block has no Verilog; write update() with #[hdl_gen], or hdl() returning Verilog::Custom")]
    NoVerilog,
    #[error("InOut is supported on Custom and Wrapper blocks only, not in kernels")]
    InOut,
    #[error("hdl() panicked: {0}")]
    HdlPanicked(String),
    #[error("not supported: {0}")]
    Unsupported(String),
}
