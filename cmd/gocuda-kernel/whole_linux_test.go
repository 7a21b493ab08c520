package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocuda/install"
	"gocuda/kernel/notebook"
	"gocuda/kernel/wire"
)

// writers write a file again and again, its size and content change each time.
// Each tells whether what lies there is whole.
var writers = map[string]struct {
	write func(dir string, round int) error
	whole func(dir string) error
}{
	"notebook": {
		func(dir string, round int) error {
			source, err := json.Marshal(strings.Repeat("x", 1+round%7*100_000))
			if err != nil {
				return err
			}
			nb, err := notebook.Parse(fmt.Appendf(nil, `{"cells":[{"cell_type":"markdown","metadata":{},"source":%s}],"metadata":{},"nbformat":4,"nbformat_minor":4}`, source))
			if err != nil {
				return err
			}
			return nb.WriteFile(filepath.Join(dir, "n.ipynb"))
		},
		func(dir string) error {
			_, err := notebook.ReadFile(filepath.Join(dir, "n.ipynb"))
			return err
		},
	},
	"kernelspec": {
		func(dir string, round int) error {
			_, err := install.Install(install.Options{Root: dir, Name: "gocuda", DisplayName: strings.Repeat("x", round%9), Executable: "/x"})
			return err
		},
		func(dir string) error {
			found := install.Find([]string{dir}, "gocuda")
			if len(found) != 1 {
				return fmt.Errorf("found %v", found)
			}
			for _, name := range []string{"kernel.json", "logo-32x32.png", "logo-64x64.png"} {
				if info, err := os.Stat(filepath.Join(found[0], name)); err != nil || info.Size() == 0 {
					return fmt.Errorf("%s: %v", name, err)
				}
			}
			_, err := install.Read(found[0])
			return err
		},
	},
	"connection": {
		func(dir string, round int) error {
			return wire.Connection{Transport: "tcp", IP: "127.0.0.1", SignatureScheme: "hmac-sha256", Key: strings.Repeat("k", round%1000)}.Write(filepath.Join(dir, "c.json"))
		},
		func(dir string) error {
			_, err := wire.ReadConnection(filepath.Join(dir, "c.json"))
			return err
		},
	},
}

// playWriter writes until it is killed.
func playWriter(name, dir string) {
	for round := 0; ; round++ {
		if err := writers[name].write(dir, round); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// The writer is killed, again and again: the old or the new is there, whole. So
// it is for those who read meanwhile.
func TestAKilledWriterLeavesTheOldOrTheNew(t *testing.T) {
	for name, w := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := w.write(dir, 1); err != nil {
				t.Fatal(err)
			}
			for range 8 {
				cmd := gocudaKernel(t)
				cmd.Env = append(cmd.Env, "GOCUDA_TEST_WRITE="+name, "GOCUDA_TEST_DIR="+dir)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
					if err := w.whole(dir); err != nil {
						t.Fatalf("while it is written: %v", err)
					}
				}
				cmd.Process.Kill()
				cmd.Wait()
				if err := w.whole(dir); err != nil {
					t.Fatalf("after a kill: %v", err)
				}
			}
		})
	}
}

// The disk is full: what was there stays, and the command says so.
func TestAFullDiskLeavesTheOld(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(t.TempDir(), "gocuda-kernel") // go test's own place is no place to install
	if out, err := exec.Command("cp", binary, self).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	// A namespace of its own, in which a small disk can be mounted.
	private := func(script string) *exec.Cmd {
		cmd := gocudaKernel(t)
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `exec unshare --user --map-root-user --mount sh -euc "$0"`, script}
		cmd.Env = append(cmd.Env, "DISK="+t.TempDir(), "SELF="+self, "HOME=/nowhere")
		return cmd
	}
	if out, err := private(`mount -t tmpfs -o size=300k tmpfs "$DISK"`).CombinedOutput(); err != nil {
		t.Skipf("no disk can be mounted here: %s", out)
	}
	status, out, errs := run(t, private(`
mount -t tmpfs -o size=300k tmpfs "$DISK"
cd "$DISK"
echo '{"cells":[{"cell_type":"code","metadata":{},"source":"strings.Repeat(\"x\", 400_000)","outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":4}' >n.ipynb
cp n.ipynb old
"$SELF" install --prefix "$DISK" >&2
cp -r share old-share
cp -r etc old-etc
cat /dev/zero >big || true
if GOCUDA_HISTORY="$DISK/history" "$SELF" run --inplace n.ipynb >&2; then echo "run did not fail"; fi
if "$SELF" install --prefix "$DISK" --name other >&2; then echo "install did not fail"; fi
"$SELF" install --prefix "$DISK" >&2 && echo "install again did not fail"
cmp n.ipynb old && diff -r share old-share && diff -r etc old-etc && find . -name '.gocuda-*' -o -name '*.new' -o -name '.n.ipynb*' | grep . || echo whole
`))
	if status != 0 || out != "whole\n" || strings.Count(errs, "no space left") < 3 {
		t.Errorf("status %d, %q, %s", status, out, errs)
	}
}
