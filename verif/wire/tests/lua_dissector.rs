//! The generated dissector, executed: Lua runs it against a strict copy of the part of Wireshark's API that it uses.
//!
//! In: the byte vectors, random bytes, every truncation. Out: the fields it shows. Guarantees: every field of every header has
//! the codec's value at the codec's place; nothing is read outside of the packet; what is malformed is said to be.
use mlua::{Lua, Table};
use mrnic_wire::dissector::dissector_of;
use mrnic_wire::tables::{FieldKind, OpcodeInfo};
use mrnic_wire::{MrcLike, OpenMr0, Profile};
use std::collections::BTreeMap;

/// What the dissector made of a UDP payload.
#[derive(Debug)]
struct Shown {
    consumed: usize,
    /// By filter name: value in hexadecimal, offset, length.
    items: BTreeMap<String, (String, usize, usize)>,
    experts: Vec<String>,
    protocol: String,
    info: String,
}

/// A Lua state with the dissector of `P`.
struct Dissector {
    lua: Lua,
    port: u16,
    id: String,
}

impl Dissector {
    fn new<P: Profile>() -> Self {
        let lua = Lua::new();
        lua.load(include_str!("wireshark/api.lua")).set_name("api.lua").exec().expect("the API loads");
        lua.load(dissector_of::<P>()).set_name("mrnic.lua").exec().unwrap_or_else(|e| panic!("{e}"));
        Self { lua, port: P::UDP_PORT, id: P::LAYOUT.profile.replace('-', "_") }
    }

    fn run(&self, udp_payload: &[u8]) -> Shown {
        let bytes = self.lua.create_string(udp_payload).expect("a string");
        let dissect: mlua::Function = self.lua.globals().get("dissect").expect("the API's entry");
        let result: Table = dissect.call((self.port, bytes)).unwrap_or_else(|e| panic!("{udp_payload:02x?}: {e}"));
        let mut items = BTreeMap::new();
        for item in result.get::<Table>("items").expect("items").sequence_values::<Table>() {
            let item = item.expect("an item");
            let get = |key: &str| item.get::<usize>(key).expect("a number");
            let abbr: String = item.get("abbr").expect("a name");
            let value: String = item.get("value").expect("a value");
            let name = abbr.strip_prefix(&format!("{}.", self.id)).unwrap_or_else(|| panic!("{abbr}: not of {}", self.id));
            let before = items.insert(name.to_string(), (value, get("at"), get("len")));
            assert!(before.is_none(), "{abbr} is shown twice");
        }
        let columns: Table = result.get("cols").expect("columns");
        Shown {
            consumed: result.get("consumed").expect("a number"),
            items,
            experts: result.get("experts").expect("experts"),
            protocol: columns.get::<Option<String>>("protocol").expect("text").unwrap_or_default(),
            info: columns.get::<Option<String>>("info").expect("text").unwrap_or_default(),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex digits")).collect()
}

fn udp_payload(frame: &[u8]) -> Vec<u8> {
    let sliced = etherparse::SlicedPacket::from_ethernet(frame).expect("a valid frame");
    let Some(etherparse::TransportSlice::Udp(udp)) = sliced.transport else { panic!("not UDP") };
    udp.payload().to_vec()
}

/// The committed vectors of a profile: name, fields and payload as JSON, UDP payload.
fn vectors(text: &str) -> Vec<(serde_json::Value, Vec<u8>)> {
    let vectors: Vec<serde_json::Value> = serde_json::from_str(text).expect("valid JSON");
    assert!(!vectors.is_empty());
    vectors.into_iter().map(|v| (v.clone(), udp_payload(&unhex(v["frame"].as_str().expect("a frame"))))).collect()
}

/// The fields of the vectors were read by the codec (tests/byte_vectors.rs).
fn shows_the_vectors<P: Profile>(text: &str) {
    let dissector = Dissector::new::<P>();
    for (vector, bytes) in vectors(text) {
        let name = vector["name"].as_str().expect("a name");
        let shown = dissector.run(&bytes);
        assert_eq!((shown.consumed, shown.experts.len()), (bytes.len(), 0), "{name}: {shown:?}");
        assert_eq!(shown.protocol, P::LAYOUT.profile, "{name}");
        let mut fields = 0;
        for (header, values) in vector["headers"].as_object().expect("headers") {
            for (field, value) in values.as_object().expect("fields") {
                let id = format!("{}.{field}", header.to_lowercase());
                let (seen, ..) = shown.items.get(&id).unwrap_or_else(|| panic!("{name}: no {id} in {shown:?}"));
                match value.as_u64() {
                    Some(number) => assert_eq!(*seen, format!("{number:#x}"), "{name}: {id}"),
                    None => assert_eq!(seen, value.as_str().expect("bytes"), "{name}: {id}"),
                }
                fields += 1;
                fields += flags::<P>(&shown, header, field, value.as_u64());
            }
        }
        let payload = vector["payload"].as_str().expect("a payload");
        assert_eq!(shown.items.get("payload").map_or("", |p| &p.0), payload, "{name}");
        let (at, icrc) = bytes.split_at(bytes.len() - P::LAYOUT.icrc.len_bytes);
        let number = icrc.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
        assert_eq!(shown.items["icrc"], (format!("{number:#x}"), at.len(), icrc.len()), "{name}");
        let opcode = vector["opcode"].as_str().expect("an opcode");
        assert!(
            shown.info.starts_with(&format!("{opcode} conn {} path 5 ppsn 16777215 via 6 resend", 0xF3F4)),
            "{}",
            shown.info
        );
        // nothing but these, the reserved fields and the pad
        let reserved = shown.items.keys().filter(|id| id.contains(".rsv")).count();
        let ends = ["payload", "pad_bytes", "icrc"].iter().filter(|id| shown.items.contains_key(**id)).count();
        assert_eq!(shown.items.len(), fields + reserved + ends, "{name}: {shown:?}");
    }
}

/// Checks the flags in a field; how many there are.
fn flags<P: Profile>(shown: &Shown, header: &str, field: &str, value: Option<u64>) -> usize {
    let all = P::LAYOUT.flags.iter().filter(|f| f.field == format!("{header}.{field}"));
    all.map(|flag| {
        let id = format!("{}.{field}.{}", header.to_lowercase(), flag.name);
        let set = value.expect("a number") >> flag.bit & 1;
        assert_eq!(shown.items[&id].0, set.to_string(), "{id}");
    })
    .count()
}

#[test]
fn open_mr_0_vectors() {
    shows_the_vectors::<OpenMr0>(include_str!("../vectors/open-mr-0.json"));
}

#[test]
fn mrc_like_vectors() {
    shows_the_vectors::<MrcLike>(include_str!("../vectors/mrc-like.json"));
}

fn random_bytes(state: &mut u64, len: usize) -> Vec<u8> {
    let step = |_| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 56) as u8
    };
    (0..len).map(step).collect()
}

