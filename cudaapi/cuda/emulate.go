package cuda

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"unsafe"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/gokernel/emulate"
)

// Emulate runs a kernel that was written in Go on the CPU, in this process and
// without a device, and returns when it is done. A slice of Go stands for a buffer,
// and is changed in place; a pointer of Go for a pointer; other arguments are those
// of Launch. Grid(1) and Block(1) run one thread.
//
// Threads run one after another, and take turns at barriers: the same launch does
// the same each time. Blocks run one after another, unless the launch is
// cooperative. A thread that panics ends, the others go on, and the error, a
// [*KernelPanic], names kernel, block, thread and line; so does the error of threads
// that wait for others that do not come, and of a divergent barrier or warp operation,
// which not all threads come to that CUDA wants there. [SharedMemory], [Clusters] and [Cooperative]
// count as in launches; with [FindRaces] races are errors, too; [Count] counts accesses. The module's variables are the emulation's own.
func (k *Kernel) Emulate(grid GridDim, block BlockDim, args ...any) error {
	const name = "Kernel.Emulate"
	code := k.code.mod.goCode
	if code == nil || len(code.Kernels) == 0 {
		return misuse(driver.ErrNotSupported, name, nil, "%s is not written in Go: cuda.CompileGo and %%%%kernel make kernels that can be emulated", k.code.name)
	}
	if !grid.valid() || !block.valid() {
		return misuse(driver.ErrInvalidValue, name, nil, "grid %v and block %v must be positive in each direction", grid, block)
	}
	if n := block.X * block.Y * block.Z; n > 1024 {
		return misuse(driver.ErrInvalidValue, name, nil, "block %v has %d threads; at most 1024 are allowed", block, n)
	}
	sig := k.code.sig
	if len(args) != len(sig.Params) {
		return misuse(driver.ErrInvalidValue, name, nil, "%s: func %s", takes(k.code.name, len(sig.Params), len(args)), k.signature())
	}
	l := emulate.Launch{Grid: [3]int{grid.X, grid.Y, grid.Z}, Block: [3]int{block.X, block.Y, block.Z}, Shared: k.shared, Cooperative: k.cooperative, Races: k.races, Counts: k.counts, Stop: stop()}
	if a := k.attributes; a != nil && a.Cluster != (driver.Dim3{}) {
		l.Cluster = [3]int{int(a.Cluster.X), int(a.Cluster.Y), int(a.Cluster.Z)}
		for i := range 3 {
			if l.Cluster[i] < 1 || l.Grid[i]%l.Cluster[i] != 0 {
				return misuse(driver.ErrInvalidClusterSize, name, nil, "the grid %v is no multiple of clusters of %v", grid, a.Cluster)
			}
		}
	}
	memory := make([][]uint64, len(args)) // of the arguments, aligned
	for i, arg := range args {
		q := &sig.Params[i]
		memory[i] = make([]uint64, (q.Type.Size+15)/8)
		p := unsafe.Pointer(unsafe.SliceData(memory[i]))
		l.Params = append(l.Params, p)
		if wrong := emulated(q, unsafe.Slice((*byte)(p), q.Type.Size), arg); wrong != "" {
			return misuse(driver.ErrInvalidValue, name, nil, "argument %d (%s): %s", i+1, q.Name, wrong)
		}
		l.Areas = append(l.Areas, area(arg))
	}
	for i := range code.Kernels {
		if code.Kernels[i].Name != k.code.name {
			continue
		}
		err := code.Emulate(i, l)
		runtime.KeepAlive(args)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, emulate.ErrStopped):
			return ErrInterrupted
		}
		return &KernelPanic{Message: "panic in an emulated kernel: " + err.Error(), Device: -1}
	}
	return misuse(driver.ErrNotFound, name, nil, "there is no kernel %q", k.code.name)
}

// area is the memory of an argument that is a slice or a pointer of Go.
func area(arg any) emulate.Area {
	v := reflect.ValueOf(arg)
	switch v.Kind() {
	case reflect.Slice:
		return emulate.Area{Start: v.UnsafePointer(), Elements: v.Len(), Size: int(v.Type().Elem().Size())}
	case reflect.Pointer:
		return emulate.Area{Start: v.UnsafePointer(), Elements: 1, Size: int(v.Type().Elem().Size())}
	}
	return emulate.Area{}
}

// emulated packs an argument of an emulated launch; a text says what is wrong with it.
func emulated(q *signature.Param, dst []byte, arg any) string {
	p := &param{name: q.Name, typ: q.Type.Name, kind: q.Kind, size: q.Type.Size, elem: elements(q.Elem), elemName: q.Elem.Name, elemSize: q.Elem.Size}
	switch arg.(type) {
	case *Buffer, *HostBuffer:
		return "an emulated kernel takes slices of Go: Download gives one"
	}
	v := reflect.ValueOf(arg)
	if !v.IsValid() {
		return p.put(dst, nil, nil)
	}
	t := v.Type()
	switch {
	case t.Kind() == reflect.Slice && q.Kind == signature.Slice, t.Kind() == reflect.Pointer && q.Kind == signature.Pointer:
		if hasPointers(t.Elem()) {
			return t.String() + " holds Go pointers, which mean nothing on a device"
		}
		if int(t.Elem().Size()) != q.Elem.Size || !elementsLike(t.Elem().Kind(), q.Elem.Kind) {
			return fmt.Sprintf("%s was given; it %s", t, p.wants())
		}
		header := [3]uint64{uint64(v.Pointer())}
		if t.Kind() == reflect.Slice {
			header[1], header[2] = uint64(v.Len()), uint64(v.Len())
		}
		copy(dst, unsafe.Slice((*byte)(unsafe.Pointer(&header)), 24))
		return ""
	case t.Kind() == reflect.Slice:
		return t.String() + " was given for " + p.typ
	}
	return p.put(dst, arg, nil)
}

// elementsLike says whether Go's elements of a kind can stand for a kernel's.
func elementsLike(k reflect.Kind, want signature.Kind) bool {
	switch want {
	case signature.Float:
		return k == reflect.Float32 || k == reflect.Float64
	case signature.Int, signature.Uint:
		return k >= reflect.Int && k <= reflect.Uintptr
	case signature.Bool:
		return k == reflect.Bool
	}
	return true
}
