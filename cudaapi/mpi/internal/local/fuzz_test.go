package local

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"unsafe"

	"gocuda/cudaapi/mpi/internal/transport"
)

// header is a frame's line as the first of a ring.
func header(kind frameKind, payload int, size, id, addr uint64) []byte {
	b := make([]byte, lineBytes)
	*(*line)(unsafe.Pointer(&b[0])) = line{
		word: mark(0)<<32 | uint64(payload)<<8 | uint64(kind), tag: 1, size: size, id: id, addr: addr,
	}
	return b
}

// readsFrom has a rank read what is in the ring from rank 1: it waits for the
// end of its send, with id 1, and for a message of up to 32 bytes with tag 1.
func readsFrom(t *testing.T, raw []byte) *engine {
	size := segmentBytes(2)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, size/8)))), size)
	formatSegment(mem, 2)
	seg, err := openSegment(mem, 2)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(0, 2, seg)
	e.direct, e.peers[1].readable, e.peers[1].pid = true, true, os.Getpid()
	c := newComm(e, contextWorld, []int{0, 1})
	large, got := make([]byte, 100000), make([]byte, 64)
	if _, err := c.Isend(bytesMemory(large), 1, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Irecv(bytesMemory(got[:32]), 1, 1); err != nil {
		t.Fatal(err)
	}
	copy(e.peers[1].in.mem, raw)
	for range 20 {
		e.progress(true)
	}
	for i, b := range got[32:] {
		if b != 0 {
			t.Fatalf("byte %d after the receive's memory was written", i)
		}
	}
	return e
}

func TestDamagedMessagesLoseTheirSender(t *testing.T) {
	for name, raw := range map[string][]byte{
		"a frame of no kind":              header(frameEnd, 0, 0, 0, 0),
		"a frame longer than any":         header(frameEager, 1<<20, 1<<20, 0, 0),
		"a message of two sizes":          header(frameEager, 8, 9, 0, 0),
		"a large message of no bytes":     header(frameReady, 0, 0, 1, 1),
		"a large message of 8 exabytes":   header(frameReady, 0, 1<<63, 1, 1),
		"the end of a message never sent": header(frameDone, 0, 0, 99, 0),
		"more than a message has":         header(framePull, 0, 100001, 1, 7),
		"a part that nobody wants":        header(frameData, 500, 0, 2, 0),
		"a header from the last round":    {0: byte(frameEager), 7: 1},
	} {
		if err := ofClass(readsFrom(t, raw).peers[1].lost, transport.ProcLost, "damaged"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, raw := range map[string][]byte{
		"a message":           header(frameEager, 8, 8, 0, 0),
		"the end of its send": header(frameDone, 0, 0, 1, 0),
		"a wish for all":      header(framePull, 0, 100000, 1, 7),
	} {
		if err := readsFrom(t, raw).peers[1].lost; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzFrames: what a damaged peer writes ends in its loss or in a message that
// fits, never in a crash.
func FuzzFrames(f *testing.F) {
	f.Add(header(frameEager, 8, 8, 0, 0))
	f.Add(header(frameSync, 100, 100, 5, 0))
	f.Add(header(frameReady, 0, 1<<40, 1, 1))
	f.Add(header(frameDone, 0, 0, 1, 0))
	f.Add(header(framePull, 0, 1<<40, 1, 7))
	f.Add(header(frameData, 500, 0, 2, 0))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e := readsFrom(t, raw)
		if e.losses.Load() == 0 {
			return
		}
		if err := ofClass(e.peers[1].lost, transport.ProcLost, "damaged"); err != nil {
			t.Fatal(err)
		}
	})
}

// bytesMemory is a slice as a message.
func bytesMemory(b []byte) transport.Memory {
	return transport.Memory{P: unsafe.Pointer(unsafe.SliceData(b)), N: len(b), T: transport.Byte}
}

func FuzzNotes(f *testing.F) {
	f.Add(note{kind: noteHello, n: 3, text: "token"}.append(nil))
	f.Add(note{kind: noteReady, text: strings.Repeat("\x00", 4*MaxRanks)}.append(nil))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := readNote(bytes.NewReader(raw))
		if err != nil {
			return
		}
		again, err := readNote(bytes.NewReader(n.append(nil)))
		if err != nil || again != n {
			t.Fatalf("%+v is %+v when written and read (%v)", n, again, err)
		}
	})
}

func FuzzSeats(f *testing.F) {
	for _, text := range []string{"1:name:token:0:4", "1:name:token:4:4", "2:name:token:0:1", "1:::0:1", "", "1:a:b:-1:2", "1:a:b:0:99999999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSeat(text)
		if err != nil {
			if !strings.Contains(err.Error(), EnvName) {
				t.Fatalf("%q does not name the variable", err)
			}
			return
		}
		if again, err := parseSeat(s.String()); err != nil || again != s || s.rank >= s.size {
			t.Fatalf("%+v is %+v when written and read (%v)", s, again, err)
		}
	})
}

func TestADamagedSegmentIsRefused(t *testing.T) {
	mem := make([]byte, segmentBytes(2))
	formatSegment(mem, 2)
	for name, damage := range map[string]func() []byte{
		"short":         func() []byte { return mem[:100] },
		"cut":           func() []byte { return mem[:len(mem)-1] },
		"other magic":   func() []byte { b := bytes.Clone(mem); b[0] ^= 1; return b },
		"other ranks":   func() []byte { b := bytes.Clone(mem); binary.LittleEndian.PutUint32(b[8:], 3); return b },
		"other rings":   func() []byte { b := bytes.Clone(mem); binary.LittleEndian.PutUint32(b[12:], 64); return b },
		"nothing in it": func() []byte { return make([]byte, len(mem)) },
	} {
		if _, err := openSegment(damage(), 2); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if _, err := openSegment(mem, 2); err != nil {
		t.Error(err)
	}
}
