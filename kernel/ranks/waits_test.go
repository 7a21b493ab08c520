//go:build linux

package ranks

import (
	"strings"
	"testing"

	"gocuda/kernel/session"
)

// hangs runs a cell that does not end by itself until it has told all of want.
func (b *book) hangs(code string, want ...string) (end func() outcome, told string) {
	b.Helper()
	end = b.begin(code)
	for _, w := range want {
		b.until(w)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return end, b.out.stderr
}

// fields are the columns of the line of a table that begins with ranks.
func (b *book) fields(table, ranks string) []string {
	b.Helper()
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == ranks {
			return f
		}
	}
	b.Fatalf("no line of %s in\n%s", ranks, table)
	return nil
}

func (b *book) line(table, ranks, want string) {
	b.Helper()
	if got := strings.Join(b.fields(table, ranks), " "); !strings.HasPrefix(got, want) {
		b.Errorf("the table has\n%s\nnot\n%s", got, want)
	}
}

// Hangs are explained, under every library, and the ranks are freed.
func TestDeadlocksAreNamed(t *testing.T) {
	forEach(t, 0, func(b *book, s starter) {
		b.ok("%mpi start -n 3 "+s.args, "3 ranks are running")
		in := func(name string) { t.Log(s.name, name) }
		if r := b.Execute(session.Cell{Name: "beside", Code: "1", Shell: "subshell"}); r.Err != nil { // which changes nothing for ranks
			t.Fatal(r.Err.Plain())
		}

		in("a ring of receives")
		end, told := b.hangs("%%mpi\nx := make([]int32, 2)\nexchange := func() {\n\tmust(world.Recv(x, (rank+1)%size, 7))\n\tworld.Send(x, (rank+2)%size, 7)\n}\nexchange()",
			"Deadlock: rank 0 waits for 1, rank 1 waits for 2, rank 2 waits for 0: none of these calls can end")
		b.line(told, "0", "0 cell:4 Comm.Recv rank 1 7 8 ")
		b.line(told, "2", "2 cell:4 Comm.Recv rank 0 7 8 ")
		b.failed("ring", end(), "Deadlock", "[0-2] Deadlock: rank 0 waits for 1, ")
		b.ok("%%mpi\nall := make([]int, size)\nmust(world.Allgather([]int{rank}, all))\nall", "[0-2] []int{0, 1, 2}")

		in("a message with another tag")
		end, told = b.hangs("%%mpi\nif rank == 0 {\n\tworld.Send([]int{5}, 1, 4)\n}\nif rank == 1 {\n\tworld.Recv(make([]int, 1), 0, 3)\n}", "Deadlock: rank 0, for whom rank 1 waits, ended without")
		b.line(told, "1", "1 cell:6 Comm.Recv rank 0 3 8 ")
		if !strings.Contains(told, "a message with tag 4 from rank 0 not received") || !strings.Contains(told, "ended cell") {
			t.Errorf("not told about the other tag:\n%s", told)
		}
		b.Interrupt()
		end()

		in("one rank does not come")
		end, told = b.hangs("%%mpi\nif rank != 1 {\n\tworld.Barrier()\n}", "Deadlock: rank 1, for whom ranks 0,2 wait, ended without")
		b.line(told, "0,2", "0,2 cell:3 Comm.Barrier rank 1 to come 0 ")
		b.line(told, "1", "1 ended cell")
		b.Interrupt()
		end()

		in("different collectives")
		end, _ = b.hangs("%%mpi\nsub := must(world.Dup())\ny := []int{0}\nif rank == 0 {\n\tsub.Recv(y, 2, 0)\n\tsub.Bcast(y, 0)\n} else {\n\tsub.Barrier()\n\tsub.Recv(y, 0, 1)\n}",
			"Deadlock: rank 0 waits for 2, rank 2 waits for 0: none")
		b.Interrupt()
		end()
		end, _ = b.hangs("%%mpi\nif rank == 0 {\n\tworld.Barrier()\n} else {\n\tworld.Allreduce(mpi.InPlace, []int{1}, mpi.Sum)\n}\nworld.Recv([]int{0}, (rank+1)%size, 9)",
			"does not match: rank 0 called Comm.Barrier; ranks 1 and 2 called Comm.Allreduce")
		b.Interrupt()
		end()

		in("a root of its own for each rank")
		o := b.run("%%mpi\nworld.Bcast([]int{rank}, rank)") // which no library need notice
		if want := "rank 0 called Comm.Bcast with root 0, 8 bytes; rank 1 called Comm.Bcast with root 1, 8 bytes; rank 2 "; !strings.Contains(o.stderr, want) {
			t.Errorf("the roots are not told: %q, %s", o.stderr, o.trace())
		}
		b.ok("%%mpi\nmust(world.Allgather([]int{rank}, all))\nall", "[0-2] []int{0, 1, 2}")

		in("a communicator that not all make")
		end, told = b.hangs("%%mpi\nif rank < 2 {\n\tworld.Split(0, 0)\n}\nif rank == 2 {\n\tworld.Recv([]int{0}, 0, 1)\n}", "Deadlock: rank 0 waits for 2, rank 2 waits for 0")
		b.line(told, "0-1", "0-1 cell:3 Comm.Split rank 2 to come ")
		b.Interrupt()
		end()
	})
}

