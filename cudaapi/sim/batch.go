package sim

import "gocuda/cudaapi/driver"

// StreamBatchMemOp waits for and writes several words, in order. A batch with a
// mistake in it does nothing.
func (m *Driver) StreamBatchMemOp(c driver.Context, id driver.Stream, ops []driver.MemOp) error {
	const call = "cuStreamBatchMemOp"
	if len(ops) > driver.MaxMemOps {
		return fail(call, driver.ErrInvalidValue, "%d operations: at most %d", len(ops), driver.MaxMemOps)
	}
	m.mu.Lock()
	err := m.checkBatch(call, ops)
	m.mu.Unlock()
	for _, o := range ops {
		if err != nil {
			return err
		}
		switch o.Kind {
		case driver.MemOpWaitValue32:
			err = m.StreamWaitValue32(c, id, o.Addr, uint32(o.Value), o.Wait)
		case driver.MemOpWaitValue64:
			err = m.StreamWaitValue64(c, id, o.Addr, o.Value, o.Wait)
		case driver.MemOpWriteValue32:
			err = m.StreamWriteValue32(c, id, o.Addr, uint32(o.Value))
		case driver.MemOpWriteValue64:
			err = m.StreamWriteValue64(c, id, o.Addr, o.Value)
		}
	}
	return err
}

// checkBatch finds a mistake in a batch. m.mu is held.
func (m *Driver) checkBatch(call string, ops []driver.MemOp) error {
	for i, o := range ops {
		n := uint64(4)
		switch o.Kind {
		case driver.MemOpWaitValue32, driver.MemOpWriteValue32:
		case driver.MemOpWaitValue64, driver.MemOpWriteValue64:
			n = 8
		default:
			return fail(call, driver.ErrInvalidValue, "operation %d is of kind %d", i, o.Kind)
		}
		if _, err := m.word(call, o.Addr, n); err != nil {
			return err
		}
		if o.Wait > driver.WaitValueNOR {
			return fail(call, driver.ErrInvalidValue, "operation %d: flags %#x", i, uint32(o.Wait))
		}
	}
	return nil
}
