package debugger

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/golang"
)

// client is a client of DAP that debugs an evaluator of this process.
type client struct {
	t       *testing.T
	ev      *golang.Evaluator
	server  *Server
	events  chan map[string]any
	printed chan string
	seq     int
	told    func(event string) // called before an event is told, if it is there
}

func newClient(t *testing.T) *client {
	ev, err := golang.New(golang.Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	return newClientOf(t, ev)
}

func newClientOf(t *testing.T, ev *golang.Evaluator) *client {
	c := &client{t: t, ev: ev, events: make(chan map[string]any, 1000), printed: make(chan string, 100)}
	c.server = New(Options{Evaluator: ev, Folder: "/cells", Print: func(text string) { c.printed <- text },
		Event: func(m json.RawMessage) {
			var e map[string]any
			if err := json.Unmarshal(m, &e); err != nil {
				t.Error(err)
			}
			if c.told != nil {
				c.told(e["event"].(string))
			}
			c.events <- e
		}})
	return c
}

// ask sends a request, and returns the response.
func (c *client) ask(command string, args map[string]any) Response {
	c.t.Helper()
	c.seq++
	m, err := json.Marshal(map[string]any{"seq": c.seq, "type": "request", "command": command, "arguments": args})
	if err != nil {
		c.t.Fatal(err)
	}
	r := c.server.Handle(m)
	if r.RequestSeq != c.seq || r.Command != command || r.Type != "response" {
		c.t.Errorf("%s: %+v", command, r)
	}
	return r
}

// body is that of a response of success, as JSON has it.
func (c *client) body(command string, args map[string]any) map[string]any {
	c.t.Helper()
	r := c.ask(command, args)
	if !r.Success {
		c.t.Fatalf("%s: %s", command, r.Message)
	}
	text, err := json.Marshal(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	var body map[string]any
	json.Unmarshal(text, &body)
	return body
}

// event is the body of the next event of a name.
func (c *client) event(name string) map[string]any {
	c.t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case e := <-c.events:
			if e["event"] == name {
				return e["body"].(map[string]any)
			}
		case <-late:
			c.t.Fatalf("no event %s", name)
		}
	}
}

// run begins to run a cell with breakpoints.
func (c *client) run(name, code string, lines ...any) <-chan golang.Result {
	c.t.Helper()
	var points []map[string]any
	for _, line := range lines {
		points = append(points, map[string]any{"line": line})
	}
	path := c.body("dumpCell", map[string]any{"code": code})["sourcePath"]
	c.body("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": points})
	c.server.Cell(name, code)
	done := make(chan golang.Result, 1)
	go func() { done <- c.ev.Eval(name, code, false) }()
	return done
}

func list(body map[string]any, name string) (out []map[string]any) {
	for _, x := range body[name].([]any) {
		out = append(out, x.(map[string]any))
	}
	return out
}

func TestPathsAreHashes(t *testing.T) {
	s := newClient(t).server
	if a, b := s.path("x := 1"), s.path("x := 2"); a == b || !strings.HasPrefix(a, "/cells/") || !strings.HasSuffix(a, ".go") {
		t.Errorf("%s, %s", a, b)
	}
	if got := murmur2([]byte("abc"), 0); got != 0x13577c9b {
		t.Errorf("abc: %#x", got)
	}
}

func TestAttachedOnly(t *testing.T) {
	c := newClient(t)
	if r := c.ask("stackTrace", map[string]any{"threadId": 1}); r.Success {
		t.Error("a stack without a client")
	}
	for _, command := range []string{"debugInfo", "inspectVariables", "modules"} {
		c.body(command, nil)
	}
	if r := c.ask("dance", nil); r.Success || r.Message == "" {
		t.Errorf("%+v", r)
	}
	if r := c.server.Handle(json.RawMessage("[]")); r.Success {
		t.Error("no request is one")
	}
}

