package rt

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// reserve is what part of all memory nothing may have: the system is slow without it, or
// ends processes.
const reserve = 32

// available is how many bytes the process can still have: of the machine, of its cgroup
// and of its address space.
func available() int {
	m := memory()
	return max(m.free-m.total/reserve, 0)
}

// memoryState is what there is and what is left of it.
type memoryState struct{ total, free int }

func memory() memoryState {
	const unknown = 1 << 62
	m := memoryState{unknown, unknown}
	limit := func(total, used int) {
		m.total, m.free = min(m.total, total), min(m.free, total-used)
	}
	if info := fields("/proc/meminfo"); info["MemTotal"] > 0 {
		total := (info["MemTotal"] + info["SwapTotal"]) << 10
		limit(total, total-(info["MemAvailable"]+info["SwapFree"])<<10)
	}
	for _, dir := range cgroups() {
		if most, ok := number(dir + "/memory.max"); ok {
			used, _ := number(dir + "/memory.current")
			limit(most, used-fields(dir + "/memory.stat")["inactive_file"])
		}
	}
	if most := addressSpace(); most > 0 {
		if text, err := os.ReadFile("/proc/self/statm"); err == nil {
			var pages int
			fmt.Sscan(string(text), &pages)
			limit(most, pages*os.Getpagesize())
		}
	}
	return m
}

// cgroups are the folders of the process's cgroups, in cgroups' second version.
func cgroups() (list []string) {
	const root = "/sys/fs/cgroup"
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			for p = path.Clean("/" + p); p != "/"; p = path.Dir(p) {
				list = append(list, root+p)
			}
		}
	}
	return append(list, root) // in a container, its own limits are here
}

// fields are the numbers in a file of lines with a name and a number.
func fields(file string) map[string]int {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	m := make(map[string]int)
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if f := strings.Fields(s.Text()); len(f) > 1 {
			m[strings.TrimSuffix(f[0], ":")], _ = strconv.Atoi(f[1])
		}
	}
	return m
}

// number is the number in a file; ok is false for "max".
func number(file string) (n int, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil
}

// Exhausted says whether this process has used up the memory that there is. It collects
// garbage before it says so.
func Exhausted() bool {
	used := func() int {
		s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		metrics.Read(s)
		return int(s[0].Value.Uint64() - s[1].Value.Uint64())
	}
	if used() < large {
		return false
	}
	short := func() bool {
		m := memory()
		return m.free < m.total/reserve && used() > m.total/4
	}
	if !short() {
		return false
	}
	debug.FreeOSMemory()
	return short()
}
