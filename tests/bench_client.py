"""How quick a kernel is for a real client: gocuda beside ipykernel.

Prints a Markdown table; medians and 90th percentiles in milliseconds. The
kernels take turns, start by start and cell by cell, so that whatever else the
machine does falls on both alike."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from conftest import BINARY

def functions(lines, one, last):
    """A cell of about so many lines: functions, and a call of the first."""
    return "\n".join(one.replace("#", str(i)) for i in range(lines // 10)) + "\n" + last


GO = """func work#(xs []int) (sum int) {
	for i, x := range xs {
		if x > i {
			sum += x * #
		} else {
			sum -= i
		}
	}
	return sum
}
"""
PYTHON = """def work#(xs):
    sum = 0
    for i, x in enumerate(xs):
        if x > i:
            sum += x * #
        else:
            sum -= i

    return sum

"""

CELLS = {
    "1+1": {"gocuda": "1+1", "python3": "1+1"},
    "print": {"gocuda": 'fmt.Println("hello")', "python3": 'print("hello")'},
    "5,000 lines": {
        "gocuda": "for i := 0; i < 5000; i++ {\n\tfmt.Println(i)\n}",
        "python3": "for i in range(5000):\n    print(i)",
    },
    "100 lines of functions": {
        "gocuda": functions(100, GO, "work0([]int{1, 2, 3})"),
        "python3": functions(100, PYTHON, "work0([1, 2, 3])"),
    },
    "1,000 lines of functions": {
        "gocuda": functions(1000, GO, "work0([]int{1, 2, 3})"),
        "python3": functions(1000, PYTHON, "work0([1, 2, 3])"),
    },
    "loop of 3,000,000": {
        "gocuda": "s := 0\nfor i := 0; i < 3000000; i++ {\n\ts += i\n}",
        "python3": "s = 0\nfor i in range(3000000):\n    s += i",
    },
}
TITLES = {"gocuda": "gocuda", "python3": "ipykernel"}


class Kernel:
    """A kernel and its client, which takes no more time than it must."""

    def __init__(self, name):
        from jupyter_client.manager import KernelManager

        began = time.perf_counter()
        self.manager = KernelManager(kernel_name=name)
        self.manager.start_kernel(stderr=subprocess.DEVNULL)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.ready = time.perf_counter() - began

    def run(self, code):
        """Seconds from the request to both its reply and its idle status."""
        began = time.perf_counter()
        request = self.client.execute(code)
        while True:
            msg = self.client.get_iopub_msg(timeout=60)
            if (
                msg["msg_type"] == "status"
                and msg["content"]["execution_state"] == "idle"
                and msg["parent_header"].get("msg_id") == request
            ):
                break
        while True:
            msg = self.client.get_shell_msg(timeout=60)
            if msg["parent_header"].get("msg_id") == request:
                break
        took = time.perf_counter() - began
        assert msg["content"]["status"] == "ok", msg["content"]
        return took

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)


def measure(names, starts, rounds):
    """Seconds by row of the table and kernel."""
    times = {row: {name: [] for name in names} for row in ["start to ready", *CELLS]}
    for _ in range(starts):
        kernels = {name: Kernel(name) for name in names}
        for name, kernel in kernels.items():
            times["start to ready"][name].append(kernel.ready)
        for row, code in CELLS.items():
            for i in range(rounds if row in ("1+1", "print") else 10):
                for name, kernel in kernels.items():
                    took = kernel.run(code[name])
                    if i:  # the first one warms up
                        times[row][name].append(took)
        for kernel in kernels.values():
            kernel.close()
    return times


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--starts", type=int, default=5)
    arguments.add_argument("--rounds", type=int, default=100)
    arguments.add_argument("--kernels", nargs="+", default=list(TITLES))
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HOME=home, JUPYTER_PATH=home + "/share/jupyter", GOCUDA_BACKEND="sim")
        subprocess.run([BINARY, "install", "--prefix", home], check=True, stdout=subprocess.DEVNULL)
        times = measure(arguments.kernels, arguments.starts, arguments.rounds)
    print("| median (90 %), ms | " + " | ".join(TITLES.get(n, n) for n in arguments.kernels) + " |")
    print("|---|" + "---|" * len(arguments.kernels))
    for row, by_kernel in times.items():
        cells = []
        for seconds in by_kernel.values():
            ms = sorted(1000 * s for s in seconds)
            cells.append(f"{statistics.median(ms):.2f} ({ms[int(0.9 * (len(ms) - 1))]:.2f})")
        print(f"| {row} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
