package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
)

// Random kernels whose threads may go eight at a time, and may part: with addresses that grow
// evenly and others, guards, branches, loops, barriers, threads that end. An adversarial schedule
// runs some launches thread by thread: all registers are to have the same bits.

const (
	laneRegs    = 6
	laneThreads = 160
)

// laneWriter writes one.
type laneWriter struct {
	strings.Builder
	rng    *rand.Rand
	labels int
}

func (w *laneWriter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *laneWriter) reg(kind string) string {
	return fmt.Sprintf("%%%s%d", kind, w.rng.IntN(laneRegs))
}

func (w *laneWriter) pick(list ...string) string { return list[w.rng.IntN(len(list))] }

// number is an operand of 32 bits: a register, mostly.
func (w *laneWriter) number() string {
	if w.rng.IntN(3) == 0 {
		return fmt.Sprint(w.rng.IntN(40) - 8)
	}
	return w.reg("r")
}

// even gives %e, which grows evenly from thread to thread, but for what wraps.
func (w *laneWriter) even() {
	w.line("mul.lo.s32 %%e, %%t, %d;", w.rng.IntN(7)-3)
	w.line("add.s32 %%e, %%e, %s;", w.pick("%b", "2147483600", "-2147483600", "700"))
}

func (w *laneWriter) guard() string {
	if w.rng.IntN(10) > 0 {
		return ""
	}
	return w.pick("@", "@!") + w.reg("p") + " "
}

func (w *laneWriter) list(depth, n int) {
	for range n {
		d, a, b, g := w.reg("r"), w.number(), w.number(), w.guard()
		switch k := w.rng.IntN(24); k {
		case 0, 1, 2:
			w.line("%s%s.%s %s, %s, %s;", g, w.pick("add", "sub", "add", "sub", "mul.lo", w.pick("min", "max", "div", "rem", "mul.hi")), w.pick("s32", "u32"), d, w.reg("r"), b)
		case 3:
			w.line("%s%s.b32 %s, %s, %s;", g, w.pick("and", "or", "xor"), d, w.reg("r"), b)
		case 4:
			w.line("%s%s %s, %s, %s;", g, w.pick("shl.b32", "shr.u32", "shr.s32"), d, w.reg("r"), w.pick("3", "1", "31", "17", "32", w.reg("r")))
		case 5:
			w.line("%smad.lo.s32 %s, %s, %s, %s;", g, d, w.reg("r"), b, w.reg("r"))
		case 6, 7:
			w.line("%ssetp.%s.%s %s, %s, %s;", g, w.pick("eq", "ne", "lt", "le", "gt", "ge"), w.pick("s32", "u32"), w.reg("p"), w.reg("r"), b)
		case 8:
			w.line("%ssetp.%s.f32 %s, %s, %s;", g, w.pick("eq", "ne", "lt", "gt", "ge", "num", "ltu", "equ"), w.reg("p"), w.reg("f"), w.reg("f"))
		case 9:
			w.line("%s%s.pred %s, %s, %s;", g, w.pick("and", "or", "xor"), w.reg("p"), w.reg("p"), w.reg("p"))
		case 10:
			w.line("%sselp.%s;", g, w.pick(fmt.Sprintf("b32 %s, %s, %s, %s", d, a, b, w.reg("p")), fmt.Sprintf("f32 %s, %s, %s, %s", w.reg("f"), w.reg("f"), w.reg("f"), w.reg("p"))))
		case 11, 12:
			w.line("%s%s.f32 %s, %s, %s;", g, w.pick("add", "sub", "mul", "div.rn", "add.ftz", "mul.sat", "sub.ftz.sat", w.pick("min", "max", "add.rz")), w.reg("f"), w.reg("f"), w.reg("f"))
		case 13:
			w.line("%sfma.%s.f32 %s, %s, %s, %s;", g, w.pick("rn", "rm", "rn.ftz", "rn.sat", "rp"), w.reg("f"), w.reg("f"), w.reg("f"), w.reg("f"))
		case 14:
			w.line("%s%s.f32 %s, %s;", g, w.pick("sqrt.rn", "rcp.rn", "neg", "abs", "ex2.approx", "ex2.approx.ftz", "cvt.sat.f32", "rsqrt.approx", "sqrt.rn.ftz"), w.reg("f"), w.reg("f"))
		case 15:
			w.line("%s%s;", g, w.pick(fmt.Sprintf("cvt.rn.f32.s32 %s, %s", w.reg("f"), w.reg("r")), fmt.Sprintf("cvt.rzi.s32.f32 %s, %s", d, w.reg("f")),
				fmt.Sprintf("mov.b32 %s, %s", d, w.reg("f")), fmt.Sprintf("mov.b32 %s, %s", w.reg("f"), w.reg("r")), fmt.Sprintf("mov.u32 %s, %s", d, w.pick("%t", "%b", "%n", "7"))))
		case 16: // of the input, at any place
			w.line("and.b32 %%e, %s, 1023;\nmul.wide.u32 %%a, %%e, 4;\nadd.s64 %%a, %%a, %%in;", w.reg("r"))
			w.line("%sld.global.%s, [%%a+%d];", g, w.pick("u32 "+d, "f32 "+w.reg("f")), 4*w.rng.IntN(4))
		case 17, 18: // evenly
			by, what := 4*(w.rng.IntN(5)-2), w.pick("u32 "+d, "f32 "+w.reg("f"), "v2.u32 {%r0, %r1}", "v2.f32 {%f0, %f1}")
			if what[0] == 'v' {
				by *= 2
			}
			w.line("mul.wide.s32 %%a, %%t, %d;\nadd.s64 %%a, %%a, %%in;", by)
			w.line("%sld.global.%s, [%%a+%d];", g, what, 4096+8*w.rng.IntN(4))
		case 19: // to a place of the thread's own
			w.line("%sst.global.%s [%%own+%d], %s;", g, w.pick("u32", "f32"), 4*w.rng.IntN(4), w.pick(w.reg("r"), w.reg("f")))
			w.line("%sld.global.u32 %s, [%%own+%d];", g, d, 4*w.rng.IntN(4))
		case 20: // what may wrap as it widens
			w.even()
			w.line("%scvt.%s %%a, %%e;\nadd.s64 %%a, %%a, %d;\nshr.u64 %%a, %%a, 7;\ncvt.u32.u64 %s, %%a;", g, w.pick("s64.s32", "u64.u32"), w.rng.IntN(500), d)
		case 21:
			if depth > 0 {
				w.line("%sred.global.add.u32 [%%own+%d], %s;\nld.global.u32 %s, [%%own];", g, 4*w.rng.IntN(4), w.reg("r"), d)
				break
			}
			w.line("bar.sync 0;\nst.shared.u32 [%%s], %s;\nbar.sync 0;\nld.shared.u32 %s, [%%s+%d];\nbar.sync 0;", w.reg("r"), d, 4*w.rng.IntN(3))
		case 22:
			if depth > 2 {
				continue
			}
			w.labels++
			l := w.labels
			w.line("setp.%s.s32 %%q, %s, %s;\n@%%q bra F%d;", w.pick("lt", "ge", "eq"), w.pick("%t", "%b", "%s"), w.pick("3", "37", "80", "%b"), l)
			w.list(depth+1, 1+w.rng.IntN(5))
			w.line("F%d:", l)
		case 23:
			if depth > 1 {
				continue
			}
			w.labels++
			l := w.labels
			w.line("and.b32 %%c%d, %s, 3;\nB%d:", depth, w.pick("%t", "%b", "2"), l)
			w.list(max(depth+1, 1), 1+w.rng.IntN(4))
			w.line("add.s32 %%c%d, %%c%[1]d, 1;\nsetp.lt.s32 %%q, %%c%[1]d, 6;\n@%%q bra B%d;", depth, l)
			if w.rng.IntN(8) == 0 {
				w.line("setp.gt.s32 %%q, %%t, %d;\n@%%q bra END;", w.rng.IntN(laneThreads))
			}
		}
	}
}

