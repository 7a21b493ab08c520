package orphans

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also a process that starts sessions and is killed.
func TestMain(m *testing.M) {
	if os.Getenv("GOCUDA_TEST_STARTER") != "" {
		play()
	}
	os.Exit(m.Run())
}

// play starts a session, loses its guard, starts another session, and ends a
// third one.
func play() {
	var sessions []string
	start := func() int {
		cmd := exec.Command("sh", "-c", "sleep 1000 & (sleep 1000 &); wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		if err := Watch(cmd.Process.Pid); err != nil {
			panic(err)
		}
		sessions = append(sessions, fmt.Sprint(cmd.Process.Pid))
		return cmd.Process.Pid
	}
	start()
	children, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		more, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		children = append(append(children, ' '), more...)
	}
	for _, child := range strings.Fields(string(children)) {
		if line, _ := os.ReadFile("/proc/" + child + "/cmdline"); strings.HasPrefix(string(line), guardName) {
			var pid int
			fmt.Sscan(child, &pid)
			syscall.Kill(pid, syscall.SIGKILL)
			for stat(pid).state != 'Z' && stat(pid).state != 0 {
				time.Sleep(time.Millisecond)
			}
		}
	}
	start()
	ended := start()
	End(ended)
	Forget(ended)
	fmt.Println(strings.Join(sessions, " "))
	select {}
}

// running counts the processes of a session.
func running(session int) (n int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		var pid int
		if fmt.Sscan(e.Name(), &pid); pid > 0 {
			if s := stat(pid); s.session == session && s.state != 'Z' {
				n++
			}
		}
	}
	return n
}

// What was started ends with the starter, though its first guard was killed.
func TestAGuardThatIsKilledIsReplaced(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	starter := exec.Command(self)
	starter.Env = append(os.Environ(), "GOCUDA_TEST_STARTER=1")
	out, err := starter.StdoutPipe()
	if err == nil {
		err = starter.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var first, second, ended int
	line, _ := bufio.NewReader(out).ReadString('\n')
	if n, err := fmt.Sscan(line, &first, &second, &ended); n != 3 {
		t.Fatal(line, err)
	}
	if running(ended) > 0 {
		t.Error("something is left of a session that was ended")
	}
	for _, session := range []int{first, second} {
		if running(session) == 0 {
			t.Errorf("session %d ended too early", session)
		}
	}
	starter.Process.Kill()
	starter.Wait()
	for begun := time.Now(); running(first)+running(second) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			End(first)
			End(second)
			t.Fatal("what was started lives on")
		}
	}
}
