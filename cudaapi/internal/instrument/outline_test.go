package instrument

import (
	"slices"
	"strings"
	"testing"
)

// around is a module whose kernel k has the body that stands at BODY.
const around = `.version 8.7
.target sm_90
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.global .align 8 .b8 __cudart_sin_cos_coeffs[16];
.global .align 4 .u32 counter;
.func  (.param .b64 func_retval0) reads( .param .b64 reads_param_0 )
{
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [reads_param_0];
	ld.global.u64 	%rd2, [%rd1];
	st.param.b64 	[func_retval0+0], %rd2;
	ret;
}
.func  (.param .b64 func_retval0) reckons( .param .b64 reckons_param_0 )
{
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [reckons_param_0];
	mov.u64 	%rd2, __cudart_sin_cos_coeffs;
	ld.global.nc.u64 	%rd2, [%rd2+8];
	st.param.b64 	[func_retval0+0], %rd2;
	ret;
}
.visible .entry k(
	.param .u64 k_param_0,
	.param .u64 k_param_1,
	.param .u32 k_param_2,
	.param .f32 k_param_3
)
{
	.reg .pred 	%p<9>;
	.reg .b32 	%r<20>;
	.reg .f32 	%f<9>;
	.reg .b64 	%rd<20>;
	ld.param.u64 	%rd1, [k_param_0];
	ld.param.u64 	%rd2, [k_param_1];
	ld.param.u32 	%r1, [k_param_2];
	ld.param.f32 	%f1, [k_param_3];
	mov.u32 	%r2, %tid.x;
	mul.wide.u32 	%rd3, %r2, 4;
	add.s64 	%rd4, %rd1, %rd3;
	add.s64 	%rd5, %rd2, %rd3;
BODY
	ret;
}
`

