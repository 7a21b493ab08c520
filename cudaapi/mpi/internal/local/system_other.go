//go:build !linux

package local

import (
	"errors"
	"os"
	"runtime"
	"time"
	"unsafe"
)

// Elsewhere than on Linux a job has one rank, which needs none of this.

func futexWait(unsafe.Pointer, uint32, time.Duration) {}
func futexWake(unsafe.Pointer)                        {}
func yieldProcessor()                                 {}
func unmapSegment([]byte)                             {}
func letRead(int)                                     {}

func readProcess(int, unsafe.Pointer, uint64, int) (int, error) { return 0, errors.ErrUnsupported }

func isGone(error) bool { return false }

func errUnsupported() error {
	return errors.New("the built-in MPI transport between processes works on Linux only, this is " + runtime.GOOS +
		": start the ranks with mpirun of an MPI library, or use one rank")
}

// Hub is the launcher's part of a job; see hub_linux.go.
type Hub struct{}

// NewHub fails: see errUnsupported.
func NewHub(int, func(Event)) (*Hub, error) { return nil, errUnsupported() }

// Env is never called: there is no Hub.
func (*Hub) Env(int) string { return "" }

// Lost is never called either.
func (*Hub) Lost(int, string) {}

func (*Hub) Close() error { return nil }

type member struct{}

func join(seat) (*member, error) { return nil, errUnsupported() }

func (*member) mapped() ([]byte, error) { return nil, errUnsupported() }
func (*member) launcher() int           { return os.Getppid() }
func (*member) next() (note, error)     { return note{}, errUnsupported() }
func (*member) send(note) error         { return errUnsupported() }
func (*member) close()                  {}

// shareable is memory that another process of this user can open and map.
type shareable = *os.File

func newShareable(int) (shareable, error) { return nil, errors.ErrUnsupported }

func openShareable(int, int) (shareable, error) { return nil, errors.ErrUnsupported }

func mapSegment(int, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// mapOwn is memory for the one rank.
func mapOwn(bytes int) ([]byte, error) { return make([]byte, bytes), nil }
