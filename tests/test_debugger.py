"""The debugger, by debug_request as a front end sends it: ipykernel's own tests of its
debugger (tests/test_debugger.py there) in Go, and what Go's has besides."""

import itertools
import os
import queue
import signal
import time

import pytest
from client import PATIENCE

numbers = itertools.count(1)


class Debugging:
    """A client that debugs."""

    def __init__(self, client):
        self.client, self.kc, self.waiting = client, client.kc, []

    def send(self, command, **arguments):
        msg = self.kc.session.msg(
            "debug_request",
            {"type": "request", "seq": next(numbers), "command": command, "arguments": arguments},
        )
        self.kc.control_channel.send(msg)
        return msg["header"]["msg_id"]

    def reply(self, msg_id):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                reply = self.kc.get_control_msg(timeout=1)
            except queue.Empty:
                continue
            if reply["parent_header"]["msg_id"] == msg_id:
                assert reply["msg_type"] == "debug_reply"
                return reply["content"]
        raise AssertionError("no reply")

    def ask(self, command, **arguments):
        return self.reply(self.send(command, **arguments))

    def body(self, command, **arguments):
        reply = self.ask(command, **arguments)
        assert reply["success"], reply
        return reply["body"]

    def dump(self, code, *lines, **more):
        """Sets breakpoints in a cell and returns its path."""
        source = self.body("dumpCell", code=code)["sourcePath"]
        points = [line if isinstance(line, dict) else {"line": line} for line in lines]
        self.body("setBreakpoints", breakpoints=points, source={"path": source}, sourceModified=False)
        self.body("configurationDone")
        return source

    def event(self, name):
        """The body of the next event of a name."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                msg = self.kc.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if msg["msg_type"] == "debug_event" and msg["content"]["event"] == name:
                return msg["content"]["body"]
            self.waiting.append(msg)
        raise AssertionError(f"no event {name}; {[m['msg_type'] for m in self.waiting[-10:]]}")

    def frames(self, thread=1):
        return self.body("stackTrace", threadId=thread)["stackFrames"]

    def scope(self, name, frame):
        scopes = self.body("scopes", frameId=frame)["scopes"]
        return next(s["variablesReference"] for s in scopes if s["name"] == name)

    def variables(self, reference):
        return {v["name"]: v for v in self.body("variables", variablesReference=reference)["variables"]}

    def locals(self, frame):
        return self.variables(self.scope("Locals", frame))

    def finish(self, *cells):
        """Waits for the replies of cells, which come in any order: one, or a list."""
        end = time.monotonic() + PATIENCE
        replies = {}
        while time.monotonic() < end:
            try:
                reply = self.kc.get_shell_msg(timeout=1)
            except queue.Empty:
                continue
            replies[reply["parent_header"].get("msg_id")] = reply["content"]
            if replies.keys() >= set(cells):
                return replies[cells[0]] if len(cells) == 1 else [replies[cell] for cell in cells]
        raise AssertionError("the cell does not end")


INITIALIZE = {
    "clientID": "test-client", "clientName": "testClient", "adapterID": "", "pathFormat": "path",
    "linesStartAt1": True, "columnsStartAt1": True, "supportsVariableType": True,
    "supportsVariablePaging": True, "supportsRunInTerminalRequest": True, "locale": "en",
}

ADD = """func f(a, b int) int {
    c := a + b
    return c
}
f(2, 3)"""


@pytest.fixture
def detached(client):
    return Debugging(client)


@pytest.fixture
def debug(detached):
    detached.body("initialize", **INITIALIZE)
    detached.body("attach")
    detached.event("initialized")
    yield detached
    detached.body("disconnect", restart=False, terminateDebuggee=True)


def test_initialize(detached):
    assert detached.ask("initialize", **INITIALIZE)["success"]
    assert not detached.ask("stackTrace", threadId=1)["success"]
    assert not detached.ask("noSuchThing")["success"]


def test_supported_features(debug):
    debug.kc.kernel_info()
    content = debug.kc.get_shell_msg(timeout=PATIENCE)["content"]
    assert "debugger" in content["supported_features"]
    assert content["debugger"]


def test_attach(debug):
    body = debug.body("evaluate", expression='"a" + "b"', context="repl")
    assert body["result"] == '"ab"'
    assert debug.body("debugInfo")["isStarted"]


def test_attach_of_vs_code(detached):
    """Its attach has a name, that of the notebook: all threads stop nevertheless."""
    detached.body("initialize", **INITIALIZE)
    detached.body("attach", type="Python Kernel Debug Adapter", request="attach", name="a.ipynb", justMyCode=True, base=3)
    detached.dump(ADD, 2)
    cell = detached.kc.execute(ADD)
    stopped = detached.event("stopped")
    assert stopped["allThreadsStopped"] and stopped["threadId"] == 1
    assert detached.body("threads")["threads"] == [{"id": 1, "name": "In[1]"}]
    detached.body("disconnect", restart=False)
    assert detached.finish(cell)["status"] == "ok"


def test_set_breakpoints(debug):
    source = debug.body("dumpCell", code=ADD)["sourcePath"]
    found = debug.body(
        "setBreakpoints", breakpoints=[{"line": 2}], source={"path": source}, sourceModified=False
    )["breakpoints"]
    assert len(found) == 1
    assert found[0]["verified"] and found[0]["source"]["path"] == source
    info = debug.body("debugInfo")
    assert source in [b["source"] for b in info["breakpoints"]]
    assert source.startswith(info["tmpFilePrefix"]) and source.endswith(info["tmpFileSuffix"])
    assert debug.body("source", source={"path": source})["content"] == ADD
    debug.body("configurationDone")


@pytest.mark.parametrize(("code", "line"), [(ADD, 2), ("\n" + ADD, 6)])
def test_stop_on_breakpoint(debug, code, line):
    debug.dump(code, line)
    cell = debug.kc.execute(code)
    stopped = debug.event("stopped")
    assert stopped["reason"] == "breakpoint"
    frames = debug.frames(stopped["threadId"])
    assert frames[0]["line"] == line
    assert "In[1]" in frames[0]["name"]
    debug.body("continue", threadId=1)
    assert debug.finish(cell)["status"] == "ok"


def test_rich_inspect_not_at_breakpoint(debug):
    debug.client.run('text := "Hello the world"\nfmt.Println(text)')
    assert "text" in [v["name"] for v in debug.body("inspectVariables")["variables"]]
    assert debug.body("richInspectVariables", variableName="text")["data"] == {
        "text/plain": '"Hello the world"'
    }


def test_rich_inspect_at_breakpoint(debug):
    debug.dump(ADD, 2)
    cell = debug.kc.execute(ADD)
    debug.event("stopped")
    frame = debug.frames()[0]["id"]
    first = next(iter(debug.locals(frame).values()))
    assert debug.body("richInspectVariables", variableName=first["name"], frameId=frame)["data"] == {
        "text/plain": first["value"]
    }
    debug.body("continue", threadId=1)
    debug.finish(cell)


def test_copy_to_globals(debug):
    code = """func myTest() {
    type pair struct{ A, B int }
    local := []pair{{1, 2}}
    _ = local
}
a := 2
myTest()"""
    debug.dump(code, 4)
    cell = debug.kc.execute(code)
    debug.event("stopped")
    frame = debug.frames()[0]["id"]
    debug.body("copyToGlobals", srcVariableName="local", dstVariableName="copied", srcFrameId=frame)
    local = debug.locals(frame)["local"]
    copied = debug.variables(debug.scope("Globals", frame))["copied"]
    assert (copied["value"], copied["type"]) == (local["value"], local["type"])
    debug.body("continue", threadId=1)
    debug.finish(cell)
    assert debug.client.run("copied[0].B + a").value == "4"


def test_requests_are_answered_in_order(debug):
    debug.dump(ADD, 2)
    cell = debug.kc.execute(ADD)
    debug.event("stopped")
    frame = debug.frames()[0]["id"]
    references = [debug.scope(name, frame) for name in ("Locals", "Globals")]
    asked = [debug.send("variables", variablesReference=r) for r in references]
    replies = [debug.reply(m) for m in asked]
    found = {v["name"]: v for v in replies[0]["body"]["variables"]}
    assert (found["a"]["type"], found["a"]["value"]) == ("int", "2")
    assert (found["b"]["type"], found["b"]["value"]) == ("int", "3")
    assert replies[1]["success"]
    states = []
    while len(states) < 4:  # those of earlier requests, and of the cell, may come between
        msg = debug.kc.get_iopub_msg(timeout=PATIENCE)
        if msg["msg_type"] == "status" and msg["parent_header"].get("msg_id") in asked:
            states.append((msg["parent_header"]["msg_id"], msg["content"]["execution_state"]))
    assert states == [(m, state) for m in asked for state in ("busy", "idle")]
    debug.body("continue", threadId=1)
    debug.finish(cell)


def test_steps(debug):
    code = ADD.replace("f(2, 3)", "x := f(2, 3)\nx++\nx")
    debug.dump(code, 5)
    cell = debug.kc.execute(code)
    lines = []
    for command in ["stepIn", "next", "next", "stepOut", "next", "next", "continue"]:
        stopped = debug.event("stopped")
        lines.append(debug.frames(stopped["threadId"])[0]["line"])
        debug.body(command, threadId=stopped["threadId"])
    assert lines == [5, 1, 2, 3, 5, 6, 7]
    assert debug.finish(cell)["status"] == "ok"


def test_variables_are_set(debug):
    code = """type point struct{ X, y int }
