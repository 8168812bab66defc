"""Deepest combinational paths of a mapped netlist, in logic levels.

In: one module of Yosys' JSON netlist, mapped to ECP5 or UltraScale+ cells. Out: for each kind of path (register to
register, input to register, register to output, input to output) its levels, its ends and the cells on it.
Guarantees: every path is seen; a combinational loop and a cell of unknown kind are errors.

A level is a LUT, a LUT-RAM that is read, or a whole carry chain. What shares a slice with its LUT (the wide multiplexers,
the next cell of a carry chain) costs none. A multiplier without registers costs MULTIPLIER levels.
"""

import re
from collections import Counter, deque

MULTIPLIER = 4
LUTS = {"LUT4", "INV", *(f"LUT{i}" for i in range(1, 7))}
WIDE = {"PFUMX", "L6MUX21", "MUXF7", "MUXF8", "MUXF9"}
CARRY_IN = {"CCU2C": {"CIN"}, "CARRY4": {"CI"}, "CARRY8": {"CI", "CI_TOP"}}
# LUT memories: the ports of the read addresses; all other inputs end a path
READ_ADDRESS = {
    "TRELLIS_DPR16X4": ("RAD",),
    "RAM32M": ("ADDRA", "ADDRB", "ADDRC", "ADDRD"),
    "RAM64M": ("ADDRA", "ADDRB", "ADDRC", "ADDRD"),
    "RAM32M16": tuple(f"ADDR{c}" for c in "ABCDEFGH"),
    "RAM64M8": tuple(f"ADDR{c}" for c in "ABCDEFGH"),
    "RAM32X1D": tuple(f"DPRA{i}" for i in range(5)) + tuple(f"A{i}" for i in range(5)),
    "RAM64X1D": tuple(f"DPRA{i}" for i in range(6)) + tuple(f"A{i}" for i in range(6)),
    "RAM128X1D": ("DPRA", "A"),
    "RAM256X1D": ("DPRA", "A"),
    "SRL16E": ("A0", "A1", "A2", "A3"),
    "SRLC32E": ("A",),
}
REGISTERS = {
    "TRELLIS_FF", "FDRE", "FDSE", "FDCE", "FDPE", "DP16KD", "PDPW16KD",
    "RAMB18E2", "RAMB36E2", "URAM288", "URAM288_BASE",
    "EHXPLLL",  # a PLL begins and ends paths too
}  # fmt: skip
CONSTANTS = {"GND", "VCC", "$scopeinfo"}
# names that Yosys made up from cells and passes: not a signal of the source
MADE_UP = re.compile(r"\$|_(LUT\d|PFUMX|L6MUX21|CCU2C|TRELLIS_FF|TRELLIS_DPR16X4|FD[RSCP]E|CARRY\d|MUXF\d|INV|DP16KD)(_|$)")


class UnknownCell(Exception):
    pass


def levels_of(cell):
    """The levels from each input port to the outputs; None if the outputs come from registers."""
    kind, ports, params = cell["type"], cell["port_directions"], cell["parameters"]
    inputs = [p for p, d in ports.items() if d == "input"]
    if kind in CONSTANTS or kind in REGISTERS:
        return None
    if kind in LUTS:
        return dict.fromkeys(inputs, 1)
    if kind in WIDE:
        return dict.fromkeys(inputs, 0)
    if kind in CARRY_IN:
        return {p: 0 if p in CARRY_IN[kind] else 1 for p in inputs}
    if kind in READ_ADDRESS:
        return {p: 1 for p in inputs if p in READ_ADDRESS[kind]}
    if kind == "MULT18X18D":
        registered = any("CLK" in str(params.get(p, "")) for p in ("REG_OUTPUT_CLK", "REG_PIPELINE_CLK"))
        return None if registered else {p: MULTIPLIER for p in inputs if p[0] in "AB" and p[1:].isdigit()}
    if kind == "DSP48E2":
        registered = int(str(params.get("PREG", "1")), 2) or int(str(params.get("MREG", "1")), 2)
        return None if registered else {p: MULTIPLIER for p in inputs if p in ("A", "B", "C", "D", "PCIN")}
    raise UnknownCell(f"depth.py does not know the cell {kind}")


