package notebooks

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/notebook"
)

// What a line and a cell of code may have: 88 characters are what JupyterLab and
// nbconvert show at 1,000 pixels.
const longestLine, mostLines = 88, 30

// parts of every tutorial, in this order.
var parts = []string{
	"# ", "**The question.**", "**Minutes:** ", "**Before you begin:** ", "**Objectives:**",
	"### Exercise 1", "## Key points", "## The same in C++ and Python", "## Read on", "**Next:**",
}

// publishers have the official pages to which tutorials link.
var publishers = []string{
	`docs\.nvidia\.com`, `developer\.nvidia\.com`, `github\.com/NVIDIA`, `docs\.open-mpi\.org`, `www\.mpi-forum\.org`,
	`mpi4py\.readthedocs\.io`, `ipyparallel\.readthedocs\.io`, `docs\.cupy\.dev`, `numba\.readthedocs\.io`, `numpy\.org`,
	`github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+`, `www\.openmp\.org`, `go\.dev`, `github\.com/pytorch/gloo`, `github\.com/srush/GPU-Puzzles`, `www\.mcs\.anl\.gov`, `dl\.acm\.org`,
}

var (
	linked   = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	pictured = regexp.MustCompile(`!\[([^\]]*)\]\(([^)\s]*)\)`)
	fenced   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	official = regexp.MustCompile(`^https://(` + strings.Join(publishers, "|") + `)(/[^\s<>"]*)?$`)
	blocks   = regexp.MustCompile("(?ms)^```\\w+\n(.*?)^```$")
	declared = regexp.MustCompile(`(?m)^\s*(?:var )?(\w+)\s*(?::=|=)`)
)

// The rules for authors in README.md that a program can judge.
func TestStyle(t *testing.T) {
	list := names(t)
	for _, name := range list {
		t.Run(name, func(t *testing.T) {
			nb := read(t, name)
			var text strings.Builder
			for i, c := range nb.Cells {
				if c.Kind == notebook.Code {
					styleOfCode(t, i, c)
					continue
				}
				text.WriteString(c.Source + "\n")
				styleOfText(t, i, c, list)
			}
			at := 0
			for _, part := range parts {
				i := strings.Index("\n"+text.String()[at:], "\n"+part)
				if i < 0 {
					t.Fatalf("no %q where that should be", part)
				}
				at += i
			}
			if !strings.Contains(text.String(), "**Predict.**") {
				t.Error("it asks for no prediction")
			}
			predictionsAreCompared(t, nb)
			if n := stretch(nb); n > 100 {
				t.Errorf("%d lines without an exercise, want 100 or fewer", n)
			}
			for i, c := range nb.Cells {
				if c.HasTag("has-hazards") && !strings.Contains(fmt.Sprint(c.Outputs), "hazard: ") {
					t.Errorf("cell %d is to have hazards, and its outputs show none", i)
				}
			}
			parametersAreChecked(t, nb)
			exercises, err := nb.Exercises()
			if err != nil || len(exercises) < 3 {
				t.Errorf("%d exercises, want three or more; %v", len(exercises), err)
			}
			for _, e := range exercises {
				look, _ := e.Judge.Metadata["jupyter"].(map[string]any)
				if look["source_hidden"] != true || !e.Judge.HasTag("hide-input") {
					t.Errorf("the judge of exercise %s is not folded", e.ID)
				}
			}
		})
	}
}

var folded = regexp.MustCompile(`(?s)<details>.*?</details>`)

// stretch counts the most lines between two places where the reader writes, up to the
// last of them. Blank lines and what is folded do not count.
func stretch(nb *notebook.Notebook) (most int) {
	lines := 0
	for _, c := range nb.Cells {
		switch {
		case c.HasTag("hide-input"):
			continue
		case slices.ContainsFunc(c.Tags(), func(t string) bool { return strings.HasPrefix(t, "exercise:") }):
			most, lines = max(most, lines), 0
			continue
		}
		for l := range strings.Lines(folded.ReplaceAllString(c.Source, "")) {
			if strings.TrimSpace(l) != "" {
				lines++
			}
		}
	}
	return most
}

func styleOfCode(t *testing.T, i int, c *notebook.Cell) {
	lines := strings.Split(c.Source, "\n")
	if len(lines) > mostLines {
		t.Errorf("cell %d has %d lines, want %d or fewer", i, len(lines), mostLines)
	}
	for _, l := range lines {
		if n := len([]rune(strings.ReplaceAll(l, "\t", "    "))); n > longestLine {
			t.Errorf("cell %d has a line of %d characters: %s", i, n, l)
		}
	}
	if strings.Contains(c.Source, "func check(") || strings.Contains(c.Source, "display.SVG(`") {
		t.Errorf("cell %d has a check of its own, or the source of a picture", i)
	}
}

