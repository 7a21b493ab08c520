//go:build linux && (amd64 || arm64)

package nvidia

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/clib"
)

// CUPTI's activity API (CUPTI documentation, Activity API): the driver hands out
// records of what ran on devices, in buffers. A record has the number of the call
// that queued the work; records of external correlation tell which tag that call
// had.

const (
	cuptiGetVersion = iota
	cuptiGetResultString
	cuptiGetTimestamp
	cuptiActivityRegisterCallbacks
	cuptiActivityEnable
	cuptiActivityDisable
	cuptiActivityFlushAll
	cuptiActivityGetNextRecord
	cuptiActivityPushExternalCorrelationID
	cuptiActivityPopExternalCorrelationID
)

var cuptiNames = []string{
	cuptiGetVersion:                        "cuptiGetVersion",
	cuptiGetResultString:                   "cuptiGetResultString",
	cuptiGetTimestamp:                      "cuptiGetTimestamp",
	cuptiActivityRegisterCallbacks:         "cuptiActivityRegisterCallbacks",
	cuptiActivityEnable:                    "cuptiActivityEnable",
	cuptiActivityDisable:                   "cuptiActivityDisable",
	cuptiActivityFlushAll:                  "cuptiActivityFlushAll",
	cuptiActivityGetNextRecord:             "cuptiActivityGetNextRecord",
	cuptiActivityPushExternalCorrelationID: "cuptiActivityPushExternalCorrelationId",
	cuptiActivityPopExternalCorrelationID:  "cuptiActivityPopExternalCorrelationId",
}

// Kinds of records (CUpti_ActivityKind).
const (
	cuptiMemcpy              = 1
	cuptiMemset              = 2
	cuptiDriverCall          = 4
	cuptiKernel              = 10
	cuptiMemcpyPeer          = 22
	cuptiExternalCorrelation = 39
	cuptiGraphHostNode       = 56
	cuptiHostLaunch          = 58
)

// layout is where a record's fields are, in bytes.
type layout struct {
	kind                    driver.ActivityKind
	begin, end, correlation int
	name                    int // a pointer to a symbol; 0 for none
	least                   int // bytes of a record
}

// layouts are those of cupti_activity.h: the same in CUDA 11.8, 12 and 13, whose newer
// records have more fields behind these.
var layouts = map[uint32]layout{
	cuptiKernel:        {driver.ActivityKernel, 16, 24, 92, 104, 112}, // CUpti_ActivityKernel5 and later
	cuptiMemcpy:        {driver.ActivityCopy, 16, 24, 44, 0, 56},      // CUpti_ActivityMemcpy4 and later
	cuptiMemcpyPeer:    {driver.ActivityCopy, 16, 24, 60, 0, 64},      // CUpti_ActivityMemcpyPtoP3 and later
	cuptiMemset:        {driver.ActivityFill, 16, 24, 44, 0, 56},      // CUpti_ActivityMemset3 and later
	cuptiHostLaunch:    {driver.ActivityHost, 32, 40, 16, 0, 48},
	cuptiGraphHostNode: {driver.ActivityHost, 40, 48, 16, 0, 56},
}

// knownCUPTI says whether a version of the API (cupti_version.h) has these layouts:
// those of CUDA 11.8 to 12.9, and of CUDA 13.
func knownCUPTI(version int) bool {
	return version >= 18 && version <= 28 || version >= 130000 && version < 140000
}

const (
	traceBuffer   = 1 << 20 // bytes
	mostBuffers   = 64      // records are dropped when so many are full
	mostUnclaimed = 1 << 16 // records whose tag is not known yet
	customKind    = 3       // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
	multipleUsers = 39      // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
)

