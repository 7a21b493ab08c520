package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/launch"
)

const envRank = "GOCUDA_MPIBENCH_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(envRank) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestModes: each prints a line for each size.
func TestModes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the built-in transport between processes works on Linux only")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"host", "windows", "device", "allreduce"} {
		t.Run(mode, func(t *testing.T) {
			var out bytes.Buffer
			status, err := launch.Run(t.Context(), 2, []string{self, "-rounds", "1", "-calls", "2", "-max", "300", mode},
				launch.Options{Stdout: &out, Stderr: &out, Plain: true, Grace: time.Second, Env: []string{envRank + "=1", "GOCUDA_SIM_DEVICES=2"}})
			if err != nil || status != 0 {
				t.Fatalf("status %d, %v\n%s", status, err, out.String())
			}
			if mode == "windows" {
				for _, what := range []string{"put-fence-8", "put-flush-8", "accumulate-flush-8", "accumulate-flush-8192"} {
					if !regexp.MustCompile(`(?m)^gocuda ` + what + ` .*[1-9]`).MatchString(out.String()) {
						t.Errorf("nothing about %s:\n%s", what, out.String())
					}
				}
				return
			}
			for _, n := range map[string][]int{"host": {8, 64}, "device": {8, 64}, "allreduce": {4, 64}}[mode] {
				if !regexp.MustCompile(fmt.Sprintf(`(?m)^(gocuda|\|) %d .*[1-9]`, n)).MatchString(out.String()) {
					t.Errorf("nothing about %d bytes:\n%s", n, out.String())
				}
			}
			if !strings.Contains(out.String(), " 300 ") {
				t.Errorf("nothing about the longest:\n%s", out.String())
			}
		})
	}
}
