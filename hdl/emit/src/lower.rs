//! Expressions: rust-hdl's AST in, typed [`Expr`] out. Every operand gets the width Rust gives it, numbers are sized from
//! their context, and selects end at named signals (a sub-expression that must be named becomes a `Term`).
use rust_hdl_core::ast::{VerilogExpression, VerilogOp, VerilogOpUnary};
use rust_hdl_core::bits::clog2;
use rust_hdl_core::type_descriptor::{TypeDescriptor, TypeKind};
use std::cell::RefCell;
use std::collections::HashMap;

use crate::ir::{BinaryOp, Expr, SignalId, Stmt, UnaryOp};
use crate::names::{Loops, Named, Role, Table};
use crate::select::{binary, part, resize, shift_by, unary};
use crate::value::Value;
use crate::widths::{is_comparison, literal, Facts, Number};
use crate::Reason;

type Result<T> = std::result::Result<T, Reason>;

/// State of lowering one kernel.
pub struct Lowering<'a> {
    pub table: &'a mut Table,
    pub loops: Loops,
    /// Facts about the expressions of the current statement, by address.
    pub known: RefCell<HashMap<usize, Facts>>,
    /// Assignments of terms, to be placed before the statement being lowered.
    pub before: Vec<Stmt>,
    /// Names of new terms start with this.
    pub hint: String,
}

impl<'a> Lowering<'a> {
    pub fn new(table: &'a mut Table) -> Self {
        Lowering { table, loops: vec![], known: RefCell::default(), before: vec![], hint: String::new() }
    }

    /// Must be called before each statement; new terms are called after `hint`.
    pub fn start(&mut self, hint: String) {
        self.known.borrow_mut().clear();
        self.hint = hint;
    }

    /// `want` is the width of the context; it sizes numbers and sign-extending casts.
    pub fn expr(&mut self, e: &VerilogExpression, want: Option<usize>) -> Result<Expr> {
        if let Some(number) = self.number(e)? {
            return self.sized_number(e, number, want.ok_or(Reason::NoWidth)?);
        }
        match e {
            VerilogExpression::Signal(name) => self.name(name),
            VerilogExpression::Literal(l) => match literal(l)? {
                Number::Bool(value) => Ok(Expr::Literal(Value::bit(value))),
                Number::Int(_) => Err(Reason::NoWidth),
            },
            VerilogExpression::Paren(x) => self.expr(x, want),
            VerilogExpression::Cast(x, width) => {
                let natural = self.width_of(x)?.or(Some(*width));
                let value = self.expr(x, natural)?;
                self.resized(value, *width)
            }
            VerilogExpression::Signed(x) => self.signed_cast(x, want),
            VerilogExpression::Unsigned(x) => self.expr(x, want),
            VerilogExpression::Unary(op, x) => {
                let op = match op {
                    VerilogOpUnary::Not => UnaryOp::Not,
                    VerilogOpUnary::Neg => UnaryOp::Negate,
                    VerilogOpUnary::All => UnaryOp::All,
                    VerilogOpUnary::Any => UnaryOp::Any,
                    VerilogOpUnary::Xor => UnaryOp::Parity,
                };
                let context = if matches!(op, UnaryOp::Not | UnaryOp::Negate) { want } else { None };
                Ok(unary(op, self.expr(x, context)?))
            }
            VerilogExpression::Binary(left, op, right) => self.binary(left, op, right, want),
            VerilogExpression::Index(x, index) => self.index(x, index),
            VerilogExpression::Slice(x, width, offset) => self.slice(x, *width, offset),
            VerilogExpression::IndexReplace(x, index, bit) => self.replace_bit(x, index, bit, want),
        }
    }

    fn sized_number(&self, e: &VerilogExpression, number: i128, width: usize) -> Result<Expr> {
        let too_large = || Reason::LiteralTooLarge { literal: number.to_string(), width };
        let signed = matches!(strip(e), VerilogExpression::Signed(_));
        if number < 0 && !signed {
            return Err(Reason::Negative(number.to_string()));
        }
        let value = if signed { Value::signed(width, number) } else { Value::new(width, number as u128) };
        value.map(Expr::Literal).ok_or_else(too_large)
    }

    fn name(&mut self, name: &str) -> Result<Expr> {
        match self.table.resolve(name, &self.loops)? {
            Named::Signal { id, low, width, .. } => {
                let full = self.table.signals[id].width;
                if self.table.signals[id].role == Role::InOut {
                    return Err(Reason::InOut);
                }
                self.part(Expr::Signal { id, width: full }, low, width)
            }
            Named::Label { name, value } => Ok(Expr::Label { name, value }),
            Named::Number(_) => Err(Reason::NoWidth),
        }
    }

