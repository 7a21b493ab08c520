package assist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"gocuda/kernel/golang/host"
	"gocuda/kernel/packages"

	"gocuda/kernel/magic"
)

var magics = magic.NewSet(
	magic.Magic{Name: "mpi", Usage: "%mpi start [-n RANKS] [--hosts A:2,B:2 | --hostfile FILE] [--launcher auto|local] | status | stop"},
	magic.Magic{Name: "compile", Usage: "%compile [on | off | FUNCTION]"})

// session is a Scope whose names come from one piece of source.
type session struct {
	*host.Importer
	names []types.Object
	text  string
	decls map[types.Object]ast.Node
	base  token.Pos
}

const earlier = `package cell

import "bytes"

// Point is a place.
// It is flat.
type Point struct {
	X, Y int // where it is
	tag  string
}

// Len is the distance from the origin.
func (p *Point) Len() float64 { return 0 }

func (p Point) String() string { return p.tag }

type Named struct {
	Point
	*bytes.Buffer
	Name string
}

type Shape interface {
	Area() float64
	Scale(by float64) Shape
}

type List[T any] struct {
	Head T
	next *List[T]
}

func (l *List[T]) Push(v T) {}

var (
	here    = Point{1, 2, ""}
	pointer = &here
	named   Named
	shape   Shape
	numbers []int
	table   map[string]Point
	ints    List[int]
)

// Origin is zero.
const Origin = 0

// distance measures.
func distance(from, to Point) (d float64, err error) { return 0, nil }

func must[T any](v T, err error) T { return v }
`

func newSession(t testing.TB) *session {
	s := &session{Importer: host.NewImporter(packages.All()...), text: earlier, decls: map[types.Object]ast.Node{}}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", earlier, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: s}).Check("cell", fset, []*ast.File{f}, info)
	if err != nil {
		t.Fatal(err)
	}
	s.base = f.FileStart
	for _, name := range pkg.Scope().Names() {
		s.names = append(s.names, pkg.Scope().Lookup(name))
	}
	for _, p := range s.Preloaded() {
		s.names = append(s.names, types.NewPkgName(0, pkg, p.Name(), p))
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			s.decls[info.Defs[d.Name]] = d
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					s.decls[info.Defs[spec.Name]] = d
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						s.decls[info.Defs[n]] = d
					}
				}
			}
		}
	}
	return s
}

func (s *session) Names() []types.Object { return s.names }

func (s *session) Value(string) string { return "" }

func (s *session) Keys(string) []string { return []string{"first", "say \"hi\"", "fire"} }

func (s *session) Source(obj types.Object) string {
	var doc *ast.CommentGroup
	switch d := s.decls[obj].(type) {
	case *ast.FuncDecl:
		doc = d.Doc
	case *ast.GenDecl:
		doc = d.Doc
	default:
		return ""
	}
	n := s.decls[obj]
	start := n.Pos()
	if doc != nil {
		start = doc.Pos()
	}
	return s.text[start-s.base : n.End()-s.base]
}

func completeAt(s Scope, code string) (Completion, string) {
	cursor := strings.Index(code, "|")
	if cursor < 0 {
		return Complete(s, magics, code, len(code)), code
	}
	code = code[:cursor] + code[cursor+1:]
	return Complete(s, magics, code, cursor), code
}

