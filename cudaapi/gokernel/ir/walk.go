package ir

import "go/types"

// Walk visits statements with those within them, but not those of literals.
func Walk(list []Stmt, visit func(Stmt)) {
	for _, s := range list {
		visit(s)
		switch s := s.(type) {
		case *If:
			Walk(s.Then, visit)
			Walk(s.Else, visit)
		case *Loop:
			Walk(s.Body, visit)
			Walk(s.Post, visit)
		case *Block:
			Walk(s.Body, visit)
		case *Closure:
			// its body runs elsewhere
		}
	}
}

// Defined are the variables that a statement sets.
func Defined(s Stmt) (list []*Var) {
	switch s := s.(type) {
	case *Define:
		return []*Var{s.Var}
	case *Assign:
		if r := Root(s.To); r != nil {
			return []*Var{r}
		}
	case *Call:
		for _, d := range s.Dst {
			if d != nil {
				list = append(list, d)
			}
		}
	case *Effect:
		if s.Dst != nil {
			return []*Var{s.Dst}
		}
	case *Memory:
		if s.Dst != nil {
			return []*Var{s.Dst}
		}
	}
	return list
}

// Exprs visits the expressions of a statement itself.
func Exprs(s Stmt, visit func(Expr)) {
	all := func(list []Expr) {
		for _, e := range list {
			Parts(e, visit)
		}
	}
	switch s := s.(type) {
	case *Define:
		Parts(s.Init, visit)
	case *Assign:
		Parts(s.To, visit)
		Parts(s.Value, visit)
	case *Call:
		all(s.Args)
	case *Effect:
		all(s.Args)
	case *Memory:
		Parts(s.Addr, visit)
		all(s.Args)
	case *Printf:
		all(s.Args)
	case *If:
		Parts(s.Cond, visit)
	case *Loop:
		Parts(s.Cond, visit)
	case *Return:
		all(s.Values)
	case *Check:
		all(s.Args)
	}
}

// Parts visits an expression and those in it.
func Parts(e Expr, visit func(Expr)) {
	if e == nil {
		return
	}
	visit(e)
	for _, x := range Operands(e) {
		Parts(x, visit)
	}
}

// Operands are the expressions that one is made of.
func Operands(e Expr) []Expr {
	switch e := e.(type) {
	case *Unary:
		return []Expr{e.X}
	case *Binary:
		return []Expr{e.X, e.Y}
	case *Convert:
		return []Expr{e.X}
	case *Field:
		return []Expr{e.X}
	case *Index:
		return []Expr{e.X, e.I}
	case *Deref:
		return []Expr{e.X}
	case *Addr:
		return []Expr{e.X}
	case *Len:
		return []Expr{e.X}
	case *Cap:
		return []Expr{e.X}
	case *Slice:
		return []Expr{e.X, e.Lo, e.Hi, e.Max}
	case *Composite:
		return e.Elems
	case *Pure:
		return e.Args
	}
	return nil
}

// WalkAll visits statements and those within them, literals' too.
func WalkAll(list []Stmt, do func(Stmt)) {
	Walk(list, func(s Stmt) {
		do(s)
		if c, ok := s.(*Closure); ok {
			WalkAll(c.Lit.Body, do)
		}
	})
}

// Jumps says whether statements have a goto.
func Jumps(list []Stmt) (found bool) {
	Walk(list, func(s Stmt) {
		_, is := s.(*Jump)
		found = found || is
	})
	return found
}

// Root is the variable that a place is part of, if no pointer or slice lies between.
func Root(e Expr) *Var {
	switch e := e.(type) {
	case *Ref:
		return e.Var
	case *Field:
		return Root(e.X)
	case *Index:
		if _, ok := e.X.Type().Underlying().(*types.Array); ok {
			return Root(e.X)
		}
	}
	return nil
}
