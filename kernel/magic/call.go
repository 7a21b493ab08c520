package magic

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gocuda/internal/spell"
)

// call resolves a piece that is a magic.
func (s *Set) call(p piece) (Call, error) {
	text, body, _ := strings.Cut(p.text, "\n")
	if p.kind == line || p.kind == shell {
		text, body = joinLines(p.text), ""
	}
	if p.kind == cell {
		var head int
		text, body, head = headOf(p.text)
		p.line += head - 1
	}
	text = strings.TrimRight(text, "\r")
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	text = text[indent:]
	call := Call{Line: p.line, Body: body, set: s}
	switch p.kind {
	case shell:
		call.Magic = shellMagic
		call.Args = strings.TrimSpace(text[1:])
		call.Column = 2 + indent + len(text[1:]) - len(strings.TrimLeft(text[1:], " \t"))
		return call, nil
	case inspect:
		call.Magic, _ = s.Lookup("%pinfo")
		call.Args = strings.Trim(text, "? \t")
		return call, nil
	}
	called := text[:strings.IndexFunc(text+" ", unicode.IsSpace)]
	if called == "%" || called == "%%" || strings.HasPrefix(called, "%%%") {
		return call, &Error{"UnknownMagic", called + ": a magic needs a name; %help lists them", p.line}
	}
	m, ok := s.Lookup(called)
	if !ok || m.Cell != (p.kind == cell) {
		return call, s.unknown(called, p)
	}
	args := text[len(called):]
	call.Magic = m
	call.Args = strings.TrimSpace(args)
	call.Column = 1 + indent + len(called) + len(args) - len(strings.TrimLeft(args, " \t"))
	if m.Expand {
		var err error
		if call.parts, err = call.parse(); err != nil {
			return call, err
		}
	}
	return call, nil
}

// headOf cuts a cell magic into its own line and what is below. A backslash at the end of
// the line continues it; lines are how many it has.
func headOf(text string) (head, body string, lines int) {
	head, body, _ = strings.Cut(text, "\n")
	for lines = 1; strings.HasSuffix(strings.TrimRight(head, " \t\r"), "\\") && body != ""; lines++ {
		var next string
		next, body, _ = strings.Cut(body, "\n")
		head = strings.TrimSuffix(strings.TrimRight(head, " \t\r"), "\\") + " " + next
	}
	return head, body, lines
}

// joinLines makes one line of lines that a backslash continues.
func joinLines(text string) string {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	return strings.ReplaceAll(text, "\\\n", " ")
}

// unknown names the magics that may have been meant.
func (s *Set) unknown(called string, p piece) error {
	name := strings.TrimLeft(called, "%")
	_, isLine := s.Lookup("%" + name)
	_, isCell := s.Lookup("%%" + name)
	message := "there is no magic " + called
	switch {
	case isLine && p.kind == cell:
		message += fmt.Sprintf(", but there is the line magic %%%s", name)
	case isCell && p.kind == line:
		message = fmt.Sprintf("%%%%%s is a cell magic: it takes a whole cell, and stands on its first line", name)
		if !strings.HasPrefix(called, "%%") {
			message = fmt.Sprintf("there is no magic %s, but there is %%%%%s for a whole cell", called, name)
		}
	default:
		var names, near, all []string
		for _, m := range s.List() {
			names, all = append(names, m.Name), append(all, m.String())
		}
		for _, n := range spell.Nearest(name, names, 1+len(name)/4) {
			for i := range names {
				if names[i] == n {
					near = append(near, all[i])
				}
			}
		}
		if len(near) > 0 {
			message += "; did you mean " + strings.Join(near, " or ") + "?"
		} else {
			message += "; there are " + strings.Join(all, " ")
		}
	}
	return &Error{"UnknownMagic", message, p.line}
}

// Fields splits the arguments of a call at spaces; quotes, single or double,
// hold words together. What is in the value of a Go expression is of one word.
func (c Call) Fields() ([]string, error) {
	var fields []string
	var word strings.Builder
	inWord := false
	quote := rune(0)
	parts := c.parts
	if parts == nil {
		parts = []part{{text: c.Args}}
	}
	for _, p := range parts {
		if p.goCode != "" {
			inWord = true
			word.WriteString(p.text)
			continue
		}
		for _, r := range p.text {
			switch {
			case quote != 0 && r == quote:
				quote = 0
			case quote != 0:
				word.WriteRune(r)
			case r == '"' || r == '\'':
				quote, inWord = r, true
			case unicode.IsSpace(r):
				if inWord {
					fields = append(fields, word.String())
					word.Reset()
					inWord = false
				}
			default:
				inWord = true
				word.WriteRune(r)
			}
		}
	}
	if quote != 0 {
		return nil, c.UsageErrorf("a quote %c is not closed", quote)
	}
	if inWord {
		fields = append(fields, word.String())
	}
	return fields, nil
}

// Options takes options off the front of fields: those in flags stand alone
// (-a), those in values are followed by one (-n 10, -n10 or -n=10). "--" ends
// the options.
func (c Call) Options(fields []string, flags, values []string) (given map[string]string, rest []string, err error) {
	given = map[string]string{}
	for len(fields) > 0 {
		f := fields[0]
		if f == "--" {
			return given, fields[1:], nil
		}
		if len(f) < 2 || f[0] != '-' {
			break
		}
		fields = fields[1:]
		name, value, joined := strings.Cut(f, "=")
		if !joined && !slices.Contains(flags, f) && !slices.Contains(values, f) && len(f) > 2 && slices.Contains(values, f[:2]) {
			name, value, joined = f[:2], f[2:], true
		}
		switch {
		case slices.Contains(flags, name) && !joined:
			given[name] = ""
		case slices.Contains(values, name) && joined:
			given[name] = value
		case slices.Contains(values, name) && len(fields) > 0:
			given[name], fields = fields[0], fields[1:]
		case slices.Contains(values, name):
			return nil, nil, c.UsageErrorf("%s needs a value", name)
		default:
			return nil, nil, c.UsageErrorf("there is no option %s", f)
		}
	}
	return given, fields, nil
}
