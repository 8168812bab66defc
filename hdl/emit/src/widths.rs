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

/// What is known of an expression.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Natural width; `None` if it takes the width of its context (numbers, loop variables, signed casts).
    pub width: Option<usize>,
    pub signed: bool,
    /// Value of an expression of literals and loop variables.
    pub number: Option<i128>,
}

impl Facts {
    fn bits(width: Option<usize>) -> Facts {
        Facts { width, signed: false, number: None }
    }
}

impl Lowering<'_> {
    pub fn width_of(&self, e: &VerilogExpression) -> Result<Option<usize>, Reason> {
        Ok(self.facts(e)?.width)
    }

    pub fn is_signed(&self, e: &VerilogExpression) -> Result<bool, Reason> {
        Ok(self.facts(e)?.signed)
    }

    pub fn number(&self, e: &VerilogExpression) -> Result<Option<i128>, Reason> {
        Ok(self.facts(e)?.number)
    }

    /// Each expression of a statement is looked at once: long chains of operators would take cubic time otherwise.
    fn facts(&self, e: &VerilogExpression) -> Result<Facts, Reason> {
        let key = std::ptr::from_ref(e) as usize;
        if let Some(facts) = self.known.borrow().get(&key) {
            return Ok(*facts);
        }
        let mut facts = self.compute(e)?;
        if facts.number.is_some() {
            facts.width = None;
        }
        self.known.borrow_mut().insert(key, facts);
        Ok(facts)
    }

    fn compute(&self, e: &VerilogExpression) -> Result<Facts, Reason> {
        Ok(match e {
            VerilogExpression::Signal(name) => match self.table.resolve(name, &self.loops)? {
                Named::Signal { width, signed, .. } => Facts { width: Some(width), signed, number: None },
                Named::Label { value, .. } => Facts::bits(Some(value.width())),
                Named::Number(value) => Facts { width: None, signed: false, number: Some(value) },
            },
            VerilogExpression::Literal(l) => match literal(l)? {
                Number::Int(value) => Facts { width: None, signed: false, number: Some(value) },
                Number::Bool(_) => Facts::bits(Some(1)),
            },
            VerilogExpression::Cast(_, width) => Facts::bits(Some(*width)),
            VerilogExpression::Paren(x) => self.facts(x)?,
            VerilogExpression::Signed(x) => {
                let inner = self.facts(x)?;
                // rust-hdl drops the target width of signed_bit_cast: it comes from the context
                let width = if inner.signed { None } else { inner.width };
                Facts { width, signed: true, number: inner.number }
            }
            VerilogExpression::Unsigned(x) => Facts::bits(self.facts(x)?.width),
            VerilogExpression::Unary(VerilogOpUnary::Not, x) => Facts { number: None, ..self.facts(x)? },
            VerilogExpression::Unary(VerilogOpUnary::Neg, x) => {
                let inner = self.facts(x)?;
                Facts { number: inner.number.map(|value| -value), ..inner }
            }
            VerilogExpression::Unary(..) | VerilogExpression::Index(..) => Facts::bits(Some(1)),
            VerilogExpression::Slice(x, width, _) => Facts { width: Some(*width), signed: self.facts(x)?.signed, number: None },
            VerilogExpression::IndexReplace(x, _, _) => Facts::bits(self.facts(x)?.width),
            VerilogExpression::Binary(left, op, right) => self.binary_facts(self.facts(left)?, op, self.facts(right)?),
        })
    }

    fn binary_facts(&self, left: Facts, op: &VerilogOp, right: Facts) -> Facts {
        if is_comparison(op) || matches!(op, VerilogOp::LogicalAnd | VerilogOp::LogicalOr) {
            return Facts::bits(Some(1));
        }
        let width = match op {
            // a number shifted by a signal is a Bits<64> in rust-hdl
            VerilogOp::Shl | VerilogOp::Shr => left.number.map_or(left.width, |_| Some(64)),
            VerilogOp::Mul => left.width.zip(right.width).map(|(l, r)| l + r),
            _ => left.width.or(right.width),
        };
        let number = left.number.zip(right.number).and_then(|(l, r)| match op {
            VerilogOp::Add => l.checked_add(r),
            VerilogOp::Sub => l.checked_sub(r),
            VerilogOp::Mul => l.checked_mul(r),
            VerilogOp::BitAnd => Some(l & r),
            VerilogOp::BitOr => Some(l | r),
            VerilogOp::BitXor => Some(l ^ r),
            VerilogOp::Shl if (0..64).contains(&r) => l.checked_shl(r as u32),
            VerilogOp::Shr if (0..64).contains(&r) => l.checked_shr(r as u32),
            _ => None,
        });
        Facts { width, signed: left.signed || right.signed, number }
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
