package sim_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

var manyTextures = flag.Int("textures", 400, "random textures")

// The reference is the CUDA C++ Programming Guide's appendix "Texture Fetching". What it does not
// say is as an H200 was seen to do it: normalized coordinates have 21 bits behind the point, places
// are rounded to the nearest 256th, halves up, and so are products of weights; elements of 8 and 16
// bits are filtered as numbers of 16 bits.

// reference is a texture as the guide has it.
type reference struct {
	kind   string // as in PTX
	size   [3]int
	layers int // that a layered instruction counts
	format driver.ArrayFormat
	chans  int
	desc   driver.TextureDesc
	data   []byte // without gaps
}

func (r *reference) integers() bool {
	return r.format.Size() == 4 && r.format != driver.FormatFloat || r.desc.Flags&driver.TextureIntegers != 0 && r.format != driver.FormatFloat && r.format != driver.FormatHalf
}

// String tells the kinds of textures apart.
func (r *reference) String() string {
	border := ""
	if slices.Contains(r.desc.Address[:], driver.AddressBorder) {
		border = ", border"
	}
	return fmt.Sprintf("%s, format %#x, integers %v, normalized %v, filter %d%s", r.kind, r.format, r.integers(), r.normalized(), r.desc.Filter, border)
}

func (r *reference) normalized() bool {
	return r.desc.Flags&driver.TextureNormalized != 0 || strings.Contains(r.kind, "cube")
}

// at is a channel of an element, as bits.
func (r *reference) at(x, y, z, c int) uint32 {
	b := r.data[(((z*r.size[1]+y)*r.size[0]+x)*r.chans+c)*int(r.format.Size()):]
	part := func(n, d int64) uint32 {
		f, _ := big.NewRat(max(n, -d), d).Float32()
		return math.Float32bits(f)
	}
	switch r.format {
	case driver.FormatUint8:
		if !r.integers() {
			return part(int64(b[0]), 255)
		}
		return uint32(b[0])
	case driver.FormatInt8:
		if !r.integers() {
			return part(int64(int8(b[0])), 127)
		}
		return uint32(int32(int8(b[0])))
	case driver.FormatUint16:
		v := binary.LittleEndian.Uint16(b)
		if !r.integers() {
			return part(int64(v), 65535)
		}
		return uint32(v)
	case driver.FormatInt16:
		v := int16(binary.LittleEndian.Uint16(b))
		if !r.integers() {
			return part(int64(v), 32767)
		}
		return uint32(int32(v))
	case driver.FormatHalf:
		h := binary.LittleEndian.Uint16(b)
		e, f := int(h>>10&31), float64(h&1023)
		v := math.Ldexp(1024+f, e-25)
		if e == 0 {
			v = math.Ldexp(f, -24)
		}
		return math.Float32bits(float32(math.Copysign(v, float64(int16(h)|1))))
	}
	return binary.LittleEndian.Uint32(b)
}

// border is a channel of the border, as bits: what an element could hold.
func (r *reference) border(c int) uint32 {
	v := float64(r.desc.Border[c])
	bits := math.Float32bits(r.desc.Border[c])
	width := 8 * int(r.format.Size())
	signed := r.format == driver.FormatInt8 || r.format == driver.FormatInt16
	half := format{"f16", 10, 5}
	switch {
	case r.format == driver.FormatHalf && v-v != 0:
		return bits &^ 0x1fff
	case r.format == driver.FormatHalf:
		return math.Float32bits(float32(half.value(half.bits(nil, v, 2))))
	case width == 32:
		return bits
	case r.integers():
		return uint32(part(uint64(bits), 0, width, signed))
	case v != v:
		return 0
	}
	least, most := int64(0), int64(1)<<width-1
	if signed {
		most >>= 1
		least = -most
	}
	cut := new(big.Rat).SetFloat64(math.Trunc(max(-1, min(v, 1))*(1<<24)) / (1 << 24))
	up := cut.Sign() < 0 // of two integers that are as near, the one next to 0
	n := cut.Mul(cut, big.NewRat(most, 1))
	if n = n.Add(n, big.NewRat(1, 2)); n.IsInt() && !up {
		n.Sub(n, big.NewRat(1, 1))
	}
	f, _ := big.NewRat(max(int64(floor(n)), least), most).Float32()
	return math.Float32bits(f)
}

