//! Prints docs/registers.md.
fn main() -> Result<(), mrnic_regs::MapError> {
    print!("{}", mrnic_regs::markdown(&mrnic_regs::Map::parse(mrnic_regs::SOURCE)?));
    Ok(())
}
