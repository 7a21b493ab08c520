package ranks

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// allocated says whether this process is in an allocation of Slurm.
func allocated() bool { return os.Getenv("SLURM_JOB_ID") != "" }

// srun is the command that starts ranks under Slurm: in the allocation that this
// process is in, or in one that salloc asks for, which ends with the command. First
// it sends the program to nodes that lack it.
func (l *mpirun) srun(ctx context.Context, o startOptions, self program) *exec.Cmd {
	srun := []string{l.path}
	if o.ask == nil {
		srun = append(srun, "--overlap") // with the step that the notebook may be
	}
	words := func(more ...string) string {
		var list []string
		for _, w := range append(srun[:len(srun):len(srun)], more...) {
			list = append(list, quoted(w))
		}
		return strings.Join(list, " ")
	}
	start := []string{"--ntasks=" + strconv.Itoa(o.n), "--cpu-bind=none"} // evaluators have several threads
	if kind := mpiOfSlurm(ctx); kind != "" {
		start = append(start, "--mpi="+kind)
	}
	start = append(append(start, o.options...), self.rank()...)
	each := []string{"--mpi=none", "--ntasks-per-node=1", "/bin/sh", "-c"}
	nodes := ` --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" `
	insert := func(command string) string { return strings.Replace(command, quoted(l.path), quoted(l.path)+nodes, 1) }
	script := fmt.Sprintf("if %s </dev/null | grep -q missing; then %s <%s || exit; fi; exec %s </dev/null",
		insert(words(append(each, self.look())...)), insert(words(append(each, self.receive())...)), quoted(self.path), words(start...))
	cmd := exec.Command("/bin/sh", "-c", script)
	if o.ask != nil {
		cmd = exec.Command("salloc", append(o.ask, "/bin/sh", "-c", script)...)
	}
	cmd.Env = os.Environ()
	return cmd
}

// mpiOfSlurm is how srun is to speak with the ranks' MPI library; empty for what
// is configured.
func mpiOfSlurm(ctx context.Context) string {
	if os.Getenv("SLURM_MPI_TYPE") != "" {
		return ""
	}
	path, err := findMPIRun()
	switch {
	case err != nil:
		return ""
	case isOpenMPI(ctx, path):
		return "pmix"
	}
	return "pmi2"
}

// ofSlurm reads what follows --slurm: the number of ranks, and what salloc is
// asked for.
func ofSlurm(fields []string) (n int, ask []string, err error) {
	nodes, each := 1, 1
	number := func(text string) int {
		v, wrong := strconv.Atoi(text)
		if wrong != nil || v < 1 {
			err = fmt.Errorf("%q is no number that can be read here", text)
		}
		return v
	}
	for i := 0; i < len(fields); i++ {
		name, value, joined := strings.Cut(fields[i], "=")
		switch name {
		case "-n", "--ntasks", "-N", "--nodes", "--gpus-per-node", "--ntasks-per-node":
			if !joined {
				if i++; i == len(fields) {
					return 0, nil, fmt.Errorf("%s needs a value", name)
				}
				value = fields[i]
			}
		}
		switch name {
		case "-n", "--ntasks":
			n = number(value)
			continue
		case "-N", "--nodes":
			nodes = number(value)
			name = "--nodes"
		case "--gpus-per-node", "--ntasks-per-node":
			each = max(each, number(value[strings.LastIndexByte(value, ':')+1:])) // h100:4
		default:
			ask = append(ask, fields[i])
			continue
		}
		ask = append(ask, name+"="+value)
	}
	if n == 0 {
		n = nodes * each
	}
	return n, append(ask, "--ntasks="+strconv.Itoa(n)), err
}

// allocatedRanks is how many ranks the allocation is for.
func allocatedRanks() int {
	value := func(name string) int {
		n, _ := strconv.Atoi(os.Getenv(name))
		return n
	}
	return max(value("SLURM_NTASKS"), value("SLURM_JOB_NUM_NODES")*max(1, value("SLURM_GPUS_ON_NODE")))
}
