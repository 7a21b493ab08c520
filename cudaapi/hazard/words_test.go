package hazard

import (
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/record"
)

// A wait for a word of 32 bits looks at 32 bits.
func TestWaitsForWords(t *testing.T) {
	for _, c := range []struct {
		flags       driver.WaitFlags
		width       int
		wrote, want uint64
		ends        bool
	}{
		{driver.WaitValueNOR, 4, 0xffffffff, 0, false},
		{driver.WaitValueNOR, 4, 0xfffffffe, 1, false},
		{driver.WaitValueNOR, 4, 0xfffffffe, 0, true},
		{driver.WaitValueNOR, 8, 0xffffffff, 0, true},
		{driver.WaitValueNOR, 8, 1<<64 - 1, 0, false},
		{driver.WaitValueEQ, 4, 1<<32 | 5, 5, true},
		{driver.WaitValueEQ, 8, 1<<32 | 5, 5, false},
		{driver.WaitValueAND, 4, 1 << 32, 1, false},
		{driver.WaitValueGEQ, 4, 0, 0xffffffff, true},
		{driver.WaitValueGEQ, 8, 0, 0xffffffff, false},
	} {
		if got := (wordWrite{value: c.wrote}).ends(&record.Op{Flags: c.flags, Width: c.width, Value: c.want}); got != c.ends {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
