package rt

import (
	"runtime"
	"sync"
	"testing"
)

// TestGoroutineNumbers: whatever goroutine asks gets the number of its traces.
func TestGoroutineNumbers(t *testing.T) {
	if a := runtime.GOARCH; (a == "amd64" || a == "arm64") && goidOffset() == 0 {
		t.Error("numbers come from traces, which is slow: the runtime's record of a goroutine is not as expected")
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for range 3 {
				if got, want := goid(), tracedID(); got != want {
					t.Errorf("goid is %d, the trace says %d", got, want)
				}
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
}