// inside says which element of n one beside them stands for; false for the border.
func inside(i, n int, m driver.AddressMode) (int, bool) {
	switch {
	case i >= 0 && i < n:
		return i, true
	case m == driver.AddressWrap:
		return ((i % n) + n) % n, true
	case m == driver.AddressBorder:
		return 0, false
	case m == driver.AddressMirror:
		if i = ((i % (2 * n)) + 2*n) % (2 * n); i >= n {
			i = 2*n - 1 - i
		}
		return i, true
	}
	return min(max(i, 0), n-1), true
}

// place is a coordinate, counted in elements, and how those beside the texture are found. Where
// they repeat it is that of the first or the second time.
func (r *reference) place(axis int, x float32) (*big.Rat, driver.AddressMode) {
	m, v := r.desc.Address[axis], float64(x)
	repeats := r.normalized() && (m == driver.AddressWrap || m == driver.AddressMirror)
	if v != v || repeats && math.IsInf(v, 0) {
		v = 0
	}
	if r.normalized() {
		v = math.Floor(v*(1<<21)) / (1 << 21)
		if repeats {
			v -= 2 * math.Floor(v/2)
		}
		v *= float64(r.size[axis])
	} else if m != driver.AddressBorder {
		m = driver.AddressClamp
	}
	return new(big.Rat).SetFloat64(max(-1<<30, min(v, 1<<30))), m
}

// between is the first of two elements that a place is between, and the weight of the second in 256ths.
func between(at *big.Rat) (first, weight int) {
	at = new(big.Rat).Mul(at, big.NewRat(256, 1))
	k := floor(at.Add(at, big.NewRat(1, 2))) - 128
	return k >> 8, k & 255
}

func floor(v *big.Rat) int {
	return int(new(big.Int).Div(v.Num(), v.Denom()).Int64()) // Euclidean, and the divisor is positive
}

// weights are those of eight elements, x first, in 256ths, of those of the axes: (1-a)(1-b) of the guide, and so on.
func weights(of [3]int) (w [8]int) {
	product := func(a, b int) int { return (a*b + 128) / 256 }
	for z, plane := range []int{256 - of[2], of[2]} {
		second := product(plane, of[0])
		w[4*z+3] = product(second, of[1])
		w[4*z+1] = second - w[4*z+3]
		w[4*z] = product(plane-second, 256-of[1])
		w[4*z+2] = plane - second - w[4*z]
	}
	return w
}

// most is the largest of the integers of 16 bits that filters give, 0 for numbers with a fraction.
func (r *reference) most() float64 {
	switch r.format {
	case driver.FormatUint8, driver.FormatUint16:
		return 65535
	case driver.FormatInt8, driver.FormatInt16:
		return 32767
	}
	return 0
}

// filtered is a number that filters take, from bits of an element.
func (r *reference) filtered(bits uint32) float64 {
	v := float64(math.Float32frombits(bits))
	if r.format == driver.FormatInt8 {
		return math.Round(v * 127)
	} else if r.most() > 0 {
		return math.Round(v * r.most())
	}
	return v
}

// result is what filters give for a sum.
func (r *reference) result(v float64) uint32 {
	unit := 1 / r.most()
	if r.format == driver.FormatInt8 {
		v = v * 32767 / 127
	}
	switch {
	case r.most() > 0:
		f, _ := big.NewRat(int64(math.Floor(v+0.5)), int64(r.most())).Float32()
		return math.Float32bits(f)
	case v == 0:
		return 0
	case r.format == driver.FormatHalf:
		unit = math.Ldexp(1, max(math.Ilogb(v), -14)-10)
	default:
		unit = math.Ldexp(1, max(math.Ilogb(v), -126)-23)
	}
	return math.Float32bits(float32(math.Round(v/unit) * unit))
}

// linear is a channel of the guide's weighted sum.
func (r *reference) linear(at []*big.Rat, modes []driver.AddressMode, index [3]int, c int) uint32 {
	var first, weight [3]int
	for i := range 3 {
		if at[i] != nil {
			first[i], weight[i] = between(at[i])
		}
	}
	sum := 0.0
	for i := range 3 {
		if at[i] != nil && modes[i] == driver.AddressClamp && (first[i] < 0 || first[i] >= r.size[i]-1) {
			weight[i] = 0 // it is not between two
		}
	}
	for k, w := range weights(weight) {
		n, in := index, true
		for i := range 3 {
			if at[i] != nil {
				e, beside := inside(first[i]+k>>i&1, r.size[i], modes[i])
				n[i], in = e, in && beside
			}
		}
		switch {
		case w == 0:
		case in:
			sum += float64(w) * r.filtered(r.at(n[0], n[1], n[2], c))
		default:
			sum += float64(w) * r.filtered(r.border(c))
		}
	}
	return r.result(sum / 256)
}

