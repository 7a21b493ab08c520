package cuda

import (
	"errors"
	"testing"

	"gocuda/cudaapi/driver"
)

// waiting is a driver that reports its waits, and of what it frees.
type waiting struct {
	idle
	next  driver.Ptr
	wait  func() error
	freed []driver.Ptr
}

func (d *waiting) MemAlloc(driver.Context, uint64) (driver.Ptr, error) {
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
