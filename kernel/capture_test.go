package kernel

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/wire"
)

// Commands of the scripted evaluator for an Output widget out.
const (
	openOutput = `tell open out {"state":{"_model_name":"OutputModel","msg_id":"","outputs":[]},"buffer_paths":[]}` + "\n"
	endCapture = `tell msg out {"method":"update","state":{"msg_id":""},"buffer_paths":[]}` + "\n"
)

// begin has a widget capture the outputs of the client's next message, which is ahead by so many.
func (c *client) begin(widget string, ahead int) string {
	return fmt.Sprintf(`tell msg %s {"method":"update","state":{"msg_id":"%s_%d"},"buffer_paths":[]}`, widget, c.session, c.serial+ahead) + "\n"
}

// told is what messages say, in short: texts, and the state that widgets' messages have.
func told(t *testing.T, list []message) (lines []string) {
	t.Helper()
	for _, m := range list {
		switch m.Type {
		case "execute_input":
		case "stream":
			lines = append(lines, "print "+m.text("text"))
		case "clear_output":
			lines = append(lines, "clear")
		case "comm_open", "comm_msg", "comm_close":
			data, _ := m.Content["data"].(map[string]any)
			text, err := json.Marshal(data["state"])
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.TrimPrefix(m.Type, "comm_")+" "+m.text("comm_id")+" "+string(text))
		default:
			data, _ := m.Content["data"].(map[string]any)
			lines = append(lines, fmt.Sprint(m.Type, " ", data["text/plain"]))
		}
	}
	return lines
}

func stream(text string) string {
	return fmt.Sprintf(`{"name":"stdout","output_type":"stream","text":%q}`, text)
}

func picture(text string) string {
	return fmt.Sprintf(`{"data":{"text/plain":%q},"metadata":{},"output_type":"display_data"}`, text)
}

func captured(items ...string) string {
	return `msg out {"outputs":[` + strings.Join(items, ",") + `]}`
}

// An update that comes due while another is told does not make the next cell's update wait.
func TestTheNextCellsUpdateComesAtOnce(t *testing.T) {
	k := &kernel{}
	k.captures.mu.Lock()
	k.tellLater()
	time.Sleep(20 * time.Millisecond) // it is due, and waits for mu
	k.tellCaptured()                  // as endCaptured does
	k.captures.told = time.Time{}
	k.captures.mu.Unlock()
	time.Sleep(20 * time.Millisecond)
	k.captures.mu.Lock()
	defer k.captures.mu.Unlock()
	if !k.captures.told.IsZero() {
		t.Error("the next update waits for the interval")
	}
}

