package sim_test

import (
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/sim"
	"gocuda/cudaapi/sim/corpus"
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

// timed measures launches, from when their stream gets to them.
type timed struct {
	driver.Driver
	took map[string][]time.Duration
}

func (d *timed) Launch(c driver.Context, l *driver.Launch) error {
	gate := make(chan struct{})
	if err := d.Driver.LaunchHostFunc(c, l.Stream, func() { <-gate }); err != nil {
		return err
	}
	err := d.Driver.Launch(c, l)
	begin := time.Now()
	close(gate)
	if err == nil {
		err = d.Driver.CtxSynchronize(c, nil)
	}
	d.took[l.Name] = append(d.took[l.Name], time.Since(begin))
	return err
}

// What it costs over the corpus: of each program's launches with and without, in turns.
func TestCostOfRacesOverCorpus(t *testing.T) {
	if os.Getenv("GOCUDA_TEST_COST") == "" {
		t.Skip("GOCUDA_TEST_COST is not set")
	}
	var least [2]map[string][]time.Duration // of each launch of a kernel
	for range 2 {
		for i := range 2 {
			d := &timed{newDriver(t, throughPTX(t, sim.Options{Devices: 1, Races: i == 1, OnRaces: func([]driver.Race) {}})), map[string][]time.Duration{}}
			corpus.Run(t, d)
			if least[i] == nil {
				least[i] = d.took
			}
			for k, list := range d.took {
				for n, took := range list[:min(len(list), len(least[i][k]))] {
					least[i][k][n] = min(least[i][k][n], took)
				}
			}
		}
	}
	total := func(list []time.Duration) (sum time.Duration) {
		for _, d := range list {
			sum += d
		}
		return sum
	}
	var ratios []float64
	var sum [2]time.Duration
	mean := 0.0
	for k, list := range least[1] {
		without, with := total(least[0][k]), total(list)
		r := float64(with) / float64(without)
		ratios = append(ratios, r)
		mean += math.Log(r)
		sum[0] += without
		sum[1] += with
		if r > 8 {
			t.Logf("%s: %d launches, %v, %v, %.1f", k, len(list), without, with, r)
		}
	}
	slices.Sort(ratios)
	t.Logf("%d kernels: median %.2f, geometric mean %.2f, nine tenths below %.2f, the sums %v and %v, %.2f", len(ratios), ratios[len(ratios)/2], math.Exp(mean/float64(len(ratios))), ratios[len(ratios)*9/10], sum[0], sum[1], float64(sum[1])/float64(sum[0]))
}
