// Package gpu is what kernels written in Go say that Go has no word for: the
// thread's place in its block and grid, barriers, atomics, warps, shared memory.
// The names are CUDA's.
//
// The package is for code that is compiled for devices: cuda.CompileGo, and the
// %%kernel cells of a notebook. Called anywhere else, its functions panic.
package gpu

// Dim3 is a place or a size in three dimensions.
type Dim3 struct{ X, Y, Z int }

// The thread's place in its block, the block's place in the grid, and the sizes
// of both. A kernel reads them; it cannot assign them.
var (
	ThreadIdx Dim3
	BlockIdx  Dim3
	BlockDim  Dim3
	GridDim   Dim3
)

// WarpSize is the number of lanes of a warp.
const WarpSize = 32

// FullMask is the mask of all lanes of a warp.
const FullMask uint32 = 0xffffffff

// Integer, Float and Number are the types that atomics and shuffles take.
type (
	Integer interface {
		~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
	}
	Float interface {
		~float32 | ~float64
	}
	Number interface{ Integer | Float }
)

// Float16 is a number of 16 bits in IEEE's format (CUDA's __half), BFloat16 the upper
// half of a float32 (__nv_bfloat16). In a kernel they have the operators of float32,
// constants and conversions; each result is rounded to 16 bits, to the nearest, ties
// to even. A slice of them takes a buffer of cuda.Float16 or cuda.BFloat16. Outside
// of kernels they only stand for these formats: there cuda.ToFloat16 and its like
// convert.
type (
	Float16  float32
	BFloat16 float32
)

// AtomicOption is a scope or an order of an atomic operation. Without any its scope
// is the device, and it orders nothing but itself.
type AtomicOption int

// The scopes are the threads among which an operation is atomic.
const (
	BlockScope AtomicOption = iota + 1
	DeviceScope
	SystemScope // all devices and the host
)

// The orders: what was written before a Release is seen by who reads its value with
// an Acquire.
const (
	Relaxed AtomicOption = iota + 11
	Acquire
	Release
	AcquireRelease
	SequentiallyConsistent
)

// Group is threads of a warp that work together: give its Mask to Shfl, Ballot and the
// others.
type Group struct {
	Mask  uint32 // its lanes
	First int    // its first lane
	Rank  int    // the thread's place in it, from 0
	Size  int    // its threads
	Index int    // its place among the block's groups
	Count int    // of these
}

func outside(name string) string {
	return "gpu." + name + " was called outside of a kernel: it has a meaning in functions that cuda.CompileGo or a %%kernel cell compiles"
}

// SyncThreads is the barrier of the block: __syncthreads.
func SyncThreads() { panic(outside("SyncThreads")) }

// SyncThreadsCount is the barrier, and the number of threads whose ok is true.
func SyncThreadsCount(ok bool) int { panic(outside("SyncThreadsCount")) }

// SyncThreadsAnd is the barrier, and whether ok is true in all threads.
func SyncThreadsAnd(ok bool) bool { panic(outside("SyncThreadsAnd")) }

// SyncThreadsOr is the barrier, and whether ok is true in any thread.
func SyncThreadsOr(ok bool) bool { panic(outside("SyncThreadsOr")) }

// SyncWarp is the barrier of the lanes of the warp that mask names.
func SyncWarp(mask uint32) { panic(outside("SyncWarp")) }

// SyncGrid is the barrier of all threads of a launch, which all blocks must fit on the
// device for: launches of a kernel that calls it are cooperative.
func SyncGrid() { panic(outside("SyncGrid")) }

// SyncCluster is the barrier of all threads of a cluster's blocks: see cuda.Clusters.
// What they wrote to shared memory before it is seen after it.
func SyncCluster() { panic(outside("SyncCluster")) }

// ClusterRank is the block's number in its cluster, ClusterSize the number of blocks
// of it: 1 where the launch asked for no clusters.
func ClusterRank() int { panic(outside("ClusterRank")) }

// ClusterSize is the number of blocks of the cluster.
func ClusterSize() int { panic(outside("ClusterSize")) }

// ClusterShared is p, which points to shared memory of this block, in the shared memory
// of the cluster's block of that rank. That block must have begun, and must not end
// before the pointer was used last: SyncCluster sees to both.
func ClusterShared[T any](p *T, rank int) *T { panic(outside("ClusterShared")) }

// CopyAsync copies *src, in device memory, to *dst, in shared memory, without waiting:
// cp.async where the size is 4, 8 or a multiple of 16 bytes and devices have it, else
// a plain copy. WaitCopies waits for it.
func CopyAsync[T any](dst, src *T) { panic(outside("CopyAsync")) }

