package golang

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
)

// maxDepth is how deeply types, indices and literals may be nested in one
// another: a type is checked and written out once for each level, so that the
// time and memory for all of them grow with the square of it.
const maxDepth = 500

// tooDeep is an error at the first node that is nested too deeply, or none.
func tooDeep(fset *token.FileSet, file *ast.File) (list scanner.ErrorList) {
	var counts []bool // of the nodes that are open: does it count?
	depth := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			if last := len(counts) - 1; last >= 0 {
				if counts[last] {
					depth--
				}
				counts = counts[:last]
			}
			return true
		}
		if len(list) > 0 {
			return false
		}
		nests := false
		switch n.(type) {
		case *ast.ArrayType, *ast.StarExpr, *ast.ChanType, *ast.MapType, *ast.FuncType, *ast.StructType,
			*ast.InterfaceType, *ast.IndexExpr, *ast.IndexListExpr, *ast.CompositeLit:
			nests = true
			depth++
		}
		counts = append(counts, nests)
		if depth > maxDepth {
			list.Add(fset.Position(n.Pos()), fmt.Sprintf("nested more than %d deep", maxDepth))
		}
		return len(list) == 0
	})
	return list
}
