package cpp

import (
	"fmt"
	"strings"
	"testing"
)

const declarationsSource = `#include <cuda_fp16.h>
#define TILE 16
#define SQUARE(x) \
    ((x) * (x))
using namespace std;
#ifdef FAST
#define ROUND(x) (x)
#else
#define ROUND(x) rint(x)
#endif
struct Particle { float x, y; __device__ float norm() const { return x * x + y * y; } };
typedef struct { int n; } Old;
typedef float Real;
using Index = unsigned;
enum Colour { red, green = 4, blue };
enum class Mode : int { a, b };
constexpr int width = TILE * 2, height = 3;
const float weights[3] = {1, 2, 1};
__constant__ float coefficients[8];
__device__ int counter = 0;
__device__ const float table[] = {1, 2};
static __device__ __forceinline__ float square(float x) { if (x < 0) { return -x; } return x * x; }
__device__ float later(float);
template <class T, int N = (1 > 0)> __device__ T first(const T (&a)[N]) { return a[0]; }
__device__ float Particle::energy() { return norm() / 2; }
__device__ Particle operator+(Particle a, Particle b) { return {a.x + b.x, a.y + b.y}; }
template <> struct Traits<int> { static const int n = 1; };
namespace deep { struct In {}; __device__ int f() { return 1; } }
extern "C" {
__device__ int plain(int n) { return n; }
__global__ void __launch_bounds__(256) kernel(float *p) { *p = square(*p); }
}
extern "C" __global__ void other() {}
struct Pair { int a; } both;
int host(int n) { return n + 1; }
__device__ struct Particle made() { return {}; }
auto twice = [] __device__ (int n) { return 2 * n; };
;`

func TestDeclarations(t *testing.T) {
	const want = `1 include
2 macro TILE
3 macro SQUARE
5 include
6 macro ROUND ROUND
11 other Particle
12 other Old
13 other Real
14 other Index
15 other Colour red green blue
16 other Mode a b
17 other width
18 other weights
19 variable coefficients
20 variable counter
21 other table
22 device square
23 device later
24 device first
25 device Particle
26 device Particle Particle
27 other Traits
28 other deep
30 device plain
31 kernel kernel
33 kernel other
34 variable Pair both
35 other host
36 device made
37 variable twice
`
	var got strings.Builder
	for _, d := range Declarations(declarationsSource) {
		kind := []string{"other", "device", "kernel", "variable", "macro", "include"}[d.Kind]
		fmt.Fprintln(&got, strings.Join(append([]string{fmt.Sprint(d.Line), kind}, d.Names...), " "))
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	if text := Declarations(declarationsSource)[23].Text; text != `extern "C" __device__ int plain(int n) { return n; }` {
		t.Errorf("%q", text)
	}
}

func FuzzDeclarations(f *testing.F) {
	f.Add(declarationsSource)
	f.Add("template <")
	f.Add("extern \"C\" {")
	f.Add("#if 1\nint a;")
	f.Add("} ) int a[")
	f.Fuzz(func(t *testing.T, src string) {
		for _, d := range Declarations(src) {
			if d.Line < 1 || d.Line > strings.Count(src, "\n")+1 {
				t.Errorf("line %d of %q", d.Line, src)
			}
		}
	})
}
