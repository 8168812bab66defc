//! Generates the constants of the register map from `map/nic.ron`.
use std::fmt::Write as _;

#[allow(dead_code)]
#[path = "src/map.rs"]
mod map;

fn main() {
    println!("cargo::rerun-if-changed=map/nic.ron");
    println!("cargo::rerun-if-changed=src/map.rs");
    println!("cargo::rerun-if-changed=build.rs");
    let text = std::fs::read_to_string("map/nic.ron").expect("map/nic.ron is readable");
    let map = match map::Map::parse(&text) {
        Ok(m) => m,
        Err(e) => {
            println!("cargo::error=hdl/regs/map/nic.ron: {e}");
            std::process::exit(1);
        }
    };
    let mut s = String::new();
    let fields = |s: &mut String, fields: &[map::Field]| {
        for f in fields {
            let _ = writeln!(s, "        /// {}", f.doc);
            let _ = writeln!(
                s,
                "        pub const {}: Field = Field {{ bit: {}, width: {} }};",
                f.name,
                32 * f.word + f.lsb,
                f.width
            );
        }
    };
    for r in &map.registers {
        let module = r.name.to_lowercase();
        let _ = writeln!(s, "    /// {}", r.doc);
        let _ = writeln!(s, "    pub mod {module} {{\n        #[allow(unused_imports)]\n        use crate::Field;");
        let _ = writeln!(s, "        /// Byte offset in the BAR.\n        pub const OFFSET: u16 = {:#x};", r.offset);
        let _ = writeln!(s, "        /// Consecutive 32-bit registers.\n        pub const COUNT: u16 = {};", r.count);
        let _ = writeln!(s, "        /// Value after reset.\n        pub const RESET: u32 = {:#x};", r.reset);
        fields(&mut s, &r.fields);
        let _ = writeln!(s, "    }}");
    }
    let mut out = format!("/// Registers of the BAR.\npub mod reg {{\n{s}}}\n");
    s.clear();
    for t in &map.tables {
        let _ = writeln!(s, "    /// {} Index: {}.", t.doc, t.index);
        let _ = writeln!(s, "    pub mod {} {{\n        use crate::Field;", t.name.to_lowercase());
        let _ = writeln!(s, "        /// Table number.\n        pub const NUMBER: u8 = {};", t.number);
        fields(&mut s, &t.fields);
        let _ = writeln!(s, "    }}");
    }
    let _ = write!(out, "/// Tables written through TABLE_COMMIT.\npub mod table {{\n{s}}}\n");
    s.clear();
    for r in &map.rings {
        let _ = writeln!(s, "    /// {}", r.doc);
        let _ = writeln!(s, "    pub mod {} {{\n        use crate::Field;", r.name.to_lowercase());
        let _ = writeln!(s, "        /// Bytes of an entry.\n        pub const BYTES: usize = {};", r.bytes);
        fields(&mut s, &r.fields);
        let _ = writeln!(s, "    }}");
    }
    let _ = write!(out, "/// Entries of the rings in host memory.\npub mod ring {{\n{s}}}\n");
    s.clear();
    for (i, c) in map.counters.iter().enumerate() {
        let _ = writeln!(s, "    /// {}\n    pub const {}: usize = {i};", c.doc, c.name);
    }
    let names: Vec<_> = map.counters.iter().map(|c| format!("\"{}\"", c.name.to_lowercase())).collect();
    let _ = writeln!(
        s,
        "    /// Names in the order of their numbers.\n    pub const NAMES: [&str; {}] = [{}];",
        names.len(),
        names.join(", ")
    );
    let _ = write!(out, "/// Numbers of the event counters.\npub mod counter {{\n{s}}}\n");
    s.clear();
    for c in &map.codes {
        let _ = writeln!(s, "    /// {}\n    pub const {}: u8 = {};", c.doc, c.name, c.value);
    }
    let _ = write!(out, "/// Codes in ring entries.\npub mod code {{\n{s}}}\n");
    let path = std::path::Path::new(&std::env::var("OUT_DIR").expect("set by cargo")).join("map.rs");
    std::fs::write(path, out).expect("OUT_DIR is writable");
}
