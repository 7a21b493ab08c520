package cuda_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
)

// loader is a driver that notes what is loaded.
type loader struct {
	driver.Driver
	mu        sync.Mutex
	modules   int      // that the program loaded
	preloaded []string // kernels and their devices, "fill 0"
	devices   map[driver.Context]driver.Device
}

func (*loader) Preloads() bool { return true }

func (l *loader) Preload(c driver.Context, from *driver.Origin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.preloaded = append(l.preloaded, from.Symbol+" "+string('0'+rune(l.devices[c])))
}

func (l *loader) ModuleLoad(c driver.Context, image []byte) (driver.Module, error) {
	l.mu.Lock()
	l.modules++
	l.mu.Unlock()
	return l.Driver.ModuleLoad(c, image)
}

func (l *loader) PrimaryRetain(dev driver.Device) (driver.Context, error) {
	c, err := l.Driver.PrimaryRetain(dev)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.devices[c] = dev
	return c, err
}

// Loading may wait for all that is queued, and so for what the program does only behind
// a first launch. What a driver loads with kernels it loads before that: when it is put
// in the place of another, and when a module is made.
func TestPreload(t *testing.T) {
	list := devices(t, 2)
	compile := func(name string) *cuda.Kernel {
		m := must[*cuda.Module](t)(cuda.Compile(`extern "C" __global__ void ` + name + `(int *p) { p[0] += 1; }`))
		return must[*cuda.Kernel](t)(m.Kernel(name))
	}
	var l *loader
	told := func(want ...string) {
		t.Helper()
		l.mu.Lock()
		defer l.mu.Unlock()
		got := slices.DeleteFunc(slices.Clone(l.preloaded), func(s string) bool {
			return !strings.HasPrefix(s, "before_") && !strings.HasPrefix(s, "behind_") // other tests' modules
		})
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("preloaded are %q, want %q", got, want)
		}
	}
	var memory []*cuda.Buffer
	for _, d := range list[:2] { // both are in use
		memory = append(memory, must[*cuda.Buffer](t)(d.Alloc(1, cuda.Int32)))
	}
	before, unused := compile("before_it"), compile("before_unused")
	ok(t, before.Launch(cuda.Grid(1), cuda.Block(1), list[0].DefaultStream(), memory[0]))
	ok(t, cuda.Decorate(func(d driver.Driver, inUse map[driver.Context]driver.Device) driver.Driver {
		l = &loader{Driver: d, devices: inUse}
		return l
	}))
	defer func() { ok(t, cuda.Decorate(nil)) }()
	told("before_it 0", "before_unused 0")
	behind := compile("behind_it")
	told("before_it 0", "before_unused 0", "behind_it 0", "behind_it 1")

	// Nothing more is loaded at the first launch behind what holds a stream.
	loaded := l.modules
	open := make(chan struct{})
	for i, d := range list[:2] {
		s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
		ok(t, s.LaunchHostFunc(func() { <-open }))
		ok(t, behind.Launch(cuda.Grid(1), cuda.Block(1), s, memory[i]))
	}
	if l.modules != loaded {
		t.Errorf("%d modules were loaded at the launches", l.modules-loaded)
	}
	close(open)
	told("before_it 0", "before_unused 0", "behind_it 0", "behind_it 1")
	ok(t, unused.Launch(cuda.Grid(1), cuda.Block(1), list[1].DefaultStream(), memory[1]))
	told("before_it 0", "before_unused 0", "before_unused 1", "behind_it 0", "behind_it 1")
	for _, b := range memory {
		ok(t, b.Device().Synchronize())
		ok(t, b.Free())
	}
}
