package evaluator

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	_ "gocuda/cudaapi/backend"
	"gocuda/kernel/golang"
	"gocuda/kernel/packages"
)

// TestTouched: what cells do with memory that devices use is told before it is done:
// which elements of xs, and whether they are written. While nothing is queued, nothing is
// told.
func TestTouched(t *testing.T) {
	var told []golang.Touch
	var out bytes.Buffer
	ev, err := golang.New(golang.Options{Stdout: &out, Stderr: &out, Packages: packages.All(),
		Touches: func() bool { return true }, Touched: func(x golang.Touch) { told = append(told, x) }})
	if err != nil {
		t.Fatal(err)
	}
	ev.SetPending(true)
	n := 0
	run := func(code string) string {
		n++
		out.Reset()
		res := ev.Eval(fmt.Sprintf("In[%d]", n), code, true)
		if res.Err != nil {
			return res.Err.Message
		}
		return ""
	}
	if text := run("h := must(must(cuda.CurrentDevice()).AllocHost(8, cuda.Int32))\nxs := must(h.Int32s())\nmore := make([]int32, 4)\ntype ints []int32\nfunc (x ints) Len() int { return len(x) }\nfunc (x ints) Less(i, j int) bool { return false }\nfunc (x ints) Swap(i, j int) {}\nfunc load(to *[]int32) { *to = must(h.Int32s()) }"); text != "" {
		t.Fatal(text)
	}
	told = nil
	if text := run("xs[0] = 1"); text != "" || len(told) != 1 {
		t.Fatal(text, told)
	}
	base := uintptr(told[0].P)
	for code, want := range map[string]string{
		"xs[2] = 5":                       "w2-3",
		"_ = xs[3] + 1":                   "r3-4",
		"xs[1]++":                         "w1-2",
		"copy(xs[2:4], more)":             "w2-4",
		"copy(more, xs[:3])":              "r0-3",
		"clear(xs)":                       "w0-8",
		"slices.Sort(xs)":                 "w0-8",
		"slices.Reverse(xs[1:3])":         "w1-3",
		"_ = slices.Max(xs)":              "r0-8",
		"_ = append(more, xs[:2]...)":     "r0-2",
		"_ = append(xs[:2], 7)":           "w2-3",
		"_ = append(xs[:2], more...)":     "w2-6",
		"_ = append(xs[:2], xs[5:7]...)":  "r5-7 w2-4",
		"_ = append(xs, 7)":               "r0-8",
		"_ = slices.Delete(xs, 1, 2)":     "w0-8",
		"_ = slices.Compact(xs)":          "w0-8",
		"_ = slices.Insert(xs[:3], 1, 9)": "w0-3",
		"_ = slices.Equal(xs, more)":      "r0-8",
		"_ = slices.SortedFunc(slices.Values(xs), func(a, b int32) int { return 0 })": "r0-8",
		"_ = sort.SliceIsSorted(xs, func(i, j int) bool { return false })":            "r0-8",
		"sort.Slice(xs, func(i, j int) bool { return false })":                        "w0-8",
		"sort.Sort(ints(xs))":                               "w0-8",
		"_ = strings.Repeat(\"x\", len(append(xs[:0], 1)))": "w0-1",
		"var ys []int32\nload(&ys)\nys[1] = 3":              "w1-2",
		"var zs []int32\np := &zs\n*p = xs\nzs[2] = 3":      "w2-3",
	} {
		told = nil
		text := run(code)
		if text != "" {
			t.Errorf("%s: %s", code, text)
		}
		var got []string
		for _, x := range told {
			kind := "r"
			if x.Write {
				kind = "w"
			}
			lo := (uintptr(x.P) - base) / 4
			if lo >= 8 {
				continue // other memory, which the address tells
			}
			got = append(got, fmt.Sprintf("%s%d-%d", kind, lo, lo+uintptr(x.Bytes/4)))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s\ntold %q, want %q", code, text, want)
		}
	}
	ev.SetPending(false)
	told = nil
	if text := run("xs[0] = 1"); text != "" || len(told) > 0 {
		t.Error(text, told)
	}
}
