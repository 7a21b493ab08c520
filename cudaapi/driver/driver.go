// Package driver is the seam between CUDA objects and what carries them out.
//
// [Driver] speaks the terms of the CUDA driver API, at the level of checked
// calls: every method returns an error that carries CUDA's name and code, and
// every call names all that it reads, writes and orders. Package cuda is
// written once above it. Package nvidia implements it on libcuda, package sim
// on simulated devices; a decorator may wrap either to record calls or to
// inject faults.
//
// Every method may be called from any goroutine: the context is an argument,
// and an implementation makes it current where it has to.
package driver

import (
	"context"
	"time"
)

// Handles. The zero value is "none", but for Stream, where zero is the legacy
// default stream of the context that the call names.
type (
	// Device is an ordinal, 0 to DeviceCount-1.
	Device int32
	// Context is a device's primary context.
	Context uintptr
	// Stream is a CUstream.
	Stream uintptr
	// Event is a CUevent.
	Event uintptr
	// Module is a CUmodule: loaded device code.
	Module uintptr
	// Function is a CUfunction: a kernel in a module.
	Function uintptr
	// MemPool is a CUmemoryPool.
	MemPool uintptr
	// Ptr is an address in the unified address space: device memory or host
	// memory. PointerAttributes tells which.
	Ptr uint64
)

// The two default streams, as CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
const (
	StreamDefault   Stream = 0
	StreamLegacy    Stream = 1
	StreamPerThread Stream = 2
)

// StreamFlags are CUstream_flags.
type StreamFlags uint32

const (
	// StreamBlocking streams wait for, and are waited for by, the legacy
	// default stream (CU_STREAM_DEFAULT).
	StreamBlocking StreamFlags = 0
	// StreamNonBlocking streams do not (CU_STREAM_NON_BLOCKING).
	StreamNonBlocking StreamFlags = 1
)

// EventFlags are CUevent_flags.
type EventFlags uint32

const (
	EventBlockingSync  EventFlags = 1
	EventDisableTiming EventFlags = 2
	EventInterprocess  EventFlags = 4
)

// HostAllocFlags are the flags of cuMemHostAlloc and cuMemHostRegister.
type HostAllocFlags uint32

const (
	HostPortable      HostAllocFlags = 1
	HostDeviceMap     HostAllocFlags = 2
	HostWriteCombined HostAllocFlags = 4
)

// WaitFlags are CUstreamWaitValue_flags.
type WaitFlags uint32

const (
	WaitValueGEQ WaitFlags = 0
	WaitValueEQ  WaitFlags = 1
	WaitValueAND WaitFlags = 2
	WaitValueNOR WaitFlags = 3
)

// Compares reports whether a word is what a wait waits for.
func Compares[T uint32 | uint64](word, v T, f WaitFlags) bool {
	switch f {
	case WaitValueEQ:
		return word == v
	case WaitValueAND:
		return word&v != 0
	case WaitValueNOR:
		return ^(word | v) != 0
	}
	return word-v <= ^T(0)>>1 // at least v, counted round
}

// Dim3 counts blocks or threads in x, y and z.
type Dim3 struct{ X, Y, Z uint32 }

// IPCMemHandle and IPCEventHandle travel between processes of one machine.
type (
	IPCMemHandle   [64]byte
	IPCEventHandle [64]byte
)

// MemoryType says what an address points to.
type MemoryType uint32

const (
	// MemoryUnregistered is host memory that CUDA does not know: pageable.
	MemoryUnregistered MemoryType = 0
	// MemoryHost is pinned host memory.
	MemoryHost   MemoryType = 1
	MemoryDevice MemoryType = 2
	// MemoryManaged migrates between host and devices.
	MemoryManaged MemoryType = 3
)

// PointerInfo is what the driver knows of an address.
type PointerInfo struct {
	Type   MemoryType
	Device Device  // of device and pinned memory
	Ctx    Context // 0 where the memory has none (stream-ordered memory)
	Base   Ptr     // start of the allocation
	Size   uint64  // bytes of the allocation
}

// Param is one kernel parameter, as the compiled code lays it out.
type Param struct{ Offset, Size uint32 }

