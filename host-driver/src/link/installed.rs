//! What the installed libibverbs exports.
//!
//! In: a shared object. Out: its defined dynamic symbols with their versions, so that the drop-in can have all of them: provider
//! libraries (libmlx5, libefa) that perftest is linked with bind private symbols at load.
use anyhow::{Context, Result};
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, Sym};
use object::{Endianness, SymbolIndex};
use std::path::{Path, PathBuf};

/// A symbol as another object would bind it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exported {
    /// Empty without a version.
    pub version: String,
    pub name: String,
    /// Bound only by programs that were linked with an older release.
    pub hidden: bool,
    /// Bytes of a variable; `None` for a function.
    pub variable_bytes: Option<u64>,
}

/// Where distributions put it.
const PLACES: [&str; 4] = ["/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64"];

/// The installed library, if there is one.
pub fn find() -> Option<PathBuf> {
    PLACES.iter().map(|p| Path::new(p).join("libibverbs.so.1")).find(|p| p.exists())
}

/// All defined dynamic symbols, sorted.
pub fn exports(library: &Path) -> Result<Vec<Exported>> {
    let data = std::fs::read(library).with_context(|| format!("read {}", library.display()))?;
    let elf: ElfFile64<'_, Endianness> =
        ElfFile64::parse(&*data).with_context(|| format!("{} is not a 64-bit ELF object", library.display()))?;
    let endian = elf.endian();
    let header = elf.elf_header();
    let sections = header.sections(endian, &*data)?;
    let versions = sections.versions(endian, &*data)?;
    let table = elf.elf_dynamic_symbol_table();
    let mut found = Vec::new();
    for (index, symbol) in table.iter().enumerate().skip(1) {
        let kind = symbol.st_type();
        if symbol.is_undefined(endian) || !matches!(kind, elf::STT_FUNC | elf::STT_OBJECT) {
            continue;
        }
        // A version node itself is an absolute symbol of type object.
        if symbol.st_shndx(endian) == elf::SHN_ABS {
            continue;
        }
        let name = String::from_utf8_lossy(symbol.name(endian, table.strings())?).into_owned();
        let (mut version, mut hidden) = (String::new(), false);
        if let Some(versions) = &versions {
            let at = versions.version_index(endian, SymbolIndex(index));
            hidden = at.is_hidden();
            if let Some(v) = versions.version(at)? {
                version = String::from_utf8_lossy(v.name()).into_owned();
            }
        }
        let variable_bytes = (kind == elf::STT_OBJECT).then(|| symbol.st_size(endian));
        found.push(Exported { version, name, hidden, variable_bytes });
    }
    found.sort();
    Ok(found)
}
