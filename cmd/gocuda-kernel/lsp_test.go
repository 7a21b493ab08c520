package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// The language server knows what cells can use, kernels of %%kernel cells among it.
func TestLSP(t *testing.T) {
	cmd := gocudaKernel(t, "lsp")
	in, out := startPiped(t, cmd)
	for _, text := range []string{
		`{"id":1,"method":"initialize","params":{}}`,
		`{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"a","version":1,"text":"name := input()\n\n\n%%kernel\nfunc k(x []float32) { x[0] = 1 }\n\n\nk.Launch(cuda.Grid(1), cuda.Block(1), nil, unheard)\nfmt.Println(name)"}}}`,
	} {
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	said := ""
	for r := bufio.NewReader(out); !strings.Contains(said, `"version":1}}`); {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("it ended: %v\n%s", err, said)
		}
		said += string(b)
	}
	if strings.Count(said, `"message"`) != 1 || !strings.Contains(said, `"message":"undefined: unheard"`) || !strings.Contains(said, `"line":7`) {
		t.Error(said)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// startPiped starts a command, with pipes to its standard input and from its output.
func startPiped(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}
