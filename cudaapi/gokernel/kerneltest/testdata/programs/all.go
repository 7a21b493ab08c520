package programs

import "embed"

// Sources are the files with the programs.
//
//go:embed language.go library.go algorithms.go panics.go
var Sources embed.FS

// Program is a kernel that is Go as well. out and f have 64 elements.
type Program struct {
	File, Name string
	Run        func(out []int64, f []float64)
}

// All are the programs.
var All = []Program{
	{"language.go", "IntArithmetic", IntArithmetic},
	{"language.go", "IntWraps", IntWraps},
	{"language.go", "Shifts", Shifts},
	{"language.go", "Compare", Compare},
	{"language.go", "Floats", Floats},
	{"language.go", "Conversions", Conversions},
	{"language.go", "Constants", Constants},
	{"language.go", "If", If},
	{"language.go", "Loops", Loops},
	{"language.go", "Ranges", Ranges},
	{"language.go", "Labels", Labels},
	{"language.go", "Goto", Goto},
	{"language.go", "Switch", Switch},
	{"language.go", "Fallthrough", Fallthrough},
	{"language.go", "AssignOrder", AssignOrder},
	{"language.go", "Arrays", Arrays},
	{"language.go", "Slices", Slices},
	{"language.go", "Structs", Structs},
	{"language.go", "Functions", Functions},
	{"language.go", "Swap", Swap},
	{"language.go", "Closures", Closures},
	{"language.go", "Generics", Generics},
	{"language.go", "MinMax", MinMax},
	{"language.go", "Complex", Complex},
	{"language.go", "Shadow", Shadow},
	{"language.go", "Pointers", Pointers},
	{"language.go", "ShortCircuit", ShortCircuit},
	{"language.go", "Globals", Globals},
	{"language.go", "Runes", Runes},
	{"library.go", "MathExact", MathExact},
	{"library.go", "Bits", Bits},
	{"library.go", "Cmplx", Cmplx},
	{"algorithms.go", "Collatz", Collatz},
	{"algorithms.go", "Sieve", Sieve},
	{"algorithms.go", "QuickSort", QuickSort},
	{"algorithms.go", "Matrix", Matrix},
	{"algorithms.go", "Mandelbrot", Mandelbrot},
	{"algorithms.go", "MonteCarlo", MonteCarlo},
	{"algorithms.go", "GCDs", GCDs},
	{"algorithms.go", "Hash", Hash},
	{"algorithms.go", "RPN", RPN},
	{"algorithms.go", "Binary", Binary},
	{"panics.go", "PanicIndex", PanicIndex},
	{"panics.go", "PanicNegative", PanicNegative},
	{"panics.go", "PanicArray", PanicArray},
	{"panics.go", "PanicDivide", PanicDivide},
	{"panics.go", "PanicRemainder", PanicRemainder},
	{"panics.go", "PanicNil", PanicNil},
	{"panics.go", "PanicNilMethod", PanicNilMethod},
	{"panics.go", "PanicSlice", PanicSlice},
	{"panics.go", "PanicShift", PanicShift},
	{"panics.go", "PanicWords", PanicWords},
	{"panics.go", "PanicDeep", PanicDeep},
	{"panics.go", "PanicClosure", PanicClosure},
	{"panics.go", "PanicConvert", PanicConvert},
}
