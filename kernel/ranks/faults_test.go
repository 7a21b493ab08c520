//go:build linux

package ranks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gocuda/kernel/session/sessiontest"
)

func TestFaultsOfRanks(t *testing.T) {
	forEach(t, 1, func(b *book, s starter) {
		b.ok("kept := 42")
		_, openBefore := traces(b.T, b.Pid())
		b.ok("%mpi start -n 3 " + s.args)
		b.ok("%%mpi\nmine := 10 + rank")

		// Killed in a collective: named with where it was, and the others are freed.
		o := b.fails("%%mpi\nworld.Barrier()\nif rank == 1 {\n\ttime.Sleep(300 * time.Millisecond)\n\tsyscall.Kill(os.Getpid(), syscall.SIGKILL)\n}\nworld.Barrier()",
			"RankLost", "[1] RankLost: the rank was lost: it was ended by a signal: SIGKILL", "[0,2]", "cell:7")
		if strings.Contains(o.stderr, "was lost") {
			b.Errorf("told twice: %s", o.stderr)
		}
		b.fails("%%mpi\nmine", "RankLost", "rank 1 was lost", "%%mpi 0,2 runs on those that are left")
		b.ok("%%mpi 0,2\nmine", "[0] 10\n[2] 12")
		b.ok("%mpi status", "lost: it was ended by a signal: SIGKILL")
		if s.name == "local" { // those that are left go on, also where they wait for each other for long
			b.ok("%%mpi 0,2\nleft := must(world.Shrink())\nleft.Rank(), left.Size()", "[0] 0, 2\n[2] 1, 2")
			b.ok("%%mpi 0,2\nif left.Rank() == 1 {\n\ttime.Sleep(1500 * time.Millisecond)\n}\nsum := 0\nleft.Allreduce(rank, &sum, mpi.Sum)\nsum", "[0,2] 2")
		}
		b.fails("mpi.Pull(\"mine\")", "Error", "rank 1 was lost")
		b.ok("%mpi restart", "3 ranks are running")
		b.ok("kept", "42")

		if s.name == "local" { // mpirun's take seconds to start again
			// Killed between cells.
			pids := b.ok("%%mpi 2\nos.Getpid()").value
			var pid int
			fmt.Sscanf(pids, "[2] %d", &pid)
			wait := b.begin("fmt.Println(\"runs\")\ntime.Sleep(time.Hour)")
			b.until("runs")
			syscall.Kill(pid, syscall.SIGKILL)
			b.until("[2] was lost: it was ended by a signal: SIGKILL")
			b.Interrupt()
			if o := wait(); strings.Count(o.stderr, "was lost") != 1 {
				b.Errorf("told as %q", o.stderr)
			}
			b.ok("%mpi restart")

			// One that exits.
			b.fails("%%mpi\nif rank == 0 {\n\tsyscall.Syscall(syscall.SYS_EXIT_GROUP, 3, 0, 0)\n}\nworld.Barrier()", "RankLost", "[0] RankLost: the rank was lost: it exited with status 3", "[1-2]")
			b.ok("%mpi restart")
		}

		// One that panics, or ends its cell, while the others wait for it: that is
		// told, the interrupt frees them, and all are in step again: the world is
		// a new one, by whatever name cells know it.
		b.ok("%%mpi\ncomm := mpi.World()\nkept := []*mpi.Comm{comm}\nacross := func() error { return comm.Barrier() }")
		hung := b.begin("%%mpi\nif rank == 1 {\n\tpanic(\"no more\")\n}\nif rank == 2 {\n\tos.Exit(3)\n}\ngo time.Sleep(time.Hour) // which may do anything then\nworld.Barrier()")
		b.until("[2] failed: ")
		b.Interrupt()
		o = hung()
		if o.err == nil || !strings.Contains(o.stderr, "[0] interrupted at cell:9, in Comm.Barrier\n") || !strings.Contains(o.stderr, "[1] failed: no more\n") {
			b.Errorf("interrupted: %s\n%s", o.stderr, o.trace())
		}
		b.ok("%%mpi\nall := make([]int, size)\nmust(world.Allgather([]int{rank}, all))\nall", "[0-2] []int{0, 1, 2}")

		b.ok("%%mpi\nmust(comm.Allgather([]int{rank}, all))\nmust(across())\ncomm == world, world == mpi.World(), all", "[0-2] true, true, []int{0, 1, 2}")
		b.fails("%%mpi\nkept[0].Barrier()", "MPI_ERR_COMM", "calls on this world were interrupted, so that its ranks are out of step; mpi.World() gives the one that took its place")

		// Without an interrupt too: nobody can come to them any more.
		if s.name == "local" {
			o = b.fails("%%mpi\nif rank == 1 {\n\tpanic(\"no more\")\n}\nworld.Barrier()", "Panic", "[1] panic: no more", "[0,2] WaitedInVain: rank 1 failed while this rank was at cell:5, in Comm.Barrier")
			if o.err.Message != "[1] no more (and 1 more)" || strings.Count(o.stderr, "world is a new communicator now") != 1 {
				b.Errorf("%q, %q", o.err.Message, o.stderr)
			}
			b.ok("%%mpi\nall := make([]int, size)\nmust(world.Allgather([]int{rank}, all))\nall", "[0-2] []int{0, 1, 2}")
		}

		// A rank that fails before a collective which the others end without it.
		o = b.fails("%%mpi\nif rank == 0 {\n\tpanic(\"too early\")\n}\nworld.Gather([]int{rank}, make([]int, size), 0)", "Panic", "[0] panic: too early")
		if strings.Count(o.stderr, "A collective was called by some ranks only, so world is a new communicator now") != 1 {
			b.Errorf("%q", o.stderr)
		}
		b.ok("%%mpi\nall := make([]int, size)\nmust(world.Gather([]int{10 + rank}, all, 0))\nmust(world.Bcast(all, 0))\nall", "[0-2] []int{10, 11, 12}")
		if o := b.fails("%%mpi\nmust(world.Barrier())\nif rank == 0 {\n\tpanic(\"after all\")\n}", "Panic"); strings.Contains(o.stderr, "new communicator") {
			b.Errorf("%q", o.stderr)
		}

		// One that never enters the barrier, by timeout.
		b.fails("%%mpi --timeout 3s\nif rank == 0 {\n\ttime.Sleep(time.Hour)\n}\nworld.Barrier()", "Timeout",
			"[0] Timeout: the rank had not ended the cell after 3s: it was at cell:3\n",
			"[1-2] Timeout: the rank had not ended the cell after 3s: it was at cell:5, in Comm.Barrier\n")
		b.ok("%%mpi\nworld.Barrier()\nmine := 10 + rank\nmine", "[0] 10\n[1] 11\n[2] 12")

		// Interrupted in a blocking receive, which has taken no message.
		hung = b.begin("%%mpi\nif rank == 0 {\n\tfmt.Println(\"receives\")\n}\nworld.Recv(make([]int, 1), (rank+1)%size, 5)")
		b.until("[0] receives\n")
		time.Sleep(time.Second) // until it does
		b.Interrupt()
		o = hung()
		if o.err == nil || o.err.Name != "Interrupted" || !strings.Contains(o.stderr, "[0] interrupted at cell:5, in Comm.Recv with rank 1, tag 5\n") {
			b.Errorf("interrupted: %s\n%s", o.stderr, o.trace())
		}
		b.ok("%%mpi\nmust(world.Send([]int{rank}, (rank+1)%size, 5))\nbuf := make([]int, 1)\nmust(world.Recv(buf, (rank+2)%size, 5))\nfmt.Sprint(buf[0], \" \", mine)", "[0] \"2 10\"\n[1] \"0 11\"\n[2] \"1 12\"")

		// What waits and what runs ends by %mpi interrupt, from the background.
		b.ok("%%mpi --no-wait\ntime.Sleep(time.Hour)")
		b.ok("%%mpi 1 --no-wait\nnever := 1")
		b.ok("%mpi interrupt")
		b.fails("%%mpi 1\nnever", "CompileError")
		if s.name == "local" {
			b.ok("%%mpi\nworld.Barrier()") // else a rank may still be at the end of the cell before, whose words are dropped
			o := b.run("%%mpi\nif rank == 1 {\n\tmpi.Abort(3)\n}\nworld.Barrier()")
			if o.err == nil || o.err.Name != "RankLost" || !strings.Contains(o.trace(), "lost: mpi.Abort(3) of rank 1 ends all ranks") || strings.Contains(o.trace(), "C code") {
				b.Errorf("mpi.Abort is told as\n%s", o.trace())
			}
		}
		b.ok("%mpi stop")
		b.settles(openBefore)
	})
}

