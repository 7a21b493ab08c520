package magic

import (
	"strings"
	"testing"

	"gocuda/cudaapi/cuda"
)

const scaleInPTX = `%%ptx --name m
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 count = 5;
.visible .entry scale(.param .u64 x, .param .f32 a, .param .s32 n)
{
	.reg .pred %p<2>;
	.reg .f32 %f<4>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [x];
	ld.param.f32 %f1, [a];
	ld.param.s32 %r1, [n];
	mov.u32 %r2, %tid.x;
	setp.ge.s32 %p1, %r2, %r1;
	@%p1 bra done;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.s32 %rd3, %r2, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.f32 %f2, [%rd4];
	mul.f32 %f3, %f2, %f1;
	st.global.f32 [%rd4], %f3;
done:
	ret;
}
.visible .entry another() { ret; }
`

func TestPTX(t *testing.T) {
	needsCompiler(t)
	r := compiles(t, scaleInPTX, "compiled: scale, another, module m\n")
	d := device(t)
	x, err := d.Upload([]float32{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	launched(t, r, "scale", x, 2.5, -1)
	launched(t, r, "scale", x, 2, 1)
	got := make([]float32, 3)
	if err := x.Download(got); err != nil || got[0] != 2 || got[1] != 2 {
		t.Error(got, err)
	}
	if b, err := r.defined["m"].(*cuda.Module).Global(d, "count", cuda.Int32); err != nil || b.Len() != 1 {
		t.Error(b, err)
	}
	k := r.defined["scale"].(*cuda.Kernel)
	for want, arguments := range map[string][]any{
		"argument 3 (n) of scale(.u64 x, .f32 a, .s32 n): a floating-point number": {x, 1, 1.5},
		"argument 2 (a) of scale(.u64 x, .f32 a, .s32 n)":                          {x, x, 1},
		"5000000000 does not fit into .s32":                                        {x, 1, 5000000000},
		"takes 3 arguments, not 2":                                                 {x, 1},
	} {
		if err := k.Launch(cuda.Grid(1), cuda.Block(1), nil, arguments...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, c := range [][3]string{
		{"mul.f32", "mul.f99", "In[3]:22: error: "},
		{"bra done", "bra nowhere", "In[3]:17: error: the PTX branches to nowhere, which is no label"},
		{"ret;", "ret", "In[3]:26: error: "},
		{".version 7.0", "", "there is no .version"},
		{"--name m", "-O3", "there is no option -O3"},
		{"--name m", "--instantiate 'f<int>'", "there is no option --instantiate"},
	} {
		if _, err := run(t, strings.Replace(scaleInPTX, c[0], c[1], 1)); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v, want %q", c[1], err, c[2])
		}
	}
}

// An illegal access names the line of the cell.
func TestIllegalAccessOfPTX(t *testing.T) {
	needsCompiler(t)
	t.Cleanup(func() { run(t, "%sim seed 1") }) //nolint:errcheck // devices without the error
	r := compiles(t, scaleInPTX, "compiled: scale, another, module m\n")
	launched(t, r, "scale", nil, 2, 1)
	err := device(t).Synchronize()
	if err == nil || !strings.Contains(err.Error(), "kernel scale, block (0,0,0), thread (0,0,0): illegal read of 4 bytes") || !strings.Contains(err.Error(), "(line 21)") {
		t.Error(err)
	}
}
