package mpi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/mpi/internal/onesided"
	"gocuda/cudaapi/mpi/internal/transport"
)

// File is a file that the ranks of a communicator read and write together (MPI_File).
// Places in it are counted in elements of its view, which is bytes at first. Its methods
// may be called by any goroutine; the collective ones are called by all ranks in one
// order.
//
// Files are this package's, under every library: each rank reads and writes its own parts
// (pread, pwrite). What a collective write has written is seen by all ranks of the host
// when it returns; between hosts, as far as their file system shows it.
type File struct {
	c    *Comm
	f    *os.File
	path string
	mode FileMode
	away transport.Window // the shared pointer, at rank 0
	own  transport.Comm   // its

	mu     sync.Mutex // the view and the rank's own pointer
	view   FileView
	at     int
	closed bool
}

// FileMode says what a file is opened for; modes are added by |.
type FileMode uint8

// The modes (MPI_MODE_RDONLY and so on).
const (
	FileRead      FileMode = 1 << iota // may be read
	FileWrite                          // may be written to
	FileCreate                         // is made if it is not there
	FileExclusive                      // must not be there before FileCreate makes it
	FileAppend                         // pointers begin at its end
	FileTemporary                      // is deleted when it is closed (MPI_MODE_DELETE_ON_CLOSE)
)

// FileView is the part of a file that a rank sees (MPI_File_set_view): from byte Offset
// on, elements of Unit bytes, which lie in an array of Sizes; the rank sees the box of
// Subsizes that begins at Starts, as [Subarray] has it. The array repeats itself to the end
// of the file. Without Sizes it sees all elements.
type FileView struct {
	Offset                  int
	Unit                    int
	Sizes, Subsizes, Starts []int
}

// FileOpen opens a file on all ranks (MPI_File_open). It is collective and blocks. An
// error at one rank is an error at all.
func (c *Comm) FileOpen(path string, mode FileMode) (*File, error) {
	const call = "Comm.FileOpen"
	if err := c.usable(call); err != nil {
		return nil, err
	}
	flags := os.O_RDONLY
	switch mode & (FileRead | FileWrite) {
	case FileRead | FileWrite:
		flags = os.O_RDWR
	case FileWrite:
		flags = os.O_WRONLY
	case FileRead:
		if mode&(FileCreate|FileExclusive) != 0 {
			return nil, c.misuse(ErrAmode, call, "a file that is only read is not made")
		}
	default:
		return nil, c.misuse(ErrAmode, call, "the mode has neither FileRead nor FileWrite")
	}
	d, err := c.Dup()
	if err != nil {
		return nil, err
	}
	d.own = true
	f := &File{c: d, path: path, mode: mode, view: FileView{Unit: 1}}
	// The first rank makes it, so that the others find it.
	if d.rank == 0 {
		first := flags
		if mode&FileCreate != 0 {
			first |= os.O_CREATE
		}
		if mode&FileExclusive != 0 {
			first |= os.O_EXCL
		}
		f.f, err = os.OpenFile(path, first, 0o666)
	}
	if err = f.together(call, err); err == nil && d.rank > 0 {
		f.f, err = os.OpenFile(path, flags, 0)
	}
	if err = f.together(call, err); err == nil {
		err = f.point(call)
	}
	if err != nil {
		if f.f != nil {
			f.f.Close()
		}
		return nil, errors.Join(err, d.Free())
	}
	return f, nil
}

// point makes the shared pointer, and sets both where the mode says.
func (f *File) point(call string) (err error) {
	if f.own, err = f.c.t.Dup(); err != nil {
		return f.c.fail(call, -1, err)
	}
	n := 0
	if f.c.rank == 0 {
		n = 8
	}
	if f.away, err = onesided.New(f.own, transport.Created, transport.Memory{P: unsafe.Pointer(new(int64)), N: n, T: transport.Byte}, nil); err != nil {
		return f.c.fail(call, -1, err)
	}
	if f.mode&FileAppend == 0 {
		return nil
	}
	size, err := f.Size()
	if err != nil {
		return err
	}
	f.at = size
	return f.SeekShared(int64(size), io.SeekStart)
}

