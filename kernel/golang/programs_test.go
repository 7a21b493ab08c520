package golang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs of many small things that users do print what they print when they
// are compiled: testdata/programs/X.want is what go run X.go printed.
func TestProgramsPrintAsCompiled(t *testing.T) {
	names, err := filepath.Glob("testdata/programs/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no programs", err)
	}
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			code, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(name, ".go") + ".want")
			if err != nil {
				t.Fatal(err)
			}
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			os.Stdout = out
			status := RunProgram(Options{Stdout: out, Stderr: out}, []File{{filepath.Base(name), string(code)}}, nil)
			os.Stdout = stdout
			got, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			if status != 0 {
				t.Errorf("exit status %d", status)
			}
			gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
			for i, line := range wantLines {
				if i >= len(gotLines) || gotLines[i] != line {
					t.Fatalf("line %d is\n%s\nand compiled\n%s", i+1, strings.Join(gotLines[min(i, len(gotLines)):], "\n"), line)
				}
			}
			if len(gotLines) != len(wantLines) {
				t.Errorf("%d lines, compiled %d", len(gotLines), len(wantLines))
			}
		})
	}
}