// Many ranks come and go: no process, file or descriptor stays behind.
func TestStartsLeaveNothing(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 5
	}
	temp := t.TempDir()
	b := open(t, "TMPDIR="+temp)
	once := func() {
		b.ok("%mpi start -n 1 --launcher local")
		b.ok("%mpi stop")
	}
	once()
	_, openBefore := traces(t, b.Pid())
	filesBefore, _ := os.ReadDir(temp)
	b.ok("before := runtime.NumGoroutine()")
	for range rounds {
		once()
	}
	b.settles(openBefore)
	if files, _ := os.ReadDir(temp); len(files) > len(filesBefore) {
		t.Errorf("files are left: %v, before: %v", files, filesBefore)
	}
	// The last are on their way out.
	b.ok("for range 6000 {\n\tif runtime.NumGoroutine() <= before {\n\t\tbreak\n\t}\n\ttime.Sleep(10 * time.Millisecond)\n}\nruntime.NumGoroutine() <= before", "true")
}

// A restart that fails can be repeated, with the options of the ranks and %autompi.
func TestRestartThatFails(t *testing.T) {
	b := open(t)
	b.ok("kept := 1\nvar limit syscall.Rlimit")
	b.fails("%mpi restart", "NoRanks", "%mpi start -n 4 starts four")
	b.ok("%mpi start -n 3 --launcher local")
	b.ok("syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)\nsyscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 4, Max: limit.Max})")
	b.ok("%autompi on")
	b.fails("%mpi restart", "RanksNotStarted")
	b.fails("kept", "NoRanks", "%mpi restart tries again", "%autompi off")
	b.fails("%mpi restart --without lost", "NoRanks")
	b.fails("%mpi restart", "RanksNotStarted")
	b.ok("%autompi off")
	b.ok("syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)")
	b.ok("%mpi restart", "3 ranks are running (launcher: local")
	b.ok("%mpi stop")
	b.fails("%mpi restart", "NoRanks", "%mpi start -n 4 starts four")
}

