package kerneltest

import (
	"encoding/binary"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/gokernel/kerneltest/testdata/programs"
	"gocuda/cudaapi/native"
)

// imports are the packages that kernels can import.
type imports struct{}

func (imports) Import(path string) (*types.Package, error) { return gokernel.Import(path) }

// What cannot be compiled for the host is refused with reasons that hold there: hosts
// have no barriers, and no threads that run beside each other already.
func TestRefusedOnHosts(t *testing.T) {
	bodies := map[string]string{
		"channel":   "c := make(chan int)\n_ = c",
		"parameter": "",
		"send":      "var c chan<- int\nc <- 1",
		"selects":   "select {}",
		"ranges":    "for range (chan int)(nil) {\n}",
		"routine":   "go func() {}()",
		"deferred":  "defer func() {}()",
		"uintptrs":  "var p uintptr\n_ = p",
		"asserts":   "var v any\n_ = v.([1]*int)",
	}
	source, names := "", []string{}
	for name, body := range bodies {
		params := ""
		if name == "parameter" {
			params = "c <-chan int"
		}
		source += "func " + name + "(" + params + ") {\n" + body + "\n}\n"
		names = append(names, name)
	}
	funcs, refused := natively(t, "refused", source, names)
	if funcs == nil {
		t.Skip("no C++ compiler")
	}
	for name := range bodies {
		why := fmt.Sprint(refused[name])
		if refused[name] == nil || regexp.MustCompile(`kernel|barrier|thread|device|atomic|gpu`).MatchString(why) {
			t.Errorf("%s is refused with %q", name, why)
		}
	}
}

// natively compiles the functions of a source that are named and can be compiled for
// the host; of the others it gives the reason.
func natively(t *testing.T, name, source string, names []string) (funcs map[string]*native.Func, refused map[string]error) {
	t.Helper()
	if err := native.Available(); err != nil {
		t.Log(err)
		return nil, nil
	}
	if !strings.HasPrefix(strings.TrimSpace(source), "package") && !strings.Contains(source, "\npackage ") {
		source = "package main\nimport (\"math\"; \"math/bits\"; \"math/cmplx\")\nvar _, _, _ = math.Pi, bits.UintSize, cmplx.Abs\n" + source
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}}
	conf := types.Config{Importer: imports{}, Error: func(error) {}}
	pkg, _ := conf.Check("main", fset, []*ast.File{file}, info) // imports that are not there are refused later
	decls := make(map[*types.Func]*ast.FuncDecl)
	for _, d := range file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			decls[info.Defs[d.Name].(*types.Func)] = d
		}
	}
	find := func(o *types.Func) (gokernel.HostSource, bool) {
		return gokernel.HostSource{Decl: decls[o], Info: info}, decls[o] != nil
	}
	refused = make(map[string]error)
	var good []*types.Func
	for _, name := range names {
		o := pkg.Scope().Lookup(name).(*types.Func)
		p := native.Program(fset, []*types.Func{o}, nil, find, gokernel.Seen{})
		switch why := p.Refused(); {
		case why != nil:
			refused[name] = why
			continue
		case len(p.Globals) > 0:
			refused[name] = fmt.Errorf("its variable %s has an address in the other program only", p.Globals[0].Name())
			continue
		}
		good = append(good, o)
	}
	p := native.Program(fset, good, nil, find, gokernel.Seen{})
	if why := p.Refused(); why != nil {
		t.Fatal(why)
	}
	code, err := native.Compile(p)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Code)
	}
	list, err := code.Funcs()
	if err != nil {
		t.Fatal(err)
	}
	funcs = make(map[string]*native.Func)
	for _, f := range list {
		funcs[f.Func.Name()] = f
	}
	return funcs, refused
}

// frame is the parameters of the programs.
type frame struct {
	out []int64
	f   []float64
}

