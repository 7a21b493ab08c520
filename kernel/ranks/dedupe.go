package ranks

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
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
	all := sayings(list)
	first := list[0].value
	out := &session.Error{Name: first.Name, Message: label.Of(all[0].ranks()) + " " + oneFor(all[0].messages)}
	if len(all) > 1 {
		out.Message += fmt.Sprintf(" (and %d more)", len(all)-1)
	}
	failed := 0
	for _, f := range list {
		failed += len(f.ranks)
		if f.value.Name != out.Name && severity(f.value) == severity(first) {
			out.Name = "RanksFailed"
		}
	}
	add := func(text string) { out.Traceback = append(out.Traceback, strings.Split(text, "\n")...) }
	shown := 0
	var elsewhere []int
	for len(all) > 0 {
		// Those that came from the same places as the first.
		places := all[0].places
		n := 1
		for n < len(all) && slices.EqualFunc(places, all[n].places, func(a, b shared[string]) bool { return a.value == b.value }) {
			n++
		}
		here := all[:n]
		all = all[n:]
		if shown == shownPlaces {
			for _, s := range here {
				elsewhere = append(elsewhere, s.ranks()...)
			}
			continue
		}
		for _, s := range here[:min(n, shownWords)] {
			add(label.Of(s.ranks()) + " " + oneFor(s.words))
		}
		if n > shownWords {
			var more []int
			for _, s := range here[shownWords:] {
				more = append(more, s.ranks()...)
			}
			add(label.Of(slices.Sorted(slices.Values(more))) + " failed there as well, each with its own message")
		}
		for i, p := range places {
			if shown == shownPlaces {
				for _, p := range places[i:] {
					elsewhere = append(elsewhere, p.ranks...)
				}
				break
			}
			shown++
			if len(places) > 1 && p.value != "" {
				add(label.Of(p.ranks) + " failed here:")
			}
			if p.value != "" {
				add(p.value)
			}
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

// saying is one message of some ranks, but for the numbers in it.
type saying struct {
	shape           string
	words, messages map[int]string   // by rank: the traceback's first line, and the message
	places          []shared[string] // the rest of the traceback
}

func (s *saying) ranks() []int { return slices.Sorted(maps.Keys(s.words)) }

// sayings puts together the errors that say the same, in the order of the first.
func sayings(list []shared[*session.Error]) (all []*saying) {
	for _, f := range list {
		words, trace := "", ""
		if t := f.value.Traceback; len(t) > 0 {
			words, trace = t[0], strings.Join(t[1:], "\n")
		}
		shape := number.ReplaceAllString(words, "#")
		i := slices.IndexFunc(all, func(s *saying) bool { return s.shape == shape })
		if i < 0 {
			i, all = len(all), append(all, &saying{shape: shape, words: map[int]string{}, messages: map[int]string{}})
		}
		s := all[i]
		for _, r := range f.ranks {
			s.words[r], s.messages[r] = words, f.value.Message
		}
		at := slices.IndexFunc(s.places, func(p shared[string]) bool { return p.value == trace })
		if at < 0 {
			at, s.places = len(s.places), append(s.places, shared[string]{value: trace})
		}
		s.places[at].ranks = slices.Sorted(slices.Values(append(s.places[at].ranks, f.ranks...)))
	}
	return all
}

var number = regexp.MustCompile(`\b(?:0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?)`)

// oneFor writes texts that differ in numbers as one, which has in the place of a number
// those of the ranks, in their order: "got {3,5}".
func oneFor(texts map[int]string) string {
	ranks := slices.Sorted(maps.Keys(texts))
	first := texts[ranks[0]]
	values := make([][]string, len(number.FindAllString(first, -1))) // of each number
	for _, r := range ranks {
		for i, n := range number.FindAllString(texts[r], len(values)) {
			values[i] = append(values[i], n)
		}
	}
	next := -1
	return number.ReplaceAllStringFunc(first, func(n string) string {
		next++
		list := values[next]
		if !slices.ContainsFunc(list, func(other string) bool { return other != n }) {
			return n
		}
		if len(list) > shownWords {
			list = append(list[:shownWords:shownWords], "...")
		}
		return "{" + strings.Join(list, ",") + "}"
	})
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