// Source is CUDA C++ to compile.
type Source struct {
	Name   string // shown in diagnostics, as a file name
	Shown  string // shown in reports in its place, if not empty
	Code   string // CUDA C++
	OnHost string // what simulated devices take in place of it, if anything
	// Lined, if not nil, gives CUDA C++ of the same kernels with the lines of what they were
	// made of, for whoever looks at what their threads do. These are those of Shown.
	Lined   func() string
	Options []string // as NVRTC takes them, such as "-std=c++17" or "-DN=4"
	// Names are name expressions to be instantiated and kept, such as
	// "axpy<float>".
	Names []string
	// Until stops the compiler when it ends, if that can be stopped; it may be nil.
	Until context.Context
}

// Compiled is device code, ready to load.
type Compiled struct {
	Image   []byte            // CUBIN, PTX or what the simulator loads
	Log     string            // the compiler's warnings
	Lowered map[string]string // name expression to symbol
	Cached  bool              // taken from the cache on disk
}

// Driver carries out CUDA. Each method names the driver API call that it
// stands for. Errors are *[Error].
//
// Methods that wait for a device take stop: when stop is closed they return
// [ErrInterrupted] at once, and what they waited for goes on. A nil stop never
// interrupts.
type Driver interface {
	// Name is "nvidia" or "sim".
	Name() string
	// Version is CUDA's version as 1000*major + 10*minor (cuDriverGetVersion).
	Version() (int, error)

	// Devices.

	DeviceCount() (int, error)                                      // cuDeviceGetCount
	DeviceName(d Device) (string, error)                            // cuDeviceGetName
	DeviceUUID(d Device) ([16]byte, error)                          // cuDeviceGetUuid
	DeviceTotalMem(d Device) (uint64, error)                        // cuDeviceTotalMem, bytes
	DeviceAttribute(a Attribute, d Device) (int, error)             // cuDeviceGetAttribute
	CanAccessPeer(d, peer Device) (bool, error)                     // cuDeviceCanAccessPeer
	P2PAttribute(a P2PAttribute, src, dst Device) (int, error)      // cuDeviceGetP2PAttribute
	PrimaryRetain(d Device) (Context, error)                        // cuDevicePrimaryCtxRetain
	PrimaryRelease(d Device) error                                  // cuDevicePrimaryCtxRelease
	PrimaryReset(d Device) error                                    // cuDevicePrimaryCtxReset
	EnablePeerAccess(c, peer Context) error                         // cuCtxEnablePeerAccess
	DisablePeerAccess(c, peer Context) error                        // cuCtxDisablePeerAccess
	CtxSynchronize(c Context, stop <-chan struct{}) error           // cuCtxSynchronize
	StreamPriorityRange(c Context) (least, greatest int, err error) // cuCtxGetStreamPriorityRange
	MemInfo(c Context) (free, total uint64, err error)              // cuMemGetInfo, bytes

	// Memory. Sizes are bytes.

	MemAlloc(c Context, n uint64) (Ptr, error)                // cuMemAlloc
	MemFree(c Context, p Ptr) error                           // cuMemFree
	MemAllocManaged(c Context, n uint64) (Ptr, error)         // cuMemAllocManaged, attached to all streams
	MemAllocAsync(c Context, n uint64, s Stream) (Ptr, error) // cuMemAllocAsync
	MemAllocFromPoolAsync(c Context, n uint64, p MemPool, s Stream) (Ptr, error)
	MemFreeAsync(c Context, p Ptr, s Stream) error                  // cuMemFreeAsync
	DefaultMemPool(d Device) (MemPool, error)                       // cuDeviceGetDefaultMemPool
	MemPoolCreate(d Device, shared bool) (MemPool, error)           // cuMemPoolCreate; shared if other processes may import it
	MemPoolDestroy(p MemPool) error                                 // cuMemPoolDestroy
	MemPoolTrimTo(p MemPool, keep uint64) error                     // cuMemPoolTrimTo
	MemPoolAttribute(p MemPool, a PoolAttribute) (uint64, error)    // cuMemPoolGetAttribute
	SetMemPoolAttribute(p MemPool, a PoolAttribute, v uint64) error // cuMemPoolSetAttribute
	MemPoolSetAccess(p MemPool, d Device, readWrite bool) error     // cuMemPoolSetAccess
	MemPoolExport(p MemPool) (fd int, err error)                    // cuMemPoolExportToShareableHandle; the caller closes the file descriptor
	MemPoolImport(fd int) (MemPool, error)                          // cuMemPoolImportFromShareableHandle; fd stays the caller's
	MemPoolExportPointer(c Context, p Ptr) (PoolPointer, error)     // cuMemPoolExportPointer
	MemPoolImportPointer(c Context, p MemPool, x PoolPointer) (Ptr, error)
	HostAlloc(c Context, n uint64, f HostAllocFlags) (Ptr, error)                // cuMemHostAlloc, and cleared
	HostFree(c Context, p Ptr) error                                             // cuMemFreeHost
	HostRegister(c Context, p Ptr, n uint64, f HostAllocFlags) error             // cuMemHostRegister
	HostUnregister(c Context, p Ptr) error                                       // cuMemHostUnregister
	PointerAttributes(c Context, p Ptr) (PointerInfo, error)                     // cuPointerGetAttributes
	MemPrefetchAsync(c Context, p Ptr, n uint64, to Device, s Stream) error      // cuMemPrefetchAsync; managed memory, to a device or Host
	MemAdvise(c Context, p Ptr, n uint64, a Advice, at Device) error             // cuMemAdvise
	MemRangeAttribute(c Context, p Ptr, n uint64, a RangeAttribute) (int, error) // cuMemRangeGetAttribute

	// Copies and fills. dst and src are any addresses; host memory that is not
	// registered is pageable. The forms without a stream are the synchronous
	// ones of the API, ordered on the legacy default stream.

	Memcpy(c Context, dst, src Ptr, n uint64) error                                             // cuMemcpy
	MemcpyAsync(c Context, dst, src Ptr, n uint64, s Stream) error                              // cuMemcpyAsync
	MemcpyPeer(dst Ptr, dstCtx Context, src Ptr, srcCtx Context, n uint64) error                // cuMemcpyPeer
	MemcpyPeerAsync(dst Ptr, dstCtx Context, src Ptr, srcCtx Context, n uint64, s Stream) error // cuMemcpyPeerAsync; s belongs to either context
	Memcpy2D(c Context, p *Copy2D) error                                                        // cuMemcpy2D
	Memcpy2DAsync(c Context, p *Copy2D, s Stream) error                                         // cuMemcpy2DAsync
	// Memset fills n elements of width 1, 2 or 4 bytes (cuMemsetD8, D16, D32).
	Memset(c Context, dst Ptr, value uint32, width int, n uint64) error
	MemsetAsync(c Context, dst Ptr, value uint32, width int, n uint64, s Stream) error
	// Memset2DAsync fills h rows of w elements, pitch bytes from one row to the
	// next (cuMemsetD2D8Async, D16, D32).
	Memset2DAsync(c Context, dst Ptr, pitch uint64, value uint32, width int, w, h uint64, s Stream) error

	// Arrays, textures and surfaces.

	ArrayCreate(c Context, a *ArrayDesc) (Array, error)                                 // cuArray3DCreate
	ArrayDestroy(c Context, a Array) error                                              // cuArrayDestroy
	ArrayDesc(c Context, a Array) (ArrayDesc, error)                                    // cuArray3DGetDescriptor
	MemAllocPitch(c Context, width, height uint64, element uint32) (Ptr, uint64, error) // cuMemAllocPitch; it gives the pitch
	Memcpy3D(c Context, p *Copy3D) error                                                // cuMemcpy3D
	Memcpy3DAsync(c Context, p *Copy3D, s Stream) error                                 // cuMemcpy3DAsync
	TexObjectCreate(c Context, r *Resource, t *TextureDesc) (TexObject, error)          // cuTexObjectCreate
	TexObjectDestroy(c Context, t TexObject) error                                      // cuTexObjectDestroy
	TexObjectResource(c Context, t TexObject) (Resource, error)                         // cuTexObjectGetResourceDesc
	SurfObjectCreate(c Context, a Array) (SurfObject, error)                            // cuSurfObjectCreate
	SurfObjectResource(c Context, s SurfObject) (Array, error)                          // cuSurfObjectGetResourceDesc
	SurfObjectDestroy(c Context, s SurfObject) error                                    // cuSurfObjectDestroy

	// Streams.

	StreamCreate(c Context, f StreamFlags, priority int) (Stream, error) // cuStreamCreateWithPriority
	StreamGetFlags(c Context, s Stream) (StreamFlags, error)             // cuStreamGetFlags
	StreamDestroy(c Context, s Stream) error                             // cuStreamDestroy: queued work still runs
	StreamQuery(c Context, s Stream) (done bool, err error)              // cuStreamQuery
	StreamSynchronize(c Context, s Stream, stop <-chan struct{}) error   // cuStreamSynchronize
	StreamWaitEvent(c Context, s Stream, e Event) error                  // cuStreamWaitEvent; the event may be another device's
	LaunchHostFunc(c Context, s Stream, f func()) error                  // cuLaunchHostFunc
	StreamWaitValue32(c Context, s Stream, p Ptr, v uint32, f WaitFlags) error
	StreamWaitValue64(c Context, s Stream, p Ptr, v uint64, f WaitFlags) error
	StreamWriteValue32(c Context, s Stream, p Ptr, v uint32) error
	StreamWriteValue64(c Context, s Stream, p Ptr, v uint64) error
	StreamBatchMemOp(c Context, s Stream, ops []MemOp) error // cuStreamBatchMemOp: in order, at the cost of one call

	// Events.

	EventCreate(c Context, f EventFlags) (Event, error)              // cuEventCreate
	EventDestroy(c Context, e Event) error                           // cuEventDestroy
	EventRecord(c Context, e Event, s Stream) error                  // cuEventRecord
	EventQuery(c Context, e Event) (done bool, err error)            // cuEventQuery: one never recorded is done
	EventSynchronize(c Context, e Event, stop <-chan struct{}) error // cuEventSynchronize
	EventElapsed(c Context, start, end Event) (time.Duration, error) // cuEventElapsedTime

	// Inter-process communication.

	IPCGetMemHandle(c Context, p Ptr) (IPCMemHandle, error)        // cuIpcGetMemHandle; p is from MemAlloc
	IPCOpenMemHandle(c Context, h IPCMemHandle) (Ptr, error)       // cuIpcOpenMemHandle
	IPCCloseMemHandle(c Context, p Ptr) error                      // cuIpcCloseMemHandle
	IPCGetEventHandle(c Context, e Event) (IPCEventHandle, error)  // cuIpcGetEventHandle
	IPCOpenEventHandle(c Context, h IPCEventHandle) (Event, error) // cuIpcOpenEventHandle

	// Code.

	Compile(d Device, src *Source) (*Compiled, error)                     // NVRTC; the log is in the error
	ModuleLoad(c Context, image []byte) (Module, error)                   // cuModuleLoadData
	ModuleUnload(c Context, m Module) error                               // cuModuleUnload
	ModuleFunctions(c Context, m Module) ([]string, error)                // cuModuleEnumerateFunctions, symbols
	ModuleFunction(c Context, m Module, symbol string) (Function, error)  // cuModuleGetFunction
	ModuleGlobal(c Context, m Module, symbol string) (Ptr, uint64, error) // cuModuleGetGlobal
	FunctionParams(c Context, f Function) ([]Param, error)                // cuFuncGetParamInfo
	FunctionAttribute(c Context, f Function, a FunctionAttribute) (int, error)
	SetFunctionAttribute(c Context, f Function, a FunctionAttribute, v int) error
	MaxActiveBlocks(c Context, f Function, blockThreads int, sharedBytes uint64) (int, error) // cuOccupancyMaxActiveBlocksPerMultiprocessor
	Launch(c Context, l *Launch) error                                                        // cuLaunchKernel, cuLaunchKernelEx
}

// Copy2D copies Height rows of Width bytes; a pitch is the distance in bytes
// from one row to the next.
type Copy2D struct {
	Dst, Src           Ptr
	DstPitch, SrcPitch uint64
	Width, Height      uint64
}
