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

func (c *copier) exprs(list []Expr) []Expr { return mapAll(list, c.renamed) }

func (c *copier) expr(e Expr) Expr { return Map(e, c.renamed) }

func (c *copier) renamed(e Expr) Expr {
	if r, ok := e.(*Ref); ok {
		return &Ref{Var: c.variable(r.Var)}
	}
	return e
}

// Map is an expression like another, in which by gives what stands in the place of each
// part, whose own parts are replaced already.
func Map(e Expr, by func(Expr) Expr) Expr {
	m := func(e Expr) Expr { return Map(e, by) }
	switch x := e.(type) {
	case nil:
		return nil
	case *Unary:
		e = &Unary{Op: x.Op, X: m(x.X), T: x.T}
	case *Binary:
		e = &Binary{Op: x.Op, X: m(x.X), Y: m(x.Y), T: x.T}
	case *Convert:
		e = &Convert{X: m(x.X), T: x.T}
	case *Field:
		e = &Field{X: m(x.X), Index: x.Index, T: x.T}
	case *Index:
		e = &Index{X: m(x.X), I: m(x.I), T: x.T}
	case *Deref:
		e = &Deref{X: m(x.X), T: x.T}
	case *Addr:
		e = &Addr{X: m(x.X), T: x.T}
	case *Len:
		e = &Len{X: m(x.X)}
	case *Cap:
		e = &Cap{X: m(x.X)}
	case *Slice:
		e = &Slice{X: m(x.X), Lo: m(x.Lo), Hi: m(x.Hi), Max: m(x.Max), T: x.T}
	case *Composite:
		e = &Composite{T: x.T, Elems: mapAll(x.Elems, by)}
	case *Pure:
		e = &Pure{Name: x.Name, Args: mapAll(x.Args, by), T: x.T}
	}
	return by(e)
}

func mapAll(list []Expr, by func(Expr) Expr) []Expr {
	var out []Expr
	for _, e := range list {
		out = append(out, Map(e, by))
	}
	return out
}

// MapAll maps the expressions of statements, of those within them, and of literals.
func MapAll(list []Stmt, by func(Expr) Expr) {
	m := func(e *Expr) { *e = Map(*e, by) }
	WalkAll(list, func(s Stmt) {
		switch s := s.(type) {
		case *Define:
			m(&s.Init)
		case *Assign:
			m(&s.To)
			m(&s.Value)
		case *Call:
			s.Args = mapAll(s.Args, by)
		case *Effect:
			s.Args = mapAll(s.Args, by)
		case *Memory:
			m(&s.Addr)
			s.Args = mapAll(s.Args, by)
		case *Printf:
			s.Args = mapAll(s.Args, by)
		case *If:
			m(&s.Cond)
		case *Loop:
			m(&s.Cond)
		case *Return:
			s.Values = mapAll(s.Values, by)
		case *Check:
			s.Args = mapAll(s.Args, by)
		}
	})
}
