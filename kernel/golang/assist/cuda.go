package assist

import (
	"regexp"
	"slices"
	"strings"
)

// cudaNames are what CUDA C++ has besides the names of the cell: "CUDA C++
// Programming Guide", C++ Language Extensions.
var cudaNames = []Match{
	{Text: "threadIdx", Kind: "variable", Signature: "uint3"}, {Text: "blockIdx", Kind: "variable", Signature: "uint3"},
	{Text: "blockDim", Kind: "variable", Signature: "dim3"}, {Text: "gridDim", Kind: "variable", Signature: "dim3"},
	{Text: "warpSize", Kind: "variable", Signature: "int"},
	{Text: "__global__", Kind: "keyword"}, {Text: "__device__", Kind: "keyword"}, {Text: "__shared__", Kind: "keyword"},
	{Text: "__constant__", Kind: "keyword"}, {Text: "__restrict__", Kind: "keyword"}, {Text: "__launch_bounds__", Kind: "keyword"},
	{Text: "__forceinline__", Kind: "keyword"}, {Text: "__noinline__", Kind: "keyword"}, {Text: "extern", Kind: "keyword"},
	{Text: "template", Kind: "keyword"}, {Text: "typename", Kind: "keyword"}, {Text: "unsigned", Kind: "keyword"}, {Text: "const", Kind: "keyword"},
	{Text: "float", Kind: "type"}, {Text: "double", Kind: "type"}, {Text: "int", Kind: "type"}, {Text: "bool", Kind: "type"}, {Text: "size_t", Kind: "type"},
	{Text: "float2", Kind: "type"}, {Text: "float4", Kind: "type"}, {Text: "double2", Kind: "type"}, {Text: "int2", Kind: "type"}, {Text: "int4", Kind: "type"}, {Text: "dim3", Kind: "type"},
	{Text: "__syncthreads", Kind: "function", Signature: "void()"}, {Text: "__syncwarp", Kind: "function", Signature: "void(unsigned mask)"},
	{Text: "__syncthreads_count", Kind: "function", Signature: "int(int predicate)"}, {Text: "__syncthreads_and", Kind: "function", Signature: "int(int predicate)"}, {Text: "__syncthreads_or", Kind: "function", Signature: "int(int predicate)"},
	{Text: "__threadfence", Kind: "function", Signature: "void()"}, {Text: "__threadfence_block", Kind: "function", Signature: "void()"}, {Text: "__threadfence_system", Kind: "function", Signature: "void()"},
	{Text: "atomicAdd", Kind: "function", Signature: "T(T* address, T val)"}, {Text: "atomicSub", Kind: "function", Signature: "T(T* address, T val)"},
	{Text: "atomicExch", Kind: "function", Signature: "T(T* address, T val)"}, {Text: "atomicMin", Kind: "function", Signature: "T(T* address, T val)"},
	{Text: "atomicMax", Kind: "function", Signature: "T(T* address, T val)"}, {Text: "atomicCAS", Kind: "function", Signature: "T(T* address, T compare, T val)"},
	{Text: "atomicAnd", Kind: "function", Signature: "T(T* address, T val)"}, {Text: "atomicOr", Kind: "function", Signature: "T(T* address, T val)"}, {Text: "atomicXor", Kind: "function", Signature: "T(T* address, T val)"},
	{Text: "atomicInc", Kind: "function", Signature: "unsigned(unsigned* address, unsigned val)"}, {Text: "atomicDec", Kind: "function", Signature: "unsigned(unsigned* address, unsigned val)"},
	{Text: "__shfl_sync", Kind: "function", Signature: "T(unsigned mask, T var, int srcLane, int width = warpSize)"}, {Text: "__shfl_up_sync", Kind: "function", Signature: "T(unsigned mask, T var, unsigned delta, int width = warpSize)"},
	{Text: "__shfl_down_sync", Kind: "function", Signature: "T(unsigned mask, T var, unsigned delta, int width = warpSize)"}, {Text: "__shfl_xor_sync", Kind: "function", Signature: "T(unsigned mask, T var, int laneMask, int width = warpSize)"},
	{Text: "__ballot_sync", Kind: "function", Signature: "unsigned(unsigned mask, int predicate)"}, {Text: "__all_sync", Kind: "function", Signature: "int(unsigned mask, int predicate)"}, {Text: "__any_sync", Kind: "function", Signature: "int(unsigned mask, int predicate)"},
	{Text: "__activemask", Kind: "function", Signature: "unsigned()"}, {Text: "__popc", Kind: "function", Signature: "int(unsigned x)"}, {Text: "__clz", Kind: "function", Signature: "int(int x)"}, {Text: "__ffs", Kind: "function", Signature: "int(int x)"},
	{Text: "__ldg", Kind: "function", Signature: "T(const T* address)"}, {Text: "clock64", Kind: "function", Signature: "long long()"}, {Text: "printf", Kind: "function", Signature: "int(const char* format, ...)"},
	{Text: "sqrtf", Kind: "function", Signature: "float(float x)"}, {Text: "rsqrtf", Kind: "function", Signature: "float(float x)"}, {Text: "expf", Kind: "function", Signature: "float(float x)"},
	{Text: "fmaf", Kind: "function", Signature: "float(float x, float y, float z)"}, {Text: "fabsf", Kind: "function", Signature: "float(float x)"}, {Text: "min", Kind: "function", Signature: "T(T a, T b)"}, {Text: "max", Kind: "function", Signature: "T(T a, T b)"},
}

