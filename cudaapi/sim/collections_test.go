//go:build linux

package sim_test

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/nvidia"
	"gocuda/cudaapi/ptx"
	"gocuda/cudaapi/ptx/cpp"
	"gocuda/cudaapi/sim"
)

var (
	collections = flag.String("collections", "", "a folder of CUDA programs, whose kernels run")
	cutInto     = flag.String("cut", "", "a folder to which the device code of the programs is written, and nothing runs")
	fromStep    = flag.Int("step", 0, "the first step of the one program that -collections names")
	atOnce      = flag.Int("processes", 2, "programs that run at a time")
)

// TestCollections takes the device code of the CUDA programs in a folder. Each kernel runs with
// generated arguments on a simulated device, in two orders, and on a GPU where there is one. It
// tells what differs: whether it compiles, whether it runs, and its bits. What the translator or the
// host's compiler refuses is a fault of ours.
func TestCollections(t *testing.T) {
	if *collections == "" {
		t.Skip("-collections does not name a folder of CUDA programs")
	}
	throughPTX(t, sim.Options{})
	if !strings.HasSuffix(*collections, ".cu") {
		collect(t)
		return
	}
	text, err := os.ReadFile(*collections)
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{seen: map[string]bool{}}
	c.file(*collections)
	p := &collected{t: t, src: &driver.Source{Name: filepath.Base(*collections), Code: c.out.String(), Options: []string{"-w"}}}
	if names := instances(p.src.Code, string(text)); len(names) > 0 {
		p.src.Names = names
	}
	if *cutInto == "" {
		p.run()
		return
	}
	if !strings.Contains(p.src.Code, "__global__") {
		return
	}
	rel := strings.NewReplacer("/", "_", "+", "_", " ", "_").Replace(strings.TrimPrefix(*collections, "/"))
	head := ""
	for _, n := range p.src.Names {
		head += "// instance " + n + "\n"
	}
	if err := os.WriteFile(filepath.Join(*cutInto, rel), []byte(head+p.src.Code), 0o600); err != nil {
		t.Fatal(err)
	}
}

// collect runs each program in a process of its own, which a kernel may end.
func collect(t *testing.T) {
	var files []string
	err := filepath.WalkDir(*collections, func(p string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(p) == ".cu" {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] }) // some of each collection come first
	counts, programs := map[string]int{}, map[string]int{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	next := make(chan string)
	for range *atOnce {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for file := range next {
				rows := runProgram(self, file)
				rel, _ := filepath.Rel(*collections, file)
				worst := ""
				mu.Lock()
				for _, r := range rows {
					kind, rest, _ := strings.Cut(r, "\t")
					counts[kind]++
					fmt.Printf("%s\t%s\t%s\n", kind, rel, rest)
					if worst == "" || verdicts[kind] > verdicts[worst] {
						worst = kind
					}
				}
				programs[worst]++
				mu.Unlock()
			}
		}()
	}
	for _, f := range files {
		next <- f
	}
	close(next)
	wait.Wait()
	t.Logf("%d programs", len(files))
	for _, m := range []map[string]int{counts, programs} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			t.Logf("%6d %s", m[k], k)
		}
		t.Log("worst of each program:")
	}
	if n := counts[isRefused] + counts[isOther] + counts[isWrong]; n > 0 {
		t.Errorf("%d differences", n)
	}
}

// What becomes of a program or of a launch, of which the last ones are faults.
const (
	isEqual   = "equal"
	isRun     = "runs simulated"                          // no GPU is here
	isFails   = "fails alike"                             // with the same error
	isNVRTC   = "refused by NVRTC"                        // on both
	isEmpty   = "no kernel"                               //
	isNear    = "approximate functions, near"             // the last bits differ
	isOrder   = "the order of threads tells"              // two orders give two results
	isStopped = "stopped simulated, goes on on the GPU"   // such as for an access beside an allocation
	isEndless = "runs too long"                           //
	isElse    = "fails with other errors"                 //
	isFar     = "approximate functions, far"              //
	isOther   = "runs simulated, fails on the GPU"        //
	isRefused = "refused simulated, compiled for the GPU" //
	isWrong   = "other bits"                              //
)

var verdicts = func() map[string]int {
	m := map[string]int{}
	for i, v := range []string{isEmpty, isNVRTC, isRun, isEqual, isFails, isStopped, isEndless, isNear, isOrder, isElse, isFar, isOther, isRefused, isWrong} {
		m[v] = i + 1
	}
	return m
}()

