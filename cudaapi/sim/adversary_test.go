package sim_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// stagedCopy copies from device 0 to device 1 through two pinned buffers, the
// host waiting for nothing before the end. leave names a wait to leave out: 0
// none, 1 that of the source for a buffer to be drained, 2 that of the
// destination for a buffer to be filled.
func stagedCopy(t testing.TB, d *sim.Driver, chunks, leave int) bool {
	t.Helper()
	const chunk = 4096
	n := uint64(chunks * chunk)
	ok := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	var c [2]driver.Context
	var s [2]driver.Stream
	var mem [2]driver.Ptr
	var ev [2][2]driver.Event
	var stage [2]driver.Ptr
	var err error
	for i := range 2 {
		c[i] = retain(t, d, driver.Device(i))
		s[i], err = d.StreamCreate(c[i], driver.StreamNonBlocking, 0)
		ok(err)
		mem[i], err = d.MemAlloc(c[i], n)
		ok(err)
		stage[i], err = d.HostAlloc(c[0], chunk, driver.HostPortable)
		ok(err)
		for j := range 2 {
			ev[i][j], err = d.EventCreate(c[i], driver.EventDisableTiming)
			ok(err)
		}
	}
	want := make([]byte, n)
	for i := range want {
		want[i] = byte(i / 7 * 31)
	}
	ok(d.Memcpy(c[0], mem[0], ptr(want), n))
	ok(d.Memset(c[1], mem[1], 0xee, 1, n))
	ok(d.CtxSynchronize(c[0], nil))
	ok(d.CtxSynchronize(c[1], nil))
	for i := range chunks {
		b, off := i%2, driver.Ptr(i*chunk)
		if leave != 1 {
			ok(d.StreamWaitEvent(c[0], s[0], ev[1][b]))
		}
		ok(d.MemcpyAsync(c[0], stage[b], mem[0]+off, chunk, s[0]))
		ok(d.EventRecord(c[0], ev[0][b], s[0]))
		if leave != 2 {
			ok(d.StreamWaitEvent(c[1], s[1], ev[0][b]))
		}
		ok(d.MemcpyAsync(c[1], mem[1]+off, stage[b], chunk, s[1]))
		ok(d.EventRecord(c[1], ev[1][b], s[1]))
	}
	ok(d.CtxSynchronize(c[0], nil))
	ok(d.CtxSynchronize(c[1], nil))
	got := make([]byte, n)
	ok(d.Memcpy(c[1], ptr(got), mem[1], n))
	return bytes.Equal(got, want)
}

func TestMissingWait(t *testing.T) {
	for _, schedule := range []bool{true, false} {
		for leave, what := range []string{"whole", "without the source's wait", "without the destination's wait"} {
			t.Run(fmt.Sprintf("adversarial=%v/%s", schedule, what), func(t *testing.T) {
				runs, wrong := 100, 0
				if leave == 0 && schedule {
					runs = 1000
				}
				for seed := range runs {
					d, err := sim.New(sim.Options{Devices: 2, Memory: 1 << 30, Seed: uint64(seed + 1), Adversarial: schedule})
					if err != nil {
						t.Fatal(err)
					}
					if !stagedCopy(t, d, 8, leave) {
						wrong++
					}
					if err := d.Close(); err != nil {
						t.Fatal(err)
					}
				}
				t.Logf("wrong in %d of %d runs", wrong, runs)
				if leave == 0 && wrong > 0 {
					t.Errorf("a right program was wrong in %d of %d runs", wrong, runs)
				}
				if leave != 0 && schedule && wrong < runs*99/100 {
					t.Errorf("the missing wait showed in %d of %d runs only", wrong, runs)
				}
			})
		}
	}
}

// halo copies each device's edge to the other's halo, turn by turn, and adds the
// halo to the edge; leave leaves out the wait of the copies for the additions (1)
// or of the additions for the copies (2).
func halo(b *box, add driver.Function, turns, leave int) bool {
	const n = 64
	var p [2]driver.Ptr // an edge, then the halo beside it
	var s [2]driver.Stream
	var ev [2]driver.Event
	var err error
	for i := range 2 {
		p[i] = upload(b, slices.Repeat([]uint32{uint32(i + 1)}, 2*n))
		s[i], err = b.d.StreamCreate(b.c, driver.StreamNonBlocking, 0)
		b.ok(err)
		ev[i], err = b.d.EventCreate(b.c, driver.EventDisableTiming)
		b.ok(err)
	}
	meet := func() {
		for i := range 2 {
			b.ok(b.d.EventRecord(b.c, ev[i], s[i]))
		}
		for i := range 2 {
			b.ok(b.d.StreamWaitEvent(b.c, s[i], ev[1-i]))
		}
	}
	for range turns {
		for i := range 2 {
			b.ok(b.d.MemcpyAsync(b.c, p[1-i]+4*n, p[i], 4*n, s[i]))
		}
		if leave != 2 {
			meet()
		}
		for i := range 2 {
			l := &driver.Launch{Function: add, Grid: dim(1), Block: dim(n), Stream: s[i], Params: binary.NativeEndian.AppendUint64(nil, uint64(p[i])),
				Pointers: []driver.PointerParam{{}}}
			b.ok(b.d.Launch(b.c, l))
		}
		if leave != 1 {
			meet()
		}
	}
	b.ok(b.sync())
	x, y := uint32(1), uint32(2)
	for range turns {
		x, y = x+y, y+x
	}
	return download[uint32](b, p[0], 1)[0] == x && download[uint32](b, p[1], 1)[0] == y
}

