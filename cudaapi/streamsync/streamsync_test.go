package streamsync_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	_ "gocuda/cudaapi/backend"
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/streamsync"
	"gocuda/internal/nvtools"
)

func devices(t testing.TB) cuda.DeviceList {
	t.Helper()
	list, err := cuda.Devices()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

// pair is a producer that is late with its work, and a consumer that copies it.
type pair struct {
	sync               *streamsync.StreamSync
	producer, consumer *cuda.Stream
	made, taken        *cuda.Buffer
}

func newPair(t *testing.T, from, to *cuda.Device) *pair {
	p := &pair{sync: streamsync.New()}
	for _, side := range []struct {
		d *cuda.Device
		s **cuda.Stream
		b **cuda.Buffer
	}{{from, &p.producer, &p.made}, {to, &p.consumer, &p.taken}} {
		*side.s = must[*cuda.Stream](t)(side.d.NewStream(cuda.NonBlocking))
		*side.b = must[*cuda.Buffer](t)(side.d.Alloc(1000, cuda.Int32))
		ok(t, (*side.b).Fill(-1, *side.s))
		ok(t, (*side.s).Synchronize())
	}
	ok(t, p.sync.Allocate(streamsync.SignalerCUDA, streamsync.WaiterCUDA))
	ok(t, p.sync.SetStream(streamsync.SignalerCUDA, p.producer))
	ok(t, p.sync.SetStream(streamsync.WaiterCUDA, p.consumer))
	t.Cleanup(func() {
		ok(t, p.sync.Free())
		for _, x := range []interface{ Free() error }{p.made, p.taken} {
			ok(t, x.Free())
		}
		ok(t, p.producer.Destroy())
		ok(t, p.consumer.Destroy())
	})
	return p
}

// produce queues the value v, late.
func (p *pair) produce(t *testing.T, v int32) {
	t.Helper()
	ok(t, p.producer.LaunchHostFunc(func() { time.Sleep(5 * time.Millisecond) }))
	ok(t, p.made.Fill(v, p.producer))
}

func (p *pair) consume(t *testing.T) {
	t.Helper()
	ok(t, cuda.MemcpyPeerAsync(p.taken, p.made, p.consumer))
}

func (p *pair) got(t *testing.T) int32 {
	t.Helper()
	ok(t, p.consumer.Synchronize())
	values := must[[]int32](t)(p.taken.Int32s())
	for _, v := range values {
		if v != values[0] {
			t.Fatalf("torn: %d and %d", values[0], v)
		}
	}
	return values[0]
}

func TestTheWaiterSeesTheSignalersWork(t *testing.T) {
	list := devices(t)
	for name, to := range map[string]*cuda.Device{"one device": list[0], "two devices": list[len(list)-1]} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, list[0], to)
			// Without the wait the work is not seen: the test can fail.
			release := make(chan struct{})
			ok(t, p.producer.LaunchHostFunc(func() { <-release }))
			p.produce(t, 1)
			p.consume(t)
			got := p.got(t)
			close(release)
			if got != -1 {
				t.Errorf("without a wait the consumer got %d; the producer is late, so -1 was expected", got)
			}
			ok(t, p.producer.Synchronize())
			for i := int32(2); i < 6; i++ {
				p.produce(t, i)
				ok(t, p.sync.Signal())
				ok(t, p.sync.Wait())
				p.consume(t)
				if got := p.got(t); got != i {
					t.Errorf("signal, then wait: got %d, want %d", got, i)
				}
			}
			for i := int32(6); i < 10; i++ {
				ok(t, p.sync.Wait())
				p.consume(t)
				p.produce(t, i)
				ok(t, p.sync.Signal())
				if got := p.got(t); got != i {
					t.Errorf("wait, then signal: got %d, want %d", got, i)
				}
			}
		})
	}
}

