"""Outputs outlive the client: what a cell shows while nobody is there, or while clients
are killed, %output shows to the next one, in order, nothing lost and nothing twice."""

import json
import os
import random
import subprocess
import sys
import time

from client import PATIENCE

# A client of its own: runs %output -f and writes what it is shown as JSON lines.
FOLLOW = """
import json, sys
from jupyter_client import BlockingKernelClient
kc = BlockingKernelClient(connection_file=sys.argv[1])
kc.load_connection_file(); kc.start_channels(); kc.wait_for_ready(timeout=60)
print("ready", flush=True)
asked = kc.execute("%output -f")
while True:
    m = kc.get_iopub_msg(timeout=60)
    if m["parent_header"].get("msg_id") != asked: continue
    c = m["content"]
    if m["msg_type"] == "stream": print(json.dumps(["text", c["text"]]), flush=True)
    elif m["msg_type"] in ("display_data", "execute_result"): print(json.dumps(["plot", c["data"]["text/plain"]]), flush=True)
    elif m["msg_type"] == "status" and c["execution_state"] == "idle": break
print("end", flush=True)
"""

LINES, PLOTS = 10_000, 20
KILLS = int(os.environ.get("GOCUDA_TEST_KILLS", "6"))
PART = LINES // (KILLS + 1) + 1
# It goes on by a part when the file allows it, so that it runs for as long as clients are killed.
CELL = """
for i := range %d {
    for i %% %d == 0 {
        text, _ := os.ReadFile("FILE")
        if n, _ := strconv.Atoi(string(text)); i / %d <= n { break }
        time.Sleep(time.Millisecond)
    }
    fmt.Println("line", i)
    if i %% %d == 0 {
        display.Show(display.Bundle{Data: map[string]any{"text/plain": fmt.Sprint("plot ", i)}})
    }
}
""" % (LINES, PART, PART, LINES // PLOTS)


def expected():
    for i in range(LINES):
        yield ("line", f"line {i}")
        if i % (LINES // PLOTS) == 0:
            yield ("plot", f"plot {i}")


def shown(rows):
    """Lines and plots in the order in which they were shown."""
    text = ""
    for kind, content in rows:
        if kind == "text":
            text += content
            *whole, text = text.split("\n")
            yield from (("line", line) for line in whole)
        else:
            assert text == "", f"a plot within the line {text!r}"
            yield ("plot", content)
    assert text == ""


def test_killed_clients_lose_nothing(client, tmp_path):
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    client.run('import ("fmt"; "os"; "strconv"; "time"; "gocuda/kernel/display")')
    go = tmp_path / "go"

    def allow(parts):
        (tmp_path / "next").write_text(str(parts))
        (tmp_path / "next").replace(go)

    allow(0)
    client.send(CELL.replace("FILE", str(go)))
    # The client that ran the cell is gone, as a browser that was closed.
    client.kc.stop_channels()
    file = client.manager.connection_file

    def follow():
        return subprocess.Popen([sys.executable, "-c", FOLLOW, file], stdout=subprocess.PIPE, text=True)

    for part in range(KILLS):
        p = follow()
        try:
            assert p.stdout.readline() == "ready\n"
            time.sleep(rng.random() / 10)
            allow(part + 1)
            time.sleep(rng.random() / 10)
        finally:
            p.kill()
            p.wait()
            p.stdout.close()
    last = follow()
    out, _ = last.communicate(timeout=PATIENCE * 2)
    lines = out.splitlines()
    assert lines[0] == "ready" and lines[-1] == "end", lines[-3:]
    got = list(shown(json.loads(line) for line in lines[1:-1]))
    want = list(expected())
    wrong = [(i, a, b) for i, (a, b) in enumerate(zip(got, want)) if a != b]
    assert not wrong and len(got) == len(want), f"seed {seed}: {len(got)} of {len(want)}, first differences {wrong[:3]}"


def test_outputs_of_a_cell_again(client):
    client.run('fmt.Println("hello")\n1 + 1')
    again = client.run("%output 1")
    assert again.status == "ok" and again.text() == "hello\n" and again.value == "2"
    wrong = client.run("x := 1\n%output 1")
    assert "must be all of its cell" in wrong.error
    assert "%output [-f] [CELL]" in client.run("%help output").text()
