package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocuda/cudaapi/hazard"
	"gocuda/kernel/check"
	"gocuda/kernel/notebook"
)

// What fails a run with the check are hazards that are more than possible, in cells that
// are not there to show some.
func TestHazardsThatCount(t *testing.T) {
	cell := func(list hazard.List, tags ...any) *notebook.Cell {
		c := &notebook.Cell{Metadata: map[string]any{"tags": tags}}
		c.Outputs = append(c.Outputs, map[string]any{"metadata": map[string]any{check.Metadata: list}, "data": map[string]any{"text/plain": list.String()}})
		return c
	}
	proved, possible := hazard.Report{Memory: "x"}, hazard.Report{Memory: "y", Possible: true}
	for name, c := range map[string]struct {
		cell *notebook.Cell
		want int
	}{
		"proved":                 {cell(hazard.List{proved}), 1},
		"possible":               {cell(hazard.List{possible}), 0},
		"both":                   {cell(hazard.List{possible, proved}), 1},
		"proved, and to be seen": {cell(hazard.List{proved}, "has-hazards"), 0},
	} {
		var said strings.Builder
		if n := hazards(&notebook.Notebook{Cells: []*notebook.Cell{c.cell}}, &said); n != c.want {
			t.Errorf("%s: %d cells count, want %d", name, n, c.want)
		}
		if !strings.Contains(said.String(), "hazard: nothing orders") {
			t.Errorf("%s: it is not shown: %s", name, said.String())
		}
	}
}

// Races between the threads of a launch are hazards, of kernels in Go and in CUDA C++: with the
// cell of the kernel, and the exit status 1.
func TestCheckOfKernels(t *testing.T) {
	if os.Getenv("GOCUDA_NVRTC") == "" {
		t.Skip("no NVRTC: GOCUDA_NVRTC does not name one")
	}
	for _, c := range []struct {
		cells  []string
		status int
		says   []string
	}{
		{[]string{"%%kernel\nfunc turn(x []float32) {\n\ts, t := gpu.Shared[[64]float32](), gpu.ThreadIdx.X\n\ts[t] = x[t]\n\tx[t] = s[63-t]\n}"}, 1, []string{
			"of memory, s in shared memory, element 32, byte 128 of 256 (64 times)", "In[2], line 4: kernel turn, block (0,0,0), thread (32,0,0), writes it", "In[2], line 5: kernel turn, block (0,0,0), thread (31,0,0), reads it",
			"            s[t] = x[t]\n", "To order them: gpu.SyncThreads() // between lines 4 and 5"}},
		{[]string{"%%kernel\nfunc turn(x []float32) {\n\ts, t := gpu.Shared[[64]float32](), gpu.ThreadIdx.X\n\ts[t] = x[t]\n\tgpu.SyncThreads()\n\tx[t] = s[63-t]\n}"}, 0, nil},
		{[]string{"%%kernel\nfunc turn(x []float32) {\n\tif gpu.ThreadIdx.X < 40 {\n\t\tgpu.SyncThreads()\n\t}\n}"}, 1, []string{
			"hazard: threads of a block do not all come to a barrier\n", "In[2], line 4: kernel turn, block (0,0,0), thread (0,0,0), waits, on", "In[2], line 6: kernel turn, block (0,0,0), thread (40,0,0), has gone by, on"}},
		{[]string{"%%kernel\nfunc turn(x []float32) {\n\tif gpu.ThreadIdx.X >= 40 {\n\t\treturn\n\t}\n\tgpu.SyncThreads()\n\tx[gpu.ThreadIdx.X] = 1\n}"}, 0, nil},
		{[]string{"%%cuda\n__global__ void turn(float *x, long long n, long long c) {\n\tif (threadIdx.x < 40)\n\t\t__syncthreads();\n\tx[threadIdx.x] = 1;\n}"}, 1, []string{
			"hazard: threads of a block do not all come to a barrier\n", "In[2], line 4: kernel turn", "In[2], line 5: kernel turn, block (0,0,0), thread (40,0,0), has gone by, on"}},
		{[]string{"%%cuda\n__global__ void turn(float *x, long long n, long long c) {\n\tif (threadIdx.x < 40)\n\t\t__syncthreads();\n\telse\n\t\t__syncthreads();\n}"}, 1, []string{
			"hazard: threads of a block wait at different barriers", "In[2], line 4: kernel turn", "In[2], line 6: kernel turn"}},
		{[]string{"%%cuda\n__global__ void turn(float *x, long long n, long long c) {\n\tx[threadIdx.x] = __shfl_xor_sync(0xff, x[threadIdx.x], 1);\n}"}, 1, []string{
			"hazard: the mask 0xff of a warp's function does not have the lane that calls it", "In[2], line 3: kernel turn, block (0,0,0), thread (8,0,0)"}},
		{[]string{"%%cuda\n__global__ void turn(float *x, long long n, long long c) {\n\tx[0] += x[threadIdx.x];\n}"}, 1, []string{"In[2], line 3: kernel turn, block (0,0,0)", "of memory, x[0:1]"}},
	} {
		path := filepath.Join(t.TempDir(), "cells.ipynb")
		launch := "turn.Launch(cuda.Grid(1), cuda.Block(64), nil, x)"
		if strings.HasPrefix(c.cells[0], "%%cuda") {
			launch = "turn.Launch(cuda.Grid(1), cuda.Block(64), nil, x, 1, 1)"
		}
		writeNotebook(t, path, append(append([]string{"x := must(must(cuda.CurrentDevice()).Alloc(64, cuda.Float32))"}, c.cells...), launch)...)
		cmd := gocudaKernel(t, "run", "--check", "--inplace", path)
		cmd.Env = append(cmd.Env, "GOCUDA_SIM_CUDA=ptx")
		status, out, errs := run(t, cmd)
		if status != c.status || strings.Contains(out+errs, "hazard:") != (c.status == 1) {
			t.Errorf("exit status %d\n%s%s", status, out, errs)
		}
		for _, text := range c.says {
			if !strings.Contains(out+errs, text) {
				t.Errorf("no %q in\n%s%s", text, out, errs)
			}
		}
	}
}
