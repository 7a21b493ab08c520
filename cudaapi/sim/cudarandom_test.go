package sim_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim"
)

var (
	manyKernels = flag.Int("cuda", 12, "random kernels of CUDA C++")
	firstModule = flag.Uint64("module", 1, "the first module of random kernels")
	onlyKernel  = flag.String("kernel", "", "the one kernel of a module that runs, such as k3; its source is written to standard output")
	cudaTime    = flag.Duration("for", 0, "how long random kernels of CUDA C++ are begun; 0: until all are there")
	allWays     = flag.Bool("ways", false, "random kernels also with checks or without, and by the host's compiler alone")
)

const kernelsPerModule = 25

// cudaModule is the source of a module and its kernels.
func cudaModule(seed uint64) (code string, kernels []string) {
	half := seed%4 == 0
	if code = cudaPrelude; half {
		code = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + code
	}
	for k := range kernelsPerModule {
		name := fmt.Sprintf("k%d", k)
		text := randomCUDA(rand.New(rand.NewPCG(seed, uint64(k))), name, half)
		if *onlyKernel != "" && name != *onlyKernel {
			continue
		}
		code += text
		kernels = append(kernels, name)
	}
	return code, kernels
}

// cudaShape is how a kernel is launched, and what it is given.
type cudaShape struct {
	grid, block driver.Dim3
	threads     int
	in          []uint32
	n           int
}

func shapeOf(seed uint64, kernel string) cudaShape {
	r := rand.New(rand.NewPCG(seed, uint64(kernel[1])<<8))
	s := cudaShape{grid: dim(1 + r.Uint32N(3)), block: []driver.Dim3{dim(32), dim(64), dim(128), dim(96), dim(16, 4), dim(8, 8)}[r.IntN(6)], n: r.IntN(5)}
	s.threads = int(s.grid.X * s.block.X * s.block.Y)
	for range s.threads * cudaInputs {
		s.in = append(s.in, uint32(randomBits(r, "rrf"[r.IntN(3)])))
	}
	return s
}

// cudaRun is what a kernel leaves: the words of its threads and its cells, or an error.
type cudaRun struct {
	words []uint64
	cells []uint32
	wide  []uint64
	err   string
}

// runCUDA runs one kernel of a module.
func runCUDA(b *box, m driver.Module, kernel string, s cudaShape) (run cudaRun) {
	f, err := b.d.ModuleFunction(b.c, m, kernel)
	b.ok(err)
	cells := make([]uint32, cudaCells)
	cells[1], cells[3], cells[10] = ^uint32(0), ^uint32(0), 1
	wide := make([]uint64, 8)
	wide[1], wide[3] = ^uint64(0), ^uint64(0)
	in, out, narrow, at := upload(b, s.in), upload(b, make([]uint64, s.threads*cudaOutputs)), upload(b, cells), upload(b, wide)
	l := &driver.Launch{Function: f, Grid: s.grid, Block: s.block, Name: kernel}
	for _, p := range []driver.Ptr{in, out, narrow, at} {
		l.Pointers = append(l.Pointers, driver.PointerParam{Offset: uint32(len(l.Params))})
		l.Params = binary.LittleEndian.AppendUint64(l.Params, uint64(p))
	}
	for _, w := range []uint32{0xfffffff9, 0x40490fdb, 0x8000fffd, 7, 0x89abcdef, 0xfedcba98, uint32(s.n)} {
		l.Params = binary.LittleEndian.AppendUint32(l.Params, w)
	}
	err = b.d.Launch(b.c, l)
	if err == nil {
		err = b.sync()
	}
	if err != nil {
		run.err = err.Error()
		return run
	}
	run.words, run.cells, run.wide = download[uint64](b, out, s.threads*cudaOutputs), download[uint32](b, narrow, cudaCells), download[uint64](b, at, 8)
	for _, p := range []driver.Ptr{in, out, narrow, at} {
		b.ok(b.d.MemFree(b.c, p))
	}
	return run
}

