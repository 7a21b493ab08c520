package main

import (
	"bufio"
	"strings"
	"testing"
)

// TestListening: warnings may come before the line that says where Delve listens.
func TestListening(t *testing.T) {
	const said = "DAP server listening at: 127.0.0.1:4321\n"
	for text, want := range map[string]string{said: "127.0.0.1:4321", "warning: no config\n" + said: "127.0.0.1:4321", "it cannot start\n": ""} {
		got, err := listening(bufio.NewReader(strings.NewReader(text)))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
