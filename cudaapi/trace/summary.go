package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Row is what boxes of one kind and name took together.
type Row struct {
	Kind, Name  string
	Count       int
	Total       time.Duration
	Least, Most time.Duration
	Bytes       uint64
}

// Mean is the mean time of one.
func (r Row) Mean() time.Duration { return r.Total / time.Duration(max(1, r.Count)) }

// Rate is its bytes per second of its time; zero for messages, which wait for others.
func (r Row) Rate() float64 { return perSecond(r.Kind, r.Bytes, r.Total) }

func perSecond(kind string, bytes uint64, d time.Duration) float64 {
	if bytes == 0 || d <= 0 || kind == Message || kind == Collective || kind == WriteValue {
		return 0
	}
	return float64(bytes) / d.Seconds()
}

// Use is what one device of a rank did.
type Use struct {
	Rank, Device int
	// Kernels and Copies are how long at least one ran; fills count as kernels. Both is
	// how long one of each did, and Busy any.
	Kernels, Copies, Both, Busy time.Duration
}

// Summary says where the time went.
type Summary struct {
	Span time.Duration // from the first begin to the last end
	// Rows are work, then waits, each by total time.
	Rows    []Row
	Devices []Use
	// Chain is the longest chain: from what ended last, back to what each box waited
	// for last. Waits are not in it, and Work is how long any of its boxes ran.
	Chain []Box
	Work  time.Duration
}

// isWait says whether boxes of a kind are no work.
func isWait(kind string) bool { return kind == HostWait || kind == StreamWait }

// Summarize adds up the boxes.
func (t *Timeline) Summarize() Summary {
	begin, end := t.Span()
	s := Summary{Span: end - begin}
	type name struct{ kind, name string }
	rows := map[name]*Row{}
	type unit struct{ rank, device int }
	type spans struct{ kernels, copies []interval }
	devices := map[unit]*spans{}
	for i := range t.Boxes {
		b := &t.Boxes[i]
		if b.Kind == Graph && t.hasParts(b) {
			continue
		}
		k := name{b.Kind, b.Name}
		r := rows[k]
		if r == nil {
			r = &Row{Kind: b.Kind, Name: b.Name, Least: b.Duration()}
			rows[k] = r
		}
		d := b.Duration()
		r.Count, r.Total, r.Bytes = r.Count+1, r.Total+d, r.Bytes+b.Bytes
		r.Least, r.Most = min(r.Least, d), max(r.Most, d)
		if b.Device >= 0 {
			u := unit{b.Rank, b.Device}
			if devices[u] == nil {
				devices[u] = &spans{}
			}
			switch b.Kind {
			case Kernel, Fill, Graph:
				devices[u].kernels = append(devices[u].kernels, interval{b.Begin, b.End})
			case Copy:
				devices[u].copies = append(devices[u].copies, interval{b.Begin, b.End})
			}
		}
	}
	for _, r := range rows {
		s.Rows = append(s.Rows, *r)
	}
	slices.SortFunc(s.Rows, func(a, b Row) int {
		return cmp.Or(boolean(isWait(a.Kind))-boolean(isWait(b.Kind)), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	for u, x := range devices {
		k, c := length(union(x.kernels)), length(union(x.copies))
		busy := length(union(append(slices.Clone(x.kernels), x.copies...)))
		s.Devices = append(s.Devices, Use{u.rank, u.device, k, c, k + c - busy, busy})
	}
	slices.SortFunc(s.Devices, func(a, b Use) int { return cmp.Or(a.Rank-b.Rank, a.Device-b.Device) })
	s.Chain = t.chain()
	var work []interval
	for i := range s.Chain {
		work = append(work, interval{s.Chain[i].Begin, s.Chain[i].End})
	}
	s.Work = length(union(work))
	return s
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// hasParts says whether the boxes of a graph's launch are known, so that they count and
// not the launch.
func (t *Timeline) hasParts(launch *Box) bool {
	if t.parts == nil {
		t.parts = map[who]bool{}
		for i := range t.Boxes {
			if b := &t.Boxes[i]; b.Of > 0 {
				t.parts[who{b.Rank, b.Of}] = true
			}
		}
	}
	return t.parts[who{launch.Rank, launch.ID}]
}

// interval is from lo to before hi.
type interval struct{ lo, hi time.Duration }

// union joins intervals that overlap.
func union(list []interval) (out []interval) {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.lo, b.lo) })
	for _, i := range list {
		if n := len(out); n > 0 && i.lo <= out[n-1].hi {
			out[n-1].hi = max(out[n-1].hi, i.hi)
		} else {
			out = append(out, i)
		}
	}
	return out
}

func length(list []interval) (d time.Duration) {
	for _, i := range list {
		d += i.hi - i.lo
	}
	return d
}

// chain is the longest chain.
func (t *Timeline) chain() (list []Box) {
	at := make(map[who]*Box, len(t.Boxes))
	var last *Box
	for i := range t.Boxes {
		b := &t.Boxes[i]
		at[who{b.Rank, b.ID}] = b
		if !isWait(b.Kind) && b.Of == 0 && b.Lane != inStreams && (last == nil || b.End > last.End) {
			last = b
		}
	}
	been := map[who]bool{}
	for b := last; b != nil; {
		been[who{b.Rank, b.ID}] = true
		if !isWait(b.Kind) {
			list = append(list, *b)
		}
		var before *Box
		var latest time.Duration
		look := func(w who, peer bool) {
			p := at[w]
			if p == nil || been[w] || p.Begin > b.End || isWait(b.Kind) && isWait(p.Kind) && p.End > b.End {
				return
			}
			met := p.End
			if peer {
				met = p.Begin // what another rank sends can be received from then on
			}
			// Between two that end alike, the one that is work says more.
			if before == nil || met > latest || met == latest && isWait(before.Kind) {
				before, latest = p, met
			}
		}
		for _, n := range b.After {
			look(who{b.Rank, n}, false)
		}
		look(who{b.Rank, b.prev}, false)
		for _, p := range b.Peers {
			look(who{p.Rank, p.ID}, true)
		}
		b = before
	}
	slices.Reverse(list)
	return list
}

// Span is a duration as people read it.
func span(d time.Duration) string {
	switch v := float64(d); {
	case d < 0:
		return "-" + span(-d)
	case v < 1e3:
		return fmt.Sprintf("%d ns", d)
	case v < 999.5e3:
		return fmt.Sprintf("%.4g µs", v/1e3)
	case v < 999.5e6:
		return fmt.Sprintf("%.4g ms", v/1e6)
	}
	return fmt.Sprintf("%.4g s", d.Seconds())
}

// Size is a number of bytes as people read it.
func size(n uint64) string {
	v, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	return fmt.Sprintf("%.4g %s", v, units[i])
}

func rate(r float64) string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf("%.4g", r/1e9)
}

