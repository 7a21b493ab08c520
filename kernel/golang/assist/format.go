package assist

import (
	"go/format"
	"slices"
	"strings"

	"gocuda/kernel/magic"
)

// Format writes the Go code of a cell as gofmt does. Magics, and what cannot be parsed,
// stay as they are.
func Format(code string) string {
	lines := strings.SplitAfter(code, "\n")
	var out strings.Builder
	for _, p := range magic.Pieces(code) {
		from := p.Line - 1
		text := strings.Join(lines[from:min(from+p.Lines, len(lines))], "")
		switch {
		case p.Magic == "":
			text = formatGo(text)
		case strings.HasPrefix(p.Magic, "%%") && slices.Contains(goBodies, p.Magic):
			if head, body, ok := strings.Cut(text, "\n"); ok {
				text = head + "\n" + Format(body)
			}
		}
		out.WriteString(text)
	}
	return out.String()
}

// formatGo formats runs of declarations and runs of statements by themselves, for gofmt
// does not take both in one text.
func formatGo(code string) string {
	list := chunks(lex(code))
	var out strings.Builder
	done := 0
	for i, c := range list {
		if i+1 < len(list) && list[i+1].isDeclaration() == c.isDeclaration() {
			continue
		}
		end := len(code)
		if i+1 < len(list) {
			// The comment before what follows belongs to it, from its line on.
			end = c.end + 1 + strings.IndexByte(code[c.end:]+"\n", '\n')
			if end > list[i+1].start {
				return code // both on one line
			}
		}
		text := code[done:end]
		done = end
		// The white space around it is kept, but for the indent that gofmt would go by.
		space := text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))]
		text = space[:strings.LastIndexByte(space, '\n')+1] + text[len(space):]
		formatted, err := format.Source([]byte(text))
		if err != nil {
			return code
		}
		out.Write(formatted)
	}
	if len(list) == 0 {
		return code
	}
	return out.String()
}

// isDeclaration says whether gofmt takes a chunk for part of a file. A var or a type can
// be part of a function, too.
func (c chunk) isDeclaration() bool {
	return c.kind == imported || c.kind == declared
}
