#!/usr/bin/env bash
# Compares the conformance suite's cases in two outputs of go test -v, by name:
# one of real GPUs, one of simulated devices. It fails if a case that passed in
# the first did not in the second.
# usage: same-cases.sh GPU.txt SIMULATED.txt
#   where  go test ./cudaapi/driver/drivertest -run '^TestSuite$' -v >SIMULATED.txt
set -euo pipefail
[ $# = 2 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }

# cases prints the cases of a file that ended so: group/name.
cases() {
  sed -nE "s@^ *--- $2: Test(Suite|Conformance)/((devices=[0-9]+/)?adversarial=[a-z]+/)?([^/ ]+/[^/ ]+) \(.*@\4@p" "$1" | sort -u
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for how in PASS FAIL SKIP; do
  cases "$1" $how >"$work/gpu-$how"
  cases "$2" $how >"$work/sim-$how"
done
count() { wc -l <"$work/$1" | tr -d ' '; }
comm -12 "$work/gpu-PASS" "$work/sim-PASS" >"$work/both"
comm -23 "$work/gpu-PASS" "$work/sim-PASS" >"$work/gpu-only"
comm -13 "$work/gpu-PASS" "$work/sim-PASS" >"$work/sim-only"
echo "GPU: passed $(count gpu-PASS), failed $(count gpu-FAIL), skipped $(count gpu-SKIP)"
echo "simulated: passed $(count sim-PASS), failed $(count sim-FAIL), skipped $(count sim-SKIP)"
echo "passed on both: $(count both)"
for which in gpu sim; do
  [ ! -s "$work/$which-only" ] || sed "s/^/passed on $which only: /" "$work/$which-only"
done
[ -s "$work/both" ] && [ ! -s "$work/gpu-only" ]
