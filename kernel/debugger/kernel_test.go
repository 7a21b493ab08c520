package debugger

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/kernel/golang"
)

const kernels = `func half(x float32) float32 {
	return x / 2
}
func sum(x []float32, n int) {
	i := gpu.ThreadIdx.X
	if i >= n {
		return
	}
	tile := gpu.Shared[[4]float32]()
	tile[i] = half(x[i])
	gpu.SyncThreads()
	total := float32(0)
	for k := range n {
		total += tile[k]
	}
	x[i] = total
}
func scale(x []float32, by float32) {
	i := gpu.BlockIdx.X*gpu.BlockDim.X + gpu.ThreadIdx.X
	x[i] *= by
	x[i] += 1
}`

// emulating is a client whose cells can emulate kernels of a cell In[1].
func emulating(t *testing.T) *client {
	module, err := cuda.CompileGo(kernels, cuda.SourceName("In[1]"))
	if err != nil {
		t.Fatal(err)
	}
	ev, err := golang.New(golang.Options{Stdout: io.Discard, Stderr: io.Discard, Builtins: map[string]any{
		"emulate": func(kernel string, grid, block int, args ...any) {
			k, err := module.Kernel(kernel)
			if err != nil {
				panic(err)
			}
			if err := k.Emulate(cuda.Grid(grid), cuda.Block(block), args...); err != nil {
				panic(err)
			}
		}}})
	if err != nil {
		t.Fatal(err)
	}
	c := newClientOf(t, ev)
	c.body("initialize", nil)
	c.body("attach", nil)
	c.server.Cell("In[1]", kernels)
	return c
}

// at sets breakpoints of the kernels' cell.
func (c *client) at(points ...map[string]any) {
	c.t.Helper()
	path := c.body("dumpCell", map[string]any{"code": kernels})["sourcePath"]
	for i, b := range list(c.body("setBreakpoints", map[string]any{"source": map[string]any{"path": path}, "breakpoints": points}), "breakpoints") {
		if b["verified"] != true || b["line"] != float64(points[i]["line"].(int)) {
			c.t.Errorf("breakpoint %v is %v", points[i], b)
		}
	}
}

// stands waits for a stop, and is the thread with its frames.
func (c *client) stands() (thread any, frames []map[string]any) {
	c.t.Helper()
	thread = c.event("stopped")["threadId"]
	return thread, list(c.body("stackTrace", map[string]any{"threadId": thread}), "stackFrames")
}

// locals are what the innermost frame shows.
func (c *client) locals(frame map[string]any) map[string]string {
	c.t.Helper()
	out := make(map[string]string)
	scope := list(c.body("scopes", map[string]any{"frameId": frame["id"]}), "scopes")[0]
	for _, v := range list(c.body("variables", map[string]any{"variablesReference": scope["variablesReference"]}), "variables") {
		out[v["name"].(string)] = v["value"].(string)
	}
	return out
}

