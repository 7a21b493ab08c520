package cuda

import (
	"errors"
	"runtime"
	"testing"

	"gocuda/cudaapi/driver"
)

// waiting is a driver that reports its waits, and of what it frees.
type waiting struct {
	idle
	next  driver.Ptr
	wait  func() error
	freed []driver.Ptr
	busy  bool
	short bool // the next allocation fails
}

func (d *waiting) StreamQuery(driver.Context, driver.Stream) (bool, error) { return !d.busy, nil }

func (d *waiting) MemAlloc(driver.Context, uint64) (driver.Ptr, error) {
	if d.short {
		d.short = false
		return 0, &driver.Error{Code: driver.ErrOutOfMemory, Call: "cuMemAlloc"}
	}
	d.next += 4096
	return d.next, nil
}
func (d *waiting) CtxSynchronize(driver.Context, <-chan struct{}) error { return d.wait() }
func (d *waiting) MemFree(_ driver.Context, p driver.Ptr) error {
	d.freed = append(d.freed, p)
	return nil
}

// What is dropped while the memory manager waits may be used by work that was queued
// meanwhile: it is freed after another wait. What is dropped before is not lost when
// the wait fails.
func TestReclaimDrainsBeforeItWaits(t *testing.T) {
	drv := &waiting{}
	sys, err := newSystem(drv)
	if err != nil {
		t.Fatal(err)
	}
	d := sys.devices[0]
	var list []*allocation
	for range 3 {
		b, err := d.Alloc(4, Uint8)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b.own.allocation)
	}
	gone := errors.New("interrupted")
	collect(list[0])
	drv.wait = func() error { return gone }
	if _, err := d.Alloc(4, Uint8); err != gone || len(drv.freed) > 0 {
		t.Errorf("freed %v: %v", drv.freed, err)
	}
	dropped := false
	drv.wait = func() error {
		if !dropped {
			dropped = true
			collect(list[1])
		}
		return nil
	}
	if _, err := d.Alloc(4, Uint8); err != nil || len(drv.freed) != 1 || drv.freed[0] != list[0].ptr {
		t.Errorf("freed %v: %v", drv.freed, err)
	}
	if _, err := d.Alloc(4, Uint8); err != nil || len(drv.freed) != 2 || drv.freed[1] != list[1].ptr {
		t.Errorf("freed %v: %v", drv.freed, err)
	}
}

// While a stream is busy, what was dropped is left, unless it is much or memory is short.
func TestReclaimWaitsWhereItMust(t *testing.T) {
	drv := &waiting{busy: true}
	waits := 0
	drv.wait = func() error { waits++; return nil }
	sys, err := newSystem(drv)
	if err != nil {
		t.Fatal(err)
	}
	d := sys.devices[0]
	var kept []*Buffer
	alloc := func(n int) *allocation {
		b, err := d.Alloc(n, Uint8)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, b)
		return b.own.allocation
	}
	drop := func(n int) { collect(alloc(n)) }
	drop(4)
	if alloc(4); waits != 0 || len(drv.freed) != 0 {
		t.Errorf("%d waits, freed %v while a stream is busy", waits, drv.freed)
	}
	drv.short = true
	if alloc(4); waits != 1 || len(drv.freed) != 1 {
		t.Errorf("%d waits, freed %v where memory is short", waits, drv.freed)
	}
	drop(mostGarbage + 1)
	if alloc(4); waits != 2 || len(drv.freed) != 2 {
		t.Errorf("%d waits, freed %v of much memory", waits, drv.freed)
	}
	for range mostPieces + 1 {
		d.gone.keep([]any{nil})
	}
	if alloc(4); waits != 3 {
		t.Errorf("%d waits for many pieces", waits)
	}
	runtime.KeepAlive(kept)
}
