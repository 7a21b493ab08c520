package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An edit puts the text of a part of the source in the place of another, around
// it; from == to: nothing.
type edit struct{ start, end, from, to int }

func (e edit) saves() int { return e.end - e.start - (e.to - e.from) }

// edits are the ways to make a program smaller, those that save most first.
func edits(code string) []edit {
	const head = "package main\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", head+code, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset - len(head) }
	var list []edit
	chunks := func(n int, node func(i int) ast.Node) {
		for size := n; size > 0; size /= 2 {
			for i := 0; i+size <= n; i += size {
				list = append(list, edit{start: at(node(i).Pos()), end: at(node(i + size - 1).End())})
			}
		}
	}
	into := func(e ast.Node, parts ...ast.Expr) {
		for _, p := range parts {
			if p != nil {
				list = append(list, edit{at(e.Pos()), at(e.End()), at(p.Pos()), at(p.End())})
			}
		}
	}
	chunks(len(file.Decls), func(i int) ast.Node { return file.Decls[i] })
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			chunks(len(n.List), func(i int) ast.Node { return n.List[i] })
		case *ast.CaseClause:
			chunks(len(n.Body), func(i int) ast.Node { return n.Body[i] })
		case *ast.CommClause:
			chunks(len(n.Body), func(i int) ast.Node { return n.Body[i] })
		case *ast.CallExpr:
			into(n, n.Args...)
			if f, ok := n.Fun.(*ast.FuncLit); ok && len(f.Body.List) == 1 {
				if r, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
					into(n, r.Results[0])
				}
			}
		case *ast.ParenExpr:
			into(n, n.X)
		case *ast.BinaryExpr:
			into(n, n.X, n.Y)
		case *ast.UnaryExpr:
			into(n, n.X)
		case *ast.StarExpr:
			into(n, n.X)
		case *ast.IndexExpr:
			if c, ok := n.X.(*ast.CompositeLit); ok {
				into(n, c.Elts...)
			}
		case *ast.SelectorExpr:
			if c, ok := n.X.(*ast.CompositeLit); ok {
				into(n, c.Elts...)
			}
		case *ast.TypeAssertExpr:
			into(n, n.X)
		case *ast.KeyValueExpr:
			into(n, n.Value)
		}
		return true
	})
	slices.SortStableFunc(list, func(a, b edit) int { return b.saves() - a.saves() })
	return list
}

// reduced makes a program that differs smaller, as long as it differs in the same way.
func (s *search) reduced(ctx context.Context, d difference) difference {
	const tries = 60 // of one round
	was := d.program.name
	for all := edits(d.program.decls); len(all) > 0; {
		n := min(tries, len(all))
		var each [][]edit
		for _, e := range all[:n] {
			each = append(each, []edit{e})
		}
		good, err := s.still(ctx, d, each)
		if err != nil {
			break
		}
		all = all[n:]
		if len(good) == 0 {
			continue
		}
		// Those that can be made together, and halves of these.
		var together []edit
		for _, i := range slices.Sorted(maps.Keys(good)) {
			e := each[i][0]
			if !slices.ContainsFunc(together, func(o edit) bool { return e.start < o.end && o.start < e.end }) {
				together = append(together, e)
			}
		}
		best := good[slices.Min(slices.Collect(maps.Keys(good)))]
		var parts [][]edit
		for size := len(together); size > 1; size /= 2 {
			for i := 0; i+size <= len(together); i += size {
				parts = append(parts, together[i:i+size])
			}
		}
		good, err = s.still(ctx, d, parts)
		if err != nil {
			break
		}
		for _, g := range good {
			if len(g.program.decls) < len(best.program.decls) {
				best = g
			}
		}
		d = best
		all = edits(d.program.decls)
	}
	d.program.decls = strings.ReplaceAll(d.program.decls, d.program.name, was)
	d.program.name = was
	return d
}

// still makes edits of a program that differs, and returns those programs, by their
// place in the list, that differ in the same way.
func (s *search) still(ctx context.Context, d difference, list [][]edit) (map[int]difference, error) {
	var programs []program
	for i, edits := range list {
		edits = slices.SortedFunc(slices.Values(edits), func(a, b edit) int { return b.start - a.start })
		code := d.program.decls
		for _, e := range edits {
			code = code[:e.start] + d.program.decls[e.from:e.to] + code[e.end:]
		}
		if !strings.Contains(code, "func "+d.program.name+"main()") {
			continue
		}
		name := fmt.Sprintf("s%dx", i)
		programs = append(programs, program{name: name, decls: strings.ReplaceAll(code, d.program.name, name)})
	}
	found, err := s.differing(ctx, programs, d.mode)
	good := make(map[int]difference)
	for _, f := range found {
		if len(f.program.decls) < len(d.program.decls) && f.want.Status == d.want.Status && f.got.Status == d.got.Status {
			i, _ := strconv.Atoi(strings.Trim(f.program.name, "sx"))
			good[i] = f
		}
	}
	return good, err
}

// differing drops programs that the compiler does not take, and runs the others.
func (s *search) differing(ctx context.Context, list []program, modes ...string) ([]difference, error) {
	ok, err := accepted(len(list), func(i int) string { return list[i].decls + "\n" })
	if err != nil {
		return nil, err
	}
	var good []program
	for i, p := range list {
		if ok[i] {
			good = append(good, p)
		}
	}
	if len(good) == 0 {
		return nil, nil
	}
	return compare(ctx, s.pool, s.workers, good, modes...)
}
