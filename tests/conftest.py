"""The kernel is installed into a temporary folder and found through
JUPYTER_PATH; HOME is a temporary folder too. So the tests never touch, and
never depend on, what this user has."""

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "bin" / "gocuda-kernel"
BUILD = ROOT / "build"


def pytest_configure(config):
    home = tempfile.TemporaryDirectory(prefix="gocuda-tests-")
    config.add_cleanup(home.cleanup)
    base = pathlib.Path(home.name)
    # What the Go tests compiled of the tutorials' kernels need not be compiled again.
    cache = os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache")
    for name in [n for n in os.environ if n.startswith(("JUPYTER_", "IPYTHON", "XDG_", "GOCUDA_"))]:
        del os.environ[name]
    os.environ.update(
        HOME=str(base),
        XDG_CACHE_HOME=cache,
        PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"],
        JUPYTER_PATH=str(base / "prefix" / "share" / "jupyter"),
        JUPYTER_CONFIG_PATH=str(base / "prefix" / "etc" / "jupyter"),
        GOCUDA_BACKEND="sim",
    )
    subprocess.run(
        [BINARY, "install", "--prefix", base / "prefix"], check=True, stdout=subprocess.DEVNULL
    )
    BUILD.mkdir(exist_ok=True)


@pytest.fixture
def client():
    """A started kernel's blocking client."""
    from client import Client

    with Client() as c:
        yield c


@pytest.fixture(scope="session")
def binary():
    return str(BINARY)
