package main

import (
	"io"
	"os"
	"regexp"

	"golang.org/x/term"
)

// isTerminal says whether w shows its text to a person, at a terminal that
// understands escape sequences.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// plain is text without its colours where w cannot show them, or the user
// wants none.
func plain(w io.Writer, text string) string {
	if isTerminal(w) && os.Getenv("NO_COLOR") == "" {
		return text
	}
	return escapes.ReplaceAllString(text, "")
}