// cudaMembers are the members of values whose names say their type.
var cudaMembers = map[string][]string{"threadIdx": {"x", "y", "z"}, "blockIdx": {"x", "y", "z"}, "blockDim": {"x", "y", "z"}, "gridDim": {"x", "y", "z"}}

var (
	cudaWord    = regexp.MustCompile(`[A-Za-z_]\w*`)
	cudaMember  = regexp.MustCompile(`(?:\.|->)\s*([A-Za-z_]\w*)`)
	cudaLiteral = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"`)
	beforeDot   = regexp.MustCompile(`([A-Za-z_]\w*)?\s*(?:\.|->)\s*$`)
)

// completeCUDA completes in the CUDA C++ of a %%cuda cell: CUDA's names and those
// that stand in the cell. It does not know types.
func completeCUDA(code string, cursor int) Completion {
	start, end := identifier(code, cursor)
	c := Completion{Start: start, End: end, Matches: []Match{}}
	line := code[strings.LastIndexByte(code[:cursor], '\n')+1 : cursor]
	prefix := code[start:cursor]
	if strings.Contains(line, "//") || strings.Count(line, `"`)%2 == 1 || prefix != "" && prefix[0] >= '0' && prefix[0] <= '9' {
		return c
	}
	_, body, _ := strings.Cut(code[:start]+" "+code[end:], "\n") // without the word that is being typed
	body = cudaLiteral.ReplaceAllString(body, " ")
	var list []Match
	seen := make(map[string]bool)
	add := func(kind string, names ...string) {
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				list = append(list, Match{Text: name, Kind: kind})
			}
		}
	}
	if m := beforeDot.FindStringSubmatch(code[:start]); m != nil {
		if known, ok := cudaMembers[m[1]]; ok {
			add("field", known...)
		} else {
			for _, m := range cudaMember.FindAllStringSubmatch(body, -1) {
				add("field", m[1])
			}
		}
		c.Matches = rank(list, prefix)
		return c
	}
	if prefix == "" {
		return c
	}
	for _, m := range cudaNames {
		seen[m.Text] = true
	}
	words := cudaWord.FindAllString(body, -1)
	slices.Sort(words)
	add("variable", words...)
	c.Matches = rank(append(list, cudaNames...), prefix)
	return c
}
