//go:build linux && (amd64 || arm64)

package libmpi

import (
	"bytes"
	"errors"
	"fmt"

	"gocuda/cudaapi/mpi/internal/transport"
)

func init() {
	// A message of any length for a receive of any length: it comes as it is, or
	// is an error, and nothing past the receive's memory is written; whether the
	// receive is there before the message or not. Rank 0 sends to rank 1.
	programs["truncation"] = func(t transport.Transport) error {
		rooms := []int{0, 1, 7, 512, guardShort, guardShort + 1, 32 << 10, guardedBytes, guardedBytes + 1}
		defer func(n int) { guardTypes = n }(guardTypes)
		guardTypes = 2
		for _, room := range rooms {
			for _, receiver := range []bool{false, true} {
				if err := truncate(t.World(), room, receiver); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// truncate sends messages of several lengths, a tag for each, to receives of one
// length. receiver says whether those begin.
func truncate(w transport.Comm, room int, receiver bool) error {
	const past = 1 << 20 // bytes that are looked at
	lengths := []int{0, room / 2, room, room + 1, 2*room + 1, 2*room + 9000, room + past}
	var begun []transport.Request
	var memories [][]byte
	for turn := range 2 {
		if turn == 1 {
			if _, err := wait(w.Start(&transport.Collective{Kind: transport.Barrier})); err != nil {
				return err
			}
		}
		if w.Rank() > 1 || (w.Rank() == 1) != (receiver == (turn == 0)) {
			continue
		}
		for tag, length := range lengths {
			m := bytes.Repeat(filler, room+past)
			begin := func() (transport.Request, error) { return w.Irecv(memory(transport.Byte, m[:room]), 0, tag) }
			if w.Rank() == 0 {
				m = pattern(length)
				begin = func() (transport.Request, error) { return w.Isend(memory(transport.Byte, m), 1, tag) }
			}
			r, err := begin()
			if err != nil {
				return err
			}
			begun, memories = append(begun, r), append(memories, m)
		}
	}
	for i, r := range begun {
		st, err := wait(r, nil)
		if w.Rank() == 1 {
			err = truncated(st, err, memories[i], room, lengths[i])
		}
		if err != nil {
			return fmt.Errorf("%d bytes for %d: %w", lengths[i], room, err)
		}
	}
	return nil
}

// pattern is what is sent: bytes that are those of no other place or length.
func pattern(length int) []byte {
	m := make([]byte, length)
	for i := range m {
		m[i] = byte(i*7 + length)
	}
	return m
}

// truncated tells what is wrong with how a receive ended, and with its memory, of
// which the first room bytes are its own.
func truncated(st transport.Status, err error, whole []byte, room, length int) error {
	var e *transport.Error
	switch {
	case length > room && (!errors.As(err, &e) || e.Class != transport.Truncate):
		return fmt.Errorf("%+v, %v", st, err)
	case length <= room && (err != nil || st.Bytes != length || !bytes.Equal(whole[:length], pattern(length))):
		return fmt.Errorf("%+v, %v, or other data", st, err)
	case length <= room && !untouched(whole[length:room]):
		return errors.New("more was written")
	case !untouched(whole[room:]):
		return errors.New("memory past the receive was written")
	}
	return nil
}

var filler = []byte{0xa5}

func untouched(b []byte) bool { return bytes.Count(b, filler) == len(b) }
