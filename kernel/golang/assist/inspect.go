package assist

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/format"
	"go/token"
	"go/types"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gocuda/kernel/display"
	"gocuda/kernel/magic"
)

// Inspect tells what the name at the cursor, a position in bytes, means: its
// declaration and documentation, and with detail 1 or more the source that a
// cell gave it, or the contents of a package. Behind an open parenthesis it
// reports the function that is called. It returns nil where nothing is known,
// and never panics.
func Inspect(scope Scope, magics *magic.Set, code string, cursor, detail int) *display.Bundle {
	cursor = clamp(code, cursor)
	if b := inspectMagic(magics, code, cursor); b != nil {
		return b
	}
	if name, body := cellMagic(code, cursor); slices.Contains(goBodies, name) {
		return Inspect(scopeOf(scope, name), magics, code[body:], cursor-body, detail)
	}
	code = magic.Blank(code)
	start, end := nameNear(code, cursor)
	if start == end {
		return nil
	}
	a := analyse(scope, code, start, end, false)
	if a == nil || a.cursor == token.NoPos {
		return nil
	}
	obj := a.object()
	if obj == nil {
		obj = packageNamed(scope, code[start:end])
	}
	if obj == nil {
		return nil
	}
	p := &page{scope: scope, a: a, obj: obj, detail: detail}
	p.write()
	return p.bundle()
}

// nameNear finds the identifier at the cursor, or the one before the
// innermost parenthesis that is open there or was closed just before.
func nameNear(code string, cursor int) (start, end int) {
	start, end = identifier(code, cursor)
	if r, _ := utf8.DecodeRuneInString(code[start:end]); start < end && !unicode.IsDigit(r) {
		return start, end
	}
	tokens := lex(code[:cursor])
	if n := len(tokens); n > 0 && tokens[n-1].lit == "\n" {
		tokens = tokens[:n-1]
	}
	if n := len(tokens); n > 0 && tokens[n-1].tok == token.RPAREN {
		tokens = tokens[:n-1]
	}
	open, _ := openBrackets(tokens)
	for _, t := range slices.Backward(open) {
		if t.tok == token.LPAREN {
			return identifier(code, len(strings.TrimRight(code[:t.start], " \t")))
		}
	}
	return identifier(code, len(strings.TrimRight(code[:cursor], " \t.;")))
}

// object returns what the identifier at the cursor stands for.
func (a *analysis) object() types.Object {
	for _, n := range a.path {
		id, ok := n.(*ast.Ident)
		if !ok || id.Pos() != a.cursor {
			continue
		}
		if obj := a.info.Uses[id]; obj != nil {
			return obj
		}
		if obj := a.info.Defs[id]; obj != nil {
			return obj
		}
		if sel := a.selector(); sel != nil {
			for _, obj := range a.selectable(sel) {
				if obj.Name() == id.Name {
					return obj
				}
			}
			return nil
		}
		if scope := a.pkg.Scope().Innermost(a.cursor); scope != nil {
			_, obj := scope.LookupParent(id.Name, a.cursor)
			return obj
		}
		return types.Universe.Lookup(id.Name)
	}
	return nil
}

// packageNamed finds a package that is meant by its bare name.
func packageNamed(scope Scope, name string) types.Object {
	for _, obj := range scope.Names() {
		if obj.Name() == name {
			return obj
		}
	}
	if p, err := scope.Import(standardNames(scope)[name]); err == nil {
		return types.NewPkgName(token.NoPos, nil, name, p)
	}
	return nil
}

// inspectMagic reports the magic at the cursor.
func inspectMagic(magics *magic.Set, code string, cursor int) *display.Bundle {
	start := strings.LastIndexByte(code[:cursor], '\n') + 1
	end := cursor
	for end < len(code) && !strings.ContainsRune(" \t\r\n", rune(code[end])) {
		end++
	}
	line := strings.TrimLeft(code[start:end], " \t")
	if !strings.HasPrefix(line, "%") {
		return nil
	}
	m, ok := magics.Lookup(strings.Fields(line)[0])
	if !ok {
		return nil
	}
	return &display.Bundle{Data: map[string]any{
		"text/plain": m.Usage + "\n\n" + m.Doc,
		"text/html":  "<pre>" + html.EscapeString(m.Usage) + "</pre>\n<p>" + html.EscapeString(m.Doc) + "</p>",
	}}
}

