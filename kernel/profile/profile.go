// Package profile counts what kernels do, for each line of their source, and says how near
// a launch comes to what the device can do. %%profile shows it of a cell.
//
//	k := must(profile.Last()).Kernels[0]
//	k.Line("tile[").Shared.Stores.Conflicts() // turns that bank conflicts cost
//	k.OfPeak()                                // 0.9: nine tenths of what the device can do
//
// What the 32 lanes of a warp do together is one instruction, and one request for memory.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
)

// Profile is what was counted of the kernels that ran.
type Profile struct {
	Title   string
	Kernels []*Kernel // in the order in which they first ran
}

// Kernel is a kernel and its launches of one shape. Counts and durations are those of all
// of them together.
type Kernel struct {
	driver.Counts
	Launches int
	Peak     Peak
	// Text has the lines of the source, from the first on; nil where it is not known.
	Text []string
}

// Peak is what a device can do.
type Peak struct {
	Name           string
	Bandwidth      float64 // of device memory, bytes per second
	Single, Double float64 // additions and multiplications per second, fused ones as two

	// Of a multiprocessor:
	Warps, Blocks, Registers, SharedBytes int
}

var last struct {
	sync.Mutex
	profile *Profile
}

// Last is what the cell counted that ran last with %%profile, or the last [Record]. It is
// an error if there was none.
func Last() (*Profile, error) {
	last.Lock()
	defer last.Unlock()
	if last.profile == nil {
		return nil, errors.New("profile: no cell was profiled: begin one with %%profile")
	}
	return last.profile, nil
}

// Record runs f and counts what the kernels do that run meanwhile, as %%profile does with a
// cell: [Last] is that then. It waits for the work that f leaves in queues.
func Record(title string, f func()) (*Profile, error) {
	return Within(title, func() error { f(); return nil })
}

// Source gives the text that a kernel's lines are of, by its name; "" where it is not known. The
// kernel sets it.
var Source = func(name string) string { return "" }

// Within is Record of what may fail.
func Within(title string, run func() error) (p *Profile, err error) {
	if _, err := cuda.Devices(); err != nil { // which opens the back end
		return nil, err
	}
	d, ok := cuda.Underlying().(driver.Counter)
	if !ok {
		return nil, errors.New("kernels are counted on simulated devices, with GOCUDA_BACKEND=sim; on GPUs NVIDIA's Nsight Compute does it: %nsys and ncu are in the guide's page on NVIDIA's tools")
	}
	var mu sync.Mutex
	var list []*driver.Counts
	d.Count(func(c *driver.Counts) {
		mu.Lock()
		list = append(list, c)
		mu.Unlock()
	})
	defer func() { // in a panic, too
		err = errors.Join(err, cuda.Synchronize())
		d.Count(nil)
		mu.Lock()
		defer mu.Unlock()
		p = &Profile{Title: title}
		for _, c := range list {
			p.add(c)
		}
		for _, k := range p.Kernels {
			var e error
			k.Peak, e = peak(k.Device)
			err = errors.Join(err, e)
		}
		last.Lock()
		last.profile = p
		last.Unlock()
	}()
	return nil, run()
}

// add adds a launch.
func (p *Profile) add(c *driver.Counts) {
	for _, k := range p.Kernels {
		if k.Kernel == c.Kernel && k.Source == c.Source && k.Device == c.Device && k.Grid == c.Grid && k.Block == c.Block && k.SharedBytes == c.SharedBytes {
			k.join(c)
			return
		}
	}
	k := &Kernel{Counts: *c, Launches: 1}
	if text := Source(c.Source); text != "" {
		k.Text = strings.Split(text, "\n")
	}
	p.Kernels = append(p.Kernels, k)
}

// join adds another launch of the kernel.
func (k *Kernel) join(c *driver.Counts) {
	k.Launches++
	k.Read, k.Written, k.Duration = k.Read+c.Read, k.Written+c.Written, k.Duration+c.Duration
	k.Missing = cmp.Or(k.Missing, c.Missing)
	for _, l := range c.Lines {
		at, known := slices.BinarySearchFunc(k.Lines, l.Line, func(x driver.LineCounts, n int) int { return x.Line - n })
		if !known {
			k.Lines = slices.Insert(k.Lines, at, driver.LineCounts{Line: l.Line})
		}
		k.Lines[at].Add(l)
	}
}

// cores are how many multiplications and additions of 32 and of 64 bits a multiprocessor does in a
// cycle (CUDA C++ Programming Guide, Throughput of Native Arithmetic Instructions).
func cores(major, minor int) (single, double int) {
	switch {
	case major == 9 || major == 10 && minor == 0:
		return 128, 64
	case major == 8 && minor == 0 || major == 7 && minor == 0:
		return 64, 32
	case major == 7:
		return 64, 2
	}
	return 128, 2
}

