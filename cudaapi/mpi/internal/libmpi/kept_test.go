//go:build linux && (amd64 || arm64)

package libmpi

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

func init() {
	// What keeps a device's memory is held while the library may use the memory,
	// and no longer.
	programs["kept"] = func(t transport.Transport) error {
		var freed atomic.Int32
		owned := func() transport.Memory {
			owner := new([64]byte)
			runtime.AddCleanup(owner, func(int) { freed.Add(1) }, 0)
			return transport.Memory{T: transport.Byte, Device: owner} // of no bytes: there need be no device
		}
		collect := func(times int, until int32) int32 {
			for range times {
				runtime.GC()
				if time.Sleep(time.Millisecond); freed.Load() >= until {
					break
				}
			}
			return freed.Load()
		}
		w := t.Self()
		out, err := w.Issend(owned(), 0, 9)
		if err != nil {
			return err
		}
		in, err := w.Irecv(owned(), 0, 10)
		if err != nil {
			return err
		}
		if collect(5, 1) > 0 {
			return errors.New("memory of a message under way was let go")
		}
		if _, err := wait(w.Isend(transport.Memory{T: transport.Byte}, 0, 10)); err != nil {
			return err
		}
		if _, err := wait(w.Irecv(transport.Memory{T: transport.Byte}, 0, 9)); err != nil {
			return err
		}
		for _, r := range []transport.Request{out, in} {
			if _, err := wait(r, nil); err != nil {
				return err
			}
		}
		out, in = nil, nil
		if n := collect(100, 2); n != 2 {
			return fmt.Errorf("of two messages' memory %d were let go", n)
		}
		return nil
	}
}
