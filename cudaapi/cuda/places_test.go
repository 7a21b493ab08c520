package cuda_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
)

func TestBatchMemOp(t *testing.T) {
	d := devices(t, 1)[0]
	a, b := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking)), must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	words := must[*cuda.Buffer](t)(d.Alloc(4, cuda.Uint32))
	defer words.Free()
	long := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Int64))
	defer long.Free()
	ok(t, words.Memset(0))
	ok(t, long.Memset(0))
	ok(t, d.Synchronize())
	ok(t, a.BatchMemOp(cuda.WriteOp(words, 7), cuda.WaitOp(words.Slice(1, 2), 3, cuda.WaitEQ), cuda.WriteOp(long, 1<<40),
		cuda.WaitOp(long, 1<<40, cuda.WaitAND)))
	if must[bool](t)(a.Query()) {
		t.Error("the batch did not wait")
	}
	ok(t, b.BatchMemOp(cuda.WriteOp(words.Slice(1, 2), 3)))
	ok(t, a.Synchronize())
	if got := must[[]uint32](t)(words.Uint32s()); got[0] != 7 || got[1] != 3 || got[2] != 0 {
		t.Errorf("%v", got)
	}
	if got := must[[]int64](t)(long.Int64s()); got[0] != 1<<40 {
		t.Errorf("%v", got)
	}
	refused(t, a.BatchMemOp(cuda.WriteOp(words, 1<<32)), cuda.ErrInvalidValue, "does not fit")
	refused(t, a.BatchMemOp(make([]cuda.MemOp, 256)...), cuda.ErrInvalidValue, "at most 255")
	refused(t, a.BatchMemOp(cuda.MemOp{}), cuda.ErrInvalidValue, "cannot copy")
	ok(t, a.BatchMemOp())
}

func TestManagedPlaces(t *testing.T) {
	d := devices(t, 1)[0]
	b := must[*cuda.Buffer](t)(d.AllocManaged(1<<20, cuda.Int32))
	defer b.Free()
	host := must[[]int32](t)(must[*cuda.HostBuffer](t)(b.Host()).Int32s())
	host[1<<20-1] = 41
	k := kernel(t, compile(t, `__global__ void inc(int *p, int i) { p[i] += 1; }`), "inc")
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	at := func(want driver.Device) {
		t.Helper()
		if got := must[int](t)(b.RangeAttribute(driver.RangeLastPrefetchLocation)); got != int(want) {
			t.Errorf("prefetched to %d, want %d", got, want)
		}
	}
	at(driver.Nowhere)
	ok(t, b.Prefetch(d, s))
	at(driver.Device(d.Ordinal()))
	ok(t, k.Launch(cuda.Grid(1), cuda.Block(1), s, b, 1<<20-1))
	ok(t, b.Prefetch(nil, s))
	at(driver.Host)
	ok(t, s.Synchronize())
	if host[1<<20-1] != 42 {
		t.Errorf("%d", host[1<<20-1])
	}
	ok(t, b.Advise(cuda.ReadMostly, nil))
	if must[int](t)(b.RangeAttribute(driver.RangeReadMostly)) != 1 {
		t.Error("the advice is not kept")
	}
	ok(t, b.Advise(cuda.NoReadMostly, nil))
	ok(t, b.Advise(cuda.PreferredLocation, d))
	ok(t, b.Advise(cuda.AccessedBy, d))
	plain := must[*cuda.Buffer](t)(d.Alloc(16, cuda.Int32))
	defer plain.Free()
	refused(t, plain.Prefetch(d, s), cuda.ErrInvalidValue, "AllocManaged gives memory that moves")
	refused(t, plain.Advise(cuda.ReadMostly, nil), cuda.ErrInvalidValue, "AllocManaged")
}

func TestSharedPool(t *testing.T) {
	const env = "GOCUDA_TEST_POOL"
	d := devices(t, 1)[0]
	if text := os.Getenv(env); text != "" {
		var h cuda.PoolMemory
		ok(t, h.UnmarshalText([]byte(text)))
		f := os.NewFile(3, "pool")
		pool := must[*cuda.Pool](t)(d.ImportPool(f))
		ok(t, f.Close())
		b := must[*cuda.Buffer](t)(pool.Open(h))
		if got := must[[]int32](t)(b.Int32s()); len(got) != 50 || got[0] != 25 {
			t.Errorf("%v", got)
		}
		ok(t, b.Fill(-1, nil))
		ok(t, d.Synchronize())
		ok(t, b.Free())
		ok(t, d.Synchronize())
		return
	}
	if kinds := must[int](t)(d.Attribute(driver.MemoryPoolHandleTypes)); kinds&1 == 0 {
		t.Skip("this device's pools have no file descriptors")
	}
	pool := must[*cuda.Pool](t)(d.NewSharedPool())
	f := must[*os.File](t)(pool.Export())
	defer f.Close()
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	b := must[*cuda.Buffer](t)(pool.AllocAsync(100, cuda.Int32, s))
	values := make([]int32, 100)
	for i := range values {
		values[i] = int32(i)
	}
	ok(t, b.UploadAsync(values, s))
	ok(t, s.Synchronize())
	h := must[cuda.PoolMemory](t)(b.Slice(25, 75).PoolHandle())
	again(t, env+"="+string(must[[]byte](t)(h.MarshalText())), f)
	if got := must[[]int32](t)(b.Int32s()); got[24] != 24 || got[25] != -1 || got[74] != -1 || got[75] != 75 {
		t.Errorf("%v", got[20:80])
	}
	ok(t, b.FreeAsync(s))
	ok(t, s.Synchronize())
	ok(t, pool.Destroy())
	plain := must[*cuda.Buffer](t)(d.Alloc(16, cuda.Int32))
	defer plain.Free()
	_, err := plain.PoolHandle()
	refused(t, err, cuda.ErrInvalidValue, "shared pool")
	if err := new(cuda.PoolMemory).UnmarshalText([]byte("12")); err == nil || !strings.Contains(err.Error(), "162 hexadecimal digits") {
		t.Errorf("got %v", err)
	}
}