// peak is what a device can do, by its attributes.
func peak(n driver.Device) (p Peak, err error) {
	devices, err := cuda.Devices()
	if err != nil {
		return p, err
	}
	d := devices[n]
	at := func(a driver.Attribute) int {
		v, e := d.Attribute(a)
		err = errors.Join(err, e)
		return v
	}
	single, double := cores(at(driver.ComputeCapabilityMajor), at(driver.ComputeCapabilityMinor))
	cycles := 1e3 * float64(at(driver.ClockRate)) * float64(at(driver.MultiprocessorCount))
	return Peak{
		Name: d.Name(), Bandwidth: 2e3 * float64(at(driver.MemoryClockRate)) * float64(at(driver.GlobalMemoryBusWidth)) / 8,
		Single: 2 * cycles * float64(single), Double: 2 * cycles * float64(double),
		Warps: at(driver.MaxThreadsPerSM) / 32, Blocks: at(driver.MaxBlocksPerSM), Registers: at(driver.MaxRegistersPerBlock), SharedBytes: at(driver.MaxSharedMemoryPerSM),
	}, err
}

// Kernel is the one of that name that ran first; nil if none did.
func (p *Profile) Kernel(name string) *Kernel {
	for _, k := range p.Kernels {
		if k.Counts.Kernel == name {
			return k
		}
	}
	return nil
}

// Sum adds up all lines.
func (k *Kernel) Sum() (sum driver.LineCounts) {
	for _, l := range k.Lines {
		sum.Add(l)
	}
	sum.Line = 0
	return sum
}

// Line adds up the lines whose text has some part in it.
func (k *Kernel) Line(part string) (sum driver.LineCounts) {
	for _, l := range k.Lines {
		if strings.Contains(k.text(l.Line), part) {
			sum.Add(l)
			sum.Line = l.Line
		}
	}
	return sum
}

func (k *Kernel) text(line int) string {
	if line < 1 || line > len(k.Text) {
		return ""
	}
	return k.Text[line-1]
}

// Flops counts additions and multiplications.
func (k *Kernel) Flops() float64 {
	s := k.Sum()
	return float64(s.Half + s.Single + s.Double)
}

// Moved is what memory must move at least, in bytes: each sector of 32 bytes once for each
// launch that reads it, and once for each that writes it.
func (k *Kernel) Moved() float64 { return float64(k.Read + k.Written) }

// Intensity is additions and multiplications for each byte moved.
func (k *Kernel) Intensity() float64 { return k.Flops() / max(k.Moved(), 1) }

// Bandwidth is bytes moved in a second: the effective bandwidth.
func (k *Kernel) Bandwidth() float64 { return k.Moved() / k.seconds() }

// Rate is additions and multiplications in a second.
func (k *Kernel) Rate() float64 { return k.Flops() / k.seconds() }

// arithmetic is how long the device needs for the additions and multiplications alone.
func (k *Kernel) arithmetic() float64 {
	s := k.Sum()
	return max(float64(s.Half+s.Single)/max(k.Peak.Single, 1), float64(s.Double)/max(k.Peak.Double, 1))
}

// seconds is the time of all launches. The simulated devices' model leaves arithmetic out.
func (k *Kernel) seconds() float64 { return max(k.Duration.Seconds(), k.arithmetic(), 1e-12) }

// Bound says what the roofline is for the kernel: "memory" or "arithmetic".
func (k *Kernel) Bound() string {
	if k.arithmetic() > k.Moved()/max(k.Peak.Bandwidth, 1) {
		return "arithmetic"
	}
	return "memory"
}

// OfPeak is how much of what the device can do the kernel reached: of its memory's
// bandwidth, or of its arithmetic if that takes longer. 1 is all.
func (k *Kernel) OfPeak() float64 {
	return max(k.Moved()/max(k.Peak.Bandwidth, 1), k.arithmetic()) / k.seconds()
}

// Occupancy is how many warps a multiprocessor holds, of those that it could.
type Occupancy struct {
	Blocks, Warps int     // that a multiprocessor holds
	Share         float64 // of the warps that it could hold
	Limit         string  // what limits it: "warps", "blocks", "registers", "shared memory" or "the grid"
}

// Occupancy is the launch's. Where registers are not known, they do not limit it.
func (k *Kernel) Occupancy() (o Occupancy) {
	warps := int(k.Block.X*k.Block.Y*k.Block.Z+31) / 32
	p := k.Peak
	o.Blocks = p.Blocks
	o.Limit = "blocks"
	least := func(n int, limit string) {
		if n < o.Blocks {
			o.Blocks, o.Limit = n, limit
		}
	}
	least(p.Warps/warps, "warps")
	if k.Registers > 0 {
		least(p.Registers/(warps*((32*k.Registers+255)/256*256)), "registers")
	}
	least(p.SharedBytes/(k.SharedBytes+1024), "shared memory") // 1 KiB of each block is CUDA's own
	o.Warps = o.Blocks * warps
	o.Share = float64(o.Warps) / float64(max(p.Warps, 1))
	return o
}

// Time is a launch's, on average.
func (k *Kernel) Time() time.Duration { return k.Duration / time.Duration(max(k.Launches, 1)) }

// String is the profile as text.
func (p *Profile) String() string {
	var b strings.Builder
	for i, k := range p.Kernels {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(k.String())
	}
	if len(p.Kernels) == 0 {
		b.WriteString("profile: no kernel ran")
	}
	return b.String()
}

// dim is a grid's or block's extents, without those of 1 behind.
func dim(d driver.Dim3) string {
	switch {
	case d.Z > 1:
		return fmt.Sprintf("%d x %d x %d", d.X, d.Y, d.Z)
	case d.Y > 1:
		return fmt.Sprintf("%d x %d", d.X, d.Y)
	}
	return fmt.Sprint(d.X)
}
