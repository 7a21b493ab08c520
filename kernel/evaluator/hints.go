package evaluator

import (
	"regexp"
	"strings"
)

// hints say what to do about mistakes in calls of package cuda that who comes from other
// languages makes. $1 is the first part of the mistake in parentheses.
var hints = []struct {
	mistake *regexp.Regexp
	hint    string
}{
	{regexp.MustCompile(`^cannot use (\w+) \(.*\) as cuda\.GridDim value`), "write cuda.Grid($1)"},
	{regexp.MustCompile(`^cannot use (\w+) \(.*\) as cuda\.BlockDim value`), "write cuda.Block($1)"},
	{regexp.MustCompile(`as \*cuda\.Stream value in argument to .*\.(?:Launch|Prepare)$`), "the third argument is the stream: nil for the default one"},
	{regexp.MustCompile(`cannot call (\w+) \(variable of type \*cuda\.Kernel\)`), "$1.Launch(cuda.Grid(blocks), cuda.Block(threads), stream, arguments...) launches it"},
	{regexp.MustCompile(`cannot (?:index|range over|slice) (\w+) \(variable of type \*cuda\.Buffer\)`), "it is memory of a device: $1.Float32s() and the like copy it to a slice, $1.Slice(i, j) is a part of it"},
	{regexp.MustCompile(`^invalid copy: .* have (\w+) \(variable of type \*cuda\.Buffer\)`), "$1.Upload(slice) and $1.Download(slice) copy"},
	{regexp.MustCompile(`^cannot convert (\w+) \(.*\) to type cuda\.Device$`), "cuda.Get($1) gives a device"},
}

// elementType matches what stands for an element type where a buffer is made.
var elementType = regexp.MustCompile(`^(float|int|uint|complex)(\d+)\)`)

func hintFor(mistake, source string) string {
	for _, h := range hints {
		if at := h.mistake.FindStringSubmatchIndex(mistake); at != nil {
			return string(h.mistake.ExpandString(nil, h.hint, mistake, at))
		}
	}
	if m := elementType.FindStringSubmatch(source); m != nil && strings.HasSuffix(mistake, " (type) is not an expression") {
		return "a buffer's element type is cuda." + strings.ToUpper(m[1][:1]) + m[1][1:] + m[2]
	}
	return ""
}
