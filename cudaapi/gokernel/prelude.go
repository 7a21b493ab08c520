package gokernel

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Of what stands before functions for the host, only what they use is written: the
// compiler takes twice as long to read all of it as it takes for a short function.

// piece is a declaration of the header.
type piece struct {
	text  string
	names []string // what it declares
	needs []string // of an operator, and what specializes a template: the types that it is for
	uses  []string // the words in it
}

var (
	word = regexp.MustCompile(`[A-Za-z_]\w*`)
	// declares finds the names that a line begins to declare.
	declares = []*regexp.Regexp{
		regexp.MustCompile(`^(?:template .*?)?(?:struct|enum) (\w+)`),
		regexp.MustCompile(`^#define (\w+)`),
		regexp.MustCompile(`^(?:static|template|GO_FUNC)[^{;=]*?(\w+) ?\(`),
		regexp.MustCompile(`^static [^({]*?(\w+)(?: = [^;]*)?;`),
		regexp.MustCompile(`^static [^{;=]*\(\*(\w+)\)`),
	}
	typedefs      = regexp.MustCompile(`typedef [^;]*?(\w+);`)
	operatorTypes = []string{"string", "complex", "c64", "c128", "slice", "array"}
)

// prelude cuts the header for the host into declarations.
var prelude = sync.OnceValue(func() (list []*piece) {
	var text strings.Builder
	depth := 0
	for _, line := range strings.SplitAfter(header("host", "values", "calls", "memory", "numbers", "math"), "\n") {
		code, _, _ := strings.Cut(line, "//")
		if strings.TrimSpace(code) == "" && depth == 0 && text.Len() == 0 {
			continue
		}
		text.WriteString(line)
		switch code = strings.TrimSpace(code); {
		case code == "namespace go {":
		case strings.HasPrefix(code, "#") || strings.HasSuffix(code, "\\"):
		default:
			depth += strings.Count(code, "{") - strings.Count(code, "}")
		}
		if depth > 0 || strings.HasSuffix(code, "\\") {
			continue
		}
		list = append(list, newPiece(text.String()))
		text.Reset()
	}
	return list
})

func newPiece(text string) *piece {
	p := &piece{text: text, uses: word.FindAllString(text, -1)}
	signature, _, _ := strings.Cut(text, "{")
	switch {
	case strings.HasPrefix(text, "#if") || strings.HasPrefix(text, "#pragma") || strings.HasPrefix(text, "#endif"), strings.HasPrefix(text, "namespace"), strings.HasPrefix(text, "extern"):
		p.needs = []string{}
	case strings.Contains(signature, "operator") && !strings.HasPrefix(text, "template <class T> struct") && !strings.HasPrefix(text, "struct"):
		p.needs = typesIn(signature)
	case strings.HasPrefix(text, "template <> struct"), strings.HasPrefix(text, "template <class T> struct array<T, 0>"):
		p.needs = append(typesIn(signature), word.FindString(signature[strings.Index(signature, "struct ")+7:]))
	default:
		for _, line := range strings.Split(text, "\n") {
			for _, re := range declares {
				for _, m := range re.FindAllStringSubmatch(line, -1) {
					p.names = append(p.names, m[1])
				}
			}
		}
		if strings.HasPrefix(text, "typedef ") {
			for _, m := range typedefs.FindAllStringSubmatch(text, -1) {
				p.names = append(p.names, m[1])
			}
		}
		if m, ok := strings.CutPrefix(text, "GO_MATH("); ok {
			p.names = []string{"math_" + word.FindString(m)}
		}
		if strings.HasPrefix(text, "GO_FROM_FLOAT(") {
			p.needs = []string{"converter"}
		}
		if strings.HasPrefix(text, "enum ") || len(p.names) == 0 && p.needs == nil {
			p.needs = []string{}
		}
	}
	return p
}

func typesIn(text string) []string {
	list := []string{}
	for _, w := range word.FindAllString(text, -1) {
		if slices.Contains(operatorTypes, w) {
			list = append(list, w)
		}
	}
	return list
}

// preludeOf is what of the header some code uses.
func preludeOf(code ...string) string {
	used := make(map[string]bool)
	for _, text := range code {
		for _, w := range word.FindAllString(text, -1) {
			used[w] = true
		}
	}
	all := prelude()
	added := make([]bool, len(all))
	for again := true; again; {
		again = false
		for i, p := range all {
			wanted := slices.ContainsFunc(p.names, func(n string) bool { return used[n] })
			if p.needs != nil {
				wanted = wanted || !slices.ContainsFunc(p.needs, func(n string) bool { return !used[n] })
			}
			if added[i] || !wanted {
				continue
			}
			added[i], again = true, true
			for _, w := range p.uses {
				used[w] = true
			}
		}
	}
	var out strings.Builder
	for i, p := range all {
		if added[i] {
			out.WriteString(p.text)
		}
	}
	return out.String()
}
