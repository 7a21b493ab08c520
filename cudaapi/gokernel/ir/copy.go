package ir

// Copy is statements like others, with variables and labels of their own for those that
// they declare: named gives the names of these. Of the others, vars and labels are what
// stands in their place.
func Copy(list []Stmt, vars map[*Var]*Var, labels map[*Label]*Label, named func(string) string) []Stmt {
	c := &copier{vars, labels, named}
	return c.list(list)
}

type copier struct {
	vars   map[*Var]*Var
	labels map[*Label]*Label
	named  func(string) string
}

func (c *copier) variable(v *Var) *Var {
	if w := c.vars[v]; w != nil {
		return w
	}
	return v
}

func (c *copier) label(l *Label) *Label {
	if m := c.labels[l]; m != nil {
		return m
	}
	return l
}

func (c *copier) declared(l *Label) *Label {
	if l == nil {
		return nil
	}
	c.labels[l] = &Label{Name: c.named(l.Name)}
	return c.labels[l]
}

func (c *copier) list(list []Stmt) []Stmt {
	var out []Stmt
	for _, s := range list {
		out = append(out, c.stmt(s))
	}
	return out
}

func (c *copier) stmt(s Stmt) Stmt {
	switch s := s.(type) {
	case *Define:
		init := c.expr(s.Init)
		v := *s.Var
		v.Name = c.named(v.Name)
		c.vars[s.Var] = &v
		return &Define{Var: &v, Init: init}
	case *Assign:
		return &Assign{To: c.expr(s.To), Value: c.expr(s.Value)}
	case *If:
		return &If{Cond: c.expr(s.Cond), Then: c.list(s.Then), Else: c.list(s.Else)}
	case *Block:
		return &Block{Label: c.declared(s.Label), Body: c.list(s.Body)}
	case *Leave:
		return &Leave{To: c.label(s.To)}
	case *Again:
		return &Leave{To: c.label(s.To)}
	case *Check:
		n := *s
		n.Args = c.exprs(s.Args)
		return &n
	}
	return s // what has no expressions
}

func (c *copier) exprs(list []Expr) []Expr {
	var out []Expr
	for _, e := range list {
		out = append(out, c.expr(e))
	}
	return out
}

func (c *copier) expr(e Expr) Expr {
	switch e := e.(type) {
	case *Ref:
		return &Ref{Var: c.variable(e.Var)}
	case *Unary:
		return &Unary{Op: e.Op, X: c.expr(e.X), T: e.T}
	case *Binary:
		return &Binary{Op: e.Op, X: c.expr(e.X), Y: c.expr(e.Y), T: e.T}
	case *Convert:
		return &Convert{X: c.expr(e.X), T: e.T}
	case *Field:
		return &Field{X: c.expr(e.X), Index: e.Index, T: e.T}
	case *Index:
		return &Index{X: c.expr(e.X), I: c.expr(e.I), T: e.T}
	case *Deref:
		return &Deref{X: c.expr(e.X), T: e.T}
	case *Addr:
		return &Addr{X: c.expr(e.X), T: e.T}
	case *Len:
		return &Len{X: c.expr(e.X)}
	case *Cap:
		return &Cap{X: c.expr(e.X)}
	case *Slice:
		return &Slice{X: c.expr(e.X), Lo: c.expr(e.Lo), Hi: c.expr(e.Hi), Max: c.expr(e.Max), T: e.T}
	case *Composite:
		return &Composite{T: e.T, Elems: c.exprs(e.Elems)}
	case *Pure:
		return &Pure{Name: e.Name, Args: c.exprs(e.Args), T: e.T}
	}
	return e
}
