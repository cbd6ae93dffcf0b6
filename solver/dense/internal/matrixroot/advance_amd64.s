#include "textflag.h"

// Products and sums are not fused, so that the bits are those of advanceGo.

// func advanceAVX2(sums, state, ratios *float64, terms, chunks int)
TEXT ·advanceAVX2(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ state+8(FP), SI
	MOVQ ratios+16(FP), R8
	MOVQ terms+24(FP), R9
	MOVQ chunks+32(FP), CX
	LEAQ (R8)(R9*8), R10 // the imaginary parts

chunks:
	VXORPD Y7, Y7, Y7
	XORQ   AX, AX

terms:
	VBROADCASTSD (R8)(AX*8), Y0
	VBROADCASTSD (R10)(AX*8), Y1
	VMOVUPD 0(SI), Y2
	VMOVUPD 32(SI), Y3
	VMULPD  Y0, Y2, Y4
	VMULPD  Y1, Y3, Y5
	VMULPD  Y1, Y2, Y6
	VMULPD  Y0, Y3, Y8
	VSUBPD  Y5, Y4, Y4
	VADDPD  Y8, Y6, Y6
	VMOVUPD Y4, 0(SI)
	VMOVUPD Y6, 32(SI)
	VADDPD  Y6, Y7, Y7
	ADDQ    $64, SI
	INCQ    AX
	CMPQ    AX, R9
	JLT     terms

	VMOVUPD Y7, (DI)
	ADDQ $32, DI
	DECQ CX
	JNZ  chunks
	VZEROUPPER
	RET
