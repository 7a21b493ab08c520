package host

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"gocuda/kernel/golang/host/trait"
)

// Direct is a compiled function that lowered code can call without reflection,
// in half the time: as a conversion T(T{A: x, B: y}).R of a structure with its
// arguments and its result, which the interpreter has this package carry out. A
// second result is S. The results are also in the structure that was converted: a
// call in a loop may convert the same one again and again, and look there.
type Direct struct {
	name  string        // "Func" or "Type.Method"
	frame reflect.Value // a nil pointer to its frame
	call  conversion
	trait.Set
}

// Waits marks a function after which code of cells may have done something that
// its caller counts on: which waits for work, or tells that it is done.
func (d Direct) Waits() Direct {
	d.Set |= trait.Waits
	return d
}

// Pure marks a function whose result depends on its arguments alone, and that
// does nothing else and does not panic.
func (d Direct) Pure() Direct {
	d.Set |= trait.Pure
	return d
}

// conversion converts a frame to another one: it makes the call.
type conversion = func(src, dest reflect.Value)

// at is the frame that a value is.
func at[F any](v reflect.Value) *F { return (*F)(unsafe.Pointer(v.UnsafeAddr())) }

func direct[F any](name string, call conversion) Direct {
	return Direct{name: name, frame: reflect.ValueOf((*F)(nil)), call: call}
}

// The frames of functions of one to five arguments. The interpreter makes one a
// call, which takes longer for types that the compiler does not know.
type (
	frame1[A, R any] struct {
		A A
		R R
	}
	frame2[A, B, R any] struct {
		A A
		B B
		R R
	}
	frame3[A, B, C, R any] struct {
		A A
		B B
		C C
		R R
	}
	frame5[A, B, C, D, E, R any] struct {
		A A
		B B
		C C
		D D
		E E
		R R
	}
	frame1R2[A, R, S any] struct {
		A A
		R R
		S S
	}
	frame3R2[A, B, C, R, S any] struct {
		A A
		B B
		C C
		R R
		S S
	}
)

// Direct1 makes a function of one argument direct, "Func", or a method without,
// "Type.Method": its receiver is then the argument. f does what it does, with a
// slice for a variadic parameter. No parameter's type is an interface, and no other
// direct function has the same parameters, receiver included, and results. f runs
// no code of cells, does not change their variables, and neither keeps nor changes
// the slice: calls in a loop may share one.
func Direct1[A, R any](name string, f func(A) R) Direct {
	return direct[frame1[A, R]](name, func(src, dest reflect.Value) {
		from, to := at[frame1[A, R]](src), at[frame1[A, R]](dest)
		from.R = f(from.A)
		to.R = from.R
	})
}

// Direct2 is Direct1 for two arguments.
func Direct2[A, B, R any](name string, f func(A, B) R) Direct {
	return direct[frame2[A, B, R]](name, func(src, dest reflect.Value) {
		from, to := at[frame2[A, B, R]](src), at[frame2[A, B, R]](dest)
		from.R = f(from.A, from.B)
		to.R = from.R
	})
}

// Direct3 is Direct1 for three arguments.
func Direct3[A, B, C, R any](name string, f func(A, B, C) R) Direct {
	return direct[frame3[A, B, C, R]](name, func(src, dest reflect.Value) {
		from, to := at[frame3[A, B, C, R]](src), at[frame3[A, B, C, R]](dest)
		from.R = f(from.A, from.B, from.C)
		to.R = from.R
	})
}

// Direct5 is Direct1 for five arguments.
func Direct5[A, B, C, D, E, R any](name string, f func(A, B, C, D, E) R) Direct {
	return direct[frame5[A, B, C, D, E, R]](name, func(src, dest reflect.Value) {
		from, to := at[frame5[A, B, C, D, E, R]](src), at[frame5[A, B, C, D, E, R]](dest)
		from.R = f(from.A, from.B, from.C, from.D, from.E)
		to.R = from.R
	})
}

