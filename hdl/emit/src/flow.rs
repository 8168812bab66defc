//! Order of assignments: splits a signal into one signal per unconditional assignment (so that a default that is
//! overwritten disappears and a loop's scratch signal becomes independent wires), and proves that every signal is
//! assigned on all paths and before it is read.
use std::collections::{HashMap, HashSet};

use crate::copies;
use crate::ir::{Expr, SignalId, Stmt};
use crate::names::{Role, Table};
use crate::stmt::Kernel;
use crate::{EmitError, Reason};

/// Rearranges the kernel; afterwards every remaining assignment matters.
pub fn analyse(kernel: &mut Kernel, table: &mut Table, path: &str) -> Result<(), EmitError> {
    split_versions(&mut kernel.body, table);
    check(kernel, table, path)?;
    drop_dead(&mut kernel.body, table);
    copies::hoist(&mut kernel.body, table);
    copies::inline(&mut kernel.body, table);
    Ok(())
}

/// Is this an unconditional assignment of the whole signal that does not use its old value?
fn restarts(stmt: &Stmt, table: &Table) -> Option<SignalId> {
    match stmt {
        Stmt::Assign { target, low: 0, width, value } if *width == table.signals[*target].width => {
            (!value.reads(*target)).then_some(*target)
        }
        _ => None,
    }
}

fn split_versions(body: &mut [Stmt], table: &mut Table) {
    // number of restarts after a first assignment, per signal
    let mut restarts_of: HashMap<SignalId, usize> = HashMap::new();
    let mut assigned: HashSet<SignalId> = HashSet::new();
    for stmt in body.iter() {
        if let Some(target) = restarts(stmt, table) {
            if assigned.contains(&target) {
                *restarts_of.entry(target).or_default() += 1;
            }
        }
        let mut targets = vec![];
        stmt.targets(&mut targets);
        assigned.extend(targets);
    }
    // the last version keeps the name
    let mut versions: HashMap<SignalId, Vec<SignalId>> = HashMap::new();
    let mut split: Vec<_> = restarts_of.into_iter().collect();
    split.sort_unstable();
    for (signal, count) in split {
        let original = table.signals[signal].clone();
        let mut ids: Vec<_> = (1..=count)
            .map(|number| {
                let wanted = format!("{}_{number}", original.verilog);
                table.add_internal(&wanted, &original.rust, original.ty.clone(), original.width, Role::Earlier)
            })
            .collect();
        ids.push(signal);
        ids.reverse();
        versions.insert(signal, ids);
    }
    let mut current: HashMap<SignalId, SignalId> = HashMap::new();
    for stmt in body.iter_mut() {
        if let Some(target) = restarts(stmt, table) {
            if let Some(ids) = versions.get_mut(&target) {
                // the value is still computed from the versions before
                rename_reads(stmt, &current, table);
                let next = ids.pop().unwrap_or(target);
                current.insert(target, next);
                rename_targets(stmt, &current);
                continue;
            }
        }
        rename_first(stmt, &mut versions, &mut current);
        rename_reads(stmt, &current, table);
        rename_targets(stmt, &current);
    }
}

/// A signal whose first assignment is conditional or partial starts with its first version there.
fn rename_first(stmt: &Stmt, versions: &mut HashMap<SignalId, Vec<SignalId>>, current: &mut HashMap<SignalId, SignalId>) {
    let mut targets = vec![];
    stmt.targets(&mut targets);
    for target in targets {
        if let Some(ids) = versions.get_mut(&target) {
            current.entry(target).or_insert_with(|| ids.pop().unwrap_or(target));
        }
    }
}

fn rename_reads(stmt: &mut Stmt, current: &HashMap<SignalId, SignalId>, table: &Table) {
    if let Some(expr) = stmt.expr_mut() {
        // inputs of sub-modules read back give the settled value, that is the last version
        expr.rename(&|id| match table.signals[id].role {
            Role::KidInput(_) => id,
            _ => current.get(&id).copied().unwrap_or(id),
        });
    }
    for branch in stmt.branches_mut() {
        branch.iter_mut().for_each(|inner| rename_reads(inner, current, table));
    }
}

fn rename_targets(stmt: &mut Stmt, current: &HashMap<SignalId, SignalId>) {
    if let Stmt::Assign { target, .. } = stmt {
        *target = current.get(target).copied().unwrap_or(*target);
    }
    for branch in stmt.branches_mut() {
        branch.iter_mut().for_each(|inner| rename_targets(inner, current));
    }
}

/// Bits of the signals assigned so far.
#[derive(Clone, Default)]
struct Assigned {
    bits: HashMap<SignalId, Vec<bool>>,
}

impl Assigned {
    fn assign(&mut self, signal: SignalId, full: usize, low: usize, width: usize) {
        let bits = self.bits.entry(signal).or_insert_with(|| vec![false; full]);
        bits[low..low + width].fill(true);
    }

    fn covers(&self, signal: SignalId, low: usize, width: usize) -> bool {
        self.bits.get(&signal).is_some_and(|bits| bits.iter().skip(low).take(width).all(|&b| b))
    }

    /// What both have assigned; entries of bits that only one has stay, unset.
    fn meet(&mut self, other: &Assigned) {
        for (signal, bits) in &mut self.bits {
            match other.bits.get(signal) {
                Some(others) => bits.iter_mut().zip(others).for_each(|(a, b)| *a &= b),
                None => bits.fill(false),
            }
        }
        for (signal, bits) in &other.bits {
            self.bits.entry(*signal).or_insert_with(|| vec![false; bits.len()]);
        }
    }
}

