//go:build linux

#include "textflag.h"

// Four C functions of one argument, a *Frame in DI, which call its fn with its
// eleven words: six in registers, five on the stack. They run on a system stack.

#define FN(p) 0(p)
#define ARG(i, p) (8+8*i)(p)
#define RESULT(p) 96(p)
#define GET(p) 104(p)
#define SET(p) 112(p)
#define WANT(p) 120(p)

// SPREAD puts the words of the *Frame in BX where a function looks for them.
#define SPREAD \
	MOVQ ARG(6, BX), AX   \
	MOVQ AX, 0(SP)        \
	MOVQ ARG(7, BX), AX   \
	MOVQ AX, 8(SP)        \
	MOVQ ARG(8, BX), AX   \
	MOVQ AX, 16(SP)       \
	MOVQ ARG(9, BX), AX   \
	MOVQ AX, 24(SP)       \
	MOVQ ARG(10, BX), AX  \
	MOVQ AX, 32(SP)       \
	MOVQ ARG(0, BX), DI   \
	MOVQ ARG(1, BX), SI   \
	MOVQ ARG(2, BX), DX   \
	MOVQ ARG(3, BX), CX   \
	MOVQ ARG(4, BX), R8   \
	MOVQ ARG(5, BX), R9

// gocudaCall stores the result.
TEXT gocudaCall(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	SUBQ  $40, SP          // the stack is now aligned to 16 bytes
	MOVQ  DI, BX
	SPREAD
	XORL  AX, AX
	CALL  FN(BX)
	MOVQ  AX, RESULT(BX)
	ADDQ  $40, SP
	POPQ  BX
	POPQ  BP
	RET

// gocudaCode gives the result's lower half to its own caller.
TEXT gocudaCode(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	SUBQ  $40, SP
	MOVQ  DI, BX
	SPREAD
	XORL  AX, AX
	CALL  FN(BX)
	ADDQ  $40, SP
	POPQ  BX
	POPQ  BP
	RET

// gocudaOut does so too; the function's first argument is where its result goes.
TEXT gocudaOut(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	SUBQ  $40, SP
	MOVQ  DI, BX
	SPREAD
	LEAQ  RESULT(BX), DI
	XORL  AX, AX
	CALL  FN(BX)
	ADDQ  $40, SP
	POPQ  BX
	POPQ  BP
	RET

// gocudaCodeWith gives the code too, once want is current. It copies the *Frame, 128
// bytes from 48(SP), before it calls anything: what is at 40(SP) get is to fill.
TEXT gocudaCodeWith(SB), NOSPLIT|NOFRAME, $0
	PUSHQ  BP
	MOVQ   SP, BP
	PUSHQ  BX
	SUBQ   $184, SP
	LEAQ   48(SP), BX
	MOVOU  0(DI), X0
	MOVOU  16(DI), X1
	MOVOU  32(DI), X2
	MOVOU  48(DI), X3
	MOVOU  64(DI), X4
	MOVOU  80(DI), X5
	MOVOU  96(DI), X6
	MOVOU  112(DI), X7
	MOVOU  X0, 0(BX)
	MOVOU  X1, 16(BX)
	MOVOU  X2, 32(BX)
	MOVOU  X3, 48(BX)
	MOVOU  X4, 64(BX)
	MOVOU  X5, 80(BX)
	MOVOU  X6, 96(BX)
	MOVOU  X7, 112(BX)
	LEAQ   40(SP), DI
	XORL   AX, AX
	CALL   GET(BX)
	TESTL  AX, AX
	JNZ    enter
	MOVQ   40(SP), AX
	CMPQ   AX, WANT(BX)
	JEQ    call

enter:
	MOVQ   WANT(BX), DI
	XORL   AX, AX
	CALL   SET(BX)
	TESTL  AX, AX
	JZ     call
	ORL    $0x40000000, AX // notEntered
	JMP    done

call:
	SPREAD
	XORL   AX, AX
	CALL   FN(BX)

done:
	ADDQ   $184, SP
	POPQ   BX
	POPQ   BP
	RET

DATA ·gocudaCallABI0(SB)/8, $gocudaCall(SB)
GLOBL ·gocudaCallABI0(SB), NOPTR|RODATA, $8
DATA ·gocudaCodeABI0(SB)/8, $gocudaCode(SB)
GLOBL ·gocudaCodeABI0(SB), NOPTR|RODATA, $8
DATA ·gocudaOutABI0(SB)/8, $gocudaOut(SB)
GLOBL ·gocudaOutABI0(SB), NOPTR|RODATA, $8
DATA ·gocudaCodeWithABI0(SB)/8, $gocudaCodeWith(SB)
GLOBL ·gocudaCodeWithABI0(SB), NOPTR|RODATA, $8
