//! Every rule id of docs/protocol.md stands at an implementing line and at a test.

use std::collections::BTreeSet;
use std::path::Path;

/// Rule ids in a text, ranges such as `R1..R11` written out.
fn ids(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    for word in words {
        let Some((letter, number)) = word.split_at_checked(1) else { continue };
        if "RALCSWQND".contains(letter) && (1..=2).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()) {
            found.insert(word.to_string());
        }
    }
    found
}

fn comments(dir: &Path, out: &mut String) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            comments(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            // Headers of files name whole ranges; only comments at lines count.
            for line in text.lines().filter(|l| !l.trim_start().starts_with("//!")) {
                if let Some((_, comment)) = line.split_once("//") {
                    out.push_str(comment);
                    out.push('\n');
                }
            }
        }
    }
}

#[test]
fn every_rule_has_an_implementation_and_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/protocol.md")).unwrap();
    let mut rules = BTreeSet::new();
    for line in page.lines() {
        // A rule is defined in the first cell of a table row or at the beginning of a line.
        let start = line.trim_start_matches("| ").trim_start_matches("**");
        rules.extend(ids(start.split([' ', '.', '|']).next().unwrap_or("")));
        rules.extend(ids(line.strip_prefix("cap: ").map_or("", |_| "C3")));
        rules.extend(ids(line.strip_prefix("C4 ").map_or("", |_| "C4")));
    }
    for family in ["R11", "A3", "L6", "C4", "S6", "W4", "Q7", "N4", "D8"] {
        let (letter, last) = family.split_at(1);
        for n in 1..=last.parse::<u32>().unwrap() {
            assert!(rules.contains(&format!("{letter}{n}")), "{letter}{n} is not found in docs/protocol.md");
        }
    }
    for (what, dir) in [("an implementing line", "src"), ("a test", "tests")] {
        let mut text = String::new();
        comments(&root.join(dir), &mut text);
        let have = ids(&text);
        let missing: Vec<_> = rules.difference(&have).collect();
        assert!(missing.is_empty(), "rules without {what}: {missing:?}");
    }
}
