//go:build linux && (amd64 || arm64)

package libmpi

import (
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
	programs["hello"] = func(t transport.Transport) error {
		i := t.Info()
		fmt.Printf("rank %d of %d: %+v tagub %d\n", t.World().Rank(), t.World().Size(), i, t.TagUB())
		return nil
	}
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
		return nil
	}
}

func TestHello(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) {
		out := lib.mpirun(t, 2, "hello")
		t.Log(out)
		if !strings.Contains(out, "rank 0 of 2") || !strings.Contains(out, "rank 1 of 2") {
			t.Error(out)
		}
	})
}

func TestRing(t *testing.T) {
	onEach(t, func(t *testing.T, lib installed) { lib.mpirun(t, 3, "ring") })
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
