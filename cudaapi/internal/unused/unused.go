// Package unused closes memory that was opened and that nobody uses any more, where it is in
// the way of something else.
package unused

import "sync"

var list struct {
	sync.Mutex
	close []func()
}

// Register adds a function that closes what it keeps open for later use. It must not wait
// for a lock that somebody holds who opens memory.
func Register(close func()) {
	list.Lock()
	defer list.Unlock()
	list.close = append(list.close, close)
}

// Close calls them all.
func Close() {
	list.Lock()
	all := list.close
	list.Unlock()
	for _, f := range all {
		f()
	}
}
