package notebooks

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/notebook"
)

var wholeParameters = flag.Bool("parameters", false, "run the tutorials with odd values of each parameter: half an hour")

// ranges are what the cell behind the parameters says of each: its check's text
// begins "NAME = %d: want ", and what follows is the same whatever the value is.
func ranges(nb *notebook.Notebook) (parameters, checks *notebook.Cell, texts map[string]string) {
	at := slices.IndexFunc(nb.Cells, func(c *notebook.Cell) bool { return c.HasTag("parameters") })
	next := slices.IndexFunc(nb.Cells[at+1:], func(c *notebook.Cell) bool { return c.Kind == notebook.Code })
	parameters, checks = nb.Cells[at], nb.Cells[at+1+next]
	texts = map[string]string{}
	for _, m := range declared.FindAllStringSubmatch(parameters.Source, -1) {
		if want := regexp.MustCompile(`"` + m[1] + ` = %d: want ([^"]*)"`).FindStringSubmatch(checks.Source); want != nil {
			texts[m[1]] = want[1]
		}
	}
	return parameters, checks, texts
}

// A parameter that is out of its range is an error that names it and the range.
func TestParameters(t *testing.T) {
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			inTurn(t)
			nb := read(t, name)
			parameters, checks, texts := ranges(nb)
			nb.Cells = nb.Cells[:slices.Index(nb.Cells, checks)+1]
			type trial struct {
				want string
				cell *notebook.Cell
			}
			var trials []trial
			for _, p := range slices.Sorted(maps.Keys(texts)) {
				for _, v := range []string{"-1", "1_000_000_000_000"} {
					again := &notebook.Cell{Kind: notebook.Code, Source: checks.Source, Metadata: map[string]any{"tags": []any{"raises-exception"}}}
					nb.Cells = append(nb.Cells, &notebook.Cell{Kind: notebook.Code, Source: parameters.Source},
						&notebook.Cell{Kind: notebook.Code, Source: p + " = " + v}, again)
					trials = append(trials, trial{fmt.Sprintf("%s = %s: want ", p, strings.ReplaceAll(v, "_", "")), again})
				}
			}
			if err := run(t, nb, 2); err != nil {
				t.Fatal(err)
			}
			for _, c := range trials {
				var said []string
				for _, o := range c.cell.Outputs {
					if o["output_type"] == "error" {
						said = append(said, fmt.Sprint(o["evalue"]))
					}
				}
				if len(said) != 1 || !strings.HasPrefix(said[0], c.want) {
					t.Errorf("the cell says %q, want %q", said, c.want)
				}
			}
		})
	}
}

// With -parameters, the tutorials run with values at the edges of each parameter's
// range and beyond: to their ends, or to an error that names the parameter.
func TestOddParameters(t *testing.T) {
	if !*wholeParameters {
		t.Skip("without -parameters")
	}
	for _, name := range names(t) {
		_, _, texts := ranges(read(t, name))
		for _, p := range slices.Sorted(maps.Keys(texts)) {
			values := []string{"-3", "0", "1", "2", "3", "7", "101", "1_001", "65_537", "1_000_000_007"}
			values = append(values, regexp.MustCompile(`\d[\d,]*`).FindAllString(texts[p], 2)...)
			for i, v := range values {
				v = strings.ReplaceAll(v, ",", "")
				if slices.Contains(values[:i], v) {
					continue
				}
				t.Run(name+"/"+p+"="+v, func(t *testing.T) {
					resumed(t)
					inTurn(t)
					err := run(t, readSmall(t, name, p, v), 3)
					failure := (*notebook.Failure)(nil)
					if errors.As(err, &failure) && regexp.MustCompile(`^\w+ = -?\d+: want `).MatchString(failure.Step.Err.Message) {
						err = nil
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
