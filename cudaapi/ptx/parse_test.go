package ptx

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// forget removes the lines: a printed text has other ones.
func forget(m *Module) {
	var walk func([]Statement)
	variables := func(list []*Variable) {
		for _, v := range list {
			v.Line = 0
		}
	}
	walk = func(list []Statement) {
		for _, s := range list {
			switch s := s.(type) {
			case *Block:
				walk(s.Body)
			case *Label:
				s.Line = 0
			case *Variable:
				s.Line = 0
			case *Instruction:
				s.Line = 0
			case *Prototype:
				s.Line = 0
				variables(s.Results)
				variables(s.Params)
			}
		}
	}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *Variable:
			d.Line = 0
		case *Function:
			d.Line = 0
			variables(d.Results)
			variables(d.Params)
			walk(d.Body)
		}
	}
}

// again reads what a module prints, and says how it differs.
func again(t *testing.T, m *Module) {
	t.Helper()
	text := m.String()
	n, err := Parse(text)
	if err != nil {
		t.Fatalf("what was printed cannot be read: %v\n%s", err, text)
	}
	forget(m)
	forget(n)
	if !reflect.DeepEqual(m, n) {
		t.Fatalf("what was printed is another module:\n%s\n%s", text, n)
	}
}

func samples(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	var out []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

func TestSamplesPrintAsTheyWereRead(t *testing.T) {
	for _, text := range samples(t) {
		m, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		again(t, m)
	}
}

func TestParse(t *testing.T) {
	m, err := Parse(samples(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	var kernel *Function
	for _, d := range m.Decls {
		if f, ok := d.(*Function); ok && f.Kernel {
			kernel = f
		}
	}
	if kernel == nil || len(kernel.Params) != 5 || kernel.Params[4].Dims[0] != 24 || kernel.Params[4].Align != 8 {
		t.Fatalf("the kernel is %v", kernel)
	}
	if len(m.Files) != 1 {
		t.Errorf("files: %v", m.Files)
	}
	found := false
	for _, s := range kernel.Body {
		if i, ok := s.(*Instruction); ok && i.Guard == "%p2" {
			found = i.Op == "bra" && !i.Not && i.Operands[0].Text == "$L__BB2_2"
		}
	}
	if !found {
		t.Error("the kernel's first branch is not there")
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		".version 8.0\n.global .u32 x = ;":                      "line 2: \";\" instead of a name",
		".version 8.0\n.func f() {\n\tadd.s32 %r1, %r2 %r3;\n}": "line 3: \"%r3\" instead of \";\"",
		".func f() {\n\tmov.f32 %f1, 0f12;\n}":                  "line 2: \"0f12\" is no number",
		".address_size 32":                                      "line 1: addresses of 32 bits",
		".func f() {":                                           "line 1: the text ends too early",
		"\n/* ":                                                 "line 2: a comment has no end",
		".global .what x;":                                      "line 1: \".what\" is no type",
		".func f() {" + strings.Repeat("{", 200):                "line 1: too deep",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "017": 15, "0x1fU": 31, "0b11": 3, "18446744073709551615": 1<<64 - 1,
		"0f3F800000": 0x3ff0000000000000, "0dBFF0000000000000": 0xbff0000000000000, "1.5": 0x3ff8000000000000} {
		if got, _, err := Number(text); err != nil || got != want {
			t.Errorf("%s: %#x, %v, want %#x", text, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(".version 8.0\n.target sm_90\n.visible .entry k(.param .u64 p) .maxntid 32, 1, 1 {\n.reg .b32 %r<3>; .loc 1 2 3, function_name $s+4, inlined_at 1 5 6\n@!%p1 ld.global.v2.u32 {%r1, _}, [%rd1+-8]; L: setp.lt.and.f32 %p1|%p2, %f1, 0f00000000, !%p3; bra L; }")
	f.Add("{.func f() {{ call (r), %rd1, (a, b), p; p : .callprototype (.param .b32 _) _ (.param .b32 _); }}")
	f.Add(".func (.param .b32 r) f(.param .align 8 .b8 p[24]) .noreturn;\n.const .u64 x[2] = {generic(y)+8, f};")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := Parse(text); err == nil {
			again(t, m)
		}
	})
}
