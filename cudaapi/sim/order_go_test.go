package sim_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/sim"
)

// The labelled suite of kernels in Go: testdata/races/golang. Its marks are those of TestRaces.
func TestRacesOfGo(t *testing.T) {
	files, _ := filepath.Glob("testdata/races/golang/*.go.txt")
	counts := map[bool]int{}
	if testing.Short() {
		files = files[:1] // it is C++ that is compiled
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var found []driver.Race
			b := newBox(t, throughPTX(t, sim.Options{Devices: 1, Races: true, OnRaces: func(list []driver.Race) { found = append(found, list...) }}))
			var kernels []*racyKernel
			lines := []string{}
			for i, c := range raceCases(t, file) {
				for _, r := range []bool{false, true} {
					if r && c.kind == "clean" {
						continue
					}
					k := &racyKernel{raceCase: c, racy: r, symbol: fmt.Sprintf("k%d_%v", i, r), at: len(lines)}
					text, one, two := c.source(r, k.symbol)
					k.one, k.two = one, two
					lines = append(lines, text...)
					kernels = append(kernels, k)
				}
			}
			prog, err := gokernel.Compile(strings.Join(lines, "\n"), gokernel.Options{Name: "In[5]"})
			if err != nil {
				t.Fatal(err)
			}
			src := &driver.Source{Name: "In[5].cu", Shown: "In[5]", Code: prog.Code, OnHost: prog.OnHost, Lined: prog.Lined, Options: []string{"--device-as-default-execution-space"}}
			out, err := b.d.Compile(0, src)
			if err != nil {
				t.Fatal(err)
			}
			m, err := b.d.ModuleLoad(b.c, out.Image)
			b.ok(err)
			const words = 1 << 16
			fill := make([]int32, words)
			for i := range fill {
				fill[i] = int32(i % 251)
			}
			bufs := []driver.Ptr{upload(b, fill), upload(b, fill), upload(b, fill)}
			for _, k := range kernels {
				t.Run(k.name+"/"+map[bool]string{true: "racy", false: "clean"}[k.racy], func(t *testing.T) {
					i := slices.IndexFunc(prog.Kernels, func(p gokernel.Kernel) bool { return p.Name == k.symbol })
					if i < 0 {
						t.Fatal("no kernel")
					}
					f, err := b.d.ModuleFunction(b.c, m, prog.Kernels[i].Symbol)
					b.ok(err)
					for _, p := range bufs {
						b.ok(b.d.Memcpy(b.c, p, ptr(fill), 4*words))
					}
					l := &driver.Launch{Function: f, Grid: k.grid, Block: k.block, SharedBytes: max(k.shared, uint32(prog.Kernels[i].Shared)), Name: k.name, Cooperative: prog.Kernels[i].Cooperative,
						Origin: &driver.Origin{Source: src, Symbol: prog.Kernels[i].Symbol}}
					for i, p := range bufs {
						l.Pointers = append(l.Pointers, driver.PointerParam{Offset: uint32(len(l.Params)), Name: "abc"[i : i+1], Elem: 4})
						for _, n := range []uint64{uint64(p), words, words} {
							l.Params = binary.NativeEndian.AppendUint64(l.Params, n)
						}
					}
					l.Params = binary.NativeEndian.AppendUint64(l.Params, 256)
					counts[k.racy]++
					k.judge(t, b, l, &found)
				})
			}
		})
	}
	t.Logf("%d racy kernels, %d clean ones", counts[true], counts[false])
}
