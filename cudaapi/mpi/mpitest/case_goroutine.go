package mpitest

import (
	"slices"
	"sync"

	"gocuda/cudaapi/mpi"
)

// goroutineCases: calls of several goroutines at once.
func goroutineCases() []Case {
	// together runs n goroutines and waits for them. A goroutine's t.ok would end
	// another goroutine than the case's: so they return errors.
	together := func(t *T, n int, f func(g int) error) {
		var wg sync.WaitGroup
		errs := make([]error, n)
		for g := range n {
			wg.Go(func() { errs[g] = f(g) })
		}
		wg.Wait()
		for _, err := range errs {
			t.ok(err)
		}
	}
	return []Case{
		{Name: "goroutines/messages", Run: func(t *T) {
			const each = 100
			sums := make([]int, 4)
			together(t, 8, func(g int) error {
				for i := range each {
					if g >= 4 {
						if err := t.Send([]int{i}, t.next(), g-4); err != nil {
							return err
						}
						continue
					}
					in := []int{0}
					if _, err := t.Recv(in, t.prev(), g); err != nil {
						return err
					}
					sums[g] += in[0] * (i + 1)
				}
				return nil
			})
			want := 0
			for i := range each {
				want += i * (i + 1)
			}
			t.same("sums by place", sums, []int{want, want, want, want})
		}},
		{Name: "goroutines/large", Run: func(t *T) {
			together(t, 4, func(g int) error {
				out, in := pattern(200000, t.rank*10+g), make([]byte, 200000)
				if _, err := t.Sendrecv(out, t.next(), g, in, t.prev(), g); err != nil {
					return err
				}
				if !slices.Equal(in, pattern(200000, t.prev()*10+g)) {
					t.Errorf("goroutine %d got a wrong message", g)
				}
				return nil
			})
		}},
		{Name: "goroutines/collectives", Run: func(t *T) {
			comms := make([]*mpi.Comm, 3)
			for g := range comms {
				d, err := t.Dup()
				t.ok(err)
				comms[g] = d
			}
			together(t, 3, func(g int) error {
				for i := range 20 {
					in := []int{0}
					if err := comms[g].Allreduce([]int{t.rank + i*g}, in, mpi.Sum); err != nil {
						return err
					}
					if want := t.size*(t.size-1)/2 + t.size*i*g; in[0] != want {
						t.Errorf("goroutine %d: %d, want %d", g, in[0], want)
					}
				}
				return nil
			})
			for _, d := range comms {
				t.ok(d.Free())
			}
		}},
		{Name: "goroutines/matchedProbe", Run: func(t *T) {
			// Those who probe for the same messages get each one once.
			const each = 30
			var mu sync.Mutex
			seen := make([]int, 2*each)
			var requests []*mpi.Request
			for i := range 2 * each {
				s, err := t.Isend([]int{i}, t.next(), 0)
				t.ok(err)
				requests = append(requests, s)
			}
			together(t, 2, func(g int) error {
				for range each {
					m, err := t.Mprobe(mpi.AnySource, 0)
					if err != nil {
						return err
					}
					in := []int{0}
					if _, err := m.Recv(in); err != nil {
						return err
					}
					mu.Lock()
					seen[in[0]]++
					mu.Unlock()
				}
				return nil
			})
			_, err := mpi.WaitAll(requests...)
			t.ok(err)
			t.same("seen", seen, slices.Repeat([]int{1}, 2*each))
		}},
		{Name: "goroutines/oneRequest", Run: func(t *T) {
			in := []int{0}
			r, err := t.Irecv(in, t.prev(), 0)
			t.ok(err)
			together(t, 3, func(g int) error {
				if g == 2 {
					return t.Send([]int{9}, t.next(), 0)
				}
				_, err := r.Wait()
				return err
			})
			t.same("message", in, []int{9})
		}},
	}
}
