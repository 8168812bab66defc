//! Verilator as a linter.
//! Comes in: Verilog text. Goes out: nothing, or everything `-Wall` says about it.
//! Guarantees that any warning is an error.

use std::fs;

use crate::{
    cache::Cache,
    compile::text,
    error::{io, LintError},
    tool::Tool,
};

/// Runs `verilator --lint-only -Wall`. DECLFILENAME (one module a file) is off: the text is one file by design.
pub fn lint(verilog: &str, top: &str) -> Result<(), LintError> {
    let tool = Tool::find()?;
    let temp = Cache::open()?.temp()?;
    let file = format!("{top}.v");
    let path = temp.path.join(&file);
    fs::write(&path, verilog).map_err(io("write", path))?;
    let mut c = tool.command();
    c.current_dir(&temp.path).args(["--lint-only", "-Wall", "-Wno-DECLFILENAME", "--no-timing", "--top-module", top, &file]);
    let o = c.output().map_err(io("start", &tool.verilator))?;
    let messages = text(&o);
    // a warning fails the run; the second test is for versions that print one and go on
    if o.status.success() && !messages.contains("%Warning") {
        return Ok(());
    }
    Err(LintError::Messages { top: top.to_string(), messages })
}