    fn signed_cast(&mut self, x: &VerilogExpression, want: Option<usize>) -> Result<Expr> {
        let natural = self.width_of(x)?;
        let value = self.expr(x, natural.or(want))?;
        let from = value.width();
        match want {
            Some(width) if self.is_signed(x)? && width > from => {
                let id = self.named(value);
                Ok(Expr::SignExtend { id, from, width })
            }
            Some(width) if self.is_signed(x)? => self.resized(value, width),
            _ => Ok(value),
        }
    }

    fn binary(
        &mut self,
        left: &VerilogExpression,
        op: &VerilogOp,
        right: &VerilogExpression,
        want: Option<usize>,
    ) -> Result<Expr> {
        if let Some(outcome) = self.compare_numbers(left, op, right)? {
            return Ok(Expr::Literal(Value::bit(outcome)));
        }
        let ir = match op {
            VerilogOp::Shl => return self.shift(true, left, right),
            VerilogOp::Shr => return self.shift(false, left, right),
            VerilogOp::Mul => return self.multiply(left, right),
            VerilogOp::Add => BinaryOp::Add,
            VerilogOp::Sub => BinaryOp::Sub,
            VerilogOp::BitAnd => BinaryOp::And,
            VerilogOp::BitOr => BinaryOp::Or,
            VerilogOp::BitXor => BinaryOp::Xor,
            VerilogOp::LogicalAnd => BinaryOp::LogicalAnd,
            VerilogOp::LogicalOr => BinaryOp::LogicalOr,
            VerilogOp::Eq => BinaryOp::Eq,
            VerilogOp::Ne => BinaryOp::Ne,
            VerilogOp::Lt => BinaryOp::Lt,
            VerilogOp::Le => BinaryOp::Le,
            VerilogOp::Gt => BinaryOp::Gt,
            VerilogOp::Ge => BinaryOp::Ge,
        };
        let natural = self.width_of(left)?.or(self.width_of(right)?);
        let context = if is_comparison(op) { natural } else { natural.or(want) };
        let signed = self.is_signed(left)? || self.is_signed(right)?;
        let l = self.expr(left, context)?;
        let mut r = self.expr(right, context)?;
        // Bits<N> + Bit exists in rust-hdl and adds zero or one
        if ir == BinaryOp::Add && r.width() == 1 && l.width() > 1 {
            r = resize(r, l.width());
        }
        if l.width() != r.width() {
            return Err(Reason::WidthMismatch { left: l.width(), between: format!("{op:?}"), right: r.width() });
        }
        if matches!(ir, BinaryOp::LogicalAnd | BinaryOp::LogicalOr) && l.width() != 1 {
            return Err(Reason::WidthMismatch { left: l.width(), between: format!("{op:?}"), right: 1 });
        }
        Ok(binary(ir, l, r, signed))
    }

    fn shift(&mut self, left: bool, value: &VerilogExpression, by: &VerilogExpression) -> Result<Expr> {
        let width = match self.number(value)? {
            Some(_) => Some(64),
            None => self.width_of(value)?,
        };
        let value = self.expr(value, width)?;
        if let Some(by) = self.number(by)? {
            let by = usize::try_from(by).map_err(|_| Reason::Negative(by.to_string()))?;
            return Ok(shift_by(left, value, by));
        }
        let by = self.expr(by, None)?;
        let width = value.width();
        Ok(Expr::Shift { left, value: Box::new(value), by: Box::new(by), width })
    }

    fn multiply(&mut self, left: &VerilogExpression, right: &VerilogExpression) -> Result<Expr> {
        let signed = self.is_signed(left)? || self.is_signed(right)?;
        let (l, r) = (self.expr(left, None)?, self.expr(right, None)?);
        let width = l.width() + r.width();
        let (l, r) = if signed {
            (self.sign_extended(l, width), self.sign_extended(r, width))
        } else {
            (resize(l, width), resize(r, width))
        };
        Ok(binary(BinaryOp::Mul, l, r, false))
    }

    fn sign_extended(&mut self, value: Expr, width: usize) -> Expr {
        let from = value.width();
        let id = self.named(value);
        Expr::SignExtend { id, from, width }
    }

    fn index(&mut self, x: &VerilogExpression, index: &VerilogExpression) -> Result<Expr> {
        let base = self.expr(x, None)?;
        let width = base.width();
        if let Some(index) = self.number(index)? {
            if !(0..width as i128).contains(&index) {
                return Err(Reason::IndexOutOfRange { index, width });
            }
            return self.part(base, index as usize, 1);
        }
        let index = self.expr(index, None)?;
        if width == 1 {
            return Ok(base);
        }
        // Rust panics beyond the width, so higher index bits carry no information.
        let index = self.resized(index, clog2(width))?;
        let id = self.named(base);
        Ok(Expr::Indexed { id, index: Box::new(index), width: 1 })
    }