// A deadlock late in a session is named, whatever cells used before and are done with.
func TestDeadlocksLateInASession(t *testing.T) {
	b := open(t)
	b.ok("%mpi start -n 2 --launcher local", "2 ranks are running")
	for _, code := range []string{
		"ctx, cancel := context.WithTimeout(context.Background(), time.Hour)\ncancel()\n<-ctx.Done()",
		"done := make(chan int, 1)\ndone <- 1\nselect {\ncase <-done:\ncase <-time.After(time.Hour):\n}",
		"func once() {\n\tt := time.NewTimer(time.Hour)\n\tt.Reset(time.Hour)\n\tt.Stop()\n}\nonce()",
		"func host() {\n\ts := must(must(cuda.CurrentDevice()).NewStream())\n\ts.LaunchHostFunc(func() {})\n\ts.Synchronize()\n}\nhost()",
		"go func() { select {} }()",
		"left := must(world.Irecv([]int{0}, 1-rank, 5000))",
		"x := []int{1}\nfor tag := range 4200 {\n\tif rank == 0 {\n\t\tworld.Send(x, 1, tag)\n\t} else {\n\t\tworld.Recv(x, 0, tag)\n\t}\n}",
	} {
		b.ok("%%mpi\n" + code)
	}
	b.failed("panic", b.run("%%mpi\npanic(1)"), "Panic", "[0-1]")
	for range 2 { // the second after an interrupt
		end, _ := b.hangs("%%mpi\nworld.Recv([]int{0}, 1-rank, 7)", "Deadlock: rank 0 waits for 1, rank 1 waits for 0")
		b.Interrupt()
		end()
	}
}

// What may still go on is no deadlock: the table shows it, and that is all.
func TestSlowRanksAreNoDeadlock(t *testing.T) {
	b := open(t)
	b.ok("%mpi start -n 3 --launcher local", "3 ranks are running")
	b.ok("%mpi waits", "no rank waits for another")
	gate := "gate := `" + t.TempDir() + "/open`\nopen := func() bool { _, err := os.Stat(gate); return err == nil }\n"
	b.ok(gate)
	b.ok("%%mpi\n" + gate)
	for name, code := range map[string]string{
		"one rank computes":        "if rank == 0 {\n\tfor !open() {\n\t}\n}\nworld.Barrier()",
		"one rank sleeps":          "if rank == 0 {\n\tfor !open() {\n\t\ttime.Sleep(time.Millisecond)\n\t}\n\tworld.Send([]int{1}, 1, 0)\n}\nif rank > 0 {\n\tworld.Recv([]int{0}, rank-1, 0)\n}\nif rank == 1 {\n\tworld.Send([]int{1}, 2, 0)\n}",
		"another goroutine sends":  "x := []int{0}\ngo func() {\n\tfor !open() {\n\t\ttime.Sleep(time.Millisecond)\n\t}\n\tworld.Send([]int{1}, (rank+1)%size, 0)\n}()\nworld.Recv(x, (rank+2)%size, 0)",
		"a timer sends":            "time.AfterFunc(time.Millisecond, func() {\n\tfor !open() {\n\t\ttime.Sleep(time.Millisecond)\n\t}\n\tworld.Send([]int{1}, (rank+1)%size, 0)\n})\nworld.Recv([]int{0}, (rank+2)%size, 0)",
		"a rank asks again":        "if rank == 0 {\n\tr := must(world.Irecv([]int{0}, 1, 0))\n\tfor done := false; !done; {\n\t\t_, done, _ = r.Test()\n\t\tif open() && rank == 0 {\n\t\t\tworld.Send([]int{0}, 1, 0)\n\t\t\trank = 9\n\t\t}\n\t}\n} else if rank == 1 {\n\tworld.Recv([]int{0}, 0, 0)\n\tworld.Send([]int{0}, 0, 0)\n}\nrank = world.Rank()",
		"any of several may send":  "if rank == 2 {\n\tfor !open() {\n\t}\n\tworld.Send([]int{1}, 0, 0)\n\tworld.Send([]int{1}, 1, 0)\n} else {\n\tworld.Recv([]int{0}, mpi.AnySource, 0)\n}",
		"a channel, and a message": "c := make(chan int)\ngo func() {\n\tfor !open() {\n\t\ttime.Sleep(time.Millisecond)\n\t}\n\tc <- 1\n}()\nif rank == 0 {\n\t<-c\n\tworld.Send([]int{1}, 1, 0)\n} else if rank == 1 {\n\tworld.Recv([]int{0}, 0, 0)\n}",
	} {
		b.ok("os.RemoveAll(gate)")
		b.ok("%%mpi --no-wait\n" + code)
		// Looked at until ranks have waited for some time, which is what makes the
		// pool itself look.
		for looks := 0; looks < 3; {
			o := b.ok("%mpi waits")
			if strings.Contains(o.stdout, "Deadlock") || strings.Contains(o.stdout, "Mismatch") {
				t.Fatalf("%s:\n%s", name, o.stdout)
			}
			if strings.Contains(o.stdout, "Comm.") && !strings.Contains(o.stdout, "00ms") {
				looks++
			}
		}
		b.ok("os.WriteFile(gate, nil, 0o644)")
		if o := b.ok("%%mpi\nworld.Barrier()"); strings.Contains(o.stderr, "Deadlock") {
			t.Errorf("%s: %s", name, o.stderr)
		}
	}
}
