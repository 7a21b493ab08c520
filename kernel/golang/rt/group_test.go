package rt

import "testing"

// What ends the polls for one cancellation leaves those for the next.
func TestCancellationsOverlap(t *testing.T) {
	r := New()
	first, second := &Group{Name: "first"}, &Group{Name: "second"}
	end, ended := make(chan bool), make(chan bool)
	for _, g := range []*Group{first, second} {
		started := make(chan bool)
		go r.Start(g, func() {
			defer func() { ended <- true }()
			close(started)
			<-end
		})
		<-started
	}
	r.Cancel(first)
	of := r.groups.signals
	r.Cancel(second)
	r.unsignal(of)
	if !*r.stop {
		t.Error("the second cancellation is forgotten with the first")
	}
	r.unsignal(r.groups.signals)
	if *r.stop {
		t.Error("the polls do not end")
	}
	r.Cancel(second)
	if !*r.stop {
		t.Error("a cancellation once more does not tell")
	}
	close(end)
	<-ended
	<-ended
}
