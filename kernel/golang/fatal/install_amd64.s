//go:build linux

#include "textflag.h"

// func morestack() uintptr
TEXT ·morestack(SB), NOSPLIT, $0-8
	LEAQ runtime·morestack(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// func getg() unsafe.Pointer
TEXT ·getg(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET

// func getsp() uintptr
TEXT ·getsp(SB), NOSPLIT, $0-8
	MOVQ SP, AX
	MOVQ AX, ret+0(FP)
	RET
