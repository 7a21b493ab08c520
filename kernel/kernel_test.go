package kernel

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"gocuda/kernel/session"
	"gocuda/kernel/wire"
)

func start(t testing.TB) (*client, *scripted) {
	t.Helper()
	evaluator := newScripted()
	return connect(t, startKernel(t, Options{Start: evaluator.start, quiet: time.Millisecond})), evaluator
}

func TestKernelInfoOnShellAndControl(t *testing.T) {
	c, _ := start(t)
	for _, ch := range []wire.Channel{wire.Shell, wire.Control} {
		reply, _ := c.ask(ch, "kernel_info_request", map[string]any{})
		language, _ := reply.Content["language_info"].(map[string]any)
		if reply.Type != "kernel_info_reply" || reply.text("status") != "ok" ||
			reply.text("protocol_version") != "5.5" || reply.text("implementation") != "gocuda" ||
			language["name"] != "go" || language["file_extension"] != ".go" || language["mimetype"] != "text/x-go" {
			t.Errorf("%s: %+v", ch, reply)
		}
		if _, ok := reply.Content["supported_features"].([]any); !ok {
			t.Errorf("%s: supported_features is %v, want a list", ch, reply.Content["supported_features"])
		}
	}
}

func TestExecutePublishesInOrder(t *testing.T) {
	c, _ := start(t)
	code := "print one\nwarn two\nshow - three\nshow d four\nupdate d five\nclear true\nvalue six"
	reply, published := c.execute(code)
	want := []string{"execute_input", "stream", "stream", "display_data", "display_data", "update_display_data", "clear_output", "execute_result"}
	if got := types(published); !reflect.DeepEqual(got, want) {
		t.Fatalf("published %v, want %v", got, want)
	}
	if reply.text("status") != "ok" || reply.Content["execution_count"] != 1.0 {
		t.Errorf("reply %+v", reply)
	}
	in, out, warn, shown, named, updated, cleared, value := published[0], published[1], published[2], published[3],
		published[4], published[5], published[6], published[7]
	if in.text("code") != code || in.Content["execution_count"] != 1.0 {
		t.Errorf("execute_input %+v", in)
	}
	if out.text("name") != "stdout" || out.text("text") != "one" || warn.text("name") != "stderr" || warn.text("text") != "two" {
		t.Errorf("streams %+v %+v", out, warn)
	}
	if !reflect.DeepEqual(shown.Content["transient"], map[string]any{}) {
		t.Errorf("transient of an unnamed display: %v", shown.Content["transient"])
	}
	id := map[string]any{"display_id": "d"}
	if !reflect.DeepEqual(named.Content["transient"], id) || !reflect.DeepEqual(updated.Content["transient"], id) {
		t.Errorf("transient of named displays: %v, %v", named.Content, updated.Content)
	}
	if cleared.Content["wait"] != true {
		t.Errorf("clear_output %+v", cleared)
	}
	if !reflect.DeepEqual(value.Content["data"], map[string]any{"text/plain": "six"}) || value.Content["execution_count"] != 1.0 {
		t.Errorf("execute_result %+v", value)
	}
}

func TestExecutionCount(t *testing.T) {
	c, _ := start(t)
	steps := []struct {
		name    string
		content map[string]any
		count   float64
	}{
		{"a cell", map[string]any{"code": "print x"}, 1},
		{"empty", map[string]any{"code": " \n"}, 1},
		{"silent", map[string]any{"code": "print x", "silent": true}, 1},
		{"the next cell", map[string]any{"code": "fail E e"}, 2},
		{"after an error", map[string]any{"code": "print x"}, 3},
	}
	for _, s := range steps {
		reply, _ := c.ask(wire.Shell, "execute_request", s.content)
		if reply.Content["execution_count"] != s.count {
			t.Errorf("%s: count %v, want %v", s.name, reply.Content["execution_count"], s.count)
		}
	}
}

