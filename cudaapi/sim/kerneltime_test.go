package sim

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// metal is what package calibrate's probes took on an H200: 2026-11-21, driver
// 580.159.04, the first of two on NVLink.
func metal(t *testing.T) map[string]time.Duration {
	text, err := os.ReadFile("calibrate/testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]time.Duration{}
	for line := range strings.Lines(string(text)) {
		name, ns, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var d int64
		if _, err := fmt.Sscan(ns, &d); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		m[name] = time.Duration(d)
	}
	return m
}

// TestKernelsNearMetal has the model time kernels too large to run in a test, by
// what is known of them, and compares with what they took.
func TestKernelsNearMetal(t *testing.T) {
	p := profiles["h200"]
	measured := metal(t)
	// linear is a kernel with a thread for each of n elements of some bytes, that
	// loads from one buffer so often, and loads from another and stores there.
	linear := func(n, bytes, block, loads, changes, stores, perSM uint64) *kernelLoad {
		k := &kernelLoad{counted: true, blocks: (n + block - 1) / block, threads: block, loads: n * (loads + changes), stores: n * stores,
			read: n * (loads + changes) * bytes, stored: n * stores * bytes, rounds: float64(min(loads, 1))}
		size := uintptr(n * bytes)
		k.areas = []area{{span: span{0, size}, read: n * loads * bytes}, {span: span{size, 2 * size}, written: true, read: n * changes * bytes, stored: n * stores * bytes}}
		k.resident = uint64(p.SMs) * min(perSM, 2048/block)
		return k
	}
	type probe struct {
		name string
		k    *kernelLoad
	}
	var probes []probe
	for _, mib := range []uint64{16, 64, 256} {
		n := mib << 20
		add := func(name string, k *kernelLoad) {
			probes = append(probes, probe{fmt.Sprintf("%s, %d MiB", name, mib), k})
		}
		add("copy f32", linear(n/4, 4, 256, 1, 0, 1, 32))
		add("copy f64", linear(n/8, 8, 256, 1, 0, 1, 32))
		add("copy f32x4", linear(n/16, 16, 256, 1, 0, 1, 32))
		add("axpy f32", linear(n/4, 4, 256, 1, 1, 1, 32))
		add("axpy f64", linear(n/8, 8, 256, 1, 1, 1, 32))
		add("fill f32", linear(n/4, 4, 256, 0, 0, 1, 32))
		add("read f32", linear(n/4, 4, 256, 1, 0, 0, 32))
		for _, bytes := range []uint64{4, 8} {
			k := linear(n/bytes, bytes, 256, 1, 0, 1, 32)
			k.rounds = float64(k.blocks) / 1056
			k.blocks = 1056
			add(fmt.Sprintf("grid-stride f%d", 8*bytes), k)
		}
		sum := linear(n/4, 4, 256, 1, 0, 0, 32)
		sum.barriers, sum.shared = 9, n*4
		add("sum f32", sum)
		if mib < 256 {
			continue
		}
		for _, block := range []uint64{32, 64, 128, 512, 1024} {
			probes = append(probes, probe{fmt.Sprintf("copy f32, 64 MiB, blocks of %d", block), linear(n/16, 4, block, 1, 0, 1, 32)})
			probes = append(probes, probe{fmt.Sprintf("copy f32, 256 MiB, blocks of %d", block), linear(n/4, 4, block, 1, 0, 1, 32)})
		}
		for shared, perSM := range map[int]uint64{48: 4, 96: 2, 200: 1} {
			probes = append(probes, probe{fmt.Sprintf("copy f32, 256 MiB, %d KiB shared", shared), linear(n/4, 4, 256, 1, 0, 1, perSM)})
		}
	}
	for _, w := range []uint64{1024, 2048, 4096, 8192} {
		for _, block := range []string{"32 x 8", "16 x 16", "256 x 1", "32 x 32"} {
			threads := uint64(256)
			if block == "32 x 32" {
				threads = 1024
			}
			for _, bytes := range []uint64{4, 8} {
				probes = append(probes, probe{fmt.Sprintf("jacobi f%d, %d, blocks of %s", 8*bytes, w, block), linear(w*w, bytes, threads, 4, 0, 1, 32)})
			}
		}
	}
	for _, threads := range []uint64{32, 256, 1024} {
		for _, blocks := range []uint64{1, 132, 1056, 16384, 131072} {
			probes = append(probes, probe{fmt.Sprintf("empty, %d blocks of %d", blocks, threads),
				&kernelLoad{counted: true, blocks: blocks, threads: threads, resident: uint64(p.SMs) * min(32, 2048/threads)}})
		}
	}
	// far are those that the model is not so near to, and why.
	far := map[string]string{"sum f32, 16 MiB": "its barriers' cost, between blocks that begin as fast as they can"}
	compared := 0
	for _, c := range probes {
		want, ok := measured[c.name]
		if !ok {
			continue
		}
		row := time.Duration(10)
		if strings.HasPrefix(c.name, "empty") {
			row = 20
		}
		got := p.kernelTime(c.k) + p.EventTime/row // as the probe has it
		e := got.Seconds()/want.Seconds() - 1
		compared++
		t.Logf("%-40s %10v, measured %10v, %+.1f %%", c.name, got, want, 100*e)
		if near := e > -0.15 && e < 0.15; near == (far[c.name] != "") {
			t.Errorf("%s: %v, measured %v: %+.1f %%", c.name, got, want, 100*e)
		}
	}
	if compared < 80 {
		t.Errorf("%d kernels are compared; the file has others", compared)
	}
}
