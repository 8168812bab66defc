//! Results that have been measured before.
//!
//! In: the text of a block, the versions of the tools, the options. Out: the stored result, if all of these are the same.
//! Guarantees: an entry appears whole or not at all, so that several programs may share the folder.
use crate::error::{io, SynthError};
use mrnic_verilated::workspace_root;
use serde::{de::DeserializeOwned, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

pub struct Cache {
    pub dir: PathBuf,
}

impl Cache {
    /// `synth` in $MRNIC_CACHE, else in `target` of the workspace, else in the folder for temporary files.
    pub fn open() -> Result<Cache, SynthError> {
        let place = std::env::var_os("MRNIC_CACHE").map(PathBuf::from).or_else(|| workspace_root().map(|w| w.join("target")));
        let dir = place.unwrap_or_else(std::env::temp_dir).join("synth");
        fs::create_dir_all(&dir).map_err(io("create", &dir))?;
        Ok(Cache { dir })
    }

    pub fn file(&self, key: &str, kind: &str) -> PathBuf {
        self.dir.join(format!("{key}.{kind}"))
    }

    /// The stored value; an entry that cannot be read counts as none.
    pub fn get<T: DeserializeOwned>(&self, key: &str, kind: &str) -> Option<T> {
        serde_json::from_str(&fs::read_to_string(self.file(key, kind)).ok()?).ok()
    }

    pub fn put<T: Serialize>(&self, key: &str, kind: &str, value: &T) -> Result<(), SynthError> {
        let text = serde_json::to_string(value).expect("figures are plain values");
        self.put_whole(key, kind, |temporary| fs::write(temporary, &text))
    }

    /// Keeps a copy of a file.
    pub fn put_file(&self, key: &str, kind: &str, file: &Path) -> Result<(), SynthError> {
        self.put_whole(key, kind, |temporary| fs::copy(file, temporary).map(drop))
    }

    fn put_whole(&self, key: &str, kind: &str, write: impl Fn(&Path) -> std::io::Result<()>) -> Result<(), SynthError> {
        let temporary = self.dir.join(format!("{key}.{}.tmp", std::process::id()));
        write(&temporary).map_err(io("write", &temporary))?;
        let file = self.file(key, kind);
        fs::rename(&temporary, &file).map_err(io("write", file))
    }
}

/// SHA-256 over length-prefixed parts, in hexadecimal.
pub fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_entry_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache { dir: dir.path().to_path_buf() };
        assert_eq!(cache.get::<u64>("k", "synth"), None);
        cache.put("k", "synth", &7u64).unwrap();
        assert_eq!(cache.get::<u64>("k", "synth"), Some(7));
        fs::write(cache.file("k", "synth"), "{").unwrap();
        assert_eq!(cache.get::<u64>("k", "synth"), None);
        let [source, kept] = [dir.path().join("source"), cache.file("k", "netlist")];
        fs::write(&source, "cells").unwrap();
        cache.put_file("k", "netlist", &source).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "cells");
        assert!(cache.put_file("k", "netlist", dir.path().join("none").as_path()).is_err());
        assert_eq!(fs::read_to_string(kept).unwrap(), "cells", "a copy that fails leaves what was there");
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
    }
}
