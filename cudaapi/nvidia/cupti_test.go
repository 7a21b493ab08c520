//go:build linux && (amd64 || arm64)

package nvidia

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"gocuda/cudaapi/driver"
)

// buffer is one of CUPTI's, laid out as cupti_activity.h has it.
type buffer struct {
	bytes []byte
	at    []int
}

// add appends a record of n bytes with words of four or eight bytes at offsets.
func (b *buffer) add(kind uint32, n int, half map[int]uint32, word map[int]uint64) {
	r := make([]byte, n)
	binary.LittleEndian.PutUint32(r, kind)
	for at, v := range half {
		binary.LittleEndian.PutUint32(r[at:], v)
	}
	for at, v := range word {
		binary.LittleEndian.PutUint64(r[at:], v)
	}
	b.at = append(b.at, len(b.bytes))
	b.bytes = append(b.bytes, r...)
}

func (b *buffer) next() func() (int, bool) {
	i := -1
	return func() (int, bool) {
		if i++; i < len(b.at) {
			return b.at[i], true
		}
		return 0, false
	}
}

func tracing(take func(driver.Activity)) *Tracing {
	return &Tracing{take: take, offset: time.Second, tags: map[uint32]uint64{}, waiting: map[uint32][]driver.Activity{}, version: 130000}
}

// Records of all kinds get the tags of the calls that queued them, whichever comes
// first.
func TestActivityRecords(t *testing.T) {
	name := []byte("_Z5twicePfi\x00")
	tag := func(b *buffer, tag uint64, call uint32) {
		b.add(cuptiExternalCorrelation, 24, map[int]uint32{4: customKind, 16: call}, map[int]uint64{8: tag})
	}
	var b buffer
	b.add(cuptiKernel, 208, map[int]uint32{92: 11}, map[int]uint64{16: 1000, 24: 3000, 104: uint64(uintptr(unsafe.Pointer(&name[0])))})
	tag(&b, 1, 11)
	tag(&b, 2, 12)
	b.add(cuptiDriverCall, 40, nil, nil)
	b.add(cuptiMemcpy, 112, map[int]uint32{44: 12}, map[int]uint64{16: 4000, 24: 5000})
	b.add(cuptiMemcpyPeer, 104, map[int]uint32{60: 13}, map[int]uint64{16: 5000, 24: 6000})
	b.add(cuptiMemset, 88, map[int]uint32{44: 14}, map[int]uint64{16: 6000, 24: 7000})
	b.add(cuptiHostLaunch, 48, map[int]uint32{16: 15}, map[int]uint64{32: 7000, 40: 8000})
	b.add(cuptiKernel, 208, map[int]uint32{92: 11}, map[int]uint64{16: 9000, 24: 9500}) // a graph's second
	b.add(cuptiKernel, 208, map[int]uint32{92: 16}, map[int]uint64{16: 9000})           // it still runs
	b.add(cuptiKernel, 208, map[int]uint32{92: 99}, map[int]uint64{16: 1, 24: 2})       // of a call without a tag
	for i := range uint64(3) {
		tag(&b, 3+i, uint32(13+i))
	}
	tag(&b, 6, 16)
	b.add(cuptiExternalCorrelation, 24, map[int]uint32{4: 1, 16: 99}, map[int]uint64{8: 77}) // another tool's

	var got []driver.Activity
	tr := tracing(func(a driver.Activity) { got = append(got, a) })
	tr.read(b.bytes, b.next())
	at := func(tag uint64, k driver.ActivityKind, name string, begin, end time.Duration) driver.Activity {
		return driver.Activity{Tag: tag, Kind: k, Name: name, Begin: time.Second + begin, End: time.Second + end}
	}
	want := []driver.Activity{
		at(1, driver.ActivityKernel, "_Z5twicePfi", 1000, 3000), at(2, driver.ActivityCopy, "", 4000, 5000),
		at(1, driver.ActivityKernel, "", 9000, 9500), at(3, driver.ActivityCopy, "", 5000, 6000),
		at(4, driver.ActivityFill, "", 6000, 7000), at(5, driver.ActivityHost, "", 7000, 8000),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if tr.broken != nil || tr.unread != 1 {
		t.Errorf("%v, %d unread", tr.broken, tr.unread)
	}
}

// Records that are too short, or end before they begin, are those of a CUPTI that is not
// known: nothing is taken from it any more.
func TestRecordsThatDoNotFit(t *testing.T) {
	for name, fill := range map[string]func(*buffer){
		"short":     func(b *buffer) { b.add(cuptiKernel, 80, nil, nil) },
		"backwards": func(b *buffer) { b.add(cuptiMemcpy, 112, nil, map[int]uint64{16: 9, 24: 8}) },
		"outside":   func(b *buffer) { b.add(cuptiMemcpy, 112, nil, nil); b.at = append(b.at, 500) },
	} {
		var b buffer
		fill(&b)
		tr := tracing(func(a driver.Activity) { t.Errorf("%s: %+v", name, a) })
		tr.read(b.bytes, b.next())
		if tr.broken == nil || !strings.Contains(tr.broken.Error(), "not laid out as expected") {
			t.Errorf("%s: %v", name, tr.broken)
		}
		if err := tr.start(func(driver.Activity) {}); err == nil {
			t.Errorf("%s: another trace begins", name)
		}
	}
}

func TestKnownCUPTI(t *testing.T) {
	for version, want := range map[int]bool{12: false, 18: true, 28: true, 29: false, 130000: true, 130500: true, 140000: false} {
		if knownCUPTI(version) != want {
			t.Errorf("version %d", version)
		}
	}
}

// Buffers that CUPTI gives back after a trace has ended tell nothing.
func TestBuffersAfterATrace(t *testing.T) {
	var b buffer
	b.add(cuptiMemset, 56, map[int]uint32{44: 7}, map[int]uint64{16: 1000, 24: 3000})
	b.add(cuptiExternalCorrelation, 24, map[int]uint32{4: customKind, 16: 7}, map[int]uint64{8: 1})
	tr := tracing(func(driver.Activity) { t.Error("a record was told") })
	if err := tr.stop(); err != nil {
		t.Fatal(err)
	}
	tr.read(b.bytes, b.next())
	if tr.broken != nil {
		t.Error(tr.broken)
	}
}
