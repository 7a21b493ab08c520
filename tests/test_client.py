"""What a real Jupyter client sees when cells print, fail, hang and die."""

import os
import queue
import signal
import shutil
import subprocess
import sys
import time

import pytest
from client import PATIENCE, Client, Outcome
from jupyter_client.session import Session

needs_cxx = pytest.mark.skipif(
    not (shutil.which("g++") or shutil.which("clang++")),
    reason="%%cuda on simulated devices needs a C++ compiler",
)


def test_5000_lines_arrive_complete_and_in_order(client):
    outcome = client.run('for i := 0; i < 5000; i++ {\n\tfmt.Println("line", i)\n}')
    assert outcome.status == "ok", outcome.error
    assert outcome.text().splitlines() == [f"line {i}" for i in range(5000)]
    assert len(outcome.messages) < 1000, "lines are sent in batches"


def test_both_streams_and_displays_keep_their_order(client):
    outcome = client.run(
        'fmt.Println("one")\n'
        'fmt.Fprintln(os.Stderr, "two")\n'
        'display.Show(display.HTML("three"))\n'
        'fmt.Println("four")\n'
        '"five"'
    )
    seen = [
        m["content"].get("text", "").strip() or list(m["content"]["data"].values())[0].strip('"')
        for m in outcome.messages
    ]
    assert sorted(seen[:2]) == ["one", "two"], "two pipes: either may be read first"
    assert "three" in seen[2] or "three" in str(outcome.messages[2]["content"]["data"])
    assert seen[3] == "four"
    assert outcome.value == '"five"'


def test_state_is_kept_and_variables_can_change_their_type(client):
    client.value("x := 40\nfunc double(n int) int { return 2 * n }")
    assert client.value("double(x) + 1") == "81"
    client.value('x := "text"')
    assert client.value("x") == '"text"'


def test_interrupt_of_an_endless_loop_keeps_the_variables(client):
    client.value("kept := 42")
    times = [PATIENCE]
    while min(times) > 1 and len(times) < 20:  # a busy machine may take longer than the kernel
        msg_id = client.send("for {\n}")
        time.sleep(0.3)
        asked = time.monotonic()
        client.interrupt()
        outcome = client.finish(msg_id)
        times.append(time.monotonic() - asked)
        assert outcome.status == "error"
        assert "nterrupt" in outcome.error
    assert min(times) < 1, f"the user was promised a second: {times}"
    assert client.value("kept") == "42"


@pytest.mark.parametrize(
    "code",
    [
        "time.Sleep(time.Hour)",
        "<-make(chan int)",
        "select {}",
        "var m sync.Mutex\nm.Lock()\nm.Lock()",
        "input(\"never answered\")",
        "!sleep 3600",
    ],
)
def test_interrupt_of_what_blocks(client, code):
    client.value("kept := 42")
    outcome_id = client.send(code, allow_stdin=True)
    time.sleep(0.3)
    client.interrupt()
    outcome = client.finish(outcome_id)
    assert outcome.status == "error"
    assert client.value("kept") == "42"


@pytest.mark.parametrize(
    "code, word",
    [
        ('panic("on purpose")', "on purpose"),
        ('done := make(chan bool)\ngo func() {\n\tdefer close(done)\n\tpanic("in a goroutine")\n}()\n<-done\ntime.Sleep(time.Second)', "in a goroutine"),
        ("func f(n int) int { return f(n+1) + 1 }\nf(0)", "stack overflow"),
        ("os.Exit(3)", "3"),
        ('log.Fatal("fatal words")', "fatal words"),
        ("var p *struct{ X int }\nfmt.Println(p.X)", "nil pointer"),
        ("a := []int{1}\ni := 5\nfmt.Println(a[i])", "index out of range"),
        ("undefinedName + 1", "undefinedName"),
        ('x := 1 +', "expected"),
        ('os.Open("/no/such/file")', "no such file"),
    ],
)
def test_failures_are_errors_and_keep_the_state(client, code, word):
    client.value("kept := 42")
    pid = client.value("os.Getpid()")
    outcome = client.run(code)
    assert outcome.status == "error"
    assert word in outcome.error + outcome.text("stderr")
    assert len(outcome.of("error")) == 1
    assert outcome.reply["content"]["ename"] == outcome.of("error")[0]["ename"]
    assert client.value("kept") == "42"
    assert client.value("os.Getpid()") == pid, "the evaluator was replaced"


