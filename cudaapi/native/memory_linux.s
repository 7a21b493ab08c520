//go:build linux && (amd64 || arm64)

#include "textflag.h"

// The function by which C calls Go, of runtime/cgo or of what purego has in its place.
DATA ·crosscall2(SB)/8, $crosscall2(SB)
GLOBL ·crosscall2(SB), NOPTR|RODATA, $8
