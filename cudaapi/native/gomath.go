package native

import (
	"go/token"
	"go/types"
	"math"
	"reflect"
	"unsafe"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/gokernel/osr"
)

// mathFuncs are functions of package math whose results in C differ from Go's in their
// last bits. Compiled code calls Go's own.
var mathFuncs = []struct {
	name string
	f    any // func(float64) float64 or func(float64, float64) float64
}{
	{"Acos", math.Acos}, {"Acosh", math.Acosh}, {"Asin", math.Asin}, {"Asinh", math.Asinh}, {"Atan", math.Atan}, {"Atan2", math.Atan2},
	{"Atanh", math.Atanh}, {"Cbrt", math.Cbrt}, {"Cos", math.Cos}, {"Cosh", math.Cosh}, {"Dim", math.Dim}, {"Erf", math.Erf}, {"Erfc", math.Erfc},
	{"Exp", math.Exp}, {"Exp2", math.Exp2}, {"Expm1", math.Expm1}, {"Gamma", math.Gamma}, {"Hypot", math.Hypot}, {"Log", math.Log},
	{"Log10", math.Log10}, {"Log1p", math.Log1p}, {"Log2", math.Log2}, {"Pow", math.Pow}, {"Sin", math.Sin}, {"Sinh", math.Sinh},
	{"Tan", math.Tan}, {"Tanh", math.Tanh},
}

// mathNames are the names of those that can be called.
func mathNames() (list []string) {
	if mathCaller() == 0 {
		return nil
	}
	for _, f := range mathFuncs {
		list = append(list, f.name)
	}
	return list
}

// mathPlaces are what compiled code is told about them: how to call them, and where each
// is.
var mathPlaces = func() (list []unsafe.Pointer) {
	for _, f := range mathFuncs {
		list = append(list, reflect.ValueOf(f.f).UnsafePointer())
	}
	return list
}()

// Program writes functions and loops of Go, and the functions that they call, as C++: see
// [gokernel.CompileHost].
func Program(fset *token.FileSet, funcs []*types.Func, loops []*osr.Loop, find func(*types.Func) (gokernel.HostSource, bool), seen gokernel.Seen) *gokernel.HostProgram {
	return gokernel.CompileHost(fset, funcs, loops, find, mathNames(), seen)
}
