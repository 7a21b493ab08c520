//go:build linux && (amd64 || arm64)

package nvidia

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/clib"
	"gocuda/cudaapi/internal/headers"
)

// Functions of NVRTC.
const (
	nvrtcVersion = iota
	nvrtcGetErrorString
	nvrtcCreateProgram
	nvrtcDestroyProgram
	nvrtcAddNameExpression
	nvrtcCompileProgram
	nvrtcGetProgramLogSize
	nvrtcGetProgramLog
	nvrtcGetCUBINSize
	nvrtcGetCUBIN
	nvrtcGetPTXSize
	nvrtcGetPTX
	nvrtcGetLoweredName
)

var nvrtcNames = []string{
	nvrtcVersion:           "nvrtcVersion",
	nvrtcGetErrorString:    "nvrtcGetErrorString",
	nvrtcCreateProgram:     "nvrtcCreateProgram",
	nvrtcDestroyProgram:    "nvrtcDestroyProgram",
	nvrtcAddNameExpression: "nvrtcAddNameExpression",
	nvrtcCompileProgram:    "nvrtcCompileProgram",
	nvrtcGetProgramLogSize: "nvrtcGetProgramLogSize",
	nvrtcGetProgramLog:     "nvrtcGetProgramLog",
	nvrtcGetCUBINSize:      "nvrtcGetCUBINSize",
	nvrtcGetCUBIN:          "nvrtcGetCUBIN",
	nvrtcGetPTXSize:        "nvrtcGetPTXSize",
	nvrtcGetPTX:            "nvrtcGetPTX",
	nvrtcGetLoweredName:    "nvrtcGetLoweredName",
}

// missingCore finds that a header of the CUDA C++ Core Libraries is missing: pip's
// packages have them apart from the other headers.
var missingCore = regexp.MustCompile(`(?:cannot|could not) open source file "(?:nv/target|cuda/std/|cub/|thrust/)`)

// missingMatrices finds that the headers of matrices are missing, which pip's packages have
// apart from the others, too.
var missingMatrices = regexp.MustCompile(`(?:cannot|could not) open source file "(?:mma\.h|crt/mma\.h)`)

// unopened finds that a header is missing.
var unopened = regexp.MustCompile(`: catastrophic error: (?:cannot|could not) open source file "([^"]+)".*`)

// refusedHeaders has a log say of headers for code of the host what they are.
func refusedHeaders(log string) string {
	made := unopened.ReplaceAllStringFunc(log, func(text string) string {
		if says := headers.Refusal(unopened.FindStringSubmatch(text)[1]); says != "" {
			return ": error: " + says
		}
		return text
	})
	if made != log {
		made = strings.ReplaceAll(made, "1 catastrophic error detected", "1 error detected")
	}
	return made
}

// nvrtcCompilation is NVRTC's code for errors in the source.
const nvrtcCompilation = 6

// Compiler is NVRTC.
type Compiler struct {
	lib          *clib.Library
	major, minor int
	include      []string
}

var compiler struct {
	sync.Mutex
	c *Compiler
}

// OpenCompiler loads NVRTC, once per process. newest is the CUDA version of the
// driver (1000*major + 10*minor), or 0: an NVRTC of a later major version
// makes code that the driver refuses, so it is taken only if there is no other.
// GOCUDA_NVRTC names the library or its folder.
func OpenCompiler(newest int) (*Compiler, error) {
	compiler.Lock()
	defer compiler.Unlock()
	if compiler.c != nil {
		return compiler.c, nil
	}
	paths := nvrtcPaths()
	var first *Compiler
	for i := range paths {
		lib, err := clib.Open("NVRTC, the CUDA C++ compiler library (install a CUDA toolkit, or pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl, or set GOCUDA_NVRTC),", paths[i:], nvrtcNames)
		if err != nil {
			if first == nil {
				return nil, err
			}
			break
		}
		c := &Compiler{lib: lib}
		v := new([2]int32)
		if err := c.call(nvrtcVersion, pin(&v[0]), pin(&v[1])); err != nil {
			return nil, err
		}
		c.major, c.minor = int(v[0]), int(v[1])
		if newest == 0 || c.major <= newest/1000 {
			first = c
			break
		}
		if first == nil {
			first = c
		}
	}
	first.include = includePaths(first.lib.Path())
	first.loadBuiltins()
	compiler.c = first
	return first, nil
}

