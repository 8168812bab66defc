#!/usr/bin/env bash
# One task of a Slurm array runs one part of the experiments; `mrnic cluster merge` puts the parts together.
#
#   sbatch sim/cluster/schedulers/slurm-array.sh                       # everything, in 16 parts
#   EXPERIMENT=all-to-all sbatch --array=0-63 sim/cluster/schedulers/slurm-array.sh --seeds 20
#   mrnic cluster merge build/parts/*.json                             # when all tasks are done
#
# EXPERIMENT: name or TOML file. OUT: a folder that all nodes share. MRNIC: the program. Further arguments go to it.
#SBATCH --job-name=mrnic-cluster
#SBATCH --array=0-15
#SBATCH --cpus-per-task=2
#SBATCH --mem-per-cpu=2G
#SBATCH --time=01:00:00
set -euo pipefail

if [[ "${SLURM_ARRAY_TASK_MIN:-0}" != 0 ]]; then
  echo "parts are counted from 0; submit with --array=0-N" >&2
  exit 2
fi
export RAYON_NUM_THREADS="${SLURM_CPUS_PER_TASK:-2}"
# MRNIC may be several words, such as `cargo run -p mrnic-sim --bin mrnic --`.
# shellcheck disable=SC2086
exec ${MRNIC:-mrnic} cluster "${EXPERIMENT:-all}" \
  --point "${SLURM_ARRAY_TASK_ID:?is set by a Slurm array}/${SLURM_ARRAY_TASK_COUNT:?is set by a Slurm array}" \
  --out "${OUT:-build/parts}" "$@"
