//! rx_fields: the header fields of a frame, picked from its first beats. Wires and two multiplexers (VLAN tag, IP version).
//! In: the first NB beats of a frame, its form. Out: the fields, each at its own position of the wire layout; of other opcodes those
//! that a WRITE has elsewhere.
//! Guarantees: every offset comes from mrnic_wire's tables; the Verilog is written from the same list as the simulation.
use super::rx_layout::{constant, expected, field, header_at, header_bytes, longest_headers, opcode_value, Form, FORMS};
use super::rx_rows::{RxAckHeader, RxHeader, RxRequestHeader};
use mrnic_wire::tables::FieldInfo;
use rust_hdl_core::prelude::*;

/// Fields that the checks need and rx_core does not.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxChecked {
    pub length: Bits<16>,
    pub protocol: Bits<8>,
    pub port: Bits<16>,
    pub udp_length: Bits<16>,
    pub pad: Bits<2>,
    pub imm: Bit,
    /// IP version, header length and fragmentation are as they must be.
    pub ip_good: Bit,
    pub bth_good: Bit,
    pub path_header_good: Bit,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RxFields<const W: usize, const NB: usize> {
    pub beat: [Signal<In, Bits<W>>; NB],
    pub vlan: Signal<In, Bit>,
    pub ipv6: Signal<In, Bit>,
    pub header: Signal<Out, RxHeader>,
    pub ack: Signal<Out, RxAckHeader>,
    pub request: Signal<Out, RxRequestHeader>,
    pub checked: Signal<Out, RxChecked>,
    /// The IPv4 header, first byte most significant.
    pub ipv4_words: Signal<Out, Bits<160>>,
    _uses: Uses,
}

/// Which opcodes besides WRITE are of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// SENDs and immediates.
    pub sends: bool,
    /// READs, atomics and their responses.
    pub reads: bool,
}

impl Uses {
    fn knows(self, opcode: &str) -> bool {
        match opcode {
            "SEND" => self.sends,
            "READ_REQ" | "READ_RESP" | "ATOMIC_REQ" | "ATOMIC_RESP" | "ERROR_RESP" => self.reads,
            _ => true,
        }
    }
}

impl<const W: usize, const NB: usize> RxFields<W, NB> {
    /// What the opcodes of use need is read.
    pub fn new(uses: Uses) -> Self {
        assert!(NB * W / 8 >= longest_headers(), "{NB} beats of {W} bits hold no ACK over tagged IPv6");
        Self {
            beat: array_init::array_init(|_| Default::default()),
            vlan: Default::default(),
            ipv6: Default::default(),
            header: Default::default(),
            ack: Default::default(),
            request: Default::default(),
            checked: Default::default(),
            ipv4_words: Default::default(),
            _uses: uses,
        }
    }
}

