package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents are the pages that people read, by their names from the root.
func documents(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "notebooks/*.md", "cudaapi/*/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, names...)
	}
	if len(list) < 40 {
		t.Fatalf("only %d documents", len(list))
	}
	return list
}

// What a README, a paragraph and a list item may have, in words.
const readmeWords, paragraphWords, itemWords = 500, 120, 60

var (
	fencedCode = regexp.MustCompile("(?ms)^```.*?^```$")
	itemStart  = regexp.MustCompile(`(?m)^\s*(?:[*-]|\d+\.) `)
)

func TestLengths(t *testing.T) {
	for _, name := range documents(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Fields(string(data))); filepath.Dir(name) == root && filepath.Base(name) == "README.md" && n > readmeWords {
			t.Errorf("%s has %d words, want %d or fewer", name, n, readmeWords)
		}
		for _, p := range strings.Split(fencedCode.ReplaceAllString(string(data), ""), "\n\n") {
			p = strings.TrimSpace(p)
			switch at := itemStart.FindAllStringIndex(p, -1); {
			case strings.HasPrefix(p, "|"):
				for _, row := range strings.Split(p, "\n") {
					if n := len(strings.Fields(row)); n > paragraphWords {
						t.Errorf("%s: a row of %d words: %.60s", name, n, row)
					}
				}
			case len(at) == 0:
				if n := len(strings.Fields(p)); n > paragraphWords {
					t.Errorf("%s: a paragraph of %d words, want %d or fewer: %.60s", name, n, paragraphWords, p)
				}
			default:
				for i, from := range at {
					to := len(p)
					if i+1 < len(at) {
						to = at[i+1][0]
					}
					if n := len(strings.Fields(p[from[0]:to])); n > itemWords {
						t.Errorf("%s: a list item of %d words, want %d or fewer: %.60s", name, n, itemWords, p[from[0]:to])
					}
				}
			}
		}
	}
}
