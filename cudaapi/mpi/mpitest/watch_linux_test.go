package mpitest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const envWatched = "GOCUDA_MPITEST_WATCHED"

// TestWatch: a process that hangs is found out, and one that was stopped for
// longer than a case may take is not.
func TestWatch(t *testing.T) {
	if os.Getenv(envWatched) != "" {
		stop := watch(10*time.Millisecond, 50, func() {
			fmt.Println("hangs")
			os.Exit(0)
		})
		if os.Getenv(envWatched) == "hang" {
			time.Sleep(time.Hour)
		}
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(20 * time.Millisecond)
		stop()
		fmt.Println("over")
		os.Exit(0)
	}
	for what, want := range map[string]string{"hang": "hangs", "frozen": "over"} {
		c := exec.Command(os.Args[0], "-test.run=^TestWatch$")
		c.Env = append(os.Environ(), envWatched+"="+what)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stderr = c.Stdout
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if what == "frozen" {
			for stat := ""; !strings.Contains(stat, ") T "); time.Sleep(time.Millisecond) {
				b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
				if stat = string(b); err != nil || strings.Contains(stat, ") Z ") {
					t.Fatalf("it does not stop: %q, %v", stat, err)
				}
			}
			time.Sleep(1200 * time.Millisecond)
			c.Process.Signal(syscall.SIGCONT)
		}
		rest, _ := io.ReadAll(out)
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
		if got := strings.TrimSpace(string(rest)); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
}
