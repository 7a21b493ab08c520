"""Subshells (Jupyter's enhancement proposal 91): ipykernel's tests of them, in Go,
and what this kernel promises besides. The clock decides nothing here: cells wait for
one another."""

from collections import Counter

import pytest

from client import PATIENCE, Client

PAIRS = [(False, True), (True, False), (True, True)]


@pytest.fixture(scope="module")
def shells():
    with Client() as c:
        yield Shells(c)


class Shells:
    def __init__(self, client):
        self.client, self.kc = client, client.kc
        self.told, self.replies = {}, {}

    def control(self, kind, content=None, shell=None):
        msg = self.kc.session.msg(kind, content or {})
        if shell:
            msg["header"]["subshell_id"] = shell
        self.kc.control_channel.send(msg)
        while True:
            reply = self.kc.get_control_msg(timeout=PATIENCE)
            if reply["parent_header"]["msg_id"] == msg["header"]["msg_id"]:
                return reply

    def create(self):
        return self.control("create_subshell_request")["content"]["subshell_id"]

    def delete(self, *shells):
        for shell in shells:
            if shell:
                content = self.control("delete_subshell_request", {"subshell_id": shell})["content"]
                assert content["status"] == "ok"

    def list(self):
        return self.control("list_subshell_request")["content"]["subshell_id"]

    def ask(self, kind, content, shell=None):
        """Sends a request, and returns its id."""
        msg = self.kc.session.msg(kind, content)
        msg["header"]["subshell_id"] = shell
        self.kc.shell_channel.send(msg)
        return msg["header"]["msg_id"]

    def send(self, code, shell=None):
        return self.ask("execute_request", {"code": code, "silent": False, "store_history": True, "allow_stdin": True}, shell)

    def listen(self):
        """Keeps one more message, by what it answers."""
        msg = self.kc.get_iopub_msg(timeout=PATIENCE)
        told = self.told.setdefault(msg["parent_header"].get("msg_id"), [])
        told.append(msg)
        return msg

    def finish(self, *ids):
        """The replies of cells, and what was published in the name of each."""

        def idle(i):
            return any(m["content"].get("execution_state") == "idle" for m in self.told.get(i, []))

        while not all(idle(i) for i in ids):
            self.listen()
        while not all(i in self.replies for i in ids):
            msg = self.kc.get_shell_msg(timeout=PATIENCE)
            self.replies[msg["parent_header"]["msg_id"]] = msg
        return [(self.replies[i], self.told[i]) for i in ids]

    def run(self, code, shell=None):
        """What a cell that succeeds prints."""
        [(reply, told)] = self.finish(self.send(code, shell))
        assert reply["content"]["status"] == "ok", reply
        assert reply["parent_header"]["subshell_id"] == shell
        return text(told)

    def until_printed(self, *ids):
        """Waits until cells have printed something."""
        while not all(text(self.told.get(i, [])) for i in ids):
            self.listen()


def text(told, *names):
    """What was printed: by all streams, or by those of some names."""
    return "".join(m["content"]["text"] for m in told if m["msg_type"] == "stream" and (not names or m["content"]["name"] in names))


# ipykernel's tests.


def test_no_subshells(shells):
    shells.run("a := 2*3")
    assert shells.run("fmt.Println(a)") == "6\n"


def test_supported(shells):
    msg_id = shells.kc.kernel_info()
    content = shells.client.reply(msg_id)["content"]
    assert "kernel subshells" in content["supported_features"]


def test_subshell_id_lifetime(shells):
    assert shells.list() == []
    shell = shells.create()
    assert shells.list() == [shell]
    shells.delete(shell)
    assert shells.list() == []


def test_goroutine_counts(shells):
    """ipykernel counts threads: a subshell has what it needs while it has cells only."""
    before = shells.run('import "runtime"\nfmt.Println(runtime.NumGoroutine())')
    shell = shells.create()
    shells.run("1", shell)
    shells.delete(shell)
    assert int(shells.run("fmt.Println(runtime.NumGoroutine())")) <= int(before) + 2


