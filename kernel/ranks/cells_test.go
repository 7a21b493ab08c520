//go:build linux

package ranks

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCellsOnRanks(t *testing.T) {
	forEach(t, 0, func(b *book, s starter) {
		args := s.args
		b.fails("%%mpi\n1", "NoRanks", "%mpi start -n 4 starts four")
		b.fails("%mpi status", "NoRanks")
		b.ok("kept := 42")
		b.ok("type kind int\nconst most = 3\nfunc twice(k kind) kind { return 2 * k }\nopen := make(chan int)\nheld := must(must(cuda.CurrentDevice()).Alloc(1, cuda.Int32))")
		b.ok("%%cuda\n__global__ void nothing() {}")
		_, openBefore := traces(b.T, b.Pid())
		b.fails("%mpi start -n {three} "+args, "CompileError", "undefined: three")
		b.ok("three := 3\n%mpi start -n {three} "+args, "3 ranks are running")
		b.ok("%mpi start -n 3 "+args, "3 ranks are running already")
		b.fails("%mpi start -n 2 "+args, "RanksRunning", "3 ranks are running")

		b.fails("%%mpi\nrank + kept", "CompileError", "undefined: kept", "kept (int) is a variable of the notebook; ranks have names of their own: mpi.Push(\"kept\", kept), in a cell without %%mpi, gives them a copy")
		for name, hint := range map[string]string{
			"twice(1)":   "twice is a function of the notebook; ranks have names of their own: run its cell on them too, with %%mpi as its first line",
			"kind(1)":    "kind is a type of the notebook",
			"most":       "most is a constant of the notebook",
			"nothing":    "nothing is a kernel of the notebook; ranks have names of their own: compile it on the ranks too, with %%mpi above %%cuda or %%kernel",
			"held.Len()": "held (*cuda.Buffer) is a variable of the notebook; ranks have names of their own: it cannot be copied to them: make one in a %%mpi cell",
			"len(open)":  "open (chan int) is a variable of the notebook; ranks have names of their own: it cannot be copied to them",
		} {
			b.fails("%%mpi\n"+name, "CompileError", hint)
		}
		b.fails("mpi.Push(\"nothing\", nothing)", "Error", "nothing\"): *cuda.Kernel is a kernel of this process, and cannot be copied to another: compile it on the ranks too")
		if o := b.fails("%%mpi\nrank + nowhere", "CompileError"); strings.Contains(o.trace(), "mpi.Push") {
			b.Error(o.trace())
		}
		b.ok("%%mpi\nx := 10 * rank\nx", "[0] 0\n[1] 10\n[2] 20")
		b.ok("%%mpi 1-{three-1}\nx++")
		if got := said(b.T, b.ok("%%mpi\nfmt.Println(size, x)").stdout, 3); !slices.Equal(got, []string{"3 0\n", "3 11\n", "3 21\n"}) {
			b.Errorf("the ranks print %q", got)
		}
		b.ok("%%mpi\n\"alike\"", "[0-2] \"alike\"")
		b.ok("%%mpi\nmust(cuda.CurrentDevice()).Ordinal()", "[0,2] 0\n[1] 1")
		b.ok("%%mpi\nall := make([]int, size)\nmust(world.Allgather([]int{rank}, all))\nall", "[0-2] []int{0, 1, 2}")
		status := b.ok("%mpi status")
		if lines := strings.Split(strings.TrimSpace(status.stdout), "\n"); len(lines) != 5 || !strings.HasSuffix(lines[3], "idle") || !strings.HasPrefix(lines[4], "MPI: ") {
			t := status.stdout
			b.Errorf("status:\n%s", t)
		}

		// Live, and in order within a rank.
		live := b.begin("%%mpi\nfor i := range 3 {\n\tfmt.Println(\"line\", i)\n}\nif rank == 1 {\n\tfmt.Println(\"now\")\n\tworld.Recv(make([]int, 1), 2, 7)\n}\nif rank == 2 {\n\ttime.Sleep(time.Second)\n\tworld.Send([]int{1}, 1, 7)\n\tfmt.Print(\"no end of line\")\n}")
		b.until("[1] now\n")
		o := live()
		lines := "line 0\nline 1\nline 2\n"
		if got := said(b.T, o.stdout, 3); o.err != nil || !slices.Equal(got, []string{lines, lines + "now\n", lines + "no end of line"}) {
			b.Errorf("the ranks print %q\n%s", got, o.trace())
		}
		b.ok("%%mpi 0\nfmt.Println(\"next\")", "[0] next\n")

		// Objects of types that cells declared.
		b.ok("%%mpi\ntype part struct{ Name string; Of []int; next *part }\nvar got part\nif rank == 0 {\n\tgot = part{\"p\", []int{1, 2}, nil}\n}\nworld.BcastObject(&got, 0)\nif rank == 1 {\n\tworld.SendObject(map[string]part{\"x\": got}, 2, 9)\n}\nvar all []part\nworld.GatherObject(part{Name: fmt.Sprint(rank)}, &all, 0)\ngot.Name, got.Of, len(all)", "[0] \"p\", []int{1, 2}, 3\n[1-2] \"p\", []int{1, 2}, 0")
		b.ok("%%mpi 2\nvar m map[string]part\nworld.RecvObject(&m, 1, mpi.AnyTag)\nm[\"x\"].Of[1]", "[2] 2")

		// Displays, with their ranks, and updates of one rank's own.
		o = b.ok("%%mpi\ndisplay.ShowAs(\"id\", rank)\ndisplay.Update(\"id\", rank+10)")
		var texts []string
		for _, s := range o.shown {
			texts = append(texts, fmt.Sprint(s.DisplayID, s.Data["text/html"], s.Data["text/plain"]))
		}
		if all := strings.Join(texts, "\n"); len(texts) != 6 || !strings.Contains(all, "id@2<nil>[2] 2") || !strings.Contains(all, "id@2<nil>[2] 12") {
			b.Errorf("displays: %q", texts)
		}

		// Errors: each trace once, with its ranks; what a rank did comes first.
		b.fails("%%mpi\npanic(\"all\")", "Panic", "[0-2] panic: all", "cell:2")
		e := b.fails("%%mpi\nif rank > 0 {\n\tpanic(fmt.Sprint(\"one of \", rank))\n}", "Panic", "[1-2] panic: one of {1,2}", "2 of 3 ranks failed")
		if e.err.Message != "[1-2] one of {1,2}" {
			b.Errorf("message %q", e.err.Message)
		}
		b.fails("%%mpi 2\nundefined1", "CompileError", "[2]", "undefined: undefined1")
		b.fails("%%mpi\nworld.Send([]int{1}, 9, 0)", "MPI_ERR_RANK", "[0-2] Comm.Send: MPI_ERR_RANK: dest 9")
		b.fails("%%mpi 0-9\n1", "UsageError", "there is no rank 3: the ranks are 0-2")
		b.fails("%mpi start 2", "UsageError", "write -n 2 for so many ranks")
		b.fails("%%mpi\n", "UsageError", "no code")
		b.fails("%%mpi\n%mpi status", "UsageError", "[0-2] UsageError: %mpi: a rank has no ranks of its own")

		b.ok("%%mpi\n%reset")
		b.ok("%%mpi\nworld.Barrier()\nfmt.Sprint(rank < size)", `[0-2] "true"`)

		// input() of a rank, labelled.
		b.answer = func(prompt string) string { return "answer to " + prompt }
		b.ok("%%mpi 1\ninput(\"name?\")", `[1] "answer to [1] name?"`)

		// The notebook's variables, and the ranks'.
		b.ok("type point struct { X, y float64 }\np := point{1, 2}\nmpi.Push(\"n\", 5)\nn := 1")
		b.fails("mpi.Push(\"p\", p)", "Error", "ranks 0-2 cannot have a variable of type point: declare the type there too")
		b.ok("%%mpi\ntype point struct { X, y float64 }")
		b.ok("mpi.Push(\"p\", []point{p, p})")
		b.ok("%%mpi\nn += rank\np[1].y += float64(rank)")
		b.ok("fmt.Println(must(mpi.Pull(\"n\")), must(mpi.Pull(\"p\"))[2].([]point)[1].y, n)", "[5 6 7] 4 1\n")
		b.ok("%%mpi 0,2\nonly := 1")
		b.fails("mpi.Pull(\"only\")", "Error", "rank 1 has no such variable")
		b.fails("mpi.Pull(\"world\")", "Error", "[0-2] *mpi.Comm is a pointer")
		b.fails("%%mpi\nmpi.Push(\"n\", 1)", "MPI_ERR_OTHER", "not a notebook")

		// In the background, and all cells.
		b.ok("%%mpi --no-wait\ntime.Sleep(200*time.Millisecond)\nlater := rank")
		b.ok("%%mpi\nlater", "[0] 0\n[1] 1\n[2] 2")
		b.ok("%autompi on")
		b.ok("rank", "[0] 0\n[1] 1\n[2] 2")
		b.ok("%autompi off")
		b.fails("rank", "CompileError", "undefined: rank")

		c, err := b.Complete("%%mpi\nlater", len("%%mpi\nlat"))
		if err != nil || len(c.Matches) != 1 || c.Matches[0].Text != "later" {
			b.Errorf("completion: %v %v", c, err)
		}
		c, err = b.Complete("%%timeline\n%%mpi\nlater", len("%%timeline\n%%mpi\nlat"))
		if err != nil || len(c.Matches) != 1 || c.Matches[0].Text != "later" {
			b.Errorf("completion where the timeline is drawn: %v %v", c, err)
		}
		c, err = b.Complete("%%mpi --", len("%%mpi --"))
		if err != nil || len(c.Matches) != 2 {
			b.Errorf("completion of options: %v %v", c, err)
		}
		if i, err := b.Inspect("%%mpi\nlater", len("%%mpi\nlat"), 0); err != nil || i == nil || !strings.Contains(fmt.Sprint(i.Data["text/plain"]), "later") {
			b.Errorf("inspection: %v %v", i, err)
		}

		b.ok("%mpi restart", "3 ranks are running")
		b.fails("%%mpi\nlater", "CompileError")
		b.ok("kept", "42")
		b.ok("%mpi stop")
		b.fails("%%mpi\n1", "NoRanks")
		b.ok("kept", "42")
		b.settles(openBefore)
	})
}

