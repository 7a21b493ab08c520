package notebooks

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/notebook"
)

var (
	sourceRow = regexp.MustCompile(`(?m)^\| (.+?) \| (.+?) \| (.+?) \|$`)
	// fact is what a statement on CUDA, MPI or a machine has in its cell: a link to an
	// official page, a figure of a GPU, or somebody's word.
	fact = regexp.MustCompile(`\]\(https://|\bH[12]00\b|\d GB/s\b|NVIDIA's|NVIDIA says|\bGloo\b|\bHandbook\b`)
)

// sections gives sources.md by the numbers of its headings.
func sections(t *testing.T) map[string]string {
	t.Helper()
	all, err := os.ReadFile("sources.md")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for _, s := range strings.Split(string(all), "\n## ")[1:] {
		list[s[:2]] = s
	}
	return list
}

// Each statement of fact has its line in sources.md: the cells that it names are there,
// what it refers to is an official page or a file of this repository, and no cell with a
// figure or an official page is left out.
func TestSources(t *testing.T) {
	list := sections(t)
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			nb := read(t, name)
			ids := map[string]bool{}
			for _, c := range nb.Cells {
				ids[c.ID] = true
			}
			named := map[string]bool{}
			rows := sourceRow.FindAllStringSubmatch(list[name[:2]], -1)
			for _, row := range rows {
				if row[1] == "statement" {
					continue
				}
				for _, id := range regexp.MustCompile(`, | to `).Split(row[2], -1) {
					if named[id] = true; !ids[id] {
						t.Errorf("no cell %s: %s", id, row[1])
					}
				}
				for _, m := range linked.FindAllStringSubmatch(row[3], -1) {
					if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil && !official.MatchString(m[1]) {
						t.Errorf("%s refers to %s", row[1], m[1])
					}
				}
			}
			if len(rows) < 4 {
				t.Errorf("%d statements have a source, want more", len(rows))
			}
			for _, c := range nb.Cells {
				text, _, _ := strings.Cut(fenced.ReplaceAllString(pictured.ReplaceAllString(c.Source, ""), ""), "## The same in")
				if c.Kind == notebook.Markdown && fact.MatchString(text) && !named[c.ID] {
					t.Errorf("cell %s says %q, and sources.md does not name it", c.ID, fact.FindString(text))
				}
			}
		})
	}
	if len(list) != len(names(t)) {
		t.Errorf("%d sections for %d tutorials", len(list), len(names(t)))
	}
}

// figure is a number with a unit, as measurements have it.
var figure = regexp.MustCompile(`(?:^|[^\w.])(\d[\d,]*(?:\.\d+)?)\s*(?:[GMT]B/s|[µmn]?s|times|%|[KMG]iB)\b`)

// A figure in the text is one that the notebook's code or outputs have, or its cell has
// a line in sources.md with an official page or with a record that has it: a reader on
// another machine must be able to find it.
func TestFigures(t *testing.T) {
	list := sections(t)
	for _, name := range names(t) {
		nb := read(t, name)
		var have strings.Builder
		for _, c := range nb.Cells {
			if c.Kind == notebook.Code {
				fmt.Fprintln(&have, c.Source)
				for _, o := range c.Outputs {
					fmt.Fprintln(&have, o["text"], o["data"])
				}
			}
		}
		for _, c := range nb.Cells {
			published, records := false, ""
			for _, row := range sourceRow.FindAllStringSubmatch(list[name[:2]], -1) {
				if !slices.Contains(strings.Split(row[2], ", "), c.ID) {
					continue
				}
				published = published || strings.Contains(row[3], "https://")
				for _, m := range linked.FindAllStringSubmatch(row[3], -1) {
					text, _ := os.ReadFile(filepath.FromSlash(m[1])) // TestSources looks whether it is there
					records += string(text)
				}
			}
			if c.Kind != notebook.Markdown || published {
				continue
			}
			for _, m := range figure.FindAllStringSubmatch(fenced.ReplaceAllString(pictured.ReplaceAllString(c.Source, ""), ""), -1) {
				number := regexp.QuoteMeta(strings.ReplaceAll(m[1], ",", ""))
				if !regexp.MustCompile(`(?:^|[^\d.])` + number + `(?:[^\d]|$)`).MatchString(strings.ReplaceAll(have.String()+records, "_", "")) {
					t.Errorf("%s, cell %s says %q, which neither its code, its outputs nor its record have", name, c.ID, strings.TrimSpace(m[0]))
				}
			}
		}
	}
}
