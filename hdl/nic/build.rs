//! Writes the header structs of the packet builders from the layout's tables.
//! In: `mrnic_wire`'s description of the wire layout. Out: `$OUT_DIR/headers.rs`, included by `src/packet/headers.rs`.
//! A layout that the builders cannot serve stops the build with the reason.

#[path = "src/packet/header_structs.rs"]
mod header_structs;

use mrnic_wire::{OpenMr0, Profile};
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/packet/header_structs.rs");
    let out_dir = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let file = Path::new(&out_dir).join("headers.rs");
    let written = header_structs::source(OpenMr0::LAYOUT)
        .and_then(|text| std::fs::write(&file, text).map_err(|e| format!("cannot write {}: {e}", file.display())));
    if let Err(error) = written {
        println!("cargo:warning={error}");
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}
