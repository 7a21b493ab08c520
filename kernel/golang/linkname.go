package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"strings"

	"gocuda/kernel/golang/host/linked"
)

var linkname = regexp.MustCompile(`(?m)^//go:linkname (\S+) (\S+)`)

// linkNames gives the functions without a body that a file links to by name, and
// that package linked has, a body that calls them. Lines stay where they are.
func linkNames(code string) string {
	targets := make(map[string]string)
	for _, m := range linkname.FindAllStringSubmatch(code, -1) {
		targets[m[1]] = m[2]
	}
	if len(targets) == 0 {
		return code
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", code, parser.SkipObjectResolution)
	if err != nil {
		return code
	}
	text := func(n ast.Node) string { return code[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset] }
	var b strings.Builder
	at := 0
	replace := func(from, to token.Pos, with string) {
		b.WriteString(code[at:fset.Position(from).Offset] + with)
		at = fset.Position(to).Offset
	}
	end := file.Name.End()
	replace(end, end, `; import linked_ "`+linked.Path+`"; import unsafe_ "unsafe"`)
	found := false
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Body != nil || f.Type.TypeParams != nil {
			continue
		}
		if with := linkedFunc(f, targets[f.Name.Name], text); with != "" {
			lines := strings.Count(text(d), "\n") - strings.Count(with, "\n")
			replace(d.Pos(), d.End(), with+strings.Repeat("\n", max(lines, 0)))
			found = true
		}
	}
	if !found {
		return code
	}
	return b.String() + code[at:]
}

// linkedFunc writes a function that calls another one, whose types have the same
// memory; "" if there is none of the name and the number of values.
func linkedFunc(f *ast.FuncDecl, target string, text func(ast.Node) string) string {
	name, typ, ok := linked.Function(target)
	if !ok {
		return ""
	}
	params, results := typesOf(f.Type.Params), typesOf(f.Type.Results)
	if len(params) != typ.NumIn() || len(results) != typ.NumOut() {
		return ""
	}
	var decl, args []string
	for i, t := range params {
		arg := string(rune('a' + i))
		decl = append(decl, arg+" "+text(t))
		switch in := typ.In(i); in.Kind() {
		case reflect.Interface:
		case reflect.UnsafePointer:
			arg = "unsafe_.Pointer(" + arg + ")"
		case reflect.Struct:
			arg = "linked_." + in.Name() + "(" + arg + ")"
		default:
			arg = in.String() + "(" + arg + ")"
		}
		args = append(args, arg)
	}
	call := "linked_." + name + "(" + strings.Join(args, ", ") + ")"
	result := ""
	switch len(results) {
	case 0:
	case 1:
		result = text(results[0])
		call = "return (" + result + ")(" + call + ")"
	default:
		result = text(f.Type.Results)
		call = "return " + call
	}
	return "func " + f.Name.Name + "(" + strings.Join(decl, ", ") + ") " + result + " { " + call + " }"
}

// typesOf lists the types of parameters, one for each.
func typesOf(list *ast.FieldList) (types []ast.Expr) {
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		for range max(len(field.Names), 1) {
			types = append(types, field.Type)
		}
	}
	return types
}
