package hazard

import (
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// reused is a driver that puts a module's variable where memory was freed.
type reused struct{ driver.Driver }

func (reused) MemAlloc(driver.Context, uint64) (driver.Ptr, error) { return 4096, nil }
func (reused) MemFree(driver.Context, driver.Ptr) error            { return nil }
func (reused) ModuleGlobal(driver.Context, driver.Module, string) (driver.Ptr, uint64, error) {
	return 4096, 64, nil
}
func (reused) MemsetAsync(driver.Context, driver.Ptr, uint32, int, uint64, driver.Stream) error {
	return nil
}
func (reused) StreamGetFlags(driver.Context, driver.Stream) (driver.StreamFlags, error) {
	return driver.StreamNonBlocking, nil
}
func (reused) PointerAttributes(driver.Context, driver.Ptr) (driver.PointerInfo, error) {
	return driver.PointerInfo{}, nil
}

// A module's variable may lie where memory was freed: that is no use after free. What is
// queued for it is still looked at.
func TestVariableInThePlaceOfFreedMemory(t *testing.T) {
	for _, c := range []struct {
		name              string
		loaded, unordered bool
		want              int
	}{
		{"a variable", true, false, 0},
		{"freed memory", false, false, 1},
		{"a variable in two streams", true, true, 1},
	} {
		check := New()
		d := record.Wrap(reused{}, record.New(check), map[driver.Context]driver.Device{16: 0})
		fill := func(s driver.Stream) {
			if err := d.MemsetAsync(16, 4096, 0, 1, 64, s); err != nil {
				t.Fatal(err)
			}
		}
		p, _ := d.MemAlloc(16, 64)
		d.MemFree(16, p)
		if c.loaded {
			d.ModuleGlobal(16, 1, "x")
		}
		fill(7)
		if c.unordered {
			d.ModuleGlobal(16, 1, "x")
			fill(8)
		}
		if found := check.Found(); len(found) != c.want {
			t.Errorf("%s: %d hazards, want %d", c.name, len(found), c.want)
		}
	}
}
