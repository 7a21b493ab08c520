// Peercopy copies between two GPUs in three ways, checks every byte, and prints
// the bandwidths: the direct peer copy, a copy staged through two pinned buffers
// with events and no CPU wait in its loop, and a staged copy in which the CPU
// waits for each chunk.
//
//	CGO_ENABLED=0 go build ./examples/peercopy && ./peercopy -mib 1024
//
// Without GPUs it runs on simulated devices (GOCUDA_BACKEND=sim), whose times
// come from a model.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

func main() {
	mib := flag.Int("mib", 256, "how much to copy, in MiB")
	chunk := flag.Int("chunk", 4, "size of a staging buffer, in MiB")
	flag.Parse()
	if *mib < 1 || *chunk < 1 {
		fmt.Fprintln(os.Stderr, "peercopy: -mib and -chunk must be at least 1")
		os.Exit(2)
	}
	if err := run(os.Stdout, *mib<<20, *chunk<<20); err != nil {
		fmt.Fprintln(os.Stderr, "peercopy:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, size, chunk int) error {
	gpus, err := cuda.Devices()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, gpus)
	from, to := gpus[0], gpus[len(gpus)-1]
	if len(gpus) > 2 {
		to = gpus[1]
	}
	if from == to {
		fmt.Fprintln(w, "one device: it is both ends of the copy")
	} else if can, err := from.CanAccessPeer(to); err != nil {
		return err
	} else if can {
		if err := from.EnablePeerAccess(to); err != nil {
			return err
		}
		if err := to.EnablePeerAccess(from); err != nil {
			return err
		}
	}

	src, err := from.Alloc(size, cuda.Uint8)
	if err != nil {
		return err
	}
	defer src.Free()
	dst, err := to.Alloc(size, cuda.Uint8)
	if err != nil {
		return err
	}
	defer dst.Free()
	want := make([]byte, size)
	for i := range want {
		want[i] = byte(i*7 + i>>12)
	}
	if err := src.Upload(want); err != nil {
		return err
	}

	stage, err := newStage(from, to, chunk)
	if err != nil {
		return err
	}
	defer stage.free()
	for _, way := range []struct {
		name string
		copy func(dst, src *cuda.Buffer) error
	}{
		{"direct peer copy", stage.direct},
		{"staged, ordered by events", func(d, s *cuda.Buffer) error { return stage.copy(d, s, false) }},
		{"staged, the CPU waits for each chunk", func(d, s *cuda.Buffer) error { return stage.copy(d, s, true) }},
	} {
		best := time.Duration(1<<63 - 1)
		for range 3 {
			if err := dst.Memset(0xee); err != nil { // so that an old result is no success
				return err
			}
			if err := cuda.Synchronize(); err != nil {
				return err
			}
			took, err := stage.timed(func() error { return way.copy(dst, src) })
			if err != nil {
				return fmt.Errorf("%s: %w", way.name, err)
			}
			best = min(best, took)
		}
		got, err := dst.Uint8s()
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s: the copy is wrong", way.name)
		}
		fmt.Fprintf(w, "%-38s %8.1f GB/s, every byte right\n", way.name, float64(size)/best.Seconds()/1e9)
	}
	return nil
}

// stage is what the copies use: a stream at each end, and two staging buffers
// with events that say when each was filled and emptied.
type stage struct {
	out, in          *cuda.Stream
	host             [2]*cuda.HostBuffer
	filled, emptied  [2]*cuda.Event
	begin, end, over *cuda.Event
	chunk            int
}

func newStage(from, to *cuda.Device, chunk int) (st *stage, err error) {
	st = &stage{chunk: chunk}
	if st.out, err = from.NewStream(cuda.NonBlocking); err != nil {
		return nil, err
	}
	if st.in, err = to.NewStream(cuda.NonBlocking); err != nil {
		return nil, err
	}
	for i := range st.host {
		if st.host[i], err = from.AllocHost(chunk, cuda.Uint8, cuda.Portable); err != nil {
			return nil, err
		}
		if st.filled[i], err = from.NewEvent(cuda.DisableTiming); err != nil {
			return nil, err
		}
		if st.emptied[i], err = to.NewEvent(cuda.DisableTiming); err != nil {
			return nil, err
		}
	}
	for _, e := range []**cuda.Event{&st.begin, &st.end} {
		if *e, err = from.NewEvent(); err != nil {
			return nil, err
		}
	}
	st.over, err = to.NewEvent(cuda.DisableTiming)
	return st, err
}

func (st *stage) free() {
	for _, h := range st.host {
		_ = h.Free()
	}
}

// timed is the devices' time for what f queues: from an event before it on the
// source's stream to one after it, which waits for the destination's stream.
func (st *stage) timed(f func() error) (time.Duration, error) {
	if err := st.begin.Record(st.out); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	for _, err := range []error{st.over.Record(st.in), st.out.WaitEvent(st.over), st.end.Record(st.out), st.end.Synchronize()} {
		if err != nil {
			return 0, err
		}
	}
	return cuda.Elapsed(st.begin, st.end)
}

func (st *stage) direct(dst, src *cuda.Buffer) error {
	return cuda.MemcpyPeerAsync(dst, src, st.out)
}

// copy goes through the staging buffers in turn: the source waits until a buffer
// is emptied, fills it and says so; the destination waits for that, and empties
// it. No call waits for a device, unless cpu says so.
func (st *stage) copy(dst, src *cuda.Buffer, cpu bool) error {
	for at, k := 0, 0; at < src.Len(); at, k = at+st.chunk, k^1 {
		n := min(st.chunk, src.Len()-at)
		host := st.host[k].Slice(0, n)
		if err := st.out.WaitEvent(st.emptied[k]); err != nil {
			return err
		}
		if err := src.Slice(at, at+n).DownloadAsync(host, st.out); err != nil {
			return err
		}
		if err := st.filled[k].Record(st.out); err != nil {
			return err
		}
		if cpu {
			if err := st.out.Synchronize(); err != nil {
				return err
			}
		}
		if err := st.in.WaitEvent(st.filled[k]); err != nil {
			return err
		}
		if err := dst.Slice(at, at+n).UploadAsync(host, st.in); err != nil {
			return err
		}
		if err := st.emptied[k].Record(st.in); err != nil {
			return err
		}
		if cpu {
			if err := st.in.Synchronize(); err != nil {
				return err
			}
		}
	}
	return nil
}