// A wait is for its own signal, not for later ones: two objects hold a
// producer back until its consumer is done with the buffer, though the
// producer's calls run ahead.
func TestSignalsAreCounted(t *testing.T) {
	list := devices(t)
	p := newPair(t, list[0], list[len(list)-1])
	free := streamsync.New()
	ok(t, free.Allocate(streamsync.SignalerCUDA, streamsync.WaiterCUDA))
	ok(t, free.SetStream(streamsync.SignalerCUDA, p.consumer))
	ok(t, free.SetStream(streamsync.WaiterCUDA, p.producer))
	const n = 8
	for i := range int32(n) {
		if i > 0 {
			ok(t, free.Wait()) // before its signal
		}
		p.produce(t, i)
		ok(t, p.sync.Signal())
	}
	var results []*cuda.Buffer
	for range n {
		ok(t, p.sync.Wait())
		p.consume(t)
		r := must[*cuda.Buffer](t)(p.taken.Device().Alloc(1, cuda.Int32))
		defer r.Free()
		results = append(results, r)
		ok(t, cuda.MemcpyAsync(r, p.taken.Slice(0, 1), p.consumer))
		ok(t, free.Signal())
	}
	ok(t, p.consumer.Synchronize())
	for i, r := range results {
		if got := must[[]int32](t)(r.Int32s()); got[0] != int32(i) {
			t.Errorf("message %d carried %d", i, got[0])
		}
	}
	ok(t, p.producer.Synchronize())
	// The last signal of free has no wait; which loses nothing.
	ok(t, free.Free())
}

func TestAnotherProcessWaits(t *testing.T) {
	list := devices(t)
	if text := os.Getenv("GOCUDA_TEST_HANDLES"); text != "" {
		var memory cuda.IPCMemory
		var h streamsync.Handle
		event, buffer, _ := strings.Cut(text, " ")
		copy(h.Event[:], must[[]byte](t)(hex.DecodeString(event)))
		ok(t, memory.UnmarshalText([]byte(buffer)))
		s := must[*streamsync.StreamSync](t)(streamsync.Open(list[0], h))
		made := must[*cuda.Buffer](t)(list[0].OpenIPC(memory))
		taken := must[*cuda.Buffer](t)(list[0].Alloc(memory.N, memory.Type))
		consumer := must[*cuda.Stream](t)(list[0].NewStream(cuda.NonBlocking))
		if err := s.Signal(); err == nil {
			t.Error("the waiter could signal")
		}
		ok(t, s.SetStream(streamsync.WaiterCUDA, consumer))
		fmt.Println("ready")
		bufio.NewReader(os.Stdin).ReadString('\n') // the signal was made
		ok(t, s.Wait())
		ok(t, cuda.MemcpyAsync(taken, made, consumer))
		ok(t, consumer.Synchronize())
		fmt.Println("value", must[[]int32](t)(taken.Int32s())[999])
		ok(t, made.Free())
		ok(t, s.Free())
		return
	}
	producer := must[*cuda.Stream](t)(list[0].NewStream(cuda.NonBlocking))
	made := must[*cuda.Buffer](t)(list[0].Alloc(1000, cuda.Int32))
	defer made.Free()
	s := streamsync.New()
	ok(t, s.Allocate(streamsync.SignalerCUDA, streamsync.WaiterNone))
	ok(t, s.SetStream(streamsync.SignalerCUDA, producer))
	h := must[streamsync.Handle](t)(s.Handle())
	memory := must[cuda.IPCMemory](t)(made.IPCHandle())
	nvtools.Detach()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "GOCUDA_TEST_HANDLES="+hex.EncodeToString(h.Event[:])+" "+string(must[[]byte](t)(memory.MarshalText())))
	cmd.Stderr = os.Stderr
	in := must[io.WriteCloser](t)(cmd.StdinPipe())
	out := bufio.NewReader(must[io.ReadCloser](t)(cmd.StdoutPipe()))
	ok(t, cmd.Start())
	defer cmd.Wait()
	if line, err := out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	ok(t, made.Fill(-1, producer))
	ok(t, producer.LaunchHostFunc(func() { time.Sleep(50 * time.Millisecond) }))
	ok(t, made.Fill(42, producer))
	ok(t, s.Signal())
	fmt.Fprintln(in, "signalled")
	if line, err := out.ReadString('\n'); line != "value 42\n" {
		t.Errorf("the other process said %q, %v", line, err)
	}
	ok(t, producer.Synchronize())
	ok(t, s.Free())
}

