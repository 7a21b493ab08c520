package sim_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// cutter keeps the device code of a CUDA program: functions and variables that are marked for
// devices, types, constants and macros, of the file and of those of its own that it includes.
type cutter struct {
	seen map[string]bool
	out  strings.Builder
}

var (
	ownInclude  = regexp.MustCompile(`^#\s*include\s*([<"])([^>"]+)[>"]`)
	forDevices  = regexp.MustCompile(`\b__(?:global|device|constant|managed)__\b`)
	typeStart   = regexp.MustCompile(`^(?:template\s*<[^{}]*>\s*)?(?:typedef|struct|class|union|enum|using|static_assert)\b`)
	constStart  = regexp.MustCompile(`^(?:(?:static|inline|constexpr|const|extern)\s+)*(?:const|constexpr)\b`)
	nested      = regexp.MustCompile(`^(?:inline\s+)?(?:namespace\b[^{;]*|extern\s*"C(?:\+\+)?"\s*)\{`)
	ofTheHost   = regexp.MustCompile(`\bstd::(?:vector|string|cout|cerr|map|set|thread|chrono|ostream|istream|ifstream|mt19937|unordered_map|shared_ptr|unique_ptr|mutex)\b|<<<|\bthrust::|\bFILE\b|\bcudaStream_t\b|\bcudaEvent_t\b|\bcudaError_t\b`)
	externC     = regexp.MustCompile(`extern\s*"C"\s+`)
	deviceFiles = regexp.MustCompile(`^(?:cuda_fp16|cuda_bf16|cuda_fp8|cooperative_groups.*|curand_kernel|mma|math_constants|cuComplex|vector_types|cuda_pipeline.*|stdint|cstdint|float|cfloat|limits|climits|math|cmath|cuda/.*|cub/(?:block|warp)/.*)(?:\.h|\.hpp|\.cuh)?$`)
)

// pieces are the declarations of a text at its outermost level, and its preprocessor's lines.
func pieces(text string) (list []string) {
	start, depth, brace := 0, 0, false
	end := func(at int) {
		if s := strings.TrimSpace(text[start:at]); s != "" {
			list = append(list, s)
		}
		start, brace = at, false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "//"):
			j := strings.IndexByte(text[i:], '\n')
			if j < 0 {
				j = len(text) - i
			}
			text = text[:i] + text[i+j:]
			i--
		case strings.HasPrefix(text[i:], "/*"):
			j := strings.Index(text[i+2:], "*/")
			if j < 0 {
				j = len(text) - i - 4
			}
			text = text[:i] + " " + text[i+j+4:]
		case c == '"' || c == '\'' && (i == 0 || !isDigit(text[i-1])):
			for i++; i < len(text) && text[i] != c && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case c == '#' && strings.TrimSpace(text[strings.LastIndexByte(text[:i], '\n')+1:i]) == "":
			j := i
			for j < len(text) && (text[j] != '\n' || text[j-1] == '\\' || strings.HasSuffix(text[:j], "\\\r")) {
				j++
			}
			if depth == 0 {
				if strings.TrimSpace(text[start:i]) == "" {
					start = i
					end(j)
				}
			}
			i = j - 1
		case c == '{' || c == '(' || c == '[':
			if depth++; c == '{' && depth == 1 {
				brace = true
			}
		case c == '}' || c == ')' || c == ']':
			depth = max(depth-1, 0)
			if c == '}' && depth == 0 && brace {
				head, _, _ := strings.Cut(text[start:i], "{")
				head = strings.TrimSpace(head)
				if !strings.HasSuffix(head, "=") && (!typeStart.MatchString(head) || strings.Contains(head, "(") && !strings.HasPrefix(head, "typedef")) {
					end(i + 1)
				}
			}
		case c == ';' && depth == 0:
			end(i + 1)
		}
	}
	end(len(text))
	return list
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// file cuts a file.
func (c *cutter) file(name string) {
	if c.seen[name] || len(c.seen) > 60 {
		return
	}
	c.seen[name] = true
	text, err := os.ReadFile(name)
	if err == nil {
		c.text(filepath.Dir(name), strings.ReplaceAll(string(text), "\r\n", "\n"))
	}
}

