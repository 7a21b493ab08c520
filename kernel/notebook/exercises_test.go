package notebook

import (
	"slices"
	"strings"
	"testing"
)

func tagged(kind, tag, source string) *Cell {
	return &Cell{Kind: kind, Source: source, Metadata: map[string]any{"tags": []any{"other", tag}}}
}

func TestExercises(t *testing.T) {
	const solution = "<details>\n\n```go\na := 1\n\nb := 2\n```\n\nand\n\n```cpp\n%%cuda\n```\n</details>"
	nb := &Notebook{Cells: []*Cell{
		tagged(Code, "exercise:2b", "a := 0"), tagged(Code, "exercise:2b", "%%cuda"),
		tagged(Code, "judge:2b", ""), tagged(Markdown, "solution:2b", solution),
	}}
	list, err := nb.Exercises()
	if err != nil || len(list) != 1 || list[0].ID != "2b" {
		t.Fatal(list, err)
	}
	e := list[0]
	e.Fill(e.Solution)
	if got := []string{nb.Cells[0].Source, nb.Cells[1].Source}; !slices.Equal(got, []string{"a := 1\n\nb := 2", "%%cuda"}) {
		t.Errorf("the skeletons are %q", got)
	}
	for _, c := range []struct {
		printed string
		right   bool
	}{
		{"", false},
		{"exercise 2: right\n", false},
		{"exercise 2b: right\n", true},
		{"so\n[0-2] exercise 2b: right\n[3] exercise 2b: wrong: 3\n", false},
		{"[0,2] exercise 2b: right\n[1] exercise 2b: right\n", true},
		{"exercise 2b: not solved yet\n", false},
	} {
		e.Judge.Outputs = []Output{{"output_type": "stream", "name": "stdout", "text": c.printed}}
		if err := NotRight(list); e.Right() != c.right || (err == nil) != c.right {
			t.Errorf("%q: right is %v; %v", c.printed, e.Right(), err)
		}
	}
}

func TestExercisesThatAreNotWhole(t *testing.T) {
	for _, c := range []struct {
		cells []*Cell
		says  string
	}{
		{[]*Cell{tagged(Code, "exercise:1", "")}, "exercise 1 has 1 skeletons, 0 code blocks in its solution, judged: false"},
		{[]*Cell{tagged(Code, "solution:1", "")}, "tagged solution:1, which it cannot be"},
		{[]*Cell{tagged(Code, "judge:1", ""), tagged(Code, "judge:1", "")}, "tagged judge:1"},
	} {
		if _, err := (&Notebook{Cells: c.cells}).Exercises(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}
