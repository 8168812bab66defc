//! The register map: the page is current, fields read back, malformed files are refused with line and reason.
use mrnic_regs::{markdown, ring, table, Map, MapError, SOURCE};

#[test]
fn page_is_current() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/registers.md")).unwrap();
    let map = Map::parse(SOURCE).unwrap();
    assert_eq!(page, markdown(&map), "run `cargo run -p mrnic-regs --example registers > docs/registers.md`");
}

#[test]
fn fields_read_back_and_leave_neighbours_alone() {
    for ones in [0u32, !0] {
        for f in [ring::wqe::OPCODE, ring::wqe::LADDR, ring::wqe::WR_ID, table::conn::PEER_MAC_LO, table::qp::CQ_BASE] {
            let mut w = [ones; 16];
            f.set(&mut w, 0x0123_4567_89ab_cdef_u128);
            let mask = if f.width == 64 { !0 } else { (1u64 << f.width) - 1 };
            assert_eq!(f.get(&w), 0x0123_4567_89ab_cdef & mask);
            f.set(&mut w, if ones == 0 { 0 } else { u128::MAX });
            assert_eq!(w, [ones; 16]);
        }
    }
}

fn refuse(from: &str, to: &str) -> (usize, String) {
    assert!(SOURCE.contains(from), "the map no longer has {from}");
    match Map::parse(&SOURCE.replacen(from, to, 1)) {
        Err(MapError::Syntax { line, reason, .. }) => (line, reason),
        Err(MapError::Content { line, item, reason }) => (line, format!("{item}: {reason}")),
        Ok(_) => panic!("accepted {to}"),
    }
}

fn line_of(text: &str) -> usize {
    SOURCE.lines().position(|l| l.contains(text)).unwrap() + 1
}

#[test]
fn malformed_maps_are_refused_with_line_and_reason() {
    let version = "(name: \"VERSION\", offset: 0x004";
    let cases = [
        (version, "(name: \"VERSION\", offset: 0x006", "multiple of 4"),
        (version, "(name: \"VERSION\", offset: 0x000", "overlaps"),
        (version, "(name: \"VERSION\", offset: 0x2000", "beyond the BAR"),
        (version, "(name: \"ID\", offset: 0x004", "named twice"),
        (version, "(name: \"VERSION\", ofset: 0x004", "ofset"),
        (version, "(name: \"VERSION\", offset: four", "Invalid digit"),
        ("(name: \"PATHS_LOG2\", lsb: 4", "(name: \"PATHS_LOG2\", lsb: 3", "also in CONNS_LOG2"),
        ("lsb: 16, width: 12, doc: \"data width", "lsb: 16, width: 17, doc: \"data width", "do not fit"),
        ("(name: \"WR_ID\", word: 10", "(name: \"WR_ID\", word: 15", "do not fit"),
        ("number: 2, index", "number: 1, index", "used twice"),
        ("number: 2, index", "number: 0, index", "1..=255"),
        ("name: \"CQE\", bytes: 32", "name: \"CQE\", bytes: 33", "power of two"),
        ("count: 32, doc: \"Event", "count: 31, doc: \"Event", "counters are named"),
    ];
    for (from, to, reason) in cases {
        let (line, got) = refuse(from, to);
        assert!(got.contains(reason), "{to}: {got}");
        assert!(line > 0, "{to}: no line");
    }
    assert_eq!(refuse(version, "(name: \"VERSION\", offset: 0x006").0, line_of("\"VERSION\""));
    let (line, _) = refuse("(name: \"CAPS\", offset: 0x008, access: Ro", "(name: \"CAPS\", offset: 0x008, access: Rx");
    assert_eq!(line, line_of("\"CAPS\""));
}