// TestComplete marks the cursor by a bar. What is wanted must be among the
// matches; what begins with an exclamation mark must not; "only" says that
// nothing else may be.
func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"data.csv", "notes.txt", ".hidden"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll("sub/deep", 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	for _, c := range []struct{ code, want string }{
		{"he|", "here"},
		{"here.|", "X Y tag Len String"},
		{"here.L|", "only Len"},
		{"pointer.|", "X Y tag Len String"},
		{"named.|", "X Y tag Name Point Buffer WriteString !String !Len !buf"},
		{"shape.|", "only Area Scale"},
		{"shape.Scale(2).|", "only Area Scale"},
		{"ints.|", "only Head next Push"},
		{"table[\"a\"].|", "X Len"},
		{"numbers[0].|", "only"},
		{"distance(here, *pointer).|", "only"},
		{"must(distance(here, here)).|", "only"},
		{"must(distance(here.|", "X"},
		{"(&here).Le|", "only Len"},
		{"Point.|", "only String Len"},
		{"os.Args[0]|", "only"},
		{"strings.Contai|", "only Contains ContainsAny ContainsFunc ContainsRune"},
		{"strings.NewReader(\"\").|", "Read Len"},
		{"fmt.Println(strings.To|", "ToUpper ToLower"},
		{"http.Client{}.|", "Get Do Timeout"},
		{"x := http.Client{}\nx.|", "Get Timeout"},
		{"display.HT|", "only HTML"},
		{"import js \"encoding/json\"\njs.Mar|", "only Marshal MarshalIndent Marshaler MarshalerError"},
		{"fm|", "fmt"},
		{"stri|", "strings string"},
		{"retu|", "return"},
		{"appe|", "append"},
		{"tru|", "true"},
		{"dis|", "display distance"},
		{"DIST|", "distance"},
		{"x := 1\n|", "x here"},
		{"value := 3\nprintln(va|", "value !var2"},
		{"for index := range 3 {\n\tin|", "index int"},
		{"for index := range 3 {\n}\nin|", "!index int"},
		{"if err := os.Chdir(\"x\"); er|", "err error errors"},
		{"if here.|", "X Len"},
		{"if here.X > pointer.|", "X Len"},
		{"for here.|", "X"},
		{"for _, q := range table {\n\tq.|\n}", "X Len"},
		{"switch here.|", "X"},
		{"func f(arg *Point) {\n\targ.|\n}", "X Len"},
		{"func f(arg *Point) {\n\tfunc() {\n\t\targ.|", "X Len"},
		{"func (p *Point) Twice() int {\n\treturn p.|\n}", "X Len"},
		{"func (l *List[T]) Twice(n int) {\n\tl.|\n}", "Head Push"},
		{"type Q struct { A int }\nfunc (q *Q) Twice() int {\n\treturn q.|\n}", "only A Twice"},
		{"type Q struct { A, B int }\nq := Q{}\nq.|", "only A B"},
		{"q.|\ntype Q struct { A, B int }", "!A"},
		{"func f() { after().| }\n\nfunc after() Point { return here }", "X"},
		{"here.|\nx := 3\ny := x", "X Len"},
		{"a := here.|\nb := 4", "X Len"},
		{"foo(here.|\nb := 4", "X Len"},
		{"undefined(here.|, 3)", "X Len"},
		{"undefined.|", "only"},
		{"Point{|", "X Y tag here"},
		{"Point{X: 1, |", "Y tag !X"},
		{"Point{X: here.|", "X Y"},
		{"Point{X: he|", "here"},
		{"&http.Server{Add|", "Addr"},
		{"[]Point{{|", "X Y"},
		{"map[string]Point{\"a\": {|", "X Y"},
		{"func na|", "only"},
		{"var na|", "only"},
		{"type Sh|", "only"},
		{"var v Poi|", "Point"},
		{"func f(a Poi|", "Point"},
		{"func f(a int) Poi|", "Point"},
		{"import \"enc|", "encoding/json encoding/hex !fmt"},
		{"import (\n\t\"fmt\"\n\t\"net/h|\"\n)", "net/http !fmt"},
		{"os.Open(\"da|", "only data.csv"},
		{"os.Open(\"|\")", "data.csv notes.txt sub/ !.hidden"},
		{"os.Open(\"./sub/|\")", "only deep/"},
		{"os.Open(`no|", "only notes.txt"},
		{"x := 12|", "only"},
		{"// he|", "only"},
		{"/* he|", "only"},
		{"'h|", "only"},
		{"x := \"no such|", "only"},
		{"goto|", "goto"},
		{"x := 1; x.|", "only"},
		{"err := error(nil)\nerr.|", "only Error"},
		{"defer here.|", "X Len"},
		{"go func() { here.|", "X Len"},
		{"select {\ncase <-time.After(here.|", "X"},
		{"%wh|", "only %who %whos"},
		{"%|", "%who %cd %%bash %time"},
		{"%%b|", "only %%bash"},
		{"%who v|", "only var"},
		{"x := 1\n%c|", "only %cd %compile"},
		{"%cd s|", "only sub/"},
		{"%load n|", "only notes.txt"},
		{"%load {he|", "here"},
		{"%load {here.|}.txt", "X Len"},
		{"%load $he|", "here"},
		{"%load {here}no|", "!notes.txt !here"},
		{"%time here.|", "X Len"},
		{"%%time\nhere.|", "X Len"},
		{"%%bash\nhe|", "only"},
		{"!cat da|", "only data.csv"},
		{"%pinfo he|", "here"},
		{"%help wr|", "only writefile"},
		{"%help %%wr|", "only %%writefile"},
		{"%help %t|", "only %time %timeit"},
		{"%help t|", "time timeit"},
		{"%help time |", "only"},
		{"%sim |", "status devices profile !N"},
		{"%sim dev|", "only devices"},
		{"%sim devices 8 |", "memory schedule !status !devices"},
		{"%sim schedule |", "only random adversarial"},
		{"%sim profile |", "h100 data.csv"},
		{"%%cuda --|", "only --name --instantiate --show"},
		{"%%cuda --name k --|", "--instantiate --show !--name"},
		{"%%cuda --name |", "only"},
		{"%%cuda --instantiate f<int> --i|", "only --instantiate"},
		{"%%kernel --u|\nx", "only --unchecked"},
		{"%%writefile |", "-a data.csv sub/"},
		{"%%writefile -a n|", "only notes.txt"},
		{"%load notes.txt |", "only"},
		{"%run sub/|", "only deep/"},
		{"%who var |", "const func"},
		{"%timeit -n 3 here.|", "X Len"},
		{"%goroutines |", "only stop"},
		{"%mpi |", "only start status stop"},
		{"%mpi st|", "only start status stop"},
		{"%mpi start --l|", "only --launcher"},
		{"%mpi start --launcher |", "only auto local"},
		{"%mpi start --hostfile |", "data.csv !--hosts"},
		{"%mpi start --hostfile data.csv --h|", "only"},
		{"%mpi start -n 4 |", "--launcher --hosts !-n !status"},
		{"%mpi status |", "only"},
		{"%compile |", "on off distance !must2"},
		{"%compile dis|", "only distance"},
		{"%compile distance |", "only"},
		{"table[\"|", "first fire !data.csv"},
		{"table[\"fi|\"]", "only first fire"},
		{"x := table[`fir|", "only first fire"},
		{"here.table[\"da|", "only data.csv"},
		{"numbers[\"da|", "only data.csv"},
		{"here.X %| 3", "!%who"},
	} {
		got, code := completeAt(s, c.code)
		var texts []string
		for _, m := range got.Matches {
			texts = append(texts, m.Text)
		}
		if got.Matches == nil || got.Start > got.End || got.End > len(code) {
			t.Errorf("%q: bad answer %+v", c.code, got)
		}
		words := strings.Fields(c.want)
		if len(words) > 0 && words[0] == "only" {
			if words = words[1:]; len(texts) != len(words) {
				t.Errorf("%q: got %q, want only %q", c.code, texts, words)
			}
		}
		for _, w := range words {
			if unwanted, ok := strings.CutPrefix(w, "!"); ok {
				if slices.Contains(texts, unwanted) {
					t.Errorf("%q: %s should not be offered", c.code, unwanted)
				}
			} else if !slices.Contains(texts, w) {
				t.Errorf("%q: %s is missing in %q", c.code, w, texts)
			}
		}
	}
}

