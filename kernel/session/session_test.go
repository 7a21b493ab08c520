//go:build unix

package session_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ebitengine/purego"
	"gocuda/kernel/display"

	. "gocuda/kernel/session"
	"gocuda/kernel/session/sessiontest"
)

// The evaluators of these tests are this test binary again, started with
// GOCUDA_TEST_EVALUATOR set, so that processes, pipes and signals are real.
// Their cells are the small commands of fakeEvaluator.
func TestMain(m *testing.M) {
	switch os.Getenv("GOCUDA_TEST_EVALUATOR") {
	case "":
		os.Exit(m.Run())
	case "fake":
		if err := ServeParent(newFake); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "kernel":
		playKernel()
	case "dies at start":
		log, err := os.OpenFile(os.Getenv("GOCUDA_TEST_LOG"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		log.WriteString("started ")
		fmt.Fprintln(os.Stderr, "no sun today")
		os.Exit(7)
	case "talks nonsense":
		syscall.Write(LinkFD, []byte("GET / HTTP/1.1\r\n\r\n"))
		time.Sleep(time.Minute)
	}
}

// playKernel starts a session, runs a cell in it and tells the evaluator's
// process id.
func playKernel() {
	started := make(chan bool, 1)
	s, err := Start(Options{
		Command: []string{os.Args[0]},
		Env:     []string{"GOCUDA_TEST_EVALUATOR=fake"},
		Output:  func(o Output) { started <- true },
	})
	if err != nil {
		panic(err)
	}
	go s.Execute(Cell{Code: "print runs\n" + os.Getenv("GOCUDA_TEST_CELL")})
	<-started
	fmt.Println(s.LivePid())
	select {}
}

func startKernelProcess(t *testing.T, cell string) (parent *exec.Cmd, evaluator int) {
	t.Helper()
	parent = exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "GOCUDA_TEST_EVALUATOR=kernel", "GOCUDA_TEST_CELL="+cell)
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err == nil {
		_, err = fmt.Fscan(out, &evaluator)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parent, evaluator
}

// fakeEvaluator runs cells made of lines "command argument...".
type fakeEvaluator struct {
	console   *Console
	variable  string
	mu        sync.Mutex
	interrupt chan struct{} // closed at an interrupt, made again for each cell
	count     int           // of the cell's interrupts
}

func newFake(c *Console) (Evaluator, error) {
	return &fakeEvaluator{console: c, interrupt: make(chan struct{})}, nil
}

func (f *fakeEvaluator) InterruptShell(string) {}

func (f *fakeEvaluator) Debug(r json.RawMessage) (json.RawMessage, error) { return r, nil }
func (f *fakeEvaluator) Interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count++; f.count == 1 {
		close(f.interrupt)
	}
}

func (f *fakeEvaluator) Execute(cell Cell) (r Result) {
	f.mu.Lock()
	f.interrupt, f.count = make(chan struct{}), 0
	f.mu.Unlock()
	for line := range strings.Lines(cell.Code) {
		command, argument, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if command == "value" {
			r.Value = &display.Bundle{Data: map[string]any{"text/plain": argument}}
		} else if err := f.do(command, argument); err != nil {
			r.Err = NewError("Failed", err.Error())
			return Result{Err: r.Err}
		}
	}
	return r
}

func recurse(n int) int {
	var large [1000]int
	large[n%len(large)] = n
	return recurse(n+1) + large[n%7] //lint:ignore SA5007 the stack is to overflow
}

func (f *fakeEvaluator) do(command, argument string) error {
	n, _ := strconv.Atoi(argument)
	switch command {
	case "print":
		fmt.Println(argument)
	case "warn":
		fmt.Fprintln(os.Stderr, argument)
	case "bytes":
		var b []byte
		fmt.Sscanf(argument, "%x", &b)
		os.Stdout.Write(b)
	case "lines":
		for i := range n {
			fmt.Println("line", i)
		}
	case "flood": // megabytes
		chunk := []byte(strings.Repeat(strings.Repeat("x", 63)+"\n", 1<<14))
		for range n {
			os.Stdout.Write(chunk)
		}
	case "show":
		b := display.Bundle{Data: map[string]any{"text/plain": argument}}
		return f.console.Show(Output{Kind: Display, Bundle: b})
	case "unshowable":
		b := display.Bundle{Data: map[string]any{"application/json": func() {}}}
		return f.console.Show(Output{Kind: Display, Bundle: b})
	case "set":
		f.variable = argument
	case "get":
		fmt.Println(f.variable)
	case "env":
		fmt.Println(os.Getenv(argument))
	case "pwd":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "pid":
		fmt.Println(os.Getpid())
	case "read":
		n, err := os.Stdin.Read(make([]byte, 1))
		fmt.Println(n, err == io.EOF)
	case "wait":
		<-f.interrupt
		return fmt.Errorf("stopped")
	case "stubborn": // does not hear the first interrupts
		for {
			time.Sleep(time.Millisecond)
			f.mu.Lock()
			count := f.count
			f.mu.Unlock()
			if count >= n {
				return fmt.Errorf("stopped")
			}
		}
	case "sleep":
		time.Sleep(time.Duration(n) * time.Millisecond)
	case "deaf":
		time.Sleep(time.Hour)
	case "input", "password":
		text, err := f.console.Input(argument, command == "password")
		if err != nil {
			return err
		}
		fmt.Println("got", text)
	case "later": // prints when the cell has ended
		go func() {
			time.Sleep(50 * time.Millisecond)
			fmt.Println(argument)
		}()
	case "leave": // when the cell has ended
		go func() {
			time.Sleep(50 * time.Millisecond)
			fmt.Fprintln(os.Stderr, "it leaves")
			time.Sleep(time.Duration(n) * time.Millisecond)
			os.Exit(3)
		}()
	case "panic":
		panic(argument)
	case "gopanic":
		go panic(argument)
		select {}
	case "exit":
		purego.SyscallN(sessiontest.CFunction("exit"), uintptr(n))
	case "recurse":
		recurse(0)
	case "segfault":
		purego.SyscallN(sessiontest.CFunction("strlen"), 0)
	case "abort":
		purego.SyscallN(sessiontest.CFunction("abort"))
	case "fatal":
		runtime.GOMAXPROCS(8) // on one processor, too, one writes in the midst of another
		m := map[int]int{}
		for range 8 {
			go func() {
				for i := 0; ; i++ {
					m[i%100] = i
				}
			}()
		}
		select {}
	case "kill":
		syscall.Kill(os.Getpid(), syscall.Signal(n))
		select {}
	case "puts":
		purego.SyscallN(sessiontest.CFunction("puts"), sessiontest.CString(argument))
	case "printf":
		purego.SyscallN(sessiontest.CFunction("printf"), sessiontest.CString("%s"), sessiontest.CString(argument))
	case "nonsense":
		syscall.Write(MovedLink, []byte(argument))
	case "close":
		syscall.Close(n)
	case "unlink":
		syscall.Close(MovedLink)
	case "shell":
		c := exec.Command("sh", "-c", argument)
		c.Stdout = os.Stdout
		return c.Start()
	default:
		return fmt.Errorf("unknown command %q", command)
	}
	return nil
}

func (f *fakeEvaluator) Complete(code string, cursor int) (Completion, error) {
	if code == "panic" {
		panic("no answer")
	}
	return Completion{Start: cursor - 1, End: cursor, Matches: []Match{{Text: code + "!", Kind: "function"}}}, nil
}

func (f *fakeEvaluator) Inspect(code string, cursor, detail int) (*display.Bundle, error) {
	if code == "" {
		return nil, nil
	}
	return &display.Bundle{Data: map[string]any{"text/plain": fmt.Sprint(code, cursor, detail)}}, nil
}

func (f *fakeEvaluator) Where() (Place, error) { return Place{Cell: "In[7]", Line: 3}, nil }
func (f *fakeEvaluator) Close() error          { return nil }

func (f *fakeEvaluator) IsComplete(code string) (Completeness, error) {
	return Completeness{Status: "incomplete", Indent: "\t"}, nil
}