func move(p *point, by map[string]int, list []point) int {
    p.X += by["x"]
    return p.X + p.y + list[1].X
}
move(&point{1, 2}, map[string]int{"x": 10}, []point{{}, {5, 6}})"""
    debug.dump(code, 3)
    cell = debug.kc.execute(code)
    debug.event("stopped")
    frame = debug.frames()[0]["id"]
    found = debug.locals(frame)
    p = debug.variables(found["p"]["variablesReference"])
    assert (p["X"]["value"], p["y"]["value"], p["y"]["evaluateName"]) == ("1", "2", "p.y")
    debug.body("setVariable", variablesReference=found["p"]["variablesReference"], name="y", value="1000")
    debug.body("setVariable", variablesReference=found["by"]["variablesReference"], name='"x"', value="100")
    second = debug.variables(found["list"]["variablesReference"])["1"]
    set_ = debug.body("setVariable", variablesReference=second["variablesReference"], name="X", value="7 + p.X")
    assert set_["value"] == "8"
    for expression, want in [("p.X + list[1].X", "9"), ("len(by)", "1"), ("fmt.Sprint(*p)", '"{1 1000}"')]:
        assert debug.body("evaluate", expression=expression, frameId=frame, context="hover")["result"] == want
    assert not debug.ask("evaluate", expression="nothing", frameId=frame)["success"]
    debug.body("continue", threadId=1)
    debug.finish(cell)
    assert debug.client.run("1").value == "1"


def test_conditions_and_messages(debug):
    code = """sum := 0
