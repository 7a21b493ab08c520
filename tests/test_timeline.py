"""%%timeline, as a real Jupyter client sees it: the cell is drawn without a change."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from client import Client
from test_client import needs_cxx

SVG = "{http://www.w3.org/2000/svg}"
CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)

SETUP = """\
gpu := must(cuda.CurrentDevice())
a := must(gpu.NewStream(cuda.NonBlocking))
streams := []*cuda.Stream{must(gpu.NewStream(cuda.NonBlocking))}
x := must(gpu.Alloc(1<<20, cuda.Float32))
h := must(cuda.AllocHost(1<<20, cuda.Float32))
copied := must(gpu.NewEvent())"""

KERNEL = """\
%%cuda
__global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}"""

WORK = """\
%%timeline all of it
cuda.MemcpyAsync(x, h, a)
copied.Record(a)
streams[0].WaitEvent(copied)
twice.Launch(cuda.GridFor(1<<20, 256), cuda.Block(256), streams[0], x, 1<<20)
x.MemsetAsync(0, streams[0])
streams[0].LaunchHostFunc(func() {})
streams[0].Synchronize()
1 + 1"""

MESSAGES = """\
%%timeline
%%mpi
gpu := must(cuda.CurrentDevice())
part := must(gpu.Alloc(1<<18, cuda.Float32))
part.Memset(0)
if rank == 0 {
	world.Send(part, 1, 3)
} else {
	world.Recv(part, 0, 3)
}
world.Allreduce(mpi.InPlace, part, mpi.Sum)
cuda.Synchronize()"""


@pytest.fixture(scope="module")
def notebook():
    with Client() as c:
        c.value(SETUP)
        c.value(KERNEL)
        yield c


def bundle(outcome):
    """What a timeline shows, by MIME type."""
    (shown,) = [d["data"] for d in outcome.of("display_data") if "image/svg+xml" in d["data"]]
    return shown


def drawn(outcome):
    """The picture of a cell, its page and its text."""
    assert outcome.status == "ok", outcome.error
    shown = bundle(outcome)
    ElementTree.fromstring(f"<page>{shown['text/html']}</page>")  # it is well formed
    return ElementTree.fromstring(shown["image/svg+xml"]), shown["text/html"], shown["text/plain"]


def rows(text):
    """Kind and name of each row of the table, with count and total in µs."""
    units = {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6}
    found = {}
    for line in text.splitlines()[2:]:
        if m := re.match(r"(\w[\w ]*?)  +(\S.*?)  +(\d+)  +(\S+) (\w+)  ", line):
            found[m[1], m[2]] = int(m[3]), float(m[4]) * units[m[5]]
    return found


@needs_cxx
def test_a_cell_is_drawn_as_it_is(notebook, tmp_path):
    outcome = notebook.run(WORK)
    svg, page, text = drawn(outcome)
    assert outcome.of("execute_result")[-1]["data"]["text/plain"] == "2"
    assert svg.get("role") == "img" and svg.get("aria-label") == "all of it"
    titles = [e.text for e in svg.iter(f"{SVG}title")]
    for kind, line in {
        "copy: pinned host to device": 2, "stream wait: cuStreamWaitEvent": 4, "kernel: twice": 5,
        "fill": 6, "host function": 7, "host wait: cuStreamSynchronize": 8,
    }.items():
        (about,) = [t for t in titles if t.split("\n")[0] == kind]
        assert re.search(rf"In\[\d+\], line {line}\b", about), about
    assert any("4194304 bytes" in t and "GB/s" in t for t in titles)
    words = ["".join(e.itertext()) for e in svg.iter(f"{SVG}text")]
    assert any("GPU 0 · a" in w for w in words) and any("GPU 0 · streams[0]" in w for w in words)
    table = rows(text)
    assert {k for k, _ in table} == {"copy", "stream wait", "kernel", "fill", "host function", "host wait"}
    assert "Longest chain: 4 boxes" in text and "by the model of the simulated devices" in text

    # What the program's own events measure of the same copy is what the table has.
    measured = float(notebook.value("float64(must(a.Time(func() error { return cuda.MemcpyAsync(x, h, a) })).Nanoseconds())"))
    count, total = table["copy", "pinned host to device"]
    assert count == 1 and total * 1e3 <= measured <= total * 1e3 + 10_000

    path = tmp_path / "trace.json"
    notebook.value(f"timeline.Save({json.dumps(str(path))})")
    events = json.loads(path.read_text())["traceEvents"]
    complete = [e for e in events if e["ph"] == "X"]
    assert len(complete) == sum(n for n, _ in table.values())
    assert all({"name", "ts", "dur", "pid", "tid"} <= e.keys() for e in complete)
    assert {e["ph"] for e in events} == {"M", "X", "s", "f"}


@needs_cxx
def test_ranks_are_on_one_clock(notebook):
    assert notebook.run("%mpi start -n 2 --launcher local").status == "ok"
    svg, _, text = drawn(notebook.run(MESSAGES))
    table = rows(text)
    assert table["message", "Comm.Send"][0] == table["message", "Comm.Recv"][0] == 1
    assert table["collective", "Comm.Allreduce"][0] == 2
    words = ["".join(e.itertext()) for e in svg.iter(f"{SVG}text")]
    for rank in range(2):
        assert any(f"rank {rank} · messages" in w for w in words), words
        assert any(f"rank {rank} · GPU {rank}" in w for w in words), words
    notebook.run("%mpi stop")


@needs_cxx
def test_two_are_compared_and_values_can_be_had(notebook):
    notebook.run(WORK)
    notebook.value("before := must(timeline.Last())")
    notebook.run(WORK.replace("all of it", "again"))
    assert notebook.value("must(timeline.Last()).Title") == '"again"'
    assert notebook.value('n := 0\nfor _, b := range before.Boxes { if b.Kind == "kernel" { n++ } }\nn') == "1"
    outcome = notebook.run("timeline.Compare(before, must(timeline.Last()))")
    assert outcome.status == "ok", outcome.error
    assert "before" not in outcome.value and "again" in outcome.value and "all of it" in outcome.value


def test_what_failed_and_what_did_nothing(notebook):
    assert "nothing ran on devices" in notebook.run("%%timeline\n1 + 1").text()
    failed = notebook.run("%%timeline\nx.Memset(1)\nnowhere()")
    assert failed.status == "error" and "undefined: nowhere" in failed.error
    assert notebook.run("%timeline").text() == "the timeline is off\n"
    notebook.run("%timeline on")
    assert drawn(notebook.run("x.Memset(1)"))
    assert not notebook.run("%timeline off").of("display_data")
    assert not notebook.run("x.Memset(1)").of("display_data")


@needs_cxx
@pytest.mark.skipif(not CHROMIUM, reason="no chromium on PATH")
def test_it_fits_into_a_thousand_pixels(notebook, tmp_path):
    svg = bundle(notebook.run(WORK))["image/svg+xml"]
    file = tmp_path / "page.html"
    measure = """
      const svg = document.querySelector('svg').getBoundingClientRect(), bad = [];
      for (const t of document.querySelectorAll('svg text')) {
        const r = t.getBoundingClientRect(), box = t.parentNode.querySelector(':scope > rect');
        const within = t.parentNode.tagName == 'g' ? box.getBoundingClientRect() : svg;
        if (r.left < within.left - 1 || r.right > within.right + 1 || r.top < within.top - 1 || r.bottom > within.bottom + 1) bad.push(t.textContent);
      }
      document.body.dataset.result = JSON.stringify({width: svg.width, bad, texts: document.querySelectorAll('svg text').length});"""
    file.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body style="margin:0;width:1000px">{svg}<script>{measure}</script></body>')
    out = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,800", "--dump-dom", f"--user-data-dir={tmp_path}/chromium", file.as_uri()],
        check=True, capture_output=True, text=True, timeout=120,
    ).stdout
    found = json.loads(re.search(r'data-result="([^"]*)"', out)[1].replace("&quot;", '"'))
    assert found["bad"] == [] and found["width"] == 1000 and found["texts"] > 10, found
