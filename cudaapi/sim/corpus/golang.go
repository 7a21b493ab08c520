package corpus

import (
	"errors"
	"go/types"
	"slices"
	"strings"
	"testing"

	_ "embed"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/gokernel"
)

//go:embed kernels.go.txt
var inGo string

// goNames are kernels, by file and name in C++, that go by another name in Go.
var goNames = map[string]string{
	"elementwise/axpy<double>": "axpy[float64]", "elementwise/axpy<int>": "axpy[int32]",
	"reduce/sum_shuffle<int>": "sum_shuffle[int32]", "reduce/sum_shuffle<double>": "sum_shuffle[float64]",
	"tiles/product_tiles<16>": "product_tiles[[256]int32]", "tiles/product_tiles<8>": "product_tiles[[64]int32]",
	"warp/halves": "warp_halves", "intrinsics/bits": "bits_",
}

// RunGo does what [Run] does with the same kernels written in Go.
func RunGo(t *testing.T, d driver.Driver) {
	ctx, err := d.PrimaryRetain(0)
	if err != nil {
		t.Fatal(err)
	}
	var instances []string
	for _, name := range goNames {
		if strings.Contains(name, "[") {
			instances = append(instances, name)
		}
	}
	slices.Sort(instances)
	prog, err := gokernel.Compile(inGo, gokernel.Options{Name: "kernels.go", Instances: instances})
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Compile(0, &driver.Source{Name: "kernels.cu", Code: prog.Code, OnHost: prog.OnHost, Options: []string{"--device-as-default-execution-space", "--fmad=false"}})
	if errors.Is(err, driver.ErrSharedObjectInit) || errors.Is(err, driver.ErrFileNotFound) {
		t.Skipf("no compiler: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	mod, err := d.ModuleLoad(ctx, out.Image)
	if err != nil {
		t.Fatal(err)
	}
	defer d.ModuleUnload(ctx, mod)                //nolint:errcheck // the test is over
	used := map[string]bool{"grid_barrier": true} // which kernels call
	for _, f := range files() {
		find := func(kernel string) (*gokernel.Kernel, string) {
			name := kernel
			if other := goNames[f.name+"/"+kernel]; other != "" {
				name = other
			}
			used[name] = true
			for i := range prog.Kernels {
				if k := &prog.Kernels[i]; strings.ReplaceAll(k.Name, " ", "") == name {
					return k, k.Symbol
				}
			}
			return nil, ""
		}
		t.Run(f.name, func(t *testing.T) {
			for _, c := range f.cases {
				for i := range c.launches {
					l := &c.launches[i]
					k, symbol := find(l.kernel)
					if k == nil {
						t.Fatalf("there is no %s in Go", l.kernel)
					}
					if len(k.Params) != len(l.args) {
						t.Fatalf("%s takes %d parameters in Go, %d in C++", k.Name, len(k.Params), len(l.args))
					}
					l.kernel = symbol
					l.args = goArgs(k, l.args)
				}
				t.Run(c.name, func(t *testing.T) { c.run(t, d, ctx, mod, nil) })
			}
		})
	}
	for _, k := range prog.Kernels {
		if !used[strings.ReplaceAll(k.Name, " ", "")] {
			t.Errorf("%s is launched by no case", k.Name)
		}
	}
}

// slice is a buffer as a kernel in Go takes it: with its length.
type slice struct {
	*buffer
	elem uint64 // the size of an element
}

// goArgs gives slices for buffers.
func goArgs(k *gokernel.Kernel, args []any) []any {
	args = slices.Clone(args)
	for i, a := range args {
		s, ok := k.Params[i].Type.Underlying().(*types.Slice)
		if !ok {
			continue
		}
		b, _ := a.(*buffer) // nil: nothing is given
		args[i] = slice{b, uint64(gokernel.Param{Type: s.Elem()}.Size())}
	}
	return args
}

// header is what a slice is on the device.
func (s slice) header() [3]uint64 {
	if s.buffer == nil {
		return [3]uint64{}
	}
	n := bytes(s.in) / s.elem
	return [3]uint64{uint64(s.p), n, n}
}
