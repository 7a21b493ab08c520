// Package gokernel compiles functions of Go to kernels in CUDA C++.
//
//	Go source, checked by go/types ─► package ir ─► CUDA C++ ─► NVRTC, or the simulated devices' compiler
//
// A function without results whose parameters a launch can give is a kernel;
// others are called by kernels. What of Go a device has no place for (maps,
// channels, goroutines, interfaces, strings, growing slices, recursion) is an error
// that says so, at its place.
package gokernel

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"sync"

	"gocuda/cudaapi/gokernel/emulate"
	"gocuda/cudaapi/gokernel/ir"
)

// Program is compiled source.
type Program struct {
	// Code is the CUDA C++.
	Code string
	// OnHost is the same for simulated devices: kernels stand in it a second time, as
	// loops over the threads of a block, where barriers allow that.
	OnHost string
	// Kernels are what can be launched, in the order of the source; instances of
	// generic functions follow.
	Kernels []Kernel
	// Sites are the places that can panic, by the numbers that the code tells.
	Sites []Site

	fset      *token.FileSet
	unit      *unit
	instances []string   // those that Options named
	funcs     []*ir.Func // of the kernels
	emulator  func() *emulate.Program
	stepped   func() *stepped
	lined     func() string
	running   sync.Mutex // emulated launches share the variables
}

// Kernel is a function that can be launched.
type Kernel struct {
	Name   string // as Go calls it, such as "axpy[float32]"
	Symbol string // in the compiled code
	Line   int
	Params []Param
	// Cooperative: it calls gpu.SyncGrid, so that its launches must be cooperative.
	Cooperative bool
	// Shared is how many bytes of dynamic shared memory launches must give at least; 1
	// where the kernel says how many when it runs.
	Shared int
}

// Param is a parameter of a kernel.
type Param struct {
	Name string
	Type types.Type // numbers, bools, structs and arrays of them, slices, pointers
}

// Size and Align are those of the parameter on the device, in bytes.
func (p Param) Size() int { return int(sizes.Sizeof(p.Type)) }

// Align is the parameter's alignment, in bytes.
func (p Param) Align() int { return int(sizes.Alignof(p.Type)) }

// Half names the format of a type of package gpu that has 16 bits: Float16, BFloat16,
// or "" for other types.
func Half(t types.Type) string {
	return map[ir.HalfKind]string{ir.Float16: "Float16", ir.BFloat16: "BFloat16"}[ir.Half(t)]
}

// Options change what is compiled.
type Options struct {
	// Name is what positions in the source are called by, such as In[5].
	Name string
	// Instances are instances of generic kernels, such as "axpy[float32]".
	Instances []string
	// Unchecked leaves out the checks of indices, slices and nil pointers.
	Unchecked bool
	// CUDA is CUDA C++ that stands before the program. Functions that the source
	// declares without a body are __device__ functions of it.
	CUDA string
	// ForCUDA compiles functions that CUDA C++ calls, and no kernels: those that take
	// and give numbers, bools and pointers to them, and take slices of them, as a pointer
	// and a length. The code stands before that C++.
	ForCUDA bool
}

// Compile compiles source: a file, or the declarations of one without a package
// clause and imports. Its error is [Errors], or [NoKernel] around them.
func Compile(source string, o Options) (*Program, error) {
	if o.Name == "" {
		o.Name = "kernel.go"
	}
	c, err := check(o.Name, source)
	if err != nil {
		return nil, err
	}
	u := &unit{checked: c, target: device{}, comments: ast.NewCommentMap(c.fset, c.file, c.file.Comments), kept: make(map[any]string)}
	u.kernels()
	var instances []*ir.Func
	for _, expr := range o.Instances {
		if f := u.instance(expr); f != nil {
			instances = append(instances, f)
		}
	}
	way := &compilation{unit: u}
	if err := way.run("escape"); err != nil {
		return nil, err
	}
	var kernels []*ir.Func
	for _, d := range u.prog.Funcs {
		if d.Kernel && !slices.Contains(instances, d) {
			kernels = append(kernels, d)
		}
	}
	slices.SortFunc(kernels, func(a, b *ir.Func) int { return int(a.Pos - b.Pos) })
	kernels = append(kernels, instances...)
	var offered []*ir.Func
	if o.ForCUDA {
		for _, f := range kernels {
			f.Kernel = false
		}
		kernels = nil
		if offered = u.offered(); len(offered) == 0 {
			return nil, Errors{{c.fset.Position(c.file.Pos()), "there is no function that CUDA C++ could call: with numbers, bools, pointers to them and slices of them, and one result or none"}}
		}
	} else if len(kernels) == 0 {
		return nil, u.noKernel()
	}
	way.kernels = kernels
	todo := blocks{}.passes()
	if !o.Unchecked {
		todo = slices.Concat(u.target.passes()[1:], todo)
	}
	if err := way.run(todo...); err != nil {
		return nil, err
	}
	p := &printer{fset: c.fset, unchecked: o.Unchecked, before: o.CUDA, known: make(map[Site]int), comments: u.kept}
	p.to = deviceWriter{p}
	out := &Program{Code: p.program(u.prog, kernels), fset: c.fset, unit: u, instances: o.Instances, funcs: kernels}
	loops := &printer{fset: c.fset, unchecked: o.Unchecked, before: o.CUDA, known: p.known, sites: p.sites, regions: way.regions}
	loops.to = deviceWriter{loops}
	out.OnHost, out.Sites = loops.program(u.prog, kernels), loops.sites
	if o.ForCUDA {
		p.b.Reset()
		for _, f := range offered {
			p.offer(f)
		}
		out.Code, out.OnHost = out.Code+p.b.String(), ""
	}
	out.emulator = sync.OnceValue(func() *emulate.Program { return emulate.New(u.prog) })
	out.stepped = sync.OnceValue(out.step)
	out.lined = sync.OnceValue(func() string { return out.lines(p) })
	for _, k := range kernels {
		made := Kernel{Name: k.Go, Symbol: kernelSymbol(k), Line: c.fset.Position(k.Pos).Line}
		made.asks(k, make(map[*ir.Func]bool))
		for _, v := range k.Params {
			made.Params = append(made.Params, Param{v.Name, v.Type})
		}
		out.Kernels = append(out.Kernels, made)
	}
	return out, nil
}

