package mpi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/transport"
)

// aware is a library that says it takes device memory, and reports what it is
// given.
type aware struct {
	transport.Transport
	given *[]string
}

func (a aware) Info() transport.Info {
	i := a.Transport.Info()
	i.CUDAAware, i.Why = true, "it is made to say so"
	return i
}

func (a aware) World() transport.Comm { return awareComm{a.Transport.World(), a.given} }

type awareComm struct {
	transport.Comm
	given *[]string
}

func (c awareComm) see(call string, memories ...transport.Memory) {
	for _, m := range memories {
		if m.Device != nil {
			*c.given = append(*c.given, call)
		}
	}
}

func (c awareComm) Dup() (transport.Comm, error) {
	d, err := c.Comm.Dup()
	return awareComm{d, c.given}, err
}

func (c awareComm) Isend(m transport.Memory, dest, tag int) (transport.Request, error) {
	c.see("Isend", m)
	return c.Comm.Isend(m, dest, tag)
}

func (c awareComm) Irecv(m transport.Memory, source, tag int) (transport.Request, error) {
	c.see("Irecv", m)
	return c.Comm.Irecv(m, source, tag)
}

func (c awareComm) Start(x *transport.Collective) (transport.Request, error) {
	c.see(fmt.Sprint("collective ", x.Kind), x.Send, x.Recv)
	return c.Comm.Start(x)
}

// A CUDA-aware library would copy from an address of a simulated device, and end
// the program.
func TestSimulatedMemoryIsNotGivenToALibrary(t *testing.T) {
	if devices, err := cuda.Backend(); err != nil || devices.Name != "sim" {
		t.Skipf("the devices are no simulated ones: %v", devices)
	}
	var given []string
	library := aware{Self().w.t, &given}
	w, err := newWorld(library)
	if err != nil {
		t.Fatal(err)
	}
	if path, why := Path(w.world, 0); path == "cuda-aware" {
		t.Errorf("the path is %s: %s", path, why)
	}
	all, err := cuda.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{3, 1 << 16} {
		from, err := all[0].Alloc(n, cuda.Float64)
		if err != nil {
			t.Fatal(err)
		}
		to, err := all[0].Alloc(n, cuda.Float64)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]float64, n)
		for i := range data {
			data[i] = float64(i)
		}
		for name, call := range map[string]func() error{
			"Send, Recv": func() error {
				r, err := w.world.Isend(from, 0, 1)
				if err == nil {
					_, err = w.world.Recv(to, 0, 1)
				}
				if err == nil {
					_, err = r.Wait()
				}
				return err
			},
			"Allgather": func() error { return w.world.Allgather(from, to) },
			"Allreduce": func() error { return w.world.Allreduce(from, to, Sum) },
			"Bcast":     func() error { return w.world.Bcast(to, 0) },
		} {
			if name == "Bcast" {
				if err := to.Upload(data); err != nil {
					t.Fatal(err)
				}
			} else if err := to.Fill(0.0, nil); err != nil {
				t.Fatal(err)
			}
			if err := from.Upload(data); err != nil {
				t.Fatal(err)
			}
			if err := call(); err != nil {
				t.Errorf("%s of %d numbers: %v", name, n, err)
			}
			got := make([]float64, n)
			if err := to.Download(got); err != nil || !slices.Equal(got, data) {
				t.Errorf("%s of %d numbers came with other data; %v", name, n, err)
			}
		}
	}
	if len(given) > 0 {
		t.Errorf("the library was given memory of a simulated device by %v", given)
	}
	t.Setenv("GOCUDA_MPI_PATH", "cuda-aware")
	if _, err := newWorld(library); err == nil || !strings.Contains(err.Error(), "sim") {
		t.Errorf("GOCUDA_MPI_PATH=cuda-aware on simulated devices: %v", err)
	}
}
