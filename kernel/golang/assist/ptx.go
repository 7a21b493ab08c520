package assist

import (
	"regexp"
	"slices"
	"strings"
)

// ptxNames are what PTX has besides the names of the cell: "PTX ISA", directives and special
// registers.
var ptxNames = []string{
	".version", ".target", ".address_size", ".visible", ".entry", ".func", ".param", ".reg", ".global", ".const", ".shared", ".local", ".align", ".extern", ".maxntid", ".reqntid",
	"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
	"%laneid", "%warpid", "%smid", "%clock", "%clock64", "%globaltimer", "%lanemask_lt", "%dynamic_smem_size",
}

var (
	ptxWord    = regexp.MustCompile(`[%.$]?[A-Za-z_$][\w$.]*`)
	ptxTyped   = regexp.MustCompile(`[%.$]?[\w$.]*$`)
	ptxComment = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/`)
)

// completePTX completes in a %%ptx cell: PTX's names, and registers, labels and instructions
// that stand in the cell.
func completePTX(code string, cursor int) Completion {
	start := cursor - len(ptxTyped.FindString(code[:cursor]))
	c := Completion{Start: start, End: cursor, Matches: []Match{}}
	line := code[strings.LastIndexByte(code[:cursor], '\n')+1 : cursor]
	prefix := code[start:cursor]
	if prefix == "" || strings.Contains(line, "//") || prefix[0] >= '0' && prefix[0] <= '9' {
		return c
	}
	_, body, _ := strings.Cut(code[:start]+" "+code[cursor:], "\n") // without the word that is being typed
	words := append(ptxWord.FindAllString(ptxComment.ReplaceAllString(body, " "), -1), ptxNames...)
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		if strings.HasPrefix(w, prefix) {
			c.Matches = append(c.Matches, Match{Text: w, Kind: "variable"})
		}
	}
	return c
}