// A notebook that ends takes its ranks along.
func TestRanksEndWithTheNotebook(t *testing.T) {
	for _, s := range starters(t)[:min(2, len(starters(t)))] {
		t.Run(s.name, func(t *testing.T) {
			b := open(t, s.env...)
			b.ok("%mpi start -n 2 " + s.args)
			var pids [4]int // of the ranks, and of what they started
			if text := b.ok("%%mpi\nos.Getpid()").value; true {
				fmt.Sscanf(text, "[0] %d\n[1] %d", &pids[0], &pids[1])
			}
			text := b.ok("%%mpi\ntext := must(exec.Command(`sh`, `-c`, `sleep 1000 >/dev/null 2>&1 & echo $!`).Output())\nstrings.TrimSpace(string(text))").value
			if n, err := fmt.Sscanf(text, "[0] %q\n[1] %q", new(string), new(string)); n != 2 {
				t.Fatalf("%q: %v", text, err)
			}
			fmt.Sscanf(strings.ReplaceAll(text, `"`, ""), "[0] %d\n[1] %d", &pids[2], &pids[3])
			syscall.Kill(b.Pid(), syscall.SIGKILL)
			for _, pid := range pids {
				for end := time.Now().Add(patience); sessiontest.Alive(pid); time.Sleep(20 * time.Millisecond) {
					if pid == 0 || time.Now().After(end) {
						t.Fatalf("rank, or what it started, lives on: %d of %v", pid, pids)
					}
				}
			}
		})
	}
}

