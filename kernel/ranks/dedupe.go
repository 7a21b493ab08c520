package ranks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gocuda/cudaapi/mpi"
	"gocuda/kernel/display"
	"gocuda/kernel/ranks/label"
	"gocuda/kernel/session"
)

// shared is what some ranks have in common.
type shared[T any] struct {
	ranks []int
	value T
}

// dedupe puts together the ranks whose values are written the same, in the order
// of the first.
func dedupe[T any](ranks []int, of func(rank int) (T, bool)) []shared[T] {
	var list []shared[T]
	at := map[string]int{}
	for _, r := range ranks {
		value, ok := of(r)
		if !ok {
			continue
		}
		text, err := json.Marshal(value)
		i, known := at[string(text)]
		if !known || err != nil {
			i = len(list)
			list = append(list, shared[T]{value: value})
			at[string(text)] = i
		}
		list[i].ranks = append(list[i].ranks, r)
	}
	return list
}

// values are what a job's ranks gave, ready to be shown: text in one bundle,
// everything else in one for each that differs.
func (j *job) values() []display.Bundle {
	list := dedupe(j.ranks, func(r int) (display.Bundle, bool) {
		b, ok := j.value[r]
		return b, ok
	})
	if len(list) == 0 {
		return nil
	}
	plain := !slices.ContainsFunc(list, func(f shared[display.Bundle]) bool { return !isPlain(f.value) })
	if !plain {
		bundles := make([]display.Bundle, len(list))
		for i, f := range list {
			bundles[i] = labelled(f.value, f.ranks)
		}
		return abreast(bundles)
	}
	lines := make([]string, len(list))
	for i, f := range list {
		lines[i] = label.Text(fmt.Sprint(f.value.Data["text/plain"]), label.Of(f.ranks))
	}
	return []display.Bundle{{Data: map[string]any{"text/plain": strings.Join(lines, "\n")}}}
}

// The most that is shown of what failed in different ways.
const (
	shownWords  = 8 // at one place
	shownPlaces = 8
)

// err is the error of a job that failed on some ranks: each message once, with the
// ranks that it is of, and each place once, below the messages that came from there.
func (j *job) err() *session.Error {
	list := dedupe(j.ranks, func(r int) (*session.Error, bool) {
		e := j.results[r].Err
		return withoutRank(e, r), e != nil
	})
	if len(list) == 0 {
		return nil
	}
	// What happened first explains what came of it.
	slices.SortStableFunc(list, func(a, b shared[*session.Error]) int {
		return severity(b.value) - severity(a.value)
	})
	first := list[0].value
	out := &session.Error{Name: first.Name, Message: label.Of(list[0].ranks) + " " + first.Message}
	if len(list) > 1 {
		out.Message += fmt.Sprintf(" (and %d more)", len(list)-1)
	}
	type place struct {
		trace string
		words []string
		more  []int // ranks whose words are not shown
	}
	var places []*place
	var elsewhere []int
	failed := 0
	for _, f := range list {
		failed += len(f.ranks)
		if f.value.Name != out.Name && severity(f.value) == severity(first) {
			out.Name = "RanksFailed"
		}
		words, trace := "", ""
		if t := f.value.Traceback; len(t) > 0 {
			words, trace = t[0], strings.Join(t[1:], "\n")
		}
		i := slices.IndexFunc(places, func(p *place) bool { return p.trace == trace })
		if i < 0 && len(places) == shownPlaces {
			elsewhere = append(elsewhere, f.ranks...)
			continue
		}
		if i < 0 {
			i = len(places)
			places = append(places, &place{trace: trace})
		}
		if p := places[i]; len(p.words) < shownWords {
			p.words = append(p.words, label.Of(f.ranks)+" "+words)
		} else {
			p.more = append(p.more, f.ranks...)
		}
	}
	add := func(text string) { out.Traceback = append(out.Traceback, strings.Split(text, "\n")...) }
	for _, p := range places {
		add(strings.Join(p.words, "\n"))
		if len(p.more) > 0 {
			add(label.Of(slices.Sorted(slices.Values(p.more))) + " failed there as well, each with its own message")
		}
		if p.trace != "" {
			add(p.trace)
		}
	}
	if len(elsewhere) > 0 {
		add(label.Of(slices.Sorted(slices.Values(elsewhere))) + " failed elsewhere")
	}
	if failed < len(j.ranks) {
		add(fmt.Sprintf("%d of %d ranks failed", failed, len(j.ranks)))
	}
	return out
}

// withoutRank is an error whose words do not say which rank it is of: its label
// does, and so the same error of several ranks is one.
func withoutRank(e *session.Error, rank int) *session.Error {
	if e == nil {
		return nil
	}
	own := fmt.Sprintf(" (rank %d)", rank)
	out := &session.Error{Name: e.Name, Message: strings.ReplaceAll(e.Message, own, "")}
	for _, line := range e.Traceback {
		out.Traceback = append(out.Traceback, strings.ReplaceAll(line, own, ""))
	}
	return out
}

// severity orders errors: what a rank did itself comes before what came of it.
func severity(e *session.Error) int {
	switch {
	case e.Name == "RankLost" && strings.HasPrefix(e.Message, "the rank was lost") && !strings.Contains(e.Message, "its connection ended"):
		return 2
	case e.Name == "RankLost", e.Name == "Interrupted", e.Name == waitedInVain, e.Name == string(mpi.ErrProcLost):
		return 0
	}
	return 1
}