// near allows for the last bits of a filter of half: how a GPU rounds there is not known.
func (r *reference) near(a, b uint32) bool {
	x, y := float64(math.Float32frombits(a)), float64(math.Float32frombits(b))
	return r.format == driver.FormatHalf && r.desc.Filter == driver.FilterLinear && math.Abs(x-y) <= math.Max(math.Abs(x), 64)/256
}

// simulated reports whether a box is no GPU's.
func simulated(b *box) bool {
	_, ok := b.d.(*sim.Driver)
	return ok
}

// fetch is what a texture instruction gives.
func (r *reference) fetch(x [3]float32, layer int) (out [4]uint32) {
	index := [3]int{}
	axes := map[string]int{"1d": 1, "a1d": 1, "2d": 2, "a2d": 2, "cube": 2, "acube": 2, "3d": 3}[r.kind]
	if r.layers > 0 {
		index[2] = min(max(layer, 0), r.layers-1)
		if layer < 0 {
			index[2] = r.layers - 1 // a large number to the instruction
		}
	}
	if strings.Contains(r.kind, "cube") {
		var face int
		face, x = side(x)
		index[2] = index[2]*6 + face
	}
	at, modes := make([]*big.Rat, 3), make([]driver.AddressMode, 3)
	for i := range axes {
		at[i], modes[i] = r.place(i, x[i])
	}
	if b := driver.AddressBorder; r.kind == "1d" && r.desc.Filter == driver.FilterLinear && r.desc.Address[1] == b {
		at[1], modes[1] = new(big.Rat), b // half of what is beside the row
	}
	for c := range r.chans {
		if r.desc.Filter == driver.FilterLinear {
			out[c] = r.linear(at, modes, index, c)
			continue
		}
		border := false
		for i := range axes {
			n, in := inside(floor(at[i]), r.size[i], modes[i])
			index[i], border = n, border || !in
		}
		if out[c] = r.border(c); !border {
			out[c] = r.at(index[0], index[1], index[2], c)
		}
	}
	return out
}

// gather is what tex2Dgather gives of the first channel: of the four elements of linear filtering.
func (r *reference) gather(x [3]float32) (out [4]uint32) {
	var first [2]int
	var modes [2]driver.AddressMode
	for i := range 2 {
		at, m := r.place(i, x[i])
		first[i], _ = between(at)
		modes[i] = m
	}
	for k, o := range [4][2]int{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
		cx, inX := inside(first[0]+o[0], r.size[0], modes[0])
		cy, inY := inside(first[1]+o[1], r.size[1], modes[1])
		if out[k] = r.border(0); inX && inY {
			out[k] = r.at(cx, cy, 0, 0)
		}
		if r.format == driver.FormatInt8 && !r.integers() {
			out[k] = r.result(r.filtered(out[k]))
		}
	}
	return out
}

// side is the guide's table of a cube's faces.
func side(v [3]float32) (face int, at [3]float32) {
	x, y, z := v[0], v[1], v[2]
	abs := func(v float32) float32 { return float32(math.Abs(float64(v))) }
	var m, s, t float32
	switch {
	case abs(z) >= abs(x) && abs(z) >= abs(y) && z >= 0:
		face, m, s, t = 4, z, x, -y
	case abs(z) >= abs(x) && abs(z) >= abs(y):
		face, m, s, t = 5, -z, -x, -y
	case abs(y) >= abs(x) && y >= 0:
		face, m, s, t = 2, y, x, z
	case abs(y) >= abs(x):
		face, m, s, t = 3, -y, x, -z
	case x >= 0:
		face, m, s, t = 0, x, -z, -y
	default:
		face, m, s, t = 1, -x, z, -y
	}
	return face, [3]float32{(s/m + 1) / 2, (t/m + 1) / 2}
}

var fetches = map[string]string{"1d": "tex1D<T>(t, x)", "2d": "tex2D<T>(t, x, y)", "3d": "tex3D<T>(t, x, y, z)", "a1d": "tex1DLayered<T>(t, x, layer)",
	"a2d": "tex2DLayered<T>(t, x, y, layer)", "cube": "texCubemap<T>(t, x, y, z)", "acube": "texCubemapLayered<T>(t, x, y, z, layer)"}

