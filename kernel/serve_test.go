//go:build unix

package kernel

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

// The test binary is also a kernel with a scripted evaluator, when it is told so.
func TestMain(m *testing.M) {
	if file := os.Getenv("GOCUDA_TEST_HISTORY"); file != "" {
		h := openHistory(file, slog.New(slog.DiscardHandler))
		for line := 1; ; line++ {
			h.addInput(line, strings.Repeat("x", line%5000)+" end")
		}
	}
	if file := os.Getenv("GOCUDA_TEST_SERVE"); file != "" {
		evaluator := newScripted()
		if err := Serve(context.Background(), file, Options{Start: evaluator.start, HistoryFile: "off"}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {
		case <-evaluator.closed:
			fmt.Println("the evaluator is closed")
		default:
		}
		os.Exit(0)
	}
	if command := os.Getenv("GOCUDA_TEST_PARENT"); command != "" {
		// Starts a kernel, as a Jupyter server does, and is killed.
		kernel := exec.Command(os.Args[0])
		kernel.Env = append(os.Environ(), "GOCUDA_TEST_PARENT=", "GOCUDA_TEST_SERVE="+command, "JPY_PARENT_PID="+fmt.Sprint(os.Getpid()))
		kernel.Stdout, kernel.Stderr = os.Stdout, os.Stderr
		fmt.Fprintln(os.Stderr, kernel.Run())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// process is a kernel in a process of its own.
type process struct {
	*exec.Cmd
	client *client
	ended  chan error
	output *strings.Builder
}

func startProcess(t *testing.T, env string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kernel.json")
	text := fmt.Sprintf(`{"transport":"tcp","ip":"127.0.0.1","key":%q}`, testKey)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(os.Args[0]), ended: make(chan error, 1), output: &strings.Builder{}}
	p.Env = append(os.Environ(), env+"="+file)
	p.Stdout, p.Stderr = p.output, p.output
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	go func() { p.ended <- p.Wait() }()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if c, err := wire.ReadConnection(file); err == nil && c.ShellPort != 0 {
			p.client = connect(t, c)
			return p
		}
		if time.Now().After(deadline) {
			t.Fatal("the kernel did not start")
		}
	}
}

// ends checks that the process ends by itself, with its evaluator closed.
func (p *process) ends(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.ended:
		if err != nil || !strings.Contains(p.output.String(), "the evaluator is closed") {
			t.Errorf("ended with %v: %s", err, p.output)
		}
	case <-time.After(patience):
		t.Error("the kernel goes on")
	}
}

func TestShutdownRepliesAndEnds(t *testing.T) {
	for _, ch := range []wire.Channel{wire.Control, wire.Shell} {
		for _, restart := range []bool{false, true} {
			p := startProcess(t, "GOCUDA_TEST_SERVE")
			p.client.execute("print x")
			reply, published := p.client.ask(ch, "shutdown_request", map[string]any{"restart": restart})
			if reply.Type != "shutdown_reply" || reply.text("status") != "ok" || reply.Content["restart"] != restart {
				t.Errorf("%s: %+v", ch, reply)
			}
			if len(published) != 1 || published[0].Type != "shutdown_reply" {
				t.Errorf("%s: published %+v", ch, published)
			}
			p.ends(t)
		}
	}
}

func TestShutdownEndsARunningCell(t *testing.T) {
	p := startProcess(t, "GOCUDA_TEST_SERVE")
	id := p.client.send(wire.Shell, "execute_request", map[string]any{"code": "block"})
	for p.client.next(wire.IOPub).Type != "execute_input" {
	}
	p.client.send(wire.Control, "shutdown_request", map[string]any{"restart": false})
	if reply := p.client.next(wire.Control); reply.text("status") != "ok" {
		t.Errorf("%+v", reply)
	}
	if reply := p.client.next(wire.Shell); reply.Parent != id || reply.text("status") != "error" {
		t.Errorf("the running cell: %+v", reply)
	}
	p.ends(t)
}

func TestSignals(t *testing.T) {
	p := startProcess(t, "GOCUDA_TEST_SERVE")
	id := p.client.send(wire.Shell, "execute_request", map[string]any{"code": "block"})
	for p.client.next(wire.IOPub).Type != "execute_input" {
	}
	for interrupted := false; !interrupted; { // the cell may not have begun yet
		p.Process.Signal(syscall.SIGINT)
		select {
		case reply := <-p.client.inbox[wire.Shell]:
			interrupted = true
			if reply.Parent != id || reply.text("ename") != "Interrupted" {
				t.Errorf("%+v", reply)
			}
		case <-time.After(100 * time.Millisecond):
		}
	}
	p.Process.Signal(syscall.SIGTERM)
	p.ends(t)
}

// A kernel does not outlive the server that started it.
func TestAnOrphanEnds(t *testing.T) {
	p := startProcess(t, "GOCUDA_TEST_PARENT")
	p.Process.Kill()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.client.conn.Endpoint(wire.Shell), "tcp://"))
		if err != nil {
			return // nobody is there
		}
		c.Close()
		if time.Now().After(deadline) {
			t.Fatal("the kernel goes on")
		}
	}
}

func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	options := Options{HistoryFile: "off", Start: func(output func(session.Output), input session.InputFunc) (session.Evaluator, error) {
		t.Error("an evaluator was started for nothing")
		return newScripted().start(output, input)
	}}
	if err := Serve(t.Context(), filepath.Join(dir, "none.json"), options); err == nil || !strings.Contains(err.Error(), "none.json") {
		t.Errorf("a missing connection file: %v", err)
	}
	first := startKernel(t, Options{Start: newScripted().start})
	file := filepath.Join(dir, "taken.json")
	if err := first.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := Serve(t.Context(), file, options); err == nil || !strings.Contains(err.Error(), "shell socket") {
		t.Errorf("ports in use: %v", err)
	}
}

// An evaluator that does not start is an error of the cell, and is tried again
// by the next.
func TestAnEvaluatorThatDoesNotStart(t *testing.T) {
	evaluator, tries := newScripted(), 0
	c := connect(t, startKernel(t, Options{Start: func(o func(session.Output), i session.InputFunc) (session.Evaluator, error) {
		if tries++; tries < 3 {
			return nil, fmt.Errorf("no such program")
		}
		return evaluator.start(o, i)
	}}))
	reply, _ := c.execute("print x") // the second try, after the kernel's own
	if reply.text("status") != "error" || !strings.Contains(reply.text("evalue"), "no such program") {
		t.Errorf("%+v", reply)
	}
	if reply, _ := c.execute("print x"); reply.text("status") != "ok" {
		t.Errorf("%+v", reply)
	}
}