def test_errors_name_the_cells_line(client):
    outcome = client.run("x := 1\ny := 2\nx.bad(y)")
    assert "3" in outcome.error and "bad" in outcome.error


def lost(client, outcome):
    """The evaluator died: the cell says so, and the next one works."""
    assert outcome.status == "error"
    assert len(outcome.of("error")) == 1
    assert client.value("1 + 1") == "2"
    assert client.run("kept").status == "error", "the variables are gone"
    return outcome.error


LAUNCH = (
    "d := must(cuda.Devices())[0]\np := must(d.Alloc(1, cuda.Int32))\ns := must(d.NewStream())\n"
    "deep.Launch(cuda.Grid(1), cuda.Block(1), s, p)\ns.Synchronize()"
)


@needs_cxx
def test_endless_recursion_in_a_simulated_kernel_is_an_error_of_cuda(client):
    client.value("kept := 42")
    outcome = client.run(
        "%%cuda\n"
        "__device__ int down(int n) { volatile int a[1000]; a[n % 1000] = n; return down(n + 1) + a[(n + 1) % 1000]; }\n"
        "__global__ void deep(int *p) { p[0] = down(1); }\n"
    )
    assert outcome.status == "ok", outcome.error
    outcome = client.run(LAUNCH)
    assert outcome.status == "error" and "stack" in outcome.error.lower(), outcome.error
    assert client.value("kept") == "42"


@needs_cxx
def test_a_segmentation_fault_in_c_costs_the_variables_only():
    # On simulated devices a kernel is C++ in this machine's process; what NVRTC compiles
    # cannot name functions of the process.
    with Client(env=dict(os.environ, GOCUDA_SIM_CUDA="c++")) as client:
        client.value("kept := 42")
        outcome = client.run(
            "%%cuda\n"
            'extern "C" int raise(int);\n'
            "__global__ void deep(int *p) { p[0] = raise(11); }\n"
        )
        assert outcome.status == "ok", outcome.error
        assert "segmentation" in lost(client, client.run(LAUNCH)).lower()


def test_kill_9_costs_the_variables_only(client):
    client.value("kept := 42")
    pid = int(client.value("os.Getpid()"))
    killed = []

    def when_it_runs(msg):
        if msg["msg_type"] == "stream" and not killed:
            killed.append(os.kill(pid, signal.SIGKILL))

    msg_id = client.send('fmt.Println("runs")\ntime.Sleep(time.Hour)')
    outcome = client.finish(msg_id, until=when_it_runs)
    assert "kill" in lost(client, outcome).lower()


def test_kill_9_between_cells_is_told(client):
    client.value("kept := 42")
    os.kill(int(client.value("os.Getpid()")), signal.SIGKILL)
    time.sleep(0.5)
    outcome = client.run("1 + 1")
    told = outcome.error + outcome.text("stderr")
    assert "variables" in told.lower()
    assert client.value("2 + 2") == "4"


def test_a_failing_cell_stops_the_queued_ones(client, tmp_path):
    gate = tmp_path / "gate"
    ids = [
        client.send(f'for {{\n\tif _, err := os.Stat("{gate}"); err == nil {{\n\t\tbreak\n\t}}\n\ttime.Sleep(time.Millisecond)\n}}\npanic("first")'),
        client.send("second := 2"),
        client.send("third := 3"),
    ]
    client.reply(client.kc.kernel_info())  # answered beside the cell: what was sent before has come
    gate.touch()
    replies = [client.reply(i)["content"]["status"] for i in ids]
    assert replies == ["error", "error", "error"]
    assert client.run("second").status == "error"
    assert client.value("4") == "4"


