package sim_test

import (
	"bytes"
	"fmt"
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
