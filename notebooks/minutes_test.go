package notebooks

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"gocuda/kernel/notebook"
)

// How fast a learner is, for estimates: words of text and lines of code a minute, and
// minutes for an exercise.
const wordsPerMinute, linesPerMinute, minutesPerExercise = 150, 15, 6

var (
	wordOfText = regexp.MustCompile(`[\pL\pN]+`)
	minutesOf  = regexp.MustCompile(`\*\*Minutes:\*\* (\d+)`)
	plan       = regexp.MustCompile(`(?s)(<!-- minutes -->\n\n).*?(\n<!-- end -->)`)
)

// estimate is of what stands below a heading of the second level.
type estimate struct {
	title   string
	minutes float64
}

// estimates says how long the sections of a tutorial take. What is folded is not
// counted.
func estimates(nb *notebook.Notebook) []estimate {
	list := []estimate{{title: "Beginning"}}
	for _, c := range nb.Cells {
		if c.Kind != notebook.Markdown {
			for _, tag := range c.Tags() {
				if strings.HasPrefix(tag, "judge:") {
					list[len(list)-1].minutes += minutesPerExercise
				}
			}
			if c.Kind == notebook.Code && !c.HasTag("hide-input") {
				for l := range strings.Lines(c.Source) {
					if strings.TrimSpace(l) != "" {
						list[len(list)-1].minutes += 1. / linesPerMinute
					}
				}
			}
			continue
		}
		text := pictured.ReplaceAllString(folded.ReplaceAllString(c.Source, ""), "")
		for l := range strings.Lines(text) {
			if title, ok := strings.CutPrefix(strings.TrimSpace(l), "## "); ok {
				list = append(list, estimate{title: title})
			}
			list[len(list)-1].minutes += float64(len(wordOfText.FindAllString(l, -1))) / wordsPerMinute
		}
	}
	return list
}

// TestMinutes compares the minutes that tutorials give with the estimate, and the plan in
// the page for teachers with the tutorials.
func TestMinutes(t *testing.T) {
	var table strings.Builder
	table.WriteString("| tutorial | minutes | sections of five minutes or more |\n|---|---|---|\n")
	for _, name := range names(t) {
		nb := read(t, name)
		total, parts := 0., []string{}
		for _, s := range estimates(nb) {
			total += s.minutes
			if n := math.Round(s.minutes); n >= 5 {
				parts = append(parts, fmt.Sprintf("%s %.0f", s.title, n))
			}
		}
		said := 0
		if m := minutesOf.FindStringSubmatch(nb.Cells[0].Source); m != nil {
			fmt.Sscan(m[1], &said)
		}
		if math.Abs(float64(said)-total) > 5 {
			t.Errorf("%s gives %d minutes; its words, code and exercises suggest %.0f", name, said, total)
		}
		fmt.Fprintf(&table, "| %s | %d | %s |\n", strings.TrimSuffix(name, ".ipynb"), said, strings.Join(parts, ", "))
	}
	const page = "../docs/guide/teaching.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !plan.Match(text) {
		t.Fatalf("%s has no place for the table", page)
	}
	want := plan.ReplaceAllString(string(text), "${1}"+strings.ReplaceAll(table.String(), "$", "$$")+"${2}")
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("the minutes in %s are not those of the tutorials: go test ./notebooks -run TestMinutes -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
