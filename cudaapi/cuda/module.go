package cuda

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/cuda/internal/xorwow"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/gokernel"
	"gocuda/cudaapi/internal/codecache"
)

// Module is device code: CUDA C++ that was compiled, or a CUBIN or PTX image.
// It is loaded on each device when a kernel of it first runs there, or at once where the
// driver has more to load with it, and compiled again for a device of another
// architecture.
type Module struct {
	sys     *system
	src     *driver.Source // nil for an image
	image   []byte
	log     string
	polls   bool              // see driver.Origin
	device  *Device           // that it was made for
	library bool              // a package of this project made it for itself
	goCode  *gokernel.Program // of source in Go
	kernels []*Kernel
	// templates are the kernel templates of the source.
	templates []string

	mu       sync.Mutex
	compiled map[string]*driver.Compiled // by architecture
	loaded   map[*Device]loadedModule
}

type loadedModule struct {
	h       driver.Module
	epoch   uint32
	globals map[driver.Ptr]*allocation // that buffers were made of
}

// CompileOption is an option of [Compile]: a plain NVRTC option such as
// Flag("-DN=4"), or one of the others here.
type CompileOption func(*compileConfig)

type compileConfig struct {
	name   string
	shown  string
	flags  []string
	exprs  []string
	device *Device

	unchecked bool   // for Go
	cuda      string // CUDA C++ beside Go
	inGo      string // Go beside CUDA C++
	until     context.Context
}

// Flag passes options to the compiler, such as "-std=c++20", "-DN=4",
// "--use_fast_math" or "-I/path/to/headers".
func Flag(options ...string) CompileOption {
	return func(c *compileConfig) { c.flags = append(c.flags, options...) }
}

// SourceName is the file name that the compiler's messages show.
func SourceName(name string) CompileOption { return func(c *compileConfig) { c.name = name } }

// ReportedAs is what reports of races call the source, where that is not its [SourceName].
func ReportedAs(name string) CompileOption { return func(c *compileConfig) { c.shown = name } }

// Instantiate asks for instances of kernel templates, by C++ name expressions
// such as "axpy<float>". Module.Kernel then finds them under that name.
func Instantiate(expressions ...string) CompileOption {
	return func(c *compileConfig) { c.exprs = append(c.exprs, expressions...) }
}

// ForDevice compiles for d first (by default: the current device). Errors are
// found then.
func ForDevice(d *Device) CompileOption { return func(c *compileConfig) { c.device = d } }

// Until stops the compilation when ctx ends, with ctx's cause, where the compiler can be
// stopped: the host's can, NVRTC cannot.
func Until(ctx context.Context) CompileOption { return func(c *compileConfig) { c.until = ctx } }

