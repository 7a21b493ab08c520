package sim_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// rareOps are what seldom occurs: minima with signs, results without infinity, vmad, words of 128 bits.
func rareOps(add func(text, kinds string, of func(a []uint64) uint64)) {
	half, brain := format{"f16", 10, 5}, format{"bf16", 7, 8}
	for _, f := range []format{half, brain} {
		infinity := uint64(1<<f.exponent-1) << f.fraction
		add("cvt.rn.satfinite."+f.name+".f32", "hf", func(a []uint64) uint64 {
			b := f.bits(nil, float64(f32(a[0])), 0)
			if b&0x7fff == infinity {
				b--
			}
			return b
		})
	}
	// the sign is negative where one of the two is
	for op, second := range map[string]func(x, y float64) bool{"min": func(x, y float64) bool { return y < x }, "max": func(x, y float64) bool { return x < y }} {
		for _, nan := range []string{"", ".NaN"} {
			pick := func(x, y float64) float64 {
				v := math.Abs(x)
				switch {
				case nan != "" && (x != x || y != y):
					return math.NaN()
				case x != x || y == y && second(v, math.Abs(y)):
					v = math.Abs(y)
				}
				if math.Signbit(x) != math.Signbit(y) {
					return -v
				}
				return v
			}
			add(op+nan+".xorsign.abs.f32", "fff", func(a []uint64) uint64 { return of32(float32(pick(float64(f32(a[0])), float64(f32(a[1]))))) })
			for _, f := range []format{half, brain} {
				one := func(x, y uint64) uint64 {
					v, w := f.value(x), f.value(y)
					if v != v { // Ldexp and NaN lose the sign
						v = math.Copysign(v, map[bool]float64{true: -1, false: 1}[x>>15&1 == 1])
					}
					if w != w {
						w = math.Copysign(w, map[bool]float64{true: -1, false: 1}[y>>15&1 == 1])
					}
					return f.bits(nil, pick(v, w), 0)
				}
				add(op+nan+".xorsign.abs."+f.name, "hhh", func(a []uint64) uint64 { return one(a[0], a[1]) })
				add(op+nan+".xorsign.abs."+f.name+"x2", "rrr", func(a []uint64) uint64 {
					return one(a[0]&0xffff, a[1]&0xffff) | one(a[0]>>16, a[1]>>16)<<16
				})
			}
		}
	}
	multiplyAdds(add)
	add("mov.b128 %%wide, {%[2]s, %[3]s};\nmov.b128 {%%low64, %[1]s}, %%wide", "ddd", func(a []uint64) uint64 { return a[1] })
	add("mov.b128 %%wide, {%[2]s, %[3]s};\nmov.b128 {%[1]s, %%low64}, %%wide", "ddd", func(a []uint64) uint64 { return a[0] })
}

