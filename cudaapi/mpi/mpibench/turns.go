package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"gocuda/cudaapi/mpi"
)

// Programs that are compared run at once and take turns, so that what changes on
// the machine meanwhile changes for all: scripts/bench-mpi.sh hands the turns out.
// Each rank waits for a line in the pipe FOLDER/NAME.RANK, and when the round is
// over, rank 0 writes its program's name into FOLDER/done.
var turnsFlag = flag.String("turns", "", "take turns with other programs, by the pipes `FOLDER/NAME`.RANK and FOLDER/done")

// name is what the program is called in what it prints.
func name() string {
	if *turnsFlag == "" {
		return "gocuda"
	}
	return filepath.Base(*turnsFlag)
}

// turns are the pipes; nil if the program is alone.
type turns struct {
	may  *bufio.Reader
	done *os.File // nil at ranks that do not say so
}

var pipes struct {
	sync.Once
	t   *turns
	err error
}

// taking opens the pipes, once.
func taking(world *mpi.Comm) (*turns, error) {
	if *turnsFlag == "" {
		return nil, nil
	}
	pipes.Do(func() {
		f, err := os.Open(fmt.Sprint(*turnsFlag, ".", world.Rank()))
		if err != nil {
			pipes.err = err
			return
		}
		pipes.t = &turns{may: bufio.NewReader(f)}
		if world.Rank() == 0 {
			pipes.t.done, pipes.err = os.OpenFile(filepath.Join(filepath.Dir(*turnsFlag), "done"), os.O_WRONLY, 0)
		}
	})
	return pipes.t, pipes.err
}

// wait waits for this program's turn.
func (t *turns) wait() error {
	if t == nil {
		return nil
	}
	_, err := t.may.ReadString('\n')
	return err
}

// pass says that the turn is over.
func (t *turns) pass() error {
	if t == nil || t.done == nil {
		return nil
	}
	_, err := fmt.Fprintln(t.done, name())
	return err
}