func styleOfText(t *testing.T, i int, c *notebook.Cell, tutorials []string) {
	for _, m := range pictured.FindAllStringSubmatch(c.Source, -1) {
		if len(m[1]) < 30 {
			t.Errorf("cell %d has a picture whose alternative text says little: %q", i, m[1])
		}
	}
	source := fenced.ReplaceAllString(pictured.ReplaceAllString(c.Source, ""), "")
	for _, m := range linked.FindAllStringSubmatch(source, -1) {
		target, _, _ := strings.Cut(m[1], "#")
		_, err := os.Stat(filepath.FromSlash(target))
		if !official.MatchString(m[1]) && !slices.Contains(tutorials, target) && (target == "" || err != nil) {
			t.Errorf("cell %d refers to %s", i, m[1])
		}
	}
	if _, asked, ok := strings.Cut(c.Source, "**Predict.**"); ok && !strings.Contains(asked, "<details><summary>Answer</summary>") {
		t.Errorf("cell %d asks for a prediction and has no answer", i)
	}
	for _, code := range blocks.FindAllStringSubmatch(c.Source, -1) {
		for l := range strings.Lines(code[1]) {
			if n := len([]rune(strings.ReplaceAll(strings.TrimSuffix(l, "\n"), "\t", "    "))); n > longestLine {
				t.Errorf("cell %d has code with a line of %d characters: %s", i, n, l)
			}
		}
	}
	for _, l := range strings.Split(c.Source, "\n") {
		if strings.Count(l, "```")%2 == 0 && strings.Count(l, "**")%2 == 1 {
			t.Errorf("cell %d: ** without its like: %s", i, l)
		}
	}
}

// predictionsAreCompared says whether there is a prediction with four choices, and whether
// the notebook compares all of them behind the last. The choices' code tells the answer,
// so it is folded.
func predictionsAreCompared(t *testing.T, nb *notebook.Notebook) {
	asked, compared := 0, 0
	for i, c := range nb.Cells {
		if strings.Contains(c.Source, "lesson.Predictions()") {
			compared = i
		}
		if !strings.Contains(c.Source, "lesson.Predict(") || c.Kind != notebook.Code {
			continue
		}
		asked = i
		right, wrong := strings.Count(c.Source, "lesson.Right("), strings.Count(c.Source, "lesson.Wrong(")
		if right != 1 || wrong != 3 || !c.HasTag("hide-input") || !strings.Contains(nb.Cells[i-1].Source, "**Predict.**") {
			t.Errorf("cell %d: a prediction with %d right and %d wrong choices, folded: %v; want 1 and 3, folded, behind its text", i, right, wrong, c.HasTag("hide-input"))
		}
	}
	if asked == 0 || compared < asked {
		t.Errorf("the last prediction with choices is cell %d, and cell %d compares them", asked, compared)
	}
}

// parametersAreChecked says whether the cell behind the parameters names each of them
// in a check.
func parametersAreChecked(t *testing.T, nb *notebook.Notebook) {
	at := slices.IndexFunc(nb.Cells, func(c *notebook.Cell) bool { return c.HasTag("parameters") })
	if at < 0 {
		t.Fatal("no parameters")
	}
	rest := nb.Cells[at+1:]
	next := slices.IndexFunc(rest, func(c *notebook.Cell) bool { return c.Kind == notebook.Code })
	for _, m := range declared.FindAllStringSubmatch(nb.Cells[at].Source, -1) {
		if !strings.Contains(rest[next].Source, `"`+m[1]+` = %d: want `) {
			t.Errorf("the cell behind the parameters does not check %s", m[1])
		}
	}
}

// inline begins a picture that is in the notebook's text.
const inline = "data:image/svg+xml;base64,"

var update = flag.Bool("update", false, "put the pictures of notebooks/pictures into the notebooks, and the minutes into the page for teachers")

// Pictures are in the notebooks as they are in notebooks/pictures; each is used.
func TestPictures(t *testing.T) {
	files, err := filepath.Glob("pictures/*.svg")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, name := range names(t) {
		nb := read(t, name)
		changed := false
		for i, c := range nb.Cells {
			if c.Kind != notebook.Markdown {
				continue
			}
			c.Source = pictured.ReplaceAllStringFunc(c.Source, func(old string) string {
				m := pictured.FindStringSubmatch(old)
				file := strings.TrimPrefix(m[2], "pictures/")
				if data, ok := strings.CutPrefix(m[2], inline); ok {
					svg, _ := base64.StdEncoding.DecodeString(data)
					if from := regexp.MustCompile(`<!-- (\S+) -->`).FindSubmatch(svg); from != nil {
						file = string(from[1])
					}
				}
				svg, err := os.ReadFile(filepath.Join("pictures", file))
				if err != nil {
					t.Errorf("%s, cell %d: %v", name, i, err)
					return old
				}
				used["pictures/"+file] = true
				svg = regexp.MustCompile(`\n\s*`).ReplaceAll(bytes.TrimSpace(svg), nil)
				now := "![" + m[1] + "](" + inline + base64.StdEncoding.EncodeToString(append(svg, "<!-- "+file+" -->"...)) + ")"
				changed = changed || now != old
				return now
			})
		}
		if !changed {
			continue
		}
		if !*update {
			t.Errorf("%s has other pictures than notebooks/pictures: go test ./notebooks -run TestPictures -update", name)
		} else if err := nb.WriteFile(name); err != nil {
			t.Error(err)
		}
	}
	for _, f := range files {
		if !used[filepath.ToSlash(f)] {
			t.Errorf("%s is in no notebook", f)
		}
	}
}

// Pictures of outputs are in a form that viewers show although the notebook is not trusted.
func TestOutputsShowUntrusted(t *testing.T) {
	for _, name := range names(t) {
		for i, c := range read(t, name).Cells {
			for _, o := range c.Outputs {
				if trace := fmt.Sprint(o["traceback"]); strings.Contains(trace, "\x1b[31m") {
					t.Errorf("%s, cell %d: a red error, which cannot be read in both themes", name, i)
				}
				data, _ := o["data"].(map[string]any)
				page, _ := data["text/html"].(string)
				if strings.Contains(page, "<svg") || data["image/svg+xml"] != nil && !strings.Contains(page, inline) {
					t.Errorf("%s, cell %d: a picture that is no image within HTML", name, i)
				}
			}
		}
	}
}
