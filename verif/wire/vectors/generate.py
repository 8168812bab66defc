#!/usr/bin/env python3
"""Writes vectors/scapy-icrc.json: frames whose ICRC comes from scapy's RoCE layer, an implementation independent of ours.

The transport headers are packed here a second time, by hand and from the text of docs/wire.md, so that the layout has a second
witness too. Run it only to add vectors; the tests read the committed file.

    python3 -m venv .venv && .venv/bin/pip install scapy==2.8.0
    .venv/bin/python verif/wire/vectors/generate.py
"""
import json
import pathlib
import random
import struct

from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

SRC_MAC, DST_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
V4 = ("10.1.2.3", "10.4.5.6")
V6 = ("fd00::1:2", "fd00::3:4")
rng = random.Random(20261129)


def u24(value):
    return struct.pack("!I", value)[1:]


def mph(f):
    first = f["version"] << 4 | f["rtx"] << 3 | f["moved"] << 2
    return struct.pack("!BBHHBB", first, f["home"], f["tx_ts"], f["conn"], f["via"], 0)


def msgh(f):
    first = f["first"] << 7 | f["last"] << 6 | f["imm"] << 5 | f["sol"] << 4 | f["fetch_add"] << 3 | f["attempt"] << 2
    return struct.pack("!B", first) + u24(f["msn"])


PACK = {
    "MPH": mph,
    "MSGH": msgh,
    "PLH": lambda f: struct.pack("!QII", f["va"], f["rkey"], f["length"]),
    "SNDH": lambda f: u24(f["rq_seq"]) + struct.pack("!BII", 0, f["offset"], f["length"]),
    "RDH": lambda f: struct.pack("!QIII", f["va"], f["rkey"], f["length"], f["tag"]),
    "ATH": lambda f: struct.pack("!QIQQ", f["va"], f["rkey"], f["swap_add"], f["compare"]),
    "ARH": lambda f: struct.pack("!Q", f["value"]),
    "IMMH": lambda f: struct.pack("!I", f["immediate"]) + u24(f["rq_seq"]) + b"\0",
    "AKH": lambda f: struct.pack("!6H", f["ts_echo"], f["service"], f["ce_packets"], f["dup_packets"], f["rx_packets"], f["flags"])
    + u24(f["rate"]) + struct.pack("!B", f["epoch"]),
    "SAV": lambda f: bytes.fromhex(f["vector"]),
    "MAK": lambda f: u24(f["qp"]) + struct.pack("!B", f["code"]) + u24(f["msn"]) + b"\0",
    "ERH": lambda f: struct.pack("!I", f["code"] << 24),
    "PSTH": lambda f: bytes(8),
    "CONH": lambda f: struct.pack("!BBHBBHB3sI", f["version"], f["paths"], f["vector_bits"], f["mtu_log2"], 0, f["conn"],
                                  f["epoch"], b"\0\0\0", f["start_ppsn_seed"]),
}

BITS = {
    "MPH": dict(version=0, rtx=1, moved=1, home=8, tx_ts=16, conn=16, via=8),
    "MSGH": dict(first=1, last=1, imm=0, sol=1, fetch_add=0, attempt=1, msn=24),
    "PLH": dict(va=64, rkey=32, length=32),
    "SNDH": dict(rq_seq=24, offset=32, length=32),
    "RDH": dict(va=64, rkey=32, length=32, tag=32),
    "ATH": dict(va=64, rkey=32, swap_add=64, compare=64),
    "ARH": dict(value=64),
    "IMMH": dict(immediate=32, rq_seq=24),
    "AKH": dict(ts_echo=16, service=16, ce_packets=16, dup_packets=16, rx_packets=16, flags=4, rate=24, epoch=8),
    "MAK": dict(qp=24, code=3, msn=24),
    "ERH": dict(code=3),
    "PSTH": dict(),
    "CONH": dict(version=8, paths=8, vector_bits=16, mtu_log2=8, conn=16, epoch=8, start_ppsn_seed=32),
}

OPCODES = {
    "WRITE": (0xE0, ["MPH", "MSGH", "PLH"]),
    "SEND": (0xE1, ["MPH", "MSGH", "SNDH"]),
    "READ_REQ": (0xE2, ["MPH", "MSGH", "RDH"]),
    "READ_RESP": (0xE3, ["MPH", "MSGH", "PLH"]),
    "ATOMIC_REQ": (0xE4, ["MPH", "MSGH", "ATH"]),
    "ATOMIC_RESP": (0xE5, ["MPH", "MSGH", "ARH"]),
    "ERROR_RESP": (0xE6, ["MPH", "MSGH", "ERH"]),
    "ACK": (0xF0, ["MPH", "AKH", "SAV", "MAK"]),
    "PROBE": (0xF2, ["MPH"]),
    "PORT_STATUS": (0xF3, ["MPH", "PSTH"]),
    "CONNECT": (0xF4, ["MPH", "CONH"]),
    "ACCEPT": (0xF5, ["MPH", "CONH"]),
    "CLOSE": (0xF6, ["MPH", "CONH"]),
    "NOP": (0xF7, ["MPH", "MSGH"]),
}


