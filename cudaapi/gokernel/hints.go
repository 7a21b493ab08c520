package gokernel

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hint adds to a message of the checker what to do in a kernel.
func hint(msg string) string {
	if i := strings.Index(msg, "could not import "); i >= 0 {
		if _, why, ok := strings.Cut(msg, "(a kernel"); ok {
			return "a kernel" + strings.TrimSuffix(why, ")")
		}
	}
	for _, h := range hints() {
		m := h.match.FindStringSubmatch(msg)
		if m == nil {
			continue
		}
		name := m[len(m)-1]
		if name == "" { // of the other way round
			name = m[1]
		}
		if h.names == nil {
			return msg + "; " + strings.ReplaceAll(h.what, "$", name)
		}
		if what, ok := h.names[name]; ok {
			return msg + "; " + strings.ReplaceAll(h.what, "$", what)
		}
	}
	return msg
}

// remark is what is added to a message.
type remark struct {
	match *regexp.Regexp
	names map[string]string // of the last thing that is matched, what $ stands for; nil: for itself
	what  string
}

// hints are what to do instead, by what the checker says.
var hints = sync.OnceValue(func() []remark {
	return []remark{
		{regexp.MustCompile(`^undefined: (\w+)$`), map[string]string{
			"threadIdx": "gpu.ThreadIdx", "blockIdx": "gpu.BlockIdx", "blockDim": "gpu.BlockDim", "gridDim": "gpu.GridDim",
			"__syncthreads": "gpu.SyncThreads", "syncthreads": "gpu.SyncThreads", "__syncwarp": "gpu.SyncWarp", "__threadfence": "gpu.ThreadFence",
			"__shfl_sync": "gpu.Shfl", "__shfl_up_sync": "gpu.ShflUp", "__shfl_down_sync": "gpu.ShflDown", "__shfl_xor_sync": "gpu.ShflXor",
			"__ballot_sync": "gpu.Ballot", "__any_sync": "gpu.Any", "__all_sync": "gpu.All", "atomicAdd": "gpu.AtomicAdd", "atomicSub": "gpu.AtomicSub",
			"atomicMin": "gpu.AtomicMin", "atomicMax": "gpu.AtomicMax", "atomicCAS": "gpu.AtomicCAS", "atomicExch": "gpu.AtomicExch",
			"printf": "fmt.Printf", "sqrtf": "gpu.Sqrt", "rsqrtf": "gpu.Rsqrt", "expf": "gpu.Exp", "logf": "gpu.Log", "sinf": "gpu.Sin", "cosf": "gpu.Cos",
			"tanhf": "gpu.Tanh", "powf": "gpu.Pow", "fabsf": "gpu.Abs", "fmaf": "gpu.FMA", "sqrt": "math.Sqrt", "exp": "math.Exp", "log": "math.Log",
			"sin": "math.Sin", "cos": "math.Cos", "pow": "math.Pow", "abs": "math.Abs", "fabs": "math.Abs", "floor": "math.Floor",
			"__popc": "bits.OnesCount32", "__clz": "bits.LeadingZeros32", "clock64": "gpu.Clock64", "warpSize": "gpu.WarpSize, or 32",
		}, "in Go it is $"},
		{regexp.MustCompile(`^undefined: (rand)$`), nil, "write a generator whose state each thread has, such as Philox, or pass numbers in a slice"},
		{regexp.MustCompile(`^undefined: (time|sync|atomic|sort|errors)$`), map[string]string{
			"time": "gpu.Clock64 counts a multiprocessor's cycles", "atomic": "gpu.AtomicAdd and its like change what threads share",
			"sync": "threads of a block wait for each other by gpu.SyncThreads; a lock is made of gpu.AtomicCAS", "sort": "there is slices.Sort",
			"errors": "a kernel writes what went wrong to a slice, or panics with a constant",
		}, "$"},
		{regexp.MustCompile(`^undefined: (strings|strconv|os|unsafe|log|runtime|maps|io|bytes|context|reflect)$`), nil, "a kernel can use " + packageNames()},
		{regexp.MustCompile(`^undefined: slices\.(Append\w*|Chunk|Clone|Collect|Compact\w*|Concat|Delete\w*|Grow|Insert|Repeat|Replace|Sorted\w*)$`), nil, "where memory is allocated or given up, a kernel has nothing like it: write to a slice that is passed in"},
		{regexp.MustCompile(`^undefined: slices\.(SortFunc)$`), nil, "there is slices.SortStableFunc"},
		{regexp.MustCompile(`^undefined: fmt\.(\w+)$`), nil, "a kernel makes no strings: it prints with fmt.Printf and fmt.Println, and panics with a constant"},
		{regexp.MustCompile(`type gpu\.Dim3 has no field or method (\w+)`), nil, "its fields are X, Y and Z"},
		{regexp.MustCompile(`^invalid argument: index ([\w.]+) \(.* of struct type gpu\.Dim3\) must be integer`), nil, "take its X, Y or Z"},
		{regexp.MustCompile(`^cannot range over .* of struct type gpu\.(Dim3)\)`), nil, "take its X, Y or Z"},
		{regexp.MustCompile(`^invalid operation: operator \S+ not defined on gpu\.\w+ \(variable of struct type gpu\.(Dim3)\)`), nil, "take its X, Y or Z"},
		{regexp.MustCompile(`^invalid operation: .*gpu\.(?:ThreadIdx|BlockIdx|BlockDim|GridDim)\.[XYZ].* \(mismatched types (?:int and (\w+)|(\w+) and int)\)`), nil, "indices and sizes of package gpu are of type int: convert the other one, as in int(i)"},
		{regexp.MustCompile(`^gpu\.(\w+ undefined) \(type gpu\.Group|type gpu\.Group has no field or method (Sync)\)`), nil, "the threads of a group wait for each other by gpu.SyncWarp(g.Mask)"},
		{regexp.MustCompile(`^invalid operation: cannot call (\w+\.(?:Size|Rank|Mask)) \(variable of type`), nil, "it is a field: $"},
		{regexp.MustCompile(`^cannot index \w+ \(variable of type \*\[\](\w+)\)`), nil, "a slice has no memory of its own that threads could share: gpu.Shared[[256]$](), or gpu.DynamicShared[$](n)"},
		{regexp.MustCompile(`^cannot index (\w+) \(variable of type func\(\) \*`), nil, "$ is a function, such as gpu.Shared[[256]float32]: call it"},
		{regexp.MustCompile(`^(float32|float64) does not satisfy gpu\.Integer`), map[string]string{
			"float32": "math.Float32bits gives those of a number, for an uint32", "float64": "math.Float64bits gives those of a number, for an uint64",
		}, "of floating-point numbers there are AtomicAdd, Min, Max, Exch, Load and Store; for others keep the bits: $"},
		{regexp.MustCompile(`^(bool|u?int8|u?int16) does not satisfy gpu\.(?:Number|Integer)`), nil, "use an int32 or uint32"},
		{regexp.MustCompile(`^(?:invalid array length|array length) (\S+)`), nil, "the size of an array is a constant; gpu.DynamicShared has shared memory of a size that the launch says"},
		{regexp.MustCompile(`^gpu\.(Shared|DynamicShared) \(value of type func.*is not a type$`), map[string]string{
			"Shared": "tile := gpu.Shared[[256]float32]()", "DynamicShared": "tile := gpu.DynamicShared[float32](n)",
		}, "it is a function: $"},
		{regexp.MustCompile(`^\S+ \(untyped float constant.*\) truncated to (?:u?int\d*)$`), nil, "convert the integer beside it, as in float32(i)"},
		{regexp.MustCompile(`^too many arguments in call to gpu\.Shared\[(\w+)\]`), nil, "the size is part of the type: gpu.Shared[[256]$]()"},
		{regexp.MustCompile(`^gpu\.(\w+) \(value of type func\(.*is not used$`), nil, "call it: gpu.$()"},
		{regexp.MustCompile(`^in call to gpu\.Atomic\w+, type \S+ of (\S+) does not match \*T`), nil, "it takes an address: &$"},
		{regexp.MustCompile(`^not enough arguments in call to gpu\.(Shfl|ShflUp|ShflDown|ShflXor|Ballot|Any|All|MatchAny|MatchAll|Reduce\w+)\b`), nil, "the first is which lanes take part, such as gpu.FullMask"},
		{regexp.MustCompile(`^cannot use math\.(\w+)\(.*\) \(value of type float64\) as float32 value`), map[string]string{
			"Sqrt": "Sqrt", "Exp": "Exp", "Log": "Log", "Sin": "Sin", "Cos": "Cos", "Tanh": "Tanh", "Pow": "Pow", "Abs": "Abs", "FMA": "FMA",
		}, "gpu.$ takes and gives float32 as well"},
		{regexp.MustCompile(`^cannot use (.+) \((?:variable|value) of type ` + number + `\) as (` + number + `) value`), nil, "convert it: $(...)"},
	}
})