// handOver has one stream write what another reads, once.
func handOver(b *box, waits bool) bool {
	p, q := upload(b, make([]uint32, 256)), upload(b, make([]uint32, 256))
	var s [2]driver.Stream
	for i := range s {
		var err error
		s[i], err = b.d.StreamCreate(b.c, driver.StreamNonBlocking, 0)
		b.ok(err)
	}
	b.ok(b.d.MemsetAsync(b.c, p, 7, 4, 256, s[0]))
	if waits {
		e, err := b.d.EventCreate(b.c, driver.EventDisableTiming)
		b.ok(err)
		b.ok(b.d.EventRecord(b.c, e, s[0]))
		b.ok(b.d.StreamWaitEvent(b.c, s[1], e))
	}
	b.ok(b.d.MemcpyAsync(b.c, q, p, 1024, s[1]))
	b.ok(b.sync())
	return download[uint32](b, q, 256)[255] == 7
}

// TestMissingWaitByDefault counts how often small programs show that a wait is
// missing when nobody asked for the adversary: not always, but mostly.
func TestMissingWaitByDefault(t *testing.T) {
	const runs = 200
	wrong := map[string]int{}
	for seed := range uint64(runs) {
		d, err := sim.New(sim.Options{Devices: 1, Memory: 1 << 28, Seed: seed + 1})
		if err != nil {
			t.Fatal(err)
		}
		b := &box{t, d, retain(t, d, 0)}
		add := b.kernel(`__global__ void add(unsigned *p) { p[threadIdx.x] += p[blockDim.x + threadIdx.x]; }`)
		for name, right := range map[string]bool{
			"hand over, whole":                  handOver(b, true),
			"hand over":                         handOver(b, false),
			"halos, whole":                      halo(b, add, 5, 0),
			"halos, copies before the addition": halo(b, add, 5, 1),
			"halos, addition before the copies": halo(b, add, 5, 2),
		} {
			if !right {
				wrong[name]++
			}
		}
		b.ok(b.simulated().Close())
	}
	for name, least := range map[string]int{"hand over": 65, "halos, copies before the addition": 90, "halos, addition before the copies": 90} {
		t.Logf("%s: wrong in %d of %d runs", name, wrong[name], runs)
		if wrong[name]*100 < least*runs {
			t.Errorf("%s: a missing wait shows in %d of %d runs, want %d %%", name, wrong[name], runs, least)
		}
	}
	if wrong["hand over, whole"]+wrong["halos, whole"] > 0 {
		t.Errorf("right programs were wrong: %v", wrong)
	}
}

// TestUseBeforeAllocation writes to stream-ordered memory from another stream,
// with and without waiting for the allocation.
func TestUseBeforeAllocation(t *testing.T) {
	for _, n := range []uint64{4096, 1 << 20} {
		wrong := map[bool]int{}
		const runs = 50
		for seed := range uint64(runs) {
			for _, waits := range []bool{true, false} {
				b := newBox(t, sim.Options{Devices: 1, Memory: 1 << 28, Seed: seed + 1, Adversarial: true})
				var s [2]driver.Stream
				for i := range s {
					var err error
					s[i], err = b.d.StreamCreate(b.c, driver.StreamNonBlocking, 0)
					b.ok(err)
				}
				p, err := b.d.MemAllocAsync(b.c, n, s[0])
				b.ok(err)
				if waits {
					e, err := b.d.EventCreate(b.c, driver.EventDisableTiming)
					b.ok(err)
					b.ok(b.d.EventRecord(b.c, e, s[0]))
					b.ok(b.d.StreamWaitEvent(b.c, s[1], e))
				}
				b.ok(b.d.MemsetAsync(b.c, p, 7, 1, n, s[1]))
				b.ok(b.sync())
				if got := download[byte](b, p, int(n)); bytes.Count(got, []byte{7}) != len(got) {
					wrong[waits]++
				}
			}
		}
		t.Logf("%d bytes: wrong in %d of %d runs without the wait, %d with it", n, wrong[false], runs, wrong[true])
		if wrong[false] < runs*9/10 || wrong[true] > 0 {
			t.Errorf("%d bytes: wrong in %d of %d runs without the wait, %d with it", n, wrong[false], runs, wrong[true])
		}
	}
}
