package magic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// expanded are two magics that keep their calls: %values, which expands its
// arguments, and %plain, which does not.
func expanded() (*[]Call, []Magic) {
	var calls []Call
	keep := func(_ context.Context, _ Env, c Call) error {
		calls = append(calls, c)
		return nil
	}
	return &calls, []Magic{{Name: "values", Usage: "%values ARGS", Doc: "Test.", Expand: true, Run: keep},
		{Name: "plain", Usage: "%plain ARGS", Doc: "Test.", Run: keep}}
}

func TestExpansion(t *testing.T) {
	calls, magics := expanded()
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
		if _, err := run(t, line, magics...); err != nil {
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
	calls, magics := expanded()
	for code, want := range map[string]string{
		"x\n%values {n":      "%values: {n is not a Go expression in braces; for a brace itself write {{\nusage: %values ARGS",
		"x\n%values {}":      "{} is not a Go expression in braces",
		"x\n%values {n +} a": "{n +} a is not a Go expression in braces",
	} {
		r, err := run(t, code, magics...)
		var e *Error
		if !errors.As(err, &e) || e.Name != "UsageError" || e.Line != 2 || !strings.Contains(e.Message, want) || len(r.evals) != 0 {
			t.Errorf("%s: %v after %s, want %q before anything runs", code, err, r.evals, want)
		}
	}
	if _, err := run(t, "%values $unknown", magics...); fmt.Sprint(err) != "unknown" || len(*calls) != 0 {
		t.Errorf("an undefined name gives %v, and the magic ran with %v", err, *calls)
	}
}

func TestHelpTellsOfExpansion(t *testing.T) {
	_, magics := expanded()
	for name, want := range map[string]bool{"%values": true, "%plain": false} {
		r, err := run(t, "%help "+name, magics...)
		if err != nil || strings.Contains(r.text(), "$name") != want {
			t.Errorf("%%help %s says %q, %v", name, r.text(), err)
		}
	}
}
