//! Splits a kernel into cones, each the smallest set of signals that must be computed together because one reads an
//! intermediate value of another. Separate cones mean separate processes, so no tool sees a combinational loop that is
//! not there. Next states of registers are read by nothing but the register, so those of one clock share a process.
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ir::{Expr, SignalId, Stmt};
use crate::names::{Role, Table};
use crate::{EmitError, Reason};

pub enum Cone {
    /// Continuous assignments of a signal or of separate parts of it.
    Continuous { target: SignalId, parts: Vec<Part>, comments: Vec<usize> },
    /// One process.
    Process { targets: Vec<SignalId>, body: Vec<Stmt> },
}

pub struct Part {
    pub low: usize,
    pub width: usize,
    pub value: Expr,
}

/// Facts about one assignment: where it is and what its value depends on, with the places of the reads.
struct Write {
    target: SignalId,
    at: usize,
    reads: Vec<(SignalId, usize)>,
}

/// `next_state` tells for the register inputs that may share a process which clock they have.
pub fn split(
    body: &[Stmt],
    table: &Table,
    path: &str,
    next_state: &HashMap<SignalId, SignalId>,
) -> Result<Vec<Cone>, EmitError> {
    let mut writes = vec![];
    collect_writes(body, &[], table, &mut 0, &mut writes);
    let plan = Plan::new(body);
    let mut last_write: HashMap<SignalId, usize> = HashMap::new();
    for write in &writes {
        last_write.insert(write.target, write.at);
    }
    let mut groups = Groups::default();
    for write in &writes {
        groups.find(write.target);
        for (read, at) in &write.reads {
            let settled = matches!(table.signals[*read].role, Role::KidInput(_));
            let intermediate = last_write.get(read).is_some_and(|last| last > at);
            if !settled && intermediate {
                groups.join(*read, write.target);
            }
        }
    }
    for write in &writes {
        for (read, _) in &write.reads {
            let settled = matches!(table.signals[*read].role, Role::KidInput(_));
            if settled && last_write.contains_key(read) && groups.find(*read) == groups.find(write.target) {
                let signal = table.signals[write.target].rust.clone();
                let reason = Reason::SettledRead(table.signals[*read].rust.clone());
                return Err(EmitError { module: path.into(), signal, reason });
            }
        }
    }
    // members by group, groups by their first assignment
    let mut order: Vec<SignalId> = vec![];
    let mut members: HashMap<SignalId, Vec<SignalId>> = HashMap::new();
    for write in &writes {
        let root = groups.find(write.target);
        let list = members.entry(root).or_default();
        if list.is_empty() {
            order.push(root);
        }
        if !list.contains(&write.target) {
            list.push(write.target);
        }
    }
    let mut printed = HashSet::new();
    let mut cones = vec![];
    let mut shared: BTreeMap<SignalId, (usize, Vec<SignalId>)> = BTreeMap::new();
    for root in order {
        let targets = members.remove(&root).unwrap_or_default();
        if let Some(cone) = continuous(&plan, &targets, table, &mut printed) {
            cones.push(cone);
            continue;
        }
        let clocks: Option<HashSet<SignalId>> = targets.iter().map(|t| next_state.get(t).copied()).collect();
        match clocks {
            Some(clocks) if clocks.len() == 1 => {
                let clock = clocks.into_iter().next().unwrap_or_default();
                let place = cones.len();
                shared.entry(clock).or_insert((place, vec![])).1.extend(targets);
            }
            _ => {
                let wanted: HashSet<_> = targets.iter().copied().collect();
                let body = plan.slice(&wanted, &mut printed);
                cones.push(Cone::Process { targets, body });
            }
        }
    }
    // each shared process stands where its first member would
    let mut shared: Vec<_> = shared.into_values().collect();
    shared.sort_by_key(|(place, _)| *place);
    for (moved, (place, targets)) in shared.into_iter().enumerate() {
        let wanted: HashSet<_> = targets.iter().copied().collect();
        let body = plan.slice(&wanted, &mut printed);
        cones.insert(place + moved, Cone::Process { targets, body });
    }
    Ok(cones)
}

fn collect_writes(body: &[Stmt], conditions: &[(SignalId, usize)], table: &Table, at: &mut usize, writes: &mut Vec<Write>) {
    for stmt in body {
        *at += 1;
        let here = *at;
        let mut reads = conditions.to_vec();
        if let Some(expr) = stmt.expr() {
            expr.for_each_read(&mut |id, _, _| reads.push((id, here)));
        }
        reads.sort_unstable();
        reads.dedup();
        if let Stmt::Assign { target, .. } = stmt {
            // reading one's own value so far does not bind anybody
            let settled = matches!(table.signals[*target].role, Role::KidInput(_));
            reads.retain(|(id, _)| id != target || settled);
            writes.push(Write { target: *target, at: here, reads: reads.clone() });
        }
        for branch in stmt.branches() {
            collect_writes(branch, &reads, table, at, writes);
        }
    }
}