// call runs a program, and says how it panicked.
func call(f *native.Func, out []int64, floats []float64) (message string) {
	fr := &frame{out, floats}
	o := f.Call(unsafe.Pointer(fr), nil)
	switch n := o.Args; {
	case o.State == native.Returned:
		return ""
	case o.State != native.Panicked:
		return fmt.Sprint("ended with ", o.State)
	case o.Site.What == gokernel.IndexRange && o.Site.Unsigned:
		return fmt.Sprintf("index out of range [%d] with length %d", uint64(n[0]), n[1])
	case o.Site.What == gokernel.IndexRange && n[0] < 0:
		return fmt.Sprintf("index out of range [%d]", n[0])
	case o.Site.What == gokernel.IndexRange:
		return fmt.Sprintf("index out of range [%d] with length %d", n[0], n[1])
	case o.Site.What == gokernel.SliceBounds:
		return "slice bounds out of range"
	case o.Site.What == gokernel.DivideByZero:
		return "integer divide by zero"
	case o.Site.What == gokernel.NilPointer:
		return "invalid memory address or nil pointer dereference"
	case o.Site.What == gokernel.NegativeShift:
		return "negative shift amount"
	case o.Site.What == gokernel.ArrayLength:
		return fmt.Sprintf("cannot convert slice with length %d to array or pointer to array with length %d", n[0], n[1])
	case o.Value != nil:
		return fmt.Sprint(o.Value)
	default:
		return o.Site.Text
	}
}

// samePanic says whether two messages mean one panic; of slices, the bounds are
// compared by the interpreter's tests.
func samePanic(got, want string) bool {
	return got == want || got == "slice bounds out of range" && strings.HasPrefix(want, got)
}

func sameBits(a, b uint64, float bool) bool {
	return a == b || float && math.IsNaN(math.Float64frombits(a)) && math.IsNaN(math.Float64frombits(b))
}

// What a program writes, and how it panics, is the same compiled by Go and by the
// host's C++ compiler.
func TestNativePrograms(t *testing.T) {
	if err := native.Available(); err != nil {
		t.Skip(err)
	}
	byFile := make(map[string][]string)
	for _, p := range programs.All {
		byFile[p.File] = append(byFile[p.File], p.Name)
	}
	ran := 0
	for file, names := range byFile {
		text, err := programs.Sources.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		funcs, refused := natively(t, file, string(text), names)
		for name, why := range refused {
			t.Logf("%s: %v", name, why)
		}
		for _, p := range programs.All {
			if funcs[p.Name] == nil || p.File != file {
				continue
			}
			ran++
			out, f := make([]int64, elements), make([]float64, elements)
			want := onCPU(p.Run, out, f)
			gotOut, gotF := make([]int64, elements), make([]float64, elements)
			if got := call(funcs[p.Name], gotOut, gotF); !samePanic(got, want) {
				t.Errorf("%s: %q, of compiled Go %q", p.Name, got, want)
			}
			for i := range out {
				if gotOut[i] != out[i] {
					t.Errorf("%s: out[%d] is %d, of compiled Go %d", p.Name, i, gotOut[i], out[i])
				}
				if !sameBits(math.Float64bits(gotF[i]), math.Float64bits(f[i]), true) {
					t.Errorf("%s: f[%d] is %v, of compiled Go %v", p.Name, i, gotF[i], f[i])
				}
			}
		}
	}
	if ran < len(programs.All)/2 {
		t.Errorf("only %d of %d programs were compiled", ran, len(programs.All))
	}
	t.Logf("%d of %d", ran, len(programs.All))
}

var (
	alone = flag.Int("native", 0, "how many random functions are compared with those of the host's C++ compiler alone")
	until = flag.Duration("until", 0, "after which time no more of them are begun")
)

