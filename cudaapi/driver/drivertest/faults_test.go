package drivertest_test

import (
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/driver/drivertest"
	"gocuda/cudaapi/sim"
)

// faultEnv names the fault that the driver of TestSuite has.
const faultEnv = "GOCUDA_DRIVERTEST_FAULT"

// TestSuite is the suite on simulated devices, with the fault of the environment.
func TestSuite(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) driver.Driver {
		d, err := sim.New(sim.Options{Devices: 2, Memory: 2 << 30})
		if err != nil {
			t.Fatal(err)
		}
		if name := os.Getenv(faultEnv); name != "" {
			f, ok := faults[name]
			if !ok {
				t.Fatalf("no fault %q", name)
			}
			drivertest.Hurry()
			return f(d)
		}
		return d
	})
}

// TestTable holds simulated devices to what the article on streams and the API's
// documentation say of pinned and device memory.
func TestTable(t *testing.T) {
	d, err := sim.New(sim.Options{Devices: 2, Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	table := drivertest.Table(t, d)
	t.Log("\n" + table)
	for _, row := range []string{
		"| cuMemcpyAsync pinned to device | 1048576 | its own | no | when the copy runs |",
		"| cuMemcpyAsync device to pinned | 1048576 | its own | no |  |",
		"| cuMemcpyAsync device to pageable | 1048576 | its own | yes |  |",
		"| cuMemcpy device to device | 4096 | default | no |  |",
		"| cuMemcpyPeerAsync | 4096 | its own | no |  |",
	} {
		if !strings.Contains(table, row) {
			t.Errorf("the table lacks %s", row)
		}
	}
}

// TestSuiteCatchesFaults runs the suite against drivers that are broken in one
// way each: every fault must be caught. With GOCUDA_TEST_FAULTS=all it runs them
// all, and then holds that every case was failed by one of them: a case that no
// broken driver fails proves nothing.
func TestSuiteCatchesFaults(t *testing.T) {
	if os.Getenv(faultEnv) != "" {
		t.Skip("this process has a fault itself")
	}
	whole := os.Getenv("GOCUDA_TEST_FAULTS") == "all"
	caughtBy := map[string][]string{}
	var mu sync.Mutex
	t.Run("faults", func(t *testing.T) {
		for name := range faults {
			t.Run(name, func(t *testing.T) {
				if !whole && !slices.Contains(everyTime, name) {
					t.Skip("GOCUDA_TEST_FAULTS=all runs the whole suite for every fault")
				}
				t.Parallel()
				out := suite(name)
				failed := cases(out, "FAIL")
				if len(failed) == 0 {
					t.Errorf("no case failed\n%s", out[max(0, len(out)-2000):])
				}
				t.Logf("caught by %d: %s", len(failed), strings.Join(failed, ", "))
				mu.Lock()
				defer mu.Unlock()
				for _, c := range failed {
					caughtBy[c] = append(caughtBy[c], name)
				}
			})
		}
	})
	if !whole {
		return
	}
	all := cases(suite(""), "PASS")
	for _, c := range all {
		if len(caughtBy[c]) == 0 {
			t.Errorf("no broken driver fails %s", c)
		}
	}
	t.Logf("%d of %d cases are failed by at least one of %d broken drivers", len(all)-missing(all, caughtBy), len(all), len(faults))
}

func missing(all []string, caughtBy map[string][]string) (n int) {
	for _, c := range all {
		if len(caughtBy[c]) == 0 {
			n++
		}
	}
	return n
}

// suite runs TestSuite with a fault, or without one, in a process of its own.
func suite(fault string) string {
	cmd := exec.Command(os.Args[0], "-test.run=^TestSuite$", "-test.v", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), faultEnv+"="+fault)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// cases are those of a run of the suite that ended so.
func cases(out, how string) (names []string) {
	for line := range strings.Lines(out) {
		// A case that runs alone prints its output indented.
		s, ok := strings.CutPrefix(strings.TrimSpace(line), "--- "+how+": TestSuite/")
		if !ok && how == "FAIL" && strings.Contains(line, " hangs") { // it ended the process
			s, ok = strings.CutPrefix(strings.TrimSpace(line), "panic: TestSuite/")
		}
		if ok {
			if name := strings.Fields(s)[0]; strings.Contains(name, "/") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// everyTime are the faults that every run of the tests injects.
var everyTime = []string{"no-wait-event", "no-blocking-streams", "errors-have-no-code"}

// base lets a fault replace some methods of a driver.
type base struct{ machine }

// machine is what the broken drivers change something of.
type machine interface {
	driver.Driver
	driver.Graphs
}

type (
	noWaitEvent     struct{ base }
	noEventRecord   struct{ base }
	noSynchronize   struct{ base }
	alwaysDone      struct{ base }
	waitingCopies   struct{ base }
	nonBlocking     struct{ base }
	allBlocking     struct{ base }
	unorderedMemset struct{ base }
	eagerHostFunc   struct{ base }
	noWaitValue     struct{ base }
	lateArguments   struct{ base }
	forgivingFree   struct{ base }
	shortCopies     struct{ base }
	looseLimits     struct{ base }
	noPeerRules     struct{ base }
	deafWaits       struct{ base }
	swappedPeers    struct{ base }
	frozenClock     struct{ base }
	leakyPool       struct{ base }
	openHandles     struct{ base }
	wrongParams     struct{ base }
	quietCompiler   struct{ base }
	noSticky        struct{ base }
	vagueErrors     struct{ base }
	lyingPointers   struct{ base }
	waitingLaunch   struct{ base }
	waitsForAll     struct{ base }
	sharedDevice    struct{ base }
	hastyFree       struct{ base }
	eagerPageable   struct{ base }
	neverDone       struct{ base }
	noCodes         struct{ base }
	waitingAlloc    struct{ base }
	blindPointers   struct{ base }
)

var faults = map[string]func(d machine) driver.Driver{
	"no-wait-event":        func(d machine) driver.Driver { return noWaitEvent{base{d}} },
	"no-event-record":      func(d machine) driver.Driver { return noEventRecord{base{d}} },
	"no-synchronize":       func(d machine) driver.Driver { return noSynchronize{base{d}} },
	"queries-say-done":     func(d machine) driver.Driver { return alwaysDone{base{d}} },
	"async-copies-wait":    func(d machine) driver.Driver { return waitingCopies{base{d}} },
	"no-blocking-streams":  func(d machine) driver.Driver { return nonBlocking{base{d}} },
	"all-streams-blocking": func(d machine) driver.Driver { return allBlocking{base{d}} },
	"memset-out-of-order":  func(d machine) driver.Driver { return unorderedMemset{base{d}} },
	"host-function-early":  func(d machine) driver.Driver { return eagerHostFunc{base{d}} },
	"no-wait-value":        func(d machine) driver.Driver { return noWaitValue{base{d}} },
	"arguments-taken-late": func(d machine) driver.Driver { return lateArguments{base{d}} },
	"double-free-accepted": func(d machine) driver.Driver { return forgivingFree{base{d}} },
	"copies-miss-a-byte":   func(d machine) driver.Driver { return shortCopies{base{d}} },
	"limits-not-checked":   func(d machine) driver.Driver { return looseLimits{base{d}} },
	"peer-rules-ignored":   func(d machine) driver.Driver { return noPeerRules{base{d}} },
	"waits-ignore-stop":    func(d machine) driver.Driver { return deafWaits{base{d}} },
	"peer-copy-backwards":  func(d machine) driver.Driver { return swappedPeers{base{d}} },
	"clock-stands":         func(d machine) driver.Driver { return frozenClock{base{d}} },
	"pool-never-trims":     func(d machine) driver.Driver { return leakyPool{base{d}} },
	"any-ipc-handle-opens": func(d machine) driver.Driver { return openHandles{base{d}} },
	"parameters-packed":    func(d machine) driver.Driver { return wrongParams{base{d}} },
	"compiler-says-little": func(d machine) driver.Driver { return quietCompiler{base{d}} },
	"errors-do-not-stick":  func(d machine) driver.Driver { return noSticky{base{d}} },
	"every-error-unknown":  func(d machine) driver.Driver { return vagueErrors{base{d}} },
	"pointers-have-no-base": func(d machine) driver.Driver {
		return lyingPointers{base{d}}
	},
	"launch-waits":             func(d machine) driver.Driver { return waitingLaunch{base{d}} },
	"context-waits-for-others": func(d machine) driver.Driver { return waitsForAll{base{d}} },
	"one-device-for-all":       func(d machine) driver.Driver { return sharedDevice{base{d}} },
	"free-does-not-wait":       func(d machine) driver.Driver { return hastyFree{base{d}} },
	"pageable-never-waits":     func(d machine) driver.Driver { return eagerPageable{base{d}} },
	"queries-say-pending":      func(d machine) driver.Driver { return neverDone{base{d}} },
	"errors-have-no-code":      func(d machine) driver.Driver { return noCodes{base{d}} },
	"facts-are-zero":           func(d machine) driver.Driver { return &zeroFacts{base: base{d}} },
	"refuses-what-is-allowed":  func(d machine) driver.Driver { return picky{base{d}} },
	"allows-what-is-refused":   func(d machine) driver.Driver { return loosePools{base{d}} },
	"addresses-are-shifted":    func(d machine) driver.Driver { return shifted{base{d}} },
	"synchronize-is-not-ready": func(d machine) driver.Driver { return notReady{base{d}} },
	"allocations-wait":         func(d machine) driver.Driver { return waitingAlloc{base{d}} },
	"pointers-unknown":         func(d machine) driver.Driver { return blindPointers{base{d}} },
}

func (noWaitEvent) StreamWaitEvent(driver.Context, driver.Stream, driver.Event) error { return nil }

func (noEventRecord) EventRecord(driver.Context, driver.Event, driver.Stream) error { return nil }

func (noSynchronize) StreamSynchronize(driver.Context, driver.Stream, <-chan struct{}) error {
	return nil
}
func (noSynchronize) CtxSynchronize(driver.Context, <-chan struct{}) error { return nil }

func (alwaysDone) StreamQuery(driver.Context, driver.Stream) (bool, error) { return true, nil }
func (alwaysDone) EventQuery(driver.Context, driver.Event) (bool, error)   { return true, nil }

func (f waitingCopies) MemcpyAsync(c driver.Context, dst, src driver.Ptr, n uint64, s driver.Stream) error {
	if err := f.machine.MemcpyAsync(c, dst, src, n, s); err != nil {
		return err
	}
	return f.StreamSynchronize(c, s, nil)
}

func (f nonBlocking) StreamCreate(c driver.Context, _ driver.StreamFlags, p int) (driver.Stream, error) {
	return f.machine.StreamCreate(c, driver.StreamNonBlocking, p)
}

func (f allBlocking) StreamCreate(c driver.Context, _ driver.StreamFlags, p int) (driver.Stream, error) {
	return f.machine.StreamCreate(c, driver.StreamBlocking, p)
}

func (f unorderedMemset) MemsetAsync(c driver.Context, dst driver.Ptr, v uint32, w int, n uint64, _ driver.Stream) error {
	s, err := f.StreamCreate(c, driver.StreamNonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.StreamDestroy(c, s)
	return f.machine.MemsetAsync(c, dst, v, w, n, s)
}

func (f unorderedMemset) Memset2DAsync(c driver.Context, dst driver.Ptr, pitch uint64, v uint32, width int, w, h uint64, _ driver.Stream) error {
	s, err := f.StreamCreate(c, driver.StreamNonBlocking, 0)
	if err != nil {
		return err
	}
	defer f.StreamDestroy(c, s)
	return f.machine.Memset2DAsync(c, dst, pitch, v, width, w, h, s)
}

func (eagerHostFunc) LaunchHostFunc(_ driver.Context, _ driver.Stream, f func()) error {
	go func() {
		debug.SetPanicOnFault(true) // the case may have ended, and its memory with it
		defer func() { _ = recover() }()
		f()
	}()
	return nil
}

func (noWaitValue) StreamWaitValue32(driver.Context, driver.Stream, driver.Ptr, uint32, driver.WaitFlags) error {
	return nil
}
func (noWaitValue) StreamWaitValue64(driver.Context, driver.Stream, driver.Ptr, uint64, driver.WaitFlags) error {
	return nil
}

func (f lateArguments) Launch(c driver.Context, l *driver.Launch) error {
	late := *l
	return f.LaunchHostFunc(c, l.Stream, func() {
		go func() {
			late.Stream = driver.StreamPerThread
			_ = f.machine.Launch(c, &late)
		}()
	})
}

func (f forgivingFree) MemFree(c driver.Context, p driver.Ptr) error {
	_ = f.machine.MemFree(c, p)
	return nil
}

func (f shortCopies) Memcpy(c driver.Context, dst, src driver.Ptr, n uint64) error {
	return f.machine.Memcpy(c, dst, src, max(n, 1)-1)
}

func (f looseLimits) Launch(c driver.Context, l *driver.Launch) error {
	_ = f.machine.Launch(c, l)
	return nil
}

func (f noPeerRules) EnablePeerAccess(c, peer driver.Context) error {
	_ = f.machine.EnablePeerAccess(c, peer)
	return nil
}

func (f deafWaits) StreamSynchronize(c driver.Context, s driver.Stream, _ <-chan struct{}) error {
	return f.machine.StreamSynchronize(c, s, nil)
}

func (f swappedPeers) MemcpyPeer(dst driver.Ptr, dc driver.Context, src driver.Ptr, sc driver.Context, n uint64) error {
	return f.machine.MemcpyPeer(src, sc, dst, dc, n)
}

func (frozenClock) EventElapsed(driver.Context, driver.Event, driver.Event) (time.Duration, error) {
	return 0, nil
}

func (leakyPool) MemPoolTrimTo(driver.MemPool, uint64) error { return nil }

func (f openHandles) IPCOpenMemHandle(c driver.Context, h driver.IPCMemHandle) (driver.Ptr, error) {
	p, err := f.machine.IPCOpenMemHandle(c, h)
	if err != nil {
		return f.MemAlloc(c, 4096)
	}
	return p, nil
}

func (f wrongParams) FunctionParams(c driver.Context, fn driver.Function) ([]driver.Param, error) {
	p, err := f.machine.FunctionParams(c, fn)
	at := uint32(0)
	for i := range p { // as a structure without padding
		p[i].Offset = at
		at += p[i].Size
	}
	return p, err
}

func (f quietCompiler) Compile(d driver.Device, src *driver.Source) (*driver.Compiled, error) {
	c, err := f.machine.Compile(d, src)
	if err != nil {
		return nil, &driver.Error{Code: driver.ErrInvalidSource, Call: "nvrtcCompileProgram"}
	}
	return c, nil
}

func (f noSticky) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	p, err := f.machine.MemAlloc(c, n)
	if e, ok := err.(*driver.Error); ok && e.Code.Sticky() {
		return 4096, nil
	}
	return p, err
}

func (f vagueErrors) DeviceAttribute(a driver.Attribute, d driver.Device) (int, error) {
	v, err := f.machine.DeviceAttribute(a, d)
	if err != nil {
		err = &driver.Error{Code: driver.ErrUnknown, Call: "cuDeviceGetAttribute"}
	}
	return v, err
}

func (f lyingPointers) PointerAttributes(c driver.Context, p driver.Ptr) (driver.PointerInfo, error) {
	info, err := f.machine.PointerAttributes(c, p)
	info.Base = p
	return info, err
}

func (f waitingLaunch) Launch(c driver.Context, l *driver.Launch) error {
	if err := f.machine.Launch(c, l); err != nil {
		return err
	}
	return f.StreamSynchronize(c, l.Stream, nil)
}

func (f waitsForAll) CtxSynchronize(c driver.Context, stop <-chan struct{}) error {
	for i := range 2 {
		other, err := f.PrimaryRetain(driver.Device(i))
		if err != nil {
			return err
		}
		if err := f.machine.CtxSynchronize(other, stop); err != nil {
			return err
		}
	}
	return nil
}

func (f sharedDevice) PrimaryRetain(driver.Device) (driver.Context, error) {
	return f.machine.PrimaryRetain(0)
}

func (f hastyFree) MemFree(c driver.Context, p driver.Ptr) error {
	go func() { _ = f.machine.MemFree(c, p) }()
	return nil
}

func (f eagerPageable) MemcpyAsync(c driver.Context, dst, src driver.Ptr, n uint64, s driver.Stream) error {
	go func() { _ = f.machine.MemcpyAsync(c, dst, src, n, s) }()
	return nil
}

// unnamed takes an error's code away.
func unnamed(err error) error {
	if err != nil {
		err = &driver.Error{Code: driver.ErrUnknown, Call: "?"}
	}
	return err
}

func (f noCodes) DeviceName(d driver.Device) (string, error) {
	v, err := f.machine.DeviceName(d)
	return v, unnamed(err)
}
func (f noCodes) DeviceTotalMem(d driver.Device) (uint64, error) {
	v, err := f.machine.DeviceTotalMem(d)
	return v, unnamed(err)
}
func (f noCodes) CanAccessPeer(d, p driver.Device) (bool, error) {
	v, err := f.machine.CanAccessPeer(d, p)
	return v, unnamed(err)
}
func (f noCodes) P2PAttribute(a driver.P2PAttribute, s, d driver.Device) (int, error) {
	v, err := f.machine.P2PAttribute(a, s, d)
	return v, unnamed(err)
}
func (f noCodes) DisablePeerAccess(c, p driver.Context) error {
	return unnamed(f.machine.DisablePeerAccess(c, p))
}
func (f noCodes) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	v, err := f.machine.MemAlloc(c, n)
	return v, unnamed(err)
}
func (f noCodes) MemAllocAsync(c driver.Context, n uint64, s driver.Stream) (driver.Ptr, error) {
	v, err := f.machine.MemAllocAsync(c, n, s)
	return v, unnamed(err)
}
func (f noCodes) MemFreeAsync(c driver.Context, p driver.Ptr, s driver.Stream) error {
	return unnamed(f.machine.MemFreeAsync(c, p, s))
}
func (f noCodes) HostFree(c driver.Context, p driver.Ptr) error {
	return unnamed(f.machine.HostFree(c, p))
}
func (f noCodes) HostUnregister(c driver.Context, p driver.Ptr) error {
	return unnamed(f.machine.HostUnregister(c, p))
}
func (f noCodes) Memset(c driver.Context, p driver.Ptr, v uint32, w int, n uint64) error {
	return unnamed(f.machine.Memset(c, p, v, w, n))
}
func (f noCodes) Memcpy2D(c driver.Context, p *driver.Copy2D) error {
	return unnamed(f.machine.Memcpy2D(c, p))
}
func (f noCodes) StreamCreate(c driver.Context, g driver.StreamFlags, p int) (driver.Stream, error) {
	v, err := f.machine.StreamCreate(c, g, p)
	return v, unnamed(err)
}
func (f noCodes) EventCreate(c driver.Context, g driver.EventFlags) (driver.Event, error) {
	v, err := f.machine.EventCreate(c, g)
	return v, unnamed(err)
}
func (f noCodes) IPCGetMemHandle(c driver.Context, p driver.Ptr) (driver.IPCMemHandle, error) {
	v, err := f.machine.IPCGetMemHandle(c, p)
	return v, unnamed(err)
}
func (f noCodes) IPCGetEventHandle(c driver.Context, e driver.Event) (driver.IPCEventHandle, error) {
	v, err := f.machine.IPCGetEventHandle(c, e)
	return v, unnamed(err)
}
func (f noCodes) ModuleLoad(c driver.Context, b []byte) (driver.Module, error) {
	v, err := f.machine.ModuleLoad(c, b)
	return v, unnamed(err)
}
func (f noCodes) ModuleFunction(c driver.Context, m driver.Module, s string) (driver.Function, error) {
	v, err := f.machine.ModuleFunction(c, m, s)
	return v, unnamed(err)
}

func (neverDone) StreamQuery(driver.Context, driver.Stream) (bool, error) { return false, nil }
func (neverDone) EventQuery(driver.Context, driver.Event) (bool, error)   { return false, nil }

func (f waitingAlloc) MemAlloc(c driver.Context, n uint64) (driver.Ptr, error) {
	_ = f.CtxSynchronize(c, nil)
	return f.machine.MemAlloc(c, n)
}
func (f waitingAlloc) MemAllocAsync(c driver.Context, n uint64, s driver.Stream) (driver.Ptr, error) {
	_ = f.StreamSynchronize(c, s, nil)
	return f.machine.MemAllocAsync(c, n, s)
}
func (f waitingAlloc) EventSynchronize(c driver.Context, _ driver.Event, _ <-chan struct{}) error {
	return f.CtxSynchronize(c, nil)
}

func (blindPointers) PointerAttributes(driver.Context, driver.Ptr) (driver.PointerInfo, error) {
	return driver.PointerInfo{Type: driver.MemoryDevice}, nil
}
