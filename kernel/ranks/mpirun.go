package ranks

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"gocuda/internal/ownfolder"
	"gocuda/kernel/session/link"
)

const (
	// How long the ranks may take to report: other hosts may be slow.
	reportTime = 2 * time.Minute
	// How long mpirun may take to end when its ranks have.
	mpirunGrace = 5 * time.Second
	// How long a host that has lost a rank may take to be cleaned.
	cleanTime = 10 * time.Second
	// How much of what mpirun says is kept.
	mpirunWords = 4 << 10
)

// mpirun starts ranks by mpirun, mpiexec or srun.
type mpirun struct {
	path     string
	acceptor *acceptor
	cmd      *exec.Cmd
	out      tail
	end      chan struct{} // closed when it has ended
	hosts    []slots       // to which ssh leads
	folder   string        // for files of the launcher and its daemons
	remove   func()        // that folder, which goes with this process, too
	mark     string        // in the environment of what it started here
}

func (l *mpirun) start(ctx context.Context, o startOptions, m *merger, h host) ([]*rank, error) {
	var self program
	var err error
	sends := len(o.hosts) > 0 || o.launcher == "srun"
	if sends {
		self, err = thisProgram()
	} else {
		self.path, err = os.Executable()
	}
	if err == nil && len(o.hosts) > 0 {
		err = self.sendTo(ctx, o.hosts)
	}
	if err != nil {
		return nil, err
	}
	key := make([]byte, link.KeySize)
	rand.Read(key)
	wide := sends || namesHosts(o.options)
	if l.acceptor, err = openAcceptor(o.n, key, wide); err != nil {
		return nil, err
	}
	defer l.acceptor.close()
	l.hosts = o.hosts
	// In /tmp, which other hosts have as well.
	if l.folder, l.remove, err = ownfolder.Temporary("/tmp", "gocuda-ranks-"); err != nil {
		return nil, err
	}
	if o.launcher == "srun" {
		l.cmd = l.srun(ctx, o, self)
	} else {
		l.cmd = l.mpirun(ctx, o, self)
	}
	l.mark = addressEnv + "=" + strings.Join(l.acceptor.addresses(wide), ",")
	l.cmd.Env = append(l.cmd.Env, l.mark, folderEnv+"="+l.folder, keyEnv+"="+hex.EncodeToString(key),
		fmt.Sprintf("%s=%d", sizeEnv, o.n))
	l.cmd.Stdout, l.cmd.Stderr = &l.out, &l.out
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	l.end = make(chan struct{})
	go func() {
		l.cmd.Wait()
		close(l.end)
	}()
	list := make([]*rank, o.n)
	var late <-chan time.Time
	if o.ask == nil { // an allocation comes when it comes
		timer := time.NewTimer(reportTime)
		defer timer.Stop()
		late = timer.C
	}
	for range o.n {
		var failed error
		select {
		case a := <-l.acceptor.arrived:
			r := &rank{number: a.Rank, host: a.Host}
			member := newRemote(a, r.receiver(m), r.ask(h), l.ending)
			r.member = member
			go member.listen()
			list[a.Rank] = r
			continue
		case <-l.end:
			failed = fmt.Errorf("%s ended before the ranks had reported (%v)%s", l.path, l.cmd.ProcessState, l.words())
		case <-late:
			failed = fmt.Errorf("not all ranks have reported after %v%s", reportTime, l.words())
		case <-ctx.Done():
			failed = context.Cause(ctx)
		}
		for _, r := range list {
			if r != nil {
				go r.Close()
			}
		}
		return nil, failed
	}
	return list, nil
}

// mpirun is the command of mpirun or mpiexec.
func (l *mpirun) mpirun(ctx context.Context, o startOptions, self program) *exec.Cmd {
	args := []string{"-n", strconv.Itoa(o.n)}
	env := os.Environ()
	option := "-hosts"
	if isOpenMPI(ctx, l.path) {
		option = "--host"
		env = append(append(env, openMPIEnv()...), "OMPI_MCA_orte_tmpdir_base="+l.folder, "PRTE_MCA_prte_tmpdir_base="+l.folder)
		// Their values come from the environment. Other mpiruns hand on all of it.
		args = append(args, "-x", addressEnv, "-x", keyEnv, "-x", sizeEnv, "-x", folderEnv)
		for _, variable := range os.Environ() {
			if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "GOCUDA_") {
				args = append(args, "-x", name)
			}
		}
	}
	command := []string{self.path, "rank"}
	if len(o.hosts) > 0 {
		args = append(args, option, hostList(o.hosts))
		command = self.rank()
	}
	cmd := exec.Command(l.path, append(append(args, o.options...), command...)...)
	cmd.Env = env
	return cmd
}

