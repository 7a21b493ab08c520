package main

import (
	"fmt"
	"gocuda/cudaapi/cuda"
)

var src = `
extern "C" __global__ void inc(float *x, int n) { int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) x[i] += 1; }
extern "C" __global__ void mul(float *y, const float *x, int n) { int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) y[i] = 2*x[i]; }
extern "C" __global__ void waitflag(volatile unsigned *f, float *x, int n) { if (threadIdx.x == 0) while (*f == 0); __syncthreads(); int i = threadIdx.x; if (i < n) x[i] += 1; }
extern "C" __global__ void setflag(volatile unsigned *f, float *x, int n) { int i = threadIdx.x; if (i < n) x[i] = 1; __threadfence_system(); __syncthreads(); if (i == 0) *f = 1; }
`

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
func ok(errs ...error) {
	for _, e := range errs {
		if e != nil {
			panic(e)
		}
	}
}

var devs = must(cuda.Devices())
var d = devs[0]
var mod = must(cuda.Compile(src))
var inc, mul, waitflag, setflag = must(mod.Kernel("inc")), must(mod.Kernel("mul")), must(mod.Kernel("waitflag")), must(mod.Kernel("setflag"))

const n = 1024

func buf() *cuda.Buffer { return must(d.Alloc(n, cuda.Float32)) }
func str() *cuda.Stream { return must(d.NewStream(cuda.NonBlocking)) }
func ev() *cuda.Event   { return must(d.NewEvent()) }

var _ = fmt.Println

func main() {
	a := str()
	f := must(cuda.AllocHost(1, cuda.Uint32, cuda.Mapped, cuda.Portable))
	must(f.Uint32s())[0] = 0
	x := buf()
	ok(setflag.Launch(cuda.Grid(1), cuda.Block(256), a, f, x, n))
	flag := must(f.Uint32s())
	for flag[0] == 0 {
	}
	ok(a.Synchronize())
}
