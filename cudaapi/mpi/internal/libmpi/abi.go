//go:build linux && (amd64 || arm64)

package libmpi

import (
	"fmt"

	"gocuda/cudaapi/mpi/internal/transport"
)

// abi is what a C program has from its MPI library's mpi.h.
type abi struct {
	name    string
	classes map[int32]transport.Class

	anySource, procNull, anyTag, undefined int32
	inPlace                                uintptr
	typeShared                             int32
	threads                                [4]int32 // single to multiple
	tagUB                                  uintptr

	commWorld, commSelf, commNull uintptr
	requestNull                   uintptr
	infoNull, errorsReturn        uintptr
	types                         [transport.Int64Int + 1]uintptr
	ops                           [transport.MaxLoc + 1]uintptr

	window windowABI

	handleSize int // 4 or 8 bytes

	// Fields of MPI_Status, in int32s from its start.
	source, tag int
	// receivedBytes and cancelled read what the standard hides.
	receivedBytes func(s *status) int
	cancelled     func(s *status) bool
}

// status has room for every library's MPI_Status.
type status [8]int32

// A value is a constant of mpi.h: a number, or the address of a symbol.
type values map[string]int64

var typeNames = [...]string{
	transport.Byte: "MPI_BYTE", transport.Int8: "MPI_INT8_T", transport.Int16: "MPI_INT16_T",
	transport.Int32: "MPI_INT32_T", transport.Int64: "MPI_INT64_T", transport.Uint8: "MPI_UINT8_T",
	transport.Uint16: "MPI_UINT16_T", transport.Uint32: "MPI_UINT32_T", transport.Uint64: "MPI_UINT64_T",
	transport.Float32: "MPI_FLOAT", transport.Float64: "MPI_DOUBLE",
	transport.Complex64: "MPI_C_FLOAT_COMPLEX", transport.Complex128: "MPI_C_DOUBLE_COMPLEX",
	transport.Bool: "MPI_C_BOOL", transport.Float32Int: "MPI_FLOAT_INT", transport.Float64Int: "MPI_DOUBLE_INT",
	transport.Int32Int: "MPI_2INT", transport.Int64Int: "MPI_LONG_INT",
}

var opNames = [...]string{
	transport.Sum: "MPI_SUM", transport.Prod: "MPI_PROD", transport.Min: "MPI_MIN", transport.Max: "MPI_MAX",
	transport.LogicalAnd: "MPI_LAND", transport.LogicalOr: "MPI_LOR", transport.LogicalXor: "MPI_LXOR",
	transport.BitAnd: "MPI_BAND", transport.BitOr: "MPI_BOR", transport.BitXor: "MPI_BXOR",
	transport.MinLoc: "MPI_MINLOC", transport.MaxLoc: "MPI_MAXLOC",
}

// newABI takes the constants by their names.
func newABI(name string, v values, classes []string) (*abi, error) {
	var missing error
	get := func(name string) int64 {
		x, ok := v[name]
		if !ok && missing == nil {
			missing = fmt.Errorf("it has no %s", name)
		}
		return x
	}
	handle := func(name string) uintptr { return uintptr(get(name)) }
	a := &abi{
		name: name, handleSize: 8, classes: map[int32]transport.Class{},
		anySource: int32(get("MPI_ANY_SOURCE")), procNull: int32(get("MPI_PROC_NULL")),
		anyTag: int32(get("MPI_ANY_TAG")), undefined: int32(get("MPI_UNDEFINED")),
		inPlace: handle("MPI_IN_PLACE"), typeShared: int32(get("MPI_COMM_TYPE_SHARED")),
		tagUB:     handle("MPI_TAG_UB"),
		commWorld: handle("MPI_COMM_WORLD"), commSelf: handle("MPI_COMM_SELF"), commNull: handle("MPI_COMM_NULL"),
		requestNull: handle("MPI_REQUEST_NULL"), infoNull: handle("MPI_INFO_NULL"), errorsReturn: handle("MPI_ERRORS_RETURN"),
	}
	a.windows(handle)
	for i, level := range threadNames {
		a.threads[i] = int32(get(level))
	}
	for t, name := range typeNames {
		if name != "" {
			a.types[t] = handle(name)
		}
	}
	for op, name := range opNames {
		if name != "" {
			a.ops[op] = handle(name)
		}
	}
	for code, class := range classes {
		if class != "" {
			a.classes[int32(code)] = transport.Class("MPI_ERR_" + class)
		}
	}
	return a, missing
}

// threadNames are MPI's thread levels, in rising order.
var threadNames = [4]string{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"}

// rankToC is a rank as C has it; tagToC and fromC translate tags and statuses.
func (a *abi) rankToC(r int) uintptr {
	switch r {
	case transport.AnySource:
		return uintptr(a.anySource)
	case transport.ProcNull:
		return uintptr(a.procNull)
	}
	return uintptr(r)
}

func (a *abi) tagToC(tag int) uintptr {
	if tag == transport.AnyTag {
		return uintptr(a.anyTag)
	}
	return uintptr(tag)
}

// fromC reads the status of a receive or a probe.
func (a *abi) fromC(s *status) transport.Status {
	st := transport.Status{Source: int(s[a.source]), Tag: int(s[a.tag]), Cancelled: a.cancelled(s)}
	switch s[a.source] {
	case a.procNull:
		st.Source = transport.ProcNull
	case a.anySource:
		st.Source = transport.AnySource
	}
	if s[a.tag] == a.anyTag {
		st.Tag = transport.AnyTag
	}
	if !st.Cancelled {
		st.Bytes = a.receivedBytes(s)
	}
	return st
}
