package gpu

import _ "embed"

// Source is this package's text, from which compilers of kernels know its types.
//
//go:embed gpu.go
var Source string

// SymmetricSource is the part of it whose functions kernels are compiled with.
//
//go:embed symmetric.go
var SymmetricSource string
