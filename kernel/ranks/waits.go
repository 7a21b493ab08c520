package ranks

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"gocuda/cudaapi/mpi"
	"gocuda/cudaapi/mpi/waitfor"
	"gocuda/kernel/evaluator"
	"gocuda/kernel/golang"
	"gocuda/kernel/ranks/label"
	"gocuda/kernel/session"
)

// reportOf adds to a rank's place the MPI call that it has waited in longest, and
// what all ranks' waits are explained by.
func reportOf(h *evaluator.Host) func(*session.Place) {
	return func(p *session.Place) {
		list := mpi.Waits()
		report := mpi.WaitReport()
		long := len(list) > 0 && time.Since(list[0].Since) >= lookAfter
		if long || p.Cell == "" {
			// In this order: a wait that ends meanwhile is missed, and then not all are held.
			holds, all := h.Held("gocuda/cudaapi/mpi.")
			report.Held = all && len(holds) == len(report.Waits)
			for i := range report.Waits {
				report.Waits[i].Site = siteOf(report.Waits[i].Call, &holds)
			}
		}
		if len(list) > 0 {
			waiting(p, list[0])
		}
		p.Data, _ = json.Marshal(report)
	}
}

// siteOf takes the statement of a call out of holds.
func siteOf(call string, holds *[]golang.Hold) string {
	i := slices.IndexFunc(*holds, func(h golang.Hold) bool {
		return strings.NewReplacer("(*", "", ")", "").Replace(h.Function) == call
	})
	i = max(i, 0)
	if i >= len(*holds) {
		return ""
	}
	h := (*holds)[i]
	*holds = slices.Delete(*holds, i, i+1)
	return describePlace(session.Place{Cell: h.Cell, Line: h.Line})
}

// waiting says that a rank is in a call.
func waiting(p *session.Place, w mpi.Wait) {
	p.Call, p.Waited = w.Call, time.Since(w.Since)
	if w.Comm != "world" {
		p.Call += " on " + w.Comm
	}
	if w.Peer >= 0 {
		p.Call += fmt.Sprintf(" with rank %d", w.Peer)
	}
	if w.Tag >= 0 {
		p.Call += fmt.Sprintf(", tag %d", w.Tag)
	}
}

// lookAfter is how long a rank has waited before it is asked why.
const lookAfter = 400 * time.Millisecond

// standing is who waits for whom.
type standing struct {
	waitfor.Graph
	ranks   int
	state   []string // of the ranks that are in no call
	unknown []int    // those that gave no answer
}

// draw asks all ranks twice, so that what they say was so at one moment.
func (p *pool) draw() standing {
	first, _ := p.reports(watchTime)
	second, unknown := p.reports(watchTime)
	p.mu.Lock()
	defer p.mu.Unlock()
	// While one cell is run that the notebook waits for, no other is to come.
	last := len(p.jobs) == 1 && p.jobs[0].awaited && p.jobs[0].cancel == nil
	idle := func(r int) bool {
		return last && p.ranks[r].job == nil && p.ranks[r].lost == "" && !slices.Contains(unknown, r)
	}
	unchanged := func(r int) bool { return first[r].Same(&second[r]) }
	pic := standing{Graph: waitfor.New(second, unchanged, idle), ranks: len(p.ranks), unknown: unknown}
	for _, r := range p.ranks {
		pic.state = append(pic.state, p.briefly(r))
	}
	return pic
}

// briefly is what a rank does that is in no call. The caller holds p.mu.
func (p *pool) briefly(r *rank) string {
	switch {
	case r.lost != "":
		return "lost"
	case r.job != nil:
		return "runs"
	}
	for _, j := range p.jobs {
		switch result, ran := j.results[r.number]; {
		case !ran:
		case result.Err != nil:
			return "failed in " + j.cell.Name
		default:
			return "ended " + j.cell.Name
		}
	}
	return "idle"
}

// reports asks all ranks what they wait for. Those that do not answer in time are
// taken to run.
func (p *pool) reports(patience time.Duration) (list []waitfor.Report, unknown []int) {
	list = make([]waitfor.Report, len(p.ranks))
	var asked sync.WaitGroup
	known := make([]bool, len(p.ranks))
	for i, r := range p.ranks {
		asked.Go(func() {
			at, ok := r.where(patience)
			known[i] = ok && json.Unmarshal(at.Data, &list[i]) == nil
		})
	}
	asked.Wait()
	for i, ok := range known {
		if !ok {
			list[i] = waitfor.Report{}
			unknown = append(unknown, i)
		}
	}
	return list, unknown
}