def random_fields(header):
    if header == "SAV":
        return {"vector": rng.randbytes(32).hex()}
    return {name: rng.getrandbits(bits) if bits else 0 for name, bits in BITS[header].items()}


def vector(opcode, ip, size=0, imm=False, vlan=False, travelled=False):
    """One frame. `travelled`: everything a switch may change differs from what our sender sends."""
    value, headers = OPCODES[opcode]
    headers = headers + ["IMMH"] * imm
    fields = {header: random_fields(header) for header in headers}
    if imm:
        fields["MSGH"]["imm"] = 1
        # In SEND both headers name the receive, alike.
        if opcode == "SEND":
            fields["IMMH"]["rq_seq"] = fields["SNDH"]["rq_seq"]
    if opcode == "ATOMIC_REQ":
        fields["MSGH"]["fetch_add"] = rng.getrandbits(1)
    payload = rng.randbytes(size)
    pad = -size % 4
    bth = {"opcode": value, "se": rng.getrandbits(1), "m": rng.getrandbits(1), "pad": pad, "tver": 0, "pkey": rng.getrandbits(16),
           "dest_qp": rng.getrandbits(24), "ack_req": rng.getrandbits(1), "ppsn": rng.getrandbits(24)}
    body = b"".join(PACK[header](fields[header]) for header in headers) + payload + bytes(pad)

    udp_src = rng.randrange(49152, 65536)
    frame = Ether(src=SRC_MAC, dst=DST_MAC)
    if vlan:
        frame /= Dot1Q(vlan=rng.randrange(1, 4095), prio=3)
    ecn = 3 if travelled else 2
    if ip == 4:
        network = IP(src=V4[0], dst=V4[1], tos=(11 if travelled else 26) << 2 | ecn, ttl=3 if travelled else 64, id=0, flags="DF")
    else:
        network = IPv6(src=V6[0], dst=V6[1], tc=(11 if travelled else 26) << 2 | ecn, hlim=3 if travelled else 64,
                       fl=0xABCDE if travelled else 0)
    transport = BTH(opcode=value, solicited=bth["se"], migreq=bth["m"], padcount=pad, version=0, pkey=bth["pkey"],
                    fecn=int(travelled), becn=0, resv6=0x15 if travelled else 0, dqpn=bth["dest_qp"], ackreq=bth["ack_req"],
                    psn=bth["ppsn"])
    frame = frame / network / UDP(sport=udp_src, dport=4791, chksum=0xBEEF if travelled else 0) / transport / Raw(body)
    name = f"{opcode.lower()}{'_imm' if imm else ''}_v{ip}_{size}B{'_vlan' if vlan else ''}{'_travelled' if travelled else ''}"
    return {
        "name": name, "opcode": opcode, "ip_version": ip, "vlan": vlan,
        # Whether our sender would send exactly these bytes.
        "as_sent": not (vlan or travelled),
        "ecn": ecn, "udp_src": udp_src, "headers": {"BTH": bth, **fields}, "payload": payload.hex(), "frame": bytes(frame).hex(),
    }


def main():
    vectors = [vector(opcode, ip) for ip in (4, 6) for opcode in OPCODES]
    for ip in (4, 6):
        vectors += [vector("WRITE", ip, size) for size in (1, 2, 3, 4, 5, 64, 255, 1024, 4096)]
        vectors += [vector("SEND", ip, size, imm=True) for size in (0, 1, 2, 3, 4, 1025)]
        vectors += [vector("WRITE", ip, 7, imm=True), vector("READ_RESP", ip, 2049), vector("READ_RESP", ip, 6)]
        vectors += [vector("WRITE", ip, size, vlan=True) for size in (0, 1, 2, 3)]
        vectors += [vector(opcode, ip, size, travelled=True) for opcode, size in (("WRITE", 9), ("SEND", 10), ("ACK", 0))]
        vectors += [vector("SEND", ip, 11, vlan=True, travelled=True)]
    path = pathlib.Path(__file__).with_name("scapy-icrc.json")
    lines = ",\n".join(json.dumps(v) for v in vectors)
    path.write_text(f"[\n{lines}\n]\n")
    print(f"{len(vectors)} vectors in {path}")


main()
