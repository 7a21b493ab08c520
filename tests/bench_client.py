"""How quick a kernel is for a real client: gocuda beside ipykernel, in one
run. Prints a table; medians in milliseconds."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from conftest import BINARY


def round_trip(kc, code):
    """Sends a cell and waits for its reply and its idle, as a front end does."""
    msg_id = kc.execute(code)
    while True:
        msg = kc.get_iopub_msg(timeout=60)
        if msg["parent_header"].get("msg_id") == msg_id:
            assert msg["msg_type"] != "error", msg["content"]
            if msg["msg_type"] == "status" and msg["content"]["execution_state"] == "idle":
                break
    while kc.get_shell_msg(timeout=60)["parent_header"].get("msg_id") != msg_id:
        pass


def measure(client_class, name, code, starts, rounds):
    ready, rtt = [], {k: [] for k in code}
    for _ in range(starts):
        began = time.perf_counter()
        with client_class(name) as c:
            ready.append(time.perf_counter() - began)
            for what, cell in code.items():
                for i in range(rounds if what != "5,000 lines" else 10):
                    began = time.perf_counter()
                    round_trip(c.kc, cell)
                    took = time.perf_counter() - began
                    if i:
                        rtt[what].append(took)
    return {"start to ready": ready, **rtt}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--starts", type=int, default=5)
    arguments.add_argument("--rounds", type=int, default=100)
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HOME=home, JUPYTER_PATH=home + "/share/jupyter", GOCUDA_BACKEND="sim")
        subprocess.run([BINARY, "install", "--prefix", home], check=True, stdout=subprocess.DEVNULL)
        from client import Client

        kernels = {
            "gocuda": {
                "1+1": "1+1",
                "print": 'fmt.Println("hello")',
                "5,000 lines": "for i := 0; i < 5000; i++ {\n\tfmt.Println(i)\n}",
            },
            "python3": {
                "1+1": "1+1",
                "print": 'print("hello")',
                "5,000 lines": "for i in range(5000):\n    print(i)",
            },
        }
        results = {
            name: measure(Client, name, code, arguments.starts, arguments.rounds)
            for name, code in kernels.items()
        }
    rows = list(next(iter(results.values())))
    print("| median, ms | " + " | ".join({"python3": "ipykernel"}.get(n, n) for n in results) + " |")
    print("|---|" + "---|" * len(results))
    for row in rows:
        cells = [f"{1000 * statistics.median(r[row]):.1f}" for r in results.values()]
        print(f"| {row} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