// curandInclude is the include of cuRAND's device API, which needs no toolkit
// here.
var curandInclude = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[<"]curand(_kernel)?\.h[>"].*$`)

// withHeaders puts this package's own headers in the place of their includes.
func withHeaders(source, name string) string {
	at := curandInclude.FindStringIndex(source)
	if at == nil {
		return source
	}
	next := strings.Count(source[:at[0]], "\n") + 2
	rest := curandInclude.ReplaceAllString(source[at[1]:], "")
	return source[:at[0]] + "#line 1 \"curand_kernel.h\"\n" + xorwow.Header() + fmt.Sprintf("#line %d %q", next, name) + rest
}

// configure reads the options of a compilation, and finds its device.
func configure(name string, options []CompileOption) (conf compileConfig, d *Device, err error) {
	conf.name = name
	for _, o := range options {
		o(&conf)
	}
	if d = conf.device; d == nil {
		d, err = CurrentDevice()
	}
	return conf, d, err
}

// Compile compiles CUDA C++ for the current device (NVRTC on real ones, the
// host's C++ compiler on simulated ones). Kernels may be used by their names as
// in the source; templates must be named by [Instantiate], or be instantiated in
// the source. An error's detail is the compiler's log, with the source's lines.
// Results are cached on disk: in a folder of the user's own, or GOCUDA_CACHE.
//
// "#include <curand_kernel.h>" works without cuRAND: it gives this package's own
// XORWOW generator under cuRAND's names (curandState, curand_init, curand,
// curand_uniform, curand_uniform_double, curand_normal), which draws the same
// numbers.
func Compile(source string, options ...CompileOption) (*Module, error) {
	conf, d, err := configure("kernel.cu", options)
	if err != nil {
		return nil, err
	}
	m := &Module{sys: d.sys, compiled: map[string]*driver.Compiled{}, loaded: map[*Device]loadedModule{}}
	m.src = &driver.Source{Name: conf.name, Shown: conf.shown, Code: withHeaders(source, conf.name), Options: conf.flags}
	if conf.inGo != "" {
		if err := m.callsGo(&conf); err != nil {
			return nil, err
		}
	}
	m.polls = polls.MatchString(source)
	found := signature.Parse(source)
	for _, v := range signature.Variables(source) {
		m.src.Names = append(m.src.Names, "&"+v)
	}
	included := slices.ContainsFunc(conf.flags, func(f string) bool { return strings.HasPrefix(f, "-I") || strings.HasPrefix(f, "--include-path") })
	for _, sig := range found {
		if sig.Declared && !included { // a file that is included may define it
			continue
		}
		if sig.Template() {
			m.templates = append(m.templates, sig.Name)
		} else {
			m.add(sig)
		}
	}
	for _, expr := range conf.exprs {
		i := slices.IndexFunc(found, func(s *signature.Kernel) bool { return s.Instantiate(expr) != nil })
		if i < 0 {
			return nil, misuse(driver.ErrInvalidSource, "cuda.Compile", d, "there is no kernel template for %q; the templates are: %s", expr, names(found, true))
		}
		m.add(found[i].Instantiate(expr))
	}
	err = m.compileFirst(d, conf.until)
	if e, ok := err.(*Error); ok && m.otherNames(found, e.Detail) {
		err = m.compileFirst(d, conf.until)
	}
	if e, ok := err.(*Error); ok {
		e.Detail, e.Hint = ofNames(found, conf.name, e.Detail), join(e.Hint, taken(found, e.Detail))
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// nameMap matches the place of a message about a name that the compiler was given.
var nameMap = regexp.MustCompile(`(?m)^(?:__nv_name_map|gocuda-kernels)\(\d+\)(: error: .*["& ](\w[^"']*)["'].*)`)

// otherNames reports whether the compiler was given names that its log refuses, and others
// can take their places: those of overloaded kernels, which have their parameters, and none
// of variables, for what an #if leaves out is not there.
func (m *Module) otherNames(found []*signature.Kernel, log string) (changed bool) {
	if !nameMap.MatchString(log) {
		return false
	}
	n := len(m.src.Names)
	m.src.Names = slices.DeleteFunc(m.src.Names, func(name string) bool { return strings.HasPrefix(name, "&") })
	changed = len(m.src.Names) < n
	for _, k := range found {
		if k.Overloads == nil || !overloaded(k, log) {
			continue
		}
		i := slices.IndexFunc(m.kernels, func(have *Kernel) bool { return have.code.sig == k })
		m.src.Names = slices.DeleteFunc(m.src.Names, func(name string) bool { return name == k.Name })
		m.kernels = slices.Delete(m.kernels, i, i+1)
		rest := slices.Clone(m.kernels[i:])
		m.kernels = m.kernels[:i]
		for _, o := range k.Overloads {
			m.add(o)
		}
		m.kernels = append(m.kernels, rest...)
		changed = true
	}
	return changed
}

// ofNames writes the lines of kernels in messages about their names.
func ofNames(found []*signature.Kernel, source, log string) string {
	return nameMap.ReplaceAllStringFunc(log, func(line string) string {
		about := nameMap.FindStringSubmatch(line)
		for _, k := range found {
			if k.Name == about[2] {
				return fmt.Sprintf("%s(%d)%s", source, k.Line, about[1])
			}
		}
		return line
	})
}

// compileFirst compiles a new module for the device that it is made for.
func (m *Module) compileFirst(d *Device, until context.Context) error {
	m.src.Until = until
	c, err := m.compile(d)
	m.src.Until = nil
	if err != nil {
		if until != nil && until.Err() != nil {
			return context.Cause(until)
		}
		return err
	}
	m.log = c.Log
	m.made(d)
	return nil
}

// overloaded reports whether a compiler's log says that a kernel shares its name: in NVRTC's
// words, or in g++'s.
func overloaded(k *signature.Kernel, log string) bool {
	return strings.Contains(log, fmt.Sprintf("overloaded function %q", k.Name)) || strings.Contains(log, "'& "+k.Name+"'")
}

// taken says which kernel has the name of a function of CUDA, if a compiler's log reports
// that; "" if none.
func taken(found []*signature.Kernel, log string) string {
	for _, k := range found {
		if overloaded(k, log) {
			return fmt.Sprintf("CUDA has a function called %s too: give the kernel another name", k.Name)
		}
	}
	return ""
}

// KernelNames lists the kernels that CUDA C++ defines, templates aside, in order, as
// [Module.Kernel] takes them. Nothing is compiled, and no device is needed.
func KernelNames(source string) []string {
	var list []string
	for _, k := range signature.Parse(source) {
		if !k.Template() && !k.Declared {
			list = append(list, k.Name)
		}
	}
	return list
}

// names lists the kernels of a source, or its templates.
func names(found []*signature.Kernel, templates bool) string {
	var out []string
	for _, k := range found {
		if k.Template() == templates {
			out = append(out, k.Name)
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

func (m *Module) add(sig *signature.Kernel) {
	m.kernels = append(m.kernels, &Kernel{code: &kernelCode{mod: m, name: sig.Name, sig: sig, on: make([]atomic.Pointer[function], len(m.sys.devices))}})
	if name := expression(sig); sig.Symbol == "" && !slices.Contains(m.src.Names, name) {
		m.src.Names = append(m.src.Names, name)
	}
}

// expression is what names a kernel to the compiler.
func expression(sig *signature.Kernel) string {
	if sig.Expression != "" {
		return sig.Expression
	}
	return sig.Name
}

// Uninstantiated are the kernel templates of the source that have no instance in the module.
func (m *Module) Uninstantiated() []string {
	return slices.DeleteFunc(slices.Clone(m.templates), func(name string) bool {
		return slices.ContainsFunc(m.kernels, func(k *Kernel) bool {
			base, _, _ := strings.Cut(k.code.name, "<")
			base, _, _ = strings.Cut(base, "(")
			return base == name
		})
	})
}

// LoadModule takes device code that is compiled already: a CUBIN, a fat binary
// or PTX. Its kernels go by their symbols; their arguments are checked by size
// only.
func LoadModule(image []byte) (*Module, error) {
	d, err := CurrentDevice()
	if err != nil {
		return nil, err
	}
	m := &Module{sys: d.sys, image: image, loaded: map[*Device]loadedModule{}}
	h, c, err := m.load(d)
	if err != nil {
		return nil, err
	}
	symbols, err := d.drv().ModuleFunctions(c, h)
	if err != nil {
		return nil, d.fail(err)
	}
	slices.Sort(symbols)
	for _, s := range symbols {
		m.kernels = append(m.kernels, &Kernel{code: &kernelCode{mod: m, name: s, on: make([]atomic.Pointer[function], len(m.sys.devices))}})
	}
	m.made(d)
	return m, nil
}

// Source is the CUDA C++ that the module was compiled from, "" for an image. Of a
// module in Go it is what the functions became.
func (m *Module) Source() string {
	if m.src == nil {
		return ""
	}
	return m.src.Code
}

// Kernels are the module's kernels, in the order of the source.
func (m *Module) Kernels() []*Kernel { return slices.Clone(m.kernels) }

// Kernel is the kernel of that name: as in the source, with namespaces, or a
// template's instance as it was asked for.
func (m *Module) Kernel(name string) (*Kernel, error) {
	for _, k := range m.kernels {
		if strings.ReplaceAll(k.code.name, " ", "") == strings.ReplaceAll(strings.TrimPrefix(name, "::"), " ", "") {
			return k, nil
		}
	}
	var have []string
	for _, k := range m.kernels {
		have = append(have, k.code.name)
	}
	hint := ""
	if base, _, _ := strings.Cut(strings.TrimPrefix(name, "::"), "<"); slices.Contains(m.templates, strings.TrimSpace(base)) {
		hint = "; " + base + " is a template: name its instances when the module is compiled, with cuda.Instantiate"
	}
	return nil, misuse(driver.ErrNotFound, "Module.Kernel", nil, "there is no kernel %q; the module has: %s%s", name, strings.Join(have, ", "), hint)
}

// Log is the compiler's warnings, "" if there were none. The first module of a
// process that is asked also says what keeps compiled code from being cached, if
// something does.
func (m *Module) Log() string {
	log := m.log
	for _, note := range codecache.Notes() {
		log = strings.TrimSuffix(log, "\n") + "\nnote: " + note
	}
	return strings.TrimPrefix(log, "\n")
}

// Global is a __device__ or __constant__ variable of the module on d, as a
// buffer of elements of type t: upload to it to set a constant. That of a
// namespace goes by its whole name, such as ns::count.
func (m *Module) Global(d *Device, name string, t Type) (*Buffer, error) {
	h, c, err := m.load(d)
	if err != nil {
		return nil, err
	}
	if !t.valid() {
		return nil, misuse(driver.ErrInvalidValue, "Module.Global", d, "%v is not an element type", t)
	}
	p, bytes, err := d.drv().ModuleGlobal(c, h, m.variable(name, d))
	if err != nil {
		err = d.fail(err)
		if e, ok := err.(*Error); ok && m.src != nil && e.code == driver.ErrNotFound {
			e.Detail, e.Hint = "the module has no variable "+name, m.otherVariables(name)
		}
		return nil, err
	}
	if bytes%uint64(t.Size()) != 0 {
		return nil, misuse(driver.ErrInvalidValue, "Module.Global", d, "%s has %d bytes, not a whole number of %s", name, bytes, t)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.loaded[d]
	if !ok || l.h != h {
		return nil, misuse(driver.ErrInvalidHandle, "Module.Global", d, "the module was unloaded meanwhile")
	}
	a := l.globals[p]
	if a == nil {
		a = &allocation{dev: d, kind: borrowedMemory, ptr: p, bytes: bytes, born: d.epoch.Load()}
		l.globals[p] = a
	}
	return &Buffer{own: &owner{a}, ptr: p, n: int(bytes) / t.Size(), typ: t}, nil
}

// variable is the symbol of a variable in the code for d.
func (m *Module) variable(name string, d *Device) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.src == nil {
		return name
	}
	c, err := m.compile(d)
	if err == nil && c.Lowered["&"+strings.TrimPrefix(name, "::")] != "" {
		return c.Lowered["&"+strings.TrimPrefix(name, "::")]
	}
	return name
}

// otherVariables says which variables may be meant, of those in namespaces.
func (m *Module) otherVariables(name string) string {
	var list []string
	for _, v := range m.src.Names {
		if strings.HasPrefix(v, "&") && strings.HasSuffix(v, "::"+name) {
			list = append(list, v[1:])
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "there is " + strings.Join(list, ", ")
}

// Unload gives the module's code and variables back on all devices
// (cuModuleUnload). Its kernels must be done; used again, they are loaded again,
// with new variables: buffers that [Module.Global] gave before are errors.
func (m *Module) Unload() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kernels {
		for i := range k.code.on {
			k.code.on[i].Store(nil)
		}
	}
	for d, l := range m.loaded {
		delete(m.loaded, d)
		for _, a := range l.globals {
			a.end()
		}
		if l.epoch != d.epoch.Load() {
			continue
		}
		c, err := d.context()
		if err == nil {
			err = d.fail(d.drv().ModuleUnload(c, l.h))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compile gives the code for d's architecture.
func (m *Module) compile(d *Device) (*driver.Compiled, error) {
	major, minor, err := d.ComputeCapability()
	if err != nil {
		return nil, err
	}
	arch := fmt.Sprintf("%d.%d", major, minor)
	if c := m.compiled[arch]; c != nil {
		return c, nil
	}
	c, err := d.drv().Compile(d.id, m.src)
	if err != nil {
		return nil, d.fail(err)
	}
	m.compiled[arch] = c
	return c, nil
}

// load gives the module on d.
func (m *Module) load(d *Device) (driver.Module, driver.Context, error) {
	if d == nil || d.sys != m.sys {
		return 0, 0, misuse(driver.ErrInvalidDevice, "Module", d, "the module was made for another back end")
	}
	c, err := d.context()
	if err != nil {
		return 0, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l, ok := m.loaded[d]; ok && l.epoch == d.epoch.Load() {
		return l.h, c, nil
	}
	image := m.image
	if m.src != nil {
		code, err := m.compile(d)
		if err != nil {
			return 0, 0, err
		}
		image = code.Image
	}
	h, err := d.drv().ModuleLoad(c, image)
	if err != nil {
		return 0, 0, says(d.fail(err), driver.ErrInvalidImage, "%d bytes", len(image))
	}
	if m.goCode != nil {
		if err := m.watch(d, c, h); err != nil {
			return 0, 0, err
		}
	}
	m.loaded[d] = loadedModule{h, d.epoch.Load(), map[driver.Ptr]*allocation{}}
	return h, c, nil
}

// symbol is a kernel's name in the compiled code for d.
func (m *Module) symbol(k *kernelCode, d *Device) (string, error) {
	if k.sig == nil {
		return k.name, nil
	}
	if k.sig.Symbol != "" {
		return k.sig.Symbol, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.compile(d)
	if err != nil {
		return "", err
	}
	return c.Lowered[expression(k.sig)], nil
}

// polls finds words of device code by which what runs at a time tells each other
// things: pointers to volatile memory, fences and atomics of the system, acquire and
// release. Other uses of volatile are not meant.
var polls = regexp.MustCompile(`\bvolatile\s+[\w\s]*\*|\w\s+volatile\s*\*|__threadfence|_system\s*\(|\batomic_ref\b|\bcuda::atomic|\.acquire|\.release|<gocuda/symmetric\.h>`)