// A program that reports with a wrong key is refused and told about, and the ranks
// start all the same.
func TestAStrangersRankIsRefused(t *testing.T) {
	list := starters(t)
	if len(list) == 1 {
		t.Skip("no mpirun in build/mpi or on the PATH: make mpi-libs installs some")
	}
	var real string
	for _, name := range list[1].env {
		path, _ := strings.CutPrefix(name, "PATH=")
		real, _, _ = strings.Cut(path, ":")
	}
	if real == "" {
		t.Skip("the mpirun is not one of build/mpi")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *--version*) ;; *)\nGOCUDA_POOL_KEY=%064d OMPI_COMM_WORLD_RANK=0 %s rank 2>%s/stranger;;\nesac\nexec %s/mpirun \"$@\"\n", 7, self, dir, real)
	if err := os.WriteFile(filepath.Join(dir, "mpirun"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	b := open(t, "PATH="+dir+":"+real+":"+os.Getenv("PATH"))
	b.ok("%mpi start -n 2 --launcher mpirun", "2 ranks are running", "refused a connection from 127.0.0.1:")
	b.ok("%mpi status", "it did not prove that it knows the key")
	b.ok("%%mpi\nrank", "[0] 0\n[1] 1")
	if said, _ := os.ReadFile(filepath.Join(dir, "stranger")); !strings.Contains(string(said), "cannot reach the notebook") {
		t.Errorf("the stranger ended with %q", said)
	}
}

// What failed is said in one sentence, with the ranks; those that wait for the ranks that
// failed are freed without a word about waiting.
func TestFailuresAreSaidOnce(t *testing.T) {
	b := open(t)
	b.ok("%mpi start -n 4 --launcher local")
	for _, c := range []struct{ code, name, trace string }{
		{`panic("all")`, "Panic", "[0-3] panic: all"},
		{`panic(fmt.Sprintf("%d of %d", rank, size))`, "Panic", "[0-3] panic: {0,1,2,3} of 4"},
		{"if rank == 0 {\n\tworld.Recv([]int{0}, 1, 0)\n}\npanic(1)", "Panic", "[1-3] panic: 1|[0] WaitedInVain: ranks 1-3 failed while this rank was at cell:3, in Comm.Recv with rank 1, tag 0"},
		{"if rank != 1 {\n\tworld.Recv([]int{0}, (rank+1)%4, 0)\n}\npanic(1)", "Panic", "[1] panic: 1|[0,2-3] WaitedInVain: rank 1 failed while this rank was at cell:3, in Comm.Recv with rank {1,3,0}, tag 0"},
		{"if rank == 3 {\n\tvar x []int\n\tx[rank] = 1\n}\nworld.Allreduce(mpi.InPlace, []int{1}, mpi.Sum)", "Panic", "[3] panic: runtime error: index out of range [3] with length 0|[0-2] WaitedInVain: rank 3 failed while this rank was at cell:6, in Comm.Allreduce"},
		{"if rank > 1 {\n\tos.Exit(rank)\n}\nworld.Barrier()", "Exit", "[2-3] Exit|[0-1] WaitedInVain: ranks 2-3 failed while this rank was at cell:5, in Comm.Barrier"},
		{"if rank == 2 {\n\tlog.Fatal(\"no file\")\n}\nworld.Barrier()", "Panic", "[2] panic: no file|[0-1,3] WaitedInVain: rank 2 failed while this rank was at cell:5, in Comm.Barrier"},
		{"var x int = \"\"", "CompileError", "[0-3] cell:2:13: cannot use"},
		{"if rank%2 == 1 {\n\tmust(os.Open(\"/nowhere\"))\n}", "Error", "[1,3] Error: open /nowhere: no such file or directory"},
		{"mpi.Abort(3)", "RankLost", "[0-3] RankLost: the rank was lost: mpi.Abort(3) of rank"},
	} {
		o := b.run("%%mpi\n" + c.code)
		if o.err == nil || o.err.Name != c.name {
			t.Errorf("%s\nended with %s, want %s", c.code, o.trace(), c.name)
		}
		for _, w := range strings.Split(c.trace, "|") {
			if strings.Count(o.trace(), w) != 1 {
				t.Errorf("%s\nended with\n%s\nwant %q in it, once", c.code, o.trace(), w)
			}
		}
		if strings.Contains(o.stderr, "have waited for") || strings.Count(o.trace(), "\n[") > strings.Count(c.trace, "|") {
			t.Errorf("%s\nsays more than it need:\n%s%s", c.code, o.stderr, o.trace())
		}
	}
}

// Nothing is left in the temporary folder, whoever is killed in the middle of a cell.
func TestKillsLeaveNoFiles(t *testing.T) {
	temp := t.TempDir()
	for i := range 6 {
		b := open(t, "TMPDIR="+temp)
		b.ok("%mpi start -n 2 --launcher local")
		var pid int
		fmt.Sscanf(b.ok("%%mpi 1\nos.Getpid()").value, "[1] %d", &pid)
		b.begin("%%mpi\nfmt.Println(`runs`)\n%%cuda\n__global__ void k(int *p) { p[0] = " + fmt.Sprint(i) + "; }")
		time.Sleep(100 * time.Millisecond)
		if i%3 != 0 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if i%3 != 1 {
			syscall.Kill(b.Pid(), syscall.SIGKILL)
		}
		b.Close()
	}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		left, err := os.ReadDir(temp)
		if err == nil && len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("left: %v %v", left, err)
		}
	}
}
