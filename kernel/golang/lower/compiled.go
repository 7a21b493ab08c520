package lower

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"
)

// DeclOf is the declaration of a function, and nil if there is none.
func (l *Lowerer) DeclOf(f *types.Func) *Decl { return l.declOf(f) }

// Reflect is the type of a type's representation.
func (l *Lowerer) Reflect(t types.Type) reflect.Type { return l.represent(t).typ }

// Compiled has the callers of a function, which is not generic, call another in its
// place once the cell begins: define defines a symbol of package rt, a function of the
// same type, and returns its name. versions is what the function's versions have in
// common: see rt.Func. What nothing has lowered is left alone.
func (l *Lowerer) Compiled(f *types.Func, define func(lowered, versions string) (symbol string)) {
	l.last = append(l.last, func() {
		name, variable := l.redirected(f)
		if name == "" {
			return
		}
		to, flag := variable, name+"_r"
		if l.watched[name] {
			to, flag = name+"_n", name+"_c"
		}
		l.inits = append(l.inits, fmt.Sprintf("%s = %s", to, l.sym(define(name, variable))), l.sym("Settle")+"()", flag+" = true")
	})
}

// Interpreted undoes Compiled.
func (l *Lowerer) Interpreted(f *types.Func) {
	if name, variable := l.redirected(f); l.watched[name] {
		l.inits = append(l.inits, name+"_c = false")
	} else if name != "" {
		l.inits = append(l.inits, name+"_r = false", fmt.Sprintf("%s = %s", variable, name))
	}
}

// redirected is a function's name in lowered code, and the variable by which its
// callers can be led to another; "" if there is none.
func (l *Lowerer) redirected(f *types.Func) (name, variable string) {
	name, ok := l.instances[l.instanceKey(f.Origin(), nil)]
	if !ok || l.redirects[name] == "" {
		return "", ""
	}
	return name, l.redirects[name]
}

// Versions is what the versions of a function have in common: see rt.Func. It is "" if
// the function can have no other.
func (l *Lowerer) Versions(f *types.Func) string {
	_, variable := l.redirected(f)
	return variable
}

// Places gives a symbol of package rt, a function of any number of values, the
// addresses of package variables once the cell begins.
func (l *Lowerer) Places(vars []*types.Var, symbol string) {
	l.last = append(l.last, func() {
		places := make([]string, len(vars))
		for i, v := range vars {
			places[i] = "&" + l.Global(v)
			l.used(v)
		}
		l.inits = append(l.inits, fmt.Sprintf("%s(%s)", l.sym(symbol), strings.Join(places, ", ")))
	})
}
