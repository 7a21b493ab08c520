//go:build linux && (amd64 || arm64)

package nccl_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/nccl"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A library that is not where it is said to be is named in the error.
func TestMissing(t *testing.T) {
	if os.Getenv("GOCUDA_BACKEND") == "nvidia" {
		t.Skip("the library is there")
	}
	t.Setenv("GOCUDA_NCCL", "/nowhere/libnccl.so.2")
	if _, err := nccl.Open(); err == nil || !strings.Contains(err.Error(), "NCCL not found; tried and there is no /nowhere/libnccl.so.2") {
		t.Errorf("got %v", err)
	}
}

// TestCalls makes each call once on the GPUs of this process: all-reduce,
// broadcast, reduce, and a ring of sends and receives.
func TestCalls(t *testing.T) {
	if os.Getenv("GOCUDA_BACKEND") != "nvidia" {
		t.Skip("needs GPUs")
	}
	lib, err := nccl.Open()
	if err != nil {
		t.Skip(err)
	}
	t.Logf("NCCL %s, %s", lib.Version(), lib.Path())
	devs, err := cuda.Devices()
	ok(t, err)
	p := len(devs)
	id, err := lib.NewID()
	ok(t, err)
	ranks, err := lib.InitRanks(devs, 0, p, id)
	ok(t, err)
	comms, err := lib.InitAll(devs)
	ok(t, err)
	var in, out []*cuda.Buffer
	var streams []*cuda.Stream
	for i, d := range devs {
		a, err := d.Alloc(1000, cuda.Int32)
		ok(t, err)
		ok(t, a.Fill(1<<i, nil))
		b, err := d.Alloc(1000, cuda.Int32)
		ok(t, err)
		s, err := d.NewStream()
		ok(t, err)
		in, out, streams = append(in, a), append(out, b), append(streams, s)
	}
	for _, c := range []struct {
		name  string
		comms []nccl.Comm
		call  func(c nccl.Comm, i int) error
		want  func(i int) int32 // -1: anything
	}{
		{"all-reduce", comms, func(c nccl.Comm, i int) error {
			return c.AllReduce(in[i], out[i], cuda.ReduceSum, streams[i])
		}, func(int) int32 { return 1<<p - 1 }},
		{"all-reduce of ranks", ranks, func(c nccl.Comm, i int) error {
			return c.AllReduce(in[i], out[i], cuda.ReduceMax, streams[i])
		}, func(int) int32 { return 1 << (p - 1) }},
		{"broadcast", comms, func(c nccl.Comm, i int) error {
			return c.Broadcast(in[i], out[i], p-1, streams[i])
		}, func(int) int32 { return 1 << (p - 1) }},
		{"reduce", comms, func(c nccl.Comm, i int) error {
			return c.Reduce(in[i], out[i], cuda.ReduceMin, p-1, streams[i])
		}, func(i int) int32 { return map[bool]int32{true: 1, false: -1}[i == p-1] }},
		{"ring", ranks, func(c nccl.Comm, i int) error {
			if err := c.Send(in[i], (i+1)%p, streams[i]); err != nil {
				return err
			}
			return c.Recv(out[i], (i+p-1)%p, streams[i])
		}, func(i int) int32 { return 1 << ((i + p - 1) % p) }},
	} {
		ok(t, lib.Group(func() error {
			for i, m := range c.comms {
				if err := c.call(m, i); err != nil {
					return err
				}
			}
			return nil
		}))
		for i := range devs {
			ok(t, streams[i].Synchronize())
			ok(t, c.comms[i].AsyncError())
			got, err := out[i].Int32s()
			ok(t, err)
			if want := c.want(i); want >= 0 && slices.ContainsFunc(got, func(v int32) bool { return v != want }) {
				t.Errorf("%s: device %d has %d, want %d", c.name, i, got[0], want)
			}
		}
	}
	for i := range devs {
		ok(t, comms[i].Destroy())
		ok(t, ranks[i].Abort())
	}
}