func multiplyAdds(add func(text, kinds string, of func(a []uint64) uint64)) {
	part := func(v uint64, sel string, signed bool) *big.Int {
		bits, n := 32, 0
		if sel != "" {
			bits, n = map[byte]int{'b': 8, 'h': 16}[sel[1]], int(sel[2]-'0')
		}
		v = v >> (n * bits) & (1<<bits - 1)
		if signed && v>>(bits-1) == 1 {
			return big.NewInt(int64(v) - 1<<bits)
		}
		return big.NewInt(int64(v))
	}
	for _, c := range []struct {
		types, words, a, b, c string // a, b, c: a sign, and what is selected
	}{
		{"s32.s32.s32", "", ".b0", ".h1", ""}, {"u32.u32.u32", "", "", ".b3", ""}, {"s32.u32.s32", ".sat", "", "", ""},
		{"s32.u32.u32", ".sat", "-.h0", ".h1", ""}, {"s32.s32.s32", ".shr7", "", ".b2", "-"}, {"u32.u32.u32", ".po.sat.shr15", "", "", ""},
		{"s32.u32.u32", ".sat.shr7", "", "", "-"}, {"s32.s32.u32", ".po", ".b1", ".b1", ""}, {"s32.u32.u32", "", "-", "-", ""},
	} {
		types := strings.Split(c.types, ".")
		cut := func(s string) (bool, string) { r, ok := strings.CutPrefix(s, "-"); return ok, r }
		na, as := cut(c.a)
		nb, bs := cut(c.b)
		nc, _ := cut(c.c)
		sign := func(n bool) string { return map[bool]string{true: "-"}[n] }
		text := fmt.Sprintf("vmad.%s%s %%[1]s, %s%%[2]s%s, %s%%[3]s%s, %s%%[4]s", c.types, c.words, sign(na), as, sign(nb), bs, sign(nc))
		add(text, "rrrr", func(a []uint64) uint64 {
			signed := types[1] == "s32" || types[2] == "s32" || na != nb
			p := new(big.Int).Mul(part(a[0], as, types[1] == "s32"), part(a[1], bs, types[2] == "s32"))
			if na != nb {
				p.Neg(p)
			}
			z := part(a[2], "", signed)
			if nc {
				z.Neg(z)
			}
			if p.Add(p, z); strings.Contains(c.words, "po") {
				p.Add(p, big.NewInt(1))
			}
			switch {
			case strings.Contains(c.words, "shr7"):
				p.Rsh(p, 7)
			case strings.Contains(c.words, "shr15"):
				p.Rsh(p, 15)
			}
			if strings.Contains(c.words, "sat") {
				least, most := big.NewInt(0), big.NewInt(math.MaxUint32)
				if signed || nc {
					least, most = big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)
				}
				if p.Cmp(least) < 0 {
					p = least
				}
				if p.Cmp(most) > 0 {
					p = most
				}
			}
			return new(big.Int).And(p, big.NewInt(math.MaxUint32)).Uint64()
		})
	}
}

// ofPTX is options for a device whose compiler gives a text.
func ofPTX(text string) sim.Options {
	return sim.Options{Devices: 1, CUDA: "ptx", PTX: func(*driver.Source, string) (*driver.Compiled, error) {
		return &driver.Compiled{Image: []byte(".version 8.7\n.target sm_90\n.address_size 64\n" + text)}, nil
	}}
}

// load compiles and loads.
func (b *box) load(s *driver.Source) driver.Module {
	b.t.Helper()
	out, err := b.d.Compile(0, s)
	b.ok(err)
	m, err := b.d.ModuleLoad(b.c, out.Image)
	b.ok(err)
	return m
}

