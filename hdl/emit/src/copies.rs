//! Makes the text shorter: signals that only repeat another one disappear (the versions of a loop's scratch signal mostly
//! carry `x[k]`, and the reader may as well name `x[k]` itself), and terms inside branches become plain wires where their
//! value does not depend on the branch.
use std::collections::{HashMap, HashSet};

use crate::ir::{Expr, SignalId, Stmt};
use crate::names::{Role, Table};

pub fn inline(body: &mut Vec<Stmt>, table: &Table) {
    let mut assignments: HashMap<SignalId, usize> = HashMap::new();
    for stmt in body.iter() {
        let mut targets = vec![];
        stmt.targets(&mut targets);
        targets.into_iter().for_each(|target| *assignments.entry(target).or_default() += 1);
    }
    let once = |id: SignalId| assignments.get(&id) == Some(&1);
    // what a name carries must not change between its assignment and its use
    let stable = |id: SignalId| match &table.signals[id].role {
        Role::Input | Role::KidOutput(_) | Role::Constant(_) => true,
        Role::KidInput(_) | Role::InOut => false,
        Role::Output | Role::Local | Role::Term | Role::Earlier => once(id),
    };
    let mut copies: HashMap<SignalId, Expr> = HashMap::new();
    let mut kept = Vec::with_capacity(body.len());
    for mut stmt in body.drain(..) {
        substitute(&mut stmt, &copies);
        if let Stmt::Assign { target, low: 0, value, .. } = &stmt {
            let internal = matches!(table.signals[*target].role, Role::Earlier);
            let plain = match value {
                Expr::Signal { id, .. } | Expr::Part { id, .. } => stable(*id),
                Expr::Literal(_) | Expr::Label { .. } => true,
                _ => false,
            };
            if internal && once(*target) && plain && value.width() == table.signals[*target].width {
                copies.insert(*target, value.clone());
            }
        }
        kept.push(stmt);
    }
    // a signal indexed by another one must be a signal, so such copies stay
    let mut needed = vec![];
    kept.iter().for_each(|stmt| reads(stmt, &mut needed));
    kept.retain(|stmt| match stmt {
        Stmt::Assign { target, .. } => !copies.contains_key(target) || needed.contains(target),
        _ => true,
    });
    *body = kept;
}

/// Moves terms out of branches if all they read is settled before the branch.
pub fn hoist(body: &mut Vec<Stmt>, table: &Table) {
    let mut written: HashMap<SignalId, usize> = HashMap::new();
    for stmt in body.iter() {
        let mut targets = vec![];
        stmt.targets(&mut targets);
        targets.into_iter().for_each(|target| *written.entry(target).or_default() += 1);
    }
    let mut settled: HashSet<SignalId> = HashSet::new();
    let mut out = Vec::with_capacity(body.len());
    for mut stmt in body.drain(..) {
        let mut moved = vec![];
        for branch in stmt.branches_mut() {
            extract(branch, table, &mut settled, &mut moved);
        }
        out.append(&mut moved);
        if let Stmt::Assign { target, low: 0, width, .. } = &stmt {
            if *width == table.signals[*target].width && written.get(target) == Some(&1) {
                settled.insert(*target);
            }
        }
        out.push(stmt);
    }
    *body = out;
}

fn extract(body: &mut Vec<Stmt>, table: &Table, settled: &mut HashSet<SignalId>, moved: &mut Vec<Stmt>) {
    let mut kept = Vec::with_capacity(body.len());
    for mut stmt in body.drain(..) {
        if let Stmt::Assign { target, value, .. } = &stmt {
            let mut free = table.signals[*target].role == Role::Term;
            value.for_each_read(&mut |id, _, _| {
                free &= match table.signals[id].role {
                    Role::Input | Role::KidOutput(_) | Role::Constant(_) => true,
                    Role::KidInput(_) | Role::InOut => false,
                    _ => settled.contains(&id),
                }
            });
            if free {
                settled.insert(*target);
                moved.push(stmt);
                continue;
            }
        }
        for branch in stmt.branches_mut() {
            extract(branch, table, settled, moved);
        }
        kept.push(stmt);
    }
    *body = kept;
}

fn substitute(stmt: &mut Stmt, copies: &HashMap<SignalId, Expr>) {
    if let Some(expr) = stmt.expr_mut() {
        expr.rewrite(&mut |e| match e {
            Expr::Signal { id, .. } => {
                if let Some(value) = copies.get(id) {
                    *e = value.clone();
                }
            }
            Expr::Part { id, low, width } => match copies.get(id) {
                Some(Expr::Signal { id: source, .. }) => *id = *source,
                Some(Expr::Part { id: source, low: start, .. }) => {
                    *low += start;
                    *id = *source;
                }
                Some(Expr::Literal(value) | Expr::Label { value, .. }) => *e = Expr::Literal(value.slice(*low, *width)),
                _ => {}
            },
            Expr::Indexed { id, .. } | Expr::SignExtend { id, .. } => {
                if let Some(Expr::Signal { id: source, .. }) = copies.get(id) {
                    *id = *source;
                }
            }
            _ => {}
        });
    }
    for branch in stmt.branches_mut() {
        branch.iter_mut().for_each(|inner| substitute(inner, copies));
    }
}

fn reads(stmt: &Stmt, into: &mut Vec<SignalId>) {
    if let Some(expr) = stmt.expr() {
        expr.for_each_read(&mut |id, _, _| into.push(id));
    }
    for branch in stmt.branches() {
        branch.iter().for_each(|inner| reads(inner, into));
    }
}
