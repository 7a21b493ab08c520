package ranks

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/kernel/magic"
	"gocuda/kernel/session"
)

// maxRanks bounds -n against slips of the finger.
const maxRanks = 1024

// magics are %mpi, %%mpi and %autompi.
func (n *notebook) magics() []magic.Magic {
	return []magic.Magic{
		{Name: "mpi", Usage: "%mpi start [-n RANKS] [--hosts A:2,B:2 | --hostfile FILE | --slurm OPTION...] [--launcher auto|mpirun|srun|local] [-- OPTION...] | status | waits | restart [--without HOST,...|lost] | stop | interrupt", Expand: true, Run: n.control,
			Doc: "Starts, shows and ends the MPI ranks that %%mpi cells run on.\n" +
				"-n: how many (without it, or with 0, as many as the hosts or the allocation take, or one for each device).\n" +
				"--launcher auto takes srun in an allocation of Slurm, else mpirun where it is installed, else the built-in transport.\n" +
				"--hosts a:2,b:2: two ranks on each, over ssh; --hostfile: a file with a host in each line (a:2 or a slots=2).\n" +
				"--slurm -N 2 --gpus-per-node 4: asks for an allocation with salloc's options, and gives it back at the end.\n" +
				"A host that does not have this program gets it. Options after -- are mpirun's or srun's.\n" +
				"GOCUDA_MPI_START in the environment has options for notebooks that give none.\n" +
				"Each rank has the variables rank, size and world. Its current device is the one by its place among the ranks of its host.\n" +
				"mpi.Push(\"n\", n) in the notebook sets n in every rank; mpi.Pull(\"n\") gives each rank's n, by rank.\n" +
				"status shows what each rank does, waits shows who waits for whom; restart starts them again,\n" +
				"without the hosts that --without names (lost: those that lost a rank); interrupt ends the cells that they run."},
		{Name: "mpi", Usage: "%%mpi [RANKS] [--no-wait] [--timeout DURATION]", Cell: true, Expand: true, Run: n.cell,
			Doc: "Runs the cell on every MPI rank, or on those named, such as 0,2 or 1-3.\n" +
				"What ranks print begins with their numbers; what several print is shown once: [0-3] hello\n" +
				"--no-wait: the notebook goes on meanwhile; the next %%mpi cell waits for its turn.\n" +
				"--timeout 30s: ends the cell on ranks that take longer.\n" +
				"%%cuda on the second line compiles CUDA C++ on the ranks."},
		{Name: "autompi", Usage: "%autompi on | off", Run: n.autompi,
			Doc: "Runs all Go cells on every MPI rank, as if each began with %%mpi, or ends that."},
	}
}

// control is %mpi.
func (n *notebook) control(ctx context.Context, env magic.Env, call magic.Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	if len(fields) == 0 {
		return call.UsageErrorf("say what it should do")
	}
	if fields[0] == "start" {
		return n.startMagic(ctx, env, call, fields[1:])
	}
	without := ""
	if fields[0] == "restart" {
		given, rest, err := call.Options(fields[1:], nil, []string{"--without"})
		if err != nil {
			return err
		}
		without, fields = given["--without"], append(fields[:1], rest...)
	}
	if len(fields) > 1 {
		return call.UsageErrorf("unexpected argument %q", fields[1])
	}
	var do func(p *pool) error
	switch fields[0] {
	case "status":
		do = func(p *pool) error { return p.status(env.Stdout()) }
	case "waits":
		do = func(p *pool) error { return p.waits(env.Stdout()) }
	case "stop":
		do = func(p *pool) error { n.stop(); return nil }
	case "interrupt":
		do = func(p *pool) error {
			p.tell(p.interrupt(errInterrupt))
			return nil
		}
	case "restart":
		do = func(p *pool) error {
			o, _ := n.settings()
			if without != "" {
				if o, err = p.without(o, without); err != nil {
					return call.UsageErrorf("--without %s: %v", without, err)
				}
			}
			n.end()
			if err := n.start(ctx, o); err != nil {
				return n.failed(ctx, call, err)
			}
			n.greet(env)
			return nil
		}
	default:
		return call.UsageErrorf("it cannot %q", fields[0])
	}
	p, err := n.live()
	if o, _ := n.settings(); err != nil && (fields[0] != "restart" || o.n == 0 || without != "") {
		return call.Errorf("NoRanks", "%v", err)
	}
	return do(p)
}

// startVariable names the variable of the environment with options of %mpi start
// for notebooks that do not say them, such as --hosts a:2,b:2.
const startVariable = "GOCUDA_MPI_START"