def test_dates_without_fractions_abort_nothing(client):
    """Some clients write dates in whole seconds."""
    from datetime import datetime, timezone

    for _ in range(10):
        for code, status in ("misspelt", "error"), ("4", "ok"):
            msg = client.kc.session.msg("execute_request", {"code": code})
            msg["header"]["date"] = datetime.now(timezone.utc).replace(microsecond=0)
            client.kc.shell_channel.send(msg)
            assert client.reply(msg["header"]["msg_id"])["content"]["status"] == status


def test_stop_on_error_false_goes_on(client):
    ids = [
        client.send('time.Sleep(300 * time.Millisecond)\npanic("first")', stop_on_error=False),
        client.send("second := 2"),
    ]
    assert [client.reply(i)["content"]["status"] for i in ids] == ["error", "ok"]


def test_a_wrong_signature_is_never_executed(client):
    client.value("hits := 0")
    right = client.kc.session
    forged = Session(key=b"not the key", username="stranger")
    for session in (forged, Session(key=b"")):
        msg = session.msg("execute_request", content=dict(
            code="hits++", silent=False, store_history=True, user_expressions={},
            allow_stdin=False, stop_on_error=True))
        session.send(client.kc.shell_channel.socket, msg)
    client.kc.shell_channel.socket.send_multipart([b"<IDS|MSG>", b"nonsense"])
    client.kc.shell_channel.socket.send(b"")
    assert client.kc.session is right
    assert client.value("hits") == "0"
    with pytest.raises(queue.Empty):
        client.kc.get_shell_msg(timeout=0.2)


def test_a_cell_asks_for_input(client):
    asked = []

    def answer(request):
        asked.append((request["prompt"], request["password"]))
        return "Ada"

    outcome = client.run(
        'name := input("Name? ")\nsecret := password("Secret? ")\nfmt.Println(name, secret)',
        answer=answer, allow_stdin=True,
    )
    assert outcome.status == "ok", outcome.error
    assert asked == [("Name? ", False), ("Secret? ", True)]
    assert outcome.text() == "Ada Ada\n"
    assert client.run('input("Name? ")', allow_stdin=False).status == "error"


def test_standard_input_asks_for_input(client):
    """What was printed of the line is the prompt, and is not printed a second time."""
    asked = []

    def answer(request):
        asked.append(request["prompt"])
        return "Ada"

    outcome = client.run(
        'var name string\nfmt.Print("two\\nNáme? ")\nfmt.Scanln(&name)\nfmt.Println("hi", name)',
        answer=answer, allow_stdin=True,
    )
    assert outcome.status == "ok", outcome.error
    assert outcome.text() == "two\nhi Ada\n"
    outcome = client.run('fmt.Println("one")\nfmt.Scanln(&name)\nfmt.Print("end")', answer=answer, allow_stdin=True)
    assert outcome.text() == "one\nend"
    assert asked == ["Náme? ", ""]
    # What nobody asks, is printed.
    outcome = client.run('fmt.Print("Name? ")\n_, err := fmt.Scanln(&name)\nfmt.Println(err)', allow_stdin=False)
    assert "does not take input" in outcome.error + outcome.text() and outcome.text().startswith("Name? ")
    outcome = client.run('fmt.Print("half ")\ntime.Sleep(time.Second)\nfmt.Print("a line")')
    assert outcome.text() == "half a line"


def test_a_display_is_updated_in_later_cells(client):
    first = client.run('display.ShowAs("bar", "one")')
    shown = first.of("display_data")[0]
    assert shown["transient"]["display_id"] == "bar"
    second = client.run('display.Update("bar", "two")')
    update = second.of("update_display_data")[0]
    assert update["transient"]["display_id"] == "bar"
    assert "two" in update["data"]["text/plain"]


