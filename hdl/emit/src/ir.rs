//! Typed form of a kernel: every name resolved, every expression of known width, selects only of named signals.
//! Made by `lower` and `stmt`, rearranged by `flow` and `cones`, printed by `text`.
use crate::value::Value;

/// Index into the module's [`crate::names::Table`].
pub type SignalId = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Not,
    Negate,
    All,
    Any,
    Parity,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Literal(Value),
    /// Enum variant, printed as a localparam.
    Label {
        name: String,
        value: Value,
    },
    Signal {
        id: SignalId,
        width: usize,
    },
    /// Constant part of a signal, narrower than it.
    Part {
        id: SignalId,
        low: usize,
        width: usize,
    },
    /// Part of a signal at a computed place; the index is as wide as Verilog wants it.
    Indexed {
        id: SignalId,
        index: Box<Expr>,
        width: usize,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
        width: usize,
    },
    /// Operands of equal width; comparisons are one bit wide, the others as wide as the operands.
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
        signed: bool,
        width: usize,
    },
    /// Logical shift by a constant.
    ShiftBy {
        left: bool,
        value: Box<Expr>,
        by: usize,
        width: usize,
    },
    /// Logical shift by a signal.
    Shift {
        left: bool,
        value: Box<Expr>,
        by: Box<Expr>,
        width: usize,
    },
    ZeroExtend {
        value: Box<Expr>,
        width: usize,
    },
    SignExtend {
        id: SignalId,
        from: usize,
        width: usize,
    },
    /// Most significant part first.
    Concat(Vec<Expr>),
}

impl Expr {
    pub fn width(&self) -> usize {
        match self {
            Expr::Literal(value) | Expr::Label { value, .. } => value.width(),
            Expr::Signal { width, .. }
            | Expr::Part { width, .. }
            | Expr::Indexed { width, .. }
            | Expr::Unary { width, .. }
            | Expr::Binary { width, .. }
            | Expr::ShiftBy { width, .. }
            | Expr::Shift { width, .. }
            | Expr::ZeroExtend { width, .. }
            | Expr::SignExtend { width, .. } => *width,
            Expr::Concat(parts) => parts.iter().map(Expr::width).sum(),
        }
    }

    /// The value, if it is known.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Expr::Literal(value) | Expr::Label { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Calls `f` with every signal read: id, lowest bit, number of bits.
    pub fn for_each_read(&self, f: &mut dyn FnMut(SignalId, usize, usize)) {
        match self {
            Expr::Literal(_) | Expr::Label { .. } => {}
            Expr::Signal { id, width } => f(*id, 0, *width),
            Expr::Part { id, low, width } => f(*id, *low, *width),
            Expr::SignExtend { id, from, .. } => f(*id, 0, *from),
            Expr::Indexed { id, index, .. } => {
                f(*id, 0, usize::MAX);
                index.for_each_read(f);
            }
            Expr::Unary { operand, .. } => operand.for_each_read(f),
            Expr::Binary { left, right, .. } => {
                left.for_each_read(f);
                right.for_each_read(f);
            }
            Expr::ShiftBy { value, .. } | Expr::ZeroExtend { value, .. } => value.for_each_read(f),
            Expr::Shift { value, by, .. } => {
                value.for_each_read(f);
                by.for_each_read(f);
            }
            Expr::Concat(parts) => parts.iter().for_each(|part| part.for_each_read(f)),
        }
    }

    /// Replaces signal ids.
    pub fn rename(&mut self, f: &dyn Fn(SignalId) -> SignalId) {
        self.rewrite(&mut |e| match e {
            Expr::Signal { id, .. } | Expr::Part { id, .. } | Expr::SignExtend { id, .. } | Expr::Indexed { id, .. } => {
                *id = f(*id);
            }
            _ => {}
        });
    }

    /// Calls `f` on this expression and everything inside, innermost first.
    pub fn rewrite(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Literal(_) | Expr::Label { .. } | Expr::Signal { .. } | Expr::Part { .. } | Expr::SignExtend { .. } => {}
            Expr::Indexed { index, .. } => index.rewrite(f),
            Expr::Unary { operand, .. } => operand.rewrite(f),
            Expr::Binary { left, right, .. } => {
                left.rewrite(f);
                right.rewrite(f);
            }
            Expr::ShiftBy { value, .. } | Expr::ZeroExtend { value, .. } => value.rewrite(f),
            Expr::Shift { value, by, .. } => {
                value.rewrite(f);
                by.rewrite(f);
            }
            Expr::Concat(parts) => parts.iter_mut().for_each(|part| part.rewrite(f)),
        }
        f(self);
    }

    pub fn reads(&self, signal: SignalId) -> bool {
        let mut found = false;
        self.for_each_read(&mut |id, _, _| found |= id == signal);
        found
    }
}

/// Statements have the semantics of variables: in order, the last assignment wins.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Index into the kernel's comments.
    Comment(usize),
    Assign {
        target: SignalId,
        low: usize,
        width: usize,
        value: Expr,
    },
    If {
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// `last` is the label of the arm that became the default because the arms cover everything.
    Case {
        test: Expr,
        arms: Vec<(Expr, Vec<Stmt>)>,
        default: Vec<Stmt>,
        last: Option<Expr>,
    },
}

impl Stmt {
    /// The statement lists inside this statement.
    pub fn branches(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Stmt::Comment(_) | Stmt::Assign { .. } => vec![],
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Case { arms, default, .. } => arms.iter().map(|arm| &arm.1).chain([default]).collect(),
        }
    }

    pub fn branches_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::Comment(_) | Stmt::Assign { .. } => vec![],
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Case { arms, default, .. } => arms.iter_mut().map(|arm| &mut arm.1).chain([default]).collect(),
        }
    }

    /// The expression evaluated by the statement itself: value of an assignment or condition.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Stmt::Comment(_) => None,
            Stmt::Assign { value, .. } => Some(value),
            Stmt::If { condition, .. } => Some(condition),
            Stmt::Case { test, .. } => Some(test),
        }
    }

    pub fn expr_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Stmt::Comment(_) => None,
            Stmt::Assign { value, .. } => Some(value),
            Stmt::If { condition, .. } => Some(condition),
            Stmt::Case { test, .. } => Some(test),
        }
    }

    /// Every signal assigned in the statement, with repetitions, in order.
    pub fn targets(&self, into: &mut Vec<SignalId>) {
        if let Stmt::Assign { target, .. } = self {
            into.push(*target);
        }
        for branch in self.branches() {
            branch.iter().for_each(|stmt| stmt.targets(into));
        }
    }
}
