package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/sim"
)

// The programs in testdata/check say which of their lines a hazard is between: two
// end in the same number behind //!. No others are reported.
func TestCheckOfPrograms(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	files, err := filepath.Glob("testdata/check/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			at := map[string]string{}
			for i, line := range strings.Split(string(code), "\n") {
				_, numbers, _ := strings.Cut(line, "//!")
				for _, n := range strings.Fields(numbers) {
					place := fmt.Sprintf("%s:%d", filepath.Base(file), i+1)
					if at[n] == "" {
						at[n] = place
					} else {
						want = append(want, pair(at[n], place))
					}
				}
			}
			folder := t.TempDir()
			cmd := gocudaKernel(t, "exec", file)
			cmd.Env = append(cmd.Env, hazard.Env+"="+folder)
			status, out, errs := run(t, cmd)
			if status != min(len(want), 1) {
				t.Errorf("exit status %d\n%s%s", status, out, errs)
			}
			_, list, err := hazard.Read(folder)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range list {
				got = append(got, pair(r.First.Place, r.Second.Place))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("hazards between %q, want %q\n%s", got, want, errs)
			}
		})
	}
}

// pair is two places in any order.
func pair(a, b string) string {
	if b < a {
		a, b = b, a
	}
	return a + " " + b
}