#[derive(Default)]
struct Groups {
    parent: HashMap<SignalId, SignalId>,
}

impl Groups {
    fn find(&mut self, id: SignalId) -> SignalId {
        let parent = *self.parent.entry(id).or_insert(id);
        if parent == id {
            return id;
        }
        let root = self.find(parent);
        self.parent.insert(id, root);
        root
    }

    fn join(&mut self, a: SignalId, b: SignalId) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent.insert(a.max(b), a.min(b));
    }
}

/// The top level of a kernel, indexed: which statements touch a signal, which comments stand before a statement.
struct Plan<'a> {
    body: &'a [Stmt],
    touching: HashMap<SignalId, Vec<usize>>,
    comments: HashMap<usize, Vec<usize>>,
}

impl<'a> Plan<'a> {
    fn new(body: &'a [Stmt]) -> Self {
        let mut plan = Plan { body, touching: HashMap::new(), comments: HashMap::new() };
        let mut pending = vec![];
        let mut after_statement = false;
        for (at, stmt) in body.iter().enumerate() {
            if let Stmt::Comment(id) = stmt {
                if std::mem::take(&mut after_statement) {
                    pending.clear();
                }
                pending.push(*id);
                continue;
            }
            after_statement = true;
            if !pending.is_empty() {
                plan.comments.insert(at, pending.clone());
            }
            let mut targets = vec![];
            stmt.targets(&mut targets);
            targets.sort_unstable();
            targets.dedup();
            for target in targets {
                plan.touching.entry(target).or_default().push(at);
            }
        }
        plan
    }

    /// The top-level statements that assign one of the wanted signals, in order.
    fn statements(&self, wanted: &HashSet<SignalId>) -> Vec<usize> {
        let mut places: Vec<usize> = wanted.iter().filter_map(|t| self.touching.get(t)).flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    fn slice(&self, wanted: &HashSet<SignalId>, printed: &mut HashSet<usize>) -> Vec<Stmt> {
        let mut out = vec![];
        for at in self.statements(wanted) {
            let comments = self.comments.get(&at).into_iter().flatten().copied();
            out.extend(comments.filter(|id| printed.insert(*id)).map(Stmt::Comment));
            out.extend(slice(&self.body[at..=at], wanted, printed));
        }
        out
    }
}

/// A single signal assigned only at top level, in parts that do not overlap and do not use each other.
fn continuous(plan: &Plan, targets: &[SignalId], table: &Table, printed: &mut HashSet<usize>) -> Option<Cone> {
    let [target] = targets else { return None };
    let wanted = HashSet::from([*target]);
    let mut parts: Vec<Part> = vec![];
    let mut covered = vec![false; table.signals[*target].width];
    for at in plan.statements(&wanted) {
        let Stmt::Assign { low, width, value, .. } = &plan.body[at] else { return None };
        let bits = &mut covered[*low..low + width];
        if bits.contains(&true) || value.reads(*target) {
            return None;
        }
        bits.fill(true);
        parts.push(Part { low: *low, width: *width, value: value.clone() });
    }
    let comments = plan
        .slice(&wanted, printed)
        .into_iter()
        .filter_map(|stmt| if let Stmt::Comment(id) = stmt { Some(id) } else { None })
        .collect();
    Some(Cone::Continuous { target: *target, parts, comments })
}

/// The statements that assign the wanted signals. A comment goes with the first statement kept after it, once.
fn slice(body: &[Stmt], wanted: &HashSet<SignalId>, printed: &mut HashSet<usize>) -> Vec<Stmt> {
    let mut out = vec![];
    let mut pending: Vec<usize> = vec![];
    let mut after_statement = false;
    for stmt in body {
        if let Stmt::Comment(id) = stmt {
            if after_statement {
                pending.clear();
            }
            after_statement = false;
            pending.push(*id);
            continue;
        }
        after_statement = true;
        let mut targets = vec![];
        stmt.targets(&mut targets);
        if !targets.iter().any(|target| wanted.contains(target)) {
            continue;
        }
        out.extend(pending.drain(..).filter(|id| printed.insert(*id)).map(Stmt::Comment));
        out.push(match stmt {
            Stmt::If { condition, then, otherwise } => Stmt::If {
                condition: condition.clone(),
                then: slice(then, wanted, printed),
                otherwise: slice(otherwise, wanted, printed),
            },
            Stmt::Case { test, arms, default, last } => Stmt::Case {
                test: test.clone(),
                arms: arms.iter().map(|(label, arm)| (label.clone(), slice(arm, wanted, printed))).collect(),
                default: slice(default, wanted, printed),
                last: last.clone(),
            },
            stmt => stmt.clone(),
        });
    }
    out
}