// page is what Inspect shows of one object.
type page struct {
	scope  Scope
	a      *analysis
	obj    types.Object
	detail int
	code   []string // declarations
	doc    string   // documentation
	more   []string // declarations that follow it
}

func (p *page) write() {
	switch obj := p.obj.(type) {
	case *types.PkgName:
		p.code = []string{fmt.Sprintf("package %s // import %q", obj.Imported().Name(), obj.Imported().Path())}
		p.doc = p.scope.Doc(obj)
		if p.detail > 0 {
			p.contents(obj.Imported())
		}
		return
	case *types.TypeName:
		p.code = []string{p.typeDecl(obj)}
		p.methods(obj)
	default:
		p.code = []string{p.declaration()}
	}
	source, doc := p.cellSource(p.obj)
	if v, ok := p.obj.(*types.Var); ok && v.IsField() {
		source, doc = "", p.fieldDoc(v, nil)
	}
	switch {
	case source == "" && doc == "":
		doc = p.scope.Doc(p.obj)
	case source != "" && p.detail > 0:
		if _, ok := p.obj.(*types.Var); !ok {
			p.code = nil // the source has it all
		}
		p.code = append(p.code, source)
	}
	p.doc = doc
	if v, ok := p.obj.(*types.Var); ok {
		p.typeOf(v)
		if value := p.scope.Value(v.Name()); value != "" && slices.Contains(p.scope.Names(), p.obj) {
			p.more = append(p.more, "value: "+value)
		}
	}
}

// cellSource returns the declaration that a cell gave an object, earlier or
// above in the same text, without its comment, and the comment's words.
func (p *page) cellSource(obj types.Object) (source, doc string) {
	text := p.scope.Source(obj)
	if text == "" && obj.Pkg() == p.a.pkg && obj.Pos().IsValid() {
		text = p.a.declaration(obj)
	}
	var words []string
	for {
		line, rest, found := strings.Cut(text, "\n")
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
		if !ok {
			break
		}
		words = append(words, strings.TrimPrefix(comment, " "))
		if text = rest; !found {
			break
		}
	}
	if inner, rest, ok := strings.Cut(strings.TrimPrefix(text, "/*"), "*/"); ok && strings.HasPrefix(text, "/*") {
		words, text = append(words, strings.TrimSpace(inner)), strings.TrimLeft(rest, "\n")
	}
	return text, strings.Join(words, "\n")
}

// declaration returns the text of the declaration of an object of the cell
// that is being typed, with its comment.
func (a *analysis) declaration(obj types.Object) string {
	for _, d := range a.file.Decls {
		if obj.Pos() < d.Pos() || obj.Pos() >= d.End() {
			continue
		}
		start := d.Pos()
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Pos() != obj.Pos() {
				return ""
			}
			if d.Doc != nil {
				start = d.Doc.Pos()
			}
		case *ast.GenDecl:
			if d.Doc != nil {
				start = d.Doc.Pos()
			}
		}
		return a.text[start-a.file.FileStart : min(int(d.End()-a.file.FileStart), len(a.text))]
	}
	return ""
}

// declaration writes an object other than a type as Go declares it.
func (p *page) declaration() string {
	if text := p.scope.Declaration(p.obj); text != "" {
		return text
	}
	if p.obj.Pkg() == nil {
		return p.obj.String()
	}
	qual := qualifier(p.a.pkg)
	for _, obj := range p.scope.Names() {
		if obj == p.obj {
			qual = qualifier(obj.Pkg()) // its name needs no package
		}
	}
	text := types.ObjectString(p.obj, qual)
	if c, ok := p.obj.(*types.Const); ok {
		text += " = " + c.Val().String()
	}
	return text
}

