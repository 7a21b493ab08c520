package local

import (
	"encoding/binary"
	"fmt"
	"io"
)

// note is a message between a rank and its launcher.
type note struct {
	kind noteKind
	n    int // a rank, a size or an exit code
	text string
}

type noteKind uint8

const (
	noteHello   noteKind = iota + 1 // rank n wants in; text is the token
	noteWelcome                     // it may; n is the size, the segment's descriptor comes with it
	noteRefused                     // it may not; text says why
	noteJoined                      // it has mapped the segment
	noteReady                       // all have; text is their process ids, 4 bytes each
	noteBye                         // it has finalized
	noteLost                        // rank n ended without; text says how
	noteAbort                       // all are to end with code n; text says so
	noteVote                        // what a rank says in an agreement
	noteVerdict                     // what it came to
	noteRevoked                     // the communicator of context n can be used no more
	noteEnd
)

const (
	noteHead = 8
	maxText  = voteHead + 4*MaxRanks
)

func (m note) append(b []byte) []byte {
	text := m.text
	if len(text) > maxText {
		text = text[:maxText]
	}
	b = append(b, byte(m.kind), 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(m.n)))
	return append(b, text...)
}

func readNote(r io.Reader) (note, error) {
	var head [noteHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return note{}, err
	}
	m := note{kind: noteKind(head[0]), n: int(int32(binary.LittleEndian.Uint32(head[4:])))}
	length := int(binary.LittleEndian.Uint16(head[2:]))
	if m.kind == 0 || m.kind >= noteEnd || length > maxText {
		return note{}, fmt.Errorf("not a message of a local job: kind %d, %d bytes", head[0], length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return note{}, io.ErrUnexpectedEOF
	}
	m.text = string(text)
	return m, nil
}
