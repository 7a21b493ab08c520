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
		{regexp.MustCompile(`^undefined: (time|sort|sync|errors|strings|strconv|os|unsafe|log|runtime|atomic|maps|io|bytes|context|reflect)$`), nil, "a kernel can use " + packageNames()},
		{regexp.MustCompile(`^undefined: slices\.(Append\w*|Chunk|Clone|Collect|Compact\w*|Concat|Delete\w*|Grow|Insert|Repeat|Replace|Sorted\w*)$`), nil, "where memory is allocated or given up, a kernel has nothing like it: write to a slice that is passed in"},
		{regexp.MustCompile(`^undefined: slices\.(SortFunc)$`), nil, "there is slices.SortStableFunc"},
		{regexp.MustCompile(`^undefined: fmt\.(\w+)$`), nil, "a kernel prints with fmt.Printf and fmt.Println"},
		{regexp.MustCompile(`type gpu\.Dim3 has no field or method (\w+)`), nil, "its fields are X, Y and Z"},
		{regexp.MustCompile(`^invalid argument: index (\w+) \(.* of struct type gpu\.Dim3\) must be integer`), nil, "take its X, Y or Z"},
		{regexp.MustCompile(`^cannot range over .* of struct type gpu\.(Dim3)\)`), nil, "take its X, Y or Z"},
		{regexp.MustCompile(`^(?:invalid array length|array length) (\S+)`), nil, "the size of an array is a constant; gpu.DynamicShared has shared memory of a size that the launch says"},
		{regexp.MustCompile(`^too many arguments in call to gpu\.Shared\[(\w+)\]`), nil, "the size is part of the type: gpu.Shared[[256]$]()"},
		{regexp.MustCompile(`^gpu\.(\w+) \(value of type func\(.*is not used$`), nil, "call it: gpu.$()"},
		{regexp.MustCompile(`^in call to gpu\.Atomic\w+, type \S+ of (\S+) does not match \*T`), nil, "it takes an address: &$"},
		{regexp.MustCompile(`^not enough arguments in call to gpu\.(Shfl|ShflUp|ShflDown|ShflXor|Ballot|Any|All|MatchAny|MatchAll|Reduce\w+)\b`), nil, "the first is which lanes take part, such as gpu.FullMask"},
		{regexp.MustCompile(`^cannot use math\.(\w+)\(.*\) \(value of type float64\) as float32 value`), map[string]string{
			"Sqrt": "Sqrt", "Exp": "Exp", "Log": "Log", "Sin": "Sin", "Cos": "Cos", "Tanh": "Tanh", "Pow": "Pow", "Abs": "Abs", "FMA": "FMA",
		}, "gpu.$ takes and gives float32 as well"},
	}
})

// packageNames are the packages that kernels can import, as they are called.
func packageNames() string {
	var list []string
	for path := range libraries() {
		list = append(list, path[strings.LastIndexByte(path, '/')+1:])
	}
	slices.Sort(list)
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
