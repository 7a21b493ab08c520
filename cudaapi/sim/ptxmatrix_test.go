package sim_test

import (
	"strings"
	"testing"

	"gocuda/cudaapi/sim"
)

// TestMatricesInSharedMemory is about ldmatrix, stmatrix and movmatrix: a warp's numbers of 16 bits
// lie in shared memory, number n in row n/8.
func TestMatricesInSharedMemory(t *testing.T) {
	const room = `
mov.u32 %r0, bar;
mul.lo.u32 %r1, %t, 16;
add.u32 %r1, %r1, %r0;
mul.lo.u32 %r2, %t, 8;
add.u32 %r3, %r2, 1;
shl.b32 %r3, %r3, 16;
or.b32 %r4, %r2, %r3;
add.u32 %r5, %r4, 0x20002;
add.u32 %r6, %r5, 0x20002;
add.u32 %r7, %r6, 0x20002;
st.shared.v4.b32 [%r1], {%r4, %r5, %r6, %r7};
`
	const last = `
add.u32 %r10, %r10, %r11;
add.u32 %r10, %r10, %r12;
add.u32 %r10, %r10, %r13;
st.global.u32 [%at], %r10;`
	at := func(m, row, column int) uint32 { return uint32((8*m+row)*8 + column) }
	plain := func(m, i int) uint32 { return at(m, i/4, i%4*2) | at(m, i/4, i%4*2+1)<<16 }
	turned := func(m, i int) uint32 { return at(m, i%4*2, i/4) | at(m, i%4*2+1, i/4)<<16 }
	for _, c := range []struct {
		name, body string
		want       func(i int) uint32
	}{
		{"x1", room + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\nmov.u32 %r13, 0;" + last, func(i int) uint32 { return plain(0, i) }},
		{"x2", room + "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r1];\nxor.b32 %r11, %r11, 5;\nmov.u32 %r12, 0;\nmov.u32 %r13, 0;" + last, func(i int) uint32 { return plain(0, i) + (plain(1, i) ^ 5) }},
		{"x4", room + "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r10, %r11, %r12, %r13}, [%r1];\nxor.b32 %r11, %r11, 5;\nxor.b32 %r12, %r12, 9;\nxor.b32 %r13, %r13, 17;" + last,
			func(i int) uint32 {
				return plain(0, i) + (plain(1, i) ^ 5) + (plain(2, i) ^ 9) + (plain(3, i) ^ 17)
			}},
		{"x4 transposed, by a generic address", room + "cvt.u64.u32 %d1, %r1;\ncvta.shared.u64 %d1, %d1;\nldmatrix.sync.aligned.m8n8.x4.trans.b16 {%r10, %r11, %r12, %r13}, [%d1];\nxor.b32 %r11, %r11, 5;\nxor.b32 %r12, %r12, 9;\nxor.b32 %r13, %r13, 17;" + last,
			func(i int) uint32 {
				return turned(0, i) + (turned(1, i) ^ 5) + (turned(2, i) ^ 9) + (turned(3, i) ^ 17)
			}},
		{"stored where it was, the other way round", room + "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r1];\nstmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r1], {%r11, %r10};\n" +
			"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r1];\nxor.b32 %r11, %r11, 5;\nxor.b32 %r12, %r12, 9;\nxor.b32 %r13, %r13, 17;" + last,
			func(i int) uint32 {
				return turned(1, i) + (turned(0, i) ^ 5) + (plain(2, i) ^ 9) + (plain(3, i) ^ 17)
			}},
		{"movmatrix", room + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10;\nmov.u32 %r11, 0;\nmov.u32 %r12, 0;\nmov.u32 %r13, 0;" + last, func(i int) uint32 { return turned(0, i) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, bodies(), func(t *testing.T, b *box) {
				k := ptxKernel(b, c.body)
				data := upload(b, make([]uint32, 32))
				b.ok(b.launch(k, dim(1), dim(32), 0, data))
				b.ok(b.sync())
				for i, v := range download[uint32](b, data, 32) {
					if v != c.want(i) {
						t.Fatalf("lane %d: %#x, want %#x", i, v, c.want(i))
					}
				}
			})
		})
	}
}

