//go:build linux || darwin

package filelock_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gocuda/cudaapi/internal/filelock"
)

const envPath = "GOCUDA_TEST_LOCK"

func TestMain(m *testing.M) {
	if path := os.Getenv(envPath); path != "" {
		filelock.Hold(path, time.Minute)
		os.Stdout.WriteString("held\n")
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

// Whoever comes second waits for the first, for the time given, or until the
// first dies.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locks", "a")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envPath+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatal(line, err)
	}
	start := time.Now()
	filelock.Hold(path, 100*time.Millisecond)()
	if time.Since(start) < 100*time.Millisecond {
		t.Error("two have had the lock at a time")
	}
	got := make(chan func())
	go func() { got <- filelock.Hold(path, time.Minute) }()
	select {
	case <-got:
		t.Fatal("two have the lock")
	case <-time.After(50 * time.Millisecond):
	}
	cmd.Process.Kill()
	cmd.Wait()
	(<-got)()
	filelock.Hold(path, time.Minute)()
}

// Where there can be no lock, nobody waits.
func TestNoPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	filelock.Hold(filepath.Join(file, "a"), time.Minute)()
}
