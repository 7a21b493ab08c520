// Package timeline draws what streams did and when: a lane for each stream, a
// box for each piece of work, as measured by events around it.
//
//	t := must(timeline.New())
//	t.Do("stream A", "copy in", a, func() error { return cuda.MemcpyAsync(x, host, a) })
//	t.Do("stream A", "kernel", a, func() error { return twice.Launch(grid, block, a, x, n) })
//	t.Draw("One stream")
//
// A box begins when the stream has come to the work and ends when it is done.
// What else the work had to wait for in between, such as a copy engine that
// served another stream, is part of its box.
package timeline

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/kernel/display"
	"gocuda/kernel/plot"
)

// Timeline collects pieces of work. It is safe for concurrent use. A nil
// *Timeline runs the work and records nothing, so that the calls may stay in
// code that is drawn only now and then.
type Timeline struct {
	mu     sync.Mutex
	clocks []*clock // the first is the others' reference
	pieces []piece  // not measured yet
	bars   []plot.Bar
}

// New makes an empty timeline. It compares the clocks of the devices that are
// named, and waits for that; for others, the first Do does so.
func New(devices ...*cuda.Device) (*Timeline, error) {
	t := &Timeline{}
	for _, d := range devices {
		if _, err := t.clock(d); err != nil {
			return nil, errors.Join(err, t.forgetClocks())
		}
	}
	return t, nil
}

func (t *Timeline) String() string {
	if t == nil {
		return "no timeline"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprintf("timeline of %d pieces of work; Draw shows it", len(t.pieces))
}

// piece is work between two events.
type piece struct {
	lane, label string
	clock       *clock
	begin, end  *cuda.Event
}

// Do queues work, which must go to the stream, between two events of it. Like
// the work it does not wait for the device, but for the first time on each
// device, when it compares that device's clock with the others'. The stream is
// the current device's default stream if nil. Bars of one lane stand in one row
// of the picture, and those of one label have one colour.
func (t *Timeline) Do(lane, label string, s *cuda.Stream, work func() error) error {
	if t == nil {
		return work()
	}
	p := piece{lane: lane, label: label}
	err := t.queue(&p, s, work)
	if err != nil {
		return errors.Join(err, destroy(p.begin, p.end))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pieces = append(t.pieces, p)
	return nil
}

func (t *Timeline) queue(p *piece, s *cuda.Stream, work func() error) (err error) {
	var dev *cuda.Device
	if s != nil {
		dev = s.Device()
	} else if dev, err = cuda.CurrentDevice(); err != nil {
		return err
	}
	if p.clock, err = t.clock(dev); err != nil {
		return err
	}
	if p.begin, err = dev.NewEvent(); err != nil {
		return err
	}
	if p.end, err = dev.NewEvent(); err != nil {
		return err
	}
	if err := p.begin.Record(s); err != nil {
		return err
	}
	if err := work(); err != nil {
		return err
	}
	return p.end.Record(s)
}

// Bars waits for all work that was queued with Do, and gives its times in
// microseconds since the first piece began.
func (t *Timeline) Bars() ([]plot.Bar, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.pieces) > 0 {
		p := t.pieces[0]
		b := plot.Bar{Row: p.lane, Label: p.label}
		var err error
		if b.Start, err = p.clock.at(p.begin); err != nil {
			return nil, err
		}
		if b.End, err = p.clock.at(p.end); err != nil {
			return nil, err
		}
		t.bars = append(t.bars, b)
		t.pieces = t.pieces[1:]
		if err := destroy(p.begin, p.end); err != nil {
			return nil, err
		}
	}
	// Later work has clocks of its own, and another first piece.
	if err := t.forgetClocks(); err != nil {
		return nil, err
	}
	bars := t.bars
	t.bars = nil
	first := 0.0
	for i, b := range bars {
		if i == 0 || b.Start < first {
			first = b.Start
		}
	}
	for i := range bars {
		bars[i].Start -= first
		bars[i].End -= first
	}
	return bars, nil
}

// Draw waits for all work that was queued with Do since the last Bars or Draw,
// and draws it.
func (t *Timeline) Draw(title string) (display.Bundle, error) {
	bars, err := t.Bars()
	if err != nil {
		return display.Bundle{}, err
	}
	if len(bars) == 0 {
		return display.Bundle{}, errors.New("timeline: nothing was recorded: give the work to Timeline.Do")
	}
	axes := plot.Axes{Title: title, X: "µs"}
	if b, err := cuda.Backend(); err == nil && b.Name == "sim" {
		axes.X = "µs, by the model of the simulated devices"
	}
	return plot.Timeline(axes, bars...)
}

// clock tells the times of one device's events.
type clock struct {
	dev  *cuda.Device
	zero *cuda.Event
	late float64 // zero's time on the first clock, in µs
}

// at waits for an event and gives its time, in µs on the first clock.
func (c *clock) at(e *cuda.Event) (float64, error) {
	if err := e.Synchronize(); err != nil {
		return 0, err
	}
	d, err := cuda.Elapsed(c.zero, e)
	return c.late + float64(d)/float64(time.Microsecond), err
}

// clock gives the clock of a device. Times of two devices' events cannot be
// compared. So a new clock begins with an event that waits for one of the first
// device, and for which another one there waits: its time is the mean of theirs,
// to within a microsecond or two.
func (t *Timeline) clock(dev *cuda.Device) (*clock, error) {
	if dev == nil {
		return nil, errors.New("timeline: the device is nil")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.clocks {
		if c.dev == dev {
			return c, nil
		}
	}
	c := &clock{dev: dev}
	if err := t.start(c); err != nil {
		return nil, fmt.Errorf("timeline: the clock of device %d: %w", dev.Ordinal(), errors.Join(err, destroy(c.zero)))
	}
	t.clocks = append(t.clocks, c)
	return c, nil
}

func (t *Timeline) forgetClocks() error {
	var all error
	for _, c := range t.clocks {
		all = errors.Join(all, destroy(c.zero))
	}
	t.clocks = nil
	return all
}

// start records a clock's zero; on other devices than the first between two
// events of that one.
func (t *Timeline) start(c *clock) (err error) {
	if c.zero, err = c.dev.NewEvent(); err != nil {
		return err
	}
	return onStream(c.dev, func(s *cuda.Stream) error {
		if len(t.clocks) == 0 {
			return errors.Join(c.zero.Record(s), c.zero.Synchronize())
		}
		first := t.clocks[0]
		before, err := first.dev.NewEvent()
		if err != nil {
			return err
		}
		after, err := first.dev.NewEvent()
		if err == nil {
			err = onStream(first.dev, func(one *cuda.Stream) error {
				return errors.Join(before.Record(one), s.WaitEvent(before), c.zero.Record(s),
					one.WaitEvent(c.zero), after.Record(one), after.Synchronize())
			})
		}
		if err == nil {
			var sent, back float64
			sent, err = first.at(before)
			if err == nil {
				back, err = first.at(after)
			}
			c.late = (sent + back) / 2
		}
		return errors.Join(err, destroy(before, after))
	})
}

// onStream runs f with a stream that no other work holds back.
func onStream(dev *cuda.Device, f func(*cuda.Stream) error) error {
	s, err := dev.NewStream(cuda.NonBlocking)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Destroy())
}

// destroy destroys events that were made.
func destroy(events ...*cuda.Event) error {
	var all error
	for _, e := range events {
		if e != nil {
			all = errors.Join(all, e.Destroy())
		}
	}
	return all
}
