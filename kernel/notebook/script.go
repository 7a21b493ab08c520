package notebook

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// The lines of a script of cells: what begins a cell, with its options, and lines of code
// that the script has as comments. These are magics and commands, and comments that would
// else be taken for one of the three.
var (
	cellLine  = regexp.MustCompile(`^// ?%%(?:[ \t]+(.*))?$`)
	cellKind  = regexp.MustCompile(`(?:^|[ \t])\[(\w+)\]`)
	cellTags  = regexp.MustCompile(`\btags=(\[[^\]]*\])`)
	cellMagic = regexp.MustCompile(`\blanguage="(\w+)"`)
	commented = regexp.MustCompile(`^// ((?:// ?)*(?:%{1,2}\w|![\w.~$\\/{-]).*|(?:// ?)+%%(?:[ \t].*)?)$`)
)

// ParseScript reads a script of cells: Go in which a line "// %%" begins a cell, and
// "// %% [markdown]" one of text, with magics as comments, such as "// %mpi start". So
// nbconvert writes gocuda's notebooks as scripts, and jupytext as go:percent. What stands
// before the first such line is left out. The result is nil where there is none.
func ParseScript(text string) *Notebook {
	var nb *Notebook
	var cell *Cell
	var lines []string
	whole := false // the cell is a comment as a whole
	end := func() {
		if cell != nil {
			cell.Source += strings.Trim(strings.Join(lines, "\n"), "\n")
		}
		lines, whole = nil, false
	}
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		line = strings.TrimRight(line, "\r\n")
		m := cellLine.FindStringSubmatch(line)
		if m == nil {
			if code := commented.FindStringSubmatch(line); code != nil {
				line = code[1]
			} else if whole {
				line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
			}
			lines = append(lines, line)
			continue
		}
		end()
		if nb == nil {
			nb = &Notebook{Minor: 5}
		}
		cell = &Cell{ID: fmt.Sprintf("cell-%d", len(nb.Cells)), Kind: Code, Metadata: map[string]any{}}
		nb.Cells = append(nb.Cells, cell)
		switch kind := cellKind.FindStringSubmatch(m[1]); {
		case kind == nil:
		case kind[1] == "markdown" || kind[1] == "md":
			cell.Kind, whole = Markdown, true
		case kind[1] == "raw":
			cell.Kind, whole = Raw, true
		}
		if magic := cellMagic.FindStringSubmatch(m[1]); magic != nil {
			cell.Source, whole = "%%"+magic[1]+"\n", true
		}
		if tags := cellTags.FindStringSubmatch(m[1]); tags != nil {
			var list []any
			if json.Unmarshal([]byte(tags[1]), &list) == nil {
				cell.Metadata["tags"] = list
			}
		}
	}
	end()
	return nb
}
