#include "textflag.h"

// Products and sums are not fused: see layer_amd64.go.

// func sum3AVX2(y *float64, n int, b float64, w *[3]float64, x0, x1, x2 *float64)
TEXT ·sum3AVX2(SB), NOSPLIT, $0-56
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSD b+16(FP), Y0
	MOVQ w+24(FP), SI
	VBROADCASTSD 0(SI), Y1
	VBROADCASTSD 8(SI), Y2
	VBROADCASTSD 16(SI), Y3
	MOVQ x0+32(FP), R8
	MOVQ x1+40(FP), R9
	MOVQ x2+48(FP), R10
	XORQ AX, AX

loop:
	VMULPD  (R8)(AX*8), Y1, Y4
	VMULPD  (R9)(AX*8), Y2, Y5
	VMULPD  (R10)(AX*8), Y3, Y6
	VADDPD  Y4, Y0, Y4
	VADDPD  Y5, Y4, Y4
	VADDPD  Y6, Y4, Y4
	VMOVUPD Y4, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func add2AVX2(y *float64, n int, w0, w1 float64, x0, x1 *float64)
TEXT ·add2AVX2(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSD w0+16(FP), Y1
	VBROADCASTSD w1+24(FP), Y2
	MOVQ x0+32(FP), R8
	MOVQ x1+40(FP), R9
	XORQ AX, AX

loop:
	VMULPD  (R8)(AX*8), Y1, Y4
	VMULPD  (R9)(AX*8), Y2, Y5
	VADDPD  Y5, Y4, Y4
	VADDPD  (DI)(AX*8), Y4, Y4
	VMOVUPD Y4, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func add1AVX2(y *float64, n int, w float64, x *float64)
TEXT ·add1AVX2(SB), NOSPLIT, $0-32
	MOVQ y+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSD w+16(FP), Y1
	MOVQ x+24(FP), R8
	XORQ AX, AX

loop:
	VMULPD  (R8)(AX*8), Y1, Y4
	VADDPD  (DI)(AX*8), Y4, Y4
	VMOVUPD Y4, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func lessSquareAVX2(delta *float64, n int, s, f float64, y *float64)
TEXT ·lessSquareAVX2(SB), NOSPLIT, $0-40
	MOVQ delta+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSD s+16(FP), Y1
	VBROADCASTSD f+24(FP), Y2
	MOVQ y+32(FP), R8
	XORQ AX, AX

loop:
	VMOVUPD (R8)(AX*8), Y4
	VMULPD  Y4, Y4, Y4
	VMULPD  Y4, Y2, Y4
	VSUBPD  Y4, Y1, Y4
	VMULPD  (DI)(AX*8), Y4, Y4
	VMOVUPD Y4, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// FINISH makes the sum of the lanes of an accumulator, of which H holds the
// upper two, after the tail was added to the lowest.
#define FINISH(X, H, at) \
	VADDPD  H, X, X        \
	VUNPCKHPD X, X, H      \
	VADDSD  H, X, X        \
	VMOVSD  X, at(DI)

// func dot3AVX2(sums *[3]float64, n int, d, x0, x1, x2 *float64)
TEXT ·dot3AVX2(SB), NOSPLIT, $0-48
	MOVQ sums+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ d+16(FP), SI
	MOVQ x0+24(FP), R8
	MOVQ x1+32(FP), R9
	MOVQ x2+40(FP), R10
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	XORQ AX, AX
	SUBQ $4, CX
	JLT  tail

loop:
	VMOVUPD (SI)(AX*8), Y3
	VMULPD  (R8)(AX*8), Y3, Y4
	VMULPD  (R9)(AX*8), Y3, Y5
	VMULPD  (R10)(AX*8), Y3, Y6
	VADDPD  Y4, Y0, Y0
	VADDPD  Y5, Y1, Y1
	VADDPD  Y6, Y2, Y2
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLE     loop

tail:
	ADDQ $4, CX
	VEXTRACTF128 $1, Y0, X7
	VEXTRACTF128 $1, Y1, X8
	VEXTRACTF128 $1, Y2, X9

rest:
	CMPQ    AX, CX
	JGE     finish
	VMOVSD  (SI)(AX*8), X3
	VMULSD  (R8)(AX*8), X3, X4
	VMULSD  (R9)(AX*8), X3, X5
	VMULSD  (R10)(AX*8), X3, X6
	VADDSD  X4, X0, X0
	VADDSD  X5, X1, X1
	VADDSD  X6, X2, X2
	INCQ    AX
	JMP     rest

finish:
	FINISH(X0, X7, 0)
	FINISH(X1, X8, 8)
	FINISH(X2, X9, 16)
	VZEROUPPER
	RET