// number matches a type of numbers.
const number = `(?:u?int(?:8|16|32|64)?|float(?:32|64)|gpu\.B?Float16)`

// inC are syntax errors, and the lines that have them, of what is right in C.
var inC = sync.OnceValue(func() []remark {
	return []remark{
		{regexp.MustCompile(`\n\s*for\s*(\()`), nil, "in Go the parts of a for are in no parentheses: for i := 0; i < n; i++ { ... }"},
		{regexp.MustCompile(`\n\s*(while)\b`), nil, "Go writes for: for condition { ... }"},
		{regexp.MustCompile(`\n.*(__shared__)\s`), nil, "in Go it is s := gpu.Shared[[256]float32]()"},
		{regexp.MustCompile(`\n\s*(__global__|__device__)\s`), nil, "in Go a function without results is a kernel, and needs no such word"},
		{regexp.MustCompile(`U\+003F '(\?)'`), nil, "Go has no conditional expression: write if, or max and min"},
		{regexp.MustCompile(`found '(?:\+\+|--)'\n.*(?:\+\+|--)(\w+)`), nil, "Go writes $++ and $--, as statements"},
		{regexp.MustCompile(`found '(\+\+|--)'\n`), nil, "in Go x++ and x-- are statements, and have no value"},
		{regexp.MustCompile(`\n\s*(?:unsigned |const )?\s*(int|float|double|bool|char|long|auto|size_t)\s+\*?\w+\s*(?:=|;|\[)`), nil, "in Go it is x := value, or var x int32"},
	}
})

// hintOfLine adds to a syntax error what to write instead, by the line that has it.
func hintOfLine(msg, line string) string {
	for _, h := range inC() {
		if m := h.match.FindStringSubmatch(msg + "\n" + line); m != nil {
			return msg + "; " + strings.ReplaceAll(h.what, "$", m[len(m)-1])
		}
	}
	return msg
}

// packageNames are the packages that kernels can import, as they are called.
func packageNames() string {
	var list []string
	for path := range libraries() {
		list = append(list, path[strings.LastIndexByte(path, '/')+1:])
	}
	slices.Sort(list)
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
