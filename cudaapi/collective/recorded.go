package collective

import (
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
	"gocuda/cudaapi/record"
)

// recorded runs an operation that writes bufs, but for the one with the number
// read, which it reads, and writes it down (package record) if a program called it:
// in the order of the streams, or, without any, until it returns.
//
// m is what the other ranks find it by, nil if there are none.
func recorded(call string, m *record.Message, bufs []*cuda.Buffer, streams []*cuda.Stream, read int, run func() error) error {
	rec := record.InUse()
	if rec == nil {
		return run()
	}
	o := &record.Op{Kind: record.Request, Call: call, Site: callsite.Program(), Message: m}
	if !o.Site.Known() {
		return run() // package mpi's, which says so itself
	}
	for i, b := range bufs {
		at := uint64(b.Address())
		a := record.Access{Lo: at, Hi: at + uint64(b.Bytes()), Mode: record.Write}
		if i == read {
			a.Mode = record.Read
		}
		o.Accesses = append(o.Accesses, a)
		o.Bytes += uint64(b.Bytes())
		o.Behind = append(o.Behind, driver.Device(b.Device().Ordinal()))
	}
	if len(streams) == 0 {
		rec.Add(o)
		defer rec.Add(&record.Op{Kind: record.SyncRequest, Call: call, Site: o.Site, Target: o})
		return run()
	}
	o.Behind = nil
	for _, s := range streams {
		l := rec.Lane(driver.Device(s.Device().Ordinal()), driver.Stream(s.Handle()))
		if o.Lane == nil {
			o.Lane = l
		} else {
			o.Also = append(o.Also, l)
		}
	}
	rec.Add(o)
	return run()
}

// shares is what an operation of the group has to do with other ranks.
func (g *Group) shares(role record.Role, root int) *record.Message {
	named, ok := g.ranks.(interface{ ID() string })
	if !ok || record.InUse() == nil {
		return nil
	}
	return &record.Message{Role: role, Comm: named.ID(), Rank: g.ranks.Rank(), Size: g.ranks.Size(), Root: root}
}
