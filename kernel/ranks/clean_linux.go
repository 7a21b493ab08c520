package ranks

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What a lost job leaves: on the hosts that are cut off, launchers' daemons with
// nobody to tell them; everywhere, files of MPI libraries whose processes were
// killed. It is taken away by those who know what it is.

// sharedMemory is where MPI libraries share memory among the ranks of a host.
const sharedMemory = "/dev/shm/"

// mapped lists the files of shared memory that a process has.
func mapped(pid int) (files []string) {
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	for line := range strings.Lines(string(maps)) {
		if i := strings.Index(line, sharedMemory); i >= 0 {
			if name := strings.TrimSpace(line[i:]); !strings.HasSuffix(name, " (deleted)") && !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return files
}

// daemons are what launchers run on other hosts than their own.
var daemons = []string{"orted", "prted", "hydra_pmi_proxy"}

// bringers are the processes that brought this one to its host: the launcher's
// daemons above it, and the ssh session above these.
func bringers() (pids []int) {
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		session := len(pids) > 0 && bytes.HasPrefix(words, []byte("sshd: ")) && bytes.Contains(words, []byte("@notty"))
		if !slices.Contains(daemons, filepath.Base(exe)) && !session {
			break
		}
		pids = append(pids, pid)
	}
	return pids
}

func parentOf(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 1 {
		parent, _ := strconv.Atoi(fields[1])
		return parent
	}
	return 0
}

// removal is a shell command that takes files and folders away. MPICH's daemon has a
// file whose name nobody knows: it goes if there is no such daemon of this user.
func removal(files []string) string {
	text := "rm -rf"
	for _, f := range files {
		text += " " + quoted(f)
	}
	return text + `; pgrep -u "$(id -u)" -x hydra_pmi_proxy >/dev/null || rm -f /tmp/hydra_hwloc_xmlfile_* 2>/dev/null`
}

// abandon ends what brought this process here, and takes its files away, after the
// notebook was lost. It goes on when this process has ended, with the daemons.
func abandon(files []string) {
	text := ""
	for i, signal := range []string{"TERM", "KILL"} {
		for _, pid := range bringers() {
			text += fmt.Sprintf("kill -%s %d; ", signal, pid)
		}
		if i == 0 {
			text += "sleep 1; "
		}
	}
	cmd := exec.Command("/bin/sh", "-c", text+removal(files))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Start() //nolint:errcheck // then it stays
}

// endAll ends the processes of this host that have a variable of the environment:
// a launcher, and what it left when it was killed.
func endAll(variable string) {
	for range 3 { // they may start others meanwhile
		found := false
		folders, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range folders {
			env, _ := os.ReadFile(path)
			if slices.Contains(strings.Split(string(env), "\x00"), variable) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				syscall.Kill(pid, syscall.SIGKILL)
				found = true
			}
		}
		if !found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
