#include "textflag.h"

// SUM adds the four numbers of Y into the first of X, its lower half, as fourSum
// does.
#define SUM(Y, X) \
	VEXTRACTF128 $1, Y, X6 \
	VADDPD X6, X, X        \
	VHADDPD X, X, X

DATA magnitude<>+0(SB)/8, $0x7fffffffffffffff
GLOBL magnitude<>(SB), RODATA|NOPTR, $8

// func termsAVX2(delta, d, z *float64, n int, origin, tau float64, sums *[3]float64)
TEXT ·termsAVX2(SB), NOSPLIT, $0-56
	MOVQ delta+0(FP), DI
	MOVQ d+8(FP), SI
	MOVQ z+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSD origin+32(FP), Y0
	VBROADCASTSD tau+40(FP), Y1
	MOVQ sums+48(FP), BX
	VBROADCASTSD magnitude<>(SB), Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y6
	VSUBPD  Y0, Y6, Y6
	VSUBPD  Y1, Y6, Y6
	VMOVUPD (DX)(AX*8), Y7
	VMOVUPD Y6, (DI)(AX*8)
	VDIVPD  Y6, Y7, Y8
	VMULPD  Y8, Y7, Y9
	VMULPD  Y8, Y8, Y10
	VANDPD  Y2, Y9, Y11
	VADDPD  Y9, Y3, Y3
	VADDPD  Y10, Y4, Y4
	VADDPD  Y11, Y5, Y5
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop

	SUM(Y3, X3)
	SUM(Y4, X4)
	SUM(Y5, X5)
	VMOVSD X3, 0(BX)
	VMOVSD X4, 8(BX)
	VMOVSD X5, 16(BX)
	VZEROUPPER
	RET

// func quotientsAVX2(p, delta, d *float64, n int, pole float64)
TEXT ·quotientsAVX2(SB), NOSPLIT, $0-40
	MOVQ p+0(FP), DI
	MOVQ delta+8(FP), SI
	MOVQ d+16(FP), DX
	MOVQ n+24(FP), CX
	VBROADCASTSD pole+32(FP), Y0
	XORQ AX, AX

loop:
	VMOVUPD (DX)(AX*8), Y1
	VSUBPD  Y0, Y1, Y1
	VMOVUPD (SI)(AX*8), Y2
	VDIVPD  Y1, Y2, Y2
	VMULPD  (DI)(AX*8), Y2, Y2
	VMOVUPD Y2, (DI)(AX*8)
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop
	VZEROUPPER
	RET

// func divideAVX2(to, a, b *float64, n int) float64
TEXT ·divideAVX2(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	VXORPD Y3, Y3, Y3
	XORQ AX, AX

loop:
	VMOVUPD (SI)(AX*8), Y1
	VDIVPD  (DX)(AX*8), Y1, Y1
	VMOVUPD Y1, (DI)(AX*8)
	VMULPD  Y1, Y1, Y2
	VADDPD  Y2, Y3, Y3
	ADDQ    $4, AX
	CMPQ    AX, CX
	JLT     loop

	SUM(Y3, X3)
	VMOVSD X3, ret+32(FP)
	VZEROUPPER
	RET