// module compiles a source and gives its kernels.
func (b *box) module(code string) func(name string) driver.Function {
	b.t.Helper()
	out, err := b.d.Compile(0, &driver.Source{Name: "test.cu", Code: code})
	b.ok(err)
	m, err := b.d.ModuleLoad(b.c, out.Image)
	b.ok(err)
	return func(name string) driver.Function {
		f, err := b.d.ModuleFunction(b.c, m, name)
		b.ok(err)
		return f
	}
}

// randomTexture is one with random contents, which are such that sums of them are exact.
func randomTexture(r *rand.Rand) *reference {
	kinds := []string{"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"}
	t := &reference{kind: kinds[r.IntN(len(kinds))], size: [3]int{1 + r.IntN(9), 1, 1}, chans: []int{1, 2, 4}[r.IntN(3)]}
	t.format = []driver.ArrayFormat{driver.FormatUint8, driver.FormatUint16, driver.FormatUint32, driver.FormatInt8, driver.FormatInt16, driver.FormatInt32, driver.FormatHalf, driver.FormatFloat, driver.FormatFloat}[r.IntN(9)]
	if t.kind != "1d" && t.kind != "a1d" {
		t.size[1] = 1 + r.IntN(9)
	}
	switch t.kind {
	case "3d":
		t.size[2] = 1 + r.IntN(5)
	case "a1d", "a2d":
		t.layers = 1 + r.IntN(4)
		t.size[2] = t.layers
	case "cube", "acube":
		t.size[1], t.size[2] = t.size[0], 6
		if t.kind == "acube" {
			t.layers = 1 + r.IntN(3)
			t.size[2] = 6 * t.layers
		}
	}
	t.desc.Flags = driver.TextureFlags(r.IntN(4))
	for i := range 3 {
		t.desc.Address[i] = driver.AddressMode(r.IntN(4))
	}
	if !t.integers() {
		t.desc.Filter = driver.FilterMode(r.IntN(2))
	}
	if t.format == driver.FormatFloat || t.format == driver.FormatHalf || !t.integers() {
		t.desc.Border = [4]float32{float32(r.IntN(9)) / 8, -1, 0.25, 3}
	}
	t.data = make([]byte, t.size[0]*t.size[1]*t.size[2]*t.chans*int(t.format.Size()))
	for i := range t.data {
		t.data[i] = byte(r.Uint32())
	}
	for i := 0; i < len(t.data) && t.format == driver.FormatFloat; i += 4 {
		binary.LittleEndian.PutUint32(t.data[i:], math.Float32bits(float32(r.IntN(1<<20)-1<<19)/1024))
	}
	for i := 1; i < len(t.data) && t.format == driver.FormatHalf; i += 2 {
		if t.data[i]>>2&31 == 31 { // no number
			t.data[i] ^= 0x40
		}
	}
	return t
}

// randomPlace is a coordinate: anywhere, at elements and between, far away, and what is no number.
func randomPlace(r *rand.Rand, n int, normalized bool) float32 {
	v := (r.Float32()*3 - 1) * float32(n)
	switch r.IntN(10) {
	case 0:
		v = float32(r.IntN(3*n+1) - n)
	case 1:
		v = float32(r.IntN(3*n+1)-n) + 0.5
	case 2:
		v = float32(r.IntN(3*512*n+1)-512*n) / 512
	case 3:
		v = []float32{0, float32(math.Copysign(0, -1)), 1e-10, -1e-10, 1e10, -1e10, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 12345.5}[r.IntN(10)]
	}
	if normalized {
		v /= float32(n)
	}
	return v
}

