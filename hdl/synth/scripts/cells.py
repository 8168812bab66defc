"""Prints models of ECP5's cells that come with Yosys: LUTs, registers, carries, wide multiplexers, LUT memories.

In: nothing. Out: Verilog on standard output. Guarantees: no block RAM and no multiplier, which Yosys has as black boxes only.
"""

from pathlib import Path

import pyosys

folder = Path(pyosys.__file__).parent / "share" / "lattice"
print("`define NO_INCLUDES")
for name in ("common_sim.vh", "ccu2c_sim.vh"):
    print((folder / name).read_text(encoding="utf-8"))