func TestMatchesTellTheirTypes(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct{ code, text, kind, signature string }{
		{"here.X", "X", "field", "int"},
		{"here.Le", "Len", "method", "func() float64"},
		{"he", "here", "variable", "Point"},
		{"dist", "distance", "function", "func(from Point, to Point) (d float64, err error)"},
		{"Poi", "Point", "type", "struct"},
		{"Ori", "Origin", "const", "untyped int = 0"},
		{"math.Pi", "Pi", "const", "untyped float = 3.14159"},
		{"time.Sec", "Second", "const", "time.Duration = 1000000000"},
		{"display.HTML", "HTML", "function", "func(source string) display.Bundle"},
		{"json", "json", "package", `"encoding/json"`},
		{"template", "template", "package", `"text/template"`},
		{"rand", "rand", "package", `"math/rand"`},
		{"scanner", "scanner", "package", `"text/scanner"`},
		{"for", "for", "keyword", ""},
	} {
		got := Complete(s, magics, c.code, len(c.code))
		i := slices.IndexFunc(got.Matches, func(m Match) bool { return m.Text == c.text })
		if i < 0 || got.Matches[i].Kind != c.kind || got.Matches[i].Signature != c.signature {
			t.Errorf("%s: got %+v, want a %s %s with %q", c.code, got.Matches, c.kind, c.text, c.signature)
		}
	}
}

func TestCompletionReplacesTheIdentifier(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct {
		code       string
		start, end int
	}{
		{"here.Le|n()", 5, 8},
		{"π := 1; he|re", 9, 13},
		{"os.Open(\"x/no|tes\")", 11, 13},
		{"import \"fm|t\"", 8, 11},
		{"  %wh|", 2, 5},
		{"%%time\nher|", 7, 10},
	} {
		got, _ := completeAt(s, c.code)
		if got.Start != c.start || got.End != c.end {
			t.Errorf("%q: got %d to %d, want %d to %d", c.code, got.Start, got.End, c.start, c.end)
		}
	}
}

func FuzzAssist(f *testing.F) {
	for _, s := range []string{"here.", "Point{X:", "func (p *T) f() { p.", "\"a", "`", "/*", "%%time\n", "if x := y.", "x.ʹ", "import (", "type T[P any] struct", "case", "\r\n!ls", "x[", "a, b := f(", "'", "é", "L:", "//line x:1\nhere."} {
		f.Add(s, len(s))
	}
	s := newSession(f)
	f.Fuzz(func(t *testing.T, code string, cursor int) {
		c := Complete(s, magics, code, cursor)
		if c.Start < 0 || c.Start > c.End || c.End > len(code) {
			t.Errorf("%q at %d: %+v", code, cursor, c)
		}
		Inspect(s, magics, code, cursor, 1)
		if got := IsComplete(code); !slices.Contains([]string{"complete", "incomplete", "invalid"}, got.Status) {
			t.Errorf("%q: %+v", code, got)
		}
	})
}

func BenchmarkComplete(b *testing.B) {
	s := newSession(b)
	for b.Loop() {
		Complete(s, magics, "x := http.Client{}\nx.", 21)
	}
}
