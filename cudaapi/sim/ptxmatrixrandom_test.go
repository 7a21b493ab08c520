package sim_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
)

// This is a reference of products of matrices: layouts as the tables of the PTX manual have them,
// arithmetic by float64 and as MMA-Sim describes it for Hopper.

// elementFormat is one of elements, with so many bits, of which fraction and exponent.
type elementFormat struct {
	bits, f, e int
	signed     bool // of integers, which have no exponent
}

var formats = map[string]elementFormat{
	"f16": {16, 10, 5, true}, "bf16": {16, 7, 8, true}, "tf32": {32, 23, 8, true}, "f32": {32, 23, 8, true}, "f64": {64, 52, 11, true},
	"e4m3": {8, 3, 4, true}, "e5m2": {8, 2, 5, true},
	"s8": {8, 0, 0, true}, "u8": {8, 0, 0, false}, "s4": {4, 0, 0, true}, "u4": {4, 0, 0, false}, "b1": {1, 0, 0, false}, "s32": {32, 0, 0, true},
}

// number is the value of bits.
func number(y string, v uint64) float64 {
	f := formats[y]
	switch {
	case y == "f64":
		return math.Float64frombits(v)
	case f.e == 0 && f.signed:
		return float64(int64(v<<(64-f.bits)) >> (64 - f.bits))
	case f.e == 0:
		return float64(v)
	case y == "tf32":
		return number("f32", v&^0x1fff)
	}
	sign, e, m := 1.0, int(v>>f.f)&(1<<f.e-1), float64(v&(1<<f.f-1))
	if v>>(f.f+f.e)&1 != 0 {
		sign = -1
	}
	bias := 1<<(f.e-1) - 1
	switch {
	case y == "e4m3" && v&0x7f == 0x7f, y != "e4m3" && e == 1<<f.e-1 && m != 0:
		return math.NaN()
	case y != "e4m3" && e == 1<<f.e-1:
		return sign * math.Inf(1)
	case e == 0:
		return sign * math.Ldexp(m, 1-bias-f.f)
	}
	return sign * math.Ldexp(m+float64(int(1)<<f.f), e-bias-f.f)
}

// split is a number as a tensor core takes it: from 1 to 2, or less for one below the least exponent.
func split(v float64, least int) (float64, int) {
	if v == 0 {
		return 0, -126
	}
	m, e := math.Frexp(v)
	m, e = 2*m, e-1
	if e < least {
		m, e = math.Ldexp(m, e-least), least
	}
	return m, e
}

var leastExponent = map[string]int{"f16": -14, "bf16": -126, "tf32": -126, "f32": -126, "e4m3": -14, "e5m2": -14}

// dotAdd is a sum of products at once, as a number of type d.
func dotAdd(a, b []float64, y, z string, c float64, d string) float64 {
	all := c
	for k := range a {
		all += a[k] * b[k]
	}
	if all-all != 0 {
		return all
	}
	type term struct {
		m float64
		e int
	}
	m, e := split(c, leastExponent[d])
	terms, most := []term{{m, e}}, e
	for k := range a {
		ma, ea := split(a[k], leastExponent[y])
		mb, eb := split(b[k], leastExponent[z])
		terms, most = append(terms, term{ma * mb, ea + eb}), max(most, ea+eb)
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Trunc(math.Ldexp(t.m, 25+t.e-most))
	}
	if d == "f16" {
		return number("f16", nearestHalf(math.Ldexp(sum, most-25)))
	}
	m, e = split(sum, -1000)
	e += most - 25
	if sum == 0 {
		return 0
	}
	cut := max(e, -126) - 23
	return float64(float32(math.Ldexp(math.Trunc(math.Ldexp(m, e-cut)), cut)))
}

