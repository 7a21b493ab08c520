// Package iter has the generic part of the standard package iter.
package iter

// Seq calls yield with one value after another until yield returns false.
type Seq[V any] func(yield func(V) bool)

// Seq2 calls yield with one pair of values after another until yield returns
// false.
type Seq2[K, V any] func(yield func(K, V) bool)

// Pull turns seq into a function that returns its next value, and false after
// the last, and one that stops it. The sequence runs in a goroutine of its
// own, only while next or stop waits for it.
func Pull[V any](seq Seq[V]) (next func() (V, bool), stop func()) {
	next2, stop := Pull2(func(yield func(V, struct{}) bool) {
		seq(func(v V) bool { return yield(v, struct{}{}) })
	})
	next = func() (V, bool) {
		v, _, ok := next2()
		return v, ok
	}
	return next, stop
}

// Pull2 is Pull for pairs.
func Pull2[K, V any](seq Seq2[K, V]) (next func() (K, V, bool), stop func()) {
	var (
		key     K
		value   V
		ok      bool
		done    bool
		started bool
		failed  any
	)
	resume := make(chan bool) // true: another value; false: stop
	ready := make(chan struct{})
	run := func() {
		defer func() {
			failed = recover()
			ok, done = false, true
			var noKey K
			var noValue V
			key, value = noKey, noValue
			ready <- struct{}{}
		}()
		seq(func(k K, v V) bool {
			key, value, ok = k, v, true
			ready <- struct{}{}
			return <-resume
		})
	}
	step := func(more bool) {
		if !started {
			started = true
			go run()
		} else {
			resume <- more
		}
		<-ready
		if failed != nil {
			p := failed
			failed = nil
			panic(p)
		}
	}
	next = func() (K, V, bool) {
		if done {
			var noKey K
			var noValue V
			return noKey, noValue, false
		}
		step(true)
		return key, value, ok
	}
	stop = func() {
		if done {
			return
		}
		if !started {
			done = true
			return
		}
		step(false)
		done = true
	}
	return next, stop
}
