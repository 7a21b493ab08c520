package kerneltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gocuda/cudaapi/gokernel"
)

const named = "type T struct{ n int }\nfunc (t T) m() int { return t.n }\n"

// refused are bodies of a function that cannot be a kernel, with the place and the
// words of one message, and what is declared beside it.
var refused = []struct{ body, at, message, more string }{
	{"m := map[int]int{}\n_ = m", "2:6", "a value of type map[int]int cannot be in a kernel: there are no maps", ""},
	{"var m map[string]int\n_ = m", "2:5", "there are no maps", ""},
	{"m := make(map[int]bool)\nm[1] = true", "2:6", "there are no maps; use slices", ""},
	{"c := make(chan int)\nc <- 1", "2:6", "there are no channels", ""},
	{"var c chan int\n_ = c", "2:5", "there are no channels", ""},
	{"go f2()", "2:1", "there are no goroutines", ""},
	{"defer f2()", "2:1", "defer cannot be used", ""},
	{"x = append(x, 1)", "2:5", "append cannot be used", ""},
	{"y := make([]int, 3)\n_ = y", "2:6", "make cannot be used", ""},
	{"var e any\n_ = e", "2:5", "there are no interfaces", ""},
	{"var e any = x\n_ = e", "2:5", "there are no interfaces", ""},
	{"var e error\n_ = e", "2:5", "there are no interfaces", ""},
	{"s := \"a\"\n_ = s", "2:6", "strings are", ""},
	{"var s string\n_ = s", "2:5", "strings are constants there", ""},
	{"switch any(x).(type) {\n}", "2:1", "a type cannot be asked for", ""},
	{"select {\n}", "2:1", "there are no channels", ""},
	{"x[0] = rec(3)", "10:6", "rec calls itself", "func rec(n int) int { return rec(n - 1) }"},
	{"panic(x[0])", "2:7", "a panic in a kernel takes a constant", ""},
	{"recover()", "2:1", "recover cannot be used", ""},
	{"fs := []func(){f2}\nfs[0]()", "2:7", "functions can be called", ""},
	{"g := func() {}\ng = func() {}\ng()", "2:1", "g holds a function and is assigned later", ""},
	{"fmt.Printf(\"%s\", x)", "2:18", "a value of type []int cannot be printed", ""},
	{"fmt.Printf(\"%d %d\\n\", 1)", "2:1", "more verbs than there are values", ""},
	{"fmt.Printf(\"%d\\n\", 1, 2)", "2:1", "more values than the format has verbs", ""},
	{"fmt.Printf(\"%q\", x[0])", "2:18", "%q of a value of type int cannot be printed", ""},
	{"_ = leak()", "10:28", "the address of v is returned", "func leak() *int { v := 3; return &v }"},
	{"gpu.ThreadIdx.X = 3", "2:1", "a kernel cannot assign this", ""},
	{"w := weights\n_ = w\nweights[0] = 3", "4:1", "constant memory", ""},
	{"x[0] = undefined", "2:8", "undefined: undefined", ""},
	{"x[0] = 1.5", "2:8", "cannot use 1.5", ""},
	{"x[0] = \"a\"", "2:8", "cannot use \"a\"", ""},
	{"var y int32 = x[0]\n_ = y", "2:15", "cannot use x[0]", ""},
	{"x[0] = notThere", "2:8", "undefined: notThere", ""},
	{"if x {\n}", "2:4", "non-boolean condition", ""},
	{"return 1", "2:8", "too many return values", ""},
	{"break", "2:1", "break not in for, switch, or select statement", ""},
	{"x[-1] = 1", "2:3", "must not be negative", ""},
	{"x[0] = 1 / 0", "2:12", "division by zero", ""},
	{"x[0] = len(\"abc\"", "2:17", "syntax error", ""},
	{"var u uintptr\n_ = u", "2:5", "use a slice or a typed pointer", ""},
	{"y := struct{ m map[int]int }{}\n_ = y", "2:6", "which holds map[int]int", ""},
	// Strings, and what is made of them.
	{"s := \"a\" + \"b\"\n_ = s", "2:6", "strings are", ""},
	{"b := []byte(\"abc\")\n_ = b", "2:6", "a constant string can be indexed and ranged over, and []byte{'a', 'b'} is there", ""},
	{"var s [2]string\n_ = s", "2:5", "which holds string", ""},
	{"y := []string{\"a\"}\n_ = y", "2:6", "strings are constants there", ""},
	{"x[0] = lenOf(\"abc\")", "10:12", "strings are constants there", "func lenOf(s string) int { return len(s) }"},
	{"s := string(rune(x[0]))\n_ = s", "2:6", "strings are constants there", ""},
	{"switch \"a\" {\ncase \"b\":\n}", "2:8", "const s = \"abc\" can be indexed, ranged over and printed", ""},
	// Memory that would have to be allocated.
	{"y := make([]float64, len(x))\n_ = y", "2:6", "declare an array, such as var x [16]float32, or pass a slice", ""},
	{"x = append(x, x...)", "2:5", "write to elements of a slice that is long enough", ""},
	{"var y []int\ny = append(y[:0], 1)", "3:5", "append cannot be used", ""},
	{"m := map[string]int{\"a\": 1}\n_ = m", "2:6", "use slices, sorted or as a table", ""},
	{"var m map[int]int\nm[1]++", "2:5", "there are no maps", ""},
	{"delete(map[int]int{}, 1)", "2:1", "delete cannot be used in a kernel", ""},
	{"for k := range map[int]int{} {\n_ = k\n}", "2:1", "there are no maps", ""},
	{"var s struct{ c chan int }\n_ = s", "2:5", "which holds chan int", ""},
	{"close(make(chan int))", "2:1", "close cannot be used in a kernel", ""},
	{"var c chan<- float64\n_ = c", "2:5", "ordered by barriers and atomics", ""},
	{"for range (chan int)(nil) {\n}", "2:1", "there are no channels", ""},
	{"<-(chan int)(nil)", "2:1", "cannot", ""},
	// Interfaces.
	{"var s interface{ m() int } = T{}\n_ = s", "2:5", "write a generic function, or one for each type", ""},
	{"var e any\nn := e.(int)\n_ = n", "2:5", "there are no interfaces", ""},
	{"use(3)", "10:10", "there are no interfaces", "func use(v any) {}"},
	{"var list []any\n_ = list", "2:5", "there are no interfaces", ""},
	{"y := [2]error{}\n_ = y", "2:6", "there are no interfaces", ""},
	{"var t struct{ e error }\n_ = t", "2:5", "which holds error", ""},
	// Functions as values.
	{"var g func()\n_ = g", "2:5", "functions can be called", ""},
	{"var fs [2]func()\n_ = fs", "2:5", "which holds func()", ""},
	{"s := struct{ g func() }{f2}\ns.g()", "2:6", "functions can be called", ""},
	{"g := f2\nif x[0] > 1 {\ng = func() {}\n}\ng()", "2:1", "keeps its first value", ""},
	{"g := pick(true)\ng()", "2:6", "only if its one return stands at its end", "func pick(b bool) func() { if b { return f2 }; return func() {} }"},
	{"p := &f2\n_ = p", "2:7", "cannot take address", ""},
	{"swap := func(a *func()) {}\n_ = swap", "2:14", "functions can be called", ""},
	{"for range 3 {\ndefer f2()\n}", "3:1", "write what is to be done before each return", ""},
	{"go func() {}()", "2:1", "its threads run in parallel already", ""},
	// Recursion.
	{"x[0] = even(3)", "10:6", "even calls itself", "func even(n int) int { if n == 0 { return 1 }; return odd(n - 1) }\nfunc odd(n int) int { if n == 0 { return 0 }; return even(n - 1) }"},
	{"var t T2\nt.down(3)", "12:13", "T2.down calls itself", "type T2 struct{}\nfunc (t T2) down(n int) { if n > 0 { t.down(n - 1) } }"},
	{"var rec func(int)\nrec = func(n int) { rec(n - 1) }", "2:5", "functions can be called", ""},
	{"gen(x[0])", "10:6", "gen[int] calls itself", "func gen[N ~int](n N) { gen(n - 1) }"},
	{"g := self(1)\ng()", "11:34", "self calls itself", "func self(n int) func() { return self(n) }"},
	// Printing.
	{"fmt.Printf(\"%v\", x)", "2:18", "print its numbers", ""},
	{"fmt.Printf(\"%d %s\\n\", 1, x[0])", "2:26", "%s of a value of type int cannot be printed", ""},
	{"fmt.Printf(\"%d\", 1.5)", "2:18", "%d of a value of type float64 cannot be printed", ""},
	{"fmt.Printf(\"%f\", x[0])", "2:18", "%f of a value of type int cannot be printed", ""},
	{"fmt.Printf(\"100%\")", "2:12", "the format ends in the middle of a verb", ""},
	{"fmt.Printf(\"%5\", 1)", "2:12", "the format ends in the middle of a verb", ""},
	{"const format = \"%T\"\nfmt.Printf(format, x[0])", "3:20", "%T of a value of type int cannot be printed", ""},
	{"fmt.Sprintf(\"%d\", 1)", "2:5", "undefined: fmt.Sprintf", ""},
	{"println(T{})", "2:9", "a value of type T cannot be printed", ""},
	{"print(x)", "2:7", "a value of type []int cannot be printed", ""},
	{"var list []any\nfmt.Printf(\"%d\", list...)", "2:5", "there are no interfaces", ""},
	// Addresses that do not live long enough.
	{"_ = leak2()[0]", "10:36", "the address of a is returned", "func leak2() []int { var a [3]int; return a[:] }"},
	{"_ = leak3().p", "11:26", "the address of v is returned", "type P struct{ p *int }\nfunc leak3() P { v := 1; return P{&v} }"},
	{"_ = leak4()", "10:21", "is returned, but its memory is given up", "func leak4() *int { return new(int) }"},
	{"_ = leak5()", "10:22", "is returned, but its memory is given up", "func leak5() []int { return []int{1, 2} }"},
	{"_ = leak6()", "10:38", "the address of v is returned", "func leak6() *int { v := 3; p := &v; return p }"},
	{"_ = leak7()", "10:57", "the address of v is returned", "func leak7() *int { f := func() *int { v := 1; q := &v; return q }; return f() }"},
	{"var head *L\nfor i := range 3 {\nhead = &L{head, i}\n}\nx[0] = head.v", "4:1", "this keeps the address of a variable of which each iteration of a loop has its own", "type L struct { next *L; v int }"},
	{"var s []int\nfor i := range 3 {\na := [2]int{i, i}\ns = a[:]\n}\nx[0] = s[0]", "5:1", "take an element of an array that is declared before the loop", ""},
	{"var p *int\nfor i := 0; i < 3; i++ {\np = &i\n}\nx[0] = *p", "4:1", "for longer than the iteration", ""},
	{"var l L\nfor i := range 3 {\nm := L{v: i}\np := &l\np.next = &m\n}", "6:1", "for longer than the iteration", "type L struct { next *L; v int }"},
	{"keep(nil)", "11:30", "this stores the address of a local variable in memory that lives longer", "type L struct { next *L; v int }\nfunc keep(l []L) { m := L{}; l[0].next = &m }"},
	{"var p *int\nfor i := range 3 {\nn := i\nput(&p, &n)\n}\nx[0] = *p", "5:1", "for longer than the iteration", "func put(p **int, x *int) { *p = x }"},
	{"var l L\nfor i := range 3 {\nm := L{v: i}\nvia(&l, &m)\n}\nx[0] = l.next.v", "5:1", "for longer than the iteration", "type L struct { next *L; v int }\nfunc via(l, m *L) { m.push(l) }\nfunc (m *L) push(l *L) { l.next = m }"},
	{"var p *int\nput := func(p **int, x *int) { *p = x }\nfor i := range 3 {\nn := i\nput(&p, &n)\n}\nx[0] = *p", "3:32", "for longer than the iteration", ""},
	{"hold(nil)", "12:29", "this stores the address of a local variable in memory that lives longer", "type L struct { next *L; v int }\nfunc via(l, m *L) { l.next = m }\nfunc hold(l *L) { m := L{}; via(l, &m) }"},
	// Panics.
	{"panic(T{})", "2:7", "a panic in a kernel takes a constant", ""},
	{"var e error\npanic(e)", "2:5", "there are no interfaces", ""},
	{"defer func() { recover() }()", "2:1", "defer cannot be used", ""},
	// Package gpu.
	{"gpu.BlockDim = gpu.GridDim", "2:1", "a kernel cannot assign this", ""},
	{"p := &gpu.ThreadIdx\n_ = p", "2:7", "the address of this cannot be taken", ""},
	{"g := gpu.SyncThreads\ng()", "2:6", "gpu.SyncThreads can be called, and no more", ""},
	{"_ = math.Sqrt", "2:5", "math.Sqrt can be called, and no more", ""},
	{"gpu.NoSuch()", "2:5", "undefined: gpu.NoSuch", ""},
	{"gpu.AtomicAdd(x[0], 1)", "2:15", "does not match *T", ""},
	{"var h int8\ngpu.AtomicAdd(&h, 1)", "3:1", "int8 does not satisfy gpu.Number", ""},
	{"gpu.AtomicAdd(&x[0], 1, gpu.AtomicOption(x[1]))", "2:25", "the options of an atomic operation are constants", ""},
	{"gpu.AtomicAdd(&x[0], 1, 7)", "2:25", "7 is no option of an atomic operation", ""},
	{"var h gpu.Float16\ngpu.AtomicMax(&h, 1)", "3:15", "of numbers of 16 bits there is AtomicAdd alone: use float32", ""},
	{"var h gpu.Float16\ngpu.AtomicAdd(&h, 1, gpu.SystemScope)", "3:1", "the scope of an atomic operation on numbers of 16 bits is the device", ""},
	{"n := len(x)\ngpu.WaitCopies(n)", "3:16", "how many batches of copies may be under way is a constant", ""},
	{"_ = gpu.Tile(x[0])", "2:14", "the size of a tile must be a constant", ""},
	{"_ = gpu.Tile(12)", "2:14", "a tile has 1, 2, 4, 8, 16 or 32 threads, not 12", ""},
	{"_ = gpu.Shared[map[int]int]()", "2:5", "there are no maps", ""},
	{"_ = gpu.Shared[[]string]()", "2:5", "strings are constants there", ""},
	{"_ = gpu.Sqrt(2)", "2:5", "int does not satisfy", ""},
	// Package variables, constants, types.
	{"_ = table", "2:5", "whose memory nobody allocates", "var table []int"},
	{"x[0] = start", "11:13", "takes a constant value", "func one() int { return 1 }\nvar start = one()"},
	{"_ = words", "2:5", "strings are constants there", "var words [2]string"},
	{"p := &weights\np[0] = 1", "2:7", "weights is in constant memory: its address cannot be taken", ""},
	{"weights[1]++", "2:1", "constant memory", ""},
	{"for weights[0] = range 3 {\n}", "2:5", "constant memory", ""},
	{"a, b := 1, 2\na, weights[0] = b, a", "3:4", "constant memory", ""},
	{"w := weights[:]\n_ = w", "2:6", "constant memory", ""},
	// What the checker says.
	{"x[0] = x", "2:8", "cannot use x", ""},
	{"x.y = 1", "2:3", "x.y undefined", ""},
	{"for i := range 3.5 {\n_ = i\n}", "2:16", "cannot range over 3.5", ""},
	{"x[0], x[1] = 1", "2:14", "assignment mismatch", ""},
	{"T{}.q()", "2:5", "undefined", ""},
	{"f2(1)", "2:4", "too many arguments", ""},
	{"var a [2]int\na[2] = 1", "3:3", "out of bounds", ""},
	{"const c uint8 = 256", "2:17", "overflows", ""},
	{"continue", "2:1", "continue not in for statement", ""},
	{"goto nowhere", "2:6", "label nowhere not declared", ""},
	{"fallthrough", "2:1", "fallthrough", ""},
	{"x := 1\nx := 2\n_ = x", "3:3", "no new variables", ""},
	{"if x[0] = 1; true {", "4:6", "syntax error", ""},
	{"func() {", "4:6", "syntax error", ""},
	{"import \"os\"", "2:1", "syntax error", ""},
	{"unsafe.Pointer(&x[0])", "2:1", "undefined: unsafe", ""},
	{"x[0] = os.Getpid()", "2:8", "undefined: os", ""},
	{"for range f4 {\ngoto out\n}\nout:", "3:1", "goto cannot leave a loop over a function", "func f4(yield func() bool) { yield() }"},
	{"switch x := any(x).(type) {\ncase int:\n_ = x\n}", "2:1", "a type cannot be asked for", ""},
	{"y := [5000]int{1}\n_ = y", "2:6", "a literal of 5000 elements is too long for a kernel", ""},
	{"var p uintptr = 3\n_ = p", "2:5", "use a slice or a typed pointer", ""},
	// What learners write, and what to write instead.
	{"x[threadIdx.x] = 1", "2:3", "undefined: threadIdx; in Go it is gpu.ThreadIdx", ""},
	{"__syncthreads()", "2:1", "in Go it is gpu.SyncThreads", ""},
	{"atomicAdd(&x[0], 1)", "2:1", "in Go it is gpu.AtomicAdd", ""},
	{"var f float32 = sqrtf(2)\n_ = f", "2:17", "in Go it is gpu.Sqrt", ""},
	{"x[gpu.ThreadIdx] = 1", "2:3", "must be integer; take its X, Y or Z", ""},
	{"gpu.SyncThread()", "2:5", "(did you mean SyncThreads?)", ""},
	{"clmp := 1\n_ = clamp", "3:5", "undefined: clamp", ""},
	{"helpr(x)", "2:1", "(did you mean helper?)", "func helper(x []int) {}"},
	{"var s gpu.Shared[[256]int]\n_ = s", "2:7", "it is a function: tile := gpu.Shared[[256]float32]()", ""},
	{"i := 2\nx[0] = 2.5 * i", "3:8", "convert the integer beside it, as in float32(i)", ""},
	{"i := gpu.ThreadIdx\nx[i] = 1", "3:3", "take its X, Y or Z", ""},
	{"x[gpu.ThreadIdx.x] = 1", "2:17", "its fields are X, Y and Z", ""},
	{"for i := range gpu.BlockDim {\n_ = i\n}", "2:16", "take its X, Y or Z", ""},
	{"var s [gpu.BlockDim.X]int\n_ = s", "2:8", "gpu.DynamicShared has shared memory of a size that the launch says", ""},
	{"n := 3\ns := gpu.Shared[[n]int]()\n_ = s", "3:18", "the size of an array is a constant", ""},
	{"s := gpu.Shared[int](256)\n_ = s", "2:22", "the size is part of the type: gpu.Shared[[256]int]()", ""},
	{"s := gpu.Shared[[]int]()\n_ = s", "2:6", "a slice has no memory of its own that threads could share", ""},
	{"gpu.SyncThreads", "2:1", "call it: gpu.SyncThreads()", ""},
	{"gpu.AtomicAdd(x[0], 1)", "2:15", "it takes an address: &x[0]", ""},
	{"x[0] = gpu.Shfl(x[0], 1)", "2:24", "the first is which lanes take part, such as gpu.FullMask", ""},
	{"var f float32\nf = math.Sqrt(2)", "3:5", "gpu.Sqrt takes and gives float32 as well", ""},
	{"x[0] = rand.Intn(3)", "2:8", "write a generator whose state each thread has", ""},
	{"sort.Ints(x)", "2:1", "there is slices.Sort", ""},
	{"strings.Fields(x)", "2:1", "a kernel can use bits, cmp, cmplx, fmt, gpu, math and slices", ""},
	{"var f float32 = x[0]\n_ = f", "2:17", "convert it: float32(...)", ""},
	{"i := int32(x[0])\nx[gpu.BlockDim.X*gpu.BlockIdx.X+i] = 1", "3:3", "indices and sizes of package gpu are of type int: convert the other one", ""},
	{"i := gpu.BlockIdx*gpu.BlockDim\n_ = i", "2:6", "take its X, Y or Z", ""},
	{"g := gpu.Tile(8)\ng.Sync()", "3:3", "wait for each other by gpu.SyncWarp(g.Mask)", ""},
	{"g := gpu.Tile(8)\nx[0] = g.Size()", "3:8", "it is a field: g.Size", ""},
	{"s := gpu.Shared[[]float32]()\ns[0] = 1", "3:1", "gpu.Shared[[256]float32](), or gpu.DynamicShared[float32](n)", ""},
	{"s := gpu.Shared[[256]float32]\ns[0] = 1", "3:1", "call it", ""},
	{"var f float64\ngpu.AtomicCAS(&f, 0, 1)", "3:1", "keep the bits: math.Float64bits gives those of a number, for an uint64", ""},
	{"var b bool\ngpu.AtomicExch(&b, true)", "3:1", "use an int32 or uint32", ""},
	{"atomic.AddInt64(nil, 1)", "2:1", "gpu.AtomicAdd and its like change what threads share", ""},
	{"var mu sync.Mutex\nmu.Lock()", "2:8", "gpu.SyncThreads; a lock is made of gpu.AtomicCAS", ""},
	{"t := time.Now()\n_ = t", "2:6", "gpu.Clock64", ""},
	{"fails()", "10:14", "there are no interfaces, and so no errors", "func fails() error { return nil }"},
	{"return errors.New(\"empty\")", "2:8", "a kernel writes what went wrong to a slice", ""},
	{"var fib func(int) int\nfib = func(n int) int { return fib(n-1) }", "2:5", "f := func... keeps its first value, and cannot call itself", ""},
	{"while x[0] < 1 {\n}", "2:7", "Go writes for: for condition { ... }", ""},
	{"y := x[0]++", "2:10", "x++ and x-- are statements, and have no value", ""},
	{"x[0] = x[1] > 0 ? 1 : 0", "2:17", "Go has no conditional expression", ""},
	{"for i := 0; i < 3; ++i {\n}", "2:20", "Go writes i++ and i--, as statements", ""},
	{"__shared__ float s[256]", "2:12", "in Go it is s := gpu.Shared[[256]float32]()", ""},
	{"int i = 3", "2:5", "in Go it is x := value, or var x int32", ""},
	{"for (i := 0; i < 3; i++) {\n}", "2:8", "in Go the parts of a for are in no parentheses", ""},
	{"y := slices.Clone(x)\n_ = y", "2:13", "write to a slice that is passed in", ""},
	{"slices.SortFunc(x, nil)", "2:8", "there is slices.SortStableFunc", ""},
	{"fmt.Sprint(x[0])", "2:5", "it prints with fmt.Printf and fmt.Println, and panics with a constant", ""},
	{"fmt.Println(x)", "2:13", "a value of type []int cannot be printed in a kernel: print its numbers", ""},
}