// nearestHalf is the half that is nearest to a number, ties to even.
func nearestHalf(v float64) uint64 {
	if v != v {
		return 0x7fff
	}
	sign := math.Float64bits(v) >> 63 << 15
	v = math.Abs(v)
	switch {
	case v >= 65520:
		return sign | 0x7c00
	case v < 0x1p-14:
		return sign | uint64(math.RoundToEven(v*0x1p24))
	}
	_, e := math.Frexp(v) // v = m * 2^e, m from 1/2
	return sign | uint64(e+13)<<10 + uint64(math.RoundToEven(math.Ldexp(v, 11-e)))
}

// matrixForm is a product: d, a, b and c are types.
type matrixForm struct {
	op         string
	m, n, k    int
	d, a, b, c string
}

func (f matrixForm) mod(s string) bool { return slices.Contains(strings.Split(f.op, "."), s) }

// toward is how sums are rounded, as exact has it.
func (f matrixForm) toward() int {
	return map[bool]int{f.mod("rm"): -1, f.mod("rp"): 1, f.mod("rz"): 2}[true]
}

// product is the matrix d, of bits, of others.
func (f matrixForm) product(a, b, c []uint64) []uint64 {
	d := make([]uint64, f.m*f.n)
	x, y := make([]float64, f.k), make([]float64, f.k)
	for i := range f.m {
		for j := range f.n {
			at, sum := i*f.n+j, 0
			for k := range f.k {
				x[k], y[k] = number(f.a, a[i*f.k+k]), number(f.b, b[k*f.n+j])
				switch f.a {
				case "s8", "u8", "s4", "u4":
					sum += int(x[k]) * int(y[k])
				case "b1":
					v := a[i*f.k+k] & b[k*f.n+j]
					if f.mod("xor") {
						v = a[i*f.k+k] ^ b[k*f.n+j]
					}
					sum += int(v)
				}
			}
			switch f.a {
			case "s8", "u8", "s4", "u4", "b1":
				sum += int(int32(c[at]))
				if f.mod("satfinite") {
					sum = max(math.MinInt32, min(math.MaxInt32, sum))
				}
				d[at] = uint64(uint32(sum))
			case "f64":
				d[at] = c[at]
				for k := range f.k {
					d[at] = fma64(f.toward())([]uint64{of64(x[k]), of64(y[k]), d[at]})
				}
			default:
				d[at] = f.float(x, y, c[at])
			}
		}
	}
	return d
}

func (f matrixForm) float(x, y []float64, c uint64) uint64 {
	sum := "f32"
	if f.c == "f16" && f.d == "f16" {
		sum = "f16"
	}
	v := number(f.c, c)
	switch {
	case f.a == "e4m3" || f.a == "e5m2": // no tensor core of Hopper's has mma of these: two products of halves
		v = 0
		for part := range 2 {
			var p, q []float64
			for k := range x {
				if k%4/2 == part {
					p, q = append(p, x[k]), append(q, y[k])
				}
			}
			v = dotAdd(p, q, f.a, f.b, v, sum)
		}
		v += number(f.c, c)
	case f.a == "tf32" && strings.HasPrefix(f.op, "wmma"):
		v = dotAdd(x[4:], y[4:], f.a, f.b, dotAdd(x[:4], y[:4], f.a, f.b, v, sum), sum)
	default:
		v = dotAdd(x, y, f.a, f.b, v, sum)
	}
	if f.d == "f16" {
		return nearestHalf(v)
	}
	return of32(float32(v))
}