// FileDelete deletes a file (MPI_File_delete). It is no collective.
func FileDelete(path string) error {
	if err := os.Remove(path); err != nil {
		return misuse(classOf(err), "mpi.FileDelete", "%v", err)
	}
	return nil
}

// classOf is the class of an error of the system.
func classOf(err error) Class {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoSuchFile
	case errors.Is(err, fs.ErrExist):
		return ErrFileExists
	case errors.Is(err, fs.ErrPermission):
		return ErrAccess
	}
	return ErrIO
}

// wrong is the error of a call.
func (f *File) wrong(call string, err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	return f.c.misuse(classOf(err), call, "%v", err)
}

// together ends a collective call: a failure of one rank is an error at all.
func (f *File) together(call string, err error) error {
	err = f.wrong(call, err)
	mine, first := math.MaxInt, 0
	if err != nil {
		mine = f.c.rank
	}
	if wrong := f.c.Allreduce(mine, &first, Min); wrong != nil {
		return wrong
	}
	if err == nil && first != math.MaxInt {
		err = f.c.misuse(ErrIO, call, "%s failed at rank %d", f.path, first)
	}
	return err
}

func (f *File) usable(call string) error {
	if f == nil {
		return misuse(ErrFile, call, "the file is nil")
	}
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return f.c.misuse(ErrFile, call, "%s was closed before", f.path)
	}
	return f.c.usable(call)
}

// Close closes the file, and deletes one that is FileTemporary (MPI_File_close). It is
// collective and blocks.
func (f *File) Close() error {
	const call = "File.Close"
	if err := f.usable(call); err != nil {
		return err
	}
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	err := f.f.Close()
	if wrong := f.together(call, err); err == nil {
		err = wrong
	}
	if f.c.rank == 0 && f.mode&FileTemporary != 0 {
		err = errors.Join(err, f.wrong(call, os.Remove(f.path)))
	}
	if wrong := errors.Join(f.away.Free(), f.own.Free()); err == nil && wrong != nil {
		err = f.c.fail(call, -1, wrong)
	}
	return errors.Join(err, f.c.Free())
}

// Size is the file's length in bytes (MPI_File_get_size).
func (f *File) Size() (int, error) {
	info, err := f.f.Stat()
	if err != nil {
		return 0, f.wrong("File.Size", err)
	}
	return int(info.Size()), nil
}

// SetSize makes the file so many bytes long (MPI_File_set_size). It is collective.
func (f *File) SetSize(bytes int) error {
	const call = "File.SetSize"
	if err := f.usable(call); err != nil {
		return err
	}
	var err error
	if f.c.rank == 0 {
		err = f.f.Truncate(int64(bytes))
	}
	return f.together(call, err)
}

// Sync brings what was written to the disk, and to other hosts (MPI_File_sync). It is
// collective.
func (f *File) Sync() error {
	const call = "File.Sync"
	if err := f.usable(call); err != nil {
		return err
	}
	return f.together(call, f.f.Sync())
}

// View is the view of this rank.
func (f *File) View() FileView {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.view
}

// SetView sets what this rank sees of the file, and its pointer and the shared one to 0
// (MPI_File_set_view). It is collective; the views may differ.
func (f *File) SetView(v FileView) error {
	const call = "File.SetView"
	if err := f.usable(call); err != nil {
		return err
	}
	err := f.checkView(call, v)
	if err == nil {
		f.mu.Lock()
		f.view, f.at = v, 0
		f.mu.Unlock()
	}
	if err := f.together(call, err); err != nil {
		return err
	}
	return f.SeekShared(0, io.SeekStart)
}