// Sources without a kernel are told why there is none.
func TestNoKernel(t *testing.T) {
	for source, want := range map[string]string{
		"func k(x []int) int { return x[0] }":              "k has results: a kernel writes them to a slice",
		"func k(x ...int) {}":                              "k is variadic: a kernel takes a slice",
		"func k(f func(int) int, x []int) { x[0] = f(1) }": "k takes a function: write a kernel that calls it with one",
		"func k[T gpu.Number](x []T) {}":                   "k is generic: say which instance is wanted, such as k[float32]",
		"type t int":                                       "there is no kernel: a function without results",
	} {
		if _, err := gokernel.Compile(source, gokernel.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is refused with %v, want %s", source, err, want)
		}
	}
}

func refuse(body, more string) error {
	text := "func k(x []int) {\n" + body + "\n}\nfunc f2() {}\nfunc f3(yield func() bool) {}\n//gpu:constant\nvar weights [3]int\n" + named + more
	_, err := gokernel.Compile(text, gokernel.Options{Name: "In[5]"})
	return err
}

// messages are all that the refused sources are told.
func messages(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, c := range refused {
		fmt.Fprintln(&all, refuse(c.body, c.more))
	}
	return all.String()
}

// What cannot be on a device is refused at its place, with words that help.
func TestRefused(t *testing.T) {
	for _, c := range refused {
		err := refuse(c.body, c.more)
		var list gokernel.Errors
		if !errors.As(err, &list) {
			t.Errorf("%s\nis not refused: %v", c.body, err)
			continue
		}
		found := false
		for _, e := range list {
			at := fmt.Sprintf("%d:%d", e.Pos.Line, e.Pos.Column)
			found = found || strings.Contains(e.Message, c.message) && at == c.at
		}
		if !found {
			t.Errorf("%s\nis refused with\n%v, want %s: %s", c.body, err, c.at, c.message)
		}
	}
}
