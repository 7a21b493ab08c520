//go:build unix

package ownfolder_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocuda/internal/ownfolder"
)

const folderEnv = "GOCUDA_TEST_FOLDER"

// A temporary folder goes when it is removed, and when its process is killed.
func TestTemporary(t *testing.T) {
	if in := os.Getenv(folderEnv); in != "" { // the process that is killed
		dir, _, err := ownfolder.Temporary(in, "x-")
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600)
		os.Stdout.WriteString(dir + "\n")
		time.Sleep(time.Hour)
	}
	in := t.TempDir()
	dir, remove, err := ownfolder.Temporary(in, "x-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	remove()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}

	cmd := exec.Command(os.Args[0], "-test.run=^TestTemporary$")
	cmd.Env = append(os.Environ(), folderEnv+"="+in)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err = bufio.NewReader(out).ReadString('\n')
	if dir = strings.TrimSpace(dir); err != nil || !strings.HasPrefix(dir, in) {
		t.Fatal(dir, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the folder outlives its process")
		}
	}
}
