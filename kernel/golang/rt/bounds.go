package rt

import "fmt"

// indexPanic is called for an index that is out of range, in the statement at pos.
func (r *Runtime) indexPanic(index, length, pos int) {
	r.traces.begin(pos)
	if index < 0 {
		panic(&Panic{runtimeError(fmt.Sprintf("index out of range [%d]", index))})
	}
	panic(&Panic{runtimeError(fmt.Sprintf("index out of range [%d] with length %d", index, length))})
}

// sliceBounds is called for x[low:high] or x[low:high:limit] of which a bound
// is out of range. room is the capacity of x, or the length if it has none. A
// bound that was left out has the value that stands for it.
func (r *Runtime) sliceBounds(low, high, limit, room int, hasHigh, hasLimit, withCap bool, pos int) {
	r.traces.begin(pos)
	of := "length"
	if withCap {
		of = "capacity"
	}
	text := ""
	switch {
	case hasLimit && limit < 0:
		text = fmt.Sprintf("[::%d]", limit)
	case hasLimit && limit > room:
		text = fmt.Sprintf("[::%d] with %s %d", limit, of, room)
	case hasLimit && high < 0:
		text = fmt.Sprintf("[:%d:]", high)
	case hasLimit && high > limit:
		text = fmt.Sprintf("[:%d:%d]", high, limit)
	case hasLimit && low < 0:
		text = fmt.Sprintf("[%d::]", low)
	case hasLimit:
		text = fmt.Sprintf("[%d:%d:]", low, high)
	case hasHigh && high < 0:
		text = fmt.Sprintf("[:%d]", high)
	case hasHigh && high > room:
		text = fmt.Sprintf("[:%d] with %s %d", high, of, room)
	case low < 0:
		text = fmt.Sprintf("[%d:]", low)
	default:
		text = fmt.Sprintf("[%d:%d]", low, high)
	}
	panic(&Panic{runtimeError("slice bounds out of range " + text)})
}
