#!/usr/bin/env bash
# What calls and copies cost on this machine's GPUs, side by side in one run:
# CUDA C++ (where nvcc is), Go compiled, Go in a cell, CuPy and cuda.core (where
# they are installed). Each runs TURNS times (5), in turns, and copies in the
# first COPY_TURNS (2) of them; a table of the medians comes last.
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

failed=0
measure() { timeout 120 "$@" | tee -a "$work/lines" || failed=1; }
copies=""
for turn in $(seq "${TURNS:-5}"); do
  echo "== turn $turn"
  [ "$turn" -le "${COPY_TURNS:-2}" ] || copies=calls
  [ -x "$work/percall" ] && measure "$work/percall" $copies
  measure "$percall" go $copies
  measure "$kernel" exec "$bench/percall/main.go" cell $copies
  if [ "$GOCUDA_BACKEND" = nvidia ] && command -v "$python" >/dev/null; then
    measure "$python" "$bench/percall.py"
  fi
done

echo "== medians"
awk '
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
  # median sorts the values of a key; of an even number the two in the middle count.
  function median(key,   i, j, v, k) {
    k = count[key]
    if (!k) return ""
    for (i = 2; i <= k; i++) {
      v = value[key, i]
      for (j = i - 1; j > 0 && value[key, j] + 0 > v + 0; j--) value[key, j + 1] = value[key, j]
      value[key, j + 1] = v
    }
    return sprintf("%.3f", (value[key, int((k + 1) / 2)] + value[key, int(k / 2) + 1]) / 2)
  }
  END {
    printf "| us |"; for (i = 1; i <= n; i++) printf " %s |", order[i]
    printf "\n|---|"; for (i = 1; i <= n; i++) printf "---|"
    for (j = 1; j <= m; j++) {
      printf "\n| %s |", rows[j]
      for (i = 1; i <= n; i++) printf " %s |", median(order[i] SUBSEP rows[j])
    }
    print ""
  }' "$work/lines"
exit $failed