// runProgram gives the rows of a program, which starts again after a launch that ends it.
func runProgram(self, file string) (rows []string) {
	step := -1
	for range 30 {
		cmd := exec.Command(self, "-test.run", "^TestCollections$", "-collections", file, "-step", strconv.Itoa(max(step, 0)), "-cut", *cutInto)
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			return append(rows, isRefused+"\tno process")
		}
		silent := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
		at, done := "", false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if word, rest, ok := strings.Cut(lines.Text(), "\t"); ok {
				switch silent.Reset(12 * time.Second); word {
				case "step":
					n, what, _ := strings.Cut(rest, "\t")
					step, _ = strconv.Atoi(n)
					at = what
				case "row":
					rows, at = append(rows, rest), ""
				case "done":
					done = true
				}
			}
		}
		silent.Stop()
		err = cmd.Wait()
		if done || *cutInto != "" {
			return rows
		}
		if at != "" {
			rows = append(rows, fmt.Sprintf("%s\t%s: %v", isEndless, at, err))
		} else if step < 0 {
			return append(rows, fmt.Sprintf("%s\tcompiling: %v", isEndless, err))
		}
		step++
	}
	return rows
}

// collected is a program, and the two devices.
type collected struct {
	t       *testing.T
	src     *driver.Source
	mod     *ptx.Module
	image   string
	options sim.Options
}

// errorLine is where NVRTC finds an error, or the kernel that it does not know.
var errorLine = regexp.MustCompile(`\.cu\((\d+)\): (?:error|catastrophic error)`)

// compiles leaves out of a program what NVRTC refuses, as far as it says where that is.
func (p *collected) compiles() (out *driver.Compiled, err error) {
	for range 25 {
		if out, err = nvidia.PTX(p.src, "compute_90"); err == nil {
			return out, err
		}
		if m := errorLine.FindAllStringSubmatch(err.Error(), -1); m != nil {
			wrong := map[int]bool{}
			for _, l := range m {
				n, _ := strconv.Atoi(l[1])
				wrong[n] = true
			}
			var kept []string
			line := 1
			for _, piece := range pieces(p.src.Code) {
				at := strings.Index(p.src.Code, piece)
				if k := strings.Index(strings.Join(strings.Split(p.src.Code, "\n")[line-1:], "\n"), piece); k >= 0 && at >= 0 {
					rest := strings.Join(strings.Split(p.src.Code, "\n")[line-1:], "\n")
					line += strings.Count(rest[:k], "\n")
				}
				bad := false
				for n := line; n <= line+strings.Count(piece, "\n"); n++ {
					bad = bad || wrong[n]
				}
				if !bad {
					kept = append(kept, piece)
				}
			}
			if text := strings.Join(kept, "\n") + "\n"; text != p.src.Code {
				p.src.Code = text
				p.src.Names = slices.DeleteFunc(p.src.Names, func(n string) bool { return !strings.Contains(text, n[:strings.IndexByte(n, '<')]) })
				continue
			}
		}
		if len(p.src.Names) == 0 {
			return out, err
		}
		p.src.Names = p.src.Names[:len(p.src.Names)-1]
	}
	return out, err
}

var (
	errorName    = regexp.MustCompile(`CUDA_ERROR_\w+`)
	instanceLine = regexp.MustCompile(`(?m)^// instance (.*)$`)
)

func tell(kind, format string, args ...any) {
	fmt.Printf("row\t%s\t%s\n", kind, strings.NewReplacer("\n", " | ", "\t", " ").Replace(fmt.Sprintf(format, args...)))
}