def test_shells_share_names(shells):
    """ipykernel compares threads; what a user sees of it is that names are shared."""
    shell = shells.create()
    shells.run("type Shared struct{ N int }\nfunc (s Shared) Twice() int { return 2 * s.N }\nshared := Shared{4}", shell)
    assert shells.run("fmt.Println(shared.Twice())") == "8\n"
    shells.run("shared.N = 5")
    assert shells.run("fmt.Println(shared.Twice())", shell) == "10\n"
    shells.delete(shell)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("overlap", [True, False])
def test_run_concurrently_sequence(shells, pair, overlap):
    ids = [shells.create() if is_subshell else None for is_subshell in pair]
    shells.run("began, ended, go1 := make(chan bool), make(chan bool), make(chan bool, 1)")
    if overlap:
        codes = ["began <- true\n<-go1\nended <- true", "<-began\ngo1 <- true\n<-ended"]
    else:
        codes = ["began <- true\n<-ended", "<-began\nend1 := true\nended <- end1"]
    cells = [shells.send(code, shell) for code, shell in zip(codes, ids)]
    for reply, _ in shells.finish(*cells):
        assert reply["content"]["status"] == "ok", reply
    shells.delete(*ids)


def test_create_while_execute(shells):
    shells.run("hold := make(chan bool)")
    cell = shells.send("fmt.Println(`holds`)\n<-hold")
    shells.until_printed(cell)
    shell = shells.create()
    shells.run("hold <- true", shell)
    [(reply, _)] = shells.finish(cell)
    assert reply["content"]["status"] == "ok"
    shells.delete(shell)


def test_shutdown_with_subshell():
    with Client() as c:
        shells = Shells(c)
        shell = shells.create()
        assert shells.list() == [shell]
        shells.until_printed(shells.send("fmt.Println(`runs`)\nfor {}", shell))
        c.kc.shutdown()
        c.manager.provisioner.process.wait(timeout=PATIENCE)


@pytest.mark.parametrize("pair", PAIRS)
def test_execute_stop_on_error(shells, pair):
    ids = [shells.create() if is_subshell else None for is_subshell in pair]
    shells.run("fail, other := make(chan bool), make(chan bool)")
    first = [shells.send(code, ids[0]) for code in ["<-fail\npanic(1)", "fmt.Println(`hello`)", "fmt.Println(`goodbye`)"]]
    second = [shells.send(code, ids[1]) for code in ["fail <- true", "fmt.Println(`other`)"]]
    replies = shells.finish(*first, *second)
    for i, (reply, told) in enumerate(replies):
        assert reply["parent_header"]["subshell_id"] == ids[i > 2]
        assert reply["content"]["status"] == ("error" if i < 3 else "ok"), (i, reply)
        assert text(told, "stdout") == ("other\n" if i == 4 else "")  # standard error may say what a cell waits for
    assert [r["content"]["ename"] for r, _ in replies[1:3]] == ["Aborted", "Aborted"]
    assert shells.run("fmt.Println(`check`)", ids[0]) == "check\n"
    shells.delete(*ids)


@pytest.mark.parametrize("pair", PAIRS)
def test_idle_message_parent_headers(shells, pair):
    ids = [shells.create() if is_subshell else None for is_subshell in pair]
    shells.run("meet := make(chan bool)")
    cells = [shells.send(code, shell) for code, shell in zip(["meet <- true", "<-meet"], ids)]
    statuses = [m for _, told in shells.finish(*cells) for m in told if m["msg_type"] == "status"]
    assert Counter(m["content"]["execution_state"] for m in statuses) == {"busy": 2, "idle": 2}
    assert Counter(m["parent_header"]["msg_id"] for m in statuses) == {i: 2 for i in cells}
    assert Counter(m["parent_header"].get("subshell_id") for m in statuses) == {i: 2 for i in ids}
    shells.delete(*ids)


def test_delete_non_existent(shells):
    assert shells.control("delete_subshell_request", {"subshell_id": "none"})["content"]["status"] == "error"


