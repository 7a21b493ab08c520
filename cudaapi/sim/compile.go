package sim

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/cpu"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/codecache"
	"gocuda/cudaapi/internal/headers"
	"gocuda/cudaapi/internal/hostcxx"
)

//go:embed include
var includes embed.FS

// eachInclude walks the headers, and those that NVRTC is given, too.
func eachInclude(visit func(files embed.FS, path string, e fs.DirEntry, err error) error) error {
	for _, files := range []embed.FS{includes, headers.Files} {
		err := fs.WalkDir(files, "include", func(path string, e fs.DirEntry, err error) error { return visit(files, path, e, err) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Compiler is the path of the C++ compiler that kernels are compiled with.
func Compiler() (string, error) {
	c, err := findCompiler()
	return c.Path, err
}

func findCompiler() (*hostcxx.Compiler, error) {
	c := hostcxx.Find()
	if c.Err != nil {
		return c, fmt.Errorf("%w: simulated kernels need g++ or clang++; install one, or set CXX", c.Err)
	}
	return c, nil
}

// meta follows the shared object in a compiled image.
type meta struct {
	Log     string
	Lowered map[string]string
	Name    string // of the source
	PTX     string // that the code was made of
}

const metaMark = "\ngocuda-sim-meta:"

// Compile compiles CUDA C++ for device code of this package: by NVRTC and the host's
// compiler, or by this alone, as [Options] say.
func (m *Driver) Compile(d driver.Device, src *driver.Source) (*driver.Compiled, error) {
	const call = "nvrtcCompileProgram"
	if _, err := m.device(call, d); err != nil {
		return nil, err
	}
	cc, err := findCompiler()
	if err != nil {
		return nil, fail(call, driver.ErrFileNotFound, "%v", err)
	}
	onHost := src.OnHost != ""
	if onHost {
		src = &driver.Source{Name: src.Name, Code: src.OnHost, Options: src.Options, Names: src.Names, Until: src.Until}
	}
	name := src.Name
	if name == "" {
		name = "default_program"
	}
	if m.opt.CUDA != "c++" && !onHost {
		c, err := m.compilePTX(cc, name, src)
		if m.opt.CUDA == "ptx" || !errors.Is(err, driver.ErrSharedObjectInit) {
			return c, err
		}
		m.withoutNVRTC.Store(true)
	}
	opts, err := translate(src.Options)
	if err != nil {
		return nil, fail(call, driver.ErrInvalidValue, "%v", err)
	}
	cache, key := codecache.Open("sim"), cacheKey(cc, m.opt.NoCheck, m.profile, name, src)
	kept := cache
	if !codecache.Lasting(src.Code, src.Options) {
		kept = codecache.Cache{}
	}
	b := &build{cc: cc, cache: cache, name: name, src: src, options: opts, check: !m.opt.NoCheck, arch: m.profile.Major*100 + m.profile.Minor*10}
	return b.image(kept, key, nil, func() ([]byte, string, error) { return b.run(src.Names) })
}

// image is what compile makes in a folder of its own, or what is kept under the key. lowered
// are names of kernels that it has beside its own.
func (b *build) image(kept codecache.Cache, key string, lowered map[string]string, compile func() (so []byte, log string, err error)) (*driver.Compiled, error) {
	const call = "nvrtcCompileProgram"
	if c := readCache(kept, key, b.name); c != nil {
		return c, nil
	}
	// Of the ranks of a job, which come here together, one compiles.
	defer kept.Lock(key)()
	if c := readCache(kept, key, b.name); c != nil {
		return c, nil
	}
	var so []byte
	var log string
	err := hostcxx.InWorkFolder(b.cache.Folder(), func(own, dir string) (err error) {
		b.dir, b.include = dir, filepath.Join(own, "include")
		if err = writeIncludes(own); err == nil {
			so, log, err = compile()
		}
		return err
	})
	if err != nil {
		var bad *compileError
		if errors.As(err, &bad) {
			return nil, fail(call, driver.ErrInvalidSource, "%s", bad.log)
		}
		return nil, fail(call, driver.ErrOperatingSystem, "%v", err)
	}
	names, err := lowerNames(so)
	if err != nil {
		return nil, fail(call, driver.ErrInvalidImage, "%v", err)
	}
	maps.Copy(names, lowered)
	md, _ := json.Marshal(meta{codecache.WithoutName(log, b.name), names, b.name, b.ptx})
	image := append(so, metaMark+string(md)...)
	kept.Put(key, image)
	return &driver.Compiled{Image: image, Log: log, Lowered: names}, nil
}

// lowerNames loads an image for a moment to ask for its kernels' symbols.
func lowerNames(so []byte) (map[string]string, error) {
	l, err := load(so)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	names := map[string]string{}
	for _, k := range l.described {
		names[k.name] = k.symbol
	}
	return names, nil
}

func imageMeta(image []byte) (md meta, ok bool) {
	i := bytes.LastIndex(image, []byte(metaMark))
	return md, i >= 0 && json.Unmarshal(image[i+len(metaMark):], &md) == nil
}

// build is one run of the compiler.
type build struct {
	src                *driver.Source
	cc                 *hostcxx.Compiler
	cache              codecache.Cache
	dir, include, name string
	read               string // that the compiler gets, if it is not the source itself
	options            options
	check              bool
	lines              bool // the linker is to say on which
	looks              seen // what the kernels tell
	ptx                string
	arch               int
}

type compileError struct{ log string }

func (e *compileError) Error() string { return e.log }

func (b *build) run(names []string) (so []byte, log string, err error) {
	// The preprocessor sees the names of CUDA's keywords, not their meaning:
	// what it leaves is read for kernels before the compiler sees it.
	text := fmt.Sprintf("# 1 %q\n%s\n", b.name, b.src.Code)
	here, _ := os.Getwd() // the compiler runs in another folder
	args := append([]string{"-E", "-x", "c++", "-std=" + b.options.std, "-I", b.include, "-iquote", here,
		"-D__CUDACC__=1", "-D__CUDACC_RTC__=1", "-D__NVCC__=1", fmt.Sprintf("-D__CUDA_ARCH__=%d", b.arch),
		"-D__CUDACC_VER_MAJOR__=12", "-D__CUDACC_VER_MINOR__=8", "-D__GOCUDA_SIM__=1"}, b.options.preprocess...)
	pre, log, err := b.command(text, append(args, "-")...)
	if err != nil {
		return nil, "", err
	}
	// Kernels are told which thread they are where that compiles. If it does not,
	// the messages should be about the source as it was written.
	b.read = string(pre)
	if refused := b.hostIncludes(string(pre)); refused != "" {
		return nil, "", &compileError{b.diagnostics(refused)}
	}
	whole := told
	if b.check {
		whole |= slow
	}
	s := scan(string(pre), whole|defined)
	if len(s.launches) > 0 {
		return nil, "", &compileError{b.diagnostics(marked(string(pre), s.launches, launchInCode))}
	}
	asm, more, err := b.assembly(s, names)
	bad := (*compileError)(nil)
	if without := scan(string(pre), whole); errors.As(err, &bad) && without.text != s.text {
		s = without
		asm, more, err = b.assembly(s, names)
	}
	if errors.As(err, &bad) {
		s = scan(string(pre), 0)
		asm, more, err = b.assembly(s, names)
	}
	if err != nil {
		return nil, "", err
	}
	so, err = b.link(asm)
	if errors.As(err, &bad) {
		b.lines = true
		if asm, _, err := b.assembly(s, names); err == nil {
			_, err = b.link(asm)
			return nil, "", err
		}
	}
	return so, log + more, err
}

// link makes an image of assembly.
func (b *build) link(asm []byte) (so []byte, err error) {
	common, err := b.runtime()
	if err != nil {
		return nil, err
	}
	out := filepath.Join(b.dir, "k.so")
	link := []string{"-shared", "-Wl,-Bsymbolic", "-Wl,--strip-debug", "-Wl,-z,defs", "-o", out, "-x", "assembler", "-", "-x", "none", common}
	_, _, err = b.command(string(asm), append(link, "-nodefaultlibs", "-lm", "-lgcc", "-lc")...)
	if bad := (*compileError)(nil); errors.As(err, &bad) { // few need the C++ library, which takes the linker as long as all else
		_, _, err = b.command(string(asm), link...)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

// sites reports whether accesses are checked by sites, which g++ alone leaves a
// register for.
func (b *build) sites() bool { return b.check && runtime.GOARCH == "amd64" && !b.cc.Clang }

// flags are those for all code that runs on devices.
func (b *build) flags() []string {
	flags := []string{"-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-math-errno", "-fno-strict-aliasing",
		"-fwrapv", "-fno-delete-null-pointer-checks", "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-fno-semantic-interposition", "-fno-builtin-printf", "-w"}
	if !b.cc.Clang {
		flags = append(flags, "-fno-gnu-unique", "-fno-ipa-ra", "-fno-tree-loop-distribute-patterns", "-ftree-vectorize", "-fmax-errors=20", "-Wno-register")
	}
	if runtime.GOARCH == "amd64" && cpu.X86.HasFMA && cpu.X86.HasAVX2 {
		flags = append(flags, "-mavx2", "-mfma")
	}
	if b.check {
		flags = append(flags, "-DGOCUDA_CHECK=1")
	}
	switch b.looks {
	case seesRaces:
		flags = append(flags, "-DGOCUDA_RACES=1")
	case seesCounts:
		flags = append(flags, "-DGOCUDA_COUNTS=1")
	}
	if b.sites() {
		flags = append(flags, "-ffixed-r15", "-DGOCUDA_SITES=1")
	}
	return flags
}

// runtimes are the objects with the code that is the same for all kernels, by
// their keys.
var runtimes sync.Map

// runtime is a file with the object of the compiler and the flags in use.
func (b *build) runtime() (string, error) {
	flags := append(b.flags(), "-std=c++17", "-O2")
	key := codecache.Key(codeVersion, "runtime", b.cc.Path, b.cc.Version, flags, includeHash())
	file := filepath.Join(b.dir, "runtime.o")
	code, _ := runtimes.Load(key)
	object, _ := code.([]byte)
	if object == nil {
		object = b.cache.Get(key)
	}
	if object == nil {
		if _, _, err := b.command("", append(flags, "-c", "-o", file, filepath.Join(b.include, "runtime", "runtime.cc"))...); err != nil {
			return "", err
		}
		object, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		runtimes.Store(key, object)
		b.cache.Put(key, object)
		return file, nil
	}
	runtimes.Store(key, object)
	return file, os.WriteFile(file, object, 0o600)
}

// optional is what cuda_sim.h has only for sources that use it: the compiler takes half as
// long for these two as for all else in it. Each has a macro, and a pattern that its
// functions' names have.
var optional = []struct {
	macro string
	names *regexp.Regexp
}{
	{"GOCUDA_WITH_ROUNDED", regexp.MustCompile(`_r[zud]\b|2(?:float|double)_rn\b`)},
	{"GOCUDA_WITH_SIMD", regexp.MustCompile(`\b__v`)},
}

// assembly compiles a source that was scanned.
func (b *build) assembly(s scanned, names []string) (asm []byte, log string, err error) {
	var with []string
	for _, p := range optional {
		if p.names.MatchString(s.text) {
			with = append(with, "-D"+p.macro)
		}
	}
	b.read = s.text
	return b.compiled(s.text+s.footer(names), "cuda_sim.h", with...)
}

// compiled is the assembly of a source that begins with a header.
func (b *build) compiled(text, header string, with ...string) (asm []byte, log string, err error) {
	amd64 := runtime.GOARCH == "amd64"
	args := append(b.flags(), "-std="+b.options.std, "-I", b.include, b.options.optimize, "-ffp-contract="+b.options.contract)
	args = append(args, with...)
	if b.cc.Clang {
		args = append(args, "-ferror-limit=20")
	}
	if amd64 {
		args = append(args, "-pg", "-mfentry", "-mno-red-zone")
	}
	if b.check {
		args = append(args, "-g1") // lines, for reports
		args = append(args, "-fsanitize=kernel-address")
		if b.cc.Clang {
			for _, p := range []string{"-asan-instrumentation-with-call-threshold=0", "-asan-stack=0", "-asan-opt-same-temp=0", "-asan-globals=0", "-asan-instrument-dynamic-allocas=0"} {
				args = append(args, "-mllvm", p)
			}
		} else {
			for _, p := range []string{"asan-instrumentation-with-call-threshold=0", "asan-stack=0", "asan-globals=0", "asan-instrument-allocas=0"} {
				args = append(args, "--param", p)
			}
		}
	}
	args = append(args, b.options.compile...)
	header = filepath.Join(b.include, header)
	b.precompile(header, args)
	asm, log, err = b.command(text, append(args, "-x", "c++", "-include", header, "-S", "-o", "-", "-")...)
	if err == nil && amd64 {
		asm = rewrite(asm, b.sites(), b.check, b.lines, b.name)
	}
	return asm, log, err
}

// command runs the compiler on text. What it prints becomes the log, or the
// error if it fails.
func (b *build) command(text string, args ...string) (out []byte, log string, err error) {
	plain := []string{"-fdiagnostics-color=never", "-fno-diagnostics-show-caret"}
	if b.cc.Clang {
		plain = []string{"-fno-color-diagnostics", "-fno-caret-diagnostics"}
	}
	cmd := b.cc.Command(b.src.Until, append(plain, args...)...)
	cmd.Stdin = strings.NewReader(text)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PWD="+b.dir, "TMPDIR="+b.dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if until := b.src.Until; until != nil && until.Err() != nil {
		return nil, "", until.Err()
	}
	log = b.diagnostics(stderr.String())
	if err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return nil, "", fmt.Errorf("%s: %v", b.cc.Path, err) // not of the work folder
		}
		return nil, "", &compileError{log}
	}
	return stdout.Bytes(), log, nil
}

// options are NVRTC's, as the host's compiler takes them.
type options struct {
	std, optimize, contract string
	preprocess, compile     []string
}

func translate(in []string) (options, error) {
	o := options{std: "c++17", optimize: "-O2", contract: "fast"}
	for i := 0; i < len(in); i++ {
		arg := in[i]
		name, value, has := strings.Cut(arg, "=")
		next := func() string {
			if !has && i+1 < len(in) {
				i++
				return in[i]
			}
			return value
		}
		switch name = "-" + strings.TrimLeft(name, "-"); {
		case name == "-std":
			o.std = value
		case strings.HasPrefix(arg, "-D"), strings.HasPrefix(arg, "-U"), strings.HasPrefix(arg, "-I"):
			if len(arg) == 2 && i+1 < len(in) {
				i++
				arg += in[i]
			}
			if dir, ok := strings.CutPrefix(arg, "-I"); ok {
				arg = "-I" + absolute(dir)
			}
			o.preprocess = append(o.preprocess, arg)
		case name == "-define-macro":
			o.preprocess = append(o.preprocess, "-D"+next())
		case name == "-undefine-macro":
			o.preprocess = append(o.preprocess, "-U"+next())
		case name == "-include-path":
			o.preprocess = append(o.preprocess, "-I"+absolute(next()))
		case name == "-pre-include":
			o.preprocess = append(o.preprocess, "-include", next())
		case name == "-fmad":
			if value == "false" {
				o.contract = "off"
			}
		case name == "-use_fast_math":
			o.preprocess = append(o.preprocess, "-D__USE_FAST_MATH__=1")
		case name == "-device-debug" || arg == "-G":
			o.optimize = "-O0"
		case arg == "-O0" || arg == "-O1" || arg == "-O2" || arg == "-O3":
			o.optimize = arg
		case slices.Contains(ignored, name):
			if slices.Contains(ignoredWithValue, name) {
				next()
			}
		default:
			return o, fmt.Errorf("the compiler option %q is not known to simulated devices", arg)
		}
	}
	return o, nil
}

// absolute is a folder as the compiler, which runs in another one, finds it.
func absolute(dir string) string {
	if path, err := filepath.Abs(dir); err == nil {
		return path
	}
	return dir
}

var (
	ignoredWithValue = []string{"-gpu-architecture", "-arch", "-maxrregcount", "-ptxas-options", "-diag-suppress", "-diag-error", "-diag-warn"}
	ignored          = append([]string{"-lineinfo", "-generate-line-info", "-default-device", "-device-as-default-execution-space",
		"-w", "-disable-warnings", "-restrict", "-rdc", "-relocatable-device-code", "-ftz", "-prec-sqrt", "-prec-div", "-extra-device-vectorization",
		"-builtin-move-forward", "-builtin-initializer-list", "-extended-lambda", "-split-compile", "-dopt", "-dlto", "-version-ident", "-time", "-no-source-include", "-device-int128", "-minimal"}, ignoredWithValue...)
)
