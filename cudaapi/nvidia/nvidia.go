//go:build linux && (amd64 || arm64)

package nvidia

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/clib"
)

// Driver is libcuda.
type Driver struct {
	lib     *clib.Library
	version int
	// bound marks the calls that this libcuda carries out only with a current
	// context, found out by trying. unbound has the addresses of those for which
	// that is not so, as far as is known.
	bound     [symbolCount]atomic.Bool
	unbound   [symbolCount]atomic.Uintptr
	params    sync.Map // of functions that were launched with attributes: their []driver.Param
	hosts     hostFuncs
	shareable shareable
}

var _ driver.Driver = (*Driver)(nil)

var opened struct {
	sync.Mutex
	d *Driver
}

// Open loads libcuda and initialises it, once per process. It takes a few
// hundred milliseconds the first time. Its error says why no GPU can be used.
func Open() (*Driver, error) {
	opened.Lock()
	defer opened.Unlock()
	if opened.d != nil {
		return opened.d, nil
	}
	lib, err := clib.Open("the CUDA driver library", driverPaths(), symbolNames[:])
	if err != nil {
		return nil, err
	}
	d := &Driver{lib: lib}
	if err := d.plain(cuInit, 0); err != nil {
		return nil, fmt.Errorf("%s was loaded, but no GPU can be used: %w", lib.Path(), err)
	}
	if d.version, err = d.Version(); err != nil {
		return nil, err
	}
	opened.d = d
	return d, nil
}

// Available is nil where libcuda loads, initialises and finds a GPU; otherwise
// it says what stands in the way.
func Available() error {
	d, err := Open()
	if err != nil {
		return err
	}
	n, err := d.DeviceCount()
	if err == nil && n == 0 {
		err = fmt.Errorf("%s sees no GPU; is CUDA_VISIBLE_DEVICES empty?", d.lib.Path())
	}
	return err
}

// Path is the name under which libcuda was loaded.
func (d *Driver) Path() string { return d.lib.Path() }

// Name is "nvidia".
func (d *Driver) Name() string { return "nvidia" }

// LoadsPTX is true: libcuda compiles PTX.
func (d *Driver) LoadsPTX() bool { return true }

// call runs a driver function. Pointers among args must be to heap memory that
// the caller keeps alive.
func (d *Driver) call(s symbol, args ...uintptr) driver.Code {
	a := d.lib.Addr(int(s))
	if a == 0 {
		return codeNoSymbol
	}
	return driver.Code(clib.Code(a, args...))
}

// pin gives the address of a value for C.
func pin[T any](p *T) uintptr { return clib.Pin(p) }

// codeNoSymbol stands for a function that this libcuda does not have.
const codeNoSymbol driver.Code = -1

// fail makes the error of a code that is not Success.
func (d *Driver) fail(s symbol, code driver.Code) error {
	name := d.lib.Name(int(s))
	if i := strings.LastIndex(name, "_v"); i > 0 {
		name = name[:i]
	}
	if code == codeNoSymbol {
		return &driver.Error{Code: driver.ErrNotSupported, Call: name,
			Detail: fmt.Sprintf("%s of CUDA %d.%d has no such function; a newer driver may", d.lib.Path(), d.version/1000, d.version%1000/10)}
	}
	return &driver.Error{Code: code, Call: name}
}

// plain runs a function that needs no context.
func (d *Driver) plain(s symbol, args ...uintptr) error {
	if code := d.call(s, args...); code != driver.Success {
		return d.fail(s, code)
	}
	return nil
}

// in runs a function with c current on the thread that calls it.
func (d *Driver) in(c driver.Context, s symbol, args ...uintptr) error {
	code, s := d.callIn(c, s, args...)
	if code != driver.Success {
		return d.fail(s, code)
	}
	return nil
}

// callIn is call with c current; it also tells which function the code is of. It
// asks the driver what is current rather than remember: libraries beside us
// change that too.
func (d *Driver) callIn(c driver.Context, s symbol, args ...uintptr) (driver.Code, symbol) {
	a := d.lib.Addr(int(s))
	if a == 0 {
		return codeNoSymbol, s
	}
	current := clib.Current{Get: d.lib.Addr(int(cuCtxGetCurrent)), Set: d.lib.Addr(int(cuCtxSetCurrent))}
	code, entered := clib.CodeWith(current, uintptr(c), a, args...)
	if !entered {
		s = cuCtxSetCurrent
	}
	return driver.Code(code), s
}

// on runs a function on a stream. An explicit stream names its context; the
// default streams are those of the current one.
func (d *Driver) on(c driver.Context, stream driver.Stream, s symbol, args ...uintptr) error {
	if stream <= driver.StreamPerThread {
		return d.in(c, s, args...)
	}
	return d.handle(c, s, args...)
}

// hot is on, quicker: for calls in which each tenth of a microsecond counts. f has
// the arguments.
func (d *Driver) hot(c driver.Context, stream driver.Stream, s symbol, f *clib.Frame) error {
	f.Fn = d.unbound[s].Load()
	if f.Fn == 0 || stream <= driver.StreamPerThread {
		return d.on(c, stream, s, f.Args[:]...)
	}
	if code := f.Code(); code != 0 {
		return d.again(c, s, driver.Code(code), f.Args[:]...)
	}
	return nil
}

// handle runs a function whose handles name their context.
func (d *Driver) handle(c driver.Context, s symbol, args ...uintptr) error {
	if d.bound[s].Load() {
		return d.in(c, s, args...)
	}
	if code := d.call(s, args...); code != driver.Success {
		return d.again(c, s, code, args...)
	}
	d.unbound[s].Store(d.lib.Addr(int(s)))
	return nil
}

// again tries a call that failed with its context current, if that may help.
func (d *Driver) again(c driver.Context, s symbol, code driver.Code, args ...uintptr) error {
	switch code {
	case driver.ErrInvalidContext, driver.ErrInvalidHandle, driver.ErrInvalidValue:
		err := d.in(c, s, args...)
		if err == nil {
			d.bound[s].Store(true)
			d.unbound[s].Store(0)
		}
		return err
	}
	return d.fail(s, code)
}

// scratch is heap memory for results and small structures that C writes and
// reads.
type scratch struct {
	word [24]uint64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch  { return scratches.Get().(*scratch) }
func putScratch(s *scratch) { s.word[0] = 0; scratches.Put(s) }

// ptr is the address of the first word. Putting the scratch back after the
// call keeps it alive that long.
func (s *scratch) ptr() uintptr { return clib.Pin(&s.word[0]) }

// at is the address of word i.
func (s *scratch) at(i int) uintptr { return clib.Pin(&s.word[i]) }

// int32 reads the low half of word i.
func (s *scratch) int32(i int) int { return int(int32(uint32(s.word[i]))) }
