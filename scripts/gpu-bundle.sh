#!/usr/bin/env bash
# Packs what gpu-run.sh needs on a machine that has an NVIDIA driver and bash:
# the binary, the compiled tests with their data, the notebooks.
# usage: gpu-bundle.sh FOLDER   (also makes FOLDER.tar.gz)
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
go=${GO:-go}
module=$($go list -m)

rm -rf "$out" "$out.tar.gz"
mkdir -p "$out/bin" "$out/tests" "$out/notebooks"
cp bin/gocuda-kernel "$out/bin/"
cp notebooks/*.ipynb "$out/notebooks/"
cp scripts/gpu-run.sh scripts/bench-gpu.sh scripts/bench-mpi.sh "$out/"
cp -r bench "$out/"
$go build -trimpath -ldflags="-s -w" -o "$out/bin/" ./bench/percall ./bench/turns ./bench/gokernels
$go build -trimpath -ldflags="-s -w" -o "$out/bin/mpibench" ./cudaapi/mpi/mpibench

# The tests that use GPUs, each to run in a folder of its own with its package's
# data. The others say the same on any machine.
$go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./cudaapi/... | while read -r package; do
  [[ $'\n'$($go list -test -deps "$package")$'\n' == *$'\n'"$module/cudaapi/nvidia"$'\n'* ]] || continue
  folder=${package#"$module"/}
  mkdir -p "$out/tests/$folder"
  $go test -c -trimpath -ldflags="-s -w" -o "$out/tests/$folder/run.test" "$package"
  [ -d "$folder/testdata" ] && cp -r "$folder/testdata" "$out/tests/$folder/"
  true
done
# What compiled Go makes of random kernels; 20,000 of them take ten minutes of a processor.
random=$out/tests/cudaapi/gokernel/kerneltest/testdata/random
mkdir -p "$random"
$go test -trimpath -vet=off -count=1 -run '^TestRandomKernels$' ./cudaapi/gokernel/kerneltest -kernels "${RANDOM_KERNELS:-300}" -keep "$(cd "$random" && pwd)"
tar -C "$(dirname "$out")" -czf "$out.tar.gz" "$(basename "$out")"
echo "$out.tar.gz: $(du -h "$out.tar.gz" | cut -f1); there: tar xzf, then $(basename "$out")/gpu-run.sh"