func TestSilentPublishesNothing(t *testing.T) {
	c, _ := start(t)
	for _, code := range []string{"print x\nvalue y", "fail E e"} {
		_, published := c.ask(wire.Shell, "execute_request", map[string]any{"code": code, "silent": true})
		if len(published) != 0 {
			t.Errorf("%q published %+v", code, published)
		}
	}
}

func TestErrorIsPublishedOnceAndReplied(t *testing.T) {
	c, _ := start(t)
	reply, published := c.execute("fail Panic index out of range")
	if got := types(published); !reflect.DeepEqual(got, []string{"execute_input", "error"}) {
		t.Fatalf("published %v", got)
	}
	for _, m := range []message{reply, published[1]} {
		if m.text("ename") != "Panic" || m.text("evalue") != "index out of range" {
			t.Errorf("%+v", m)
		}
		if trace, _ := m.Content["traceback"].([]any); len(trace) != 1 {
			t.Errorf("traceback %v", m.Content["traceback"])
		}
	}
	if reply.text("status") != "error" {
		t.Errorf("status %q", reply.text("status"))
	}
}

func TestUserExpressionsAndPayloads(t *testing.T) {
	c, _ := start(t)
	reply, _ := c.ask(wire.Shell, "execute_request", map[string]any{
		"code": "next fmt.Println()\npage help", "user_expressions": map[string]string{"a": "1+1", "b": "bad"}})
	values := reply.Content["user_expressions"].(map[string]any)
	a, b := values["a"].(map[string]any), values["b"].(map[string]any)
	if a["status"] != "ok" || !reflect.DeepEqual(a["data"], map[string]any{"text/plain": "1+1"}) {
		t.Errorf("a: %v", a)
	}
	if b["status"] != "error" || b["ename"] != "CompileError" {
		t.Errorf("b: %v", b)
	}
	payload := reply.Content["payload"].([]any)
	if len(payload) != 2 {
		t.Fatalf("payload %v", payload)
	}
	next, page := payload[0].(map[string]any), payload[1].(map[string]any)
	if next["source"] != "set_next_input" || next["text"] != "fmt.Println()" ||
		page["source"] != "page" || !reflect.DeepEqual(page["data"], map[string]any{"text/plain": "help"}) {
		t.Errorf("payload %v", payload)
	}
}

// heard counts the requests that a kernel has heard on shell, by its log.
type heard struct {
	t     testing.TB
	count atomic.Int32
}

func (h *heard) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("msg=received channel=shell")) {
		h.count.Add(1)
	}
	return testWriter{h.t}.Write(p)
}

func (h *heard) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(h, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (h *heard) wait(n int) {
	for end := time.Now().Add(patience); h.count.Load() < int32(n); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("%d of %d requests were heard", h.count.Load(), n)
		}
	}
}

// The cells behind a failed one must not run, however they reach the kernel.
func TestStopOnErrorStopsTheQueue(t *testing.T) {
	for _, test := range []struct {
		name, code string
		stop       bool
	}{
		{"the queue waits in the kernel", "hold\nfail E broken", true},
		{"the cell fails at once, and the front end named it", "fail E broken", true},
		{"asked not to stop", "fail E broken", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			evaluator, heard := newScripted(), &heard{t: t}
			c := connect(t, startKernel(t, Options{Start: evaluator.start, Log: heard.log(), quiet: time.Millisecond, human: time.Hour}))
			if strings.Contains(test.name, "named") {
				c.metadata = `{"cellId":"a","deletedCells":[]}`
			}
			c.execute("print warm")
			<-evaluator.began
			const queued = 20
			var frames [][][]byte
			var ids []string
			for i := range 1 + queued {
				code := test.code
				if i > 0 {
					code = "print ran"
				}
				f, id := c.frames("execute_request", map[string]any{"code": code, "stop_on_error": test.stop})
				frames, ids = append(frames, f), append(ids, id)
			}
			for _, f := range frames {
				if err := c.sockets[wire.Shell].SendMulti(zmq4.NewMsgFrom(f...)); err != nil {
					t.Fatal(err)
				}
			}
			if strings.HasPrefix(test.code, "hold") {
				heard.wait(1 + len(frames))
				close(evaluator.release)
			}
			for i, id := range ids {
				reply, published := c.answer(wire.Shell, id)
				switch {
				case i == 0:
					if reply.text("ename") != "E" {
						t.Errorf("the failing cell: %+v", reply)
					}
				case test.stop:
					if reply.text("status") != "error" || reply.text("ename") != "Aborted" || !strings.Contains(reply.text("evalue"), "In[2]") {
						t.Errorf("cell %d behind: %+v", i, reply)
					}
					if len(published) != 0 {
						t.Errorf("cell %d behind published %v", i, published)
					}
				case reply.text("status") != "ok":
					t.Errorf("cell %d behind: %+v", i, reply)
				}
			}
			// What is sent because of the failure runs.
			c.metadata = "{}"
			if reply, _ := c.execute("print again"); reply.text("status") != "ok" {
				t.Errorf("the next cell: %+v", reply)
			}
		})
	}
}