func (c *cutter) text(folder, text string) {
	for _, p := range pieces(text) {
		switch {
		case p[0] == '#':
			m := ownInclude.FindStringSubmatch(p)
			switch {
			case m == nil:
				if !strings.HasPrefix(strings.TrimSpace(p[1:]), "pragma once") {
					c.out.WriteString(p + "\n")
				}
			case deviceFiles.MatchString(m[2]):
				c.out.WriteString(p + "\n")
			default:
				if found := find(folder, m[2]); found != "" {
					c.file(found)
				}
			}
		case nested.MatchString(p):
			head := nested.FindString(p)
			inside := strings.TrimSuffix(strings.TrimSpace(p[len(head):]), "}")
			if strings.HasPrefix(head, "extern") {
				c.text(folder, inside)
				continue
			}
			c.out.WriteString(head + "\n")
			c.text(folder, inside)
			c.out.WriteString("}\n")
		case strings.HasPrefix(p, "extern") && strings.Contains(p, `"C"`) || forDevices.MatchString(p):
			if forDevices.MatchString(p) {
				c.out.WriteString(externC.ReplaceAllString(p, "") + "\n")
			}
		case ofTheHost.MatchString(p):
		case typeStart.MatchString(p) || constStart.MatchString(p) && strings.Contains(p, "=") && !strings.Contains(p, "{\n") || strings.HasPrefix(p, "using namespace") && strings.Contains(p, "cooperative"):
			if !strings.Contains(p, "namespace std") {
				c.out.WriteString(p + "\n")
			}
		}
	}
}

// find looks for a header of the program's own, in folders that such programs have.
func find(folder, name string) string {
	for range 6 {
		for _, sub := range []string{"", "include", "inc", "common", "common/inc", "Common", "utils", "util", "utilities", "src", "support", "cuda/common"} {
			if p := filepath.Join(folder, sub, name); exists(p) {
				return p
			}
		}
		folder = filepath.Dir(folder)
	}
	return ""
}

func exists(p string) bool {
	s, err := os.Stat(p)
	return err == nil && !s.IsDir()
}

var (
	kernelHead   = regexp.MustCompile(`template\s*<([^<>;{}]*)>\s*(?:(?:static|inline|extern|__launch_bounds__\s*\([^)]*\))\s+)*__global__\s+(?:static\s+|inline\s+|__launch_bounds__\s*\([^)]*\)\s*)*void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(`)
	instantiated = regexp.MustCompile(`\b(\w+)\s*<([^<>;(){}]*)>\s*<<<`)
)

// instances are expressions of kernels that are templates: as the program launches them, where it
// names types and numbers, or with float and 16.
func instances(cut, whole string) (names []string) {
	for _, m := range kernelHead.FindAllStringSubmatch(cut, -1) {
		var args []string
		for _, p := range strings.Split(m[1], ",") {
			p, value, given := strings.Cut(strings.TrimSpace(p), "=")
			switch {
			case given:
				args = append(args, strings.TrimSpace(value))
			case strings.HasPrefix(p, "typename") || strings.HasPrefix(p, "class"):
				args = append(args, "float")
			case strings.HasPrefix(p, "bool"):
				args = append(args, "true")
			default:
				args = append(args, "16")
			}
		}
		names = append(names, m[2]+"<"+strings.Join(args, ", ")+">")
		for _, l := range instantiated.FindAllStringSubmatch(whole, -1) {
			if l[1] == m[2] {
				names = append(names, l[1]+"<"+strings.TrimSpace(l[2])+">")
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestCutting(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(folder, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	write("own.h", "#pragma once\n#define M 3 + \\\n  4\n__device__ inline float one() { return 1; } // }\n")
	p := write("a.cu", `#include <vector>
#include "own.h"
#include <cuda_fp16.h>
const int N = 5; int other = 7; /* { */
struct P { float x; __host__ __device__ P() : x("}"[0]) {} };
typedef struct { int a; } Q;
static void host(int *p) { kernel<<<1, 2>>>(p); }
extern "C" __global__ void kernel(int *p) { if (p) { *p = M; } }
namespace n { int f() { return 1; }
template <typename T, int K> __global__ void t(T *x) {} }
int main() { t<double, 4><<<1, 1>>>(0); }
`)
	c := &cutter{seen: map[string]bool{}}
	c.file(p)
	want := "#define M 3 + \\\n  4\n__device__ inline float one() { return 1; }\n#include <cuda_fp16.h>\nconst int N = 5;\nstruct P { float x; __host__ __device__ P() : x(\"}\"[0]) {} };\n" +
		"typedef struct { int a; } Q;\n__global__ void kernel(int *p) { if (p) { *p = M; } }\nnamespace n {\ntemplate <typename T, int K> __global__ void t(T *x) {}\n}\n"
	if got := c.out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	whole, _ := os.ReadFile(p)
	if got := instances(want, string(whole)); !slices.Equal(got, []string{"t<double, 4>", "t<float, 16>"}) {
		t.Errorf("instances %q", got)
	}
}
