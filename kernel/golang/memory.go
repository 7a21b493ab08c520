package golang

import (
	"go/token"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// forget frees what the interpreter keeps of code that it has compiled and no
// longer needs: the syntax trees, for its debugger, and the files, for the
// positions in its messages. Without it a session grows by 20 KiB with each
// trivial cell; functions themselves stay as long as something can call them.
//
// It also takes the functions out of their file. In each call that a panic leaves,
// the interpreter searches the tree of the whole file, in vain: in a long program,
// that takes milliseconds a call.
func forget(in *interp.Interpreter) {
	// No method gives access to these fields, which only the debugger reads.
	v := reflect.ValueOf(in).Elem()
	roots := v.FieldByName("roots")
	if roots.IsValid() && roots.Kind() == reflect.Slice {
		for i := range roots.Len() {
			if root := roots.Index(i); root.Kind() == reflect.Pointer && !root.IsNil() {
				zeroSlice(root.Elem().FieldByName("child"))
			}
		}
	}
	zeroSlice(roots)
	if u := v.FieldByName("universe"); u.IsValid() && u.Kind() == reflect.Pointer {
		zeroSlice(u.Elem().FieldByName("child"))
	}
	if scopes := v.FieldByName("scopes"); scopes.IsValid() && scopes.Kind() == reflect.Map {
		for it := scopes.MapRange(); it.Next(); {
			zeroSlice(it.Value().Elem().FieldByName("child"))
		}
	}
	fset := in.FileSet()
	var files []*token.File
	fset.Iterate(func(f *token.File) bool {
		files = append(files, f)
		return true
	})
	for _, f := range files {
		fset.RemoveFile(f)
	}
}

// forgetVariables frees the syntax trees of package variables that the interpreter has
// compiled. It only asks the tree of a type what is around it, which is that of no
// function: all types get the same small one.
func forgetVariables(symbols reflect.Value, names []string) {
	if !symbols.IsValid() {
		return
	}
	for _, name := range names {
		symbol := symbols.MapIndex(reflect.ValueOf(name))
		if !symbol.IsValid() || symbol.IsNil() {
			continue
		}
		forgetTree(symbol.Elem().FieldByName("typ"), nil)
		if tree := symbol.Elem().FieldByName("node"); tree.IsValid() {
			settable(tree).SetZero()
		}
	}
}

// stub is the tree of a type whose own is gone. Its type is the interpreter's.
var stub struct {
	once sync.Once
	tree reflect.Value
}

// forgetTree frees the trees of a type and of those that it is made of.
func forgetTree(of reflect.Value, seen []unsafe.Pointer) {
	if of.Kind() != reflect.Pointer || of.IsNil() || slices.Contains(seen, of.UnsafePointer()) {
		return
	}
	seen = append(seen, of.UnsafePointer())
	t := of.Elem()
	if t.FieldByName("incomplete").Bool() {
		return
	}
	if tree := settable(t.FieldByName("node")); !tree.IsNil() {
		stub.once.Do(func() {
			stub.tree = reflect.New(tree.Type().Elem())
			settable(stub.tree.Elem().FieldByName("anc")).Set(reflect.New(tree.Type().Elem()))
		})
		tree.Set(stub.tree)
	}
	for _, part := range []string{"key", "val", "recv"} {
		forgetTree(t.FieldByName(part), seen)
	}
	for _, list := range []string{"arg", "ret"} {
		list := t.FieldByName(list)
		for i := range list.Len() {
			forgetTree(list.Index(i), seen)
		}
	}
	fields := t.FieldByName("field")
	for i := range fields.Len() {
		forgetTree(fields.Index(i).FieldByName("typ"), seen)
	}
}

// zeroSlice empties a slice in a field that is not exported, if it is one.
func zeroSlice(f reflect.Value) {
	if f.IsValid() && f.Kind() == reflect.Slice {
		settable(f).SetZero()
	}
}
