//go:build linux && (amd64 || arm64)

package libmpi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/mpi/internal/transport"

	"github.com/ebitengine/purego"
)

// Transport is an MPI library, initialised.
type Transport struct {
	*caller
	abi         *abi
	info        transport.Info
	world, self *comm
	tagUB       int
	wtime       func() float64
	pending     requests
	overwrites  bool // receives have to be matched here; see matched.go
	matchings   matchings
	guards      guards
	contextOnce sync.Mutex // of the caller's context
}

var _ transport.Transport = (*Transport)(nil)

var opened struct {
	sync.Mutex
	t   *Transport
	err error
}

// Open finds and loads an MPI library and initialises it, once per process: it
// is MPI_Init_thread, collective over the ranks that the launcher started, and
// it blocks until all of them are here. A process that no launcher started is a
// world of one.
//
// GOCUDA_MPI says which library: openmpi, mpich, intel, abi (the standard ABI of
// MPI 5), or a path. GOCUDA_MPI_THREAD asks for less than the thread level
// multiple: single, funneled or serialized.
func Open() (transport.Transport, error) {
	opened.Lock()
	defer opened.Unlock()
	if opened.t == nil && opened.err == nil {
		opened.t, opened.err = open()
	}
	if opened.err != nil {
		return nil, opened.err
	}
	return opened.t, nil
}

// identify loads a library and tells which it is.
func identify(l *Launcher) (*Transport, error) {
	if err := quietUCX(); err != nil {
		return nil, err
	}
	var lib *clib.Library
	var found string
	var err error
	keepSignals(func() { lib, found, err = load(l) })
	if err != nil {
		return nil, err
	}
	t := &Transport{caller: &caller{lib: lib, level: len(threadNames) - 1}}
	t.info = transport.Info{Library: loadedPath(lib), Found: found}
	if !t.has(mpiInitThread) || !t.has(mpiGetLibraryVersion) {
		return nil, fmt.Errorf("%s (found %s) is not an MPI library: it has no MPI_Init_thread", lib.Path(), found)
	}
	version := new([2]int32)
	switch {
	case t.call(mpiAbiGetVersion, clib.Pin(&version[0]), clib.Pin(&version[1])) == 0 && version[0] > 0:
		t.abi, err = standard(t.askBytes, t.askCancelled)
	case lib.Lookup("ompi_mpi_comm_world") != 0:
		t.abi, err = openMPI(lib.Lookup)
	default:
		t.abi, err = mpich()
	}
	if err != nil {
		return nil, fmt.Errorf("%s (found %s) is not an MPI library that can be used: %w", lib.Path(), found, err)
	}
	t.info.Version, _, _ = strings.Cut(t.text(mpiGetLibraryVersion), "\n")
	t.info.Version, _, _ = strings.Cut(strings.Join(strings.Fields(t.info.Version), " "), ", package:")
	t.info.Name = t.abi.name
	for _, kin := range []struct{ mark, name string }{{"Open MPI", "Open MPI"}, {"Intel(R) MPI", "Intel MPI"},
		{"MVAPICH", "MVAPICH"}, {"CRAY MPICH", "Cray MPICH"}, {"MPICH", "MPICH"}} {
		if strings.Contains(t.info.Version, kin.mark) {
			t.info.Name = kin.name
			break
		}
	}
	if t.abi.name == "standard" {
		t.info.Name += " (standard ABI)"
	}
	return t, nil
}

// open is Open, the first time.
func open() (*Transport, error) {
	level, err := wantedLevel()
	if err != nil {
		return nil, err
	}
	launcher := Launched()
	t, err := identify(launcher)
	if err != nil {
		return nil, err
	}
	t.relocate()
	t.makeRoom()
	if err := t.init(level); err != nil {
		return nil, err
	}
	t.overwrites = t.abi.name == "Open MPI"
	if t.world, err = t.newComm(t.abi.commWorld); err != nil {
		return nil, err
	}
	if t.self, err = t.newComm(t.abi.commSelf); err != nil {
		return nil, err
	}
	if l := launcher; l != nil && l.Size > 1 && t.world.size == 1 {
		return nil, fmt.Errorf("this process was started by %s, but %s (%s, found %s) does not know that launcher: its world has one rank; "+
			"use the mpirun that belongs to the library, or set GOCUDA_MPI to the launcher's library", l, t.info.Name, t.info.Library, t.info.Found)
	}
	if err := t.readTagUB(); err != nil {
		return nil, err
	}
	if a := t.lib.Lookup("MPI_Wtime"); a != 0 {
		purego.RegisterFunc(&t.wtime, a)
	} else {
		return nil, errors.New(t.info.Library + " has no MPI_Wtime")
	}
	t.info.CUDAAware, t.info.Why = t.cudaAware()
	return t, nil
}

