// Package kernel is a Jupyter kernel for Go cells: it answers the messages of
// Jupyter's protocol 5.5 and hands the code to an evaluator in a process of
// its own (package session).
package kernel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gocuda/kernel/wire"
)

// lingerTime is what clients have, at the end, to read their last messages.
const lingerTime = 2 * time.Second

// Options configure a kernel. The zero value serves the real evaluator.
type Options struct {
	// Start starts the evaluator; nil: a session's.
	Start StartFunc
	// Args are the program's: os.Args in cells, after the first.
	Args []string
	// Version is the implementation version that kernel_info reports.
	Version string
	// HistoryFile holds the inputs of all sessions; empty: the user's own
	// (see DefaultHistoryFile). "off" keeps the history in memory.
	HistoryFile string
	// Log takes what goes wrong; nil: NewLog's.
	Log *slog.Logger

	quiet, human time.Duration // for quietTime and humanTime, in tests
}

// Serve runs a kernel on the sockets that the connection file describes,
// until a shutdown request, SIGTERM, the end of the process that started the
// kernel, or the end of ctx. SIGINT interrupts the running cell. Ports given
// as 0 are chosen, and written back to the file.
//
// It returns nil after an orderly end: all replies sent, the evaluator and its
// children gone. An error means that the kernel could not start.
func Serve(ctx context.Context, connectionFile string, options Options) error {
	parent := os.Getppid()
	connection, err := wire.ReadConnection(connectionFile)
	if err != nil {
		return err
	}
	if options.Log == nil {
		options.Log = NewLog(os.Stderr)
	}
	if options.Start == nil {
		options.Start = startSession(options.Log, options.Args)
	}
	if options.quiet == 0 {
		options.quiet = quietTime
	}
	if options.human == 0 {
		options.human = humanTime
	}
	// First of all: a client that finds nobody here yet waits for 100 to 200 ms
	// before it tries again.
	sockets, err := wire.Listen(connection, options.Log)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	if options.HistoryFile == "" {
		options.HistoryFile = DefaultHistoryFile()
	}
	k := &kernel{
		parent:   parent,
		options:  options,
		log:      options.Log,
		sockets:  sockets,
		stop:     make(chan struct{}),
		history:  openHistory(options.HistoryFile, options.Log),
		handlers: handlers,
		comms:    comms{open: map[string]string{}},
		eventsIn: make(chan *wire.Message, maxEvents),
		debugs:   make(chan *wire.Message, maxEvents),
	}
	k.main, k.control = newShell("", sockets.Messages(wire.Shell)), newShell("control", sockets.Messages(wire.Control))
	k.events = newShell(eventsID, k.eventsIn)
	k.subshells.live = map[string]*subshell{}
	sockets.Route(k.route)
	k.evaluator = startEvaluator(options.Start, k.output, k.input)
	if k.sockets.Connection() != connection {
		if err := k.sockets.Connection().Write(connectionFile); err != nil {
			k.evaluator.close()
			k.sockets.Close(0)
			return err
		}
	}
	k.run(ctx)
	return nil
}

// kernel is one running kernel.
type kernel struct {
	options   Options
	parent    int // the process that started this one
	log       *slog.Logger
	sockets   *wire.Sockets
	evaluator *evaluator
	history   *history
	comms     comms
	captures  captures
	kept      kept
	pace      pace
	handlers  map[wire.Channel]map[string]handler

	stop     chan struct{} // closed when the kernel is to end
	stopOnce sync.Once

	count         atomic.Int64 // the last execution count given
	main, control *shell
	subshells     subshells

	events   *shell             // see eventsID
	eventsIn chan *wire.Message // its requests
	beside   sync.WaitGroup     // that wait or are handled

	debugs    chan *wire.Message // requests of a debugger
	debugging debugging
}

// run serves until the end.
func (k *kernel) run(ctx context.Context) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	orphaned := make(chan struct{})
	go watchParent(k.parent, k.stop, orphaned)

	k.status(nil, "starting")
	shell, control := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(shell)
		k.serve(k.main)
	}()
	go k.handleEvents()
	go k.handleDebug()
	go k.handleControl(control)

	for running := true; running; {
		select {
		case <-k.stop:
			running = false
		case <-ctx.Done():
			running = false
		case <-orphaned:
			k.log.Info("the process that started the kernel is gone")
			running = false
		case sig := <-signals:
			if sig == os.Interrupt {
				k.interrupt(nil)
				continue
			}
			running = false
		}
	}
	k.end()
	k.evaluator.close()
	// The cell that was running is told so; a loop that hangs is left behind.
	timeout := time.After(lingerTime)
	for _, done := range []chan struct{}{control, shell} {
		select {
		case <-done:
		case <-timeout:
		}
	}
	k.history.close()
	k.sockets.Close(lingerTime)
}

// end makes run return.
func (k *kernel) end() { k.stopOnce.Do(func() { close(k.stop) }) }

// handleControl handles the requests of the control channel, one after the other, beside
// the shells, so that a running cell does not hold them up.
func (k *kernel) handleControl(done chan<- struct{}) {
	defer close(done)
	for m := k.next(k.control); m != nil; m = k.next(k.control) {
		if m.Header.Type == "debug_request" {
			select {
			case k.debugs <- m:
			case <-k.stop:
			}
			continue
		}
		k.handle(wire.Control, nil, m)
	}
}

// errEnding answers what still waits when the kernel ends.
var errEnding = errors.New("the kernel is shutting down")