func TestOutlines(t *testing.T) {
	for name, c := range map[string]struct {
		body    string
		by      []int // nil: there is no outline
		notes   int
		has, no []string
	}{
		"a copy": {`ld.global.f32 %f2, [%rd4];
			mul.f32 %f3, %f2, %f1;
			st.global.f32 [%rd5], %f3;`, []int{0, 1}, 2, nil, []string{"ld.global.f32", "st.global", "mul.f32"}},
		"up to n": {`setp.ge.u32 %p1, %r2, %r1;
			@%p1 bra $out;
			st.global.f32 [%rd4], %f1;
			$out:`, []int{0, 2}, 1, []string{"@%p1 bra $out;"}, nil},
		"a loop over n": {`mov.u32 %r3, 0;
			$again:
			st.global.f32 [%rd4], %f1;
			add.s32 %r3, %r3, 1;
			add.s64 %rd4, %rd4, 4;
			setp.lt.s32 %p1, %r3, %r1;
			@%p1 bra $again;`, []int{0, 2}, 1, []string{"add.s64 %rd4, %rd4, 4;"}, nil},
		"an index in memory": {`ld.global.u32 %r3, [%rd4];
			mul.wide.u32 %rd6, %r3, 4;
			add.s64 %rd7, %rd2, %rd6;
			st.global.f32 [%rd7], %f1;`, nil, 2, nil, nil},
		"an index that an atomic operation gives": {`atom.global.add.u32 %r3, [%rd1], 1;
			mul.wide.u32 %rd6, %r3, 4;
			add.s64 %rd7, %rd2, %rd6;
			st.global.f32 [%rd7], %f1;`, nil, 2, nil, nil},
		"an index from shared memory": {`ld.shared.u32 %r3, [%r2];
			mul.wide.u32 %rd6, %r3, 4;
			add.s64 %rd7, %rd2, %rd6;
			st.global.f32 [%rd7], %f1;`, nil, 1, nil, nil},
		"a store if memory says so": {`ld.global.f32 %f2, [%rd4];
			setp.gt.f32 %p1, %f2, %f1;
			@%p1 st.global.f32 [%rd5], %f2;`, nil, 2, nil, nil},
		"a way past a store if memory says so": {`ld.global.f32 %f2, [%rd4];
			setp.gt.f32 %p1, %f2, %f1;
			@%p1 bra $out;
			st.global.f32 [%rd5], %f2;
			$out:`, nil, 2, nil, nil},
		"an early end if memory says so": {`ld.global.f32 %f2, [%rd4];
			setp.gt.f32 %p1, %f2, %f1;
			@%p1 ret;
			st.global.f32 [%rd5], %f2;`, nil, 2, nil, nil},
		"an address that two ways give": {`ld.global.f32 %f2, [%rd4];
			setp.gt.f32 %p1, %f2, %f1;
			@%p1 bra $out;
			mov.u64 %rd5, %rd2;
			$out:
			st.global.f32 [%rd5], %f2;`, nil, 2, nil, nil},
		"a way that touches nothing": {`ld.global.f32 %f2, [%rd4];
			setp.gt.f32 %p1, %f2, %f1;
			@%p1 bra $out;
			neg.f32 %f2, %f2;
			$out:
			st.global.f32 [%rd5], %f2;`, []int{0, 1}, 2, nil, []string{"neg", "@%p1"}},
		"a wait for a clock": {`mov.u64 %rd6, %clock64;
			$again:
			mov.u64 %rd7, %clock64;
			sub.s64 %rd8, %rd7, %rd6;
			setp.lt.s64 %p1, %rd8, 1000;
			@%p1 bra $again;
			st.global.f32 [%rd4], %f1;`, []int{0}, 1, nil, []string{"clock", "@%p1"}},
		"as often as memory says": {`$again:
			ld.global.f32 %f2, [%rd4];
			setp.gt.f32 %p1, %f2, %f1;
			@%p1 bra $again;
			st.global.f32 [%rd5], %f2;`, nil, 2, nil, nil},
		"an address by the multiprocessor": {`mov.u32 %r3, %smid;
			mul.wide.u32 %rd6, %r3, 4;
			add.s64 %rd7, %rd2, %rd6;
			st.global.f32 [%rd7], %f1;`, nil, 1, nil, nil},
		"an address that a float decides": {`cvt.rzi.u32.f32 %r3, %f1;
			mul.wide.u32 %rd6, %r3, 4;
			add.s64 %rd7, %rd2, %rd6;
			st.global.f32 [%rd7], %f1;`, []int{1, 3}, 1, nil, nil},
		"a function that reads": {`{
			.param .b64 param0;
			st.param.b64 [param0+0], %rd4;
			.param .b64 retval0;
			call.uni (retval0),
			reads,
			(
			param0
			);
			ld.param.b64 %rd6, [retval0+0];
			}
			st.global.u64 [%rd5], %rd6;`, nil, 2, nil, nil}, // one of them in the function
		"a function that reads the compiler's tables": {`{
			.param .b64 param0;
			st.param.b64 [param0+0], %rd4;
			.param .b64 retval0;
			call.uni (retval0),
			reckons,
			(
			param0
			);
			ld.param.b64 %rd6, [retval0+0];
			}
			st.global.u64 [%rd5], %rd6;`, []int{1}, 1, nil, []string{"reckons,"}},
		"a function that prints": {`{
			.param .b64 param0;
			st.param.b64 [param0+0], %rd4;
			.param .b32 retval0;
			call.uni (retval0),
			vprintf,
			(
			param0,
			param0
			);
			ld.param.b32 %r6, [retval0+0];
			}
			st.global.u32 [%rd5], %r6;`, []int{1}, 1, nil, []string{"vprintf, ("}},
		"a function by its address": {`mov.u64 %rd9, reads;
			call (retval0), %rd9, (param0), prototype_0;
			st.global.u64 [%rd5], %rd6;`, nil, 2, nil, nil},
		"a table of the compiler's at an index in memory": {`ld.global.u32 %r3, [%rd4];
			mul.wide.u32 %rd6, %r3, 4;
			mov.u64 %rd8, __cudart_sin_cos_coeffs;
			add.s64 %rd7, %rd8, %rd6;
			ld.global.nc.f32 %f2, [%rd7+8];
			st.global.f32 [%rd5], %f2;`, []int{0, 1}, 2, nil, nil},
		"a variable": {`ld.global.u32 %r3, [counter];
			atom.global.add.u32 %r4, [counter], %r3;`, []int{}, 2, []string{"ld.global.u64 %gocuda_v, [gocuda_at_1];"}, []string{"atom"}},
		"a copy to shared memory": {`cp.async.ca.shared.global [%r2], [%rd4], 16;
			cp.async.commit_group;
			bar.sync 0;`, []int{0}, 1, nil, []string{"cp.async", "bar.sync"}},
		"a trap": {`setp.ge.u32 %p1, %r2, %r1;
			@%p1 trap;
			st.global.f32 [%rd4], %f1;`, []int{0, 2}, 1, []string{"@%p1 ret;"}, nil},
		"carries": {`add.cc.u32 %r3, %r1, %r2;
			addc.u32 %r4, %r1, 0;
			mul.wide.u32 %rd6, %r4, 4;
			add.s64 %rd7, %rd2, %rd6;
			st.global.f32 [%rd7], %f1;`, nil, 1, nil, nil},
		"jumps by a table": {`brx.idx %r1, $list;
			$out:
			st.global.f32 [%rd4], %f1;`, nil, 1, nil, nil},
	} {
		text := strings.Replace(around, "BODY", c.body, 1)
		n, err := rewrite(text, someRuntime, true)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		by, ok := n.outlines["k"]
		if ok != (c.by != nil) || !slices.Equal(by, c.by) {
			t.Errorf("%s: outline %v, by %v; want by %v", name, ok, by, c.by)
			continue
		}
		_, kernel, _ := strings.Cut(n.text, ".entry k")
		notes := strings.Count(kernel, "call gocuda_note")
		if strings.Contains(c.body, "reads,") || strings.Contains(c.body, "%rd9, (param0)") {
			notes++ // in the function
		}
		if notes != c.notes {
			t.Errorf("%s: %d notes, want %d\n%s", name, notes, c.notes, kernel)
		}
		for _, want := range c.has {
			if !strings.Contains(kernel, want) {
				t.Errorf("%s: no %q in\n%s", name, want, kernel)
			}
		}
		for _, bad := range c.no {
			if strings.Contains(kernel, bad) {
				t.Errorf("%s: %q in\n%s", name, bad, kernel)
			}
		}
	}
}