for i := range 10 {
    sum += i
    sum += 0
}
sum"""
    debug.dump(
        code, {"line": 3, "condition": "i == 3"}, {"line": 4, "logMessage": "sum {sum}", "hitCondition": ">= 9"}
    )
    cell = debug.kc.execute(code)
    debug.event("stopped")
    assert debug.locals(debug.frames()[0]["id"])["i"]["value"] == "3"
    debug.body("continue", threadId=1)
    assert "sum 36" in debug.event("output")["output"]
    assert debug.finish(cell)["status"] == "ok"


def test_panics(debug):
    debug.body("setExceptionBreakpoints", filters=["panic"])
    cell = debug.kc.execute("func f(x int) int {\n    return 10 / x\n}\nf(0)")
    stopped = debug.event("stopped")
    assert stopped["reason"] == "exception"
    assert debug.frames()[0]["line"] == 2
    debug.body("continue", threadId=1)
    assert debug.finish(cell)["status"] == "error"


def test_pause_and_interrupt(debug):
    cell = debug.kc.execute("n, even := 0, 0\nfor {\n    n++\n    even = n / 2\n}")
    debug.body("pause", threadId=1)
    assert debug.event("stopped")["reason"] == "pause"
    first = int(debug.body("evaluate", expression="n")["result"])
    debug.body("next", threadId=1)
    assert debug.event("stopped")["reason"] == "step"
    assert first <= int(debug.body("evaluate", expression="n")["result"]) <= first + 1
    debug.client.manager.interrupt_kernel()
    assert debug.finish(cell)["ename"] == "Interrupted"
    assert debug.client.run("n >= 0").value == "true"


def test_goroutines_are_threads(debug):
    code = """done := make(chan int)
