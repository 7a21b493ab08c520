package corpus_test

import (
	"testing"

	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/sim/corpus"
)

// TestGPU runs on a real GPU what sim's tests run on simulated devices.
func TestGPU(t *testing.T) {
	if err := nvidia.Available(); err != nil {
		t.Skipf("no GPU: %v", err)
	}
	d, err := nvidia.Open()
	if err != nil {
		t.Fatal(err)
	}
	corpus.Run(t, d)
	t.Run("go", func(t *testing.T) { corpus.RunGo(t, d) })
}

// TestOnce launches the corpus' kernels on a real GPU once each, so that a profiler can count what
// sim's TestCountsOfCorpus counts.
func TestOnce(t *testing.T) {
	if err := nvidia.Available(); err != nil {
		t.Skipf("no GPU: %v", err)
	}
	d, err := nvidia.Open()
	if err != nil {
		t.Fatal(err)
	}
	corpus.Once(t, d)
}
