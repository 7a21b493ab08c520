package debugger

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"gocuda/kernel/golang"
)

// rank is a peer that notes what it is told.
type rank struct{ told []Request }

func (r *rank) Debug(request json.RawMessage) (json.RawMessage, error) {
	var asked Request
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, err
	}
	r.told = append(r.told, asked)
	return json.Marshal(Response{Type: "response", RequestSeq: asked.Seq, Command: asked.Command, Success: true, Body: object{}})
}

// lines are those of the breakpoints that the rank was told last.
func (r *rank) lines(t *testing.T) (list []int) {
	for i := len(r.told) - 1; i >= 0; i-- {
		if r.told[i].Command == "setBreakpoints" {
			var asked struct{ Breakpoints []breakpoint }
			if err := arguments(r.told[i].Arguments).decode(&asked); err != nil {
				t.Fatal(err)
			}
			for _, b := range asked.Breakpoints {
				list = append(list, b.Line)
			}
			return list
		}
	}
	t.Fatal("the rank has no breakpoints")
	return nil
}

// Ranks that come later are told the lines as the client counts them, each the same, and
// so is a client that asks for them.
func TestRanksAreToldTheClientsLines(t *testing.T) {
	c := newClient(t)
	var peers []Peer
	c.server.options.Peers = func() []Peer { return peers }
	c.body("initialize", map[string]any{"linesStartAt1": false})
	c.body("attach", nil)
	const code = "x := 1\nx++\nx++\n_ = x"
	path := c.body("dumpCell", map[string]any{"code": code})["sourcePath"]
	c.body("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": []any{map[string]any{"line": 1}, map[string]any{"line": 2}}})
	for range 3 {
		peers = append(peers, &rank{})
	}
	c.body("threads", nil)
	for i, p := range peers {
		if got := p.(*rank).lines(t); !reflect.DeepEqual(got, []int{1, 2}) {
			t.Errorf("rank %d was told lines %v", i, got)
		}
	}
	if list := list(list(c.body("debugInfo", nil), "breakpoints")[0], "breakpoints"); list[0]["line"] != 1.0 || list[1]["line"] != 2.0 {
		t.Errorf("the client was told %v", list)
	}
}

// A rank that stood still and is gone is not asked in the place of others.
func TestRanksThatAreGone(t *testing.T) {
	c := newClient(t)
	peers := []Peer{&rank{}, &rank{}, &rank{}}
	c.server.options.Peers = func() []Peer { return peers }
	c.body("initialize", nil)
	c.body("attach", nil)
	c.server.PeerEvent(2, json.RawMessage(`{"event":"stopped","body":{}}`))
	peers = []Peer{&rank{}}
	if r := c.ask("evaluate", map[string]any{"expression": "1 + 1"}); !r.Success || r.Body.(object)["result"] != "2" {
		t.Errorf("%+v", r)
	}
}

// A panel of variables that is shown again and again keeps no value alive.
func TestVariablesThatWereShownAreLetGo(t *testing.T) {
	c := newClient(t)
	if err := c.ev.Eval("In[1]", "x := []int{1, 2}", false).Err; err != nil {
		t.Fatal(err)
	}
	var last float64
	for range 100 {
		for _, v := range list(c.body("inspectVariables", nil), "variables") {
			if v["name"] == "x" {
				last = v["variablesReference"].(float64)
			}
		}
	}
	if n := len(c.server.containers); n > 10 {
		t.Errorf("%d values are kept", n)
	}
	if got := list(c.body("variables", map[string]any{"variablesReference": last}), "variables"); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// An element of a long slice is set without a list of all of them, and what a client
// asks for may lie anywhere.
func TestElementsOfLongSlices(t *testing.T) {
	c := newClient(t)
	c.body("initialize", nil)
	c.body("attach", nil)
	const n = 1 << 20
	if err := c.ev.Eval("In[1]", "x := make([]int, 1<<20)", false).Err; err != nil {
		t.Fatal(err)
	}
	reference := list(c.body("inspectVariables", nil), "variables")[0]["variablesReference"]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := c.ask("setVariable", map[string]any{"variablesReference": reference, "name": "1000000", "value": "7"})
	runtime.ReadMemStats(&after)
	if !r.Success || r.Body.(object)["value"] != "7" {
		t.Errorf("%+v", r)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 32*n {
		t.Errorf("%d MiB were allocated", got>>20)
	}
	for _, at := range [][2]int{{-1, 0}, {-5, 3}, {n + 1, 2}, {0, -1}} {
		r := c.ask("variables", map[string]any{"variablesReference": reference, "start": at[0], "count": at[1]})
		if !r.Success {
			t.Errorf("%v: %s", at, r.Message)
		}
	}
	for _, name := range []string{"-1", "1048576", "x", ""} {
		if r := c.ask("setVariable", map[string]any{"variablesReference": reference, "name": name, "value": "7"}); r.Success {
			t.Errorf("element %q was set", name)
		}
	}
}

// A condition sees the variables that the notebook has, not those that it had.
func TestConditionsSeeNewVariables(t *testing.T) {
	c := newClient(t)
	c.body("initialize", nil)
	c.body("attach", nil)
	const code = "func f(n int) int {\n\treturn n\n}"
	path := c.body("dumpCell", map[string]any{"code": code})["sourcePath"]
	c.body("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": []any{map[string]any{"line": 2, "condition": "n > limit"}}})
	cell := 0
	run := func(code string) <-chan golang.Result {
		cell++
		name := fmt.Sprintf("In[%d]", cell)
		c.server.Cell(name, code)
		done := make(chan golang.Result, 1)
		go func() { done <- c.ev.Eval(name, code, false) }()
		return done
	}
	ends := func(code string) {
		t.Helper()
		done := run(code)
		select {
		case res := <-done:
			if res.Err != nil {
				t.Fatal(res.Err)
			}
		case e := <-c.events:
			if e["event"] != "stopped" {
				t.Fatal(e)
			}
			t.Errorf("%s: stopped", code)
			c.body("continue", nil)
			<-done
		}
	}
	for len(c.events) > 0 {
		<-c.events
	}
	ends(code)
	ends("limit := 1")
	done := run("f(2)")
	c.event("stopped")
	c.body("continue", nil)
	c.event("continued")
	<-done
	ends("limit := `none`")
	ends("limit := 5")
	ends("f(2)")
}
