package kernel

// glob matches the whole text with a pattern as history searches use it: *
// stands for any text, ? for one character, [a-z] for one of a set and [^a-z]
// for one outside it. A bracket that nothing closes stands for itself.
func glob(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	i, j := 0, 0
	star, mark := -1, 0 // the last * seen, and where it began to match
	for j < len(t) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if i < len(p) {
			if n, ok := one(p[i:], t[j]); ok {
				i, j = i+n, j+1
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// one matches a character with the pattern's first element, which is n long.
func one(p []rune, c rune) (n int, ok bool) {
	switch p[0] {
	case '?':
		return 1, true
	case '[':
		if n, ok, closed := set(p, c); closed {
			return n, ok
		}
	}
	return 1, p[0] == c
}

func set(p []rune, c rune) (n int, ok, closed bool) {
	i, negated := 1, false
	if i < len(p) && p[i] == '^' {
		i, negated = i+1, true
	}
	for first := true; i < len(p); first = false {
		if p[i] == ']' && !first {
			return i + 1, ok != negated, true
		}
		low, high := p[i], p[i]
		if i+2 < len(p) && p[i+1] == '-' && p[i+2] != ']' {
			high = p[i+2]
			i += 2
		}
		i++
		ok = ok || low <= c && c <= high
	}
	return 0, false, false
}
