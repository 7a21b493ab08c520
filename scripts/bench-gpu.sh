#!/usr/bin/env bash
# What calls and copies cost on this machine's GPUs, side by side in one run:
# CUDA C++ (where nvcc is), Go compiled, Go in a cell, CuPy and cuda.core (where
# they are installed). Each runs TURNS times (3), in turns, and copies in the
# first COPY_TURNS (1) of them, on the processors next to the first GPU where the
# system tells which these are. Tables of the medians and of the best turns come
# last: where the two differ much, something else kept the machine busy.
# usage: bench-gpu.sh PERCALL GOCUDA_KERNEL [PYTHON]
#   PERCALL is bench/percall, compiled; PYTHON defaults to python3.
# GOCUDA_BACKEND=sim tries it without GPUs: the figures then say nothing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ -d "$here/bench" ] && bench=$here/bench || bench=$here/../bench
percall=$1 kernel=$2 python=${3:-python3}
export GOCUDA_BACKEND=${GOCUDA_BACKEND:-nvidia}

"$percall" -devices || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ "$GOCUDA_BACKEND" != nvidia ]; then
  echo "C++ and Python are left out: they know no simulated devices"
elif [ -z "$nvcc" ]; then
  echo "C++ is left out: no nvcc on PATH or in /usr/local/cuda/bin"
elif ! "$nvcc" -O2 -arch=native -o "$work/percall" "$bench/percall.cu"; then
  echo "C++ is left out: percall.cu does not compile"
fi

near=""
bus=$(nvidia-smi --id=0 --query-gpu=pci.bus_id --format=csv,noheader 2>/dev/null | tr 'A-F' 'a-f' | sed 's/^0000//')
if cpus=$(cat "/sys/bus/pci/devices/${bus:-none}/local_cpulist" 2>/dev/null) && taskset -c "$cpus" true 2>/dev/null; then
  near="taskset -c $cpus"
  echo "on processors $cpus"
fi

failed=0
# shellcheck disable=SC2086 # near is a command's first words
measure() { timeout 120 $near "$@" | tee -a "$work/lines" || failed=1; }
copies=""
for turn in $(seq "${TURNS:-3}"); do
  echo "== turn $turn"
  [ "$turn" -le "${COPY_TURNS:-1}" ] || copies=calls
  [ -x "$work/percall" ] && measure "$work/percall" $copies
  measure "$percall" go $copies
  measure "$kernel" exec "$bench/percall/main.go" cell $copies
  if [ "$GOCUDA_BACKEND" = nvidia ] && command -v "$python" >/dev/null; then
    measure "$python" "$bench/percall.py"
  fi
done

# table FUNCTION shows the lines, joined by one of the functions below.
table() {
awk -v how="$1" '
  match($0, / (us|GB\/s) +[0-9.]+/) {
    label = $1
    name = substr($0, length(label) + 2, RSTART - length(label) - 2)
    sub(/ +$/, "", name); gsub(/ +/, " ", name)
    if (/GB\/s/) name = name ", GB/s"
    key = label SUBSEP name
    value[key, ++count[key]] = $NF
    if (!(label in labels)) { labels[label]; order[++n] = label }
    if (!(name in names)) { names[name]; rows[++m] = name }
  }
  # joined sorts the values of a key; of an even number the two in the middle count.
  function joined(key, rate,   i, j, v, k) {
    k = count[key]
    if (!k) return ""
    for (i = 2; i <= k; i++) {
      v = value[key, i]
      for (j = i - 1; j > 0 && value[key, j] + 0 > v + 0; j--) value[key, j + 1] = value[key, j]
      value[key, j + 1] = v
    }
    if (how == "best") return sprintf("%.3f", value[key, rate ? k : 1])
    return sprintf("%.3f", (value[key, int((k + 1) / 2)] + value[key, int(k / 2) + 1]) / 2)
  }
  END {
    printf "| us |"; for (i = 1; i <= n; i++) printf " %s |", order[i]
    printf "\n|---|"; for (i = 1; i <= n; i++) printf "---|"
    for (j = 1; j <= m; j++) {
      printf "\n| %s |", rows[j]
      for (i = 1; i <= n; i++) printf " %s |", joined(order[i] SUBSEP rows[j], rows[j] ~ /GB.s$/)
    }
    print ""
  }' "$work/lines"
}
echo "== medians"
table median
echo "== best turns"
table best
exit $failed
