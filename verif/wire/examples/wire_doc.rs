//! Renews the tables of docs/wire.md from the layout: `cargo run -p mrnic-wire --example wire_doc`.

use mrnic_wire::{doc, OpenMr0};
use std::io::{Error, Result};
use std::path::Path;

fn main() -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/wire.md");
    let old = std::fs::read_to_string(&path)?;
    let missing = || Error::other(format!("{} lacks the markers `{}` and `{}`", path.display(), doc::BEGIN, doc::END));
    let new = doc::renewed::<OpenMr0>(&old).ok_or_else(missing)?;
    std::fs::write(&path, new)?;
    println!("wrote {}", path.display());
    Ok(())
}
