//go:build linux && (amd64 || arm64)

package nvidia

import (
	"runtime"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/clib"
)

// launchConfig is CUlaunchConfig and the attributes that it points to.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      uintptr
	attrs       uintptr
	count       uint32
	_           uint32
	attr        [5]launchAttribute
}

// launchAttribute is CUlaunchAttribute.
type launchAttribute struct {
	id    int32
	_     int32
	value [16]int32
}

// Kinds of a CUlaunchAttribute.
const (
	attrCooperative   = 2
	attrCluster       = 4
	attrProgrammatic  = 6
	attrPriority      = 8
	attrMemSyncDomain = 10
)

func (k *launchConfig) add(id int32, value ...int32) {
	a := &k.attr[k.count]
	a.id = id
	copy(a.value[:], value)
	k.count++
}

// configured is the launch as cuLaunchKernelEx takes it.
func configured(l *driver.Launch) *launchConfig {
	k := &launchConfig{
		grid: [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, block: [3]uint32{l.Block.X, l.Block.Y, l.Block.Z},
		shared: l.SharedBytes, stream: uintptr(l.Stream),
	}
	if l.Cooperative {
		k.add(attrCooperative, 1)
	}
	if a := l.Attributes; a != nil {
		if a.Cluster != (driver.Dim3{}) {
			k.add(attrCluster, int32(a.Cluster.X), int32(a.Cluster.Y), int32(a.Cluster.Z))
		}
		if a.Programmatic {
			k.add(attrProgrammatic, 1)
		}
		if a.SetPriority {
			k.add(attrPriority, a.Priority)
		}
		if a.RemoteDomain {
			k.add(attrMemSyncDomain, 1)
		}
	}
	k.attrs = pin(&k.attr[0])
	return k
}

// Launch passes the arguments as one packed buffer, in place.
func (d *Driver) Launch(c driver.Context, l *driver.Launch) error {
	if l.Cooperative || l.Attributes != nil {
		return d.launchEx(c, l)
	}
	err := d.hot(c, l.Stream, cuLaunchKernel, &clib.Frame{Args: [...]uintptr{
		uintptr(l.Function), uintptr(l.Grid.X), uintptr(l.Grid.Y), uintptr(l.Grid.Z),
		uintptr(l.Block.X), uintptr(l.Block.Y), uintptr(l.Block.Z), uintptr(l.SharedBytes), uintptr(l.Stream), 0, packed(l)}})
	runtime.KeepAlive(l)
	return err
}

// packed is a launch's arguments as CUDA's extra takes them.
func packed(l *driver.Launch) uintptr {
	if len(l.Params) == 0 {
		return 0
	}
	const bufferPointer, bufferSize, end = 1, 2, 0
	x := &l.Scratch
	x[5] = uintptr(len(l.Params))
	x[0], x[1], x[2], x[3], x[4] = bufferPointer, pin(&l.Params[0]), bufferSize, pin(&x[5]), end
	return pin(&x[0])
}

// launchEx launches with attributes. It passes each argument's place: while a stream
// is captured, cooperative launches are refused with packed arguments (an H200 under
// driver 580 says CUDA_ERROR_INVALID_VALUE, and the capture is invalid).
func (d *Driver) launchEx(c driver.Context, l *driver.Launch) error {
	var kernelParams, extra uintptr
	places := d.places(c, l)
	if places != nil {
		kernelParams = pin(&places[0])
	} else {
		extra = packed(l)
	}
	k := configured(l)
	err := d.on(c, l.Stream, cuLaunchKernelEx, pin(k), uintptr(l.Function), kernelParams, extra)
	runtime.KeepAlive(k)
	runtime.KeepAlive(places)
	runtime.KeepAlive(l)
	return err
}

// places are where a launch's arguments are, each; nil if that is not known, as before
// CUDA 12.4.
func (d *Driver) places(c driver.Context, l *driver.Launch) (list []uintptr) {
	known, ok := d.params.Load(l.Function)
	if !ok {
		params, err := d.FunctionParams(c, l.Function)
		if err != nil {
			return nil
		}
		known, _ = d.params.LoadOrStore(l.Function, params)
	}
	for _, p := range known.([]driver.Param) {
		if int(p.Offset+p.Size) > len(l.Params) {
			return nil // CUDA says what is wrong
		}
		list = append(list, pin(&l.Params[p.Offset]))
	}
	return list
}
