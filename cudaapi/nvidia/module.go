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
	d.params.Clear() // other functions may get its functions' handles
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