// Bursts with a failure somewhere: what is before it runs, what is after it
// does not, and what is sent as soon as the failure is known runs.
func TestStopOnErrorUnderLoad(t *testing.T) {
	c, _ := start(t)
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 30 {
		n := 1 + random.IntN(100)
		failing := random.IntN(n)
		var ids []string
		for i := range n {
			code := "print x"
			if i == failing {
				code = "fail E e"
			}
			ids = append(ids, c.send(wire.Shell, "execute_request", map[string]any{"code": code}))
		}
		for i, id := range ids {
			reply, _ := c.answer(wire.Shell, id)
			// A request that was sent after the failure is one that runs.
			sent := reply.text("ename")
			switch {
			case i < failing && sent != "", i == failing && sent != "E", i > failing && sent != "Aborted" && sent != "":
				t.Fatalf("round %d: cell %d of %d, %d fails: %+v", round, i, n, failing, reply)
			}
		}
		for range 5 {
			if reply, _ := c.execute("fail E e"); reply.text("ename") != "E" {
				t.Fatalf("round %d: sent after a failure was known: %+v", round, reply)
			}
		}
	}
}

// A front end that runs all cells takes its time to send them.
func TestStopOnErrorReachesWhatIsStillBeingSent(t *testing.T) {
	evaluator, heard := newScripted(), &heard{t: t}
	c := connect(t, startKernel(t, Options{Start: evaluator.start, Log: heard.log(), quiet: 3 * time.Second}))
	var ids []string
	for i := range 10 {
		code := "print x"
		if i == 0 {
			code = "hold\nfail E e"
		}
		ids = append(ids, c.send(wire.Shell, "execute_request", map[string]any{"code": code}))
		if i == 1 {
			heard.wait(2)
			close(evaluator.release)
		}
		time.Sleep(2 * time.Millisecond)
	}
	info := c.send(wire.Shell, "kernel_info_request", map[string]any{})
	replies := map[string]message{}
	for range len(ids) + 1 { // that to info may come beside the cell
		reply := c.next(wire.Shell)
		replies[reply.Parent] = reply
	}
	for i, id := range ids {
		if i > 0 && replies[id].text("ename") != "Aborted" {
			t.Errorf("cell %d: %+v", i, replies[id])
		}
	}
	if replies[info].text("status") != "ok" {
		t.Errorf("%+v", replies[info])
	}
	c.send(wire.Shell, "execute_request", map[string]any{"code": "print x"})
	if reply := c.next(wire.Shell); reply.text("status") != "ok" {
		t.Errorf("sent after the failure was known: %+v", reply)
	}
}

