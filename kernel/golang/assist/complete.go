package assist

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"gocuda/kernel/magic"
)

// Complete lists what could stand at the cursor, a position in bytes, of a
// cell that need be neither finished nor right. It never panics.
func Complete(scope Scope, magics *magic.Set, code string, cursor int) Completion {
	cursor = clamp(code, cursor)
	if c, ok := completeMagic(scope, magics, code, cursor); ok {
		return c
	}
	code = magic.Blank(code)
	if tokens := lex(code[:cursor]); len(tokens) > 0 {
		// The scanner ends an open token with the implied semicolon.
		last := tokens[len(tokens)-1]
		if last.tok == token.SEMICOLON && last.lit == "\n" && len(tokens) > 1 {
			last = tokens[len(tokens)-2]
		}
		switch {
		case last.tok == token.COMMENT && (last.open || strings.HasPrefix(last.lit, "//") && cursor <= last.end):
			return nothing(cursor)
		case last.tok == token.CHAR && last.open:
			return nothing(cursor)
		case last.tok == token.STRING && last.open:
			return completeString(scope, tokens, code, last.start+1, cursor)
		}
	}
	return completeGo(scope, code, cursor)
}

// nothing is the answer where nothing can be completed.
func nothing(cursor int) Completion {
	return Completion{Start: cursor, End: cursor, Matches: []Match{}}
}

func clamp(code string, cursor int) int {
	cursor = max(0, min(cursor, len(code)))
	for cursor > 0 && cursor < len(code) && !utf8.RuneStart(code[cursor]) {
		cursor--
	}
	return cursor
}

// identifier returns the extent of the identifier that the cursor is in or
// at the end of.
func identifier(code string, cursor int) (start, end int) {
	letter := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	start, end = cursor, cursor
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(code[:start])
		if !letter(r) {
			break
		}
		start -= n
	}
	for end < len(code) {
		r, n := utf8.DecodeRuneInString(code[end:])
		if !letter(r) {
			break
		}
		end += n
	}
	return start, end
}

func completeGo(scope Scope, code string, cursor int) Completion {
	start, end := identifier(code, cursor)
	prefix := code[start:cursor]
	result := Completion{Start: start, End: end, Matches: []Match{}}
	if r, _ := utf8.DecodeRuneInString(prefix); unicode.IsDigit(r) {
		return result // a number
	}
	if prefix == "" && start > 0 && strings.IndexByte(")]}\"'`", code[start-1]) >= 0 {
		return result // after an operand
	}
	list, a := candidates(scope, code, start, cursor)
	if a == nil {
		return result
	}
	result.Matches = rank(list, prefix)
	if len(result.Matches) <= maxNamedParams {
		for i := range result.Matches {
			nameParams(&result.Matches[i], scope, qualifier(a.pkg))
		}
	}
	return result
}

// maxNamedParams is to how many matches the names of their parameters are
// added: these are looked up in the source of their packages.
const maxNamedParams = 100

// candidates lists what can stand at the cursor. Where a syntax error above the
// cursor hides what a selector selects from, lines are left out until it is found.
func candidates(scope Scope, code string, start, cursor int) ([]Match, *analysis) {
	first := (*analysis)(nil)
	for range maxRepairs {
		a := analyse(scope, code, start, cursor, true)
		if first == nil {
			first = a
		}
		list := a.candidates(scope, code, start, cursor)
		if a == nil || len(list) > 0 {
			return list, a
		}
		above := strings.LastIndexByte(code[:cursor], '\n') + 1
		wrong := slices.IndexFunc(a.errors, func(at int) bool { return at < above })
		if wrong < 0 {
			break
		}
		// The parser may find the fault only behind the line that has it.
		at := a.errors[wrong]
		if before := strings.TrimRight(code[:strings.LastIndexByte(code[:at], '\n')+1], " \t\r\n"); before != "" {
			a := analyse(scope, blankLine(code, len(before)-1), start, cursor, true)
			if list := a.candidates(scope, code, start, cursor); len(list) > 0 {
				return list, a
			}
		}
		blank := blankLine(code, at)
		if blank == code {
			break
		}
		code = blank
	}
	return nil, first
}

// maxRepairs is how many faulty lines completion leaves out, one after the other.
const maxRepairs = 8

// blankLine replaces the line around at by blanks, but for its braces.
func blankLine(code string, at int) string {
	from := strings.LastIndexByte(code[:at], '\n') + 1
	to := len(code)
	if n := strings.IndexByte(code[from:], '\n'); n >= 0 {
		to = from + n
	}
	line := []byte(code[from:to])
	for i, c := range line {
		if c != '{' && c != '}' {
			line[i] = ' '
		}
	}
	return code[:from] + string(line) + code[to:]
}

// candidates lists what can stand at the cursor. What begins with another letter
// is among it.
func (a *analysis) candidates(scope Scope, code string, start, cursor int) (list []Match) {
	if a == nil {
		return nil
	}
	qual := qualifier(a.pkg)
	if sel := a.selector(); sel != nil {
		for _, obj := range a.selectable(sel) {
			list = append(list, match(obj, qual))
		}
	} else if len(a.path) > 0 && !a.declaring() && !strings.HasSuffix(strings.TrimRight(code[:start], " \t\r\n"), ".") {
		for _, f := range a.keys() {
			list = append(list, match(f, qual))
		}
		list = append(list, a.names(scope, code[start:cursor])...)
	}
	return list
}

