//! A segment: a folder with one file of places and the rings between them.
//! In: the folder. Out: its places; made by whoever comes first, complete before anybody sees it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};

use crate::error::NetError;
use crate::futex;
use crate::near;
use crate::places::{Places, MAGIC, VERSION};
use crate::port::Rings;
use crate::PLACES;

/// Shared by all ports of a process.
#[derive(Debug, Clone)]
pub struct Segment {
    map: Arc<MmapRaw>,
    dir: Arc<Path>,
}

impl Segment {
    /// The segment in `dir`; it is made if there is none.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, NetError> {
        let dir = dir.as_ref();
        let file_error = |path: &Path| {
            let path = path.to_path_buf();
            move |cause| NetError::File { path, cause }
        };
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(file_error(dir))?;
        // programs of an earlier or a later version have a file of their own beside it
        let path = dir.join(format!("places-{VERSION}"));
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => make(dir, &path).map_err(file_error(&path))?,
            Err(cause) => return Err(NetError::File { path, cause }),
        };
        let foreign = |detail: String| NetError::Foreign { path: path.clone(), detail };
        let bytes = file.metadata().map_err(file_error(&path))?.len();
        if bytes != size_of::<Places>() as u64 {
            return Err(foreign(format!("{bytes} bytes instead of {}", size_of::<Places>())));
        }
        let map = MmapOptions::new().len(size_of::<Places>()).map_raw(&file).map_err(file_error(&path))?;
        let segment = Segment { map: Arc::new(map), dir: dir.into() };
        let places = segment.places();
        let found = (places.magic.load(Ordering::Acquire), places.version.load(Ordering::Acquire));
        if found != (MAGIC, VERSION) {
            return Err(foreign(format!("it begins with {:#x}, version {}", found.0, found.1)));
        }
        Ok(segment)
    }

    /// The folder that MRNIC_SESSION names, or this user's own in shared memory.
    pub fn default_dir() -> PathBuf {
        match std::env::var_os("MRNIC_SESSION").filter(|dir| !dir.is_empty()) {
            Some(dir) => dir.into(),
            // SAFETY: geteuid cannot fail.
            None => format!("/dev/shm/mrnic-{}", unsafe { libc::geteuid() }).into(),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Nanoseconds since the segment was made, the same for all processes.
    pub fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.places().epoch_ns.load(Ordering::Relaxed))
    }

    /// Places that are taken by processes that run.
    pub fn population(&self) -> usize {
        (0..PLACES).filter(|&place| self.lock(place).map(|lock| Self::unlock(&lock)).is_none()).count()
    }

    /// The lock of a place, unless somebody has it. The system frees it when the process dies.
    pub(crate) fn lock(&self, place: usize) -> Option<File> {
        let path = self.dir.join(format!("place-{place}"));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).ok()?;
        // SAFETY: the descriptor is open.
        let locked = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
        locked.then_some(file)
    }

    pub(crate) fn unlock(lock: &File) {
        // SAFETY: the descriptor is open.
        unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_UN) };
    }

    pub(crate) fn places(&self) -> &Places {
        // SAFETY: the map has the size of `Places`, is aligned to a page, and every field is an atomic for which any bits are valid.
        unsafe { &*self.map.as_mut_ptr().cast::<Places>() }
    }

    /// Wakes the NIC at `to` if it sleeps.
    pub(crate) fn wake(&self, to: usize) {
        let Some(place) = self.places().place.get(to) else { return };
        place.rung_on.store(near::processor().map_or(0, |number| number as u32 + 1), Ordering::Relaxed);
        place.doorbell.fetch_add(1, Ordering::SeqCst);
        if place.asleep.load(Ordering::SeqCst) != 0 {
            futex::wake(&place.doorbell);
        }
    }

    /// The same for several.
    pub(crate) fn ring(&self, due: Rings) {
        for place in due.places() {
            self.wake(place);
        }
    }

    pub(crate) fn ring_path(&self, from: (usize, u32), to: (usize, u32)) -> PathBuf {
        self.dir.join(format!("ring-{}.{}-{}.{}", from.0, from.1, to.0, to.1))
    }
}

/// Makes the file of places; if another process was faster, its file is used.
fn make(dir: &Path, path: &Path) -> std::io::Result<File> {
    let draft = dir.join(format!("places.{}.{:?}", std::process::id(), std::thread::current().id()));
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&draft)?;
    file.set_len(size_of::<Places>() as u64)?;
    let map = MmapOptions::new().len(size_of::<Places>()).map_raw(&file)?;
    // SAFETY: as in `places`; nobody else has the file yet.
    let places = unsafe { &*map.as_mut_ptr().cast::<Places>() };
    places.epoch_ns.store(monotonic_ns(), Ordering::Relaxed);
    places.places.store(PLACES as u32, Ordering::Relaxed);
    places.version.store(VERSION, Ordering::Relaxed);
    places.magic.store(MAGIC, Ordering::Release);
    // A link, unlike a renaming, does not replace the file of one that was faster.
    let linked = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft)?;
    match linked {
        Ok(()) => Ok(file),
        Err(cause) if cause.kind() == std::io::ErrorKind::AlreadyExists => OpenOptions::new().read(true).write(true).open(path),
        Err(cause) => Err(cause),
    }
}

/// CLOCK_MONOTONIC, which all processes of a machine share.
fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
