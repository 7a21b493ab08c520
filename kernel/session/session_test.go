//go:build unix

package session

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"gocuda/kernel/display"
)

// The evaluators of these tests are this test binary again, started with
// GOCUDA_TEST_EVALUATOR set, so that processes, pipes and signals are real.
// Their cells are the small commands of fakeInterpreter.
func TestMain(m *testing.M) {
	switch os.Getenv("GOCUDA_TEST_EVALUATOR") {
	case "":
		os.Exit(m.Run())
	case "fake":
		stream, err := inheritedLink()
		linkMoved = int(stream)
		if err == nil {
			err = Serve(stream, newFake)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "real":
		if err := Evaluate(func(*Host) Extension { return Extension{Builtins: testFunctions} }); err != nil {
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
		syscall.Write(linkFD, []byte("GET / HTTP/1.1\r\n\r\n"))
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
	fmt.Println(live(s).proc.pid())
	select {}
}

// live returns the current evaluator.
func live(s *Session) *evaluator {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
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

// fakeInterpreter runs cells made of lines "command argument...".
type fakeInterpreter struct {
	console   *Console
	variable  string
	mu        sync.Mutex
	interrupt chan struct{} // closed at an interrupt, made anew for each cell
	count     int           // of the cell's interrupts
}

// linkMoved is where the evaluator's link is.
var linkMoved int

func newFake(c *Console) (Interpreter, error) {
	return &fakeInterpreter{console: c, interrupt: make(chan struct{})}, nil
}

func (f *fakeInterpreter) Interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count++; f.count == 1 {
		close(f.interrupt)
	}
}

func (f *fakeInterpreter) Run(cell Cell) (value *display.Bundle, r Result) {
	f.mu.Lock()
	f.interrupt, f.count = make(chan struct{}), 0
	f.mu.Unlock()
	for line := range strings.Lines(cell.Code) {
		command, argument, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if command == "value" {
			value = &display.Bundle{Data: map[string]any{"text/plain": argument}}
		} else if err := f.do(command, argument); err != nil {
			r.Err = plainError("Failed", err.Error())
			return nil, r
		}
	}
	return value, r
}

func cFunction(name string) uintptr {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	if err != nil {
		panic(err)
	}
	return address
}

// address returns a C string. It leaks: C may keep it.
func address(s string) uintptr {
	b := append([]byte(s), 0)
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

var kept [][]byte

func recurse(n int) int {
	var large [1000]int
	large[n%len(large)] = n
	return recurse(n+1) + large[n%7]
}

func (f *fakeInterpreter) do(command, argument string) error {
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
	case "panic":
		panic(argument)
	case "gopanic":
		go panic(argument)
		select {}
	case "exit":
		purego.SyscallN(cFunction("exit"), uintptr(n))
	case "recurse":
		recurse(0)
	case "segfault":
		purego.SyscallN(cFunction("strlen"), 0)
	case "abort":
		purego.SyscallN(cFunction("abort"))
	case "fatal":
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
		purego.SyscallN(cFunction("puts"), address(argument))
	case "printf":
		purego.SyscallN(cFunction("printf"), address("%s"), address(argument))
	case "close":
		syscall.Close(n)
	case "unlink":
		syscall.Close(linkMoved)
	case "nonsense":
		syscall.Write(linkMoved, []byte(argument))
	case "shell":
		c := exec.Command("sh", "-c", argument)
		c.Stdout = os.Stdout
		return c.Start()
	default:
		return fmt.Errorf("unknown command %q", command)
	}
	return nil
}

func (f *fakeInterpreter) Complete(code string, cursor int) Completion {
	if code == "panic" {
		panic("no answer")
	}
	return Completion{Start: cursor - 1, End: cursor, Matches: []Match{{Text: code + "!", Kind: "function"}}}
}

func (f *fakeInterpreter) Inspect(code string, cursor, detail int) *display.Bundle {
	if code == "" {
		return nil
	}
	return &display.Bundle{Data: map[string]any{"text/plain": fmt.Sprint(code, cursor, detail)}}
}

func (f *fakeInterpreter) Where() Place { return Place{Cell: "In[7]", Line: 3} }

func (f *fakeInterpreter) IsComplete(code string) Completeness {
	return Completeness{Status: "incomplete", Indent: "\t"}
}

// harness is a session with what it has shown.
type harness struct {
	*Session
	t  testing.TB
	mu sync.Mutex
	// outputs has neighbouring texts of one stream joined.
	outputs []Output
	calls   int
	arrived chan struct{}
}

func start(t testing.TB, change func(*Options)) *harness {
	t.Helper()
	h := &harness{t: t, arrived: make(chan struct{}, 1)}
	o := Options{
		Command: []string{os.Args[0]},
		// The race detector would have each process sleep when it exits.
		Env:    []string{"GOCUDA_TEST_EVALUATOR=fake", "GORACE=atexit_sleep_ms=0"},
		Output: h.receive,
	}
	if change != nil {
		change(&o)
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	h.Session = s
	t.Cleanup(func() { s.Close() })
	return h
}

func (h *harness) receive(o Output) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
	if n := len(h.outputs); n > 0 && o.Text != "" && h.outputs[n-1].Kind == o.Kind {
		h.outputs[n-1].Text += o.Text
	} else {
		h.outputs = append(h.outputs, o)
	}
	select {
	case h.arrived <- struct{}{}:
	default:
	}
}

// shown returns what was shown since the last call, as one text.
func (h *harness) shown() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, o := range h.outputs {
		switch o.Kind {
		case Stdout:
			b.WriteString(o.Text)
		case Stderr:
			b.WriteString("[stderr]" + o.Text)
		default:
			fmt.Fprintf(&b, "[%s %v]\n", o.Kind, o.Bundle.Data["text/plain"])
		}
	}
	h.outputs, h.calls = nil, 0
	return b.String()
}

// within fails the test instead of letting it hang.
func within[T any](t testing.TB, what string, f func() T) T {
	t.Helper()
	c := make(chan T, 1)
	go func() { c <- f() }()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatalf("%s has not returned after 30 s", what)
		panic("unreachable")
	}
}

func (h *harness) execute(code string) Result {
	h.t.Helper()
	return within(h.t, code, func() Result {
		return h.Execute(Cell{Name: "In[1]", Code: code, AllowInput: true})
	})
}

func (h *harness) succeed(code string) {
	h.t.Helper()
	if r := h.execute(code); r.Err != nil {
		h.t.Fatalf("%q: %v", code, r.Err)
	}
}

// shows runs a cell that must succeed with this output.
func (h *harness) shows(code, want string) {
	h.t.Helper()
	h.shown()
	h.succeed(code)
	if got := h.shown(); got != want {
		h.t.Fatalf("%q shows %q, want %q", code, got, want)
	}
}

// until waits for the condition.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after 30 s still not: %s", what)
		}
	}
}
