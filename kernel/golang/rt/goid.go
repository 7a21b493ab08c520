package rt

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
	"unsafe"
)

// goid returns the number of the calling goroutine. The runtime keeps it where
// only a stack trace tells it, which takes as long as the stack is deep: up to
// 100 µs, at every recover. So it is read from the runtime's own record of the
// goroutine, at the place where traces say that it is.
func goid() int64 {
	if at := goidOffset(); at != 0 {
		return *(*int64)(unsafe.Add(getg(), at))
	}
	return tracedID()
}

// goidOffset finds the number in the record of a goroutine, and 0 if it is not
// to be found in the same place for others.
var goidOffset = sync.OnceValue(func() uintptr {
	const record = 384 // less than its size, in bytes
	if getg() == nil {
		return 0
	}
	fits := func() (list []uintptr) {
		id := tracedID()
		for at := uintptr(0); at < record; at += 8 {
			if *(*int64)(unsafe.Add(getg(), at)) == id {
				list = append(list, at)
			}
		}
		return list
	}
	found := fits()
	for range 3 {
		others := make(chan []uintptr)
		go func() { others <- fits() }()
		other := <-others
		found = slices.DeleteFunc(found, func(at uintptr) bool { return !slices.Contains(other, at) })
	}
	if len(found) != 1 {
		return 0
	}
	return found[0]
})

// tracedID is goid as a stack trace begins with it.
func tracedID() int64 {
	var buf [40]byte
	text := buf[len("goroutine "):runtime.Stack(buf[:], false)]
	for i, c := range text {
		if c == ' ' {
			id, _ := strconv.ParseInt(string(text[:i]), 10, 64)
			return id
		}
	}
	return 0
}
