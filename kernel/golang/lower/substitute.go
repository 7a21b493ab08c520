package lower

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
)

// env gives the type parameters of a function that is being instantiated
// their arguments.
type env struct {
	params map[*types.TypeParam]types.Type
	locals map[*types.TypeName]types.Type
}

// Substitute replaces type parameters in a type.
func (l *Lowerer) Substitute(t types.Type, params *types.TypeParamList, args []*types.TypeParam) types.Type {
	e := &env{params: make(map[*types.TypeParam]types.Type)}
	for i := range params.Len() {
		e.params[params.At(i)] = args[i]
	}
	return l.subst(t, e)
}

// ForgetInstances visits the types that run time knows, and has further instances
// of generic types made again: a cell gave one a method.
func (l *Lowerer) ForgetInstances(visit func(types.Type)) {
	for _, b := range l.boxed {
		visit(b.typ)
	}
	for _, made := range []reals{l.newest, l.first} {
		for _, r := range made {
			visit(r.of)
		}
	}
	l.context = types.NewContext()
}

// subst replaces type parameters by their arguments.
func (l *Lowerer) subst(t types.Type, e *env) types.Type {
	if e == nil || len(e.params) == 0 || t == nil {
		return t
	}
	switch t := t.(type) {
	case *types.Basic:
		return t
	case *types.TypeParam:
		if arg, ok := e.params[t]; ok {
			return arg
		}
		return t
	case *types.Alias:
		return l.subst(types.Unalias(t), e)
	case *types.Named:
		if n := t.TypeArgs().Len(); n > 0 {
			args := make([]types.Type, n)
			same := true
			for i := range n {
				args[i] = l.subst(t.TypeArgs().At(i), e)
				same = same && args[i] == t.TypeArgs().At(i)
			}
			if same {
				return t
			}
			inst, err := types.Instantiate(l.context, t.Origin(), args, false)
			if err != nil {
				panic(fmt.Errorf("cannot instantiate %s: %w", t, err))
			}
			return inst
		}
		return l.localType(t, e)
	case *types.Pointer:
		if x := l.subst(t.Elem(), e); x != t.Elem() {
			return types.NewPointer(x)
		}
	case *types.Slice:
		if x := l.subst(t.Elem(), e); x != t.Elem() {
			return types.NewSlice(x)
		}
	case *types.Array:
		if x := l.subst(t.Elem(), e); x != t.Elem() {
			return types.NewArray(x, t.Len())
		}
	case *types.Chan:
		if x := l.subst(t.Elem(), e); x != t.Elem() {
			return types.NewChan(t.Dir(), x)
		}
	case *types.Map:
		k, v := l.subst(t.Key(), e), l.subst(t.Elem(), e)
		if k != t.Key() || v != t.Elem() {
			return types.NewMap(k, v)
		}
	case *types.Tuple:
		return l.substTuple(t, e)
	case *types.Signature:
		p, r := l.substTuple(t.Params(), e), l.substTuple(t.Results(), e)
		if p != t.Params() || r != t.Results() {
			return types.NewSignatureType(nil, nil, nil, p, r, t.Variadic())
		}
	case *types.Struct:
		changed := false
		fields := make([]*types.Var, t.NumFields())
		tags := make([]string, t.NumFields())
		for i := range fields {
			f := t.Field(i)
			x := l.subst(f.Type(), e)
			fields[i], tags[i] = f, t.Tag(i)
			if x != f.Type() {
				fields[i] = types.NewField(f.Pos(), f.Pkg(), f.Name(), x, f.Embedded())
				changed = true
			}
		}
		if changed {
			return types.NewStruct(fields, tags)
		}
	case *types.Interface:
		return l.substInterface(t, e)
	case *types.Union:
		terms := make([]*types.Term, t.Len())
		for i := range terms {
			terms[i] = types.NewTerm(t.Term(i).Tilde(), l.subst(t.Term(i).Type(), e))
		}
		return types.NewUnion(terms)
	}
	return t
}

func (l *Lowerer) substTuple(t *types.Tuple, e *env) *types.Tuple {
	if t == nil {
		return nil
	}
	changed := false
	vars := make([]*types.Var, t.Len())
	for i := range vars {
		v := t.At(i)
		vars[i] = v
		if x := l.subst(v.Type(), e); x != v.Type() {
			vars[i] = types.NewParam(v.Pos(), v.Pkg(), v.Name(), x)
			changed = true
		}
	}
	if !changed {
		return t
	}
	return types.NewTuple(vars...)
}

func (l *Lowerer) substInterface(t *types.Interface, e *env) types.Type {
	changed := false
	methods := make([]*types.Func, t.NumExplicitMethods())
	for i := range methods {
		m := t.ExplicitMethod(i)
		methods[i] = m
		sig := m.Signature()
		if x := l.subst(types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic()), e).(*types.Signature); x.Params() != sig.Params() || x.Results() != sig.Results() {
			methods[i] = types.NewFunc(m.Pos(), m.Pkg(), m.Name(), x)
			changed = true
		}
	}
	embedded := make([]types.Type, t.NumEmbeddeds())
	for i := range embedded {
		embedded[i] = l.subst(t.EmbeddedType(i), e)
		changed = changed || embedded[i] != t.EmbeddedType(i)
	}
	if !changed {
		return t
	}
	return types.NewInterfaceType(methods, embedded).Complete()
}

