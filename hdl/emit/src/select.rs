//! Constructors of expressions that simplify on the way: constants folded, parts moved inwards past operators that work
//! bit by bit, comparisons that cannot fail decided.
use crate::ir::{BinaryOp, Expr, UnaryOp};
use crate::lower::Lowering;
use crate::names::Role;
use crate::value::Value;

/// Zero extension; `width` is not below the width of the value.
pub fn resize(value: Expr, width: usize) -> Expr {
    if value.width() == width {
        return value;
    }
    match value {
        Expr::Literal(value) => Expr::Literal(value.slice(0, width)),
        Expr::ZeroExtend { value, .. } => Expr::ZeroExtend { value, width },
        value => Expr::ZeroExtend { value: Box::new(value), width },
    }
}

pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
    let width = if matches!(op, UnaryOp::Not | UnaryOp::Negate) { operand.width() } else { 1 };
    if let (Expr::Literal(value), 1) = (&operand, operand.width()) {
        let set = value.is_ones();
        return Expr::Literal(Value::bit(if op == UnaryOp::Not { !set } else { set }));
    }
    if operand.width() == 1 && op != UnaryOp::Not {
        return operand;
    }
    match operand {
        Expr::Unary { op: UnaryOp::Not, operand, .. } if op == UnaryOp::Not => *operand,
        operand => Expr::Unary { op, operand: Box::new(operand), width },
    }
}

/// Operands are of equal width.
pub fn binary(op: BinaryOp, left: Expr, right: Expr, signed: bool) -> Expr {
    use BinaryOp::*;
    let bit = |value| Expr::Literal(Value::bit(value));
    if let (Some(l), Some(r)) = (left.value(), right.value()) {
        match op {
            Eq => return bit(l == r),
            Ne => return bit(l != r),
            Lt if !signed => return bit(l.less_than(r)),
            Ge if !signed => return bit(!l.less_than(r)),
            Gt if !signed => return bit(r.less_than(l)),
            Le if !signed => return bit(!r.less_than(l)),
            _ => {}
        }
    }
    if !signed {
        // decided by the range of an unsigned operand (Verilator: CMPCONST, UNSIGNED)
        let (zero_right, ones_right) = ends(&right);
        let (zero_left, ones_left) = ends(&left);
        match op {
            Ge if zero_right || ones_left => return bit(true),
            Lt if zero_right || ones_left => return bit(false),
            Le if ones_right || zero_left => return bit(true),
            Gt if ones_right || zero_left => return bit(false),
            _ => {}
        }
    }
    if left.width() == 1 && matches!(op, And | Or | LogicalAnd | LogicalOr) {
        let and = matches!(op, And | LogicalAnd);
        for (this, other) in [(&left, &right), (&right, &left)] {
            if let Some(value) = this.value() {
                return if value.is_ones() == and { other.clone() } else { bit(!and) };
            }
        }
    }
    let comparison = matches!(op, Eq | Ne | Lt | Le | Gt | Ge);
    let width = if comparison { 1 } else { left.width() };
    Expr::Binary { op, left: Box::new(left), right: Box::new(right), signed, width }
}

/// Is the expression the constant zero, the constant of all ones?
fn ends(e: &Expr) -> (bool, bool) {
    e.value().map_or((false, false), |value| (value.is_zero(), value.is_ones()))
}

pub fn shift_by(left: bool, value: Expr, by: usize) -> Expr {
    let width = value.width();
    if by == 0 {
        return value;
    }
    if by >= width {
        return Expr::Literal(Value::zero(width));
    }
    Expr::ShiftBy { left, value: Box::new(value), by, width }
}

/// Bits `low .. low + width` of an expression that has them.
pub fn part(lowering: &mut Lowering, base: Expr, low: usize, width: usize) -> Expr {
    let full = base.width();
    if low == 0 && width == full {
        return base;
    }
    match base {
        Expr::Literal(value) | Expr::Label { value, .. } => Expr::Literal(value.slice(low, width)),
        Expr::Signal { id, .. } => match &lowering.table.signals[id].role {
            Role::Constant(value) => Expr::Literal(value.slice(low, width)),
            _ => Expr::Part { id, low, width },
        },
        Expr::Part { id, low: start, .. } => Expr::Part { id, low: start + low, width },
        Expr::ZeroExtend { value, .. } => {
            let inner = value.width();
            if low >= inner {
                return Expr::Literal(Value::zero(width));
            }
            let inside = width.min(inner - low);
            resize(part(lowering, *value, low, inside), width)
        }
        Expr::ShiftBy { left: true, value, by, .. } if low >= by => part(lowering, *value, low - by, width),
        Expr::ShiftBy { left: true, by, .. } if low + width <= by => Expr::Literal(Value::zero(width)),
        Expr::ShiftBy { left: false, value, by, .. } => {
            let low = low + by;
            if low >= full {
                return Expr::Literal(Value::zero(width));
            }
            let inside = width.min(full - low);
            resize(part(lowering, *value, low, inside), width)
        }
        Expr::Unary { op: UnaryOp::Not, operand, .. } => unary(UnaryOp::Not, part(lowering, *operand, low, width)),
        Expr::Unary { op: UnaryOp::Negate, operand, .. } if low == 0 => {
            unary(UnaryOp::Negate, part(lowering, *operand, low, width))
        }
        Expr::Binary { op, left, right, .. } if passes(op, low) => {
            let left = part(lowering, *left, low, width);
            let right = part(lowering, *right, low, width);
            binary(op, left, right, false)
        }
        base => {
            let id = lowering.named(base);
            Expr::Part { id, low, width }
        }
    }
}

/// Low bits of a result depend on the low bits of the operands only.
fn passes(op: BinaryOp, low: usize) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => true,
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => low == 0,
        _ => false,
    }
}
