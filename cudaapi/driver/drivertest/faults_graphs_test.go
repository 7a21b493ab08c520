package drivertest_test

import (
	"maps"
	"slices"

	"gocuda/cudaapi/driver"
)

// Faults of graphs, launch attributes, batches, managed memory and shared pools.

type (
	idleGraphs       struct{ base }
	strayGraphs      struct{ base }
	singleGraphs     struct{ base }
	laxCapture       struct{ base }
	noCapture        struct{ base }
	secretCapture    struct{ base }
	stubbornGraphs   struct{ base }
	emptyGraphs      struct{ base }
	frailGraphs      struct{ base }
	lossyClusters    struct{ base }
	noAttributes     struct{ base }
	eagerProgrammed  struct{ base }
	backwardBatches  struct{ base }
	narrowBatches    struct{ base }
	noPrefetch       struct{ base }
	destructiveFetch struct{ base }
	noAdvice         struct{ base }
	openPools        struct{ base }
	copiedPools      struct{ base }
)

func init() {
	maps.Copy(faults, map[string]func(d machine) driver.Driver{
		"graph-launch-does-nothing":  func(d machine) driver.Driver { return idleGraphs{base{d}} },
		"graph-launch-on-any-stream": func(d machine) driver.Driver { return strayGraphs{base{d}} },
		"graph-launched-twice":       func(d machine) driver.Driver { return singleGraphs{base{d}} },
		"capture-rules-ignored":      func(d machine) driver.Driver { return laxCapture{base{d}} },
		"captured-work-runs":         func(d machine) driver.Driver { return noCapture{base{d}} },
		"never-says-capturing":       func(d machine) driver.Driver { return secretCapture{base{d}} },
		"graph-update-ignored":       func(d machine) driver.Driver { return stubbornGraphs{base{d}} },
		"graph-has-no-nodes":         func(d machine) driver.Driver { return emptyGraphs{base{d}} },
		"graph-lives-in-its-pattern": func(d machine) driver.Driver { return frailGraphs{base{d}} },
		"clusters-lose-blocks":       func(d machine) driver.Driver { return lossyClusters{base{d}} },
		"attributes-refused":         func(d machine) driver.Driver { return noAttributes{base{d}} },
		"programmatic-never-waits":   func(d machine) driver.Driver { return eagerProgrammed{base{d}} },
		"batches-backwards":          func(d machine) driver.Driver { return backwardBatches{base{d}} },
		"batches-of-32-bits":         func(d machine) driver.Driver { return narrowBatches{base{d}} },
		"prefetch-does-nothing":      func(d machine) driver.Driver { return noPrefetch{base{d}} },
		"prefetch-clears":            func(d machine) driver.Driver { return destructiveFetch{base{d}} },
		"advice-ignored":             func(d machine) driver.Driver { return noAdvice{base{d}} },
		"any-file-is-a-pool":         func(d machine) driver.Driver { return openPools{base{d}} },
		"imported-memory-is-a-copy":  func(d machine) driver.Driver { return copiedPools{base{d}} },
	})
}

func (idleGraphs) GraphLaunch(driver.Context, driver.GraphExec, driver.Stream) error { return nil }

func (f strayGraphs) GraphLaunch(c driver.Context, x driver.GraphExec, _ driver.Stream) error {
	s, err := f.StreamCreate(c, driver.StreamNonBlocking, 0)
	if err != nil {
		return err
	}
	return f.machine.GraphLaunch(c, x, s)
}

func (f singleGraphs) GraphLaunch(c driver.Context, x driver.GraphExec, s driver.Stream) error {
	if err := f.machine.GraphLaunch(c, x, s); err != nil {
		return err
	}
	return f.machine.GraphLaunch(c, x, s)
}

func (f laxCapture) StreamBeginCapture(c driver.Context, s driver.Stream) error {
	_ = f.machine.StreamBeginCapture(c, s)
	return nil
}
func (f laxCapture) StreamEndCapture(c driver.Context, s driver.Stream) (driver.Graph, error) {
	g, _ := f.machine.StreamEndCapture(c, s)
	return g, nil
}
func (f laxCapture) StreamSynchronize(c driver.Context, s driver.Stream, stop <-chan struct{}) error {
	if on, _ := f.StreamIsCapturing(c, s); on {
		return nil
	}
	return f.machine.StreamSynchronize(c, s, stop)
}

