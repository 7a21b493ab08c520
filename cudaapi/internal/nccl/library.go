//go:build linux && (amd64 || arm64)

package nccl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"unsafe"

	"gocuda/cudaapi/cuda"
	"gocuda/cudaapi/internal/clib"
)

const (
	ncclGetVersion = iota
	ncclGetUniqueId
	ncclCommInitAll
	ncclCommInitRankScalable
	ncclCommDestroy
	ncclCommAbort
	ncclCommGetAsyncError
	ncclGroupStart
	ncclGroupEnd
	ncclAllReduce
	ncclBroadcast
	ncclReduce
	ncclSend
	ncclRecv
	ncclGetErrorString
	ncclGetLastError
)

var symbols = []string{
	"ncclGetVersion", "ncclGetUniqueId", "ncclCommInitAll", "ncclCommInitRankScalable", "ncclCommDestroy", "ncclCommAbort",
	"ncclCommGetAsyncError", "ncclGroupStart", "ncclGroupEnd", "ncclAllReduce", "ncclBroadcast", "ncclReduce", "ncclSend", "ncclRecv",
	"ncclGetErrorString", "ncclGetLastError",
}

// Library is libnccl, loaded.
type Library struct {
	lib     *clib.Library
	version int
}

// Open loads libnccl.so.2: from the file or folder that GOCUDA_NCCL names, or
// from where the loader, CUDA toolkits and pip have it. The error names what was
// tried.
var Open = sync.OnceValues(func() (*Library, error) {
	lib, err := clib.Open("NCCL", paths(), symbols)
	if err != nil {
		return nil, err
	}
	l := &Library{lib: lib}
	var v int32
	if err := l.call(ncclGetVersion, clib.Pin(&v)); err != nil {
		return nil, err
	}
	l.version = int(v)
	return l, nil
})

