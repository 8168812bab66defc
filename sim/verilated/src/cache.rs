//! The directory of built models.
//! Comes in: a key (SHA-256 of everything that decides the result). Goes out: the entry's path, locks, room.
//! Guarantees that an entry appears whole or not at all, that two builders of one model do the work once, and that
//! the directory stays bounded.

use std::{
    env, fs,
    fs::File,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};

use crate::{
    error::{io, BuildError},
    tool::workspace_root,
};

/// Entries kept unless $MRNIC_CACHE_ENTRIES says otherwise; a module's model takes about 0.5 MB.
const DEFAULT_ENTRIES: usize = 512;
/// A temporary folder older than this was left by a killed process.
const STALE: Duration = Duration::from_secs(24 * 3600);

pub(crate) struct Cache {
    pub dir: PathBuf,
}

impl Cache {
    /// $MRNIC_CACHE, else `target/verilated` of the workspace, else $XDG_CACHE_HOME/mrnic, else ~/.cache/mrnic.
    pub fn open() -> Result<Cache, BuildError> {
        let dir = if let Some(d) = env::var_os("MRNIC_CACHE") {
            PathBuf::from(d)
        } else if let Some(w) = workspace_root() {
            w.join("target/verilated")
        } else if let Some(d) = env::var_os("XDG_CACHE_HOME") {
            PathBuf::from(d).join("mrnic")
        } else {
            env::var_os("HOME").map(PathBuf::from).unwrap_or_else(env::temp_dir).join(".cache/mrnic")
        };
        Cache::at(dir)
    }

    fn at(dir: PathBuf) -> Result<Cache, BuildError> {
        for d in ["models", "runtime", "tmp", "locks"] {
            let d = dir.join(d);
            fs::create_dir_all(&d).map_err(io("create", d))?;
        }
        Ok(Cache { dir })
    }

    pub fn entry(&self, key: &str) -> PathBuf {
        self.dir.join("models").join(key)
    }

    pub fn runtime(&self, key: &str) -> PathBuf {
        self.dir.join("runtime").join(key)
    }

    /// A fresh folder on the cache's own file system, so that a rename into place is atomic. Removed when dropped.
    pub fn temp(&self) -> Result<Temp, BuildError> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.join("tmp").join(format!("{}-{n}", std::process::id()));
        let _ = fs::remove_dir_all(&path); // an earlier process with this id may have been killed
        fs::create_dir_all(&path).map_err(io("create", &path))?;
        Ok(Temp { path })
    }

    /// Waits for the right to build `key`. The lock files are shared by keys with the same first byte, so there are
    /// never more than 256 of them and none needs to be deleted.
    pub fn lock(&self, key: &str) -> Result<File, BuildError> {
        let f = self.lock_file(key)?;
        f.lock().map_err(io("lock", self.dir.join("locks")))?;
        Ok(f)
    }

    fn lock_file(&self, key: &str) -> Result<File, BuildError> {
        let p = self.dir.join("locks").join(&key[..2]);
        File::create(&p).map_err(io("create", p))
    }

    /// Drops the longest unused entries beyond the bound, and leftovers of killed builds. An entry whose lock
    /// another builder holds is left alone; a reader that loses the race builds the model again.
    pub fn prune(&self, keep: &str, bound: usize) {
        let mut entries: Vec<(SystemTime, PathBuf)> = list(&self.dir.join("models")).map(|p| (used(&p), p)).collect();
        entries.sort();
        let surplus = entries.len().saturating_sub(bound);
        for (_, path) in entries.into_iter().take(surplus) {
            let Some(key) = path.file_name().and_then(|n| n.to_str()).filter(|k| *k != keep && k.len() >= 2) else { continue };
            if key[..2] == keep[..2] {
                continue; // this process holds that lock itself
            }
            let Ok(lock) = self.lock_file(key) else { continue };
            if lock.try_lock().is_ok() {
                let _ = fs::remove_dir_all(&path);
            }
        }
        for p in list(&self.dir.join("tmp")) {
            if used(&p).elapsed().is_ok_and(|age| age > STALE) {
                let _ = fs::remove_dir_all(&p);
            }
        }
    }
}

/// How many models stay: $MRNIC_CACHE_ENTRIES, else 512.
pub(crate) fn bound() -> usize {
    let set = env::var("MRNIC_CACHE_ENTRIES").ok().and_then(|v| v.parse().ok());
    set.unwrap_or(DEFAULT_ENTRIES).max(1)
}

fn list(dir: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path())
}

/// When an entry was last used: `touch` sets it.
fn used(entry: &Path) -> SystemTime {
    let stamp = fs::metadata(entry.join("model.so")).or_else(|_| fs::metadata(entry));
    stamp.and_then(|m| m.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

pub(crate) fn touch(entry: &Path) {
    if let Ok(f) = File::options().append(true).open(entry.join("model.so")) {
        let _ = f.set_modified(SystemTime::now()); // a read-only cache works, it only forgets what was used last
    }
}

pub(crate) struct Temp {
    pub path: PathBuf,
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// SHA-256 over length-prefixed parts, in hexadecimal.
pub(crate) fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut h = Sha256::new();
    for p in parts {
        h.update((p.len() as u64).to_le_bytes());
        h.update(p.as_bytes());
    }
    h.finalize().iter().fold(String::new(), |s, b| s + &format!("{b:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(dir: &Path) -> Cache {
        Cache::at(dir.to_path_buf()).unwrap()
    }

    /// An entry that was last used `age_s` seconds ago.
    fn put(cache: &Cache, key: &str, age_s: u64) {
        let entry = cache.entry(key);
        fs::create_dir_all(&entry).unwrap();
        fs::write(entry.join("model.so"), key).unwrap();
        let f = File::options().append(true).open(entry.join("model.so")).unwrap();
        f.set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
    }

    #[test]
    fn the_longest_unused_entries_go_first_and_a_use_counts() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path());
        for (key, age_s) in [("aa", 500), ("bb", 400), ("cc", 300), ("dd", 200), ("ee", 0)] {
            put(&cache, key, age_s);
        }
        touch(&cache.entry("aa"));
        cache.prune("ee", 3);
        let mut left: Vec<_> = list(&dir.path().join("models")).collect();
        left.sort();
        assert_eq!(left, ["aa", "dd", "ee"].map(|k| cache.entry(k)));
    }

    #[test]
    fn an_entry_under_construction_elsewhere_stays() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path());
        put(&cache, "aa", 500);
        put(&cache, "bb", 400);
        put(&cache, "cc", 0);
        let lock = cache.lock("aa").unwrap();
        cache.prune("cc", 1);
        assert!(cache.entry("aa").exists() && !cache.entry("bb").exists());
        drop(lock);
        cache.prune("cc", 1);
        assert!(!cache.entry("aa").exists() && cache.entry("cc").exists());
    }

    #[test]
    fn the_digest_keeps_its_parts_apart() {
        assert_ne!(digest(["ab", "c"]), digest(["a", "bc"]));
        assert_eq!(digest(["ab", "c"]).len(), 64);
    }
}