// CommitCopies makes a batch of the thread's copies since the last one:
// __pipeline_commit.
func CommitCopies() { panic(outside("CommitCopies")) }

// WaitCopies waits for the thread's batches but the last n, a constant:
// __pipeline_wait_prior. Other threads see what was copied after a barrier.
func WaitCopies(n int) { panic(outside("WaitCopies")) }

// ThreadFence orders this thread's writes for the threads of the device.
func ThreadFence() { panic(outside("ThreadFence")) }

// ThreadFenceBlock orders this thread's writes for the threads of its block.
func ThreadFenceBlock() { panic(outside("ThreadFenceBlock")) }

// ThreadFenceSystem orders this thread's writes for all devices and the host.
func ThreadFenceSystem() { panic(outside("ThreadFenceSystem")) }

// Clock64 counts cycles of the multiprocessor.
func Clock64() int64 { panic(outside("Clock64")) }

// Nanosleep suspends the thread for about so many nanoseconds.
func Nanosleep(ns uint32) { panic(outside("Nanosleep")) }

// Shared is a variable of type T, most often an array, that the threads of the
// block share. Each place in the source that calls Shared has one of its own. Its
// contents are undefined at first.
func Shared[T any]() *T { panic(outside("Shared")) }

// DynamicShared is the block's dynamic shared memory as n elements of type T. Its
// size is set by cuda.SharedMemory; all calls give the same memory.
func DynamicShared[T any](n int) []T { panic(outside("DynamicShared")) }

// AtomicAdd adds v to *p, and returns what was there. Options, constants, are a scope
// and an order. Of Float16 and BFloat16 there is this one, among the threads of a
// device.
func AtomicAdd[T Number](p *T, v T, options ...AtomicOption) T { panic(outside("AtomicAdd")) }

// AtomicSub subtracts v from *p, and returns what was there.
func AtomicSub[T Integer](p *T, v T, options ...AtomicOption) T { panic(outside("AtomicSub")) }

// AtomicInc adds one to *p, or makes it 0 where it is limit or more, and returns what
// was there.
func AtomicInc(p *uint32, limit uint32, options ...AtomicOption) uint32 { panic(outside("AtomicInc")) }

// AtomicDec subtracts one from *p, or makes it limit where it is 0 or more than limit,
// and returns what was there.
func AtomicDec(p *uint32, limit uint32, options ...AtomicOption) uint32 { panic(outside("AtomicDec")) }

// AtomicMin stores the smaller of *p and v, and returns what was there. A NaN is
// neither smaller nor greater.
func AtomicMin[T Number](p *T, v T, options ...AtomicOption) T { panic(outside("AtomicMin")) }

// AtomicMax stores the greater of *p and v, and returns what was there.
func AtomicMax[T Number](p *T, v T, options ...AtomicOption) T { panic(outside("AtomicMax")) }

// AtomicExch stores v, and returns what was there.
func AtomicExch[T Number](p *T, v T, options ...AtomicOption) T { panic(outside("AtomicExch")) }

// AtomicCAS stores v if *p is old, and returns what was there.
func AtomicCAS[T Integer](p *T, old, v T, options ...AtomicOption) T { panic(outside("AtomicCAS")) }

// AtomicAnd stores *p & v, and returns what was there.
func AtomicAnd[T Integer](p *T, v T, options ...AtomicOption) T { panic(outside("AtomicAnd")) }

// AtomicOr stores *p | v, and returns what was there.
func AtomicOr[T Integer](p *T, v T, options ...AtomicOption) T { panic(outside("AtomicOr")) }

// AtomicXor stores *p ^ v, and returns what was there.
func AtomicXor[T Integer](p *T, v T, options ...AtomicOption) T { panic(outside("AtomicXor")) }

// AtomicLoad returns *p, read at once.
func AtomicLoad[T Number](p *T, options ...AtomicOption) T { panic(outside("AtomicLoad")) }

// AtomicStore sets *p at once.
func AtomicStore[T Number](p *T, v T, options ...AtomicOption) { panic(outside("AtomicStore")) }

// ThreadRank is the thread's number in its block, GridRank in the grid of GridSize
// threads.
func ThreadRank() int { panic(outside("ThreadRank")) }

// GridRank is the thread's number in the grid: BlockIdx.X*BlockDim.X + ThreadIdx.X,
// where blocks and grid have one dimension.
func GridRank() int { panic(outside("GridRank")) }

// GridSize is the number of threads of the grid.
func GridSize() int { panic(outside("GridSize")) }

// Tile is the thread's part of its block, cut into groups of size threads: 1, 2, 4,
// 8, 16 or 32.
func Tile(size int) Group { panic(outside("Tile")) }

