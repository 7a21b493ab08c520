package assist

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// mark ends the identifier at the cursor, so that a keyword half-typed is an
// identifier and a selector has a name after its dot.
const mark = "ʹcursorʹ"

// analysis is a cell, as much of it as can be understood, checked against the
// names of its session.
type analysis struct {
	pkg    *types.Package
	info   *types.Info
	file   *ast.File
	fset   *token.FileSet
	path   []ast.Node // what encloses the cursor, innermost first
	cursor token.Pos  // where the identifier at the cursor begins
	text   string     // the file that was checked
	pieces []piece
	errors []int // where in the cell its syntax is wrong
}

// piece says where a part of the checked file stands in the cell.
type piece struct{ at, cell, n int }

// analyse checks the code up to cursor, closes whatever is open there, and
// adds the declarations that follow it. ident is where the identifier that
// ends at the cursor begins; marked adds the mark to it.
func analyse(scope Scope, code string, ident, cursor int, marked bool) (a *analysis) {
	defer func() {
		// The checker is made for code that a person has finished. What it
		// cannot stand is a cell without completions, not an evaluator lost.
		if recover() != nil {
			a = nil
		}
	}()
	head := code[:cursor]
	if marked {
		head += mark
	}
	var b builder
	b.cell(code, 0, cursor)
	if marked {
		b.text.WriteString(mark)
	}
	b.text.WriteString(closing(lex(head)) + "\n")
	if at := nextDeclaration(code, cursor); at >= 0 {
		b.cell(code, at, len(code))
	}
	a = &analysis{fset: token.NewFileSet()}
	a.assemble(scope, &b)
	file, err := parser.ParseFile(a.fset, "", a.text, parser.AllErrors|parser.SkipObjectResolution|parser.ParseComments)
	if file == nil {
		return nil
	}
	a.file = file
	if list, ok := err.(scanner.ErrorList); ok {
		for _, e := range list {
			if at := a.cellOffset(e.Pos.Offset); at >= 0 {
				a.errors = append(a.errors, at)
			}
		}
	}
	if marked {
		at := strings.LastIndex(a.text, mark) - (cursor - ident)
		a.cursor = a.file.FileStart + token.Pos(max(at, 0))
	} else {
		a.cursor = a.posOf(ident)
	}
	a.check(scope)
	a.path = enclosing(a.file, a.cursor)
	return a
}

