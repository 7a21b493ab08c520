package record

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/callsite"
)

// What is read is what was written, also while the file grows.
func TestFile(t *testing.T) {
	folder := t.TempDir()
	w, err := Create(folder)
	if err != nil {
		t.Fatal(err)
	}
	lane := &Lane{ID: 3, Context: 7, Device: 1, Name: "stream 0x9", Handle: 9, Blocking: true}
	also := &Lane{ID: 4, Context: 7}
	asked := &Op{Kind: Request, Call: "Comm.Irecv", Message: &Message{Role: Receives, Comm: "world", Rank: 1, Size: 2, Peer: -1, Tag: -1}}
	captured := &Op{Kind: HostFunc}
	kernel := &Op{Kind: Kernel, Name: "fill", Lane: lane, Watched: &Watched{}}
	launch := &Op{Kind: GraphLaunch, Lane: lane, Exec: 5}
	node := &Op{Kind: HostFunc, Lane: lane, Via: launch, Of: captured}
	ran := &Op{Kind: Kernel, Lane: lane, Via: launch, Watched: &Watched{}} // before the launch is written
	ran.Watched.Touched([]Access{{5, 6, Read}})
	launch.Nodes = []Node{{node, nil}, {&Op{Kind: Fill, Lane: also, Accesses: []Access{{1, 2, Write}}, Via: launch}, []int{0}}, {ran, nil}}
	ops := []*Op{
		{Kind: Copy, Call: "cuMemcpyAsync", Site: callsite.Site{Place: callsite.Place{File: "main.go", Line: 3}, Path: "/a/main.go"}, Meant: true, Lane: lane,
			Accesses: []Access{{100, 200, Read}, {50, 60, Write}}, HostReads: []Access{{1 << 40, 1<<40 + 1, Read}}, Bytes: 100,
			Around: []driver.Context{7}, HostBefore: true},
		{Kind: Mark, Lane: lane, Event: &Event{ID: 0}, Also: []*Lane{also}, Behind: []driver.Device{1}},
		asked, kernel, launch,
		{Kind: HostFuncDone, Target: captured},
		{Kind: SyncRequest, Target: asked, Message: &Message{Role: Receives, Comm: "world", Rank: 1, Size: 2, Peer: 0, Tag: 4}},
		{Kind: WaitValue, Lane: lane, Addr: 8, Value: 9, Width: 4, Flags: driver.WaitValueNOR, Key: "a key"},
	}
	for i, o := range ops {
		o.Seq = uint64(i)
		w.Op(o)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*"+Suffix))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	r, err := Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if o, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("%v, %v before anything was flushed", o, err)
	}
	kernel.Watched.Touched([]Access{{4, 8, Atomic}})
	if err := w.Flush([]byte("a note")); err != nil {
		t.Fatal(err)
	}
	var got []*Op
	for {
		o, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, o)
	}
	if len(got) != len(ops) || string(r.Note) != "a note" || r.Process.PID != os.Getpid() {
		t.Fatalf("%d operations of %d, note %q, process %+v", len(got), len(ops), r.Note, r.Process)
	}
	if got[6].Target != got[2] || got[5].Target != got[4].Nodes[0].Op.Of || got[4].Nodes[0].Op.Via != got[4] {
		t.Error("operations do not refer to the ones that they referred to")
	}
	if list, ok := got[3].Watched.Known(); !ok || !reflect.DeepEqual(list, []Access{{4, 8, Atomic}}) {
		t.Errorf("the kernel touched %v, %v", list, ok)
	}
	if list, ok := got[4].Nodes[2].Op.Watched.Known(); !ok || !reflect.DeepEqual(list, []Access{{5, 6, Read}}) {
		t.Errorf("the graph's kernel touched %v, %v", list, ok)
	}
	for i, o := range got {
		want := *ops[i]
		have := *o
		want.Target, have.Target, want.Watched, have.Watched = nil, nil, nil, nil
		if i == 4 {
			if len(have.Nodes) != 3 || !reflect.DeepEqual(have.Nodes[1].Deps, []int{0}) || !reflect.DeepEqual(have.Nodes[1].Op.Accesses, want.Nodes[1].Op.Accesses) {
				t.Errorf("the graph is %+v", have.Nodes)
			}
			want.Nodes, have.Nodes = nil, nil
		}
		if !reflect.DeepEqual(want, have) {
			t.Errorf("read   %+v\nwrote %+v", have, want)
		}
	}

	// A process that is killed leaves a chunk that is not whole.
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[0], whole[:len(whole)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	r2, err := Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r2.Close()
	if o, err := r2.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v, %v of a chunk that was cut off", o, err)
	}
}

// A damaged record stays one: nothing is read behind what is damaged. A length of which
// there is not so much takes no memory.
func TestDamagedFile(t *testing.T) {
	folder := t.TempDir()
	w, err := Create(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		w.Op(&Op{Seq: uint64(i + 1), Kind: Copy})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(folder, "*"+Suffix))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	open := func(more ...byte) *Reader {
		if err := os.WriteFile(names[0], append(slices.Clip(whole), more...), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(names[0])
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	touched := []byte{asTouched, 5, 1, 0, 0, 0, 0} // of no operation: it is passed over
	bad := append([]byte{asOp, 2, 0xff, 0xff}, touched...)
	r := open(append([]byte{byte(len(bad)), 0, 0, 0}, bad...)...)
	defer r.Close()
	for range 3 {
		if o, err := r.Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%v, %v behind what is damaged", o, err)
		}
	}
	r2 := open(0xff, 0xff, 0xff, 0x7f, 1, 2, 3)
	defer r2.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if o, err := r2.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v, %v of a chunk that is not there", o, err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
}
