package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/notebook"
)

// Tests start this test binary again as gocuda-kernel, which in turn starts
// its evaluator the same way: real processes, pipes and signals.
func TestMain(m *testing.M) {
	if name := os.Getenv("GOCUDA_TEST_WRITE"); name != "" {
		playWriter(name, os.Getenv("GOCUDA_TEST_DIR"))
	}
	if os.Getenv("GOCUDA_TEST_AS_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

func gocudaKernel(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append([]string{"GOCUDA_SIM_CUDA=c++"}, os.Environ()...) // unless the tests' own says otherwise
	cmd.Env = append(cmd.Env, "GOCUDA_TEST_AS_COMMAND=1", "GOCUDA_BACKEND=sim", "GORACE=atexit_sleep_ms=0 report_bugs=0")
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs a command to its end.
func run(t *testing.T, cmd *exec.Cmd) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestExec(t *testing.T) {
	for name, c := range map[string]struct {
		program        string
		args           []string
		stdin          string
		status         int
		stdout, stderr string // stdout whole, stderr's part
	}{
		"a program": {
			program: "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n",
			stdout:  "hello\n",
		},
		"main runs once, after init": {
			program: "package main\n\nimport \"os\"\n\nvar x = f()\n\nfunc f() int { println2(\"var\"); return 1 }\n\nfunc println2(s string) { print2(s) }\n\nfunc print2(s string) { os.Stdout.WriteString(s + \" \") }\n\nfunc init() { print2(\"init\") }\n\nfunc main() { print2(\"main\") }\n",
			stdout:  "var init main ",
		},
		"arguments": {
			program: "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() { fmt.Println(os.Args[1:], len(os.Args)) }\n",
			args:    []string{"-x", "a b"},
			stdout:  "[-x a b] 3\n",
		},
		"standard input": {
			program: "package main\n\nimport (\n\t\"io\"\n\t\"os\"\n)\n\nfunc main() { io.Copy(os.Stdout, os.Stdin) }\n",
			stdin:   "echo", stdout: "echo",
		},
		"a panic": {
			program: "package main\n\nfunc main() {\n\tvar m map[string]int\n\tm[\"a\"] = 1\n}\n",
			status:  2, stderr: "assignment to entry in nil map",
		},
		"a panic in a goroutine": {
			program: "package main\n\nimport \"time\"\n\nfunc main() {\n\tgo func() { panic(\"aside\") }()\n\ttime.Sleep(time.Hour)\n}\n",
			status:  2, stderr: "aside",
		},
		"a recursion without end": {
			program: "package main\n\nfunc f(n int) int { return f(n+1) + n }\n\nfunc main() { println(f(0)) }\n",
			status:  2, stderr: "fatal error: stack overflow: a function calls itself without end, or too deeply\n",
		},
		"a compile error": {
			program: "package main\n\nfunc main() {\n\tvar s string = 1\n\t_ = s\n}\n",
			status:  1, stderr: "4:",
		},
		"a syntax error": {
			program: "package main\n\nfunc main() {\n",
			status:  1, stderr: "syntax error: the { of line 3, column 13 is not closed",
		},
		"os.Exit": {
			program: "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tfmt.Print(\"out\")\n\tdefer fmt.Print(\"never\")\n\tos.Exit(7)\n}\n",
			status:  7, stdout: "out",
		},
		"os.Exit(0) in a goroutine": {
			program: "package main\n\nimport (\n\t\"os\"\n\t\"time\"\n)\n\nfunc main() {\n\tgo os.Exit(0)\n\ttime.Sleep(time.Hour)\n}\n",
		},
		"log.Fatal": {
			program: "package main\n\nimport \"log\"\n\nfunc main() { log.Fatal(\"fatal words\") }\n",
			status:  1, stderr: "fatal words",
		},
		"a script of cells": {
			program: "// %% [markdown]\n// # Title\n\n// %%\nfmt.Println(os.Args[1:])\nname := \"echo\"\n\n// %%\n6 * 7\n\n// %% tags=[\"raises-exception\"]\npanic(\"meant\")\n\n// %%\n// !echo $((1+1))\nname\n",
			args:    []string{"-x", "a b"}, stdout: "[-x a b]\n42\n2\n\"echo\"\n",
		},
		"a script whose cell fails": {
			program: "// %%\nfmt.Println(1)\n\n// %%\npanic(\"not meant\")\n\n// %%\nfmt.Println(2)\n",
			status:  1, stdout: "1\n", stderr: "not meant",
		},
		"goroutines left behind do not keep it": {
			program: "package main\n\nfunc main() {\n\tgo func() { select {} }()\n\tprintln(\"done\")\n}\n",
			stderr:  "done\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "prog.go")
			if err := os.WriteFile(file, []byte(c.program), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := gocudaKernel(t, append([]string{"exec", file}, c.args...)...)
			cmd.Stdin = strings.NewReader(c.stdin)
			status, stdout, stderr := run(t, cmd)
			if status != c.status || stdout != c.stdout || !strings.Contains(stderr, c.stderr) || c.stderr == "" && stderr != "" {
				t.Errorf("status %d, want %d; stdout %q, want %q; stderr %q, want %q", status, c.status, stdout, c.stdout, stderr, c.stderr)
			}
		})
	}
}

func TestExecWithoutAFile(t *testing.T) {
	status, _, stderr := run(t, gocudaKernel(t, "exec", filepath.Join(t.TempDir(), "none.go")))
	if status != 1 || !strings.Contains(stderr, "none.go") {
		t.Errorf("%d %s", status, stderr)
	}
}

func writeNotebook(t *testing.T, path string, cells ...string) {
	t.Helper()
	nb := &notebook.Notebook{Minor: 5}
	for _, c := range cells {
		nb.Cells = append(nb.Cells, &notebook.Cell{Kind: notebook.Code, Source: c})
	}
	nb.Upgrade()
	if err := nb.WriteFile(path); err != nil {
		t.Fatal(err)
	}
}

// texts are the streams, and the plain text of values and errors, by cell.
func texts(t *testing.T, path string) []string {
	t.Helper()
	nb, err := notebook.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range nb.Cells {
		var b strings.Builder
		for _, o := range c.Outputs {
			switch {
			case o["output_type"] == "stream":
				b.WriteString(o["text"].(string))
			case o["output_type"] == "error":
				b.WriteString("error: " + o["evalue"].(string))
			default:
				text, _ := o["data"].(map[string]any)["text/plain"].(string)
				b.WriteString("value: " + text)
			}
		}
		all = append(all, b.String())
	}
	return all
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.ipynb"), filepath.Join(dir, "a.executed.ipynb")
	writeNotebook(t, in, "x := 41", "fmt.Println(x)\nx + 1", "panic(\"on purpose\")", "x")
	status, stdout, stderr := run(t, gocudaKernel(t, "run", in))
	if status != 1 || stdout != "" || !strings.Contains(stderr, "cell 3 of 4") || !strings.Contains(stderr, "on purpose") || strings.Contains(stderr, "\x1b") {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
	got := texts(t, out)
	if got[1] != "41\nvalue: 42" || !strings.HasPrefix(got[2], "error: ") || got[3] != "" {
		t.Errorf("saved %q", got)
	}
	status, _, stderr = run(t, gocudaKernel(t, "run", "--allow-errors", in, "--inplace", "-q"))
	if got := texts(t, in); status != 0 || got[3] != "value: 41" || stderr != "" {
		t.Errorf("with errors allowed: status %d, saved %q, %s", status, got, stderr)
	}
}

// With --solutions a notebook's exercises are solved, and must be judged right.
func TestRunSolutions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.ipynb"), filepath.Join(dir, "a.executed.ipynb")
	for _, c := range []struct {
		args         []string
		solution     string
		status       int
		says, stderr string
	}{
		{nil, "x * x", 0, "exercise 1: not solved yet", ""},
		{[]string{"--solutions"}, "x * x", 0, "exercise 1: right", ""},
		{[]string{"--solutions"}, "x + x", 1, "exercise 1: wrong: 6, want 9", `exercise 1: the judge says "wrong: 6, want 9"`},
	} {
		cell := func(kind, tag, source string) *notebook.Cell {
			return &notebook.Cell{Kind: kind, Source: source, Metadata: map[string]any{"tags": []any{tag}}}
		}
		nb := &notebook.Notebook{Minor: 5, Cells: []*notebook.Cell{
			cell(notebook.Code, "exercise:1", "func square(x int) int {\n\ttodo()\n\treturn 0\n}"),
			cell(notebook.Code, "judge:1", "judge(\"1\", func() { check(square(3) == 9, \"%d, want 9\", square(3)) })"),
			cell(notebook.Markdown, "solution:1", "<details>\n\n```go\nfunc square(x int) int { return "+c.solution+" }\n```\n\n</details>"),
		}}
		if err := nb.WriteFile(in); err != nil {
			t.Fatal(err)
		}
		status, _, stderr := run(t, gocudaKernel(t, append([]string{"run", in}, c.args...)...))
		if got := texts(t, out)[1]; status != c.status || strings.TrimSpace(got) != c.says || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%v with %s: status %d, %q, %s", c.args, c.solution, status, got, stderr)
		}
	}
}

// A notebook of another language is left as it is.
func TestRunOfAnotherLanguage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.ipynb")
	const text = `{"cells": [{"cell_type": "code", "source": "print(1)", "metadata": {}, "outputs": []}],
 "metadata": {"kernelspec": {"name": "python3", "language": "python"}}, "nbformat": 4, "nbformat_minor": 4}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := run(t, gocudaKernel(t, "run", "--inplace", path))
	after, err := os.ReadFile(path)
	if status != 1 || !strings.Contains(stderr, "is written in python, not in Go") || err != nil || string(after) != text {
		t.Errorf("status %d, %s, %v, %s", status, stderr, err, after)
	}
}

func TestRunThroughPipes(t *testing.T) {
	t.Parallel()
	in := filepath.Join(t.TempDir(), "a.ipynb")
	writeNotebook(t, in, "1 + 1")
	f, err := os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := gocudaKernel(t, "run", "-")
	cmd.Stdin = f
	status, stdout, stderr := run(t, cmd)
	nb, err := notebook.Parse([]byte(stdout))
	if status != 0 || err != nil || len(nb.Cells[0].Outputs) != 1 {
		t.Errorf("status %d, %v, %s%s", status, err, stdout, stderr)
	}
}

func TestRunIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.ipynb"), filepath.Join(dir, "out.ipynb")
	writeNotebook(t, in, "x := 1", "os.WriteFile(\"runs\", nil, 0o644)\nfor {\n}", "2")
	cmd := gocudaKernel(t, "run", in, "-o", out)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		if _, err := os.Stat(filepath.Join(dir, "runs")); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	status := cmd.ProcessState.ExitCode()
	if got := texts(t, out); status != 130 || !strings.HasPrefix(got[1], "error: ") || got[2] != "" {
		t.Errorf("status %d, saved %q, %s", status, got, stderr.String())
	}
}

func TestDoctorWithRealChildren(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := run(t, gocudaKernel(t, "doctor", "--json"))
	if status != 0 || !strings.Contains(stdout, `"backend":`) || !strings.Contains(stdout, `"NVIDIA driver"`) || stderr != "" {
		t.Errorf("status %d, %s%s", status, stdout, stderr)
	}
}

// The cells' work and what the command saves are the same in this process and in
// one of their own.
func TestRunInProcess(t *testing.T) {
	dir := t.TempDir()
	nb := filepath.Join(dir, "in.ipynb")
	cells := []string{
		`import "os"` + "\n" + `fmt.Println("out"); fmt.Fprintln(os.Stderr, "err"); os.Getwd()`,
		"%mpi start -n 2", "%%mpi\nrank * 10", "!echo child",
		"func() { panic(`at the end`) }()",
	}
	var list []string
	for i, c := range cells {
		list = append(list, fmt.Sprintf(`{"cell_type":"code","id":"c%d","metadata":{},"outputs":[],"execution_count":null,"source":%q}`, i, c))
	}
	text := `{"cells":[` + strings.Join(list, ",") + `],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	if err := os.WriteFile(nb, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(out string, more ...string) string {
		args := append([]string{"run", "-q", "-o", out}, more...)
		cmd := gocudaKernel(t, append(args, "in.ipynb")...)
		cmd.Dir = dir
		said, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(said), "at the end") || strings.Contains(string(said), "child") {
			t.Errorf("%v: %v\n%s", more, err, said)
		}
		b, err := os.ReadFile(filepath.Join(dir, out))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	own, here := run("own.ipynb"), run("here.ipynb", "-in-process")
	if own != here || !strings.Contains(own, "[1] 10") || !strings.Contains(own, "child") {
		t.Errorf("in a process of its own:\n%s\nin this one:\n%s", own, here)
	}
}
