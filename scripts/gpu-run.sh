#!/usr/bin/env bash
# Runs the bundled tests, benchmarks and notebooks on this machine's GPUs. Needs
# bash and NVIDIA's driver; NVRTC for %%cuda cells. What it writes goes to the
# folder given, or to out/; each section has a file of its own there, and one
# that fails does not stop the others.
# usage: gpu-run.sh [FOLDER [SECTION...]]
# Sections: doctor tests one mpi bench kernels notebooks timeline check cost sanitize; all
# but the last four if none is named.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-out}"
out=$(cd "${1:-out}" && pwd)
shift || true
export GOCUDA_BACKEND=${GOCUDA_BACKEND:-nvidia}
failed=()

# counts sums up the output of go test -v in a file.
counts() {
  grep -E '^(--- FAIL|--- SKIP|FAIL|PASS|panic)' "$1" | sort | uniq -c | sort -rn | head -40
  echo "   passed $(grep -cE '^ *--- PASS' "$1"), failed $(grep -cE '^ *--- FAIL' "$1"), skipped $(grep -cE '^ *--- SKIP' "$1")"
}

# What this machine has.
section_doctor() {
  "$here/bin/gocuda-kernel" doctor | tee "$out/doctor.txt"
  "$here/bin/gocuda-kernel" doctor --json >"$out/doctor.json"
}

# Every bundled test, each in the folder with its package's data.
section_tests() {
  local test name status=0
  while read -r test; do
    name=$(dirname "${test#"$here"/tests/}")
    [ "$name" != cudaapi/mpi/mpitest ] || continue # section mpi runs what of it is about GPUs
    echo "-- $name"
    (cd "$(dirname "$test")" && timeout 150 ./run.test -test.v -test.timeout 140s) >"$out/test-${name//\//-}.txt" 2>&1 || { status=1; echo "   FAILED"; }
    counts "$out/test-${name//\//-}.txt"
  done < <(find "$here/tests" -name run.test | sort)
  echo "-- simulated times beside these GPUs'"
  grep -hE 'profile:$|^ *\|' "$out/test-cudaapi-sim-calibrate.txt" || echo "   not compared"
  return $status
}

# The conformance suite once more on one GPU alone.
section_one() {
  (cd "$here/tests/cudaapi/nvidia" && CUDA_VISIBLE_DEVICES=0 timeout 150 ./run.test -test.run Conformance -test.v) >"$out/test-one-gpu.txt" 2>&1
  local status=$?
  counts "$out/test-one-gpu.txt"
  return $status
}

# Messages and reductions of device memory between ranks: what MPI promises, by
# each way and under each library; and what they cost beside NCCL.
section_mpi() {
  (cd "$here/tests/cudaapi/mpi/mpitest" && timeout 100 ./run.test -test.run '^TestDevices' -test.v) >"$out/test-mpi-devices.txt" 2>&1
  local status=$?
  grep -E 'cases passed|^ *--- SKIP: TestDevices' "$out/test-mpi-devices.txt"
  counts "$out/test-mpi-devices.txt"
  MPIBENCH_OPTIONS=${MPIBENCH_OPTIONS:--calls 200} "$here/bench-mpi.sh" "$here/bin/mpibench" "$here/bin/gocuda-kernel" 2>&1 | tee "$out/bench-mpi.txt" || status=1
  return $status
}

# What calls cost: Go compiled and in a cell, C++ and Python where they are.
section_bench() { "$here/bench-gpu.sh" "$here/bin/turns" "$here/bin/percall" "$here/bin/gocuda-kernel" 2>&1 | tee "$out/bench.txt"; }

# Kernels in Go: beside the same in CUDA C++, beside compiled Go, and emulated.
section_kernels() {
  local status=0
  "$here/bin/gokernels" 2>&1 | tee "$out/kernels.txt"
  (cd "$here/tests/cudaapi/gokernel/kerneltest" && timeout 300 ./run.test -test.v) >"$out/kerneltest.txt" 2>&1 || status=1
  counts "$out/kerneltest.txt"
  return $status
}

