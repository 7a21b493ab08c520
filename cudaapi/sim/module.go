package sim

import (
	"bytes"
	"debug/elf"
	"errors"

	"fmt"
	"slices"
	"strings"
	"unsafe"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/hostcxx"
	"gocuda/cudaapi/ptx"
)

// loaded is a compiled image in this process.
type loaded struct {
	hostcxx.Library
	base, end uintptr // where its segments lie
	tlsSize   uint64
	tlsOff    uint64  // of the anchor in the thread-local block
	sites     int     // places in the code that remember what they access
	observed  bool    // it tells who orders what: order.go
	counted   bool    // it tells what its threads do: count.go
	variables *loaded // the image whose variables it uses; nil: its own
	run, tls  uintptr
	symbols   []elf.Symbol
	described []kernelInfo
}

// image is where its variables lie.
func (l *loaded) image() [2]uint64 {
	if l.variables != nil {
		l = l.variables
	}
	return [2]uint64{uint64(l.base), uint64(l.end)}
}

// kernelInfo describes a kernel or another name that the source asked for.
type kernelInfo struct {
	name     string
	symbol   string
	address  uintptr
	describe kernelABI
	params   []driver.Param
	kernel   bool
}

// kernelABI has the layout of gocuda::Kernel in include/sim/kernel.h.
type kernelABI struct {
	name, function, body, params uintptr
	nparams                      uint64
	threads                      uint32      // by __launch_bounds__, or 0
	cluster                      driver.Dim3 // by __cluster_dims__, or zero
	shared                       uint64      // bytes that lie before dynamic shared memory, of PTX
}

// maxThreads is how many threads a block may have.
func (k *kernelInfo) maxThreads() int {
	if k.describe.threads == 0 {
		return maxThreads
	}
	return min(maxThreads, int(k.describe.threads))
}

type module struct {
	id     driver.Module
	ctx    *context
	code   *loaded
	global map[string]*allocation
	funcs  []driver.Function
	image  []byte     // the file's
	source string     // of lines, where races are looked for
	inGo   bool       // which is Go
	watch  observable // as races are looked for
	count  observable // as it is counted
}

type function struct {
	id     driver.Function
	mod    *module
	kernel *kernelInfo
	shared int // dynamic shared memory allowed, bytes
}

// load makes an image part of the process.
func load(image []byte) (*loaded, error) {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, fmt.Errorf("not an image for simulated devices: %w", err)
	}
	l := &loaded{}
	if l.symbols, err = f.Symbols(); err != nil {
		return nil, fmt.Errorf("an image without symbols: %w", err)
	}
	var size uint64
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			size = max(size, p.Vaddr+p.Memsz)
		case elf.PT_TLS:
			l.tlsSize = p.Memsz
		}
	}
	if l.Library, err = hostcxx.Load(image); err != nil {
		return nil, err
	}
	var describe uintptr
	for _, s := range []struct {
		name string
		to   *uintptr
	}{{"gocuda_run", &l.run}, {"gocuda_tls", &l.tls}, {"gocuda_describe", &describe}} {
		if *s.to, err = l.Symbol(s.name); err != nil {
			l.Close()
			return nil, fmt.Errorf("not an image for simulated devices: %w", err)
		}
	}
	for _, s := range l.symbols {
		switch s.Name {
		case "gocuda_run":
			l.base = l.run - uintptr(s.Value)
			l.end = l.base + uintptr(size)
		case tlsAnchor:
			l.tlsOff = s.Value
		case "gocuda_observed":
			l.observed = true
		case "gocuda_counted":
			l.counted = true
		case "gocuda_sites":
			l.sites = int(s.Value)
		}
	}
	sizes, err := l.Symbol("gocuda_sizes")
	if n := (*[3]uint64)(pointer(sizes)); err != nil || n[0] != uint64(unsafe.Offsetof(launchABI{}.counted)) || n[1] > workerSize || n[2] > blockSize {
		l.Close()
		return nil, errors.New("an image of another version of this package: compile it again")
	}
	at := map[uintptr]string{}
	for _, s := range l.symbols {
		if t := elf.ST_TYPE(s.Info); s.Section != elf.SHN_UNDEF && (t == elf.STT_FUNC || t == elf.STT_OBJECT) {
			at[l.base+uintptr(s.Value)] = s.Name
		}
	}
	for i := uintptr(0); ; i++ {
		k := kernelInfo{}
		if call(describe, i, address(&k.describe)) == 0 {
			break
		}
		k.name, k.address = goString(k.describe.name), k.describe.function
		k.symbol, k.kernel = at[k.address], k.describe.body != 0
		k.params = slices.Clone(unsafe.Slice((*driver.Param)(pointer(k.describe.params)), k.describe.nparams))
		l.described = append(l.described, k)
	}
	return l, nil
}