go func(x int) {
    done <- x
}(7)
<-done"""
    debug.dump(code, 3)
    cell = debug.kc.execute(code)
    stopped = debug.event("stopped")
    threads = debug.body("threads")["threads"]
    assert len(threads) == 2 and stopped["threadId"] in [t["id"] for t in threads]
    frames = debug.frames(stopped["threadId"])
    assert debug.locals(frames[0]["id"])["x"]["value"] == "7"
    assert debug.frames(1)[0]["line"] == 3  # JupyterLab asks for thread 1, whichever stopped
    debug.body("continue", threadId=stopped["threadId"])
    assert debug.finish(cell)["status"] == "ok"


def test_a_subshell_stops_beside_a_cell(debug):
    """Each cell is a thread; the one that runs beside goes on when both are continued."""
    kc = debug.kc
    kc.control_channel.send(kc.session.msg("create_subshell_request"))
    shell = kc.get_control_msg(timeout=PATIENCE)["content"]["subshell_id"]
    debug.finish(kc.execute("enough := false\nturns := 0"))
    main = kc.execute("for !enough {\n\tturns++\n}\nturns > 0")
    code = "beside := 6\nbeside *= 7\nenough = beside == 42"
    debug.dump(code, 3)
    msg = kc.session.msg("execute_request", {"code": code})
    msg["header"]["subshell_id"] = shell
    kc.shell_channel.send(msg)
    thread = debug.event("stopped")["threadId"]
    assert thread != 1
    names = {t["id"]: t["name"] for t in debug.body("threads")["threads"]}
    assert names[thread].startswith("In[") and "goroutine" not in names[thread], names
    frame = debug.frames(thread)[0]
    assert frame["line"] == 3
    assert debug.body("evaluate", expression="beside", frameId=frame["id"], context="watch")["result"] == "42"
    debug.ask("continue", threadId=thread)
    assert [reply["status"] for reply in debug.finish(msg["header"]["msg_id"], main)] == ["ok", "ok"]


def test_breakpoints_in_earlier_cells(detached):
    code = ADD.rsplit("\n", 1)[0]
    detached.client.run(code)
    detached.body("initialize", **INITIALIZE)
    detached.body("attach")
    detached.dump(code, 3)
    cell = detached.kc.execute("f(20, 22)")
    detached.event("stopped")
    assert [f["line"] for f in detached.frames()] == [3, 1]
    assert detached.locals(detached.frames()[0]["id"])["c"]["value"] == "42"
    detached.body("disconnect")  # lets it go on
    assert detached.finish(cell)["status"] == "ok"


def test_device_memory(debug):
    code = """d := must(cuda.Get(0))
