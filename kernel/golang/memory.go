package golang

import (
	"go/token"
	"reflect"
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

// zeroSlice empties a slice in a field that is not exported, if it is one.
func zeroSlice(f reflect.Value) {
	if f.IsValid() && f.Kind() == reflect.Slice {
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().SetZero()
	}
}
