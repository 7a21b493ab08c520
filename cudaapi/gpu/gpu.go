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

// SyncGrid is the barrier of all threads of a cooperative launch.
func SyncGrid() { panic(outside("SyncGrid")) }

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

// AtomicAdd adds v to *p, and returns what was there. It is atomic among the
// threads of the device.
func AtomicAdd[T Number](p *T, v T) T { panic(outside("AtomicAdd")) }

// AtomicSub subtracts v from *p, and returns what was there.
func AtomicSub[T Integer](p *T, v T) T { panic(outside("AtomicSub")) }

// AtomicMin stores the smaller of *p and v, and returns what was there.
func AtomicMin[T Integer](p *T, v T) T { panic(outside("AtomicMin")) }

// AtomicMax stores the greater of *p and v, and returns what was there.
func AtomicMax[T Integer](p *T, v T) T { panic(outside("AtomicMax")) }

// AtomicExch stores v, and returns what was there.
func AtomicExch[T Number](p *T, v T) T { panic(outside("AtomicExch")) }

// AtomicCAS stores v if *p is old, and returns what was there.
func AtomicCAS[T Integer](p *T, old, v T) T { panic(outside("AtomicCAS")) }

// AtomicAnd stores *p & v, and returns what was there.
func AtomicAnd[T Integer](p *T, v T) T { panic(outside("AtomicAnd")) }

// AtomicOr stores *p | v, and returns what was there.
func AtomicOr[T Integer](p *T, v T) T { panic(outside("AtomicOr")) }

// AtomicXor stores *p ^ v, and returns what was there.
func AtomicXor[T Integer](p *T, v T) T { panic(outside("AtomicXor")) }

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