b := must(d.Upload([]float32{1, 2, 3}))
s := must(d.NewStream())
s.Synchronize()"""
    debug.dump(code, 4)
    cell = debug.kc.execute(code)
    debug.event("stopped")
    found = debug.locals(debug.frames()[0]["id"])
    elements = debug.variables(found["b"]["variablesReference"])
    assert [elements[str(i)]["value"] for i in range(3)] == ["1", "2", "3"]
    assert debug.variables(found["s"]["variablesReference"])["state"]["value"] == '"idle"'
    debug.body("continue", threadId=1)
    debug.finish(cell)


def test_a_new_evaluator_is_debugged(debug):
    code = "x := 1\nx++"
    debug.dump(code, 2)
    debug.client.run("import \"syscall\"\nsyscall.Kill(syscall.Getpid(), syscall.SIGKILL)")
    cell = debug.kc.execute(code)
    assert debug.event("stopped")["reason"] == "breakpoint"
    debug.body("continue", threadId=1)
    assert debug.finish(cell)["status"] == "ok"


def test_ranks_are_threads(debug):
    """A breakpoint stops one of four ranks; the others wait for it where they need it."""
    code = """%%mpi
x := rank * 10
world.Barrier()
x++
x"""
    debug.dump(code, {"line": 3, "condition": "rank == 2"})
    debug.client.run("%mpi start -n 4 --launcher local")
    cell = debug.kc.execute(code)
    stopped = debug.event("stopped")
    assert stopped["reason"] == "breakpoint" and not stopped["allThreadsStopped"]
    names = {t["id"]: t["name"] for t in debug.body("threads")["threads"]}
    assert names[stopped["threadId"]].startswith("rank 2")
    assert debug.body("debugInfo")["stoppedThreads"] == [stopped["threadId"]]
    for thread in (stopped["threadId"], 1):
        frames = debug.frames(thread)
        assert frames[0]["line"] == 3 and "In[2]" in frames[0]["name"]
    frame = frames[0]["id"]
    assert debug.locals(frame)["x"]["value"] == "20"
    locals_ = debug.scope("Locals", frame)
    assert debug.body("setVariable", variablesReference=locals_, name="x", value="x + 500")["value"] == "520"
    assert debug.body("evaluate", expression="rank + x", frameId=frame)["result"] == "522"
    assert not debug.ask("stackTrace", threadId=stopped["threadId"] * 2)["success"]
    debug.body("next", threadId=stopped["threadId"])
    again = debug.event("stopped")
    assert again["threadId"] == stopped["threadId"] and debug.frames(1)[0]["line"] == 4
    debug.body("continue", threadId=1)
    assert debug.finish(cell)["status"] == "ok"
    assert debug.client.run("%%mpi\nx").value is not None


def test_a_rank_that_stands_still_is_interrupted(debug):
    debug.client.run("%mpi start -n 2 --launcher local")
    code = "%%mpi\ny := 1\nworld.Barrier()"
    debug.dump(code, {"line": 3, "condition": "rank == 1"})
    cell = debug.kc.execute(code)
    debug.event("stopped")
    debug.client.manager.interrupt_kernel()
    assert debug.finish(cell)["status"] == "error"
    debug.body("setBreakpoints", breakpoints=[], source={"path": debug.body("dumpCell", code=code)["sourcePath"]})
    assert debug.client.run(code).status == "ok"


def test_a_rank_that_the_system_has_stopped(debug):
    """It is named after a short wait; the other ranks are debugged, and it again when it goes on."""
    debug.client.run("%mpi start -n 3 --launcher local")
    pids = debug.client.run("%%mpi\nimport \"os\"\nfmt.Println(\"pid\", rank, os.Getpid())").text("stdout")
    pid = next(int(line.split()[-1]) for line in pids.splitlines() if line.split()[-2:-1] == ["1"])
    os.kill(pid, signal.SIGSTOP)
    try:
        names = [t["name"] for t in debug.body("threads")["threads"]]
        assert "rank 1 does not answer: its process stands still" in names, names
        code = "%%mpi\nz := rank\nz++"
        debug.dump(code, 3)
        assert "rank 1 does not answer" in debug.event("output")["output"]
        cell = debug.kc.execute(code)
        threads = {debug.event("stopped")["threadId"] for _ in range(2)}
        assert len(threads) == 2
        for thread in threads:
            frame = debug.frames(thread)[0]["id"]
            assert debug.body("evaluate", expression="z + 10*rank", frameId=frame)["result"] in ("0", "22")
        # Requests for the stopped one fail, those that run code too.
        other = next(t["id"] for t in debug.body("threads")["threads"] if t["name"].startswith("rank 1"))
        for ask in (lambda: debug.ask("stackTrace", threadId=other), lambda: debug.ask("variables", variablesReference=other)):
            failed = ask()
            assert not failed["success"] and "rank 1 does not answer" in failed["message"]
        for thread in threads:
            debug.body("continue", threadId=thread)
    finally:
        os.kill(pid, signal.SIGCONT)
    thread = debug.event("stopped")["threadId"]
    assert thread == other
    assert debug.body("evaluate", expression="z + 10*rank", frameId=debug.frames(thread)[0]["id"])["result"] == "11"
    debug.body("continue", threadId=thread)
    assert debug.finish(cell)["status"] == "ok"


def test_kernels_are_stepped(debug):
    """A kernel in Go that Emulate runs: its threads stop where a condition says."""
    kernel = """%%kernel
