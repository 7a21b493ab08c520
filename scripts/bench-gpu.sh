#!/usr/bin/env bash
# What calls and copies cost on this machine's GPUs, side by side in one run:
# CUDA C++ (where nvcc is), Go compiled, Go in a cell, CuPy and cuda.core (where
# they are installed). Each runs twice, in turns; a table of the lower figures
# (of copies: the higher) comes last.
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
for turn in 1 2; do
  echo "== turn $turn"
  [ -x "$work/percall" ] && measure "$work/percall"
  measure "$percall" go
  measure "$kernel" exec "$bench/percall/main.go" cell
  if [ "$GOCUDA_BACKEND" = nvidia ] && command -v "$python" >/dev/null; then
    measure "$python" "$bench/percall.py"
  fi
done

echo "== table"
awk '
  match($0, / (us|GB\/s) +[0-9.]+/) {
    label = $1
    name = substr($0, length(label) + 2, RSTART - length(label) - 2)
    sub(/ +$/, "", name); gsub(/ +/, " ", name)
    value = $NF
    rate = /GB\/s/
    if (rate) name = name ", GB/s"
    key = label SUBSEP name
    if (!(key in best) || (rate ? value > best[key] : value < best[key])) best[key] = value
    if (!(label in labels)) { labels[label]; order[++n] = label }
    if (!(name in names)) { names[name]; rows[++m] = name }
  }
  END {
    printf "| us |"; for (i = 1; i <= n; i++) printf " %s |", order[i]
    printf "\n|---|"; for (i = 1; i <= n; i++) printf "---|"
    for (j = 1; j <= m; j++) {
      printf "\n| %s |", rows[j]
      for (i = 1; i <= n; i++) printf " %s |", best[order[i], rows[j]]
    }
    print ""
  }' "$work/lines"
exit $failed
