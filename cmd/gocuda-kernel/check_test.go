package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/sim"
	"gocuda/kernel/golang"
	"gocuda/kernel/notebook"
)

// The programs in testdata/check say which of their lines a hazard is between: two
// end in the same number behind //!. No others are reported, whatever is compiled.
func TestCheckOfPrograms(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	files, err := filepath.Glob("testdata/check/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := marked(file, string(code))
			for _, compiled := range []string{"0", "", "all"} {
				folder := t.TempDir()
				cmd := gocudaKernel(t, "exec", file)
				cmd.Env = append(cmd.Env, hazard.Env+"="+folder, golang.CompileVariable+"="+compiled)
				status, out, errs := run(t, cmd)
				if status != min(len(want), 1) {
					t.Errorf("%s=%s: exit status %d\n%s%s", golang.CompileVariable, compiled, status, out, errs)
				}
				_, list, err := hazard.Read(folder)
				if err != nil {
					t.Fatal(err)
				}
				if got := places(list); !slices.Equal(got, want) {
					t.Errorf("%s=%s: hazards between %q, want %q\n%s", golang.CompileVariable, compiled, got, want, errs)
				}
			}
		})
	}
}

// What one function queues is told apart by who called it.
func TestCheckNamesCallers(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	const file = "testdata/check/helper.go"
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := func(mark string) string {
		return fmt.Sprintf("helper.go:%d", 1+strings.Count(string(code[:strings.Index(string(code), mark)]), "\n"))
	}
	folder := t.TempDir()
	cmd := gocudaKernel(t, "exec", file)
	cmd.Env = append(cmd.Env, hazard.Env+"="+folder)
	run(t, cmd)
	_, list, err := hazard.Read(folder)
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, r := range list {
		if got := pair(r.First.Caller.String(), r.Second.Caller.String()); got != pair(at("//from 2"), at("//from 3")) {
			t.Errorf("called from %s\n%v", got, r)
		}
	}
}

// marked are the pairs of places that a program says a hazard is between.
func marked(file, code string) (want []string) {
	at := map[string]string{}
	for i, line := range strings.Split(code, "\n") {
		_, numbers, _ := strings.Cut(line, "//!")
		for _, n := range strings.Fields(numbers) {
			place := fmt.Sprintf("%s:%d", filepath.Base(file), i+1)
			if at[n] == "" {
				at[n] = place
			} else {
				want = append(want, pair(at[n], place))
			}
		}
	}
	slices.Sort(want)
	return want
}

// places are the pairs of places of reports.
func places(list hazard.List) (got []string) {
	for _, r := range list {
		got = append(got, pair(r.First.Place.String(), r.Second.Place.String()))
	}
	slices.Sort(got)
	return got
}

// Those in testdata/check/ranks are of as many ranks as their name says, and what is
// marked is what two ranks do.
func TestCheckOfRanks(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	files, err := filepath.Glob("testdata/check/ranks/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ranks := regexp.MustCompile(`\d`).FindString(filepath.Base(file))
			folder := t.TempDir()
			cmd := gocudaKernel(t, "mpirun", "-n", ranks, self, "exec", file)
			cmd.Env = append(cmd.Env, hazard.Env+"="+folder)
			if status, out, errs := run(t, cmd); status != 0 {
				t.Errorf("exit status %d\n%s%s", status, out, errs)
			}
			n, list, err := hazard.Read(folder)
			if err != nil || fmt.Sprint(n) != ranks {
				t.Fatal(n, err)
			}
			if got, want := places(list), marked(file, string(code)); !slices.Equal(got, want) {
				t.Errorf("hazards between %q, want %q\n%s", got, want, list)
			}
			for _, r := range list {
				if r.First.Rank == r.Second.Rank || r.First.Source == "" || r.Second.Source == "" {
					t.Errorf("not of two ranks, or without their lines: %v", r)
				}
			}
			status, out, errs := run(t, gocudaKernel(t, "check", folder))
			if status != min(len(list), 1) || !strings.Contains(out, ranks+" processes") {
				t.Errorf("check: exit status %d\n%s%s", status, out, errs)
			}
		})
	}
}

