//! The register map as a page.
//!
//! In: a [`Map`]. Out: Markdown (docs/registers.md). Guarantees: every item of the map appears with its description.
use crate::map::{Access, Field, Map};
use std::fmt::Write as _;

fn fields(s: &mut String, fields: &[Field], words: bool) {
    let _ = writeln!(
        s,
        "\n| {}bits | field | meaning |\n|{}---|---|---|",
        if words { "word | " } else { "" },
        if words { "---|" } else { "" }
    );
    for f in fields {
        let word = if words { format!("{} | ", f.word) } else { String::new() };
        let bits = match f.width {
            1 => f.lsb.to_string(),
            w => format!("{}:{}", f.lsb + w - 1, f.lsb),
        };
        let _ = writeln!(s, "| {word}{bits} | {} | {} |", f.name, f.doc);
    }
}

/// docs/registers.md.
pub fn markdown(map: &Map) -> String {
    let mut s = String::from(
        "# Registers, tables and rings\n\nGenerated from `hdl/regs/map/nic.ron` by `cargo run -p mrnic-regs --example registers > docs/registers.md`; do not edit.\n\n\
         ## Registers (AXI-Lite, 32 bits, byte offsets)\n\n| offset | name | access | reset | meaning |\n|---|---|---|---|---|\n",
    );
    for r in &map.registers {
        let access = match r.access {
            Access::Ro => "read",
            Access::Rw => "read, write",
            Access::Wo => "write",
        };
        let name = if r.count > 1 { format!("{}[{}]", r.name, r.count) } else { r.name.clone() };
        let reset = if r.reset == 0 { "0".into() } else { format!("{:#x}", r.reset) };
        let _ = writeln!(s, "| {:#05x} | {name} | {access} | {reset} | {} |", r.offset, r.doc);
    }
    for r in map.registers.iter().filter(|r| !r.fields.is_empty()) {
        let _ = write!(s, "\n### {}\n", r.name);
        fields(&mut s, &r.fields, false);
    }
    s.push_str("\n### Counters\n\n| number | name | counts |\n|---|---|---|\n");
    for (i, c) in map.counters.iter().enumerate() {
        let _ = writeln!(s, "| {i} | {} | {} |", c.name, c.doc);
    }
    s.push_str("\n## Tables\n\nWrite the words of a row to TABLE_DATA, then table number and index to TABLE_COMMIT.\n");
    for t in &map.tables {
        let _ = write!(s, "\n### {} (table {}, index: {})\n\n{}\n", t.name, t.number, t.index, t.doc);
        fields(&mut s, &t.fields, true);
    }
    s.push_str("\n## Rings in host memory\n");
    for r in &map.rings {
        let _ = write!(s, "\n### {} ({} bytes)\n\n{}\n", r.name, r.bytes, r.doc);
        fields(&mut s, &r.fields, true);
    }
    s.push_str("\n## Codes\n\n| value | name | meaning |\n|---|---|---|\n");
    for c in &map.codes {
        let _ = writeln!(s, "| {} | {} | {} |", c.value, c.name, c.doc);
    }
    s
}
