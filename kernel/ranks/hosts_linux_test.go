package ranks

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gocuda/kernel/session"
)

// hostsVariable has the path of gocuda-kernel for tests that need several hosts:
// make test-hosts sets it. Their hosts are namespaces of this machine.
const hostsVariable = "GOCUDA_TEST_HOSTS"

// hosts are h1 and h2. gocuda-kernel is on h1 only.
type hosts struct {
	*testing.T
	dir, script string
	libraries   []string // names of folders in build/mpi
	build       string
}

// What the tests of hosts do beyond what is quick: go test ./kernel/ranks -run
// TestHosts -every -rounds 20.
var (
	every  = flag.Bool("every", false, "take every MPI library of build/mpi, and all tutorials under each")
	rounds = flag.Int("rounds", 1, "lose a host so many times in each way")
)

const kernelOnH1 = "/tmp/gocuda/gocuda-kernel"

func makeHosts(t *testing.T) *hosts {
	t.Helper()
	kernel := os.Getenv(hostsVariable)
	if kernel == "" {
		t.Skip("left out: " + hostsVariable + " is not set (make test-hosts sets it)")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	h := &hosts{T: t, dir: filepath.Join(t.TempDir(), "net"), script: filepath.Join(root, "scripts/hosts.sh"), build: filepath.Join(root, "build/mpi")}
	if out, err := exec.Command(h.script, "can").CombinedOutput(); err != nil {
		t.Skipf("left out: hosts cannot be made: %s", out)
	}
	for _, pattern := range []string{"openmpi-5*", "mpich-5*", "openmpi-4*", "mpich-4*"} {
		if found, _ := filepath.Glob(filepath.Join(h.build, pattern)); len(found) > 0 && (*every || len(h.libraries) < 2) {
			h.libraries = append(h.libraries, filepath.Base(found[0]))
		}
	}
	if len(h.libraries) == 0 {
		t.Skip("left out: no MPI library in build/mpi (make mpi-libs)")
	}
	h.do("up", "2", root)
	t.Cleanup(func() { h.do("down") })
	f, err := os.Open(kernel)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command(h.script, "in", h.dir, "h1", "sh", "-c", "mkdir /tmp/gocuda; cat >"+kernelOnH1+"; chmod +x "+kernelOnH1)
	cmd.Stdin = f
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	return h
}

// do calls the script.
func (h *hosts) do(command string, arguments ...string) string {
	h.Helper()
	cmd := exec.Command(h.script, append([]string{command, h.dir}, arguments...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		h.Fatalf("hosts.sh %s %v: %v\n%s%s", command, arguments, err, out, said.Bytes())
	}
	return string(out)
}

// command is what runs gocuda-kernel on h1 with an MPI library.
func (h *hosts) command(library string, arguments ...string) []string {
	path := filepath.Join(h.build, library, "bin") + ":/usr/sbin:/usr/bin:/sbin:/bin"
	return append([]string{h.script, "in", h.dir, "h1", "env", "PATH=" + path, "GOCUDA_BACKEND=sim", kernelOnH1}, arguments...)
}

// open starts a notebook on h1.
func (h *hosts) open(t *testing.T, library string) *book {
	t.Helper()
	return openWith(t, session.Options{Command: h.command(library, "evaluate")})
}

// left waits until hosts are as they were: no process and no file is left, but for
// the program on the disks and what the C++ compiler made.
func (h *hosts) left(names ...string) {
	h.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var left []string
		for _, host := range names {
			for line := range strings.Lines(h.do("ps", host) + h.do("left", host)) {
				if !strings.HasPrefix(line, "/tmp/gocuda") && !strings.HasPrefix(line, "/root/.cache") {
					left = append(left, host+": "+strings.TrimSpace(line))
				}
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Since(begun) > patience/4 {
			h.Errorf("this is left:\n%s", strings.Join(left, "\n"))
			return
		}
	}
}

// together tells whether the last timeline has all ranks in one call at one time, on
// clocks that were compared.
const together = `
begin, end, n := time.Duration(0), time.Duration(math.MaxInt64), 0
last := must(timeline.Last())
for _, b := range last.Boxes {
	begin, end, n = max(begin, b.Begin), min(end, b.End), n+1
}
note := strings.Join(last.Notes, " ")
if n != 4 || begin > end || !strings.Contains(note, "2 machines: their clocks agree within") {
	fmt.Println(n, begin, end, note, last.Boxes)
}
n == 4 && begin <= end && strings.Contains(note, "2 machines: their clocks agree within")`

func TestHosts(t *testing.T) {
	t.Parallel()
	h := makeHosts(t)
	for _, library := range h.libraries {
		b := h.open(t, library)
		b.ok("%mpi start --hosts h1:2,h2:2", "4 ranks are running")
		b.ok("%%mpi\nx := []int{rank}\nmust(world.Allreduce(mpi.InPlace, x, mpi.Sum))\nx[0]", "[0-3] 6")
		b.ok("%%mpi\nmust(os.Hostname())", "[0-1] \"h1\"", "[2-3] \"h2\"")
		b.ok("%%mpi\nfmt.Sprint(must(cuda.CurrentDevice()))[:8]", `[0,2] "device 0"`, `[1,3] "device 1"`)
		b.ok("%%timeline\n%%mpi\nworld.Barrier()")
		b.ok(together, "true")
		b.ok("%mpi status", "h1    0-1    4", "h2    2-3    4", "10.203.17.2, round trip")
		b.ok("%mpi stop")
		h.left("h2")
		b.Close()
		h.left("h1", "h2")
	}
	if found := h.do("in", "h2", "sh", "-c", "ls /root/.cache/gocuda/bin"); strings.Count(found, "gocuda-kernel-") != 1 {
		t.Errorf("h2 was sent %q", found)
	}
	// What was sent and is no longer whole is sent again.
	h.do("in", "h2", "sh", "-c", "echo x >>/root/.cache/gocuda/bin/gocuda-kernel-*")
	b := h.open(t, h.libraries[len(h.libraries)-1])
	file := h.do("in", "h1", "sh", "-c", "printf 'h1 slots=1\\n# no more\\n\\nh2:2\\n' >/tmp/gocuda/hosts; echo /tmp/gocuda/hosts")
	b.ok("%mpi start --hostfile "+file, "3 ranks are running")
	b.ok("%%mpi\nmust(os.Hostname())", "[0] \"h1\"", "[1-2] \"h2\"")
	b.ok("%mpi stop")
	b.fails("%mpi start --hosts h1:1,nowhere:1", "RanksNotStarted", "host nowhere: ")
	h.do("sshd", "h2", "stop")
	b.fails("%mpi start --hosts h1:1,h2:1", "RanksNotStarted", "host h2: ")
	b.fails("%mpi start --hosts h1:1,h2:1 --launcher local", "UsageError", "the built-in transport is for the processes of one host")
	b.Close()
	h.left("h1", "h2")
}

func TestHostLists(t *testing.T) {
	list, err := parseHosts("a:2,b, a")
	if err != nil || hostList(list) != "a:3,b:1" || total(list) != 4 {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range []string{"", "a:", "a:0", "a:x", ":2", "a,,b", "-x:2"} {
		if list, err := parseHosts(bad); err == nil {
			t.Errorf("%q was read as %v", bad, list)
		}
	}
	file := filepath.Join(t.TempDir(), "hosts")
	for _, test := range []struct{ text, want string }{
		{"a slots=2\nb:3 # comment\n\n# c\na\n", "a:3,b:3"},
		{"a max-slots=4 slots=2\n", "a:2"},
		{"# none\n", "names no host"},
		{"a\nb slots=x\n", "line 2: "},
	} {
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := parseHostfile(file)
		if got := fmt.Sprint(hostList(list), err); !strings.Contains(got, test.want) {
			t.Errorf("%q was read as %s", test.text, got)
		}
	}
}

func TestWithout(t *testing.T) {
	p := &pool{ranks: []*rank{{host: "a.x"}, {host: "b.x"}, {host: "b.x", lost: "gone"}}}
	ssh := startOptions{n: 3, launcher: "mpirun", hosts: []slots{{"a", 1}, {"b", 2}}}
	all := &pool{ranks: []*rank{{host: "a", lost: "mpirun ended", lostAt: time.Unix(2, 0)}, {host: "b", lost: "gone", lostAt: time.Unix(1, 0)}}}
	if o, err := all.without(startOptions{launcher: "mpirun", hosts: []slots{{"a", 1}, {"b", 1}}}, "lost"); err != nil || o.String() != "mpirun --hosts a:1" {
		t.Errorf("where all were ended, the first that was lost goes: %v, %v", o, err)
	}
	for _, test := range []struct {
		o           startOptions
		names, want string
	}{
		{ssh, "lost", "mpirun --hosts a:1"},
		{ssh, "a", "mpirun --hosts b:2"},
		{ssh, "c", "no rank is on c"},
		{ssh, "a,b", "no host would be left"},
		{startOptions{n: 3, launcher: "srun"}, "b", "srun --exclude=b"},
		{startOptions{n: 3, launcher: "mpirun", options: []string{"--host", "a,b"}}, "b", "were not named by --hosts"},
	} {
		o, err := p.without(test.o, test.names)
		if got := o.String(); err == nil && got != test.want || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v without %s: %s, %v", test.o, test.names, got, err)
		}
	}
}

func TestWhatSlurmIsAskedFor(t *testing.T) {
	for _, test := range []struct {
		fields string
		n      int
		ask    []string
	}{
		{"-N 2", 2, []string{"--nodes=2", "--ntasks-per-node=1", "--ntasks=2"}},
		{"-N 2 --gpus-per-node=h100:4 -p gpu", 8, []string{"--nodes=2", "--gpus-per-node=h100:4", "-p", "gpu", "--ntasks-per-node=4", "--ntasks=8"}},
		{"--nodes 2 -n 6 --exclusive", 6, []string{"--nodes=2", "--exclusive", "--ntasks-per-node=3", "--ntasks=6"}},
		{"-N 2 -n 3", 3, []string{"--nodes=2", "--ntasks=3"}},
		{"-N 2 --ntasks-per-node=2", 4, []string{"--nodes=2", "--ntasks-per-node=2", "--ntasks=4"}},
		{"", 1, []string{"--ntasks=1"}},
	} {
		n, ask, err := ofSlurm(0, strings.Fields(test.fields))
		if n != test.n || !slices.Equal(ask, test.ask) || err != nil {
			t.Errorf("%q: %d %q %v", test.fields, n, ask, err)
		}
	}
	if n, ask, err := ofSlurm(4, []string{"-N", "2", "-n", "8"}); n != 4 || ask[2] != "--ntasks=4" || err != nil {
		t.Errorf("what %%mpi start says itself is not stronger: %d %q %v", n, ask, err)
	}
	for _, bad := range []string{"-N", "-N x", "--ntasks-per-node 0"} {
		if _, _, err := ofSlurm(0, strings.Fields(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// Slurm starts the ranks: on an allocation that %mpi start asks for, and, without
// being told, on the one that the notebook is in.
func TestHostsOfSlurm(t *testing.T) {
	t.Parallel()
	h := makeHosts(t)
	for _, command := range []string{"slurmctld", "slurmd", "munged", "srun"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("left out: there is no %s", command)
		}
	}
	h.do("slurm")
	pmix, _ := filepath.Glob("/usr/lib/*/pmix2/lib/libpmix.so.2")
	for _, library := range h.libraries {
		if strings.HasPrefix(library, "openmpi") && len(pmix) == 0 {
			t.Log("left out: Open MPI under Slurm: there is no libpmix2")
			continue
		}
		b := h.open(t, library)
		b.ok("%mpi start --slurm -N 2 --gpus-per-node 2", "4 ranks are running (launcher: srun --slurm")
		b.ok("%%mpi\nx := []int{rank}\nmust(world.Allreduce(mpi.InPlace, x, mpi.Sum))\nx[0]", "[0-3] 6")
		b.ok("%%mpi\nmust(os.Hostname())", "[0-1] \"h1\"", "[2-3] \"h2\"")
		b.ok("%mpi status", "h2    2-3")
		b.ok("%mpi stop")
		h.left("h2")
		if queue := h.do("in", "h1", "squeue", "-h"); queue != "" {
			t.Errorf("an allocation is left: %s", queue)
		}
		b.fails("%mpi start --launcher srun", "UsageError", "ask for one with --slurm -N 2")
		b.Close()

		inside := append([]string{h.script, "in", h.dir, "h1", "salloc", "-Q", "--nodes=2", "--ntasks-per-node=1"}, h.command(library, "evaluate")[4:]...)
		b = openWith(t, session.Options{Command: inside})
		b.ok("%mpi start", "2 ranks are running (launcher: srun;")
		b.ok("%%mpi\nmust(os.Hostname())", "[0] \"h1\"", "[1] \"h2\"")
		b.Close()
		h.left("h1", "h2")
	}
}

// quickTutorials are those with ranks, with parameters by which they are quick.
var quickTutorials = [][]string{
	{"05_mpi", "-p", "samples=50_003"},
	{"06_cuda_aware_mpi", "-p", "samples=50_003", "-p", "largest=65_536"},
	{"09_jacobi", "-p", "n=64", "-p", "iterations=40"},
	{"10_wave_equation", "-p", "intervals=512"},
}

func TestHostsRunTutorials(t *testing.T) {
	t.Parallel()
	h := makeHosts(t)
	for n, library := range h.libraries {
		for i, tutorial := range quickTutorials {
			if !*every && i%2 != n {
				continue
			}
			name, parameters := tutorial[0], tutorial[1:]
			c := h.command(library, append([]string{"run", "-o", "/tmp/gocuda/out.ipynb"}, append(parameters, filepath.Join(h.build, "../../notebooks", name+".ipynb"))...)...)
			begun := time.Now()
			cmd := exec.Command("env", append([]string{startVariable + "=--hosts h1:2,h2:2"}, c...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s under %s: %v\n%s", name, library, err, out)
			}
			t.Log(name, library, time.Since(begun).Round(100*time.Millisecond))
		}
		h.left("h1", "h2")
	}
}

// loss is a way in which h2 is lost.
type loss struct {
	name    string
	lose    func(h *hosts)
	restore func(h *hosts)
}

var losses = []loss{
	{"link cut", func(h *hosts) { h.do("cut", "h2") }, func(h *hosts) { h.do("restore", "h2") }},
	{"processes killed", func(h *hosts) { h.do("kill", "h2") }, func(h *hosts) {}},
	{"sshd killed", func(h *hosts) { h.do("sshd", "h2", "kill") }, func(h *hosts) { h.do("sshd", "h2", "restart") }},
}

// A host that is lost is named, the ranks of others are freed, nothing is left on
// either, and the notebook goes on without it.
func TestHostsLost(t *testing.T) {
	t.Parallel()
	for i, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			t.Parallel()
			h := makeHosts(t)
			var slowest time.Duration
			lost := 0
			for round := range *rounds {
				for k, busy := range []bool{true, false} {
					if took := h.lose(t, loss, busy, h.libraries[(i+k+round)%len(h.libraries)]); took > 0 {
						slowest = max(slowest, took)
						lost++
					}
				}
			}
			t.Logf("%d times, of which %d lost ranks, which were named after at most %v", *rounds*2, lost, slowest)
		})
	}
}

// lose loses h2 once, and says after how long that was named; 0 if no rank was lost.
func (h *hosts) lose(t *testing.T, loss loss, busy bool, library string) time.Duration {
	what := loss.name + map[bool]string{true: ", in a collective", false: ", idle"}[busy] + ", " + library
	b := h.open(t, library)
	defer loss.restore(h)
	defer h.left("h1", "h2")
	defer b.Close()
	b.ok("%mpi start --hosts h1:2,h2:2")
	cell := "fmt.Println(`waits`)\ntime.Sleep(time.Hour)"
	if busy {
		cell = "%%mpi\nfmt.Println(`waits`)\nfor {\n\tmust(world.Barrier())\n\ttime.Sleep(time.Millisecond)\n}"
	}
	end := b.begin(cell)
	b.until("waits\n")
	begun := time.Now()
	loss.lose(h)
	switch {
	case loss.name == "sshd killed" && strings.HasPrefix(library, "mpich"):
		// Hydra needs its sessions no more: nothing is lost.
		b.Interrupt()
		end()
		b.ok("%%mpi\nx := []int{1}\nmust(world.Allreduce(mpi.InPlace, x, mpi.Sum))\nx[0]", "[0-3] 4")
		loss.restore(h)
		b.ok("%mpi stop")
		return 0
	case busy:
		o := end()
		trace := o.trace() + o.stderr
		if o.err == nil || !regexp.MustCompile(`\[[\d,-]*3\] RankLost`).MatchString(trace) || !strings.Contains(trace, "host h2") {
			t.Errorf("%s: the cell ended with\n%s", what, trace)
		}
	default:
		b.until("lost: its ")
		b.Interrupt()
		if o := end(); !strings.Contains(o.stderr, "host h2") {
			t.Errorf("%s: told as %s", what, o.stderr)
		}
	}
	took := time.Since(begun)
	t.Logf("%s: named after %v", what, took.Round(10*time.Millisecond))
	b.ok("%mpi restart --without lost", "2 ranks are running")
	b.ok("%%mpi\nx := []int{1}\nmust(world.Allreduce(mpi.InPlace, x, mpi.Sum))\nx[0], must(os.Hostname())", "[0-1] 2, \"h1\"")
	b.ok("%mpi stop")
	return took
}