// rank keeps what begins with the prefix, in any case, and puts what has its
// case first; otherwise the order stays.
func rank(list []Match, prefix string) []Match {
	matches := []Match{}
	seen := make(map[string]bool)
	for _, m := range list {
		if len(m.Text) >= len(prefix) && strings.EqualFold(m.Text[:len(prefix)], prefix) && !seen[m.Text] {
			seen[m.Text] = true
			matches = append(matches, m)
		}
	}
	sort.SliceStable(matches, func(i, j int) bool {
		return strings.HasPrefix(matches[i].Text, prefix) && !strings.HasPrefix(matches[j].Text, prefix)
	})
	return matches
}

// selector returns the selector expression whose name the cursor is in.
func (a *analysis) selector() *ast.SelectorExpr {
	for _, n := range a.path {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Pos() == a.cursor {
			return sel
		}
	}
	return nil
}

// selectable lists what can follow the dot of a selector.
func (a *analysis) selectable(sel *ast.SelectorExpr) []types.Object {
	if id, ok := sel.X.(*ast.Ident); ok {
		if p, ok := a.info.Uses[id].(*types.PkgName); ok {
			return exported(p.Imported())
		}
	}
	tv, ok := a.info.Types[sel.X]
	if !ok {
		// The checker gave up before it came here.
		info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue)}
		if types.CheckExpr(a.fset, a.pkg, sel.X.Pos(), sel.X, info) != nil {
			return nil
		}
		tv = info.Types[sel.X]
	}
	if tv.Type == nil || tv.Type == types.Typ[types.Invalid] {
		return nil
	}
	if tv.IsType() {
		var methods []types.Object
		for _, obj := range members(tv.Type, a.pkg) {
			if _, ok := obj.(*types.Func); ok {
				methods = append(methods, obj)
			}
		}
		return methods
	}
	return members(tv.Type, a.pkg)
}

func exported(p *types.Package) []types.Object {
	var list []types.Object
	for _, name := range p.Scope().Names() {
		if obj := p.Scope().Lookup(name); obj.Exported() {
			list = append(list, obj)
		}
	}
	return list
}

// declaring says whether the identifier at the cursor is a new name.
func (a *analysis) declaring() bool {
	for _, n := range a.path {
		var names []*ast.Ident
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = n.Names
		case *ast.Field:
			names = n.Names // a lone name is a type
		}
		for _, id := range names {
			if id.Pos() == a.cursor && id.Name != mark {
				return true
			}
		}
	}
	return false
}

// keys lists the fields that the struct literal around the cursor does not
// set yet, where a field's name may stand.
func (a *analysis) keys() []types.Object {
	for i, n := range a.path {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || i == 0 {
			continue
		}
		if a.cursor <= lit.Lbrace {
			return nil
		}
		// Between the literal and the identifier there may be its element only.
		inner := a.path[:i]
		if len(inner) > 2 {
			return nil
		}
		if kv, ok := inner[len(inner)-1].(*ast.KeyValueExpr); ok && kv.Key.Pos() != a.cursor {
			return nil
		}
		set := make(map[string]bool)
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if id, ok := kv.Key.(*ast.Ident); ok && id.Pos() != a.cursor {
					set[id.Name] = true
				}
			}
		}
		s := structOf(a.info.Types[lit].Type)
		if s == nil {
			return nil
		}
		var list []types.Object
		for f := range s.Fields() {
			if !set[f.Name()] && (f.Exported() || f.Pkg().Path() == a.pkg.Path()) {
				list = append(list, f)
			}
		}
		return list
	}
	return nil
}

var keywords = func() (list []string) {
	for t := token.BREAK; t <= token.VAR; t++ {
		if t.IsKeyword() {
			list = append(list, t.String())
		}
	}
	return list
}()

// names lists what can stand at the cursor by itself: innermost names first,
// then the session's, and, once a letter has been typed, Go's own.
func (a *analysis) names(scope Scope, prefix string) []Match {
	qual := qualifier(a.pkg)
	var list []Match
	session := make(map[types.Object]bool)
	for _, obj := range scope.Names() {
		session[obj] = true
	}
	hidden := make(map[string]bool)
	for s := a.pkg.Scope().Innermost(a.cursor); s != nil && s != types.Universe; s = s.Parent() {
		local := s != a.pkg.Scope() && s.Parent() != a.pkg.Scope()
		for _, name := range s.Names() {
			obj := s.Lookup(name)
			_, isPackage := obj.(*types.PkgName)
			if session[obj] || isPackage || strings.HasSuffix(name, mark) || name == "_" || hidden[name] || local && obj.Pos() >= a.cursor {
				continue
			}
			hidden[name] = true
			list = append(list, match(obj, qual))
		}
	}
	earlier := scope.Names()
	sort.Slice(earlier, func(i, j int) bool { return earlier[i].Name() < earlier[j].Name() })
	for _, obj := range earlier {
		if !hidden[obj.Name()] {
			list = append(list, match(obj, qual))
		}
	}
	if prefix == "" {
		return list
	}
	for _, k := range keywords {
		list = append(list, Match{Text: k, Kind: "keyword"})
	}
	for _, name := range types.Universe.Names() {
		list = append(list, match(types.Universe.Lookup(name), qual))
	}
	var packages []Match
	for name, p := range standardNames(scope) {
		packages = append(packages, Match{Text: name, Kind: "package", Signature: `"` + p + `"`})
	}
	sort.Slice(packages, func(i, j int) bool { return packages[i].Text < packages[j].Text })
	return append(list, packages...)
}
