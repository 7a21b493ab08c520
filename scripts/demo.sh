#!/usr/bin/env bash
# Executes a tutorial with real Jupyter: the one on PATH if it has JupyterLab
# and nbconvert, or else one in .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

notebook=notebooks/04_inter_gpu_synchronization.ipynb
kernel=$PWD/bin/gocuda-kernel

complete() { "$1" lab --version >/dev/null 2>&1 && "$1" nbconvert --version >/dev/null 2>&1; }

jupyter=$(command -v jupyter || true)
if [ -n "$jupyter" ] && complete "$jupyter"; then
  "$kernel" install --sys-prefix 2>/dev/null || "$kernel" install --user
else
  echo "No JupyterLab on PATH: setting one up in .venv (pip takes some minutes)"
  make --no-print-directory .venv/.installed
  jupyter=$PWD/.venv/bin/jupyter
  PATH="$PWD/.venv/bin:$PATH" VIRTUAL_ENV="$PWD/.venv" "$kernel" install --sys-prefix >/dev/null
  echo "Installed the kernel \"Go (CUDA)\" there"
fi

mkdir -p build
echo "Running $notebook with nbconvert (half a minute, on a quiet machine)"
"$jupyter" nbconvert --to notebook --execute --ExecutePreprocessor.kernel_name=gocuda \
  --output-dir build --output "$(basename "$notebook")" "$notebook"
"$jupyter" nbconvert --to html --output-dir build "build/$(basename "$notebook")" >/dev/null 2>&1

cat <<MESSAGE

The tutorial ran: build/$(basename "$notebook") (to read: build/$(basename "$notebook" .ipynb).html)
To open it, and the others, in JupyterLab:

  $jupyter lab notebooks

and choose the kernel "Go (CUDA)".
MESSAGE