func TestRandomLanes(t *testing.T) {
	const programs = 8
	seed := uint64(1)
	if s := os.Getenv("GOCUDA_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(34, seed))
	var module strings.Builder
	module.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	for p := range programs {
		w := &laneWriter{rng: rng}
		w.list(0, 30)
		fmt.Fprintf(&module, ".visible .entry k%d(.param .u64 input, .param .u64 output) {\n", p)
		for _, r := range []string{"b32 %r", "f32 %f", "pred %p"} {
			fmt.Fprintf(&module, ".reg .%s<%d>;\n", r, laneRegs)
		}
		module.WriteString(".reg .b32 %t, %b, %n, %e, %s, %c0, %c1, %c2, %c3;\n.reg .b64 %a, %in, %own, %out;\n.reg .pred %q;\n")
		fmt.Fprintf(&module, ".shared .align 4 .b8 slots[%d];\n", 4*laneThreads+16)
		module.WriteString("ld.param.u64 %in, [input];\nld.param.u64 %out, [output];\nmov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u64 %a, 0;\n")
		fmt.Fprintf(&module, "mov.u32 %%e, %%tid.y;\nmad.lo.u32 %%s, %%e, %%n, %%t;\nmov.u32 %%e, %%ctaid.x;\nmad.lo.u32 %%e, %%e, %d, %%s;\nmad.wide.u32 %%own, %%e, 64, %%out;\n", laneThreads)
		module.WriteString("shl.b32 %s, %s, 2;\nmov.u32 %e, slots;\nadd.u32 %s, %s, %e;\nst.shared.u32 [%s], 0;\nst.shared.u32 [%s+4], 0;\nst.shared.u32 [%s+8], 0;\nbar.sync 0;\n")
		for k := range laneRegs {
			fmt.Fprintf(&module, "ld.global.u32 %%r%d, [%%in+%d];\nld.global.f32 %%f%[1]d, [%%in+%[2]d];\nsetp.lt.s32 %%p%[1]d, %%t, %d;\n", k, 4*k, rng.IntN(200))
			if k < laneRegs/2 {
				fmt.Fprintf(&module, "add.u32 %%r%d, %%r%[1]d, %%t;\ncvt.rn.f32.s32 %%f%[1]d, %%t;\n", k)
			}
		}
		module.WriteString(w.String())
		module.WriteString("END:\n")
		for k := range laneRegs {
			fmt.Fprintf(&module, "st.global.u32 [%%own+%d], %%r%d;\nst.global.f32 [%%own+%d], %%f%[2]d;\n", 16+4*k, k, 40+4*k)
		}
		module.WriteString("ret;\n}\n")
	}
	text := strings.ReplaceAll(module.String(), "\nst.global.f32 [%own+60], %f5;", "")
	input := make([]uint32, 4096)
	for i := range input {
		input[i] = uint32(randomBits(rng, "rf"[rng.IntN(2)]))
	}
	blocks := []driver.Dim3{dim(laneThreads), dim(40, 4), dim(20, 3), dim(7)}
	var want [][]uint32
	for _, o := range []sim.Options{{Adversarial: true}, {}, {NoCheck: true}} {
		t.Run(fmt.Sprintf("check=%v/adversarial=%v", !o.NoCheck, o.Adversarial), func(t *testing.T) {
			o.Devices, o.CUDA = 1, "ptx"
			o.PTX = func(*driver.Source, string) (*driver.Compiled, error) {
				return &driver.Compiled{Image: []byte(text)}, nil
			}
			b := newBox(t, o)
			out, err := b.d.Compile(0, &driver.Source{Name: "k.ptx"})
			b.ok(err)
			m, err := b.d.ModuleLoad(b.c, out.Image)
			b.ok(err)
			in := upload(b, input)
			var got [][]uint32
			for p := range programs {
				k, err := b.d.ModuleFunction(b.c, m, fmt.Sprintf("k%d", p))
				b.ok(err)
				for _, block := range blocks {
					to := upload(b, make([]uint32, 2*laneThreads*16))
					b.ok(b.launch(k, dim(2), block, 0, in, to))
					b.ok(b.sync())
					got = append(got, download[uint32](b, to, 2*laneThreads*16))
				}
			}
			if want == nil {
				want = got
				return
			}
			for n := range got {
				for i, v := range got[n] {
					if v != want[n][i] {
						t.Fatalf("kernel %d, block %v, thread %d, word %d: %#x, want %#x", n/len(blocks), blocks[n%len(blocks)], i/16, i%16, v, want[n][i])
					}
				}
			}
		})
	}
}

// Of eight threads that go together the first whose access is wrong is named.
func TestLanesNameTheThread(t *testing.T) {
	b := newBox(t, bodies())
	const head = "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.y;\nmad.lo.u32 %r1, %r3, %r2, %r1;\n"
	for _, c := range []struct {
		body, want string
		block      driver.Dim3
	}{
		{"mul.wide.u32 %a, %r1, 4;\nadd.s64 %a, %d0, %a;\nst.global.u32 [%a], %r1;", "thread (44,0,0): illegal write of 4 bytes", dim(64)},
		{"mul.wide.u32 %a, %r1, 4;\nadd.s64 %a, %d0, %a;\nld.global.u32 %r1, [%a];", "thread (12,2,0): illegal read of 4 bytes", dim(16, 4)},
		{"mul.wide.u32 %a, %r1, 8;\nadd.s64 %a, %d0, %a;\nld.global.u32 %r1, [%a+4];", "thread (22,0,0): illegal read of 4 bytes", dim(64)},
		{"mul.wide.u32 %a, %r1, 4;\nsub.s64 %a, %d0, %a;\nst.global.u32 [%a+12], %r1;", "thread (4,0,0): illegal write of 4 bytes", dim(64)},
		{"mul.wide.u32 %a, %r1, 6;\nadd.s64 %a, %d0, %a;\nst.global.u32 [%a], %r1;", "thread (1,0,0): an access of 4 bytes", dim(8)},
	} {
		k := ptxKernel(b, ".reg .b64 %a;\n"+head+c.body)
		b.ok(b.launch(k, dim(1), c.block, 0, upload(b, make([]int32, 44))))
		if err := b.sync(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v, want %s", c.body, err, c.want)
		}
		b = newBox(t, bodies())
	}
}

// TestBitsOfIndices takes the bits of numbers that grow by the same from thread to thread for
// those of numbers with a fraction, which do not.
func TestBitsOfIndices(t *testing.T) {
	onBoth(t, throughPTX(t, sim.Options{Devices: 1}), func(t *testing.T, b *box) {
		k := b.kernel(`__global__ void k(int *x, int *y) {
    int t = threadIdx.x;
    x[t] = __double2loint(__longlong_as_double((long long)t * 3));
    y[t] = __float_as_int(__int_as_float(t + 0x3f800000) * 2);
}`)
		x, y := upload(b, make([]int32, 64)), upload(b, make([]int32, 64))
		b.ok(b.launch(k, dim(1), dim(64), 0, x, y))
		b.ok(b.sync())
		for i, v := range download[int32](b, x, 64) {
			if w := download[int32](b, y, 64)[i]; v != int32(3*i) || w != int32(i+0x40000000) {
				t.Errorf("thread %d: %d and %#x", i, v, w)
			}
		}
	})
}
