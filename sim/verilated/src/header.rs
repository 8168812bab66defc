//! Reads the port list out of the header that Verilator generates.
//! Comes in: `Vdut.h`. Goes out: `PortInfo` in declaration order of the header, and the C++ table the shim compiles in.
//! Guarantees that every port macro is understood or the build stops.

use crate::error::BuildError;

/// Which way a port points, seen from the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Input,
    Output,
}

/// One port of the top module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInfo {
    /// The Verilog name.
    pub name: String,
    pub direction: Direction,
    /// Width in bits.
    pub width: u32,
}

/// A port with the name of its C++ member.
#[derive(Debug, Clone)]
pub(crate) struct HeaderPort {
    pub info: PortInfo,
    pub member: String,
}

/// `VL_IN8(&a,7,0);`, `VL_OUT64(&q,63,0);`, `VL_INW(&w,255,0,8);` ...
pub(crate) fn parse(top: &str, header: &str) -> Result<Vec<HeaderPort>, BuildError> {
    let mut ports = Vec::new();
    for line in header.lines().map(str::trim) {
        let (direction, rest) = if line.starts_with("VL_INOUT") {
            return Err(BuildError::Header { top: top.into(), line: format!("{line} (inout ports are not supported)") });
        } else if let Some(r) = line.strip_prefix("VL_IN") {
            (Direction::Input, r)
        } else if let Some(r) = line.strip_prefix("VL_OUT") {
            (Direction::Output, r)
        } else {
            continue;
        };
        let parsed = (|| {
            let (kind, args) = rest.split_once('(')?;
            if !matches!(kind, "" | "8" | "16" | "64" | "W") {
                return None;
            }
            let mut args = args.split(')').next()?.split(',');
            let member = args.next()?.trim_start_matches('&').to_string();
            let msb: u32 = args.next()?.parse().ok()?;
            let lsb: u32 = args.next()?.parse().ok()?;
            Some(HeaderPort { info: PortInfo { name: decode(&member), direction, width: msb - lsb + 1 }, member })
        })();
        ports.push(parsed.ok_or_else(|| BuildError::Header { top: top.into(), line: line.into() })?);
    }
    Ok(ports)
}

/// Verilator writes characters that C++ does not allow, and doubled underscores, as `__0` + two hex digits.
fn decode(member: &str) -> String {
    let (mut out, mut rest) = (String::new(), member);
    while let Some(c) = rest.chars().next() {
        let code = rest.strip_prefix("__0").and_then(|r| r.get(..2)).and_then(|h| u8::from_str_radix(h, 16).ok());
        match code {
            Some(code) => {
                out.push(code as char);
                rest = &rest[5..];
            }
            None => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// The text of `glue.inc`.
pub(crate) fn glue(ports: &[HeaderPort], clock: Option<&str>) -> String {
    let mut s = String::from("#define MRNIC_PORTS \\\n");
    for p in ports {
        let input = u32::from(p.info.direction == Direction::Input);
        s += &format!("    {{&v->top->{0}, sizeof(v->top->{0}), {input}}}, \\\n", p.member);
    }
    s.push('\n');
    if let Some(p) = clock.and_then(|c| ports.iter().find(|p| p.info.name == c)) {
        s += &format!("#define MRNIC_CLOCK {}\n", p.member);
    }
    s
}

/// One line a port: the form the cache keeps.
pub(crate) fn to_text(ports: &[HeaderPort]) -> String {
    ports.iter().fold(String::new(), |s, p| {
        let d = if p.info.direction == Direction::Input { "in" } else { "out" };
        s + &format!("{d} {} {}\n", p.info.width, p.info.name)
    })
}

pub(crate) fn from_text(text: &str) -> Option<Vec<PortInfo>> {
    text.lines()
        .map(|l| {
            let mut w = l.splitn(3, ' ');
            let direction = match w.next()? {
                "in" => Direction::Input,
                "out" => Direction::Output,
                _ => return None,
            };
            Some(PortInfo { direction, width: w.next()?.parse().ok()?, name: w.next()?.to_string() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_port_is_read() {
        let h =
            "  VL_IN8(&clock,0,0);\n VL_IN16(&a,11,0);\nVL_IN(&b,31,0);\nVL_OUT64(&q,63,0);\n  VL_OUTW(&w,255,0,8);\n int x;";
        let p = parse("t", h).unwrap();
        let got: Vec<_> = p.iter().map(|p| (p.info.name.as_str(), p.info.width)).collect();
        assert_eq!(got, [("clock", 1), ("a", 12), ("b", 32), ("q", 64), ("w", 256)]);
        assert_eq!(from_text(&to_text(&p)).unwrap(), p.into_iter().map(|p| p.info).collect::<Vec<_>>());
    }

    #[test]
    fn encoded_names_come_back() {
        assert_eq!(decode("a___05Fb"), "a__b");
        assert_eq!(decode("x__024y"), "x$y");
        assert_eq!(decode("plain_name"), "plain_name");
    }

    #[test]
    fn an_unknown_port_macro_stops_the_build() {
        assert!(parse("t", "VL_IN128(&a,127,0);").is_err());
        assert!(parse("t", "VL_INOUT8(&a,0,0);").unwrap_err().to_string().contains("inout"));
    }
}
