#include "textflag.h"

// Each stub calls the closure in its place of contexts, as a caller of a closure
// does: with its address in DX. Arguments stay where they are.
#define STUB(i) MOVQ ·contexts+(8*(i))(SB), DX; MOVQ (DX), R12; JMP R12
#define STUB4(i) STUB(i); STUB(i+1); STUB(i+2); STUB(i+3)
#define STUB16(i) STUB4(i); STUB4(i+4); STUB4(i+8); STUB4(i+12)
#define STUB64(i) STUB16(i); STUB16(i+16); STUB16(i+32); STUB16(i+48)
#define STUB256(i) STUB64(i); STUB64(i+64); STUB64(i+128); STUB64(i+192)
#define STUB1024(i) STUB256(i); STUB256(i+256); STUB256(i+512); STUB256(i+768)
#define STUB8192(i) \
	STUB1024(i); STUB1024(i+1024); STUB1024(i+2048); STUB1024(i+3072) \
	STUB1024(i+4096); STUB1024(i+5120); STUB1024(i+6144); STUB1024(i+7168)

TEXT stubs<>(SB), NOSPLIT|NOFRAME, $0-0
	STUB8192(0); STUB8192(8192); STUB8192(16384); STUB8192(24576)

// func stubsAt() unsafe.Pointer
TEXT ·stubsAt(SB), NOSPLIT, $0-8
	LEAQ stubs<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
