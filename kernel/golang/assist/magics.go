package assist

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"gocuda/kernel/magic"
)

// goBodies are the magics that are followed by Go code.
var goBodies = append([]string{"%time", "%timeit"}, magic.GoMagics...)

// cellMagic returns the magic of the cell whose body the cursor is in, and where
// that body begins: it is a cell of its own. The name is "" elsewhere.
func cellMagic(code string, cursor int) (name string, body int) {
	head := strings.TrimLeft(code, " \t\r\n")
	line, _, found := strings.Cut(head, "\n")
	body = len(code) - len(head) + len(line) + 1
	if !found || cursor < body || !strings.HasPrefix(head, "%%") {
		return "", 0
	}
	name, _, _ = strings.Cut(strings.TrimSpace(line), " ")
	return name, body
}

// scopeOf is what the body of a magic can refer to.
func scopeOf(scope Scope, name string) Scope {
	switch name {
	case "%%mpi":
		return rankScope{scope}
	case "%%kernel":
		return kernelScope{scope}
	}
	return scope
}

// completeMagic completes in a magic; ok is false if the cursor is in Go code.
func completeMagic(scope Scope, magics *magic.Set, code string, cursor int) (c Completion, ok bool) {
	start := strings.LastIndexByte(code[:cursor], '\n') + 1
	switch name, at := cellMagic(code, cursor); {
	case name == "%%cuda":
		return completeCUDA(code, cursor), true
	case name == "":
	case slices.Contains(goBodies, name):
		c := Complete(scopeOf(scope, name), magics, code[at:], cursor-at)
		c.Start, c.End = c.Start+at, c.End+at
		return c, true
	default:
		return nothing(cursor), true
	}
	line := code[start:cursor]
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	line = line[indent:]
	if line == "" || line[0] != '%' && line[0] != '!' || magic.Blank(code[:cursor]) == code[:cursor] && line != "%" && line != "!" {
		return c, false
	}
	start += indent
	name, args, hasArgs := strings.Cut(line, " ")
	switch {
	case line[0] == '!':
		word := strings.LastIndexAny(line, " \t=!<>|\"'") + 1
		return completeFile(code, start+word, cursor), true
	case !hasArgs:
		return magicNames(magics, start, cursor, line), true
	}
	m, known := magics.Lookup(name)
	if !known {
		return nothing(cursor), true
	}
	begin := start + len(name) + 1
	if !m.Cell && slices.Contains(goBodies, name) && !strings.HasPrefix(strings.TrimSpace(args), "-") {
		c := Complete(scope, magics, code[begin:cursor], cursor-begin)
		c.Start, c.End = c.Start+begin, c.End+begin
		return c, true
	}
	if at := strings.LastIndexAny(args, "{}$"); m.Expand && at >= 0 && args[at] != '}' {
		begin += at + 1
		c := Complete(scope, magics, code[begin:cursor], cursor-begin)
		c.Start, c.End = c.Start+begin, c.End+begin
		return c, true
	}
	word := begin + strings.LastIndexAny(args, " \t") + 1
	return magicArgs(scope, magics, m, code, word, cursor), true
}

// magicNames lists the magics that begin as line does. A cell magic is
// offered for one mark too.
func magicNames(magics *magic.Set, start, cursor int, line string) Completion {
	c := Completion{Start: start, End: cursor, Matches: []Match{}}
	for _, m := range magics.List() {
		if strings.HasPrefix(m.String(), line) || line == "%" {
			c.Matches = append(c.Matches, Match{Text: m.String(), Kind: "magic", Signature: m.Usage})
		}
	}
	return c
}

var (
	optionWord = regexp.MustCompile(`(?:^|[ \[|])(-{0,2}[a-z][a-z-]*)`)
	fileWord   = regexp.MustCompile(`FILE|DIRECTORY|PATH`)
)

// magicArgs lists what the usage of a magic lets stand at the cursor.
func magicArgs(scope Scope, magics *magic.Set, m magic.Magic, code string, word, cursor int) Completion {
	prefix := code[word:cursor]
	_, usage, _ := strings.Cut(m.Usage, " ")
	c := Completion{Start: word, End: cursor, Matches: []Match{}}
	var list []Match
	for _, w := range optionWord.FindAllStringSubmatch(usage, -1) {
		list = append(list, Match{Text: w[1], Kind: "magic"})
	}
	switch {
	case m.Name == "env":
		for _, e := range os.Environ() {
			name, _, _ := strings.Cut(e, "=")
			list = append(list, Match{Text: name, Kind: "variable"})
		}
	case strings.Contains(usage, "MAGIC"):
		for _, other := range magics.List() {
			list = append(list, Match{Text: other.Name, Kind: "magic"})
		}
	case fileWord.MatchString(usage) && !strings.HasPrefix(prefix, "-"):
		return completeFile(code, word, cursor)
	case strings.Contains(usage, "NAME"):
		c := Complete(scope, magics, prefix, len(prefix))
		c.Start, c.End = c.Start+word, c.End+word
		return c
	}
	c.Matches = rank(list, prefix)
	return c
}