func (f *File) checkView(call string, v FileView) error {
	if v.Offset < 0 || v.Unit < 1 {
		return f.c.misuse(ErrArg, call, "offset %d, elements of %d bytes", v.Offset, v.Unit)
	}
	if len(v.Sizes) != len(v.Subsizes) || len(v.Sizes) != len(v.Starts) {
		return f.c.misuse(ErrArg, call, "%d sizes, %d subsizes, %d starts", len(v.Sizes), len(v.Subsizes), len(v.Starts))
	}
	for i := range v.Sizes {
		if v.Starts[i] < 0 || v.Subsizes[i] < 1 || v.Starts[i]+v.Subsizes[i] > v.Sizes[i] {
			return f.c.misuse(ErrArg, call, "in dimension %d, %d elements from %d on are not in %d", i, v.Subsizes[i], v.Starts[i], v.Sizes[i])
		}
	}
	return nil
}

// run is the place in the file of element k of the view, and how many from there on lie
// together.
func (v *FileView) run(k int) (at int64, n int) {
	if len(v.Sizes) == 0 {
		return int64(v.Offset) + int64(k)*int64(v.Unit), math.MaxInt
	}
	box, all := 1, 1
	for i := range v.Sizes {
		box, all = box*v.Subsizes[i], all*v.Sizes[i]
	}
	tile, rest := k/box, k%box
	last := len(v.Sizes) - 1
	n = v.Subsizes[last] - rest%v.Subsizes[last]
	place, stride := 0, 1
	for i := last; i >= 0; i-- {
		place += (v.Starts[i] + rest%v.Subsizes[i]) * stride
		rest /= v.Subsizes[i]
		stride *= v.Sizes[i]
	}
	return int64(v.Offset) + (int64(tile)*int64(all)+int64(place))*int64(v.Unit), n
}

// transfer moves b to or from the view's elements from at on, and tells how many bytes.
func (f *File) transfer(v *FileView, b []byte, at int, write bool) (done int, err error) {
	for len(b) > 0 {
		place, n := v.run(at)
		part := b
		if n < len(b)/v.Unit {
			part = b[:n*v.Unit]
		}
		var moved int
		if write {
			moved, err = f.f.WriteAt(part, place)
		} else {
			moved, err = f.f.ReadAt(part, place)
		}
		done += moved
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
		b, at = b[len(part):], at+len(part)/v.Unit
	}
	return done, nil
}

// buffer checks a call's buffer, and gives its bytes; later brings to a device what was
// read.
func (f *File) buffer(call string, v *FileView, buf any, write bool) (b []byte, size int, later func(n int) error, err error) {
	m, bad := resolve(call, buf)
	switch {
	case bad != nil:
		return nil, 0, nil, f.c.at(bad)
	case m.inPlace || m.spread != nil:
		return nil, 0, nil, f.c.misuse(ErrBuffer, call, "a %T is no buffer of a file", buf).hint("give a whole buffer, and the file a view")
	case m.N%v.Unit != 0:
		return nil, 0, nil, f.c.misuse(ErrCount, call, "%d bytes are no whole number of the view's elements of %d", m.N, v.Unit)
	case write && f.mode&FileWrite == 0:
		return nil, 0, nil, f.c.misuse(ErrReadOnly, call, "%s was opened without FileWrite", f.path)
	case !write && f.mode&FileRead == 0:
		return nil, 0, nil, f.c.misuse(ErrAccess, call, "%s was opened without FileRead", f.path)
	}
	if !write {
		if err := f.c.checkWritable(call, &m); err != nil {
			return nil, 0, nil, err
		}
	}
	later = func(int) error { return nil }
	if m.dev == nil {
		return unsafe.Slice((*byte)(m.P), m.N), m.size, later, nil
	}
	raw, err := m.dev.As(cuda.Uint8)
	if err != nil {
		return nil, 0, nil, err
	}
	b = make([]byte, m.N)
	if write {
		return b, m.size, later, raw.Download(b)
	}
	return b, m.size, func(n int) error { return raw.Slice(0, n).Upload(b[:n]) }, nil
}

// move is a read or a write at an element of the view. It gives the number of buf's elements.
func (f *File) move(call string, buf any, at int, write bool) (int, error) {
	if err := f.usable(call); err != nil {
		return 0, err
	}
	v := f.View()
	if at < 0 {
		return 0, f.c.misuse(ErrArg, call, "place %d", at)
	}
	b, size, later, err := f.buffer(call, &v, buf, write)
	if err != nil {
		return 0, err
	}
	n, err := f.transfer(&v, b, at, write)
	if err == nil {
		err = later(n)
	}
	return n / size, f.wrong(call, err)
}