// TestPTXOfMemory is about copies that reduce or go to several blocks, stores that tell a barrier,
// wide atomics, and parameters that are read by their address. Each kernel has two blocks of one
// thread, a cluster, and leaves words in out.
func TestPTXOfMemory(t *testing.T) {
	const barrier = ".shared .align 16 .b8 s[64];\n.shared .align 16 .b8 other[64];\n.shared .align 8 .b64 bar;\n"
	wait := func(bytes int) string {
		return fmt.Sprintf("{ .reg .pred w; .reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [bar], %d;\nAGAIN: mbarrier.try_wait.shared.b64 w, [bar], t;\n@!w bra AGAIN; }\n", bytes)
	}
	fill := "st.shared.v4.b32 [s], {1, 2, 3, 4};\nst.shared.v4.b32 [s+16], {5, 6, 7, 8};\n"
	first := "setp.ne.u32 %p, %r1, 0;\n@%p bra DONE;\n"
	both := "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
	var text strings.Builder
	want := map[string][]uint32{}
	kernel := func(name, body string, words ...uint32) {
		fmt.Fprintf(&text, ".visible .entry %s(.param .u64 o, .param .align 4 .b8 p[16]) .reqnctapercluster 2 {\n.reg .b64 %%d<9>;\n.reg .b32 %%r<9>;\n.reg .pred %%p;\n.reg .b128 %%q<3>;\n%s"+
			"ld.param.u64 %%d0, [o];\ncvta.to.global.u64 %%d0, %%d0;\nmov.u32 %%r1, %%ctaid.x;\n%s\nDONE:\nret;\n}\n", strings.ReplaceAll(name, " ", "_"), barrier, body)
		want[name] = words
	}
	const fence = "fence.proxy.async;\n" // what is written is there for copies in bulk
	const finish = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
	kernel("reduces", first+fill+"st.global.v4.b32 [%d0], {10, 20, 30, 40};\n"+fence+"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [s], 16;\n"+
		"cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%d0+16], [s+16], 16;\n"+finish, 11, 22, 33, 44, 5, 6, 7, 8)
	kernel("reduces what the host wrote", first+fill+fence+"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0+64], [s], 16;\n"+finish+"ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d0+64];\nst.global.v4.b32 [%d0], {%r2, %r3, %r4, %r5};\n", 10, 10, 10, 10)
	kernel("counts", first+fill+"st.global.b64 [%d0], 4294967296;\nmov.b64 %d1, 9;\natom.global.inc.u32 %r2, [%d0+4], 5;\n"+fence+"cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u32 [%d0+16], [s], 16;\nst.global.u32 [%d0], %r2;"+finish, 1, 2, 0, 0, 1, 1, 1, 1)
	everywhere := func(name, written string, words ...uint32) {
		kernel(name, "mbarrier.init.shared.b64 [bar], 1;\n"+both+"setp.ne.u32 %p, %r1, 0;\n@%p bra WAITS;\n"+written+
			"mov.u16 %h, 3;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [s], [%d0+64], 16, [bar], %h;\nWAITS:\n"+wait(16)+
			"ld.shared.v2.b32 {%r2, %r3}, [s];\nmul.wide.u32 %d2, %r1, 8;\nadd.u64 %d2, %d0, %d2;\nst.global.v2.b32 [%d2], {%r2, %r3};\n"+both, words...)
	}
	everywhere("everywhere", "st.global.v4.b32 [%d0+64], {9, 8, 7, 6};\n"+fence, 9, 8, 9, 8)
	everywhere("everywhere what the host wrote", "", 9, 8, 9, 8)
	kernel("stores", "mbarrier.init.shared.b64 [bar], 1;\n"+both+"setp.eq.u32 %p, %r1, 0;\n@%p bra WAITS;\nmov.u32 %r4, s;\nmov.u32 %r5, bar;\nmapa.shared::cluster.u32 %r4, %r4, 0;\nmapa.shared::cluster.u32 %r5, %r5, 0;\n"+
		"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r4], {70, 80}, [%r5];\nred.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4+8], 7, [%r5];\n"+both+"bra DONE;\nWAITS:\n"+
		"st.shared.b32 [s+8], 1;\n"+wait(12)+"ld.shared.v2.b32 {%r2, %r3}, [s];\nst.global.v2.b32 [%d0], {%r2, %r3};\n"+both, 70, 80)
	kernel("wide", first+"st.global.v4.b32 [%d0], {1, 2, 3, 4};\nmov.b64 %d1, 8589934593;\nmov.b64 %d2, 17179869187;\nmov.b64 %d3, 5;\nmov.b128 %q0, {%d1, %d2};\nmov.b128 %q1, {%d3, %d2};\n"+
		"atom.global.cas.b128 %q2, [%d0], %q0, %q1;\nst.global.b128 [%d0+16], %q2;\natom.global.exch.b128 %q2, [%d0], %q0;\nst.global.b128 [%d0+32], %q2;", 1, 2, 3, 4, 1, 2, 3, 4, 5, 0, 3, 4)
	kernel("halves", first+"st.global.v2.b32 [%d0], {0x3c004000, 0x40003c00};\n.reg .b32 %x<4>;\nmov.b32 %x0, 0x42004200;\nmov.b32 %x1, 0xbc00;\n"+
		"red.global.min.noftz.v2.f16x2 [%d0], {%x1, %x0};", 0x0000bc00, 0x40003c00)
	kernel("indirect", first+"mov.b64 %d1, p;\nadd.u64 %d1, %d1, 4;\nld.param.u32 %r2, [%d1];\nld.param.u32 %r3, [%d1+8];\nst.global.v2.b32 [%d0], {%r2, %r3};", 102, 104)
	onBoth(t, ofPTX(strings.ReplaceAll(text.String(), ".reg .pred %p;", ".reg .pred %p;\n.reg .b16 %h;")), func(t *testing.T, b *box) {
		m := b.load(&driver.Source{Name: "memory.ptx"})
		for name, words := range want {
			t.Run(name, func(t *testing.T) {
				b.t = t
				f, err := b.d.ModuleFunction(b.c, m, strings.ReplaceAll(name, " ", "_"))
				b.ok(err)
				out := upload(b, []uint32{16: 9, 8, 7, 6, 31: 0})
				b.ok(b.launch(f, dim(2), dim(1), 0, out, [4]uint32{101, 102, 103, 104}))
				b.ok(b.d.CtxSynchronize(b.c, nil))
				if got := download[uint32](b, out, len(words)); fmt.Sprint(got) != fmt.Sprint(words) {
					t.Errorf("%d, want %d", got, words)
				}
			})
		}
	})
}

