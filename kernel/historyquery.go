package kernel

import (
	"fmt"
	"slices"
)

type historyQuery struct {
	Output  bool   `json:"output"`
	Access  string `json:"hist_access_type"` // tail, range or search
	Session int    `json:"session"`          // 0: this one; negative: so many before it
	Start   int    `json:"start"`
	Stop    *int   `json:"stop"` // nil: to the end
	N       *int   `json:"n"`
	Pattern string `json:"pattern"`
	Unique  bool   `json:"unique"`
}

// defaultTail is how many lines a tail has that does not say.
const defaultTail = 10

// historyRequest returns inputs of this session and of those before it, as
// triples of session, line and input, or of input and output.
func (k *kernel) historyRequest(r *request) (any, error) {
	var asked historyQuery
	if err := r.decode(&asked); err != nil {
		return nil, err
	}
	entries, session := k.history.entries()
	found, err := asked.pick(entries, session)
	if err != nil {
		return nil, err
	}
	list := [][3]any{}
	for _, e := range found {
		item := [3]any{e.Session, e.Line, e.Input}
		if asked.Output {
			pair := [2]any{e.Input, nil}
			if e.Output != "" {
				pair[1] = e.Output
			}
			item[2] = pair
		}
		list = append(list, item)
	}
	return map[string]any{"status": "ok", "history": list}, nil
}

// pick returns what was asked for from entries that are sorted by session and line.
func (q historyQuery) pick(entries []record, session int) ([]record, error) {
	switch q.Access {
	case "tail":
		n := defaultTail
		if q.N != nil {
			n = *q.N
		}
		return tail(entries, n), nil
	case "range":
		wanted := q.Session
		if wanted <= 0 {
			wanted += session
		}
		return slices.DeleteFunc(slices.Clone(entries), func(e record) bool {
			return e.Session != wanted || e.Line < q.Start || q.Stop != nil && e.Line >= *q.Stop
		}), nil
	case "search":
		pattern := q.Pattern
		if pattern == "" {
			pattern = "*"
		}
		found := slices.DeleteFunc(slices.Clone(entries), func(e record) bool { return !glob(pattern, e.Input) })
		if q.Unique {
			found = lastOfEach(found)
		}
		if q.N != nil {
			found = tail(found, *q.N)
		}
		return found, nil
	}
	return nil, fmt.Errorf(`hist_access_type %q is not one of "tail", "range", "search"`, q.Access)
}

func tail(entries []record, n int) []record {
	return entries[len(entries)-max(0, min(n, len(entries))):]
}

// lastOfEach keeps the last of the entries with the same input.
func lastOfEach(entries []record) []record {
	last := map[string]int{}
	for i, e := range entries {
		last[e.Input] = i
	}
	var kept []record
	for i, e := range entries {
		if last[e.Input] == i {
			kept = append(kept, e)
		}
	}
	return kept
}