// TestMatricesNeedAWarp is about lanes that are missing, or elsewhere.
func TestMatricesNeedAWarp(t *testing.T) {
	const mma = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r10, %r11}, {%r1}, {%r2}, {%r3, %r4};\n"
	for name, c := range map[string]struct {
		body    string
		threads uint32
	}{
		"half a warp":      {mma, 16},
		"one has returned": {"setp.eq.u32 %p0, %t, 7;\n@%p0 bra END;\n" + mma + "END:", 32},
		"one shuffles":     {"setp.eq.u32 %p0, %t, 7;\n@%p0 bra OTHER;\n" + mma + "bra END;\nOTHER:\nshfl.sync.idx.b32 %r10, %r1, 0, 31, -1;\nEND:", 32},
		"at two places":    {"setp.eq.u32 %p0, %t, 7;\n@%p0 bra OTHER;\n" + mma + "bra END;\nOTHER:\n" + mma + "END:", 32},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, bodies())
			k := ptxKernel(b, c.body)
			b.ok(b.launch(k, dim(1), dim(c.threads), 0, upload(b, make([]uint32, 32))))
			if err := b.sync(); err == nil || !strings.Contains(err.Error(), "the 32 lanes of a warp do mma.sync together") {
				t.Error(err)
			}
		})
	}
}

// TestFragmentsOfWMMA has fragments' numbers where compute capability 9.0 has them: programs look.
func TestFragmentsOfWMMA(t *testing.T) {
	onBoth(t, bodies(), func(t *testing.T, b *box) {
		k := ptxKernel(b, `
add.u64 %d1, %d0, 128;
wmma.load.a.sync.aligned.col.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d1], 16;
wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%d1], 16;
xor.b32 %r2, %r2, %r7;
xor.b32 %r11, %r11, %r16;
add.u32 %r2, %r2, %r1;
add.u32 %r2, %r2, %r11;
st.global.u32 [%at], %r2;`)
		words := make([]uint32, 32+128)
		for i := range 128 {
			words[32+i] = uint32(2*i) | uint32(2*i+1)<<16
		}
		data := upload(b, words)
		b.ok(b.launch(k, dim(1), dim(32), 0, data))
		b.ok(b.sync())
		for i, v := range download[uint32](b, data, 32) {
			two := func(at, next int) uint32 { return uint32(at) | uint32(next)<<16 }
			a := func(row, k int) uint32 { return two(k*16+row, (k+1)*16+row) } // by columns
			g, in := i/4, i%4*2
			want := (a(g, in+8) ^ a(g+8, in+8)) + a(g+8, in) + (two(g*16+in+8, g*16+in+9) ^ two((g+8)*16+in, (g+8)*16+in+1))
			if v != want {
				t.Fatalf("lane %d: %#x, want %#x", i, v, want)
			}
		}
	})
}

// TestMatricesOutOfBounds has the line of what loads.
func TestMatricesOutOfBounds(t *testing.T) {
	b := newBox(t, throughPTX(t, sim.Options{Devices: 1})) // what lies there is up to a GPU
	k := b.kernel("#include <mma.h>\nusing namespace nvcuda;\n__global__ void k(const half *a, float *c) {\n\twmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> f;\n" +
		"\twmma::load_matrix_sync(f, a, 16);\n\n\twmma::load_matrix_sync(f, a + 1000000, 16);\n\tc[threadIdx.x] = f.x[0];\n}")
	b.ok(b.launch(k, dim(1), dim(32), 0, upload(b, make([]uint16, 256)), upload(b, make([]float32, 32))))
	if err := b.sync(); err == nil || !strings.Contains(err.Error(), "illegal read of 4 bytes") || !strings.Contains(err.Error(), "(line 7)") {
		t.Error(err)
	}
}
