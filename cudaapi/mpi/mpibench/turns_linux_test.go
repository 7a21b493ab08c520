package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/launch"
)

// TestTurns: a program that takes turns measures when it may, and says so.
func TestTurns(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	pipe := func(name string) *os.File {
		path := filepath.Join(folder, name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	done, ranks := bufio.NewReader(pipe("done")), []*os.File{pipe("other.0"), pipe("other.1")}
	const turns = 3 * 2 // two rounds and the one that warms up, of 8 and of 64 bytes
	go func() {
		for range turns {
			for _, r := range ranks {
				fmt.Fprintln(r)
			}
			if line, err := done.ReadString('\n'); line != "other\n" {
				t.Errorf("%q, %v", line, err)
			}
		}
	}()
	var out bytes.Buffer
	status, err := launch.Run(t.Context(), 2, []string{self, "-rounds", "2", "-calls", "2", "-max", "64", "-turns", filepath.Join(folder, "other"), "host"},
		launch.Options{Stdout: &out, Stderr: &out, Plain: true, Grace: time.Second, Env: []string{envRank + "=1"}})
	if err != nil || status != 0 || !strings.Contains(out.String(), "other 64 ") {
		t.Fatalf("status %d, %v\n%s", status, err, out.String())
	}
}
