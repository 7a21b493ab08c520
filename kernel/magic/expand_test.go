package magic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// expanded registers two magics that keep their calls, for the time of a test:
// %values, which expands its arguments, and %plain, which does not.
func expanded(t *testing.T) *[]Call {
	var calls []Call
	keep := func(_ context.Context, _ Env, c Call) error {
		calls = append(calls, c)
		return nil
	}
	Register(Magic{Name: "values", Usage: "%values ARGS", Doc: "Test.", Expand: true, Run: keep},
		Magic{Name: "plain", Usage: "%plain ARGS", Doc: "Test.", Run: keep})
	t.Cleanup(func() {
		registry.Lock()
		defer registry.Unlock()
		delete(registry.magics, "%values")
		delete(registry.magics, "%plain")
	})
	return &calls
}

func TestExpansion(t *testing.T) {
	calls := expanded(t)
	for line, want := range map[string][]string{
		"%values a b":                {"a", "b"},
		"%values -n {n}":             {"-n", "<n 1:13>"},
		"%values -n{n}":              {"-n<n 1:12>"},
		"%values -n $n":              {"-n", "<n 1:13>"},
		"%values $größe/x $_1.y":     {"<größe 1:10>/x", "<_1 1:21>.y"},
		"%values 'a {2 * n} b'":      {"a <2 * n 1:13> b"}, // the value is never cut
		`%values {m["}"]} {f(T{1})}`: {`<m["}"] 1:10>`, "<f(T{1}) 1:19>"},
		"%values {{n}} $$n $ $1 }":   {"{n}", "$n", "$", "$1", "}"},
		"%values ${n}":               {"$<n 1:11>"},
		"%plain {n} $n":              {"{n}", "$n"},
		"x := 1\n  %values $n":       {"<n 2:12>"},
		"x := 1\n%values \\\n  {n}":  {"<n 2:13>"}, // the column in the joined line
	} {
		if _, err := run(t, line); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		call := (*calls)[len(*calls)-1]
		got, err := call.Fields()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: fields %q, %v; want %q", line, got, err, want)
		}
		if text := strings.Join(want, " "); !strings.Contains(line, "'") && call.Args != text {
			t.Errorf("%s: arguments %q, want %q", line, call.Args, text)
		}
	}
}

func TestExpansionFails(t *testing.T) {
	calls := expanded(t)
	for code, want := range map[string]string{
		"x\n%values {n":      "%values: {n is no expression of Go in braces; for a brace itself write {{\nusage: %values ARGS",
		"x\n%values {}":      "{} is no expression of Go in braces",
		"x\n%values {n +} a": "{n +} a is no expression of Go in braces",
	} {
		r, err := run(t, code)
		var e *Error
		if !errors.As(err, &e) || e.Name != "UsageError" || e.Line != 2 || !strings.Contains(e.Message, want) || len(r.evals) != 0 {
			t.Errorf("%s: %v after %s, want %q before anything runs", code, err, r.evals, want)
		}
	}
	if _, err := run(t, "%values $unknown"); fmt.Sprint(err) != "unknown" || len(*calls) != 0 {
		t.Errorf("an undefined name gives %v, and the magic ran with %v", err, *calls)
	}
}

func TestHelpTellsOfExpansion(t *testing.T) {
	expanded(t)
	for name, want := range map[string]bool{"%values": true, "%plain": false} {
		r, err := run(t, "%help "+name)
		if err != nil || strings.Contains(r.text(), "$name") != want {
			t.Errorf("%%help %s says %q, %v", name, r.text(), err)
		}
	}
}
