//! Prints expressions and statements. Operands that are not atoms get parentheses, so precedence never matters; parts of
//! structs carry the name of the field.
use crate::ir::{BinaryOp, Expr, SignalId, Stmt, UnaryOp};
use crate::names::{field_path, Role, Table};
use crate::select::unary;
use crate::value::Value;

pub struct Printer<'a> {
    pub table: &'a Table,
    pub comments: &'a [String],
}

/// `[7:0] ` for a declaration, nothing for a single bit.
pub fn range(width: usize) -> String {
    if width == 1 {
        String::new()
    } else {
        format!("[{}:0] ", width - 1)
    }
}

impl Printer<'_> {
    pub fn name(&self, id: SignalId) -> &str {
        &self.table.signals[id].verilog
    }

    /// Signal or part of it, as target or operand.
    pub fn place(&self, id: SignalId, low: usize, width: usize) -> String {
        let signal = &self.table.signals[id];
        if low == 0 && width == signal.width {
            return signal.verilog.clone();
        }
        let field = field_path(&signal.ty, low, width).map_or(String::new(), |field| format!("/*{field}*/ "));
        if width == 1 {
            return format!("{}[{field}{low}]", signal.verilog);
        }
        format!("{}[{field}{}:{low}]", signal.verilog, low + width - 1)
    }

    pub fn expr(&self, e: &Expr) -> String {
        match e {
            Expr::Literal(value) => value.verilog(),
            Expr::Label { name, .. } => name.clone(),
            Expr::Signal { id, .. } => self.name(*id).to_string(),
            Expr::Part { id, low, width } => self.place(*id, *low, *width),
            Expr::Indexed { id, index, width: 1 } => format!("{}[{}]", self.name(*id), self.expr(index)),
            Expr::Indexed { id, index, width } => format!("{}[{} +: {width}]", self.name(*id), self.operand(index)),
            Expr::Unary { op, operand, width } => {
                let sign = match op {
                    UnaryOp::Not if *width == 1 => "!",
                    UnaryOp::Not => "~",
                    UnaryOp::Negate => "-",
                    UnaryOp::All => "&",
                    UnaryOp::Any => "|",
                    UnaryOp::Parity => "^",
                };
                // one sign beside another would be refused or, as `^~`, be a different operator
                match **operand {
                    Expr::Unary { .. } => format!("{sign}({})", self.expr(operand)),
                    _ => format!("{sign}{}", self.operand(operand)),
                }
            }
            Expr::Binary { op, left, right, signed, .. } => {
                let ordered = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
                let side = |e: &Expr| match *signed && ordered {
                    true => format!("$signed({})", self.expr(e)),
                    false => self.operand(e),
                };
                format!("{} {} {}", side(left), operator(*op), side(right))
            }
            Expr::ShiftBy { left, value, by, .. } => {
                format!("{} {} {by}", self.operand(value), if *left { "<<" } else { ">>" })
            }
            Expr::Shift { left, value, by, .. } => {
                format!("{} {} {}", self.operand(value), if *left { "<<" } else { ">>" }, self.operand(by))
            }
            Expr::ZeroExtend { value, width } => {
                let zeros = Value::zero(width - value.width()).verilog();
                format!("{{{zeros}, {}}}", self.expr(value))
            }
            Expr::SignExtend { id, from, width } => {
                let sign = self.place(*id, from - 1, 1);
                format!("{{{{{}{{{sign}}}}}, {}}}", width - from, self.name(*id))
            }
            Expr::Concat(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.expr(part)).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }

    fn operand(&self, e: &Expr) -> String {
        match e {
            // binds tighter than any binary operator and is not confused with one
            Expr::Unary { op: UnaryOp::Not, .. } => self.expr(e),
            Expr::Unary { .. } | Expr::Binary { .. } | Expr::ShiftBy { .. } | Expr::Shift { .. } => {
                format!("({})", self.expr(e))
            }
            _ => self.expr(e),
        }
    }

    pub fn comment(&self, id: usize, indent: usize, out: &mut Vec<String>) {
        out.push(format!("{}// {}", "    ".repeat(indent), self.comments[id]));
    }

    pub fn block(&self, body: &[Stmt], indent: usize, out: &mut Vec<String>) {
        for stmt in body {
            self.statement(stmt, indent, out);
        }
    }

    fn statement(&self, stmt: &Stmt, indent: usize, out: &mut Vec<String>) {
        let pad = "    ".repeat(indent);
        match stmt {
            Stmt::Comment(id) => self.comment(*id, indent, out),
            Stmt::Assign { target, low, width, value } => {
                out.push(format!("{pad}{} = {};", self.place(*target, *low, *width), self.expr(value)));
            }
            Stmt::If { condition, then, otherwise } => {
                if does_nothing(then) && !does_nothing(otherwise) {
                    // the condition may be an inversion, and `!!x` is not Verilog
                    let contrary = unary(UnaryOp::Not, condition.clone());
                    out.push(format!("{pad}if ({}) begin", self.expr(&contrary)));
                    self.block(otherwise, indent + 1, out);
                } else {
                    out.push(format!("{pad}if ({}) begin", self.expr(condition)));
                    self.block(then, indent + 1, out);
                    self.otherwise(otherwise, indent, out);
                }
                out.push(format!("{pad}end"));
            }
            Stmt::Case { test, arms, default, last } => {
                let covers = last.as_ref().map_or(String::new(), |label| format!(" // {}", self.expr(label)));
                self.case(test, arms, default, &covers, indent, out);
            }
        }
    }

    /// `else` branches; a single `if` in one continues the chain.
    fn otherwise(&self, body: &[Stmt], indent: usize, out: &mut Vec<String>) {
        let pad = "    ".repeat(indent);
        match body {
            body if does_nothing(body) => {}
            [Stmt::If { condition, then, otherwise }] if !does_nothing(then) => {
                out.push(format!("{pad}end else if ({}) begin", self.expr(condition)));
                self.block(then, indent + 1, out);
                self.otherwise(otherwise, indent, out);
            }
            body => {
                out.push(format!("{pad}end else begin"));
                self.block(body, indent + 1, out);
            }
        }
    }

    fn case(
        &self,
        test: &Expr,
        arms: &[(Expr, Vec<Stmt>)],
        default: &[Stmt],
        covers: &str,
        indent: usize,
        out: &mut Vec<String>,
    ) {
        let pad = "    ".repeat(indent);
        let keep_empty = !does_nothing(default);
        out.push(format!("{pad}case ({})", self.expr(test)));
        let pad = "    ".repeat(indent + 1);
        for (label, arm) in arms {
            let label = self.expr(label);
            if !does_nothing(arm) {
                out.push(format!("{pad}{label}: begin"));
                self.block(arm, indent + 2, out);
                out.push(format!("{pad}end"));
            } else if keep_empty {
                out.push(format!("{pad}{label}: ;"));
            }
        }
        if keep_empty {
            out.push(format!("{pad}default: begin{covers}"));
            self.block(default, indent + 2, out);
            out.push(format!("{pad}end"));
        } else {
            out.push(format!("{pad}default: ;"));
        }
        out.push(format!("{}endcase", "    ".repeat(indent)));
    }

    /// Terms and earlier versions that a process assigns in some branches only: nobody reads them elsewhere, so a
    /// default keeps tools from seeing a latch.
    pub fn defaults(&self, targets: &[SignalId], body: &[Stmt], indent: usize, out: &mut Vec<String>) {
        for target in targets {
            let signal = &self.table.signals[*target];
            let always = body.iter().any(
                |stmt| matches!(stmt, Stmt::Assign { target: t, low: 0, width, .. } if t == target && *width == signal.width),
            );
            if matches!(signal.role, Role::Term | Role::Earlier) && !always {
                let zero = Value::zero(signal.width).verilog();
                out.push(format!("{}{} = {zero};", "    ".repeat(indent), signal.verilog));
            }
        }
    }
}

fn does_nothing(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| match stmt {
        Stmt::Comment(_) => true,
        Stmt::Assign { .. } => false,
        stmt => stmt.branches().iter().all(|branch| does_nothing(branch)),
    })
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::LogicalAnd => "&&",
        BinaryOp::LogicalOr => "||",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
    }
}
