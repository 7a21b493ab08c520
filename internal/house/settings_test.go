package house

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/sim"
	"gocuda/internal/settings"
)

// handedOn are variables that gocuda's processes set for each other.
var handedOn = []string{"GOCUDA_RANK", "GOCUDA_RANKS", "GOCUDA_POOL", "GOCUDA_POOL_KEY", "GOCUDA_POOL_FOLDER", "GOCUDA_MPI_LOCAL"}

// inTests are packages of tests and measurements, whose variables are their own.
var inTests = regexp.MustCompile(`test$|^bench|/bench|mpibench$|/score$|/compare$|^scripts|^examples`)

// Each variable that the code reads is among the settings, and the other way round.
func TestSettings(t *testing.T) {
	whole := regexp.MustCompile(`^GOCUDA_[A-Z_]+$`)
	var used []string
	note := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if name, _ := strconv.Unquote(lit.Value); whole.MatchString(name) && !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
	}
	for folder, p := range read(t) {
		if inTests.MatchString(folder) || folder == "internal/settings" {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Getenv" || s.Sel.Name == "LookupEnv") {
						note(n.Args[0])
					}
				case *ast.GenDecl:
					for _, spec := range n.Specs {
						if v, ok := spec.(*ast.ValueSpec); ok && n.Tok == token.CONST {
							for _, e := range v.Values {
								note(e)
							}
						}
					}
				}
				return true
			})
		}
	}
	for _, s := range sim.Settings() {
		used = append(used, "GOCUDA_SIM_"+strings.ToUpper(s))
	}
	var listed []string
	for _, s := range settings.All() {
		listed = append(listed, s.Name)
		if s.Meaning == "" || s.Default == "" || s.Group == "" {
			t.Errorf("setting %s says too little", s.Name)
		}
		if !slices.Contains(used, s.Name) {
			t.Errorf("nothing reads %s, which internal/settings lists", s.Name)
		}
	}
	for _, name := range used {
		if !slices.Contains(listed, name) && !slices.Contains(handedOn, name) {
			t.Errorf("%s is read, and internal/settings does not list it", name)
		}
	}
	for _, name := range documents(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range regexp.MustCompile(`GOCUDA_[A-Z_]*[A-Z]\b`).FindAllString(string(data), -1) {
			if !slices.Contains(listed, v) && !strings.HasPrefix(v, "GOCUDA_TEST") {
				t.Errorf("%s speaks of %s, which is no setting", name, v)
			}
		}
	}
}
