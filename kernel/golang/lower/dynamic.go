package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"gocuda/cudaapi/gokernel"
)

// Seen is what lowered code puts into interfaces and fields.
func (l *Lowerer) Seen() gokernel.Seen {
	seen := gokernel.Seen{Literals: slices.Clone(l.literals), Watched: l.Instrument}
	for _, b := range l.boxed {
		seen.Types = append(seen.Types, b.typ)
	}
	return seen
}

// keeps notes that a field gets the value of an expression, which may be a literal.
func (f *fn) keeps(e ast.Expr) { f.inField, _ = ast.Unparen(e).(*ast.FuncLit) }

// single is a function that a field gets, of a literal that uses no variable around it. There
// is one for each literal, by which compiled code knows it.
func (f *fn) single(e *ast.FuncLit, name string, made *expr) *expr {
	l := f.l
	n := len(l.literals)
	l.literals = append(l.literals, gokernel.Literal{Lit: e, Info: f.info, Func: name})
	l.undo = append(l.undo, func() { l.literals = l.literals[:n] })
	typ := l.represent(f.typeOf(e)).typ
	key := fmt.Sprintf("%p", e)
	return call(made.typ, l.defined(key, "single", func() reflect.Value {
		var once sync.Once
		var first []reflect.Value
		return reflect.MakeFunc(reflect.FuncOf([]reflect.Type{typ}, []reflect.Type{typ}, false), func(args []reflect.Value) []reflect.Value {
			once.Do(func() {
				first = args
				l.singles.Store(funcWord(args[0]), e)
			})
			return first
		})
	}), made)
}

// funcWord is what a function's value is in memory.
func funcWord(v reflect.Value) unsafe.Pointer {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return *(*unsafe.Pointer)(p.UnsafePointer())
}

// Dynamic is what compiled code asks about types in interfaces: see package native. p is what
// numbers types and literals.
func (l *Lowerer) Dynamic(c gokernel.HostCall, p *gokernel.HostProgram) reflect.Value {
	type words = [2]unsafe.Pointer
	wordsOf := func(v reflect.Value) words { // of an interface
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		return *(*words)(p.UnsafePointer())
	}
	symbols := l.rt.Symbols()
	asked := func(name string) any { return symbols[name].Interface() }
	var f any
	switch c.Name {
	case gokernel.DynamicWord:
		iface, t := l.real(c.Iface), l.typeOf(c.Of)
		f = func() unsafe.Pointer {
			v := reflect.New(iface).Elem()
			v.Set(reflect.Zero(t.Real()))
			return wordsOf(v)[0]
		}
	case gokernel.DynamicKind:
		numbers := make(map[int]int)
		for i, t := range p.Dynamic {
			numbers[l.id(t)] = i + 1
		}
		id := asked("ID").(func(any) int)
		f = func(word unsafe.Pointer) int {
			x := words{word}
			return numbers[id(*(*any)(unsafe.Pointer(&x)))]
		}
	case gokernel.DynamicWhich:
		f = func(word unsafe.Pointer) int {
			lit, _ := l.singles.Load(word)
			return slices.IndexFunc(p.Called, func(e *ast.FuncLit) bool { return any(e) == lit }) + 1
		}
	case gokernel.DynamicRun:
		return reflect.Zero(l.represent(c.Of).typ)
	case gokernel.DynamicTo:
		to, id, implements := l.rt.Converter(l.real(c.Iface)), l.id(c.Iface), asked("Implements").(func(any, int) bool)
		f = func(x any) (words, bool) {
			if !implements(x, id) {
				return words{}, false
			}
			return wordsOf(to.Call([]reflect.Value{reflect.ValueOf(&x).Elem()})[0]), true
		}
	case gokernel.DynamicAssert:
		if l.isAny(c.Iface) {
			notNil := asked("NotNil").(func(any) any)
			f = func(x any) words { x = notNil(x); return *(*words)(unsafe.Pointer(&x)) }
			break
		}
		to := l.rt.Asserter(l.real(c.Iface))
		f = func(x any) words { return wordsOf(to.Call([]reflect.Value{reflect.ValueOf(&x).Elem()})[0]) }
	case gokernel.DynamicMust:
		id, from, must := l.id(c.Of), l.real(c.Iface).String(), asked("Must").(func(any, int, string) any)
		f = func(x any) { must(x, id, from) }
	case gokernel.DynamicEqual:
		f = asked("Eq")
	case gokernel.DynamicCall:
		sig := c.Method.Signature()
		m := types.NewFunc(token.NoPos, c.Method.Pkg(), c.Method.Name(), types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic()))
		iface := types.NewInterfaceType([]*types.Func{m}, nil).Complete()
		return l.rt.Finder(l.real(iface), l.represent(m.Signature()).typ)
	}
	return reflect.ValueOf(f)
}