// localType is a type declared inside a generic function: another one for
// each instance.
func (l *Lowerer) localType(t *types.Named, e *env) types.Type {
	obj := t.Obj()
	if obj.Pkg() == nil || obj.Parent() == nil || obj.Parent() == obj.Pkg().Scope() || !l.mentions(t, e) {
		return t
	}
	if c, ok := e.locals[obj]; ok {
		return c
	}
	name := types.NewTypeName(token.NoPos, obj.Pkg(), obj.Name(), nil)
	c := types.NewNamed(name, nil, nil)
	if e.locals == nil {
		e.locals = make(map[*types.TypeName]types.Type)
	}
	e.locals[obj] = c
	c.SetUnderlying(l.subst(t.Underlying(), e).Underlying())
	return c
}

// mentions says whether a local type was declared in the function that e
// instantiates.
func (l *Lowerer) mentions(t *types.Named, e *env) bool {
	for s := t.Obj().Parent(); s != nil; s = s.Parent() {
		for p := range e.params {
			if s.Lookup(p.Obj().Name()) == p.Obj() {
				return true
			}
		}
	}
	return false
}

// typeKey writes a type so that identical types, and only those, have equal keys.
func (l *Lowerer) typeKey(t types.Type) string {
	var b key
	l.writeKey(&b, t)
	return b.String()
}

// maxDepth and maxKey bound the types that instances are made with: those of an
// instantiation cycle grow without end. The checker finds a cycle only in one cell
// that has no other error, and a notebook tolerates some.
const (
	maxDepth = 100
	maxKey   = 4000
)

// key is the text of a type's key while it is written.
type key struct {
	strings.Builder
	depth, deepest int
}

// A Cycle is a generic type or function that is instantiated with ever larger types.
type Cycle struct{ Of types.Object }

func (c Cycle) Error() string {
	return "instantiation cycle: " + c.Of.Name() + " is instantiated with ever larger types"
}

func (l *Lowerer) objKey(o types.Object) string {
	n, ok := l.objIDs[o]
	if !ok {
		n = len(l.objIDs) + 1
		l.objIDs[o] = n
	}
	return fmt.Sprintf("%s#%d", o.Name(), n)
}

func (l *Lowerer) writeKey(b *key, t types.Type) {
	b.depth++
	b.deepest = max(b.deepest, b.depth)
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		b.WriteString(types.Typ[t.Kind()].Name())
	case *types.Named:
		o := t.Origin().Obj()
		if o.Pkg() == nil {
			b.WriteString(o.Name())
		} else {
			b.WriteString(l.objKey(o))
		}
		if n := t.TypeArgs().Len(); n > 0 {
			b.WriteByte('[')
			before, depth := b.Len(), b.depth
			for i := range n {
				if i > 0 {
					b.WriteByte(',')
				}
				l.writeKey(b, t.TypeArgs().At(i))
			}
			if b.deepest-depth > maxDepth || b.Len()-before > maxKey {
				panic(Cycle{o})
			}
			b.WriteByte(']')
		}
	case *types.TypeParam:
		b.WriteString("$" + l.objKey(t.Obj()))
	case *types.Pointer:
		b.WriteByte('*')
		l.writeKey(b, t.Elem())
	case *types.Slice:
		b.WriteString("[]")
		l.writeKey(b, t.Elem())
	case *types.Array:
		fmt.Fprintf(b, "[%d]", t.Len())
		l.writeKey(b, t.Elem())
	case *types.Map:
		b.WriteString("map[")
		l.writeKey(b, t.Key())
		b.WriteByte(']')
		l.writeKey(b, t.Elem())
	case *types.Chan:
		fmt.Fprintf(b, "chan%d(", t.Dir())
		l.writeKey(b, t.Elem())
		b.WriteByte(')')
	case *types.Signature:
		b.WriteString("func")
		l.writeTuple(b, t.Params())
		if t.Variadic() {
			b.WriteString("...")
		}
		l.writeTuple(b, t.Results())
	case *types.Struct:
		b.WriteString("struct{")
		for i := range t.NumFields() {
			f := t.Field(i)
			if !f.Exported() && f.Pkg() != nil {
				b.WriteString(f.Pkg().Path() + ".")
			}
			b.WriteString(f.Name())
			if f.Embedded() {
				b.WriteByte('!')
			}
			b.WriteByte(' ')
			l.writeKey(b, f.Type())
			if tag := t.Tag(i); tag != "" {
				fmt.Fprintf(b, "%q", tag)
			}
			b.WriteByte(';')
		}
		b.WriteByte('}')
	case *types.Interface:
		b.WriteString("interface{")
		for i := range t.NumMethods() {
			m := t.Method(i)
			if !m.Exported() && m.Pkg() != nil {
				b.WriteString(m.Pkg().Path() + ".")
			}
			b.WriteString(m.Name())
			l.writeTuple(b, m.Signature().Params())
			if m.Signature().Variadic() {
				b.WriteString("...")
			}
			l.writeTuple(b, m.Signature().Results())
			b.WriteByte(';')
		}
		b.WriteByte('}')
	case *types.Tuple:
		l.writeTuple(b, t)
	default:
		fmt.Fprintf(b, "%T", t)
	}
	b.depth--
}

func (l *Lowerer) writeTuple(b *key, t *types.Tuple) {
	b.WriteByte('(')
	for i := range t.Len() {
		if i > 0 {
			b.WriteByte(',')
		}
		l.writeKey(b, t.At(i).Type())
	}
	b.WriteByte(')')
}
