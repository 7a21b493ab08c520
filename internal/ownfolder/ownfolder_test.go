//go:build unix

package ownfolder_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gocuda/internal/ownfolder"
)

const stranger = 65534

// Each case readies a folder under a sticky one, as /tmp is, and says what is
// refused about it.
func TestMake(t *testing.T) {
	ok := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	mkdir := func(p string, mode os.FileMode) {
		ok(os.Mkdir(p, 0o700))
		ok(os.Chmod(p, mode))
	}
	for _, c := range []struct {
		name    string
		root    bool // needs root
		ready   func(dir string)
		refused string
		mode    os.FileMode // afterwards
	}{
		{name: "missing", ready: func(string) {}, mode: 0o700},
		{name: "there", ready: func(d string) { mkdir(d, 0o755) }, mode: 0o755},
		{name: "open to all", ready: func(d string) { mkdir(d, 0o777) }, mode: 0o755},
		{name: "sticky", ready: func(d string) { mkdir(d, 0o777|os.ModeSticky) }, refused: "others may write"},
		{name: "a file", ready: func(d string) { ok(os.WriteFile(d, nil, 0o600)) }, refused: "not a folder"},
		{name: "my link", ready: func(d string) { mkdir(d+"2", 0o700); ok(os.Symlink(d+"2", d)) }, mode: 0o700},
		{name: "my link up", ready: func(d string) {
			mkdir(d+"2", 0o700)
			ok(os.Symlink("./x/../"+filepath.Base(d)+"2", d))
			mkdir(filepath.Dir(d)+"/x", 0o700)
		}, mode: 0o700},
		{name: "a circle", ready: func(d string) { ok(os.Symlink(d, d)) }, refused: "too many"},
		{name: "a stranger's", root: true, ready: func(d string) { mkdir(d, 0o700); ok(os.Chown(d, stranger, stranger)) }, refused: "another user"},
		{name: "a stranger's link", root: true, ready: func(d string) {
			mkdir(d+"2", 0o700)
			ok(os.Symlink(d+"2", d))
			ok(os.Lchown(d, stranger, stranger))
		}, refused: "another user"},
		{name: "my link to a stranger's", root: true, ready: func(d string) {
			mkdir(d+"2", 0o755)
			ok(os.Chown(d+"2", stranger, stranger))
			ok(os.Symlink(d+"2", d))
		}, refused: "another user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.root && os.Geteuid() != 0 {
				t.Skip("only root gives files away")
			}
			shared := filepath.Join(t.TempDir(), "tmp")
			mkdir(shared, 0o777|os.ModeSticky)
			dir := filepath.Join(shared, "gocuda")
			c.ready(dir)
			err := ownfolder.Make(filepath.Join(dir, "kernels"))
			if c.refused == "" || c.name == "sticky" {
				err = ownfolder.Make(dir)
			}
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("got %v, want %q", err, c.refused)
				}
				return
			}
			ok(err)
			info, err := os.Stat(dir)
			ok(err)
			if info.Mode().Perm() != c.mode {
				t.Errorf("mode %v, want %v", info.Mode(), c.mode)
			}
		})
	}
}

// A folder that others may write in is none to make one's own in: they could
// rename it.
func TestAboveOpenToAll(t *testing.T) {
	above := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(above, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(above, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ownfolder.Make(filepath.Join(above, "mine")); err == nil || !strings.Contains(err.Error(), "others may write in "+above) {
		t.Fatal(err)
	}
}

// Read does not wait for a pipe in a file's place.
func TestReadDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ownfolder.Write(file, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if b, err := ownfolder.Read(file); string(b) != "text" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	for _, name := range []string{pipe, "/dev/zero", dir} {
		if b, err := ownfolder.Read(name); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

// Write replaces a link, and leaves alone what it leads to.
func TestWriteDoesNotFollow(t *testing.T) {
	dir := t.TempDir()
	other, file := filepath.Join(dir, "other"), filepath.Join(dir, "file")
	if err := os.WriteFile(other, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, file); err != nil {
		t.Fatal(err)
	}
	if err := ownfolder.Write(file, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != "theirs" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	if err != nil || len(left) != 0 {
		t.Error(left, err)
	}
}
