package emulate_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gocuda/cudaapi/gokernel/emulate"
	"gocuda/cudaapi/gokernel/ir"
)

// slice lies in memory as a kernel's does.
type slice struct {
	at       unsafe.Pointer
	len, cap int
}

// run runs the last function of a program, whose parameter is x, with so many threads in each
// of so many blocks.
func run(t *testing.T, text string, x []int64, blocks, threads int, change func(*emulate.Launch)) error {
	t.Helper()
	p, _, err := ir.Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(p); err != nil {
		t.Fatal(err)
	}
	s := slice{unsafe.Pointer(unsafe.SliceData(x)), len(x), cap(x)}
	l := emulate.Launch{Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, Params: []unsafe.Pointer{unsafe.Pointer(&s)}}
	if change != nil {
		change(&l)
	}
	return emulate.New(p).Run(p.Funcs[len(p.Funcs)-1], l)
}

const head = "func kernel k \"k\" (x []int64) () {\n"

// Statements, and what x is after them: it was 7, 2, 0, 0.
func TestStatements(t *testing.T) {
	for body, want := range map[string][]int64{
		"x[2] = x[0] + x[1]":                                              {7, 2, 9, 0},
		"x[2] = x[0] - x[1]":                                              {7, 2, 5, 0},
		"x[2] = x[0] * x[1]":                                              {7, 2, 14, 0},
		"check nonzero(x[1])\nx[2] = x[0] / x[1]":                         {7, 2, 3, 0},
		"check nonzero(x[1])\nx[2] = -(x[0]) % x[1]":                      {7, 2, -1, 0},
		"x[2] = x[0] & x[1]":                                              {7, 2, 2, 0},
		"x[2] = x[0] &^ x[1]":                                             {7, 2, 5, 0},
		"x[2] = x[0] ^ x[1]":                                              {7, 2, 5, 0},
		"x[2] = x[0] << uint64(64)":                                       {7, 2, 0, 0},
		"x[2] = ^(x[0]) >> uint64(70)":                                    {7, 2, -1, 0},
		"x[2] = int64(int8(x[0] + int64(250)))":                           {7, 2, 1, 0},
		"x[2] = int64(uint8(-(x[0])))":                                    {7, 2, 249, 0},
		"x[2] = int64(float32(x[0]) / float32(2))":                        {7, 2, 3, 0},
		"if x[0] > x[1] {\nx[2] = int64(1)\n} else {\nx[2] = int64(2)\n}": {7, 2, 1, 0},
		"if (x[0] < x[1]) || (x[0] == int64(7)) {\nx[2] = int64(1)\n}":    {7, 2, 1, 0},
		"var i int = 0\nfor l i < 10 {\nif i == 3 {\ncontinue l\n}\nif i == 6 {\nbreak l\n}\nx[2] = x[2] + int64(i)\n} post {\ni = i + 1\n}":                {7, 2, 12, 0},
		"block b {\nx[2] = int64(1)\nif x[0] > int64(0) {\nbreak b\n}\nx[3] = int64(1)\n}":                                                                  {7, 2, 1, 0},
		"var i int = 0\nlabel again\ni = i + 1\nif i < 5 {\ngoto again\n}\nx[2] = int64(i)":                                                                 {7, 2, 5, 0},
		"lit f \"f\" (n int64) (int64) {\ncheck index(3, len(x))\nx[3] = n\nreturn n * int64(2)\n}\nvar r int64\ncall r = lit f(int64(4))\nx[2] = r":        {7, 2, 8, 4},
		"var s T_s = T_s{int64(3), [2]int32{int32(4), int32(5)}}\nvar p *T_s = &s\ncheck nonnil(p)\n(*p).b[1] = int32(9)\nx[2] = s.a\nx[3] = int64(s.b[1])": {7, 2, 3, 9},
		"check slice(1, 3, 3, cap(x))\nvar y []int64 = x[1:3:3]\ncheck index(1, len(y))\ny[1] = int64(len(y) + cap(y))":                                     {7, 2, 4, 0},
		"var n int64\ncall n = sum(x)\nx[2] = n":              {7, 2, 9, 0},
		"return\nx[2] = int64(1)":                             {7, 2, 0, 0},
		"x[2] = table[1]\nx[3] = counter\ncounter = int64(5)": {7, 2, 20, 3},
	} {
		x := []int64{7, 2, 0, 0}
		checks := ""
		for _, i := range []string{"0", "1", "2", "3"} {
			checks += "check index(" + i + ", len(x))\n"
		}
		text := "type T_s \"main\" \"s\" struct{a int64; b [2]int32}\nglobal counter int64 = int64(3)\nconstant table [2]int64 = [2]int64{int64(10), int64(20)}\n" +
			"func called sum \"sum\" (x []int64) (int64) {\nvar t int64 = int64(0)\nvar n int = len(x)\nvar i int = 0\nfor l i < n {\nt = t + x[i]\n} post {\ni = i + 1\n}\nreturn t\n}\n" +
			head + checks + strings.ReplaceAll(body, "label again\n", "label again\n"+checks) + "\n}\n"
		if err := run(t, text, x, 1, 1, nil); err != nil || !slices.Equal(x, want) {
			t.Errorf("%s\nmakes %d, %v; want %d", body, x, err, want)
		}
	}
}

