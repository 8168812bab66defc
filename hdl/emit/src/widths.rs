//! What can be said about an expression of rust-hdl's AST before it is lowered: its width (or that it takes the width of
//! its context), whether it is signed, and its value if it is a number known at generation.
use rust_hdl_core::ast::{VerilogExpression, VerilogLiteral, VerilogOp, VerilogOpUnary};

use crate::lower::Lowering;
use crate::names::Named;
use crate::Reason;

/// Number of a literal; bool literals have their own width and are no numbers.
pub enum Number {
    Bool(bool),
    Int(i128),
}

pub fn literal(literal: &VerilogLiteral) -> Result<Number, Reason> {
    let text = format!("{literal:x}");
    let (width, digits) = text.split_once("'h").unwrap_or(("", &text));
    if width == "1" {
        return Ok(Number::Bool(digits == "1"));
    }
    let value = i128::from_str_radix(digits, 16).map_err(|_| Reason::Unsupported(format!("literal {text}")))?;
    if value < 0 {
        return Err(Reason::Negative(value.to_string()));
    }
    Ok(Number::Int(value))
}

impl Lowering<'_> {
    /// Natural width; `None` if the expression takes the width of its context (literals, loop variables, signed casts).
    pub fn width_of(&self, e: &VerilogExpression) -> Result<Option<usize>, Reason> {
        if self.number(e)?.is_some() {
            return Ok(None);
        }
        match e {
            VerilogExpression::Signal(name) => Ok(match self.table.resolve(name, &self.loops)? {
                Named::Signal { width, .. } => Some(width),
                Named::Label { value, .. } => Some(value.width()),
                Named::Number(_) => None,
            }),
            VerilogExpression::Literal(_) => Ok(Some(1)),
            VerilogExpression::Cast(_, width) => Ok(Some(*width)),
            // rust-hdl drops the target width of signed_bit_cast: it comes from the context
            VerilogExpression::Signed(x) if self.is_signed(x)? => Ok(None),
            VerilogExpression::Signed(x) | VerilogExpression::Unsigned(x) | VerilogExpression::Paren(x) => self.width_of(x),
            VerilogExpression::Unary(VerilogOpUnary::Not | VerilogOpUnary::Neg, x) => self.width_of(x),
            VerilogExpression::Unary(..) | VerilogExpression::Index(..) => Ok(Some(1)),
            VerilogExpression::Slice(_, width, _) => Ok(Some(*width)),
            VerilogExpression::IndexReplace(x, _, _) => self.width_of(x),
            VerilogExpression::Binary(left, op, right) => {
                if is_comparison(op) || matches!(op, VerilogOp::LogicalAnd | VerilogOp::LogicalOr) {
                    return Ok(Some(1));
                }
                if matches!(op, VerilogOp::Shl | VerilogOp::Shr) {
                    // a number shifted by a signal is a Bits<64> in rust-hdl
                    return Ok(match self.number(left)? {
                        Some(_) => Some(64),
                        None => self.width_of(left)?,
                    });
                }
                let (left, right) = (self.width_of(left)?, self.width_of(right)?);
                match op {
                    VerilogOp::Mul => Ok(left.zip(right).map(|(l, r)| l + r)),
                    _ => Ok(left.or(right)),
                }
            }
        }
    }

    pub fn is_signed(&self, e: &VerilogExpression) -> Result<bool, Reason> {
        Ok(match e {
            VerilogExpression::Signal(name) => match self.table.resolve(name, &self.loops)? {
                Named::Signal { signed, .. } => signed,
                _ => false,
            },
            VerilogExpression::Signed(_) => true,
            VerilogExpression::Paren(x) => self.is_signed(x)?,
            VerilogExpression::Unary(VerilogOpUnary::Not | VerilogOpUnary::Neg, x) => self.is_signed(x)?,
            VerilogExpression::Slice(x, _, _) => self.is_signed(x)?,
            VerilogExpression::Binary(left, op, right) => {
                !is_comparison(op) && (self.is_signed(left)? || self.is_signed(right)?)
            }
            _ => false,
        })
    }

    /// Value of an expression of literals and loop variables.
    pub fn number(&self, e: &VerilogExpression) -> Result<Option<i128>, Reason> {
        Ok(match e {
            VerilogExpression::Literal(l) => match literal(l)? {
                Number::Int(value) => Some(value),
                Number::Bool(_) => None,
            },
            VerilogExpression::Signal(name) => {
                self.loops.iter().rev().find(|(variable, _)| variable == name).map(|(_, value)| *value)
            }
            VerilogExpression::Paren(x) | VerilogExpression::Signed(x) => self.number(x)?,
            VerilogExpression::Unary(VerilogOpUnary::Neg, x) => self.number(x)?.map(|value| -value),
            VerilogExpression::Binary(left, op, right) => {
                let (Some(l), Some(r)) = (self.number(left)?, self.number(right)?) else { return Ok(None) };
                match op {
                    VerilogOp::Add => l.checked_add(r),
                    VerilogOp::Sub => l.checked_sub(r),
                    VerilogOp::Mul => l.checked_mul(r),
                    VerilogOp::BitAnd => Some(l & r),
                    VerilogOp::BitOr => Some(l | r),
                    VerilogOp::BitXor => Some(l ^ r),
                    VerilogOp::Shl if (0..64).contains(&r) => l.checked_shl(r as u32),
                    VerilogOp::Shr if (0..64).contains(&r) => l.checked_shr(r as u32),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// Outcome of a comparison of two numbers known at generation, such as `k == 0` in a loop.
    pub fn compare_numbers(
        &self,
        left: &VerilogExpression,
        op: &VerilogOp,
        right: &VerilogExpression,
    ) -> Result<Option<bool>, Reason> {
        let (Some(l), Some(r)) = (self.number(left)?, self.number(right)?) else { return Ok(None) };
        Ok(Some(match op {
            VerilogOp::Eq => l == r,
            VerilogOp::Ne => l != r,
            VerilogOp::Lt => l < r,
            VerilogOp::Le => l <= r,
            VerilogOp::Gt => l > r,
            VerilogOp::Ge => l >= r,
            _ => return Ok(None),
        }))
    }
}

pub fn is_comparison(op: &VerilogOp) -> bool {
    matches!(op, VerilogOp::Eq | VerilogOp::Ne | VerilogOp::Lt | VerilogOp::Le | VerilogOp::Gt | VerilogOp::Ge)
}
