// Command compare says where the debugger stops and where Delve stops, when programs
// are debugged by both: breakpoints at the functions of a program, and a step over
// ("next") at each stop.
//
//	go run ./kernel/debugger/compare -dlv PATH [-stops 300] PROGRAM.go...
//
// Without -dlv it counts at how many lines with statements a breakpoint binds.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gocuda/kernel/debugger"
	"gocuda/kernel/golang"
)

func main() {
	dlv := flag.String("dlv", "", "Delve; without it, breakpoints are counted")
	stops := flag.Int("stops", 300, "how many stops of each program are compared")
	show := flag.Bool("v", false, "show the stops that differ")
	flag.Parse()
	if *dlv == "" {
		os.Exit(bind(flag.Args()))
	}
	same, all, whole, failed := 0, 0, 0, 0
	for _, name := range flag.Args() {
		want, err := byDelve(*dlv, name, *stops)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: Delve: %v\n", name, err)
			failed++
			continue
		}
		got, err := byOurs(name, *stops)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			failed++
			continue
		}
		n := common(want, got)
		total := max(len(want), len(got))
		fmt.Printf("%-30s %4d stops of Delve, %4d of ours, %4d the same, in order\n", filepath.Base(name), len(want), len(got), n)
		if *show && n < total {
			differ(name, want, got)
		}
		same, all = same+n, all+total
		if n == total {
			whole++
		}
	}
	fmt.Printf("%d programs, %d of them the same throughout; %d of %d stops the same (%.1f %%)\n", flag.NArg()-failed, whole, same, all, 100*float64(same)/float64(max(all, 1)))
	if failed > 0 {
		os.Exit(1)
	}
}

// bind counts the lines at which a statement begins, and those of them where a
// breakpoint stays.
func bind(names []string) (status int) {
	bound, all := 0, 0
	for _, name := range names {
		code, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		lines := statements(name, string(code))
		c, err := ours(string(code), nil)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			return 1
		}
		n := 0
		for _, b := range c.set(lines) {
			if b.Verified && slices.Contains(lines, b.Line) && b.Line == lines[b.at] {
				n++
			}
		}
		c.server.Close()
		if n < len(lines) {
			fmt.Printf("%-30s %d of %d\n", filepath.Base(name), n, len(lines))
		}
		bound, all = bound+n, all+len(lines)
	}
	fmt.Printf("breakpoints bind at %d of %d lines with statements (%.2f %%)\n", bound, all, 100*float64(bound)/float64(max(all, 1)))
	return 0
}

// statements are the lines at which a statement of a function begins.
func statements(name, code string) (lines []int) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, code, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt, *ast.EmptyStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
		case *ast.DeclStmt:
			if d := n.Decl.(*ast.GenDecl); d.Tok == token.VAR && len(d.Specs) == 1 {
				lines = append(lines, fset.Position(d.Pos()).Line)
			}
		case ast.Stmt:
			lines = append(lines, fset.Position(n.Pos()).Line)
		}
		return true
	})
	slices.Sort(lines)
	return slices.Compact(lines)
}

// functions are the lines at which functions begin.
func functions(code string) (lines []int) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", code, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range f.Decls {
		if fun, ok := d.(*ast.FuncDecl); ok && fun.Body != nil && fun.Type.TypeParams == nil && fun.Name.Name != "init" {
			lines = append(lines, fset.Position(fun.Pos()).Line)
		}
	}
	return lines
}

// common is the length of the longest common subsequence.
func common(a, b []int) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		before := 0
		for j, y := range b {
			now := row[j+1]
			if x == y {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			before = now
		}
	}
	return row[len(b)]
}

// differ shows the first stops that differ.
func differ(name string, want, got []int) {
	code, _ := os.ReadFile(name)
	lines := strings.Split(string(code), "\n")
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	text := func(list []int) {
		for _, line := range list[min(max(i-1, 0), len(list)):min(i+4, len(list))] {
			if line < 1 || line > len(lines) {
				fmt.Printf("      %4d of another file\n", line)
				continue
			}
			fmt.Printf("      %4d %s\n", line, strings.TrimSpace(lines[line-1]))
		}
	}
	fmt.Println("    Delve:")
	text(want)
	fmt.Println("    ours:")
	text(got)
}