// nextDeclaration finds the first declaration at the left margin after the
// cursor, outside of what the cursor is in.
func nextDeclaration(code string, cursor int) int {
	for at := cursor; ; {
		i := strings.IndexByte(code[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		for _, word := range []string{"func ", "type ", "var ", "const ", "import "} {
			if strings.HasPrefix(code[at:], word) {
				return at
			}
		}
	}
}

// closing returns the text that closes what the tokens leave open.
func closing(tokens []lexeme) string {
	type level struct {
		open  token.Token
		first token.Token // of the statement that is open at this level
		last  token.Token
	}
	levels := []level{{}}
	for i, t := range tokens {
		top := &levels[len(levels)-1]
		switch t.tok {
		case token.COMMENT:
			continue
		case token.SEMICOLON:
			if i < len(tokens)-1 || t.lit != "\n" { // not the one that the end implies
				top.first = token.ILLEGAL
			}
			continue
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if len(levels) > 1 {
				levels = levels[:len(levels)-1]
				levels[len(levels)-1].last = t.tok
			}
			continue
		}
		if top.first == token.ILLEGAL {
			top.first = t.tok
		}
		top.last = t.tok
		if closer[t.tok] != "" {
			levels = append(levels, level{open: t.tok})
		}
	}
	var b strings.Builder
	for i, l := range slices.Backward(levels) {
		// go and defer want a call.
		if (l.first == token.GO || l.first == token.DEFER) && l.last != token.RPAREN && l.last != l.first {
			b.WriteString("()")
		}
		if l.open == token.LBRACE {
			b.WriteString("\n")
		}
		b.WriteString(closer[l.open])
		if i > 0 {
			levels[i-1].last = closes[l.open]
		}
	}
	return b.String()
}

var closes = map[token.Token]token.Token{token.LPAREN: token.RPAREN, token.LBRACK: token.RBRACK, token.LBRACE: token.RBRACE}

// builder collects text and remembers which of it stands in the cell.
type builder struct {
	text   strings.Builder
	pieces []piece
}

func (b *builder) cell(code string, from, to int) {
	b.pieces = append(b.pieces, piece{b.text.Len(), from, to - from})
	b.text.WriteString(code[from:to])
}

// assemble orders the pieces of a cell as a Go file wants them: imports,
// declarations, and a function around the statements. Variables defined at
// the top level are declarations.
func (a *analysis) assemble(scope Scope, cell *builder) {
	text := cell.text.String()
	tokens := lex(text)
	var out, body builder
	part := func(to *builder, from, until int) {
		for _, p := range cell.pieces {
			if lo, hi := max(from, p.at), min(until, p.at+p.n); lo < hi {
				to.pieces = append(to.pieces, piece{to.text.Len() + lo - from, p.cell + lo - p.at, hi - lo})
			}
		}
		to.text.WriteString(text[from:until])
	}
	list := chunks(tokens)
	comments := leadingComments(tokens)
	out.text.WriteString("package cell\n")
	own := make(map[string]bool)
	for _, c := range list {
		if c.kind == imported {
			part(&out, c.start, c.end)
			out.text.WriteString("\n")
			for _, t := range c.tokens {
				if t.tok == token.STRING {
					own[path.Base(strings.Trim(t.lit, "\"`"))] = true
				}
			}
		}
		if c.kind == defined {
			for _, t := range c.tokens {
				if t.tok == token.DEFINE {
					break
				}
				own[t.lit] = true
			}
		}
		if c.kind == declared && len(c.tokens) > 1 {
			own[c.tokens[1].lit] = true
		}
	}
	out.text.WriteString(impliedImports(scope, tokens, own))
	body.text.WriteString("func _() {\n")
	for _, c := range list {
		switch c.kind {
		case declared:
			if at, ok := comments[c.start]; ok {
				part(&out, at, c.start)
			}
			if recv, ok := foreignReceiver(c, own); ok {
				out.text.WriteString("func _" + recv.typeParams + "(")
				part(&out, recv.start, recv.end)
				out.text.WriteString(", ")
				part(&out, recv.params, c.end)
			} else {
				part(&out, c.start, c.end)
			}
			out.text.WriteString("\n")
		case defined:
			at := definition(c)
			if at < 0 {
				part(&body, c.start, c.end)
				body.text.WriteString("\n")
				continue
			}
			out.text.WriteString("var ")
			part(&out, c.start, at)
			part(&out, at+1, c.end) // "=" of ":="
			out.text.WriteString("\n")
		case statement:
			part(&body, c.start, c.end)
			body.text.WriteString("\n")
		}
	}
	for _, p := range body.pieces {
		out.pieces = append(out.pieces, piece{out.text.Len() + p.at, p.cell, p.n})
	}
	out.text.WriteString(body.text.String() + "}\n")
	a.text, a.pieces = out.text.String(), out.pieces
}

// receiver is where a method's receiver stands and its parameters begin.
type receiver struct {
	start, end, params int
	typeParams         string
}

// foreignReceiver takes apart a method of a type that an earlier cell
// declared. The checker would refuse it: to it the type is another package's.
// As a function with one parameter more its body can be understood.
func foreignReceiver(c chunk, own map[string]bool) (r receiver, ok bool) {
	if len(c.tokens) < 2 || c.tokens[0].tok != token.FUNC || c.tokens[1].tok != token.LPAREN {
		return r, false
	}
	base, params := "", []string(nil)
	r.start = c.tokens[1].end
	for i := 2; i < len(c.tokens); i++ {
		switch t := c.tokens[i]; {
		case t.tok == token.IDENT && params == nil:
			base = t.lit
		case t.tok == token.IDENT:
			params = append(params, t.lit)
		case t.tok == token.LBRACK:
			params = []string{}
		case t.tok == token.RPAREN:
			if i+2 >= len(c.tokens) || c.tokens[i+1].tok != token.IDENT || c.tokens[i+2].tok != token.LPAREN || own[base] {
				return r, false
			}
			r.end, r.params = t.start, c.tokens[i+2].end
			if len(params) > 0 {
				r.typeParams = "[" + strings.Join(params, ", ") + " any]"
			}
			return r, true
		}
	}
	return r, false
}

// leadingComments maps the start of a token to that of the comment that
// stands directly above it.
func leadingComments(tokens []lexeme) map[int]int {
	above := make(map[int]int)
	start := -1
	for _, t := range tokens {
		switch {
		case t.tok == token.COMMENT:
			if start < 0 {
				start = t.start
			}
		case t.tok == token.SEMICOLON && t.lit == "\n":
			start = -1
		default:
			if start >= 0 {
				above[t.start] = start
			}
			start = -1
		}
	}
	return above
}

// definition returns the offset of := in x := e, or a negative number if e
// mentions x, as it was before: that cannot be a declaration.
func definition(c chunk) int {
	at := -1
	names := make(map[string]bool)
	for _, t := range c.tokens {
		switch {
		case at < 0 && t.tok == token.DEFINE:
			at = t.start
		case at < 0:
			names[t.lit] = true
		case t.tok == token.IDENT && names[t.lit]:
			return -1
		}
	}
	return at
}

// impliedImports declares the packages that a cell may use without an import:
// those of the session and the standard library's.
func impliedImports(scope Scope, tokens []lexeme, own map[string]bool) string {
	session := make(map[string]*types.PkgName)
	taken := make(map[string]bool)
	for _, obj := range scope.Names() {
		if p, ok := obj.(*types.PkgName); ok {
			session[p.Name()] = p
		} else {
			taken[obj.Name()] = true
		}
	}
	var std map[string]string
	var b strings.Builder
	done := make(map[string]bool)
	for i := 0; i+1 < len(tokens); i++ {
		name := tokens[i].lit
		if tokens[i].tok != token.IDENT || tokens[i+1].tok != token.PERIOD || i > 0 && tokens[i-1].tok == token.PERIOD || done[name] || own[name] {
			continue
		}
		done[name] = true
		if p := session[name]; p != nil {
			b.WriteString("import " + name + " \"" + p.Imported().Path() + "\"\n")
		} else if !taken[name] {
			if std == nil {
				std = standardNames(scope)
			}
			if p := std[name]; p != "" {
				b.WriteString("import " + name + " \"" + p + "\"\n")
			}
		}
	}
	return b.String()
}

// standardNames maps the names of packages to their import paths. Of several
// packages of one name, the one with the shorter path, or else the later, is
// meant: math/rand, text/template; and text/scanner, as cells mean it.
func standardNames(scope Scope) map[string]string {
	names := make(map[string]string)
	for _, p := range scope.Packages() {
		if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
			continue // a module's
		}
		name := packageName(p)
		if old := names[name]; old == "" || len(p) < len(old) || len(p) == len(old) && p > old {
			names[name] = p
		}
	}
	if names["scanner"] == "go/scanner" {
		names["scanner"] = "text/scanner"
	}
	return names
}

// packageName guesses the name of a package from its path: its last element
// that is not a version.
func packageName(p string) string {
	name := path.Base(p)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" && path.Dir(p) != "." {
		name = path.Base(path.Dir(p))
	}
	return name
}