// Direct1R2 is Direct1 for a function of two results.
func Direct1R2[A, R, S any](name string, f func(A) (R, S)) Direct {
	return direct[frame1R2[A, R, S]](name, func(src, dest reflect.Value) {
		from, to := at[frame1R2[A, R, S]](src), at[frame1R2[A, R, S]](dest)
		from.R, from.S = f(from.A)
		to.R, to.S = from.R, from.S
	})
}

// Direct3R2 is Direct1 for three arguments and two results.
func Direct3R2[A, B, C, R, S any](name string, f func(A, B, C) (R, S)) Direct {
	return direct[frame3R2[A, B, C, R, S]](name, func(src, dest reflect.Value) {
		from, to := at[frame3R2[A, B, C, R, S]](src), at[frame3R2[A, B, C, R, S]](dest)
		from.R, from.S = f(from.A, from.B, from.C)
		to.R, to.S = from.R, from.S
	})
}

// directs are the direct functions of all packages.
type directs struct {
	symbols map[string]string // by the function's name
	types   map[string]reflect.Value
	calls   map[reflect.Type]conversion
	traits  map[string]trait.Set // by the function's name
}

func (ds *directs) add(p Package, d Direct) {
	if ds.symbols == nil {
		ds.symbols, ds.types = make(map[string]string), make(map[string]reflect.Value)
		ds.calls, ds.traits = make(map[reflect.Type]conversion), make(map[string]trait.Set)
	}
	full, sig := p.function(d.name)
	if sig == nil {
		panic(fmt.Sprintf("host: there is no function %s in %s", d.name, p.Path))
	}
	frame := d.frame.Type().Elem()
	want := append(slices.Collect(sig.Ins()), slices.Collect(sig.Outs())...)
	fits := len(want) == frame.NumField() && sig.NumOut() > 0 && frame.Field(sig.NumIn()).Name == "R"
	for i, t := range want {
		fits = fits && frame.Field(i).Type == t
	}
	if !fits {
		panic(fmt.Sprintf("host: %s is a %v, which a %v does not fit", full, sig, frame))
	}
	if ds.calls[frame] != nil {
		panic(fmt.Sprintf("host: %s is a %v, and another direct function is so too: a conversion of %v would mean either", full, sig, frame))
	}
	symbol := fmt.Sprintf("Direct%d", len(ds.symbols))
	ds.symbols[full], ds.types[symbol], ds.calls[frame], ds.traits[full] = symbol, d.frame, d.call, d.Set
}

// function finds "Func" or "Type.Method" and tells its full name, as
// (*types.Func).FullName writes it, and its type, in which a receiver is the first
// parameter.
func (p *Package) function(name string) (full string, sig reflect.Type) {
	typ, method, ok := strings.Cut(name, ".")
	symbol := p.Symbols[typ]
	if !symbol.IsValid() {
		return "", nil
	}
	if !ok {
		return p.Path + "." + name, symbol.Type()
	}
	if m, ok := symbol.Type().Elem().MethodByName(method); ok {
		return "(" + p.Path + "." + typ + ")." + method, m.Type
	}
	if m, ok := symbol.Type().MethodByName(method); ok {
		return "(*" + p.Path + "." + typ + ")." + method, m.Type
	}
	return "", nil
}

// convert is what the interpreter asks for conversions.
func (ds *directs) convert(from, to reflect.Type) func(src, dest reflect.Value) {
	call := ds.calls[from]
	if call == nil || from != to {
		return nil
	}
	return call
}

// Direct is the name of the type whose conversion calls a function, in the
// package "direct" of Exports; false if there is none.
func (im *Importer) Direct(function string) (symbol string, ok bool) {
	symbol, ok = im.directs.symbols[function]
	return symbol, ok
}

// Traits are those of a function, or of another name of a package.
func (im *Importer) Traits(o types.Object) trait.Set {
	if o == nil || o.Pkg() == nil {
		return 0
	}
	t := im.tables[o.Pkg().Path()]
	if t == nil {
		return 0
	}
	s := t.Traits.Of(o.Name())
	if f, ok := o.(*types.Func); ok && len(t.Direct) > 0 {
		s |= im.directs.traits[f.FullName()]
	}
	return s
}
