// Package tracing gives cells the timeline: %timeline and %%timeline.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/trace"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/magic"
	"gocuda/kernel/ranks"
	"gocuda/kernel/session"
	"gocuda/kernel/timeline"
)

// state is what the extension knows of a notebook.
type state struct {
	host   *evaluator.Host
	always bool // %timeline on
	inCell bool // %%timeline
	broken bool // the notebook was told that it cannot be done
}

// Attach adds the magics to an evaluator. In a rank, cells that the notebook asks the
// timeline of are traced, and it is sent back with their result.
func Attach(h *evaluator.Host) evaluator.Extension {
	s := &state{host: h, always: os.Getenv(trace.Env) == "1" && !ranks.InRank()}
	return evaluator.Extension{Magics: s.magics(), Begin: s.begin, End: s.end}
}

func (s *state) magics() []magic.Magic {
	return []magic.Magic{
		{Name: "timeline", Usage: "%%timeline [TITLE]", Cell: true, Run: s.cell,
			Doc: "Runs the cell and draws what ran when: copies, kernels, fills, host functions, waits, messages and collectives, of all ranks in cells for ranks.\n" +
				"Below it stands where the time went: by kernel, by copy, what ran beside each other, the longest chain of waits.\n" +
				"timeline.Save(\"trace.json\") writes it for Perfetto, timeline.Last() gives it as a value, timeline.Compare(before, after) draws two on one axis.\n" +
				"On GPUs the times are CUPTI's where it is found (doctor says so), else of events around each operation. On simulated devices they are the model's, as events measure them; messages between ranks then last as long as one waits for the other on the modelled clocks."},
		{Name: "timeline", Usage: "%timeline [on | off | status]", Run: s.line,
			Doc: "Draws every cell's timeline from the next cell on, or no more; see %%timeline."},
	}
}

func (s *state) line(_ context.Context, env magic.Env, call magic.Call) error {
	switch call.Args {
	case "on":
		s.always, s.broken = true, false
	case "off":
		s.always = false
		if trace.On() && !s.inCell {
			_, err := trace.Stop()
			return err
		}
	case "", "status":
		text := "the timeline is off"
		if s.always {
			text = "the timeline is on"
		}
		fmt.Fprintln(env.Stdout(), text)
	default:
		return call.UsageErrorf("on, off or status")
	}
	return nil
}

func (s *state) cell(ctx context.Context, env magic.Env, call magic.Call) error {
	if trace.On() {
		if _, err := trace.Stop(); err != nil { // %timeline on: this cell has its own
			return err
		}
	}
	s.inCell = true
	defer func() { s.inCell = false }()
	if err := s.start(); err != nil {
		return call.Errorf("TimelineError", "%v", err)
	}
	err := call.Within(ctx, env)
	title := call.Args
	if title == "" {
		title = s.host.Cell().Name
	}
	drawn := s.show(title, err == nil)
	if err != nil {
		return err // as it is
	}
	return drawn
}

// start begins a trace, of ranks' cells as well.
func (s *state) start() error {
	if err := trace.Start(); err != nil {
		return err
	}
	ranks.TraceCells(true)
	return nil
}

// begin is told about each cell. That of a rank says whether the notebook wants to know.
func (s *state) begin(<-chan struct{}) {
	c := s.host.Cell()
	if trace.On() || !s.always && !c.Trace || c.Silent && !c.Trace {
		return
	}
	if err := s.start(); err != nil && !s.broken {
		s.broken = true
		fmt.Fprintln(os.Stderr, "no timeline:", err)
	}
}

// end is told when a cell has run.
func (s *state) end() {
	if s.inCell || !trace.On() {
		return
	}
	c := s.host.Cell()
	if c.Trace {
		t, err := trace.Stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, "the timeline:", err)
			return
		}
		s.name(t)
		text, err := t.Encode()
		if err != nil {
			fmt.Fprintln(os.Stderr, "the timeline:", err)
			return
		}
		s.host.SetData(text)
		return
	}
	if err := s.show(c.Name, false); err != nil {
		fmt.Fprintln(os.Stderr, "the timeline:", err)
	}
}

// show ends the trace and draws it. A cell in which nothing was to be seen says so only
// if it was asked for.
func (s *state) show(title string, asked bool) error {
	ranks.TraceCells(false)
	own, err := trace.Stop()
	if own == nil {
		return err
	}
	s.name(own)
	parts := []*trace.Timeline{own}
	for _, text := range ranks.Traces() {
		p, decodes := trace.Decode(text.Data)
		if decodes != nil {
			err = errors.Join(err, decodes)
			continue
		}
		p.Between(text.Asked, text.Answered)
		parts = append(parts, p)
	}
	r := &timeline.Recorded{Timeline: trace.Merge(parts...)}
	r.Title = title
	if len(r.Boxes) == 0 {
		if asked {
			fmt.Println("timeline: nothing ran on devices, no message was sent, and the host waited for nothing")
		}
		return err
	}
	timeline.SetLast(r)
	b, drawn := r.Draw()
	if drawn == nil {
		drawn = s.host.Show(session.Output{Kind: session.Display, Bundle: b})
	}
	return errors.Join(err, drawn)
}

// name gives streams the names of the variables that hold them, and numbers to others.
func (s *state) name(t *trace.Timeline) {
	names := map[string]string{}
	hold := func(name string, v *cuda.Stream) {
		if v != nil && !strings.HasPrefix(name, "_") {
			if at := fmt.Sprintf("stream 0x%x", v.Handle()); names[at] == "" {
				names[at] = name
			}
		}
	}
	for _, n := range s.host.Variables("*cuda.Stream") {
		if v, ok := s.host.Value(n).(*cuda.Stream); ok {
			hold(n, v)
		}
	}
	for _, n := range s.host.Variables("[]*cuda.Stream") {
		list, _ := s.host.Value(n).([]*cuda.Stream)
		for i, v := range list {
			hold(fmt.Sprintf("%s[%d]", n, i), v)
		}
	}
	t.NameStreams(names)
}