// check runs the checker over the file. Names of the session that the file
// mentions and does not declare are in its package scope.
func (a *analysis) check(scope Scope) {
	names := scope.Names()
	pkgPath := "cell"
	for _, obj := range names {
		if _, ok := obj.(*types.PkgName); !ok && obj.Pkg() != nil && obj.Pos().IsValid() {
			pkgPath = obj.Pkg().Path() // unexported fields are visible within a package
		}
	}
	a.pkg = types.NewPackage(pkgPath, "cell")
	declared := make(map[string]bool)
	for _, d := range a.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				declared[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					declared[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						declared[n.Name] = true
					}
				case *ast.ImportSpec:
					if s.Name != nil {
						declared[s.Name.Name] = true
					} else {
						declared[packageName(strings.Trim(s.Path.Value, "\"`"))] = true
					}
				}
			}
		}
	}
	used := make(map[string]bool)
	ast.Inspect(a.file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	for _, obj := range names {
		if _, ok := obj.(*types.PkgName); !ok && used[obj.Name()] && !declared[obj.Name()] {
			a.pkg.Scope().Insert(obj)
		}
	}
	a.info = &types.Info{
		Types:      make(map[ast.Expr]types.TypeAndValue),
		Defs:       make(map[*ast.Ident]types.Object),
		Uses:       make(map[*ast.Ident]types.Object),
		Selections: make(map[*ast.SelectorExpr]*types.Selection),
		Scopes:     make(map[ast.Node]*types.Scope),
	}
	conf := types.Config{Importer: scope, Error: func(error) {}, FakeImportC: true, DisableUnusedImportCheck: true}
	types.NewChecker(&conf, a.fset, a.pkg, a.info).Files([]*ast.File{a.file}) // errors are expected
}

// posOf finds a byte of the cell in the checked file.
func (a *analysis) posOf(cell int) token.Pos {
	for _, p := range a.pieces {
		if p.cell <= cell && cell < p.cell+p.n {
			return a.file.FileStart + token.Pos(p.at+cell-p.cell)
		}
	}
	return token.NoPos
}

// cellOffset finds a byte of the checked file in the cell; -1: it is none of its.
func (a *analysis) cellOffset(at int) int {
	for _, p := range a.pieces {
		if p.at <= at && at <= p.at+p.n {
			return p.cell + at - p.at
		}
	}
	return -1
}

// enclosing lists the nodes around a position, innermost first. A node that
// begins at pos is around it.
func enclosing(file *ast.File, pos token.Pos) []ast.Node {
	var path []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || pos > n.End() {
			return false
		}
		if _, ok := n.(*ast.Comment); !ok {
			path = append(path, n)
		}
		return true
	})
	slices.Reverse(path)
	return path
}