// asks finds what a kernel, with all that it calls, asks of its launches.
func (k *Kernel) asks(f *ir.Func, seen map[*ir.Func]bool) {
	if f == nil || seen[f] {
		return
	}
	seen[f] = true
	ir.WalkAll(f.Body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Effect:
			k.Cooperative = k.Cooperative || s.Name == "sync_grid"
		case *ir.Call:
			k.asks(s.Func, seen)
		}
		ir.Exprs(s, func(e ir.Expr) {
			switch e := e.(type) {
			case *ir.FuncRef:
				k.asks(e.Func, seen)
			case *ir.Pure:
				if e.Name == "dynamic_shared" {
					least := 1
					if n, ok := e.Args[0].(*ir.Const); ok {
						count, _ := constant.Int64Val(n.Value)
						least = int(count * sizes.Sizeof(e.T.Underlying().(*types.Slice).Elem()))
					}
					k.Shared = max(k.Shared, least)
				}
			}
		})
	})
}

// noKernel says why there is none: a [NoKernel] if no function looks as if it was meant as
// one, without results or with memory to work on.
func (u *unit) noKernel() error {
	why, pos, meant := "", u.file.Pos(), false
	for _, d := range u.file.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || d.Recv != nil || d.Body == nil {
			continue
		}
		sig := u.info.Defs[d.Name].(*types.Func).Signature()
		looks := sig.Results().Len() == 0 || takesMemory(sig)
		if why != "" && (meant || !looks) {
			continue
		}
		pos, meant = d.Pos(), looks
		switch {
		case sig.TypeParams().Len() > 0:
			why = fmt.Sprintf("; %s is generic: say which instance is wanted, such as %s[float32] (--instantiate, or cuda.Instantiate)", d.Name.Name, d.Name.Name)
		case sig.Results().Len() > 0:
			why = fmt.Sprintf("; %s has results: a kernel writes them to a slice", d.Name.Name)
		case sig.Variadic():
			why = fmt.Sprintf("; %s is variadic: a kernel takes a slice", d.Name.Name)
		case takesFuncs(sig):
			why = fmt.Sprintf("; %s takes a function: write a kernel that calls it with one", d.Name.Name)
		}
	}
	list := Errors{{u.fset.Position(pos), "there is no kernel: a function without results, with parameters that a launch can give" + why}}
	if meant {
		return list
	}
	return NoKernel{list}
}

// takesMemory reports whether a parameter is a slice or a pointer.
func takesMemory(sig *types.Signature) bool {
	for v := range sig.Params().Variables() {
		switch v.Type().Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		}
	}
	return false
}

// Message is what a panic says: at a site, with numbers, of a kernel's thread.
func (p *Program) Message(site int, kernel int, args [4]int64, block, thread [3]uint32) string {
	if site < 0 || site >= len(p.Sites) || kernel != byCUDA && (kernel < 0 || kernel >= len(p.Kernels)) {
		return "a kernel panicked, and what it says of that is damaged"
	}
	s := p.Sites[site]
	var list []any
	plain := strings.ReplaceAll(s.Format, "%%", "")
	for i := range plain {
		if i > 0 && plain[i-1] == '%' && len(list) < len(args) {
			var n any = args[len(list)]
			if plain[i] == 'u' {
				n = uint64(args[len(list)])
			}
			list = append(list, n)
		}
	}
	ints := func(a [3]uint32) [3]int { return [3]int{int(a[0]), int(a[1]), int(a[2])} }
	return p.told(fmt.Sprintf(strings.ReplaceAll(s.Format, "%u", "%d"), list...), kernel, s.Func, ints(block), ints(thread), s.Pos)
}

