# mrnic: every target does its own set-up (scripts/setup.sh looks before it installs).
#   make demo     two Verilated NICs on a lossy multi-plane fabric, in lockstep with the golden model
#   make test     every test
#   make lint     formatting, clippy, verilator -Wall on the emitted Verilog
#   make verilog  emit the named builds into build/verilog
#   make synth    what each block costs and how deep it is: Yosys, nextpnr block by block (docs/synthesis.md); JSON in build/synth
#   make synth-full  the stand-alone ECP5 board with the whole ecp5 build, placed and routed to a bitstream (a long job)
#   make synth-check  the synthesised netlists of five blocks in place of the RTL in their tests (docs/synthesis.md)
#   make verbs    the drop-in libibverbs.so.1, and the acceptance ladder on it: a table program x device x fault (docs/verbs.md)
#   make verbs-lib  only the library, in build/verbs
#   make experiments  the cluster experiments E1 to E6 (docs/experiments.md): tables, pages and JSON in build/cluster
#   make soak     E7: a million packets through Verilated NICs in lockstep with the model (minutes); pages and JSON in build/soak
#   make formal   prove blocks on their Verilog by k-induction (docs/formal.md): table, JSON and counterexamples in build/formal
#   make bench    the measured figures, printed and kept as JSON in build/bench
#   make bench-verbs  only those of the verbs device: perftest's bandwidth and latency beside a copy in shared memory
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
MRNIC := $(CARGO) run --quiet -p mrnic-sim --bin mrnic --
OUT ?= build
BUILDS := sim sim_w128 ecp5 corundum10g corundum25g corundum100g corundum100g_4k

.PHONY: help setup setup-verbs setup-synth setup-formal demo test lint verilog synth synth-full synth-check verbs verbs-lib experiments soak formal bench bench-verbs clean

help:
	@sed -n 's/^#   //p' Makefile

setup:
	@scripts/setup.sh

# The RDMA programs that the verbs device is tried with.
setup-verbs: setup
	@scripts/setup.sh --verbs

# Yosys and nextpnr.
setup-synth: setup
	@scripts/setup.sh --synth

# Yosys and the solver of the proofs.
setup-formal: setup
	@scripts/setup.sh --formal

demo: setup
	@$(MRNIC) demo --out $(OUT)/demo

# NICs of tests run shortly: they are sooner built than run faster.
test: export MRNIC_MODEL_OPT ?= 1
test: setup-verbs setup-synth setup-formal
	$(CARGO) test --workspace --quiet

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(MAKE) --no-print-directory verilog

verilog: setup
	@for b in $(BUILDS); do $(MRNIC) emit --build $$b --out $(OUT)/verilog; done

synth: setup-synth
	@$(MRNIC) synth --pnr --out $(OUT)/synth

synth-full: setup-synth
	@$(MRNIC) synth --full --out $(OUT)/synth

synth-check: setup-synth
	@$(MRNIC) synth --check-netlists

verbs: setup-verbs
	@$(MRNIC) accept --out $(OUT)/verbs
	@$(MRNIC) accept --out $(OUT)/verbs --device rtl --json $(OUT)/verbs/accept-rtl.json

verbs-lib: setup
	@$(MRNIC) library --out $(OUT)/verbs

experiments:
	@$(MRNIC) cluster all --out $(OUT)/cluster

soak: setup
	@mkdir -p $(OUT)/soak
	@for s in pair-1 ring-10 all-to-all-10; do $(MRNIC) sim sim/scenarios/soak/$$s.toml --report $(OUT)/soak/$$s.html; done

formal: setup-formal
	@$(MRNIC) formal --out $(OUT)/formal

bench: setup-verbs
	@$(MRNIC) bench --out $(OUT)/bench

bench-verbs: setup-verbs
	@$(MRNIC) bench --only verbs --out $(OUT)/bench-verbs

clean:
	rm -rf $(OUT) target .venv