struct Checker<'a> {
    table: &'a Table,
    path: &'a str,
}

fn check(kernel: &Kernel, table: &Table, path: &str) -> Result<(), EmitError> {
    let checker = Checker { table, path };
    let mut assigned = Assigned::default();
    checker.block(&kernel.body, &mut assigned)?;
    for (id, signal) in table.signals.iter().enumerate() {
        let must = matches!(signal.role, Role::Output | Role::Local | Role::KidInput(_));
        if !must || kernel.clocks.contains_key(&id) {
            continue;
        }
        let reason = match assigned.bits.get(&id) {
            None => Reason::Undriven,
            Some(bits) if bits.contains(&false) => Reason::Latch { bits: ranges(bits) },
            Some(_) => continue,
        };
        return Err(EmitError { module: path.into(), signal: signal.rust.clone(), reason });
    }
    Ok(())
}

/// `7:4, 0` for the bits that are false.
fn ranges(bits: &[bool]) -> String {
    let mut parts = vec![];
    let mut high = bits.len();
    while high > 0 {
        if bits[high - 1] {
            high -= 1;
            continue;
        }
        let low = bits[..high].iter().rposition(|&b| b).map_or(0, |at| at + 1);
        parts.push(if low + 1 == high { low.to_string() } else { format!("{}:{low}", high - 1) });
        high = low;
    }
    parts.join(", ")
}

impl Checker<'_> {
    fn block(&self, body: &[Stmt], assigned: &mut Assigned) -> Result<(), EmitError> {
        body.iter().try_for_each(|stmt| self.statement(stmt, assigned))
    }

    fn statement(&self, stmt: &Stmt, assigned: &mut Assigned) -> Result<(), EmitError> {
        if let Some(expr) = stmt.expr() {
            self.reads(stmt, expr, assigned)?;
        }
        if let Stmt::Assign { target, low, width, .. } = stmt {
            assigned.assign(*target, self.table.signals[*target].width, *low, *width);
        }
        let branches = stmt.branches();
        if branches.is_empty() {
            return Ok(());
        }
        let mut outcome: Option<Assigned> = None;
        for branch in branches {
            let mut state = assigned.clone();
            self.block(branch, &mut state)?;
            match &mut outcome {
                Some(outcome) => outcome.meet(&state),
                None => outcome = Some(state),
            }
        }
        *assigned = outcome.unwrap_or_default();
        Ok(())
    }

    fn reads(&self, stmt: &Stmt, expr: &Expr, assigned: &Assigned) -> Result<(), EmitError> {
        let mut bad = None;
        expr.for_each_read(&mut |id, low, width| {
            let role = &self.table.signals[id].role;
            let ordered = matches!(role, Role::Output | Role::Local | Role::Term | Role::Earlier);
            let clock = self.table.signals[id].is_clock();
            if ordered && !clock && !assigned.covers(id, low, width) {
                bad.get_or_insert(id);
            }
        });
        let Some(id) = bad else { return Ok(()) };
        let mut targets = vec![];
        stmt.targets(&mut targets);
        let read = self.table.signals[id].rust.clone();
        let at = targets.first().map_or(read.clone(), |target| self.table.signals[*target].rust.clone());
        Err(EmitError { module: self.path.into(), signal: at, reason: Reason::ReadBeforeWrite { read } })
    }
}

/// Removes assignments to earlier versions and terms that nothing uses.
fn drop_dead(body: &mut Vec<Stmt>, table: &Table) {
    let mut uses: HashMap<SignalId, HashSet<SignalId>> = HashMap::new();
    collect_uses(body, &[], &mut uses);
    let internal = |id: SignalId| matches!(table.signals[id].role, Role::Term | Role::Earlier);
    let mut live: HashSet<SignalId> = HashSet::new();
    let mut todo: Vec<SignalId> = uses.keys().copied().filter(|id| !internal(*id)).collect();
    while let Some(id) = todo.pop() {
        if live.insert(id) {
            todo.extend(uses.get(&id).into_iter().flatten());
        }
    }
    remove(body, &|id| internal(id) && !live.contains(&id));
}

/// For every target the signals its value depends on, conditions included.
fn collect_uses(body: &[Stmt], conditions: &[SignalId], uses: &mut HashMap<SignalId, HashSet<SignalId>>) {
    for stmt in body {
        let mut read = conditions.to_vec();
        if let Some(expr) = stmt.expr() {
            expr.for_each_read(&mut |id, _, _| read.push(id));
        }
        if let Stmt::Assign { target, .. } = stmt {
            uses.entry(*target).or_default().extend(&read);
        }
        read.sort_unstable();
        read.dedup();
        stmt.branches().iter().for_each(|branch| collect_uses(branch, &read, uses));
    }
}

fn remove(body: &mut Vec<Stmt>, dead: &dyn Fn(SignalId) -> bool) {
    body.retain(|stmt| !matches!(stmt, Stmt::Assign { target, .. } if dead(*target)));
    for stmt in body.iter_mut() {
        stmt.branches_mut().into_iter().for_each(|branch| remove(branch, dead));
    }
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn unassigned_bits_are_named_as_ranges() {
        assert_eq!(ranges(&[false, true, true, false, false]), "4:3, 0");
        assert_eq!(ranges(&[false; 4]), "3:0");
    }
}