// run launches each kernel of the program.
func (p *collected) run() {
	defer fmt.Println("done\t")
	whole, err := os.ReadFile(*collections)
	if err != nil {
		tell(isEmpty, "%v", err)
		return
	}
	for _, m := range instanceLine.FindAllStringSubmatch(string(whole), -1) {
		if !slices.Contains(p.src.Names, m[1]) {
			p.src.Names = append(p.src.Names, m[1])
		}
	}
	made, err := p.compiles()
	for err != nil && len(p.src.Names) > 0 { // instances were guessed
		p.src.Names = p.src.Names[:len(p.src.Names)-1]
		made, err = p.compiles()
	}
	if err != nil {
		tell(isNVRTC, "%s", firstError(err.Error()))
		return
	}
	p.image = string(made.Image)
	if p.mod, err = ptx.Parse(p.image); err != nil {
		tell(isRefused, "%v", err)
		return
	}
	var kernels []*ptx.Function
	for _, d := range p.mod.Decls {
		if f, ok := d.(*ptx.Function); ok && f.Kernel {
			kernels = append(kernels, f)
		}
	}
	if len(kernels) == 0 {
		tell(isEmpty, "")
		return
	}
	if _, err := cpp.Translate(p.mod, p.src.Name, nil, cpp.Shown, true); err != nil {
		tell(isRefused, "%v", err)
		return
	}
	p.options = sim.Options{Devices: 1, CUDA: "ptx", PTX: nvidia.PTX}
	d, err := sim.New(p.options)
	if err != nil {
		tell(isRefused, "%v", err)
		return
	}
	image, err := d.Compile(0, p.src)
	if err != nil {
		tell(isRefused, "%v", err)
		return
	}
	var gpu driver.Driver
	var cubin *driver.Compiled
	if nvidia.Available() == nil {
		if gpu, err = nvidia.Open(); err == nil {
			retain(p.t, gpu, 0) // for all launches
			if cubin, err = gpu.Compile(0, p.src); err != nil {
				tell(isRefused, "on the GPU alone: %v", err)
				return
			}
		}
	}
	step := 0
	for _, k := range kernels {
		for _, s := range []struct{ grid, block driver.Dim3 }{{dim(4), dim(128)}, {dim(3), dim(256)}, {dim(2, 3), dim(16, 16)}, {dim(2, 2), dim(32, 32)}} {
			if step++; step <= *fromStep {
				continue
			}
			fmt.Printf("step\t%d\t%s %v %v\n", step-1, k.Name, s.grid, s.block)
			p.step(gpu, image, cubin, k, s.grid, s.block)
		}
	}
}

// outcome is what a launch leaves.
type outcome struct {
	buffers [][]uint32
	err     error
}

// step launches a kernel once in each way.
func (p *collected) step(gpu driver.Driver, image, cubin *driver.Compiled, k *ptx.Function, grid, block driver.Dim3) {
	types := typesOf(k.Name)
	where := fmt.Sprintf("%s grid %v block %v", k.Name, grid, block)
	var runs []outcome
	for seed := range uint64(3) {
		o := p.options
		o.Adversarial, o.Seed = seed > 0, seed+3
		d, err := sim.New(o)
		if err != nil {
			tell(isRefused, "%v", err)
			return
		}
		runs = append(runs, p.launch(d, image, k, types, grid, block))
		d.Close() //nolint:errcheck // of a device that may have failed
	}
	first := runs[0]
	if gpu == nil {
		switch {
		case first.err != nil:
			tell(isFails, "%s: %v", where, first.err)
		case p.differ(first, runs[1], types) != "" || p.differ(first, runs[2], types) != "" || p.races(k, types, grid, block):
			tell(isOrder, "%s", where)
		default:
			tell(isRun, "%s", where)
		}
		return
	}
	fmt.Printf("alive\t\n")
	on := p.launch(gpu, cubin, k, types, grid, block)
	switch u := p.differ(on, first, types); {
	case first.err != nil && on.err != nil && errorName.FindString(first.err.Error()) == errorName.FindString(on.err.Error()):
		tell(isFails, "%s: %v; GPU: %v", where, first.err, on.err)
	case first.err != nil && on.err != nil:
		tell(isElse, "%s: %v; GPU: %v", where, first.err, on.err)
	case first.err != nil:
		tell(isStopped, "%s: %v", where, first.err)
	case on.err != nil:
		tell(isOther, "%s: %v", where, on.err)
	case u == "":
		tell(isEqual, "%s", where)
	case p.differ(first, runs[1], types) != "" || p.differ(first, runs[2], types) != "" || p.races(k, types, grid, block):
		tell(isOrder, "%s: %s", where, u)
	case (strings.Contains(p.image, ".approx") || strings.Contains(p.image, ".full")) && near(on, first, types):
		tell(isNear, "%s: %s", where, u)
	case strings.Contains(p.image, ".approx") || strings.Contains(p.image, ".full"):
		tell(isFar, "%s: %s", where, u)
	default:
		tell(isWrong, "%s: %s", where, u)
	}
	if on.err != nil {
		os.Exit(3) // the process has no device any more
	}
}