// one is our own debugger in this process.
type one struct {
	server *debugger.Server
	ev     *golang.Evaluator
	path   string
	events chan json.RawMessage
	seq    int
}

type bound struct {
	Verified bool
	Line     int
	at       int
}

func ours(code string, events chan json.RawMessage) (*one, error) {
	ev, err := golang.New(golang.Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		return nil, err
	}
	c := &one{ev: ev, events: events}
	c.server = debugger.New(debugger.Options{Evaluator: ev, Event: func(m json.RawMessage) {
		if events != nil {
			events <- m
		}
	}})
	var dumped struct{ SourcePath string }
	for _, r := range []struct {
		command string
		args    any
		into    any
	}{{"initialize", map[string]any{}, nil}, {"attach", nil, nil}, {"dumpCell", map[string]any{"code": code}, &dumped}} {
		if err := c.ask(r.command, r.args, r.into); err != nil {
			return nil, err
		}
	}
	c.path = dumped.SourcePath
	return c, nil
}

func (c *one) ask(command string, args, into any) error {
	c.seq++
	m, err := json.Marshal(map[string]any{"seq": c.seq, "type": "request", "command": command, "arguments": args})
	if err != nil {
		return err
	}
	r := c.server.Handle(m)
	if !r.Success {
		return fmt.Errorf("%s: %s", command, r.Message)
	}
	if into == nil {
		return nil
	}
	body, err := json.Marshal(r.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

func (c *one) set(lines []int) []bound {
	var list []map[string]any
	for _, line := range lines {
		list = append(list, map[string]any{"line": line})
	}
	var body struct{ Breakpoints []bound }
	c.ask("setBreakpoints", map[string]any{"source": map[string]any{"path": c.path}, "breakpoints": list}, &body)
	for i := range body.Breakpoints {
		body.Breakpoints[i].at = i
	}
	return body.Breakpoints
}

// stopped is the event of a stop.
type stopped struct {
	Event string
	Body  struct {
		ThreadID int
		Reason   string
	}
}

type trace struct{ StackFrames []struct{ Line int } }

const patience = time.Minute

// byOurs is where our debugger stops.
func byOurs(name string, most int) (lines []int, err error) {
	code, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	events := make(chan json.RawMessage, 1000)
	c, err := ours(string(code), events)
	if err != nil {
		return nil, err
	}
	c.set(functions(string(code)))
	c.server.Cell("In[1]", string(code))
	done := make(chan golang.Result, 1)
	go func() { done <- c.ev.Eval("In[1]", string(code), true) }()
	for {
		select {
		case m := <-events:
			var e stopped
			if json.Unmarshal(m, &e); e.Event != "stopped" {
				continue
			}
			var t trace
			if err := c.ask("stackTrace", map[string]any{"threadId": e.Body.ThreadID}, &t); err != nil {
				return nil, err
			}
			lines = append(lines, t.StackFrames[0].Line)
			if len(lines) == most {
				c.server.Close()
				return lines, nil
			}
			if err := c.ask("next", map[string]any{"threadId": e.Body.ThreadID}, nil); err != nil {
				return nil, err
			}
		case r := <-done:
			if r.Err != nil {
				return nil, fmt.Errorf("%s", r.Err.Plain())
			}
			return lines, nil
		case <-time.After(patience):
			return nil, fmt.Errorf("it neither stops nor ends")
		}
	}
}

// byDelve is where Delve stops.
func byDelve(dlv, name string, most int) (lines []int, err error) {
	dir, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	code, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	source := filepath.Join(dir, "main.go")
	for file, text := range map[string]string{source: string(code), filepath.Join(dir, "go.mod"): "module compared\n\ngo 1.26\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	build := exec.Command("go", "build", "-gcflags=all=-N -l", "-o", "program", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: %s", err, out)
	}
	server := exec.Command(dlv, "dap", "--listen=127.0.0.1:0", "--check-go-version=false")
	server.Dir = dir
	said, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	address, err := listening(bufio.NewReader(said))
	if err != nil {
		return nil, err
	}
	go io.Copy(io.Discard, said)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	c := &wire{conn: conn, in: bufio.NewReader(conn)}
	conn.SetDeadline(time.Now().Add(4 * patience))
	if _, err := c.ask("initialize", map[string]any{"adapterID": "go", "linesStartAt1": true, "pathFormat": "path"}); err != nil {
		return nil, err
	}
	if err := c.send("launch", map[string]any{"mode": "exec", "program": filepath.Join(dir, "program"), "outputMode": "remote"}); err != nil {
		return nil, err
	}
	if err := c.until("initialized"); err != nil {
		return nil, err
	}
	var points []map[string]any
	for _, line := range functions(string(code)) {
		points = append(points, map[string]any{"line": line})
	}
	if _, err := c.ask("setBreakpoints", map[string]any{"source": map[string]any{"path": source}, "breakpoints": points}); err != nil {
		return nil, err
	}
	if err := c.send("configurationDone", nil); err != nil {
		return nil, err
	}
	for out := false; ; {
		m, err := c.receive()
		if err != nil {
			return nil, err
		}
		switch m.Event {
		case "terminated", "exited":
			return lines, nil
		case "stopped":
			body, err := c.ask("stackTrace", map[string]any{"threadId": m.Body.ThreadID, "levels": 50})
			if err != nil {
				return nil, err
			}
			var t struct {
				StackFrames []struct {
					Line   int
					Source struct{ Path string }
				}
			}
			if err := json.Unmarshal(body, &t); err != nil {
				return nil, err
			}
			how := "next"
			switch {
			case len(t.StackFrames) == 0 || t.StackFrames[0].Source.Path != source:
				how = "stepOut" // of compiled packages, up to the program's functions
			case out && m.Body.Reason == "step": // that was our own step out of them
			default:
				lines = append(lines, t.StackFrames[0].Line)
			}
			out = how == "stepOut"
			if len(lines) == most {
				return lines, nil
			}
			if err := c.send(how, map[string]any{"threadId": m.Body.ThreadID}); err != nil {
				return nil, err
			}
		}
	}
}

// listening reads where Delve listens from what it says.
func listening(said *bufio.Reader) (address string, err error) {
	for {
		line, err := said.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("Delve does not say where it listens: %w", err)
		}
		if i := strings.LastIndex(line, "127.0.0.1"); i >= 0 {
			return strings.TrimSpace(line[i:]), nil
		}
	}
}

