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
hostOptions=(-rounds 25 "${options[@]}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Open MPI lets root, and more ranks than processors, only when told.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

failed=0
own() { timeout 60 "$kernel" mpirun -plain -n 2 "$@"; }
theirs() { timeout 60 "$mpirun" -n 2 "$@"; }
unbound() { OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none theirs "$@"; }

# compare prints the least and the median of each program's lines, and how they
# stand to mpi4py's: bound to a processor beside bound.
compare() {
  awk '
    function like(name) { return name ~ /-bound$/ ? "mpi4py-bound" : "mpi4py" }
    { if (!($1 in labels)) { labels[$1]; order[++n] = $1 }
      if (!($2 in sizes)) { sizes[$2]; rows[++m] = $2 }
      least[$1, $2] = $3; median[$1, $2] = $4 }
    END {
      for (i = 1; i <= n; i++) if (order[i] !~ /^mpi4py/ && like(order[i]) in labels) ratio[++k] = order[i]
      printf "| bytes |"
      for (i = 1; i <= n; i++) printf " %s: us | (least) |", order[i]
      for (i = 1; i <= k; i++) printf " %s / %s | (least) |", ratio[i], like(ratio[i])
      printf "\n|---|"
      for (i = 1; i <= n + k; i++) printf "---|---|"
      print ""
      for (j = 1; j <= m; j++) {
        s = rows[j]
        printf "| %s |", s
        for (i = 1; i <= n; i++) printf " %s | (%s) |", median[order[i], s], least[order[i], s]
        for (i = 1; i <= k; i++) printf " %.3f | (%.3f) |", median[ratio[i], s] / median[like(ratio[i]), s], least[ratio[i], s] / least[like(ratio[i]), s]
        print ""
      }
    }'
}

# host measures programs that run at once and take turns, round by round: functions
# that are given the place of their pipes, and print a line for each length.
host() {
  local name word running=()
  local -A to
  rm -f "$work"/*
  mkfifo "$work/done"
  exec 9<>"$work/done"
  for name; do
    mkfifo "$work/$name.0" "$work/$name.1"
    exec {word}<>"$work/$name.0" && to[$name.0]=$word
    exec {word}<>"$work/$name.1" && to[$name.1]=$word
    "$name" -turns "$work/$name" >"$work/$name.lines" &
    running+=($!)
  done
  while [ "$(jobs -pr | wc -l)" = $# ]; do
    for name; do
      echo >&"${to[$name.0]}"
      echo >&"${to[$name.1]}"
      until read -r -t 1 word <&9; do [ "$(jobs -pr | wc -l)" = $# ] || break 3; done
    done
    set -- "${@:2}" "$1"
  done
  for word in "${running[@]}"; do wait "$word" || failed=1; done
  exec 9>&-
  for word in "${to[@]}"; do exec {word}>&-; done
  for name in built-in gocuda gocuda-bound mpi4py mpi4py-bound; do cat "$work/$name.lines"; done 2>/dev/null | compare
}

# The programs: gocuda's own transport, and the library from Go and from Python.
# Bound to a processor each, which is what Open MPI's mpirun does with two ranks,
# and not: a Go program has threads beside the one that waits, and where these
# must share its processor they cost it time.
built-in() { own "$mpibench" "${hostOptions[@]}" "$@" host; }
gocuda() { unbound "$mpibench" "${hostOptions[@]}" "$@" host; }
gocuda-bound() { theirs "$mpibench" "${hostOptions[@]}" "$@" host; }
mpi4py() { LD_LIBRARY_PATH=$beside:${LD_LIBRARY_PATH:-} unbound "$python" "$bench/pingpong.py" "${hostOptions[@]}" "$@"; }
mpi4py-bound() { LD_LIBRARY_PATH=$beside:${LD_LIBRARY_PATH:-} theirs "$python" "$bench/pingpong.py" "${hostOptions[@]}" "$@"; }

device() { # LABEL RUN
  local mode
  for mode in device allreduce; do
    echo "== $mode under $1"
    "$2" "$mpibench" "${options[@]}" "$mode" || failed=1
  done
}

programs=(built-in)
if [ -n "$mpirun" ]; then
  beside=$(dirname "$(dirname "$(readlink -f "$mpirun")")")/lib # where mpi4py is to find the same library
  programs+=(gocuda gocuda-bound)
  # It may be there without a library that it can load.
  if why=$(LD_LIBRARY_PATH=$beside:${LD_LIBRARY_PATH:-} "$python" -c 'import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI' 2>&1); then
    programs+=(mpi4py mpi4py-bound)
  else
    echo "mpi4py is left out: ${why##*$'\n'}"
  fi
fi
echo "== ping-pong of host memory, half a round trip, under gocuda's own transport (built-in) and $mpirun; medians of ${hostOptions[1]} rounds, in turns"
host "${programs[@]}"
device "gocuda's own transport" own
if [ -z "$mpirun" ]; then
  echo "no mpirun on PATH: libraries are left out"
else
  device "$mpirun" theirs
fi
exit $failed
