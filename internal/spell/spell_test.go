package spell

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name, names, want string
		limit             int
	}{
		{"Prinln", "Print Println Printf", "Println", 2},
		{"teh", "the tea ten", "tea ten the", 1},
		{"PRINT", "print", "print", 0},
		{"lod", "load ls cd", "load", 1},
		{"abc", "xyz", "", 2},
		{"x", "", "", 3},
		{"lne", "len line lines", "line len", 1},
		{"a", "a a b", "a", 1},
	} {
		if got := Nearest(c.name, strings.Fields(c.names), c.limit); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s of %s: %q, want %q", c.name, c.names, got, c.want)
		}
	}
}
