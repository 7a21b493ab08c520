package golang

import (
	"reflect"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// globals is where the interpreter keeps the package variables of all cells:
// one slice of values, made again and copied, without a lock, when a cell needs
// more room than there is. A goroutine of an earlier cell could store in the
// old slice while that happens, and its store would be lost. So the slice has
// room ahead, which the interpreter then finds to be enough.
type globals struct {
	types *[]reflect.Type  // of all variables that the interpreter has compiled
	data  *[]reflect.Value // their values, and beyond them the room
	used  int              // values that have been made
}

// globalsRoom is the room to begin with: a session of some ten thousand cells.
const globalsRoom = 1 << 16

// globalsOf finds the variables of an interpreter. No method gives access to
// these fields; were they to be gone, the interpreter would do without us.
func globalsOf(in *interp.Interpreter) *globals {
	v := reflect.ValueOf(in).Elem()
	frame, universe := v.FieldByName("frame"), v.FieldByName("universe")
	if frame.Kind() != reflect.Pointer || universe.Kind() != reflect.Pointer {
		return nil
	}
	data, types := frame.Elem().FieldByName("data"), universe.Elem().FieldByName("types")
	if !data.IsValid() || data.Type() != reflect.TypeFor[[]reflect.Value]() ||
		!types.IsValid() || types.Type() != reflect.TypeFor[[]reflect.Type]() {
		return nil
	}
	g := &globals{
		types: (*[]reflect.Type)(unsafe.Pointer(types.UnsafeAddr())),
		data:  (*[]reflect.Value)(unsafe.Pointer(data.UnsafeAddr())),
	}
	g.used = len(*g.data)
	return g
}

// make gives the variables of a cell that was compiled, and does not run yet,
// their values. busy says that goroutines of earlier cells are running: then
// the slice stays where it is as long as there is room at all.
func (g *globals) make(busy bool) {
	if g == nil {
		return
	}
	types, data := *g.types, *g.data
	if want := len(types); want > len(data) || want > len(data)/2 && !busy {
		data = make([]reflect.Value, max(globalsRoom, 4*want))
		copy(data, *g.data)
		*g.data = data
	}
	for ; g.used < len(types); g.used++ {
		data[g.used] = reflect.New(types[g.used]).Elem()
	}
}