/// Opcode, header, field.
type Place = (&'static str, &'static str, &'static str);

/// Where an output field comes from.
enum Source {
    /// A transport header: opcode whose packets have it, header, field.
    Transport(&'static str, &'static str, &'static str),
    /// Opcode, header and field, the first for all other opcodes; a narrower one is extended by zeros.
    ByOpcode(&'static [Place]),
    /// The same; zero if no SENDs are received.
    OfSends(&'static [Place]),
    /// The same; zero if no READs are.
    OfReads(&'static [Place]),
    Udp(&'static str),
    /// One field of each IP version.
    Ip(&'static str, &'static str),
    /// The IP header's ECN field says congestion experienced.
    Marked,
    /// All fields with an only value have it.
    IpGood,
    Good(&'static str),
    Zero,
}
use Source::{ByOpcode, Good, Ip, IpGood, Marked, OfReads, OfSends, Transport, Udp, Zero};

/// The fields of `RxHeader`, in the order of its declaration.
const HEADER: &[(usize, Source)] = &[
    (8, Transport("WRITE", "BTH", "opcode")),
    (1, Transport("WRITE", "BTH", "ack_req")),
    (24, Transport("WRITE", "BTH", "ppsn")),
    (24, Transport("WRITE", "BTH", "dest_qp")),
    (1, Marked),
    (8, Transport("WRITE", "MPH", "home")),
    (8, Transport("WRITE", "MPH", "via")),
    (16, Transport("WRITE", "MPH", "conn")),
    (1, Transport("WRITE", "MPH", "rtx")),
    (16, Transport("WRITE", "MPH", "tx_ts")),
    (24, Transport("WRITE", "MSGH", "msn")),
    (1, Transport("WRITE", "MSGH", "first")),
    (1, Transport("WRITE", "MSGH", "last")),
    (64, ByOpcode(&[WRITE_VA, ("SEND", "SNDH", "offset"), ("READ_REQ", "RDH", "va"), READ_VA, ("ATOMIC_REQ", "ATH", "va")])),
    (32, ByOpcode(&[WRITE_KEY, ("READ_REQ", "RDH", "rkey"), READ_TAG, ("ATOMIC_REQ", "ATH", "rkey")])),
    (32, ByOpcode(&[WRITE_LENGTH, ("SEND", "SNDH", "length"), ("READ_REQ", "RDH", "length"), READ_LENGTH])),
    (13, Zero),
    (24, OfSends(&[("WRITE", "IMMH", "rq_seq"), ("SEND", "SNDH", "rq_seq")])),
    (32, OfSends(&[("WRITE", "IMMH", "immediate"), ("SEND", "IMMH", "immediate")])),
    (1, OfSends(&[("WRITE", "MSGH", "imm"), ("SEND", "MSGH", "imm")])),
    (1, OfSends(&[("WRITE", "MSGH", "sol"), ("SEND", "MSGH", "sol")])),
    (1, OfSends(&[("WRITE", "MSGH", "attempt"), ("SEND", "MSGH", "attempt")])),
    (16, Udp("src_port")),
];
const WRITE_VA: Place = ("WRITE", "PLH", "va");
const WRITE_KEY: Place = ("WRITE", "PLH", "rkey");
const WRITE_LENGTH: Place = ("WRITE", "PLH", "length");
const READ_VA: Place = ("READ_RESP", "PLH", "va");
const READ_TAG: Place = ("READ_RESP", "PLH", "rkey");
const READ_LENGTH: Place = ("READ_RESP", "PLH", "length");

/// The fields of `RxRequestHeader`.
const REQUEST: &[(usize, Source)] = &[
    (32, OfReads(&[("READ_REQ", "RDH", "tag")])),
    (64, OfReads(&[("ATOMIC_REQ", "ATH", "swap_add")])),
    (64, OfReads(&[("ATOMIC_REQ", "ATH", "compare")])),
    (1, OfReads(&[("ATOMIC_REQ", "MSGH", "fetch_add")])),
    (8, OfReads(&[("ERROR_RESP", "ERH", "code")])),
];

/// The fields of `RxAckHeader`.
const ACK: &[(usize, Source)] = &[
    (16, Transport("ACK", "AKH", "ts_echo")),
    (16, Transport("ACK", "AKH", "service")),
    (16, Transport("ACK", "AKH", "ce_packets")),
    (16, Transport("ACK", "AKH", "dup_packets")),
    (16, Transport("ACK", "AKH", "flags")),
    (24, Transport("ACK", "AKH", "rate")),
    (256, Transport("ACK", "SAV", "vector")),
    (24, Transport("ACK", "MAK", "qp")),
    (8, Transport("ACK", "MAK", "code")),
    (24, Transport("ACK", "MAK", "msn")),
];

/// The fields of `RxChecked`.
const CHECKED: &[(usize, Source)] = &[
    (16, Ip("total_length", "payload_length")),
    (8, Ip("protocol", "next_header")),
    (16, Udp("dst_port")),
    (16, Udp("length")),
    (2, Transport("WRITE", "BTH", "pad")),
    (1, Transport("WRITE", "MSGH", "imm")),
    (1, IpGood),
    (1, Good("BTH")),
    (1, Good("MPH")),
];

/// Bytes of the IP header and all that follows, as far as it is read.
fn inner_bytes() -> usize {
    longest_headers() - FORMS[3].ip_at()
}

fn transport_bytes() -> usize {
    longest_headers() - FORMS[3].udp_at()
}

/// Position of a transport field, in bits from the UDP header.
fn transport_at(opcode: &str, header: &str, f: &FieldInfo) -> usize {
    8 * (header_bytes("UDP") + header_at(opcode, header)) + f.bit_offset
}

/// Bits of `bytes`, the most significant of the first byte at 0, lowest bit of the field first.
fn pick(bytes: &[u8], at: usize, width: usize) -> Vec<bool> {
    (0..width).rev().map(|k| bytes[(at + k) / 8] >> (7 - (at + k) % 8) & 1 == 1).collect()
}

/// The opcode that the bytes say.
fn opcode_of(udp: &[u8]) -> u64 {
    let opcode = field("BTH", "opcode");
    number(&pick(udp, transport_at("WRITE", "BTH", &opcode), opcode.width))
}

/// The places that differ from the first one, of the opcodes of use.
fn others(places: &'static [Place], uses: Uses) -> impl Iterator<Item = Place> {
    let at = |(opcode, header, name): Place| {
        let f = field(header, name);
        (transport_at(opcode, header, &f), f.width)
    };
    let first = at(places[0]);
    places.iter().copied().skip(1).filter(move |place| uses.knows(place.0) && at(*place) != first)
}

fn number(bits: &[bool]) -> u64 {
    bits.iter().rev().fold(0, |n, b| n << 1 | u64::from(*b))
}

impl Source {
    /// The value, lowest bit first, of a frame in `form`; `ip` starts at the IP header, `udp` at the UDP header.
    fn value(&self, width: usize, form: Form, ip: &[u8], udp: &[u8], uses: Uses) -> Vec<bool> {
        let in_ip = |name| {
            let f = field(form.ip(), name);
            pick(ip, f.bit_offset, f.width)
        };
        match *self {
            Transport(opcode, header, name) => {
                let f = field(header, name);
                pick(udp, transport_at(opcode, header, &f), width)
            }
            OfSends(_) if !uses.sends => vec![false; width],
            OfReads(_) if !uses.reads => vec![false; width],
            ByOpcode(places) | OfSends(places) | OfReads(places) => {
                let own = others(places, uses).find(|place| opcode_value(place.0) == opcode_of(udp));
                let (opcode, header, name) = own.unwrap_or(places[0]);
                let f = field(header, name);
                let mut bits = pick(udp, transport_at(opcode, header, &f), f.width);
                bits.resize(width, false);
                bits
            }
            Udp(name) => pick(udp, field("UDP", name).bit_offset, width),
            Ip(v4, v6) => in_ip(if form.ipv6 { v6 } else { v4 }),
            Marked => vec![number(&in_ip("ecn")) == constant("ECN_CE")],
            IpGood => vec![expected(form.ip()).iter().all(|(f, v)| number(&pick(ip, f.bit_offset, f.width)) == *v)],
            Good(header) => {
                let good = |(f, v): &(FieldInfo, u64)| number(&pick(udp, transport_at("WRITE", header, f), f.width)) == *v;
                vec![expected(header).iter().all(good)]
            }
            Zero => vec![false; width],
        }
    }

    /// The same as a Verilog expression over `ip` and `udp`, whose first byte is the most significant.
    fn verilog(&self, width: usize, uses: Uses) -> String {
        let slice = |vector: &str, bytes: usize, at: usize, width: usize| {
            let high = 8 * bytes - 1 - at;
            format!("{vector}[{high}:{}]", high + 1 - width)
        };
        let in_ip = |form: Form, name| {
            let f = field(form.ip(), name);
            slice("ip", inner_bytes(), f.bit_offset, f.width)
        };
        let equal = |terms: Vec<(String, usize, u64)>| {
            let all: Vec<_> = terms.into_iter().map(|(e, w, v)| format!("{e} == {w}'d{v}")).collect();
            if all.is_empty() {
                "1'b1".to_string()
            } else {
                all.join(" && ")
            }
        };
        let ip_good = |form: Form| equal(expected(form.ip()).iter().map(|(f, v)| (in_ip(form, f.name), f.width, *v)).collect());
        match *self {
            Transport(opcode, header, name) => {
                slice("udp", transport_bytes(), transport_at(opcode, header, &field(header, name)), width)
            }
            OfSends(_) if !uses.sends => format!("{width}'d0"),
            OfReads(_) if !uses.reads => format!("{width}'d0"),
            ByOpcode(places) | OfSends(places) | OfReads(places) => {
                let of = |(opcode, header, name): Place| {
                    let f = field(header, name);
                    let bits = slice("udp", transport_bytes(), transport_at(opcode, header, &f), f.width);
                    match width - f.width {
                        0 => bits,
                        missing => format!("{{{missing}'d0, {bits}}}"),
                    }
                };
                others(places, uses).fold(of(places[0]), |rest, place| {
                    format!("(opcode == {}'d{} ? {} : {rest})", field("BTH", "opcode").width, opcode_value(place.0), of(place))
                })
            }
            Udp(name) => slice("udp", transport_bytes(), field("UDP", name).bit_offset, width),
            Ip(v4, v6) => format!("(ipv6 ? {} : {})", in_ip(FORMS[2], v6), in_ip(FORMS[0], v4)),
            Marked => {
                let (v4, v6, ce) = (in_ip(FORMS[0], "ecn"), in_ip(FORMS[2], "ecn"), constant("ECN_CE"));
                format!("((ipv6 ? {v6} : {v4}) == {}'d{ce})", field("IPV4", "ecn").width)
            }
            IpGood => format!("(ipv6 ? ({}) : ({}))", ip_good(FORMS[2]), ip_good(FORMS[0])),
            Good(header) => {
                let at = |f: &FieldInfo| slice("udp", transport_bytes(), transport_at("WRITE", header, f), f.width);
                format!("({})", equal(expected(header).iter().map(|(f, v)| (at(f), f.width, *v)).collect()))
            }
            Zero => format!("{width}'d0"),
        }
    }
}

/// A struct's value from its fields' bits.
fn assemble<const N: usize>(list: &[(usize, Source)], form: Form, ip: &[u8], udp: &[u8], uses: Uses) -> Bits<N> {
    let mut all = Bits::<N>::default();
    let bits = list.iter().flat_map(|(width, source)| source.value(*width, form, ip, udp, uses));
    for (i, bit) in bits.enumerate().filter(|(_, bit)| *bit) {
        all = all.replace_bit(i, bit);
    }
    all
}

/// Fields of a struct out of its bits, in order.
struct Cursor<const N: usize>(Bits<N>, usize);

impl<const N: usize> Cursor<N> {
    fn take<const M: usize>(&mut self) -> Bits<M> {
        let bits = self.0.get_bits::<M>(self.1);
        self.1 += M;
        bits
    }

    fn bit(&mut self) -> bool {
        self.1 += 1;
        self.0.get_bit(self.1 - 1)
    }
}

impl<const W: usize, const NB: usize> Logic for RxFields<W, NB> {
    fn update(&mut self) {
        let mut frame = vec![0u8; NB * W / 8];
        for (k, beat) in self.beat.iter().enumerate() {
            let beat = beat.val();
            for i in (0..W).filter(|i| beat.get_bit(*i)) {
                frame[(k * W + i) / 8] |= 1 << (i % 8);
            }
        }
        let form = Form { vlan: self.vlan.val(), ipv6: self.ipv6.val() };
        // As in the Verilog: the inner part is cut first, then the UDP header on.
        let ip = &frame[form.ip_at()..form.ip_at() + inner_bytes()];
        let udp = &ip[header_bytes(form.ip())..][..transport_bytes()];
        let mut h = Cursor(assemble::<{ RxHeader::BITS }>(HEADER, form, ip, udp, self._uses), 0);
        self.header.next = RxHeader {
            opcode: h.take(),
            ack_req: h.bit(),
            ppsn: h.take(),
            dest_qp: h.take(),
            ecn_ce: h.bit(),
            home: h.take(),
            via: h.take(),
            conn: h.take(),
            rtx: h.bit(),
            tx_ts: h.take(),
            msn: h.take(),
            first: h.bit(),
            last: h.bit(),
            va: h.take(),
            rkey: h.take(),
            length: h.take(),
            payload_bytes: h.take(),
            rq_seq: h.take(),
            imm: h.take(),
            has_imm: h.bit(),
            sol: h.bit(),
            attempt: h.bit(),
            udp_src: h.take(),
        };
        let mut a = Cursor(assemble::<{ RxAckHeader::BITS }>(ACK, form, ip, udp, self._uses), 0);
        self.ack.next = RxAckHeader {
            ts_echo: a.take(),
            service: a.take(),
            ce: a.take(),
            dup: a.take(),
            flags: a.take(),
            rate: a.take(),
            sav: a.take(),
            mak_qp: a.take(),
            mak_code: a.take(),
            mak_msn: a.take(),
        };
        let mut r = Cursor(assemble::<{ RxRequestHeader::BITS }>(REQUEST, form, ip, udp, self._uses), 0);
        self.request.next =
            RxRequestHeader { tag: r.take(), operand: r.take(), compare: r.take(), fetch_add: r.bit(), error_code: r.take() };
        let mut c = Cursor(assemble::<{ RxChecked::BITS }>(CHECKED, form, ip, udp, self._uses), 0);
        self.checked.next = RxChecked {
            length: c.take(),
            protocol: c.take(),
            port: c.take(),
            udp_length: c.take(),
            pad: c.take(),
            imm: c.bit(),
            ip_good: c.bit(),
            bth_good: c.bit(),
            path_header_good: c.bit(),
        };
        let mut words = Bits::<160>::default();
        for (i, bit) in pick(ip, 0, 160).into_iter().enumerate() {
            words = words.replace_bit(i, bit);
        }
        self.ipv4_words.next = words;
    }

    fn connect(&mut self) {
        self.header.connect();
        self.ack.connect();
        self.request.connect();
        self.checked.connect();
        self.ipv4_words.connect();
    }

    fn hdl(&self) -> Verilog {
        let (frame, inner, transport) = (NB * W / 8, inner_bytes(), transport_bytes());
        let bytes: Vec<String> = (0..frame).map(|b| format!("beat_{}[{}:{}]", b * 8 / W, b * 8 % W + 7, b * 8 % W)).collect();
        let cut = |vector: &str, bytes: usize, from: usize, len: usize| {
            format!("{vector}[{}:{}]", 8 * (bytes - from) - 1, 8 * (bytes - from - len))
        };
        let list = |fields: &[(usize, Source)]| {
            let all: Vec<String> = fields.iter().rev().map(|(w, s)| s.verilog(*w, self._uses)).collect();
            format!("{{\n    {}}}", all.join(",\n    "))
        };
        let (v4, v6) = (header_bytes("IPV4"), header_bytes("IPV6"));
        let width = field("BTH", "opcode").width;
        let opcode = Transport("WRITE", "BTH", "opcode").verilog(width, self._uses);
        let uses_opcode = HEADER.iter().chain(REQUEST).any(|(_, source)| match source {
            OfSends(_) if !self._uses.sends => false,
            OfReads(_) if !self._uses.reads => false,
            ByOpcode(places) | OfSends(places) | OfReads(places) => others(places, self._uses).next().is_some(),
            _ => false,
        });
        let opcode = match uses_opcode {
            true => format!("wire [{}:0] opcode = {opcode};\n", width - 1),
            false => String::new(),
        };
        let unused_frame = 8 * (frame - FORMS[1].ip_at() - inner);
        let mut unused = vec![cut("frame", frame, 0, FORMS[0].ip_at()), "ip".to_string(), "udp".to_string()];
        if unused_frame > 0 {
            unused.push(format!("frame[{}:0]", unused_frame - 1));
        }
        Verilog::Custom(format!(
            "\
// module rx_fields_{W}: header fields of a frame, first byte of a vector most significant
wire [{}:0] frame = {{\n    {}}};
wire [{}:0] ip = vlan ? {} : {};
wire [{}:0] udp = ipv6 ? {} : {};
wire unused = &{{1'b0, {}}};
{opcode}assign header = {};
assign ack = {};
assign request = {};
assign checked = {};
assign ipv4_words = {};
",
            8 * frame - 1,
            bytes.join(",\n    "),
            8 * inner - 1,
            cut("frame", frame, FORMS[1].ip_at(), inner),
            cut("frame", frame, FORMS[0].ip_at(), inner),
            8 * transport - 1,
            cut("ip", inner, v6, transport),
            cut("ip", inner, v4, transport),
            unused.join(", "),
            list(HEADER),
            list(ACK),
            list(REQUEST),
            list(CHECKED),
            cut("ip", inner, 0, v4),
        ))
    }
}