// next moves this rank's pointer past a buffer, and gives where it was.
func (f *File) next(call string, buf any) (int, error) {
	m, bad := resolve(call, buf)
	if bad != nil {
		return 0, f.c.at(bad)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.at
	f.at += m.N / f.view.Unit
	return at, nil
}

// ReadAt reads from element at of the view on, and gives how many elements of buf it read:
// fewer at the end of the file (MPI_File_read_at). WriteAt writes.
func (f *File) ReadAt(buf any, at int) (int, error) { return f.move("File.ReadAt", buf, at, false) }

// WriteAt writes from element at of the view on (MPI_File_write_at).
func (f *File) WriteAt(buf any, at int) (int, error) { return f.move("File.WriteAt", buf, at, true) }

// ReadAtAll is ReadAt of all ranks together (MPI_File_read_at_all).
func (f *File) ReadAtAll(buf any, at int) (int, error) {
	n, err := f.move("File.ReadAtAll", buf, at, false)
	return n, f.all("File.ReadAtAll", err)
}

// WriteAtAll is WriteAt of all ranks together: when it returns, all have written
// (MPI_File_write_at_all).
func (f *File) WriteAtAll(buf any, at int) (int, error) {
	n, err := f.move("File.WriteAtAll", buf, at, true)
	return n, f.all("File.WriteAtAll", err)
}

// all is together, of a file that may be closed.
func (f *File) all(call string, err error) error {
	if errors.Is(err, ErrFile) || errors.Is(err, ErrFinalized) {
		return err
	}
	return f.together(call, err)
}

// atOwn moves at the rank's own pointer.
func (f *File) atOwn(call string, buf any, write bool) (int, error) {
	if err := f.usable(call); err != nil {
		return 0, err
	}
	at, err := f.next(call, buf)
	if err != nil {
		return 0, err
	}
	return f.move(call, buf, at, write)
}

// Read reads at this rank's pointer, and moves it (MPI_File_read).
func (f *File) Read(buf any) (int, error) { return f.atOwn("File.Read", buf, false) }

// Write writes at this rank's pointer, and moves it (MPI_File_write).
func (f *File) Write(buf any) (int, error) { return f.atOwn("File.Write", buf, true) }

// ReadAll is Read of all ranks together (MPI_File_read_all).
func (f *File) ReadAll(buf any) (int, error) {
	n, err := f.atOwn("File.ReadAll", buf, false)
	return n, f.all("File.ReadAll", err)
}

// WriteAll is Write of all ranks together (MPI_File_write_all).
func (f *File) WriteAll(buf any) (int, error) {
	n, err := f.atOwn("File.WriteAll", buf, true)
	return n, f.all("File.WriteAll", err)
}

// Seek moves this rank's pointer, in elements of the view; whence is that of package io,
// but from the end of the file only in a view without Sizes (MPI_File_seek). It gives where
// the pointer is then.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	const call = "File.Seek"
	if err := f.usable(call); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.place(call, offset, whence, int64(f.at))
	if err == nil {
		f.at = int(at)
	}
	return int64(f.at), err
}

// place is where a pointer goes; mu is held.
func (f *File) place(call string, offset int64, whence int, now int64) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += now
	case io.SeekEnd:
		size, err := f.Size()
		if err != nil {
			return 0, err
		}
		if f.view.Sizes != nil {
			return 0, f.c.misuse(ErrArg, call, "from the end of a view of a box").hint("Size tells the file's bytes")
		}
		offset += int64((size - f.view.Offset) / f.view.Unit)
	}
	if offset < 0 {
		return 0, f.c.misuse(ErrArg, call, "before the begin of the view")
	}
	return offset, nil
}

// add adds to the shared pointer, and gives what it was.
func (f *File) add(call string, n int64) (int64, error) { return f.pointer(call, n, transport.Sum) }

