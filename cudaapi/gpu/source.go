package gpu

import _ "embed"

// Source is this package's text, from which compilers of kernels know its types.
//
//go:embed gpu.go
var Source string
