#include "textflag.h"

// func callers(to *uintptr, skip, n int) int
TEXT ·callers(SB), NOSPLIT, $0-32
	MOVQ to+0(FP), DI
	MOVQ skip+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ (TLS), R8
	MOVQ 0(R8), R9  // the stack's bounds
	MOVQ 8(R8), R10
	SUBQ $16, R10
	MOVQ BP, AX
	XORQ BX, BX
loop:
	CMPQ BX, CX
	JGE  done
	CMPQ AX, R9
	JB   done
	CMPQ AX, R10
	JA   done
	TESTQ SI, SI
	JZ   take
	DECQ SI
	JMP  next
take:
	MOVQ 8(AX), DX
	MOVQ DX, 0(DI)
	ADDQ $8, DI
	INCQ BX
next:
	MOVQ AX, R9     // further out is higher
	ADDQ $1, R9
	MOVQ (AX), AX
	JMP  loop
done:
	MOVQ BX, ret+24(FP)
	RET