// Whatever a client writes as dates, what it sends when it knows of a failure
// runs.
func TestNoFalseAborts(t *testing.T) {
	for name, date := range map[string]func(time.Time) string{
		"seconds":      func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") },
		"milliseconds": func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") },
		"an hour slow": func(t time.Time) string { return t.Add(-time.Hour).UTC().Format(time.RFC3339Nano) },
		"stopped":      func(time.Time) string { return "2020-01-01T00:00:00Z" },
		"none":         func(time.Time) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := start(t)
			c.date = date
			for i := range 60 {
				if reply, _ := c.execute("fail E e"); reply.text("ename") != "E" {
					t.Fatalf("request %d: %+v", i, reply)
				}
			}
		})
	}
}

// A client that sent one cell and waits is told about its failure at once, however
// long a run of cells may take to arrive.
func TestAFailureAloneIsNotKeptBack(t *testing.T) {
	evaluator, heard := newScripted(), &heard{t: t}
	c := connect(t, startKernel(t, Options{Start: evaluator.start, Log: heard.log(), quiet: time.Hour}))
	other := connect(t, c.conn)
	// Others' requests keep nothing back, and are not aborted.
	failing := c.send(wire.Shell, "execute_request", map[string]any{"code": "hold\nfail E e"})
	others := other.send(wire.Shell, "execute_request", map[string]any{"code": "print x"})
	heard.wait(2)
	close(evaluator.release)
	if reply := c.next(wire.Shell); reply.Parent != failing || reply.text("ename") != "E" {
		t.Errorf("%+v", reply)
	}
	if reply := other.next(wire.Shell); reply.Parent != others || reply.text("status") != "ok" {
		t.Errorf("another client's: %+v", reply)
	}
}

func TestOtherRequestsAreAnsweredBehindAFailure(t *testing.T) {
	c, _ := start(t)
	failing := c.send(wire.Shell, "execute_request", map[string]any{"code": "sleep 30ms\nfail E e"})
	info := c.send(wire.Shell, "kernel_info_request", map[string]any{})
	// Beside the cell, if that takes long; not aborted in any case.
	status := map[string]string{}
	for range 2 {
		reply := c.next(wire.Shell)
		status[reply.Parent] = reply.text("status")
	}
	if status[failing] != "error" || status[info] != "ok" {
		t.Errorf("%v", status)
	}
}

func TestControlIsAnsweredWhileACellRuns(t *testing.T) {
	c, evaluator := start(t)
	id := c.send(wire.Shell, "execute_request", map[string]any{"code": "block"})
	<-evaluator.began
	c.send(wire.Control, "kernel_info_request", map[string]any{})
	if reply := c.next(wire.Control); reply.Type != "kernel_info_reply" {
		t.Errorf("%+v", reply)
	}
	c.send(wire.Control, "interrupt_request", map[string]any{})
	if reply := c.next(wire.Control); reply.Type != "interrupt_reply" || reply.text("status") != "ok" {
		t.Errorf("%+v", reply)
	}
	reply := c.next(wire.Shell)
	if reply.Parent != id || reply.text("status") != "error" || reply.text("ename") != "Interrupted" {
		t.Errorf("%+v", reply)
	}
}

// The first interrupt may come just before the evaluator has taken the cell.
func TestAnInterruptIsRepeatedForItsOwnCellOnly(t *testing.T) {
	c, evaluator := start(t)
	c.send(wire.Shell, "execute_request", map[string]any{"code": "block once again", "stop_on_error": false})
	<-evaluator.began
	c.send(wire.Control, "interrupt_request", map[string]any{})
	if reply := c.next(wire.Shell); reply.text("ename") != "Interrupted" {
		t.Errorf("%+v", reply)
	}
	id := c.send(wire.Shell, "execute_request", map[string]any{"code": "block", "stop_on_error": false})
	<-evaluator.began
	c.send(wire.Control, "interrupt_request", map[string]any{})
	if reply := c.next(wire.Shell); reply.Parent != id {
		t.Errorf("%+v", reply)
	}
	c.send(wire.Shell, "execute_request", map[string]any{"code": "print x\nsleep 300ms"})
	if reply := c.next(wire.Shell); reply.text("status") != "ok" || len(evaluator.interrupts) != 0 {
		t.Errorf("%d interrupts of a cell that nobody interrupted: %+v", len(evaluator.interrupts), reply)
	}
}

