package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A compiler that runs for text that has changed since is ended, with what it started, and
// so is one at the server's end. What is wrong with the Go of the cells does not wait for it.
func TestLSPStopsCompilers(t *testing.T) {
	dir := t.TempDir()
	compiler, ran := filepath.Join(dir, "cxx"), filepath.Join(dir, "ran")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && { echo slow; exit 0; }\nsleep 1000 &\necho $! >> " + ran + "\nwait\n"
	if err := os.WriteFile(compiler, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := gocudaKernel(t, "lsp")
	cmd.Env = append(cmd.Env, "CXX="+compiler, "GOCUDA_BACKEND=sim", "GOCUDA_CACHE="+t.TempDir())
	in, out := startPiped(t, cmd)
	r := bufio.NewReader(out)
	send := func(method, more string) {
		text := fmt.Sprintf(`{"method":"textDocument/%s","params":{"textDocument":{"uri":"a"%s}`, method, more)
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	published := func(want string) {
		t.Helper()
		for said := ""; !strings.HasSuffix(said, want); {
			b, err := r.ReadByte()
			if err != nil {
				t.Fatalf("it ended: %v\n%s", err, said)
			}
			said += string(b)
		}
	}
	// started are the processes of compilers so far; it waits for another one.
	started := func(n int) []string {
		t.Helper()
		for range 6000 {
			if text, _ := os.ReadFile(ran); strings.Count(string(text), "\n") >= n {
				return strings.Fields(string(text))
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("compiler %d was not started", n)
		return nil
	}
	gone := func(process string) {
		t.Helper()
		for range 6000 {
			stat, err := os.ReadFile("/proc/" + process + "/stat")
			if err != nil || strings.Contains(string(stat), ") Z ") {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("process %s of a compiler goes on", process)
	}
	send("didOpen", `,"version":1,"text":"%%cuda\n__global__ void f() {}"}}`)
	published(`"version":1}}`)
	first := started(1)[0]
	send("didChange", `,"version":2},"contentChanges":[{"text":"%%cuda\n__global__ void g() {}"}]}`)
	published(`"version":2}}`)
	gone(first)
	second := started(2)[1]
	in.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	gone(second)
}
