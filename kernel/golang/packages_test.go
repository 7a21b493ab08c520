package golang

import "testing"

func TestPackages(t *testing.T) {
	for _, sc := range []scenario{
		{"the generic standard library", []string{
			"slices.Max([]int{1, 5, 3})", "=> 5",
			"slices.Sorted(maps.Keys(map[string]int{\"x\": 1, \"a\": 2}))", `=> []string{"a", "x"}`,
			"type P struct { N string; A int }\nps := []P{{\"b\", 2}, {\"a\", 1}}\nslices.SortFunc(ps, func(a, b P) int { return cmp.Compare(a.A, b.A) })\nps[0].N", `=> "a"`,
			"slices.Collect(strings.SplitSeq(\"a b\", \" \"))", `=> []string{"a", "b"}`,
			"for i, v := range slices.Backward([]int{1, 2}) { fmt.Println(i, v) }", "1 2\n0 1",
			"f := sync.OnceValue(func() int { fmt.Println(\"once\"); return 3 })\nf() + f()", "once\n=> 6",
			"var p atomic.Pointer[P]\np.Store(&ps[1])\np.Load().N", `=> "b"`,
			"_, err := os.Open(\"/no/such\")\ne, ok := errors.AsType[*fs.PathError](err)\nfmt.Println(e.Op, ok)", "open true",
			"next, stop := iter.Pull(slices.Values([]int{7, 8}))\na, _ := next()\nb, _ := next()\n_, more := next()\nstop()\nfmt.Println(a, b, more)", "7 8 false",
		}},
		{"literals", []string{
			"func f(x *[3]float64) [2]float64 { return [2]float64{1, -x[2]} }\nf(&[3]float64{1, 2, 3})", "=> [2]float64{1, -3}",
		}},
		{"the Go installation", []string{
			"root := runtime.GOROOT()\n_, err := os.Stat(filepath.Join(root, \"src\", \"fmt\"))\nerr", "=> nil",
			"build.Default.GOROOT == root", "=> true",
			"p, err := importer.ForCompiler(token.NewFileSet(), \"source\", nil).Import(\"sort\")\np.Scope().Lookup(\"Stable\").Type(), err", "=> func(data sort.Interface), nil",
		}},
		{"no arguments for functions", []string{
			"type T struct{}\nfunc g(list ...func(*T)) int { return len(list) }\ng()", "=> 0",
		}},
	} {
		t.Run(sc.name, sc.test)
	}
}