// What an Output captures comes in one update of its state, and no front end is asked to
// capture anything.
func TestCaptures(t *testing.T) {
	evaluator := newScripted()
	c := connect(t, startKernel(t, Options{Start: evaluator.start}))
	expect := func(got []message, want ...string) {
		t.Helper()
		if got := told(t, got); !reflect.DeepEqual(got, want) {
			t.Errorf("published:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	run := func(code string) []message {
		t.Helper()
		_, got := c.execute(code)
		return got
	}
	opened := `open out {"_model_name":"OutputModel","msg_id":"","outputs":[]}`

	// As Interact does, in its cell.
	expect(run("print before\n"+openOutput+c.begin("out", 1)+`clear true
print a
print b
show - picture
`+endCapture+"print after"),
		"print before", opened, captured(stream("ab"), picture("picture")), "print after")

	// In an event, for which no cell is there.
	event := func(code string) []message {
		t.Helper()
		return c.published(c.send(wire.Shell, "comm_msg", map[string]any{"comm_id": "out", "data": code}))
	}
	expect(event(c.begin("out", 1)+"clear true\nprint moved\n"+endCapture+"print log"), captured(stream("moved")), "print log")

	// A failure is told as ever; what came before it is captured.
	expect(event(c.begin("out", 1)+"print half\n"+endCapture+"fail Panic oh"), captured(stream("movedhalf")), "print \x1b[31mPanic\x1b[0m: oh\n")

	// Silent cells show nothing; widgets are widgets.
	_, got := c.ask(wire.Shell, "execute_request", map[string]any{"code": c.begin("out", 1) + "clear false\nprint quiet\n" + endCapture + "print x", "silent": true})
	expect(got, captured(stream("quiet")))

	// A cell that does not end what it began: the next one's outputs are its own.
	expect(run(c.begin("out", 1)+"clear false\nprint held\nfail Interrupted now"), captured(stream("held")), "error <nil>")
	expect(run("print mine"), "print mine")
	run(endCapture)

	// Displays that are updated, and values.
	expect(run(c.begin("out", 1)+"clear false\nshow d one\nvalue 5\n"+endCapture+"update d two"),
		captured(picture("one"), `{"data":{"text/plain":"5"},"execution_count":5,"metadata":{},"output_type":"execute_result"}`), "update_display_data two",
		captured(picture("two"), `{"data":{"text/plain":"5"},"execution_count":5,"metadata":{},"output_type":"execute_result"}`))

	// What programs and front ends set holds, and is added to.
	expect(run(`tell msg out {"method":"update","state":{"outputs":[{"output_type":"stream","name":"stderr","text":"set"}],"layout":"x"},"buffer_paths":[]}`),
		`msg out {"layout":"x","outputs":[{"name":"stderr","output_type":"stream","text":"set"}]}`)
	expect(run(c.begin("out", 1)+"print more\n"+endCapture), captured(`{"name":"stderr","output_type":"stream","text":"set"}`, stream("more")))
	expect(run(`tell msg out {"method":"echo_update","state":{"outputs":[]}}`), captured())
	expect(run(c.begin("out", 1)+"print x\n"+`tell msg out {"method":"update","state":{"outputs":[]}}`+"\nprint y\n"+endCapture), captured(), captured(stream("y")))

	// A page that is loaded again gets all outputs, from an evaluator that knows of none.
	whole := `{"_model_name":"OutputModel","msg_id":"","outputs":[` + stream("y") + `]}`
	expect(run(`tell msg out {"method":"update","state":{"_model_name":"OutputModel","msg_id":"","outputs":[]},"buffer_paths":[]}`), "msg out "+whole)
	got = run(`tell msg control {"method":"update_states","states":{"out":{"model_name":"OutputModel","state":{"_model_name":"OutputModel","msg_id":"z","outputs":[]}},"other":{"state":{"value":1}}},"buffer_paths":[["other","state","value"]]}`)
	if text, _ := json.Marshal(got[len(got)-1].Content["data"]); string(text) != `{"buffer_paths":[["other","state","value"]],"method":"update_states","states":{"other":{"state":{"value":1}},"out":{"model_name":"OutputModel","state":`+whole+`}}}` {
		t.Errorf("the states of all widgets: %s", text)
	}

	// An Output in an Output.
	in := func(s string) string { return strings.ReplaceAll(s, " out ", " in ") }
	expect(run(in(openOutput)+c.begin("out", 1)+"clear false\nprint 1\n"+c.begin("in", 1)+"print 2\n"+in(endCapture)+"print 3\n"+endCapture+"print 4"),
		in(opened), in(captured(stream("2"))), captured(stream("13")), "print 4")

	// Before a widget goes that is shown in it; a widget that is gone captures nothing, and
	// neither does one of an evaluator that is gone.
	expect(run(c.begin("out", 1)+"print 5\n"+`tell close in {}`+"\n"+`tell close out {}`+"\nprint 6"), captured(stream("135")), "close in null", "close out null", "print 6")
	run(openOutput)
	expect(run(c.begin("out", 1)+"print last\nrestart"), captured(stream("last")), "close out null")
	expect(run(c.begin("out", 1)+"print free"), `msg out {"msg_id":"`+c.session+fmt.Sprint("_", c.serial)+`"}`, "print free")
}

// Text that goes on is told now and then, and not with each line.
func TestALongCaptureIsSeen(t *testing.T) {
	evaluator := newScripted()
	c := connect(t, startKernel(t, Options{Start: evaluator.start}))
	code := openOutput + c.begin("out", 1) + "flood 3000\nhold\nflood 2\n" + endCapture
	id := c.send(wire.Shell, "execute_request", map[string]any{"code": code})
	var flood strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&flood, "line %d\n", i)
	}
	for {
		if m := c.next(wire.IOPub); m.Type == "comm_msg" && told(t, []message{m})[0] == captured(stream(flood.String())) {
			break // all that was printed, while the cell runs
		}
	}
	close(evaluator.release)
	c.next(wire.Shell)
	last := ""
	for m := c.next(wire.IOPub); m.text("execution_state") != "idle"; m = c.next(wire.IOPub) {
		if m.Parent != id || m.Type != "comm_msg" {
			t.Errorf("published: %+v", m)
		}
		last = told(t, []message{m})[0]
	}
	if last != captured(stream(flood.String()+"line 0\nline 1\n")) {
		t.Error("the last update is not of all that was printed")
	}

	// A loop that captures line by line.
	begun := time.Now()
	code = "clear false\n"
	for range 500 {
		code += c.begin("out", 1) + "print line\n" + endCapture
	}
	_, got := c.execute(code)
	if n, most := len(got), int(time.Since(begun)/updateInterval)+4; n > most {
		t.Errorf("%d messages in %v of a loop that captures 500 lines, want at most %d", n, time.Since(begun), most)
	}
}

// Outputs of a subshell, and of a goroutine that goes on, are captured as those of cells.
func TestCapturesBesideCells(t *testing.T) {
	evaluator := newScripted()
	c := connect(t, startKernel(t, Options{Start: evaluator.start}))
	c.execute(openOutput)
	subshell, _ := c.ask(wire.Control, "create_subshell_request", map[string]any{})
	c.subshell = subshell.text("subshell_id")
	_, got := c.execute(c.begin("out", 1) + "print beside\n" + endCapture + "print own")
	if got := told(t, got); !reflect.DeepEqual(got, []string{captured(stream("beside")), "print own"}) {
		t.Errorf("a subshell's cell published %q", got)
	}
	c.subshell = ""
	_, got = c.execute(c.begin("out", 1) + "later on")
	cell := got[0].Parent
	close(evaluator.release)
	if m := c.next(wire.IOPub); m.Type != "comm_msg" || m.Parent != cell || told(t, []message{m})[0] != captured(stream("besideon")) {
		t.Errorf("what a goroutine prints that goes on: %+v", m)
	}
}
