package local

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"gocuda/cudaapi/mpi/internal/transport"
)

// swap sends the other rank of two a message, and receives its.
func swap(w transport.Comm) error {
	mine, theirs := int64(w.Rank()), int64(0)
	if _, err := waitFor(w.Isend(word(&mine), 1-w.Rank(), 1)); err != nil {
		return err
	}
	_, err := waitFor(w.Irecv(word(&theirs), 1-w.Rank(), 1))
	return err
}

// TestCollectivesThatDoNotMatch: some rank is told about a collective that the ranks call
// in different ways, at the latest by the next one.
func TestCollectivesThatDoNotMatch(t *testing.T) {
	sum := func(n int, op transport.Op) *transport.Collective {
		return &transport.Collective{Kind: transport.Allreduce, Send: words(make([]int64, n)), Recv: words(make([]int64, n)), Op: op}
	}
	bcast := func(root, n int) *transport.Collective {
		return &transport.Collective{Kind: transport.Bcast, Recv: words(make([]int64, n)), Root: root}
	}
	const large = 1 << 17 // elements: read from its sender
	for name, test := range map[string]struct {
		calls func(rank int) *transport.Collective
		want  string
	}{
		"kind": {func(rank int) *transport.Collective {
			if rank == 0 {
				return sum(1, transport.Sum)
			}
			return bcast(0, 1)
		}, " called Allreduce, and this rank Bcast| called Bcast, and this rank Allreduce"},
		"root":       {func(rank int) *transport.Collective { return bcast(rank, 1) }, "rank 1 called Bcast with root 1, and this rank with root 0|rank 0 called Bcast with root 0, and this rank with root 1"},
		"large":      {func(rank int) *transport.Collective { return bcast(rank, large) }, "with root 1, and this rank with root 0|with root 0, and this rank with root 1"},
		"length":     {func(rank int) *transport.Collective { return bcast(0, 1+rank) }, "with another number of elements"},
		"operation":  {func(rank int) *transport.Collective { return sum(1, transport.Sum+transport.Op(rank)) }, "for Sum of int64, and this rank for Prod of int64|for Prod of int64, and this rank for Sum of int64"},
		"many ahead": {func(rank int) *transport.Collective { return bcast(0, 1) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := inOneProcess(t, 2, false)
			var mu sync.Mutex
			var told []string
			note := func(err error) {
				var e *transport.Error
				if errors.As(err, &e) {
					mu.Lock()
					defer mu.Unlock()
					told = append(told, e.Text)
				}
			}
			everywhere(t, all, func(w transport.Comm) error {
				if test.want == "" { // the root does not wait for the others
					for range 2 * keptEntered {
						if _, err := waitFor(w.Start(bcast(0, 1))); err != nil {
							return err
						}
					}
				}
				r, err := w.Start(test.calls(w.Rank()))
				note(err)
				// What comes after the other rank's messages of its call comes after these.
				if err := swap(w); err != nil {
					return err
				}
				if r != nil {
					_, _, err = r.Test()
					note(err)
				}
				_, err = w.Start(&transport.Collective{Kind: transport.Barrier})
				note(err)
				return swap(w)
			})
			if len(told) == 0 && test.want != "" {
				t.Error("no rank was told")
			}
			for _, text := range told {
				fits := false
				for _, want := range strings.Split(test.want, "|") {
					fits = fits || want != "" && strings.Contains(text, want)
				}
				if !fits {
					t.Errorf("%q, want %q", text, test.want)
				}
			}
		})
	}
}