func (n *notebook) startMagic(ctx context.Context, env magic.Env, call magic.Call, fields []string) error {
	o := startOptions{launcher: "auto"}
	if err := o.read(call, strings.Fields(os.Getenv(startVariable))); err != nil {
		return fmt.Errorf("%s: %w", startVariable, err)
	}
	err := o.read(call, fields)
	if err != nil {
		return err
	}
	o.launcher = resolve(o.launcher)
	if o.ask != nil {
		if o.n, o.ask, err = ofSlurm(o.n, o.ask); err != nil {
			return call.UsageErrorf("--slurm: %v", err)
		}
	}
	switch {
	case o.launcher == "local" && len(o.hosts) > 0:
		return call.UsageErrorf("ranks on several hosts need an mpirun: the built-in transport is for the processes of one host")
	case o.launcher == "local" && len(o.options) > 0:
		return call.UsageErrorf("options after -- are for mpirun or srun, and the ranks would be started without them")
	case o.launcher == "srun" && len(o.hosts) > 0:
		return call.UsageErrorf("srun starts ranks on the allocation's hosts: leave --hosts and --hostfile out, or say --launcher mpirun")
	case o.launcher == "srun" && o.ask == nil && !allocated():
		return call.UsageErrorf("this is not in a Slurm allocation: ask for one with --slurm -N 2")
	case o.ask != nil && allocated():
		o.options, o.ask = append(o.ask, o.options...), nil
	}
	if o.n == 0 && o.launcher == "srun" {
		o.n = allocatedRanks()
	}
	if o.n == 0 {
		o.n = total(o.hosts)
	}
	if o.n == 0 {
		if o.n, err = cuda.DeviceCount(); err != nil || o.n == 0 {
			return call.UsageErrorf("say how many ranks with -n: there are no devices to count")
		}
	}
	if p, err := n.live(); err == nil {
		running, _ := n.settings()
		if running.String() == o.String() && len(p.ranks) == o.n && p.complete() {
			fmt.Fprintf(env.Stdout(), "%d ranks are running already\n", o.n)
			return nil
		}
		return call.Errorf("RanksRunning", "%d ranks are running (%s): %%mpi restart starts them again, %%mpi stop ends them", len(p.ranks), running)
	}
	if err := n.start(ctx, o); err != nil {
		return n.failed(ctx, call, err)
	}
	n.greet(env)
	return nil
}

// read takes options, which are stronger than those that it has.
func (o *startOptions) read(call magic.Call, fields []string) error {
	if i := slices.Index(fields, "--"); i >= 0 {
		o.options, fields = fields[i+1:], fields[:i]
	}
	if i := slices.Index(fields, "--slurm"); i >= 0 {
		o.launcher, o.ask, fields = "srun", append([]string{}, fields[i+1:]...), fields[:i]
	}
	given, rest, err := call.Options(fields, nil, []string{"-n", "--launcher", "--hosts", "--hostfile"})
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		if _, err := strconv.Atoi(rest[0]); err == nil {
			return call.UsageErrorf("unexpected argument %q: write -n %[1]s for so many ranks", rest[0])
		}
		return call.UsageErrorf("unexpected argument %q", rest[0])
	}
	if name, ok := given["--launcher"]; ok {
		if !slices.Contains([]string{"auto", "mpirun", "srun", "local"}, name) {
			return call.UsageErrorf("there is no launcher %q", name)
		}
		o.launcher = name
	}
	if text, ok := given["--hosts"]; ok {
		if o.hosts, err = parseHosts(text); err != nil {
			return call.UsageErrorf("%v", err)
		}
	}
	if path, ok := given["--hostfile"]; ok {
		if o.hosts, err = parseHostfile(path); err != nil {
			return call.UsageErrorf("%v", err)
		}
	}
	if text, ok := given["-n"]; ok {
		if o.n, err = strconv.Atoi(text); err != nil || o.n < 0 || o.n > maxRanks {
			return call.UsageErrorf("-n needs a number of ranks from 1 to %d, or 0 for one on each device, not %q", maxRanks, text)
		}
	}
	return nil
}

// failed is the error of a start.
func (n *notebook) failed(ctx context.Context, call magic.Call, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return call.Errorf("RanksNotStarted", "%v", err)
}

// cell is %%mpi.
func (n *notebook) cell(ctx context.Context, env magic.Env, call magic.Call) error {
	fields, err := call.Fields()
	if err != nil {
		return err
	}
	// The ranks may stand before the options or after them.
	names := ""
	var options []string
	for i, f := range fields {
		if i > 0 && fields[i-1] == "--timeout" || strings.HasPrefix(f, "-") {
			options = append(options, f)
			continue
		}
		if names != "" {
			return call.UsageErrorf("name the ranks once, such as 0,2 or 1-3, not %q and %q", names, f)
		}
		names = f
	}
	given, _, err := call.Options(options, []string{"--no-wait"}, []string{"--timeout"})
	if err != nil {
		return err
	}
	var timeout time.Duration
	if text, ok := given["--timeout"]; ok {
		if timeout, err = time.ParseDuration(text); err != nil || timeout <= 0 {
			return call.UsageErrorf("--timeout needs a duration such as 30s or 1m30s, not %q", text)
		}
	}
	p, err := n.live()
	if err != nil {
		return call.Errorf("NoRanks", "%v", err)
	}
	ranks := all(len(p.ranks))
	if names != "" {
		if ranks, err = parseSet(names, len(p.ranks)); err != nil {
			return call.UsageErrorf("%v", err)
		}
	}
	if strings.TrimSpace(call.Body) == "" {
		return call.UsageErrorf("there is no code below the first line")
	}
	cell := n.host.Cell()
	cell.Expressions = nil
	cell.Whole = cell.Code
	cell.Code = strings.Repeat("\n", call.Line) + call.Body // keeps its lines
	if _, noWait := given["--no-wait"]; noWait {
		cell.AllowInput = false
		j, err := p.post(cell, ranks, timeout)
		if err != nil {
			return session.NewError("RankLost", err.Error())
		}
		go n.background(j)
		return nil
	}
	return n.run(ctx, p, cell, ranks, timeout)
}

func (n *notebook) autompi(_ context.Context, env magic.Env, call magic.Call) error {
	switch call.Args {
	case "on":
		if _, err := n.live(); err != nil {
			return call.Errorf("NoRanks", "%v", err)
		}
		n.setAuto(true)
		fmt.Fprintln(env.Stdout(), "Go cells run on every rank now; %autompi off ends that")
	case "off":
		n.setAuto(false)
		fmt.Fprintln(env.Stdout(), "Go cells run in the notebook")
	default:
		return call.UsageErrorf("want on or off")
	}
	return nil
}

func (n *notebook) setAuto(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.auto = on
}
