package kernel

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/kernel/wire"
)

// lines asks for history and returns it as "session/line input" texts.
func lines(t *testing.T, c *client, query map[string]any) []string {
	t.Helper()
	reply, _ := c.ask(wire.Shell, "history_request", query)
	if reply.text("status") != "ok" {
		t.Fatalf("%v: %+v", query, reply)
	}
	list := []string{}
	for _, item := range reply.Content["history"].([]any) {
		triple := item.([]any)
		list = append(list, fmt.Sprintf("%v/%v %v", triple[0], triple[1], triple[2]))
	}
	return list
}

func TestHistoryAcrossSessions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "history.jsonl")
	cells := [][]string{{"print a", "value 2", "print b"}, {"value 2", "print [c]"}, {"print d\nprint e"}}
	var c *client
	for _, session := range cells {
		evaluator := newScripted()
		c = connect(t, startKernel(t, Options{Start: evaluator.start, HistoryFile: file}))
		for _, code := range session {
			c.execute(code)
		}
		c.ask(wire.Shell, "execute_request", map[string]any{"code": "print not stored", "store_history": false})
		c.ask(wire.Shell, "execute_request", map[string]any{"code": "print silent", "silent": true, "store_history": true})
		c.execute("  ")
	}
	all := []string{"1/1 print a", "1/2 value 2", "1/3 print b", "2/1 value 2", "2/2 print [c]", "3/1 print d\nprint e"}
	for _, test := range []struct {
		name  string
		query map[string]any
		want  []string
	}{
		{"tail", map[string]any{"hist_access_type": "tail", "n": 100}, all},
		{"the last two", map[string]any{"hist_access_type": "tail", "n": 2}, all[4:]},
		{"none", map[string]any{"hist_access_type": "tail", "n": 0}, all[6:]},
		{"less than none", map[string]any{"hist_access_type": "tail", "n": -5}, all[6:]},
		{"a tail that does not say", map[string]any{"hist_access_type": "tail"}, all},
		{"with outputs", map[string]any{"hist_access_type": "tail", "n": 3, "output": true},
			[]string{"2/1 [value 2 2]", "2/2 [print [c] <nil>]", "3/1 [print d\nprint e <nil>]"}},
		{"this session", map[string]any{"hist_access_type": "range", "session": 0}, all[5:]},
		{"the one before", map[string]any{"hist_access_type": "range", "session": -1}, all[3:5]},
		{"by number", map[string]any{"hist_access_type": "range", "session": 1, "start": 2, "stop": 3}, all[1:2]},
		{"no such session", map[string]any{"hist_access_type": "range", "session": 9}, all[6:]},
		{"search", map[string]any{"hist_access_type": "search", "pattern": "print ?"}, []string{all[0], all[2]}},
		{"search for all", map[string]any{"hist_access_type": "search"}, all},
		{"unique", map[string]any{"hist_access_type": "search", "pattern": "value*", "unique": true}, all[3:4]},
		{"search for the last", map[string]any{"hist_access_type": "search", "pattern": "*", "n": 1}, all[5:]},
		{"over lines", map[string]any{"hist_access_type": "search", "pattern": "print d*e"}, all[5:]},
	} {
		if got := lines(t, c, test.query); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// inputs opens a history, adds an input, and returns the session and all that
// the file then holds.
func addTo(t *testing.T, file, input string) (session int, list []record) {
	t.Helper()
	h := openHistory(file, slog.New(slog.NewTextHandler(testWriter{t}, nil)))
	h.addInput(1, input)
	list, session = h.entries()
	h.close()
	return session, list
}

func TestKernelsShareAHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	const kernels, cells = 8, 50
	var wait sync.WaitGroup
	for k := range kernels {
		wait.Go(func() {
			h := openHistory(file, slog.New(slog.NewTextHandler(testWriter{t}, nil)))
			for i := range cells {
				h.addInput(i+1, fmt.Sprintf("%d says %d %s", k, i, strings.Repeat("x", 3000)))
			}
			h.close()
		})
	}
	wait.Wait()
	_, list := addTo(t, file, "last")
	speaker := map[int]string{} // one kernel for each session number
	for i, e := range list[:len(list)-1] {
		who, _, _ := strings.Cut(e.Input, " ")
		if speaker[e.Session] == "" {
			speaker[e.Session] = who
		}
		if want := fmt.Sprintf("%s says %d ", speaker[e.Session], i%cells); e.Line != i%cells+1 || !strings.HasPrefix(e.Input, want) {
			t.Fatalf("entry %d: session %d line %d %.20q, want %q", i, e.Session, e.Line, e.Input, want)
		}
	}
	if len(list) != kernels*cells+1 || len(speaker) != kernels {
		t.Errorf("%d entries of %d sessions", len(list), len(speaker))
	}
}

func TestDamagedHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	addTo(t, file, "first")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("\x00\xff\xfe garbage\n[1,2]\n{\"session\":-4,\"id\":\"x\",\"line\":1,\"input\":\"negative\"}\n" +
		"{\"session\":\"x\"}\n\n{\"session\":9,\"id\":\"torn\",\"line\":1,\"inp")
	f.Close()
	session, list := addTo(t, file, "second")
	if session != 2 || len(list) != 2 || list[0].Input != "first" || list[1].Input != "second" {
		t.Errorf("session %d: %+v", session, list)
	}
	records, err := (&historyFile{path: file}).load()
	if err != nil || !slices.ContainsFunc(records, func(r record) bool { return r.Session == 2 && r.Line == 0 }) {
		t.Errorf("the torn line took the next one with it: %+v, %v", records, err)
	}
}

// A kernel is killed while it writes, again and again: what is read is whole.
func TestHistoryOfKilledKernels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	const kills = 8
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "GOCUDA_TEST_HISTORY="+file)
		size := func() (n int64) {
			if info, err := os.Stat(file); err == nil {
				n = info.Size()
			}
			return n
		}
		before := size()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(patience); size() == before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("nothing is written")
			}
		}
		time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond) // to be killed anywhere
		cmd.Process.Kill()
		cmd.Wait()
	}
	_, list := addTo(t, file, "last")
	for i, e := range list {
		if whole := strings.Repeat("x", e.Line%5000) + " end"; e.Input != whole && i < len(list)-1 {
			t.Fatalf("session %d line %d holds %d bytes, not %d", e.Session, e.Line, len(e.Input), len(whole))
		}
	}
	if last := list[len(list)-1]; len(list) < 2 || last.Input != "last" {
		t.Errorf("%d entries, the last %q", len(list), last.Input)
	}
	bounded(t, file)
}

