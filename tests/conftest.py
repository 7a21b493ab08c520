"""The kernel is installed into a temporary folder and found through
JUPYTER_PATH; HOME is a temporary folder too. So the tests never touch, and
never depend on, what this user has."""

import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile

import pytest
from jupyter_client.connect import LocalPortCache

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "bin" / "gocuda-kernel"
BUILD = ROOT / "build"


def free_port(cache, ip):
    """A port that the system gives to nobody who asks for any. Jupyter lets the system
    choose, and another process may get the same one before the kernel listens: where
    others ask 100 times a second, as the tests of Go do, one kernel in 500 starts in vain."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as s:
            try:
                s.bind((ip, port))
            except OSError:
                continue
        if port not in cache.currently_used_ports:
            cache.currently_used_ports.add(port)
            return port


def pytest_configure(config):
    LocalPortCache.find_available_port = free_port
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