// typeDecl writes a type with what can be used of it.
func (p *page) typeDecl(obj *types.TypeName) string {
	qual := qualifier(p.a.pkg)
	var b strings.Builder
	fmt.Fprintf(&b, "type %s", obj.Name())
	if obj.IsAlias() {
		return b.String() + " = " + types.TypeString(types.Unalias(obj.Type()), qual)
	}
	if n, ok := obj.Type().(*types.Named); ok && n.TypeParams().Len() > 0 {
		var params []string
		for t := range n.TypeParams().TypeParams() {
			params = append(params, t.Obj().Name()+" "+types.TypeString(t.Constraint(), qual))
		}
		b.WriteString("[" + strings.Join(params, ", ") + "]")
	}
	visible := func(o types.Object) bool {
		return o.Exported() || o.Pkg() != nil && o.Pkg().Path() == p.a.pkg.Path()
	}
	switch u := obj.Type().Underlying().(type) {
	case *types.Struct:
		b.WriteString(" struct {\n")
		hidden := false
		for f := range u.Fields() {
			if !visible(f) {
				hidden = true
				continue
			}
			name := f.Name() + " "
			if f.Embedded() {
				name = ""
			}
			doc := p.scope.Doc(f)
			if doc == "" {
				doc = p.fieldDoc(f, obj)
			}
			doc, _, _ = strings.Cut(doc, "\n")
			if doc != "" {
				doc = " // " + doc
			}
			fmt.Fprintf(&b, "\t%s%s%s\n", name, types.TypeString(f.Type(), qual), doc)
		}
		if hidden {
			b.WriteString("\t// unexported fields\n")
		}
		b.WriteString("}")
	case *types.Interface:
		b.WriteString(" interface {\n")
		for m := range u.Methods() {
			if visible(m) {
				b.WriteString("\t" + m.Name() + strings.TrimPrefix(types.TypeString(m.Type(), qual), "func") + "\n")
			}
		}
		b.WriteString("}")
	default:
		b.WriteString(" " + types.TypeString(u, qual))
	}
	text := b.String()
	if formatted, err := format.Source([]byte(text)); err == nil {
		text = string(formatted)
	}
	return text
}

// methods lists the methods of a type.
func (p *page) methods(obj *types.TypeName) {
	if obj.IsAlias() || types.IsInterface(obj.Type()) {
		return
	}
	for _, m := range members(obj.Type(), p.a.pkg) {
		if f, ok := m.(*types.Func); ok {
			recv := types.TypeString(f.Signature().Recv().Type(), qualifier(f.Pkg()))
			p.more = append(p.more, "func ("+recv+") "+f.Name()+strings.TrimPrefix(types.TypeString(f.Type(), qualifier(p.a.pkg)), "func"))
		}
	}
}

// contents lists what a package exports.
func (p *page) contents(pkg *types.Package) {
	for _, obj := range exported(pkg) {
		switch obj := obj.(type) {
		case *types.TypeName:
			p.more = append(p.more, strings.TrimSpace("type "+obj.Name()+" "+kindOfType(obj.Type())))
		default:
			p.more = append(p.more, types.ObjectString(obj, qualifier(pkg)))
		}
	}
}

// typeOf adds what is known of a variable's type.
func (p *page) typeOf(v *types.Var) {
	t := v.Type()
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return
	}
	_, doc := p.cellSource(n.Obj())
	if doc == "" {
		doc = p.scope.Doc(n.Obj())
	}
	if doc != "" {
		p.doc = strings.TrimSpace(p.doc + "\n\n" + doc)
	}
}

// bundle renders the page.
func (p *page) bundle() *display.Bundle {
	var plain, page bytes.Buffer
	code := func(lines []string) {
		text := strings.Join(lines, "\n")
		plain.WriteString(text + "\n")
		page.WriteString("<pre><code class=\"language-go\">" + html.EscapeString(text) + "</code></pre>\n")
	}
	code(p.code)
	if p.doc != "" {
		doc := new(comment.Parser).Parse(p.doc)
		plain.WriteString("\n")
		plain.Write(new(comment.Printer).Text(doc))
		page.Write((&comment.Printer{HeadingLevel: 4}).HTML(doc))
	}
	if len(p.more) > 0 {
		plain.WriteString("\n")
		code(p.more)
	}
	return &display.Bundle{Data: map[string]any{
		"text/plain": strings.TrimRight(plain.String(), "\n"),
		"text/html":  page.String(),
	}}
}