// Each operation on memory, with what was there before and after: x[0] was 6, and x[1] takes
// what is given.
func TestMemory(t *testing.T) {
	for op, want := range map[string][]int64{
		"load.acquire.device(p)": {6, 6}, "add.relaxed.block(p, int64(3))": {9, 6}, "sub.relaxed.system(p, int64(8))": {-2, 6},
		"min.relaxed.device(p, int64(-1))": {-1, 6}, "max.relaxed.device(p, int64(5))": {6, 6}, "and.relaxed.device(p, int64(3))": {2, 6},
		"or.relaxed.device(p, int64(1))": {7, 6}, "xor.relaxed.device(p, int64(2))": {4, 6}, "exchange.acq_rel.device(p, int64(8))": {8, 6},
		"compare_exchange.relaxed.device(p, int64(6), int64(1))": {1, 6}, "compare_exchange.relaxed.device(p, int64(5), int64(1))": {6, 6},
		"increment.relaxed.device(p, int64(6))": {0, 6}, "increment.relaxed.device(p, int64(9))": {7, 6},
		"decrement.relaxed.device(p, int64(9))": {5, 6}, "decrement.relaxed.device(p, int64(4))": {4, 6},
	} {
		x := []int64{6, 0}
		text := head + "check index(0, len(x))\nvar p *int64 = &x[0]\nvar old int64\ncheck nonnil(p)\ndo old = " + op + "\ncheck index(1, len(x))\nx[1] = old\n}\n"
		if err := run(t, text, x, 1, 1, nil); err != nil || !slices.Equal(x, want) {
			t.Errorf("%s makes %d, %v; want %d", op, x, err, want)
		}
	}
	x := []int64{6}
	if err := run(t, head+"check index(0, len(x))\ndo store.release.device(&x[0], int64(4))\n}\n", x, 1, 1, nil); err != nil || x[0] != 4 {
		t.Error(x, err)
	}
}

// Checks that fail end the launch, and say why; those that hold are not made.
func TestChecks(t *testing.T) {
	for check, want := range map[string]string{
		"index(4, len(x))":            "index out of range [4] with length 2",
		"index(-1, len(x))":           "index out of range [-1] with length 2",
		"nonzero(n)":                  "integer divide by zero",
		"nonnil(zero(*int))":          "nil pointer dereference",
		"nonminus(-3)":                "negative shift amount -3",
		"slice(0, 3, 3, cap(x))":      "slice bounds out of range [0:3:3] with capacity 2",
		"fits(len(x), 4)":             "cannot convert slice with length 2 to array or pointer to array with length 4",
		"index(1, len(x))":            "",
		"slice(1, 2, 2, cap(x)) high": "",
	} {
		err := run(t, head+"var n int = 0\ncheck "+check+"\n}\n", []int64{1, 2}, 1, 1, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %s", check, err, want)
		}
	}
	var p *emulate.Panic
	err := run(t, head+"if @threadIdx.x == 2 {\npanic \"oh\" at 3:4\n}\n}\n", nil, 2, 4, nil)
	if !errors.As(err, &p) || p.Thread != [3]int{2, 0, 0} || p.Block != [3]int{} || p.Text != "panic: oh" || p.Func != "k" {
		t.Errorf("%v %+v", err, p)
	}
}

