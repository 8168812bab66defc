"""Synthesises one module with pyosys and measures the netlist.

In (arguments): VERILOG TOP TARGET OUT [NETLIST]; TARGET is ecp5 or xcup.
Out: OUT, a JSON file with cells by type, memory bits of the source and the deepest paths in logic levels;
NETLIST, if given, the netlist in Yosys' JSON for place and route (or as Verilog if its name ends in .v).
Guarantees: the same input and the same pyosys give the same figures; exit status 1 and Yosys' message on an error.
"""

import json
import os
import sys
import tempfile

from depth import deepest
from pyosys import libyosys

SYNTH = {
    "ecp5": "synth_ecp5 -top {top}",
    # registers end at pins of the block, not at pads; large tables may use UltraRAM
    "xcup": "synth_xilinx -family xcup -flatten -noiopad -noclkbuf -uram -top {top}",
}


def stat(design, folder):
    file = os.path.join(folder, "stat.json")
    libyosys.run_pass(f"tee -q -o {file} stat -json", design)
    with open(file, encoding="utf-8") as text:
        return json.load(text)["design"]


def is_whole_engine(verilog):
    with open(verilog, encoding="utf-8") as text:
        return any(line.startswith("module engine ") for line in text)


def main(verilog, top, target, out, netlist=None):
    design = libyosys.Design()
    with tempfile.TemporaryDirectory() as folder:
        libyosys.run_pass(f"read_verilog {verilog}", design)
        # without -check: cells of the part are known only later, to the synthesis itself
        libyosys.run_pass(f"hierarchy -top {top}", design)
        if is_whole_engine(verilog):
            # a board leaves the commit records of the whole engine unconnected
            libyosys.run_pass(f"delete -port {top}/o:commit_*", design)
        memory_bits = stat(design, folder)["num_memory_bits"]
        libyosys.run_pass(SYNTH[target].format(top=top), design)
        libyosys.run_pass("check -assert", design)
        cells = stat(design, folder)["num_cells_by_type"]
        mapped = os.path.join(folder, "mapped.json")
        libyosys.run_pass(f"write_json {mapped}", design)
        with open(mapped, encoding="utf-8") as text:
            module = json.load(text)["modules"][top]
        if netlist and netlist.endswith(".v"):
            libyosys.run_pass(f"write_verilog -noattr {netlist}", design)
        elif netlist:
            os.replace(mapped, netlist)
    result = {
        "cells": {name: count for name, count in sorted(cells.items()) if not name.startswith("$")},
        "memory_bits": memory_bits,
        "paths": deepest(module),
    }
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)


if __name__ == "__main__":
    os.nice(10)  # a long run beside other work
    main(*sys.argv[1:])
