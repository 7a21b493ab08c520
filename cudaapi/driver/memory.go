package driver

// MemOp is one of the operations of StreamBatchMemOp (CUstreamBatchMemOpParams).
type MemOp struct {
	Kind  MemOpKind
	Addr  Ptr       // of a word that the device can reach, aligned to its size
	Value uint64    // to wait for or to write; the low half of it for a 32-bit word
	Wait  WaitFlags // of a wait
}

// MemOpKind is a CUstreamBatchMemOpType.
type MemOpKind uint32

const (
	MemOpWaitValue32  MemOpKind = 1
	MemOpWriteValue32 MemOpKind = 2
	MemOpWaitValue64  MemOpKind = 4
	MemOpWriteValue64 MemOpKind = 5
)

// MaxMemOps is how many operations one batch may have at most.
const MaxMemOps = 255

// Places that managed memory can be at beside a device's own.
const (
	// Host is the CPU's memory, where a device is asked for (CU_DEVICE_CPU).
	Host Device = -1
	// Nowhere is the answer where there is no one place (CU_DEVICE_INVALID).
	Nowhere Device = -2
)

// Advice is a CUmem_advise: how a range of managed memory will be used.
type Advice uint32

const (
	// AdviseReadMostly lets each reader have a copy; a write drops the copies.
	AdviseReadMostly   Advice = 1
	UnadviseReadMostly Advice = 2
	// AdvisePreferredLocation keeps the memory at a place where it can.
	AdvisePreferredLocation   Advice = 3
	UnadvisePreferredLocation Advice = 4
	// AdviseAccessedBy keeps the memory mapped for a device, without moving it.
	AdviseAccessedBy   Advice = 5
	UnadviseAccessedBy Advice = 6
)

// RangeAttribute is a CUmem_range_attribute: what holds for all of a range of
// managed memory.
type RangeAttribute uint32

const (
	RangeReadMostly           RangeAttribute = 1 // 1 or 0
	RangePreferredLocation    RangeAttribute = 2 // an ordinal, Host or Nowhere
	RangeLastPrefetchLocation RangeAttribute = 4 // an ordinal, Host or Nowhere
)

// PoolPointer is stream-ordered memory of a shared pool as another process can
// import it (CUmemPoolPtrExportData).
type PoolPointer [64]byte