// Table is the rows as words, the first row their headings.
func (s Summary) Table() [][]string {
	rows := [][]string{{"what", "", "count", "total", "mean", "least", "most", "share", "bytes", "GB/s"}}
	for _, r := range s.Rows {
		bytes := ""
		if r.Bytes > 0 {
			bytes = size(r.Bytes)
		}
		share := ""
		if s.Span > 0 {
			share = fmt.Sprintf("%.1f %%", 100*float64(r.Total)/float64(s.Span))
		}
		rows = append(rows, []string{r.Kind, r.Name, fmt.Sprint(r.Count), span(r.Total), span(r.Mean()), span(r.Least), span(r.Most), share, bytes, rate(r.Rate())})
	}
	return rows
}

func boxes(n int) string {
	if n == 1 {
		return "1 box"
	}
	return fmt.Sprintf("%d boxes", n)
}

// Sentences say what the table does not.
func (t *Timeline) Sentences(s Summary) (list []string) {
	list = append(list, fmt.Sprintf("%s in %s, by %s.", boxes(len(t.Boxes)), span(s.Span), t.Clock))
	for _, u := range s.Devices {
		who := fmt.Sprintf("Device %d", u.Device)
		if len(t.Ranks) > 0 && u.Rank >= 0 {
			who = fmt.Sprintf("Rank %d, device %d", u.Rank, u.Device)
		}
		text := fmt.Sprintf("%s: busy %s of %s", who, span(u.Busy), span(s.Span))
		if u.Kernels > 0 && u.Copies > 0 {
			text += fmt.Sprintf("; kernels %s, copies %s, of which %s (%.0f %%) ran beside kernels", span(u.Kernels), span(u.Copies), span(u.Both), 100*float64(u.Both)/float64(u.Copies))
		} else if u.Kernels > 0 {
			text += "; all of it kernels"
		} else if u.Copies > 0 {
			text += "; all of it copies"
		}
		list = append(list, text+".")
	}
	if n := len(s.Chain); n > 0 {
		begin := s.Chain[0].Begin
		whole := s.Chain[n-1].End - begin
		text := fmt.Sprintf("Longest chain: %s, %s of work in %s", boxes(n), span(s.Work), span(whole))
		if idle := whole - s.Work; idle > 0 {
			text += fmt.Sprintf(" (%s between them)", span(idle))
		}
		list = append(list, text+": "+chainText(s.Chain)+".")
	}
	if t.Left > 0 {
		list = append(list, fmt.Sprintf("%d operations after the first %d of a process were left out.", t.Left, Limit))
	}
	if t.Running > 0 {
		list = append(list, fmt.Sprintf("%d operations were not done when the timeline ended.", t.Running))
	}
	if t.Untimed > 0 {
		list = append(list, fmt.Sprintf("The clock does not give the times of %d operations.", t.Untimed))
	}
	return append(list, t.Notes...)
}

// chainText names a chain's boxes, repeats as one, and the middle of a long one as
// dots.
func chainText(chain []Box) string {
	var names []string
	for i := 0; i < len(chain); {
		name, total, n := chain[i].Name, time.Duration(0), 0
		for ; i < len(chain) && chain[i].Name == name; i++ {
			total += chain[i].Duration()
			n++
		}
		if n > 1 {
			name = fmt.Sprintf("%d × %s", n, name)
		}
		names = append(names, fmt.Sprintf("%s (%s)", name, span(total)))
	}
	const most = 8
	if len(names) > most {
		names = append(append(slices.Clone(names[:most/2]), fmt.Sprintf("… %d more …", len(names)-most)), names[len(names)-most/2:]...)
	}
	return strings.Join(names, " → ")
}

// String is the table and the sentences.
func (t *Timeline) String() string {
	if t == nil {
		return "no timeline"
	}
	s := t.Summarize()
	var out strings.Builder
	if t.Title != "" {
		fmt.Fprintln(&out, t.Title)
	}
	if len(s.Rows) > 0 {
		w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		for _, row := range s.Table() {
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		w.Flush()
	}
	out.WriteString(strings.Join(t.Sentences(s), "\n"))
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