# What this kernel promises besides.


def test_each_cell_has_its_own_outputs(shells):
    """Text of goroutines, of standard error and of commands, values, displays, errors."""
    ids = [shells.create() for _ in range(3)]
    code = """done := make(chan bool)
go func() { fmt.Println("goroutine of NAME"); done <- true }()
<-done
fmt.Fprintln(os.Stderr, "error of NAME")
!echo command of NAME
display.HTML("<b>NAME</b>")
"value of NAME\""""
    def cell(name):
        return code.replace("done", "done" + name).replace("NAME", name)
    for _ in range(5):
        cells = [shells.send(cell(f"s{i}"), shell) for i, shell in enumerate([None, *ids])]
        for i, (reply, told) in enumerate(shells.finish(*cells)):
            assert reply["content"]["status"] == "ok", reply
            assert text(told, "stdout") == f"goroutine of s{i}\ncommand of s{i}\n"
            assert f"error of s{i}\n" in text(told, "stderr")
            [value] = [m["content"] for m in told if m["msg_type"] == "execute_result"]
            assert value["data"]["text/plain"] == f'"value of s{i}"'
    shells.delete(*ids)


def test_interrupt_hits_its_own_subshell(shells):
    ids = [shells.create() for _ in range(2)]
    loop = "fmt.Println(`loops`)\nfor {}"
    main, a, b = shells.send(loop), shells.send(loop, ids[0]), shells.send(loop, ids[1])
    shells.until_printed(main, a, b)
    for cell, shell in ((b, ids[1]), (main, None), (a, ids[0])):
        shells.control("interrupt_request", shell=shell)
        [(reply, told)] = shells.finish(cell)
        assert reply["content"]["ename"] == "Interrupted" and text(told) == "loops\n"
        assert [m["content"]["ename"] for m in told if m["msg_type"] == "error"] == ["Interrupted"]
    shells.delete(*ids)


def test_what_is_typed_is_answered_by_a_subshell(shells):
    shell = shells.create()
    shells.run("hold = make(chan bool)")
    cell = shells.send("fmt.Println(`holds`)\n<-hold")
    shells.until_printed(cell)
    for kind, content, key in [
        ("complete_request", {"code": "fmt.Printl", "cursor_pos": 10}, "matches"),
        ("inspect_request", {"code": "fmt.Println", "cursor_pos": 11, "detail_level": 0}, "data"),
        ("is_complete_request", {"code": "for {"}, "indent"),
    ]:
        reply = shells.client.reply(shells.ask(kind, content, shell))
        assert reply["content"][key], reply
    shells.run("hold <- true", shell)
    shells.finish(cell)
    shells.delete(shell)


def test_execution_counts_are_shared(shells):
    shell = shells.create()
    counts = []
    for where in (None, shell, None, shell):
        [(reply, _)] = shells.finish(shells.send("1", where))
        counts.append(reply["content"]["execution_count"])
    assert counts == list(range(counts[0], counts[0] + 4))
    shells.delete(shell)


def test_a_subshell_cannot_ask(shells):
    shell = shells.create()
    [(reply, _)] = shells.finish(shells.send('input("name?")', shell))
    assert "subshell" in reply["content"]["evalue"]
    [(reply, _)] = shells.finish(shells.send("%reset -f", shell))
    assert reply["content"]["status"] == "error"
    assert shells.run("fmt.Println(a)") == "6\n"
    shells.delete(shell)


def test_the_evaluator_dies_under_two_cells(shells):
    shell = shells.create()
    cell = shells.send("fmt.Println(`loops`)\nfor {}")
    shells.until_printed(cell)
    other = shells.send('import "syscall"\nsyscall.Kill(syscall.Getpid(), syscall.SIGKILL)\nselect {}', shell)
    for reply, _ in shells.finish(cell, other):
        assert reply["content"]["status"] == "error"
    assert shells.run("fmt.Println(`again`)", shell) == "again\n"
    shells.delete(shell)
