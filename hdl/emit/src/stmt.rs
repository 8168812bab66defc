//! Statements: unrolls loops, turns `link`/`join` into assignments, decides branches known at generation, and collects
//! the clock connections. Out comes the [`Kernel`] of one module.
use rust_hdl_core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogConditional, VerilogExpression, VerilogLink, VerilogMatch, VerilogStatement,
};
use std::collections::{BTreeMap, HashSet};

use crate::ir::{Expr, SignalId, Stmt};
use crate::lower::{strip, Lowering};
use crate::names::{flatten, Named, Role, Table};
use crate::value::Value;
use crate::{EmitError, Reason};

#[derive(Default)]
pub struct Kernel {
    /// From `comment!("module name: text")`.
    pub name: Option<String>,
    pub about: Option<String>,
    pub body: Vec<Stmt>,
    pub comments: Vec<String>,
    /// Clock signals driven here, and by which signal.
    pub clocks: BTreeMap<SignalId, SignalId>,
}

pub fn lower_kernel(code: &VerilogBlock, table: &mut Table, path: &str) -> Result<Kernel, EmitError> {
    let lowering = Lowering::new(table);
    let mut builder = Builder {
        lowering,
        kernel: Kernel::default(),
        path: path.into(),
        depth: 0,
        linked: HashSet::new(),
        assigned: HashSet::new(),
    };
    builder.kernel.body = builder.block(code)?;
    Ok(builder.kernel)
}

struct Builder<'a> {
    lowering: Lowering<'a>,
    kernel: Kernel,
    path: String,
    /// Number of branches around the current statement.
    depth: usize,
    linked: HashSet<SignalId>,
    assigned: HashSet<SignalId>,
}

type Emit<T> = Result<T, EmitError>;

