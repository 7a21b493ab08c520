package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gocuda/cudaapi/mpi/launch"
)

const mpirunDetails = `
PROGRAM is one that uses gocuda/cudaapi/mpi; its ranks are processes of this
machine, and no MPI library is needed. Each line that they print begins with the rank.
Rank 0 has the standard input. The exit status is 0, or that of the first rank
that fails; the others are then stopped, or with -go-on, told that it is lost. Interrupt and termination are
passed on; a second one stops everything.`

func runMpirun(c *call) error {
	ranks := c.flags.Int("n", 1, "start `N` ranks")
	plain := c.flags.Bool("plain", false, "leave the ranks' names out of the output")
	goOn := c.flags.Bool("go-on", false, "let ranks go on when one is lost; the status is 0 if one of them ends well")
	if err := c.flags.Parse(c.args); err != nil { // the rest is the program's
		return usageOr(err)
	}
	argv := c.flags.Args()
	if len(argv) == 0 {
		return usageError{"no program given"}
	}
	if *ranks < 1 {
		return usageError{fmt.Sprintf("-n %d: at least one rank is needed", *ranks)}
	}
	signals, passed := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	go func() {
		select {
		case s := <-signals:
			passed <- s
		case <-ctx.Done():
			return
		}
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	status, err := launch.Run(ctx, *ranks, argv, launch.Options{
		Stdout: c.stdout, Stderr: c.stderr, Stdin: os.Stdin, Plain: *plain, Signals: passed, GoOn: *goOn,
	})
	if err != nil {
		return err
	}
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}
