// Package streamsync lets the work of one CUDA stream wait for the work of
// another without a waiting CPU, through one object that both sides hold: the
// StreamSync component of NVIDIA's GXF, with its names and its order of calls.
//
// The signaler calls [StreamSync.Signal] when it has queued its work; the
// waiter calls [StreamSync.Wait] before it queues its own. The n-th Wait waits
// for the n-th Signal. Both return at once; the waiting is done by the
// device:
//
//	sync := streamsync.New()
//	err := sync.Allocate(streamsync.SignalerCUDA, streamsync.WaiterCUDA)
//	err = sync.SetStream(streamsync.SignalerCUDA, producer)
//	err = sync.SetStream(streamsync.WaiterCUDA, consumer)
//	// queue work on producer, then:
//	err = sync.Signal()
//	err = sync.Wait()
//	// queue work on consumer
//
// The streams may be of different devices. What carries the signal: an event,
// when Signal is called before its Wait. An event that was not yet recorded
// counts as done, so a Wait that comes first uses a stream memory operation
// instead (cuStreamWaitValue32), which Signal's cuStreamWriteValue32 ends. To
// another process, an interprocess event (see [StreamSync.Handle]).
package streamsync

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/cuda"
)

// SyncType tells the two sides of a StreamSync, and what drives each. The
// values are GXF's.
type SyncType int

// The sides. None is a side that is not in this process.
const (
	SignalerNone SyncType = 0
	SignalerCUDA SyncType = 1
	WaiterNone   SyncType = 2
	WaiterCUDA   SyncType = 3
)

func (t SyncType) String() string {
	switch t {
	case SignalerNone:
		return "SignalerNone"
	case SignalerCUDA:
		return "SignalerCUDA"
	case WaiterNone:
		return "WaiterNone"
	case WaiterCUDA:
		return "WaiterCUDA"
	}
	return fmt.Sprintf("SyncType(%d)", int(t))
}

// StreamSync is one sync object. Its methods may be called by any goroutine;
// the order of the calls is the order of the signals and waits.
type StreamSync struct {
	mu sync.Mutex
	state
}

type state struct {
	allocated        bool
	signaler, waiter SyncType
	from, to         *cuda.Stream
	devices          [WaiterCUDA + 1]*cuda.Device // of each side, where SetDevice gave one
	signals, waits   uint64
	ready            []*cuda.Event // recorded by signals that were not yet waited for, oldest first
	spare            []*cuda.Event
	word             *cuda.HostBuffer // holds the number of the last signal that a wait came before
	shared           *cuda.Event      // interprocess: recorded by every signal
	opened           bool             // shared is another process's
}

// New makes a StreamSync that Allocate then gives its two sides.
func New() *StreamSync { return &StreamSync{} }

// Allocate says what signals and what waits (allocate_sync_object): SignalerCUDA
// and WaiterCUDA, or WaiterNone when the waiter is another process.
func (s *StreamSync) Allocate(signaler, waiter SyncType) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.allocated {
		return errors.New("streamsync: Allocate: allocated already")
	}
	if signaler != SignalerCUDA {
		return fmt.Errorf("streamsync: Allocate: the signaler is %v; it must be SignalerCUDA (the waiter of another process's object comes from Open)", signaler)
	}
	if waiter != WaiterCUDA && waiter != WaiterNone {
		return fmt.Errorf("streamsync: Allocate: the waiter is %v; it must be WaiterCUDA or WaiterNone", waiter)
	}
	s.signaler, s.waiter, s.allocated = signaler, waiter, true
	return nil
}

// SetDevice says on which device a side's work runs (signaler_device_id,
// waiter_device_id): SetStream then refuses a stream of another one.
func (s *StreamSync) SetDevice(side SyncType, d *cuda.Device) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("SetDevice"); err != nil {
		return err
	}
	if side != SignalerCUDA && side != WaiterCUDA || side != s.signaler && side != s.waiter {
		return fmt.Errorf("streamsync: SetDevice(%v): this object was allocated with %v and %v", side, s.signaler, s.waiter)
	}
	s.devices[side] = d
	return nil
}

// SetStream says which stream a side's work is queued on (setCudaStream). It
// may be called again; later signals and waits use the new stream. A nil
// stream is an error, as in GXF: name the default stream by
// [cuda.Device.DefaultStream]. So is a stream of another device than the one
// that SetDevice gave to this side.
func (s *StreamSync) SetStream(side SyncType, stream *cuda.Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("SetStream"); err != nil {
		return err
	}
	if stream == nil {
		return fmt.Errorf("streamsync: SetStream(%v): the stream is nil", side)
	}
	if side == SignalerCUDA || side == WaiterCUDA {
		if d := s.devices[side]; d != nil && d != stream.Device() {
			return fmt.Errorf("streamsync: SetStream(%v): this side is on device %d, the stream on device %d", side, d.Ordinal(), stream.Device().Ordinal())
		}
	}
	switch {
	case side == SignalerCUDA && side == s.signaler:
		if s.shared != nil && s.shared.Device() != stream.Device() {
			return fmt.Errorf("streamsync: SetStream(%v): the handle given to another process is for %v, not for %v", side, s.shared.Device(), stream.Device())
		}
		if s.from != nil && s.from.Device() != stream.Device() {
			s.spare = nil // events of the old device; the collector destroys them
		}
		s.from = stream
	case side == WaiterCUDA && side == s.waiter:
		s.to = stream
	default:
		return fmt.Errorf("streamsync: SetStream(%v): this object was allocated with %v and %v", side, s.signaler, s.waiter)
	}
	return nil
}

func (s *StreamSync) check(call string) error {
	if !s.allocated {
		return fmt.Errorf("streamsync: %s: call Allocate first", call)
	}
	return nil
}