// TestKernelsAreStepped: a breakpoint in a kernel stops where it is emulated; its threads
// have their variables and places, which conditions see; steps stay in their thread.
func TestKernelsAreStepped(t *testing.T) {
	c := emulating(t)
	c.at(map[string]any{"line": 10, "condition": "gpu.ThreadIdx.X == 2"})
	done := c.run("In[2]", "y := []float32{2, 4, 6, 8}\nemulate(\"sum\", 1, 4, y, 4)\ny[0]")
	thread, frames := c.stands()
	var names []string
	for _, f := range frames {
		names = append(names, fmt.Sprint(f["name"], ":", f["line"]))
	}
	want := []string{"sum (In[1]) block (0,0,0), thread (2,0,0):10", "In[2]:2"}
	if !slices.Equal(names, want) {
		t.Errorf("stands at %q, want %q", names, want)
	}
	at := c.locals(frames[0])
	if at["i"] != "2" || at["n"] != "4" || !strings.Contains(at["gpu.ThreadIdx"], "X: 2,") || !strings.Contains(at["x"], "6") || at["total"] != "" {
		t.Errorf("variables: %v", at)
	}
	if v := c.locals(frames[1])["y"]; !strings.Contains(v, "8") {
		t.Errorf("the cell's y is %s", v)
	}
	evaluate := func(text string) any {
		r := c.ask("evaluate", map[string]any{"expression": text, "frameId": frames[0]["id"], "context": "watch"})
		if !r.Success {
			return r.Message
		}
		return c.body("evaluate", map[string]any{"expression": text, "frameId": frames[0]["id"]})["result"]
	}
	for text, want := range map[string]any{
		"x[i] + half(3)": "7.5", "gpu.BlockDim.X": "4", "len(x)": "4", "x[7]": "index out of range [7] with length 4",
		"nonesuch": "undefined: nonesuch", "gpu.SyncThreads()": "it waits for other threads, which stand still", "total": "undefined: total",
	} {
		if got := evaluate(text); got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	if got := evaluate("x[i] = 60"); got != "" {
		t.Errorf("an assignment is %v", got)
	}
	var path []string
	for _, how := range []string{"stepIn", "stepOut", "next", "next", "next", "next"} {
		c.body(how, map[string]any{"threadId": thread})
		_, frames = c.stands()
		path = append(path, fmt.Sprintf("%s %s:%v", how, strings.Fields(frames[0]["name"].(string))[0], frames[0]["line"]))
		if !strings.Contains(frames[0]["name"].(string), "thread (2,0,0)") {
			t.Errorf("%s leads to %v", how, frames[0]["name"])
		}
	}
	if want := "stepIn half:1, stepOut sum:11, next sum:12, next sum:13, next sum:14, next sum:13"; strings.Join(path, ", ") != want {
		t.Errorf("steps lead to %s, want %s", strings.Join(path, ", "), want)
	}
	at = c.locals(frames[0])
	if at["total"] != "1" {
		t.Errorf("variables after a barrier: %v", at)
	}
	c.body("setBreakpoints", map[string]any{"source": map[string]any{"path": frames[0]["source"].(map[string]any)["path"]}, "breakpoints": []any{}})
	c.body("stepOut", map[string]any{"threadId": thread})
	if _, frames = c.stands(); frames[0]["name"] != "In[2]" || frames[0]["line"] != 3.0 {
		t.Errorf("out of the kernel is %v", frames[0])
	}
	c.body("continue", map[string]any{"threadId": thread})
	if r := <-done; r.Err != nil || fmt.Sprint(r.Value.Data["text/plain"]) != "37" {
		t.Error(r.Value, r.Err)
	}
}

// TestKernelThreadsFollow: a step at the end of a thread goes to the next one's beginning;
// a step into a launch goes to its first; an interrupt ends it.
func TestKernelThreadsFollow(t *testing.T) {
	c := emulating(t)
	done := c.run("In[2]", "z := []float32{1, 2, 3, 4}\nemulate(\"scale\", 2, 2, z, 10)\nz[3]", 2)
	thread, _ := c.stands()
	c.body("stepIn", map[string]any{"threadId": thread})
	var path []string
	for range 7 {
		_, frames := c.stands()
		name := frames[0]["name"].(string)
		path = append(path, fmt.Sprintf("%s:%v", name[strings.Index(name, "block"):], frames[0]["line"]))
		c.body("next", map[string]any{"threadId": thread})
	}
	var want []string
	for _, line := range []int{18, 19, 20, 21, 22} {
		want = append(want, fmt.Sprintf("block (0,0,0), thread (0,0,0):%d", line))
	}
	want = append(want, "block (0,0,0), thread (1,0,0):18", "block (0,0,0), thread (1,0,0):19")
	if !slices.Equal(path, want) {
		t.Errorf("steps lead to %q, want %q", path, want)
	}
	c.stands()
	c.at(map[string]any{"line": 21, "hitCondition": "2"})
	c.body("continue", map[string]any{"threadId": thread})
	_, frames := c.stands()
	if name := frames[0]["name"].(string); !strings.Contains(name, "block (1,0,0), thread (0,0,0)") {
		t.Errorf("the second hit is in %s", name)
	}
	c.ev.Interrupt()
	if r := <-done; r.Err == nil || r.Err.Name != "Interrupted" {
		t.Error(r.Err)
	}
	c.at()
	done = c.run("In[3]", "emulate(\"scale\", 1, 4, []float32{1, 2}, 10)")
	if r := <-done; r.Err == nil || !strings.Contains(r.Err.Plain(), "index out of range [2] with length 2, in kernel scale") {
		t.Error(r.Err)
	}
	c.body("setExceptionBreakpoints", map[string]any{"filters": []string{"panic"}})
	done = c.run("In[4]", "emulate(\"scale\", 1, 4, []float32{1, 2}, 10)")
	_, frames = c.stands()
	if frames[0]["line"] != 20.0 || c.locals(frames[0])["i"] != "2" {
		t.Errorf("the panic is at %v", frames[0])
	}
	c.body("disconnect", nil)
	<-done
}
