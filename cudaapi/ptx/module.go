// Package ptx reads PTX, the language that NVRTC makes of CUDA C++, and writes it. A module
// that was read holds all that the text says to the machine; what it says to debuggers goes,
// but for the places in the source.
package ptx

// Module is a PTX module.
type Module struct {
	Version, Target string
	Files           map[int]string // the source's, by the numbers that places give them
	Decls           []Decl
}

// Decl is a declaration of a module: a [*Variable] or a [*Function].
type Decl interface{ decl() }

// Type is a fundamental type without its dot: u32, f64, pred.
type Type string

// Bits are how many a value of the type has; 1 for a predicate.
func (t Type) Bits() int {
	n := 0
	for _, c := range t {
		if c >= '0' && c <= '9' {
			n = n*10 + int(c-'0')
		}
		if c == 'x' { // f16x2
			return n * 2
		}
	}
	switch {
	case t == "pred":
		return 1
	case t == "bf16":
		return 16
	}
	return n
}

// Signed reports whether a type is of signed integers.
func (t Type) Signed() bool { return t != "" && t[0] == 's' }

// Float reports whether a type is of numbers with a fraction.
func (t Type) Float() bool { return t != "" && (t[0] == 'f' || t[:min(2, len(t))] == "bf") }

// Variable is a variable or parameter in a state space, or a set of registers.
type Variable struct {
	Line    int
	Linkage []string // visible, extern, weak, common
	Space   string   // reg, global, const, shared, local, param
	Align   int      // 0: its type's
	Vector  int      // 2 or 4; 0 for none
	Type    Type
	Name    string
	Count   int   // of registers NAME0 to NAME(Count-1); 0: NAME itself
	Dims    []int // of an array; -1 for []
	Init    []Value
}

// Value is one of an initializer's: a literal, or the address of something, and Plus more.
type Value struct {
	Literal string
	Symbol  string
	Generic bool // the symbol's generic address
	Plus    int64
}

// Function is a kernel or a function, or the declaration of one.
type Function struct {
	Line       int
	Linkage    []string
	Kernel     bool
	Results    []*Variable
	Name       string
	Params     []*Variable
	Directives []Directive
	Declared   bool // it has no body here
	Body       []Statement
}

// Directive is one of a function: maxntid 256, 1, 1.
type Directive struct {
	Name   string
	Values []int
}

// Statement is what a body is made of: a [*Variable], [*Instruction], [*Label], [*Block],
// [*Place] or [*Prototype].
type Statement interface{ statement() }

// Block has declarations of its own.
type Block struct{ Body []Statement }

// Label is a place to branch to.
type Label struct {
	Line int
	Name string
}

// Place says where in the source the instructions after it come from. Of what was inlined
// it has the place of the call, too.
type Place struct {
	File, Line, Column int
	At                 *Place
}

// Prototype tells what a function is like that is called by its address, or to which
// functions or labels such a call or branch may go.
type Prototype struct {
	Line            int
	Name            string
	Kind            string // callprototype, calltargets, branchtargets
	Results, Params []*Variable
	Targets         []string
}

// Instruction is an instruction. Op is what stands before the first dot, Mods are the parts
// after it.
type Instruction struct {
	Line     int
	Guard    string // a predicate; "" for none
	Not      bool   // it runs where the guard is false
	Op       string
	Mods     []string
	Operands []Operand
}

// OperandKind is what an operand is.
type OperandKind uint8

// The kinds of operands.
const (
	Name     OperandKind = iota // a register, variable, function or label, with Plus after it
	Literal                     // a number, in Text
	Address                     // [Text+Plus], or [Plus], or with Parts: a texture's coordinates
	Vector                      // {Parts}
	List                        // (Parts) of a call
	Both                        // Parts[0]|Parts[1]
	Inverted                    // !Text
	Negated                     // -Text
)

// Operand is one of an instruction's.
type Operand struct {
	Kind  OperandKind
	Text  string
	Plus  int64
	Parts []Operand
}

func (*Variable) decl()         {}
func (*Function) decl()         {}
func (*Variable) statement()    {}
func (*Instruction) statement() {}
func (*Label) statement()       {}
func (*Block) statement()       {}
func (*Place) statement()       {}
func (*Prototype) statement()   {}