// loadBuiltins loads the library that NVRTC opens by its bare name when it first
// compiles: outside the loader's search path it would not find it.
func (c *Compiler) loadBuiltins() {
	if !filepath.IsAbs(c.lib.Path()) {
		return
	}
	paths := clib.NewestFirst(filepath.Join(filepath.Dir(c.lib.Path()), "libnvrtc-builtins.so*"))
	// Where it cannot be loaded, NVRTC's own error names it.
	_, _ = clib.Open("NVRTC's builtins", paths, nil)
}

// Path is the file that NVRTC was loaded from.
func (c *Compiler) Path() string { return c.lib.Path() }

// Version is NVRTC's, such as "13.0".
func (c *Compiler) Version() string { return fmt.Sprintf("%d.%d", c.major, c.minor) }

// Include lists the folders of CUDA's own headers that every compilation sees.
func (c *Compiler) Include() []string { return c.include }

// call runs a function of NVRTC. Pointers among args are to heap memory that
// the caller keeps alive.
func (c *Compiler) call(f int, args ...uintptr) error {
	code, err := c.code(f, args...)
	if err == nil && code != 0 {
		text := clib.Call(c.lib.Addr(nvrtcGetErrorString), uintptr(code))
		return &driver.Error{Code: driver.ErrInvalidSource, Call: c.lib.Name(f), Detail: goString(uint64(text))}
	}
	return err
}

func (c *Compiler) code(f int, args ...uintptr) (int32, error) {
	a := c.lib.Addr(f)
	if a == 0 {
		return 0, &driver.Error{Code: driver.ErrNotSupported, Call: c.lib.Name(f), Detail: c.lib.Path() + " has no such function"}
	}
	r := clib.Call(a, args...)
	return int32(r), nil
}

// Compile makes a CUBIN for an architecture such as "sm_90". An error in the
// source is a [driver.Error] of code ErrInvalidSource whose detail is the log.
func (c *Compiler) Compile(src *driver.Source, arch string) (*driver.Compiled, error) {
	options := append([]string{}, src.Options...)
	if !hasOption(options, "-arch", "--gpu-architecture") {
		options = append(options, "-arch="+arch)
	}
	if !hasOption(options, "-std", "--std") {
		options = append(options, "-std=c++17")
	}
	if !hasOption(options, "-default-device", "--device-as-default-execution-space") {
		options = append(options, "-default-device") // what is not marked can be used by kernels, too
	}
	if !hasOption(options, "-device-int128", "--device-int128") {
		options = append(options, "-device-int128") // as nvcc on Linux
	}
	options = append(options, "--pre-include="+preludeName)
	for _, dir := range c.include {
		options = append(options, "-I"+dir)
	}
	var mem cStrings
	prog := new(uintptr)
	texts, names := c.given(&mem)
	if err := c.call(nvrtcCreateProgram, pin(prog), mem.add(src.Code), mem.add(src.Name), uintptr(len(texts)), pin(&texts[0]), pin(&names[0])); err != nil {
		return nil, err
	}
	defer func() { _ = c.call(nvrtcDestroyProgram, pin(prog)) }()
	for _, n := range src.Names {
		if err := c.call(nvrtcAddNameExpression, *prog, mem.add(n)); err != nil {
			return nil, err
		}
	}
	argv := make([]uintptr, len(options))
	for i, o := range options {
		argv[i] = mem.add(o)
	}
	code, err := c.code(nvrtcCompileProgram, *prog, uintptr(len(argv)), pin(&argv[0]))
	runtime.KeepAlive(argv)
	if err != nil {
		return nil, err
	}
	log, err := c.bytes(*prog, nvrtcGetProgramLogSize, nvrtcGetProgramLog)
	if err != nil {
		return nil, err
	}
	out := &driver.Compiled{Log: strings.TrimSpace(cString(log)), Lowered: map[string]string{}}
	if code != 0 {
		detail := refusedHeaders(out.Log)
		if code != nvrtcCompilation || detail == "" {
			text := clib.Call(c.lib.Addr(nvrtcGetErrorString), uintptr(code))
			detail = strings.TrimSpace(goString(uint64(text)) + "\n" + detail)
		}
		if missingCore.MatchString(out.Log) {
			detail += "\nthe headers of CUDA's C++ core libraries are missing: pip install " + c.pip("nvidia-cuda-cccl")
		}
		if missingMatrices.MatchString(out.Log) {
			in := "nvidia-cuda-crt"
			if c.major <= 12 {
				in = "nvidia-cuda-nvcc"
			}
			detail += "\n<mma.h> and what it includes are missing: pip install " + c.pip("nvidia-cuda-runtime") + " " + c.pip(in)
		}
		return nil, &driver.Error{Code: driver.ErrInvalidSource, Call: "nvrtcCompileProgram", Detail: detail}
	}
	size, text := nvrtcGetCUBINSize, nvrtcGetCUBIN
	if virtualArch(options) {
		size, text = nvrtcGetPTXSize, nvrtcGetPTX
	}
	if out.Image, err = c.bytes(*prog, size, text); err != nil {
		return nil, err
	}
	for _, n := range src.Names {
		lowered := new(uint64)
		if err := c.call(nvrtcGetLoweredName, *prog, mem.add(n), pin(lowered)); err != nil {
			return nil, err
		}
		out.Lowered[n] = goString(*lowered)
	}
	runtime.KeepAlive(&mem)
	runtime.KeepAlive([2][]uintptr{texts, names})
	return out, nil
}

