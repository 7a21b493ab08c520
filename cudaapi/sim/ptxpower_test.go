package sim_test

import (
	"math"
	"testing"

	"gocuda/cudaapi/driver"
)

// powerOf2 is a power of 2 by a series of twelve steps, whose error is below that of a double.
func powerOf2(v float32) float32 {
	x := min(max(float64(v), -160), 160) // of a NaN they give one
	n := math.RoundToEven(x)
	f, p := (x-n)*math.Ln2, 1.0/479001600
	for _, k := range []float64{39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1} {
		p = math.FMA(p, f, 1/k)
	}
	return float32(math.Ldexp(p, int(n)))
}

// ex2.approx gives what the series gives, to the last bit: in each binade, around the middle between
// 64ths, where results are denormal, and where there are none.
func TestPowersOf2(t *testing.T) {
	const n = 1 << 22
	var in []float32
	for _, v := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 128, 127.99999, -126, -149, -149.5, -150, -150.00001, -160, 160, -161, 1e30, -1e30} {
		in = append(in, float32(v))
	}
	for k := -150 * 128; k <= 128*128; k++ {
		v := float32(k) / 128
		in = append(in, math.Nextafter32(v, -200), v, math.Nextafter32(v, 200))
	}
	for k := uint32(0); len(in) < n; k++ { // half of them where a wrong series shows most
		in = append(in, math.Float32frombits(k*2654435761), float32(int32(k*2654435761))/(1<<30))
	}
	in = in[:n]
	b := newBox(t, ofPTX(`.visible .entry powers(.param .u64 in, .param .u64 out) {
.reg .b64 %d<4>; .reg .b32 %r<4>; .reg .f32 %f<2>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
ld.global.f32 %f0, [%d1]; ex2.approx.f32 %f1, %f0; st.global.f32 [%d2], %f1;
ret; }`))
	m := b.load(&driver.Source{Name: "powers.ptx"})
	k, err := b.d.ModuleFunction(b.c, m, "powers")
	b.ok(err)
	out := upload(b, make([]float32, n))
	b.ok(b.launch(k, dim(n/256), dim(256), 0, upload(b, in), out))
	b.ok(b.sync())
	for i, got := range download[float32](b, out, n) {
		want := powerOf2(in[i])
		if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			t.Fatalf("ex2(%x) is %x, want %x", in[i], got, want)
		}
	}
}
