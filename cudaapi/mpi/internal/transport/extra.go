package transport

// Size is the number of bytes from one element to the next; 0 for what is no
// Type.
func (t Type) Size() int {
	switch t {
	case Byte, Int8, Uint8, Bool:
		return 1
	case Int16, Uint16:
		return 2
	case Int32, Uint32, Float32:
		return 4
	case Int64, Uint64, Float64, Complex64, Float32Int, Int32Int:
		return 8
	case Complex128, Float64Int, Int64Int:
		return 16
	}
	return 0
}

// typeNames are the names of Go.
var typeNames = [...]string{
	Byte: "structs or halves", Int8: "int8", Int16: "int16", Int32: "int32", Int64: "int64",
	Uint8: "uint8", Uint16: "uint16", Uint32: "uint32", Uint64: "uint64",
	Float32: "float32", Float64: "float64", Complex64: "complex64", Complex128: "complex128",
	Bool: "bool", Float32Int: "pairs of float32 and int32", Float64Int: "pairs of float64 and int32",
	Int32Int: "pairs of int32", Int64Int: "pairs of int64 and int32",
}

func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return ""
}

// opNames are those of package mpi.
var opNames = [...]string{
	Sum: "Sum", Prod: "Prod", Min: "Min", Max: "Max",
	LogicalAnd: "LAnd", LogicalOr: "LOr", LogicalXor: "LXor",
	BitAnd: "BAnd", BitOr: "BOr", BitXor: "BXor",
	MinLoc: "MinLoc", MaxLoc: "MaxLoc", Replace: "Replace", NoOp: "NoOp",
}

func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return ""
}

// Sent is the type that a message of this memory is sent with, and a receive into
// it asks for.
func (m Memory) Sent() Type {
	if m.Elem != 0 {
		return m.Elem
	}
	return m.T
}

// Matches says whether a message of type t may be received as type as: bytes may
// be anything.
func (t Type) Matches(as Type) bool {
	plain := func(t Type) bool { return t == 0 || t == Byte || t == Uint8 }
	return t == as || plain(t) || plain(as)
}

// Bytes is the length of the memory.
func (m Memory) Bytes() int { return m.N * m.T.Size() }

// InPlace tells whether the memory says MPI_IN_PLACE.
func (m Memory) InPlace() bool { return m.P == nil && m.T == 0 }

// Grouper is what a Comm makes a communicator of some of its ranks by, which only they
// call, with one tag. It blocks.
type Grouper interface {
	CreateGroup(ranks []int, tag int) (Comm, error)
}

// Waiter is what a Request may be besides, if its transport knows better how
// to wait than by asking Test again and again. Those of package local are.
type Waiter interface {
	Request
	// Wait blocks until the operation is over, and answers as Test does; or
	// until stop is closed, and answers that it is not. It spins a little
	// before it sleeps, so it is the quickest way to wait for one Request.
	Wait(stop <-chan struct{}) (Status, bool, error)
	// Done's channel is closed when the operation is over: for waiting on
	// several. Progress is made meanwhile.
	Done() <-chan struct{}
}

// Releaser is what a Request may be besides. Release gives it back when it is
// over and nobody is going to ask it again: the transport may use it for
// another operation.
type Releaser interface{ Release() }
