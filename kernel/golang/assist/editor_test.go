package assist

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// offered lists what is offered at the end of code.
func offered(s Scope, code string) []string {
	var list []string
	for _, m := range Complete(s, magics, code, len(code)).Matches {
		list = append(list, strings.TrimSpace(m.Text+" "+m.Signature))
	}
	return list
}

// A fault above the cursor hides nothing below it.
func TestCompleteBelowAFault(t *testing.T) {
	s := newSession(t)
	for _, fault := range []string{
		"x := 3 +\n", "x := (3\n", "x := 3)\n", "if {\n}\n", "for i := 0; i < {\n}\n", "x = = 3\n", "fmt.Println(\"a\" \"b\")\n",
		"var y int = = 2\n", "x := []int{1, 2\n", "else {\n}\n", "x := 3 +\nfmt.Println((2)\n",
	} {
		for _, format := range []string{"%sq := Point{}\nq.", "q := Point{}\n%sq.", "func f() {\n%sq := Point{}\n\tq.", "func f() {\nq := Point{}\n%s\tq."} {
			code := fmt.Sprintf(format, fault)
			if got := offered(s, code); !slices.Contains(got, "X int") {
				t.Errorf("%s\ncompletes to %q", code, got)
			}
		}
	}
}

func TestParametersHaveNames(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]string{
		"strings.Cut": "Cut func(s string, sep string) (before string, after string, found bool)", "os.Open": "Open func(name string) (*os.File, error)",
		"var b bytes.Buffer; b.WriteS": "WriteString func(s string) (n int, err error)", "dis": "distance func(from Point, to Point) (d float64, err error)",
	} {
		if got := offered(s, code); !slices.Contains(got, want) {
			t.Errorf("%s completes to %q", code, got)
		}
	}
}

func TestFieldsHaveComments(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]string{
		"here.X": "where it is", "Point": "where it is", "type T struct {\n\t// N counts.\n\tN int\n}\nvar v T\nv.N": "N counts.",
		"http.Server": "TCP address", "url.URL": "Scheme",
	} {
		b := Inspect(s, magics, code, len(code), 0)
		if b == nil || !strings.Contains(fmt.Sprint(b.Data["text/plain"]), want) {
			t.Errorf("%s is inspected as %v", code, b)
		}
	}
}

// The ranks' own names are known before there are ranks.
func TestRanksNames(t *testing.T) {
	s := newSession(t)
	if got := offered(s, "%%mpi\nworld.Allred"); len(got) == 0 || !strings.HasPrefix(got[0], "Allreduce func(") {
		t.Errorf("world. completes to %q", got)
	}
	if got := offered(s, "world.Allred"); len(got) > 0 {
		t.Errorf("outside of %%%%mpi world. completes to %q", got)
	}
	if got := offered(s, "%%timeline what\n%%mpi\nworld.Allred"); len(got) == 0 || !strings.HasPrefix(got[0], "Allreduce func(") {
		t.Errorf("in a cell for ranks whose timeline is drawn, world. completes to %q", got)
	}
	if b := Inspect(s, magics, "%%mpi\nworld", 11, 0); b == nil || !strings.Contains(fmt.Sprint(b.Data["text/plain"]), "Comm") {
		t.Errorf("world is inspected as %v", b)
	}
}

func TestCompleteCUDA(t *testing.T) {
	s := newSession(t)
	const head = "%%cuda\n__global__ void saxpy(int n, float alpha, float *xs) { // comment_word\n  int first = blockIdx.x;\n"
	for code, want := range map[string]string{
		"int i = threadI": "threadIdx", "threadIdx.": "x y z", "al": "alpha", "atomicA": "atomicAdd atomicAnd", "comment_": "", "\"al": "", "fir": "first",
		"// al": "", "p->": "x", "__syncth": "__syncthreads __syncthreads_count __syncthreads_and __syncthreads_or", "sax": "saxpy", "3": "",
	} {
		var got []string
		for _, m := range Complete(s, magics, head+code, len(head+code)).Matches {
			got = append(got, m.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s completes to %q, want %q", code, got, want)
		}
	}
}

func TestCompletePTX(t *testing.T) {
	s := newSession(t)
	const head = "%%ptx\n.version 7.0 // word\n.visible .entry k(.param .u64 list) {\n\tld.param.u64 %rd1, [list];\nend:\n\t"
	for code, want := range map[string]string{
		"mov.u32 %r1, %tid": "%tid.x %tid.y %tid.z", "ld.pa": "ld.param.u64", "%rd": "%rd1", "bra en": "end", "[li": "list", ".ent": ".entry", "// li": "", "1": "", "wor": "",
	} {
		var got []string
		for _, m := range Complete(s, magics, head+code, len(head+code)).Matches {
			got = append(got, m.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s completes to %q, want %q", code, got, want)
		}
	}
	if b := Inspect(s, magics, head, len(head)-8, 0); b != nil {
		t.Errorf("PTX is inspected as %v", b)
	}
}

func TestCompleteKernels(t *testing.T) {
	s := newSession(t)
	for code, want := range map[string]string{
		"func k(x []float32) {\n\tgpu.SyncTh": "SyncThreads func()", "func k(x []float32) {\n\ti := gpu.ThreadIdx.": "X int",
		"func k(x []int) {\n\tgpu.AtomicA": "AtomicAdd func[T gpu.Number](p *T, v T, options ...gpu.AtomicOption) T",
	} {
		if got := offered(s, "%%kernel\n"+code); !slices.Contains(got, want) {
			t.Errorf("%s completes to %q", code, got)
		}
	}
	if b := Inspect(s, magics, "%%kernel\nfunc k() { gpu.SyncThreads", 38, 0); b == nil {
		t.Error("nothing is known about gpu.SyncThreads")
	}
}
