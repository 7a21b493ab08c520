package sim_test

import (
	"testing"
	"time"

	"gocuda/cudaapi/sim"
)

// What it costs to look for races: the time of a launch, with and without.
func BenchmarkCostOfRaces(t *testing.B) {
	for _, c := range []struct {
		name, code  string
		grid, block uint32
	}{
		{"saxpy", "__global__ void k(float *x, float *y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] += 2 * x[i]; }", 2048, 256},
		{"sum", `__global__ void k(float *x, float *y) {
			__shared__ float s[256];
			int t = threadIdx.x;
			s[t] = x[blockIdx.x * 256 + t];
			for (int d = 128; d > 0; d >>= 1) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
			if (t == 0) y[blockIdx.x] = s[0];
		}`, 1024, 256},
		{"shuffles", `__global__ void k(float *x, float *y) {
			float v = x[blockIdx.x * 256 + threadIdx.x];
			for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
			if (threadIdx.x % 32 == 0) atomicAdd(y, v);
		}`, 512, 256},
		{"product", `__global__ void k(float *x, float *y) {
			__shared__ float a[16][16], b[16][16];
			int i = threadIdx.x / 16, j = threadIdx.x % 16, row = blockIdx.x / 8 * 16 + i, col = blockIdx.x % 8 * 16 + j;
			float v = 0;
			for (int k = 0; k < 128; k += 16) {
				a[i][j] = x[row * 128 + k + j]; b[i][j] = x[(k + i) * 128 + col];
				__syncthreads();
				for (int m = 0; m < 16; m++) v += a[i][m] * b[m][j];
				__syncthreads();
			}
			y[row * 128 + col] = v;
		}`, 64, 256},
		{"bodies", `__global__ void k(float *x, float *y) {
			float v = 0, me = x[blockIdx.x * 256 + threadIdx.x];
			for (int i = 0; i < 1024; i++) { float d = x[i] - me; v += d / (d * d + 1); }
			y[blockIdx.x * 256 + threadIdx.x] = v;
		}`, 4, 256},
		{"histogram", `__global__ void k(int *x, int *y) {
			__shared__ int h[256];
			h[threadIdx.x] = 0;
			__syncthreads();
			for (int i = 0; i < 16; i++) atomicAdd(&h[(x[(blockIdx.x * 16 + i) * 256 + threadIdx.x] * 7 + i + threadIdx.x) & 255], 1);
			__syncthreads();
			atomicAdd(&y[threadIdx.x], h[threadIdx.x]);
		}`, 64, 256},
	} {
		var took [2]time.Duration
		for i := range took {
			b := newBox(t, throughPTX(t, sim.Options{Devices: 1, Races: i == 1}))
			k := b.kernel(c.code)
			x, y := upload(b, make([]float32, 1<<20)), upload(b, make([]float32, 1<<20))
			for range 9 {
				begin := time.Now()
				b.ok(b.launch(k, dim(c.grid), dim(c.block), 0, x, y))
				b.ok(b.sync())
				if d := time.Since(begin); took[i] == 0 || d < took[i] {
					took[i] = d
				}
			}
		}
		t.ReportMetric(float64(took[1])/float64(took[0]), c.name+"-times")
	}
}
