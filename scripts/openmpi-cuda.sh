#!/usr/bin/env bash
# A CUDA-aware Open MPI, which the packages of distributions and PyPI are not:
# built from the distribution's own source package of Open MPI 4.1 (Debian 12,
# Ubuntu 22.04 and 24.04), with its bundled libraries, for one host and ssh. Needs
# apt, a C compiler, make and perl; no GPU, and no CUDA but a header from PyPI:
# libcuda is opened when programs run. Takes some 15 minutes of two processors.
#   scripts/openmpi-cuda.sh PYTHON FOLDER [JOBS]
# Programs are started with FOLDER/bin/mpirun. The folder may be moved, if
# OPAL_PREFIX and LD_LIBRARY_PATH (its lib) say so.
set -euo pipefail
python=$1 jobs=${3:-2}
mkdir -p "$2"
prefix=$(cd "$2" && pwd)
cuda=nvidia-cuda-runtime-cu12==12.9.79 # for cuda.h
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The system's package lists, asked for sources, beside apt's own.
mkdir -p "$work"/apt/{parts,lists/partial,cache/archives/partial} "$work/source"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  [ -f "$list" ] || continue
  sed -E 's/^deb([[:space:]])/deb-src\1/; s/^Types:.*/Types: deb-src/' "$list" >"$work/apt/parts/$(basename "$list" .list).${list##*.}"
done
mv "$work/apt/parts/sources.list.list" "$work/apt/parts/main.list" 2>/dev/null || true
cat >"$work/apt.conf" <<EOF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/apt/parts";
Dir::State::lists "$work/apt/lists";
Dir::Cache "$work/apt/cache";
APT::Sandbox::User "root";
EOF
export APT_CONFIG=$work/apt.conf
apt-get update -qq || true # lists of others may have no sources
cd "$work/source"
apt-get source -qq --download-only openmpi
[[ $(ls) == *openmpi_4.1.*.orig.tar.* ]] || { echo "the distribution's Open MPI is not of version 4.1: $(ls ./*.dsc)"; exit 1; }
tar xf ./openmpi_*.orig.tar.*
cd openmpi-*/

"$python" -m pip download --quiet --disable-pip-version-check --no-deps -d "$work" "$cuda"
"$python" - "$work"/nvidia_cuda_runtime*.whl "$work/cuda.h" <<'EOF'
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
name = next(n for n in wheel.namelist() if n.endswith("/include/cuda.h"))
open(sys.argv[2], "wb").write(wheel.read(name))
EOF

# What is left out: languages, file access, one-sided messages, fabrics and batch
# systems. Shared memory, CUDA IPC, TCP and ssh are in.
./configure --quiet --prefix="$prefix" --with-cuda="$work" CFLAGS="-O2 -g0" \
  --disable-mpi-fortran --disable-mpi-java --disable-mpi-cxx --disable-oshmem --disable-mpi-io --disable-dependency-tracking \
  --with-hwloc=internal --with-libevent=internal --with-pmix=internal --with-x=no \
  --without-ucx --without-verbs --without-ofi --without-psm --without-psm2 --without-slurm --without-tm --without-lsf --without-zlib \
  --enable-mca-no-build=io,fs,fcoll,fbtl,sharedfp,common-ompio,common-monitoring,coll-monitoring,osc,pml-monitoring,pml-cm,vprotocol,op-avx,topo-treematch,compress,crs,ras-simulator >"$work/log" 2>&1 ||
  { tail -30 "$work/log"; exit 1; }
make -j"$jobs" install >"$work/log" 2>&1 || { tail -30 "$work/log"; exit 1; }
find "$prefix" -name '*.la' -delete
find "$prefix/bin" "$prefix/lib" -type f -exec strip --strip-unneeded {} + 2>/dev/null || true
"$prefix/bin/mpirun" --version | head -1
echo "CUDA-aware; start ranks with $prefix/bin/mpirun"
