package sim

import (
	"slices"

	"gocuda/internal/cpp"
)

// Threads of a GPU that add to one place without an atomic operation lose each
// other's additions: all of a warp read before one writes. Here threads run one
// after another and would lose few. So where accesses are checked, what a
// kernel does to a place that does not look like the thread's own, *count += 1
// or bins[b]++, is done slowly (include/sim/races.h): now and then the others
// run between the read and the write.

// slow wraps the places of a kernel's body that are read, changed and written
// and that other threads may share. It reports whether there are any.
func (s *scanned) slow(toks []token) (found bool) {
	own := ownNames(toks)
	for k := 1; k+1 < len(toks); k++ {
		first, last := -1, k-1
		switch op := toks[k].text; {
		case op == "=" && !operator(toks[k-1]) && toks[k+1].text != "=":
			if first = placeStart(toks, last); first >= 0 && !repeated(toks, first, last) {
				first = -1
			}
		case operator(toks[k]) && toks[k+1].text == "=" && adjacent(toks, k) && !slices.Contains([]string{"=", "!", "<", ">"}, op):
			first = placeStart(toks, last)
		case (op == "+" || op == "-") && toks[k+1].text == op && adjacent(toks, k):
			if end := toks[last].text; end == "]" || end == ")" {
				first = placeStart(toks, last)
			} else if k+2 < len(toks) && !isNameToken(toks[last]) {
				if last = placeEnd(toks, k+2); last >= 0 {
					first = k + 2
				}
			}
		}
		if first < 0 || mine(toks[first:last+1], own) {
			continue
		}
		found = true
		s.edits = append(s.edits, edit{toks[first].start, toks[first].start, "gocuda::slow("}, edit{toks[last].end, toks[last].end, ")"})
	}
	return found
}

func adjacent(toks []token, k int) bool { return toks[k].end == toks[k+1].start }

func operator(t token) bool {
	return slices.Contains([]string{"+", "-", "*", "/", "%", "&", "|", "^", "=", "!", "<", ">"}, t.text)
}

func isNameToken(t token) bool { return cpp.IsName(t.text[0]) }

// placeStart finds where *name, (*name) or name[...] begins that ends at last, or
// gives -1.
func placeStart(toks []token, last int) int {
	i := last
	if i >= 3 && toks[i].text == ")" && isNameToken(toks[i-1]) && toks[i-2].text == "*" && toks[i-3].text == "(" {
		return i - 3
	}
	for i >= 0 && toks[i].text == "]" {
		for depth := 0; i >= 0; i-- {
			if toks[i].text == "]" {
				depth++
			} else if toks[i].text == "[" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		i--
	}
	if i < 1 || !isNameToken(toks[i]) {
		return -1
	}
	if i == last { // no index: only behind a star
		if i--; i < 1 || toks[i].text != "*" {
			return -1
		}
	}
	if slices.Contains([]string{";", "{", "}", ")", "(", ",", ":", "?", "else", "do", "return"}, toks[i-1].text) {
		return i
	}
	return -1
}

// placeEnd finds where *name or name[...] ends that begins at first, or gives
// -1.
func placeEnd(toks []token, first int) int {
	i := first
	if toks[i].text == "*" && i+1 < len(toks) && isNameToken(toks[i+1]) {
		return i + 1
	}
	if !isNameToken(toks[i]) {
		return -1
	}
	for i+1 < len(toks) && toks[i+1].text == "[" {
		depth := 0
		for i++; i < len(toks); i++ {
			if toks[i].text == "[" {
				depth++
			} else if toks[i].text == "]" {
				if depth--; depth == 0 {
					break
				}
			}
		}
	}
	if i == first || i >= len(toks) || i+1 < len(toks) && (toks[i+1].text == "." || toks[i+1].text == "-") {
		return -1
	}
	return i
}

// repeated reports whether what is assigned to a place is made of its value.
func repeated(toks []token, first, last int) bool {
	n := last - first + 1
	for i := last + 2; i+n <= len(toks) && toks[i].text != ";"; i++ {
		if slices.EqualFunc(toks[first:last+1], toks[i:i+n], func(a, b token) bool { return a.text == b.text }) {
			return true
		}
	}
	return false
}

// mine reports whether a place looks like the thread's own: in an array of its
// own, or one that it has found by its index, without division, bits or a look
// into memory on the way.
func mine(place []token, own map[string]bool) bool {
	for i, t := range place {
		if isNameToken(t) && (i == 0 || place[i-1].text == "*") && own[t.text] {
			return true
		}
	}
	depth, found := 0, false
	for _, t := range place {
		switch t.text {
		case "[":
			depth++
		case "]":
			depth--
		case "/", "%", "&", "|", "^", ">", "<":
			return false
		}
		if depth > 1 {
			return false
		}
		found = found || depth == 1 && (own[t.text] || indices[t.text] != "" || t.text == "thread_rank" || t.text == "grid_rank")
	}
	return found
}

// ownNames are the variables of a body that hold the thread's own arrays, or
// are reckoned from its index.
func ownNames(toks []token) map[string]bool {
	own := map[string]bool{}
	statement, shared := 0, false
	for i, t := range toks {
		switch {
		case t.text == ";" || t.text == "{" || t.text == "}":
			statement, shared = i+1, false
		case t.text == "__shared__":
			shared = true
		case t.text == "[" && !shared && i-2 >= statement && isNameToken(toks[i-1]) && isNameToken(toks[i-2]) && toks[i-2].text != "return":
			own[toks[i-1].text] = true // declared here
		case t.text == "=" && i > 0 && i+1 < len(toks) && isNameToken(toks[i-1]) && toks[i+1].text != "=":
			if value := expression(toks[i+1:]); mine(slices.Concat([]token{{text: "["}}, value, []token{{text: "]"}}), own) {
				own[toks[i-1].text] = true
			}
		}
	}
	return own
}

// expression is what of the tokens belongs to the first expression.
func expression(toks []token) []token {
	depth := 0
	for i, t := range toks {
		switch t.text {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		}
		if t.text == ";" || t.text == "," && depth == 0 || depth < 0 {
			return toks[:i]
		}
	}
	return toks
}