func twice(x float32) float32 {
    return 2 * x
}
func scale(x []float32) {
    i := gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X
    x[i] = twice(x[i])
    gpu.SyncThreads()
}"""
    debug.client.run(kernel)
    debug.dump(kernel, {"line": 7, "condition": "gpu.ThreadIdx.X == 3 && gpu.BlockIdx.X == 1"}, {"line": 8, "logMessage": "x[{i}] is {x[i]}"})
    code = "x := []float32{1, 2, 3, 4, 5, 6, 7, 8}\nscale.Emulate(cuda.Grid(2), cuda.Block(4), x)\nx"
    cell = debug.kc.execute(code)
    stopped = debug.event("stopped")
    frames = debug.frames(stopped["threadId"])
    assert [(f["name"], f["line"]) for f in frames] == [
        ("scale (In[1]) block (1,0,0), thread (3,0,0)", 7), ("In[2]", 2)]
    found = debug.locals(frames[0]["id"])
    assert found["i"]["value"] == "7" and found["gpu.BlockIdx"]["value"].startswith("gpu.Dim3{X: 1,")
    elements = debug.variables(found["x"]["variablesReference"])
    assert elements["7"]["value"] == "8" and elements["7"]["evaluateName"] == "x[7]"
    debug.body("setVariable", variablesReference=found["x"]["variablesReference"], name="7", value="x[0] + 100")
    lines = []
    for command in ["stepIn", "stepOut", "next"]:
        debug.body(command, threadId=stopped["threadId"])
        stopped = debug.event("stopped")
        frame = debug.frames(stopped["threadId"])[0]
        lines.append((frame["name"].split()[0], frame["line"]))
    assert lines == [("twice", 2), ("scale", 8), ("scale", 9)]
    debug.body("continue", threadId=stopped["threadId"])
    assert debug.finish(cell)["status"] == "ok"
    assert debug.client.run("x").value == "[]float32{2, 4, 6, 8, 10, 12, 14, 204}"


@pytest.mark.parametrize("magic", ["%%time", "%%check", "%%timeline"])
def test_go_below_a_magic(debug, magic):
    code = f"{magic}\nn := 1\nn++"
    line = code.count("\n") + 1
    debug.dump(code, line)
    cell = debug.kc.execute(code)
    debug.event("stopped")
    assert debug.frames()[0]["line"] == line
    assert debug.locals(debug.frames()[0]["id"])["n"]["value"] == "1"
    debug.body("continue", threadId=1)
    assert debug.finish(cell)["status"] == "ok"