func paths() []string {
	if p := os.Getenv("GOCUDA_NCCL"); p != "" {
		if found := clib.NewestFirst(filepath.Join(p, "libnccl.so*")); len(found) > 0 {
			return found
		}
		return []string{p}
	}
	found := []string{"libnccl.so.2"}
	var dirs []string
	dirs = append(dirs, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
	for _, v := range []string{"NCCL_HOME", "CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"} {
		if p := os.Getenv(v); p != "" {
			dirs = append(dirs, filepath.Join(p, "lib64"), filepath.Join(p, "lib"))
		}
	}
	dirs = append(dirs, "/usr/local/cuda/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
	for _, site := range clib.SitePackages() {
		dirs = append(dirs, filepath.Join(site, "nvidia/nccl/lib"))
	}
	for _, pattern := range []string{"/opt/nvidia/hpc_sdk/Linux_*/*/comm_libs/nccl/lib"} {
		dirs = append(dirs, clib.NewestFirst(pattern)...)
	}
	for _, d := range clib.Unique(dirs) {
		if p := filepath.Join(d, "libnccl.so.2"); clib.Exists(p) {
			found = append(found, p)
		}
	}
	return found
}

// Path is the name under which the library was loaded.
func (l *Library) Path() string { return l.lib.Path() }

// Version is NCCL's version, such as "2.27.3".
func (l *Library) Version() string {
	return fmt.Sprintf("%d.%d.%d", l.version/10000, l.version/100%100, l.version%100)
}

func (l *Library) call(f int, args ...uintptr) error { return l.on(0, f, args...) }

// on calls a function; comm is asked for its words if it fails.
func (l *Library) on(comm uintptr, f int, args ...uintptr) error {
	a := l.lib.Addr(f)
	if a == 0 {
		return &Error{Call: l.lib.Name(f), Code: 5, Text: fmt.Sprintf("NCCL %s (%s) has no such function", l.Version(), l.Path())}
	}
	code := int32(clib.Call(a, args...))
	if code == 0 {
		return nil
	}
	e := &Error{Call: l.lib.Name(f), Code: int(code), Text: l.text(ncclGetErrorString, uintptr(code))}
	if last := l.text(ncclGetLastError, comm); last != "" {
		e.Text += ": " + last
	}
	return e
}

// text calls a function that gives a C string.
func (l *Library) text(f int, arg uintptr) string {
	a := l.lib.Addr(f)
	if a == 0 {
		return ""
	}
	p := clib.Call(a, arg)
	if p == 0 {
		return ""
	}
	s := *(*unsafe.Pointer)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(s, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(s), n))
}

// NewID draws the name of a communicator (ncclGetUniqueId).
func (l *Library) NewID() (ID, error) {
	id := new(ID)
	err := l.call(ncclGetUniqueId, clib.Pin(id))
	return *id, err
}

// Comm is one member's end of a communicator, on one device.
type Comm struct {
	l *Library
	h uintptr
}

// InitAll makes a communicator of devices of this process (ncclCommInitAll).
func (l *Library) InitAll(devices []*cuda.Device) ([]*Comm, error) {
	list := make([]int32, len(devices))
	for i, d := range devices {
		list[i] = int32(d.Ordinal())
	}
	handles := make([]uintptr, len(devices))
	err := l.call(ncclCommInitAll, clib.Pin(&handles[0]), uintptr(len(list)), clib.Pin(&list[0]))
	runtime.KeepAlive(list)
	if err != nil {
		return nil, err
	}
	return l.comms(handles), nil
}

func (l *Library) comms(handles []uintptr) []*Comm {
	comms := make([]*Comm, len(handles))
	for i, h := range handles {
		comms[i] = &Comm{l, h}
	}
	return comms
}

// InitRanks makes this process's members, first and those after it, of a
// communicator of size members in several processes (ncclCommInitRankScalable,
// which takes the id by its address). It blocks until all processes have called.
func (l *Library) InitRanks(devices []*cuda.Device, first, size int, id ID) ([]*Comm, error) {
	if l.lib.Addr(ncclCommInitRankScalable) == 0 {
		return nil, &Error{Call: "ncclCommInitRankScalable", Code: 5, Text: fmt.Sprintf("NCCL %s (%s) is too old: among several processes 2.23 or newer is needed", l.Version(), l.Path())}
	}
	handles := make([]uintptr, len(devices))
	name := &id
	err := l.Group(func() error {
		for i, d := range devices {
			// Which device a member is on, NCCL takes from the thread's current
			// context; a call on the device makes that current.
			if _, _, err := d.MemInfo(); err != nil {
				return err
			}
			if err := l.call(ncclCommInitRankScalable, clib.Pin(&handles[i]), uintptr(size), uintptr(first+i), 1, clib.Pin(name), 0); err != nil {
				return err
			}
		}
		return nil
	})
	runtime.KeepAlive(name)
	if err != nil {
		return nil, err
	}
	return l.comms(handles), nil
}

// Group makes the calls that f makes one (ncclGroupStart, ncclGroupEnd), so that
// operations of several devices do not wait for each other.
func (l *Library) Group(f func() error) error {
	runtime.LockOSThread() // a group is a thread's
	defer runtime.UnlockOSThread()
	if err := l.call(ncclGroupStart); err != nil {
		return err
	}
	err := f()
	err = errors.Join(err, l.call(ncclGroupEnd)) // which queues it all
	runtime.KeepAlive(f)                         // and with it the buffers
	return err
}

// AllReduce queues recv = the combination of all members' send, which may be
// recv itself (ncclAllReduce).
func (c *Comm) AllReduce(send, recv *cuda.Buffer, op cuda.ReduceOp, s *cuda.Stream) error {
	defer s.Keep(send, recv)
	return c.l.on(c.h, ncclAllReduce, send.Address(), recv.Address(), uintptr(recv.Len()), types[recv.Type()], ops[op], c.h, s.Handle())
}

// Broadcast queues recv = root's send (ncclBroadcast).
func (c *Comm) Broadcast(send, recv *cuda.Buffer, root int, s *cuda.Stream) error {
	defer s.Keep(send, recv)
	return c.l.on(c.h, ncclBroadcast, send.Address(), recv.Address(), uintptr(recv.Bytes()), types[cuda.Uint8], uintptr(root), c.h, s.Handle())
}

// Reduce queues recv = the combination of all members' send, at root
// (ncclReduce).
func (c *Comm) Reduce(send, recv *cuda.Buffer, op cuda.ReduceOp, root int, s *cuda.Stream) error {
	defer s.Keep(send, recv)
	return c.l.on(c.h, ncclReduce, send.Address(), recv.Address(), uintptr(send.Len()), types[send.Type()], ops[op], uintptr(root), c.h, s.Handle())
}

// Send queues the sending of b's bytes to a peer, who must queue Recv (ncclSend).
func (c *Comm) Send(b *cuda.Buffer, peer int, s *cuda.Stream) error {
	defer s.Keep(b)
	return c.l.on(c.h, ncclSend, b.Address(), uintptr(b.Bytes()), types[cuda.Uint8], uintptr(peer), c.h, s.Handle())
}

// Recv queues the receipt of b's bytes from a peer (ncclRecv).
func (c *Comm) Recv(b *cuda.Buffer, peer int, s *cuda.Stream) error {
	defer s.Keep(b)
	return c.l.on(c.h, ncclRecv, b.Address(), uintptr(b.Bytes()), types[cuda.Uint8], uintptr(peer), c.h, s.Handle())
}

// AsyncError is what went wrong in the background, such as a lost peer
// (ncclCommGetAsyncError).
func (c *Comm) AsyncError() error {
	var code int32
	if err := c.l.on(c.h, ncclCommGetAsyncError, c.h, clib.Pin(&code)); err != nil {
		return err
	}
	if code == 0 {
		return nil
	}
	return &Error{Call: "ncclCommGetAsyncError", Code: int(code), Text: c.l.text(ncclGetErrorString, uintptr(code))}
}

// Destroy ends the member when its operations are done (ncclCommDestroy). It
// blocks.
func (c *Comm) Destroy() error { return c.l.on(0, ncclCommDestroy, c.h) }

// Abort ends the member and whatever of its operations is under way, so that a
// peer that is gone is waited for no longer (ncclCommAbort).
func (c *Comm) Abort() error { return c.l.on(0, ncclCommAbort, c.h) }
