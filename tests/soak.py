"""Two clients and a slow subscriber use one kernel for hours: CUDA on simulated
devices, MPI, displays, errors, interrupts, kills of the evaluator and of ranks.

    .venv/bin/python tests/soak.py --minutes 120
    GOCUDA_SIM_SCHEDULE=adversarial .venv/bin/python tests/soak.py

It counts replies that never came, wrong values, processes and segments that
were left, and compares the memory of all processes with the first minute's.
The exit status is 1 if any of that is not as it must be."""

import argparse
import collections
import os
import pathlib
import queue
import random
import signal
import sys
import tempfile
import threading
import time
import uuid

import psutil
import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager

PATIENCE = 120  # seconds until a reply counts as lost
GROWTH = 200  # megabytes that memory may grow beyond the first minute's

# What may befall any cell, since others' kills end its evaluator or ranks.
EXPECTED = {"EvaluatorDied", "Aborted", "RankLost", "RanksLost", "CompileError", "Interrupted", "MPIError"}

# Cells of client C, with the value that they have if they succeed, or None, and
# the errors that they are for.
CELLS = [
    ("1 + 1", "2", ""),
    ('for i := range 1000 { fmt.Println("C", i) }', None, ""),
    ("misspelt_C", None, "CompileError"),
    ('panic("C on purpose")', None, "panic"),
    ("zero_C := 0\n1 / zero_C", None, "panic"),
    ("func fC(n int) int { if n < 2 { return n }; return fC(n-1) + fC(n-2) }\nfC(15)", "610", ""),
    ("type tC struct{ A int; B []string }\ntC{1, nil}.A", "1", ""),
    ('display.Show(display.HTML("<b>C</b>"))\ndisplay.Show(display.Markdown("*C*"))', None, ""),
    ("display.SVG(`<svg width='9' height='9'>` + strings.Repeat(`<g/>`, 20000) + `</svg>`)", None, ""),
    ("xs_C := []float64{1, 2, 3}\nplot.Line{X: xs_C, Y: xs_C}", None, ""),
    ("%time 1 + 1", None, ""),
    ("!echo C", None, ""),
    ("!sleep 3000 & (sleep 3000 &) ; setsid true", None, ""),
    ('exec.Command("sh", "-c", "sleep 3000 & wait").Start()', None, ""),
    ("go func() { for range 50 { time.Sleep(10 * time.Millisecond); fmt.Println(`later C`) } }()", None, ""),
    (
        "%%cuda\n__global__ void scaleC(float *x, float a, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) x[i] *= a;\n}",
        None,
        "",
    ),
    (
        "dC := must(cuda.Get(rand.IntN(4)))\nsC := must(dC.NewStream())\n"
        "bC := must(dC.Upload([]float32{1, 2, 3, 4}))\n"
        "must0 := scaleC.Launch(cuda.GridFor(4, 64), cuda.Block(64), sC, bC, float32(3), 4)\n_ = must0\n"
        "sC.Synchronize()\nbC.Float32s()[3]",
        "12",
        "",
    ),
    ("must(must(cuda.Get(1)).Alloc(1<<28, cuda.Float32)).Bytes()", None, ""),
    (
        "aC := must(must(cuda.Get(0)).Upload([]int32{1, 2, 3}))\neC := must(must(cuda.Get(1)).Alloc(3, cuda.Int32))\n"
        "cuda.MemcpyPeer(eC, aC)\neC.Int32s()[2]",
        "3",
        "",
    ),
    ("scaleC.Launch(cuda.GridFor(64, 64), cuda.Block(64), must(cuda.Get(0)).DefaultStream(), "
     "must(must(cuda.Get(0)).Alloc(1, cuda.Float32)), float32(1), 64)\nmust(cuda.Get(0)).DefaultStream().Synchronize()",
     None, "cuda"),
    ("must(cuda.Get(0)).Reset()", None, ""),
    ("%mpi start -n 2", None, "mpi"),
    ("%mpi start -n 2", None, "mpi"),
    ("%%mpi\nvC := []int32{int32(rank) + 1}\nworld.Allreduce(mpi.InPlace, vC, mpi.Sum)\nvC[0]", "[0-1] 3", "mpi"),
    ("%%mpi\nvC := []int32{int32(rank) + 1}\nworld.Allreduce(mpi.InPlace, vC, mpi.Sum)\nvC[0]", "[0-1] 3", "mpi"),
    ('%%mpi\nif rank == 1 { panic("C in a rank") }\nworld.Barrier()', None, "mpi"),
    ("%%mpi\n!sleep 3000 &", None, "mpi"),
    ("%mpi stop", None, "mpi"),
    ("%reset", None, ""),
]
ENDLESS = ["for {}", "time.Sleep(time.Hour)", "select {}", "%%bash\nsleep 1000", "!sleep 1000"]


