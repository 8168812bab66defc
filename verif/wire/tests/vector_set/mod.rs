//! Byte vectors of a profile: every opcode, with and without immediate data, pads 0 to 3, IPv4 and IPv6.
//! In: a profile. Out: JSON text with every field by name and the frame in hexadecimal, one vector a line.

use mrnic_wire::tables::FieldKind;
use mrnic_wire::*;
use serde_json::{json, Map, Value};

const V4: NetAddr = NetAddr::v4([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [10, 0, 0, 1], [10, 0, 0, 2]);
const V6: NetAddr = NetAddr::v6(
    [2, 0, 0, 0, 0, 1],
    [2, 0, 0, 0, 0, 2],
    [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
);

/// JSON text of all vectors of profile `P`.
pub fn json<P: Profile>() -> String {
    let mut lines = Vec::new();
    for net in [V4, V6] {
        for (name, body, payload_len) in bodies::<P>() {
            lines.push(vector::<P>(&net, name, body, payload_len).to_string());
        }
    }
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn msg(msn: u32) -> Msg {
    Msg { first: true, last: false, sol: true, attempt: true, msn: Msn::new(msn) }
}

/// Values are chosen so that no two bytes of a field are alike: a swapped or shifted byte shows.
fn bodies<P: Profile>() -> Vec<(&'static str, Body, usize)> {
    let (va, rkey, length) = (0x0102_0304_0506_0708, 0x1112_1314, 0x2122_2324);
    let (swap_add, compare) = (0x3132_3334_3536_3738, 0x4142_4344_4546_4748);
    let write = |imm| Body::Write { msg: msg(0xFF_FFFE), va, rkey, length, imm };
    let send = |imm| Body::Send { msg: msg(0xA1A2A3), rq_seq: 0x51_5253, offset: 0x6162_6364, length, imm };
    let atomic = |op| Body::AtomicReq { msg: msg(6), op, va, rkey, swap_add, compare };
    let info = ConnInfo {
        version: 1,
        paths: 8,
        vector_bits: P::VECTOR_BITS as u16,
        mtu_log2: 12,
        conn: 0x7172,
        epoch: 0x73,
        start_ppsn_seed: 0x8182_8384,
    };
    let mut vector = SackVector::EMPTY;
    for bit in [0, 2, 9, P::VECTOR_BITS - 1] {
        vector.set(bit);
    }
    let flags = AckFlags { rnr: true, probe_reply: false, ts_valid: true, nak: true };
    let ack = Ack {
        ts_echo: 0x9192,
        service: 0x9394,
        ce_packets: 0x9596,
        dup_packets: 0x9798,
        rx_packets: 0x999A,
        flags,
        rate: 0x9B_9C9D,
        epoch: 0x9E,
        vector,
        mak: Mak { qp: 0xB1_B2B3, code: MakCode::Bounds, msn: Msn::new(0xB4_B5B6) },
    };
    vec![
        ("write_0B", write(None), 0),
        ("write_1B", write(None), 1),
        ("write_2B", write(None), 2),
        ("write_3B", write(None), 3),
        ("write_64B", write(None), 64),
        ("write_imm_5B", write(Some(WriteImm { immediate: 0xC1C2_C3C4, rq_seq: 0x54_5556 })), 5),
        ("send_32B", send(None), 32),
        ("send_imm_0B", send(Some(0xC1C2_C3C4)), 0),
        ("read_req", Body::ReadReq { msg: msg(3), va, rkey, length, tag: 0xD1D2_D3D4 }, 0),
        ("read_resp_6B", Body::ReadResp { msg: msg(4), offset: va, tag: 0xD1D2_D3D4, length }, 6),
        ("compare_swap", atomic(AtomicOp::CompareSwap), 0),
        ("fetch_add", atomic(AtomicOp::FetchAdd), 0),
        ("atomic_resp", Body::AtomicResp { msg: msg(7), value: compare }, 0),
        ("error_resp", Body::ErrorResp { msg: msg(9), code: MakCode::QpError }, 0),
        ("nop", Body::Nop { msg: msg(8) }, 0),
        ("ack", Body::Ack(ack), 0),
        ("probe", Body::Probe, 0),
        ("port_status", Body::PortStatus, 0),
        ("connect", Body::Connect(info), 0),
        ("accept", Body::Accept(info), 0),
        ("close", Body::Close(info), 0),
    ]
}

fn vector<P: Profile>(net: &NetAddr, name: &str, body: Body, payload_len: usize) -> Value {
    let data = body.msg().is_some();
    let packet = Packet {
        se: data,
        dest_qp: if data { 0xE1_E2E3 } else { P::PATH_QP },
        ack_req: true,
        ppsn: Ppsn::new(0xFF_FFFF),
        mph: PathHeader { rtx: true, moved: false, home: 5, tx_ts: 0xF1F2, conn: 0xF3F4, via: 6 },
        ..Packet::new(body)
    };
    let payload: Vec<u8> = (0..payload_len).map(|i| (i * 7 + 1) as u8).collect();
    let mut frame = vec![0; 1024];
    let len = P::emit_packet(&mut frame, net, 0xC0DE, &packet, &payload).expect("fits");
    frame.truncate(len);

    let v4 = net.ip.version() == IpVersion::V4;
    let number = P::opcode_value(packet.opcode());
    let opcode = P::LAYOUT.opcodes.iter().find(|o| o.value == number).expect("every opcode is in the table");
    let with_imm = packet.body.imm().is_some();
    let headers = opcode.headers.iter().chain(opcode.when_imm.iter().filter(|_| with_imm));
    let mut fields = Map::new();
    for header in headers {
        let offset = P::LAYOUT.offset(opcode.name, header).expect("a header of this opcode");
        let at = if v4 { offset.ipv4_bytes } else { offset.ipv6_bytes };
        fields.insert(header.to_string(), header_fields::<P>(header, &frame[at..]));
    }
    json!({
        "name": format!("{name}_v{}", if v4 { 4 } else { 6 }),
        "opcode": opcode.name,
        "ip_version": if v4 { 4 } else { 6 },
        "udp_src": 0xC0DE,
        "headers": fields,
        "payload": hex(&payload),
        "frame": hex(&frame),
    })
}

fn header_fields<P: Profile>(header: &str, bytes: &[u8]) -> Value {
    let info = P::LAYOUT.header(header).expect("known header");
    let mut fields = Map::new();
    for field in info.fields.iter().filter(|f| f.kind != FieldKind::Reserved) {
        let (first, last) = field.byte_range();
        let value = match field.kind {
            FieldKind::Bytes => json!(hex(&bytes[first..=last])),
            _ => json!(field.read(bytes).expect("at most 64 bits")),
        };
        fields.insert(field.name.to_string(), value);
    }
    Value::Object(fields)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
