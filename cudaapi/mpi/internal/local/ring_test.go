package local

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// Frames of all lengths come as they were written, round after round, though
// their payloads look like the headers that may come to the same places next.
func TestARingIsReadAsItWasWritten(t *testing.T) {
	const size = 64 << 10
	words := make([]uint64, size/8+lineBytes/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	var ctl ringControl
	out, in := newRing(mem, &ctl), newRing(mem, &ctl)
	lengths := []int{0, inlineBytes, inlineBytes + 1, lineBytes, 1000, 4096, 4097, out.maxPayload()}
	var waiting [][]byte
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d: "+format, append([]any{seed}, args...)...)
	}
	for range 50000 {
		if random.IntN(2) == 0 {
			payload := make([]byte, lengths[random.IntN(len(lengths))])
			for at := 0; at+8 <= len(payload); at += lineBytes {
				line := out.pos + 1 + uint64(at/lineBytes) + out.lines
				binary.LittleEndian.PutUint64(payload[at:], mark(line)<<32|8<<8|uint64(frameEager))
			}
			f := frame{kind: frameData, payload: len(payload), size: uint64(len(payload))}
			if out.write(&f, unsafe.Pointer(unsafe.SliceData(payload))) {
				waiting = append(waiting, payload)
			} else if len(waiting) == 0 {
				fail("an empty ring has no room for %d bytes", len(payload))
			}
			continue
		}
		var f frame
		there, err := in.peek(&f)
		if err != nil || there != (len(waiting) > 0) {
			fail("%d frames are waiting, and the reader sees %v, %v", len(waiting), there, err)
		}
		if !there {
			continue
		}
		got := make([]byte, f.payload)
		in.payload(&f, unsafe.Pointer(unsafe.SliceData(got)), f.payload)
		if f.kind != frameData || !bytes.Equal(got, waiting[0]) {
			fail("a frame of %d bytes came as another, of %d", len(waiting[0]), f.payload)
		}
		in.next(&f)
		waiting = waiting[1:]
	}
}