    fn slice(&mut self, x: &VerilogExpression, width: usize, offset: &VerilogExpression) -> Result<Expr> {
        let natural = self.width_of(x)?;
        let base = self.expr(x, natural)?;
        let full = base.width();
        if let Some(low) = self.number(offset)? {
            if !(0..=full as i128).contains(&low) {
                return Err(Reason::IndexOutOfRange { index: low, width: full });
            }
            return self.part_or_zero(base, low as usize, width);
        }
        let offset = self.expr(offset, None)?;
        let bits = offset.width();
        let always_inside = bits < 32 && (1usize << bits) - 1 + width <= full;
        if always_inside {
            let index = self.resized(offset, clog2(full))?;
            let id = self.named(base);
            return Ok(Expr::Indexed { id, index: Box::new(index), width });
        }
        // Bits beyond the end read as zero in Rust, as X in a Verilog part-select.
        let shifted = Expr::Shift { left: false, value: Box::new(base), by: Box::new(offset), width: full };
        self.part_or_zero(shifted, 0, width)
    }

    fn replace_bit(
        &mut self,
        x: &VerilogExpression,
        index: &VerilogExpression,
        bit: &VerilogExpression,
        want: Option<usize>,
    ) -> Result<Expr> {
        let natural = self.width_of(x)?.or(want);
        let base = self.expr(x, natural)?;
        let width = base.width();
        let bit = self.expr(bit, Some(1))?;
        if bit.width() != 1 {
            return Err(Reason::WidthMismatch { left: bit.width(), between: "replace_bit".into(), right: 1 });
        }
        if let Some(index) = self.number(index)? {
            if !(0..width as i128).contains(&index) {
                return Err(Reason::IndexOutOfRange { index, width });
            }
            let at = index as usize;
            let base = Expr::Signal { id: self.named(base), width };
            let mut parts = vec![];
            if at + 1 < width {
                parts.push(self.part(base.clone(), at + 1, width - at - 1)?);
            }
            parts.push(bit);
            if at > 0 {
                parts.push(self.part(base, 0, at)?);
            }
            return Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Concat(parts) });
        }
        let index = self.expr(index, None)?;
        let index = Expr::Signal { width: index.width(), id: self.named(index) };
        let shifted = |value: Expr| Expr::Shift { left: true, value: Box::new(value), by: Box::new(index.clone()), width };
        let one = Value::new(width, 1).unwrap_or_else(|| Value::zero(width));
        let hole = unary(UnaryOp::Not, shifted(Expr::Literal(one)));
        let kept = binary(BinaryOp::And, base, hole, false);
        Ok(binary(BinaryOp::Or, kept, shifted(resize(bit, width)), false))
    }

    /// Zero-extended or truncated.
    pub fn resized(&mut self, value: Expr, width: usize) -> Result<Expr> {
        if width >= value.width() {
            return Ok(resize(value, width));
        }
        self.part(value, 0, width)
    }

    fn part_or_zero(&mut self, base: Expr, low: usize, width: usize) -> Result<Expr> {
        let full = base.width();
        if width == 0 {
            return Err(Reason::ZeroWidth);
        }
        if low + width <= full {
            return self.part(base, low, width);
        }
        if low >= full {
            return Ok(Expr::Literal(Value::zero(width)));
        }
        let inside = self.part(base, low, full - low)?;
        Ok(resize(inside, width))
    }

    /// Constant part of any expression, as deep inside as possible.
    fn part(&mut self, base: Expr, low: usize, width: usize) -> Result<Expr> {
        if width == 0 {
            return Err(Reason::ZeroWidth);
        }
        Ok(part(self, base, low, width))
    }

    /// A signal that carries the value.
    pub fn named(&mut self, value: Expr) -> SignalId {
        if let Expr::Signal { id, .. } = value {
            if !matches!(self.table.signals[id].role, Role::Constant(_)) {
                return id;
            }
        }
        let width = value.width();
        let ty = TypeDescriptor { name: "term".into(), kind: TypeKind::Bits(width) };
        let wanted = format!("{}_term", self.hint);
        let id = self.table.add_internal(&wanted, &self.hint.clone(), ty, width, Role::Term);
        self.before.push(Stmt::Assign { target: id, low: 0, width, value });
        id
    }
}

/// Without parentheses.
pub fn strip(e: &VerilogExpression) -> &VerilogExpression {
    match e {
        VerilogExpression::Paren(x) => strip(x),
        e => e,
    }
}