func TestLaunchOptions(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	b := must[*cuda.Buffer](t)(d.Alloc(8, cuda.Int32))
	defer b.Free()
	k := kernel(t, compile(t, `__global__ void number(int *p) { p[blockIdx.x] = blockIdx.x + 1; }`), "number")
	_, greatest, err := d.StreamPriorityRange()
	ok(t, err)
	options := map[string]cuda.LaunchOption{"priority": cuda.LaunchPriority(greatest), "programmatic": cuda.Programmatic()}
	if must[int](t)(d.Attribute(driver.ClusterLaunch)) != 0 {
		options["clusters"], options["remote domain"] = cuda.Clusters(2), cuda.RemoteDomain()
		err := k.With(cuda.Clusters(2)).Launch(cuda.Grid(3), cuda.Block(1), s, b)
		if !errors.Is(err, cuda.ErrInvalidClusterSize) && !errors.Is(err, cuda.ErrInvalidValue) || !strings.Contains(err.Error(), "clusters of (2, 1, 1)") {
			t.Errorf("got %v", err)
		}
	}
	for name, o := range options {
		ok(t, b.Memset(0))
		ok(t, d.Synchronize())
		ok(t, k.With(o).Launch(cuda.Grid(8), cuda.Block(1), s, b))
		ok(t, s.Synchronize())
		if got := must[[]int32](t)(b.Int32s()); fmt.Sprint(got) != "[1 2 3 4 5 6 7 8]" {
			t.Errorf("%s: %v", name, got)
		}
	}
	two := k.With(cuda.LaunchPriority(greatest)).With(cuda.Programmatic())
	ok(t, two.Launch(cuda.Grid(8), cuda.Block(1), s, b))
	ok(t, k.Launch(cuda.Grid(3), cuda.Block(1), s, b)) // whose options stay its own
	ok(t, s.Synchronize())
}

func TestPrepared(t *testing.T) {
	d := devices(t, 1)[0]
	s := must[*cuda.Stream](t)(d.NewStream(cuda.NonBlocking))
	b := must[*cuda.Buffer](t)(d.Alloc(1, cuda.Int32))
	ok(t, b.Memset(0))
	ok(t, d.Synchronize())
	m := compile(t, `__global__ void add(int *p, int by) { atomicAdd(p, by); }`)
	k := kernel(t, m, "add")
	p := must[*cuda.Prepared](t)(k.Prepare(cuda.Grid(2), cuda.Block(1), s, b, 5))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				if err := p.Launch(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	ok(t, s.Synchronize())
	if got := must[[]int32](t)(b.Int32s()); got[0] != 4*25*2*5 {
		t.Errorf("%v", got)
	}
	_, err := k.Prepare(cuda.Grid(2), cuda.Block(1), s, b)
	refused(t, err, cuda.ErrInvalidValue, "takes 2 arguments, not 1")
	ok(t, m.Unload())
	refused(t, p.Launch(), cuda.ErrInvalidHandle, "unloaded")
	p = must[*cuda.Prepared](t)(k.Prepare(cuda.Grid(2), cuda.Block(1), s, b, 5))
	ok(t, b.Free())
	refused(t, p.Launch(), cuda.ErrInvalidValue, "was freed before")
	ok(t, s.Destroy())
	refused(t, p.Launch(), cuda.ErrInvalidHandle, "destroyed")
	refused(t, new(cuda.Prepared).Launch(), cuda.ErrInvalidValue, "Kernel.Prepare")
}

// A copy between two devices comes after the earlier work of both, and before
// the later work of both, whichever of them is told to copy.
func TestMemcpyBetweenDevicesIsInTheOrderOfBoth(t *testing.T) {
	list := devices(t, 2)
	word := must[*cuda.HostBuffer](t)(cuda.AllocHost(1, cuda.Uint32, cuda.Portable, cuda.Mapped))
	for _, late := range list[:2] { // its earlier work is held
		var bufs [2]*cuda.Buffer
		var streams [2]*cuda.Stream
		for i, d := range list[:2] {
			bufs[i] = must[*cuda.Buffer](t)(d.Alloc(1000, cuda.Int32))
			streams[i] = must[*cuda.Stream](t)(d.NewStream())
			ok(t, bufs[i].Fill(i+1, streams[i]))
			ok(t, d.Synchronize())
		}
		must[[]uint32](t)(word.Uint32s())[0] = 0
		held := streams[late.Ordinal()]
		ok(t, held.WaitValue(word, 1, cuda.WaitGEQ))
		ok(t, bufs[late.Ordinal()].Fill(7, held))
		ok(t, cuda.Memcpy(bufs[1], bufs[0]))
		ok(t, bufs[0].Fill(9, streams[0]))
		must[[]uint32](t)(word.Uint32s())[0] = 1
		ok(t, cuda.Synchronize())
		want := int32(1)
		if late == list[0] {
			want = 7
		}
		if got := must[[]int32](t)(bufs[1].Int32s()); got[0] != want || got[999] != want {
			t.Errorf("work of device %d was late: the copy holds %d and %d, want %d", late.Ordinal(), got[0], got[999], want)
		}
		for i := range bufs {
			ok(t, bufs[i].Free())
			ok(t, streams[i].Destroy())
		}
	}
	ok(t, word.Free())
}