def names_of(module):
    """A readable name for each bit: the shortest one that the source gave it, else the shortest one made up."""
    names = {}
    for name, net in module["netnames"].items():
        made_up = bool(net.get("hide_name", 0)) or bool(MADE_UP.search(name))
        for i, bit in enumerate(net["bits"]):
            if isinstance(bit, int):
                text = f"{name}[{i}]" if len(net["bits"]) > 1 else name
                rank = (made_up, len(text), text)
                if bit not in names or rank < names[bit]:
                    names[bit] = rank
    return {bit: rank[2] for bit, rank in names.items()}


class Netlist:
    """Comb cells, and for each bit the cell that drives it, whether a register or an input does."""

    def __init__(self, module):
        self.names = names_of(module)
        self.kinds, self.edges, self.outputs = [], [], []
        self.driver = {}  # bit -> comb cell, or "register" / "input"
        self.ends = {"register": {}, "output": {}}  # bit -> where it ends
        for port, about in module["ports"].items():
            for bit in about["bits"]:
                if isinstance(bit, int) and about["direction"] == "input":
                    self.driver[bit] = "input"
                elif isinstance(bit, int):
                    self.ends["output"][bit] = port
        for name, cell in module["cells"].items():
            self.add(name, cell)

    def add(self, name, cell):
        levels = levels_of(cell)
        comb = len(self.kinds) if levels is not None else None
        edges, outs = [], []
        for port, bits in cell["connections"].items():
            bits = [b for b in bits if isinstance(b, int)]
            if cell["port_directions"][port] != "input":
                outs += bits
            elif levels is not None and port in levels:
                edges += [(b, levels[port]) for b in bits]
            else:
                self.ends["register"].update((b, name) for b in bits)
        if cell["type"] in REGISTERS or comb is None:
            # an end is best named by what the register drives
            drives = [self.names.get(b, name) for b in outs]
            label = min(drives, key=lambda n: (bool(MADE_UP.search(n)), len(n)), default=name)
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "input":
                    self.ends["register"].update((b, f"{label} ({cell['type']}.{port})") for b in bits if isinstance(b, int))
        for b in outs:
            self.driver[b] = "register" if comb is None else comb
        if comb is not None:
            self.kinds.append(cell["type"])
            self.edges.append(edges)
            self.outputs.append(outs)


def arrivals(net):
    """For each comb cell and each start: (levels, bit that comes last)."""
    users, waiting = {}, [0] * len(net.kinds)
    for cell, edges in enumerate(net.edges):
        for bit in {b for b, _ in edges}:
            source = net.driver.get(bit)
            if isinstance(source, int):
                users.setdefault(source, []).append(cell)
                waiting[cell] += 1
    at = {"register": [None] * len(net.kinds), "input": [None] * len(net.kinds)}
    ready = deque(c for c, n in enumerate(waiting) if n == 0)
    done = 0
    while ready:
        cell = ready.popleft()
        done += 1
        for start, times in at.items():
            best = None
            for bit, cost in net.edges[cell]:
                source = net.driver.get(bit)
                if source == start:
                    time = cost
                elif isinstance(source, int) and times[source]:
                    time = times[source][0] + cost
                else:
                    continue
                if best is None or time > best[0]:
                    best = (time, bit)
            times[cell] = best
        for user in users.get(cell, ()):
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    if done != len(net.kinds):
        cell = next(c for c, n in enumerate(waiting) if n > 0)
        name = next((net.names[b] for b in net.outputs[cell] if b in net.names), "?")
        raise UnknownCell(f"combinational loop through {name}")
    return at


def trace(net, times, bit):
    """The cells of the path that ends at `bit`, first one first, and the bit it starts at."""
    kinds, named = [], []
    while isinstance(net.driver.get(bit), int):
        cell = net.driver[bit]
        if bit in net.names and not MADE_UP.search(net.names[bit]):
            named.append(net.names[bit])
        kinds.append(net.kinds[cell])
        bit = times[cell][1]
    return bit, kinds[::-1], named[::-1]


def deepest(module):
    net = Netlist(module)
    at = arrivals(net)
    found = {}
    for start, times in at.items():
        for end, bits in net.ends.items():
            best = None
            for bit, where in bits.items():
                source = net.driver.get(bit)
                if source == start:
                    time = 0
                elif isinstance(source, int) and times[source]:
                    time = times[source][0]
                else:
                    continue
                if best is None or time > best[0]:
                    best = (time, bit, where)
            if best is None:
                continue
            first, kinds, named = trace(net, times, best[1])
            found[f"{start}_to_{end}"] = {
                "levels": best[0],
                "from": net.names.get(first, "?"),
                "to": best[2],
                "through": named,
                "cells": dict(sorted(Counter(kinds).items())),
            }
    return found
