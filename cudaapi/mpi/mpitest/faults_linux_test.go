package mpitest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
	"gocuda/cudaapi/mpi/launch"
)

// The environment of a rank of TestFaults: the folder where the killed write when.
const envKilled = "GOCUDA_MPITEST_KILLED"

// known is how soon a killed rank is an error at the others.
const known = 2 * time.Second

// scene is what ranks are in when one of them is killed. It ends with that error at a rank
// that waits for it, directly or not.
type scene struct {
	name    string
	windows bool // libraries do not survive in them
	run     func(c *mpi.Comm, victim int) error
}

// die ends this process, if it is the victim, as the kernel would.
func die(c *mpi.Comm, victim int) {
	if c.Rank() != victim {
		return
	}
	path := filepath.Join(os.Getenv(envKilled), strconv.Itoa(mpi.World().Rank()))
	if err := os.WriteFile(path, []byte(strconv.FormatInt(time.Now().UnixNano(), 10)), 0o600); err == nil {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	select {}
}

// until repeats a call until it fails; the victim dies in the midst of it.
func until(c *mpi.Comm, victim int, call func(i int) error) error {
	for i := 0; ; i++ {
		if i == 3 && c.Rank() == victim {
			go func() { time.Sleep(time.Millisecond); die(c, victim) }()
		}
		if err := call(i); err != nil {
			return err
		}
	}
}

func scenes() []scene {
	long := make([]float64, 1<<16)
	return []scene{
		{"send", false, func(c *mpi.Comm, victim int) error {
			die(c, victim)
			return c.Ssend(long, victim, 1)
		}},
		{"receive", false, func(c *mpi.Comm, victim int) error {
			die(c, victim)
			_, err := c.Recv(make([]float64, 1), victim, 1)
			return err
		}},
		{"receive from any", false, func(c *mpi.Comm, victim int) error {
			die(c, victim)
			_, err := c.Recv(make([]float64, 1), mpi.AnySource, 1)
			return err
		}},
		{"allreduce", false, func(c *mpi.Comm, victim int) error {
			sum := make([]float64, len(long))
			return until(c, victim, func(int) error { return c.Allreduce(long, sum, mpi.Sum) })
		}},
		{"broadcast", false, func(c *mpi.Comm, victim int) error {
			buf := make([]float64, len(long))
			return until(c, victim, func(i int) error { return c.Bcast(buf, i%c.Size()) })
		}},
		{"barrier", false, func(c *mpi.Comm, victim int) error {
			return until(c, victim, func(int) error { return c.Barrier() })
		}},
		{"large messages", false, func(c *mpi.Comm, victim int) error {
			big, in := make([]float64, 1<<20), make([]float64, 1<<20)
			return until(c, victim, func(int) error {
				_, err := c.Sendrecv(big, (c.Rank()+1)%c.Size(), 1, in, (c.Rank()+c.Size()-1)%c.Size(), 1)
				if err != nil {
					return errors.Join(err, c.Revoke()) // those further off wait for this one
				}
				return nil
			})
		}},
		{"fence", true, func(c *mpi.Comm, victim int) error {
			var mem []float64
			w, err := c.WinAllocate(&mem, 64)
			if err != nil {
				return err
			}
			if err := w.Fence(); err != nil {
				return err
			}
			return until(c, victim, func(i int) error {
				return errors.Join(w.Put(1.0, (c.Rank()+1)%c.Size(), 0), w.Fence())
			})
		}},
		{"lock", true, func(c *mpi.Comm, victim int) error {
			w, err := c.WinCreate(make([]float64, 64))
			if err != nil {
				return err
			}
			return until(c, victim, func(i int) error {
				return errors.Join(w.Lock(victim, mpi.LockShared), w.Accumulate(1.0, victim, 0, mpi.Sum), w.Unlock(victim))
			})
		}},
		{"a kernel that waits for a signal", true, func(c *mpi.Comm, victim int) error {
			devices, err := cuda.Devices()
			if err != nil {
				return err
			}
			d := devices[c.Rank()%len(devices)]
			w, err := c.Symmetric(d, 1, cuda.Float32)
			if err != nil {
				return err
			}
			if err := w.WaitSignal(0, nil); err != nil {
				return err
			}
			die(c, victim)
			err = d.Synchronize()
			return errors.Join(err, w.Close())
		}},
		{"gather", false, func(c *mpi.Comm, victim int) error {
			all := make([]int, c.Size())
			return until(c, victim, func(i int) error {
				if err := c.Gather(i, all, i%c.Size()); err != nil {
					return err
				}
				return c.Barrier()
			})
		}},
	}
}

// survivor plays scenes until one rank is left.
func survivor() error {
	c, err := mpi.Init()
	if err != nil {
		return err
	}
	info, err := mpi.LibraryInfo()
	if err != nil {
		return err
	}
	list := scenes()
	if info.Name != "local" {
		list = slices.DeleteFunc(list, func(s scene) bool { return s.windows })
	}
	first, _ := strconv.Atoi(os.Getenv("GOCUDA_MPITEST_FIRST"))
	for turn := 0; c.Size() > 1; turn++ {
		s := list[(first+turn)%len(list)]
		victim := (turn + first) % c.Size()
		numbers := make([]int, c.Size()) // in the world
		if err := c.Allgather(mpi.World().Rank(), numbers); err != nil {
			return fmt.Errorf("before %s: %w", s.name, err)
		}
		err := s.run(c, victim)
		if !errors.Is(err, mpi.ErrProcLost) && !errors.Is(err, mpi.ErrRevoked) {
			return fmt.Errorf("%s: the error is %v", s.name, err)
		}
		text, wrong := os.ReadFile(filepath.Join(os.Getenv(envKilled), strconv.Itoa(numbers[victim])))
		if wrong != nil {
			return fmt.Errorf("%s: it fails before the rank is killed: %w", s.name, err)
		}
		when, _ := strconv.ParseInt(string(text), 10, 64)
		if d := time.Since(time.Unix(0, when)); d > known {
			return fmt.Errorf("%s: known after %v", s.name, d)
		}
		if errors.Is(err, mpi.ErrProcLost) && info.Name == "local" && !strings.Contains(err.Error(), fmt.Sprintf("rank %d of the world was lost", numbers[victim])) {
			return fmt.Errorf("%s: the error does not name rank %d: %w", s.name, numbers[victim], err)
		}
		if err := c.Revoke(); err != nil {
			return fmt.Errorf("after %s: %w", s.name, err)
		}
		all, err := c.Agree(true)
		if err != nil || !all {
			return fmt.Errorf("after %s: they agree on %v, %w", s.name, all, err)
		}
		if failed, err := c.Failed(); err != nil || len(failed) != 1 || failed[0] != victim {
			return fmt.Errorf("after %s: %v failed, not %d, %w", s.name, failed, victim, err)
		}
		if all, err := c.Agree(c.Rank() != (victim+1)%c.Size()); err != nil || all {
			return fmt.Errorf("after %s: one says no, and they agree on %v, %w", s.name, all, err)
		}
		d, err := c.Shrink()
		if err != nil {
			return fmt.Errorf("after %s: %w", s.name, err)
		}
		sum := 0
		if err := d.Allreduce(1, &sum, mpi.Sum); err != nil || d.Size() != c.Size()-1 || sum != d.Size() {
			return fmt.Errorf("after %s: %v, sum %d, %w", s.name, d, sum, err)
		}
		c = d
		if c.Rank() == 0 {
			fmt.Printf("survived %s\n", s.name)
		}
	}
	return nil
}

// TestFaults kills fifty ranks, one after the other: the others learn it within two seconds,
// shrink and go on.
func TestFaults(t *testing.T) {
	const ranks = 6
	for first := range len(scenes()) {
		t.Run(scenes()[first].name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var out strings.Builder
			status, err := launch.Run(ctx, ranks, []string{os.Args[0]}, launch.Options{Stdout: &out, Stderr: &out, GoOn: true,
				Env: []string{envKilled + "=" + t.TempDir(), fmt.Sprintf("GOCUDA_MPITEST_FIRST=%d", first)}})
			if n := strings.Count(out.String(), "survived"); err != nil || status != 0 || n != ranks-1 {
				t.Errorf("status %d, %v, after %d of %d losses:\n%s", status, err, n, ranks-1, &out)
			}
		})
	}
}

// TestFaultsUnderOpenMPI does so under an Open MPI with ULFM.
func TestFaultsUnderOpenMPI(t *testing.T) {
	for _, path := range libraries(t) {
		if !strings.HasPrefix(prefix(path), "openmpi-5") || raceDetector {
			continue
		}
		run := under(t, path, "--with-ft", "ulfm")
		for first := range 8 {
			t.Run(fmt.Sprintf("%s/%d", prefix(path), first), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				out, _ := run(ctx, 4, os.Args[0], []string{envKilled + "=" + t.TempDir(), fmt.Sprintf("GOCUDA_MPITEST_FIRST=%d", first)})
				if n := strings.Count(string(out), "survived"); n != 3 {
					t.Errorf("%d of 3 losses survived:\n%s", n, out)
				}
			})
		}
	}
}
