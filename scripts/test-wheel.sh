#!/usr/bin/env bash
# Installs the wheel of this machine into an empty environment with JupyterLab, and
# has nbconvert run a tutorial there: the two commands of a Jupyter user, timed.
# usage: test-wheel.sh PYTHON FOLDER_OF_WHEELS
set -euo pipefail
cd "$(dirname "$0")/.."
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
"$1" -m venv "$temp/venv"
"$temp/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  jupyterlab nbconvert nbclient -c tests/requirements.txt -c tests/requirements.lock
case $(uname -sm) in
  "Linux x86_64") tag=manylinux_2_17_x86_64 ;;
  "Linux aarch64") tag=manylinux_2_17_aarch64 ;;
  "Darwin arm64") tag=macosx_12_0_arm64 ;;
  "Darwin x86_64") tag=macosx_12_0_x86_64 ;;
  *) echo "no wheel for $(uname -sm)" >&2; exit 1 ;;
esac
export HOME=$temp/home JUPYTER_PATH= GOCUDA_BACKEND=${GOCUDA_BACKEND:-sim} PATH=/usr/local/bin:/usr/bin:/bin
mkdir "$HOME"
TIMEFORMAT="%R s: pip install gocuda-*.whl"
time "$temp/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$2"/gocuda-*-py3-none-"$tag"*.whl
TIMEFORMAT="%R s: jupyter nbconvert --execute"
time "$temp/venv/bin/jupyter" nbconvert --to notebook --execute --ExecutePreprocessor.kernel_name=gocuda \
  --output-dir "$temp" notebooks/04_inter_gpu_synchronization.ipynb
"$temp/venv/bin/gocuda-kernel" version
"$temp/venv/bin/pip" uninstall --quiet --yes gocuda
if "$temp/venv/bin/jupyter" kernelspec list 2>/dev/null | grep -q gocuda; then
  echo "the kernelspec is still there" >&2
  exit 1
fi
