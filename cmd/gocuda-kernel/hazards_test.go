package main

import (
	"strings"
	"testing"

	"gocuda/cudaapi/hazard"
	"gocuda/kernel/check"
	"gocuda/kernel/notebook"
)

// What fails a run with the check are hazards that are more than possible, in cells that
// are not there to show some.
func TestHazardsThatCount(t *testing.T) {
	cell := func(list hazard.List, tags ...any) *notebook.Cell {
		c := &notebook.Cell{Metadata: map[string]any{"tags": tags}}
		c.Outputs = append(c.Outputs, map[string]any{"metadata": map[string]any{check.Metadata: list}, "data": map[string]any{"text/plain": list.String()}})
		return c
	}
	proved, possible := hazard.Report{Memory: "x"}, hazard.Report{Memory: "y", Possible: true}
	for name, c := range map[string]struct {
		cell *notebook.Cell
		want int
	}{
		"proved":                 {cell(hazard.List{proved}), 1},
		"possible":               {cell(hazard.List{possible}), 0},
		"both":                   {cell(hazard.List{possible, proved}), 1},
		"proved, and to be seen": {cell(hazard.List{proved}, "has-hazards"), 0},
	} {
		var said strings.Builder
		if n := hazards(&notebook.Notebook{Cells: []*notebook.Cell{c.cell}}, &said); n != c.want {
			t.Errorf("%s: %d cells count, want %d", name, n, c.want)
		}
		if !strings.Contains(said.String(), "hazard: nothing orders") {
			t.Errorf("%s: it is not shown: %s", name, said.String())
		}
	}
}
