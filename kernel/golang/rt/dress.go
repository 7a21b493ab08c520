package rt

import (
	"go/types"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"text/template"

	"gocuda/kernel/golang/named"
)

// Compiled code that looks at values through package reflect sees a cell's type
// by its representation. For packages whose work that is, values are dressed:
// they get a type made at run time, with the name, the fields and the methods
// that the cell gave it.

// wardrobe holds the dressed types of a session.
type wardrobe struct {
	mu      sync.Mutex
	made    map[string]*clothes   // by the key of the type
	bare    map[reflect.Type]worn // nothing for what is not dressed
	version atomic.Int64          // of the methods of all types
	seen    int64
}

// clothes is a dressed type and what it was made for.
type clothes struct {
	*named.Type
	of types.Type
}

// worn is what a dressed value is without its clothes.
type worn struct {
	of  types.Type
	rep reflect.Type
}

// dress is what package reflect gets for an interface value.
func (r *Runtime) dress(x any) any {
	b, ok := unwrap(x).(Box)
	if !ok || b.V == nil || !named.Available() {
		return value(unwrap(x))
	}
	r.wardrobe.mu.Lock()
	defer r.wardrobe.mu.Unlock()
	t := r.dressed(b.T.Type, reflect.TypeOf(b.V))
	r.newMethods()
	return named.RetypeAny(b.V, t)
}

// dressAll is dress for code that also looks at what is in interfaces inside of
// the value, and changes nothing there: what holds boxes is copied.
func (r *Runtime) dressAll(x any) any {
	x = r.dress(x)
	if x == nil {
		return nil
	}
	return r.dressParts(reflect.ValueOf(x), make(map[any]reflect.Value)).Interface()
}

// dressFuncs is dressAll for the functions of a template.
func (r *Runtime) dressFuncs(m template.FuncMap) template.FuncMap {
	m = maps.Clone(m)
	for name, f := range m {
		m[name] = r.dress(f)
	}
	return m
}

// undress is what a cell gets for an interface value from package reflect.
func (r *Runtime) undress(x any) any {
	if x == nil {
		return nil
	}
	r.wardrobe.mu.Lock()
	w := r.worn(reflect.TypeOf(x))
	r.wardrobe.mu.Unlock()
	if w.rep == nil {
		return x
	}
	return Box{r.NumberFor(w.of), named.RetypeAny(x, w.rep)}
}

// worn is what is below a type that is dressed, or that package reflect made of
// such types; of others it is nothing.
func (r *Runtime) worn(t reflect.Type) worn {
	if w, ok := r.wardrobe.bare[t]; ok {
		return w
	}
	var w worn
	if t.Name() == "" && len(r.wardrobe.made) > 0 {
		w = r.wornParts(t)
		r.wardrobe.bare[t] = w
	}
	return w
}

func (r *Runtime) wornParts(t reflect.Type) (w worn) {
	dressed := false
	part := func(t reflect.Type) (types.Type, reflect.Type) {
		if w := r.worn(t); w.rep != nil {
			dressed = true
			return w.of, w.rep
		}
		return r.hostType(t), t
	}
	list := func(n int, at func(int) reflect.Type) (*types.Tuple, []reflect.Type) {
		vars, reps := make([]*types.Var, n), make([]reflect.Type, n)
		for i := range n {
			of, rep := part(at(i))
			vars[i], reps[i] = types.NewParam(0, nil, "", of), rep
		}
		return types.NewTuple(vars...), reps
	}
	switch t.Kind() {
	case reflect.Pointer:
		of, rep := part(t.Elem())
		w = worn{types.NewPointer(of), reflect.PointerTo(rep)}
	case reflect.Slice:
		of, rep := part(t.Elem())
		w = worn{types.NewSlice(of), reflect.SliceOf(rep)}
	case reflect.Array:
		of, rep := part(t.Elem())
		w = worn{types.NewArray(of, int64(t.Len())), reflect.ArrayOf(t.Len(), rep)}
	case reflect.Chan:
		of, rep := part(t.Elem())
		dir := map[reflect.ChanDir]types.ChanDir{reflect.BothDir: types.SendRecv, reflect.RecvDir: types.RecvOnly, reflect.SendDir: types.SendOnly}
		w = worn{types.NewChan(dir[t.ChanDir()], of), reflect.ChanOf(t.ChanDir(), rep)}
	case reflect.Map:
		key, keyRep := part(t.Key())
		of, rep := part(t.Elem())
		w = worn{types.NewMap(key, of), reflect.MapOf(keyRep, rep)}
	case reflect.Func:
		params, in := list(t.NumIn(), t.In)
		results, out := list(t.NumOut(), t.Out)
		w = worn{types.NewSignatureType(nil, nil, nil, params, results, t.IsVariadic()), reflect.FuncOf(in, out, t.IsVariadic())}
	}
	if !dressed {
		return worn{}
	}
	return w
}

