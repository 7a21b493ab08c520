//go:build !linux || !(amd64 || arm64)

package nccl

import (
	"errors"

	"gocuda/cudaapi/cuda"
)

var errElsewhere = errors.New("NCCL is used on Linux only")

// Library is NCCL, which is not available here.
type Library struct{}

// Open says that there is no NCCL here.
func Open() (*Library, error) { return nil, errElsewhere }

// Path is where the library is.
func (l *Library) Path() string { return "" }

// Version is the library's version.
func (l *Library) Version() string { return "" }

// NewID draws the name of a communicator.
func (l *Library) NewID() (ID, error) { return ID{}, errElsewhere }

// Comm is one member's end of a communicator.
type Comm struct{}

// InitAll makes a communicator of devices of this process.
func (l *Library) InitAll([]*cuda.Device) ([]*Comm, error) { return nil, errElsewhere }

// InitRanks makes this process's members of a communicator.
func (l *Library) InitRanks([]*cuda.Device, int, int, ID) ([]*Comm, error) { return nil, errElsewhere }

// Group makes the calls that f makes one.
func (l *Library) Group(func() error) error { return errElsewhere }

// AllReduce queues an all-reduce.
func (c *Comm) AllReduce(_, _ *cuda.Buffer, _ cuda.ReduceOp, _ *cuda.Stream) error {
	return errElsewhere
}

// Broadcast queues a broadcast.
func (c *Comm) Broadcast(_, _ *cuda.Buffer, _ int, _ *cuda.Stream) error { return errElsewhere }

// Reduce queues a reduction.
func (c *Comm) Reduce(_, _ *cuda.Buffer, _ cuda.ReduceOp, _ int, _ *cuda.Stream) error {
	return errElsewhere
}

// Send queues a send.
func (c *Comm) Send(*cuda.Buffer, int, *cuda.Stream) error { return errElsewhere }

// Recv queues a receive.
func (c *Comm) Recv(*cuda.Buffer, int, *cuda.Stream) error { return errElsewhere }

// AsyncError is what went wrong in the background.
func (c *Comm) AsyncError() error { return errElsewhere }

// Destroy ends the member.
func (c *Comm) Destroy() error { return errElsewhere }

// Abort ends the member and its operations.
func (c *Comm) Abort() error { return errElsewhere }
