package hazard

import (
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/record"
)

// placeOf is the place with a text.
func placeOf(text string) Place {
	if cell, line, ok := strings.Cut(text, ", line "); ok {
		n, _ := strconv.Atoi(line)
		return Place{Cell: cell, Line: n}
	}
	return Place{File: text}
}

// site is a place that has a name only.
func site(name string) callsite.Site { return callsite.Site{Place: Place{File: name}} }

// A report names streams by variables, else by the lines that queue something in them,
// and gives advice for the lines that call the functions in which the operations are.
func TestReport(t *testing.T) {
	names := Namer{Stream: func(h uintptr) string { return map[uintptr]string{0xa0: "s", 0xb0: "streams[1]"}[h] }, Memory: func(lo, hi uint64) string { return "x[0:1]" }}
	op := func(x [3]string) *record.Op {
		return &record.Op{Kind: record.Kernel, Call: "cuLaunchKernel", Name: "k", Site: callsite.Site{Place: placeOf(x[0]), Caller: placeOf(x[1])},
			Lane: &record.Lane{ID: int(x[2][0]), Handle: map[string]driver.Stream{"a": 0xa0, "b": 0xb0, "c": 0xc0, "d": 0xd0, "default": driver.StreamLegacy, "per thread": driver.StreamPerThread}[x[2]], Made: placeOf("In[9], line 9")}}
	}
	for name, c := range map[string]struct {
		first, second  [3]string // place, caller, stream
		guess          bool
		contains, lack []string
	}{
		"named": {[3]string{"In[1], line 2", "", "a"}, [3]string{"In[1], line 3", "", "b"}, false,
			[]string{"Stream streams[1] of device 0 does not wait for stream s of device 0.", "\n      done := must(s.Device().NewEvent())\n      done.Record(s) // after In[1], line 2\n      streams[1].WaitEvent(done) // before In[1], line 3\n", "hazard: nothing"}, []string{"possible"}},
		"neither named": {[3]string{"In[1], line 2", "", "c"}, [3]string{"In[1], line 3", "", "d"}, false,
			[]string{"The stream of In[1], line 3 does not wait for the stream of In[1], line 2.", "done.Record(first) // after In[1], line 2; first is its stream\n      second.WaitEvent(done) // before In[1], line 3; second is its stream", "on a stream of device 0 (made at In[9], line 9)"}, []string{"0x"}},
		"neither named, one line": {[3]string{"In[1], line 2", "In[2], line 1", "c"}, [3]string{"In[1], line 2", "In[2], line 4", "d"}, false,
			[]string{"The stream of the second does not wait for that of the first.", "done.Record(first) // after In[2], line 1; first is its stream\n      second.WaitEvent(done) // before In[2], line 4; second is its stream"}, []string{"0x"}},
		"default streams": {[3]string{"In[1], line 2", "", "default"}, [3]string{"In[1], line 3", "", "per thread"}, false,
			[]string{"done.Record(must(cuda.Get(0)).DefaultStream()) // after In[1], line 2\n      must(cuda.Get(0)).PerThreadStream().WaitEvent(done) // before In[1], line 3"}, nil},
		"one in a function": {[3]string{"In[1], line 2", "In[2], line 1", "a"}, [3]string{"In[2], line 7", "", "b"}, false,
			[]string{"done.Record(s) // after In[2], line 1\n      streams[1].WaitEvent(done) // before In[2], line 7"}, nil},
		"a function and what it calls": {[3]string{"In[3], line 2", "In[4], line 1", "a"}, [3]string{"In[1], line 2", "In[3], line 5", "b"}, false,
			[]string{"done.Record(s) // after In[3], line 2\n      streams[1].WaitEvent(done) // before In[3], line 5"}, nil},
		"a loop": {[3]string{"In[1], line 2", "In[2], line 1", "a"}, [3]string{"In[1], line 2", "In[2], line 1", "b"}, false,
			[]string{"// after In[1], line 2\n"}, nil},
		"possible": {[3]string{"In[1], line 2", "", "a"}, [3]string{"In[1], line 3", "", "b"}, true,
			[]string{"possible hazard: nothing orders two operations that may touch the same 4 bytes", "may write it", "could not be recorded"}, []string{"\nhazard"}},
	} {
		h := &Hazard{First: op(c.first), Second: op(c.second), FirstMode: record.Write, SecondMode: record.Write, Lo: 0x40, Hi: 0x44, Times: 1}
		h.Second.Guess = c.guess
		r := names.Report(h)
		text := r.String()
		for _, want := range c.contains {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		for _, bad := range c.lack {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q in\n%s", name, bad, text)
			}
		}
		if want := map[bool]int{true: 0, false: 1}[c.guess]; (List{r}).Proved() != want {
			t.Errorf("%s: %d proved, want %d", name, (List{r}).Proved(), want)
		}
	}
}

