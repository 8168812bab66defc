#!/usr/bin/env bash
# Makes a variant of a Corundum board with our engine as its application: a folder beside Corundum's own variant, with a
# Makefile that is Corundum's and our lines. In: a board of boards/, a Corundum checkout, the folder of `mrnic emit`.
# Out: the folder, its name on stdout. Nothing of Corundum's own files is changed.
set -euo pipefail

fail() { echo "attach.sh: $*" >&2; exit 1; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
boards=$(cd "$here/boards" && echo *)
[ $# -eq 3 ] || fail "usage: attach.sh BOARD CORUNDUM ENGINE_DIR; boards: $boards"
board=$1
[ -f "$here/boards/$board/board.mk" ] || fail "there is no board $board; choose one of $boards"
[ -d "$2/fpga/mqnic" ] || fail "$2 is not a Corundum checkout: it has no fpga/mqnic"
mqnic=$(cd "$2/fpga/mqnic" && pwd)
[ -d "$3" ] || fail "there is no folder $3; make it with: mrnic emit --build BUILD --out $3"
engines=$(cd "$3" && pwd)

setting() { sed -n "s/^$1 = //p" "$here/boards/$board/board.mk"; }
build=$(setting MRNIC_BUILD)
engine=$engines/$build.v
[ -f "$engine" ] || fail "there is no $engine; make it with: mrnic emit --build $build --out $3"

stock=
for folder in $(setting MRNIC_STOCK); do
    if [ -f "$mqnic/$folder/Makefile" ]; then stock=$folder; break; fi
done
[ -n "$stock" ] || fail "Corundum's $(setting MRNIC_STOCK | sed 's/ / or /g') is missing in $mqnic; is it a checkout of December 2023?"

# a module of the engine must not have the name of a module of Corundum
own=$(sed -n 's/^module \([a-z_0-9]*\).*/\1/p' "$engine" | sort)
theirs=$(sed -n 's/^SYN_FILES *+\{0,1\}= *.*\/\([A-Za-z_0-9]*\)\.v.*/\1/p' "$mqnic/$stock/Makefile" | sort)
both=$(comm -12 <(echo "$own") <(echo "$theirs"))
[ -z "$both" ] || fail "modules of the engine and of Corundum have the same names: $(echo $both); rename those of the engine"

variant=$mqnic/${stock}_app_mrnic
grep -q '^include \.\./common/vivado\.mk' "$mqnic/$stock/Makefile" || fail "$mqnic/$stock/Makefile does not include ../common/vivado.mk"
mkdir -p "$variant"
# Corundum's config.tcl is used where it is; a path that begins with ./ is not changed by vivado.mk
sed -e "s|^CONFIG_TCL_FILES = \./config\.tcl|CONFIG_TCL_FILES = ./../$(basename "$stock")/config.tcl|" \
    -e "/^include \.\.\/common\/vivado\.mk/i\\
# mrnic\\
MRNIC = $here\\
MRNIC_ENGINE_DIR = $engines\\
include \$(MRNIC)/boards/$board/board.mk\\
" "$mqnic/$stock/Makefile" > "$variant/Makefile"
grep -q '^CONFIG_TCL_FILES = \./\.\./' "$variant/Makefile" || { rm -r "$variant"; fail "$mqnic/$stock/Makefile has no line CONFIG_TCL_FILES = ./config.tcl"; }
echo "$variant"
