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

// library is libnccl.
type library struct {
	lib     *clib.Library
	version int
}

// Open loads libnccl.so.2: from the file or folder that GOCUDA_NCCL names, or
// from where the loader, CUDA toolkits and pip have it. The error names what was
// tried.
var Open = sync.OnceValues(func() (Library, error) {
	lib, err := clib.Open("NCCL", paths(), symbols)
	if err != nil {
		return nil, err
	}
	l := &library{lib: lib}
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

func (l *library) Path() string { return l.lib.Path() }

func (l *library) Version() string {
	return fmt.Sprintf("%d.%d.%d", l.version/10000, l.version/100%100, l.version%100)
}

func (l *library) call(f int, args ...uintptr) error { return l.on(0, f, args...) }

// on calls a function; comm is asked for its words if it fails.
func (l *library) on(comm uintptr, f int, args ...uintptr) error {
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
func (l *library) text(f int, arg uintptr) string {
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

func (l *library) NewID() (ID, error) {
	id := new(ID)
	err := l.call(ncclGetUniqueId, clib.Pin(id))
	return *id, err
}

type comm struct {
	l *library
	h uintptr
}

func (l *library) InitAll(devices []*cuda.Device) ([]Comm, error) {
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

func (l *library) comms(handles []uintptr) []Comm {
	comms := make([]Comm, len(handles))
	for i, h := range handles {
		comms[i] = &comm{l, h}
	}
	return comms
}

// InitRanks calls ncclCommInitRankScalable, which takes the id by its address.
func (l *library) InitRanks(devices []*cuda.Device, first, size int, id ID) ([]Comm, error) {
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

func (l *library) Group(f func() error) error {
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

func (c *comm) AllReduce(send, recv *cuda.Buffer, op cuda.ReduceOp, s *cuda.Stream) error {
	defer s.Keep(send, recv)
	return c.l.on(c.h, ncclAllReduce, send.Address(), recv.Address(), uintptr(recv.Len()), types[recv.Type()], ops[op], c.h, s.Handle())
}

func (c *comm) Broadcast(send, recv *cuda.Buffer, root int, s *cuda.Stream) error {
	defer s.Keep(send, recv)
	return c.l.on(c.h, ncclBroadcast, send.Address(), recv.Address(), uintptr(recv.Bytes()), types[cuda.Uint8], uintptr(root), c.h, s.Handle())
}

func (c *comm) Reduce(send, recv *cuda.Buffer, op cuda.ReduceOp, root int, s *cuda.Stream) error {
	defer s.Keep(send, recv)
	return c.l.on(c.h, ncclReduce, send.Address(), recv.Address(), uintptr(send.Len()), types[send.Type()], ops[op], uintptr(root), c.h, s.Handle())
}

func (c *comm) Send(b *cuda.Buffer, peer int, s *cuda.Stream) error {
	defer s.Keep(b)
	return c.l.on(c.h, ncclSend, b.Address(), uintptr(b.Bytes()), types[cuda.Uint8], uintptr(peer), c.h, s.Handle())
}

func (c *comm) Recv(b *cuda.Buffer, peer int, s *cuda.Stream) error {
	defer s.Keep(b)
	return c.l.on(c.h, ncclRecv, b.Address(), uintptr(b.Bytes()), types[cuda.Uint8], uintptr(peer), c.h, s.Handle())
}

func (c *comm) AsyncError() error {
	var code int32
	if err := c.l.on(c.h, ncclCommGetAsyncError, c.h, clib.Pin(&code)); err != nil {
		return err
	}
	if code == 0 {
		return nil
	}
	return &Error{Call: "ncclCommGetAsyncError", Code: int(code), Text: c.l.text(ncclGetErrorString, uintptr(code))}
}

func (c *comm) Destroy() error { return c.l.on(0, ncclCommDestroy, c.h) }

func (c *comm) Abort() error { return c.l.on(0, ncclCommAbort, c.h) }