func TestHistoryWithoutAFile(t *testing.T) {
	for _, place := range []string{"off", filepath.Join(t.TempDir(), "file", "below")} {
		if place != "off" { // a file where a folder is wanted
			if err := os.WriteFile(filepath.Dir(place), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h := openHistory(place, slog.New(slog.DiscardHandler))
		h.addInput(1, "kept")
		h.addOutput(1, "42")
		list, session := h.entries()
		h.close()
		if session != 1 || len(list) != 1 || list[0].Input != "kept" || list[0].Output != "42" {
			t.Errorf("%s: session %d, %+v", place, session, list)
		}
	}
}

func TestALongHistoryIsSetAside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	h := openHistory(file, slog.New(slog.DiscardHandler))
	long := strings.Repeat("x", maxInput)
	for n := range 2 * maxHistory / maxInput { // in one session
		h.addInput(n+1, long)
	}
	h.close()
	for n := 2; n < 4; n++ {
		session, list := addTo(t, file, "short")
		if session != n || len(list) < maxHistory/maxInput || len(list) > 2*maxHistory/maxInput+2 || len(list[0].Input) != maxInput {
			t.Fatalf("session %d with %d entries, want %d", session, len(list), n)
		}
	}
	bounded(t, file)
}

// bounded checks that a history's files stay within bounds.
func bounded(t *testing.T, file string) {
	t.Helper()
	for _, file := range []string{file, file + ".1"} {
		if info, err := os.Stat(file); err == nil && info.Size() > maxHistory+2*(maxInput+maxOutput) {
			t.Errorf("%s has %d bytes", filepath.Base(file), info.Size())
		}
	}
}

// However much cells show, their history is bounded, on disk and in memory.
func TestHistoryOfHugeOutputs(t *testing.T) {
	huge := strings.Repeat("ü", 1<<18)
	for _, file := range []string{filepath.Join(t.TempDir(), "history.jsonl"), "off"} {
		h := openHistory(file, slog.New(slog.DiscardHandler))
		for n := range 30 {
			h.addInput(n+1, "plot()"+huge)
			h.addOutput(n+1, huge)
		}
		list, _ := h.entries()
		h.close()
		size := 0
		for _, r := range list {
			size += len(r.Input) + len(r.Output)
		}
		last := list[len(list)-1]
		if size > 3*maxHistory || last.Line != 30 || !strings.HasPrefix(last.Input, "plot()üü") || !strings.HasSuffix(last.Output, fmt.Sprintf("(%d bytes in all)", len(huge))) {
			t.Errorf("%s: %d bytes are kept, the last is line %d", file, size, last.Line)
		}
		bounded(t, file)
	}
}

// A file that an earlier kernel let grow is cut to its end.
func TestAnOversizedHistoryIsRepaired(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	var old bytes.Buffer
	for n := range 40 {
		fmt.Fprintf(&old, `{"session":%d,"id":"old","line":1,"input":"cell %d","output":"%s"}`+"\n", n+1, n, strings.Repeat("y", 1<<20))
	}
	if err := os.WriteFile(file, old.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	session, list := addTo(t, file, "new")
	if session != 41 || list[len(list)-1].Input != "new" || list[len(list)-2].Input != "cell 39" {
		t.Errorf("session %d, %d entries", session, len(list))
	}
	bounded(t, file)
}

func TestDefaultHistoryFile(t *testing.T) {
	t.Setenv("GOCUDA_HISTORY", "")
	t.Setenv("XDG_STATE_HOME", "/state")
	if got := DefaultHistoryFile(); got != filepath.FromSlash("/state/gocuda/history.jsonl") {
		t.Error(got)
	}
	t.Setenv("GOCUDA_HISTORY", "off")
	if got := DefaultHistoryFile(); got != "off" {
		t.Error(got)
	}
}

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a\nb", true},
		{"a", "a", true}, {"a", "ab", false}, {"*b", "aab", true}, {"a*", "ba", false},
		{"*a*b*c*", "xxaxxbxxc", true}, {"*a*b*c", "abcabd", false}, {"?", "ü", true}, {"?", "", false},
		{"[a-c]x", "bx", true}, {"[a-c]x", "dx", false}, {"[^a-c]x", "dx", true}, {"[^a-c]x", "ax", false},
		{"[]]", "]", true}, {"[a-]", "-", true}, {"[", "[", true}, {"[ab", "[ab", true}, {"fmt.[", "fmt.[", true},
		{"*[0-9]", "x7", true}, {"a/*/c", "a/b/d/c", true}, {`\*`, `\x`, true},
	} {
		if got := glob(test.pattern, test.text); got != test.want {
			t.Errorf("glob(%q, %q) = %v", test.pattern, test.text, got)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("*[^a-z]?", "text")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		glob(pattern, text)
		if !strings.ContainsAny(text, "*?[") && !glob(text, text) {
			t.Errorf("%q does not match itself", text)
		}
		if !strings.ContainsAny(text, "*?[") && !glob("*"+text+"*", "a"+text+"b") {
			t.Errorf("%q is not found", text)
		}
	})
}

func FuzzParseHistory(f *testing.F) {
	f.Add([]byte("{\"session\":1,\"id\":\"a\",\"line\":1,\"input\":\"x\"}\n{\"session\":1,"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := parseHistory(nil, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range join(records) {
			if e.Session <= 0 || e.Line <= 0 || e.Input == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}
