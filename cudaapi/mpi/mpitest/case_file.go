package mpitest

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gocuda/cudaapi/mpi"
)

// temporary is a path that all ranks know, of a file that is not there.
func (t *T) temporary() string {
	path := make([]byte, 256)
	if t.rank == 0 {
		copy(path, filepath.Join(os.Getenv(envReports), "file-"+strings.NewReplacer("/", "-", " ", "-").Replace(t.name)+"-"+strconv.Itoa(t.size)))
	}
	t.ok(t.Bcast(path, 0))
	return strings.TrimRight(string(path), "\x00")
}

// file opens a new file that goes when it is closed.
func (t *T) file(mode mpi.FileMode) *mpi.File {
	f, err := t.FileOpen(t.temporary(), mode|mpi.FileCreate|mpi.FileTemporary)
	t.ok(err)
	return f
}

// moved checks how many elements a call read or wrote.
func (t *T) moved(want int) func(n int, err error) {
	return func(n int, err error) {
		t.ok(err)
		t.same("elements", n, want)
	}
}

const readWrite = mpi.FileRead | mpi.FileWrite

// fileType writes parts of all ranks, and each reads all.
func fileType[E any](name string, value func(i int) E) Case {
	return Case{Name: "file/type/" + name, Most: fewRanks, Run: func(t *T) {
		const n = 17
		all, none := make([]E, n*t.size), make([]E, n*t.size)
		for i := range all {
			all[i] = value(i)
		}
		f := t.file(readWrite)
		if size, err := f.Size(); err != nil || size != 0 {
			t.Errorf("the size of a new file is %d, %v", size, err)
		}
		mine := on(t, all[n*t.rank:n*(t.rank+1)])
		st := mpi.Status{Bytes: 1 << 20}
		unit := 1 << 20 / st.Count(mine.arg())
		t.must(f.SetView(mpi.FileView{Unit: unit}))
		t.moved(n)(f.WriteAtAll(mine.arg(), n*t.rank))
		in := on(t, none)
		t.moved(len(all))(f.ReadAtAll(in.arg(), 0))
		in.holds("the file", all)
		t.ok(f.Close())
	}}
}

