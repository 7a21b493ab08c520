package main

import (
	"path/filepath"
	"strings"
	"testing"

	"gocuda/kernel/notebook"
)

// Without NVRTC, the first %%cuda cell of a session says what to install, and no other.
func TestWithoutNVRTC(t *testing.T) {
	for setting, says := range map[string]bool{"auto": true, "c++": false} {
		path := filepath.Join(t.TempDir(), "cells.ipynb")
		writeNotebook(t, path, "%%cuda\n__global__ void f(int *p) { *p = 1; }", "%%cuda\n__global__ void g(int *p) { *p = 1; }")
		cmd := gocudaKernel(t, "run", "--inplace", path)
		cmd.Env = append(cmd.Env, "GOCUDA_NVRTC="+filepath.Join(t.TempDir(), "libnvrtc.so"), "GOCUDA_SIM_CUDA="+setting)
		status, _, stderr := run(t, cmd)
		if strings.Contains(stderr, "no C++ compiler") {
			t.Skip(stderr)
		}
		nb, err := notebook.ReadFile(path)
		if err != nil || status != 0 {
			t.Fatal(err, stderr)
		}
		for i, c := range nb.Cells {
			if got := shown(c); strings.Contains(got, "pip install nvidia-cuda-nvrtc") != (says && i == 0) || !strings.Contains(got, "compiled: "+"fg"[i:i+1]) {
				t.Errorf("%s: cell %d shows %q", setting, i+1, got)
			}
		}
	}
}
