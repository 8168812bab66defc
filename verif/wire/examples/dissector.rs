//! Prints the Wireshark dissector: `cargo run -p mrnic-wire --example dissector > mrnic.lua`.

fn main() {
    print!("{}", mrnic_wire::dissector());
}