// isOpenMPI asks mpirun whose it is.
func isOpenMPI(ctx context.Context, path string) bool {
	words, _ := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	return strings.Contains(string(words), "Open MPI") || strings.Contains(string(words), "OpenRTE") || strings.Contains(string(words), "PRRTE")
}

// openMPIEnv makes Open MPI take a notebook's ranks as they come, where the
// user's environment and options do not say otherwise: more than there are
// cores, not bound to one (evaluators have several threads), as root, if the
// notebook runs as root; and end without naps when they have ended.
func openMPIEnv() []string {
	var env []string
	add := func(name, value string) {
		if _, set := os.LookupEnv(name); !set {
			env = append(env, name+"="+value)
		}
	}
	add("OMPI_MCA_rmaps_base_oversubscribe", "1")
	add("OMPI_MCA_hwloc_base_binding_policy", "none")
	add("OMPI_MCA_odls_base_sigkill_timeout", "0")
	// Or else PMIx shares memory that must lie at one address in all processes, and a
	// rank that has something else there does not start (openpmix/openpmix#3886).
	add("PMIX_MCA_gds", "hash")
	add("PRTE_MCA_rmaps_default_mapping_policy", "slot:oversubscribe")
	add("PRTE_MCA_hwloc_default_binding_policy", "none")
	if os.Getuid() == 0 {
		add("OMPI_ALLOW_RUN_AS_ROOT", "1")
		add("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	}
	return env
}

// hostOptions are those by which an mpirun is given hosts.
var hostOptions = []string{"-H", "-host", "--host", "-hosts", "--hosts", "-hostfile", "--hostfile", "-machinefile", "--machinefile",
	"-f", "-default-hostfile", "--default-hostfile", "-ppn", "-hostlist", "--hostlist"}

// namesHosts says whether ranks may be on other hosts: the options name some,
// or this is a job of a batch system.
func namesHosts(options []string) bool {
	for _, o := range options {
		name, _, _ := strings.Cut(o, "=")
		if slices.Contains(hostOptions, name) {
			return true
		}
	}
	for _, name := range []string{"SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// close waits for mpirun's end, and ends it if need be: at once if a rank was lost,
// and with it a host perhaps, for it then waits for what cannot come.
func (l *mpirun) close(ranks []*rank) {
	if l.remove != nil {
		defer l.remove()
	}
	if l.end == nil {
		return
	}
	lost := slices.DeleteFunc(slices.Clone(ranks), func(r *rank) bool { return r.lost == "" })
	grace := mpirunGrace
	if len(lost) > 0 {
		grace = time.Second
	}
	for _, how := range []func(){func() {}, func() { l.cmd.Process.Signal(syscall.SIGTERM) }, func() { l.cmd.Process.Kill() }} {
		how()
		select {
		case <-l.end:
			if len(lost) == 0 {
				return
			}
		case <-time.After(grace):
			continue
		}
		break
	}
	endAll(l.mark)
	left := map[string][]string{} // by host
	for _, r := range ranks {
		left[r.host] = append(left[r.host], r.Files...)
	}
	own, _ := os.Hostname()
	exec.Command("/bin/sh", "-c", removal(append(left[own], l.folder))).Run() //nolint:errcheck // then it stays
	var done sync.WaitGroup
	for _, h := range l.hosts {
		isLost := slices.ContainsFunc(lost, func(r *rank) bool { return sameHost(r.host, h.host) })
		if isLost && !isHere(h.host) {
			done.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), cleanTime)
				defer cancel()
				for host, files := range left {
					if sameHost(host, h.host) {
						ssh(ctx, 2*time.Second, h.host, removal(append(files, l.folder)), nil) //nolint:errcheck // it may be gone
					}
				}
			})
		}
	}
	done.Wait()
}

func (l *mpirun) notes() []string {
	list := l.acceptor.refused()
	select {
	case <-l.end:
		list = append(list, fmt.Sprintf("%s ended (%v)%s", l.name(), l.cmd.ProcessState, l.words()))
	default:
	}
	return list
}

// ending says how mpirun ended, if it has or is about to.
func (l *mpirun) ending() string {
	select {
	case <-l.end:
		return fmt.Sprintf(": %s ended (%v)", l.name(), l.cmd.ProcessState)
	case <-time.After(time.Second):
		return ""
	}
}

// words is what mpirun said, on lines of its own.
func (l *mpirun) words() string {
	words := strings.TrimSpace(l.out.String())
	if words == "" {
		return ""
	}
	return "\n" + l.name() + " said:\n" + words
}

func (l *mpirun) name() string { return filepath.Base(l.path) }

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - mpirunWords; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.text), "\uFFFD")
}