// dressed is the type with the layout of rep that t is for package reflect: rep
// itself, or a part of it, where t cannot be made.
func (r *Runtime) dressed(t types.Type, rep reflect.Type) reflect.Type {
	d := r.dressedAs(types.Unalias(t), rep)
	if d != rep && d.Size() == rep.Size() {
		r.wardrobe.bare[d] = worn{t, rep}
	}
	return d
}

func (r *Runtime) dressedAs(t types.Type, rep reflect.Type) reflect.Type {
	if n, ok := t.(*types.Named); ok && (r.IsHost(n) || n.Obj().Pkg() == nil) {
		return rep
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return rep
	case *types.Basic:
		if _, ok := t.(*types.Named); !ok {
			return rep
		}
	case *types.Signature:
		return r.dressedFunc(u, rep)
	}
	if u, ok := t.(*types.Pointer); ok {
		of := rep
		switch rep.Kind() {
		case reflect.Pointer:
			of = rep.Elem()
		case reflect.UnsafePointer: // back to a type that contains this one
			if of = r.repOf(u.Elem()); of == nil {
				return rep
			}
		default:
			return rep
		}
		elem := r.dressed(u.Elem(), of)
		if c := r.wardrobe.made[r.KeyOf(u.Elem())]; c != nil {
			return c.Pointer().Reflect()
		}
		return reflect.PointerTo(elem)
	}
	if rep.Kind() == reflect.Interface {
		return rep // it contains itself
	}
	_, isNamed := t.(*types.Named)
	_, isStruct := t.Underlying().(*types.Struct)
	if isNamed || isStruct {
		return r.dressedNamed(t, rep, isNamed)
	}
	switch u := t.(type) {
	case *types.Slice:
		return reflect.SliceOf(r.dressed(u.Elem(), rep.Elem()))
	case *types.Array:
		return reflect.ArrayOf(rep.Len(), r.dressed(u.Elem(), rep.Elem()))
	case *types.Chan:
		return reflect.ChanOf(rep.ChanDir(), r.dressed(u.Elem(), rep.Elem()))
	case *types.Map:
		return reflect.MapOf(r.dressed(u.Key(), rep.Key()), r.dressed(u.Elem(), rep.Elem()))
	}
	return rep
}

func (r *Runtime) repOf(t types.Type) reflect.Type {
	if c := r.wardrobe.made[r.KeyOf(t)]; c != nil {
		return r.wardrobe.bare[c.Reflect()].rep
	}
	if own := r.TypeFor(t); own != nil {
		own.mu.RLock()
		defer own.mu.RUnlock()
		return own.rep
	}
	return nil
}

func (r *Runtime) dressedFunc(s *types.Signature, rep reflect.Type) reflect.Type {
	if rep.Kind() != reflect.Func {
		return rep
	}
	var in, out []reflect.Type
	for i := range rep.NumIn() {
		in = append(in, r.dressed(s.Params().At(i).Type(), rep.In(i)))
	}
	for i := range rep.NumOut() {
		out = append(out, r.dressed(s.Results().At(i).Type(), rep.Out(i)))
	}
	return reflect.FuncOf(in, out, rep.IsVariadic())
}

// dressedNamed makes a type with a name, or a struct.
func (r *Runtime) dressedNamed(t types.Type, rep reflect.Type, isNamed bool) reflect.Type {
	w := &r.wardrobe
	key := r.KeyOf(t)
	if c := w.made[key]; c != nil {
		return c.Reflect()
	}
	name, pkg := "", "main"
	if n, ok := t.(*types.Named); ok && isNamed {
		name, pkg = n.Obj().Name(), n.Obj().Pkg().Path()
	} else if !differs(t.Underlying().(*types.Struct), rep) {
		return rep
	}
	c := &clothes{named.New(rep, name, TypeString(t), pkg), t}
	w.made[key] = c
	w.bare[c.Reflect()] = worn{t, rep} // for what leads back to it
	w.bare[c.Pointer().Reflect()] = worn{types.NewPointer(t), reflect.PointerTo(rep)}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		fields := make([]named.Field, rep.NumField())
		for i := range fields {
			f := u.Field(i)
			fields[i] = named.Field{Name: f.Name(), Type: r.dressed(f.Type(), rep.Field(i).Type), Tag: u.Tag(i), Embedded: f.Embedded()}
		}
		c.SetFields(fields)
	case *types.Map:
		c.SetElem(r.dressed(u.Key(), rep.Key()), r.dressed(u.Elem(), rep.Elem()))
	case interface{ Elem() types.Type }:
		c.SetElem(nil, r.dressed(u.Elem(), rep.Elem()))
	}
	w.seen = -1
	return c.Reflect()
}

// differs says whether a struct is not what its representation is.
func differs(s *types.Struct, rep reflect.Type) bool {
	for i := range s.NumFields() {
		f := s.Field(i)
		if !f.Exported() || f.Embedded() || f.Name() != rep.Field(i).Name {
			return true
		}
		if _, basic := f.Type().(*types.Basic); !basic {
			return true
		}
	}
	return false
}