// Tracing is CUPTI, as far as this package uses it.
type Tracing struct {
	lib     *clib.Library
	version int
	kinds   []uint32 // that are switched on in a trace
	on      atomic.Bool
	// registered says that CUPTI knows where buffers come from.
	registered bool

	mu      sync.Mutex
	take    func(driver.Activity)
	offset  time.Duration // of the system's monotonic clock from CUPTI's
	tags    map[uint32]uint64
	waiting map[uint32][]driver.Activity
	unread  int
	broken  error // a record that is not as it should be

	buffers sync.Mutex
	spare   [][]byte
	lent    map[uintptr][]byte
}

var cupti struct {
	sync.Mutex
	t   *Tracing
	err error
}

// OpenTracing loads CUPTI, once per process. Its error says why it cannot be used.
// GOCUDA_CUPTI names the library or its folder.
func OpenTracing() (*Tracing, error) {
	cupti.Lock()
	defer cupti.Unlock()
	if cupti.t == nil && cupti.err == nil {
		cupti.t, cupti.err = openTracing()
	}
	return cupti.t, cupti.err
}

func openTracing() (*Tracing, error) {
	lib, err := clib.Open("CUPTI", cuptiPaths(), cuptiNames)
	if err != nil {
		return nil, err
	}
	t := &Tracing{lib: lib, lent: map[uintptr][]byte{}}
	for i := range cuptiNames {
		if lib.Addr(i) == 0 {
			return nil, fmt.Errorf("%s has no function %s", lib.Path(), cuptiNames[i])
		}
	}
	s := getScratch()
	defer putScratch(s)
	if err := t.call(cuptiGetVersion, s.ptr()); err != nil {
		return nil, err
	}
	if t.version = s.int32(0); !knownCUPTI(t.version) {
		return nil, fmt.Errorf("%s is of version %d, whose records are not known here", lib.Path(), t.version)
	}
	return t, nil
}

// Path is the name under which CUPTI was loaded.
func (t *Tracing) Path() string { return t.lib.Path() }

// Version is that of CUPTI's API.
func (t *Tracing) Version() int { return t.version }

func (t *Tracing) call(f int, args ...uintptr) error {
	code := clib.Call(t.lib.Addr(f), args...)
	if uint32(code) == 0 {
		return nil
	}
	why := fmt.Sprintf("code %d", uint32(code))
	s := getScratch()
	defer putScratch(s)
	if clib.Call(t.lib.Addr(cuptiGetResultString), code, s.ptr()) == 0 && s.word[0] != 0 {
		why = textAt(uintptr(s.word[0]))
	}
	if uint32(code) == multipleUsers {
		why += ": another profiler uses it"
	}
	return fmt.Errorf("%s: %s (%s)", cuptiNames[f], why, t.lib.Path())
}

// textAt is C's string at an address.
func textAt(p uintptr) string {
	if p == 0 {
		return ""
	}
	text := *(**[1 << 16]byte)(unsafe.Pointer(&p))
	for i, b := range text {
		if b == 0 {
			return string(text[:i])
		}
	}
	return string(text[:])
}

// request lends CUPTI a buffer (CUpti_BuffersCallbackRequestFunc).
func (t *Tracing) request(buffer, size, records uintptr) uintptr {
	set := func(at, v uintptr) { **(**uintptr)(unsafe.Pointer(&at)) = v }
	set(records, 0)
	set(buffer, 0)
	set(size, 0)
	t.buffers.Lock()
	defer t.buffers.Unlock()
	var b []byte
	if n := len(t.spare); n > 0 {
		b, t.spare = t.spare[n-1], t.spare[:n-1]
	} else if len(t.lent) < mostBuffers {
		var err error
		if b, err = syscall.Mmap(-1, 0, traceBuffer, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE); err != nil {
			return 0
		}
	} else {
		return 0
	}
	at := uintptr(unsafe.Pointer(&b[0]))
	t.lent[at] = b
	set(buffer, at)
	set(size, uintptr(len(b)))
	return 0
}

