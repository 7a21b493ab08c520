//go:build linux && (amd64 || arm64)

package nvidia

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gocuda/cudaapi/internal/clib"
)

// driverPaths are the names under which libcuda may be found: first the
// loader's own search, then where containers and WSL put it.
func driverPaths() []string {
	return []string{"libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
		"/usr/lib64/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
		"/run/opengl-driver/lib/libcuda.so.1"}
}

// toolkitRoots are folders that may hold a CUDA toolkit, best first: where the
// environment points, then distributions' and NVIDIA's own places.
func toolkitRoots() []string {
	var roots []string
	for _, v := range []string{"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CONDA_PREFIX"} {
		if p := os.Getenv(v); p != "" {
			roots = append(roots, p)
		}
	}
	roots = append(roots, "/usr/local/cuda", "/opt/cuda")
	for _, pattern := range []string{"/usr/local/cuda-*", "/opt/cuda-*", "/opt/nvidia/hpc_sdk/Linux_*/*/cuda/*"} {
		roots = append(roots, clib.NewestFirst(pattern)...)
	}
	return clib.Unique(roots)
}

// nvrtcPaths are the files that may be NVRTC, best first. GOCUDA_NVRTC names a
// file or a folder and is then the only one.
func nvrtcPaths() []string {
	if p := os.Getenv("GOCUDA_NVRTC"); p != "" {
		if found := librariesIn(p); len(found) > 0 {
			return found
		}
		return []string{p}
	}
	var paths []string
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		paths = append(paths, librariesIn(dir)...)
	}
	for _, root := range toolkitRoots() {
		for _, lib := range []string{"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"} {
			paths = append(paths, librariesIn(filepath.Join(root, lib))...)
		}
	}
	for _, site := range clib.SitePackages() {
		for _, lib := range append(clib.NewestFirst(site+"/nvidia/cu[1-9]*/lib"), site+"/nvidia/cuda_nvrtc/lib") {
			paths = append(paths, librariesIn(lib)...)
		}
	}
	for _, dir := range []string{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"} {
		paths = append(paths, librariesIn(dir)...)
	}
	return append(clib.Unique(paths), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so")
}

// cuptiPaths are the files that may be CUPTI, best first. GOCUDA_CUPTI names a file or
// a folder and is then the only one.
func cuptiPaths() []string {
	in := func(dir string) []string { return clib.NewestFirst(filepath.Join(dir, "libcupti.so*")) }
	if p := os.Getenv("GOCUDA_CUPTI"); p != "" {
		if found := in(p); len(found) > 0 {
			return found
		}
		return []string{p}
	}
	var paths []string
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		paths = append(paths, in(dir)...)
	}
	for _, root := range toolkitRoots() {
		for _, lib := range []string{"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"} {
			paths = append(paths, in(filepath.Join(root, lib))...)
		}
	}
	for _, site := range clib.SitePackages() {
		for _, lib := range append(clib.NewestFirst(site+"/nvidia/cu[1-9]*/lib"), site+"/nvidia/cuda_cupti/lib") {
			paths = append(paths, in(lib)...)
		}
	}
	for _, dir := range []string{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"} {
		paths = append(paths, in(dir)...)
	}
	return append(clib.Unique(paths), "libcupti.so.13", "libcupti.so.12", "libcupti.so")
}

// librariesIn lists NVRTC's files in a folder, newest version first, without
// NVIDIA's alternative build.
func librariesIn(dir string) []string {
	return slices.DeleteFunc(clib.NewestFirst(filepath.Join(dir, "libnvrtc.so*")), func(p string) bool {
		return strings.Contains(filepath.Base(p), ".alt.")
	})
}

// includePaths are the folders of CUDA's headers that go with an NVRTC file:
// its own toolkit's or wheel's first.
func includePaths(nvrtc string) []string {
	var roots []string
	if filepath.IsAbs(nvrtc) {
		if real, err := filepath.EvalSymlinks(nvrtc); err == nil {
			nvrtc = real
		}
		lib := filepath.Dir(nvrtc)
		roots = append(roots, filepath.Dir(lib), filepath.Join(lib, "../../.."), filepath.Join(lib, "../../cuda_runtime"))
	}
	roots = append(roots, toolkitRoots()...)
	for _, site := range clib.SitePackages() {
		roots = append(roots, clib.NewestFirst(site+"/nvidia/cu[1-9]*")...)
		roots = append(roots, site+"/nvidia/cuda_runtime")
	}
	for _, root := range append(roots, "/usr") {
		dir := filepath.Join(root, "include")
		if !clib.Exists(filepath.Join(dir, "cuda_runtime.h")) {
			continue
		}
		found := []string{filepath.Clean(dir)}
		for _, more := range []struct{ sub, has string }{
			{filepath.Join(dir, "cccl"), "cuda/std"}, {filepath.Join(root, "../cuda_cccl/include"), "cuda/std"},
			{filepath.Join(root, "../cuda_nvcc/include"), "crt"}, {filepath.Join(root, "../curand/include"), "curand_kernel.h"},
		} {
			if clib.Exists(filepath.Join(more.sub, more.has)) {
				found = append(found, filepath.Clean(more.sub))
			}
		}
		if crt := filepath.Join(root, "../cuda_nvcc/include"); !clib.Exists(filepath.Join(dir, "crt/mma.h")) && clib.Exists(filepath.Join(crt, "crt/mma.h")) {
			found = append(found, filepath.Clean(crt))
		}
		return found
	}
	return nil
}