func fileCases() []Case {
	few := func(name string, run func(t *T)) Case { return Case{Name: "file/" + name, Most: fewRanks, Run: run} }
	ints := mpi.FileView{Unit: 8}
	return []Case{
		fileType("uint8", func(i int) uint8 { return uint8(i) }),
		fileType("int16", func(i int) int16 { return int16(-i) }),
		fileType("int32", func(i int) int32 { return int32(i) << 16 }),
		fileType("int", func(i int) int { return i << 40 }),
		fileType("float32", func(i int) float32 { return float32(i) / 3 }),
		fileType("float64", func(i int) float64 { return float64(i) / 7 }),
		fileType("complex128", func(i int) complex128 { return complex(float64(i), -1) }),
		fileType("struct", func(i int) mpi.Float64Int { return mpi.Float64Int{Value: float64(i), Index: int32(i)} }),
		few("columns", func(t *T) { // each rank has a column of a matrix
			const rows = 5
			f := t.file(readWrite)
			mine, want := make([]int, rows), make([]int, rows*t.size)
			for i := range mine {
				mine[i] = 10*i + t.rank
			}
			for i := range want {
				want[i] = 10*(i/t.size) + i%t.size
			}
			t.ok(f.SetView(mpi.FileView{Unit: 8, Sizes: []int{1, t.size}, Subsizes: []int{1, 1}, Starts: []int{0, t.rank}}))
			t.moved(rows)(f.WriteAtAll(on(t, mine).arg(), 0))
			t.ok(f.SetView(ints))
			in := on(t, make([]int, rows*t.size))
			t.moved(rows * t.size)(f.ReadAll(in.arg()))
			in.holds("the matrix", want)
			t.ok(f.Close())
		}),
		few("box", func(t *T) {
			f := t.file(readWrite)
			whole := make([]int32, 6*8)
			for i := range whole {
				whole[i] = int32(i)
			}
			v := mpi.FileView{Unit: 4}
			t.ok(f.SetView(v))
			if t.rank == 0 {
				t.moved(48)(f.WriteAt(on(t, whole).arg(), 0))
			}
			t.ok(f.Sync())
			v.Sizes, v.Subsizes, v.Starts = []int{6, 8}, []int{2, 3}, []int{1, 4}
			t.ok(f.SetView(v))
			in := on(t, make([]int32, 6))
			t.moved(6)(f.ReadAtAll(in.arg(), 0))
			in.holds("the box", []int32{12, 13, 14, 20, 21, 22})
			t.moved(3)(f.ReadAt(in.cut(0, 3), 2))
			in.holds("from its third on", []int32{14, 20, 21, 20, 21, 22})
			t.ok(f.Close())
		}),
		few("box of three dimensions", func(t *T) {
			f := t.file(readWrite)
			if t.rank == 0 {
				all := make([]byte, 2*3*4)
				for i := range all {
					all[i] = byte(i)
				}
				t.moved(24)(f.WriteAt(all, 0))
			}
			t.must(t.Barrier(), f.SetView(mpi.FileView{Unit: 1, Sizes: []int{2, 3, 4}, Subsizes: []int{2, 1, 2}, Starts: []int{0, 2, 1}}))
			in := make([]byte, 4)
			t.moved(4)(f.ReadAll(in))
			t.same("the box", in, []byte{9, 10, 21, 22})
			t.ok(f.Close())
		}),
		few("offset", func(t *T) { // a header stays
			f := t.file(readWrite)
			t.moved(3)(f.WriteAtAll("abc", 0))
			t.ok(f.SetView(mpi.FileView{Offset: 3, Unit: 2}))
			t.moved(1)(f.WriteAtAll(uint16(7+t.rank), t.rank))
			t.ok(f.SetView(mpi.FileView{Unit: 1}))
			in := make([]byte, 3+2*t.size)
			t.moved(len(in))(f.ReadAtAll(in, 0))
			want := []byte("abc")
			for i := range t.size {
				want = append(want, byte(7+i), 0)
			}
			t.same("the file", in, want)
			t.ok(f.Close())
		}),
		few("own pointer", func(t *T) {
			f := t.file(readWrite)
			t.ok(f.SetView(mpi.FileView{Offset: 64 * t.rank, Unit: 8}))
			t.moved(2)(f.Write([]int{1, 2}))
			t.moved(1)(f.Write(3))
			at, err := f.Seek(-2, io.SeekCurrent)
			t.ok(err)
			t.same("place", at, int64(1))
			in := []int{0, 0}
			t.moved(2)(f.Read(in))
			t.same("read", in, []int{2, 3})
			_, err = f.Seek(0, io.SeekStart)
			t.ok(err)
			t.moved(2)(f.Read(in))
			t.same("from the start", in, []int{1, 2})
			t.ok(f.Close())
		}),
		few("end", func(t *T) {
			f := t.file(readWrite)
			t.moved(4)(f.WriteAtAll("abcd", 0))
			in := []byte("......")
			t.moved(2)(f.ReadAt(in, 2))
			t.same("read", string(in), "cd....")
			t.moved(0)(f.ReadAt(in, 9))
			at, err := f.Seek(-1, io.SeekEnd)
			t.ok(err)
			t.same("place", at, int64(3))
			t.ok(f.Close())
		}),
		few("ordered", func(t *T) {
			f := t.file(readWrite)
			t.ok(f.SetView(ints))
			var want []int
			for round := range 2 {
				for r := range t.size {
					want = append(want, slices.Repeat([]int{10*r + round}, r+1)...)
				}
				t.moved(t.rank + 1)(f.WriteOrdered(on(t, slices.Repeat([]int{10*t.rank + round}, t.rank+1)).arg()))
			}
			at, err := f.PositionShared()
			t.ok(err)
			t.same("the shared pointer", at, int64(len(want)))
			in := on(t, make([]int, len(want)))
			t.moved(len(want))(f.ReadAtAll(in.arg(), 0))
			in.holds("the file", want)
			t.ok(f.SeekShared(0, io.SeekStart))
			part := make([]int, t.rank+1)
			t.moved(len(part))(f.ReadOrdered(part))
			t.same("read in order", part, slices.Repeat([]int{10 * t.rank}, t.rank+1))
			t.ok(f.Close())
		}),
		few("shared pointer", func(t *T) {
			f := t.file(readWrite)
			t.ok(f.SetView(ints))
			const each = 5
			for i := range each {
				t.moved(2)(f.WriteShared([]int{t.rank, i}))
			}
			t.ok(t.Barrier())
			in := make([]int, 2*each*t.size)
			t.moved(len(in))(f.ReadAtAll(in, 0))
			next := make([]int, t.size)
			for i := 0; i < len(in); i += 2 {
				r := in[i]
				if r < 0 || r >= t.size || in[i+1] != next[r] {
					t.Fatalf("%v", in)
				}
				next[r]++
			}
			t.ok(f.SeekShared(-2, io.SeekEnd))
			at, err := f.PositionShared()
			t.ok(err)
			t.same("the pointer", at, int64(len(in)-2))
			t.ok(f.Close())
		}),
		few("read shared", func(t *T) { // each element is read once
			f := t.file(readWrite)
			t.ok(f.SetView(ints))
			all := make([]int, 4*t.size)
			for i := range all {
				all[i] = i
			}
			t.moved(len(all))(f.WriteAtAll(all, 0))
			mine, sum := 0, 0
			for range 4 {
				var x int
				t.moved(1)(f.ReadShared(&x))
				mine += x
			}
			t.ok(t.Allreduce(mine, &sum, mpi.Sum))
			t.same("sum", sum, len(all)*(len(all)-1)/2)
			t.ok(f.Close())
		}),
		few("append", func(t *T) {
			path := t.temporary()
			f, err := t.FileOpen(path, mpi.FileWrite|mpi.FileCreate)
			t.ok(err)
			t.moved(2)(f.WriteAtAll("ab", 0))
			t.ok(f.Close())
			f, err = t.FileOpen(path, readWrite|mpi.FileAppend|mpi.FileTemporary)
			t.ok(err)
			at, err := f.Seek(0, io.SeekCurrent)
			t.ok(err)
			t.same("place", at, int64(2))
			t.moved(1)(f.WriteOrdered(string(rune('A' + t.rank))))
			in := make([]byte, 2+t.size)
			t.moved(len(in))(f.ReadAtAll(in, 0))
			t.same("the file", string(in), "ab"+"ABCDEFGH"[:t.size])
			t.ok(f.Close())
		}),
		few("size", func(t *T) {
			f := t.file(readWrite)
			t.ok(f.SetSize(100))
			n, err := f.Size()
			t.ok(err)
			t.same("size", n, 100)
			t.must(t.Barrier(), f.SetSize(10))
			n, err = f.Size()
			t.ok(err)
			t.same("size", n, 10)
			t.ok(f.Close())
		}),
		few("gone", func(t *T) {
			path := t.temporary()
			f, err := t.FileOpen(path, readWrite|mpi.FileCreate|mpi.FileTemporary)
			t.must(err, f.Close(), t.Barrier())
			_, err = t.FileOpen(path, mpi.FileRead)
			if t.rank == 0 {
				t.is(err, mpi.ErrNoSuchFile)
			} else {
				t.is(err, mpi.ErrIO)
			}
			t.is(f.Close(), mpi.ErrFile)
			_, err = f.ReadAt(make([]byte, 1), 0)
			t.is(err, mpi.ErrFile)
		}),
		few("exclusive", func(t *T) {
			path := t.temporary()
			f, err := t.FileOpen(path, mpi.FileWrite|mpi.FileCreate|mpi.FileExclusive)
			t.must(err, f.Close())
			_, err = t.FileOpen(path, mpi.FileWrite|mpi.FileCreate|mpi.FileExclusive)
			if err == nil {
				t.Errorf("it is made twice")
			}
			t.ok(t.Barrier())
			if t.rank == 0 {
				t.is(err, mpi.ErrFileExists)
				t.ok(mpi.FileDelete(path))
				t.is(mpi.FileDelete(path), mpi.ErrNoSuchFile)
			}
		}),
		few("mistakes", func(t *T) {
			f := t.file(mpi.FileWrite)
			_, err := f.ReadAt(make([]byte, 1), 0)
			t.is(err, mpi.ErrAccess)
			_, err = f.WriteAt(make([]byte, 1), -1)
			t.is(err, mpi.ErrArg)
			t.is(f.SetView(mpi.FileView{Unit: 0}), mpi.ErrArg)
			t.is(f.SetView(mpi.FileView{Unit: 8, Sizes: []int{4}, Subsizes: []int{3}, Starts: []int{2}}), mpi.ErrArg)
			t.ok(f.SetView(ints))
			_, err = f.WriteAt(make([]byte, 9), 0)
			t.is(err, mpi.ErrCount)
			t.ok(f.Close())
			_, err = t.FileOpen("x", mpi.FileCreate)
			t.is(err, mpi.ErrAmode)
			_, err = t.FileOpen("x", mpi.FileRead|mpi.FileCreate)
			t.is(err, mpi.ErrAmode)
		}),
		few("one fails", func(t *T) { // all learn it
			f := t.file(readWrite)
			at := 0
			if t.rank == t.size-1 {
				at = -1
			}
			if _, err := f.WriteAtAll("x", at); err == nil {
				t.Errorf("no error, though one rank's part failed")
			}
			t.ok(f.Close())
		}),
	}
}