// newMethods gives dressed types the methods that lowered code has registered.
func (r *Runtime) newMethods() {
	w := &r.wardrobe
	for { // a method's parameters may need more types
		now := w.version.Load()
		if w.seen == now {
			return
		}
		w.seen = now
		for _, c := range maps.Clone(w.made) {
			c.AddMethods(r.methodsOf(c.of))
			c.Pointer().AddMethods(r.methodsOf(types.NewPointer(c.of)))
		}
	}
}

func (r *Runtime) methodsOf(t types.Type) (list []named.Method) {
	own := r.TypeFor(t)
	if own == nil {
		return nil
	}
	r.checked.RLock()
	methods := types.NewMethodSet(t)
	r.checked.RUnlock()
	for m := range methods.Methods() {
		name := m.Obj().Name()
		fn := own.Method(name)
		if !fn.IsValid() {
			continue
		}
		sig := m.Type().(*types.Signature)
		method := named.Method{Name: name, Variadic: fn.Type().IsVariadic()}
		for i := range sig.Params().Len() {
			method.In = append(method.In, r.dressed(sig.Params().At(i).Type(), fn.Type().In(i+1)))
		}
		for i := range sig.Results().Len() {
			method.Out = append(method.Out, r.dressed(sig.Results().At(i).Type(), fn.Type().Out(i)))
		}
		method.Call = func(receiver reflect.Value, args []reflect.Value) []reflect.Value {
			return callMethod(own.Method(name), receiver, args, method.Out)
		}
		list = append(list, method)
	}
	return list
}

// callMethod calls a registered method with dressed arguments.
func callMethod(fn, receiver reflect.Value, args []reflect.Value, out []reflect.Type) []reflect.Value {
	defer func() {
		if p := recover(); p != nil {
			panic(panicValue(p))
		}
	}()
	all := []reflect.Value{receiver}
	for i, a := range args {
		if t := fn.Type().In(i + 1); a.Type() != t {
			a = named.Retype(a, t)
		}
		all = append(all, a)
	}
	call := fn.Call
	if fn.Type().IsVariadic() {
		call = fn.CallSlice
	}
	results := call(all)
	for i, v := range results {
		if v.Type() != out[i] {
			results[i] = named.Retype(v, out[i])
		}
	}
	return results
}

var boxType = reflect.TypeFor[Box]()

// dressParts returns v, or a copy in which interfaces hold no boxes.
func (r *Runtime) dressParts(v reflect.Value, copies map[any]reflect.Value) reflect.Value {
	t := v.Type()
	if !holdsInterfaces(t, nil) {
		return v
	}
	out := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		if e := v.Elem(); e.Type() == boxType || e.Type() != boxType && holdsInterfaces(e.Type(), nil) {
			out.Set(r.dressParts(reflect.ValueOf(r.dress(e.Interface())), copies))
			return out
		}
		return v
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return v
		}
		type place struct {
			t reflect.Type
			p uintptr
			n int
		}
		at := place{t, v.Pointer(), 0}
		if t.Kind() == reflect.Slice {
			at.n = v.Len()
		}
		if c, ok := copies[at]; ok {
			return c
		}
		switch t.Kind() {
		case reflect.Pointer:
			p := reflect.New(t.Elem())
			out.Set(p.Convert(t))
			copies[at] = out
			p.Elem().Set(r.dressParts(v.Elem(), copies))
		case reflect.Map:
			out.Set(reflect.MakeMap(t))
			copies[at] = out
			for k, e := range v.Seq2() {
				out.SetMapIndex(r.dressParts(k, copies), r.dressParts(e, copies))
			}
		case reflect.Slice:
			out.Set(reflect.MakeSlice(t, v.Len(), v.Len()))
			copies[at] = out
			for i := range v.Len() {
				out.Index(i).Set(r.dressParts(v.Index(i), copies))
			}
		}
		return out
	case reflect.Array:
		for i := range v.Len() {
			out.Index(i).Set(r.dressParts(v.Index(i), copies))
		}
		return out
	case reflect.Struct:
		out.Set(v)
		for i := range t.NumField() {
			f := reflect.NewAt(t.Field(i).Type, out.Field(i).Addr().UnsafePointer()).Elem() // also one that is not exported
			f.Set(r.dressParts(f, copies))
		}
		return out
	}
	return v
}

// holdsInterfaces says whether a value of type t, but for what compiled packages
// declare as structs, can contain an interface.
func holdsInterfaces(t reflect.Type, within []reflect.Type) bool {
	for _, o := range within {
		if o == t {
			return false
		}
	}
	within = append(within, t)
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holdsInterfaces(t.Elem(), within)
	case reflect.Map:
		return holdsInterfaces(t.Key(), within) || holdsInterfaces(t.Elem(), within)
	case reflect.Struct:
		if t.PkgPath() != "" && t.PkgPath() != "main" {
			return false
		}
		for i := range t.NumField() {
			if holdsInterfaces(t.Field(i).Type, within) {
				return true
			}
		}
	}
	return false
}
