#!/usr/bin/env bash
# What calls and copies cost on this machine's GPUs, side by side in one run:
# CUDA C++ (where nvcc is), Go compiled, Go in a cell, CuPy and cuda.core (where
# they are installed). All of them stay alive, on four processors next to the
# first GPU where the system tells which these are; bench/turns has one at a time
# measure one case for a millisecond or so, in turns, 201 times, copies 15 times.
#
# Tables: medians of the turns; best turns; and what one program takes more than
# another in the same round, with quartiles: what keeps the machine busy for a
# while meets both, so this tells differences that medians hide. A call's figure
# is microseconds of the CPU a call, in a loop that looks at each call's error;
# launches are few enough that CUDA's queue never fills. Every program uses one
# stream and one event again and again, and the default memory pool with a release
# threshold so high that it keeps what is freed. Copies between devices are timed
# by events, staged copies (device, pinned memory, other device, in chunks) by the
# clock.
# usage: bench-gpu.sh TURNS PERCALL GOCUDA_KERNEL [PYTHON]
#   TURNS and PERCALL are bench/turns and bench/percall, compiled; PYTHON defaults
#   to python3; more options for TURNS are in $TURNS_OPTIONS.
# GOCUDA_BACKEND=sim tries it without GPUs: the figures then say nothing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -d "$here/bench" ] && bench=$here/bench || bench=$here/../bench
turns=$1 percall=$2 kernel=$3 python=${4:-python3}
export GOCUDA_BACKEND=${GOCUDA_BACKEND:-nvidia}

"$percall" -devices || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs=(go "$percall" -- cell "$kernel" exec "$bench/percall/main.go" cell)
if [ "$GOCUDA_BACKEND" != nvidia ]; then
  echo "C++ and Python are left out: they know no simulated devices"
  TURNS_OPTIONS="-trial -rounds 3 -copies 3 ${TURNS_OPTIONS:-}"
else
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
  if [ -z "$nvcc" ]; then
    echo "C++ is left out: no nvcc on PATH or in /usr/local/cuda/bin"
  elif ! "$nvcc" -O2 -std=c++17 -arch=native -o "$work/percall" "$bench/percall.cu"; then
    echo "C++ is left out: percall.cu does not compile"
  else
    programs=(c++ "$work/percall" -- "${programs[@]}")
  fi
  for library in cupy cuda.core; do
    if "$python" -c "import $library" 2>/dev/null; then
      programs+=(-- "$library" "$python" "$bench/percall.py" "$library")
    else
      echo "$library is left out: $python does not have it"
    fi
  done
fi

near=""
bus=$(nvidia-smi --id=0 --query-gpu=pci.bus_id --format=csv,noheader 2>/dev/null | tr 'A-F' 'a-f' | sed 's/^0000//')
# The last four of "0-15,32-47": the first processor serves most interrupts.
cpus=$(tr ',' '\n' <"/sys/bus/pci/devices/${bus:-none}/local_cpulist" 2>/dev/null |
  awk -F- '{ for (i = $1; i <= $NF; i++) print i }' | tail -4 | paste -sd,)
if [ -n "$cpus" ] && taskset -c "$cpus" true 2>/dev/null; then
  near="taskset -c $cpus"
  echo "on processors $cpus"
fi
# shellcheck disable=SC2086 # near and the options are words
timeout 120 $near "$turns" ${TURNS_OPTIONS:-} "${programs[@]}"
