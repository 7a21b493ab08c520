//go:build unix

package evaluator

import "testing"

// Mistakes in calls of package cuda come with what to write instead.
func TestHints(t *testing.T) {
	h := startReal(t, nil)
	h.Succeed("%%cuda\n__global__ void twice(float *x, int n) {}")
	h.Succeed("d := must(cuda.Get(0))\nb := must(d.Alloc(4, cuda.Float32))\nxs := []float32{1}")
	for code, want := range map[string]string{
		"twice.Launch(4, cuda.Block(1), nil, b, 4)":       "(write cuda.Grid(4))",
		"twice.Launch(cuda.Grid(1), 8, nil, b, 4)":        "(write cuda.Block(8))",
		"twice.Launch(cuda.Grid(1), cuda.Block(1), b, 4)": "(the third argument is the stream: nil for the default one)",
		"twice(b, 4)":                  "(twice.Launch(cuda.Grid(blocks), cuda.Block(threads), stream, arguments...) launches it)",
		"b[0]":                         "(it is device memory: b.Float32s() and the like copy it to a slice, b.Slice(i, j) is a part of it)",
		"b[1:2]":                       "b.Slice(i, j) is a part of it)",
		"for range b {}":               "b.Float32s() and the like copy it to a slice",
		"copy(xs, b)":                  "(b.Upload(slice) and b.Download(slice) copy)",
		"cuda.Device(0)":               "(cuda.Get(0) gives a device)",
		"d.Alloc(4, float32)":          "(a buffer's element type is cuda.Float32)",
		"d.Alloc(4, complex64)":        "(a buffer's element type is cuda.Complex64)",
		"x := b.Float32s()":            "(must(...) around the call takes its error, and fails the cell on one)",
		"gpu.ThreadIdx.X":              "(gpu is a package of %%kernel cells, for code that runs on devices)",
		"cuda.Malloc(4)":               "undefined: cuda.Malloc (d.Alloc(n, cuda.Float32) allocates a buffer, ",
		"cudaMalloc(4)":                "undefined: cudaMalloc (d.Alloc(n, cuda.Float32) allocates a buffer, ",
		"cuMemAlloc(4)":                "d.Alloc(n, cuda.Float32)",
		"cuda.cudaDeviceSynchronize()": "(d.Synchronize() waits for a device, s.Synchronize() for a stream)",
		"cuda.to_device(xs)":           "d.Upload(slice) makes a buffer of a slice",
		"cuda.StreamWaitEvent()":       "s.WaitEvent(e)",
		"cuda.grid(1)":                 "%%kernel cells",
		"cudaEventElapsedTime()":       "cuda.Elapsed(start, end)",
		"cudaMallocArray()":            "d.NewArray(cuda.ArrayDesc{",
		"cudaMallocPitch()":            "d.AllocPitch(w, h, cuda.Float32)",
		"cudaMemcpy2DToArray()":        "cuda.Memcpy3D(to, from, w, h, d)",
		"cudaCreateTextureObject()":    "cuda.NewTexture(a, cuda.TextureDesc{})",
		"customers":                    "undefined: customers\n",
		"cuda.Backends":                "undefined: cuda.Backends (did you mean Backend?)",
	} {
		h.Fails(code, want)
	}
}