// table writes a line for each rank that waits or is waited for. Ranks that say
// the same share one.
func (pic standing) table() string {
	type row struct {
		cells string
		ranks []int
		since time.Duration
	}
	var rows []row
	add := func(rank int, since time.Duration, cells string) {
		i := slices.IndexFunc(rows, func(r row) bool { return r.cells == cells })
		if i < 0 {
			i, rows = len(rows), append(rows, row{cells: cells})
		}
		rows[i].ranks = append(rows[i].ranks, rank)
		rows[i].since = max(rows[i].since, since)
	}
	wanted, waits := make([]bool, pic.ranks), make([]bool, pic.ranks)
	for _, e := range pic.Edges {
		waits[e.Rank] = true
		for _, r := range e.For {
			wanted[r] = true
		}
		call := e.Wait.Call
		if e.On != "world" && e.On != "" {
			call += " on " + e.On
		}
		tag, bytes := "", ""
		if e.Wait.Tag >= 0 {
			tag = fmt.Sprint(e.Wait.Tag)
		}
		if e.Wait.Bytes >= 0 {
			bytes = fmt.Sprint(e.Wait.Bytes)
		}
		add(e.Rank, e.Wait.For, strings.Join([]string{e.Wait.Site, call, whom(e), tag, bytes, e.Note}, "\t"))
	}
	for r := range pic.ranks {
		if wanted[r] && !waits[r] {
			add(r, 0, strings.Join([]string{"", pic.state[r], "", "", "", ""}, "\t"))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.ranks[0] - b.ranks[0] })
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "rank\tat\tcall\twaits for\ttag\tbytes\tfor\t")
	for _, r := range rows {
		cells := strings.Split(r.cells, "\t")
		slices.Sort(r.ranks)
		since := ""
		if r.since > 0 {
			since = r.since.Round(100 * time.Millisecond).String()
		}
		fmt.Fprintln(t, strings.Join(append([]string{label.Set(slices.Compact(r.ranks))}, append(cells[:5:5], since, cells[5])...), "\t"))
	}
	t.Flush()
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n") + "\n"
}

// whom says whom a wait is for.
func whom(e waitfor.Edge) string {
	set := slices.Clone(e.For)
	slices.Sort(set)
	switch {
	case e.Wait.Kind == waitfor.Join && len(set) == 0:
		return "its end: all have come"
	case e.Wait.Kind == waitfor.Join:
		return named(set) + " to come"
	case len(set) == 0:
		return ""
	case e.Any:
		return "one of " + label.Set(set)
	}
	return named(set)
}

// verdict says of waits that nobody can end why that is; "" if there are none.
func (pic standing) verdict() string {
	var text strings.Builder
	for _, m := range pic.Mismatches {
		fmt.Fprintf(&text, "Mismatch: %s\n", m.Text)
	}
	switch n := len(pic.Cycle); {
	case n > 0:
		var steps []string
		for i, r := range pic.Cycle {
			steps = append(steps, fmt.Sprintf("rank %d waits for %d", r, pic.Cycle[(i+1)%n]))
		}
		fmt.Fprintf(&text, "Deadlock: %s: none of these calls can end\n", strings.Join(steps, ", "))
	case len(pic.Stuck) > 0 && len(pic.Gone) > 0:
		fmt.Fprintf(&text, "Deadlock: %s, for whom %s %s, ended without calling what would end that\n", named(pic.Gone), named(pic.Stuck), verb(pic.Stuck, "waits", "wait"))
	case len(pic.Stuck) > 0:
		fmt.Fprintf(&text, "Deadlock: %s %s for what nobody sends\n", named(pic.Stuck), verb(pic.Stuck, "waits", "wait"))
	}
	return text.String()
}

func verb(set []int, one, many string) string {
	if len(set) == 1 {
		return one
	}
	return many
}

// waits is %mpi waits.
func (p *pool) waits(w io.Writer) error {
	pic := p.draw()
	text := pic.table() + pic.verdict()
	if text == "" {
		text = "no rank waits for another\n"
	}
	if len(pic.unknown) > 0 {
		text += label.Of(pic.unknown) + " gave no answer\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
