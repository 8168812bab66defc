//! The Verilog of a build, cut into blocks.
//!
//! In: the name of a build. Out: its modules, which of them are blocks, and for each the text of it and everything below it.
//! Guarantees: the text of a block changes only if the block or something that it uses changes.
use crate::error::SynthError;
use mrnic_nic::config::{build, BuildConfig, BUILDS};
use std::collections::{BTreeMap, BTreeSet};

/// Modules that are no blocks: memories, the slices of a checksum, wiring.
const PARTS_OF_BLOCKS: &[&str] = &["ram_", "fifo_", "crc32_advance", "bit_reverse", "byte_reverse"];

/// One emitted build.
pub struct Emitted {
    pub config: BuildConfig,
    /// Text in front of the first module.
    head: String,
    /// Modules in order of emission, children before parents: name and text.
    modules: Vec<(String, String)>,
}

/// The names of all builds.
pub fn builds() -> String {
    BUILDS.iter().map(|b| b.name).collect::<Vec<_>>().join(", ")
}

impl Emitted {
    pub fn new(name: &str) -> Result<Emitted, SynthError> {
        let config = build(name).ok_or_else(|| SynthError::UnknownBuild { build: name.into(), builds: builds() })?;
        Emitted::of(config)
    }

    /// A build with parameters of its own.
    pub fn of(config: BuildConfig) -> Result<Emitted, SynthError> {
        let failed = |e: mrnic_nic::top::TopError| SynthError::Emit { build: config.name.into(), reason: e.to_string() };
        let design = mrnic_nic::top::emit(&config).map_err(failed)?;
        Ok(Emitted::cut(config, &design.verilog))
    }

    fn cut(config: BuildConfig, verilog: &str) -> Emitted {
        let (mut head, mut modules) = (String::new(), Vec::<(String, String)>::new());
        for line in verilog.lines() {
            if let Some(rest) = line.strip_prefix("module ") {
                let name = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                modules.push((name, String::new()));
            }
            let text = modules.last_mut().map_or(&mut head, |m| &mut m.1);
            text.push_str(line);
            text.push('\n');
        }
        Emitted { config, head, modules }
    }

    /// The blocks, children before parents; the whole build is the last one and bears its name.
    pub fn blocks(&self) -> Vec<&str> {
        let names = self.modules.iter().map(|m| m.0.as_str());
        names.filter(|n| *n != "engine" && !PARTS_OF_BLOCKS.iter().any(|p| n.starts_with(p))).collect()
    }

    /// The text of a block and of all that it uses; None if there is no such module.
    pub fn text_of(&self, block: &str) -> Option<String> {
        let names: BTreeMap<&str, usize> = self.modules.iter().enumerate().map(|(i, m)| (m.0.as_str(), i)).collect();
        let mut wanted = BTreeSet::new();
        let mut open = vec![*names.get(block)?];
        while let Some(i) = open.pop() {
            if wanted.insert(i) {
                open.extend(words(&self.modules[i].1).filter_map(|w| names.get(w)));
            }
        }
        // a word that is both a module and, by chance, a signal only adds text that is not used
        Some(wanted.iter().fold(self.head.clone(), |text, i| text + &self.modules[*i].1))
    }

    /// The block of that name, or the error that lists what there is.
    pub fn check(&self, block: &str) -> Result<(), SynthError> {
        if self.modules.iter().any(|m| m.0 == block) {
            return Ok(());
        }
        let start = block.get(..3).unwrap_or(block);
        let mut near: Vec<_> = self.blocks().into_iter().filter(|b| b.contains(start)).collect();
        if near.is_empty() {
            near = self.blocks();
        }
        Err(SynthError::UnknownName {
            name: block.into(),
            build: self.config.name.into(),
            near: near.join(", "),
            builds: builds(),
        })
    }
}

/// The first word of every line: an instance begins with the name of its module.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|l| l.split_whitespace().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "head\nmodule ram_2x4 (\nendmodule\nmodule a (\n    ram_2x4 rows (\nendmodule\nmodule b (\nendmodule\n\
                        module engine (\n    a a0 (\n    b b0 (\nendmodule\n";

    #[test]
    fn a_block_comes_with_what_it_uses_and_nothing_else() {
        let e = Emitted::cut(build("ecp5").unwrap(), TEXT);
        assert_eq!(e.blocks(), ["a", "b"]);
        assert_eq!(e.text_of("a").unwrap(), "head\nmodule ram_2x4 (\nendmodule\nmodule a (\n    ram_2x4 rows (\nendmodule\n");
        assert_eq!(e.text_of("engine").unwrap(), TEXT);
        assert!(e.text_of("c").is_none());
    }

    #[test]
    fn an_unknown_block_is_answered_with_the_known_ones() {
        let e = Emitted::cut(build("ecp5").unwrap(), TEXT);
        assert!(e.check("a").is_ok());
        let message = e.check("none").unwrap_err().to_string();
        assert!(message.starts_with("there is no block or build none; build ecp5 has a, b; builds: sim,"), "{message}");
    }
}