def test_user_expressions(client):
    outcome = client.run("n := 20", user_expressions={"twice": "2 * n", "bad": "nope"})
    expressions = outcome.reply["content"]["user_expressions"]
    assert expressions["twice"]["status"] == "ok"
    assert expressions["twice"]["data"]["text/plain"] == "40"
    assert expressions["bad"]["status"] == "error"


def test_silent_cells_show_nothing(client):
    outcome = client.run("1 + 1", silent=True)
    assert outcome.status == "ok" and not outcome.of("execute_result")


def test_a_background_goroutine_goes_on(client):
    client.value(
        "count := make(chan int, 100)\n"
        "go func() {\n\tfor i := range 3 {\n\t\tcount <- i\n\t}\n\tclose(count)\n}()"
    )
    assert client.value("sum := 0\nfor c := range count {\n\tsum += c\n}\nsum") == "3"


@needs_cxx
def test_what_c_code_prints_is_seen(client):
    outcome = client.run(
        '%%cuda\n__global__ void hello() { printf("hello from thread %d\\n", (int)threadIdx.x); }'
    )
    assert outcome.status == "ok", outcome.error
    outcome = client.run(
        "d := must(cuda.Devices())[0]\ns := must(d.NewStream())\n"
        "hello.Launch(cuda.Grid(1), cuda.Block(3), s)\ns.Synchronize()"
    )
    assert outcome.status == "ok", outcome.error
    assert sorted(outcome.text().splitlines()) == [f"hello from thread {i}" for i in range(3)]


def test_cuda_errors_keep_their_names(client):
    outcome = client.run("must(cuda.Devices())[0].Alloc(1<<50, cuda.Float32)")
    assert outcome.of("error")[0]["ename"] == "CUDA_ERROR_OUT_OF_MEMORY", outcome.error


def test_what_child_processes_print_is_seen(client):
    assert client.run("!echo from a shell").text() == "from a shell\n"
    outcome = client.run(
        'c := exec.Command("sh", "-c", "echo out; echo err >&2")\n'
        "c.Stdout, c.Stderr = os.Stdout, os.Stderr\nc.Run()"
    )
    assert (outcome.text(), outcome.text("stderr")) == ("out\n", "err\n")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_shutdown_leaves_no_process():
    with Client() as c:
        pid = int(c.value("os.Getpid()"))
        assert c.run("!sleep 1000 & echo $!").status == "ok"
    end = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive(pid)