func TestRandomTextures(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		var code strings.Builder
		for kind, expr := range fetches {
			for _, T := range []string{"float4", "int4"} {
				fmt.Fprintf(&code, `extern "C" __global__ void k%s_%s(cudaTextureObject_t t, const float *at, const int *layers, %[2]s *out) {
	unsigned i = threadIdx.x;
	float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];
	int layer = layers[i];
	out[i] = %[3]s;
}
`, kind, T, strings.ReplaceAll(expr, "<T>", "<"+T+">"))
			}
		}
		for _, T := range []string{"float4", "int4"} {
			fmt.Fprintf(&code, "extern \"C\" __global__ void gather_%[1]s(cudaTextureObject_t t, const float *at, %[1]s *out) { unsigned i = threadIdx.x; out[i] = tex2Dgather<%[1]s>(t, at[3 * i], at[3 * i + 1], 0); }\n", T)
		}
		kernels := b.module(code.String())
		const points = 64
		var differ differences
		defer func() { differ.check(t) }()
		r := rand.New(rand.NewPCG(7, 34))
		for n := range *manyTextures {
			x := randomTexture(r)
			a := driver.ArrayDesc{Width: uint64(x.size[0]), Height: uint64(x.size[1]), Depth: uint64(x.size[2]), Format: x.format, Channels: uint32(x.chans)}
			switch x.kind {
			case "1d":
				a.Height, a.Depth = 0, 0
			case "2d":
				a.Depth, a.Flags = 0, driver.ArrayGather
			case "a1d":
				a.Height = 0
			}
			if x.layers > 0 {
				a.Flags |= driver.ArrayLayered
			}
			if strings.Contains(x.kind, "cube") {
				a.Flags |= driver.ArrayCube
			}
			h, err := b.d.ArrayCreate(b.c, &a)
			b.ok(err)
			p := driver.Copy3D{Dst: driver.Place3D{Array: h}, Src: driver.Place3D{Ptr: ptr(x.data), Pitch: a.Width * a.Element(), Rows: max(a.Height, 1)},
				Width: a.Width * a.Element(), Height: max(a.Height, 1), Depth: max(a.Depth, 1)}
			b.ok(b.d.Memcpy3D(b.c, &p))
			of := driver.Resource{Array: h}
			rowed := driver.Ptr(0)
			if x.kind == "2d" && r.IntN(2) == 0 { // memory of rows is read like an array
				of = driver.Resource{Format: a.Format, Channels: a.Channels, Width: a.Width, Height: a.Height, Pitch: (a.Width*a.Element() + 31) / 32 * 32}
				of.Ptr, err = b.d.MemAlloc(b.c, of.Pitch*of.Height)
				b.ok(err)
				rowed = of.Ptr
				b.ok(b.d.Memcpy3D(b.c, &driver.Copy3D{Dst: driver.Place3D{Ptr: of.Ptr, Pitch: of.Pitch, Rows: of.Height}, Src: driver.Place3D{Array: h}, Width: p.Width, Height: p.Height, Depth: 1}))
			}
			tex, err := b.d.TexObjectCreate(b.c, &of, &x.desc)
			b.ok(err)
			var at []float32
			var layers []int32
			for range points {
				for i := range 3 {
					size := x.size[i]
					if strings.Contains(x.kind, "cube") {
						v := r.Float32()*2 - 1
						if r.IntN(3) == 0 { // an edge or a corner
							v = float32(r.IntN(3) - 1)
						}
						if i == 2 && v == 0 && at[len(at)-1] == 0 && at[len(at)-2] == 0 {
							v = 1 // what is no direction has no face
						}
						at = append(at, v)
						continue
					}
					at = append(at, randomPlace(r, size, x.normalized()))
				}
				layers = append(layers, int32(r.IntN(6)-1))
			}
			T := map[bool]string{false: "float4", true: "int4"}[x.integers()]
			in, which, out := upload(b, at), upload(b, layers), upload(b, make([]uint32, 4*points))
			if x.kind == "2d" && rowed == 0 {
				b.ok(b.launch(kernels("gather_"+T), dim(1), dim(points), 0, driver.Ptr(tex), in, out))
				got := download[uint32](b, out, 4*points)
				for i := range points {
					c := [3]float32(at[3*i:])
					if want := x.gather(c); [4]uint32(got[4*i:]) != want {
						differ.add(fmt.Sprintf("four elements, %s", x), "texture %d of %v, %+v, at %v: %#x, want %#x", n, x.size, x.desc, c, got[4*i:4*i+4], want)
					}
				}
			}
			b.ok(b.launch(kernels("k"+x.kind+"_"+T), dim(1), dim(points), 0, driver.Ptr(tex), in, which, out))
			got := download[uint32](b, out, 4*points)
			for i := range points {
				c := [3]float32(at[3*i:])
				want := x.fetch(c, int(layers[i]))
				for k := range x.chans {
					if g := got[4*i+k]; g != want[k] && !(!simulated(b) && x.near(g, want[k])) {
						differ.add(x.String(), "texture %d of %v, rows %v, %+v, at %v, layer %d, channel %d: %#x (%g), want %#x (%g)", n, x.size, rowed != 0, x.desc, c, layers[i], k,
							g, math.Float32frombits(g), want[k], math.Float32frombits(want[k]))
					}
				}
			}
			b.ok(b.d.TexObjectDestroy(b.c, tex))
			b.ok(b.d.ArrayDestroy(b.c, h))
			for _, p := range []driver.Ptr{in, which, out, rowed} {
				if p != 0 {
					b.ok(b.d.MemFree(b.c, p))
				}
			}
		}
	})
}

