//go:build linux && !race

#include "textflag.h"

// gocudaMath is a C function double(void *fn, double x, double y), which calls a
// function of Go by its address: ABIInternal takes floating point numbers in X0 and
// X1, as C does, the goroutine in R14 and zero in X15, and keeps no register. The
// goroutine is the thread's own (g0), on whose stack C runs, so that the function's
// look at the stack that is left is right. Such a function neither allocates nor
// blocks.
TEXT gocudaMath(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BP
	PUSHQ BX
	PUSHQ R12
	PUSHQ R13
	PUSHQ R14
	PUSHQ R15
	SUBQ  $40, SP // aligned to 16 bytes, with room for what it spills
	MOVQ  (TLS), R14
	XORPS X15, X15
	CALL  DI
	ADDQ  $40, SP
	POPQ  R15
	POPQ  R14
	POPQ  R13
	POPQ  R12
	POPQ  BX
	POPQ  BP
	RET

DATA ·gocudaMathABI0(SB)/8, $gocudaMath(SB)
GLOBL ·gocudaMathABI0(SB), NOPTR|RODATA, $8
