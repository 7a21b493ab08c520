package gxf_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/gxf"
	"gocuda/cudaapi/streamsync"
)

const pipeline = `
name: global
components:
- name: pool
  type: nvidia::gxf::BlockMemoryPool
  parameters: {storage_type: 1, block_size: 4000, num_blocks: 4}
- name: fence
  type: nvidia::gxf::StreamSync
  parameters: {signaler: 1, waiter: 3}
---
name: generator
components:
- name: out
  type: nvidia::gxf::DoubleBufferTransmitter
- name: make
  type: test::Generator
  parameters: {tx: out, pool: global/pool, fence: global/fence, first: 100}
- type: nvidia::gxf::DownstreamReceptiveSchedulingTerm
  parameters: {transmitter: out, min_size: 1}
- type: nvidia::gxf::CountSchedulingTerm
  parameters: {count: COUNT}
---
components:
- type: nvidia::gxf::Connection
  parameters: {source: generator/out, target: sum/rx}
---
name: sum
components:
- name: rx
  type: nvidia::gxf::DoubleBufferReceiver
  parameters: {capacity: 2}
- type: nvidia::gxf::MessageAvailableSchedulingTerm
  parameters: {receiver: rx, min_size: 1}
- name: add
  type: test::Sum
  parameters: {rx: rx, fence: global/fence, pool: global/pool}
---
components:
- type: nvidia::gxf::GreedyScheduler
  parameters: {max_duration_ms: 60000}
`