// Coalesced is the lanes of the warp that run now.
func Coalesced() Group { panic(outside("Coalesced")) }

// LaneID is the thread's number in its warp.
func LaneID() int { panic(outside("LaneID")) }

// ActiveMask is the mask of the lanes that run now: __activemask.
func ActiveMask() uint32 { panic(outside("ActiveMask")) }

// Shfl is v as lane src has it: __shfl_sync. All lanes of mask must call it.
func Shfl[T Number](mask uint32, v T, src int) T { panic(outside("Shfl")) }

// ShflUp is v as the lane delta below has it.
func ShflUp[T Number](mask uint32, v T, delta int) T { panic(outside("ShflUp")) }

// ShflDown is v as the lane delta above has it.
func ShflDown[T Number](mask uint32, v T, delta int) T { panic(outside("ShflDown")) }

// ShflXor is v as the lane has it whose number differs by the bits of lanes.
func ShflXor[T Number](mask uint32, v T, lanes int) T { panic(outside("ShflXor")) }

// Ballot is the mask of the lanes whose ok is true.
func Ballot(mask uint32, ok bool) uint32 { panic(outside("Ballot")) }

// All says whether ok is true in all lanes of mask.
func All(mask uint32, ok bool) bool { panic(outside("All")) }

// Any says whether ok is true in any lane of mask.
func Any(mask uint32, ok bool) bool { panic(outside("Any")) }

// MatchAny is the mask of the lanes that have the same v.
func MatchAny[T Number](mask uint32, v T) uint32 { panic(outside("MatchAny")) }

// MatchAll is mask if all its lanes have the same v, else 0.
func MatchAll[T Number](mask uint32, v T) uint32 { panic(outside("MatchAll")) }

// ReduceAdd is the sum of the lanes' values, which all lanes get. Of a whole warp it
// is reckoned in pairs, else lane by lane.
func ReduceAdd[T Number](mask uint32, v T) T { panic(outside("ReduceAdd")) }

// ReduceMin is the least of the lanes' values.
func ReduceMin[T Number](mask uint32, v T) T { panic(outside("ReduceMin")) }

// ReduceMax is the greatest of the lanes' values.
func ReduceMax[T Number](mask uint32, v T) T { panic(outside("ReduceMax")) }

// ReduceAnd is the lanes' values joined by &.
func ReduceAnd[T Integer](mask uint32, v T) T { panic(outside("ReduceAnd")) }

// ReduceOr is the lanes' values joined by |.
func ReduceOr[T Integer](mask uint32, v T) T { panic(outside("ReduceOr")) }

// ReduceXor is the lanes' values joined by ^.
func ReduceXor[T Integer](mask uint32, v T) T { panic(outside("ReduceXor")) }

// Load2 is x[2*i] and x[2*i+1], read at once where they lie so that this can be done.
func Load2[T any](x []T, i int) [2]T { panic(outside("Load2")) }

// Load4 is x[4*i] to x[4*i+3], read at once where they lie so that this can be done.
func Load4[T any](x []T, i int) [4]T { panic(outside("Load4")) }

// Store2 writes x[2*i] and x[2*i+1], as Load2 reads them.
func Store2[T any](x []T, i int, v [2]T) { panic(outside("Store2")) }

// Store4 writes x[4*i] to x[4*i+3], as Load4 reads them.
func Store4[T any](x []T, i int, v [4]T) { panic(outside("Store4")) }

// Sqrt, Rsqrt, Exp, Log, Sin, Cos, Tanh and Pow compute in the precision of T, where
// package math has float64 only. Their errors are in the CUDA C++ Programming
// Guide, Mathematical Functions.
func Sqrt[T Float](x T) T { panic(outside("Sqrt")) }

// Rsqrt is 1/Sqrt(x).
func Rsqrt[T Float](x T) T { panic(outside("Rsqrt")) }

// Exp is e to the power of x.
func Exp[T Float](x T) T { panic(outside("Exp")) }

// Log is the natural logarithm.
func Log[T Float](x T) T { panic(outside("Log")) }

// Sin is the sine of x radians.
func Sin[T Float](x T) T { panic(outside("Sin")) }

// Cos is the cosine of x radians.
func Cos[T Float](x T) T { panic(outside("Cos")) }

// Tanh is the hyperbolic tangent.
func Tanh[T Float](x T) T { panic(outside("Tanh")) }

// Pow is x to the power of y.
func Pow[T Float](x, y T) T { panic(outside("Pow")) }

// Abs is the absolute value.
func Abs[T Float](x T) T { panic(outside("Abs")) }

// FMA is x*y + z, rounded once.
func FMA[T Float](x, y, z T) T { panic(outside("FMA")) }