impl Builder<'_> {
    fn fail<T>(&self, signal: &str, reason: Reason) -> Emit<T> {
        let signal = signal.trim_end_matches("$next").into();
        Err(EmitError { module: self.path.clone(), signal, reason })
    }

    fn at<T>(&self, signal: &str, result: Result<T, Reason>) -> Emit<T> {
        result.or_else(|reason| self.fail(signal, reason))
    }

    fn block(&mut self, code: &VerilogBlock) -> Emit<Vec<Stmt>> {
        let mut out = vec![];
        for statement in code {
            self.statement(statement, &mut out)?;
        }
        Ok(out)
    }

    fn branch(&mut self, code: &VerilogBlock) -> Emit<Vec<Stmt>> {
        self.depth += 1;
        let out = self.block(code);
        self.depth -= 1;
        out
    }

    fn statement(&mut self, statement: &VerilogStatement, out: &mut Vec<Stmt>) -> Emit<()> {
        match statement {
            VerilogStatement::Assignment(target, value) => self.assignment(target, value, out),
            VerilogStatement::SliceAssignment { base, width, offset, replacement } => {
                let name = signal_name(base);
                self.lowering.start(String::new());
                let low = self.at(name, self.lowering.number(offset))?.and_then(|low| usize::try_from(low).ok());
                let Some(low) = low else {
                    return self.fail(name, Reason::Unsupported("assignment to a computed part".into()));
                };
                let (id, start, _) = self.target(name)?;
                self.assign(name, (id, start + low, *width), replacement, out)
            }
            VerilogStatement::If(conditional) => self.conditional(conditional, out),
            VerilogStatement::Match(m) => self.case(m, out),
            VerilogStatement::Loop(l) => {
                for index in l.from.as_usize()..l.to.as_usize() {
                    self.lowering.loops.push((l.index.clone(), index as i128));
                    let unrolled = self.block(&l.block);
                    self.lowering.loops.pop();
                    out.extend(unrolled?);
                }
                Ok(())
            }
            VerilogStatement::Comment(text) => {
                self.comment(text, out);
                Ok(())
            }
            VerilogStatement::Macro(block) => block.iter().try_for_each(|inner| self.statement(inner, out)),
            VerilogStatement::Link(links) => links.iter().try_for_each(|link| self.link(link, out)),
        }
    }

    fn comment(&mut self, text: &str, out: &mut Vec<Stmt>) {
        let text = plain_comment(text);
        if self.kernel.name.is_none() && self.kernel.body.is_empty() && out.is_empty() && self.depth == 0 {
            if let Some((name, about)) = module_comment(&text) {
                self.kernel.name = Some(name);
                self.kernel.about = about;
                return;
            }
        }
        // the same comment in every iteration of a loop is one comment
        let known = self.kernel.comments.iter().position(|known| *known == text);
        let id = known.unwrap_or(self.kernel.comments.len());
        if known.is_none() {
            self.kernel.comments.push(text);
        }
        out.push(Stmt::Comment(id));
    }

    fn link(&mut self, link: &VerilogLink, out: &mut Vec<Stmt>) -> Emit<()> {
        let (details, forward) = match link {
            VerilogLink::Forward(details) => (details, true),
            VerilogLink::Backward(details) => (details, false),
            VerilogLink::Bidirectional(details) => return self.fail(&details.owner_name, Reason::InOut),
        };
        let member = details.my_name.trim_start_matches('.').replace('.', "$");
        let full = |end: &str| if member.is_empty() { end.to_string() } else { format!("{end}${member}") };
        let (owner, other) = (full(&details.owner_name), full(&details.other_name));
        let (target, source) = if forward { (other, owner) } else { (owner, other) };
        let (id, low, width) = self.target(&target)?;
        if self.assigned.contains(&id) || !self.linked.insert(id) {
            return self.fail(&target, Reason::TwoDrivers("it is linked or joined and also assigned".into()));
        }
        let source = VerilogExpression::Signal(source);
        self.drive(&target, (id, low, width), &source, out)
    }

    /// Whole signal or part that an assignment may drive.
    fn target(&self, name: &str) -> Emit<(SignalId, usize, usize)> {
        let named = self.at(name, self.lowering.table.resolve(name, &self.lowering.loops))?;
        let Named::Signal { id, low, width, .. } = named else {
            return self.fail(name, Reason::Unsupported("assignment to something that is not a signal".into()));
        };
        let two = |text: &str| self.fail(name, Reason::TwoDrivers(text.into()));
        match self.lowering.table.signals[id].role {
            Role::Input => two("it is an input of this module, driven from outside"),
            Role::KidOutput(_) => two("it is an output of a sub-module, driven there"),
            Role::InOut => self.fail(name, Reason::InOut),
            Role::Constant(_) => self.fail(name, Reason::Unsupported("assignment to a constant".into())),
            _ => Ok((id, low, width)),
        }
    }

    fn assignment(&mut self, target: &VerilogExpression, value: &VerilogExpression, out: &mut Vec<Stmt>) -> Emit<()> {
        let name = signal_name(target);
        let place = self.target(name)?;
        self.assign(name, place, value, out)
    }

    fn assign(
        &mut self,
        name: &str,
        place: (SignalId, usize, usize),
        value: &VerilogExpression,
        out: &mut Vec<Stmt>,
    ) -> Emit<()> {
        if self.linked.contains(&place.0) {
            return self.fail(name, Reason::TwoDrivers("it is linked or joined and also assigned".into()));
        }
        self.assigned.insert(place.0);
        self.drive(name, place, value, out)
    }

    fn drive(
        &mut self,
        name: &str,
        place: (SignalId, usize, usize),
        value: &VerilogExpression,
        out: &mut Vec<Stmt>,
    ) -> Emit<()> {
        let (target, low, width) = place;
        if self.lowering.table.signals[target].is_clock() {
            return self.clock(name, target, value);
        }
        self.lowering.start(self.lowering.table.signals[target].verilog.clone());
        // `x = x.replace_bit(3, v)` is an assignment to a bit
        if let VerilogExpression::IndexReplace(base, index, bit) = strip(value) {
            let same = matches!(strip(base), VerilogExpression::Signal(s) if self.is_whole(s, target));
            let at = self.at(name, self.lowering.number(index))?;
            if let (true, Some(at), true) = (same, at, low == 0) {
                if !(0..width as i128).contains(&at) {
                    return self.fail(name, Reason::IndexOutOfRange { index: at, width });
                }
                let bit = self.lowering.expr(bit, Some(1));
                let bit = self.at(name, bit)?;
                return self.push(name, (target, at as usize, 1), bit, out);
            }
        }
        let value = self.lowering.expr(value, Some(width));
        let value = self.at(name, value)?;
        self.push(name, place, value, out)
    }

    fn is_whole(&self, name: &str, signal: SignalId) -> bool {
        let named = self.lowering.table.resolve(name, &self.lowering.loops);
        let full = self.lowering.table.signals[signal].width;
        matches!(named, Ok(Named::Signal { id, width, .. }) if id == signal && width == full)
    }

    fn push(&mut self, name: &str, place: (SignalId, usize, usize), value: Expr, out: &mut Vec<Stmt>) -> Emit<()> {
        let (target, low, width) = place;
        if value.width() != width {
            let right = value.width();
            return self.fail(name, Reason::WidthMismatch { left: width, between: "assigned".into(), right });
        }
        out.append(&mut self.lowering.before);
        out.push(Stmt::Assign { target, low, width, value });
        Ok(())
    }

    fn clock(&mut self, name: &str, target: SignalId, value: &VerilogExpression) -> Emit<()> {
        let VerilogExpression::Signal(source) = strip(value) else { return self.fail(name, Reason::ClockNotPlain) };
        let source = self.at(name, self.lowering.table.resolve(source, &self.lowering.loops))?;
        let Named::Signal { id: source, .. } = source else { return self.fail(name, Reason::ClockNotPlain) };
        if self.depth > 0 || !self.lowering.table.signals[source].is_clock() {
            return self.fail(name, Reason::ClockNotPlain);
        }
        match self.kernel.clocks.insert(target, source) {
            Some(before) if before != source => self.fail(name, Reason::TwoDrivers("two different clocks".into())),
            _ => Ok(()),
        }
    }

    /// Lowers a condition; its terms go to `out`. Errors name the first signal assigned under the condition.
    fn condition(
        &mut self,
        e: &VerilogExpression,
        want: Option<usize>,
        inner: &VerilogBlock,
        out: &mut Vec<Stmt>,
    ) -> Emit<Expr> {
        let about = first_target(inner).unwrap_or_else(|| "condition".into());
        let hint = flatten(about.split(['[', '$']).next().unwrap_or("branch"));
        self.lowering.start(format!("{hint}_condition"));
        let condition = self.lowering.expr(e, want);
        let condition = self.at(&about, condition)?;
        out.append(&mut self.lowering.before);
        Ok(condition)
    }

    fn conditional(&mut self, c: &VerilogConditional, out: &mut Vec<Stmt>) -> Emit<()> {
        let condition = self.condition(&c.test, Some(1), &c.then, out)?;
        if condition.width() != 1 {
            let about = first_target(&c.then).unwrap_or_else(|| "condition".into());
            return self.fail(&about, Reason::WidthMismatch { left: condition.width(), between: "if".into(), right: 1 });
        }
        if let Some(value) = condition.value() {
            return match (value.is_ones(), &c.otherwise) {
                (true, _) => c.then.iter().try_for_each(|s| self.statement(s, out)),
                (false, VerilogBlockOrConditional::Block(b)) => b.iter().try_for_each(|s| self.statement(s, out)),
                (false, VerilogBlockOrConditional::Conditional(s)) => self.statement(s, out),
                (false, VerilogBlockOrConditional::None) => Ok(()),
            };
        }
        let then = self.branch(&c.then)?;
        let otherwise = match &c.otherwise {
            VerilogBlockOrConditional::Block(b) => self.branch(b)?,
            VerilogBlockOrConditional::Conditional(s) => self.branch(&vec![(**s).clone()])?,
            VerilogBlockOrConditional::None => vec![],
        };
        out.push(Stmt::If { condition, then, otherwise });
        Ok(())
    }

    fn case(&mut self, m: &VerilogMatch, out: &mut Vec<Stmt>) -> Emit<()> {
        let inner = m.cases.iter().map(|case| &case.block).find(|block| first_target(block).is_some());
        let about = inner.and_then(first_target).unwrap_or_else(|| "match".into());
        let test = self.condition(&m.test, None, inner.unwrap_or(&vec![]), out)?;
        let width = test.width();
        let mut arms: Vec<(Expr, Vec<Stmt>)> = vec![];
        let mut covering = None;
        let mut default = vec![];
        // Rust guarantees that the arms cover everything, so the last one can stand for all that remains.
        let last = m.cases.len().saturating_sub(1);
        for (number, case) in m.cases.iter().enumerate() {
            let block = self.branch(&case.block)?;
            if case.condition == "default" {
                default = block;
                break;
            }
            let label = self.label(&case.condition, width);
            let label = self.at(&about, label)?;
            let repeated = arms.iter().any(|(known, _)| known.value() == label.value());
            if number == last {
                default = block;
                covering = Some(label);
            } else if !repeated {
                arms.push((label, block));
            }
        }
        out.push(Stmt::Case { test, arms, default, last: covering });
        Ok(())
    }

    fn label(&self, text: &str, width: usize) -> Result<Expr, Reason> {
        let too_large = || Reason::LiteralTooLarge { literal: text.into(), width };
        let number = match text {
            "true" => Some(1),
            "false" => Some(0),
            text => parse_number(text),
        };
        if let Some(number) = number {
            return Value::new(width, number).map(Expr::Literal).ok_or_else(too_large);
        }
        match self.lowering.table.resolve(text, &self.lowering.loops)? {
            Named::Label { name, value } if value.width() == width => Ok(Expr::Label { name, value }),
            Named::Label { value, .. } => {
                Err(Reason::WidthMismatch { left: width, between: "match".into(), right: value.width() })
            }
            _ => Err(Reason::UnknownName(text.into())),
        }
    }
}

