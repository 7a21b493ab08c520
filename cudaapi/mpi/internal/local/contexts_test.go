package local

import (
	"fmt"
	"sync"
	"testing"

	"gocuda/cudaapi/mpi/internal/transport"
)

// TestConcurrentDup: communicators that goroutines make at once, of different ones and
// in any order, are apart.
func TestConcurrentDup(t *testing.T) {
	const parents, rounds = 4, 30
	everywhere(t, inOneProcess(t, 3, false), func(w transport.Comm) error {
		var from []transport.Comm
		for range parents {
			c, err := w.Dup()
			if err != nil {
				return err
			}
			from = append(from, c)
		}
		halves, err := w.Split(w.Rank()%2, 0)
		if err != nil {
			return err
		}
		from = append(from, halves)
		var mu sync.Mutex
		seen := map[uint32]bool{}
		errs := make([]error, len(from))
		var all sync.WaitGroup
		for i, parent := range from {
			all.Go(func() {
				for round := range rounds {
					var c transport.Comm
					var err error
					switch round % 2 {
					case 0:
						c, err = parent.Dup()
					case 1:
						c, err = parent.Split(0, -parent.Rank())
					}
					if err != nil {
						errs[i] = err
						return
					}
					id := c.(*comm).points.id
					mu.Lock()
					if seen[id] {
						errs[i] = fmt.Errorf("two communicators have context %d", id)
					}
					seen[id] = true
					mu.Unlock()
					// A message to the next rank, with what no other goroutine sends.
					out, in := int64(1000*i+round), int64(-1)
					r, err := c.Irecv(word(&in), (c.Rank()+c.Size()-1)%c.Size(), 0)
					if err == nil {
						_, err = c.Isend(word(&out), (c.Rank()+1)%c.Size(), 0)
					}
					if err == nil {
						_, _, err = r.(transport.Waiter).Wait(nil)
					}
					if err == nil && in != out {
						err = fmt.Errorf("%d came instead of %d", in, out)
					}
					if err != nil {
						errs[i] = err
						return
					}
				}
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
}
