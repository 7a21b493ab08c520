//go:build linux && (amd64 || arm64)

package nvidia

import (
	"errors"
	"runtime"
	"unsafe"

	"gocuda/cudaapi/driver"
)

func (d *Driver) ModuleLoad(c driver.Context, image []byte) (driver.Module, error) {
	if len(image) == 0 {
		return 0, &driver.Error{Code: driver.ErrInvalidImage, Call: "cuModuleLoadData", Detail: "the image is empty"}
	}
	image = append(image[:len(image):len(image)], 0) // PTX is a C string
	m, err := d.getIn(c, cuModuleLoadData, pin(&image[0]))
	runtime.KeepAlive(image)
	return driver.Module(m), err
}

func (d *Driver) ModuleUnload(c driver.Context, m driver.Module) error {
	return d.in(c, cuModuleUnload, uintptr(m))
}

func (d *Driver) ModuleFunctions(c driver.Context, m driver.Module) ([]string, error) {
	n, err := d.getIn(c, cuModuleGetFunctionCount, uintptr(m))
	if err != nil || uint32(n) == 0 {
		return nil, err
	}
	functions := make([]uintptr, uint32(n))
	if err := d.in(c, cuModuleEnumerateFunctions, pin(&functions[0]), uintptr(len(functions)), uintptr(m)); err != nil {
		return nil, err
	}
	names := make([]string, len(functions))
	for i, f := range functions {
		p, err := d.getIn(c, cuFuncGetName, f)
		if err != nil {
			return nil, err
		}
		names[i] = goString(p)
	}
	return names, nil
}

func (d *Driver) ModuleFunction(c driver.Context, m driver.Module, symbol string) (driver.Function, error) {
	name := append([]byte(symbol), 0)
	f, err := d.getIn(c, cuModuleGetFunction, uintptr(m), pin(&name[0]))
	runtime.KeepAlive(name)
	return driver.Function(f), err
}

func (d *Driver) ModuleGlobal(c driver.Context, m driver.Module, symbol string) (driver.Ptr, uint64, error) {
	o := getScratch()
	defer putScratch(o)
	name := append([]byte(symbol), 0)
	err := d.in(c, cuModuleGetGlobal, o.at(0), o.at(1), uintptr(m), pin(&name[0]))
	runtime.KeepAlive(name)
	return driver.Ptr(o.word[0]), o.word[1], err
}

func (d *Driver) FunctionParams(c driver.Context, f driver.Function) ([]driver.Param, error) {
	o := getScratch()
	defer putScratch(o)
	var params []driver.Param
	for {
		err := d.in(c, cuFuncGetParamInfo, uintptr(f), uintptr(len(params)), o.at(0), o.at(1))
		if errors.Is(err, driver.ErrInvalidValue) { // past the last
			return params, nil
		}
		if err != nil {
			return nil, err
		}
		params = append(params, driver.Param{Offset: uint32(o.word[0]), Size: uint32(o.word[1])})
	}
}

func (d *Driver) FunctionAttribute(c driver.Context, f driver.Function, a driver.FunctionAttribute) (int, error) {
	v, err := d.getIn(c, cuFuncGetAttribute, uintptr(a), uintptr(f))
	return int(int32(v)), err
}

func (d *Driver) SetFunctionAttribute(c driver.Context, f driver.Function, a driver.FunctionAttribute, v int) error {
	return d.in(c, cuFuncSetAttribute, uintptr(f), uintptr(a), uintptr(v))
}

func (d *Driver) MaxActiveBlocks(c driver.Context, f driver.Function, blockThreads int, sharedBytes uint64) (int, error) {
	v, err := d.getIn(c, cuOccupancyMaxActiveBlocksPerMultiprocessor, uintptr(f), uintptr(blockThreads), uintptr(sharedBytes))
	return int(int32(v)), err
}

// cooperativeLaunch is CUlaunchConfig with one CUlaunchAttribute.
type cooperativeLaunch struct {
	conf struct {
		grid, block [3]uint32
		shared      uint32
		stream      uintptr
		attrs       uintptr
		count       uint32
	}
	attr struct {
		id    int32
		_     int32
		value [16]int32
	}
}

// Launch passes the arguments as one packed buffer, in place.
func (d *Driver) Launch(c driver.Context, l *driver.Launch) error {
	var extra uintptr
	if len(l.Params) > 0 {
		const bufferPointer, bufferSize, end = 1, 2, 0
		x := &l.Scratch
		x[5] = uintptr(len(l.Params))
		x[0], x[1], x[2], x[3], x[4] = bufferPointer, pin(&l.Params[0]), bufferSize, pin(&x[5]), end
		extra = pin(&x[0])
	}
	var err error
	if l.Cooperative {
		const attrCooperative = 2
		a := new(cooperativeLaunch)
		a.attr.id, a.attr.value[0] = attrCooperative, 1
		k := &a.conf
		k.grid, k.block = [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, [3]uint32{l.Block.X, l.Block.Y, l.Block.Z}
		k.shared, k.stream, k.attrs, k.count = l.SharedBytes, uintptr(l.Stream), pin(&a.attr), 1
		err = d.on(c, l.Stream, cuLaunchKernelEx, pin(k), uintptr(l.Function), 0, extra)
		runtime.KeepAlive(a)
	} else {
		err = d.on(c, l.Stream, cuLaunchKernel, uintptr(l.Function), uintptr(l.Grid.X), uintptr(l.Grid.Y), uintptr(l.Grid.Z),
			uintptr(l.Block.X), uintptr(l.Block.Y), uintptr(l.Block.Z), uintptr(l.SharedBytes), uintptr(l.Stream), 0, extra)
	}
	runtime.KeepAlive(l)
	return err
}

// goString copies a C string.
func goString(p uint64) string {
	if p == 0 {
		return ""
	}
	base := *(**byte)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(base), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(base, n))
}
