package profile

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
)

// hopper is a device of 132 multiprocessors.
var hopper = Peak{Name: "H", Bandwidth: 4e12, Single: 60e12, Double: 30e12, Warps: 64, Blocks: 32, Registers: 65536, SharedBytes: 228 << 10}

func kernel(block driver.Dim3, shared, registers int) *Kernel {
	return &Kernel{Peak: hopper, Launches: 1, Counts: driver.Counts{Kernel: "k", Grid: driver.Dim3{X: 10, Y: 1, Z: 1}, Block: block, SharedBytes: shared, Registers: registers}}
}

// What limits the occupancy is what allows the fewest blocks. The figures are those of CUDA's occupancy calculator for
// compute capability 9.0.
func TestOccupancy(t *testing.T) {
	for _, c := range []struct {
		threads           uint32
		shared, registers int
		blocks, warps     int
		limit             string
	}{
		{256, 0, 0, 8, 64, "warps"},
		{256, 0, 32, 8, 64, "warps"},
		{256, 0, 40, 6, 48, "registers"},
		{1024, 0, 64, 1, 32, "registers"},
		{32, 0, 16, 32, 32, "blocks"},
		{100, 0, 32, 16, 64, "warps"},
		{128, 48 << 10, 32, 4, 16, "shared memory"},
		{1024, 0, 33, 1, 32, "registers"},
	} {
		o := kernel(driver.Dim3{X: c.threads, Y: 1, Z: 1}, c.shared, c.registers).Occupancy()
		if o.Blocks != c.blocks || o.Warps != c.warps || o.Limit != c.limit || o.Share != float64(c.warps)/64 {
			t.Errorf("%d threads, %d bytes, %d registers: %+v, want %+v", c.threads, c.shared, c.registers, o, c)
		}
	}
}

// The peak is that of memory or of arithmetic, whichever takes longer.
func TestOfPeak(t *testing.T) {
	k := kernel(driver.Dim3{X: 256, Y: 1, Z: 1}, 0, 0)
	k.Read, k.Written, k.Duration = 3e9, 1e9, 2*time.Millisecond
	k.Lines = []driver.LineCounts{{Line: 1, Single: 1e9}}
	if k.Bound() != "memory" || k.OfPeak() != 0.5 || k.Intensity() != 0.25 || k.Bandwidth() != 2e12 || k.Rate() != 0.5e12 {
		t.Error(k.Bound(), k.OfPeak(), k.Intensity(), k.Bandwidth(), k.Rate())
	}
	k.Lines[0].Double = 60e9 // two milliseconds
	if k.Bound() != "arithmetic" || k.OfPeak() != 1 {
		t.Error(k.Bound(), k.OfPeak())
	}
	k.Lines[0].Double = 120e9 // longer than the model says that all takes
	if k.OfPeak() != 1 {
		t.Error(k.OfPeak())
	}
}

// Launches of one shape are one kernel, and others are others.
func TestLaunchesAreJoined(t *testing.T) {
	p := &Profile{}
	one := func(block uint32, lines ...driver.LineCounts) *driver.Counts {
		return &driver.Counts{Kernel: "k", Source: "In[2]", Grid: driver.Dim3{X: 1, Y: 1, Z: 1}, Block: driver.Dim3{X: block, Y: 1, Z: 1}, Read: 32, Duration: 2, Lines: lines}
	}
	Source = func(name string) string { return map[string]string{"In[2]": "a\nb | c\nd"}[name] }
	p.add(one(32, driver.LineCounts{Line: 2, Instructions: 1}))
	p.add(one(32, driver.LineCounts{Line: 1, Instructions: 5}, driver.LineCounts{Line: 2, Instructions: 2}))
	p.add(one(64, driver.LineCounts{Line: 3, Instructions: 1}))
	if len(p.Kernels) != 2 {
		t.Fatal(len(p.Kernels))
	}
	k := p.Kernel("k")
	if k.Launches != 2 || k.Read != 64 || k.Duration != 4 || len(k.Lines) != 2 || k.Lines[0].Instructions != 5 || k.Line("b").Instructions != 3 || k.Sum().Instructions != 8 || k.Time() != 2 {
		t.Errorf("%+v", k)
	}
	if text := k.Markdown(); !strings.Contains(text, "| 2 | `b \\| c` | 3 |") {
		t.Error(text)
	}
	if p.Kernel("other") != nil {
		t.Error("a kernel that did not run")
	}
}

// What is not counted says why, and has no table.
func TestMissing(t *testing.T) {
	k := kernel(driver.Dim3{X: 48, Y: 1, Z: 1}, 0, 0)
	k.Missing = errors.New("there is no NVRTC")
	if text := k.String(); !strings.Contains(text, "Not all is counted: there is no NVRTC.") || strings.Contains(text, "source") {
		t.Error(text)
	}
	if _, err := (&Profile{Kernels: []*Kernel{k}}).Roofline(); err == nil {
		t.Error("a roofline of nothing")
	}
}
