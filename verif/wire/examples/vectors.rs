//! Writes the byte vectors of every profile to `verif/wire/vectors/`. Run it when the wire format changes on purpose:
//! `cargo run -p mrnic-wire --example vectors`.

#[path = "../tests/vector_set/mod.rs"]
mod vector_set;

use mrnic_wire::{MrcLike, OpenMr0, Profile};
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    write::<OpenMr0>()?;
    write::<MrcLike>()
}

fn write<P: Profile>() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let path = folder.join(format!("{}.json", P::NAME));
    std::fs::write(&path, vector_set::json::<P>())?;
    println!("wrote {}", path.display());
    Ok(())
}