// complete takes a buffer back (CUpti_BuffersCallbackCompleteFunc).
func (t *Tracing) complete(_, _, buffer, _, valid uintptr) uintptr {
	t.buffers.Lock()
	b := t.lent[buffer]
	delete(t.lent, buffer)
	t.buffers.Unlock()
	if b == nil {
		return 0
	}
	if valid > 0 && valid <= uintptr(len(b)) {
		s := getScratch()
		t.read(b[:valid], func() (int, bool) {
			if clib.Call(t.lib.Addr(cuptiActivityGetNextRecord), buffer, valid, s.ptr()) != 0 {
				return 0, false // the last one was
			}
			return int(uintptr(s.word[0]) - buffer), true
		})
		putScratch(s)
	}
	t.buffers.Lock()
	t.spare = append(t.spare, b)
	t.buffers.Unlock()
	return 0
}

// read reports a buffer's records, whose offsets next gives.
func (t *Tracing) read(b []byte, next func() (at int, ok bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.take == nil {
		return // of a trace that has ended: CUPTI gives some buffers back later
	}
	at, ok := next()
	for ok {
		following, more := next()
		end := len(b)
		if more {
			end = following
		}
		if at < 0 || end > len(b) || end-at < 4 {
			t.misfit(0, end-at)
			return
		}
		t.record(b[at:end])
		at, ok = following, more
	}
}

func (t *Tracing) misfit(kind uint32, n int) {
	if t.broken == nil {
		t.broken = fmt.Errorf("a record of kind %d of CUPTI (version %d) is not laid out as expected: %d bytes", kind, t.version, n)
	}
}

// record reports one record. t.mu is held.
func (t *Tracing) record(r []byte) {
	kind := binary.LittleEndian.Uint32(r)
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(r[at:]) }
	half := func(at int) uint32 { return binary.LittleEndian.Uint32(r[at:]) }
	if kind == cuptiExternalCorrelation {
		if len(r) < 24 {
			t.misfit(kind, len(r))
		} else if half(4) == customKind {
			t.claim(half(16), word(8))
		}
		return
	}
	l, ok := layouts[kind]
	if !ok {
		return
	}
	if len(r) < l.least || word(l.end) < word(l.begin) && word(l.end) != 0 {
		t.misfit(kind, len(r))
		return
	}
	if word(l.end) == 0 {
		return // it still runs
	}
	a := driver.Activity{Kind: l.kind, Begin: time.Duration(word(l.begin)) + t.offset, End: time.Duration(word(l.end)) + t.offset}
	if l.name > 0 {
		a.Name = textAt(uintptr(word(l.name)))
	}
	call := half(l.correlation)
	if tag, ok := t.tags[call]; ok {
		a.Tag = tag
		t.tell(a)
		return
	}
	if t.unread >= mostUnclaimed {
		t.unread, t.waiting = 0, map[uint32][]driver.Activity{} // nobody's: what is queued without a tag
	}
	t.unread++
	t.waiting[call] = append(t.waiting[call], a)
}

// claim says which tag a call had. t.mu is held.
func (t *Tracing) claim(call uint32, tag uint64) {
	if t.tags == nil {
		return
	}
	t.tags[call] = tag
	for _, a := range t.waiting[call] {
		a.Tag = tag
		t.tell(a)
		t.unread--
	}
	delete(t.waiting, call)
}

func (t *Tracing) tell(a driver.Activity) {
	if t.take != nil {
		t.take(a)
	}
}