/// Random values in every bit of every header: each field is read at its own place.
fn shows_random_bits<P: Profile>() {
    let seed = std::env::var("MRNIC_SEED").map_or(1, |s| s.parse().expect("MRNIC_SEED is a number"));
    println!("MRNIC_SEED={seed}");
    let mut state: u64 = seed;
    let dissector = Dissector::new::<P>();
    let opcode_at = P::LAYOUT.field("BTH", "opcode").expect("an opcode").bit_offset / 8;
    let with_expect = |o: &OpcodeInfo| -> usize {
        let fields = o.headers.iter().flat_map(|h| P::LAYOUT.header(h).expect("a header").fields);
        fields.filter(|f| matches!(f.kind, FieldKind::Expect { .. })).count()
    };
    let mut violations = 0;
    for opcode in P::LAYOUT.opcodes {
        for _ in 0..20 {
            let mut bytes = random_bytes(&mut state, 200);
            bytes[opcode_at] = opcode.value;
            let shown = dissector.run(&bytes);
            assert_eq!(shown.consumed, bytes.len(), "{}", opcode.name);
            let mut at = 0;
            let mut unexpected = 0;
            for header in opcode.headers.iter().map(|h| P::LAYOUT.header(h).expect("a header")) {
                for f in header.fields {
                    let id = format!("{}.{}", header.name.to_lowercase(), f.name);
                    let (first, last) = f.byte_range();
                    let place = &bytes[at + first..=at + last];
                    let value = match f.kind {
                        FieldKind::Bytes => hex(place),
                        _ => format!("{:#x}", f.read(&bytes[at..]).expect("at most 64 bits")),
                    };
                    assert_eq!(shown.items[&id], (value, at + first, place.len()), "{}: {id}", opcode.name);
                    if let FieldKind::Expect { value } = f.kind {
                        unexpected += usize::from(f.read(&bytes[at..]) != Some(value));
                    }
                }
                at += header.len_bytes;
            }
            assert_eq!(shown.experts.len(), unexpected, "{}: of {} fields", opcode.name, with_expect(opcode));
            violations += unexpected;
        }
    }
    assert!(violations > 100, "fixed values were wrong only {violations} times");
}

#[test]
fn open_mr_0_random_bits() {
    shows_random_bits::<OpenMr0>();
}

#[test]
fn mrc_like_random_bits() {
    shows_random_bits::<MrcLike>();
}

/// Every truncation of every vector: no error, nothing outside of the packet, and headers that do not fit are reported.
#[test]
fn truncated_packets_are_reported() {
    let dissector = Dissector::new::<OpenMr0>();
    for (vector, bytes) in vectors(include_str!("../vectors/open-mr-0.json")) {
        let name = vector["name"].as_str().expect("a name");
        let opcode = OpenMr0::LAYOUT.opcode(vector["opcode"].as_str().expect("an opcode")).expect("a known one");
        let imm = opcode.when_imm.iter().filter(|h| vector["headers"].get(**h).is_some());
        let headers = opcode.headers.iter().chain(imm);
        let need: usize = headers.map(|h| OpenMr0::LAYOUT.header(h).expect("a header").len_bytes).sum();
        let icrc = OpenMr0::LAYOUT.icrc.len_bytes;
        for len in 0..bytes.len() {
            let shown = dissector.run(&bytes[..len]);
            let common = OpenMr0::COMMON_LEN + icrc;
            assert_eq!(shown.consumed, if len < common { 0 } else { len }, "{name} cut to {len}");
            let short: &[&str] = if len >= common && len < need + icrc { &["open_mr_0.short"] } else { &[] };
            assert_eq!(shown.experts, short, "{name} cut to {len}");
            assert!(shown.items.values().all(|(_, at, n)| at + n <= len), "{name} cut to {len}: {shown:?}");
        }
    }
}

#[test]
fn other_opcodes_are_left_to_others() {
    let dissector = Dissector::new::<OpenMr0>();
    for opcode in (0..=255).filter(|n| OpenMr0::LAYOUT.opcodes.iter().all(|o| o.value != *n)) {
        let mut bytes = vec![0; 100];
        bytes[0] = opcode;
        let shown = dissector.run(&bytes);
        assert!(shown.consumed == 0 && shown.items.is_empty() && shown.protocol.is_empty(), "{opcode:#04x}: {shown:?}");
    }
}
