package sim_test

import (
	"errors"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// A graph whose kernel's module was unloaded is an error, not a call of code that
// is gone.
func TestGraphOfUnloadedModule(t *testing.T) {
	b := newBox(t, sim.Options{Devices: 1, Memory: 1 << 20})
	out, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: "__global__ void nothing() {}"})
	b.ok(err)
	m, err := b.d.ModuleLoad(b.c, out.Image)
	b.ok(err)
	names, err := b.d.ModuleFunctions(b.c, m)
	b.ok(err)
	k, err := b.d.ModuleFunction(b.c, m, names[0])
	b.ok(err)
	s, err := b.d.StreamCreate(b.c, driver.StreamNonBlocking, 0)
	b.ok(err)
	b.ok(b.simulated().StreamBeginCapture(b.c, s))
	one := driver.Dim3{X: 1, Y: 1, Z: 1}
	b.ok(b.d.Launch(b.c, &driver.Launch{Function: k, Grid: one, Block: one, Stream: s}))
	g, err := b.simulated().StreamEndCapture(b.c, s)
	b.ok(err)
	x, err := b.simulated().GraphInstantiate(b.c, g)
	b.ok(err)
	b.ok(b.simulated().GraphLaunch(b.c, x, s))
	b.ok(b.sync())
	b.ok(b.d.ModuleUnload(b.c, m))
	err = b.simulated().GraphLaunch(b.c, x, s)
	if !errors.Is(err, driver.ErrInvalidHandle) || !strings.Contains(err.Error(), "nothing was unloaded") {
		t.Errorf("got %v", err)
	}
	b.ok(b.sync())
}
