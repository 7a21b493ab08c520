package trace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gocuda/cudaapi/record"
)

// Env is the variable that has a program traced from its start: a file, to which the
// trace goes in Chrome's format, with the rank before its ending if there are several.
// In a notebook, 1 is as %timeline on.
const Env = "GOCUDA_TIMELINE"

// FromEnv begins a trace if Env asks for it.
func FromEnv() error {
	if v := os.Getenv(Env); v == "" || v == "0" {
		return nil
	}
	return Start()
}

// Conclude ends the trace of a program that Env asked for: its table goes to w, and the
// trace to the file.
func Conclude(w io.Writer) error {
	if !On() {
		return nil
	}
	t, err := Stop()
	if err != nil {
		return err
	}
	t = Merge(t)
	fmt.Fprintln(w, t)
	path := os.Getenv(Env)
	if path == "1" {
		return nil
	}
	if p := record.Place(); p.Size > 1 {
		ext := filepath.Ext(path)
		path = fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ext), p.Rank, ext)
	}
	return t.Save(path)
}
