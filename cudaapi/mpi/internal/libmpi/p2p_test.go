//go:build linux && (amd64 || arm64)

package libmpi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

func memory[E any](t transport.Type, s []E) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(unsafe.SliceData(s)), N: len(s), T: t}
}

func init() {
	programs["ring"] = func(t transport.Transport) error {
		w := t.World()
		right, left := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
		in, out := []float64{0, 0}, []float64{float64(w.Rank()), 0.5}
		r, err := w.Irecv(memory(transport.Float64, in), left, transport.AnyTag)
		if err != nil {
			return err
		}
		if _, err := wait(w.Isend(memory(transport.Float64, out), right, 7)); err != nil {
			return err
		}
		st, err := wait(r, nil)
		if err != nil {
			return err
		}
		if want := (transport.Status{Source: left, Tag: 7, Bytes: 16}); st != want || in[0] != float64(left) || in[1] != 0.5 {
			return fmt.Errorf("got %v with %+v, want %v", in, st, want)
		}
		if again, done, err := r.Test(); again != st || !done || err != nil {
			return fmt.Errorf("asked again: %+v %v %v", again, done, err)
		}
		i := t.Info()
		if want := os.Getenv("GOCUDA_MPI"); i.Library != want || i.Found != "by GOCUDA_MPI" || i.Name == "" || i.Version == "" || i.Why == "" || t.TagUB() < 32767 || t.Wtime() < 0 {
			return fmt.Errorf("%+v", i)
		}
		return nil
	}

	// Each rank with itself, on a communicator that others do not disturb.
	programs["matching"] = func(t transport.Transport) error {
		w := t.Self()
		bytes := func(b []byte) transport.Memory { return memory(transport.Byte, b) }
		var e *transport.Error

		buf := []byte("----####")
		r, err := w.Isend(bytes([]byte("0123456789")), 0, 1)
		if err != nil {
			return err
		}
		if st, err := wait(w.Irecv(bytes(buf[:4]), 0, 1)); !errors.As(err, &e) || e.Class != transport.Truncate || e.Text == "" || e.Call != "MPI_Irecv" {
			return fmt.Errorf("a message too long gave %+v, %v", st, err)
		}
		if string(buf[4:]) != "####" {
			return fmt.Errorf("it wrote past the memory: %q", buf)
		}
		if _, err := wait(r, nil); err != nil {
			return err
		}

		if _, err := wait(w.Isend(bytes(nil), 99, 1)); !errors.As(err, &e) || e.Class != "MPI_ERR_RANK" {
			return fmt.Errorf("a rank that is not there gave %v", err)
		}

		r, err = w.Irecv(bytes(buf), transport.AnySource, 2)
		if err != nil {
			return err
		}
		if err := r.Cancel(); err != nil {
			return err
		}
		if st, err := wait(r, nil); err != nil || !st.Cancelled {
			return fmt.Errorf("a cancelled receive: %+v, %v", st, err)
		}

		if _, err := wait(w.Isend(transport.Memory{}, transport.ProcNull, 0)); err != nil {
			return err
		}
		if st, err := wait(w.Irecv(bytes(buf), transport.ProcNull, 3)); err != nil || st != (transport.Status{Source: transport.ProcNull, Tag: transport.AnyTag}) {
			return fmt.Errorf("from nobody: %+v, %v", st, err)
		}

		sent, err := w.Isend(bytes([]byte("probed")), 0, 4)
		if err != nil {
			return err
		}
		want := transport.Status{Source: 0, Tag: 4, Bytes: 6}
		for ok := false; !ok; {
			var st transport.Status
			if st, ok, err = w.Iprobe(transport.AnySource, transport.AnyTag); err != nil || ok && st != want {
				return fmt.Errorf("Iprobe: %+v, %v", st, err)
			}
		}
		m, st, ok, err := w.Improbe(0, 4)
		if err != nil || !ok || st != want {
			return fmt.Errorf("Improbe: %+v, %v, %v", st, ok, err)
		}
		if _, ok, err := w.Iprobe(transport.AnySource, transport.AnyTag); ok || err != nil {
			return fmt.Errorf("a message taken out was found: %v", err)
		}
		if st, err := wait(m.Imrecv(bytes(buf))); err != nil || st != want || string(buf[:6]) != "probed" {
			return fmt.Errorf("Imrecv: %+v, %v", st, err)
		}
		_, err = wait(sent, nil)
		return err
	}
}

func TestOneAfterTheOther(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) {
		lib.mpirun(t, 4, "ring,matching,truncation,kept,communicators,signals")
	})
}

func init() {
	// The end of one rank must not be that of others, which have work to do
	// after MPI_Finalize.
	programs["leave"] = func(t transport.Transport) error {
		if t.World().Rank() == 0 {
			return nil
		}
		rank := t.World().Rank()
		if err := t.Finalize(); err != nil {
			return err
		}
		time.Sleep(300 * time.Millisecond)
		fmt.Printf("rank %d is done\n", rank)
		os.Exit(0)
		return nil
	}
}

func TestOneRankLeavesEarly(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) {
		if out := lib.mpirun(t, 3, "leave"); strings.Count(out, "is done") != 2 {
			t.Error(out)
		}
	})
}

func init() {
	// What a program that blocks does in a loop leaves no garbage.
	programs["garbage"] = func(t transport.Transport) error {
		w := t.Self()
		out, in := memory(transport.Float64, []float64{1}), memory(transport.Float64, []float64{0})
		var failed error
		over := func(r transport.Request, err error) {
			if _, err = wait(r, err); err != nil {
				failed = err
				return
			}
			r.(transport.Releaser).Release()
		}
		n := testing.AllocsPerRun(1000, func() {
			r, err := w.Isend(out, 0, 1)
			over(w.Irecv(in, 0, 1))
			over(r, err)
		})
		if n >= 1 && failed == nil {
			failed = fmt.Errorf("a message makes %v allocations", n)
		}
		return failed
	}
}

func TestGarbage(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has pools forget")
	}
	onEach(t, func(t *testing.T, lib installed) { lib.mpirun(t, 1, "garbage") })
}
