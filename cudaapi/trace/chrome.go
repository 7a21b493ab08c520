package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Lane is a row of a drawing: a stream of a device of a rank, the host's waits, or
// messages. Its boxes do not overlap; where a stream's do, it has several lanes.
type Lane struct {
	Rank, Device int
	Name         string
	Boxes        []*Box
}

// Lanes are the rows in which boxes are drawn: by rank, the host first, then devices and
// their streams in the order of their first box.
func (t *Timeline) Lanes() (list []*Lane) {
	type stream struct {
		rank, device int
		name         string
	}
	rows := map[stream][]*Lane{}
	var order []stream
	for i := range t.Boxes {
		b := &t.Boxes[i]
		if b.Kind == Graph && t.hasParts(b) {
			continue
		}
		k := stream{b.Rank, b.Device, b.Lane}
		if rows[k] == nil {
			order = append(order, k)
		}
		var free *Lane
		for _, l := range rows[k] {
			if l.Boxes[len(l.Boxes)-1].End <= b.Begin {
				free = l
				break
			}
		}
		if free == nil {
			free = &Lane{Rank: b.Rank, Device: b.Device, Name: b.Lane}
			rows[k] = append(rows[k], free)
		}
		free.Boxes = append(free.Boxes, b)
	}
	slices.SortStableFunc(order, func(a, b stream) int { return cmp.Or(a.rank-b.rank, a.device-b.device) })
	for _, k := range order {
		list = append(list, rows[k]...)
	}
	return list
}

// event is one of Chrome's trace event format: "Trace Event Format", Google 2016.
type event struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	TS    float64        `json:"ts"` // µs
	Dur   *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    int            `json:"id,omitempty"`
	Bind  string         `json:"bp,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// WriteChrome writes the timeline in Chrome's trace event format, which Perfetto and
// chrome://tracing open: a process for each device of each rank, a thread for each
// lane, arrows for what waited for what elsewhere.
func (t *Timeline) WriteChrome(w io.Writer) error {
	out := bufio.NewWriter(w)
	first := true
	var failed error
	put := func(e event) {
		text, err := json.Marshal(e)
		if err != nil && failed == nil {
			failed = err
		}
		if !first {
			out.WriteString(",\n") //nolint:errcheck // Flush tells
		}
		first = false
		out.Write(text) //nolint:errcheck // Flush tells
	}
	about, err := json.Marshal(map[string]any{"clock": t.Clock, "modelled": t.Modelled, "title": t.Title, "left out": t.Left})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"displayTimeUnit\": \"ns\", \"otherData\": %s, \"traceEvents\": [\n", about)
	begin, _ := t.Span()
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	type process struct{ rank, device int }
	pids := map[process]int{}
	type thread struct{ pid, tid int }
	where := map[who]thread{}
	for i, l := range t.Lanes() {
		k := process{l.Rank, l.Device}
		if pids[k] == 0 {
			pids[k] = len(pids) + 1
			put(event{Name: "process_name", Phase: "M", PID: pids[k], Args: map[string]any{"name": t.unit(l.Rank, l.Device)}})
			put(event{Name: "process_sort_index", Phase: "M", PID: pids[k], Args: map[string]any{"sort_index": len(pids)}})
		}
		at := thread{pids[k], i + 1}
		put(event{Name: "thread_name", Phase: "M", PID: at.pid, TID: at.tid, Args: map[string]any{"name": l.Name}})
		put(event{Name: "thread_sort_index", Phase: "M", PID: at.pid, TID: at.tid, Args: map[string]any{"sort_index": i}})
		for _, b := range l.Boxes {
			where[who{b.Rank, b.ID}] = at
			d := us(b.Duration())
			args := map[string]any{}
			if b.Bytes > 0 {
				args["bytes"] = b.Bytes
			}
			if r := b.Rate(); r > 0 {
				args["GB/s"] = r / 1e9
			}
			if b.Place.Known() {
				args["place"] = b.Place.String()
			}
			put(event{Name: b.Name, Cat: b.Kind, Phase: "X", TS: us(b.Begin - begin), Dur: &d, PID: at.pid, TID: at.tid, Args: args})
		}
	}
	arrows := 0
	byID := map[who]*Box{}
	for i := range t.Boxes {
		byID[who{t.Boxes[i].Rank, t.Boxes[i].ID}] = &t.Boxes[i]
	}
	for i := range t.Boxes {
		b := &t.Boxes[i]
		to, drawn := where[who{b.Rank, b.ID}]
		if !drawn {
			continue
		}
		arrow := func(w who) {
			from, ok := where[w]
			if !ok || from == to {
				return
			}
			arrows++
			a := byID[w]
			ends := max(b.Begin, min(b.End, a.End))
			out := max(a.Begin, min(a.End, ends)-1) // inside of its box
			put(event{Name: "waits for", Cat: "order", Phase: "s", ID: arrows, TS: us(out - begin), PID: from.pid, TID: from.tid})
			put(event{Name: "waits for", Cat: "order", Phase: "f", Bind: "e", ID: arrows, TS: us(ends - begin), PID: to.pid, TID: to.tid})
		}
		for _, n := range b.After {
			arrow(who{b.Rank, n})
		}
		for _, p := range b.Peers {
			arrow(who{p.Rank, p.ID})
		}
	}
	fmt.Fprint(out, "\n]}\n")
	if failed != nil {
		return failed
	}
	return out.Flush()
}

// unit names a device of a rank, or its host.
func (t *Timeline) unit(rank, device int) string {
	name := fmt.Sprintf("device %d", device)
	if device < 0 {
		name = "host"
	}
	if len(t.Ranks) == 0 {
		return name
	}
	if rank < 0 {
		return "notebook, " + name
	}
	return fmt.Sprintf("rank %d, %s", rank, name)
}

// Save writes the timeline to a file in Chrome's trace event format, which Perfetto
// (ui.perfetto.dev) opens.
func (t *Timeline) Save(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := t.WriteChrome(f); err != nil {
		f.Close() //nolint:errcheck // the first error counts
		return err
	}
	return f.Close()
}
