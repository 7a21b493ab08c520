// Package label marks what ranks say with the ranks that said it.
package label

import (
	"strconv"
	"strings"
)

// Set writes sorted ranks as %%mpi takes them: "0-2,5".
func Set(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, strconv.Itoa(ranks[i])+"-"+strconv.Itoa(ranks[j]))
		} else {
			parts = append(parts, strconv.Itoa(ranks[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// Of is the mark of what ranks say, such as "[0-3]".
func Of(ranks []int) string { return "[" + Set(ranks) + "]" }

// Text puts a mark before text: on a line of its own if the text has several.
func Text(text, mark string) string {
	if strings.Contains(strings.TrimRight(text, "\n"), "\n") {
		return mark + "\n" + text
	}
	return mark + " " + text
}
