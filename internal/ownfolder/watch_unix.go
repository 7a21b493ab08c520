//go:build unix

package ownfolder

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// watcher makes a folder, says which, and removes it once its standard input ends, which
// it does with the process that has the other end. A compiler that lives on may put a file
// there meanwhile.
const watcher = `trap '' HUP INT TERM PIPE
d=$(mktemp -d "$1") || exit
echo "$d"
read x
for i in 1 2 3 4 5 6 7 8 9; do rm -rf "$d"; [ -e "$d" ] || exit; sleep 1; done`

// watched makes a folder whose name begins with prefix; "": that is not possible. It goes
// when this process ends, or when end is called. Another process makes it: this one could
// be killed right after.
func watched(prefix string) (dir string, end func()) {
	none := func() {}
	r, w, err := os.Pipe()
	if err != nil {
		return "", none
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", watcher, "sh", prefix+"XXXXXXXXXX")
	cmd.Stdin, cmd.Dir = r, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a session is killed as a whole
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		w.Close()
		return "", none
	}
	line, _ := bufio.NewReader(said).ReadString('\n')
	end = func() {
		w.Close()
		cmd.Wait() //nolint:errcheck // it has done what it could
	}
	if dir = strings.TrimSuffix(line, "\n"); dir == "" {
		end()
		return "", none
	}
	return dir, end
}