// Random functions write the same compiled by Go and by the host's C++ compiler. Some
// are compared by TestRandomKernels; this is for many: -native 50000 -parallel 32.
func TestRandomNative(t *testing.T) {
	if *alone == 0 {
		t.Skip("-native says how many")
	}
	start := first()
	t.Logf("seed %d", start)
	defer func(kept int, bytes uintptr) { fewKept, fewBytes = kept, bytes }(fewKept, fewBytes)
	fewKept, fewBytes = 16, 1<<12
	var ran, seen atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		const batch = 60
		for at := 0; at < *alone; at += batch {
			n, count := start+uint64(at), min(batch, *alone-at)
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel() // -parallel says how many
				if *until > 0 && time.Since(begun) > *until {
					return
				}
				b := randomBatch{n, count, true}
				ran.Add(int64(compareNative(t, fmt.Sprintf("seed %d", n), b.source(), compiledGo(t, []randomBatch{b})[0])))
				seen.Add(int64(count))
			})
		}
	})
	fmt.Printf("%d of %d random functions were compiled and are the same, but for those reported\n", ran.Load(), seen.Load())
}

// Of what compiled code was given, so much is kept without a look at what it still has.
//
//go:linkname fewKept gocuda/cudaapi/native.fewKept
var fewKept int

//go:linkname fewBytes gocuda/cudaapi/native.fewBytes
var fewBytes uintptr

var begun = time.Now()

// compareNative compares what the host's C++ compiler makes of random functions, and
// says how many it took.
func compareNative(t *testing.T, from, source string, want []byte) (ran int) {
	t.Helper()
	const size = 16*elements + messageSize
	var names []string
	for i := range len(want) / size {
		names = append(names, fmt.Sprintf("k%d", i))
	}
	funcs, refused := natively(t, "random", source, names)
	for name, why := range refused {
		t.Logf("%s, %s: %v", from, name, why)
	}
	for i, name := range names {
		f := funcs[name]
		if f == nil {
			continue
		}
		ran++
		one := want[i*size : (i+1)*size]
		message := strings.TrimPrefix(strings.TrimRight(string(one[16*elements:]), "\x00"), "runtime error: ")
		ints, floats := make([]int64, elements), make([]float64, elements)
		if got := call(f, ints, floats); !samePanic(got, message) {
			t.Errorf("%s, %s, by C++: %q, of compiled Go %q", from, name, got, message)
		}
		for j := range 2 * elements {
			w, v := binary.LittleEndian.Uint64(one[j*8:]), uint64(0)
			if j < elements {
				v = uint64(ints[j])
			} else {
				v = math.Float64bits(floats[j-elements])
			}
			if !sameBits(v, w, j >= elements) {
				t.Errorf("%s, %s, by C++: value %d is %#x, of compiled Go %#x", from, name, j, v, w)
				break
			}
		}
	}
	return ran
}

// The variables of functions that do not call each other do not lie on the stack at once.
func TestStackOfNativeFunctions(t *testing.T) {
	if err := native.Available(); err != nil {
		t.Skip(err)
	}
	var apart, chain strings.Builder
	var names []string
	for i := range 6 {
		name := fmt.Sprintf("k%d", i)
		names = append(names, name)
		fmt.Fprintf(&apart, "func %s(out []int64, f []float64) {\n\tvar a [4000]int64\n\ta[out[0]] = 1\n\tout[1] = a[3]\n}\n", name)
		call := ""
		if i > 0 {
			call = fmt.Sprintf("k%d(out, f)", i-1)
		}
		fmt.Fprintf(&chain, "func %s(out []int64, f []float64) {\n\tvar a [4000]int64\n\ta[out[0]] = 1\n\t%s\n\tout[1] = a[3]\n}\n", name, call)
	}
	if _, refused := natively(t, "apart", "package main\n"+apart.String(), names); len(refused) > 0 {
		t.Errorf("functions apart are refused: %v", refused)
	}
	_, refused := natively(t, "chain", "package main\n"+chain.String(), names)
	if why := fmt.Sprint(refused["k5"]); !strings.Contains(why, "more than 128 KiB of stack") {
		t.Errorf("a chain of functions: %s", why)
	}
}