// virtualArch says whether the options ask for PTX instead of a GPU's own code.
func virtualArch(options []string) bool {
	for _, o := range options {
		if name, arch, _ := strings.Cut(o, "="); (name == "-arch" || name == "--gpu-architecture") && strings.HasPrefix(arch, "compute_") {
			return true
		}
	}
	return false
}

// pip is the name of a package of NVIDIA's for this version of CUDA.
func (c *Compiler) pip(name string) string {
	if c.major <= 12 {
		return fmt.Sprintf("%s-cu%d", name, c.major)
	}
	return name
}

// given are the headers that NVRTC is handed, texts and names.
func (c *Compiler) given(mem *cStrings) (texts, names []uintptr) {
	add := func(list map[string]string) {
		for name, text := range list {
			texts, names = append(texts, mem.add(text)), append(names, mem.add(name))
		}
	}
	add(standardHeaders)
	add(coreHeaders)
	add(hostHeaders)
	if len(c.include) == 0 {
		add(cudaHeaders)
	}
	return texts, names
}

// bytes fetches a result whose size has a function of its own.
func (c *Compiler) bytes(prog uintptr, size, get int) ([]byte, error) {
	n := new(uint64)
	if err := c.call(size, prog, pin(n)); err != nil || *n == 0 {
		return nil, err
	}
	b := make([]byte, *n)
	err := c.call(get, prog, pin(&b[0]))
	return b, err
}

func hasOption(options []string, names ...string) bool {
	for _, o := range options {
		for _, n := range names {
			if o == n || strings.HasPrefix(o, n+"=") {
				return true
			}
		}
	}
	return false
}

// cStrings keeps the C strings of a call alive.
type cStrings struct{ kept [][]byte }

func (m *cStrings) add(s string) uintptr {
	b := append([]byte(s), 0)
	m.kept = append(m.kept, b)
	return pin(&b[0])
}

// Compile compiles for d's architecture, or takes the result from the cache on
// disk.
func (d *Driver) Compile(dev driver.Device, src *driver.Source) (*driver.Compiled, error) {
	c, err := OpenCompiler(d.version)
	if err != nil {
		return nil, &driver.Error{Code: driver.ErrSharedObjectInit, Call: "nvrtcCreateProgram", Detail: err.Error()}
	}
	major, err := d.DeviceAttribute(driver.ComputeCapabilityMajor, dev)
	if err != nil {
		return nil, err
	}
	minor, err := d.DeviceAttribute(driver.ComputeCapabilityMinor, dev)
	if err != nil {
		return nil, err
	}
	return c.cached(src, fmt.Sprintf("sm_%d%d", major, minor))
}

// PTX compiles for a virtual architecture, such as compute_90, with the lines of the source.
// It needs no GPU, and NVRTC of CUDA 12 or later.
func PTX(src *driver.Source, arch string) (*driver.Compiled, error) {
	c, err := OpenCompiler(0)
	if err == nil && c.major < 12 {
		err = fmt.Errorf("NVRTC %s (%s) is older than CUDA 12", c.Version(), c.Path())
	}
	if err != nil {
		return nil, &driver.Error{Code: driver.ErrSharedObjectInit, Call: "nvrtcCreateProgram", Detail: err.Error()}
	}
	with := *src
	with.Options = append([]string{"-lineinfo"}, src.Options...)
	return c.cached(&with, arch)
}
