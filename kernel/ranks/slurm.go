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
	words := func(list ...string) string {
		var text []string
		for _, w := range list {
			text = append(text, quoted(w))
		}
		return strings.Join(text, " ")
	}
	start := []string{l.path, "--overlap", // with the step that the notebook may be
		"--ntasks=" + strconv.Itoa(o.n), "--cpu-bind=none"} // evaluators have several threads
	if kind := mpiOfSlurm(ctx); kind != "" {
		start = append(start, "--mpi="+kind)
	}
	start = append(append(start, o.options...), self.rank()...)
	// The step has the allocation's own layout, which fits; one task on each node acts.
	each := func(command string) string {
		return words(l.path, "--overlap", "--mpi=none", "/bin/sh", "-c", `[ "$SLURM_LOCALID" = 0 ] || { cat >/dev/null; exit 0; }; `+command)
	}
	script := fmt.Sprintf("if %s </dev/null | grep missing >/dev/null; then %s <%s || exit; fi; exec %s </dev/null",
		each(self.look()), each(self.receive()), quoted(self.path), words(start...))
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

// ofSlurm reads what follows --slurm: the number of ranks, if that is not known yet
// (0), and what salloc is asked for. Nodes have as many ranks each, where that can be.
func ofSlurm(n int, fields []string) (int, []string, error) {
	ask, err := []string{}, error(nil)
	nodes, each, even := 1, 1, true
	number := func(text string) int {
		v, wrong := strconv.Atoi(text)
		if wrong != nil || v < 1 {
			err = fmt.Errorf("%q is not a number", text)
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
			if count := number(value); n == 0 {
				n = count
			}
			continue
		case "-N", "--nodes":
			nodes = number(value)
			name = "--nodes"
		case "--gpus-per-node", "--ntasks-per-node":
			even = even && name == "--gpus-per-node"
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
	if even && nodes > 1 && n%nodes == 0 {
		ask = append(ask, "--ntasks-per-node="+strconv.Itoa(n/nodes))
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