// races reports whether threads of a launch reach the same memory without an order.
func (p *collected) races(k *ptx.Function, types []string, grid, block driver.Dim3) (found bool) {
	o := p.options
	o.Races, o.OnRaces = true, func(list []driver.Race) { found = found || len(list) > 0 }
	d, err := sim.New(o)
	if err != nil {
		return false
	}
	defer d.Close() //nolint:errcheck // of a device that may have failed
	image, err := d.Compile(0, p.src)
	if err != nil {
		return false
	}
	p.launch(d, image, k, types, grid, block)
	return found
}

// typesOf are the types of a kernel's parameters, from its symbol.
func typesOf(symbol string) (types []string) {
	out, err := exec.Command("c++filt", symbol).Output()
	if err != nil {
		return nil
	}
	text := strings.TrimSpace(string(out))
	depth, start := 0, 0
	for i := len(text) - 1; i >= 0; i-- { // the last parentheses are the parameters
		if text[i] == ')' {
			depth++
		}
		if text[i] == '(' {
			if depth--; depth == 0 {
				start = i
				break
			}
		}
	}
	from := start + 1
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '<', '(', '[':
			depth++
		case '>', ']':
			depth--
		case ')', ',':
			if text[i] == ')' && depth > 0 {
				depth--
				continue
			}
			if depth == 0 {
				types = append(types, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	return types
}

// Buffers begin with what lies before the address that a kernel gets.
const (
	bufferBytes = 4 << 20
	before      = 1 << 20
)

var wordsOf = map[string][]uint32{}

// words are those of a buffer of elements of a type: small numbers, of which no one is 0.
func words(typ string) []uint32 {
	if list := wordsOf[typ]; list != nil {
		return list
	}
	list := make([]uint32, bufferBytes/4)
	name := typ
	typ = strings.TrimSpace(strings.NewReplacer("const", "", "*", "", "volatile", "", "__restrict__", "", "unsigned", "").Replace(typ))
	for i := range list {
		switch small := uint32(i*37%61 + 1); {
		case strings.HasPrefix(typ, "double"):
			list[i] = uint32(math.Float64bits(float64(i/2*37%61+1)/8) >> (i % 2 * 32))
		case strings.HasPrefix(typ, "float"), typ == "":
			list[i] = math.Float32bits(float32(small) / 8)
		case strings.Contains(typ, "half"):
			list[i] = 0x3c003c00 + small + small<<19
		case strings.Contains(typ, "bfloat"):
			list[i] = 0x3f803f80 + small%32 + small%16<<18
		case strings.HasPrefix(typ, "char"), strings.HasPrefix(typ, "signed char"):
			list[i] = (uint32('a') + uint32(i%26)) * 0x01010101
		case strings.HasPrefix(typ, "short"):
			list[i] = small * 0x00010001
		case strings.HasPrefix(typ, "long"):
			list[i] = uint32(i/2*37%61+1) * uint32(1-i%2)
		case strings.HasPrefix(typ, "bool"):
			list[i] = 0x01000101
		default:
			list[i] = small
		}
	}
	wordsOf[name] = list
	return list
}

// launch gives a kernel buffers of numbers for its pointers, and small numbers.
func (p *collected) launch(d driver.Driver, made *driver.Compiled, k *ptx.Function, types []string, grid, block driver.Dim3) (out outcome) {
	c, err := d.PrimaryRetain(0)
	if err != nil {
		return outcome{err: err}
	}
	defer d.PrimaryRelease(0) //nolint:errcheck // of a device that may have failed
	m, err := d.ModuleLoad(c, made.Image)
	if err != nil {
		return outcome{err: err}
	}
	f, err := d.ModuleFunction(c, m, k.Name)
	if err != nil {
		return outcome{err: err}
	}
	params, err := d.FunctionParams(c, f)
	if err != nil {
		return outcome{err: err}
	}
	l := &driver.Launch{Function: f, Grid: grid, Block: block, Name: k.Name}
	if strings.Contains(p.image, ".extern .shared") {
		l.SharedBytes = 16384
	}
	number := byte(32) // the sizes of what kernels go over
	if len(params) > 7 {
		number = 8
	}
	var buffers []driver.Ptr
	for i, q := range params {
		typ := ""
		if i < len(types) {
			typ = types[i]
		}
		l.Params = append(l.Params, make([]byte, int(q.Offset)-len(l.Params))...)
		switch {
		case strings.HasSuffix(typ, "*") || strings.HasSuffix(typ, "* const") || strings.HasSuffix(typ, "&") || strings.HasSuffix(typ, "__restrict__"):
			at, err := d.MemAlloc(c, bufferBytes)
			if err == nil {
				w := words(typ)
				err = d.Memcpy(c, at, ptr(w), bufferBytes)
				runtime.KeepAlive(w)
			}
			if err != nil {
				return outcome{err: err}
			}
			buffers = append(buffers, at)
			l.Pointers = append(l.Pointers, driver.PointerParam{Offset: q.Offset})
			l.Params = binary.LittleEndian.AppendUint64(l.Params, uint64(at+before))
		case typ == "float":
			l.Params = binary.LittleEndian.AppendUint32(l.Params, math.Float32bits(0.5))
		case typ == "double":
			l.Params = binary.LittleEndian.AppendUint64(l.Params, math.Float64bits(0.5))
		case q.Size == 1:
			l.Params = append(l.Params, 1)
		case q.Size == 2:
			l.Params = append(l.Params, number, 0)
		case q.Size == 4:
			l.Params = binary.LittleEndian.AppendUint32(l.Params, uint32(number))
		case q.Size == 8:
			l.Params = binary.LittleEndian.AppendUint64(l.Params, uint64(number))
		default:
			for n := range q.Size {
				l.Params = append(l.Params, []byte{4, 0, 0, 0}[n%4])
			}
		}
	}
	if err := d.Launch(c, l); err != nil {
		return outcome{err: err}
	}
	if err := d.CtxSynchronize(c, nil); err != nil {
		return outcome{err: err}
	}
	for _, at := range buffers {
		w := make([]uint32, bufferBytes/4)
		if err := d.Memcpy(c, ptr(w), at, bufferBytes); err != nil {
			return outcome{err: err}
		}
		out.buffers = append(out.buffers, w)
		d.MemFree(c, at) //nolint:errcheck // the process ends soon
	}
	d.ModuleUnload(c, m) //nolint:errcheck // as above
	return out
}

// differ says where two runs of a kernel differ.
func (p *collected) differ(a, b outcome, types []string) string {
	if (a.err == nil) != (b.err == nil) {
		return fmt.Sprint(a.err, b.err)
	}
	for i := range a.buffers {
		if b.err == nil && !slices.Equal(a.buffers[i], b.buffers[i]) {
			n, first := 0, -1
			for k := range a.buffers[i] {
				if a.buffers[i][k] != b.buffers[i][k] {
					if n++; first < 0 {
						first = k
					}
				}
			}
			return fmt.Sprintf("buffer %d (%s), word %d: %#x, simulated %#x; %d words differ", i, strings.Join(types, ", "), first, a.buffers[i][first], b.buffers[i][first], n)
		}
	}
	return ""
}

// near reports whether the numbers of two runs differ little.
func near(a, b outcome, types []string) bool {
	k := 0
	for _, typ := range types {
		if !strings.Contains(typ, "*") && !strings.Contains(typ, "&") {
			continue
		}
		if k >= len(a.buffers) {
			break
		}
		x, y := a.buffers[k], b.buffers[k]
		k++
		for i := range x {
			if x[i] == y[i] {
				continue
			}
			var u, v float64
			switch {
			case strings.HasPrefix(typ, "double"):
				u, v = math.Float64frombits(uint64(x[i|1])<<32|uint64(x[i&^1])), math.Float64frombits(uint64(y[i|1])<<32|uint64(y[i&^1]))
			case strings.HasPrefix(typ, "float"):
				u, v = float64(math.Float32frombits(x[i])), float64(math.Float32frombits(y[i]))
			default:
				return false
			}
			if !(math.Abs(u-v) <= 1e-4+1e-3*max(math.Abs(u), math.Abs(v))) && !(u != u && v != v) {
				return false
			}
		}
	}
	return true
}

// firstError is the line of a log that says what was wrong.
func firstError(log string) string {
	for _, l := range strings.Split(log, "\n") {
		if strings.Contains(l, "error:") || strings.Contains(l, "catastrophic") {
			return l
		}
	}
	return strings.ReplaceAll(log, "\n", " ")
}