func (f *File) pointer(call string, n int64, op transport.Op) (int64, error) {
	type words struct{ n, was int64 }
	x := &words{n: n}
	word := func(p *int64) transport.Memory {
		return transport.Memory{P: unsafe.Pointer(p), N: 1, T: transport.Int64}
	}
	_, err := f.away.Sync(transport.Sync{Kind: transport.Lock}, stop())
	if err == nil {
		if _, err = f.away.Access(&transport.Access{Kind: transport.FetchAndOp, Origin: word(&x.n), Result: word(&x.was), Op: op}, false); err == nil {
			_, err = f.away.Sync(transport.Sync{Kind: transport.Unlock}, stop())
		}
	}
	if err == transport.ErrStopped {
		return 0, ErrInterrupted
	}
	if err != nil {
		return 0, f.c.fail(call, 0, err)
	}
	return x.was, nil
}

// shared moves at the shared pointer.
func (f *File) shared(call string, buf any, write bool) (int, error) {
	n, err := f.units(call, buf)
	if err != nil {
		return 0, err
	}
	at, err := f.add(call, n)
	if err != nil {
		return 0, err
	}
	return f.move(call, buf, int(at), write)
}

// units is a buffer's length in elements of the view.
func (f *File) units(call string, buf any) (int64, error) {
	if err := f.usable(call); err != nil {
		return 0, err
	}
	m, bad := resolve(call, buf)
	if bad != nil {
		return 0, f.c.at(bad)
	}
	return int64(m.N / f.View().Unit), nil
}

// ReadShared reads at the pointer that all ranks share, and moves it past buf
// (MPI_File_read_shared). All ranks have the same view.
func (f *File) ReadShared(buf any) (int, error) { return f.shared("File.ReadShared", buf, false) }

// WriteShared writes at the pointer that all ranks share (MPI_File_write_shared).
func (f *File) WriteShared(buf any) (int, error) { return f.shared("File.WriteShared", buf, true) }

// ReadOrdered is ReadShared of all ranks together, in their order
// (MPI_File_read_ordered).
func (f *File) ReadOrdered(buf any) (int, error) { return f.ordered("File.ReadOrdered", buf, false) }

// WriteOrdered is WriteShared of all ranks together, in their order
// (MPI_File_write_ordered).
func (f *File) WriteOrdered(buf any) (int, error) { return f.ordered("File.WriteOrdered", buf, true) }

func (f *File) ordered(call string, buf any, write bool) (int, error) {
	n, err := f.units(call, buf)
	if err := f.all(call, err); err != nil {
		return 0, err
	}
	last := int64(0)
	if err := f.c.Scan(n, &last, Sum); err != nil {
		return 0, err
	}
	total := last
	if err := f.c.Bcast(&total, f.c.size-1); err != nil {
		return 0, err
	}
	var base int64
	if f.c.rank == 0 {
		base, err = f.add(call, total)
	}
	if err := f.together(call, err); err != nil {
		return 0, err
	}
	if err := f.c.Bcast(&base, 0); err != nil {
		return 0, err
	}
	done, err := f.move(call, buf, int(base+last-n), write)
	return done, f.together(call, err)
}

// SeekShared sets the shared pointer (MPI_File_seek_shared). It is collective, and all
// ranks give the same.
func (f *File) SeekShared(offset int64, whence int) error {
	const call = "File.SeekShared"
	if err := f.usable(call); err != nil {
		return err
	}
	now, err := f.PositionShared()
	if err == nil {
		f.mu.Lock()
		offset, err = f.place(call, offset, whence, now)
		f.mu.Unlock()
	}
	if err = f.together(call, err); err != nil {
		return err
	}
	if f.c.rank == 0 {
		_, err = f.pointer(call, offset, transport.Replace)
	}
	return f.together(call, err)
}

// PositionShared is where the shared pointer is (MPI_File_get_position_shared).
func (f *File) PositionShared() (int64, error) {
	const call = "File.PositionShared"
	if err := f.usable(call); err != nil {
		return 0, err
	}
	return f.pointer(call, 0, transport.NoOp)
}

func (f *File) String() string { return fmt.Sprintf("%s, rank %d of %d", f.path, f.c.rank, f.c.size) }
