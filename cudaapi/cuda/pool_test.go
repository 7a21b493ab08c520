package cuda_test

import (
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
)

// TestPoolAccess is about what a kernel of another device may use: the driver
// would see it only when the kernel runs, and then for good.
func TestPoolAccess(t *testing.T) {
	list := devices(t, 2)
	d, peer := list[0], list[1]
	if able := must[bool](t)(peer.CanAccessPeer(d)); !able {
		t.Skip("the devices cannot access each other")
	}
	k := kernel(t, compile(t, saxpy), "saxpy")
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	far := must[*cuda.Stream](t)(peer.NewStream(cuda.NonBlocking))
	own := must[*cuda.Pool](t)(d.NewPool())
	def := must[*cuda.Pool](t)(d.DefaultPool())
	for name, pool := range map[string]*cuda.Pool{"own": own, "default": def} {
		b := must[*cuda.Buffer](t)(pool.AllocAsync(4, cuda.Float32, s))
		ok(t, b.Fill(1, s))
		ok(t, s.Synchronize())
		launch := func() error { return k.Launch(cuda.Grid(1), cuda.Block(4), far, 4, 2.0, b, b) }
		refused(t, launch(), cuda.ErrInvalidValue, "call Pool.SetAccess")
		ok(t, pool.SetAccess(peer, true))
		ok(t, launch())
		ok(t, far.Synchronize())
		if got := must[[]float32](t)(b.Float32s()); got[3] != 3 {
			t.Errorf("%s: %v", name, got)
		}
		ok(t, pool.SetAccess(peer, false))
		refused(t, launch(), cuda.ErrInvalidValue, "call Pool.SetAccess")
		ok(t, b.FreeAsync(s))
	}
	b := must[*cuda.Buffer](t)(s.AllocAsync(4, cuda.Float32))
	refused(t, k.Launch(cuda.Grid(1), cuda.Block(4), far, 4, 2.0, b, b), cuda.ErrInvalidValue, "call Pool.SetAccess")
	ok(t, b.FreeAsync(s))
	ok(t, s.Synchronize())
	ok(t, own.Destroy())
}

func TestNamesThatAreNotThere(t *testing.T) {
	devices(t, 1)
	m, err := cuda.Compile("namespace n { template <typename T> __global__ void scale(T *x) { *x *= 2; } } __global__ void plain() {}", cuda.Instantiate("n::scale<float>"))
	ok(t, err)
	for name, want := range map[string]string{
		"n::scale":        "n::scale is a template",
		"n::scale<int>":   "n::scale is a template",
		"::n::scale<int>": "n::scale is a template",
		"other":           "the module has: plain, n::scale<float>",
	} {
		_, err := m.Kernel(name)
		refused(t, err, cuda.ErrNotFound, want)
	}
	_, err = cuda.Get(99)
	refused(t, err, driver.ErrInvalidDevice, "cuda.Get: ")
	refused(t, cuda.SetDevice(99), driver.ErrInvalidDevice, "cuda.SetDevice: ")
}
