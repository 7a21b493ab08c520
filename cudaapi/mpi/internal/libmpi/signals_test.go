//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"gocuda/cudaapi/mpi/internal/transport"
)

func init() {
	programs["signals"] = func(t transport.Transport) error {
		now := actions()
		for s := 1; s <= lastSignal; s++ {
			if a := now[s]; a.handler > 1 && a.flags&saOnStack == 0 {
				return fmt.Errorf("the handler of signal %d does not run on the signal stack: %+v", s, a)
			}
		}
		for _, s := range goOwns {
			if now[s].handler != now[syscall.SIGURG].handler && !signal.Ignored(s) {
				return fmt.Errorf("the handler of %v is not Go's", s)
			}
		}
		return nilPanics()
	}

	// Messages while the collector runs, stacks grow and goroutines are
	// preempted, by signals that reach the library's calls too.
	programs["pressure"] = func(t transport.Transport) error {
		stop := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(stop) })
		var busy sync.WaitGroup
		for range 2 {
			busy.Go(func() {
				var keep [][]byte
				for {
					select {
					case <-stop:
						runtime.KeepAlive(keep)
						return
					default:
					}
					if keep = append(keep, make([]byte, 4096)); len(keep) > 500 {
						keep = nil
						runtime.GC()
					}
					deep(200)
				}
			})
		}
		busy.Go(func() {
			for x := uint32(1); ; x = x*1664525 + 1013904223 {
				if x%(1<<20) == 1 {
					select {
					case <-stop:
						return
					default:
					}
				}
			}
		})
		defer busy.Wait()
		w := t.World()
		right, left := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
		var lanes sync.WaitGroup
		wrong := make(chan error, 3)
		for lane := range 3 { // each with its own tag, at once
			lanes.Go(func() {
				for i := range 300 {
					n := 1 + i*i%20000
					in, out := make([]int32, n), series(n, func(k int) int { return k*i + lane })
					r, err := w.Irecv(memory(transport.Int32, in), left, lane)
					if err == nil {
						_, err = wait(w.Isend(memory(transport.Int32, out), right, lane))
					}
					if err == nil {
						_, err = wait(r, nil)
					}
					if err == nil && in[n-1] != out[n-1] {
						err = fmt.Errorf("message %d of lane %d: got %d, want %d", i, lane, in[n-1], out[n-1])
					}
					if err != nil {
						wrong <- err
						return
					}
				}
			})
		}
		lanes.Wait()
		select {
		case err := <-wrong:
			return err
		default:
			return nil
		}
	}
}

// nilPanics checks that a fault in Go code is a panic still.
func nilPanics() (err error) {
	defer func() {
		if recover() == nil {
			err = fmt.Errorf("no panic")
		}
	}()
	var p *int
	*p = 1
	return nil
}

// deep makes the goroutine's stack grow.
func deep(n int) int {
	var pad [128]byte
	if n == 0 {
		return int(pad[0])
	}
	return deep(n-1) + int(pad[n%128])
}

// TestSignals lets UCX take the signals of faults, as it does by default, and
// wants them back with Go.
func TestSignals(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) {
		lib.mpirun(t, 2, "signals", "UCX_ERROR_SIGNALS=SIGILL,SIGSEGV,SIGBUS,SIGFPE")
	})
}

func TestPressure(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) { lib.mpirun(t, 2, "pressure") })
}

// TestKeepSignals takes a signal away, as a C library does.
func TestKeepSignals(t *testing.T) {
	var before, after sigaction
	const other = syscall.SIGUSR2
	for _, s := range []syscall.Signal{syscall.SIGSEGV, other} {
		rtSigaction(int(s), nil, &before)
		keepSignals(func() {
			mine := before
			mine.flags &^= saOnStack
			mine.mask ^= 1 << 40
			rtSigaction(int(s), &mine, nil)
		})
		rtSigaction(int(s), nil, &after)
		want := before
		if s == other {
			want.mask ^= 1 << 40 // the library keeps it, on the signal stack
		}
		if after != want {
			t.Errorf("%v: %+v, want %+v", s, after, want)
		}
		rtSigaction(int(s), &before, nil)
	}
}