// unlike says what one run left otherwise than another.
func (run cudaRun) unlike(want cudaRun) string {
	if run.err != want.err {
		return fmt.Sprintf("error %q, want %q", run.err, want.err)
	}
	for i, w := range run.words {
		if w != want.words[i] {
			return fmt.Sprintf("thread %d, out[%d]: %#x, want %#x", i/cudaOutputs, i%cudaOutputs, w, want.words[i])
		}
	}
	for i, w := range run.cells {
		if w != want.cells[i] {
			return fmt.Sprintf("cells[%d]: %#x, want %#x", i, w, want.cells[i])
		}
	}
	for i, w := range run.wide {
		if w != want.wide[i] {
			return fmt.Sprintf("cells64[%d]: %#x, want %#x", i, w, want.wide[i])
		}
	}
	return ""
}

// cudaWay is a device that random kernels run on, and how it compiles them.
type cudaWay struct {
	name    string
	options []string
	b       *box
	same    bool // loads what the first way compiled
}

// TestRandomCUDA has random kernels in CUDA C++, that must leave the same bits whatever order
// their threads go in, and on a GPU where there is one.
func TestRandomCUDA(t *testing.T) {
	o := throughPTX(t, sim.Options{Devices: 1})
	var differ differences
	onGPU, start := nvidia.Available() == nil, time.Now()
	var done atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d kernels, on a GPU: %v", done.Load(), onGPU)
		differ.check(t)
	})
	modules := (*manyKernels + kernelsPerModule - 1) / kernelsPerModule
	const each = 4 // modules of a part
	for from := 0; from < modules; from += each {
		t.Run(fmt.Sprint(from/each), func(t *testing.T) {
			if modules > 1 {
				t.Parallel()
			}
			o := o
			o.NoCheck = from/each%2 == 1
			against := o
			against.Adversarial, against.Seed = true, uint64(from)+7
			ways := []cudaWay{{name: "simulated", b: newBox(t, o)}, {name: "adversarial", b: newBox(t, against), same: true}}
			if *allWays {
				host := o
				host.CUDA = "c++"
				other := o
				other.NoCheck = !o.NoCheck
				ways = append(ways, cudaWay{name: "with checks or without", b: newBox(t, other)}, cudaWay{name: "the host's compiler", options: []string{"-DHOST"}, b: newBox(t, host)})
			}
			if onGPU {
				d, err := nvidia.Open()
				if err != nil {
					t.Fatal(err)
				}
				ways = append(ways, cudaWay{name: "GPU", b: &box{t, d, retain(t, d, 0)}})
			}
			for i := from; i < min(from+each, modules) && (*cudaTime == 0 || time.Since(start) < *cudaTime); i++ {
				done.Add(kernelsPerModule)
				randomModule(t, ways, *firstModule+uint64(i), &differ)
			}
		})
	}
}

func randomModule(t *testing.T, ways []cudaWay, seed uint64, differ *differences) {
	code, kernels := cudaModule(seed)
	if *onlyKernel != "" {
		fmt.Fprintln(os.Stdout, code)
	}
	options := []string{"-w"}
	if seed%2 == 0 || *allWays {
		options = append(options, "-fmad=false")
	}
	first := map[string]cudaRun{}
	var image []byte
	for _, w := range ways {
		made := image
		if !w.same {
			out, err := w.b.d.Compile(0, &driver.Source{Name: fmt.Sprintf("random%d.cu", seed), Code: code, Options: append(w.options[:len(w.options):len(w.options)], options...)})
			if err != nil {
				differ.add(w.name+" does not compile", "module %d: %v", seed, err)
				if image == nil {
					return
				}
				continue
			}
			if made = out.Image; image == nil {
				image = made
			}
		}
		m, err := w.b.d.ModuleLoad(w.b.c, made)
		if err != nil {
			differ.add(w.name+" does not load", "module %d: %v", seed, err)
			continue
		}
		for _, k := range kernels {
			run := runCUDA(w.b, m, k, shapeOf(seed, k))
			if want, ok := first[k]; !ok {
				if first[k] = run; run.err != "" {
					differ.add("errors", "-module %d -kernel %s: %s", seed, k, run.err)
				}
			} else if u := run.unlike(want); u != "" {
				differ.add(w.name, "-module %d -kernel %s %v: %s", seed, k, options, u)
			}
		}
		w.b.ok(w.b.d.ModuleUnload(w.b.c, m))
	}
}
