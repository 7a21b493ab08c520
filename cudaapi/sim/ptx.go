package sim

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"

	"golang.org/x/sys/cpu"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/internal/codecache"
	"gocuda/cudaapi/internal/hostcxx"
	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/cpp"
)

// compilePTX compiles CUDA C++ as on a GPU: NVRTC makes PTX of it, with the options, headers
// and messages that GPUs get. The PTX becomes C++ for the host's compiler.
func (m *Driver) compilePTX(cc *hostcxx.Compiler, name string, src *driver.Source) (*driver.Compiled, error) {
	const call = "nvrtcCompileProgram"
	if m.opt.PTX == nil {
		return nil, fail(call, driver.ErrSharedObjectInit, "simulated devices have no NVRTC here, which the setting cuda=ptx asks for")
	}
	with := *src
	with.Name = name
	made, err := m.opt.PTX(&with, fmt.Sprintf("compute_%d%d", m.profile.Major, m.profile.Minor))
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for n, s := range made.Lowered {
		names[s] = n
	}
	mod, err := ptx.Parse(string(made.Image))
	if err != nil {
		return nil, fail(call, driver.ErrInvalidSource, "%s: error: the PTX of NVRTC cannot be read: %v", name, err)
	}
	text, err := cpp.Translate(mod, name, names, m.races(), lanes(cc))
	if err != nil {
		return nil, fail(call, driver.ErrInvalidSource, "%v", err)
	}
	return m.imageOfPTX(cc, name, src, text, made, seesNothing)
}

// races says how kernels are translated that are not looked at.
func (m *Driver) races() cpp.Races {
	if m.opt.NoCheck {
		return cpp.Hidden
	}
	return cpp.Shown
}

// lanes reports whether eight threads can go together: whether the CPU has the vectors, and the
// compiler leaves a register for checks.
func lanes(cc *hostcxx.Compiler) bool {
	return runtime.GOARCH == "amd64" && cpu.X86.HasFMA && cpu.X86.HasAVX2 && !cc.Clang
}

// seen is what kernels report while they run.
type seen uint8

const (
	seesNothing seen = iota
	seesRaces
	seesCounts
)

// imageOfPTX compiles the C++ that was made of PTX. made has the names and the log of what it
// is from.
func (m *Driver) imageOfPTX(cc *hostcxx.Compiler, name string, src *driver.Source, text string, made *driver.Compiled, looks seen) (*driver.Compiled, error) {
	cache := codecache.Open("sim")
	key := codecache.Key(codeVersion, "ptx", cc.Path, cc.Version, m.opt.NoCheck, looks, cpu.X86.HasFMA, cpu.X86.HasAVX2, text, made.Lowered, includeHash())
	b := &build{cc: cc, cache: cache, name: name, src: src, check: !m.opt.NoCheck, looks: looks, ptx: string(made.Image),
		options: options{std: "c++17", optimize: "-O2", contract: "off"}}
	return b.image(cache, key, made.Lowered, func() (so []byte, log string, err error) {
		asm, _, err := b.compiled(text, "ptx.h", "-DGOCUDA_WITH_ROUNDED")
		if err == nil {
			so, err = b.link(asm)
		}
		if bad := (*compileError)(nil); errors.As(err, &bad) {
			err = &compileError{fmt.Sprintf("%s: error: the host's compiler does not take the C++ that was made of the PTX: %s", name, bad.log)}
		}
		return so, made.Log, err
	})
}

// textName is what a module in PTX is called where its lines are told.
const textName = "ptx"

// assembled makes an image of a module in PTX, as a GPU's driver does.
func (m *Driver) assembled(text []byte) ([]byte, error) {
	const call = "cuModuleLoadData"
	cc, err := findCompiler()
	if err != nil {
		return nil, fail(call, driver.ErrFileNotFound, "%v", err)
	}
	mod, err := ptx.Parse(string(text))
	if err != nil {
		return nil, fail(call, driver.ErrInvalidPTX, "%v", err)
	}
	mod.PlaceInText(textName)
	code, err := cpp.Translate(mod, textName, nil, m.races(), lanes(cc))
	if err != nil {
		return nil, fail(call, driver.ErrInvalidPTX, "%s", inText.ReplaceAllString(err.Error(), "line $1: "))
	}
	c, err := m.imageOfPTX(cc, textName, &driver.Source{}, code, &driver.Compiled{Image: text}, seesNothing)
	if err != nil {
		return nil, fail(call, driver.ErrInvalidPTX, "%v", err)
	}
	return c.Image, nil
}

// inText matches the place of a message about PTX.
var inText = regexp.MustCompile(`^` + textName + `\((\d+)\): error: `)

// WithoutNVRTC reports whether CUDA C++ was compiled by the host's compiler because there is
// no NVRTC.
func (m *Driver) WithoutNVRTC() bool { return m.withoutNVRTC.Load() }