// mmaForms are all that compute capability 9.0 has, but m8n8k4 of halves.
var mmaForms = func() (list []matrixForm) {
	add := func(shapes, d, a, b, c, mods string) {
		for _, s := range strings.Fields(shapes) {
			f := matrixForm{d: d, a: a, b: b, c: c}
			fmt.Sscanf(s, "m%dn%dk%d", &f.m, &f.n, &f.k)
			sat, op, _ := strings.Cut(mods, "|")
			f.op = fmt.Sprintf("mma.sync.aligned.%s.row.col%s.%s.%s.%s.%s%s", s, sat, d, a, b, c, op)
			list = append(list, f)
		}
	}
	for _, y := range []string{"f16", "f32"} {
		add("m16n8k8 m16n8k16", y, "f16", "f16", y, "")
		for _, a := range []string{"e4m3", "e5m2"} {
			for _, b := range []string{"e4m3", "e5m2"} {
				add("m16n8k16 m16n8k32", y, a, b, y, "")
			}
		}
	}
	add("m16n8k8 m16n8k16", "f32", "bf16", "bf16", "f32", "")
	add("m16n8k4 m16n8k8", "f32", "tf32", "tf32", "f32", "")
	add("m8n8k4 m16n8k4 m16n8k8 m16n8k16", "f64", "f64", "f64", "f64", "")
	for _, sat := range []string{"", ".satfinite"} {
		for _, a := range "su" {
			for _, b := range "su" {
				add("m8n8k16 m16n8k16 m16n8k32", "s32", string(a)+"8", string(b)+"8", "s32", sat)
				add("m8n8k32 m16n8k32 m16n8k64", "s32", string(a)+"4", string(b)+"4", "s32", sat)
			}
		}
	}
	for _, op := range []string{"and", "xor"} {
		add("m8n8k128 m16n8k128 m16n8k256", "s32", "b1", "b1", "s32", "|."+op+".popc")
	}
	return list
}()

// mmaA is where element i of a lane's part of a is, row and column; mmaB and mmaC those of b and c.
func (f matrixForm) mmaA(lane, i int) (row, col int) {
	group, in := lane>>2, lane%4
	low := func(ok bool) int {
		if ok {
			return group
		}
		return group + 8
	}
	far := func(ok bool, by int) int {
		if ok {
			return 0
		}
		return by
	}
	switch class := fmt.Sprintf("m%dk%d.%d", f.m, f.k, formats[f.a].bits); class {
	case "m16k8.16":
		return low(i < 2), in*2 + i&1
	case "m16k16.16":
		return low(i < 2 || i >= 4 && i < 6), in*2 + i&1 + far(i < 4, 8)
	case "m16k4.32", "m16k4.64":
		return low(i == 0), in
	case "m16k8.32", "m16k8.64":
		return low(i == 0 || i == 2), in + far(i < 2, 4)
	case "m8k4.64":
		return group, in
	case "m16k16.64":
		return low(i%2 == 0), i/2*4 + in
	case "m8k16.8":
		return group, in*4 + i
	case "m16k16.8":
		return low(i < 4), in*4 + i&3
	case "m16k32.8":
		return low(i < 4 || i >= 8 && i < 12), in*4 + i&3 + far(i < 8, 16)
	case "m8k32.4":
		return group, in*8 + i
	case "m16k32.4":
		return low(i < 8), in*8 + i&7
	case "m16k64.4":
		return low(i < 8 || i >= 16 && i < 24), in*8 + i&7 + far(i < 16, 32)
	case "m8k128.1":
		return group, in*32 + i
	case "m16k128.1":
		return low(i < 32), in*32 + i&31
	case "m16k256.1":
		return low(i < 32 || i >= 64 && i < 96), in*32 + i&31 + far(i < 64, 128)
	default:
		panic(class)
	}
}

func (f matrixForm) mmaB(lane, i int) (row, col int) {
	group, in := lane>>2, lane%4
	switch class := fmt.Sprintf("k%d.%d", f.k, formats[f.a].bits); class {
	case "k8.16":
		return in*2 + i, group
	case "k16.16":
		if i >= 2 {
			return in*2 + i&1 + 8, group
		}
		return in*2 + i&1, group
	case "k4.32", "k4.64":
		return in, group
	case "k8.32", "k8.64", "k16.64":
		return in + 4*i, group
	case "k16.8":
		return in*4 + i, group
	case "k32.8":
		if i >= 4 {
			return in*4 + i&3 + 16, group
		}
		return in*4 + i&3, group
	case "k32.4":
		return in*8 + i, group
	case "k64.4":
		if i >= 8 {
			return in*8 + i&7 + 32, group
		}
		return in*8 + i&7, group
	case "k128.1":
		return in*32 + i, group
	case "k256.1":
		if i >= 32 {
			return in*32 + i&31 + 128, group
		}
		return in*32 + i&31, group
	default:
		panic(class)
	}
}

