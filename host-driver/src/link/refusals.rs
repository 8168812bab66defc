//! C text for symbols that must exist but that nothing here answers.
//!
//! In: what the installed library exports and we do not. Out: functions that fail with EOPNOTSUPP, and variables of the same size. They
//! let provider libraries load; nobody calls them, because there is no kernel device for a provider to drive.
use super::installed::Exported;
use super::symbols::NODES;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Symbols to refuse, by name: the version other objects bind, preferring one that is not hidden.
pub fn missing(installed: &[Exported]) -> BTreeMap<&str, &Exported> {
    let ours = |name: &str| NODES.iter().any(|(_, names)| names.contains(&name));
    let mut missing = BTreeMap::new();
    for symbol in installed.iter().filter(|s| !s.version.is_empty() && !ours(&s.name)) {
        let kept = missing.entry(symbol.name.as_str()).or_insert(symbol);
        if kept.hidden && !symbol.hidden {
            *kept = symbol;
        }
    }
    missing
}

/// Functions of the private node that return an object.
const POINTERS: [&str; 2] = ["_verbs_init_and_alloc_context", "verbs_open_device"];

/// The C file.
pub fn c_text(missing: &BTreeMap<&str, &Exported>) -> String {
    let mut c = String::from(
        "/* Made by mrnic library: symbols of the installed libibverbs that this device has no use for. */\n#include <errno.h>\n",
    );
    for (name, symbol) in missing {
        let line = match symbol.variable_bytes {
            Some(bytes) => writeln!(c, "char {name}[{}];", bytes.max(1)),
            None if POINTERS.contains(name) => {
                writeln!(c, "void *{name}(void) {{ errno = EOPNOTSUPP; return 0; }}")
            }
            None => writeln!(c, "long {name}(void) {{ errno = EOPNOTSUPP; return EOPNOTSUPP; }}"),
        };
        line.expect("writing to a String does not fail");
    }
    c
}

/// The version node of one of our functions. The private node has another number in each release of rdma-core; its tools look for theirs.
pub fn node_of<'a>(version: &'a str, installed: &'a [Exported]) -> &'a str {
    let private = |v: &str| v.contains("PRIVATE");
    match installed.iter().find(|e| private(&e.version)) {
        Some(theirs) if private(version) => &theirs.version,
        _ => version,
    }
}

/// The linker's version script: every node after the one it follows, and nothing else visible.
pub fn version_script(missing: &BTreeMap<&str, &Exported>, installed: &[Exported]) -> String {
    let mut nodes: BTreeMap<(bool, Vec<u32>, &str), Vec<&str>> = BTreeMap::new();
    for (version, names) in NODES {
        nodes.entry(order(node_of(version, installed))).or_default().extend(*names);
    }
    for (name, symbol) in missing {
        nodes.entry(order(&symbol.version)).or_default().push(name);
    }
    let (mut script, mut before) = (String::new(), String::new());
    for ((_, _, version), names) in nodes {
        write!(script, "{version} {{\n\tglobal:\n").expect("writing to a String does not fail");
        for name in names {
            writeln!(script, "\t\t{name};").expect("writing to a String does not fail");
        }
        if before.is_empty() {
            script.push_str("\tlocal: *;\n");
        }
        writeln!(script, "}}{before};").expect("writing to a String does not fail");
        before = format!(" {version}");
    }
    script
}

/// Public nodes by their numbers (1.5 before 1.10), private ones behind.
fn order(version: &str) -> (bool, Vec<u32>, &str) {
    let numbers = version.rsplit('_').next().unwrap_or_default();
    (version.contains("PRIVATE"), numbers.split('.').filter_map(|n| n.parse().ok()).collect(), version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(version: &str, name: &str, hidden: bool) -> Exported {
        Exported { version: version.to_owned(), name: name.to_owned(), hidden, variable_bytes: None }
    }

    #[test]
    fn nodes_stand_in_the_order_of_their_numbers() {
        let script = version_script(&BTreeMap::new(), &[]);
        let heads: Vec<_> = script.lines().filter(|l| l.starts_with("IBVERBS")).collect();
        assert_eq!(heads.first(), Some(&"IBVERBS_1.0 {"));
        assert_eq!(heads.last(), Some(&"IBVERBS_PRIVATE_34 {"));
        assert!(script.contains("} IBVERBS_1.9;") && script.matches("local: *;").count() == 1, "{script}");
    }

    #[test]
    fn only_what_is_not_ours_is_refused_in_the_version_that_is_bound() {
        let installed = [
            symbol("IBVERBS_1.0", "other", true),
            symbol("IBVERBS_1.1", "ibv_alloc_pd", false),
            symbol("IBVERBS_1.1", "other", false),
            symbol("IBVERBS_PRIVATE_50", "verbs_set_ops", false),
        ];
        let missing = missing(&installed);
        assert_eq!(missing.keys().copied().collect::<Vec<_>>(), ["other", "verbs_set_ops"]);
        assert_eq!(missing["other"].version, "IBVERBS_1.1");
        let script = version_script(&missing, &installed);
        assert!(!script.contains("PRIVATE_34"), "the private node is that of the installed release: {script}");
        let private = "IBVERBS_PRIVATE_50 {\n\tglobal:\n\t\tibv_query_gid_type;\n\t\tverbs_set_ops;\n} IBVERBS_1.14;";
        assert!(script.contains(private), "{script}");
    }
}
