package hazardtest

import (
	"fmt"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/hazard"
	"gocuda/cudaapi/sim"
)

// outcome runs a program on fresh devices, and gives what is left in memory, or the error.
func outcome(t *testing.T, p program, all bool) (left string, lines [2]hazard.Place) {
	t.Helper()
	d, err := sim.New(sim.Options{Devices: 2, Memory: 1 << 28})
	if err != nil {
		t.Fatal(err)
	}
	use(t, d)
	if err := hazard.On(); err != nil {
		t.Fatal(err)
	}
	defer hazard.Off() //nolint:errcheck // the next one would fail too
	e := newEnv(t)
	e.all = all
	for k, b := range []*cuda.Buffer{e.x, e.y, e.z, e.two().w} {
		e.check(b.Fill(10+k, nil))
	}
	host := must(e.h.Float32s())
	for i := range host {
		host[i] = 20
	}
	e.check(cuda.Synchronize())
	p.run(e)
	if err := cuda.Synchronize(); err != nil {
		return "an error: " + err.Error(), e.lines
	}
	left = fmt.Sprint(e.slices)
	for _, b := range []*cuda.Buffer{e.x, e.y, e.z, e.two().w, e.made} {
		if b == nil {
			continue
		}
		if v, err := b.Float32s(); err == nil { // else it was freed
			left += fmt.Sprint(v)
		}
	}
	for _, d := range []*cuda.Device{e.d0, e.two().d1} {
		left += fmt.Sprint(must(must(e.mod.Global(d, "seen", cuda.Uint64)).Uint64s()))
	}
	if host, err := e.h.Float32s(); err == nil {
		left += fmt.Sprint(host)
	}
	return left, e.lines
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// unseen are programs whose damage no order shows, and why.
var unseen = map[string]string{
	"a write waits for a write":                                                same,
	"a buffer is used again in the next round":                                 same,
	"the host waits behind the kernel, not before":                             same,
	"the halo's owner waits for its reader":                                    same,
	"rows that overlap by one element":                                         same,
	"two graphs on two streams":                                                same,
	"double buffering":                                                         same,
	"a snapshot of each round":                                                 same,
	"even bytes, and again":                                                    same,
	"a closure called for two streams":                                         same,
	"a synchronous copy from a Go slice promises only that the slice was read": copied,
	"an asynchronous copy to a Go slice promises nothing by its return":        copied,
	"two copies to one Go slice":                                               copied,
	"memory is freed when its kernel is done":                                  waits,
	"pinned memory is freed when its copy is done":                             waits,
	"memory that was registered is released when its copy is done":             waits,
}

const (
	same   = "what is written was there before"
	copied = "simulated devices have copied when a call with Go memory returns, as GPUs may"
	waits  = "simulated devices free when what uses the memory is done, as GPUs may"
)

// The first operation of a hazard runs late, and the damage shows.
func TestReplay(t *testing.T) {
	if _, err := sim.Compiler(); err != nil {
		t.Skip(err)
	}
	for _, p := range programs {
		if p.right {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			right, lines := outcome(t, p, true)
			end := hazard.Late(lines[0])
			wrong, _ := outcome(t, p, false)
			end()
			if why := unseen[p.name]; (wrong == right) != (why != "") {
				t.Errorf("with %s late the outcome is right: %v (%s)", lines[0], wrong == right, why)
			}
		})
	}
}