func triple(a [3]int) string { return fmt.Sprintf("(%d,%d,%d)", a[0], a[1], a[2]) }

// told is what happened, and where.
func (p *Program) told(text string, kernel int, fun string, block, thread [3]int, pos token.Position) string {
	where := "CUDA C++"
	if kernel != byCUDA {
		where = "kernel " + p.Kernels[kernel].Name
	}
	if kernel == byCUDA || fun != p.Kernels[kernel].Name {
		where = fun + ", called by " + where
	}
	return fmt.Sprintf("%s, in %s, block (%d,%d,%d), thread (%d,%d,%d), %s:%d", text, where,
		block[0], block[1], block[2], thread[0], thread[1], thread[2], pos.Filename, pos.Line)
}

// Emulate runs a kernel, by its number, on the CPU. A panic, and threads that wait
// for what cannot come, are errors that say where; [emulate.ErrStopped] ends a launch
// that was stopped. The program's variables keep their values from launch to launch.
func (p *Program) Emulate(kernel int, l emulate.Launch) error {
	p.running.Lock()
	defer p.running.Unlock()
	emulator, f := p.emulator, p.funcs[kernel]
	if w := watcher(); w != nil {
		s := p.stepped()
		l.Watch = follower{w, s}
		defer w.Ended()
		emulator, f = func() *emulate.Program { return s.emulator }, s.funcs[kernel]
	}
	err := emulator().Run(f, l)
	var panicked *emulate.Panic
	var stuck *emulate.Stuck
	var race *emulate.Race
	var apart *emulate.Divergence
	switch {
	case errors.As(err, &apart):
		at := func(pos token.Pos) string {
			where := p.fset.Position(pos)
			return fmt.Sprintf("%s:%d", where.Filename, where.Line)
		}
		other, rule := "has ended", "all threads of a block must come to the same barrier"
		switch {
		case apart.OtherPos != token.NoPos:
			other = "waits at another one at " + at(apart.OtherPos)
		case !strings.HasPrefix(apart.What, "Sync") || apart.What == "SyncWarp":
			rule = "a mask may only name lanes that come there"
		}
		return fmt.Errorf("divergent %s at %s: thread %s waits, thread %s %s; %s, in kernel %s, block %s",
			apart.What, at(apart.Pos), triple(apart.Thread), triple(apart.Other), other, rule, p.Kernels[kernel].Name, triple(apart.Block))
	case errors.As(err, &race):
		at := func(pos token.Pos, writes bool) string {
			where := p.fset.Position(pos)
			return fmt.Sprintf("%s at %s:%d", map[bool]string{false: "reads", true: "writes"}[writes], where.Filename, where.Line)
		}
		if race.Block != race.OtherBlock {
			return fmt.Errorf("a race: thread %s of block %s %s what thread %s of block %s %s; blocks are in no order: atomic operations can share memory among them, in kernel %s",
				triple(race.Thread), triple(race.Block), at(race.Pos, race.Writes), triple(race.OtherThread), triple(race.OtherBlock), at(race.OtherPos, race.OtherWrites), p.Kernels[kernel].Name)
		}
		return fmt.Errorf("a race: thread %s %s what thread %s %s, and no barrier stands between, in kernel %s, block %s",
			triple(race.Thread), at(race.Pos, race.Writes), triple(race.OtherThread), at(race.OtherPos, race.OtherWrites), p.Kernels[kernel].Name, triple(race.Block))
	case errors.As(err, &panicked):
		return errors.New(p.told(panicked.Text, kernel, panicked.Func, panicked.Block, panicked.Thread, p.fset.Position(panicked.Pos)))
	case errors.As(err, &stuck):
		at := func(pos token.Pos) string {
			where := p.fset.Position(pos)
			return fmt.Sprintf("%s:%d", where.Filename, where.Line)
		}
		text := fmt.Sprintf("thread (%d,%d,%d) waits at %s (%s) for thread (%d,%d,%d), which ", stuck.Thread[0], stuck.Thread[1], stuck.Thread[2], stuck.What, at(stuck.Pos), stuck.Other[0], stuck.Other[1], stuck.Other[2])
		if stuck.OtherWhat == "" {
			text += "has ended"
		} else {
			text += "waits at " + stuck.OtherWhat + " (" + at(stuck.OtherPos) + ")"
		}
		return fmt.Errorf("%s, in kernel %s, block (%d,%d,%d)", text, p.Kernels[kernel].Name, stuck.Block[0], stuck.Block[1], stuck.Block[2])
	}
	return err
}