// Signal marks the signaler's work so far: what is queued on its stream until
// now is what the Wait of the same number waits for (signalSemaphore). It does
// not wait.
func (s *StreamSync) Signal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("Signal"); err != nil {
		return err
	}
	if s.from == nil {
		return errors.New("streamsync: Signal: no stream; call SetStream(SignalerCUDA, stream) first")
	}
	if s.shared != nil {
		if err := s.shared.Record(s.from); err != nil {
			return err
		}
	}
	switch {
	case s.waiter == WaiterNone:
	case s.signals < s.waits: // its Wait came first
		if err := s.from.WriteValue(s.word, uint64(uint32(s.signals+1))); err != nil {
			return err
		}
	default:
		e, err := s.event()
		if err != nil {
			return err
		}
		if err := e.Record(s.from); err != nil {
			return err
		}
		s.ready = append(s.ready, e)
	}
	s.signals++
	return nil
}

// event is one of the signaler's device that nobody waits for any more.
func (s *StreamSync) event() (*cuda.Event, error) {
	if n := len(s.spare); n > 0 {
		e := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return e, nil
	}
	return s.from.Device().NewEvent(cuda.DisableTiming)
}

// Wait makes the waiter's later work wait for the Signal of the same number
// (waitSemaphore), whether that was called already or not. It does not wait
// itself. On an object from Open, it waits for the signaler's last Signal
// before this call, which therefore must have been made: send the message that
// says so after Signal.
func (s *StreamSync) Wait() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("Wait"); err != nil {
		return err
	}
	if s.waiter != WaiterCUDA {
		return errors.New("streamsync: Wait: the waiter of this object is another process")
	}
	if s.to == nil {
		return errors.New("streamsync: Wait: no stream; call SetStream(WaiterCUDA, stream) first")
	}
	switch {
	case s.opened:
		if err := s.to.WaitEvent(s.shared); err != nil {
			return err
		}
	case len(s.ready) > 0:
		e := s.ready[0]
		if err := s.to.WaitEvent(e); err != nil {
			return err
		}
		s.ready = s.ready[1:]
		if s.from.Device() == e.Device() {
			s.spare = append(s.spare, e)
		}
	default:
		if s.from == nil {
			return errors.New("streamsync: Wait: it comes before Signal, so the signaler's stream must be known; call SetStream(SignalerCUDA, stream) first")
		}
		if s.from.Handle() == s.to.Handle() && s.from.Device() == s.to.Device() {
			return errors.New("streamsync: Wait: it comes before its Signal on the same stream, which would wait for itself for ever")
		}
		if s.word == nil {
			word, err := cuda.AllocHost(1, cuda.Uint32, cuda.Portable)
			if err != nil {
				return err
			}
			signals, err := word.Uint32s()
			if err != nil {
				return err
			}
			signals[0] = uint32(s.signals)
			s.word = word
		}
		if err := s.to.WaitValue(s.word, uint64(uint32(s.waits+1)), cuda.WaitGEQ); err != nil {
			return err
		}
	}
	s.waits++
	return nil
}

// Handle describes a sync object to another process.
type Handle struct {
	Event cuda.IPCEvent
}

// Handle lets a waiter in another process share the object (GXF's
// importSemaphore is [Open]). The signaler's stream must have been set. From
// now on every Signal records the interprocess event as well.
func (s *StreamSync) Handle() (Handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check("Handle"); err != nil {
		return Handle{}, err
	}
	if s.from == nil || s.opened {
		return Handle{}, errors.New("streamsync: Handle: only the signaler has one; call SetStream(SignalerCUDA, stream) first")
	}
	if s.shared == nil {
		e, err := s.from.Device().NewEvent(cuda.Interprocess, cuda.DisableTiming)
		if err != nil {
			return Handle{}, err
		}
		s.shared = e
	}
	h, err := s.shared.IPCHandle()
	return Handle{Event: h}, err
}

// Open makes the waiter's side of another process's object, for streams of
// device d's process (any device of it may wait). Call SetStream(WaiterCUDA,
// stream), then Wait.
func Open(d *cuda.Device, h Handle) (*StreamSync, error) {
	e, err := d.OpenIPCEvent(h.Event)
	if err != nil {
		return nil, err
	}
	return &StreamSync{state: state{allocated: true, signaler: SignalerNone, waiter: WaiterCUDA, shared: e, opened: true}}, nil
}

// Release ends all waits so far that came before their signals, whether these come or
// not. It is the way out when two streams wait for each other, or a signal is missing.
// It does not wait. If the streams still halt, later waits hold them: call it again.
func (s *StreamSync) Release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.word == nil {
		return nil
	}
	word, err := s.word.Uint32s()
	if err != nil {
		return err
	}
	atomic.StoreUint32(&word[0], uint32(s.waits))
	s.signals = max(s.signals, s.waits)
	return nil
}

// Free gives the object back (deinitialize). Work that waits by an event still
// waits. A wait whose Signal never came is an error, and nothing is freed:
// the stream would wait for ever.
func (s *StreamSync) Free() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.word != nil {
		if s.signals < s.waits {
			return fmt.Errorf("streamsync: Free: %d of %d waits were not signalled", s.waits-s.signals, s.waits)
		}
		// The word is read by waits that are still queued.
		if err := s.to.Synchronize(); err != nil {
			return err
		}
		if err := s.word.Free(); err != nil {
			return err
		}
	}
	events := append(s.ready, s.spare...)
	if s.shared != nil {
		events = append(events, s.shared)
	}
	var errs []error
	for _, e := range events {
		errs = append(errs, e.Destroy())
	}
	s.state = state{}
	return errors.Join(errs...)
}