// JupyterLab's tree shows a type in the place of a value, but for int and bool.
func TestJupyterLabShowsValues(t *testing.T) {
	for client, typed := range map[string]string{"jupyterlab": "b n", "vscode": "b big f n s v"} {
		c := newClient(t)
		c.body("initialize", map[string]any{"clientID": client})
		c.body("attach", nil)
		if r := c.ev.Eval("In[1]", "f, s, b, n, big := 2.5, `x`, true, 3, 1<<60\nv := []float32{1}", false); r.Err != nil {
			t.Fatal(r.Err)
		}
		var names []string
		for _, v := range list(c.body("inspectVariables", nil), "variables") {
			if v["type"] != nil {
				names = append(names, fmt.Sprint(v["name"]))
			}
			if v["value"] == "" {
				t.Errorf("%s has no value", v["name"])
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != typed {
			t.Errorf("%s: types of %s, want those of %s", client, got, typed)
		}
	}
}

// TestBreakpointsMove: a breakpoint where there is nothing to stop at is at the next
// statement, and none behind the last.
func TestBreakpointsMove(t *testing.T) {
	c := newClient(t)
	c.body("initialize", map[string]any{})
	c.body("attach", nil)
	code := "// a comment\n\nx := 1\nfunc f() {\n\tx++\n}\n// another"
	path := c.body("dumpCell", map[string]any{"code": code})["sourcePath"]
	points := []map[string]any{{"line": 1}, {"line": 5}, {"line": 6}, {"line": 7}}
	got := list(c.body("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": points}), "breakpoints")
	want := []string{"true 3", "true 5", "true 6", "false 7"}
	for i, b := range got {
		if s := fmt.Sprint(b["verified"], " ", b["line"]); s != want[i] {
			t.Errorf("%d: %s, want %s", i, s, want[i])
		}
	}
	lines := list(c.body("breakpointLocations", map[string]any{"source": map[string]any{"path": path}, "line": 1, "endLine": 9}), "breakpoints")
	if len(lines) != 4 {
		t.Errorf("%v", lines)
	}
}

// TestPartsOfValues: what is in structs, maps, pointers, interfaces and channels, and in
// lists too long to be shown whole.
func TestPartsOfValues(t *testing.T) {
	c := newClient(t)
	c.body("initialize", map[string]any{})
	c.body("attach", nil)
	done := c.run("In[1]", `type T struct { a int; next *T; any any }
func f(t *T, m map[string][]int, c chan int, long []int, e error) {
	_ = len(long)
}
c := make(chan int, 3)
c <- 1
f(&T{1, &T{a: 2}, []string{"x"}}, map[string][]int{"k": {7}}, c, make([]int, 1000), errors.New("oh"))`, 3)
	stopped := c.event("stopped")
	frames := list(c.body("stackTrace", map[string]any{"threadId": stopped["threadId"]}), "stackFrames")
	if len(frames) != 2 || frames[0]["name"] != "f (In[1])" || frames[1]["name"] != "In[1]" || frames[1]["line"] != 7.0 {
		t.Fatalf("%v", frames)
	}
	scope := list(c.body("scopes", map[string]any{"frameId": frames[0]["id"]}), "scopes")[0]
	parts := func(reference any, more ...any) (names map[string]map[string]any) {
		args := map[string]any{"variablesReference": reference}
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		names = make(map[string]map[string]any)
		for _, v := range list(c.body("variables", args), "variables") {
			names[v["name"].(string)] = v
		}
		return names
	}
	locals := parts(scope["variablesReference"])
	of := parts(locals["t"]["variablesReference"])
	next := parts(of["next"]["variablesReference"])
	if next["a"]["value"] != "2" || next["a"]["evaluateName"] != "t.next.a" {
		t.Errorf("%v", next)
	}
	if in := parts(of["any"]["variablesReference"]); in["0"]["value"] != `"x"` {
		t.Errorf("%v", in)
	}
	if in := parts(locals["m"]["variablesReference"]); parts(in[`"k"`]["variablesReference"])["0"]["value"] != "7" {
		t.Errorf("%v", in)
	}
	if in := parts(locals["c"]["variablesReference"]); in["len"]["value"] != "1" || in["cap"]["value"] != "3" {
		t.Errorf("%v", in)
	}
	if in := parts(locals["long"]["variablesReference"]); len(in) != maxChildren+1 {
		t.Errorf("%d parts of 1,000", len(in))
	}
	if in := parts(locals["long"]["variablesReference"], "start", 990, "count", 20); len(in) != 10 || in["999"] == nil {
		t.Errorf("%d parts from 990 on", len(in))
	}
	if locals["e"]["value"] != "oh" {
		t.Errorf("%v", locals["e"])
	}
	c.body("disconnect", nil)
	if r := <-done; r.Err != nil {
		t.Error(r.Err)
	}
}

// TestInterruptWhileAStopIsTold: an interrupt may come before the stopped thread waits.
func TestInterruptWhileAStopIsTold(t *testing.T) {
	c := newClient(t)
	c.body("initialize", map[string]any{})
	c.body("attach", map[string]any{})
	c.told = func(event string) {
		if event == "stopped" {
			c.ev.Interrupt()
			time.Sleep(20 * time.Millisecond) // its goroutines have been told, most likely
		}
	}
	if r := <-c.run("In[1]", "x := 1\nx++\nx", 2); r.Err == nil || r.Err.Name != "Interrupted" {
		t.Error(r.Value, r.Err)
	}
	c.told = nil
	if r := <-c.run("In[2]", "x := 2\nx"); r.Err != nil || fmt.Sprint(r.Value.Data["text/plain"]) != "2" {
		t.Error(r.Value, r.Err)
	}
}
