//go:build linux

package sim_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/cpp"
)

var updateTable = flag.Bool("update", false, "write the table of what simulated devices take")

const (
	tablePage = "../../docs/how/cuda-language.md"
	// gpuSuites has a line for each suite that passed on a GPU: its name, and the record.
	gpuSuites = "../../records/gpu-suites.txt"
	// tableNVRTC makes the PTX: another version makes other instructions of the same source.
	tableNVRTC = "13."
)

// TestTable: the page of headers, names and instructions is what the suites have. What one of them
// has counts if the translator takes it; that it also runs, and how, is what the suite itself tests.
func TestTable(t *testing.T) {
	if os.Getenv("GOCUDA_SIM_CUDA") != "ptx" || os.Getenv("GOCUDA_NVRTC") == "" {
		t.Skip("compiles the device code of all suites: make test-nvrtc runs it")
	}
	if c, err := nvidia.OpenCompiler(0); err != nil || !strings.HasPrefix(c.Version(), tableNVRTC) {
		t.Skip("the table is made with the NVRTC of CUDA", tableNVRTC, err)
	}
	table := newTable()
	for name, pattern := range map[string]string{"drivertest": "../driver/drivertest/*.go", "corpus": "corpus/*.go", "sim": "*_test.go"} {
		sources := literals(t, pattern)
		files, _ := filepath.Glob(strings.TrimSuffix(pattern, "go") + "cu")
		for _, f := range files {
			code, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, string(code))
		}
		for _, s := range sources {
			table.add(name, s)
		}
	}
	var random strings.Builder
	for _, op := range ptxOps {
		random.WriteString(op.text + ";\n")
	}
	for _, f := range slices.Concat(mmaForms, wmmaForms) {
		random.WriteString(f.op + ";\n")
	}
	for _, m := range regexp.MustCompile(`(?m)^\s*([a-z]\w*(?:\.\w+)*)`).FindAllStringSubmatch(random.String(), -1) {
		op, mods, _ := strings.Cut(m[1], ".")
		table.instruction("random", op, strings.Split(mods, "."))
	}
	want := table.page(t)
	if *updateTable {
		if err := os.WriteFile(tablePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(tablePage); string(got) != want {
		t.Errorf("%s is not up to date: run go test ./cudaapi/sim -run '^TestTable$' -update, with GOCUDA_SIM_CUDA=ptx and GOCUDA_NVRTC", tablePage)
	}
}

// literals are the constant strings with device code in Go files.
func literals(t *testing.T, pattern string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || files == nil {
		t.Fatal(pattern, err)
	}
	set := token.NewFileSet()
	constants := map[string]string{}
	var value func(e ast.Expr) (string, bool)
	value = func(e ast.Expr) (string, bool) {
		switch e := e.(type) {
		case *ast.BasicLit:
			s, err := strconv.Unquote(e.Value)
			return s, err == nil && e.Kind == token.STRING
		case *ast.Ident:
			s, ok := constants[e.Name]
			return s, ok
		case *ast.BinaryExpr:
			x, ok := value(e.X)
			y, too := value(e.Y)
			return x + y, ok && too && e.Op == token.ADD
		}
		return "", false
	}
	var parsed []*ast.File
	for _, f := range files {
		file, err := parser.ParseFile(set, f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
		for _, d := range file.Decls { // constants of the package first
			note(d, constants, value)
		}
	}
	for _, file := range parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			note(n, constants, value)
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			s, ok := value(e)
			if ok && (strings.Contains(s, "__global__") || strings.Contains(s, ".entry")) {
				list = append(list, s)
			}
			return !ok
		})
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// note keeps constants that a declaration has.
func note(n ast.Node, constants map[string]string, value func(ast.Expr) (string, bool)) {
	if d, ok := n.(*ast.DeclStmt); ok {
		n = d.Decl
	}
	d, ok := n.(*ast.GenDecl)
	if !ok || d.Tok != token.CONST {
		return
	}
	for _, s := range d.Specs {
		s := s.(*ast.ValueSpec)
		for i, v := range s.Values {
			if text, ok := value(v); ok {
				constants[s.Names[i].Name] = text
			}
		}
	}
}

// row is something that device code uses.
type row struct {
	programs int
	suites   map[string]bool
	forms    map[string]bool // what follows an instruction, without its types
}

type languageTable struct {
	headers, names, instructions map[string]*row
	programs                     int
}

func newTable() *languageTable {
	return &languageTable{headers: map[string]*row{}, names: map[string]*row{}, instructions: map[string]*row{}}
}

func at(m map[string]*row, key, suite string) *row {
	if m[key] == nil {
		m[key] = &row{suites: map[string]bool{}, forms: map[string]bool{}}
	}
	m[key].suites[suite] = true
	return m[key]
}

var (
	includeLine = regexp.MustCompile(`(?m)^\s*#\s*include\s*<([^>]+)>`)
	inComments  = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"`)
	// languageName matches names of CUDA, by how they begin.
	languageName = regexp.MustCompile(`\b(?:__(?:[a-z][a-z0-9_]*)|atomic[A-Z]\w*|(?:tex[123]D|texCubemap|surf[123]D|surfCubemap)\w*|(?:cg|cooperative_groups|cub|wmma|nvcuda|curand|cuda)(?:::\w+)+|curand\w*|clock64|warpSize|assert|printf|malloc|free)\b`)
	declaredName = regexp.MustCompile(`(?:#\s*define\s+|\b(?:void|int|float|double|unsigned|auto|struct)\s+\*?)(__\w+)`)
)

// add takes a source in, if the translator takes what NVRTC makes of it. What a suite makes of a
// format, or wants refused, does not get so far.
func (l *languageTable) add(suite, source string) {
	text := source
	cuda := strings.Contains(source, "__global__")
	if cuda {
		made, err := nvidia.PTX(&driver.Source{Name: "suite.cu", Code: source}, "compute_90")
		if err != nil {
			return
		}
		text = string(made.Image)
	} else if !strings.Contains(source, ".version") {
		text = ".version 8.6\n.target sm_90\n.address_size 64\n" + source
	}
	m, err := ptx.Parse(text)
	if err != nil || len(m.Decls) == 0 {
		return
	}
	if _, err := cpp.Translate(m, "suite", nil, cpp.Shown, true); err != nil {
		return
	}
	l.programs++
	seen := map[*row]bool{}
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Function); ok {
			eachInstruction(f.Body, func(i *ptx.Instruction) { seen[l.instruction(suite, i.Op, i.Mods)] = true })
		}
	}
	if cuda {
		for _, m := range includeLine.FindAllStringSubmatch(source, -1) {
			seen[at(l.headers, m[1], suite)] = true
		}
		own := map[string]bool{}
		for _, m := range declaredName.FindAllStringSubmatch(source, -1) {
			own[m[1]] = true
		}
		for _, name := range languageName.FindAllString(inComments.ReplaceAllString(source, " "), -1) {
			name = strings.Replace(name, "cooperative_groups::", "cg::", 1)
			if !own[name] && !strings.HasPrefix(name, "__nv_") {
				seen[at(l.names, name, suite)] = true
			}
		}
	}
	for r := range seen {
		r.programs++
	}
}

