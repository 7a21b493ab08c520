#!/usr/bin/env bash
# MPI libraries for the tests, each with its mpirun in a folder of its own under
# build/mpi: PyPI's wheels, of the versions in tests/mpi-libs.txt. A line that
# this machine cannot have (another platform) is said and left out.
#   scripts/mpi-libs.sh python build/mpi
set -euo pipefail
python=$1 into=$2
mkdir -p "$into"
while read -r wheel; do
  [[ $wheel == '' || $wheel == '#'* ]] && continue
  dir="$into/${wheel/==/-}"
  [[ -x "$dir/bin/mpirun" ]] && continue
  rm -rf "$dir" "$dir.new"
  if "$python" -m pip install --quiet --disable-pip-version-check --no-deps --ignore-installed --only-binary :all: \
    --prefix "$dir.new" "$wheel"; then
    mv "$dir.new" "$dir"
  else
    echo "$wheel could not be installed; its tests will be skipped"
    rm -rf "$dir.new"
  fi
done <tests/mpi-libs.txt