const reversed = head + `	shared s [4]int64
	var i int = @threadIdx.x
	check index(i, 4)
	check index(i, len(x))
	s[i] = x[i]
	BARRIER
	check index(3 - i, 4)
	x[i] = s[3 - i]
}
`

// Threads meet at a barrier; without it they race.
func TestBarrier(t *testing.T) {
	x := []int64{1, 2, 3, 4}
	races := func(l *emulate.Launch) { l.Races = true }
	if err := run(t, strings.Replace(reversed, "BARRIER", "do sync_threads()", 1), x, 1, 4, races); err != nil || !slices.Equal(x, []int64{4, 3, 2, 1}) {
		t.Error(x, err)
	}
	var race *emulate.Race
	if err := run(t, strings.Replace(reversed, "\tBARRIER\n", "", 1), x, 1, 4, races); !errors.As(err, &race) {
		t.Error(err)
	}
	var apart *emulate.Divergence
	err := run(t, head+"if @threadIdx.x < 2 {\ndo sync_threads() at 3:1\n} else {\ndo sync_threads() at 5:1\n}\n}\n", nil, 1, 4, nil)
	if !errors.As(err, &apart) {
		t.Error(err)
	}
}

// A fence orders what one thread writes and another reads after a flag.
func TestFence(t *testing.T) {
	const text = head + `	check index(0, len(x))
	check index(1, len(x))
	if @threadIdx.x == 0 {
		x[0] = int64(5)
		do store.ORDER.device(&x[1], int64(1))
		return
	}
	var seen int64 = int64(0)
	for l seen == int64(0) {
		do seen = load.acquire.device(&x[1])
	}
	x[0] = x[0] + int64(1)
}
`
	for order, ordered := range map[string]bool{"release": true, "acq_rel": true, "relaxed": false} {
		var race *emulate.Race
		err := run(t, strings.Replace(text, "ORDER", order, 1), make([]int64, 2), 1, 2, func(l *emulate.Launch) { l.Races = true })
		if errors.As(err, &race) == ordered || ordered && err != nil {
			t.Errorf("%s: %v", order, err)
		}
	}
}

func TestCounts(t *testing.T) {
	x := make([]int64, 8)
	var c emulate.Counts
	err := run(t, strings.Replace(reversed, "BARRIER", "do sync_threads()\n\tdo add.relaxed.device(&x[i], int64(1))", 1), x, 1, 4, func(l *emulate.Launch) {
		c.Arguments = make([]emulate.Accesses, 1)
		l.Counts, l.Areas = &c, []emulate.Area{{Start: unsafe.Pointer(unsafe.SliceData(x)), Elements: len(x), Size: 8}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := (emulate.Accesses{Reads: 4, Writes: 4, Atomics: 4}); c.Arguments[0] != want || c.Shared != (emulate.Accesses{Reads: 4, Writes: 4}) || c.Barriers != 1 || c.Threads != 4 || c.Most != 5 {
		t.Errorf("%+v", c)
	}
}

func TestPrintsAndStops(t *testing.T) {
	var out bytes.Buffer
	if err := run(t, head+"printf \"%d %g\\n\"(@threadIdx.x, float64(1.5))\n}\n", nil, 1, 2, func(l *emulate.Launch) { l.Out = &out }); err != nil || out.String() != "0 1.5\n1 1.5\n" {
		t.Errorf("%q %v", out.String(), err)
	}
	stop := make(chan struct{})
	close(stop)
	if err := run(t, head+"for l {\n}\n}\n", nil, 1, 1, func(l *emulate.Launch) { l.Stop = stop }); err != emulate.ErrStopped {
		t.Error(err)
	}
}
