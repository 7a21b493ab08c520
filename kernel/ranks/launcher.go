package ranks

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"gocuda/kernel/session"
)

// startOptions are those of %mpi start.
type startOptions struct {
	n        int
	launcher string   // "mpirun", "srun" or "local"
	hosts    []slots  // for mpirun, or none
	ask      []string // srun: what Slurm is asked for; nil: the allocation is there
	options  []string // the launcher's
}

func (o startOptions) String() string {
	text := o.launcher
	if len(o.hosts) > 0 {
		text += " --hosts " + hostList(o.hosts)
	}
	if o.ask != nil {
		text += " --slurm " + strings.Join(o.ask, " ")
	}
	if len(o.options) > 0 {
		text += " " + strings.Join(o.options, " ")
	}
	return text
}

// launcher starts the ranks of a pool.
type launcher interface {
	// start returns the ranks, in order, once every one can run cells or has
	// failed. What they show goes to m.
	start(ctx context.Context, o startOptions, m *merger, h host) ([]*rank, error)
	// close takes away what is left when the ranks have ended, of which some may
	// have been lost.
	close(ranks []*rank)
	// notes are lines for the user: which connections were refused, and the like.
	notes() []string
}

func newLauncher(name string) (launcher, error) {
	switch name {
	case "local":
		return &local{}, nil
	case "mpirun":
		path, err := findMPIRun()
		if err != nil {
			return nil, err
		}
		return &mpirun{path: path}, nil
	case "srun":
		path, err := exec.LookPath("srun")
		if err != nil {
			return nil, fmt.Errorf("Slurm's srun is not on the PATH")
		}
		return &mpirun{path: path}, nil
	}
	return nil, fmt.Errorf("there is no launcher %q: there are mpirun, srun, local and auto", name)
}

// resolve chooses the launcher that auto means.
func resolve(name string) string {
	if name != "auto" {
		return name
	}
	if _, err := exec.LookPath("srun"); err == nil && allocated() {
		return "srun"
	}
	if _, err := findMPIRun(); err != nil {
		return "local"
	}
	return "mpirun"
}

func findMPIRun() (string, error) {
	for _, name := range []string{"mpirun", "mpiexec"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("neither mpirun nor mpiexec is on the PATH: install Open MPI or MPICH, or take --launcher local")
}

// Single is the command that starts one process of a program as %mpi start
// does, and what starts it.
func Single(ctx context.Context, program *exec.Cmd) (cmd *exec.Cmd, by string) {
	path, err := findMPIRun()
	if err != nil {
		return program, "gocuda's local launcher, as neither mpirun nor mpiexec is on the PATH"
	}
	cmd = exec.CommandContext(ctx, path, append([]string{"-n", "1", program.Path}, program.Args[1:]...)...)
	cmd.Env = append(program.Environ(), openMPIEnv()...) // which other mpiruns ignore
	return cmd, path
}

// sessionOptions are those of a rank's evaluator.
func sessionOptions(env []string, output func(session.Output), input func(string, bool) (string, error)) session.Options {
	return session.Options{
		Env: env, Output: output, Input: input, Once: true,
		InterruptPatience: rankGrace, InterruptGrace: rankGrace,
	}
}
