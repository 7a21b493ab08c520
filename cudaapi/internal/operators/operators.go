// Package operators has the reductions of MPI and NCCL in CUDA C++, for the
// kernels of other packages.
package operators

import _ "embed"

// Source defines apply<T, op>(a, b), with op as package cuda numbers it, and
// Pack<T>, sixteen bytes of elements. It stands before a kernel's own source.
//
//go:embed operators.cu
var Source string

// TypeNames are the C++ types of elements, by the name that package cuda gives
// the type.
var TypeNames = map[string]string{
	"Int8": "signed char", "Int16": "short", "Int32": "int", "Int64": "long long",
	"Uint8": "unsigned char", "Uint16": "unsigned short", "Uint32": "unsigned int", "Uint64": "unsigned long long",
	"Float16": "Half", "BFloat16": "BFloat", "Float32": "float", "Float64": "double",
	"Complex64": "Complex<float>", "Complex128": "Complex<double>",
}