// init is MPI_Init_thread, on the thread that is to call MPI_Finalize.
func (t *Transport) init(level int) error {
	t.caller = newCaller(t.lib)
	state := new([2]int32)
	t.caller.level = len(threadNames) - 1 // of the calls before it is known
	if t.call(mpiInitialized, clib.Pin(&state[0])) != 0 || t.call(mpiFinalized, clib.Pin(&state[1])) != 0 {
		return errors.New(t.info.Library + " does not say whether MPI is initialised")
	}
	if state[1] != 0 {
		return errors.New("MPI was finalized in this process, which cannot be undone; start a new one")
	}
	granted := new(int32)
	var code int32
	f := mpiInitThread
	if state[0] != 0 {
		f = mpiQueryThread // someone else in this process was first
	}
	t.onMain(func() {
		keepSignals(func() {
			if f == mpiQueryThread {
				code = t.call(f, clib.Pin(granted))
			} else {
				code = t.call(f, 0, 0, uintptr(t.abi.threads[level]), clib.Pin(granted))
			}
		})
	})
	if err := t.check(f, code); err != nil {
		return err
	}
	for i, v := range t.abi.threads {
		if *granted >= v {
			level = i
		}
	}
	t.caller.level = level
	t.info.Thread = threadNames[level]
	return nil
}

// wantedLevel reads GOCUDA_MPI_THREAD.
func wantedLevel() (int, error) {
	want := os.Getenv("GOCUDA_MPI_THREAD")
	if want == "" {
		return len(threadNames) - 1, nil
	}
	for i, name := range threadNames {
		if strings.EqualFold(name, "MPI_THREAD_"+want) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("GOCUDA_MPI_THREAD is %q; it may be single, funneled, serialized or multiple", want)
}

// relocate tells an Open MPI that lies elsewhere than where it was built, as
// PyPI's does, where its files are. A launcher has said so already.
func (t *Transport) relocate() {
	prefix := filepath.Dir(filepath.Dir(t.info.Library))
	if t.abi.name == "Open MPI" && os.Getenv("OPAL_PREFIX") == "" && clib.Exists(filepath.Join(prefix, "share/openmpi/help-mpi-api.txt")) {
		os.Setenv("OPAL_PREFIX", prefix) //nolint:errcheck // fails only for bad names
	}
}

// readTagUB asks for the attribute MPI_TAG_UB: a pointer to an int.
func (t *Transport) readTagUB() error {
	got := &struct {
		value *int32
		flag  int32
	}{}
	if err := t.do(mpiCommGetAttr, t.world.handle, t.abi.tagUB, clib.Pin(&got.value), clib.Pin(&got.flag)); err != nil {
		return err
	}
	t.tagUB = 32767 // what the standard promises
	if got.flag != 0 && got.value != nil {
		t.tagUB = int(*got.value)
	}
	return nil
}

// asked is where a library answers about a status whose layout is hidden.
type asked struct {
	bytes     int
	cancelled int32
}

var askedPool = sync.Pool{New: func() any { return new(asked) }}

// askBytes is MPI_Get_count in bytes.
func (t *Transport) askBytes(s *status) int {
	a := askedPool.Get().(*asked)
	defer askedPool.Put(a)
	if t.call(mpiGetCount+large, clib.Pin(s), t.abi.types[transport.Byte], clib.Pin(&a.bytes)) != 0 {
		return 0
	}
	return max(a.bytes, 0)
}

func (t *Transport) askCancelled(s *status) bool {
	a := askedPool.Get().(*asked)
	defer askedPool.Put(a)
	return t.call(mpiTestCancelled, clib.Pin(s), clib.Pin(&a.cancelled)) == 0 && a.cancelled != 0
}

// loadedPath is the file that the loader took, if /proc tells.
func loadedPath(lib *clib.Library) string {
	if filepath.IsAbs(lib.Path()) {
		return lib.Path()
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err == nil {
		stem, _, _ := strings.Cut(filepath.Base(lib.Path()), ".so")
		for line := range strings.SplitSeq(string(maps), "\n") {
			if i := strings.IndexByte(line, '/'); i >= 0 && strings.HasPrefix(filepath.Base(line[i:]), stem+".so") {
				return line[i:]
			}
		}
	}
	return lib.Path()
}

func (t *Transport) World() transport.Comm { return t.world }
func (t *Transport) Self() transport.Comm  { return t.self }
func (t *Transport) Info() transport.Info  { return t.info }
func (t *Transport) TagUB() int            { return t.tagUB }

// Wtime is MPI_Wtime.
func (t *Transport) Wtime() time.Duration { return time.Duration(t.wtime() * float64(time.Second)) }

// Abort is MPI_Abort on the world. It does not return.
func (t *Transport) Abort(code int) {
	t.call(mpiAbort, t.world.handle, uintptr(code))
	os.Exit(code)
}

// Finalize is MPI_Finalize.
func (t *Transport) Finalize() error {
	var code int32
	t.onMain(func() {
		keepSignals(func() { code = t.enter(t.lib.Addr(int(mpiFinalize)), nil) })
		if !strings.HasPrefix(t.info.Name, "Open MPI") {
			// MPICH and its kin take their leave of the launcher in an atexit function, and
			// Hydra ends all ranks when one is gone without that.
			t.lib.RunAtExit()
		}
	})
	if code != 0 {
		// Nothing may be asked of the library any more.
		return &transport.Error{Class: transport.Other, Call: "MPI_Finalize", Text: fmt.Sprintf("error code %d", code)}
	}
	return nil
}
