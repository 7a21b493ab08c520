package notebooks

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

var times = flag.Bool("times", false, "print how long each tutorial takes, as it is, on 1, 2, 3, 5 and 8 devices")

// With -times, a table: seconds of wall time and, in brackets, of processor time.
// Beside other work only the second says something.
func TestTimes(t *testing.T) {
	if !*times {
		t.Skip("without -times")
	}
	counts := []int{1, 2, 3, 5, 8}
	fmt.Printf("| notebook | devices: %s | load |\n|---|%s---|\n",
		strings.Trim(strings.ReplaceAll(fmt.Sprint(counts), " ", " | "), "[]"), strings.Repeat("---|", len(counts)))
	for _, name := range names(t) {
		fmt.Printf("| %s ", strings.TrimSuffix(name, ".ipynb"))
		for _, n := range counts {
			begin, used := time.Now(), ofChildren(t)
			if err := run(t, read(t, name), n); err != nil {
				t.Errorf("%s, %d devices: %v", name, n, err)
			}
			fmt.Printf("| %.1f (%.1f) ", time.Since(begin).Seconds(), (ofChildren(t) - used).Seconds())
		}
		load, _ := os.ReadFile("/proc/loadavg")
		fmt.Printf("| %s |\n", strings.Fields(string(load) + " ?")[0])
	}
}

// ofChildren is the processor time of evaluators, ranks and compilers that have ended.
func ofChildren(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