# The check for missing waits: what kernels say that they touch, the programs with and
# without a wait, and the tutorials, with what it costs.
section_check() {
  local test name notebook on off status=0
  for test in "cudaapi/internal/instrument GPUs" "cudaapi/hazard/hazardtest GPUs"; do
    name=${test% *}
    (cd "$here/tests/$name" && timeout 120 ./run.test -test.v -test.run "${test#* }" -test.timeout 110s) >"$out/check-${name//\//-}.txt" 2>&1 || status=1
    echo "-- $name"
    counts "$out/check-${name//\//-}.txt"
  done
  for notebook in ${CHECKED:-"$here"/notebooks/*.ipynb}; do
    name=$(basename "$notebook" .ipynb)
    off=$(date +%s%N)
    timeout 100 "$here/bin/gocuda-kernel" run -q "$notebook" -o "$out/unchecked-$name.ipynb" >/dev/null 2>&1
    on=$(date +%s%N)
    timeout 100 "$here/bin/gocuda-kernel" run -q --check "$notebook" -o "$out/checked-$name.ipynb" >"$out/check-$name.txt" 2>&1
    echo "   $name: exit status $?, $(((on - off) / 1000000)) ms, checked $((($(date +%s%N) - on) / 1000000)) ms, $(grep -c '^hazard:' "$out/check-$name.txt") hazards, $(grep -o 'the memory is guessed from the arguments' "$out/checked-$name.ipynb" | wc -l) cells with guesses"
  done
  return $status
}

# What the check for missing waits costs: notebooks without it and with it, in turns
# (COST_TURNS), and for each cell the medians of its seconds.
section_cost() {
  local notebook name turn status=0
  for notebook in ${COST:-09_jacobi 10_wave_equation}; do
    for turn in $(seq "${COST_TURNS:-2}"); do
      for name in off on; do
        "$here/bin/gocuda-kernel" run $([ $name = off ] || echo --check) "$here/notebooks/$notebook.ipynb" -o "$out/cost-$notebook-$name.ipynb" >"$out/cost-$notebook-$name-$turn.txt" 2>&1 || { status=1; echo "   $notebook, check $name: exit status not 0"; }
      done
    done
    echo "-- $notebook: seconds without the check, with it, cell"
    awk 'function middle(list, n, a, i, j, t) { n = split(list, a, " "); for (i = 1; i < n; i++) for (j = i + 1; j <= n; j++) if (a[j] + 0 < a[i] + 0) { t = a[i]; a[i] = a[j]; a[j] = t }; return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 }
      /^cell +[0-9]+\/[0-9]+ +[0-9.]+ s/ { sub(/^cell +/, ""); split($0, f, "/"); k = f[1] + 0; text[k] = $0; sub(/^[0-9]+\/[0-9]+ +[0-9.]+ s +/, "", text[k]); split($0, g, " +"); if (FILENAME ~ /-on-/) on[k] = on[k] " " g[2]; else off[k] = off[k] " " g[2]; if (k > last) last = k }
      END { for (k = 1; k <= last; k++) { a = middle(off[k]); b = middle(on[k]); A += a; B += b; if (a + b >= 0.1) printf "   %7.2f %7.2f  %d %s\n", a, b, k, text[k] }; printf "   %7.2f %7.2f  all: %.2f times as long\n", A, B, B / A }' "$out"/cost-"$notebook"-o*-*.txt
  done
  return $status
}

# When what ran, by CUPTI and by events: long kernels beside what the program's own
# events measure, what a launch costs, and a tutorial's kernels beside ncu's times where
# there is an ncu that may count.
section_timeline() {
  local how library notebook=${TRACED:-02_several_gpus} ncu status=0
  "$here/bin/gocuda-kernel" doctor | grep CUPTI
  for how in cupti events; do
    [ $how = cupti ] && library=${GOCUDA_CUPTI-} || library=/nowhere
    (cd "$here/tests/cudaapi/trace" && GOCUDA_CUPTI=$library timeout 60 ./run.test -test.v -test.bench Launch -test.benchtime 20000x -test.timeout 50s) >"$out/timeline-$how.txt" 2>&1 || status=1
    echo "-- $how"
    grep -E 'by events|box(es)? in|BenchmarkLaunch/' "$out/timeline-$how.txt"
    counts "$out/timeline-$how.txt"
    GOCUDA_CUPTI=$library GOCUDA_TIMELINE=1 timeout 60 "$here/bin/gocuda-kernel" run -q "$here/notebooks/$notebook.ipynb" -o "$out/timeline-$how-$notebook.ipynb" >"$out/timeline-$how-$notebook.log" 2>&1 || status=1
    grep -oE '"(kernel|copy|[0-9]+ box(es)? in) [^"]*' "$out/timeline-$how-$notebook.ipynb" | sort | uniq | head -30
  done
  ncu=$(PATH=$PATH:/usr/local/cuda/bin command -v ncu) || { echo "   no ncu"; return $status; }
  GOCUDA_WRAP="$ncu --clock-control none --metrics gpu__time_duration.sum --csv --log-file $out/timeline-ncu.%p.csv" timeout 100 "$here/bin/gocuda-kernel" run -q "$here/notebooks/$notebook.ipynb" -o "$out/timeline-ncu-$notebook.ipynb" >"$out/timeline-ncu.log" 2>&1
  echo "-- ncu, per kernel: launches, mean in ns"
  cat "$out"/timeline-ncu.*.csv 2>/dev/null | awk -F'","' '/gpu__time_duration/ { n[$5]++; gsub(/[",]/, "", $NF); t[$5] += $NF } END { for (k in n) printf "%s: %d, %.0f\n", k, n[k], t[k] / n[k] }'
  return $status
}

section_notebooks() {
  local notebook status=0
  for notebook in "$here"/notebooks/*.ipynb; do
    echo "-- $(basename "$notebook")"
    timeout 320 "$here/bin/gocuda-kernel" run "$notebook" -o "$out/$(basename "$notebook")" --timeout 5m || status=1
  done
  return $status
}

# The suite and the tutorials under compute-sanitizer's tools, several at a time.
# Calls that CUDA refuses are not reported: the tests make many on purpose. Cases
# that poison a context run in processes of their own, which no tool looks into.
# Under a tool, kernels and copies of several streams wait for each other. What needs
# them side by side would hang or fail, and is left out: these tests, package
# streamsync, and notebooks 01 and 07. Under initcheck a launch waits for its kernel,
# so that 06 and 08 do not come to their ends: kernels behind a closed gate. So is the test that takes most of the
# device's memory, which several tools at a time would share, and the hundreds of random
# kernels, which take too long. No find is meant.
# SANITIZERS, SANITIZED and SANITIZED_NOTEBOOKS choose tools, packages and notebooks
# (such as 09_jacobi.ipynb), SANITIZE_SECONDS how long each may take.
together='TestProgrammaticLaunch|TestMemcpyBetweenDevicesIsInTheOrderOfBoth|TestConformance/events/.*interprocess|TestConformance/ipc/an_event|TestConformance/code/(a_kernel_keeps|a_launch_returns|arguments_are_taken)|TestConformance/launch_attributes/a_programmatic|TestConformance/peers/a_wait_for_a_peer|TestConformance/streams/a_stream_that_was_destroyed|TestConformance/host/.*(at_once|does_not_wait)|TestAllocFreesWhatNobodyRefersTo|TestRandomKernels'
section_sanitize() {
  local sanitizer status=0
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) || { echo "   no compute-sanitizer: left out"; return 0; }
  export -f sanitized
  export here out sanitizer together
  {
    for tool in ${SANITIZERS:-memcheck racecheck synccheck initcheck}; do
      for package in ${SANITIZED-nvidia cuda collective gxf sim/corpus gokernel/kerneltest}; do
        [ ! -x "$here/tests/cudaapi/$package/run.test" ] || echo "$tool test $package"
      done
      for notebook in ${SANITIZED_NOTEBOOKS-$(cd "$here/notebooks" && ls | grep -E '^(02|03|04|05|06|08|09|10)')}; do
        echo "$tool notebook $(basename "$notebook" .ipynb)"
      done
    done
  } | xargs -P "${SANITIZE_JOBS:-6}" -L 1 bash -c 'sanitized "$@"' - || status=1
  return $status
}

# sanitized runs a package's tests, or a notebook, under a tool. What the tool finds
# is in sanitize-*.txt, what was printed in sanitize-*.log; notebooks' ranks are each
# under a tool of their own.
sanitized() {
  local tool=$1 kind=$2 what=$3 name=sanitize-$1-${3//\//-} status=0 found
  local small=() # what takes minutes at its usual size, each launch being slow under a tool
  case $what in
  09_jacobi) small=(-p n=512 -p iterations=20) ;;
  10_wave_equation) small=(-p intervals=2048) ;;
  esac
  local options=(--tool "$tool" --report-api-errors no --error-exitcode 9 --print-limit 20 --kernel-name-exclude kernel_substring=nccl --log-file "$out/$name.%p.txt")
  rm -f "$out/$name".*
  if [ "$kind" = test ]; then
    (cd "$here/tests/cudaapi/$what" && timeout "${SANITIZE_SECONDS:-240}" "$sanitizer" "${options[@]}" ./run.test -test.v -test.skip "$together" -test.timeout $((${SANITIZE_SECONDS:-240} - 10))s) >"$out/$name.log" 2>&1 || status=$?
  else
    GOCUDA_WRAP="$sanitizer ${options[*]}" timeout "${SANITIZE_SECONDS:-240}" "$here/bin/gocuda-kernel" run "${small[@]}" -o "$out/$name.ipynb" "$here/notebooks/$what.ipynb" >"$out/$name.log" 2>&1 || status=$?
  fi
  found=$(cat "$out/$name".*.txt 2>/dev/null | grep -cE '^========= (Invalid|Error|Warning|Uninitialized|Host API|Barrier|Race|Potential|Program hit)')
  echo "   $tool $what: status $status, $(cat "$out/$name".*.txt 2>/dev/null | grep -c 'ERROR SUMMARY: 0\|RACECHECK SUMMARY: 0') of $(ls "$out/$name".*.txt 2>/dev/null | wc -l) processes without a find, $found finds"
  [ "$status" = 0 ] && [ "$found" = 0 ]
}

[ $# -gt 0 ] || set -- doctor tests one mpi bench kernels notebooks
for section in "$@"; do
  echo "== $section"
  started=$SECONDS
  "section_$section" || failed+=("$section")
  echo "   $((SECONDS - started)) s"
done
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
echo "all sections passed"