// TestBordersOfTextures has borders that elements can hold, and others.
func TestBordersOfTextures(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		kernels := b.module(`extern "C" __global__ void k_float4(cudaTextureObject_t t, float4 *out) { *out = tex2D<float4>(t, -3, -3); }
extern "C" __global__ void k_int4(cudaTextureObject_t t, int4 *out) { *out = tex2D<int4>(t, -3, -3); }`)
		var differ differences
		defer func() { differ.check(t) }()
		out := upload(b, make([]uint32, 4))
		for _, format := range []driver.ArrayFormat{driver.FormatUint8, driver.FormatUint16, driver.FormatUint32, driver.FormatInt8, driver.FormatInt16, driver.FormatInt32, driver.FormatHalf, driver.FormatFloat} {
			for chans := 1; chans <= 4; chans *= 2 {
				a := driver.ArrayDesc{Width: 2, Height: 2, Format: format, Channels: uint32(chans)}
				h, err := b.d.ArrayCreate(b.c, &a)
				b.ok(err)
				for flags := range driver.TextureFlags(4) {
					for _, bits := range []uint32{0, 0x80000000, 0x3f800000, 0xbf800000, 0x3e800000, 0x3eaaaaab, 0xbeaaaaab, 0x3b008081, 0x3b808081, 0x3bc0c0c1, 0x40400000, 0x501502f9, 0x47000000, 0x477fe000, 0x477ff000, 0x33800000,
						0x7f800000, 0xff800000, 0x7fc00000, 5, 200, 300, 70000, 0x12345678, 0xfffffffb, 0xffffff00, 0xfffeee90} {
						x := reference{kind: "2d", size: [3]int{2, 2, 1}, format: format, chans: chans, desc: driver.TextureDesc{Flags: flags}}
						for i := range 3 {
							x.desc.Address[i] = driver.AddressBorder
						}
						for i := range 4 {
							x.desc.Border[i] = math.Float32frombits(bits)
						}
						tex, err := b.d.TexObjectCreate(b.c, &driver.Resource{Array: h}, &x.desc)
						b.ok(err)
						b.ok(b.launch(kernels("k_"+map[bool]string{false: "float4", true: "int4"}[x.integers()]), dim(1), dim(1), 0, driver.Ptr(tex), out))
						got := download[uint32](b, out, 4)
						b.ok(b.d.TexObjectDestroy(b.c, tex))
						for c := range chans {
							if want := x.border(c); got[c] != want {
								differ.add(fmt.Sprintf("format %#x, integers %v, border %#08x (%g)", format, x.integers(), bits, x.desc.Border[0]), "flags %d, channel %d of %d: %#08x (%g), want %#08x (%g)", flags, c, chans, got[c], math.Float32frombits(got[c]), want, math.Float32frombits(want))
							}
						}
					}
				}
				b.ok(b.d.ArrayDestroy(b.c, h))
			}
		}
	})
}

