package record

import "encoding/binary"

// coder writes operations as bytes, and reads them: one list of the fields serves both.
type coder struct {
	reads  bool
	b      []byte // what was written, or is left to read
	failed bool   // what was to be read is not there
	ids    map[string]uint64
	words  []string // by what the writer numbered them, from 1 on
}

// number is the next number.
func number[T ~uint8 | ~int | ~int32 | ~uint32 | ~uint64 | ~uintptr](c *coder, v *T) {
	if !c.reads {
		c.b = binary.AppendUvarint(c.b, uint64(*v))
		return
	}
	x, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.fail()
		return
	}
	*v, c.b = T(x), c.b[n:]
}

// fail ends the reading: all that follows is zero.
func (c *coder) fail() { c.b, c.failed = nil, true }

// length is how many elements follow, none of which is shorter than a byte.
func length[T any](c *coder, list *[]T) {
	n := len(*list)
	number(c, &n)
	switch {
	case !c.reads || n == 0:
	case n < 0 || n > len(c.b):
		c.fail()
	default:
		*list = make([]T, n)
	}
}

// numbers is a list of them.
func numbers[T ~int | ~int32 | ~uint64 | ~uintptr](c *coder, list *[]T) {
	length(c, list)
	for i := range *list {
		number(c, &(*list)[i])
	}
}

// bools are up to eight.
func (c *coder) bools(list ...*bool) {
	var bits uint8
	for i, v := range list {
		if *v {
			bits |= 1 << i
		}
	}
	number(c, &bits)
	for i, v := range list {
		*v = bits>>i&1 != 0
	}
}

func (c *coder) bytes(v *[]byte) {
	length(c, v)
	if !c.reads {
		c.b = append(c.b, *v...)
		return
	}
	copy(*v, c.b)
	c.b = c.b[len(*v):]
}

// word is a string that may stand in many operations: the first time as it is, then as
// its number.
func (c *coder) word(v *string) {
	id := c.ids[*v]
	number(c, &id)
	switch {
	case id > 0 && !c.reads:
	case id > 0 && id <= uint64(len(c.words)):
		*v = c.words[id-1]
	case id > 0:
		c.fail()
	default:
		text := []byte(*v)
		c.bytes(&text)
		if c.reads {
			*v = string(text)
			c.words = append(c.words, *v)
			return
		}
		if c.ids == nil {
			c.ids = map[string]uint64{}
		}
		c.ids[*v] = uint64(len(c.ids) + 1)
	}
}

func (c *coder) op(f *fileOp) {
	number(c, &f.Seq)
	number(c, &f.Kind)
	c.word(&f.Call)
	c.word(&f.Name)
	number(c, &f.Site)
	number(c, &f.Lane)
	number(c, &f.Event)
	c.bytes(&f.Accesses)
	c.bytes(&f.HostReads)
	number(c, &f.Bytes)
	number(c, &f.Addr)
	number(c, &f.Value)
	numbers(c, &f.Around)
	numbers(c, &f.Also)
	numbers(c, &f.Behind)
	number(c, &f.Context)
	number(c, &f.Width)
	number(c, &f.Flags)
	number(c, &f.ID)
	number(c, &f.Target)
	number(c, &f.Of)
	number(c, &f.Exec)
	told := f.Message != nil
	c.bools(&f.Meant, &f.Guess, &f.Watched, &f.HostBefore, &f.HostAfter, &f.Single, &f.Keeps, &told)
	if c.word(&f.Key); told {
		if c.reads {
			f.Message = &Message{}
		}
		c.message(f.Message)
	}
	length(c, &f.Nodes)
	for i := range f.Nodes {
		c.op(&f.Nodes[i].Op)
		numbers(c, &f.Nodes[i].Deps)
	}
}

func (c *coder) message(m *Message) {
	number(c, &m.Role)
	c.word(&m.Comm)
	for _, v := range []*int{&m.Rank, &m.Size, &m.Peer, &m.Tag, &m.Root, &m.N} {
		number(c, v)
	}
	c.bools(&m.Synchronous, &m.InStream)
}

func (c *coder) touched(t *fileTouched) {
	number(c, &t.Seq)
	number(c, &t.Node)
	c.bytes(&t.Accesses)
	c.bytes(&t.Told)
	c.bools(&t.HostFlag)
}
