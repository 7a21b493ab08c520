// Package bench holds what calls cost, here and beside other ways to CUDA; see
// bench-gpu.sh. Its own benchmarks have a driver that does nothing: what is left
// is what package cuda and the evaluator of cells add.
package bench

import (
	"fmt"
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/kernel/golang"
	"gocuda/kernel/packages"
)

// idle is a driver that does nothing.
type idle struct{ driver.Driver }

func (idle) Name() string                                                 { return "idle" }
func (idle) Version() (int, error)                                        { return 13000, nil }
func (idle) DeviceCount() (int, error)                                    { return 1, nil }
func (idle) DeviceAttribute(driver.Attribute, driver.Device) (int, error) { return 9, nil }
func (idle) PrimaryRetain(driver.Device) (driver.Context, error)          { return 1, nil }
func (idle) StreamCreate(driver.Context, driver.StreamFlags, int) (driver.Stream, error) {
	return 100, nil
}
func (idle) EventCreate(driver.Context, driver.EventFlags) (driver.Event, error) { return 7, nil }
func (idle) EventRecord(driver.Context, driver.Event, driver.Stream) error       { return nil }
func (idle) MemAlloc(driver.Context, uint64) (driver.Ptr, error)                 { return 4096, nil }
func (idle) Compile(_ driver.Device, s *driver.Source) (*driver.Compiled, error) {
	lowered := map[string]string{}
	for _, n := range s.Names {
		lowered[n] = n
	}
	return &driver.Compiled{Lowered: lowered}, nil
}
func (idle) ModuleLoad(driver.Context, []byte) (driver.Module, error) { return 1, nil }
func (idle) ModuleFunction(driver.Context, driver.Module, string) (driver.Function, error) {
	return 1, nil
}
func (idle) FunctionParams(driver.Context, driver.Function) ([]driver.Param, error) {
	return nil, &driver.Error{Code: driver.ErrNotSupported}
}
func (idle) FunctionAttribute(driver.Context, driver.Function, driver.FunctionAttribute) (int, error) {
	return 0, nil
}
func (idle) Launch(driver.Context, *driver.Launch) error { return nil }

const setup = `d := must(cuda.CurrentDevice())
s := must(d.NewStream(cuda.NonBlocking))
ev := must(d.NewEvent(cuda.DisableTiming))
x := must(d.Alloc(16, cuda.Float32))
m := must(cuda.Compile("__global__ void nop() {} __global__ void nop16(float*a,float*b,float*c,float*d,float*e,float*f,float*g,float*h,int i,int j,int k,int l,int m,int n,int o,int p) {}"))
nop, nop16 := must(m.Kernel("nop")), must(m.Kernel("nop16"))
grid, block := cuda.Grid(1), cuda.Block(1)
ready := must(nop16.Prepare(grid, block, s, x, x, x, x, x, x, x, x, 1, 2, 3, 4, 5, 6, 7, 8))`

// BenchmarkCell runs calls in a loop of a cell.
func BenchmarkCell(b *testing.B) {
	if err := cuda.Use(idle{}); err != nil {
		b.Fatal(err)
	}
	ev, err := golang.New(golang.Options{Packages: packages.All()})
	if err != nil {
		b.Fatal(err)
	}
	eval := func(b *testing.B, code string) {
		if res := ev.Eval("In[1]", code, true); res.Err != nil {
			b.Fatalf("%s: %v", code, res.Err)
		}
	}
	eval(b, "import \"gocuda/cudaapi/cuda\"\n"+setup)
	for _, c := range []struct{ name, code string }{
		{"empty loop", ""},
		{"launch", "if err := nop.Launch(grid, block, s); err != nil { panic(err) }"},
		{"launch, plain", "nop.Launch(grid, block, s)"},
		{"launch, grid and block again", "nop.Launch(cuda.Grid(1), cuda.Block(1), s)"},
		{"launch, 16 arguments", "nop16.Launch(grid, block, s, x, x, x, x, x, x, x, x, 1, 2, 3, 4, 5, 6, 7, 8)"},
		{"launch, prepared", "ready.Launch()"},
		{"event record", "ev.Record(s)"},
	} {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			eval(b, fmt.Sprintf("for range %d {\n%s\n}", b.N, c.code))
		})
	}
}