func (noCapture) StreamBeginCapture(driver.Context, driver.Stream) error { return nil }

func (f noCapture) StreamEndCapture(c driver.Context, _ driver.Stream) (driver.Graph, error) {
	s, err := f.StreamCreate(c, driver.StreamNonBlocking, 0)
	if err != nil {
		return 0, err
	}
	if err := f.machine.StreamBeginCapture(c, s); err != nil {
		return 0, err
	}
	return f.machine.StreamEndCapture(c, s)
}

func (secretCapture) StreamIsCapturing(driver.Context, driver.Stream) (bool, error) {
	return false, nil
}

func (stubbornGraphs) GraphExecUpdate(driver.Context, driver.GraphExec, driver.Graph) error {
	return nil
}

func (emptyGraphs) GraphNodes(driver.Context, driver.Graph) ([]driver.NodeType, error) {
	return nil, nil
}

func (f frailGraphs) GraphLaunch(c driver.Context, x driver.GraphExec, s driver.Stream) error {
	if err := f.machine.GraphLaunch(c, x, s); err != nil {
		return err
	}
	return f.machine.GraphExecDestroy(c, x)
}

func (f lossyClusters) Launch(c driver.Context, l *driver.Launch) error {
	if l.Attributes != nil && l.Attributes.Cluster.X > 1 {
		l.Grid.X /= l.Attributes.Cluster.X
		l.Attributes = nil
	}
	return f.machine.Launch(c, l)
}

func (f noAttributes) Launch(c driver.Context, l *driver.Launch) error {
	if l.Attributes != nil {
		return &driver.Error{Code: driver.ErrNotSupported, Call: "cuLaunchKernelEx"}
	}
	return f.machine.Launch(c, l)
}

func (f eagerProgrammed) Launch(c driver.Context, l *driver.Launch) error {
	if l.Attributes != nil && l.Attributes.Programmatic {
		s, err := f.StreamCreate(c, driver.StreamNonBlocking, 0)
		if err != nil {
			return err
		}
		l.Stream = s
	}
	return f.machine.Launch(c, l)
}

func (f backwardBatches) StreamBatchMemOp(c driver.Context, s driver.Stream, ops []driver.MemOp) error {
	ops = slices.Clone(ops)
	slices.Reverse(ops)
	return f.machine.StreamBatchMemOp(c, s, ops)
}

func (f narrowBatches) StreamBatchMemOp(c driver.Context, s driver.Stream, ops []driver.MemOp) error {
	ops = slices.Clone(ops)
	for i := range ops {
		switch ops[i].Kind {
		case driver.MemOpWaitValue64:
			ops[i].Kind = driver.MemOpWaitValue32
		case driver.MemOpWriteValue64:
			ops[i].Kind = driver.MemOpWriteValue32
		}
	}
	return f.machine.StreamBatchMemOp(c, s, ops)
}

func (noPrefetch) MemPrefetchAsync(driver.Context, driver.Ptr, uint64, driver.Device, driver.Stream) error {
	return nil
}

func (f destructiveFetch) MemPrefetchAsync(c driver.Context, p driver.Ptr, n uint64, to driver.Device, s driver.Stream) error {
	if err := f.machine.MemPrefetchAsync(c, p, n, to, s); err != nil {
		return err
	}
	return f.MemsetAsync(c, p, 0, 1, n, s)
}

func (noAdvice) MemAdvise(driver.Context, driver.Ptr, uint64, driver.Advice, driver.Device) error {
	return nil
}

func (f openPools) MemPoolImport(fd int) (driver.MemPool, error) {
	return f.MemPoolCreate(0, true)
}

func (f copiedPools) MemPoolImportPointer(c driver.Context, pool driver.MemPool, x driver.PoolPointer) (driver.Ptr, error) {
	p, err := f.machine.MemPoolImportPointer(c, pool, x)
	if err != nil {
		return 0, err
	}
	info, err := f.PointerAttributes(c, p)
	if err != nil {
		return 0, err
	}
	own, err := f.MemAlloc(c, info.Size)
	if err != nil {
		return 0, err
	}
	return own, f.Memcpy(c, own, p, info.Size)
}
