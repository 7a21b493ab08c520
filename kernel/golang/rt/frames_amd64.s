#include "textflag.h"

// func frames(to *[2]uintptr, n int) int
TEXT ·frames(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ (TLS), R8
	MOVQ 0(R8), R9  // the stack's bounds
	MOVQ 8(R8), R10
	SUBQ $24, R10
	MOVQ BP, AX
	XORQ BX, BX
loop:
	CMPQ BX, CX
	JGE  done
	CMPQ AX, R9
	JB   done
	CMPQ AX, R10
	JA   done
	MOVQ 8(AX), DX
	MOVQ DX, 0(DI)
	MOVQ 16(AX), DX
	MOVQ DX, 8(DI)
	ADDQ $16, DI
	INCQ BX
	MOVQ AX, R9     // further out is higher
	ADDQ $1, R9
	MOVQ (AX), AX
	JMP  loop
done:
	MOVQ BX, ret+16(FP)
	RET
