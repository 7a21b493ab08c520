package mpi

import (
	"encoding/json"
	"reflect"
)

// Objects are values of any shape: maps, strings, structs with slices, nil
// pointers. They travel as JSON, so that each rank gets a copy of its own, of
// whatever length; numbers, which a buffer carries as they are, go quicker as
// buffers.

// SendObject sends a copy of any value that encoding/json takes, as [Comm.Send]
// sends a buffer. The other rank receives it by [Comm.RecvObject].
func (c *Comm) SendObject(value any, dest, tag int) error {
	text, err := c.encode("Comm.SendObject", value)
	if err != nil {
		return err
	}
	return c.Send(text, dest, tag)
}

// RecvObject receives what SendObject sent into the variable that into points
// to. It blocks until a message has come, and takes it also if it does not fit
// into the variable's type, which is an error.
func (c *Comm) RecvObject(into any, source, tag int) (Status, error) {
	const call = "Comm.RecvObject"
	if err := c.target(call, into); err != nil {
		return Status{}, err
	}
	m, err := c.Mprobe(source, tag)
	if err != nil || m.Status().Source == ProcNull {
		return Status{Source: ProcNull, Tag: AnyTag}, err
	}
	text := make([]byte, m.Status().Bytes)
	st, err := m.Recv(text)
	if err != nil {
		return st, err
	}
	return st, c.decode(call, text, into, st.Source)
}

// BcastObject copies the value that root's object points to into those of every
// rank. It blocks, as Bcast does.
func (c *Comm) BcastObject(object any, root int) error {
	const call = "Comm.BcastObject"
	if err := c.target(call, object); err != nil {
		return err
	}
	var text []byte
	failed := error(nil)
	if c.rank == root {
		text, failed = c.encode(call, object)
	}
	if err := c.bcastText(&text, root); err != nil || failed != nil || c.rank == root {
		return firstOf(failed, err)
	}
	if len(text) == 0 {
		return c.misuse(ErrArg, call, "rank %d gave no object", root)
	}
	return c.decode(call, text, object, root)
}

// bcastText copies root's text, of any length, to every rank.
func (c *Comm) bcastText(text *[]byte, root int) error {
	n := int64(len(*text))
	if err := c.Bcast(&n, root); err != nil {
		return err
	}
	if c.rank != root {
		*text = make([]byte, n)
	}
	return c.Bcast(*text, root)
}

// GatherObject brings every rank's value together in the slice that root's into
// points to, in the order of ranks. into counts at the root only, and may be nil
// elsewhere. It blocks.
func (c *Comm) GatherObject(value, into any, root int) error {
	return c.gatherObjects("Comm.GatherObject", value, into, root)
}

// AllgatherObject is GatherObject to every rank.
func (c *Comm) AllgatherObject(value, into any) error {
	return c.gatherObjects("Comm.AllgatherObject", value, into, -1)
}

// gatherObjects gathers at root, or everywhere if that is -1. A rank whose value
// is no object takes part with an empty text, which the others report.
func (c *Comm) gatherObjects(call string, value, into any, root int) error {
	text, failed := c.encode(call, value)
	takes := root < 0 || c.rank == root
	if takes {
		failed = firstOf(failed, c.target(call, into))
	}
	lengths := make([]int64, c.size)
	if err := c.Allgather(int64(len(text)), lengths); err != nil {
		return err
	}
	counts, total := make([]int, c.size), 0
	for i, n := range lengths {
		counts[i] = int(n)
		total += counts[i]
	}
	all := make([]byte, total)
	err := error(nil)
	if root < 0 {
		err = c.Allgatherv(text, all, counts, nil)
	} else {
		err = c.Gatherv(text, all, counts, nil, root)
	}
	if err != nil || failed != nil || !takes {
		return firstOf(failed, err)
	}
	list := []byte{'['}
	for i, n := range counts {
		if n == 0 {
			return c.misuse(ErrArg, call, "rank %d gave no object", i)
		}
		if i > 0 {
			list = append(list, ',')
		}
		list, all = append(list, all[:n]...), all[n:]
	}
	return c.decode(call, append(list, ']'), into, root)
}

// ScatterObject gives rank i the i-th of root's values, a slice of as many as
// there are ranks, in the variable that into points to. values counts at the
// root only, and may be nil elsewhere. It blocks.
func (c *Comm) ScatterObject(values, into any, root int) error {
	const call = "Comm.ScatterObject"
	if err := c.target(call, into); err != nil {
		return err
	}
	var text []byte
	failed := error(nil)
	if c.rank == root {
		if text, failed = c.encode(call, values); failed == nil {
			var parts []json.RawMessage
			if err := json.Unmarshal(text, &parts); err != nil || len(parts) != c.size {
				failed = c.misuse(ErrCount, call, "the values are no slice of %d, one for each rank", c.size)
			}
		}
		if failed != nil {
			text = nil
		}
	}
	if err := c.bcastText(&text, root); err != nil || failed != nil {
		return firstOf(failed, err)
	}
	if len(text) == 0 {
		return c.misuse(ErrArg, call, "rank %d gave no objects", root)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return c.undecodable(call, err, root)
	}
	return c.decode(call, parts[c.rank], into, root)
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// encode writes a value; it gives no text with an error, and some without.
func (c *Comm) encode(call string, value any) ([]byte, error) {
	if err := c.usable(call); err != nil {
		return nil, err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, c.misuse(ErrType, call, "%v", err).hint("objects travel as JSON: no channels, functions or NaN, and no device memory")
	}
	return text, nil
}

func (c *Comm) decode(call string, text []byte, into any, from int) error {
	if err := json.Unmarshal(text, into); err != nil {
		return c.undecodable(call, err, from)
	}
	return nil
}

func (c *Comm) undecodable(call string, err error, from int) error {
	e := c.misuse(ErrType, call, "%v", err)
	e.Peer = from
	return e.hint("the variable must have the type of the value that was sent")
}

// target checks that into points to a variable.
func (c *Comm) target(call string, into any) error {
	if err := c.usable(call); err != nil {
		return err
	}
	if v := reflect.ValueOf(into); v.Kind() != reflect.Pointer || v.IsNil() {
		return c.misuse(ErrBuffer, call, "an object cannot be received into a %T: give the address of a variable, such as &x", into)
	}
	return nil
}