func TestMisuseIsExplained(t *testing.T) {
	d := devices(t)[0]
	stream := must[*cuda.Stream](t)(d.NewStream())
	defer stream.Destroy()
	other := must[*cuda.Stream](t)(d.NewStream())
	defer other.Destroy()
	whole := func(same bool) *streamsync.StreamSync {
		s := streamsync.New()
		ok(t, s.Allocate(streamsync.SignalerCUDA, streamsync.WaiterCUDA))
		ok(t, s.SetStream(streamsync.SignalerCUDA, stream))
		if same {
			ok(t, s.SetStream(streamsync.WaiterCUDA, stream))
		} else {
			ok(t, s.SetStream(streamsync.WaiterCUDA, other))
		}
		return s
	}
	half := func() *streamsync.StreamSync {
		s := streamsync.New()
		ok(t, s.Allocate(streamsync.SignalerCUDA, streamsync.WaiterCUDA))
		return s
	}
	for want, f := range map[string]func() error{
		"call Allocate first":  func() error { return streamsync.New().Signal() },
		"allocated already":    func() error { return half().Allocate(streamsync.SignalerCUDA, streamsync.WaiterCUDA) },
		"must be SignalerCUDA": func() error { return streamsync.New().Allocate(streamsync.SignalerNone, streamsync.WaiterCUDA) },
		"the waiter is SignalerCUDA": func() error {
			return streamsync.New().Allocate(streamsync.SignalerCUDA, streamsync.SignalerCUDA)
		},
		"the stream is nil":         func() error { return half().SetStream(streamsync.WaiterCUDA, nil) },
		"SetStream(SignalerNone)":   func() error { return half().SetStream(streamsync.SignalerNone, stream) },
		"Signal: no stream":         func() error { return half().Signal() },
		"Wait: no stream":           func() error { return half().Wait() },
		"would wait for itself":     func() error { return whole(true).Wait() },
		"Handle: only the signaler": func() error { _, err := half().Handle(); return err },
		"1 of 1 waits were not signalled": func() error {
			s := whole(false)
			ok(t, s.Wait())
			err := s.Free()
			ok(t, s.Signal())
			ok(t, s.Free())
			return err
		},
		"waiter of this object is another p": func() error {
			s := streamsync.New()
			ok(t, s.Allocate(streamsync.SignalerCUDA, streamsync.WaiterNone))
			return s.Wait()
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want an error that says %q", err, want)
		}
	}
}

// Two streams that wait for each other go on when the waits are released, and the object
// counts on from there.
func TestReleaseEndsWaits(t *testing.T) {
	list := devices(t)
	p := newPair(t, list[0], list[len(list)-1])
	back := streamsync.New()
	ok(t, back.Release()) // nothing waits
	ok(t, back.Allocate(streamsync.SignalerCUDA, streamsync.WaiterCUDA))
	ok(t, back.SetStream(streamsync.SignalerCUDA, p.consumer))
	ok(t, back.SetStream(streamsync.WaiterCUDA, p.producer))
	done := func() bool {
		return must[bool](t)(p.producer.Query()) && must[bool](t)(p.consumer.Query())
	}
	for range 2 { // the producer waits before it has produced anything
		ok(t, back.Wait())
		ok(t, p.sync.Signal())
		ok(t, p.sync.Wait())
		ok(t, back.Signal())
	}
	ok(t, back.Wait()) // and once without a signal
	time.Sleep(20 * time.Millisecond)
	if done() {
		t.Fatal("the streams do not wait for each other")
	}
	for !done() {
		ok(t, back.Release())
		time.Sleep(time.Millisecond)
	}
	p.produce(t, 7)
	ok(t, back.Signal())
	ok(t, back.Wait())
	ok(t, p.producer.Synchronize())
	ok(t, back.Free())
}
