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
		w := t.World()
		const past = 1 << 20 // bytes that are looked at
		rooms := []int{0, 1, 7, 512, guardShort, guardShort + 1, 32 << 10, guardedBytes, guardedBytes + 1}
		defer func(n int) { guardTypes = n }(guardTypes)
		guardTypes = 2
		for _, room := range rooms {
			for _, length := range []int{0, room / 2, room, room + 1, 2*room + 1, 2*room + 9000, room + past} {
				for _, first := range []int{0, 1} { // who begins
					message := make([]byte, length)
					for i := range message {
						message[i] = byte(i*7 + length)
					}
					if w.Rank() == first {
						if _, err := wait(w.Ibarrier()); err != nil {
							return err
						}
					}
					var sent transport.Request
					var err error
					switch w.Rank() {
					case 0:
						if sent, err = w.Isend(memory(transport.Byte, message), 1, 5); err != nil {
							return err
						}
					case 1:
						whole := bytes.Repeat([]byte{0xa5}, room+past)
						if sent, err = w.Irecv(memory(transport.Byte, whole[:room]), 0, 5); err != nil {
							return err
						}
						if first != 1 {
							if _, err := wait(w.Ibarrier()); err != nil {
								return err
							}
						}
						st, err := wait(sent, nil)
						var e *transport.Error
						switch {
						case length > room && (!errors.As(err, &e) || e.Class != transport.Truncate):
							return fmt.Errorf("%d bytes for %d: %+v, %v", length, room, st, err)
						case length <= room && (err != nil || st.Bytes != length || !bytes.Equal(whole[:length], message)):
							return fmt.Errorf("%d bytes for %d: %+v, %v, or other data", length, room, st, err)
						case length <= room && len(bytes.TrimRight(whole[length:room], "\xa5")) > 0:
							return fmt.Errorf("%d bytes for %d: more was written", length, room)
						case len(bytes.TrimRight(whole[room:], "\xa5")) > 0:
							return fmt.Errorf("%d bytes for %d: memory past the receive was written", length, room)
						}
						continue
					}
					if w.Rank() != first {
						if _, err := wait(w.Ibarrier()); err != nil {
							return err
						}
					}
					if sent != nil {
						if _, err := wait(sent, nil); err != nil {
							return err
						}
					}
				}
			}
		}
		return nil
	}
}
