package collective_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"gocuda/cudaapi/collective"
	"gocuda/cudaapi/cuda"
)

// TestBandwidth prints what an all-reduce costs on this machine's GPUs, from one
// process: GOCUDA_BENCH=1.
func TestBandwidth(t *testing.T) {
	if os.Getenv("GOCUDA_BENCH") == "" || !onGPUs {
		t.Skip("GOCUDA_BENCH=1 and GPUs")
	}
	devs := devices(t, 0, plain)
	p := len(devs)
	if p < 2 {
		t.Skip("needs two GPUs")
	}
	fmt.Printf("all-reduce of float32 on %d GPUs of one process, median of 5: time, bus bandwidth\n", p)
	for _, bytes := range []int{4, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30} {
		m := newMembers(t, devs, p, 1, cuda.Float32)
		var bufs []*cuda.Buffer
		for _, d := range devs {
			b := must[*cuda.Buffer](t)(d.Alloc(bytes/4, cuda.Float32))
			ok(t, b.Memset(0))
			bufs = append(bufs, b)
		}
		line := fmt.Sprintf("%11d B", bytes)
		for _, a := range []collective.Algorithm{collective.NCCL, collective.Ring, collective.ChunkedRing, collective.HalvingDoubling, collective.Local, collective.Auto} {
			took, err := measure(m.streams, bytes, func() error {
				return collective.Allreduce(bufs, m.streams, collective.Using(a))
			})
			ok(t, err)
			bus := float64(bytes) / took.Seconds() / 1e9 * 2 * float64(p-1) / float64(p)
			line += fmt.Sprintf("  %s %.1f us %.1f GB/s", a, float64(took.Nanoseconds())/1e3, bus)
		}
		fmt.Println(line)
		for _, b := range bufs {
			ok(t, b.Free())
		}
		m.free(t)
	}
}

// measure is the median time of an operation, queued over and over.
func measure(streams []*cuda.Stream, bytes int, f func() error) (time.Duration, error) {
	n := min(200, max(5, 4<<30/max(bytes, 1)))
	var times []time.Duration
	for round := range 6 {
		start := time.Now()
		for range n {
			if err := f(); err != nil {
				return 0, err
			}
		}
		for _, s := range streams {
			if err := s.Synchronize(); err != nil {
				return 0, err
			}
		}
		if round > 0 {
			times = append(times, time.Since(start)/time.Duration(n))
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
