package cuda

import "gocuda/cudaapi/driver"

// WaitCondition says when a stream's wait for a value in memory ends.
type WaitCondition uint32

const (
	// WaitGEQ: the value, as a cyclic counter, has reached the given one:
	// int(*p - value) >= 0.
	WaitGEQ WaitCondition = WaitCondition(driver.WaitValueGEQ)
	// WaitEQ: *p == value.
	WaitEQ WaitCondition = WaitCondition(driver.WaitValueEQ)
	// WaitAND: *p & value != 0.
	WaitAND WaitCondition = WaitCondition(driver.WaitValueAND)
	// WaitNOR: ^(*p | value) != 0.
	WaitNOR WaitCondition = WaitCondition(driver.WaitValueNOR)
)

// WaitValue makes the stream's later work wait until the first element of word
// fulfils a condition (cuStreamWaitValue32, cuStreamWaitValue64). Unlike an
// event, it may be queued before the work that writes the value. word is a
// *Buffer or a pinned *HostBuffer of 32- or 64-bit integers. A wait that nobody
// ends keeps the stream for good.
func (s *Stream) WaitValue(word any, value uint64, condition WaitCondition) error {
	const call = "Stream.WaitValue"
	c, p, width, err := s.word(call, word, value)
	if err != nil {
		return err
	}
	if width == 4 {
		err = s.dev.drv().StreamWaitValue32(c, s.h, p, uint32(value), driver.WaitFlags(condition))
	} else {
		err = s.dev.drv().StreamWaitValue64(c, s.h, p, value, driver.WaitFlags(condition))
	}
	return s.queued(err, call, word)
}

// WriteValue writes the first element of word when the stream's work so far is
// done (cuStreamWriteValue32, cuStreamWriteValue64), after making that work
// visible.
func (s *Stream) WriteValue(word any, value uint64) error {
	const call = "Stream.WriteValue"
	c, p, width, err := s.word(call, word, value)
	if err != nil {
		return err
	}
	if width == 4 {
		err = s.dev.drv().StreamWriteValue32(c, s.h, p, uint32(value))
	} else {
		err = s.dev.drv().StreamWriteValue64(c, s.h, p, value)
	}
	return s.queued(err, call, word)
}

func (s *Stream) word(call string, word any, value uint64) (c driver.Context, p driver.Ptr, width int, err error) {
	if c, err = s.use(call); err != nil {
		return
	}
	at, err := end(call, word)
	if err != nil {
		return
	}
	switch {
	case at.n < 1:
		err = misuse(driver.ErrInvalidValue, call, s.dev, "the buffer has no elements")
	case at.onHost && !at.pinned:
		err = misuse(driver.ErrInvalidValue, call, s.dev, "a device cannot see pageable host memory: use AllocHost")
	case at.typ != Int32 && at.typ != Uint32 && at.typ != Int64 && at.typ != Uint64:
		err = misuse(driver.ErrInvalidValue, call, s.dev, "the buffer holds %s; a value is a 32- or 64-bit integer", at.typ)
	case at.typ.Size() == 4 && value>>32 != 0:
		err = misuse(driver.ErrInvalidValue, call, s.dev, "%d does not fit into %s", value, at.typ)
	}
	return c, at.ptr, at.typ.Size(), err
}

// MemOp is one operation of a batch; see [WaitOp] and [WriteOp].
type MemOp struct {
	word      any
	value     uint64
	condition WaitCondition
	write     bool
}

// WaitOp is Stream.WaitValue, as part of a batch.
func WaitOp(word any, value uint64, condition WaitCondition) MemOp {
	return MemOp{word: word, value: value, condition: condition}
}

// WriteOp is Stream.WriteValue, as part of a batch.
func WriteOp(word any, value uint64) MemOp { return MemOp{word: word, value: value, write: true} }

// BatchMemOp queues waits for values and writes of values, in order, at the cost
// of one call (cuStreamBatchMemOp): at most 255. It does not wait.
func (s *Stream) BatchMemOp(ops ...MemOp) error {
	const call = "Stream.BatchMemOp"
	c, err := s.use(call)
	if err != nil || len(ops) == 0 {
		return err
	}
	if len(ops) > driver.MaxMemOps {
		return misuse(driver.ErrInvalidValue, call, s.dev, "%d operations; at most %d", len(ops), driver.MaxMemOps)
	}
	list, words := make([]driver.MemOp, len(ops)), make([]any, len(ops))
	for i, o := range ops {
		_, p, width, err := s.word(call, o.word, o.value)
		if err != nil {
			return err
		}
		kind := driver.MemOpWaitValue32
		switch {
		case o.write && width == 4:
			kind = driver.MemOpWriteValue32
		case o.write:
			kind = driver.MemOpWriteValue64
		case width == 8:
			kind = driver.MemOpWaitValue64
		}
		words[i] = o.word
		list[i] = driver.MemOp{Kind: kind, Addr: p, Value: o.value, Wait: driver.WaitFlags(o.condition)}
	}
	return s.queued(s.dev.drv().StreamBatchMemOp(c, s.h, list), call, words...)
}
