package gokernel

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"gocuda/cudaapi/gokernel/ir"
)

// byCUDA stands for the kernel of a panic in a function that CUDA C++ called.
const byCUDA = 1<<32 - 1

// simple says whether CUDA C++ has the same for a type: a number, a bool, or a pointer
// to one.
func simple(t types.Type) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat|types.IsBoolean) != 0 && b.Kind() != types.Uintptr && ir.Half(t) == ir.NoHalf
}

// offered are the functions that CUDA C++ can call, in the order of the source.
func (u *unit) offered() (list []*ir.Func) {
	for o, d := range u.decls {
		sig := o.Signature()
		if d.Body == nil || sig.Recv() != nil || sig.TypeParams().Len() > 0 || sig.Variadic() || sig.Results().Len() > 1 {
			continue
		}
		ok := true
		for v := range sig.Params().Variables() {
			t := v.Type()
			if s, slice := t.Underlying().(*types.Slice); slice {
				t = s.Elem()
			}
			ok = ok && simple(t)
		}
		for v := range sig.Results().Variables() {
			ok = ok && simple(v.Type())
		}
		if f := u.funcs[keyOf(o, d)]; ok && f != nil {
			f.Called = true
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *ir.Func) int { return int(a.Pos - b.Pos) })
	return list
}

// offer writes a function as CUDA C++ calls it: without what Go's functions know of
// their thread. After a panic, which the launch's stream reports, it gives zero.
func (p *printer) offer(f *ir.Func) {
	var params, args []string
	for _, v := range f.Params {
		if s, ok := v.Type.Underlying().(*types.Slice); ok {
			elem := p.typ(s.Elem())
			params = append(params, fmt.Sprintf("%s *%s, i64 %s_len", elem, v.Name, v.Name))
			args = append(args, fmt.Sprintf("%s{%s, %s_len, %s_len}", p.typ(v.Type), v.Name, v.Name, v.Name))
			continue
		}
		params = append(params, p.typ(v.Type)+" "+v.Name)
		args = append(args, v.Name)
	}
	call := fmt.Sprintf("%s(%s);", f.Name, strings.Join(append(args, "go"), ", "))
	back := ""
	if len(f.Results) > 0 {
		call, back = "auto r = "+call, " return r;"
	}
	p.line("static __device__ __forceinline__ %s %s(%s) { go::thread go = {false, %du}; %s go::finish(go);%s }", p.results(f.Results), f.Go, strings.Join(params, ", "), byCUDA, call, back)
}