// goString copies a C string.
func goString(p uintptr) string {
	n := uintptr(0)
	for *(*byte)(pointer(p + n)) != 0 {
		n++
	}
	return string(bytesAt(p, uint64(n)))
}

// ModuleLoad loads a compiled image into a context. Each context has its own
// variables.
func (m *Driver) ModuleLoad(c driver.Context, image []byte) (driver.Module, error) {
	const call = "cuModuleLoadData"
	if ptx.IsText(image) {
		var err error
		if image, err = m.assembled(image); err != nil {
			return 0, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, err := m.usable(call, c)
	if err != nil {
		return 0, err
	}
	l, err := load(image)
	if err != nil {
		return 0, fail(call, driver.ErrInvalidImage, "%v", err)
	}
	mod := &module{id: driver.Module(m.handle()), ctx: ctx, code: l, global: map[string]*allocation{}, image: image}
	m.modules[mod.id], ctx.modules[mod.id] = mod, mod
	return mod.id, nil
}

// ModuleUnload waits for the context's work and unloads the module. Nothing is
// launched from it meanwhile.
func (m *Driver) ModuleUnload(c driver.Context, id driver.Module) error {
	const call = "cuModuleUnload"
	m.mu.Lock()
	ctx, err := m.context(call, c)
	var mod *module
	if err == nil {
		mod, err = ctx.module(call, id)
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	m.forget(mod)
	last := ctx.last()
	m.mu.Unlock()
	m.waitAll(last, nil) //nolint:errcheck // it cannot be interrupted
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unload(mod)
	return ctx.failed(call)
}

// forget makes a module unknown: nothing is launched from it any more. m.mu is held.
func (m *Driver) forget(mod *module) {
	delete(m.modules, mod.id)
	delete(mod.ctx.modules, mod.id)
	for _, f := range mod.funcs {
		delete(m.funcs, f)
	}
}

// unload gives a module's memory back, which nothing uses any more. m.mu is held.
func (m *Driver) unload(mod *module) {
	for _, a := range mod.global {
		m.space.free(a)
	}
	mod.code.Close()
	mod.watch.close()
	mod.count.close()
}

// module is a module that a call names with its context.
func (m *Driver) module(call string, c driver.Context, id driver.Module) (*module, error) {
	ctx, err := m.usable(call, c)
	if err != nil {
		return nil, err
	}
	return ctx.module(call, id)
}

func (c *context) module(call string, id driver.Module) (*module, error) {
	if mod := c.modules[id]; mod != nil {
		return mod, nil
	}
	return nil, fail(call, driver.ErrInvalidHandle, "the module is not loaded in this context")
}

// ModuleFunctions are the symbols of the module's kernels.
func (m *Driver) ModuleFunctions(c driver.Context, id driver.Module) ([]string, error) {
	const call = "cuModuleEnumerateFunctions"
	m.mu.Lock()
	defer m.mu.Unlock()
	mod, err := m.module(call, c, id)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range mod.code.described {
		if k.kernel && !slices.Contains(names, k.symbol) {
			names = append(names, k.symbol)
		}
	}
	return names, nil
}

// ModuleFunction finds a kernel by its symbol.
func (m *Driver) ModuleFunction(c driver.Context, id driver.Module, symbol string) (driver.Function, error) {
	const call = "cuModuleGetFunction"
	m.mu.Lock()
	defer m.mu.Unlock()
	mod, err := m.module(call, c, id)
	if err != nil {
		return 0, err
	}
	for _, f := range mod.funcs {
		if m.funcs[f].kernel.symbol == symbol {
			return f, nil
		}
	}
	for i := range mod.code.described {
		if k := &mod.code.described[i]; k.kernel && k.symbol == symbol {
			f := &function{id: driver.Function(m.handle()), mod: mod, kernel: k, shared: max(0, maxShared-mod.code.sharedBytes(k))}
			m.funcs[f.id] = f
			mod.funcs = append(mod.funcs, f.id)
			return f.id, nil
		}
	}
	return 0, fail(call, driver.ErrNotFound, "no kernel with the symbol %s", symbol)
}

// ModuleGlobal finds a __device__ or __constant__ variable.
func (m *Driver) ModuleGlobal(c driver.Context, id driver.Module, symbol string) (driver.Ptr, uint64, error) {
	const call = "cuModuleGetGlobal"
	m.mu.Lock()
	defer m.mu.Unlock()
	mod, err := m.module(call, c, id)
	if err != nil {
		return 0, 0, err
	}
	if a := mod.global[symbol]; a != nil {
		return driver.Ptr(a.base), a.size, nil
	}
	for _, s := range mod.code.symbols {
		if s.Name == symbol && elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Size > 0 && s.Section != elf.SHN_UNDEF {
			// The variable is the module's; copies know it as device memory.
			a := &allocation{base: mod.code.base + uintptr(s.Value), size: s.Size, kind: driver.MemoryDevice, device: mod.ctx.dev.id, ctx: mod.ctx}
			m.space.register(a)
			mod.global[symbol] = a
			return driver.Ptr(a.base), a.size, nil
		}
	}
	return 0, 0, fail(call, driver.ErrNotFound, "no variable with the symbol %s", symbol)
}

// function is a kernel that a call names with its context.
func (m *Driver) function(call string, c driver.Context, id driver.Function) (*function, error) {
	ctx, err := m.usable(call, c)
	if err != nil {
		return nil, err
	}
	f := m.funcs[id]
	switch {
	case f == nil:
		return nil, fail(call, driver.ErrInvalidHandle, "the kernel's module is not loaded")
	case f.mod.ctx != ctx:
		return nil, fail(call, driver.ErrInvalidHandle, "the kernel is loaded on device %d, not on device %d", f.mod.ctx.dev.id, ctx.dev.id)
	}
	return f, nil
}

// FunctionParams is where the kernel's parameters lie.
func (m *Driver) FunctionParams(c driver.Context, id driver.Function) ([]driver.Param, error) {
	const call = "cuFuncGetParamInfo"
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.function(call, c, id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(f.kernel.params), nil
}

// FunctionAttribute answers for the simulated code: what registers and local
// memory a GPU's compiler would use is not known, and typical figures stand
// for it.
func (m *Driver) FunctionAttribute(c driver.Context, id driver.Function, a driver.FunctionAttribute) (int, error) {
	const call = "cuFuncGetAttribute"
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.function(call, c, id)
	if err != nil {
		return 0, err
	}
	switch a {
	case driver.FuncMaxThreadsPerBlock:
		return f.kernel.maxThreads(), nil
	case driver.FuncSharedBytes:
		return f.mod.code.sharedBytes(f.kernel), nil
	case driver.FuncConstBytes, driver.FuncLocalBytes:
		return 0, nil
	case driver.FuncRegisters:
		return typicalRegisters, nil
	case driver.FuncPTXVersion, driver.FuncBinaryVersion:
		return m.profile.Major*10 + m.profile.Minor, nil
	case driver.FuncMaxDynamicShared:
		return f.shared, nil
	}
	return 0, fail(call, driver.ErrInvalidValue, "attribute %d", a)
}

const typicalRegisters = 32

// sharedBytes is a kernel's static shared memory: its own variables, and those
// of functions that are no kernels, which it may call.
func (l *loaded) sharedBytes(k *kernelInfo) int {
	n := k.describe.shared
	for _, s := range l.symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_TLS || s.Name == tlsAnchor {
			continue
		}
		others := slices.ContainsFunc(l.described, func(o kernelInfo) bool {
			return o.kernel && o.symbol != k.symbol && strings.HasPrefix(s.Name, localPrefix(o.symbol))
		})
		if !others {
			n += s.Size
		}
	}
	return int(n)
}

const tlsAnchor = "_ZL17gocuda_tls_anchor"

// localPrefix begins the symbols of a function's static variables.
func localPrefix(symbol string) string {
	if plain, ok := strings.CutPrefix(symbol, "_Z"); ok {
		return "_ZZ" + plain + "E"
	}
	return fmt.Sprintf("_ZZ%d%sE", len(symbol), symbol)
}

// SetFunctionAttribute sets how much dynamic shared memory launches may ask
// for.
func (m *Driver) SetFunctionAttribute(c driver.Context, id driver.Function, a driver.FunctionAttribute, v int) error {
	const call = "cuFuncSetAttribute"
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.function(call, c, id)
	if err != nil {
		return err
	}
	if a != driver.FuncMaxDynamicShared || v < 0 || v > maxSharedOptin-f.mod.code.sharedBytes(f.kernel) {
		return fail(call, driver.ErrInvalidValue, "attribute %d = %d", a, v)
	}
	f.shared = v
	return nil
}

// MaxActiveBlocks is how many blocks of a kernel an SM holds at a time.
func (m *Driver) MaxActiveBlocks(c driver.Context, id driver.Function, threads int, shared uint64) (int, error) {
	const call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.function(call, c, id)
	if err != nil {
		return 0, err
	}
	if threads < 1 {
		return 0, fail(call, driver.ErrInvalidValue, "%d threads in a block", threads)
	}
	if threads > maxThreads { // whatever the kernel's launch bounds are
		return 0, nil
	}
	return m.profile.blocksPerSM(threads, shared+uint64(f.mod.code.sharedBytes(f.kernel))), nil
}

func (p *Profile) blocksPerSM(threads int, shared uint64) int {
	threads = (threads + 31) / 32 * 32
	n := min(maxBlocksPerSM, maxThreadsPerSM/threads, 65536/(threads*typicalRegisters))
	// Each block's shared memory costs 1 KiB more.
	return min(n, int(uint64(p.SharedPerSM)/(shared+1024)))
}
