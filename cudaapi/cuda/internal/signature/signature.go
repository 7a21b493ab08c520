// Package signature reads the signatures of CUDA C++ kernels out of their
// source: enough to check and pack the arguments of a launch, not to compile.
// What it does not know, such as a structure's size, the compiled code tells.
package signature

import "strings"

// Kind says how an argument is passed.
type Kind uint8

const (
	Unknown Kind = iota // a structure, or a type that is not known here
	Bool
	Int
	Uint
	Float
	Half     // IEEE binary16
	BFloat16 // the upper half of a binary32
	Vector   // CUDA's float2 and the like: a structure of known size
	Pointer
	Integer // of either sign, as in PTX
	Slice   // of Go: a pointer, a length and a capacity
	Texture // a texture object
	Surface
)

// Type is a scalar type, a pointer's target, or unknown.
type Type struct {
	Name string // as the source spells it, without const
	Kind Kind
	Size int // bytes; 0 if unknown
}

// Param is one parameter of a kernel.
type Param struct {
	Name string
	Type // Kind Pointer, Size 8 for a pointer
	// Elem is what a pointer points to, or what a slice has.
	Elem Type
	// ReadOnly marks a pointer to const.
	ReadOnly bool
}

// Kernel is one __global__ function.
type Kernel struct {
	Name   string   // with namespaces, as a name expression: "ns::axpy"
	Symbol string   // for extern "C", the name in the compiled code
	Args   []string // of a template: its parameters' names; nil otherwise
	Params []Param
	Line   int  // in the source, from 1
	Go     bool // it is declared in Go
	// Declared marks one that the source declares and does not define.
	Declared bool
	// Again marks one whose name the source has defined before: overloaded, or in
	// another branch of an #if.
	Again bool
	// Overloads are the kernels of this name, itself among them, if it is overloaded or may
	// be: by Name and Expression they are told apart.
	Overloads []*Kernel
	// Expression names the kernel to the compiler, if Name cannot.
	Expression string
	// For Instantiate: the parameters as written, and the aliases they may use.
	decls [][]token
	alias map[string][]token

	instance bool // of a template, explicitly
}

// Template reports whether the kernel has to be instantiated by name.
func (k *Kernel) Template() bool { return k.Args != nil }

// Parse finds the kernels of a source, in order. Source that is not C++ gives
// no kernels rather than an error: the compiler is the one to complain.
func Parse(code string) []*Kernel {
	p := parser{tokens: scan(code), alias: map[string][]token{}}
	p.file()
	for i, k := range p.kernels {
		for _, t := range p.kernels {
			if made := t.Instantiate(k.Name); made != nil && k.instance { // parameters have names there
				made.Line = k.Line
				p.kernels[i] = made
			}
		}
	}
	return p.kernels
}

// Variables are the names of the __device__ and __constant__ variables that namespaces have,
// as in ns::count.
func Variables(code string) []string {
	p := parser{tokens: scan(code), alias: map[string][]token{}}
	p.file()
	return p.variables
}

// Instantiate gives a template's kernel for a name expression such as
// "axpy<float, 128>"; nil if expr does not name k.
func (k *Kernel) Instantiate(expr string) *Kernel {
	name, list, ok := strings.Cut(expr, "<")
	if !ok || strings.TrimPrefix(strings.TrimSpace(name), "::") != k.Name || !k.Template() {
		return nil
	}
	list = strings.TrimSuffix(strings.TrimSpace(list), ">")
	args := split(scan(list))
	bound := map[string][]token{}
	for i, a := range k.Args {
		if i < len(args) {
			bound[a] = args[i]
		}
	}
	for name, to := range k.alias {
		if bound[name] == nil {
			bound[name] = to
		}
	}
	made := *k
	made.Name, made.Args, made.Params = expr, nil, nil
	for _, d := range k.decls {
		made.Params = append(made.Params, param(d, bound))
	}
	return &made
}

// Declaration is the parameter as C++ declares it.
func (p *Param) Declaration() string {
	s := p.Type.Name
	if p.Kind == Pointer {
		s = p.Elem.Name + " *"
		if p.ReadOnly {
			s = "const " + s
		}
	}
	if p.Name != "" && p.Kind != Pointer {
		s += " "
	}
	return s + p.Name
}

// Align is the parameter's alignment in bytes, where its size is known.
func (p *Param) Align() int {
	if p.Kind != Vector {
		return p.Size
	}
	switch { // of three elements, an element's; otherwise up to 16
	case p.Size%3 == 0:
		return p.Size / 3
	default:
		return min(p.Size, 16)
	}
}

// scalars are the types whose size is the same on host and device (LP64).
var scalars = map[string]Type{}

func init() {
	add := func(kind Kind, size int, names ...string) {
		for _, n := range names {
			scalars[n] = Type{n, kind, size}
		}
	}
	add(Bool, 1, "bool")
	add(Int, 1, "char", "signed char", "int8_t")
	add(Uint, 1, "unsigned char", "uint8_t", "uchar")
	add(Int, 2, "short", "short int", "signed short", "int16_t")
	add(Uint, 2, "unsigned short", "unsigned short int", "uint16_t", "ushort")
	add(Int, 4, "int", "signed", "signed int", "int32_t")
	add(Uint, 4, "unsigned", "unsigned int", "uint32_t", "uint")
	add(Int, 8, "long", "long int", "long long", "long long int", "signed long", "signed long long", "int64_t", "ptrdiff_t", "ssize_t", "intptr_t")
	add(Uint, 8, "unsigned long", "unsigned long int", "unsigned long long", "unsigned long long int", "uint64_t", "size_t", "uintptr_t", "ulong")
	add(Texture, 8, "cudaTextureObject_t")
	add(Surface, 8, "cudaSurfaceObject_t")
	add(Float, 4, "float")
	add(Float, 8, "double")
	add(Half, 2, "half", "__half")
	add(BFloat16, 2, "__nv_bfloat16", "nv_bfloat16")
	for _, v := range []struct {
		name string
		size int
	}{{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4}, {"uint", 4}, {"long", 8}, {"ulong", 8}, {"longlong", 8}, {"ulonglong", 8}, {"float", 4}, {"double", 8}} {
		add(Vector, v.size, v.name+"1")
		add(Vector, 2*v.size, v.name+"2")
		add(Vector, 3*v.size, v.name+"3")
		add(Vector, 4*v.size, v.name+"4")
	}
	add(Vector, 4, "half2", "__half2", "__nv_bfloat162")
	add(Vector, 12, "dim3")
	add(Vector, 8, "cuFloatComplex", "cuComplex")
	add(Vector, 16, "cuDoubleComplex")
}