class Soak:
    def __init__(self, binary, minutes, pause, seed):
        self.end = time.monotonic() + 60 * minutes
        self.pause, self.random = pause, random.Random(seed)
        self.marker = uuid.uuid4().hex
        self.home = tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True)
        home = pathlib.Path(self.home.name)
        (home / "tmp").mkdir()
        self.shm = set(os.listdir("/dev/shm"))
        environment = dict(
            os.environ, GOCUDA_SOAK=self.marker, TMPDIR=str(home / "tmp"), GOCUDA_BACKEND="sim",
            GOCUDA_HISTORY=str(home / "history.jsonl"), GOCUDA_CACHE=str(home / "cache"),
        )
        environment.pop("PYTHONPATH", None)
        self.manager = KernelManager(connection_file=str(home / "kernel.json"))
        self.manager._kernel_spec = KernelSpec(
            argv=[binary, "serve", "{connection_file}"], language="go", display_name="soak", interrupt_mode="message"
        )
        self.manager.start_kernel(env=environment, cwd=str(home))
        self.kernel = psutil.Process(self.manager.provisioner.pid)
        self.count = collections.Counter()
        self.errors = collections.Counter()
        self.troubles = []
        self.samples = []  # seconds, megabytes by role
        self.lock = threading.Lock()
        self.stop = threading.Event()

    def trouble(self, text):
        with self.lock:
            self.troubles.append(f"{time.strftime('%H:%M:%S')} {text}")
        print("TROUBLE", text, flush=True)

    def processes(self):
        """All that the kernel and its cells have started, and that still runs."""
        found = []
        for p in psutil.process_iter():
            try:
                if p.environ().get("GOCUDA_SOAK") == self.marker and p.status() != psutil.STATUS_ZOMBIE:
                    found.append(p)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                pass
        return found

    def evaluator(self):
        for p in self.kernel.children():
            if p.cmdline()[1:] == ["evaluate"]:
                return p
        return None

    def client(self, name):
        """A client's life: one cell after the other, and now and then several at once."""
        kc = BlockingKernelClient(connection_file=self.manager.connection_file)
        kc.load_connection_file()  # the manager's own clients would share one session
        kc.start_channels()
        kc.wait_for_ready(timeout=PATIENCE)
        chance = random.Random(f"{name}{self.random.random()}")
        while time.monotonic() < self.end and not self.stop.is_set():
            try:
                self.turn(kc, name, chance)
            except psutil.NoSuchProcess:
                pass
            except Exception as e:  # the other client goes on
                self.trouble(f"{name}: {type(e).__name__}: {e}")
            time.sleep(chance.random() * 2 * self.pause)
        kc.stop_channels()

    def turn(self, kc, name, chance):
        dice = chance.random()
        if dice < 0.06:
            self.interrupted(kc, name, chance)
        elif dice < 0.075:
            self.killed(kc, name, chance)
        elif dice < 0.12:
            self.questions(kc, name)
        else:
            picked = [chance.choice(CELLS) for _ in range(chance.choice([1, 1, 1, 1, 4]))]
            ids = [kc.execute(code.replace("C", name), allow_stdin=False) for code, _, _ in picked]
            for i, (code, value, for_error) in zip(ids, picked):
                self.finish(kc, name, i, code, value, for_error)

    def reply(self, kc, name, msg_id, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                m = kc.get_shell_msg(timeout=max(0.1, end - time.monotonic()))
            except queue.Empty:
                break
            if m["parent_header"].get("msg_id") == msg_id:
                self.count["replies"] += 1
                return m["content"]
        self.count["lost"] += 1
        self.trouble(f"{name}: no reply in {PATIENCE} s to {what!r}; {self.state()}")
        return None

    def state(self):
        """What the processes are at, for one who looks for the cause."""
        said = []
        for p in self.processes():
            try:
                line = p.cmdline()
                if line[0] != "sleep":
                    said.append(f"{p.pid} {' '.join(line)[:60]} {p.status()} {p.num_threads()} threads {p.cpu_percent(0.1)}%")
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                pass
        return "; ".join(said)

    def idle(self, kc, name, msg_id, what):
        """Outputs up to the cell's idle: its value."""
        value, end = None, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                m = kc.get_iopub_msg(timeout=max(0.1, end - time.monotonic()))
            except queue.Empty:
                break
            if m["parent_header"].get("msg_id") != msg_id:
                continue
            if m["msg_type"] == "execute_result":
                value = m["content"]["data"]["text/plain"]
            if m["msg_type"] == "status" and m["content"]["execution_state"] == "idle":
                return value
        self.count["no idle"] += 1
        self.trouble(f"{name}: no idle in {PATIENCE} s for {what!r}")
        return None

    def finish(self, kc, name, msg_id, code, want, for_error):
        self.count["cells"] += 1
        content = self.reply(kc, name, msg_id, code)
        value = self.idle(kc, name, msg_id, code)
        if content is None:
            return None
        if content["status"] != "ok":
            error = content.get("ename", content["status"])
            self.errors[error] += 1
            if not for_error and error not in EXPECTED:
                self.errors[f"{error}: {content.get('evalue', '')[:90]} <- {code[:40]!r}"] += 1
        elif want is not None and value != want:
            self.count["wrong values"] += 1
            self.trouble(f"{name}: {code!r} has the value {value!r}, not {want!r}")
        return content

    def interrupted(self, kc, name, chance):
        code = chance.choice(ENDLESS)
        self.count["interrupts"] += 1
        msg_id = kc.execute(code, allow_stdin=False)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:  # again: the first may have met another client's cell
            time.sleep(0.2 + chance.random())
            message = kc.session.msg("interrupt_request", {})
            kc.control_channel.send(message)
            try:
                m = kc.get_shell_msg(timeout=2)
            except queue.Empty:
                continue
            if m["parent_header"].get("msg_id") == msg_id:
                self.count["replies"] += 1
                self.idle(kc, name, msg_id, code)
                return
        self.count["lost"] += 1
        self.trouble(f"{name}: {code!r} was interrupted and never ended")

    def killed(self, kc, name, chance):
        """Kills the evaluator or a rank while a cell runs."""
        msg_id = kc.execute(f"fmt.Println(`{name}`)\ntime.Sleep(300 * time.Millisecond)", allow_stdin=False)
        time.sleep(chance.random() * 0.4)
        victim, what = self.evaluator(), "evaluators killed"
        ranks = [p for p in victim.children() if p.cmdline()[1:] == ["evaluate"]] if victim else []
        if ranks and chance.random() < 0.6:
            victim, what = chance.choice(ranks), "ranks killed"
        if victim is not None:
            session = victim.pid
            victim.send_signal(signal.SIGKILL)
            self.count[what] += 1
            self.finish(kc, name, msg_id, "a cell that is killed", None, "")
            self.gone(session, what)
        else:
            self.finish(kc, name, msg_id, "a cell", None, "")

    def gone(self, session, what):
        """Waits until nothing is left of a session of processes."""
        for _ in range(100):
            left = []
            for p in self.processes():
                try:
                    if os.getsid(p.pid) == session:
                        left.append(p)
                except ProcessLookupError:
                    pass
            if not left:
                return
            time.sleep(0.1)
        self.count["orphans"] += len(left)
        self.trouble(f"{what}: left are {[p.cmdline() for p in left]}")

    def questions(self, kc, name):
        for what, msg_id in (
            ("complete", kc.complete("fmt.Prin", 8)),
            ("inspect", kc.inspect("fmt.Println", 5)),
            ("is_complete", kc.is_complete("for {")),
            ("history", kc.history(hist_access_type="tail", n=10)),
            ("kernel_info", kc.kernel_info()),
        ):
            self.count["questions"] += 1
            self.reply(kc, name, msg_id, what)

    def slow_subscriber(self):
        """Reads one message in a while, as a front end on a bad line does."""
        socket = zmq.Context.instance().socket(zmq.SUB)
        socket.set(zmq.RCVHWM, 2)
        socket.set(zmq.RCVBUF, 4096)
        socket.set(zmq.LINGER, 0)
        socket.subscribe(b"")
        socket.connect(f"tcp://127.0.0.1:{self.manager.iopub_port}")
        while not self.stop.wait(0.1):
            if socket.poll(0):
                socket.recv_multipart()
                self.count["slowly read"] += 1
        socket.close()

    def sample(self):
        """Megabytes by role: proportional, so that shared pages count once."""
        roles = collections.Counter()
        for p in self.processes():
            try:
                line = p.cmdline()
                role = "others"
                if line[:1] == ["gocuda-guard"]:
                    role = "guards"
                elif line[1:2] == ["serve"]:
                    role = "kernel"
                elif line[1:2] in (["evaluate"], ["rank"]):
                    role = "evaluators"
                elif line[:1] == ["sleep"]:
                    continue
                roles[role] += p.memory_full_info().pss / 2**20
                roles["processes"] += 1
            except (psutil.NoSuchProcess, psutil.AccessDenied, IndexError):
                pass
        return roles

    def run(self):
        began = time.monotonic()
        threads = [threading.Thread(target=self.client, args=(n,)) for n in "AB"]
        threads.append(threading.Thread(target=self.slow_subscriber))
        for t in threads:
            t.start()
        last = began
        while any(t.is_alive() for t in threads[:2]):
            time.sleep(5)
            now = time.monotonic()
            if not self.kernel.is_running() or self.kernel.status() == psutil.STATUS_ZOMBIE:
                self.trouble("the kernel has died")
                break
            self.samples.append((now - began, self.sample()))
            if now - last > 300:
                last = now
                self.tell()
        self.stop.set()
        for t in threads:
            t.join(PATIENCE)
        self.minutes = (time.monotonic() - began) / 60
        self.manager.shutdown_kernel(now=False)
        end = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.1)
        if left:
            self.count["orphans"] += len(left)
            self.trouble(f"after the end: left are {[p.cmdline() for p in left]}")
            for p in left:
                p.kill()
        if segments := set(os.listdir("/dev/shm")) - self.shm:
            self.count["segments"] = len(segments)
            self.trouble(f"segments are left: {sorted(segments)}")
        self.files = sum(len(f) for _, _, f in os.walk(pathlib.Path(self.home.name) / "tmp"))
        return self.report()

    def memory(self):
        def most(samples):
            return max((sum(v for k, v in r.items() if k != "processes") for _, r in samples), default=0)

        first = most([s for s in self.samples if s[0] <= 60])
        return first, most(self.samples), most(self.samples[-12:])

    def tell(self):
        first, peak, now = self.memory()
        roles = {k: round(v) for k, v in self.samples[-1][1].items()}
        print(f"{time.strftime('%H:%M:%S')} {dict(self.count)} memory {first:.0f} MB in the first minute, "
              f"at most {peak:.0f}, {now:.0f} in the last; now {roles}", flush=True)

    def report(self):
        first, peak, now = self.memory()
        print(f"ran {self.minutes:.1f} minutes, GOCUDA_SIM_SCHEDULE={os.environ.get('GOCUDA_SIM_SCHEDULE', '')}")
        for key in ("cells", "questions", "replies", "interrupts", "evaluators killed", "ranks killed", "slowly read",
                    "lost", "no idle", "wrong values", "orphans", "segments"):
            print(f"  {key:18} {self.count[key]}")
        print(f"  {'temporary files':18} {self.files}")
        print(f"  memory (MB)        {first:.0f} in the first minute, at most {peak:.0f}, {now:.0f} in the last")
        print("  errors:")
        for error, n in self.errors.most_common(40):
            print(f"    {n:6} {error}")
        for t in self.troubles:
            print("  TROUBLE", t)
        bad = any(self.count[k] for k in ("lost", "no idle", "wrong values", "orphans", "segments"))
        return 1 if bad or self.troubles or now > first + GROWTH else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--binary", default=str(root / "bin" / "gocuda-kernel"))
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--pause", type=float, default=0.05, help="mean pause between a client's cells, in seconds")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    sys.exit(Soak(arguments.binary, arguments.minutes, arguments.pause, arguments.seed).run())


if __name__ == "__main__":
    main()