// Two codelets on two streams (of two devices, where there are two), joined by
// a StreamSync; the first is late with its work.
func TestAPipelineOnStreams(t *testing.T) {
	list, err := cuda.Devices()
	if err != nil {
		t.Fatal(err)
	}
	app, err := gxf.Load(strings.ReplaceAll(pipeline, "COUNT", "12"))
	if err != nil {
		t.Fatal(err)
	}
	producer, err1 := list[0].NewStream(cuda.NonBlocking)
	consumer, err2 := list[len(list)-1].NewStream(cuda.NonBlocking)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	var got []int32
	stopped := 0
	err = errors.Join(
		app.Register("test::Generator", func() gxf.Codelet {
			return gxf.Codelet{
				Start: func(c *gxf.Context) error {
					fence, err := c.Sync("fence")
					if err != nil {
						return err
					}
					return errors.Join(fence.SetStream(streamsync.SignalerCUDA, producer), fence.SetStream(streamsync.WaiterCUDA, consumer))
				},
				Tick: func(c *gxf.Context) error {
					pool, err1 := c.Pool("pool")
					fence, err2 := c.Sync("fence")
					first, err3 := c.Int("first")
					if err := errors.Join(err1, err2, err3); err != nil {
						return err
					}
					block, err := pool.Acquire()
					if err != nil {
						return err
					}
					numbers, err := block.As(cuda.Int32)
					if err != nil {
						return err
					}
					m := gxf.NewMessage()
					return errors.Join(
						producer.LaunchHostFunc(func() { time.Sleep(3 * time.Millisecond) }),
						numbers.Fill(int32(first+c.Tick()), producer),
						fence.Signal(), m.Add("numbers", numbers), c.Publish("tx", m))
				},
				Stop: func(*gxf.Context) error { stopped++; return nil },
			}
		}),
		app.Register("Sum", func() gxf.Codelet {
			var taken *cuda.Buffer
			return gxf.Codelet{
				Start: func(*gxf.Context) (err error) { taken, err = consumer.Device().Alloc(1000, cuda.Int32); return err },
				Tick: func(c *gxf.Context) error {
					pool, err1 := c.Pool("pool")
					fence, err2 := c.Sync("fence")
					m, err3 := c.Receive("rx")
					if err := errors.Join(err1, err2, err3); err != nil {
						return err
					}
					v, err := m.Get("numbers")
					if err != nil {
						return err
					}
					numbers := v.(*cuda.Buffer)
					if err := errors.Join(fence.Wait(), cuda.MemcpyPeerAsync(taken, numbers, consumer), consumer.Synchronize()); err != nil {
						return err
					}
					values, err := taken.Int32s()
					if err != nil {
						return err
					}
					got = append(got, values[0], values[999])
					return pool.Release(numbers)
				},
				Stop: func(*gxf.Context) error { stopped++; return taken.Free() },
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // an application can run again
		got, stopped = nil, 0
		if err := app.Run(); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != int32(100+i/2) {
				t.Fatalf("message %d carried %d: the consumer did not wait", i/2, v)
			}
		}
		if n := app.Ticks(); len(got) != 24 || stopped != 2 || n["generator/make"] != 12 || n["sum/add"] != 12 {
			t.Errorf("%d values, %d stopped, ticks %v", len(got), stopped, n)
		}
	}
	for _, err := range []error{producer.Destroy(), consumer.Destroy()} {
		if err != nil {
			t.Error(err)
		}
	}
}

// run runs an application whose codelets of types A and B do a and b.
func run(source string, a, b func(*gxf.Context) error) error {
	app, err := gxf.Load(source)
	if err != nil {
		return err
	}
	for typ, f := range map[string]func(*gxf.Context) error{"A": a, "B": b} {
		if f == nil {
			continue
		}
		if err := app.Register(typ, func() gxf.Codelet { return gxf.Codelet{Tick: f} }); err != nil {
			return err
		}
	}
	return app.Run()
}

func entity(lines ...string) string {
	return "name: e\ncomponents:\n" + strings.Join(lines, "\n") + "\n"
}

const (
	rx    = "- {name: rx, type: DoubleBufferReceiver, parameters: {capacity: 2}}"
	tx    = "- {name: tx, type: DoubleBufferTransmitter}"
	join  = "- {type: Connection, parameters: {source: tx, target: rx}}"
	a     = "- {name: a, type: x::A, parameters: {tx: tx, rx: rx}}"
	three = "- {type: CountSchedulingTerm, parameters: {count: 3}}"
)

func TestTermsAreKept(t *testing.T) {
	publish := func(c *gxf.Context) error { return c.Publish("tx", gxf.NewMessage()) }
	receive := func(c *gxf.Context) error { _, err := c.Receive("rx"); return err }
	nothing := func(*gxf.Context) error { return nil }
	room := "- {type: DownstreamReceptiveSchedulingTerm, parameters: {transmitter: tx}}"
	some := "- {type: MessageAvailableSchedulingTerm, parameters: {receiver: rx, min_size: 2}}"
	taker := "---\nname: f\ncomponents:\n- {type: B, parameters: {rx: e/rx}}\n- {type: MessageAvailableSchedulingTerm, parameters: {receiver: e/rx, min_size: 2}}\n"
	for name, c := range map[string]struct {
		source string
		a, b   func(*gxf.Context) error
		want   string
	}{
		"a count ends":               {entity(tx, rx, a, three), nothing, nil, ""},
		"no connection, no loss":     {entity(tx, rx, a, three), publish, nil, ""},
		"room runs out":              {entity(tx, rx, join, a, three), publish, nil, "Tick 2 of e/a: gxf: e/a: no room in e/rx (capacity 2)"},
		"room is waited for":         {entity(tx, rx, join, room, a, three), publish, nil, "deadlock: 2 messages remain in e/rx; e/a ticked 2 of 3 times and waits for room in e/rx (2 of 2 messages)"},
		"messages are waited for":    {entity(tx, rx, join, some, a, three), receive, nil, "e/a ticked 0 of 3 times and waits for messages in e/rx (0 of 2)"},
		"nothing to receive":         {entity(tx, rx, a, three), receive, nil, "no message in e/rx"},
		"a message remains":          {entity(tx, rx, join, room, a, three) + taker, publish, func(c *gxf.Context) error { return errors.Join(receive(c), receive(c)) }, "deadlock: 1 messages remain in e/rx"},
		"an error names its tick":    {entity(a, three), func(c *gxf.Context) error { return fmt.Errorf("at %d", c.Tick()) }, nil, "Tick 0 of e/a: at 0"},
		"too long":                   {entity(a, "- {type: CountSchedulingTerm, parameters: {count: 1000}}", "- {type: GreedyScheduler, parameters: {max_duration_ms: 5}}"), func(*gxf.Context) error { time.Sleep(2 * time.Millisecond); return nil }, nil, "longer than its max_duration_ms, 5"},
		"not registered":             {entity(a, three), nil, nil, "line 3: e/a is a A, which is neither built in nor registered"},
		"no term":                    {entity(a), nothing, nil, "no scheduling term"},
		"no codelet":                 {entity(tx), nil, nil, "no codelets"},
		"registered for nothing":     {entity(a, three), nothing, nothing, "no component of type B; its codelets are A"},
		"a parameter that is absent": {entity(a, three), func(c *gxf.Context) error { _, err := c.Int("many"); return err }, nil, `no parameter "many"`},
		"a pool on no device":        {entity(a, three, "- {type: BlockMemoryPool, parameters: {storage_type: 1, block_size: 1, num_blocks: 1, dev_id: 99}}"), nothing, nil, "line 5"},
		"a sync on no device":        {entity(a, three, "- {type: StreamSync, parameters: {signaler: 1, waiter: 3, waiter_device_id: 99}}"), nothing, nil, "line 5: waiter_device_id of e/StreamSync 3"},
		"a sync on device -1":        {entity(a, three, "- {type: StreamSync, parameters: {signaler: 1, waiter: 3, signaler_device_id: -1}}"), nothing, nil, "signaler_device_id of e/StreamSync 3 is -1; it must not be negative"},
		"a sync of wrong sides":      {entity(a, three, "- {type: StreamSync, parameters: {signaler: 3, waiter: 1}}"), nothing, nil, "must be SignalerCUDA"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(c.source, c.a, c.b)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A StreamSync that is bound to devices takes streams of these only.
func TestDevicesOfAStreamSync(t *testing.T) {
	list, err := cuda.Devices()
	if err != nil || len(list) < 2 {
		t.Skip("needs two devices")
	}
	streams := make([]*cuda.Stream, 2)
	for i := range streams {
		if streams[i], err = list[i].NewStream(cuda.NonBlocking); err != nil {
			t.Fatal(err)
		}
		defer streams[i].Destroy()
	}
	sync := "- {name: s, type: StreamSync, parameters: {signaler: 1, waiter: 3, signaler_device_id: 0, waiter_device_id: 1}}"
	ticks := 0
	err = run(entity("- {name: a, type: A, parameters: {sync: s}}", "- {type: CountSchedulingTerm, parameters: {count: 1}}", sync), func(c *gxf.Context) error {
		ticks++
		s, err := c.Sync("sync")
		if err != nil {
			return err
		}
		for side, d := range map[streamsync.SyncType]int{streamsync.SignalerCUDA: 0, streamsync.WaiterCUDA: 1} {
			if err := s.SetStream(side, streams[d]); err != nil {
				t.Errorf("%v on its device: %v", side, err)
			}
			want := fmt.Sprintf("this side is on device %d, the stream on device %d", d, 1-d)
			if err := s.SetStream(side, streams[1-d]); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v on the other device: %v, want %q", side, err, want)
			}
		}
		return nil
	}, nil)
	if err != nil || ticks != 1 {
		t.Error(ticks, err)
	}
}

func TestASourceThatIsWrongIsExplained(t *testing.T) {
	for want, source := range map[string]string{
		"no components":                            "",
		"line 1: an entity must be a mapping":      "- a",
		`line 2: an entity has no "component"`:     "name: e\ncomponent: []",
		`entity "e" must have components`:          "name: e",
		"has no type":                              entity("- {name: a}"),
		`two components named "tx"`:                entity(tx, tx),
		`line 5: there are two entities named "e"`: entity(tx) + "---\n" + entity(tx),
		`(DoubleBufferReceiver) has no parameter`:  entity("- {name: rx, type: DoubleBufferReceiver, parameters: {size: 1}}"),
		`lacks its parameter "count"`:              entity("- {type: CountSchedulingTerm}"),
		`names "e/rx", which does not exist`:       entity(tx, join),
		"it must be a DoubleBufferTransmitter":     entity(rx, "- {type: Connection, parameters: {source: rx, target: rx}}"),
		"it must not be negative":                  entity("- {type: CountSchedulingTerm, parameters: {count: -1}}"),
		"cannot unmarshal":                         entity("- {type: CountSchedulingTerm, parameters: {count: many}}"),
		`has "name" twice`:                         "name: e\nname: f\ncomponents: []",
		"did not find expected":                    "name: [",
	} {
		if _, err := gxf.Load(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v; want %q", source, err, want)
		}
	}
}

func TestMessagesAndBlocks(t *testing.T) {
	m := gxf.NewMessage()
	if err := errors.Join(m.Add("x", 1), m.Add("y", nil)); err != nil {
		t.Fatal(err)
	}
	if v, err := m.Get("x"); v != 1 || err != nil {
		t.Error(v, err)
	}
	for want, f := range map[string]func() error{
		`holds "x" already`: func() error { return m.Add("x", 2) },
		"it holds x, y":     func() error { _, err := m.Get("z"); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	var errs []string
	err := run(entity("- {name: a, type: A, parameters: {pool: p}}", "- {type: CountSchedulingTerm, parameters: {count: 1}}",
		"- {name: p, type: BlockMemoryPool, parameters: {storage_type: 1, block_size: 64, num_blocks: 2}}"),
		func(c *gxf.Context) error {
			p, err := c.Pool("pool")
			if err != nil {
				return err
			}
			x, err1 := p.Acquire()
			y, err2 := p.Acquire()
			_, empty := p.Acquire()
			other, err3 := x.Device().Alloc(1, cuda.Uint8)
			if err := errors.Join(err1, err2, err3, p.Release(y)); err != nil || x.Bytes() != 64 || x.Address() == y.Address() {
				return fmt.Errorf("%v: %v %v", err, x, y)
			}
			for _, err := range []error{empty, p.Release(y), p.Release(other), p.Release(nil)} {
				errs = append(errs, fmt.Sprint(err))
			}
			return other.Free()
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"no block is free in e/p", "free in e/p already", "not a block of e/p", "not a block of e/p"} {
		if !strings.Contains(errs[i], want) {
			t.Errorf("got %s, want %q", errs[i], want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(pipeline)
	f.Add(entity(tx, rx, join, a, three))
	f.Fuzz(func(t *testing.T, source string) {
		app, err := gxf.Load(source)
		if err == nil && app == nil {
			t.Error("neither an application nor an error")
		}
	})
}