// A notebook whose ranks have a hazard that no rank sees alone.
func TestCheckOfNotebook(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	status, out, errs := run(t, gocudaKernel(t, "run", "-q", "--check", "-o", filepath.Join(t.TempDir(), "out.ipynb"), "testdata/check/ranks.ipynb"))
	said := out + errs
	if status == 0 || strings.Count(said, "hazard:") != 1 {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	for _, want := range []string{
		"In[3], line 4: fill (cuMemsetAsync) writes it, on stream s of device 0, rank 0\n            x.MemsetAsync(1, s)",
		"In[3], line 8: copy (cuMemcpyAsync) reads it, on stream s of device 1, rank 1\n            cuda.MemcpyAsync(mine, theirs, s)",
		"x of rank 0", "s.Synchronize() // after In[3], line 4",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// A racy cell, and one under %%check, run again in the order that does the damage. What
// they print without it is left open.
func TestReplayOfNotebook(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	saysOf(t, "testdata/check/replay.ipynb", map[int]string{
		0:  "has reported a hazard",
		4:  "late: fill (cuMemsetAsync) at In[3], line 8, after copy (cuMemcpyAsync) at In[3], line 9\nfound: [0 0 0 0]",
		7:  "found: [8 8 8 8]", // 9 comes too late
		8:  "the check is off",
		12: "late: fill (cuMemsetAsync) at In[12], line 9, after Comm.Send at In[12], line 10\n[1] found: [0 0 0 0]",
		13: "2 ranks that run already are not checked: %mpi restart starts them again, with the check",
		14: "[]",
		15: "2 ranks that run already are not checked: write %check on, then %mpi restart",
	})
}

// Functions of cells that were not checked are seen from a checked cell, and no more
// when the check is off.
func TestCheckSeesEarlierCells(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	saysOf(t, "testdata/check/earlier.ipynb", map[int]string{
		1:  "In[1], line 9: the program writes it, on the host, called from In[2], line 3",
		2:  "[]",
		4:  "In[1], line 13: the program writes it, on the host, called from In[5], line 2",
		6:  "4 1",
		8:  "In[8], line 3: the program reads it, on the host, called from In[8], line 4",
		11: "In[11], line 3: the program reads it, on the host, called from In[12], line 2",
		16: "In[15], line 3: the program reads it, on the host, called from In[17], line 2",
	})
}

// saysOf runs a notebook, which may have hazards, and looks for a text in the outputs of
// some cells; [] is for none. No replay says that there is no hazard.
func saysOf(t *testing.T, file string, wants map[int]string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.ipynb")
	run(t, gocudaKernel(t, "run", "-q", "-o", out, file))
	nb, err := notebook.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range wants {
		if said := fmt.Sprint(nb.Cells[i].Outputs); !strings.Contains(said, want) || want == "[]" && said != want {
			t.Errorf("cell %d: no %q in\n%s", i, want, said)
		}
	}
	for i, c := range nb.Cells {
		if said := fmt.Sprint(c.Outputs); strings.HasPrefix(c.Source, "%check replay") && strings.Contains(said, "no hazard") {
			t.Errorf("cell %d shows a hazard's damage, and says\n%s", i, said)
		}
	}
}

// pair is two places in any order.
func pair(a, b string) string {
	if b < a {
		a, b = b, a
	}
	return a + " " + b
}

// Memory that no variable of the notebook holds is named by the line that allocated it.
func TestCheckNamesAllocations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "unnamed.ipynb")
	nb := &notebook.Notebook{Cells: []*notebook.Cell{{Kind: notebook.Code, Source: `%%check
func() {
	d := must(cuda.Get(0))
	a, b := must(d.NewStream()), must(d.NewStream())
	x := must(d.Alloc(1024, cuda.Float32))
	x.MemsetAsync(0, a)
	x.MemsetAsync(1, b)
	d.Synchronize()
	runtime.KeepAlive(x)
}()`}}}
	if err := nb.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := run(t, gocudaKernel(t, "run", file, "-o", file)); status != 0 {
		t.Fatalf("exit status %d\n%s%s", status, out, errs)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "on 4 KiB of memory, what was allocated at In[1], line 5"; !strings.Contains(string(text), want) {
		t.Errorf("no %q in %s", want, text)
	}
}
