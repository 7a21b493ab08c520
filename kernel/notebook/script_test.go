package notebook

import (
	"slices"
	"strings"
	"testing"
)

func TestParseScript(t *testing.T) {
	nb := ParseScript("\uFEFF// ---\n// jupyter:\n//   kernelspec: ...\n// ---\n\n" +
		"// %% [markdown]\n// # Title\n//\n// * a point\n// %mpi is a magic\n\n" +
		"// %%\nx := 1 // a\n// a comment\n// // %no magic\n// // %% no cell\n\n\ny := 2\n\n" +
		"// %% a title tags=[\"parameters\", \"x\"]\n// %mpi start -n {n}\n// !ls ./a\n//go:embed a.txt\n\n" +
		"// %%\n// %%cuda -arch sm_90\n__global__ void k() {}\n\n" +
		"// %%\n%%mpi\nrank\n" +
		"// %% language=\"bash\"\n// echo a\n//\n// # %b\n" +
		"//%% [raw]\n// as it is\r\n" +
		"// %%\n\n// %%%timing is no cell\n")
	if nb == nil {
		t.Fatal("no cells")
	}
	want := []struct{ kind, source, tags string }{
		{Markdown, "# Title\n\n* a point\n%mpi is a magic", ""},
		{Code, "x := 1 // a\n// a comment\n// %no magic\n// %% no cell\n\n\ny := 2", ""},
		{Code, "%mpi start -n {n}\n!ls ./a\n//go:embed a.txt", "parameters x"},
		{Code, "%%cuda -arch sm_90\n__global__ void k() {}", ""},
		{Code, "%%mpi\nrank", ""},
		{Code, "%%bash\necho a\n\n# %b", ""},
		{Raw, "as it is", ""},
		{Code, "// %%%timing is no cell", ""},
	}
	if len(nb.Cells) != len(want) {
		t.Fatalf("%d cells, want %d", len(nb.Cells), len(want))
	}
	for i, w := range want {
		c := nb.Cells[i]
		if c.Kind != w.kind || c.Source != w.source || !slices.Equal(c.Tags(), strings.Fields(w.tags)) {
			t.Errorf("cell %d: a %s %q, tagged %q; want a %s %q, tagged %q", i, c.Kind, c.Source, c.Tags(), w.kind, w.source, w.tags)
		}
	}
	for _, text := range []string{"", "package main\n\nfunc main() {}\n", "x := 1\n// a % b\n", "s := `\n %%`"} {
		if nb := ParseScript(text); nb != nil {
			t.Errorf("%q: %d cells, want no script", text, len(nb.Cells))
		}
	}
}
