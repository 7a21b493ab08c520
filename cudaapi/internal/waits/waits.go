// Package waits tells packages whose kernels wait for other ranks about this process's
// waits for devices: one that was interrupted, so that they end their kernels, and one
// that is over, so that they say what became of these.
package waits

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Watcher hears of waits for a device.
type Watcher interface {
	// Interrupted is called when a wait for the device was interrupted.
	Interrupted()
	// Failed is what a wait for the device, which is over, is to report; nil: nothing.
	Failed() error
}

type watch struct {
	device int
	w      Watcher
}

var (
	mu   sync.Mutex
	list atomic.Pointer[[]*watch]
)

// Watch adds a watcher, until remove is called.
func Watch(device int, w Watcher) (remove func()) {
	x := &watch{device, w}
	change(func(old []*watch) []*watch { return append(old, x) })
	return func() {
		change(func(old []*watch) (left []*watch) {
			for _, o := range old {
				if o != x {
					left = append(left, o)
				}
			}
			return left
		})
	}
}

func change(f func(old []*watch) []*watch) {
	mu.Lock()
	defer mu.Unlock()
	var old []*watch
	if p := list.Load(); p != nil {
		old = append(old, *p...)
	}
	if next := f(old); len(next) > 0 {
		list.Store(&next)
	} else {
		list.Store(nil)
	}
}

// Interrupted tells the device's watchers.
func Interrupted(device int) {
	each(device, func(w Watcher) { w.Interrupted() })
}

// Failed joins what the device's watchers report.
func Failed(device int) error {
	if list.Load() == nil { // as nearly always
		return nil
	}
	var errs []error
	each(device, func(w Watcher) { errs = append(errs, w.Failed()) })
	return errors.Join(errs...)
}

func each(device int, f func(Watcher)) {
	p := list.Load()
	if p == nil {
		return
	}
	for _, x := range *p {
		if x.device == device {
			f(x.w)
		}
	}
}