// Control and shell are two connections: an interrupt may arrive before the
// cell that it means.
func TestAnInterruptOvertakesItsCell(t *testing.T) {
	c, evaluator := start(t)
	frames, id := c.frames("execute_request", map[string]any{"code": "block"})
	c.ask(wire.Control, "interrupt_request", map[string]any{})
	if err := c.sockets[wire.Shell].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		t.Fatal(err)
	}
	if reply, _ := c.answer(wire.Shell, id); reply.text("ename") != "Interrupted" || len(evaluator.began) != 0 {
		t.Errorf("%+v", reply)
	}
	c.ask(wire.Control, "interrupt_request", map[string]any{})
	if reply, _ := c.execute("print x"); reply.text("status") != "ok" {
		t.Errorf("a cell that was sent after an interrupt: %+v", reply)
	}
}

// An interrupt that comes when the evaluator is still starting stops the cell
// that waits for it.
func TestInterruptBeforeTheEvaluatorIsThere(t *testing.T) {
	evaluator, ready := newScripted(), make(chan struct{})
	c := connect(t, startKernel(t, Options{Start: func(o func(session.Output), i session.InputFunc) (session.Evaluator, error) {
		<-ready
		return evaluator.start(o, i)
	}}))
	id := c.send(wire.Shell, "execute_request", map[string]any{"code": "print x"})
	for c.next(wire.IOPub).Type != "execute_input" {
	}
	c.send(wire.Control, "interrupt_request", map[string]any{})
	c.next(wire.Control)
	close(ready)
	if reply := c.next(wire.Shell); reply.Parent != id || reply.text("ename") != "Interrupted" {
		t.Errorf("%+v", reply)
	}
	if len(evaluator.began) != 0 {
		t.Error("the cell ran")
	}
}

func TestOutputOfAGoroutineCarriesTheLastCell(t *testing.T) {
	c, evaluator := start(t)
	id := c.send(wire.Shell, "execute_request", map[string]any{"code": "later hello"})
	c.answer(wire.Shell, id)
	c.ask(wire.Shell, "kernel_info_request", map[string]any{})
	close(evaluator.release)
	if m := c.next(wire.IOPub); m.Type != "stream" || m.Parent != id || m.text("text") != "hello" {
		t.Errorf("%+v, want a stream for %s", m, id)
	}
}

func TestUnshowableOutputIsReported(t *testing.T) {
	c, _ := start(t)
	reply, published := c.execute("nan")
	if reply.text("status") != "ok" || len(published) != 2 || published[1].text("name") != "stderr" ||
		!strings.Contains(published[1].text("text"), "could not be shown") {
		t.Errorf("%+v %+v", reply, published)
	}
}

func TestAPanicInAHandlerIsAnAnswer(t *testing.T) {
	c, _ := start(t)
	reply, _ := c.execute("panic")
	if reply.text("status") != "error" || reply.text("evalue") != "the evaluator's own fault" {
		t.Errorf("%+v", reply)
	}
	if reply, _ := c.execute("print x"); reply.text("status") != "ok" {
		t.Errorf("the next cell: %+v", reply)
	}
}

