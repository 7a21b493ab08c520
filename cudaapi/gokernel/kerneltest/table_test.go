package kerneltest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/gokernel/kerneltest/testdata/programs"
)

// The table of what works names all programs, and the messages that there are.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../gpu/LANGUAGE.md")
	if err != nil {
		t.Skip("the sources are not here")
	}
	yes, no, _ := strings.Cut(string(text), "## What does not")
	var named []string
	for _, row := range regexp.MustCompile(`(?m)^\|[^|]*\|([^|]*)\|$`).FindAllStringSubmatch(yes, -1) {
		if words := strings.Fields(row[1]); words[0] != "programs" && words[0] != "---" {
			named = append(named, words...)
		}
	}
	var have []string
	for _, p := range programs.All {
		have = append(have, p.Name)
		if !slices.Contains(named, p.Name) {
			t.Errorf("the table does not name %s", p.Name)
		}
	}
	for i, name := range named {
		if !slices.Contains(have, name) {
			t.Errorf("the table names %s, which there is not", name)
		}
		if slices.Contains(named[:i], name) {
			t.Errorf("the table names %s twice", name)
		}
	}
	said := messages(t)
	for _, row := range regexp.MustCompile(`(?m)^\|[^|]*\|([^|]*)\|$`).FindAllStringSubmatch(no, -1) {
		message := strings.TrimSpace(row[1])
		if strings.HasPrefix(message, "-") || strings.HasPrefix(message, "what the") || strings.HasPrefix(message, "(") {
			continue
		}
		if !strings.Contains(said, message) {
			t.Errorf("no refused source is told %q", message)
		}
	}
}

// The programs are those that the files declare.
func TestProgramsAreComplete(t *testing.T) {
	files, err := programs.Sources.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		text, err := programs.Sources.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(out \[\]int64, f \[\]float64\)`).FindAllSubmatch(text, -1) {
			n++
			if !slices.ContainsFunc(programs.All, func(p programs.Program) bool { return p.Name == string(m[1]) && p.File == file.Name() }) {
				t.Errorf("%s is not among the programs", m[1])
			}
		}
	}
	if n != len(programs.All) {
		t.Errorf("the files have %d programs, the list %d", n, len(programs.All))
	}
}
