package magic

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
)

// inCells is a recorder whose cells have numbers.
type inCells struct {
	*recorder
	cell int
}

func (c *inCells) History() []Past { return []Past{{fmt.Sprintf("In[%d]", c.cell), ""}} }

// What %%cuda cells declare is there for later ones, but for variables; and can be
// declared again.
func TestEarlierCells(t *testing.T) {
	needsCompiler(t)
	const library = `%%cuda
#include <cstdint>
#define TWICE(x) (SCALE * (x))
#define SCALE 2
struct Pair { float a, b; __device__ float sum() const; };
__device__ float Pair::sum() const { return a + b; }
__device__ Pair operator+(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
constexpr int32_t terms = 3;
__device__ int counter;
__device__ float even(int n);
__device__ float odd(int n) { return n == 0 ? 0 : even(n - 1); }
__device__ float even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ int count() { return ++counter; }
template <class T> __device__ T square(T x) { return x * x; }
__global__ void unused(float *p) { *p = square(*p); }
`
	set := NewSet()
	at := 0
	run := func(code string) (*recorder, error) {
		at++
		r := &inCells{&recorder{}, at}
		return r.recorder, set.Run(t.Context(), r, code)
	}
	value := func(code, kernel string) float32 {
		t.Helper()
		r, err := run(code)
		if err != nil {
			t.Fatalf("%s\n%v", code, err)
		}
		d, err := cuda.CurrentDevice()
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Alloc(1, cuda.Float32)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Free()
		if err := r.defined[kernel].(*cuda.Kernel).Launch(cuda.Grid(1), cuda.Block(1), nil, p); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, 1)
		if err := p.Download(got); err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	if _, err := run(library); err != nil {
		t.Fatal(err)
	}
	if got := value("%%cuda\n__global__ void f(float *p) { Pair a = {1, 2}; *p = (a + a).sum() + TWICE(square(terms)) + 100 * even(4); }", "f"); got != 124 {
		t.Errorf("f gives %v", got)
	}
	// A function that uses one of an earlier cell; and one that is declared again, for those behind.
	if r, err := run("%%cuda\n__device__ float cube(float x) { return x * square(x); }"); err != nil || !strings.Contains(r.text(), "compiled: declarations for later %%cuda cells") {
		t.Errorf("%q, %v", r.text(), err)
	}
	if got := value("%%cuda\n__global__ void g(float *p) { *p = cube(3); }", "g"); got != 27 {
		t.Errorf("g gives %v", got)
	}
	if got := value("%%kernel\nfunc cube(x float32) float32\nfunc h(out []float32) { out[0] = cube(2) }", "h"); got != 8 {
		t.Errorf("h gives %v", got)
	}
	if _, err := run("%%cuda\ntemplate <class T> __device__ T square(T x) { return 10 * x; }"); err != nil {
		t.Error(err)
	}
	if got := value("%%cuda\n__global__ void g(float *p) { *p = cube(3); }", "g"); got != 90 {
		t.Errorf("with another square g gives %v", got)
	}
	// Names that mean something else here.
	if got := value("%%cuda\ntemplate <int SCALE> __device__ int times(int x) { return SCALE * x; }\n__global__ void f(float *p) { int terms = times<5>(1); *p = terms; }", "f"); got != 5 {
		t.Errorf("with names of its own f gives %v", got)
	}
	// What both cells include.
	if _, err := run("%%cuda\n#include <curand_kernel.h>\n__device__ float first(int seed) { curandState s; curand_init(seed, 0, 0, &s); return curand_uniform(&s); }"); err != nil {
		t.Fatal(err)
	}
	if got := value("%%cuda\n#include <curand_kernel.h>\n__global__ void f(float *p) { curandState s; *p = 1 + first(7); }", "f"); got <= 1 || got > 2 {
		t.Errorf("with a header that both cells include f gives %v", got)
	}
	for code, want := range map[string]string{
		"%%cuda\n__global__ void f(float *p) { counter = 1; }":                                                          "counter is a variable of In[1]. Each %%cuda cell is a module with memory of its own",
		"%%cuda\n__global__ void f(float *p) { *p = count(); }":                                                         "counter is a variable of In[1]",
		"%%cuda\n\nstruct Pair { int n; };\n__global__ void f(float *p) { *p = weigh(Pair{1}); }":                       "weigh of In[10] uses Pair, which this cell declares again: define both in this cell",
		"%%cuda\n__device__ float square(float x) { return x; }\n__global__ void f(float *p) { *p = cube(square(3)); }": "cube of In[3] uses square, which this cell declares again",
		"%%cuda\n__global__ void f(float *p) {\n    *p = square(1) + nosuch; }":                                         ":3:22: error",
	} {
		if strings.Contains(code, "weigh") {
			at = 9
			if _, err := run("%%cuda\n__device__ float weigh(Pair p) { return p.a; }"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := run(code)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
			t.Errorf("%s\ngives %v\nwant %s", code, err, want)
		}
	}
}
