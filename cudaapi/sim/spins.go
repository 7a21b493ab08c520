package sim

import "strings"

// A thread that waits in a loop for what another one writes must let that one
// run. Conditions of loops in which volatile or atomic things, fences or sleeps
// occur are made to pass through gocuda::again or, where the loop has nothing
// else in it, gocuda::spin (include/sim/spin.h).

// loops finds the loops that may wait and changes their conditions.
func (s *scanned) loops(toks []token) {
	names := waitingNames(toks)
	if len(names) == 0 {
		return
	}
	waits := func(toks []token) bool {
		for _, t := range toks {
			if names[t.text] {
				return true
			}
		}
		return false
	}
	tails := map[int]bool{} // the whiles of do loops
	for i := 0; i+1 < len(toks); i++ {
		switch toks[i].text {
		case "do":
			end := statement(toks, i+1)
			if end+2 >= len(toks) || toks[end+1].text != "while" || toks[end+2].text != "(" {
				continue
			}
			tails[end+1] = true
			if last := closing(toks, end+2); last > end+2 && waits(toks[i:last]) {
				s.through("again", toks[end+2], toks[last])
			}
		case "while":
			if tails[i] || toks[i+1].text != "(" {
				continue
			}
			last := closing(toks, i+1)
			end := statement(toks, last+1)
			if last <= i+2 || end >= len(toks) || !waits(toks[i:end+1]) {
				continue
			}
			s.through(kindOf(toks[last+1:end+1]), toks[i+1], toks[last])
		case "for":
			if toks[i+1].text != "(" {
				continue
			}
			last := closing(toks, i+1)
			parts := semicolons(toks, i+2, last)
			end := statement(toks, last+1)
			if len(parts) != 2 || end >= len(toks) || !waits(toks[i:end+1]) {
				continue
			}
			kind := kindOf(toks[last+1 : end+1])
			if kind == "again" && parts[1]+1 < last {
				continue // it counts
			}
			if parts[0]+1 == parts[1] {
				s.edits = append(s.edits, edit{toks[parts[0]].start, toks[parts[0]].end, "; gocuda::" + kind + "(true)"})
			} else {
				s.edits = append(s.edits, edit{toks[parts[0]].start, toks[parts[0]].end, "; gocuda::" + kind + "(!!("},
					edit{toks[parts[1]].start, toks[parts[1]].end, ")) ;"})
			}
		}
	}
}

// through makes a condition, between parentheses, pass through a function.
func (s *scanned) through(kind string, open, close token) {
	s.edits = append(s.edits, edit{open.start, open.end, "(gocuda::" + kind + "(!!("}, edit{close.start, close.end, ")))"})
}

// kindOf is spin for a loop's body that has nothing in it.
func kindOf(body []token) string {
	for _, t := range body {
		if t.text != ";" && t.text != "{" && t.text != "}" {
			return "again"
		}
	}
	return "spin"
}

// statement is the index of the last token of the statement that begins at i:
// its semicolon, or its closing brace. What follows an if stays with it only up
// to the first of these, which is enough to see what a loop is about.
func statement(toks []token, i int) int {
	for ; i < len(toks); i++ {
		switch toks[i].text {
		case ";":
			return i
		case "{":
			return closing(toks, i)
		case "(", "[":
			i = closing(toks, i)
		}
	}
	return i
}

// semicolons are those between i and end that are in no inner parentheses.
func semicolons(toks []token, i, end int) (at []int) {
	for ; i < end; i++ {
		switch toks[i].text {
		case "(", "[", "{":
			i = closing(toks, i)
		case ";":
			at = append(at, i)
		}
	}
	return at
}

// waitingNames are the names that make a loop look like one that waits: of
// volatile variables, atomic operations, fences and sleeps, and of functions in
// which they occur.
func waitingNames(toks []token) map[string]bool {
	names := map[string]bool{}
	for i, t := range toks {
		switch {
		case t.text == "volatile":
			names[t.text] = true
			if name := declared(toks[i+1:]); name != "" {
				names[name] = true
			}
		case strings.HasPrefix(t.text, "atomic") || strings.HasPrefix(t.text, "__threadfence") || t.text == "__nanosleep" || t.text == "__ldcv":
			names[t.text] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	for i := 1; i < len(toks); i++ {
		if toks[i].text != "{" || toks[i-1].text != ")" && toks[i-1].text != "const" {
			continue
		}
		name := i - 1
		for depth := 0; name > 0; name-- {
			if toks[name].text == ")" {
				depth++
			} else if toks[name].text == "(" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if name--; name < 0 || !isNameToken(toks[name]) {
			continue
		}
		switch toks[name].text {
		case "if", "while", "for", "switch", "do", "return", "sizeof":
			continue
		}
		for _, t := range toks[i:closing(toks, i)] {
			if names[t.text] {
				names[toks[name].text] = true
				break
			}
		}
	}
	return names
}

// declared is the name of a variable whose type's rest the tokens begin with.
func declared(toks []token) string {
	name := ""
	for _, t := range toks {
		switch {
		case isNameToken(t):
			name = t.text
		case t.text == "*" || t.text == "&":
			name = ""
		case t.text == "::" || t.text == "<" || t.text == ">":
		default:
			return name
		}
	}
	return ""
}
