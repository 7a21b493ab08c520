package record

import (
	"testing"

	"gocuda/cudaapi/driver"
)

// fills is a driver that can fill memory.
type fills struct{ driver.Driver }

func (fills) MemsetAsync(driver.Context, driver.Ptr, uint32, int, uint64, driver.Stream) error {
	return nil
}

func (fills) StreamGetFlags(driver.Context, driver.Stream) (driver.StreamFlags, error) { return 0, nil }

// kept are the operations of a record.
type kept []*Op

func (k *kept) Op(o *Op) { *k = append(*k, o) }

// Two drivers may name streams alike, as a simulated cluster and the devices that it
// stands in for: they are different ones, and a stream is that of the driver in use.
func TestStreamsOfTwoDrivers(t *testing.T) {
	var ops kept
	rec := New(&ops)
	const device, context, stream = 0, 16, 7
	var drivers [2]driver.Driver
	for i := range drivers {
		drivers[i] = Wrap(fills{}, rec, map[driver.Context]driver.Device{context: device})
	}
	for i, use := range []int{0, 1, 0} {
		if err := drivers[use].MemsetAsync(context, 64, 0, 1, 64, stream); err != nil {
			t.Fatal(err)
		}
		if got, want := rec.Lane(device, stream), ops[i].Lane; got != want {
			t.Errorf("the stream is %p, want that of driver %d, %p", got, use, want)
		}
	}
	if ops[0].Lane != ops[2].Lane || ops[0].Lane.ID == ops[1].Lane.ID {
		t.Errorf("streams %d and %d of one driver, %d of the other", ops[0].Lane.ID, ops[2].Lane.ID, ops[1].Lane.ID)
	}
}