func eachInstruction(list []ptx.Statement, visit func(*ptx.Instruction)) {
	for _, s := range list {
		switch s := s.(type) {
		case *ptx.Instruction:
			visit(s)
		case *ptx.Block:
			eachInstruction(s.Body, visit)
		}
	}
}

// typeName matches a type of PTX.
var typeName = regexp.MustCompile(`^(?:[busf]\d+(?:x2|x4)?|bf16(?:x2)?|tf32|e4m3(?:x2)?|e5m2(?:x2)?|pred|s4|u4|b1)$`)

func (l *languageTable) instruction(suite, op string, mods []string) *row {
	r := at(l.instructions, op, suite)
	for _, m := range mods {
		if m = strings.TrimPrefix(m, ":"); m != "" && !typeName.MatchString(m) {
			r.forms[m] = true
		}
	}
	return r
}

// page writes the table.
func (l *languageTable) page(t *testing.T) string {
	record := map[string]string{}
	text, err := os.ReadFile(gpuSuites)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if name, where, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			record[name] = where
		}
	}
	gpu := func(r *row) string {
		for _, s := range slices.Sorted(maps.Keys(r.suites)) {
			if record[s] != "" {
				return record[s]
			}
		}
		return "not run yet"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# What simulated devices take

Each name here is used by device code of a suite that runs on simulated devices, compiled by NVRTC %sx. The suites are: `+"`drivertest`, what every driver must do; `corpus`, programs with results; `sim`, headers, textures and tensor cores; `random`, random instructions against Go"+`. What is not here may work. `+"`make test-nvrtc` and `go test ./cudaapi/sim`"+` run the suites; `+"`TestTable`"+` makes this page of them.

`, tableNVRTC)
	section := func(title string, rows map[string]*row, forms bool) {
		fmt.Fprintf(&b, "## %s\n\n", title)
		middle, line := "", ""
		if forms {
			middle, line = " with |", "---|"
		}
		fmt.Fprintf(&b, "| name |%s programs | suites, simulated | GPU |\n|---|%s---|---|---|\n", middle, line)
		for _, name := range slices.SortedFunc(maps.Keys(rows), func(x, y string) int {
			return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(x, y))
		}) {
			r := rows[name]
			with := ""
			if forms {
				with = " " + strings.Join(slices.Sorted(maps.Keys(r.forms)), ", ") + " |"
			}
			fmt.Fprintf(&b, "| `%s` |%s %d | %s | %s |\n", name, with, r.programs, strings.Join(slices.Sorted(maps.Keys(r.suites)), ", "), gpu(r))
		}
		b.WriteByte('\n')
	}
	section("Headers", l.headers, false)
	section("Names", l.names, false)
	section("PTX instructions", l.instructions, true)
	return strings.TrimRight(b.String(), "\n") + "\n"
}
