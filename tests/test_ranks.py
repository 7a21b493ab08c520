"""MPI ranks in a notebook, as a real Jupyter client sees them. The local
launcher serves; mpirun's ranks are tested in kernel/ranks."""

import os
import re
import signal
import time

import pytest
from client import PATIENCE, Client
from test_client import alive, needs_cxx


@pytest.fixture(scope="module")
def ranks():
    """A client whose notebook has three ranks, for tests that leave them well."""
    with Client() as c:
        start(c)
        yield c


def start(client, n=3):
    outcome = client.run(f"%mpi start -n {n} --launcher local")
    assert outcome.status == "ok", outcome.error
    assert f"{n} ranks are running" in outcome.text()


def plain(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def said(outcome, n=3):
    """What each rank printed, whether it was shown for it alone or for several."""
    texts = [""] * n
    for line in outcome.text().splitlines(keepends=True):
        mark, text = re.fullmatch(r"\[([0-9,-]+)\] (.*\n?)", line).groups()
        for part in mark.split(","):
            first, _, last = part.partition("-")
            for rank in range(int(first), int(last or first) + 1):
                texts[rank] += text
    return texts


def test_ranks_keep_their_variables_apart(ranks):
    assert ranks.value("%%mpi\nmine := 10 * rank\nmine") == "[0] 0\n[1] 10\n[2] 20"
    ranks.value("%%mpi 1-2\nmine++")
    assert ranks.value("%%mpi\nmine") == "[0] 0\n[1] 11\n[2] 21"
    assert ranks.value("%%mpi\nsize") == "[0-2] 3"
    assert "undefined: mine" in plain(ranks.run("mine").error)


def test_output_is_live_and_labelled(ranks, tmp_path):
    gate = tmp_path / "seen"

    def look(msg):
        if msg["msg_type"] == "stream":
            gate.touch()

    msg_id = ranks.send(
        "%%mpi\nfmt.Println(\"hello from\", rank)\nworld.Barrier()\n"
        f'if rank == 2 {{\n\tfor {{\n\t\tif _, err := os.Stat("{gate}"); err == nil {{\n\t\t\tbreak\n\t\t}}\n\t\ttime.Sleep(time.Millisecond)\n\t}}\n\tfmt.Println("last")\n}}'
    )
    outcome = ranks.finish(msg_id, until=look)
    assert outcome.status == "ok", outcome.error
    assert said(outcome) == ["hello from 0\n", "hello from 1\n", "hello from 2\nlast\n"]


def test_displays_of_ranks(ranks):
    outcome = ranks.run('%%mpi\ndisplay.Show(display.HTML("<b>x</b>"))\ndisplay.ShowAs("bar", rank)')
    assert outcome.status == "ok", outcome.error
    shown = outcome.of("display_data")
    html = "".join(d["data"].get("text/html", "") for d in shown)
    assert "<b>x</b>" in html and "]</div><b>" in html
    ids = {d["transient"]["display_id"] for d in shown if d["transient"].get("display_id")}
    assert {i for i in ids if i.startswith("bar")} == {"bar@0", "bar@1", "bar@2"}
    assert len(ids) == 6  # what Show returns has a name too
    update = ranks.run('%%mpi 1\ndisplay.Update("bar", "new")').of("update_display_data")[0]
    assert update["transient"]["display_id"] == "bar@1"
    assert update["data"]["text/plain"] == '[1] "new"'


def test_an_error_shows_each_trace_once(ranks):
    outcome = ranks.run('%%mpi\nif rank > 0 {\n\tpanic("too far")\n}')
    assert outcome.status == "error"
    error = outcome.of("error")[0]
    assert error["ename"] == "Panic"
    assert error["evalue"].startswith("[1-2] ")
    trace = plain("\n".join(error["traceback"]))
    assert trace.count("panic: too far") == 1 and "2 of 3 ranks failed" in trace and "]:3" in trace


def test_push_and_pull(ranks):
    ranks.value('n := 20\nmpi.Push("n", n)')
    ranks.value("%%mpi\nn += rank")
    assert ranks.value('fmt.Sprint(n, must(mpi.Pull("n")))') == '"20 [20 21 22]"'
    outcome = ranks.run('mpi.Push("c", make(chan int))')
    assert "chan int is a channel" in outcome.error
    outcome = ranks.run('mpi.Pull("nobody")')
    assert "ranks 0-2 have no such variable" in outcome.error


def test_a_rank_asks_for_input(ranks):
    prompts = []

    def answer(request):
        prompts.append(request["prompt"])
        return "Ada"

    outcome = ranks.run('%%mpi 1\ninput("Name? ")', answer=answer, allow_stdin=True)
    assert outcome.status == "ok", outcome.error
    assert prompts == ["[1] Name? "] and outcome.value == '[1] "Ada"'


def test_completion_and_inspection_know_the_ranks_names(ranks):
    ranks.value("%%mpi\nonlyInRanks := 1.5")
    code = "%%mpi\nonlyIn"
    content = ranks.reply(ranks.kc.complete(code))["content"]
    assert content["matches"] == ["onlyInRanks"]
    assert ranks.reply(ranks.kc.complete("onlyIn"))["content"]["matches"] == []
    content = ranks.reply(ranks.kc.complete("%%mpi --"))["content"]
    assert content["matches"] == ["--no-wait", "--timeout"]
    content = ranks.reply(ranks.kc.inspect("%%mpi\nonlyInRanks"))["content"]
    assert content["found"] and "float64" in content["data"]["text/plain"]


@needs_cxx
def test_cuda_on_every_rank(ranks):
    outcome = ranks.run("%%mpi\n%%cuda\n__global__ void put(int *p, int v) { *p = v; }")
    assert outcome.status == "ok", outcome.error
    assert ranks.value(
        "%%mpi\np := must(must(cuda.CurrentDevice()).Alloc(1, cuda.Int32))\n"
        "put.Launch(cuda.Grid(1), cuda.Block(1), nil, p, 100+rank)\nmust(p.Int32s())[0]"
    ) == "[0] 100\n[1] 101\n[2] 102"


def test_interrupt_in_a_blocking_receive(ranks):
    """The ranks are named with where they are, keep their variables, and
    can communicate again."""
    ranks.value("%%mpi\nkept := rank")
    msg_id = ranks.send("%%mpi\nworld.Barrier()\nworld.Recv(make([]int, 1), mpi.AnySource, 1)")
    sent = []

    def interrupt(msg):
        # The notebook reports it when all are in their receives; they are freed seconds later.
        if msg["msg_type"] == "stream" and not sent and "interrupt the cell to free them" in msg["content"]["text"]:
            sent.append(msg)
            ranks.interrupt()

    outcome = ranks.finish(msg_id, until=interrupt)
    assert sent and outcome.status == "error"
    assert outcome.of("error")[0]["ename"] == "Interrupted"
    assert re.search(r"^\[0-2\] interrupted at In\[\d+\]:3, in Comm\.Recv, tag 1$", outcome.text("stderr"), re.M)
    assert ranks.value(
        "%%mpi\nall := make([]int, size)\nmust(world.Allgather([]int{kept}, all))\nfmt.Sprint(all)"
    ) == '[0-2] "[0 1 2]"'


def test_a_killed_rank_is_named_and_a_restart_keeps_the_notebook(client):
    client.value("kept := 42")
    start(client)
    pids = [int(p) for p in re.findall(r"\] (\d+)", client.value("%%mpi\nos.Getpid()"))]
    msg_id = client.send("%%mpi\nif rank == 0 {\n\tfmt.Println(\"waits\")\n}\nif rank != 1 {\n\tworld.Barrier()\n}\ntime.Sleep(time.Hour)")

    def kill(msg):
        if msg["msg_type"] == "stream" and alive(pids[1]):
            os.kill(pids[1], signal.SIGKILL)

    outcome = client.finish(msg_id, until=kill)
    error = outcome.of("error")[0]
    assert error["ename"] == "RankLost"
    trace = plain("\n".join(error["traceback"]))
    assert trace.count("[1] RankLost: the rank was lost: it was ended by a signal: SIGKILL") == 1
    assert "[0,2]" in trace
    assert client.run("%mpi restart").status == "ok"
    assert client.value("%%mpi\nworld.Barrier()\nsize") == "[0-2] 3"
    assert client.value("kept") == "42"
    new = [int(p) for p in re.findall(r"\] (\d+)", client.value("%%mpi\nos.Getpid()"))]
    assert client.run("%mpi stop").status == "ok"
    end = time.monotonic() + PATIENCE
    while any(alive(p) for p in pids + new) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(alive(p) for p in pids + new)
