//go:build linux

#include "textflag.h"

// A C function of one argument, a *callArgs in DI: calls its fn with its eleven
// words, six in registers and five on the stack, and stores the result; before, if
// there is a get, it sees to it that want is current. Runs on a system stack.
TEXT gocudaCall(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	SUBQ  $40, SP          // the stack is now aligned to 16 bytes
	MOVQ  DI, BX
	MOVQ  104(BX), AX      // get
	TESTQ AX, AX
	JZ    call
	LEAQ  128(BX), DI      // &got
	CALL  AX
	TESTL AX, AX
	JNZ   enter
	MOVQ  128(BX), AX
	CMPQ  AX, 120(BX)      // want
	JEQ   call

enter:
	MOVQ  120(BX), DI
	CALL  112(BX)          // set
	TESTL AX, AX
	JZ    call
	MOVQ  $1, 136(BX)      // failed
	JMP   done

call:
	MOVQ  56(BX), AX
	MOVQ  AX, 0(SP)
	MOVQ  64(BX), AX
	MOVQ  AX, 8(SP)
	MOVQ  72(BX), AX
	MOVQ  AX, 16(SP)
	MOVQ  80(BX), AX
	MOVQ  AX, 24(SP)
	MOVQ  88(BX), AX
	MOVQ  AX, 32(SP)
	MOVQ  8(BX), DI
	MOVQ  16(BX), SI
	MOVQ  24(BX), DX
	MOVQ  32(BX), CX
	MOVQ  40(BX), R8
	MOVQ  48(BX), R9
	XORL  AX, AX
	CALL  0(BX)

done:
	MOVQ AX, 96(BX)
	ADDQ $40, SP
	POPQ BX
	POPQ BP
	RET

DATA ·gocudaCallABI0(SB)/8, $gocudaCall(SB)
GLOBL ·gocudaCallABI0(SB), NOPTR|RODATA, $8