func (f matrixForm) mmaC(lane, i int) (row, col int) {
	if f.m == 8 {
		return lane >> 2, lane%4*2 + i
	}
	if i < 2 {
		return lane >> 2, lane%4*2 + i&1
	}
	return lane>>2 + 8, lane%4*2 + i&1
}

// randomElement is a number's bits: of one kind in a matrix small numbers, which add up exactly, of
// others such as programs have, or any.
func randomElement(rng *rand.Rand, y string, kind int) uint64 {
	f := formats[y]
	if f.e == 0 {
		if y == "s32" && kind == 3 { // near the ends
			return uint64(uint32(math.MaxInt32 - rng.Int32N(1<<18) + rng.Int32N(2)<<18))
		}
		return rng.Uint64() >> (64 - f.bits)
	}
	v := float64(rng.IntN(9) - 4)
	switch kind {
	case 1:
		v = rng.NormFloat64()
	case 2:
		v = math.Ldexp(rng.NormFloat64(), rng.IntN(24)-12)
	case 3:
		if v := rng.Uint64() >> (64 - f.bits); rng.IntN(8) == 0 || number(y, v)-number(y, v) == 0 {
			return v // all but most of those that are no numbers
		}
		return 0
	case 4:
		v = math.Ldexp(1+rng.Float64(), -rng.IntN(30)) * float64(1-2*rng.IntN(2))
	}
	switch y {
	case "f16":
		return nearestHalf(v)
	case "bf16":
		return uint64(math.Float32bits(float32(v)) >> 16)
	case "e5m2":
		return nearestHalf(v) >> 8
	case "e4m3":
		for n := range uint64(128) {
			if w := number(y, n); w == w && w <= math.Abs(v) {
				if m := number(y, n+1); m != m || m > math.Abs(v) {
					return n | math.Float64bits(v)>>63<<7
				}
			}
		}
		return 0
	case "f64":
		return math.Float64bits(v)
	}
	return uint64(math.Float32bits(float32(v)))
}

func randomMatrix(rng *rand.Rand, y string, n, kind int) []uint64 {
	m := make([]uint64, n)
	for i := range m {
		m[i] = randomElement(rng, y, kind)
	}
	return m
}

// sameNumber compares bits of a type: what is no number may have any bits that are none, in 64 bits.
func sameNumber(y string, a, b uint64) bool {
	return a == b || y == "f64" && f64(a) != f64(a) && f64(b) != f64(b) || formats[y].e > 0 && y != "f64" && number(y, a) == 0 && number(y, b) == 0
}

// register is the class of registers for a type, their type, and how many elements one has.
func register(y string) (name, kind string, n int) {
	switch y {
	case "f64":
		return "%d", "f64", 1
	case "f32":
		return "%f", "f32", 1
	}
	return "%r", "b32", max(32/formats[y].bits, 1)
}

// loaded is a module of a device, simulated or not.
type loaded struct {
	t testing.TB
	d driver.Driver
	c driver.Context
	m driver.Module
}

// onDevices runs a test of a text of PTX on both.
func onDevices(t *testing.T, text string, run func(l loaded)) {
	onBoth(t, ofPTX(text), func(t *testing.T, b *box) {
		run(loaded{t, b.d, b.c, b.load(&driver.Source{Name: "matrix.ptx"})})
	})
}

