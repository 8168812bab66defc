//! Generates one Rust module per layout file: structs, opcodes, tables and the packet mapping.
//! In: `layouts/*.ron`. Out: `$OUT_DIR/<profile>.rs`. A layout with a mistake stops the build with file, line and reason.

#[path = "generator/mod.rs"]
#[allow(dead_code, unused_imports)]
mod generator;

use std::path::Path;

/// The layout every other one may build on comes first.
const LAYOUTS: [&str; 2] = ["open-mr-0", "mrc-like"];

fn main() {
    println!("cargo:rerun-if-changed=layouts");
    println!("cargo:rerun-if-changed=generator");
    println!("cargo:rerun-if-changed=build.rs");
    let out_dir = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for name in LAYOUTS {
        if let Err(error) = build(name, Path::new(&out_dir)) {
            eprintln!("error: {error}");
            println!("cargo:warning={error}");
            std::process::exit(1);
        }
    }
}

fn build(name: &str, out_dir: &Path) -> Result<(), generator::LayoutError> {
    let layout = generator::load(Path::new("layouts"), name)?;
    let file = out_dir.join(format!("{}.rs", layout.module_name()));
    let code = generator::codegen::module(&layout);
    std::fs::write(&file, code).map_err(|e| generator::LayoutError::file(&file, &e))
}