// start begins a trace.
func (t *Tracing) start(take func(driver.Activity)) error {
	t.mu.Lock()
	if t.broken != nil || t.take != nil {
		defer t.mu.Unlock()
		if t.broken != nil {
			return t.broken
		}
		return errors.New("CUPTI: a trace is running already")
	}
	t.take, t.tags, t.waiting, t.unread = take, map[uint32]uint64{}, map[uint32][]driver.Activity{}, 0
	t.mu.Unlock()
	var err error
	if !t.registered {
		err = t.call(cuptiActivityRegisterCallbacks, purego.NewCallback(t.request), purego.NewCallback(t.complete))
		t.registered = err == nil
	}
	for _, kind := range []uint32{cuptiExternalCorrelation, cuptiDriverCall, cuptiKernel, cuptiMemcpy, cuptiMemcpyPeer, cuptiMemset} {
		if err == nil {
			err = t.enable(kind)
		}
	}
	var offset time.Duration
	if err == nil {
		offset, err = t.compare()
	}
	if err != nil {
		return errors.Join(err, t.stop())
	}
	// Older ones do not have these: host functions are timed by themselves.
	t.enable(cuptiHostLaunch)    //nolint:errcheck // see above
	t.enable(cuptiGraphHostNode) //nolint:errcheck // see above
	t.mu.Lock()
	t.offset = offset
	t.mu.Unlock()
	t.on.Store(true)
	return nil
}

func (t *Tracing) enable(kind uint32) error {
	err := t.call(cuptiActivityEnable, uintptr(kind))
	if err == nil {
		t.kinds = append(t.kinds, kind)
	}
	return err
}

// compare tells how far the system's monotonic clock is ahead of CUPTI's.
func (t *Tracing) compare() (offset time.Duration, err error) {
	s := getScratch()
	defer putScratch(s)
	least := time.Duration(-1)
	for range 64 {
		before, err := monotonic()
		if err != nil {
			return 0, err
		}
		if err := t.call(cuptiGetTimestamp, s.ptr()); err != nil {
			return 0, err
		}
		after, err := monotonic()
		if err != nil {
			return 0, err
		}
		if took := after - before; least < 0 || took < least {
			least, offset = took, before+took/2-time.Duration(s.word[0])
		}
	}
	return offset, nil
}

func monotonic() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano()), err
}

// stop ends a trace.
func (t *Tracing) stop() error {
	t.on.Store(false)
	var err error
	if len(t.kinds) > 0 {
		err = t.call(cuptiActivityFlushAll, 0)
	}
	for _, kind := range t.kinds {
		err = errors.Join(err, t.call(cuptiActivityDisable, uintptr(kind)))
	}
	if len(t.kinds) > 0 {
		const forced = 1 // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
		err = errors.Join(err, t.call(cuptiActivityFlushAll, forced))
	}
	t.kinds = nil
	t.mu.Lock()
	defer t.mu.Unlock()
	t.take, t.tags, t.waiting = nil, nil, nil
	return errors.Join(err, t.broken)
}

var _ driver.Tracer = (*Driver)(nil)

// StartTrace is by CUPTI's activity records.
func (d *Driver) StartTrace(take func(driver.Activity)) error {
	t, err := OpenTracing()
	if err != nil {
		return err
	}
	return t.start(take)
}

// Tag is CUPTI's external correlation.
func (d *Driver) Tag(n uint64) {
	t := cuptiInUse()
	if t == nil {
		return
	}
	if n != 0 {
		clib.Call(t.lib.Addr(cuptiActivityPushExternalCorrelationID), customKind, uintptr(n))
		return
	}
	s := getScratch()
	clib.Call(t.lib.Addr(cuptiActivityPopExternalCorrelationID), customKind, s.ptr())
	putScratch(s)
}

func cuptiInUse() *Tracing {
	cupti.Lock()
	defer cupti.Unlock()
	if cupti.t == nil || !cupti.t.on.Load() {
		return nil
	}
	return cupti.t
}

// Moment is the system's monotonic clock.
func (d *Driver) Moment(n uint64) {
	at, err := monotonic()
	t := cuptiInUse()
	if t == nil || err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tell(driver.Activity{Tag: n, Kind: driver.ActivityMoment, Begin: at, End: at})
}

// EndTrace has CUPTI hand out what it has.
func (d *Driver) EndTrace() error {
	if t := cuptiInUse(); t != nil {
		return t.stop()
	}
	return nil
}

// TraceClock is CUPTI's, moved to the system's.
func (d *Driver) TraceClock() driver.TraceClock { return driver.TraceClock{Name: "CUPTI"} }
