package magic

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// compiledAs is the name of a %%cuda cell for its compiler. It is the same for all, so that
// a cell that runs again is found among what was compiled.
const compiledAs = "cell"

// cudaPlace matches the place of a message: NVRTC writes cell(4), host compilers cell:4:12.
var cudaPlace = regexp.MustCompile(`^(` + compiledAs + `|In\[\d+\])(?:\((\d+)\)|:(\d+)(?::(\d+))?): `)

// places writes the places in a compiler's log as all errors of cells have them:
// In[5]:4:12. sources are what the compiler read, by the names that it knows.
func places(log, cell string, sources map[string]string) string {
	lines := strings.SplitAfter(log, "\n")
	for i, line := range lines {
		m := cudaPlace.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, place, column := m[1], m[2]+m[3], m[4]
		if column == "" {
			column = pointedAt(sources[name], place, line, lines[i+1:])
		}
		if name == compiledAs {
			name = cell
		}
		if column != "" {
			place += ":" + column
		}
		lines[i] = fmt.Sprintf("%s:%s: %s", name, place, line[len(m[0]):])
	}
	return strings.ReplaceAll(strings.Join(lines, ""), fmt.Sprintf("compilation of %q", compiledAs), fmt.Sprintf("compilation of %q", cell))
}

// unopened matches the message about a header that is not there.
var unopened = regexp.MustCompile(`open source file "([^"]+)"`)

// pointedAt is the column of what a message is about, whose next lines show the source; ""
// if that is not known.
func pointedAt(source, place, message string, next []string) string {
	if m := unopened.FindStringSubmatch(message); m != nil { // the compiler points behind the line
		n, _ := strconv.Atoi(place)
		if lines := strings.Split(source, "\n"); n > 0 && n <= len(lines) {
			if i := strings.Index(lines[n-1], m[1]); i > 0 {
				return strconv.Itoa(i) // of the quote
			}
		}
	}
	for i := range next {
		if cudaPlace.MatchString(next[i]) || strings.TrimSpace(next[i]) == "" {
			break
		}
		if i > 0 && strings.TrimSpace(next[i]) == "^" {
			return columnOf(source, place, next[i-1], next[i])
		}
	}
	return ""
}

// columnOf is the column, in bytes from 1, of what a caret points at below a line of the
// source as a compiler shows it, with an indentation of its own; "" if there is none.
func columnOf(source, line, shown, caret string) string {
	before, after, ok := strings.Cut(strings.TrimRight(caret, "\n"), "^")
	if !ok || strings.TrimSpace(before+after) != "" {
		return ""
	}
	n, _ := strconv.Atoi(line)
	lines := strings.Split(source, "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	code, text := strings.TrimLeftFunc(lines[n-1], unicode.IsSpace), strings.TrimLeftFunc(shown, unicode.IsSpace)
	skip := len(before) - (len(shown) - len(text)) // the compiler counts bytes
	if skip < 0 || skip > len(code) || !strings.HasPrefix(strings.TrimSpace(code), strings.TrimSpace(text)) {
		return ""
	}
	return strconv.Itoa(len(lines[n-1]) - len(code) + 1 + skip)
}
