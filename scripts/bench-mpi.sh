#!/usr/bin/env bash
# What messages and reductions between two ranks cost on this machine: host
# memory beside mpi4py under the same library, in turns, where Python has it;
# device memory beside NCCL and the bare copy. Under gocuda's own transport, and
# under the mpirun that is given or found on PATH.
# usage: bench-mpi.sh MPIBENCH GOCUDA_KERNEL [MPIRUN [PYTHON]]
#   MPIBENCH is cudaapi/mpi/mpibench, compiled. PYTHON defaults to python3.
# MPIBENCH_OPTIONS are mpibench's, such as "-calls 20 -max 65536". On simulated
# devices (GOCUDA_BACKEND=sim) the figures of device memory say nothing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -d "$here/bench" ] && bench=$here/bench || bench=$here/../bench
mpibench=$1 kernel=$2 mpirun=${3:-$(command -v mpirun)} python=${4:-python3}
read -ra options <<<"${MPIBENCH_OPTIONS:-}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Open MPI lets root, and more ranks than processors, only when told.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

failed=0
own() { timeout 60 "$kernel" mpirun -plain -n 2 "$@" || failed=1; }
theirs() { timeout 60 "$mpirun" -n 2 "$@" || failed=1; }

# compare prints the least and the median of all turns' lines.
compare() {
  sort -k1,1 -k2,2n -k4,4n "$1" | awk '
    { key = $1 SUBSEP $2; if (!($1 in labels)) { labels[$1]; order[++n] = $1 }
      if (!($2 in sizes)) { sizes[$2]; rows[++m] = $2 }
      if (!(key in least) || $3 < least[key]) least[key] = $3
      median[key, ++count[key]] = $4 }
    END {
      printf "| bytes |"; for (i = 1; i <= n; i++) printf " %s: us | (least) |", order[i]
      printf "\n|---|"; for (i = 1; i <= n; i++) printf "---|---|"
      for (j = 1; j <= m; j++) {
        printf "\n| %s |", rows[j]
        for (i = 1; i <= n; i++) { k = order[i] SUBSEP rows[j]; printf " %s | (%s) |", median[k, int((count[k] + 1) / 2)], least[k] }
      }
      print ""
    }'
}

host() { # LABEL RUN [mpi4py]
  echo "== ping-pong of host memory, half a round trip, under $1; medians of 3 turns of 7 rounds"
  local turn
  : >"$work/lines"
  for turn in 1 2 3; do
    "$2" "$mpibench" "${options[@]}" host >>"$work/lines"
    [ -z "${3:-}" ] || LD_LIBRARY_PATH=$beside:${LD_LIBRARY_PATH:-} "$2" "$python" "$bench/pingpong.py" "${options[@]}" >>"$work/lines"
  done
  compare "$work/lines"
}

device() { # LABEL RUN
  local mode
  for mode in device allreduce; do
    echo "== $mode under $1"
    "$2" "$mpibench" "${options[@]}" "$mode"
  done
}

host "gocuda's own transport" own
device "gocuda's own transport" own
if [ -z "$mpirun" ]; then
  echo "no mpirun on PATH: libraries are left out"
else
  beside=$(dirname "$(dirname "$(readlink -f "$mpirun")")")/lib # where mpi4py is to find the same library
  with=mpi4py
  if ! why=$("$python" -c 'import mpi4py' 2>&1); then
    with=
    echo "mpi4py is left out: ${why##*$'\n'}"
  fi
  host "$mpirun" theirs $with
  device "$mpirun" theirs
fi
exit $failed
