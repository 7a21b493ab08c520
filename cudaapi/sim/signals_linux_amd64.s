#include "go_asm.h"
#include "textflag.h"

// Where the operating system keeps a stopped thread's registers (ucontext_t).
#define R8_AT 40
#define R9_AT 48
#define RDI_AT 104
#define RSI_AT 112
#define RDX_AT 136
#define RCX_AT 152
#define RSP_AT 160
#define RIP_AT 168
#define FLAGS_AT 176
#define ERROR_AT 192

// Of a worker's first stack, what lies below all places where a thread's state may
// lie (thread_of in include/sim/thread.h).
#define LANDING (const_stackSize - 320 - 0xffc0 - 512)

// func onSignal()
//
// It is called as C: DI is the signal, SI its siginfo_t, DX the ucontext_t.
TEXT ·onSignal(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ	RSP_AT(DX), AX
	LEAQ	·watched(SB), CX
	MOVQ	·watchedCount(SB), R8
look:
	TESTQ	R8, R8
	JZ	others
	CMPQ	AX, 0(CX)
	JB	next
	CMPQ	AX, 8(CX)
	JB	found
next:
	ADDQ	$24, CX
	DECQ	R8
	JMP	look

found:
	MOVQ	16(CX), R9 // the worker
	MOVQ	workerABI_fault(R9), R10
	TESTQ	R10, R10
	JZ	others
	MOVQ	RIP_AT(DX), R11
	CMPL	DI, $23 // SIGURG
	JNE	wrong

	// Only in the kernel's own code: a library may hold a lock.
	CMPL	workerABI_halt(R9), $0
	JE	others
	CMPQ	R11, workerABI_image(R9)
	JB	others
	CMPQ	R11, (workerABI_image+8)(R9)
	JAE	others
	JMP	redirect

wrong:
	CMPL	8(SI), $0 // si_code: not the processor's, but a process'
	JLE	others
	CMPL	workerABI_faulted(R9), $0 // again: it cannot be ended so
	JNE	others
	MOVL	$1, workerABI_faulted(R9)

redirect:
	// fault(worker, signal and its code, address, error, pc, sp)
	MOVQ	R9, RDI_AT(DX)
	MOVL	8(SI), R8
	SHLQ	$32, R8
	ORQ	DI, R8
	MOVQ	R8, RSI_AT(DX)
	MOVQ	16(SI), R8
	MOVQ	R8, RDX_AT(DX)
	MOVQ	ERROR_AT(DX), R8
	MOVQ	R8, RCX_AT(DX)
	MOVQ	R11, R8_AT(DX)
	MOVQ	AX, R9_AT(DX)
	MOVQ	R10, RIP_AT(DX)
	MOVQ	workerABI_stacks(R9), AX
	ADDQ	$(LANDING &~ 15 - 8), AX // as after a call
	MOVQ	AX, RSP_AT(DX)
	ANDQ	$~0x500, FLAGS_AT(DX) // direction and single steps
	RET

others:
	LEAQ	·chain(SB), R10
	MOVLQZX	DI, AX
	MOVQ	(R10)(AX*8), AX
	JMP	AX

// func onSignalAt() uintptr
TEXT ·onSignalAt(SB), NOSPLIT, $0-8
	LEAQ	·onSignal(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
