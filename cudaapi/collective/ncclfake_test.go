package collective

import (
	"errors"
	"sync"
	"testing"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/nccl"
)

// fakeNCCL is an NCCL of simulated devices: members find each other by the order in
// which they come. Like NCCL, it waits for a member that never comes until it is told to
// abort; a communicator that is being made cannot be told.
type fakeNCCL struct {
	nccl.Library // for what is not used

	// born is called when the calls of InitRanks begin, with the first member's number.
	born func(first int) error

	mu     sync.Mutex
	worlds map[nccl.ID]*fakeWorld
	ids    byte
	calls  map[string]int
	ended  chan struct{} // with the test
}

// fakeWorld is a communicator.
type fakeWorld struct {
	mu      sync.Mutex
	meeting map[int]*fakeMeeting // by its number
	size    int
}

// fakeMeeting is where all members come.
type fakeMeeting struct {
	missing int
	all     chan struct{}
}

// useFakeNCCL puts one in NCCL's place until the test ends.
func useFakeNCCL(t *testing.T) *fakeNCCL {
	f := &fakeNCCL{worlds: map[nccl.ID]*fakeWorld{}, calls: map[string]int{}, ended: make(chan struct{}), born: func(int) error { return nil }}
	was := openNCCL
	openNCCL = func() (nccl.Library, error) { return f, nil }
	t.Cleanup(func() {
		close(f.ended)
		openNCCL = was
	})
	return f
}

// count counts calls, and gives how often this one was made.
func (f *fakeNCCL) count(call string, n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[call] += n
	return f.calls[call]
}

func (f *fakeNCCL) Version() string { return "0.0.0" }

func (f *fakeNCCL) Path() string { return "a fake" }

func (f *fakeNCCL) Group(calls func() error) error { return calls() }

func (f *fakeNCCL) NewID() (nccl.ID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids++
	return nccl.ID{f.ids}, nil
}

func (f *fakeNCCL) InitRanks(devices []*cuda.Device, first, size int, id nccl.ID) ([]nccl.Comm, error) {
	if err := f.born(first); err != nil {
		return nil, err
	}
	f.mu.Lock()
	w := f.worlds[id]
	if w == nil {
		w = &fakeWorld{size: size, meeting: map[int]*fakeMeeting{}}
		f.worlds[id] = w
	}
	f.mu.Unlock()
	ends := make([]nccl.Comm, len(devices))
	for i := range ends {
		ends[i] = &fakeEnd{f: f, w: w, aborted: make(chan struct{})}
	}
	return ends, f.meet(w, 0, len(devices), nil)
}

// meet waits until all members are at a meeting.
func (f *fakeNCCL) meet(w *fakeWorld, number, members int, aborted chan struct{}) error {
	w.mu.Lock()
	m := w.meeting[number]
	if m == nil {
		m = &fakeMeeting{missing: w.size, all: make(chan struct{})}
		w.meeting[number] = m
	}
	if m.missing -= members; m.missing == 0 {
		close(m.all)
	}
	w.mu.Unlock()
	select {
	case <-m.all:
		return nil
	case <-aborted:
		return errors.New("aborted")
	case <-f.ended:
		return errors.New("the test is over")
	}
}

// fakeEnd is a member, whose operations move nothing.
type fakeEnd struct {
	nccl.Comm // for what is not used

	f       *fakeNCCL
	w       *fakeWorld
	ops     int
	aborted chan struct{}
}

func (e *fakeEnd) AllReduce(_, _ *cuda.Buffer, _ cuda.ReduceOp, s *cuda.Stream) error {
	e.ops++
	number := e.ops
	return s.LaunchHostFunc(func() { e.f.meet(e.w, number, 1, e.aborted) })
}

func (e *fakeEnd) Destroy() error {
	e.f.count("destroy", 1)
	return nil
}

func (e *fakeEnd) Abort() error {
	e.f.count("abort", 1)
	close(e.aborted)
	return nil
}
