package record

import (
	"slices"
	"testing"
	"time"

	"gocuda/cudaapi/internal/callsite"
)

type kinds []Kind

func (k *kinds) Op(o *Op) { *k = append(*k, o.Kind) }

// patient has a busy machine decide nothing.
func patient() (done func()) {
	mostLook = time.Minute
	return func() { mostLook = 20 * time.Millisecond }
}

// What the program does that a host function has told to go on comes after it, also if
// that takes a while to return, and if nothing comes after.
func TestAfterAHostFunction(t *testing.T) {
	defer patient()()
	var got kinds
	r := New(&got)
	r.shared.add(0, 4)
	r.started = beginsLater
	told := make(chan bool)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		r.within(&Op{Kind: HostFunc}, goroutine(), func() {
			close(told)
			for begun := time.Now(); time.Since(begun) < 5*time.Millisecond; {
			}
		})
	}()
	<-told
	r.Touch(callsite.Place{Cell: "In[1]", Line: 1}, Access{0, 4, Read}, true, false)
	r.Flush()
	<-ended
	if want := (kinds{HostFuncBegun, HostFuncDone, HostAccess}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// So it is where the function runs on a goroutine of its own, as those of cells do.
func TestAfterAHostFunctionElsewhere(t *testing.T) {
	defer patient()()
	var got kinds
	r := New(&got)
	r.shared.add(0, 4)
	r.started = beginsLater
	told := make(chan bool)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		r.within(&Op{Kind: HostFunc}, goroutine(), func() {
			ran := make(chan bool)
			go func() {
				close(told)
				for begun := time.Now(); time.Since(begun) < 5*time.Millisecond; {
				}
				close(ran)
			}()
			<-ran
		})
	}()
	<-told
	r.Touch(callsite.Place{Cell: "In[1]", Line: 1}, Access{0, 4, Read}, true, false)
	r.Flush()
	<-ended
	if want := (kinds{HostFuncBegun, HostFuncDone, HostAccess}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What a goroutine queues behind a host function without a wait comes before that begins.
func TestBeforeAHostFunction(t *testing.T) {
	defer patient()()
	var got kinds
	r := New(&got)
	by, ended := goroutine(), make(chan bool)
	go func() {
		defer close(ended)
		r.within(&Op{Kind: HostFunc}, by, func() {})
	}()
	for begun := time.Now(); time.Since(begun) < 5*time.Millisecond; {
	}
	r.Add(&Op{Kind: Copy})
	<-ended
	if want := (kinds{Copy, HostFuncBegun, HostFuncDone}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