def test_a_killed_kernel_leaves_no_evaluator():
    with Client() as c:
        pid = int(c.value("os.Getpid()"))
        c.manager.provisioner.process.send_signal(signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while alive(pid) and time.monotonic() < end:
            time.sleep(0.1)
        assert not alive(pid)


def test_restart_gives_a_fresh_kernel(client):
    client.value("x := 1")
    client.manager.restart_kernel()
    client.kc.wait_for_ready(timeout=60)
    assert client.run("x").status == "error"
    assert client.value("1 + 1") == "2"


def test_history_is_kept_across_sessions():
    with Client() as c:
        c.value("marker := 4711")
    with Client() as c:
        msg_id = c.kc.history(hist_access_type="search", pattern="marker*", raw=True, output=False)
        assert [h[2] for h in c.reply(msg_id)["content"]["history"]] == ["marker := 4711"]


def test_a_slider_moves_while_a_cell_computes(client):
    """The cell ends because the slider was moved, and completion answers meanwhile."""
    made = client.run('s := widgets.IntSlider()\nloops := 0\ns')
    slider = made.of("execute_result")[0]["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
    kc = client.kc
    cell = kc.execute('fmt.Println("begins")\nfor s.Int() < 42 {\n\tloops++\n}\nfmt.Println("saw", s.Int())')
    seen = []

    def until(found):
        seen.append(kc.get_iopub_msg(timeout=PATIENCE))
        while not found(seen[-1]):
            seen.append(kc.get_iopub_msg(timeout=PATIENCE))

    until(lambda m: m["content"].get("text") == "begins\n")
    for value in [10, 42]:
        move = kc.session.msg("comm_msg", {"comm_id": slider, "data": {"method": "update", "state": {"value": value}, "buffer_paths": []}})
        kc.shell_channel.send(move)
        until(lambda m: m["msg_type"] == "comm_msg" and m["content"]["data"]["method"] == "echo_update")
        assert seen[-1]["parent_header"]["msg_id"] == move["header"]["msg_id"]
        if value == 10:
            asked = kc.complete("fmt.Printl", 10)
            reply = kc.get_shell_msg(timeout=PATIENCE)
            assert reply["parent_header"]["msg_id"] == asked and reply["content"]["matches"]
    until(lambda m: m["content"].get("execution_state") == "idle" and m["parent_header"]["msg_id"] == cell)
    assert "saw 42\n" in [m["content"].get("text") for m in seen]
    assert kc.get_shell_msg(timeout=PATIENCE)["content"]["status"] == "ok"


def test_a_cell_waits_for_a_click(client):
    made = client.run('clicked := make(chan string)\nb := widgets.Button()\nb.OnClick(func() { clicked <- "a click" })\nb')
    button = made.of("execute_result")[0]["data"]["application/vnd.jupyter.widget-view+json"]["model_id"]
    cell = client.send('fmt.Println("waits")\n<-clicked')

    def click(msg):
        if msg["content"].get("text") == "waits\n":
            time.sleep(0.8)  # a cell that waits for what cannot come fails by then
            client.kc.shell_channel.send(client.kc.session.msg(
                "comm_msg", {"comm_id": button, "data": {"method": "custom", "content": {"event": "click"}}}))

    outcome = Outcome(reply={})
    while not outcome.messages or outcome.messages[-1]["msg_type"] != "execute_result":
        msg = client.kc.get_iopub_msg(timeout=PATIENCE)
        if msg["parent_header"].get("msg_id") == cell:
            outcome.messages.append(msg)
            assert msg["msg_type"] != "error", msg["content"]
            click(msg)
    assert outcome.value == '"a click"'


def test_arguments_after_the_connection_file_are_the_programs():
    with Client(extra_arguments=["file.go", "--size=3", "-h"]) as c:
        assert c.value("os.Args[1:]") == '[]string{"file.go", "--size=3", "-h"}'
        assert c.value('size := flag.Int("size", 1, "")\nflag.CommandLine.Parse(os.Args[2:3])\n*size') == "3"


def test_jupyter_run(tmp_path):
    """It hands the names of the files on to the kernel."""
    program = tmp_path / "program.go"
    program.write_text('package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("runs", 6*7) }\n')
    done = subprocess.run([sys.executable, "-m", "jupyter", "run", "--kernel=gocuda", str(program)],
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and "runs 42" in done.stdout, done.stderr


def test_the_last_line_of_a_traceback_is_the_message(client):
    """Summaries of tests and of CI show that line."""
    for code, name in [("x := 1\nx.bad()", "CompileError"), ('func f() { panic("no more") }\nf()', "Panic"),
                       ("os.Open(`/no/such`)", "Error"), ("syscall.Kill(os.Getpid(), 9)\nselect {}", "EvaluatorDied")]:
        error = client.run(code).of("error")[0]
        assert error["ename"] == name
        assert error["evalue"] in error["traceback"][-1].splitlines()[-1], error


def test_a_shutdown_promises_no_new_evaluator():
    with Client() as c:
        msg_id = c.send('fmt.Println("runs")\nselect {}\n')
        # The shutdown goes another way than the cell, and must not come before it.
        while c.kc.get_iopub_msg(timeout=PATIENCE)["content"].get("text") != "runs\n":
            pass
        c.kc.shutdown()
        error = c.reply(msg_id)["content"]
        assert error["status"] == "error" and "new evaluator" not in "".join(error["traceback"])
