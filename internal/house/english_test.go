package house

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// phrases are those that readers stumble over, each with what to write. They are not
// used in messages, documentation, notebooks and comments.
var phrases = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(?:told|tells?|telling) of\b`), "reports, describes, is reported"},
	{regexp.MustCompile(`(?i)\b(?:for|that|what|to|of) who (?:comes?|watch|looks?|write)`), "for those who"},
	{regexp.MustCompile(`(?i)\bwho comes from\b`), "people who know"},
	{regexp.MustCompile(`(?i)\bas one types\b`), "while you type"},
	{regexp.MustCompile(`(?i)\b(?:un)?mend(?:s|ed|ing)?\b`), "fix, repair"},
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\bbehind (?:it|them|that)\b`), "after it"},
	{regexp.MustCompile(`(?i)\bstands? behind\b`), "follows"},
	{regexp.MustCompile(`(?i)\bwhichever it is\b`), "leave it out"},
	{regexp.MustCompile(`(?i)\b(?:have|has) it so\b`), "say what causes it"},
	{regexp.MustCompile(`(?i)\bmakes? no sense\b|\bmade no sense\b`), "is invalid"},
	{regexp.MustCompile(`(?i)\bdevices of today\b|\bof before\b`), "current, old, earlier"},
	{regexp.MustCompile(`(?i)\bshared out\b`), "divided"},
	{regexp.MustCompile(`(?i)\b(?:is|are) (?:nobody's|anybody's)\b`), "say who may or may not"},
	{regexp.MustCompile(`(?i)\bas one does\b|\bas one would\b`), "as you would"},
	{regexp.MustCompile(`(?i)\bcannot be had\b|\bto be had\b`), "is not available"},
	{regexp.MustCompile(`(?i)\bin words of (?:its|their) own\b`), "with its own message"},
	{regexp.MustCompile(`(?i)\bgoes on that does not\b`), "does not"},
	{regexp.MustCompile(`(?i)\bis not (?:its|their) matter\b`), "does not concern it"},
	{regexp.MustCompile(`(?i)^of (?:which|whom|whose) (?:an?|the) \w+ [^.]* is\b`), "write the subject first"},
}

// textLine is a piece of text of a file that people read, with its place.
type textLine struct {
	at   int // the line in the file
	text string
}

func TestPhrases(t *testing.T) {
	found := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != root && (strings.HasPrefix(base, ".") || slices.Contains([]string{"testdata", "build", "bin", "records", "dist", "__pycache__", "node_modules"}, base)) {
				return filepath.SkipDir
			}
			return nil
		}
		if base == "english_test.go" {
			return nil
		}
		text, err := prose(name)
		if err != nil {
			return err
		}
		for _, l := range text {
			for _, p := range phrases {
				if m := p.pattern.FindString(l.text); m != "" {
					found++
					t.Errorf("%s:%d: %q: write %s", name, l.at, m, p.instead)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found > 0 {
		t.Errorf("%d phrases", found)
	}
}

// prose is what a file has for readers: comments and strings of programs, the text
// of documents and of notebooks' Markdown cells.
func prose(name string) ([]textLine, error) {
	switch filepath.Ext(name) {
	case ".go":
		return proseOfGo(name)
	case ".ipynb":
		return proseOfNotebook(name)
	case ".md", ".py", ".sh", ".h", ".cc", ".cu", ".yml", ".yaml", ".txt", "":
	default:
		return nil, nil
	}
	if base := filepath.Base(name); filepath.Ext(name) == "" && base != "Makefile" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	var list []textLine
	for i, l := range strings.Split(string(data), "\n") {
		list = append(list, textLine{i + 1, l})
	}
	return list, err
}

func proseOfGo(name string) ([]textLine, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return nil, err
	}
	var list []textLine
	for _, c := range f.Comments {
		list = append(list, textLine{set.Position(c.Pos()).Line, strings.ReplaceAll(c.Text(), "\n", " ")})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			text, _ := strconv.Unquote(s.Value)
			list = append(list, textLine{set.Position(s.Pos()).Line, text})
		}
		return true
	})
	return list, nil
}

func proseOfNotebook(name string) ([]textLine, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var nb struct {
		Cells []struct {
			Kind   string `json:"cell_type"`
			Source any
		}
	}
	if err := json.Unmarshal(data, &nb); err != nil {
		return nil, err
	}
	var list []textLine
	for i, c := range nb.Cells {
		if c.Kind != "markdown" {
			continue
		}
		lines, _ := c.Source.([]any)
		for _, l := range lines {
			text, _ := l.(string)
			list = append(list, textLine{i, text})
		}
	}
	return list, nil
}