// wire is a connection that speaks DAP.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	seq  int
	held []message
}

type message struct {
	Type, Command, Event, Message string
	RequestSeq                    int `json:"request_seq"`
	Success                       bool
	Body                          struct {
		ThreadID int
		Reason   string
	}
	raw json.RawMessage
}

func (c *wire) send(command string, args any) error {
	c.seq++
	m, err := json.Marshal(map[string]any{"seq": c.seq, "type": "request", "command": command, "arguments": args})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.conn, "Content-Length: %d\r\n\r\n%s", len(m), m)
	return err
}

func (c *wire) receive() (m message, err error) {
	if len(c.held) > 0 {
		m, c.held = c.held[0], c.held[1:]
		return m, nil
	}
	return c.read()
}

func (c *wire) read() (m message, err error) {
	size := 0
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return m, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			size, _ = strconv.Atoi(n)
		}
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(c.in, text); err != nil {
		return m, err
	}
	var body struct{ Body json.RawMessage }
	json.Unmarshal(text, &body)
	json.Unmarshal(text, &m)
	m.raw = body.Body
	return m, nil
}

// ask sends a request and returns the body of its answer; events wait.
func (c *wire) ask(command string, args any) (json.RawMessage, error) {
	if err := c.send(command, args); err != nil {
		return nil, err
	}
	seq := c.seq
	for {
		m, err := c.read()
		if err != nil {
			return nil, err
		}
		if m.Type == "response" && m.RequestSeq == seq {
			if !m.Success {
				return nil, fmt.Errorf("%s: %s", command, m.Message)
			}
			return m.raw, nil
		}
		c.held = append(c.held, m)
	}
}

func (c *wire) until(event string) error {
	for {
		m, err := c.receive()
		if err != nil || m.Event == event {
			return err
		}
		if m.Type == "response" && !m.Success {
			return fmt.Errorf("%s: %s", m.Command, m.Message)
		}
	}
}