// changed is what a kernel makes of memory, which is its argument.
func changed[E any](l loaded, kernel string, grid, block int, s []E) []E {
	ok := func(err error) {
		if err != nil {
			l.t.Helper()
			l.t.Fatal(err)
		}
	}
	f, err := l.d.ModuleFunction(l.c, l.m, kernel)
	ok(err)
	p, err := l.d.MemAlloc(l.c, size(s))
	ok(err)
	ok(l.d.Memcpy(l.c, p, ptr(s), size(s)))
	ok(l.d.Launch(l.c, &driver.Launch{Function: f, Grid: dim(uint32(grid)), Block: dim(uint32(block)), Name: kernel,
		Params: binary.NativeEndian.AppendUint64(nil, uint64(p)), Pointers: []driver.PointerParam{{}}}))
	ok(l.d.CtxSynchronize(l.c, nil))
	out := make([]E, len(s))
	ok(l.d.Memcpy(l.c, ptr(out), p, size(out)))
	ok(l.d.MemFree(l.c, p))
	runtime.KeepAlive(s)
	return out
}

// TestRandomMMA compares what mma makes of random matrices with the reference, for each form.
func TestRandomMMA(t *testing.T) {
	warps := 64
	if testing.Short() {
		warps = 8
	}
	var text strings.Builder
	const slots = 32 // numbers of 64 bits that a thread has
	for n, f := range mmaForms {
		fmt.Fprintf(&text, ".visible .entry k%d(.param .u64 data) {\n.reg .b64 %%at<3>;\n.reg .b32 %%t;\n.reg .f64 %%d<40>;\n.reg .f32 %%f<40>;\n.reg .b32 %%r<40>;\n"+
			"ld.param.u64 %%at0, [data];\nmov.u32 %%t, %%ctaid.x;\nmov.u32 %%r0, %%tid.x;\nmad.lo.u32 %%t, %%t, 256, %%r0;\nmad.wide.u32 %%at1, %%t, %d, %%at0;\n", n, 8*slots)
		used, slot := map[string]int{}, 0
		var operands []string
		var last string
		for k, m := range []struct {
			y string
			n int
		}{{f.a, f.m * f.k}, {f.b, f.k * f.n}, {f.c, f.m * f.n}, {f.d, f.m * f.n}} {
			name, kind, per := register(m.y)
			var regs []string
			for range m.n / per / 32 {
				r := fmt.Sprintf("%s%d", name, used[name])
				used[name]++
				regs = append(regs, r)
				if k < 3 {
					fmt.Fprintf(&text, "ld.global.%s %s, [%%at1+%d];\n", kind, r, 8*slot)
				} else {
					last += fmt.Sprintf("st.global.%s [%%at1+%d], %s;\n", kind, 8*slot, r)
				}
				slot++
			}
			operands = append(operands, "{"+strings.Join(regs, ", ")+"}")
		}
		fmt.Fprintf(&text, "%s %s, %s, %s, %s;\n%sret;\n}\n", f.op, operands[3], operands[0], operands[1], operands[2], last)
	}
	onDevices(t, text.String(), func(l loaded) { compareMMA(l, warps, slots) })
}