func TestUnknownAndBadRequests(t *testing.T) {
	c, _ := start(t)
	for _, test := range []struct {
		channel       wire.Channel
		kind, reply   string
		content       any
		ename, evalue string
	}{
		{wire.Shell, "dance_request", "dance_reply", map[string]any{}, "UnknownMessage", "dance_request"},
		{wire.Control, "sing_request", "sing_reply", map[string]any{}, "UnknownMessage", "sing_request"},
		{wire.Shell, "execute_request", "execute_reply", map[string]any{"code": 5}, "RequestError", "code"},
		{wire.Shell, "history_request", "history_reply", map[string]any{"hist_access_type": "all"}, "RequestError", `"all"`},
	} {
		reply, _ := c.ask(test.channel, test.kind, test.content)
		if reply.Type != test.reply || reply.text("status") != "error" ||
			reply.text("ename") != test.ename || !strings.Contains(reply.text("evalue"), test.evalue) {
			t.Errorf("%s: %+v", test.kind, reply)
		}
	}
	id := c.send(wire.Shell, "dance", map[string]any{})
	if published := c.published(id); len(published) != 0 {
		t.Errorf("an unknown message published %v", published)
	}
}

// TestDebugRequests: they go to the evaluator, and its events to the front ends.
func TestDebugRequests(t *testing.T) {
	c, _ := start(t)
	reply, published := c.ask(wire.Control, "debug_request", map[string]any{"type": "request", "seq": 7, "command": "initialize"})
	if reply.Type != "debug_reply" || reply.Content["success"] != true || reply.Content["request_seq"] != 7.0 ||
		reply.text("command") != "initialize" || len(published) != 0 {
		t.Errorf("%+v, %v", reply, published)
	}
	c.execute("print 1")
	c.send(wire.Control, "debug_request", map[string]any{"type": "request", "seq": 8, "command": "attach"})
	for m := range c.inbox[wire.IOPub] {
		if m.Type == "debug_event" {
			if m.text("event") != "initialized" {
				t.Errorf("%+v", m)
			}
			break
		}
	}
}

func TestCompleteCountsCodePoints(t *testing.T) {
	c, _ := start(t)
	for _, test := range []struct {
		code       string
		cursor     any
		match      string
		start, end float64
	}{
		{"fmt.Print", 9, "fmt.Println", 0, 9},
		{"𝔾ö fmt.Print x", 12, "fmt.Println", 3, 12},
		{"𝔾ö fmt.Print", nil, "fmt.Println", 3, 12},
		{"ab", 99, "abln", 0, 2},
		{"ab", -1, "ln", 0, 0},
	} {
		reply, _ := c.ask(wire.Shell, "complete_request", map[string]any{"code": test.code, "cursor_pos": test.cursor})
		if !reflect.DeepEqual(reply.Content["matches"], []any{test.match}) ||
			reply.Content["cursor_start"] != test.start || reply.Content["cursor_end"] != test.end {
			t.Errorf("%q at %v: %+v", test.code, test.cursor, reply.Content)
			continue
		}
		typed := reply.Content["metadata"].(map[string]any)["_jupyter_types_experimental"].([]any)
		want := map[string]any{"text": test.match, "type": "function", "signature": "func(a ...any)", "start": test.start, "end": test.end}
		if len(typed) != 1 || !reflect.DeepEqual(typed[0], want) {
			t.Errorf("types %v, want %v", typed, want)
		}
	}
	if reply, _ := c.ask(wire.Shell, "complete_request", map[string]any{"code": "error", "cursor_pos": 0}); reply.text("status") != "error" {
		t.Errorf("%+v", reply)
	}
}

func TestInspectAndIsComplete(t *testing.T) {
	c, _ := start(t)
	reply, _ := c.ask(wire.Shell, "inspect_request", map[string]any{"code": "öfmt", "cursor_pos": 2, "detail_level": 1})
	if reply.Content["found"] != true || !reflect.DeepEqual(reply.Content["data"], map[string]any{"text/plain": "öf|1"}) {
		t.Errorf("%+v", reply)
	}
	reply, _ = c.ask(wire.Shell, "inspect_request", map[string]any{"code": "nothing", "cursor_pos": 0})
	if reply.text("status") != "ok" || reply.Content["found"] != false || !reflect.DeepEqual(reply.Content["data"], map[string]any{}) {
		t.Errorf("%+v", reply)
	}
	reply, _ = c.ask(wire.Shell, "is_complete_request", map[string]any{"code": "if x {"})
	if reply.text("status") != "incomplete" || reply.text("indent") != "\t" {
		t.Errorf("%+v", reply)
	}
	reply, _ = c.ask(wire.Shell, "is_complete_request", map[string]any{"code": "x"})
	if _, indented := reply.Content["indent"]; reply.text("status") != "complete" || indented {
		t.Errorf("%+v", reply)
	}
}

