package assist

import (
	"go/types"
	"os"
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
	case name == "%%ptx":
		return completePTX(code, cursor), true
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
	return magicArgs(scope, magics, m, args, code, word, cursor), true
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

// magicArgs lists what the usage of a magic lets stand at the cursor, below what the
// call has before it.
func magicArgs(scope Scope, magics *magic.Set, m magic.Magic, args, code string, word, cursor int) Completion {
	prefix := code[word:cursor]
	before := strings.Fields(args[:len(args)-len(prefix)])
	valueOf := len(before) > 0 && strings.HasPrefix(before[len(before)-1], "-")
	result := Completion{Start: word, End: cursor}
	var list []Match
	add := func(kind string, names ...string) {
		for _, name := range names {
			list = append(list, Match{Text: name, Kind: kind})
		}
	}
	within := func(c Completion) { // at another place, for the same word
		result.Start = c.Start
		list = append(list, c.Matches...)
	}
	for _, next := range m.Next(before) {
		switch {
		case next == strings.ToLower(next):
			add("magic", next)
		case next == "MAGIC":
			for _, other := range magics.List() {
				add("magic", other.Name, other.String())
			}
		case next == "FUNCTION":
			for _, o := range scope.Names() {
				if _, ok := o.(*types.Func); ok && scope.Source(o) != "" {
					add("function", o.Name())
				}
			}
		case next == "NAME" && m.Name == "env":
			for _, e := range os.Environ() {
				name, _, _ := strings.Cut(e, "=")
				add("variable", name)
			}
		case slices.Contains([]string{"FILE", "DIRECTORY", "PATH", "PATTERN"}, next) && !strings.HasPrefix(prefix, "-"):
			within(completeFile(code, word, cursor))
		case next == "NAME" && !valueOf || next == "STATEMENT":
			c := Complete(scope, magics, prefix, len(prefix))
			c.Start += word
			within(c)
		}
	}
	result.Matches = rank(list, code[result.Start:cursor])
	return result
}