func compareMMA(l loaded, warps, slots int) {
	t := l.t
	rng := rand.New(rand.NewPCG(34, 2))
	bad, products := 0, 0
	for n, f := range mmaForms {
		words := make([]uint64, slots*32*warps)
		type given struct{ a, b, c []uint64 }
		var all []given
		place := func(warp, lane, slot int, y string, i int, v uint64) {
			_, _, per := register(y)
			words[((warp*32+lane)*slots + slot + i/per)] |= v << (i % per * formats[y].bits)
		}
		_, _, per := register(f.a)
		slotB := f.m * f.k / per / 32
		slotC := slotB + f.k*f.n/per/32
		_, _, per = register(f.c)
		slotD := slotC + f.m*f.n/per/32
		for w := range warps {
			kind := w % 5
			g := given{randomMatrix(rng, f.a, f.m*f.k, kind), randomMatrix(rng, f.b, f.k*f.n, kind), randomMatrix(rng, f.c, f.m*f.n, kind)}
			all = append(all, g)
			for lane := range 32 {
				for i := range f.m * f.k / 32 {
					r, c := f.mmaA(lane, i)
					place(w, lane, 0, f.a, i, g.a[r*f.k+c])
				}
				for i := range f.k * f.n / 32 {
					r, c := f.mmaB(lane, i)
					place(w, lane, slotB, f.b, i, g.b[r*f.n+c])
				}
				for i := range f.m * f.n / 32 {
					r, c := f.mmaC(lane, i)
					place(w, lane, slotC, f.c, i, g.c[r*f.n+c])
				}
			}
		}
		got := changed(l, fmt.Sprintf("k%d", n), warps/8, 256, words)
		_, _, per = register(f.d)
		for w, g := range all {
			want := f.product(g.a, g.b, g.c)
			products++
			for lane := range 32 {
				for i := range f.m * f.n / 32 {
					r, c := f.mmaC(lane, i)
					v := got[(w*32+lane)*slots+slotD+i/per] >> (i % per * formats[f.d].bits)
					if formats[f.d].bits < 64 {
						v &= 1<<formats[f.d].bits - 1
					}
					if !sameNumber(f.d, v, want[r*f.n+c]) {
						if bad++; bad <= 8 {
							t.Errorf("%s, product %d, d[%d][%d] is %#x (%v), want %#x (%v)", f.op, w, r, c, v, number(f.d, v), want[r*f.n+c], number(f.d, want[r*f.n+c]))
						}
					}
				}
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d numbers differ", bad)
	}
	t.Logf("%d products of %d forms", products, len(mmaForms))
}

// wmmaForms are the products of wmma; of a layout the rows, or the columns, lie together.
var wmmaForms = func() (list []matrixForm) {
	add := func(shapes, d, a, b, c, types, sat, op string) {
		for _, s := range strings.Fields(shapes) {
			for _, layout := range []string{"row.row", "row.col", "col.row", "col.col"} {
				if formats[a].bits < 8 && layout != "row.col" {
					continue
				}
				f := matrixForm{d: d, a: a, b: b, c: c}
				fmt.Sscanf(s, "m%dn%dk%d", &f.m, &f.n, &f.k)
				f.op = fmt.Sprintf("wmma.mma%s.sync.aligned.%s.%s.%s%s", op, layout, s, types, sat)
				list = append(list, f)
			}
		}
	}
	const all = "m16n16k16 m32n8k16 m8n32k16"
	for _, d := range []string{"f16", "f32"} {
		for _, c := range []string{"f16", "f32"} {
			add(all, d, "f16", "f16", c, d+"."+c, "", "")
		}
	}
	add(all, "f32", "bf16", "bf16", "f32", "f32.bf16.bf16.f32", "", "")
	add("m16n16k8", "f32", "tf32", "tf32", "f32", "f32.tf32.tf32.f32", "", "")
	for _, round := range []string{"", ".rn", ".rz", ".rm", ".rp"} {
		add("m8n8k4", "f64", "f64", "f64", "f64", "f64.f64.f64.f64"+round, "", "")
	}
	for _, sat := range []string{"", ".satfinite"} {
		for _, a := range []string{"s8", "u8"} {
			add(all, "s32", a, a, "s32", fmt.Sprintf("s32.%s.%[1]s.s32", a), sat, "")
		}
		for _, a := range []string{"s4", "u4"} {
			add("m8n8k32", "s32", a, a, "s32", fmt.Sprintf("s32.%s.%[1]s.s32", a), sat, "")
		}
	}
	for _, op := range []string{"and", "xor"} {
		add("m8n8k128", "s32", "b1", "b1", "s32", "s32.b1.b1.s32", "", "."+op+".popc")
	}
	return list
}()

// held is how many registers of a lane hold a matrix of wmma, as the PTX manual says.
func (f matrixForm) held(which string) int {
	y, n := f.a, f.m*f.k
	switch which {
	case "b":
		n = f.k * f.n
	case "c":
		y, n = f.c, f.m*f.n
	case "d":
		y, n = f.d, f.m*f.n
	}
	if y == "f16" && (which == "a" || which == "b") {
		return 8
	}
	_, _, per := register(y)
	return n / per / 32
}

// layout is of a matrix in memory: by rows or by columns, of which so many elements lie apart.
type layout struct {
	rows bool
	ld   int
}

// TestRandomWMMA loads random matrices from memory, and compares what is stored.
func TestRandomWMMA(t *testing.T) {
	warps := 32
	if testing.Short() {
		warps = 4
	}
	const room = 4096 // bytes for a matrix, four to a warp
	var text strings.Builder
	rng := rand.New(rand.NewPCG(34, 3))
	var layouts [][4]layout
	for n, f := range wmmaForms {
		fmt.Fprintf(&text, ".visible .entry k%d(.param .u64 data) {\n.reg .b64 %%at<3>;\n.reg .b32 %%t;\n.reg .f64 %%d<40>;\n.reg .f32 %%f<40>;\n.reg .b32 %%r<40>;\n"+
			"ld.param.u64 %%at0, [data];\nmov.u32 %%t, %%ctaid.x;\nmad.wide.u32 %%at1, %%t, %d, %%at0;\n", n, 4*room)
		used := map[string]int{}
		var operands []string
		var all [4]layout
		parts := strings.Split(f.op, ".")
		at := slices.Index(parts, "aligned")
		for k, m := range []struct {
			y         string
			rows, col int
		}{{f.a, f.m, f.k}, {f.b, f.k, f.n}, {f.c, f.m, f.n}, {f.d, f.m, f.n}} {
			l := layout{rows: rng.IntN(2) == 0}
			if k < 2 {
				l.rows = parts[at+1+k] == "row"
			}
			way := "col"
			l.ld = m.rows
			if l.rows {
				way, l.ld = "row", m.col
			}
			l.ld += rng.IntN(3) * max(128/formats[m.y].bits, 1)
			all[k] = l
			name, _, _ := register(m.y)
			var regs []string
			for range f.held(string("abcd"[k])) {
				regs = append(regs, fmt.Sprintf("%s%d", name, used[name]))
				used[name]++
			}
			list := "{" + strings.Join(regs, ", ") + "}"
			operands = append(operands, list)
			shape := fmt.Sprintf("m%dn%dk%d", f.m, f.n, f.k)
			if k < 3 {
				fmt.Fprintf(&text, "wmma.load.%c.sync.aligned.%s.%s.global.%s %s, [%%at1+%d], %d;\n", "abc"[k], way, shape, m.y, list, k*room, l.ld)
			} else {
				fmt.Fprintf(&text, "%s %s, %s, %s, %s;\nwmma.store.d.sync.aligned.%s.%s.global.%s [%%at1+%d], %s, %d;\n", f.op, list, operands[0], operands[1], operands[2], way, shape, m.y, k*room, list, l.ld)
			}
		}
		layouts = append(layouts, all)
		text.WriteString("ret;\n}\n")
	}
	onDevices(t, text.String(), func(l loaded) { compareWMMA(l, warps, room, layouts) })
}

func compareWMMA(l loaded, warps, room int, layouts [][4]layout) {
	t, rng := l.t, rand.New(rand.NewPCG(34, 4))
	bad, products := 0, 0
	for n, f := range wmmaForms {
		memory := make([]byte, 4*room*warps)
		bit := func(w, k, row, col int, y string) int {
			lay := layouts[n][k]
			index := col*lay.ld + row
			if lay.rows {
				index = row*lay.ld + col
			}
			return ((w*4+k)*room*8 + index*formats[y].bits)
		}
		put := func(at, bits int, v uint64) {
			for i := 0; i < bits; i += 8 {
				memory[(at+i)/8] |= byte(v >> i << (at % 8))
			}
		}
		type given struct{ a, b, c []uint64 }
		var all []given
		for w := range warps {
			kind := w % 5
			g := given{randomMatrix(rng, f.a, f.m*f.k, kind), randomMatrix(rng, f.b, f.k*f.n, kind), randomMatrix(rng, f.c, f.m*f.n, kind)}
			all = append(all, g)
			for i, v := range g.a {
				put(bit(w, 0, i/f.k, i%f.k, f.a), formats[f.a].bits, v)
			}
			for i, v := range g.b {
				put(bit(w, 1, i/f.n, i%f.n, f.b), formats[f.b].bits, v)
			}
			for i, v := range g.c {
				put(bit(w, 2, i/f.n, i%f.n, f.c), formats[f.c].bits, v)
			}
		}
		got := changed(l, fmt.Sprintf("k%d", n), warps, 32, memory)
		for w, g := range all {
			want := f.product(g.a, g.b, g.c)
			products++
			for i := range want {
				from, v := bit(w, 3, i/f.n, i%f.n, f.d)/8, uint64(0)
				for k := range formats[f.d].bits / 8 {
					v |= uint64(got[from+k]) << (8 * k)
				}
				if !sameNumber(f.d, v, want[i]) {
					if bad++; bad <= 8 {
						t.Errorf("%s, product %d, d[%d][%d] is %#x (%v), want %#x (%v)", f.op, w, i/f.n, i%f.n, v, number(f.d, v), want[i], number(f.d, want[i]))
					}
				}
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d numbers differ", bad)
	}
	t.Logf("%d products of %d forms", products, len(wmmaForms))
}

// smallest is the code of 8 bits whose number is nearest, the even one of two, never one beyond the largest.
func smallest(y string, v float64) uint64 {
	if v != v {
		return 0x7f
	}
	best, sign := uint64(0), math.Float64bits(v)>>63<<7
	v = min(math.Abs(v), map[string]float64{"e4m3": 448, "e5m2": 57344}[y])
	for n := range uint64(0x7f) {
		w := number(y, n)
		if math.IsInf(w, 0) || w != w {
			continue
		}
		d, e := math.Abs(w-v), math.Abs(number(y, best)-v)
		if d < e || d == e && n&1 == 0 {
			best = n
		}
	}
	return sign | best
}

// smallOps are conversions to and from formats of 8 bits, and to tf32.
func smallOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	positive := func(on bool, v float64) float64 {
		if on && math.Signbit(v) && v == v {
			return 0
		}
		return v
	}
	for _, relu := range []string{"", ".relu"} {
		on := relu != ""
		for _, y := range []string{"e4m3", "e5m2"} {
			add("cvt.rn.satfinite"+relu+"."+y+"x2.f32", "hff", func(a []uint64) uint64 {
				return smallest(y, positive(on, float64(f32(a[0]))))<<8 | smallest(y, positive(on, float64(f32(a[1]))))
			})
			add("cvt.rn.satfinite"+relu+"."+y+"x2.f16x2", "hr", func(a []uint64) uint64 {
				return smallest(y, positive(on, number("f16", a[0]>>16)))<<8 | smallest(y, positive(on, number("f16", a[0]&0xffff)))
			})
			add("cvt.rn"+relu+".f16x2."+y+"x2", "rh", func(a []uint64) uint64 {
				return nearestHalf(positive(on, number(y, a[0]>>8&0xff)))<<16 | nearestHalf(positive(on, number(y, a[0]&0xff)))
			})
		}
		for _, round := range []string{"rn", "rz", "rna"} {
			if on && round == "rna" {
				continue
			}
			add("cvt."+round+relu+".tf32.f32", "rf", func(a []uint64) uint64 {
				v := float64(f32(a[0]))
				if v != v && round == "rna" {
					return a[0] &^ 0x1fff
				} else if v != v {
					return 0x7fffe000
				}
				v = positive(on, v)
				m, e := split(v, -126)
				m = math.Ldexp(m, 10)
				switch round {
				case "rn":
					m = math.RoundToEven(m)
				case "rna":
					m = math.Round(m)
				default:
					m = math.Trunc(m)
				}
				if v != 0 && !math.IsInf(v, 0) {
					v = math.Copysign(math.Ldexp(m, e-10), v)
				}
				return of32(float32(v))
			})
		}
	}
}