// TestWeightsOfFilters reads the weights of eight elements from a texture for each, as channels of two.
func TestWeightsOfFilters(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		kernels := b.module(`extern "C" __global__ void weights(cudaTextureObject_t low, cudaTextureObject_t high, const float *at, float4 *out) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	out[2 * i] = tex3D<float4>(low, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
	out[2 * i + 1] = tex3D<float4>(high, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
}`)
		var differ differences
		defer func() { differ.check(t) }()
		var textures [2]driver.TexObject
		for n := range textures {
			a := driver.ArrayDesc{Width: 2, Height: 2, Depth: 2, Format: driver.FormatFloat, Channels: 4}
			h, err := b.d.ArrayCreate(b.c, &a)
			b.ok(err)
			data := make([]float32, 8*4)
			for c := range 4 {
				data[(4*n+c)*4+c] = 256
			}
			b.ok(b.d.Memcpy3D(b.c, &driver.Copy3D{Dst: driver.Place3D{Array: h}, Src: driver.Place3D{Ptr: ptr(data), Pitch: 32, Rows: 2}, Width: 32, Height: 2, Depth: 2}))
			textures[n], err = b.d.TexObjectCreate(b.c, &driver.Resource{Array: h}, &driver.TextureDesc{Address: [3]driver.AddressMode{driver.AddressClamp, driver.AddressClamp, driver.AddressClamp}, Filter: driver.FilterLinear})
			b.ok(err)
		}
		const points = 8192
		r := rand.New(rand.NewPCG(7, 36))
		var of [points][3]int
		var at []float32
		for i := range of {
			for k := range 3 {
				if of[i][k] = r.IntN(256); r.IntN(4) == 0 {
					of[i][k] = r.IntN(9) * 32 % 256
				}
				at = append(at, 0.5+float32(of[i][k])/256)
			}
		}
		out := upload(b, make([]float32, 8*points))
		b.ok(b.launch(kernels("weights"), dim(points/128), dim(128), 0, driver.Ptr(textures[0]), driver.Ptr(textures[1]), upload(b, at), out))
		got := download[float32](b, out, 8*points)
		for i, o := range of {
			var list [8]int
			for k := range list {
				list[k] = int(got[8*i+k])
			}
			if want := weights(o); list != want {
				differ.add("weights", "%v: %v, want %v", o, list, want)
			}
		}
	})
}

// surfaceCode has kernels for an element type: they read clamped, read with zeros, or write. Each
// thread writes an element of its own, or none.
func surfaceCode(kind, T string) string {
	at := map[string]string{"1d": "x", "2d": "x, at[1]", "3d": "x, at[1], at[2]", "a1d": "x, at[2]", "a2d": "x, at[1], at[2]"}[kind]
	name := map[string]string{"1d": "1D", "2d": "2D", "3d": "3D", "a1d": "1DLayered", "a2d": "2DLayered"}[kind]
	return fmt.Sprintf(`extern "C" __global__ void s%[1]s_%[2]s(cudaSurfaceObject_t s, const int *all, %[3]s *v, int what) {
	unsigned i = threadIdx.x;
	const int *at = all + 3 * i;
	int x = at[0] * (int)sizeof(%[3]s);
	if (what == 0) v[i] = surf%[4]sread<%[3]s>(s, %[5]s, cudaBoundaryModeClamp);
	if (what == 1) v[i] = surf%[4]sread<%[3]s>(s, %[5]s, cudaBoundaryModeZero);
	if (what == 2) surf%[4]swrite(v[i], s, %[5]s, cudaBoundaryModeZero);
}
`, kind, strings.ReplaceAll(T, " ", ""), T, name, at)
}