// TestContraction is about products and sums that name no rounding: they have one, as ptxas makes
// it. Others have two.
func TestContraction(t *testing.T) {
	const head = "(.param .u64 x) {\n.reg .b64 %d;\n.reg .f32 %f<9>;\nld.param.u64 %d, [x];\nld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%d];\n"
	const tail = "st.global.v2.f32 [%d+16], {%f5, %f6};\nret;\n}\n"
	x, y := float32(1+0x1p-12), float32(1-0x1p-12)
	product := float32(x * y) // 1: without its last bits
	one := float32(math.FMA(float64(x), float64(y), -1))
	var text strings.Builder
	want := map[string][2]float32{}
	kernel := func(name, body string, a, b float32) {
		text.WriteString(".visible .entry " + name + head + body + tail)
		want[name] = [2]float32{a, b}
	}
	kernel("sum", "mul.f32 %f4, %f0, %f1;\nadd.f32 %f5, %f4, 0fBF800000;\nmov.f32 %f6, 0f40000000;\n", one, 2)
	kernel("differences", "mul.f32 %f4, %f0, %f1;\nsub.f32 %f5, %f4, %f2;\nsub.f32 %f6, %f2, %f4;\n", one, -one)
	kernel("negated", "mul.f32 %f4, %f0, %f1;\nneg.f32 %f7, %f4;\nsub.f32 %f5, %f7, 0fBF800000;\nadd.f32 %f6, %f7, %f2;\n", -one, -one)
	kernel("rounded", "mul.rn.f32 %f4, %f0, %f1;\nadd.f32 %f5, %f4, 0fBF800000;\nmul.f32 %f7, %f0, %f1;\nadd.rn.f32 %f6, %f7, 0fBF800000;\n", product-1, product-1)
	kernel("used", "mul.f32 %f4, %f0, %f1;\nadd.f32 %f5, %f4, 0fBF800000;\nmov.f32 %f6, %f4;\n", product-1, product)
	onBoth(t, ofPTX(text.String()), func(t *testing.T, b *box) {
		m := b.load(&driver.Source{Name: "contraction.ptx"})
		for name, w := range want {
			f, err := b.d.ModuleFunction(b.c, m, name)
			b.ok(err)
			at := upload(b, []float32{x, y, 1, 0, 5: 0})
			b.ok(b.launch(f, dim(1), dim(1), 0, at))
			b.ok(b.sync())
			if got := download[float32](b, at, 6)[4:]; got[0] != w[0] || got[1] != w[1] {
				t.Errorf("%s: %g, want %g", name, got, w)
			}
		}
	})
}