// A long line is cut so that the argument with the memory is seen.
func TestLinesAreCutAroundTheMemory(t *testing.T) {
	line := "must(scale.Launch(cuda.Grid(blocks), cuda.Block(256), stream, data, elements, 2))"
	for memory, want := range map[string]string{
		"data[0:4]": "…a.Block(256), stream, data, elements, 2))",
		"must":      "must(scale.Launch(cuda.Grid(blocks), cuda…",
		"0x1000":    "must(scale.Launch(cuda.Grid(blocks), cuda…",
	} {
		if got := around(line, memory, 42); got != want {
			t.Errorf("%s: %s, want %s", memory, got, want)
		}
	}
}

// Two operations of which one reads and writes what the other writes are one hazard.
func TestOneReportOfAPair(t *testing.T) {
	c := New()
	lanes := []*record.Lane{{ID: 1, Handle: 0x10}, {ID: 2, Handle: 0x20}}
	for i, l := range lanes {
		c.Op(&record.Op{Seq: uint64(i), Kind: record.Kernel, Call: "cuLaunchKernel", Name: "add", Lane: l, Site: callsite.Site{Place: Place{Cell: "In[1]", Line: 2}},
			Accesses: []record.Access{{Lo: 0x100, Hi: 0x200, Mode: record.Read}, {Lo: 0x100, Hi: 0x180, Mode: record.Write}, {Lo: 0x180, Hi: 0x200, Mode: record.Write}}})
	}
	found := c.Found()
	if len(found) != 1 || found[0].FirstMode != record.Write || found[0].SecondMode != record.Write || found[0].Lo != 0x100 || found[0].Hi != 0x200 || found[0].Times != 1 {
		t.Errorf("%d reports, the first %+v", len(found), found[0])
	}
}

// What a report says of the two operations is what they do to the memory that it names,
// not to other memory that both touch.
func TestReportOfOneMemory(t *testing.T) {
	c := New()
	for i, modes := range [][2]record.Mode{{record.Read, record.Write}, {record.Write, record.Read}} {
		c.Op(&record.Op{Seq: uint64(i), Kind: record.Kernel, Call: "cuLaunchKernel", Name: "k", Lane: &record.Lane{ID: i + 1, Handle: driver.Stream(16 + i)}, Site: callsite.Site{Place: Place{Cell: "In[1]", Line: 2 + i}},
			Accesses: []record.Access{{Lo: 0x100, Hi: 0x200, Mode: modes[0]}, {Lo: 0x800, Hi: 0x900, Mode: modes[1]}}})
	}
	found := c.Found()
	if len(found) != 1 {
		t.Fatalf("%d reports", len(found))
	}
	want := map[uint64][2]record.Mode{0x100: {record.Read, record.Write}, 0x800: {record.Write, record.Read}}[found[0].Lo]
	if h := found[0]; h.FirstMode != want[0] || h.SecondMode != want[1] {
		t.Errorf("of %#x: modes %v and %v, want %v", h.Lo, h.FirstMode, h.SecondMode, want)
	}
}