func TestRandomSurfaces(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		elements := []struct {
			T      string
			format driver.ArrayFormat
			chans  uint32
		}{{"unsigned char", driver.FormatUint8, 1}, {"short2", driver.FormatInt16, 2}, {"float", driver.FormatFloat, 1}, {"uchar4", driver.FormatUint8, 4}, {"long long", driver.FormatUint32, 2}, {"float4", driver.FormatFloat, 4}}
		kinds := []string{"1d", "2d", "3d", "a1d", "a2d"}
		var code strings.Builder
		for _, k := range kinds {
			for _, e := range elements {
				code.WriteString(surfaceCode(k, e.T))
			}
		}
		kernels := b.module(code.String())
		const points = 64
		var differ differences
		defer func() { differ.check(t) }()
		r := rand.New(rand.NewPCG(7, 35))
		for n := range *manyTextures {
			e, kind := elements[r.IntN(len(elements))], kinds[r.IntN(len(kinds))]
			size := [3]int{1 + r.IntN(9), 1, 1}
			a := driver.ArrayDesc{Width: uint64(size[0]), Format: e.format, Channels: e.chans, Flags: driver.ArraySurface}
			if kind != "1d" && kind != "a1d" {
				size[1] = 1 + r.IntN(6)
				a.Height = uint64(size[1])
			}
			if kind == "3d" || kind[0] == 'a' {
				size[2] = 1 + r.IntN(4)
				a.Depth = uint64(size[2])
			}
			if kind[0] == 'a' {
				a.Flags |= driver.ArrayLayered
			}
			data := make([]byte, a.Bytes())
			for i := range data {
				data[i] = byte(r.Uint32())
			}
			h, err := b.d.ArrayCreate(b.c, &a)
			b.ok(err)
			whole := driver.Copy3D{Dst: driver.Place3D{Array: h}, Src: driver.Place3D{Ptr: ptr(data), Pitch: a.Width * a.Element(), Rows: max(a.Height, 1)},
				Width: a.Width * a.Element(), Height: max(a.Height, 1), Depth: max(a.Depth, 1)}
			b.ok(b.d.Memcpy3D(b.c, &whole))
			s, err := b.d.SurfObjectCreate(b.c, h)
			b.ok(err)
			width := int(a.Element())
			// place is where an element lies, and whether it is one of the surface.
			place := func(at []int32) (byte int, in bool) {
				var c [3]int
				in = true
				for i := range 3 {
					c[i] = min(max(int(at[i]), 0), size[i]-1)
					if i == 2 && kind[0] == 'a' && at[i] < 0 {
						c[i] = size[i] - 1 // a large number to the instruction
					}
					in = in && c[i] == int(at[i])
				}
				return ((c[2]*size[1]+c[1])*size[0] + c[0]) * width, in
			}
			var at []int32
			taken := map[int]bool{}
			for range points {
				p := []int32{int32(r.IntN(size[0]+4) - 2), 0, 0}
				for i := 1; i < 3; i++ {
					if size[i] > 1 {
						p[i] = int32(r.IntN(size[i]+4) - 2)
					}
				}
				if o, in := place(p); in && taken[o] {
					p[0] = -1
				} else if in {
					taken[o] = true
				}
				at = append(at, p...)
			}
			values := make([]byte, points*width)
			for i := range values {
				values[i] = byte(r.Uint32())
			}
			in, v := upload(b, at), upload(b, values)
			launch := func(what int) {
				b.ok(b.launch(kernels("s"+kind+"_"+strings.ReplaceAll(e.T, " ", "")), dim(1), dim(points), 0, driver.Ptr(s), in, v, what))
			}
			launch(2)
			for i := range points {
				if o, in := place(at[3*i:]); in {
					copy(data[o:o+width], values[i*width:])
				}
			}
			got := make([]byte, len(data))
			whole.Dst, whole.Src = driver.Place3D{Ptr: ptr(got), Pitch: whole.Src.Pitch, Rows: whole.Src.Rows}, whole.Dst
			b.ok(b.d.Memcpy3D(b.c, &whole))
			// beside says on which sides of the surface a place is.
			beside := func(at []int32) (sides string) {
				for i, axis := range []string{"x", "y", "z"} {
					if at[i] < 0 {
						sides += " " + axis + " before"
					} else if int(at[i]) >= size[i] {
						sides += " " + axis + " behind"
					}
				}
				return sides
			}
			// where lists the elements that have given contents.
			where := func(v []byte) (list []string) {
				for o := 0; o < len(data); o += width {
					if bytes.Equal(data[o:o+width], v) {
						o := o / width
						list = append(list, fmt.Sprintf("(%d,%d,%d)", o%size[0], o/size[0]%size[1], o/size[0]/size[1]))
					}
				}
				return list
			}
			for o := 0; o < len(data); o += width {
				if g := got[o : o+width]; !bytes.Equal(g, data[o:o+width]) {
					for i := range points {
						if bytes.Equal(values[i*width:(i+1)*width], g) {
							p := at[3*i : 3*i+3]
							differ.add(fmt.Sprintf("%s, written,%s", kind, beside(p)), "surface %d of %v, %s: what is written to %v is found at element %d", n, size, e.T, p, o/width)
						}
					}
				}
			}
			copy(data, got)
			for what := range 2 {
				launch(what)
				got := download[byte](b, v, points*width)
				for i := range points {
					p := at[3*i : 3*i+3]
					o, in := place(p)
					want := data[o : o+width]
					if what == 1 && !in {
						want = make([]byte, width)
					}
					if g := got[i*width : (i+1)*width]; !bytes.Equal(g, want) {
						differ.add(fmt.Sprintf("%s, mode %d,%s", kind, what, beside(p)), "surface %d of %v, %s, at %v: read %x, of elements %v, want %x", n, size, e.T, p, g, where(g), want)
					}
				}
			}
			b.ok(b.d.SurfObjectDestroy(b.c, s))
			b.ok(b.d.ArrayDestroy(b.c, h))
			b.ok(b.d.MemFree(b.c, in))
			b.ok(b.d.MemFree(b.c, v))
		}
	})
}