fn signal_name(e: &VerilogExpression) -> &str {
    match strip(e) {
        VerilogExpression::Signal(name) => name,
        _ => "(expression)",
    }
}

fn first_target(code: &VerilogBlock) -> Option<String> {
    code.iter().find_map(|statement| match statement {
        VerilogStatement::Assignment(target, _) => Some(signal_name(target).trim_end_matches("$next").into()),
        VerilogStatement::SliceAssignment { base, .. } => Some(signal_name(base).trim_end_matches("$next").into()),
        VerilogStatement::If(c) => first_target(&c.then),
        VerilogStatement::Match(m) => m.cases.iter().find_map(|case| first_target(&case.block)),
        VerilogStatement::Loop(l) => first_target(&l.block),
        VerilogStatement::Macro(block) => first_target(block),
        VerilogStatement::Comment(_) | VerilogStatement::Link(_) => None,
    })
}

/// rust-hdl hands over the tokens of the whole macro call, less the closing `")`.
fn plain_comment(text: &str) -> String {
    let inner = text.split_once("(\"").map_or(text, |(call, rest)| if call.contains('!') { rest } else { text });
    let inner = inner.trim_end_matches("\")");
    inner.replace("\\\"", "\"").replace("\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `module NAME` or `module NAME: text`.
pub fn module_comment(text: &str) -> Option<(String, Option<String>)> {
    let rest = text.strip_prefix("module ")?;
    let (name, about) = match rest.split_once(':') {
        Some((name, about)) => (name, Some(about.trim().to_string())),
        None => (rest, None),
    };
    let name = name.trim();
    let valid =
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    valid.then(|| (name.to_string(), about))
}

/// A Rust integer literal: `0x1f`, `0b101`, `12_u64`.
fn parse_number(text: &str) -> Option<u128> {
    let text = text.replace('_', "");
    let text =
        ["u8", "u16", "u32", "u64", "u128", "usize"].iter().find_map(|suffix| text.strip_suffix(suffix)).unwrap_or(&text);
    match text.get(..2) {
        Some("0x") => u128::from_str_radix(&text[2..], 16).ok(),
        Some("0b") => u128::from_str_radix(&text[2..], 2).ok(),
        Some("0o") => u128::from_str_radix(&text[2..], 8).ok(),
        _ => text.parse().ok(),
    }
}