func TestCUDAOnRanks(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("no g++, which compiles for simulated devices")
	}
	b := open(t)
	b.ok("%mpi start -n 0 --launcher local", "2 ranks are running") // one for each device
	b.ok("%%mpi\n%%cuda\n__global__ void fill(int *p, int v) { p[threadIdx.x] = v + threadIdx.x; }")
	b.ok("%%mpi\nd := must(cuda.CurrentDevice())\np := must(d.Alloc(2, cuda.Int32))\nfill.Launch(cuda.Grid(1), cuda.Block(2), nil, p, 10*rank)\n"+
		"sum := make([]int32, 2)\nmust(world.Allreduce(p, sum, mpi.Sum))\nfmt.Println(must(p.Int32s()), sum)", "[0] [0 1] [10 12]\n[1] [10 11] [10 12]\n")
	e := b.fails("%%mpi\n%%cuda\n__global__ void wrong() { nothing(); }", "CompileError", "[0-1] CompileError: this CUDA C++ does not compile")
	if !strings.Contains(e.trace(), "nothing") {
		b.Error(e.trace())
	}
}

// What many ranks print at a time is complete, and in order within a rank.
func TestMuchOutputOfRanks(t *testing.T) {
	b := open(t)
	b.ok("%mpi start --launcher local", "2 ranks are running")
	begun := time.Now()
	o := b.ok("%%mpi\nfor i := range 5000 {\n\tfmt.Println(rank, i)\n}\nfor i := range 2000 {\n\tfmt.Println(\"both\", i)\n}")
	next := map[string]int{}
	both := 0
	for line := range strings.Lines(o.stdout) {
		var rank, of, i int
		if n, _ := fmt.Sscanf(line, "[%d] %d %d\n", &rank, &of, &i); n == 3 {
			if key := fmt.Sprint(rank); rank != of || next[key] != i {
				t.Fatalf("line %q follows %d", line, next[key])
			} else {
				next[key]++
			}
			continue
		}
		if strings.HasPrefix(line, "[0-1] both") {
			both += 2
		} else if strings.Contains(line, "] both ") {
			both++
		} else {
			t.Fatalf("line %q", line)
		}
	}
	if next["0"] != 5000 || next["1"] != 5000 || both != 4000 {
		t.Errorf("%v lines, %d of both", next, both)
	}
	t.Logf("%d bytes in %v", len(o.stdout), time.Since(begun).Round(time.Millisecond))
}
