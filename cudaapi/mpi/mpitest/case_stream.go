package mpitest

import (
	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi"
)

// streamCases: messages in the order of a stream. On the host there are none.
func streamCases() []Case {
	exchange := func(name string, n int) Case {
		return Case{Name: "stream/" + name, Most: fewRanks, Run: func(t *T) {
			if t.device == nil {
				return
			}
			s, err := t.device.NewStream()
			t.ok(err)
			out, err := t.device.Alloc(n, cuda.Float32)
			t.ok(err)
			in, err := t.device.Alloc(n, cuda.Float32)
			t.ok(err)
			host, got := make([]float32, n), make([]float32, n)
			for round := range 3 { // what is sent is what the stream has written before
				for i := range host {
					host[i] = float32(1000*round + 10*t.rank + i%7)
				}
				t.must(out.UploadAsync(host, s))
				st, err := t.SendrecvOn(out, t.next(), round, in, t.prev(), round, s)
				t.must(err, out.MemsetAsync(0xee, s), s.Synchronize(), in.Download(got))
				t.same("bytes", st.Bytes, 4*n)
				for i := range host {
					if want := float32(1000*round + 10*t.prev() + i%7); got[i] != want {
						t.Fatalf("element %d is %v, not %v", i, got[i], want)
					}
				}
			}
			_, err = t.SendrecvOn(out, t.next(), 0, out, t.prev(), 0, s)
			t.is(err, mpi.ErrBuffer)
			_, err = t.SendrecvOn(out, t.size, 0, in, t.prev(), 0, s)
			t.is(err, mpi.ErrRank)
			t.must(s.Synchronize(), out.Free(), in.Free(), s.Destroy())
		}}
	}
	return []Case{exchange("sendrecv", 9), exchange("long sendrecv", 200000)}
}