func TestInput(t *testing.T) {
	c, _ := start(t)
	for _, prompt := range []string{"Name: ", "Password: "} {
		id := c.send(wire.Shell, "execute_request", map[string]any{"code": "ask " + prompt, "allow_stdin": true})
		question := c.next(wire.Stdin)
		if question.Type != "input_request" || question.Parent != id || question.text("prompt") != prompt ||
			question.Content["password"] != (prompt == "Password: ") {
			t.Errorf("%+v", question)
		}
		c.send(wire.Stdin, "input_reply", map[string]any{"value": "Ada"})
		_, published := c.answer(wire.Shell, id)
		if len(published) != 2 || published[1].text("text") != "Ada" {
			t.Errorf("published %+v", published)
		}
	}
}

func TestInputGoesToTheClientThatAsks(t *testing.T) {
	evaluator := newScripted()
	conn := startKernel(t, Options{Start: evaluator.start})
	one, other := connect(t, conn), connect(t, conn)
	id := one.send(wire.Shell, "execute_request", map[string]any{"code": "ask ?", "allow_stdin": true})
	one.next(wire.Stdin)
	other.send(wire.Stdin, "input_reply", map[string]any{"value": "not asked"})
	time.Sleep(20 * time.Millisecond)
	one.send(wire.Stdin, "input_reply", map[string]any{"value": "asked"})
	_, published := one.answer(wire.Shell, id)
	if published[1].text("text") != "asked" {
		t.Errorf("published %+v", published)
	}
	if len(other.inbox[wire.Stdin]) != 0 {
		t.Error("the other client was asked too")
	}
}

func TestInputRefused(t *testing.T) {
	c, _ := start(t)
	reply, _ := c.ask(wire.Shell, "execute_request", map[string]any{"code": "ask ?", "allow_stdin": false})
	if reply.text("ename") != "InputError" {
		t.Errorf("%+v", reply)
	}
	c = connect(t, c.conn, wire.Stdin)
	reply, _ = c.ask(wire.Shell, "execute_request", map[string]any{"code": "ask ?", "allow_stdin": true})
	if reply.text("ename") != "InputError" {
		t.Errorf("without a stdin channel: %+v", reply)
	}
}

func TestInterruptEndsAQuestion(t *testing.T) {
	c, _ := start(t)
	c.send(wire.Shell, "execute_request", map[string]any{"code": "ask ?", "allow_stdin": true})
	c.next(wire.Stdin)
	c.send(wire.Control, "interrupt_request", map[string]any{})
	if reply := c.next(wire.Shell); reply.text("status") != "error" || !strings.Contains(reply.text("evalue"), "interrupted") {
		t.Errorf("%+v", reply)
	}
}

func TestHeartbeatEchoes(t *testing.T) {
	c, evaluator := start(t)
	c.send(wire.Shell, "execute_request", map[string]any{"code": "block"})
	<-evaluator.began
	hb := zmq4.NewReq(t.Context())
	defer hb.Close()
	if err := hb.Dial(c.conn.Endpoint(wire.Heartbeat)); err != nil {
		t.Fatal(err)
	}
	for _, beat := range []string{"ping", strings.Repeat("x", 60<<10)} {
		if err := hb.Send(zmq4.NewMsgString(beat)); err != nil {
			t.Fatal(err)
		}
		m, err := hb.Recv()
		if err != nil || !bytes.Equal(m.Bytes(), []byte(beat)) {
			t.Errorf("echo of %d bytes: %d bytes, %v", len(beat), len(m.Bytes()), err)
		}
	}
}
