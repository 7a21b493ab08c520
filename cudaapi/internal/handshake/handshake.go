// Package handshake tells each rank what all of them have, as values of one type.
//
// The types are structs of numbers and of arrays of them, laid out alike at all
// ranks, which run one program: what travels is their memory. They hold no
// pointers. What comes is trusted as the ranks' memory is.
package handshake

import (
	"cmp"
	"fmt"
	"time"
	"unsafe"
)

// Ranks is a channel for short messages between the ranks of a group.
type Ranks interface {
	Rank() int
	Size() int
	Send(data []byte, to, tag int) error   // short messages do not wait for the receiver
	Recv(data []byte, from, tag int) error // of exactly that length
}

// Mortal are Ranks that can be lost.
type Mortal interface {
	Ranks
	Lost() <-chan struct{} // closed when one is; nil if nobody would tell
	Loss() error           // says which one
}

// WhenLost calls f a second after a rank is lost, when what that had sent has had time
// to arrive, unless over is closed first. It does not wait.
func WhenLost(r Ranks, over <-chan struct{}, f func()) {
	m, ok := r.(Mortal)
	if !ok {
		return
	}
	lost := m.Lost()
	if lost == nil {
		return
	}
	go func() {
		select {
		case <-over:
			return
		case <-lost:
		}
		select {
		case <-over:
		case <-time.After(time.Second):
			f()
		}
	}()
}

// The tags of a group's channel.
const (
	TagCall    = iota // what the ranks give to a call
	TagNCCL           // a communicator of NCCL is made
	TagOneShot        // one-shot reductions are made
	TagLaunch         // one is about to be launched
	TagMark           // and up: marks of a schedule
)

// Channel is what ranks gather over.
type Channel interface {
	Size() int
	// Allgather gives in all what each rank has in mine, one after the other.
	Allgather(mine, all []byte) error
}

// Over is the ranks' channel with a tag.
func Over(r Ranks, tag int) Channel { return tagged{r, tag} }

type tagged struct {
	Ranks
	tag int
}

func (c tagged) Allgather(mine, all []byte) error {
	if err := SendAll(c.Ranks, mine, c.tag); err != nil {
		return err
	}
	for from := range c.Size() {
		part := all[from*len(mine):][:len(mine)]
		if from == c.Rank() {
			copy(part, mine)
		} else if err := c.Recv(part, from, c.tag); err != nil {
			return err
		}
	}
	return nil
}

// SendAll sends to all other ranks.
func SendAll(r Ranks, b []byte, tag int) error {
	for to := range r.Size() {
		if to != r.Rank() {
			if err := r.Send(b, to, tag); err != nil {
				return err
			}
		}
	}
	return nil
}

// Gather gives all ranks what each has, by rank.
func Gather[T any](c Channel, mine T) ([]T, error) {
	all := make([]T, c.Size())
	return all, c.Allgather(Bytes(&mine), bytesOf(all))
}

// All reports whether ok is true at all ranks.
func All(c Channel, ok bool) (bool, error) {
	each, err := Gather(c, ok)
	for _, theirs := range each {
		ok = ok && theirs
	}
	return ok, err
}

// Agree is Gather, unless a rank has an error: then all get that of the first.
func Agree[T any](c Channel, mine T, err error) ([]T, error) {
	type message struct {
		why  [200]byte // what is wrong at the rank
		what T
	}
	m := message{what: mine}
	if err != nil {
		copy(m.why[:], cmp.Or(err.Error(), "an error"))
	}
	each, wrong := Gather(c, m)
	if wrong != nil {
		return nil, wrong
	}
	all := make([]T, len(each))
	for r := range each {
		if why := Text(each[r].why[:]); why != "" {
			return nil, fmt.Errorf("rank %d: %s", r, why)
		}
		all[r] = each[r].what
	}
	return all, nil
}

// Text is what stands in b before the first zero byte.
func Text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// Bytes is a value's memory.
func Bytes[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}
