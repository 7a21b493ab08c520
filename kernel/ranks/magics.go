package ranks

import (
	"context"
	"fmt"
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
		{Name: "mpi", Usage: "%mpi start [-n RANKS] [--launcher auto|mpirun|local] [-- OPTION...] | status | waits | restart | stop | interrupt", Expand: true, Run: n.control,
			Doc: "Starts, shows and ends the MPI ranks that %%mpi cells run on.\n" +
				"-n: how many (without it, or with 0, one for each device); auto takes mpirun where it is installed.\n" +
				"Options after -- are mpirun's, such as --host a:2,b:2.\n" +
				"Each rank has the variables rank, size and world, and device rank % devices as its current one.\n" +
				"mpi.Push(\"n\", n) in the notebook sets n in every rank; mpi.Pull(\"n\") gives each rank's n, by rank.\n" +
				"status tells what each rank does, waits who waits for whom; restart starts them anew, interrupt ends the cells that they run."},
		{Name: "mpi", Usage: "%%mpi [RANKS] [--no-wait] [--timeout DURATION]", Cell: true, Expand: true, Run: n.cell,
			Doc: "Runs the cell on every MPI rank, or on those named, such as 0,2 or 1-3.\n" +
				"What ranks print comes with their numbers before it; what several say is shown once: [0-3] hello\n" +
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
		return call.UsageErrorf("what shall it do?")
	}
	if fields[0] == "start" {
		return n.startMagic(ctx, env, call, fields[1:])
	}
	if len(fields) > 1 {
		return call.UsageErrorf("do not know what to do with %q", fields[1])
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
			o, auto := n.settings()
			n.stop()
			if err := n.start(ctx, o); err != nil {
				return n.failed(ctx, call, err)
			}
			n.setAuto(auto)
			n.greet(env)
			return nil
		}
	default:
		return call.UsageErrorf("it cannot %q", fields[0])
	}
	p, err := n.live()
	if err != nil {
		return call.Errorf("NoRanks", "%v", err)
	}
	return do(p)
}

func (n *notebook) startMagic(ctx context.Context, env magic.Env, call magic.Call, fields []string) error {
	o := startOptions{launcher: "auto"}
	if i := slices.Index(fields, "--"); i >= 0 {
		o.options, fields = fields[i+1:], fields[:i]
	}
	given, rest, err := call.Options(fields, nil, []string{"-n", "--launcher"})
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return call.UsageErrorf("do not know what to do with %q", rest[0])
	}
	if name, ok := given["--launcher"]; ok {
		if !slices.Contains([]string{"auto", "mpirun", "local"}, name) {
			return call.UsageErrorf("there is no launcher %q", name)
		}
		o.launcher = name
	}
	o.launcher = resolve(o.launcher)
	if len(o.options) > 0 && o.launcher != "mpirun" {
		return call.UsageErrorf("options after -- are for mpirun, and the ranks would be started without it")
	}
	if text, ok := given["-n"]; ok {
		if o.n, err = strconv.Atoi(text); err != nil || o.n < 0 || o.n > maxRanks {
			return call.UsageErrorf("-n needs a number of ranks from 1 to %d, or 0 for one on each device, not %q", maxRanks, text)
		}
	}
	if o.n == 0 {
		if o.n, err = cuda.DeviceCount(); err != nil || o.n == 0 {
			return call.UsageErrorf("how many ranks? There are no devices to go by")
		}
	}
	if p, err := n.live(); err == nil {
		running, _ := n.settings()
		if running.String() == o.String() && len(p.ranks) == o.n && p.complete() {
			fmt.Fprintf(env.Stdout(), "%d ranks are running already\n", o.n)
			return nil
		}
		return call.Errorf("RanksRunning", "%d ranks are running (%s): %%mpi restart starts them anew, %%mpi stop ends them", len(p.ranks), running)
	}
	if err := n.start(ctx, o); err != nil {
		return n.failed(ctx, call, err)
	}
	n.greet(env)
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
	// The ranks may stand before the options or behind them.
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
		return call.UsageErrorf("on or off?")
	}
	return nil
}

func (n *notebook) setAuto(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.auto = on
}
