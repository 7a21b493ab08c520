package hazard

import (
	"testing"

	"gocuda/cudaapi/record"
)

// Memory that a rank allocates is its own, also where it had another rank's open before.
func TestOwnMemoryInThePlaceOfAnothers(t *testing.T) {
	const at = 0x1000
	s := &source{rank: 1}
	j := &world{ranks: []*source{s}, check: New(), exports: map[string]export{"first": {0x5000, 64}, "second": {0x6000, 64}}}
	take := func(o *record.Op) {
		s.queue = append(s.queue, o)
		j.take(s)
	}
	for _, c := range []struct {
		op   *record.Op
		want uint64
	}{
		{&record.Op{Kind: record.Alloc, Addr: at, Bytes: 128, Key: "first"}, 0x5010},
		{&record.Op{Kind: record.Alloc, Addr: at, Bytes: 64, Key: "second"}, 0x6010},
		{&record.Op{Kind: record.Alloc, Addr: at + 64, Bytes: 64}, 0x6010}, // behind it
		{&record.Op{Kind: record.Alloc, Addr: at, Bytes: 64}, s.here(at + 16)},
		{&record.Op{Kind: record.Alloc, Addr: at - 64, Bytes: 128, Key: "first"}, s.here(at + 16)}, // not where its own is
		{&record.Op{Kind: record.Free, Addr: at, Bytes: 64}, s.here(at + 16)},
		{&record.Op{Kind: record.Alloc, Addr: at, Bytes: 64, Key: "second"}, 0x6010},
	} {
		take(c.op)
		if got := locate(s.imports, s.here, at+16); got != c.want {
			t.Errorf("after %+v: %#x, want %#x", c.op, got, c.want)
		}
	}
}
