#!/usr/bin/env bash
# Runs the bundled tests and notebooks on this machine's GPUs. Needs bash and
# NVIDIA's driver; NVRTC for %%cuda cells. What it writes goes to the folder
# given, or to out/.
# usage: gpu-run.sh [FOLDER]
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-out}"
out=$(cd "${1:-out}" && pwd)
export GOCUDA_BACKEND=nvidia
failed=0

"$here/bin/gocuda-kernel" doctor | tee "$out/doctor.txt"
"$here/bin/gocuda-kernel" doctor --json >"$out/doctor.json"

while read -r test; do
  name=$(basename "$(dirname "$test")")
  echo "== tests of $(dirname "${test#"$here"/tests/}")"
  (cd "$(dirname "$test")" && timeout 150 ./run.test -test.v -test.timeout 140s) >"$out/test-$name.txt" 2>&1
  status=$?
  grep -E '^(--- FAIL|--- SKIP|FAIL|PASS|panic)' "$out/test-$name.txt" | sort | uniq -c | sort -rn | head -40
  echo "   passed $(grep -cE '^ *--- PASS' "$out/test-$name.txt"), failed $(grep -cE '^ *--- FAIL' "$out/test-$name.txt"), skipped $(grep -cE '^ *--- SKIP' "$out/test-$name.txt")"
  [ "$status" -eq 0 ] || failed=1
done < <(find "$here/tests" -name run.test | sort)

# The conformance suite once more on one GPU alone.
echo "== conformance on one GPU"
(cd "$here/tests/cudaapi/nvidia" && CUDA_VISIBLE_DEVICES=0 timeout 150 ./run.test -test.run Conformance -test.v) >"$out/test-nvidia-one.txt" 2>&1 || failed=1
echo "   passed $(grep -cE '^ *--- PASS' "$out/test-nvidia-one.txt"), failed $(grep -cE '^ *--- FAIL' "$out/test-nvidia-one.txt"), skipped $(grep -cE '^ *--- SKIP' "$out/test-nvidia-one.txt")"

for notebook in "$here"/notebooks/*.ipynb; do
  echo "== $(basename "$notebook")"
  timeout 320 "$here/bin/gocuda-kernel" run "$notebook" -o "$out/$(basename "$notebook")" --timeout 5m || failed=1
done

# A profile of this machine, and the model's times beside the metal's.
"$here/bin/gocuda-kernel" doctor --profile | tee "$out/profile.json"
sed -n '/built-in profile/,$p' "$out/test-calibrate.txt" 2>/dev/null | grep '|'

# What a call costs: from Go, and beside it from C++ and Python where they are.
{
  cuda=$here/tests/cudaapi/cuda
  [ -x "$cuda/run.test" ] && (cd "$cuda" && GOCUDA_BENCH=1 timeout 120 ./run.test -test.run CallCosts -test.v)
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
  if [ -n "$nvcc" ]; then
    built=$(mktemp -d)
    "$nvcc" -O2 -arch=native -o "$built/percall" "$here/bench/percall.cu" && timeout 120 "$built/percall"
    rm -rf "$built"
  fi
  command -v python3 >/dev/null && timeout 120 python3 "$here/bench/percall.py"
} >"$out/percall.txt" 2>&1
cat "$out/percall.txt"

# Collectives of one process beside NCCL's.
collective=$here/tests/cudaapi/collective
if [ -x "$collective/run.test" ]; then
  (cd "$collective" && GOCUDA_BENCH=1 timeout 120 ./run.test -test.run Bandwidth -test.v) >"$out/collective.txt" 2>&1
  cat "$out/collective.txt"
fi
exit $failed