// A kernel that may wait for another must have all of the other's room; one that only
// tells others something need not.
func TestWaits(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want bool
	}{
		"a wait for a flag": {`$again:
			ld.volatile.global.u32 %r3, [%rd4];
			setp.eq.s32 %p1, %r3, 0;
			@%p1 bra $again;`, true},
		"a lock": {`$again:
			atom.global.cas.b32 %r3, [%rd4], 0, 1;
			setp.ne.s32 %p1, %r3, 0;
			@%p1 bra $again;`, true},
		"a wait in a loop over n": {`mov.u32 %r4, 0;
			$next:
			ld.acquire.sys.global.u32 %r3, [%rd4];
			setp.ne.s32 %p1, %r3, %r4;
			@%p1 bra $next;
			add.s32 %r4, %r4, 1;
			setp.lt.s32 %p2, %r4, %r1;
			@%p2 bra $next;`, true},
		"a wait that another thread makes": {`$again:
			ld.volatile.global.u32 %r3, [%rd4];
			st.shared.u32 [%r2], %r3;
			bar.sync 0;
			ld.shared.u32 %r4, [%r2];
			setp.eq.s32 %p1, %r4, 0;
			@%p1 bra $again;`, true},
		"a wait whose end is a variable's": {`mov.u32 %r4, 0;
			$again:
			ld.volatile.global.u32 %r3, [%rd4];
			setp.eq.s32 %p1, %r3, 0;
			@%p1 bra $not;
			mov.u32 %r4, 1;
			$not:
			setp.eq.s32 %p2, %r4, 0;
			@%p2 bra $again;`, true},
		"a wait in a function": {`$again:
			call.uni (retval0), reads, (param0);
			ld.param.u32 %r3, [retval0+0];
			setp.eq.s32 %p1, %r3, 0;
			@%p1 bra $again;`, true},
		"one that only tells": {`st.global.f32 [%rd4], %f1;
			membar.sys;
			atom.sys.global.exch.b32 %r3, [%rd5], 1;`, false},
		"a count of what is found": {`mov.u32 %r4, 0;
			$next:
			ld.global.u32 %r3, [%rd4];
			setp.eq.s32 %p1, %r3, 0;
			@%p1 bra $not;
			atom.sys.global.add.u32 %r5, [%rd5], 1;
			$not:
			add.s32 %r4, %r4, 1;
			setp.lt.s32 %p2, %r4, %r1;
			@%p2 bra $next;`, false},
		"a loop as long as memory said before": {`ld.global.u32 %r3, [%rd4];
			mov.u32 %r4, 0;
			$next:
			atom.sys.global.add.u32 %r5, [%rd5], 1;
			add.s32 %r4, %r4, 1;
			setp.lt.s32 %p2, %r4, %r3;
			@%p2 bra $next;`, false},
	} {
		n, err := rewrite(strings.Replace(around, "BODY", c.body, 1), someRuntime, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if n.waits["k"] != c.want {
			t.Errorf("%s: waits %v, want %v", name, !c.want, c.want)
		}
	}
}
