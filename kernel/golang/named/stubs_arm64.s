#include "textflag.h"

// Each stub gives its number to call, which calls the closure in that place of
// contexts, as a caller of a closure does: with its address in R26. Arguments
// stay where they are. The word is MOVZ $i, R19, in one instruction for each i.
#define STUB(i) WORD $(0xd2800013 | (i)<<5); B ·call(SB)
#define STUB4(i) STUB(i); STUB(i+1); STUB(i+2); STUB(i+3)
#define STUB16(i) STUB4(i); STUB4(i+4); STUB4(i+8); STUB4(i+12)
#define STUB64(i) STUB16(i); STUB16(i+16); STUB16(i+32); STUB16(i+48)
#define STUB256(i) STUB64(i); STUB64(i+64); STUB64(i+128); STUB64(i+192)
#define STUB1024(i) STUB256(i); STUB256(i+256); STUB256(i+512); STUB256(i+768)
#define STUB8192(i) \
	STUB1024(i); STUB1024(i+1024); STUB1024(i+2048); STUB1024(i+3072) \
	STUB1024(i+4096); STUB1024(i+5120); STUB1024(i+6144); STUB1024(i+7168)

TEXT ·call(SB), NOSPLIT|NOFRAME, $0-0
	MOVD $·contexts(SB), R20
	MOVD (R20)(R19<<3), R26
	MOVD (R26), R20
	B    (R20)

TEXT stubs<>(SB), NOSPLIT|NOFRAME, $0-0
	STUB8192(0); STUB8192(8192); STUB8192(16384); STUB8192(24576)

// func stubsAt() unsafe.Pointer
TEXT ·stubsAt(SB), NOSPLIT, $0-8
	MOVD $stubs<>(SB), R0
	MOVD R0, ret+0(FP)
	RET
